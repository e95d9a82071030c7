"""Short labels on pictures, drawn with a plotter's strokes: sharp at any size, and no font file needed."""

from __future__ import annotations

import itertools

import numpy as np

# Strokes on a grid 4 wide and 6 high, y up: runs of points, two digits x y each. Small letters are small capitals.
_GLYPHS = {
    " ": "",
    "0": "10 30 41 45 36 16 05 01 10",
    "1": "05 16 26 20",
    "2": "05 16 36 45 44 00 40",
    "3": "05 16 36 45 44 33 23, 33 42 41 30 10 01",
    "4": "30 36 02 42",
    "5": "46 06 03 33 42 41 30 10 01",
    "6": "45 36 16 05 01 10 30 41 42 33 13 02",
    "7": "06 46 20",
    "8": "13 04 05 16 36 45 44 33 13 02 01 10 30 41 42 33",
    "9": "01 10 30 41 45 36 16 05 04 13 33 44",
    ".": "20 20",
    ",": "20 10",
    "-": "13 33",
    "+": "03 43, 21 25",
    ":": "21 21, 24 24",
    "/": "00 46",
    "%": "00 46, 15 15, 31 31",
    "(": "36 24 22 30",
    ")": "16 24 22 10",
    "_": "00 40",
    "A": "00 26 40, 12 32",
    "B": "03 33 44 45 36 06 00 30 41 42 33",
    "C": "45 36 16 05 01 10 30 41",
    "D": "00 06 26 44 42 20 00",
    "E": "46 06 00 40, 03 33",
    "F": "46 06 00, 03 33",
    "G": "45 36 16 05 01 10 30 41 43 23",
    "H": "00 06, 40 46, 03 43",
    "I": "20 26",
    "J": "36 31 20 10 01",
    "K": "00 06, 46 02, 13 40",
    "L": "06 00 40",
    "M": "00 06 22 46 40",
    "N": "00 06 40 46",
    "O": "10 30 41 45 36 16 05 01 10",
    "P": "00 06 36 45 44 33 03",
    "Q": "10 30 41 45 36 16 05 01 10, 22 40",
    "R": "00 06 36 45 44 33 03, 23 40",
    "S": "45 36 16 05 04 13 33 42 41 30 10 01",
    "T": "06 46, 26 20",
    "U": "06 01 10 30 41 46",
    "V": "06 20 46",
    "W": "06 10 24 30 46",
    "X": "00 46, 06 40",
    "Y": "06 23 46, 23 20",
    "Z": "06 46 00 40",
}
_ADVANCE = 5.6  # grid units from one letter to the next
_SMALL = 0.72  # height of small letters beside capitals
_GAP = "-"  # drawn for what the table lacks


def measure_text(text: str, height: float) -> float:
    """Pixels a label is wide at a letter height in pixels."""
    return max(len(text) * _ADVANCE - 1.6, 0.0) * height / 6.0


def draw_text(
    image: np.ndarray,
    text: str,
    position: tuple[float, float],
    height: float = 14.0,
    color: tuple[int, int, int] = (70, 76, 86),
) -> None:
    """Write a label into an image (H, W, 3) uint8, in place.

    position  x and y in pixels of the label's left end and its letters' top
    height    of the letters, in pixels
    """
    scale = height / 6.0
    half = max(0.085 * height, 0.55)
    for index, letter in enumerate(text):
        strokes = _GLYPHS.get(letter.upper(), _GLYPHS[_GAP])
        size = scale * (_SMALL if letter.islower() else 1.0)
        start = np.array([position[0] + index * _ADVANCE * scale, position[1] + height])
        for stroke in filter(None, strokes.split(", ")):
            points = np.array([(int(point[0]), -int(point[1])) for point in stroke.split(" ")])
            _draw_line(image, start + size * points, half, color)


def _draw_line(image: np.ndarray, points: np.ndarray, half: float, color: tuple[int, int, int]) -> None:
    """Blend a run of lines, each `half` pixels to both sides, over the image; their edges are smooth."""
    size = np.array([image.shape[1], image.shape[0]])
    low = np.clip(np.floor(points.min(axis=0) - half - 1).astype(int), 0, size)
    high = np.clip(np.ceil(points.max(axis=0) + half + 1).astype(int), 0, size)
    if np.any(high <= low):
        return
    x, y = np.meshgrid(np.arange(low[0], high[0]) + 0.5, np.arange(low[1], high[1]) + 0.5)
    pixels = np.stack([x, y], axis=-1)
    distance = np.full(x.shape, np.inf)
    for a, b in itertools.pairwise(points):
        line = b - a
        along = np.clip((pixels - a) @ line / max(float(line @ line), 1e-12), 0.0, 1.0)
        distance = np.minimum(distance, np.linalg.norm(pixels - a - along[..., None] * line, axis=-1))
    cover = np.clip(half + 0.5 - distance, 0.0, 1.0)[..., None]
    patch = image[low[1] : high[1], low[0] : high[0]]
    patch[...] = np.round(patch * (1.0 - cover) + np.array(color) * cover).astype(np.uint8)

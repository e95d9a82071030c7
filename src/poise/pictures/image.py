"""Pictures as PNG files, with labels.

Labels are drawn with a plotter's strokes: sharp at any size, and no font file needed.

A picture has the figures' names in a row below them, and a caption in the corner.
"""

from __future__ import annotations

import itertools
import struct
import zlib
from collections.abc import Sequence
from functools import lru_cache
from os import PathLike

import numpy as np

from poise.errors import InputError
from poise.files.output import write_bytes


def encode_png(image: np.ndarray) -> bytes:
    """The bytes of a PNG file: image (H, W, 3) uint8 RGB or (H, W, 4) RGBA."""
    image = np.asarray(image)
    if image.ndim != 3 or image.shape[2] not in (3, 4) or image.dtype != np.uint8 or 0 in image.shape:
        raise InputError(f"a PNG needs an image (H, W, 3 or 4) of uint8; given {image.shape} of {image.dtype}.")
    height, width, channels = image.shape
    # Filter 2, "up": each row as its difference to the one above; smooth pictures pack well so.
    difference = image.reshape(height, -1).copy()
    difference[1:] -= image.reshape(height, -1)[:-1]
    rows = np.hstack([np.full((height, 1), 2, np.uint8), difference])
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 6, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"sRGB", b"\0"), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def save_png(path: str | PathLike[str], image: np.ndarray) -> None:
    """Write a picture (H, W, 3 or 4) uint8; the file appears whole or not at all."""
    write_bytes(path, encode_png(image))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


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
    ",": "21 10",
    "-": "13 33",
    "+": "03 43, 21 25",
    ":": "21 21, 24 24",
    "/": "00 46",
    "%": "00 46, 15 15, 31 31",
    "(": "36 24 22 30",
    ")": "16 24 22 10",
    "_": "00 40",
    "=": "02 42, 04 44",
    "<": "45 03 41",
    ">": "05 43 01",
    "'": "26 24",
    "!": "26 22, 20 20",
    "?": "05 16 36 45 44 33 23 22, 20 20",
    "*": "21 25, 04 42, 02 44",
    "×": "01 45, 05 41",
    "°": "14 05 16 25 14",
    "&": "40 05 16 25 24 02 01 10 20 42",
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
    for index, letter in enumerate(text):
        x = position[0] + index * _ADVANCE * height / 6.0
        column, row = int(np.floor(x)), int(np.floor(position[1]))
        # Rounded, so that the letters of a film are computed once.
        cover = _cover_glyph(letter, height, round(x - column, 3), round(position[1] - row, 3))
        _blend(image, cover, column - _BORDER, row - _BORDER, color)


_BORDER = 3  # pixels around a glyph's own box


@lru_cache(maxsize=1024)
def _cover_glyph(letter: str, height: float, x: float, y: float) -> np.ndarray:
    """(h, w) how much of each pixel a letter covers, 0 to 1, with its left end x and its top y inside the border."""
    scale = height / 6.0
    half = max(0.085 * height, 0.55)
    size = scale * (_SMALL if letter.islower() else 1.0)
    start = np.array([_BORDER + x, _BORDER + y + height])
    columns, rows = int(np.ceil(4.0 * scale + half)) + 2 * _BORDER, int(np.ceil(height + half)) + 2 * _BORDER
    pixels = np.stack(np.meshgrid(np.arange(columns) + 0.5, np.arange(rows) + 0.5), axis=-1)
    distance = np.full((rows, columns), np.inf)
    for stroke in filter(None, _GLYPHS.get(letter.upper(), _GLYPHS[_GAP]).split(", ")):
        points = start + size * np.array([(int(point[0]), -int(point[1])) for point in stroke.split(" ")])
        for a, b in itertools.pairwise(points):
            line = b - a
            along = np.clip((pixels - a) @ line / max(float(line @ line), 1e-12), 0.0, 1.0)
            distance = np.minimum(distance, np.linalg.norm(pixels - a - along[..., None] * line, axis=-1))
    return np.asarray(np.clip(half + 0.5 - distance, 0.0, 1.0))


def _blend(image: np.ndarray, cover: np.ndarray, left: int, top: int, color: tuple[int, int, int]) -> None:
    """Blend a color over the image where it is covered (h, w), in place; what falls outside is cut off."""
    rows = slice(max(-top, 0), max(min(cover.shape[0], image.shape[0] - top), 0))
    columns = slice(max(-left, 0), max(min(cover.shape[1], image.shape[1] - left), 0))
    share = cover[rows, columns, None]
    if share.size:
        patch = image[top + rows.start : top + rows.stop, left + columns.start : left + columns.stop]
        patch[...] = np.round(patch * (1.0 - share) + np.array(color) * share).astype(np.uint8)


_HEIGHT = 1 / 34.0  # of the letters, as a share of the picture's height; 9 pixels at least
_LINE = 0.945  # top of the lowest line of labels
_SMALLER = 0.75  # the letters of further lines of a label
_DARKEN = 0.45  # a figure's color for its label: dark enough to be read on the ground


def draw_labels(
    picture: np.ndarray, caption: str, labels: Sequence[tuple[str, tuple[float, float, float], float]]
) -> None:
    """Write into a picture (H, W, 3) uint8, in place.

    caption  in the upper left corner
    labels   text, sRGB color 0 to 1 and the middle's x in pixels of each; one that would run into another goes above.
             Lines after the first are smaller
    """
    height, width = picture.shape[:2]
    letters = max(9.0, _HEIGHT * height)
    if caption:
        draw_text(picture, caption, (0.8 * letters + 4.0, 0.8 * letters + 4.0), letters)
    taken: list[tuple[int, float, float]] = []
    for text, color, middle in labels:
        if not text:
            continue
        lines = [(line, letters if k == 0 else _SMALLER * letters) for k, line in enumerate(text.split("\n"))]
        wide = max(measure_text(*line) for line in lines)
        left = float(np.clip(middle - wide / 2.0, letters, max(width - wide - letters, letters)))
        row = 0
        while any(
            abs(other - row) < len(lines) and left < end + letters and start < left + wide + letters
            for other, start, end in taken
        ):
            row += 1
        taken.append((row, left, left + wide))
        ink = tuple(int(255 * _DARKEN * part) for part in color)
        for k, (line, high) in enumerate(reversed(lines)):
            place = (left + (wide - measure_text(line, high)) / 2.0, _LINE * height - 1.6 * (row + k) * letters)
            draw_text(picture, line, place, high, ink)  # type: ignore[arg-type]

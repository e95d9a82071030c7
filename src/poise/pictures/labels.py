"""Labels in a picture: the figures' names in a row below them, and a caption in the corner."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.pictures.text import draw_text, measure_text

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

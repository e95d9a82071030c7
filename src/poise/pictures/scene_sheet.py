"""A whole scene on one picture: evenly spaced moments, each with its time."""

from __future__ import annotations

import numpy as np

from poise.errors import InputError
from poise.pictures.raster import check_pixels
from poise.pictures.scene import Scene, frame_scene, render_scene

_RULE = 2  # pixels between cells, white


def draw_scene_sheet(
    scene: Scene,
    count: int = 6,
    columns: int = 3,
    cell: tuple[int, int] = (480, 320),
    samples: int = 2,
    times: np.ndarray | None = None,
    follow: bool | None = None,
) -> np.ndarray:
    """A picture (H, W, 3) uint8 of `count` moments of a scene, first and last included, row by row.

    columns  cells a row; cell is each one's width and height in pixels
    times    (count,) s, moments of one's own choice instead
    follow   as for `frame_scene`

    All cells have one scale and one direction of view.
    """
    if count < 1 or columns < 1 or min(cell) < 16:
        raise InputError(
            f"a scene's sheet needs 1 moment, 1 column and cells of 16 pixels at least; got {count}, {columns}, {cell}."
        )
    many = count if times is None else len(times)
    check_pixels(cell[0] * min(columns, many), cell[1] * -(-many // columns))
    times = np.linspace(0.0, scene.duration, count) if times is None else np.asarray(times, float)
    view = frame_scene(scene, times, cell, follow)
    columns = min(columns, len(times))
    rows = -(-len(times) // columns)
    width, height = cell
    sheet = np.full((rows * (height + _RULE) - _RULE, columns * (width + _RULE) - _RULE, 3), 255, np.uint8)
    for i, t in enumerate(times):
        top, left = i // columns * (height + _RULE), i % columns * (width + _RULE)
        sheet[top : top + height, left : left + width] = render_scene(scene, float(t), cell, view, samples)
    return sheet

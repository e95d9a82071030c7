"""Ghosts: bodies drawn as pale silhouettes with an outline over all else, to compare what is drawn solid with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.pictures.camera import Camera
from poise.pictures.raster import Surface

Color = tuple[float, float, float]
_VEIL, _LINE = (
    0.35,
    0.9,
)  # of the ghost's color, in its area where nothing solid is and on its outline
_FINE = 2  # samples along each side of a pixel


def draw_ghosts(image: np.ndarray, ghosts: Sequence[tuple[Surface, Color]], solid: Surface, camera: Camera) -> None:
    """Draw ghosts into a picture (H, W, 3) uint8 of something solid, in place: they hide nothing and cast no shadow.

    ghosts  the surface and the color of each, sRGB 0 to 1
    """
    from scipy.ndimage import maximum_filter, minimum_filter

    if not ghosts:
        return
    size = image.shape[1], image.shape[0]
    free = 1.0 - find_cover(solid, camera, size)
    for surface, color in ghosts:
        area = find_cover(surface, camera, size)
        rows, columns = (np.flatnonzero(area.any(axis=axis)) for axis in (1, 0))
        if not len(rows):
            continue
        part = tuple(slice(max(each[0] - 1, 0), each[-1] + 2) for each in (rows, columns))
        outline = maximum_filter(area[part], 3) - minimum_filter(area[part], 3)
        share = np.maximum(_VEIL * area[part] * free[part], _LINE * outline)[..., None]
        image[part] = np.rint((1.0 - share) * image[part] + share * 255.0 * np.asarray(color)).astype(np.uint8)


def find_cover(surface: Surface, camera: Camera, size: tuple[int, int]) -> np.ndarray:
    """(H, W) the share of every pixel that a surface covers."""
    from poise.pictures import kernels

    width, height = size
    fine = (width * _FINE, height * _FINE)
    owner = np.full(fine[::-1], -1, np.int32)
    corners = np.ascontiguousarray(camera.project(surface.points, fine))
    faces = np.ascontiguousarray(surface.faces, np.int32)
    kernels.fill_triangles(corners, faces, np.zeros(fine[::-1], np.float32), owner)
    return np.asarray((owner >= 0).reshape(height, _FINE, width, _FINE).mean(axis=(1, 3), dtype=np.float32))

"""What is painted on the ground under a figure: areas, lines, dots and rings, seen from above as x and z in metres."""

from __future__ import annotations

import numpy as np

from poise.errors import InputError
from poise.pictures.raster import Paint

Color = tuple[float, float, float]
_AROUND = 32


def paint_area(outline: np.ndarray, color: Color, cover: float = 0.35) -> Paint:
    """The inside of a convex outline (N, 2) m, in either direction; fewer than three points paint nothing."""
    outline = _check_points(outline)
    fan = np.column_stack([np.zeros(len(outline), int), np.arange(len(outline)), np.arange(len(outline)) + 1])
    return Paint(outline, fan[1:-1], color, cover)


def paint_line(points: np.ndarray, color: Color, width: float = 0.008, closed: bool = False) -> Paint:
    """A line of a width (m) through points (N, 2) m; closed, it returns to the first."""
    points = _check_points(points)
    if closed and len(points) > 1:
        points = np.concatenate([points, points[:1]])
    along = np.diff(points, axis=0)
    length = np.linalg.norm(along, axis=1, keepdims=True)
    keep = length[:, 0] > 1e-9
    starts, along = points[:-1][keep], (along / np.maximum(length, 1e-9))[keep]
    ends = points[1:][keep]
    across = 0.5 * width * np.column_stack([-along[:, 1], along[:, 0]])
    reach = 0.5 * width * along  # half a width further at both ends, so that corners close
    corners = np.stack(
        [starts - reach - across, ends + reach - across, ends + reach + across, starts - reach + across], 1
    )
    first = 4 * np.arange(len(corners))[:, None]
    faces = np.concatenate([first + [0, 1, 2], first + [0, 2, 3]])
    return Paint(corners.reshape(-1, 2), faces, color)


def paint_dot(center: np.ndarray, radius: float, color: Color, cover: float = 1.0) -> Paint:
    """A disc around center (2,) m."""
    return paint_area(_circle(center, radius), color, cover)


def paint_ring(center: np.ndarray, radius: float, color: Color, width: float = 0.008) -> Paint:
    """A circle's line around center (2,) m."""
    return paint_line(_circle(center, radius), color, width, closed=True)


def _circle(center: np.ndarray, radius: float) -> np.ndarray:
    turns = 2.0 * np.pi * np.arange(_AROUND) / _AROUND
    return _check_points(np.asarray(center, float) + radius * np.column_stack([np.cos(turns), np.sin(turns)]))


def _check_points(points: np.ndarray) -> np.ndarray:
    points = np.asarray(points, float)
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise InputError(f"marks on the ground need finite points (N, 2), x and z in metres; given {points.shape}.")
    return points

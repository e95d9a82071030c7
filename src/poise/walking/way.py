"""The line that somebody walks along, and which way he faces meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.errors import InputError
from poise.spatial.portable import Portable

FACINGS = {"ahead": 0.0, "back": np.pi, "left": -0.5 * np.pi, "right": 0.5 * np.pi}  # rad, of the heading to the way


@dataclass(frozen=True, eq=False)
class WalkWay(Portable):
    """A line on the ground, straight between points and on beyond the last one where it is endless.

    points   (N, 2) m, x and z
    facing   rad, how far to the left of the way he faces: 0 walks ahead, pi backwards, pi/2 sideways to his right
    endless  whether it goes on straight ahead
    heading  rad, which way he faces in the end, and all along where there is but one point; None: as the way goes
    """

    points: np.ndarray
    facing: float = 0.0
    endless: bool = False
    heading: float | None = None

    def __post_init__(self) -> None:
        points = np.array(self.points, float)
        if points.ndim != 2 or points.shape[1] != 2 or not len(points) or not np.isfinite(points).all():
            raise InputError(f"a way is points (N, 2), x and z in metres, finite; given shape {points.shape}.")
        apart = np.linalg.norm(np.diff(points, axis=0), axis=1)
        points = points[np.concatenate([[True], apart > 1e-6])]
        object.__setattr__(self, "points", points)
        object.__setattr__(
            self, "_along", np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
        )

    @classmethod
    def ahead(cls, x: float, z: float, heading: float, facing: float = 0.0) -> WalkWay:
        """Straight on for ever from a place (m) where somebody faces a heading (rad)."""
        way = heading - facing
        return cls(np.array([[x, z], [x + np.sin(way), z + np.cos(way)]]), facing, True)

    @property
    def length(self) -> float:
        """m."""
        return np.inf if self.endless else float(self._along[-1])  # type: ignore[attr-defined]

    def at(self, s: float) -> tuple[np.ndarray, float]:
        """(2,) m, the place s metres along it, and rad, which way he faces there."""
        along = self._along  # type: ignore[attr-defined]
        if len(along) == 1:
            return self.points[0], self.heading or 0.0
        i = int(np.clip(np.searchsorted(along, s, side="right") - 1, 0, len(along) - 2))
        step = self.points[i + 1] - self.points[i]
        u = (s - along[i]) / (along[i + 1] - along[i])
        if not self.endless:
            u = min(u, 1.0)
        heading = float(np.arctan2(step[0], step[1])) + self.facing
        if self.heading is not None and s >= self.length - 1e-9:
            heading = self.heading
        return self.points[i] + max(u, 0.0) * step, heading


def turn_between(a: float, b: float) -> float:
    """rad, the short way from heading a to heading b."""
    return float((b - a + np.pi) % (2.0 * np.pi) - np.pi)


def read_path(path: Any) -> tuple[tuple[float, float], ...]:
    """Points of a path, x and z in metres."""
    try:
        points = np.array([list(point) for point in path], float)
    except (TypeError, ValueError):
        points = np.zeros((0, 0))
    if points.ndim != 2 or points.shape[1] != 2 or not len(points) or not np.isfinite(points).all():
        raise InputError(f"a path is points, x and z in metres, as in [(0, 3), (2, 5)]; given {path!r:.60}.")
    return tuple((float(x), float(z)) for x, z in points)

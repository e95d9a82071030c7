"""The support polygon: the convex hull of points on the ground, seen from above."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class SupportPolygon(NamedTuple):
    """A convex polygon, counter-clockwise.

    points  (N, 2) m, x and z, of which only the first `size` count
    """

    points: np.ndarray
    size: int

    @property
    def corners(self) -> np.ndarray:
        """(size, 2) m."""
        return self.points[: self.size].copy()

    def shrink(self, scale: float) -> SupportPolygon:
        """Drawn towards the mean of its corners; 1 leaves it as it is, 0 is a point."""
        middle = self.points[: self.size].mean(axis=0)
        return SupportPolygon(middle + scale * (self.points - middle), self.size)

    def clamp(self, x: float, z: float) -> tuple[float, float]:
        """The point of it that is nearest to a point, which is the point itself where that is inside."""
        from poise.drivers.balance.support_kernels import clamp_to_hull

        return clamp_to_hull(self.points, self.size, float(x), float(z))

    def find_margin(self, x: float, z: float) -> float:
        """m, how far inside a point is; negative outside."""
        from poise.drivers.balance.support_kernels import hull_margin

        return float(hull_margin(self.points, self.size, float(x), float(z)))


def find_outline(points: np.ndarray) -> SupportPolygon:
    """The convex hull of points (..., 3) m in the world, seen from above."""
    from poise.drivers.balance.support_kernels import find_hull

    level = np.ascontiguousarray(points.reshape(-1, 3)[:, [0, 2]])
    hull = np.zeros((len(level) + 1, 2))
    return SupportPolygon(hull, find_hull(level, len(level), hull))

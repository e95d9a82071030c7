"""Mass, centre and inertia of a rigid body, and how they move, add and turn."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from poise.frozen import Portable


def skew(v: np.ndarray) -> np.ndarray:
    """The matrix of the cross product: skew(v) w = v x w; (..., 3) to (..., 3, 3).   [mix, eq 21]"""
    v = np.asarray(v, float)
    if v.ndim == 1:
        a, b, c = v.tolist()
        return np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])
    x, y, z = np.moveaxis(v, -1, 0)
    o = np.zeros_like(x)
    rows = [[o, -z, y], [z, o, -x], [-y, x, o]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


@dataclass(frozen=True, eq=False)
class RigidInertia(Portable):
    """A rigid body's inertia, expressed in some frame with some origin.

    mass     kg
    center   (3,) m, centre of mass from the origin
    inertia  (3, 3) kg m2 about the centre of mass, in the frame's axes
    """

    mass: float
    center: np.ndarray
    inertia: np.ndarray

    @staticmethod
    def zero() -> RigidInertia:
        """A body without mass."""
        return RigidInertia(0.0, np.zeros(3), np.zeros((3, 3)))

    @staticmethod
    def total(parts: Iterable[RigidInertia]) -> RigidInertia:
        """Bodies welded together; all expressed in one frame."""
        parts = [part for part in parts if part.mass > 0.0]
        if not parts:
            return RigidInertia.zero()
        if len(parts) == 1:
            return parts[0]._alone()
        mass = sum(part.mass for part in parts)
        center = sum((part.mass * part.center for part in parts), np.zeros(3)) / mass
        return RigidInertia(mass, center, sum((part.about(center) for part in parts), np.zeros((3, 3))))

    def _alone(self) -> RigidInertia:
        """The total of this body alone, with the rounding that adding up has."""
        mass = 0 + self.mass
        center = np.array([(0.0 + mass * a) / mass for a in self.center.tolist()])
        if (center == self.center).all():
            return RigidInertia(mass, center, self.inertia + 0.0)
        return RigidInertia(mass, center, 0.0 + self.about(center))

    def about(self, point: np.ndarray) -> np.ndarray:
        """(3, 3) kg m2 about another point: I = I_c - m [d]x [d]x (Steiner)."""
        d = skew(self.center - np.asarray(point, float))
        return self.inertia - self.mass * d @ d

    def moved(self, turn: np.ndarray, shift: np.ndarray) -> RigidInertia:
        """The same body seen from another frame: x' = turn x + shift, with `turn` a rotation matrix (3, 3)."""
        turn = np.asarray(turn, float)
        return RigidInertia(self.mass, turn @ self.center + shift, turn @ self.inertia @ turn.T)

    def matrix(self) -> np.ndarray:
        """The 6 x 6 spatial inertia at the origin, angular rows first.

        [ I_c - m [c]x [c]x   m [c]x ]
        [ -m [c]x             m 1    ]      [mix, eq 21; its lower left block lacks the cross as printed]
        """
        c = skew(self.center)
        top = np.hstack([self.about(np.zeros(3)), self.mass * c])
        return np.vstack([top, np.hstack([-self.mass * c, self.mass * np.eye(3)])])

    def reach(self) -> float:
        """m, from the origin to where the matter is: the centre's distance, and the radius of gyration about it."""
        if self.mass <= 0.0:
            return 0.0
        (xx, _, _), (_, yy, _), (_, _, zz) = self.inertia.tolist()
        center = np.ascontiguousarray(self.center)
        return math.sqrt(center @ center) + math.sqrt(max(xx + yy + zz, 0.0) / 2.0 / self.mass)

    def is_physical(self) -> bool:
        """Whether some distribution of positive mass has this inertia: principal moments obey the triangle rule."""
        if self.mass == 0.0:
            return bool(np.all(self.inertia == 0.0))
        if self.mass > 0.0 and self._is_surely_physical():
            return True
        moments = np.linalg.eigvalsh(self.inertia)
        return bool(self.mass > 0.0 and moments[0] >= 0.0 and moments[2] <= (moments[0] + moments[1]) * (1 + 1e-9))

    def _is_surely_physical(self) -> bool:
        """Whether it is without a look at the moments: tr(I) / 2 - I, the mean squares of the mass, is positive.

        By the circles of its rows (Gershgorin), which is enough for nearly every body along its own axes.
        """
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = self.inertia.tolist()
        half = 0.5 * (xx + yy + zz)
        rows = (half - xx - abs(xy) - abs(xz), half - yy - abs(yx) - abs(yz), half - zz - abs(zx) - abs(zy))
        return min(rows) > 0.0 and rows[0] == rows[0] and rows[1] == rows[1] and rows[2] == rows[2]

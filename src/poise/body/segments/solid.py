"""A table's segment as a solid on a line, which can be cut across without losing anything.

Three radii of gyration say how the mass spreads along each axis: with a, b, z the mean squares of the distance along
the sagittal, transverse and longitudinal axis,

    r_sagittal^2 = b + z,   r_transverse^2 = a + z,   r_longitudinal^2 = a + b

so a, b and z follow. The solid is the prism that has them: cross-section the same all along (a, b), mass uniform along
the line over a length sqrt(12 z), its middle at the table's centre. That length need not be the distance between the
end points: the lower trunk hangs below the hip joints, for one. The prism is cut *by share*: the plane at a fraction t
between the end points cuts off the share of mass that lies below t in the segment (`profile`; t itself by default),
so that cutting at an end point leaves the segment whole, and the pieces always add up to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from poise.body.segments.tables import SegmentRow
from poise.errors import InputError
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia

_SHARES = 2.0**40
EVEN = ((0.0, 0.0), (1.0, 1.0))


@dataclass(frozen=True, eq=False)
class SegmentSolid:
    """A prism along the line from `start` to `end`.

    mass        kg
    start, end  (3,) m, the segment's end points
    center      fraction of the way from start to end
    spread      (3,) m2, mean squares a, b, z along the sagittal, transverse and longitudinal axis
    axes        (3, 3) columns: the unit sagittal, transverse and longitudinal axis
    profile     (t, share) pairs, both rising, the shares from 0 to 1: which share of the mass lies before t
    """

    mass: float
    start: np.ndarray
    end: np.ndarray
    center: float
    spread: np.ndarray
    axes: np.ndarray
    profile: tuple[tuple[float, float], ...] = EVEN

    @staticmethod
    def from_row(
        row: SegmentRow,
        body_mass: float,
        start: np.ndarray,
        end: np.ndarray,
        sagittal: np.ndarray,
        *,
        profile: tuple[tuple[float, float], ...] = EVEN,
    ) -> SegmentSolid:
        """The solid of a table's row on the line start to end, `start` being the row's proximal or cranial end.

        sagittal  (3,) about where the segment's sagittal axis points; made normal to the line
        """
        line = end - start
        length = math.sqrt(line @ line)
        if length == 0.0:
            raise InputError("a segment needs two different end points.")
        long = line / length
        sagittal = sagittal - (sagittal @ long) * long
        if math.sqrt(sagittal @ sagittal) < 1e-9:  # along the line: any normal is as good
            sagittal = rotation.cross(long, np.eye(3)[np.argmin(np.abs(long))])
        sagittal = sagittal / math.sqrt(sagittal @ sagittal)
        axes = np.empty((3, 3))
        axes[:, 0], axes[:, 1], axes[:, 2] = sagittal, rotation.cross(long, sagittal), long
        square = length**2
        r2 = [square * (radius * radius) for radius in row.radii]
        # a = (r_t^2 + r_l^2 - r_s^2) / 2, and so round
        spread = np.array([0.5 * (r2[0] + r2[1] + r2[2] - 2.0 * each) for each in r2])
        return SegmentSolid(row.mass * body_mass, start, end, row.center, spread, axes, profile)

    def whole(self) -> RigidInertia:
        """The segment uncut, in the frame its end points are given in."""
        return self.cut(-np.inf, np.inf)

    def cut(self, t0: float, t1: float) -> RigidInertia:
        """The piece between the planes at t0 and t1 (fractions from start to end; infinite for no plane)."""
        # Shares are multiples of 2^-40, so that no piece is a sliver of rounding; both its neighbours agree on a plane.
        low, high = self._share_before(t0), self._share_before(t1)
        share = high - low
        if share <= 0.0:
            return RigidInertia.zero()
        a, b, z = self.spread.tolist()
        long = self.axes[:, 2]
        middle = self.start + self.center * (self.end - self.start)
        # A prism of length sqrt(12 z), its piece from `low` to `high`: uniform, so its own mean square is z share^2.
        center = middle + math.sqrt(12.0 * z) * (0.5 * (low + high) - 0.5) * long
        z = z * share**2
        mass = self.mass * share
        moments = np.zeros((3, 3))
        moments[0, 0], moments[1, 1], moments[2, 2] = mass * (b + z), mass * (a + z), mass * (a + b)
        inertia = self.axes @ moments @ self.axes.T
        return RigidInertia(mass, center, 0.5 * (inertia + inertia.T))

    def _share_before(self, t: float) -> float:
        if math.isinf(t):
            return self.profile[0 if t < 0.0 else -1][1]  # 0 or 1
        ts, shares = zip(*self.profile, strict=True)
        return round(float(np.interp(t, ts, shares)) * _SHARES) / _SHARES


def solid_profile(row: SegmentRow) -> tuple[tuple[float, float], ...]:
    """The profile that cuts a row's prism where it is, at t itself: for a cut inside a segment, such as the toes'."""
    sagittal, transverse, longitudinal = np.square(row.radii)
    half = float(np.sqrt(3.0 * 0.5 * (sagittal + transverse - longitudinal)))
    return (row.center - half, 0.0), (row.center + half, 1.0)

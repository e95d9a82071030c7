"""Where the world may exert forces on a body in this step: soles, supporting hands, and whatever else it touches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from poise.drivers.body import Body
from poise.drivers.strength.hand_support import PADS, HandSupport
from poise.drivers.strength.records import ContactPoints, Freedoms
from poise.drivers.strength.reference import CaptureShortfall, Reference

MOST_TOUCHES = 8  # contacts besides soles and hands that are counted: those with the largest forces
# m: corners of a foot on its edge that are so near to the outermost one count as the edge. Not swept.
EDGE_WIDTH = 0.03
# Coefficient of friction at least; without any the problem has no solution at rest. Not swept.
LEAST_FRICTION = 0.05
# Fraction of the weight: a contact with less force is not leaned on; no unit. Not swept.
LIGHT = 0.01
# Weight of ankle joints while a body that tips over reaches for something, beside 1 for others; no unit. Not swept.
FREE_ANKLES = 0.01


class Contacts:
    """Contact points of a body.

    points   soles, then supporting hands, then other contacts
    point, frame, ...  arrays of `points`;  soles, pads: numbers of points up to the last sole, the last hand
    planted  (2, 7) position (m) and orientation of each foot when it came to stand
    edges    first and last index of the points that a foot on its edge turns about
    """

    def __init__(self, body: Body, reference: Reference, hands: HandSupport):
        capacity = 8 + PADS + MOST_TOUCHES
        self.points = ContactPoints(capacity=capacity, push=hands.push, pressure_center=np.full(3, np.nan))
        p = self.points
        self.point, self.frame, self.segment, self.most, self.hand, self.gap, self._friction = (
            p.point, p.frame, p.segment, p.most, p.hand, p.gap, p.friction,
        )  # fmt: skip
        self.soles = self.pads = 0
        self.planted, self.edges = np.zeros((2, 7)), [(0, 0), (0, 0)]
        reference.step.record["contacts"] = p.address
        self._reference, self._hands = reference, hands
        self.is_foot = np.zeros(len(body.tree), bool)
        self.is_foot[reference.feet_joints] = True
        for i in range(len(body.tree)):
            self.is_foot[i] |= i > 0 and bool(self.is_foot[body.tree.parents[i]])

    @property
    def count(self) -> int:
        """Number of points."""
        return int(self.points.record["count"][0])

    @count.setter
    def count(self, count: int) -> None:
        self.points.record["count"] = count  # no array has this size; faster than `Layout.set`, which checks them

    def find(
        self, body: Body, shortfall: Callable[[], CaptureShortfall], firm: np.ndarray, freedoms: Freedoms, rate: float
    ) -> None:
        """List the points; hands that support a body move, too.

        firm  (n,) which contacts of the last step are with what never moves
        """
        hands, helps = self._hands, ~self.is_foot
        carries = not body.root_is_given  # else the body does not stand on anything
        self.count, self.hand[:] = 0, -1
        self._add_soles(body, shortfall, carries)
        self.soles = self.count
        if carries and hands.see(body):
            hands.update(body, shortfall(), freedoms, self.points, rate)
            for _, arm in hands.busy():
                helps[list(arm.below)] = False
        self.pads = self.count
        self._add_touches(body, np.flatnonzero(helps[body.touches.joints] & firm))
        if hands.busy() and self.count == self.soles:
            freedoms.weight[self.is_foot[freedoms.joint]] = FREE_ANKLES
        self._friction[: self.count] = max(body.friction, LEAST_FRICTION)

    def _add_soles(self, body: Body, shortfall: Callable[[], CaptureShortfall], carries: bool) -> None:
        """Add corners of soles; note which feet stand and where."""
        from poise.drivers.strength.kernels import add_sole

        reference, step = self._reference, self._reference.step.address
        stood = reference.stands
        stood[:] &= carries
        self.edges = [(0, 0), (0, 0)]
        for side, foot in enumerate(reference.feet_joints.tolist() if carries else ()):
            lifted, first = reference.lifts(side), self.count
            down = add_sole(step, side, lifted)
            stands = down >= 3 and not lifted
            if not stands and self.count - first > 1:
                self._keep_outer(shortfall(), first)
            if stands and not stood[side]:
                self.planted[side, :3], self.planted[side, 3:] = body.p[foot], body.world_turn(foot)
            stood[side] = stands
            self.edges[side] = first, first if stands or lifted else min(self.count, first + 2)

    def _keep_outer(self, shortfall: CaptureShortfall, first: int) -> None:
        """Of a foot on its edge, keep the points over which the body tips.

        A body that is pushed over backwards, on the inner edges of its feet, would else push itself off by its toes.
        """
        if shortfall.distance <= 0.0:
            return
        count = self.count
        along = self.point[first:count] @ shortfall.direction
        kept = first + np.flatnonzero(along > along.max() - EDGE_WIDTH)
        end = first + len(kept)
        for each in (self.point, self.frame, self.segment, self.most):
            each[first:end] = each[kept]
        self.count = end

    def _add_touches(self, body: Body, others: np.ndarray) -> None:
        """Add contacts of the last step, the largest forces first, at most `MOST_TOUCHES`."""
        from poise.drivers.strength.kernels import set_frame

        touches, count = body.touches, self.count
        most = count + MOST_TOUCHES
        sizes = np.linalg.norm(touches.forces[others], axis=1)
        for row, size in sorted(zip(others.tolist(), sizes.tolist(), strict=True), key=lambda each: -each[1]):
            if size <= LIGHT * body.tree.mass * body.weight_per_mass or count == most:
                break
            self.point[count], self.segment[count] = touches.points[row], touches.joints[row]
            x, y, z = (touches.forces[row] / size).tolist()
            set_frame(x, y, z, self.frame[count])
            self.most[count] = np.inf
            count += 1
        self.count = count

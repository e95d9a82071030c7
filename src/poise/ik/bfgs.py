"""A limb brought to a place by the least change of its joints, found by BFGS.   [tracking, section 5.1]

    least    1/2 sum_i w_i |log(R_i R_i0^-1)|^2     how far each joint turns from where it is
    so that  p = p*                                 a point of the limb's end is at its place,
             log(R R*^-1) = 0                       the end is turned in the world as before,
    and      low <= angles <= high                  every joint stays in its range.

Place and turn are kept by multipliers (the augmented Lagrangian): c the two errors in turn, BFGS finds the least of
f + l.c + m/2 |c|^2, then l becomes l + m c, so that weights need not grow until nothing else counts. Where both cannot
be had, the place goes before the turn; where the place is out of reach, the limb comes as near as it can.

Angles are those of the joint's range (`body/joints.py`), so that the range is a box; a joint without one turns freely.
A range is as wide as the pose that is changed: what is beyond it already may stay there, and goes no farther.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from poise.body.joints import JointLimits
from poise.spatial import rotation

ENOUGH = 1e-6  # m that a place is met within
_LEVEL = 1e-6  # rad, the same of an orientation
_SOFT = 3.0  # weight of an orientation that need not be kept, compared with the joints' rotations
_ASKEW = np.array([0.5, 0.6, 0.7])
_ALIKE = 1e-4  # m, to what a stretched limb leaves
_MORE, _ASTRAY = 6, 0.6  # other starts, rad from the pose as it is
_BENDS = (0.6, -0.6, 1.2)  # rad by which the middle joints are bent to begin anew, where the first try fails


@dataclass(frozen=True, eq=False)
class LimbChain:
    """A limb as it is posed: N joints, each carried by the one before.

    carrier  (3, 3) axes and `origin` (3,) m: the frame that carries the first joint
    links    (N, 3, 3) from the frame that carries each joint to that of the joint before, as it is posed
    bones    (N, 3) m, each joint in the frame of the joint before; the first in the carrier's
    turns    (N, 4) of the joints, relative to what carries them
    limits   of each; None: it turns freely
    point    (3,) m, of the end, in the last joint's frame
    """

    carrier: np.ndarray
    origin: np.ndarray
    links: np.ndarray
    bones: np.ndarray
    turns: np.ndarray
    limits: Sequence[JointLimits | None]
    point: np.ndarray

    def pose(self, turns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(3,) m where the point is in the world, and the (3, 3) axes of the end."""
        G, o = self.carrier, self.origin
        for link, bone, turn in zip(self.links, self.bones, turns, strict=True):
            o = o + G @ bone
            G = G @ link @ rotation.to_matrix(turn)
        return o + G @ self.point, G

    @property
    def length(self) -> float:
        """m, of the limb when it is stretched out."""
        return float(np.linalg.norm(self.bones[1:], axis=1).sum() + np.linalg.norm(self.point))


class ReachedPlace(NamedTuple):
    """Turns (N, 4) of the joints that were found, and how far the end is off: `miss` m, `turned` rad."""

    turns: np.ndarray
    miss: float
    turned: float


def reach_by_bfgs(chain: LimbChain, place: np.ndarray, turn: np.ndarray | None) -> ReachedPlace:
    """The least change that puts the chain's point at a place (3,) m with its end turned by `turn` (4,); None: any."""
    kept = _Search(chain, place, turn, is_level=True)
    found = kept.solve(kept.start)
    if kept.is_met(found):
        return found
    loose = _Search(chain, place, turn, is_level=False)  # the place goes before the turn
    tries = [found, loose.solve(loose.start)]
    if not loose.is_met(tries[-1]):
        for start in loose.find_other_starts():
            tries.append(loose.solve(start))
            if loose.is_met(tries[-1]) or tries[-1].miss < loose.beyond + _ALIKE:
                break  # it is there, or as near as it gets
    return min(tries, key=lambda each: (max(each.miss, ENOUGH), each.turned))


class _Search:
    """One problem, compiled, and the rounds that solve it."""

    def __init__(self, chain: LimbChain, place: np.ndarray, turn: np.ndarray | None, is_level: bool):
        self.chain, self.place = chain, np.array(place, float)
        self.turn = turn
        self.is_level = is_level and turn is not None
        self.scale = max(chain.length, 1e-6)
        limits = chain.limits
        self.start = np.concatenate([_find_angles(each, q) for each, q in zip(limits, chain.turns, strict=True)])
        low, high = np.full((len(limits), 3), -np.inf), np.full((len(limits), 3), np.inf)
        back, child = (np.tile(np.eye(3), (len(limits), 1, 1)) for _ in range(2))
        for i, (each, now) in enumerate(zip(limits, self.start.reshape(-1, 3), strict=True)):
            if each is not None:  # what is beyond its range already may stay there
                low[i], high[i] = np.minimum(each.lower, now), np.maximum(each.upper, now)
                back[i], child[i] = rotation.to_matrix(each.parent_zero).T, rotation.to_matrix(each.child_zero)
        self.low, self.high = low.ravel(), high.ravel()
        from poise.ik.solver.limb_bfgs_kernels import LimbProblem

        self.has_range = np.array([each is not None for each in limits])
        self.problem = LimbProblem(
            joints=len(limits), size=3 * len(limits), keeps_orientation=int(self.is_level),
            position_tolerance=ENOUGH, orientation_tolerance=_LEVEL, scale=self.scale,
            orientation_weight=0.0 if turn is None or self.is_level else _SOFT, has_range=self.has_range, back=back,
            child=child, first=rotation.to_matrix(chain.turns), carrier=np.ascontiguousarray(chain.carrier, float),
            origin=np.array(chain.origin, float), links=np.ascontiguousarray(chain.links, float),
            bones=np.ascontiguousarray(chain.bones, float), point=np.array(chain.point, float), target=self.place,
            axes=np.eye(3) if turn is None else rotation.to_matrix(turn), low=self.low, high=self.high,
        )  # fmt: skip

    @property
    def beyond(self) -> float:
        """m, by which the place is farther from the limb's first joint than the limb is long."""
        first = self.chain.origin + self.chain.carrier @ self.chain.bones[0]
        return max(float(np.linalg.norm(self.place - first)) - self.chain.length, 0.0)

    def is_met(self, found: ReachedPlace) -> bool:
        """Whether place and turn are as they should be."""
        return found.miss <= 10 * ENOUGH and (not self.is_level or found.turned <= 10 * _LEVEL)

    def find_other_starts(self) -> Iterator[np.ndarray]:
        """The angles as they are, with the outer joints bent: to the side that has more room, or askew; then any."""
        for bend in _BENDS:
            start = self.start.copy().reshape(-1, 3)
            low, high = self.low.reshape(-1, 3), self.high.reshape(-1, 3)
            for i in range(1, len(start)):
                if self.has_range[i]:
                    room = high[i, 0] - start[i, 0] >= start[i, 0] - low[i, 0]
                    start[i, 0] += bend if room else -bend
                else:
                    start[i] += bend * _ASKEW
            yield np.clip(start, low, high).ravel()
        rng = np.random.default_rng(0)
        for _ in range(_MORE):
            yield np.clip(self.start + rng.normal(scale=_ASTRAY, size=len(self.start)), self.low, self.high)

    def solve(self, start: np.ndarray) -> ReachedPlace:
        """The rounds of multipliers, from angles on."""
        from poise.ik.solver.limb_bfgs_kernels import solve_limb

        x = start.copy()
        solve_limb(self.problem, x)
        return self._describe(x)

    def _describe(self, x: np.ndarray) -> ReachedPlace:
        limits, first = self.chain.limits, self.chain.turns
        turns = np.array([_find_turn(*each) for each in zip(limits, first, x.reshape(-1, 3), strict=True)])
        point, axes = self.chain.pose(turns)
        turned = 0.0 if self.turn is None else float(rotation.angle(rotation.from_matrix(axes), self.turn))
        return ReachedPlace(turns, float(np.linalg.norm(point - self.place)), turned)


def _find_angles(limits: JointLimits | None, q: np.ndarray) -> np.ndarray:
    """(3,) what a joint's turn is searched by: the angles of its range, or how far it turned from where it is."""
    return np.zeros(3) if limits is None else limits.angles(q)


def _find_turn(limits: JointLimits | None, first: np.ndarray, angles: np.ndarray) -> np.ndarray:
    return rotation.multiply(rotation.exp(angles), first) if limits is None else limits.rotation(angles)

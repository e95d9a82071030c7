"""The path of one foot: it lands heel first, lies flat, rises over its ball, and swings to its next foothold.

The path consists of stances (`FootStance`) and the swings between them (`FootSwing`). It is continuous up to the
acceleration: pitch, position of the ball and orientation are quintics whose ends fit. The part of a planted foot that
bears weight does not move at all: toes, the whole sole, or the heel's edge.

    planted  t in [flat, rise]      the sole lies at its foothold
    rolling  [land, flat]           the toes come down about the heel's edge;  [rise, off] the heel rises about the ball
    swinging [off, next land]       the ball leaves at rest, and arrives as fast as the toes come down about the heel
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from poise.frozen import Portable
from poise.spatial import rotation
from poise.walking.feet.foot import WalkingFoot
from poise.walking.feet.records import Stances

WHOLE, FRONT, BACK, NONE = 0, 1, 2, 3  # what of a sole carries
ROLL = 1.6  # of its mean speed, that a heel rises with as its foot leaves
_SAME = 1e-6  # s, that times are apart at the most which are meant to be the same


@dataclass(frozen=True, eq=False)
class FootStance(Portable):
    """A foot on the ground.

    place, turn        (3,) m, (4,): of the foot whose sole lies there, see `feet`
    land, flat         s: when it comes down, and when it lies flat
    rise, off          s: when its heel leaves, and when all of it does; inf: not planned yet
    strike, push       rad: by how much its toes are up when it lands, and its heel when it leaves
    pace               how fast its heel still rises as it leaves, of its mean speed
    whole, front, back (N, 3) m, outlines of what of the sole, of its front and of its heel's edge lies on the ground,
                       in the world; None: all of it;  no rows: it cannot stand on that
    share              of the sole that lies on the ground
    gap                m, how high half of the sole is over the ground
    """

    place: np.ndarray
    turn: np.ndarray
    land: float = -np.inf
    flat: float = -np.inf
    rise: float = np.inf
    off: float = np.inf
    strike: float = 0.0
    push: float = 0.0
    pace: float = ROLL
    whole: np.ndarray | None = None
    front: np.ndarray | None = None
    back: np.ndarray | None = None
    share: float = 1.0
    gap: float = 0.0

    def carries(self, t: float) -> int:
        """Return the part of the sole that bears weight at time t; at the time of a change, the smaller one."""
        if not self.land + _SAME < t < self.off - _SAME:
            return NONE
        if t <= self.flat + _SAME and self.flat > self.land:
            return BACK
        return FRONT if t >= self.rise - _SAME else WHOLE


@dataclass(frozen=True, eq=False)
class FootSwing(Portable):
    """How a foot goes from one stance to the next.

    top          m, the highest that the ball gets, over the higher of its ends
    up, down     of the time: when it is up there, and when it starts to come down
    early, late  of the time: how long it goes straight up first, and straight down at last
    tip          rad, by how much more its heel is up on the way, as the knee bends
    """

    top: float = 0.05
    up: float = 0.4
    down: float = 0.5
    early: float = 0.0
    late: float = 0.0
    tip: float = 0.0


class FootState(NamedTuple):
    """A foot at a time: place (3,) m of its joint, turn (4,), and bend rad of its toes, positive up.

    Of many times: places (F, 3), turns (F, 4), bends (F,).
    """

    place: np.ndarray
    turn: np.ndarray
    bend: np.ndarray | float


_NUMBERS = ("land", "flat", "rise", "off", "strike", "push", "pace")
_SWING_NUMBERS = ("top", "up", "down", "early", "late", "tip")


def build_stances(stances: Sequence[FootStance], swings: Sequence[FootSwing]) -> Stances:
    """Return the stances of one foot, and the swings between them, as compiled code reads them."""
    after = [*swings, FootSwing()]
    rows = [[getattr(stance, name) for name in _NUMBERS] for stance in stances]
    more = [[getattr(swing, name) for name in _SWING_NUMBERS] for swing in after]
    columns = np.concatenate([np.array(rows, float), np.array(more, float)], axis=1).T.copy()
    return Stances(
        count=len(stances), position=np.array([stance.place for stance in stances], float),
        orientation=np.array([stance.turn for stance in stances], float),
        **dict(zip((*_NUMBERS, *_SWING_NUMBERS), columns, strict=True)),
    )  # fmt: skip


def find_carriers(foot: WalkingFoot, stance: FootStance, t: float) -> np.ndarray:
    """(N, 3) m, outline of what carries at time t, in the world; none of a foot that is in the air."""
    part = stance.carries(t)
    if part == NONE:
        return np.zeros((0, 3))
    corners, known = {
        WHOLE: (foot.corners, stance.whole), FRONT: (foot.front, stance.front), BACK: (foot.back, stance.back),
    }[part]  # fmt: skip
    if known is not None:
        return known
    # They do not move while they carry: as if the sole were flat.
    return np.asarray(stance.place + rotation.rotate(stance.turn, corners + [0.0, foot.down, 0.0]))

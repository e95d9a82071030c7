"""How one foot goes: it lands heel first, lies flat, rises over its ball, and swings to where it stands next.

A foot is told by stances (`Stance`) and what lies between them. All of it is smooth to the acceleration: pitch, the
ball's place and the turn are quintics (Bezier curves of degree 5) whose ends fit. While it stands, what carries does
not move at all: toes, the whole sole, or the heel's edge.

    planted  t in [flat, rise]      the sole lies at its foothold
    rolling  [land, flat]           the toes come down about the heel's edge;  [rise, off] the heel rises about the ball
    swinging [off, next land]       the ball leaves at rest, and arrives as fast as the toes come down about the heel
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from poise.spatial import rotation
from poise.spatial.portable import Portable
from poise.walking.feet import WalkingFoot

WHOLE, FRONT, BACK, NONE = 0, 1, 2, 3  # what of a sole carries
Sequence3 = tuple[float, float, float] | np.ndarray
_UP = np.array([0.0, 1.0, 0.0])
_ROLL = 1.6  # of its mean speed, that a foot rolls with as it lands and leaves
_TIPPED = 7.0**7 / (3.0**3 * 4.0**4)  # makes the largest u^3 (1 - u)^4 one


@dataclass(frozen=True, eq=False)
class Stance(Portable):
    """A foot on the ground.

    place, turn        (3,) m, (4,): of the foot whose sole lies there, see `feet`
    land, flat         s: when it comes down, and when it lies flat
    rise, off          s: when its heel leaves, and when all of it does; inf: not planned yet
    strike, push       rad: by how much its toes are up when it lands, and its heel when it leaves
    pace               how fast its heel still rises as it leaves, of its mean speed
    span               m along the sole, from where to where it has ground under it: the rest hangs over an edge
    """

    place: np.ndarray
    turn: np.ndarray
    land: float = -np.inf
    flat: float = -np.inf
    rise: float = np.inf
    off: float = np.inf
    strike: float = 0.0
    push: float = 0.0
    pace: float = _ROLL
    span: tuple[float, float] = (-np.inf, np.inf)

    def carries(self, t: float) -> int:
        """What of the sole carries at time t; where that changes, the less."""
        if not self.land <= t <= self.off:
            return NONE
        if t < self.flat:
            return BACK
        return FRONT if t > self.rise else WHOLE


@dataclass(frozen=True, eq=False)
class Swing(Portable):
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
    """A foot at a time: place (3,) m of its joint, turn (4,), and bend rad of its toes, positive up."""

    place: np.ndarray
    turn: np.ndarray
    bend: float


def follow_foot(foot: WalkingFoot, stance: Stance, after: Stance | None, swing: Swing | None, t: float) -> FootState:
    """Where a foot is at time t, in a stance or on the way to the one after it."""
    if t <= stance.off or after is None or swing is None:
        return _stand(foot, stance, t)
    return _swing(foot, stance, after, swing, t)


def _stand(foot: WalkingFoot, stance: Stance, t: float) -> FootState:
    pitch = find_pitch(stance, t)[0]
    joint = stance.place + rotation.rotate(stance.turn, foot.down * _UP)
    if pitch == 0.0:
        return FootState(joint, stance.turn, 0.0)
    pivot = foot.ball if pitch > 0.0 else foot.heel
    turn = rotation.multiply(stance.turn, foot.pitched(pitch))
    fixed = joint + rotation.rotate(stance.turn, pivot)
    return FootState(fixed - rotation.rotate(turn, pivot), turn, max(pitch, 0.0) if foot.toes >= 0 else 0.0)


def find_pitch(stance: Stance, t: float) -> np.ndarray:
    """(3,) rad: by how much the heel is up (negative: the toes are), how fast, and how that changes."""
    if t < stance.flat:
        span = stance.flat - stance.land
        return _quintic(t - stance.land, span, (-stance.strike, _ROLL * stance.strike / span, 0.0), (0.0, 0.0, 0.0))
    if t > stance.rise:
        span = stance.off - stance.rise
        rate = stance.pace * stance.push / span
        return _quintic(t - stance.rise, span, (0.0, 0.0, 0.0), (stance.push, rate, 0.0))
    return np.zeros(3)


def _swing(foot: WalkingFoot, stance: Stance, after: Stance, swing: Swing, t: float) -> FootState:
    span, since = after.land - stance.off, t - stance.off
    begin, end = find_pitch(stance, stance.off), find_pitch(after, after.land)
    u = since / span
    pitch = _quintic(since, span, begin, end)[0] + swing.tip * _TIPPED * u**3 * (1.0 - u) ** 4
    s = _quintic(since, span, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))[0]
    turn = rotation.multiply(rotation.slerp(stance.turn, after.turn, s), foot.pitched(pitch))
    ball = _find_ball(foot, stance, after, swing, end, t)
    bend = 0.0
    if foot.toes >= 0 and begin[0] > 0.0:  # the toes go back to straight within the first part of the swing
        late = 0.6 * span
        bend = _quintic(min(since, late), late, begin, (0.0, 0.0, 0.0))[0]
    return FootState(ball - rotation.rotate(turn, foot.ball), turn, bend)


def _find_ball(
    foot: WalkingFoot, stance: Stance, after: Stance, swing: Swing, end: np.ndarray, t: float
) -> np.ndarray:
    """(3,) m, where the ball is."""
    span = after.land - stance.off
    first = stance.place + rotation.rotate(stance.turn, foot.down * _UP + foot.ball)
    # It arrives as the toes come down about the heel: x = heel + R l,  x' = w x R l,  x'' = a x R l + w x (w x R l)
    heel = after.place + rotation.rotate(after.turn, foot.down * _UP + foot.heel)
    axis = rotation.rotate(after.turn, foot.hinge)
    arm = rotation.rotate(rotation.multiply(after.turn, foot.pitched(end[0])), foot.ball - foot.heel)
    speed = end[1] * np.cross(axis, arm)
    bend = end[2] * np.cross(axis, arm) + end[1] * np.cross(axis, speed)
    last = heel + arm
    out, since = np.empty(3), t - stance.off
    early, late = swing.early * span, swing.late * span
    for a in (0, 2):
        along = span - early - late
        now = min(max(since - early, 0.0), along)
        out[a] = _quintic(now, along, (first[a], 0.0, 0.0), (last[a], speed[a], bend[a]))[0]
    top = max(first[1], last[1]) + swing.top
    if since <= swing.up * span:
        out[1] = _quintic(since, swing.up * span, (first[1], 0.0, 0.0), (top, 0.0, 0.0))[0]
    elif since >= swing.down * span:
        down = (1.0 - swing.down) * span
        out[1] = _quintic(
            since - swing.down * span, down, (top, 0.0, 0.0), (last[1], speed[1], bend[1])
        )[0]
    else:
        out[1] = top
    return out


def _quintic(t: float, span: float, begin: Sequence3, end: Sequence3) -> np.ndarray:
    """(3,) value, rate and change of it at t of the quintic between two such triples, `span` s apart."""
    if span <= 0.0:
        return np.array(end, float)
    s = min(max(t / span, 0.0), 1.0)
    p0, v0, a0 = begin[0], begin[1] * span, begin[2] * span**2
    p1, v1, a1 = end[0], end[1] * span, end[2] * span**2
    d = p1 - p0
    c3 = 10 * d - 6 * v0 - 4 * v1 - 1.5 * a0 + 0.5 * a1
    c4 = -15 * d + 8 * v0 + 7 * v1 + 1.5 * a0 - a1
    c5 = 6 * d - 3 * v0 - 3 * v1 - 0.5 * a0 + 0.5 * a1
    return np.array(
        [
            p0 + s * (v0 + s * (0.5 * a0 + s * (c3 + s * (c4 + s * c5)))),
            (v0 + s * (a0 + s * (3 * c3 + s * (4 * c4 + s * 5 * c5)))) / span,
            (a0 + s * (6 * c3 + s * (12 * c4 + s * 20 * c5))) / span**2,
        ]
    )





def find_carriers(foot: WalkingFoot, stance: Stance, t: float) -> np.ndarray:
    """(N, 3) m, corners of what carries at time t, in the world; none of a foot that is in the air."""
    part = stance.carries(t)
    corners = {WHOLE: foot.corners, FRONT: foot.front, BACK: foot.back, NONE: np.zeros((0, 3))}[part]
    along = corners @ foot.ahead
    corners = corners + np.outer(np.clip(along, *stance.span) - along, foot.ahead)
    # They do not move while they carry: as if the sole were flat.
    return np.asarray(stance.place + rotation.rotate(stance.turn, corners + foot.down * _UP))


def find_sole_points(foot: WalkingFoot, state: FootState) -> np.ndarray:
    """(N, 3) m, corners of heel, ball and front of a foot as it is, toes bent."""
    own = np.concatenate([foot.corners[:2], foot.front])
    points = state.place + rotation.rotate(state.turn, own)
    if state.bend > 0.0:
        turn = rotation.multiply(state.turn, foot.pitched(-state.bend))
        fixed = state.place + rotation.rotate(state.turn, foot.ball)
        points[2:] = fixed + rotation.rotate(turn, foot.front - foot.ball)
    return np.asarray(points)

"""When a step is made: how long the weight shifts and the foot swings, when its heel rises, and how it lands.

Times are whole knots of the path of the centre of mass, which is led from knot to knot.
"""

from __future__ import annotations

import numpy as np

from poise.spatial import rotation
from poise.walking.center_path import KNOT
from poise.walking.course import StepCourse, Timing
from poise.walking.foot_path import ROLL, FootStance
from poise.walking.manner import Manner

_SHIFT, SWING, _FIRST = 0.5, 0.6, 0.9  # s, of a leisurely adult
_STRIKE, _PUSH, _DOWN = np.radians(14.0), np.radians(24.0), np.radians(50.0)
_LEAST_PUSH = 0.5  # of the above: a straight leg that is flung up from a flat sole throws the body about
_CAREFUL = 1.1  # of a usual swing, that the first one takes: from standing all of the leg is brought up to speed
_SOONER = 1.0  # of a swing, that a heel is up sooner for every fifth of a leg that the other foot goes down more
_STAIRS = 1.3  # how much longer steps take, for a quarter of a leg's height
_ASIDE = 1.4  # how much longer steps take sideways: a leg that swings aside turns the body on its foot
_UPHILL = 1.5  # rad that a heel is up more as it leaves, for a leg's length of height
_FLAT = np.radians(2.0)  # a foot that rolls by less does not roll
_SLOWER = 1.15  # times as long, that a step takes which balance cannot keep up with
_AHEAD = np.array([0.0, 0.0, 1.0])


def find_timing(course: StepCourse, side: int, spot: FootStance, facing: float, manner: Manner, leg: float) -> Timing:
    """How long a step takes: a first one longer, a high one too; on stairs feet land flat.

    facing  rad, how the walk is turned to the way it goes
    leg     m, the shorter one
    """
    place, scale = spot.place, manner.scale(leg)
    last, other = course.stances[side][-1], course.stances[1 - side][-1]
    up = float(abs(place[1] - last.place[1])) / leg
    far = float(np.linalg.norm((place - last.place)[[0, 2]])) / (2.0 * manner.step * leg)
    ahead = rotation.rotate(other.turn, _AHEAD)
    forward = float((place - other.place) @ ahead) / leg
    slower = scale * (1.0 + (_STAIRS - 1.0) * min(4.0 * up, 2.0))
    slower *= 1.0 + (_ASIDE - 1.0) * abs(float(np.sin(facing)))
    is_first = not course.steps
    shift = round_time(slower * (_FIRST if is_first else _SHIFT))
    swing = round_time(slower * SWING * (_CAREFUL if is_first else 0.7 + 0.3 * min(far, 1.5)))
    level = max(0.0, 1.0 - 6.0 * up)
    roll = manner.roll * level
    strike = _STRIKE * roll * np.clip(forward / 0.4, 0.0, 1.2)
    push = _PUSH * manner.roll * np.clip(_find_behind(last, other, leg) / 0.45, _LEAST_PUSH, 1.2)
    flat = round_time(0.4 * shift)
    # Uphill the ankle of the foot that is left behind bends more: its heel leaves sooner, and farther.
    uphill = max(float(other.place[1] - last.place[1]) / leg, 0.0)
    # So it does where that foot goes down: both knees bend for it before it leaves.
    downhill = max(float(last.place[1] - place[1]) / leg, 0.0)
    rise = round_time(max((0.6 if is_first else 0.4) - 4.0 * uphill - 1.2 * downhill, 0.1) * shift)
    push = min(push + (uphill + 0.5 * downhill) * _UPHILL * manner.roll, 1.5 * _PUSH)
    pace = ROLL
    drop = float(last.place[1] - other.place[1]) / leg
    has_toes = course.feet[side].toes >= 0  # else there is but an edge to stand on
    # The other has just stepped down.
    if has_toes and course.steps and course.steps[-1].side != side and drop > 0.04:
        before = course.steps[-1]
        down = drop / 0.2
        sooner = 1.15 * min(down, 1.0) + _SOONER * max(min(down, 1.5) - 1.0, 0.0)
        rise = -round_time(sooner * (before.land - before.off))
        push, pace = max(push, _DOWN * min(down, 1.3)), ROLL - min(down, 1.0) * 1.2
    push = min(push, course.feet[side].bends)
    if course.feet[side].stiff:  # a heel that rises under a straight leg lifts the hip, and the body
        strike = push = 0.0
    if strike < _FLAT or (spot.back is not None and not len(spot.back)):
        strike, flat = 0.0, 0.0  # it lands flat: its heel alone could not stand there
    if push < _FLAT or (last.front is not None and not len(last.front)):
        push, rise = 0.0, shift
    return Timing(shift, swing, flat, rise, float(strike), float(push), pace)


def _find_behind(last: FootStance, other: FootStance, leg: float) -> float:
    """Of the leg: how far behind the other foot one is as it leaves."""
    return float((other.place - last.place) @ rotation.rotate(other.turn, _AHEAD)) / leg


def slow_down(course: StepCourse, first: int, which: int, now: float) -> None:
    """Have one step take longer, and those after it come later; none before number `first` has to be touched.

    What is done by time `now` stays done: a heel that is up by then leaves the ground when it was to.
    """
    kept = []
    for k in range(first, len(course.steps)):
        step = course.steps[k]
        i = next(i for i, stance in enumerate(course.stances[step.side]) if stance.land == step.land)
        before, after = course.stances[step.side][i - 1], course.stances[step.side][i]
        kept.append((step, before, after, course.swings[step.side][i - 1]))
    course.drop_from(first)
    begin = kept[0][0].begin
    for k, (step, before, after, swing) in enumerate(kept, first):
        by = _SLOWER if k == which else 1.0
        shift, rise = step.off - step.begin, before.rise - step.begin
        if before.rise >= now - 1e-9:
            shift, rise = round_time(by * shift), max(_signed((by if rise > 0.0 else 1.0) * rise), now - begin)
        swings, flat = round_time(by * (step.land - step.off)), round_time(by * (after.flat - after.land))
        timing = Timing(shift, swings, flat, rise, after.strike, before.push, before.pace)
        begin = course.add(step.side, after, swing, begin, timing).land


def round_time(span: float) -> float:
    """s, a whole number of knots."""
    return KNOT * max(round(span / KNOT), 0)


def _signed(span: float) -> float:
    """s, a whole number of knots, before or after."""
    return KNOT * round(span / KNOT)

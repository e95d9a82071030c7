"""Steps made and planned: stances of both feet over time, and what carries when.

A course is added to at its end, one step at a time, and asked where the feet are at any time. It is plain data: it can
be saved, copied, and cut off.

The timing of a step: how long the weight shifts and the foot swings, when its heel rises, and how it lands.

Times are whole knots of the path of the centre of mass, which is led from knot to knot.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from poise.frozen import Portable
from poise.spatial import rotation
from poise.walking.feet.foot import WalkingFoot
from poise.walking.feet.records import FootShape, Stances
from poise.walking.feet.stance import ROLL, FootStance, FootState, FootSwing, build_stances, find_carriers
from poise.walking.gait import Gait

KNOT = 0.05  # s


@dataclass(frozen=True)
class Timing:
    """s, of one step: shift, both feet down; swing, one; and of the shift, when toes lie flat and when the heel rises.

    strike, push, pace  see `FootStance`
    """

    shift: float
    swing: float
    flat: float
    rise: float
    strike: float = 0.0
    push: float = 0.0
    pace: float = ROLL


@dataclass(frozen=True, eq=False)
class Step(Portable):
    """One step: a foot (0 left, 1 right) leaves at `off` and lands at `land` (s); weight shifts from `begin` on."""

    side: int
    begin: float
    off: float
    land: float


@dataclass
class StepPlan:
    """Stances of the left and the right foot, the way between them, and the steps in order.

    stances  a list a foot, of which the last has no end yet
    swings   a list a foot: what follows each stance but the last
    """

    feet: tuple[WalkingFoot, WalkingFoot]
    stances: tuple[list[FootStance], list[FootStance]]
    swings: tuple[list[FootSwing], list[FootSwing]] = field(default_factory=lambda: ([], []))
    steps: list[Step] = field(default_factory=list)
    _shapes: tuple[FootShape, ...] = field(init=False, repr=False, compare=False)
    _built: dict[int, tuple[Any, Stances]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._shapes = tuple(foot.build_shape() for foot in self.feet)

    @property
    def end(self) -> float:
        """s, when the last step lands; -inf where there is none."""
        return self.steps[-1].land if self.steps else -np.inf

    def copy(self) -> StepPlan:
        """Return another plan of the same steps; steps that are added to one are not added to the other."""
        (a, b), (c, d) = self.stances, self.swings
        return StepPlan(self.feet, (list(a), list(b)), (list(c), list(d)), list(self.steps))

    def become(self, other: StepPlan) -> None:
        """Take over the steps of another plan, which must not be added to any more."""
        for side in range(2):
            self.stances[side][:] = other.stances[side]
            self.swings[side][:] = other.swings[side]
        self.steps[:] = other.steps

    def add(self, side: int, spot: FootStance, swing: FootSwing, begin: float, timing: Timing) -> Step:
        """Step with one foot to a spot: the weight begins to shift at time `begin`."""
        off = begin + timing.shift
        land = off + timing.swing
        last = self.stances[side][-1]
        rise = max(begin + timing.rise, last.flat)
        rise = min(rise, off - 0.1 * timing.shift) if timing.push > 0.0 else off
        self.stances[side][-1] = replace(last, rise=rise, off=off, push=timing.push, pace=timing.pace)
        self.stances[side].append(
            replace(spot, land=land, flat=land + timing.flat, rise=np.inf, off=np.inf, strike=timing.strike, push=0.0)
        )
        self.swings[side].append(swing)
        step = Step(side, begin, off, land)
        self.steps.append(step)
        return step

    def drop_from(self, count: int) -> None:
        """Remove the steps from number `count` on."""
        for step in reversed(self.steps[count:]):
            self.stances[step.side].pop()
            self.swings[step.side].pop()
            self.stances[step.side][-1] = replace(self.stances[step.side][-1], rise=np.inf, off=np.inf, push=0.0)
        del self.steps[count:]

    def stance_at(self, side: int, t: float) -> int:
        """Return the stance that a foot is in at time t, or comes from."""
        row = self.stances[side]
        for i in range(len(row) - 1, 0, -1):
            if row[i].land <= t:
                return i
        return 0

    def follow(self, side: int, times: np.ndarray) -> FootState:
        """Return the states of a foot at times (F,)."""
        from poise.walking.feet.kernels import follow_foot

        count = len(times)
        places, turns, bends = np.empty((count, 3)), np.empty((count, 4)), np.empty(count)
        follow_foot(self._shapes[side], self._stances(side), np.asarray(times, float), places, turns, bends)
        return FootState(places, turns, bends)

    def levels(self, side: int, times: np.ndarray) -> np.ndarray:
        """Return the heights (F,) m of the ground under a foot; in a swing, from one foothold's to the next's."""
        from poise.walking.feet.kernels import follow_levels

        levels = np.empty(len(times))
        follow_levels(self._stances(side), np.asarray(times, float), levels)
        return levels

    def _stances(self, side: int) -> Stances:
        """Return the stances of a foot as compiled code reads them, built anew if they changed."""
        now = (*self.stances[side], *self.swings[side])
        if side not in self._built or self._built[side][0] != now:
            self._built[side] = now, build_stances(self.stances[side], self.swings[side])
        return self._built[side][1]

    def carriers_at(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """(N, 3) m, corners of what carries of the left and of the right foot at time t."""
        left, right = (
            find_carriers(self.feet[side], self.stances[side][self.stance_at(side, t)], t) for side in range(2)
        )
        return left, right

    def step_at(self, t: float) -> int:
        """The number of the step that is under way at time t: the last that has begun."""
        for i in range(len(self.steps) - 1, -1, -1):
            if self.steps[i].begin <= t:
                return i
        return -1

    def support_at(self, t: float) -> int:
        """The foot that the body hangs from at time t: the one that does not step, from half a shift on."""
        i = self.step_at(t)
        if i < 0:
            return 1 - self.steps[0].side if self.steps else 0
        step = self.steps[i]
        if t < 0.5 * (step.begin + step.off) and i > 0:
            return step.side  # what landed last is not the one yet
        return 1 - step.side


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


def find_timing(course: StepPlan, side: int, spot: FootStance, facing: float, manner: Gait, leg: float) -> Timing:
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


def slow_down(course: StepPlan, first: int, which: int, now: float) -> None:
    """Make one step longer and the steps after it later; steps before number `first` stay as they are.

    The past, before time `now`, is not changed: a heel that is up by then leaves the ground as planned.
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
    """Return a duration (s) rounded to the knot spacing, at least 0."""
    return KNOT * max(round(span / KNOT), 0)


def _signed(span: float) -> float:
    """Return a signed time offset (s) rounded to the knot spacing."""
    return KNOT * round(span / KNOT)

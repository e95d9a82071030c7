"""The plan of a walk: step after step along a path, planned a few steps ahead.   [balance, 4.7.2, figure 18]

It is planned again at every landing: the next footholds are chosen, and the centre of mass is led over them, from its
state then to a stop after the last of them. So the path may change during the walk, and a walk stops in front of a wall
that appears. Steps that balance cannot keep up with take longer.

A walk may be changed while it runs: another path, another gait, another target, a stop. Steps that have begun are made.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from poise.body.character import Character
from poise.errors import InputError
from poise.spatial import rotation
from poise.walking.center_of_mass import SplinePath, find_middle, list_regions, plan_center, plan_height
from poise.walking.feet.foot import build_feet
from poise.walking.feet.stance import FootStance, FootState
from poise.walking.feet.swing import find_swing
from poise.walking.footholds.stride import find_stride
from poise.walking.footholds.terrain import Terrain
from poise.walking.gait import Gait, suit
from poise.walking.path.planner import StepLimits, WalkPath, check_ahead
from poise.walking.steps import KNOT, SWING, StepPlan, find_timing, round_time, slow_down
from poise.walking.swing_inertia import FINE, at_knots, find_sway

_AHEAD = 3  # steps that are planned
_END = 1.0  # s, of a leisurely adult, that it takes to stand still
_OUT, _TRIES = 0.004, 9  # m, that steps may be out; how often those that are take longer
_BETTER = 0.001  # m, that a slower way must be less out to be taken
_LONGEST = 3.0  # times as long as a usual one, that a step takes at most
_BENT = 0.025  # of a leg, that it is shorter at the most where feet are at different heights
_KINKS = 0.003  # m, that the pressure keeps more from the edge: joints near their ends are not quite smooth
_GRAVITY = 9.81
_UP, _AHEAD_AXIS = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class HipOffsets:
    """Where hips and hip joints are from the centre of mass in standing: hips (3,), joints (2, 3) m; kg of all."""

    hips: np.ndarray
    joints: np.ndarray
    mass: float


class _Try(NamedTuple):
    """Steps, and the path of the centre of mass over just these: out m by so much at the most, at time `when` (s)."""

    course: StepPlan
    center: SplinePath
    out: float
    when: float


class Walker:
    """Plans the steps of one body.

    course   the stances of both feet
    center   where the centre of mass goes, x and z;  height: y, a spline like it
    done     whether all steps have been planned
    """

    def __init__(
        self,
        character: Character,
        terrain: Terrain,
        way: WalkPath,
        hang: HipOffsets,
        stances: tuple[FootStance, FootStance] | StepPlan,
        manner: Gait | None = None,
        steps: int | None = None,
        *,
        start: float = 0.0,
        state: np.ndarray | None = None,
        wait: float = 0.2,
    ):
        self.character, self.terrain, self.way = character, terrain, way
        self.hang = hang
        if not isinstance(stances, StepPlan):
            stances = StepPlan(build_feet(character), ([stances[0]], [stances[1]]))
        self.course = stances
        self.manner = suit(manner or Gait(), any(foot.stiff for foot in stances.feet))
        self._left = steps  # steps that may still be planned
        self.leg = min(foot.leg for foot in self.course.feet)
        self._scale = self.manner.scale(self.leg)
        self._s = [0.0, 0.0]  # m along the way, of each foot
        self._next = 1 - stances.steps[-1].side if stances.steps else self._first_side()
        self.done = steps == 0
        self.worst = 0.0
        begin = np.zeros((3, 3)) if state is None else np.asarray(state, float).copy()
        if state is None:
            begin[0, [0, 2]] = find_middle(self.course, start)
            begin[0, 1] = self._ceilings(begin[:1, [0, 2]], np.array([start]))[0]
        self._known = start  # s, until when the plan is what happens
        self._wait = round_time(wait)
        self.center = SplinePath(start, np.tile(begin[0, [0, 2]], (4, 1)))
        self.height = SplinePath(start, np.tile(begin[0, 1:2], (4, 1)))
        self._plan(start, begin)

    def _first_side(self) -> int:
        """Return the foot that steps first: the one on the side that the body walks to, else the left."""
        if abs(np.sin(self.way.facing)) > 0.3:
            return 1 if np.sin(self.way.facing) > 0.0 else 0
        return 0

    # Asked for.

    def reach(self, t: float) -> None:
        """Plan on until time t is known."""
        while t > self._known:
            now = self._known
            at = self.state_at(now)
            self._plan(now, at)

    def state_at(self, t: float) -> np.ndarray:
        """(3, 3) place, velocity and acceleration of the centre of mass at time t."""
        flat, up = self.center.at(t), self.height.at(t)
        return np.stack([flat[:, 0], up[:, 0], flat[:, 1]], axis=-1)

    def feet_at(self, times: np.ndarray) -> tuple[FootState, FootState]:
        """Both feet at times (F,)."""
        return self.course.follow(0, times), self.course.follow(1, times)

    @property
    def end(self) -> float:
        """s, when it stands still after the last step that is planned."""
        return max(self.center.end, self._known if np.isfinite(self._known) else 0.0)

    # Planning.

    def _plan(self, now: float, state: np.ndarray) -> None:
        """Add steps, and lead the centre of mass over them from time `now` on."""
        began = sum(step.begin < now - 1e-9 for step in self.course.steps)
        while not self.done and len(self.course.steps) - began < _AHEAD:
            try:
                self._add(now)
            except InputError:
                if len(self.course.steps) == began:
                    raise
                break  # it walks as far as it gets, and is told then
        tried: list[_Try] = []
        for _ in range(_TRIES):
            tried.append(self._lead(now, state))
            out = tried[-1].out
            if out < _OUT or began == len(self.course.steps) or self._is_slow(began):
                break
            slow_down(self.course, began, self._find_hasty(began, tried[-1].when), now)
        # The path and the times that it was found for, not those of a later try. The quicker, where it is as good.
        best = tried[0]
        for one in tried[1:]:
            best = one if one.out < best.out - _BETTER else best
        self.course.become(best.course)
        self.worst = max(self.worst, best.out)
        self.center = self.center.followed_by(best.center)
        self._plan_height(now, state[:, 1], best.center.end)
        following = [step.land for step in self.course.steps if step.land > now + 1e-9]
        self._known = following[0] if following else np.inf

    def _lead(self, now: float, state: np.ndarray) -> _Try:
        """The centre of mass led over the steps as they are timed."""
        places, presses = list_regions(
            self.course, now, self._find_end(now), self.manner.margin, self.manner.margin + _KINKS
        )
        r = (state[0, 1] - self._floor(now)) / _GRAVITY
        center, _, _ = plan_center(now, state[:, [0, 2]], places, presses, r)
        sway = self._find_sway(now, state, center, len(places.sizes))
        center, out, when = plan_center(now, state[:, [0, 2]], places, presses.moved(-sway), r)
        return _Try(self.course.copy(), center, out, when)

    def _find_hasty(self, first: int, t: float) -> int:
        """Which step, from number `first` on, has the weight shifted too fast that is out at time t, or soon after."""
        steps = self.course.steps
        return next((k for k in range(first, len(steps)) if t < 0.5 * (steps[k].off + steps[k].land)), len(steps) - 1)

    def _is_slow(self, first: int) -> bool:
        """Whether steps from number `first` on take as long already as they ever may."""
        longest = max(step.land - step.off for step in self.course.steps[first:])
        return longest > _LONGEST * SWING * self._scale

    def _find_end(self, now: float) -> float:
        last = max(self.course.end, now)
        return last + round_time(_END * self._scale)

    def _add(self, now: float) -> None:
        """Plan one more step."""
        course, side = self.course, self._next
        stance = self._s[1 - side]
        closing = self._left == 1 or stance >= self.way.length - 1e-6
        begin = course.end if course.steps and course.end >= now - 1e-9 else now + self._wait
        stride = find_stride(course, side, stance, self.way, self.manner, self.terrain, closing)
        if self.way.endless:  # nobody has looked for what is in the way
            here, there = (self.way.at(each)[0] for each in (stance, stride.s))
            check_ahead(self.terrain.floor, here, there, StepLimits.of_leg(self.leg))
        timing = find_timing(course, side, stride.spot, self.way.facing, self.manner, self.leg)
        timing = replace(timing, rise=max(timing.rise, now - round_time(begin)))  # what has been so far stays
        last = course.stances[side][-1]
        swing = find_swing(course.feet[side], last, stride.spot, timing, self.terrain, self.manner.lift * self.leg)
        course.add(side, stride.spot, swing, round_time(begin), timing)
        self._s[side], self._next = stride.s, 1 - side
        if self._left is not None:
            self._left -= 1
        self.done = closing

    def _find_sway(self, now: float, state: np.ndarray, center: SplinePath, count: int) -> np.ndarray:
        """(N, 2) m, at a number of knots: how far legs that swing throw the pressure off, on such a path."""
        knots = now + KNOT * np.arange(count)
        height = plan_height(now, state[:, 1], self._ceilings(center.places(knots), knots))
        times = now + FINE * np.arange(round((count - 1) * KNOT / FINE) + 1)
        feet, path = self.feet_at(times), np.insert(center.places(times), 1, height.places(times)[:, 0], axis=1)
        heading = find_heading(feet)
        turn = rotation.exp(heading[:, None] * _UP)
        hips = path[:, None] + np.stack([rotation.rotate(turn, hip) for hip in self.hang.joints], axis=1)
        return at_knots(find_sway(self.character, self.hang.mass, path, hips, heading, feet), count)

    def _plan_height(self, now: float, state: np.ndarray, end: float) -> None:
        """As high as the legs let the centre of mass be, smoothly."""
        times = now + KNOT * np.arange(round((end - now) / KNOT) + 1)
        places = self.center.places(times)
        self.height = self.height.followed_by(plan_height(now, state, self._ceilings(places, times)))

    def _ceilings(self, center: np.ndarray, times: np.ndarray) -> np.ndarray:
        """(F,) m, how high the centre of mass may be at x and z (F, 2), so that no leg is too long."""
        feet = self.feet_at(times)
        turn = rotation.exp(find_heading(feet)[:, None] * _UP)
        most = np.full(len(times), np.inf)
        # Where feet are at different heights knees bend more: nobody lands on a straight leg.
        apart = (self.course.levels(0, times) - self.course.levels(1, times)) / self.leg
        uneven = _BENT * np.tanh((apart / 0.12) ** 2)
        for foot, state, hip in zip(self.course.feet, feet, self.hang.joints, strict=True):
            joint = rotation.rotate(turn, hip)
            flat = state.place[:, [0, 2]] - center - joint[:, [0, 2]]
            length = (self.manner.stretch - uneven) * foot.leg
            room = np.maximum(length**2 - np.sum(flat * flat, axis=1), 0.04 * length**2)
            most = np.minimum(most, state.place[:, 1] - joint[:, 1] + np.sqrt(room))
        return most

    def _floor(self, t: float) -> float:
        """m, of the ground that carries at time t."""
        corners = np.concatenate(self.course.carriers_at(t))
        return float(corners[:, 1].mean())


def find_heading(feet: tuple[FootState, FootState]) -> np.ndarray:
    """Return the heading (F,) rad of a body: the mean of its feet's."""
    left, right = (rotation.rotate(state.turn, _AHEAD_AXIS) for state in feet)
    ahead = left * [1.0, 0.0, 1.0] + right * [1.0, 0.0, 1.0]
    return np.asarray(np.arctan2(ahead[..., 0], ahead[..., 2]))


_BESIDE = 0.12  # of the leg: feet that are no farther apart along the way stand beside each other
_MEMORY = 2.0  # s of the past that are kept


def redirect(
    walker: Walker, t: float, way: WalkPath | None = None, manner: Gait | None = None, steps: int | None = -1
) -> None:
    """Plan all steps again that have not begun by time t.

    steps  how many from now on; None: as many as the way is long; -1: as before
    """
    now = KNOT * math.ceil(t / KNOT - 1e-9)
    walker.reach(now)
    course, dropped = walker.course, _drop_steps(walker.course, now)
    if walker._left is not None:
        walker._left += dropped
    walker.way = walker.way if way is None else way
    if manner is not None:
        walker.manner = suit(manner, any(foot.stiff for foot in course.feet))
        walker._scale = walker.manner.scale(walker.leg)
    if steps != -1:
        walker._left = steps
    for side, outward in enumerate((1.0, -1.0)):
        place = course.stances[side][-1].place[[0, 2]]
        heading = walker.way.at(find_along(walker.way, place))[1]
        half = 0.5 * walker.manner.width * walker.leg * outward  # sideways that is along the way
        walker._s[side] = find_along(walker.way, place - half * np.array([np.cos(heading), -np.sin(heading)]))
    walker._next = 1 - course.steps[-1].side if course.steps else walker._first_side()
    walker.done = walker._left == 0
    walker._plan(now, walker.state_at(now))


def stop(walker: Walker, t: float) -> None:
    """Come to a stand: the step that is under way is made, and the feet are brought together."""
    now = KNOT * math.ceil(t / KNOT - 1e-9)
    walker.reach(now)
    _drop_steps(walker.course, now)
    left, right = (row[-1].place[[0, 2]] for row in walker.course.stances)
    heading = walker.way.at(max(walker._s))[1]
    apart = abs(float((left - right) @ np.array([np.sin(heading), np.cos(heading)])))
    redirect(walker, t, steps=0 if apart < _BESIDE * walker.leg else 1)


def _drop_steps(course: StepPlan, now: float) -> int:
    """Forget steps that nothing has been done for yet; how many."""
    kept = len(course.steps)
    while kept:
        step = course.steps[kept - 1]
        i = next(i for i, stance in enumerate(course.stances[step.side]) if stance.land == step.land)
        if step.begin < now - 1e-9 or course.stances[step.side][i - 1].rise < now - 1e-9:
            break
        kept -= 1
    dropped = len(course.steps) - kept
    course.drop_from(kept)
    return dropped


def carry(walker: Walker, yaw: float, shift: np.ndarray) -> None:
    """Move the whole plan: rotate it about the vertical through the origin (rad), then shift it by x and z (2,) m.

    No joint turns for it: the walk is the same, at another position. Path and ground stay.
    """
    turn, c, s = rotation.exp(np.array([0.0, yaw, 0.0])), np.cos(yaw), np.sin(yaw)

    def moved(points: np.ndarray) -> np.ndarray:
        return np.asarray(rotation.rotate(turn, points) + [shift[0], 0.0, shift[1]])

    for row in walker.course.stances:
        for i, stance in enumerate(row):
            parts = {name: getattr(stance, name) for name in ("whole", "front", "back")}
            parts = {name: part if part is None else moved(part) for name, part in parts.items()}
            row[i] = replace(stance, place=moved(stance.place), turn=rotation.multiply(turn, stance.turn), **parts)
    path = walker.center
    walker.center = SplinePath(path.start, path.controls @ np.array([[c, -s], [s, c]]) + shift)


def find_along(way: WalkPath, place: np.ndarray) -> float:
    """m along a way, of the point of it that is nearest to a place (2,) m."""
    points, along = way.points, way._along  # type: ignore[attr-defined]
    best, found = np.inf, 0.0
    for i in range(len(points) - 1):
        step = points[i + 1] - points[i]
        length = float(np.linalg.norm(step))
        u = max(float((place - points[i]) @ step) / length**2, 0.0)
        if not (way.endless and i == len(points) - 2):
            u = min(u, 1.0)
        off = float(np.linalg.norm(points[i] + u * step - place))
        if off < best - 1e-12:
            best, found = off, along[i] + u * length
    return float(found)


def forget(walker: Walker, t: float) -> None:
    """Drop the steps that are long past at time t, since a walk may take hours."""
    old, course = t - _MEMORY, walker.course
    for side in range(2):
        row = course.stances[side]
        while len(row) > 2 and row[1].land < old:
            row.pop(0)
            course.swings[side].pop(0)
    while len(course.steps) > 2 and course.steps[1].land < old:
        course.steps.pop(0)
    for name in ("center", "height"):
        path = getattr(walker, name)
        count = min(int((old - path.start) / KNOT), len(path.controls) - 4)
        if count > 0:
            setattr(walker, name, SplinePath(path.start + KNOT * count, path.controls[count:]))

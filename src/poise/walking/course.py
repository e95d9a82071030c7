"""What has been stepped and what will be: stances of both feet over time, and what carries when.

A course is added to at its end, one step at a time, and asked where the feet are at any time. It is plain data: it can
be saved, copied, and cut off.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from poise.spatial.portable import Portable
from poise.walking.feet import WalkingFoot
from poise.walking.foot_path import ROLL, FootStance, FootState, FootSwing, find_carriers, list_row


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
class StepCourse:
    """Stances of the left and the right foot, the way between them, and the steps in order.

    stances  a list a foot, of which the last has no end yet
    swings   a list a foot: what follows each stance but the last
    """

    feet: tuple[WalkingFoot, WalkingFoot]
    stances: tuple[list[FootStance], list[FootStance]]
    swings: tuple[list[FootSwing], list[FootSwing]] = field(default_factory=lambda: ([], []))
    steps: list[Step] = field(default_factory=list)

    @property
    def end(self) -> float:
        """s, when the last step lands; -inf where there is none."""
        return self.steps[-1].land if self.steps else -np.inf

    def copy(self) -> StepCourse:
        """Another of the same steps: what is added to the one is not added to the other."""
        (a, b), (c, d) = self.stances, self.swings
        return StepCourse(self.feet, (list(a), list(b)), (list(c), list(d)), list(self.steps))

    def become(self, other: StepCourse) -> None:
        """Have the steps of another one, who is not to be added to any more."""
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
        """Forget the steps from number `count` on."""
        for step in reversed(self.steps[count:]):
            self.stances[step.side].pop()
            self.swings[step.side].pop()
            self.stances[step.side][-1] = replace(self.stances[step.side][-1], rise=np.inf, off=np.inf, push=0.0)
        del self.steps[count:]

    def stance_at(self, side: int, t: float) -> int:
        """Which stance a foot is in at time t, or comes from."""
        row = self.stances[side]
        for i in range(len(row) - 1, 0, -1):
            if row[i].land <= t:
                return i
        return 0

    def foot_at(self, side: int, t: float) -> FootState:
        """Where a foot is at time t."""
        states = self.follow(side, np.array([t]))
        return FootState(states.place[0], states.turn[0], float(np.asarray(states.bend)[0]))

    def follow(self, side: int, times: np.ndarray) -> FootState:
        """Where a foot is at times (F,)."""
        from poise.walking.foot_kernels import follow_feet

        count = len(times)
        places, turns, bends = np.empty((count, 3)), np.empty((count, 4)), np.empty(count)
        follow_feet(self.feet[side].numbers, self._rows(side), np.asarray(times, float), places, turns, bends)
        return FootState(places, turns, bends)

    def levels(self, side: int, times: np.ndarray) -> np.ndarray:
        """(F,) m, how high the ground under a foot is: while it swings, on the way from the one place to the other."""
        from poise.walking.foot_kernels import follow_levels

        levels = np.empty(len(times))
        follow_levels(self._rows(side), np.asarray(times, float), levels)
        return levels

    def _rows(self, side: int) -> np.ndarray:
        swings = [*self.swings[side], None]
        return np.array([list_row(*pair) for pair in zip(self.stances[side], swings, strict=True)])

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

"""The trajectory of the centre of mass: the smoothest one over the support.   [balance, 4.7; walk, 1 and 2]

A trajectory is planned from the present state to a stop, over regions that change with time, and planned again whenever
more steps are known: it begins with the position, velocity and acceleration that the old one has then.

The support over time, and the best centre of pressure in it, are found first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from poise.frozen import Portable
from poise.spatial import rotation
from poise.walking.footholds.region_kernels import MOST
from poise.walking.steps import KNOT, StepPlan

_RHO = 30.0  # of the method of multipliers
_MIDDLE = 4.0  # weight of a metre that the pressure is off the middle of what carries, beside a jerk of 1 m/s3
_STOP = 1e3  # weight of the last velocity and acceleration


@dataclass(frozen=True, eq=False)
class SplinePath(Portable):
    """A cubic spline over time, with even knots.

    start     s, of the first knot
    controls  (N + 3, d) m
    """

    start: float
    controls: np.ndarray

    @property
    def end(self) -> float:
        """s, of the last knot."""
        return self.start + KNOT * (len(self.controls) - 3)

    def at(self, t: float) -> np.ndarray:
        """(3, d) place, velocity and acceleration at time t; at rest after its end."""
        s = min(max((t - self.start) / KNOT, 0.0), len(self.controls) - 3.0)
        i = min(int(s), len(self.controls) - 4)
        u = s - i
        P = self.controls[i : i + 4]
        place = np.array([(1 - u) ** 3, 3 * u**3 - 6 * u**2 + 4, -3 * u**3 + 3 * u**2 + 3 * u + 1, u**3]) / 6
        speed = np.array([-((1 - u) ** 2), 3 * u**2 - 4 * u, -3 * u**2 + 2 * u + 1, u**2]) / 2
        bend = np.array([1 - u, 3 * u - 2, 1 - 3 * u, u])
        return np.stack([place @ P, speed @ P / KNOT, bend @ P / KNOT**2])

    def places(self, times: np.ndarray) -> np.ndarray:
        """(F, d) m, at times (F,)."""
        s = np.clip((np.asarray(times, float) - self.start) / KNOT, 0.0, len(self.controls) - 3.0)
        i = np.minimum(s.astype(np.int64), len(self.controls) - 4)
        u = s - i
        rows = np.stack([(1 - u) ** 3, 3 * u**3 - 6 * u**2 + 4, -3 * u**3 + 3 * u**2 + 3 * u + 1, u**3], axis=1) / 6
        return np.einsum("fk,fkd->fd", rows, self.controls[i[:, None] + np.arange(4)])

    def followed_by(self, later: SplinePath) -> SplinePath:
        """This path until the later one begins, which goes on as it was then; then that."""
        i = round((later.start - self.start) / KNOT)
        return SplinePath(self.start, np.concatenate([self.controls[:i], later.controls]))


def begin_at(state: np.ndarray) -> np.ndarray:
    """(3, d) the control points of a spline that begins with place, velocity and acceleration (3, d)."""
    place, speed, bend = state
    # from [walk, 1] and c' = (P_2 - P_0) / 2h
    middle = place - KNOT**2 * bend / 6.0
    return np.stack(
        [middle + KNOT**2 * bend / 2.0 - KNOT * speed, middle, middle + KNOT**2 * bend / 2.0 + KNOT * speed]
    )


class Regions(NamedTuple):
    """The support at each knot.

    corners, sizes  (N, MOST, 2) m, (N,): see `region_kernels`
    middles         (N, 2) m, where pressure is best
    """

    corners: np.ndarray
    sizes: np.ndarray
    middles: np.ndarray

    def moved(self, by: np.ndarray) -> Regions:
        """These, each moved by so much: (N, 2) m."""
        return Regions(self.corners + by[:, None], self.sizes, self.middles + by)


def plan_center(
    start: float, state: np.ndarray, places: Regions, presses: Regions, r: float
) -> tuple[SplinePath, float, float]:
    """The path from time `start` on with a state (3, 2) there; how far (m) it is out of its regions, and when (s) most.

    places   of the centre of mass at the knots from the first on;  presses: of the pressure
    r        s2, height over g
    """
    from poise.walking.center_of_mass_kernels import CenterProblem, find_farthest, solve_center

    count = len(places.sizes)
    built = _build(count, round(r, 3))
    first = begin_at(state)
    fixed = built.given @ first
    # the least squares' right side: - D^T D_fixed first, + a P^T (m - p_fixed)
    pull = -(built.smooth @ first) + _MIDDLE * built.press.T @ (presses.middles[1:] - built.press_given @ first)
    corners = np.concatenate([places.corners[1:], presses.corners[1:]])
    sizes = np.concatenate([places.sizes[1:], presses.sizes[1:]])
    problem = CenterProblem(
        points=len(fixed), controls=len(pull), rho=_RHO, inverse=built.inverse, rows=built.rows, fixed=fixed, pull=pull,
        corners=corners, sizes=sizes, z=np.concatenate([presses.middles[1:], presses.middles[1:]]),
    )  # fmt: skip
    worst = solve_center(problem)
    when = find_farthest(built.rows @ problem.free + fixed, corners, sizes) % (count - 1)
    return SplinePath(start, np.concatenate([first, problem.free])), float(worst), start + KNOT * (1 + when)


class _Built(NamedTuple):
    inverse: np.ndarray
    rows: np.ndarray  # (2 (N - 1), n): places, then pressures, at knots 1 .. N - 1
    given: np.ndarray  # (2 (N - 1), 3)
    smooth: np.ndarray  # (n, 3): free part of D^T D, times the given ones
    press: np.ndarray
    press_given: np.ndarray


@lru_cache(maxsize=128)
def _build(count: int, r: float) -> _Built:
    """Matrices of a path with some knots: they are the same for every such path."""
    n = count + 2
    place, bend = np.zeros((count, n)), np.zeros((count, n))
    for i in range(count):
        place[i, i : i + 3] = np.array([1.0, 4.0, 1.0]) / 6.0
        bend[i, i : i + 3] = np.array([1.0, -2.0, 1.0]) / KNOT**2
    press = place - r * bend
    jerk = np.zeros((n - 3, n))
    for i in range(n - 3):
        jerk[i, i : i + 4] = np.array([-1.0, 3.0, -3.0, 1.0]) / KNOT**3
    last = np.zeros((2, n))
    last[0, -3:] = np.array([-1.0, 0.0, 1.0]) / (2.0 * KNOT)
    last[1] = bend[-1]
    square = 1e-2 * jerk.T @ jerk * KNOT + _STOP * last.T @ last
    rows = np.concatenate([place[1:], press[1:]])
    inner = rows[:, 3:]
    whole = square[3:, 3:] + _MIDDLE * press[1:, 3:].T @ press[1:, 3:] + _RHO * inner.T @ inner
    return _Built(
        np.linalg.inv(whole), np.ascontiguousarray(inner), rows[:, :3].copy(), square[3:, :3].copy(),
        press[1:, 3:].copy(), press[1:, :3].copy(),
    )  # fmt: skip


def build_regions(
    corners: Sequence[np.ndarray], middles: Sequence[np.ndarray], margin: Callable[[int], float] | float
) -> Regions:
    """Regions from corners (each (N, 2) m) of what carries at the knots, drawn in by a margin (m)."""
    from poise.walking.footholds.region_kernels import find_region

    room, sizes = np.zeros((len(corners), MOST, 2)), np.zeros(len(corners), np.int64)
    for i, points in enumerate(corners):
        sizes[i] = find_region(np.ascontiguousarray(points), len(points), float(margin), room[i])  # type: ignore[arg-type]
    return Regions(room, sizes, np.array(middles, float))


def plan_height(start: float, state: np.ndarray, most: np.ndarray) -> SplinePath:
    """The path (one axis) from a state (3,) on that is as high as it may be: `most` (N,) m at the knots."""
    from poise.walking.center_of_mass_kernels import CenterProblem, solve_center

    count = len(most)
    built = _build(count, 0.0)
    first = begin_at(state[:, None])
    both = np.concatenate([first, np.zeros_like(first)], axis=1)
    wanted = np.zeros((count - 1, 2))
    wanted[:, 0] = most[1:] - 0.002
    pull = -(built.smooth @ both) + _MIDDLE * built.press.T @ (wanted - built.press_given @ both)
    corners, sizes = np.zeros((2 * count - 2, MOST, 2)), np.full(2 * count - 2, 2, np.int64)
    corners[:, 0, 0], corners[:, 1, 0] = np.tile(most[1:] - 1.0, 2), np.tile(most[1:], 2)
    problem = CenterProblem(
        points=len(corners), controls=len(pull), rho=_RHO, inverse=built.inverse, rows=built.rows,
        fixed=built.given @ both, pull=pull, corners=corners, sizes=sizes, z=np.tile(wanted, (2, 1)),
    )  # fmt: skip
    solve_center(problem)
    return SplinePath(start, np.concatenate([first, problem.free[:, :1]]))


_SETTLE = 0.6  # s, in which the pressure comes to the middle of both feet after the last step


def list_regions(
    course: StepPlan, start: float, end: float, margin: float, press_margin: float
) -> tuple[Regions, Regions]:
    """Return the support at the knots from `start` to `end`: for the centre of mass, and for the centre of pressure."""
    times = start + KNOT * np.arange(round((end - start) / KNOT) + 1)
    corners = [np.concatenate(course.carriers_at(float(t)))[:, [0, 2]] for t in times]
    middles = [find_middle(course, float(t)) for t in times]
    return build_regions(corners, middles, margin), build_regions(corners, middles, press_margin)


def find_middle(course: StepPlan, t: float) -> np.ndarray:
    """(2,) m, where the pressure is best at time t: it goes from foot to foot, and forward under each."""
    left, right = (_middle_of(course, side, t) for side in range(2))
    feet, both = (left, right), 0.5 * (left + right)
    i = course.step_at(t)
    if i < 0:
        return both
    step = course.steps[i]
    stands, goes = feet[1 - step.side], feet[step.side]
    if t <= step.off:
        u = (t - step.begin) / (step.off - step.begin)
        is_first = i == 0 or course.steps[i - 1].land < step.begin - 1e-9
        begin = both if is_first else goes
        return np.asarray(begin + u * (stands - begin))
    if t <= step.land:
        return stands
    u = min((t - step.land) / _SETTLE, 1.0)
    return np.asarray(stands + u * (both - stands))


def _middle_of(course: StepPlan, side: int, t: float) -> np.ndarray:
    """(2,) m, of a sole: the one that it stands on, or left."""
    stance, foot = course.stances[side][course.stance_at(side, t)], course.feet[side]
    return np.asarray(stance.place + rotation.rotate(stance.turn, foot.corners.mean(axis=0)))[[0, 2]]

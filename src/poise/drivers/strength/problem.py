"""The bounded least-squares problem of a step of `Strength`: its arrays, for any number of contact points.

    least |A u - y|^2 + |u - target|^2    with   low <= H u + b <= high                         [strength, eq 7 to 11]

u are the accelerations of the degrees of freedom, then four forces at each contact point; torques and forces are in
range. With strict priorities the goals A u = y are met level by level instead (eq 12 to 18).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.drivers.body import Body
from poise.drivers.strength.goals import CENTER_WEIGHT, LEAD, STAY_WEIGHT
from poise.drivers.strength.records import Freedoms, GoalRows, StepRecord
from poise.dynamics.contact.records import ContactModel, InertiaModel
from poise.dynamics.qp.limited import DAMPING
from poise.dynamics.qp.problem import (
    QpProblem,
    QpSolution,
    QpWorkspace,
    make_problem,
    make_solution,
    make_workspace,
)

# Weight of an uneven share of the load between contact points, beside 1 for 1 rad/s2; no unit. Not swept.
EVEN_WEIGHT = 0.1
# Target of the normal forces of all soles together, over the weight, when the load is shared evenly. Not swept.
EVEN_SHARE = 0.25
# rad/s2, from which on a solution is not believed: no such support carries the body. Not swept.
MOST_FOUND = 1e4


class Problem(NamedTuple):
    """A step's problem and its solution u, as copies."""

    H: np.ndarray
    b: np.ndarray
    low: np.ndarray
    high: np.ndarray
    target: np.ndarray
    weights: np.ndarray
    A: np.ndarray
    y: np.ndarray
    level: np.ndarray
    u: np.ndarray


class Sized(NamedTuple):
    """Arrays for one number of contact points."""

    model: ContactModel
    goals: GoalRows
    target: np.ndarray
    weights: np.ndarray
    a0: np.ndarray  # of the model


class StepProblem:
    """Builds and solves the problem of a step.

    inertia    masses that are accelerated, and their inertia
    wrench     (J, 6) external wrenches of the segments
    goal_room  most rows of goals
    is_strict  whether goals have strict priorities
    """

    def __init__(
        self, body: Body, step: StepRecord, freedoms: Freedoms, wrench: np.ndarray, goal_room: int, is_strict: bool
    ):
        self._freedoms, self._wrench, self._room, self._is_strict = freedoms, wrench, goal_room, is_strict
        self.inertia = InertiaModel(
            joints=len(body.tree), freedoms=freedoms.count, joint=freedoms.joint, axis=freedoms.world_axis
        )
        i, self._step = self.inertia, step
        self._masses, self._n, self._target, self._weight = (
            (i.masses, i.centers, i.inertias), freedoms.count, freedoms.target, freedoms.weight,
        )  # fmt: skip
        step.record["freedoms"], step.record["inertia"] = freedoms.address, i.address
        self._level, self._kind = np.zeros(goal_room, np.int64), np.zeros(goal_room, np.int64)
        self._scale, self._missed = np.ones(goal_room), np.zeros(2)
        self._sized = dict[int, Sized]()
        self._qps = dict[tuple[int, int], tuple[QpProblem, QpWorkspace, QpSolution]]()
        self._last: tuple[QpProblem, QpSolution] | None = None

    @property
    def missed(self) -> tuple[float, float]:
        """m/s2, the most by which goals that hold something, and that of the centre of mass, were missed."""
        return float(self._missed[0]), float(self._missed[1])

    def get(self, points: int) -> Sized:
        """Return the arrays for a number of contact points, which kernels use from now on."""
        if points not in self._sized:
            j, n, forces = self.inertia.joints, self.inertia.freedoms, 4 * points
            size = n + forces
            model = ContactModel(
                joints=j, freedoms=n, forces=forces, unknowns=size, bounds=size, dw=self._freedoms.dw,
                wrench=self._wrench,
            )  # fmt: skip
            goals = GoalRows(
                capacity=self._room, unknowns=size, kind=self._kind, scale=self._scale, missed=self._missed
            )
            self._sized[points] = Sized(model, goals, np.zeros(size), np.ones(size), model.a0)
        sized = self._sized[points]
        self._step.record["model"], self._step.record["goals"] = sized.model.address, sized.goals.address
        return sized

    def set_masses(self, masses: np.ndarray, centers: np.ndarray, inertias: np.ndarray) -> None:
        """Write the masses of the segments, as of a tree."""
        for array, values in zip(self._masses, (masses, centers, inertias), strict=True):
            array[:] = values

    def solve(self, sized: Sized, soles: int, pads: int) -> QpSolution | None:
        """Solve the problem with the goals that were written; return None if no support carries the body.

        soles, pads  numbers of contact points up to the last sole, and up to the last supporting hand
        """
        from poise.dynamics.qp.priority_kernels import solve_prioritized, solve_weighted

        n, goals = self._n, sized.goals
        points, rows = (len(sized.target) - n) // 4, int(goals.record["count"][0])
        sized.target[:n], sized.target[n:] = self._target, EVEN_SHARE / max(points, 1)
        sized.weights[:n], sized.weights[n:] = self._weight, EVEN_WEIGHT
        sized.target[n + 4 * soles : n + 4 * pads] = 0.0  # a hand pushes only as it must
        if self._is_strict:
            self._rank(sized, rows)
        if (points, rows) not in self._qps:
            model, size = sized.model, len(sized.target)
            problem = make_problem(
                (model.H, model.b, model.low, model.high), sized.target, sized.weights,
                (goals.rows[:rows], goals.y[:rows], self._level[:rows]), DAMPING if self._is_strict else 1.0,
            )  # fmt: skip
            self._qps[points, rows] = problem, make_workspace(size, size, rows), make_solution(size, size, rows)
        problem, work, solution = self._qps[points, rows]
        self._last, self._step.record["solution"] = (problem, solution), solution.address
        (solve_prioritized if self._is_strict else solve_weighted)(problem, work, solution)
        return solution if np.abs(solution.x).max(initial=0.0) < MOST_FOUND else None

    def _rank(self, sized: Sized, rows: int) -> None:
        """Order the goals' rows by priority, without their weights: the damping is in the unit of the rows."""
        goals, kind, full = sized.goals, self._kind, np.array([STAY_WEIGHT, CENTER_WEIGHT, 1.0])
        order = np.argsort(kind[:rows], kind="stable")
        for each in (goals.rows, goals.y, self._scale, kind):
            each[:rows] = each[order]
        level = self._level[:rows]
        level[:] = kind[:rows]
        weights = np.where(level == LEAD, self._scale[:rows], full[level])
        goals.rows[:rows] /= weights[:, None]
        goals.y[:rows] /= weights
        self._scale[:rows] /= weights

    def copy(self) -> Problem | None:
        """Return the problem of the last step and its solution; None before the first."""
        if self._last is None:
            return None
        p, solution = self._last
        arrays = (p.H, p.b, p.low, p.high, p.target, p.weights, p.A, p.y, p.level, solution.x)
        return Problem(*(array.copy() for array in arrays))

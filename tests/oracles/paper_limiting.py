"""The strength paper's own way of limiting accelerations, for comparison.   [strength, sections 5.2 to 5.4]

What is out of range is added to a set, and nobody is ever dropped; what goals change is taken back where it would take
a torque too far, so that such a torque does not change at all. Pseudo-inverses are those of the errata: eq 10 has the
transpose of H', eq 12 the prioritised form J_e N_g, with the damping of `dynamics/qp/priority_kernels.py`, and eq 16
the pseudo-inverse of S_2 H. Torques end in range, as everything may be in the set; x is not the nearest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.compiled.kernel import kernel
from poise.dynamics.qp.active_set_kernels import IGNORED, INFEASIBLE, add_row, solve_members
from poise.dynamics.qp.limited import DAMPING, LimitedAccelerations, read_solution
from poise.dynamics.qp.priority_kernels import aim_kept, find_last_level, restart, solve_levels, write_solution
from poise.dynamics.qp.problem import (
    QpProblem,
    QpSolution,
    QpWorkspace,
    make_problem,
    make_solution,
    make_workspace,
)
from poise.dynamics.qp.range_kernels import begin, polish, set_center, set_x
from poise.dynamics.qp.row_kernels import add_to, dot


def limit_as_the_paper(
    H: np.ndarray,
    b: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    target: np.ndarray,
    goals: Sequence[tuple[np.ndarray, np.ndarray]],
    weights: np.ndarray,
) -> LimitedAccelerations:
    """Return the paper's answer to the problem of `limit_accelerations`."""
    n, sizes = len(b), [len(y) for _, y in goals]
    m = sum(sizes)
    A, y = np.concatenate([np.zeros((0, n)), *(A for A, _ in goals)]), np.concatenate([[], *(y for _, y in goals)])
    level = np.repeat(np.arange(len(sizes)), sizes)
    problem, solution = make_problem((H, b, low, high), target, weights, (A, y, level), DAMPING), make_solution(n, n, m)
    limit_by_paper(problem, make_workspace(n, n, m), solution)
    return read_solution(solution, sizes)


@kernel
def limit_by_paper(problem: QpProblem, work: QpWorkspace, solution: QpSolution) -> None:
    """Solve as `solve_prioritized` of `dynamics/qp/priority_kernels.py` does, by the paper's method."""
    x = solution.x
    begin(work, problem)
    set_center(work, problem, problem.target)
    # dx_1 = H'^+ dt', with what is out of range added until nothing is   [strength, eq 7 to 11]
    _add_only(work)
    set_x(work, x)
    polish(work, problem, x)
    if problem.goals > 0:
        # x = J_g^+ dg + (J_e N_g)^+ (de - J_e J_g^+ dg), from x_1, whatever torques it takes   [strength, eq 12 to 15]
        work.members = 0
        work.state[:] = IGNORED
        solve_levels(work, problem, x)
        set_center(work, problem, x)
        aim_kept(work)
        restart(work, find_last_level(problem.level), problem.goals)
        solve_members(work)
        _take_back(work)
        set_x(work, x)  # [strength, eq 17]
    write_solution(work, problem, solution)


@kernel
def _add_only(work: QpWorkspace) -> None:
    """Add whatever is out of its bounds and let nobody go: the paper's own way.   [strength, section 5.2]"""
    n = work.unknowns
    before = -1
    while before < work.members:
        before = work.members
        work.fixed = before
        solve_members(work)
        for i in range(n):
            value = dot(work.rows[i], work.z, n)
            is_low, is_high = value < work.low[i] - work.tolerance[i], value > work.high[i] + work.tolerance[i]
            if work.state[i] == 0 and (is_low or is_high) and not add_row(work, i, int(is_low) - int(is_high)):
                work.state[i] = INFEASIBLE
        work.rounds += int(work.members > before)


@kernel
def _take_back(work: QpWorkspace) -> None:
    """Take from z what changes torques that it would take too far, until there are none.   [strength, eq 16]

    dx_2 = (1 - (S_2 H)^+ S_2 H) x
    """
    n = work.unknowns
    for i in range(n):
        work.moved[i] = work.z[i]
    work.state[:] = 0
    work.members = 0
    before = -1
    while before < work.members:
        before = work.members
        for i in range(n):
            work.z[i] = work.moved[i]
        for j in range(before):
            add_to(work.z, -dot(work.Q[j], work.z, n), work.Q[j], n)
        for i in range(n):
            value = dot(work.rows[i], work.z, n)
            is_out = value < work.low[i] - work.tolerance[i] or value > work.high[i] + work.tolerance[i]
            if is_out and work.state[i] == 0 and not add_row(work, i, int(is_out)):
                work.state[i] = INFEASIBLE
        work.rounds += int(work.members > before)

"""Accelerations within torque ranges, nearest to target accelerations, with goals of strict or weighted priority.

Source: Oshita and Makinouchi (2000), sections 5.2 to 5.4, eq 6 to 18.

    x (n,)          rad/s2, accelerations;  x0: their targets   [strength, eq 4]
    t = H x + b     N m, torques, H regular, not always symmetric   [strength, eq 6]
    low, high       N m, ranges of the torques   [strength, eq 5]. There may be more or fewer rows than unknowns:
                    contact forces are unknowns, too, and have bounds.
    A x = y         goals, each of a level; the goals of a level come before those of all later ones

1. Without goals: the x with torques in range that is nearest to x0.   [strength, eq 7 to 11]
2. With goals, level by level: of all x with torques in range that leave the values of earlier levels, one with the
   least |A x - y|; of all that do, the one nearest to x0.   [strength, eq 12 to 18]

A level is damped: if a small change of A x takes a large x, as for a straight arm, x would jump when the state passes
by. With the damping l (of the unit of A's rows: m for positions, 1 for orientations),

    least  |A x - y|^2 / l^2 + |x - x0|^2

is solved `PASSES` times, each time from the last result. A direction with singular value s then misses
(1 + s^2 / l^2)^-PASSES of its goal: half of it and more below l / 2, an eighth at l, and a billionth from 32 l on. In
the directions of a level that is done, later levels meet springs exp(18 (s / l - 1)) (s / l)^2 times as stiff as that
of x0, and at most 1e10 times as stiff as any goal: directions below l / 2 are left to later levels, those above 3 l are
kept, without an edge between.

All of it is one problem for `active_set_kernels.py`, in which a goal is the row [a, l] with a slack variable of its
own; `range_kernels.py` writes the ranges as its rows. When a level is done, its singular directions replace its rows
and keep their values.

Differences from the source: eq 11 adds what is out of range and never drops anything, and finds the nearest x in a
fifth of random cases, so members with a multiplier of the wrong sign are dropped here; eq 10 has the transpose of H';
eq 12 has the prioritised form, J_e N_g for J_e; in eq 16 torques that a goal takes to their bounds stay there while
other torques change on, where the paper does not let them change at all. The paper's own method is in
`tests/oracles/paper_limiting.py`.
"""

from __future__ import annotations

import math

import numpy as np

from poise.compiled.kernel import kernel
from poise.dynamics.qp.active_set_kernels import IGNORED, add_row, find_shortest
from poise.dynamics.qp.problem import QpProblem, QpSolution, QpWorkspace
from poise.dynamics.qp.range_kernels import begin, clip_torques, move_center, polish, set_center, set_x, write_torques
from poise.dynamics.qp.row_kernels import add_to, dot

PASSES = 3
HOLD = 1e10  # stiffness of a direction that is kept, over that of the goals against it, (row / l)^2
STIFFEST = 1e18  # beyond, only rounding is left


@kernel
def solve_prioritized(problem: QpProblem, work: QpWorkspace, solution: QpSolution) -> None:
    """Solve level by level: no level changes what an earlier one has reached."""
    begin(work, problem)
    solve_levels(work, problem, problem.target)
    set_center(work, problem, problem.target)
    aim_kept(work)
    restart(work, find_last_level(problem.level), problem.goals)
    find_shortest(work)
    end(work, problem, solution)


@kernel
def solve_weighted(problem: QpProblem, work: QpWorkspace, solution: QpSolution) -> None:
    """Solve with all goals as springs, whatever their level:

        least  |A x - y|^2 / l^2 + |x - x0|^2        with torques in range

    The weight of a goal is the size of its rows over l. This is one problem instead of one per level.
    """
    begin(work, problem)
    _set_rows(work, problem, problem.target, 0, problem.goals)
    restart(work, 0, problem.goals)
    find_shortest(work)
    end(work, problem, solution)


@kernel
def end(work: QpWorkspace, problem: QpProblem, solution: QpSolution) -> None:
    """Write the solution of the workspace's z, with torques in range."""
    x = solution.x
    set_x(work, x)
    polish(work, problem, x)
    write_solution(work, problem, solution)


@kernel
def write_solution(work: QpWorkspace, problem: QpProblem, solution: QpSolution) -> None:
    """Bring torques of the solution's x into range, and write torques, residuals and status."""
    x = solution.x
    solution.status = clip_torques(work, problem, x)
    write_torques(problem, solution)
    for g in range(problem.goals):
        solution.residual[g] = dot(problem.A[g], x, problem.unknowns) - problem.y[g]
    solution.rounds = work.rounds


@kernel
def solve_levels(work: QpWorkspace, problem: QpProblem, target: np.ndarray) -> None:
    """Bring the goals of each level in turn as near as possible, and keep them."""
    n, m, same, first = problem.unknowns, problem.goals, 0, 0
    stiffness, A, level, scales = 1.0, problem.A, problem.level, work.scales
    for g in range(m):
        square = 0.0
        for j in range(n):
            square += (A[g, j] * scales[j] / problem.damping) ** 2
        stiffness = max(stiffness, square)
    hold = min(HOLD * stiffness, STIFFEST)
    while first < m:
        last = first + 1
        while last < m and level[last] == level[first]:
            last += 1
        _set_rows(work, problem, target, first, last)
        aim_kept(work)
        restart(work, same, last)
        find_shortest(work)
        for _ in range(PASSES - 1):
            move_center(work, last)
            find_shortest(work)
        _keep(work, problem, hold, first, last)
        same, first = first, last
        work.kept_goals = last


@kernel
def _set_rows(work: QpWorkspace, problem: QpProblem, target: np.ndarray, first: int, last: int) -> None:
    """Write the rows of goals `first` to `last`, each with its slack, and their values from the target (n,)."""
    A, n, bounds, width = problem.A, problem.unknowns, problem.bounds, work.width
    scales, lengths = work.scales, work.lengths
    for g in range(first, last):
        row = work.rows[bounds + g]
        row[:] = 0.0
        for j in range(n):
            row[j] = A[g, j] * scales[j]
        row[n + g] = problem.damping
        lengths[bounds + g] = math.sqrt(dot(row, row, width))
        for j in range(width):
            row[j] /= lengths[bounds + g]
    set_center(work, problem, target)
    for g in range(first, last):
        off = (problem.y[g] - dot(A[g], work.center, n)) / lengths[bounds + g]
        work.low[bounds + g], work.high[bounds + g] = off, off


@kernel
def restart(work: QpWorkspace, same: int, goals: int) -> None:
    """Make the first goals the first members, then the bounds that were members.

    same  number of these goals that are already members, with the same rows
    """
    bounds, count, r, y = work.bounds, 0, work.r, work.y
    for j in range(work.members):
        if work.row_of[j] < bounds:
            r[count], y[count] = work.row_of[j], work.side[j]
            count += 1
    work.members = same
    for g in range(bounds + same, bounds + goals):
        add_row(work, g, 0)
    work.fixed = work.members
    for i in range(bounds):
        if work.state[i] != IGNORED:  # members and infeasible rows were those of another problem
            work.state[i] = 0
    for j in range(count):
        add_row(work, int(r[j]), int(y[j]))


@kernel
def _keep(work: QpWorkspace, problem: QpProblem, hold: float, first: int, last: int) -> None:
    """Replace the rows of goals `first` to `last` by rows along their singular vectors that keep their values.

    v = A^T u / s with A A^T u = s^2 u, and a spring of stiffness f: the row [sqrt(f) v, 1] / sqrt(1 + f)
    """
    A, n, bounds, width, count = problem.A, problem.unknowns, problem.bounds, work.width, last - first
    gram, axes, scales, v = work.gram, work.axes, work.scales, work.v
    for i in range(count):
        for j in range(n):
            v[j] = A[first + i, j] * scales[j] * scales[j]
        for j in range(count):
            gram[i, j] = dot(A[first + j], v, n)
            axes[i, j] = 1.0 if i == j else 0.0
    _find_eigenvectors(gram, axes, count)
    for i in range(count):
        s = math.sqrt(max(gram[i, i], 0.0))
        t = s / problem.damping
        f = min(t * t * math.exp(min(18.0 * (t - 1.0), 50.0)), hold)
        row = work.rows[bounds + first + i]
        row[:] = 0.0
        if s > 0.0:
            for g in range(count):
                add_to(row, axes[g, i] * math.sqrt(f) / s, A[first + g], n)
        for j in range(n):
            row[j] *= scales[j]
        row[n + first + i] = 1.0
        length = math.sqrt(dot(row, row, width))
        value = 0.0
        for j in range(width):
            row[j] /= length
        for j in range(n):
            value += row[j] * (work.center[j] / scales[j] + work.z[j])
        work.kept[first + i] = value


@kernel
def aim_kept(work: QpWorkspace) -> None:
    """Write the values of goals that are kept, measured from the centre."""
    bounds, rows = work.bounds, work.rows
    for g in range(work.kept_goals):
        value = work.kept[g]
        for j in range(work.unknowns):
            value -= rows[bounds + g, j] * work.center[j] / work.scales[j]
        work.low[bounds + g], work.high[bounds + g] = value, value


@kernel
def find_last_level(level: np.ndarray) -> int:
    """Return the first row of the last level."""
    first = len(level)
    while first > 0 and level[first - 1] == level[-1]:
        first -= 1
    return first


@kernel
def _find_eigenvectors(M: np.ndarray, U: np.ndarray, count: int) -> None:
    """Replace a symmetric M (count, count) by its eigenvalues, on the diagonal, and U, the identity, by its vectors.

    Jacobi's rotations. Vectors are the columns of U.
    """
    for _ in range(30):
        off, on = 0.0, 0.0
        for i in range(count):
            on += M[i, i] * M[i, i]
            for j in range(i):
                off += M[i, j] * M[i, j]
        if not off > 1e-30 * on:
            return
        for i in range(count):
            for j in range(i + 1, count):
                if M[i, j] == 0.0:
                    continue
                a = (M[j, j] - M[i, i]) / (2.0 * M[i, j])
                t = (1.0 if a >= 0.0 else -1.0) / (abs(a) + math.sqrt(a * a + 1.0))
                c = 1.0 / math.sqrt(t * t + 1.0)
                s = t * c
                for g in range(count):
                    p, q = M[g, i], M[g, j]
                    M[g, i], M[g, j] = c * p - s * q, s * p + c * q
                for g in range(count):
                    p, q = M[i, g], M[j, g]
                    M[i, g], M[j, g] = c * p - s * q, s * p + c * q
                    p, q = U[g, i], U[g, j]
                    U[g, i], U[g, j] = c * p - s * q, s * p + c * q

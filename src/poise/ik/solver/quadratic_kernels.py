"""The minimum of a convex quadratic function within ranges and rows: compiled.

    least  1/2 d^T H d + g^T d      with  A_i d = 0  or  A_i d <= t_i,   low <= d <= high                    [end, 3]

H positive definite, low <= 0 <= high and t >= 0, so that d = 0 is allowed and there always is a solution. With
H = L L^T and s = L^T d the solution is the s nearest to -L^-1 g, every row being L^-1 A_i, and that of an angle's range
a column of L^-1. It begins at the unbounded minimum and moves to the row that is violated most, along the part of that
row that is normal to the rows that hold; a row whose multiplier becomes zero on the way is dropped. The distance grows
with every row that is reached, so it ends.

Source: the dual method of Goldfarb and Idnani (1983), on an orthogonal basis (`dynamics/qp/row_kernels.py`).
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.dynamics.qp.row_kernels import add_to, append, dot, remove, solve_upper, split
from poise.ik.solver.records import QuadraticProblem

NOT, ZERO, MOST = 0, 1, 2  # kinds of rows: it does not count, A d = 0, A d <= t
_LEAST = 1e-9  # of a pivot: with less, it is not positive definite
_DEPENDENT = 1e-18  # |v|^2 of a row of length 1 that is in the span of others
_OVER = 1e-10  # m or rad, by which a row may be left
_ROUNDS = 300


@kernel
def factor(H: np.ndarray, W: np.ndarray) -> bool:
    """Replace the lower half of H (n, n) by L and write W (n, n) = L^-T; return False if H is not positive definite."""
    n = len(H)
    for i in range(n):
        own = H[i]
        for j in range(i):
            own[j] = (own[j] - dot(own, H[j], j)) / H[j, j]
        left = own[i] - dot(own, own, i)
        if not left > _LEAST:
            return False
        own[i] = np.sqrt(left)
    for j in range(n):
        row = W[j]
        row[:j] = 0.0
        row[j] = 1.0 / H[j, j]
        for i in range(j + 1, n):
            row[i] = -dot(H[i, j:], row[j:], i - j) / H[i, i]
    return True


@kernel
def solve_quadratic(problem: QuadraticProblem) -> None:
    """Write the step, and multipliers with H d + g + A^T multiplier = range_multiplier.   [end, 3]

    W is that of `factor`.
    """
    _begin(problem)
    _add_equalities(problem)
    rounds = 0
    while rounds < _ROUNDS:
        row, sign = _find_worst(problem)
        if row < 0:
            break
        rounds = _reach_row(problem, row, sign, rounds)
    _write_solution(problem)


@kernel
def _begin(problem: QuadraticProblem) -> None:
    """Write the normals of ranges and rows, and begin at the unbounded minimum: s = -L^-1 g."""
    n, m, W, normals, sizes = problem.dofs, problem.rows, problem.W, problem.normals, problem.sizes
    for j in range(n):
        normals[j] = W[j]
    for k in range(m):
        normals[n + k] = 0.0
        if problem.kind[k] != NOT:
            for j in range(n):
                if problem.A[k, j] != 0.0:
                    add_to(normals[n + k, j:], problem.A[k, j], W[j, j:], n - j)
    for i in range(n + m):
        sizes[i] = max(np.sqrt(dot(normals[i], normals[i], n)), 1e-12)
        normals[i] /= sizes[i]
        problem.state[i] = 0
    for j in range(n):
        problem.s[j], problem.mu[j], problem.member[j], problem.side[j] = 0.0, 0.0, 0, 0
    for j in range(n):
        add_to(problem.s[j:], -problem.g[j], W[j, j:], n - j)
    problem.members = 0


@kernel
def _add_equalities(problem: QuadraticProblem) -> None:
    """Meet the rows that are ZERO; they hold from then on."""
    n, s, normals, along, v, r = (
        problem.dofs, problem.s, problem.normals, problem.along, problem.across, problem.r,
    )  # fmt: skip
    for i in range(n, n + problem.rows):
        if problem.kind[i - n] != ZERO:
            continue
        k = problem.members
        square = split(problem.Q, k, normals[i], along, v)
        if square > _DEPENDENT and k < n:
            far = -dot(normals[i], s, n) / square
            solve_upper(problem.R, 0, k, along, r)
            add_to(s, far, v, n)
            add_to(problem.mu, -far, r, k)
            append(problem.Q, problem.R, k, along, v, np.sqrt(square))
            problem.member[k], problem.mu[k] = i, far
            problem.members = k + 1
    problem.equalities = problem.members


@kernel
def _reach_row(problem: QuadraticProblem, row: int, sign: int, rounds: int) -> int:
    """Move to a row and let it hold, dropping rows on the way; return the number of rounds so far."""
    n, s, v, r, normal = problem.dofs, problem.s, problem.across, problem.r, problem.normals[row]
    own = 0.0
    if row >= n:
        bound = problem.bound[row - n] / problem.sizes[row]
    else:
        bound = (problem.low[row] if sign > 0 else problem.high[row]) / problem.sizes[row]
    while rounds < _ROUNDS:
        rounds += 1
        k = problem.members
        square = split(problem.Q, k, normal, problem.along, v)
        is_in_span = not square > _DEPENDENT or k >= n
        solve_upper(problem.R, 0, k, problem.along, r)
        step, first = _find_first_to_drop(problem, sign)
        if is_in_span and first < 0:  # rounding: d = 0 is allowed
            problem.state[row] = 2
            break
        whole = np.inf if is_in_span else max(sign * (bound - dot(normal, s, n)), 0.0) / square
        far = min(step, whole)
        if not is_in_span:
            add_to(s, sign * far, v, n)
        add_to(problem.mu, -sign * far, r, k)
        own += sign * far
        if whole <= step:
            append(problem.Q, problem.R, k, problem.along, v, np.sqrt(square))
            problem.member[k], problem.side[k], problem.state[row], problem.mu[k] = row, sign, 1, own
            problem.members = k + 1
            break
        _drop(problem, first)
    return rounds


@kernel
def _find_first_to_drop(problem: QuadraticProblem, sign: int) -> tuple[float, int]:
    """Return the step at which a multiplier becomes zero first, and its place among the members; (inf, -1) if none."""
    step, first, mu, side = np.inf, -1, problem.mu, problem.side
    for j in range(problem.equalities, problem.members):
        rate = sign * problem.r[j] * side[j]
        if rate > 0.0:
            left = max(mu[j] * side[j], 0.0) / rate
            if left < step:
                step, first = left, j
    return step, first


@kernel
def _drop(problem: QuadraticProblem, first: int) -> None:
    """Let a member go."""
    k, member, side, mu = problem.members, problem.member, problem.side, problem.mu
    problem.state[member[first]] = 0
    remove(problem.Q, problem.R, k, first)
    for j in range(first, k - 1):
        member[j], side[j], mu[j] = member[j + 1], side[j + 1], mu[j + 1]
    problem.members = k - 1


@kernel
def _write_solution(problem: QuadraticProblem) -> None:
    n, d, s, sizes = problem.dofs, problem.step, problem.s, problem.sizes
    problem.multiplier[:], problem.range_multiplier[:] = 0.0, 0.0
    for j in range(n):
        d[j] = min(max(sizes[j] * dot(problem.normals[j, j:], s[j:], n - j), problem.low[j]), problem.high[j])
    for j in range(problem.members):
        i = problem.member[j]
        if i < n:
            problem.range_multiplier[i] = problem.mu[j] / sizes[i]
        else:
            problem.multiplier[i - n] = -problem.mu[j] / sizes[i]


@kernel
def _find_worst(problem: QuadraticProblem) -> tuple[int, int]:
    """Return the row that is violated most, and the sign of the way back along its normal; (-1, 0) if there is none."""
    n, row, sign, most = problem.dofs, -1, 0, _OVER
    low, high = problem.low, problem.high
    for i in range(problem.lines):
        if problem.state[i] != 0 or (i >= n and problem.kind[i - n] != MOST):
            continue
        value = problem.sizes[i] * dot(problem.normals[i], problem.s, n)
        over = value - (high[i] if i < n else problem.bound[i - n])
        if over > most:
            row, sign, most = i, -1, over
        if i < n and low[i] - value > most:
            row, sign, most = i, 1, low[i] - value
    return row, sign

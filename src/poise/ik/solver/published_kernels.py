"""The same linear system by the published methods, row by row and in the null space: compiled. See `block_kernels.py`.

`sweep_rows` is Gauss-Seidel row by row: l_i += (e_i - J_i d - l_i / w_i) / (J_i S^-1 J_i^T + 1 / w_i), and after each
sweep an angle that has left its range is set back to its end, by a row of its own.   [balance, 4]

`sweep_null_space` solves the primary rows, and then the others in what those leave free,   [balance, 1 and 2]

    d = b + J1^+ (e1 - J1 b) + (J2 N)^+ (e2 - J2 d1),      N = I - J1^+ J1,   J^+ by the metric s           [steps, 5]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.compiled.kernel import kernel
from poise.ik.solver.block_kernels import LEAST, OVER
from poise.ik.solver.records import BELOW, BOTH, LinearSystem

_FAST = {"reassoc", "contract", "nsz"}
_SLACK = 1e-9  # rad, by which an angle may be over its end without being out


@kernel(fastmath=_FAST)
def sweep_rows(system: LinearSystem, sweeps: int, tolerance: float) -> int:
    """Write the step of a system row by row; return how many sweeps it took.

    tolerance  m: the sweeps end when no row changes by more
    """
    J, d, multiplier, soft = system.J, system.step, system.multiplier, system.compliance
    m, n = J.shape
    sizes, stop = np.empty(m), np.zeros(n)
    d[:] = system.preferred
    for i in range(m):
        multiplier[i] = 0.0
        total = 0.0
        for j in range(n):
            total += J[i, j] * J[i, j] * soft[j]
        sizes[i] = total + 1.0 / max(system.weight[i], LEAST)
    for k in range(sweeps):
        worst = 0.0
        for i in range(m):
            if system.weight[i] == 0.0:
                continue
            error = system.e[i] - multiplier[i] / system.weight[i]
            for j in range(n):
                error -= J[i, j] * d[j]
            change = error / sizes[i]
            if system.kind[i] == BELOW:
                change = min(change, -multiplier[i])
            multiplier[i] += change
            worst = max(worst, abs(change) * sizes[i])
            for j in range(n):
                d[j] += soft[j] * J[i, j] * change
        for j in range(n):
            free = d[j] - soft[j] * stop[j]
            inside = min(max(free, system.low[j]), system.high[j])
            stop[j] = (inside - free) / soft[j]
            d[j] = inside
        if worst < tolerance:
            return k + 1
    return sweeps


class _Rows(NamedTuple):
    """Rows that are solved together; A is written."""

    J: np.ndarray  # (m, n)
    e: np.ndarray  # (m,)
    weight: np.ndarray  # (m,)
    order: np.ndarray  # (m,) the numbers of those that are solved
    A: np.ndarray  # (m, m), of the first `count` rows the Cholesky factor of J S^-1 J^T + W^-1
    multiplier: np.ndarray  # (m,)


@kernel
def sweep_null_space(system: LinearSystem, sweeps: int) -> int:
    """Write the step of a system by the null-space method; return how many sweeps it took."""
    m, n = system.rows, system.dofs
    free, d, locked, low, high = system.free, system.step, system.locked, system.low, system.high
    rows = _Rows(
        system.J, system.e, system.weight, np.empty(m, np.int64), np.empty((m, m)), system.multiplier,
    )  # fmt: skip
    for k in range(sweeps):
        for j in range(n):
            free[j] = system.compliance[j] if locked[j] == 0 else 0.0
            d[j] = system.preferred[j] if locked[j] == 0 else (low[j] if locked[j] < 0 else high[j])
        system.multiplier[:] = 0.0
        count = _list_primary_rows(system, rows.order)
        _solve(rows, count, free, d)
        _solve_rest(system, rows, count)
        if _change_angles(system) + _change_rows(system) == 0:
            return k + 1
    for j in range(n):
        d[j] = min(max(d[j], low[j]), high[j])
    return sweeps


@kernel
def _list_primary_rows(system: LinearSystem, order: np.ndarray) -> int:
    """Write the numbers of the primary rows that take part; return how many they are."""
    count = 0
    for i in range(system.rows):
        is_active = system.weight[i] > 0.0 and (system.kind[i] == BOTH or system.pushing[i])
        if system.is_primary[i] and is_active:
            order[count] = i
            count += 1
    return count


@kernel(fastmath=_FAST)
def _solve(rows: _Rows, count: int, free: np.ndarray, d: np.ndarray) -> None:
    """Solve rows at once, from d on, and leave the factor in A.   [steps, 3]"""
    J, order, A = rows.J, rows.order, rows.A
    x, n = np.empty(count), len(d)
    for a in range(count):
        i = order[a]
        error = rows.e[i]
        for j in range(n):
            error -= J[i, j] * d[j]
        x[a] = error
        for c in range(a + 1):
            h, total = order[c], 0.0
            for j in range(n):
                total += J[i, j] * J[h, j] * free[j]
            A[a, c] = total
        A[a, a] += 1.0 / rows.weight[i]
        for c in range(a):
            total = A[a, c]
            for h in range(c):
                total -= A[a, h] * A[c, h]
            A[a, c] = total / A[c, c]
        total, error = A[a, a], x[a]
        for h in range(a):
            total -= A[a, h] * A[a, h]
            error -= A[a, h] * x[h]
        A[a, a] = np.sqrt(max(total, LEAST))
        x[a] = error / A[a, a]
    for a in range(count - 1, -1, -1):
        total = x[a]
        for c in range(a + 1, count):
            total -= A[c, a] * x[c]
        x[a] = total / A[a, a]
        i = order[a]
        rows.multiplier[i] += x[a]
        for j in range(n):
            d[j] += free[j] * J[i, j] * x[a]


@kernel(fastmath=_FAST)
def _solve_rest(system: LinearSystem, primary: _Rows, count: int) -> None:
    """Solve the other rows in what the first `count` primary ones leave free.   [steps, 5]"""
    J, A, d = system.J, primary.A, system.step
    m, n = J.shape
    rest, y, own, size = np.empty((m, n)), np.empty(count), np.zeros(m, np.int64), 0
    for i in range(m):
        if system.is_primary[i] or system.weight[i] == 0.0 or system.kind[i] != BOTH:
            continue
        # J2 N = J2 - (J2 S^-1 J1^T) (J1 S^-1 J1^T + W1^-1)^-1 J1
        for a in range(count):
            total = 0.0
            for j in range(n):
                total += J[i, j] * J[primary.order[a], j] * system.free[j]
            for h in range(a):
                total -= A[a, h] * y[h]
            y[a] = total / A[a, a]
        for a in range(count - 1, -1, -1):
            total = y[a]
            for c in range(a + 1, count):
                total -= A[c, a] * y[c]
            y[a] = total / A[a, a]
        for j in range(n):
            rest[size, j] = J[i, j]
        for a in range(count):
            for j in range(n):
                rest[size, j] -= y[a] * J[primary.order[a], j]
        own[size] = i
        size += 1
    e, weight = np.empty(size), np.empty(size)
    for a in range(size):
        i = own[a]
        weight[a], e[a] = system.weight[i], system.e[i]
        for j in range(n):
            e[a] += (rest[a, j] - J[i, j]) * d[j]  # `_solve` subtracts the rest of d again
    rows = _Rows(rest, e, weight, np.arange(size), np.empty((size, size)), np.zeros(size))
    _solve(rows, size, system.free, d)
    for a in range(size):
        system.multiplier[own[a]] += rows.multiplier[a]


@kernel(fastmath=_FAST)
def _change_angles(system: LinearSystem) -> int:
    """Hold angles that left their range and release those that would come back; return how many."""
    J, d, low, high, locked, changed = system.J, system.step, system.low, system.high, system.locked, 0
    for j in range(system.dofs):
        if system.free[j] > 0.0:
            if d[j] < low[j] - _SLACK or d[j] > high[j] + _SLACK:
                locked[j] = -1 if d[j] < low[j] else 1
                changed += 1
        else:
            want = system.preferred[j] - d[j]  # its change if it were free
            for i in range(system.rows):
                want += system.compliance[j] * J[i, j] * system.multiplier[i]
            if want * locked[j] < 0.0:
                locked[j] = 0
                changed += 1
    return changed


@kernel(fastmath=_FAST)
def _change_rows(system: LinearSystem) -> int:
    """Start or stop the pushing of rows that are BELOW; return how many changed."""
    changed = 0
    for i in range(system.rows):
        if system.kind[i] != BELOW or system.weight[i] == 0.0:
            continue
        if system.pushing[i]:
            if system.multiplier[i] > 0.0:
                system.pushing[i] = 0
                changed += 1
        else:
            error = system.e[i]
            for j in range(system.dofs):
                error -= system.J[i, j] * system.step[j]
            if error < -OVER:
                system.pushing[i] = 1
                changed += 1
    return changed

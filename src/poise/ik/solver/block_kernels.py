"""One linear system of all goals, with every angle in its range, by blocks: compiled.

Each row i asks that the angles change by d with J_i d = e_i, weighted by w_i; directions without a goal are free, and
free angles go to their preferred change, b. The change of angles is the one that makes

    sum_i w_i (J_i d - e_i)^2 + sum_j s_j (d_j - b_j)^2          least, with every angle in its range       [steps, 2]

s_j being the stiffness of angle j: the damping of [balance, 6], one per joint. That is the system J^T J d = J^T e of
[balance, 4] with both sides of row i weighted (9, corrected) and damped. It is solved in l, the multiplier of each row:

    d = b + J^T l / s,      (J S^-1 J^T + W^-1) l = e - J b                                                 [steps, 3]

A heavy row makes 1 / w_i small and nothing else worse: primary rows cost no more than the others.

`sweep_blocks` is Gauss-Seidel over two blocks: all rows at once, exactly, then the ranges. An angle that left its range
is held at its end in the next sweep, and released when it would come back by itself; rows that only push (the edges of
a support) take part while they push. It ends when no angle or row changes sides any more, after 2 to 6 sweeps; row by
row (`published_kernels.py`) it takes 20 to 100.

In l the gradient is that of a convex function that is quadratic in pieces, one piece for each set of angles that are
held at their ends:  J clip(b + S^-1 J^T l) + W^-1 l = e.  A sweep solves the piece that l is in, and goes there or, if
the function rises before, to its least on the way: it never cycles. J S^-1 J^T is made once; an angle that is held or
released changes it by a product of its column with itself.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.ik.solver.records import BELOW, BOTH, LinearSystem

_FAST = {"reassoc", "contract", "nsz"}
OVER = 1e-6  # m, by which a row may be exceeded without pushing
LEAST = 1e-14  # the least pivot
_LOOKS = 12  # evaluations at most on a line; 12 leave less than a thousandth of the slope


@kernel(fastmath=_FAST)
def sweep_blocks(system: LinearSystem, sweeps: int) -> int:
    """Write the step of a system, in at most so many sweeps; return how many it took.

    pushing and locked are kept from call to call: a system like the last one begins where that ended.
    """
    _begin(system)
    for k in range(sweeps):
        if system.active < 0:
            _list_active_rows(system)
        _solve_piece(system)
        fraction = _find_least(system) if k > 0 else 1.0
        if _move(system, fraction) == 0:
            if _change_rows(system) == 0:
                return k + 1
            system.active = -1
    return sweeps


@kernel
def _begin(system: LinearSystem) -> None:
    system.active = -1
    for i in range(system.rows):
        system.multiplier[i], system.is_ready[i] = 0.0, False
    for j in range(system.dofs):
        system.z[j] = 0.0
        system.free[j] = system.compliance[j] if system.locked[j] == 0 else 0.0


@kernel(fastmath=_FAST)
def _list_active_rows(system: LinearSystem) -> None:
    """List the rows that take part, and add those to A that it does not have yet."""
    active = 0
    for i in range(system.rows):
        if system.weight[i] > 0.0 and (system.kind[i] == BOTH or system.pushing[i]):
            system.order[active] = i
            active += 1
            if not system.is_ready[i]:
                _add_row(system.J, system.free, i, system.is_ready, system.scaled, system.A)
    system.active = active


@kernel(fastmath=_FAST)
def _solve_piece(system: LinearSystem) -> None:
    """Solve the active rows with the locked angles at their ends: x, and dz, the change of z that it asks for."""
    J, d, x, dz, A, L = system.J, system.step, system.x, system.dz, system.A, system.L
    order, active, n = system.order, system.active, system.dofs
    for j in range(n):
        at_end = system.low[j] if system.locked[j] < 0 else system.high[j]
        d[j] = system.preferred[j] if system.locked[j] == 0 else at_end
    for a in range(active):
        i = order[a]
        x[a] = system.e[i] - _dot(J[i], d, n)
        for c in range(a):
            L[a, c] = A[i, order[c]]
        L[a, a] = A[i, i] + 1.0 / system.weight[i]
    _solve_factor(L, x, active)
    for j in range(n):
        dz[j] = 0.0
    for a in range(active):
        row = J[order[a]]
        for j in range(n):
            dz[j] += row[j] * x[a]
    for j in range(n):
        dz[j] -= system.z[j]


@kernel(fastmath=_FAST)
def _find_least(system: LinearSystem) -> float:
    """Return the fraction of the way from l to x, at most 1, at which the convex function is least."""
    slope, bend = 0.0, 0.0
    for a in range(system.active):
        i = system.order[a]
        by = system.x[a] - system.multiplier[i]
        slope += by * (system.multiplier[i] / system.weight[i] - system.e[i])
        bend += by * by / system.weight[i]
    at_most = _add_rise(system, 1.0, slope + bend)
    if at_most <= 1e-12:
        return 1.0
    at_least = _add_rise(system, 0.0, slope)
    if at_least >= 0.0:
        return 1.0
    least, most, fraction = 0.0, 1.0, 1.0
    for k in range(_LOOKS):
        rise = at_most if k == 0 else _add_rise(system, fraction, slope + fraction * bend)
        if k > 0:
            if rise > 0.0:
                most, at_most = fraction, rise
            else:
                least, at_least = fraction, rise
        if abs(rise) < 1e-3 * abs(at_least):
            break
        fraction = least + (most - least) * at_least / (at_least - at_most)
        fraction = min(max(fraction, least + 0.05 * (most - least)), most - 0.05 * (most - least))
    return fraction


@kernel(fastmath=_FAST)
def _add_rise(system: LinearSystem, fraction: float, rise: float) -> float:
    """Add the slope of the angles, clipped to their ranges, to that of the rows."""
    b, soft, z, dz = system.preferred, system.compliance, system.z, system.dz
    low, high = system.low, system.high
    for j in range(system.dofs):
        rise += dz[j] * min(max(b[j] + soft[j] * (z[j] + fraction * dz[j]), low[j]), high[j])
    return rise


@kernel(fastmath=_FAST)
def _move(system: LinearSystem, fraction: float) -> int:
    """Go a fraction of the way, lock and release angles; return how many changed, and 1 more if it was not all."""
    z, d, low, high, soft, locked = (
        system.z, system.step, system.low, system.high, system.compliance, system.locked,
    )  # fmt: skip
    for j in range(system.dofs):
        z[j] += fraction * system.dz[j]
        d[j] = system.preferred[j] + soft[j] * z[j]
    for a in range(system.active):
        i = system.order[a]
        system.multiplier[i] += fraction * (system.x[a] - system.multiplier[i])
    changed = 0 if fraction == 1.0 else 1
    for j in range(system.dofs):
        side = -1 if d[j] < low[j] else (1 if d[j] > high[j] else 0)
        if side != locked[j] and soft[j] > 0.0:
            changed += 1
            locked[j] = side
            _set_free(system, j, soft[j] if side == 0 else 0.0)
        d[j] = min(max(d[j], low[j]), high[j])
    return changed


@kernel(fastmath=_FAST)
def _set_free(system: LinearSystem, j: int, value: float) -> None:
    """Lock or release an angle: A changes by a product of its column with itself."""
    if value == system.free[j]:
        return
    change, column, A = value - system.free[j], system.column, system.A
    system.free[j] = value
    for i in range(system.rows):
        column[i] = system.J[i, j] if system.is_ready[i] else 0.0
    for i in range(system.rows):
        if column[i] != 0.0:
            by, own = change * column[i], A[i]
            for c in range(i + 1):
                own[c] += by * column[c]


@kernel(fastmath=_FAST)
def _change_rows(system: LinearSystem) -> int:
    """Start or stop the pushing of rows that are BELOW; return how many changed."""
    changed, J, z, d = 0, system.J, system.z, system.step
    pushing, multiplier = system.pushing, system.multiplier
    for i in range(system.rows):
        if system.kind[i] != BELOW or system.weight[i] == 0.0:
            continue
        if pushing[i]:
            if multiplier[i] > 0.0:
                pushing[i] = 0
                changed += 1
                for j in range(system.dofs):
                    z[j] -= J[i, j] * multiplier[i]
                multiplier[i] = 0.0
        elif system.e[i] - _dot(J[i], d, system.dofs) < -OVER:
            pushing[i] = 1
            changed += 1
    return changed


@kernel(fastmath=_FAST)
def _dot(a: np.ndarray, b: np.ndarray, n: int) -> float:
    total = 0.0
    for j in range(n):
        total += a[j] * b[j]
    return total


@kernel(fastmath=_FAST)
def _add_row(J: np.ndarray, free: np.ndarray, i: int, is_ready: np.ndarray, scaled: np.ndarray, A: np.ndarray) -> None:
    """Write the products of a row with itself and with all that are ready."""
    n, own = len(free), J[i]
    is_ready[i] = True
    for j in range(n):
        scaled[j] = own[j] * free[j]
    for c in range(len(is_ready)):
        if is_ready[c]:
            A[max(i, c), min(i, c)] = _dot(scaled, J[c], n)


@kernel(fastmath=_FAST)
def _solve_factor(L: np.ndarray, x: np.ndarray, size: int) -> None:
    """Solve L L^T x = x with the lower half of a matrix, which is replaced by its factor."""
    for a in range(size):
        own = L[a]
        for c in range(a):
            other = L[c]
            own[c] = (own[c] - _dot(own, other, c)) * other[c]
        root = np.sqrt(max(own[a] - _dot(own, own, a), LEAST))
        own[a] = 1.0 / root  # the diagonal's inverse
        x[a] = (x[a] - _dot(own, x, a)) * own[a]
    for a in range(size - 1, -1, -1):
        own = L[a]
        x[a] *= own[a]
        for c in range(a):
            x[c] -= own[c] * x[a]

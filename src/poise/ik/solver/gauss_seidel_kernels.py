"""One linear system of all goals, with every angle in its range: compiled.

Each row i asks that the angles change by d with J_i d = e_i, weighed by w_i; what is not asked for is free, and free
angles go where they like best, b. The change of angles is what makes

    sum_i w_i (J_i d - e_i)^2 + sum_j s_j (d_j - b_j)^2          least, with every angle in its range       [steps, 2]

s_j being the stiffness of angle j: the damping of [balance, 6], one a joint. That is the system J^T J d = J^T e of
[balance, 4] with both sides of row i weighed (9, corrected) and damped. It is solved in l, what each row puts in:

    d = b + J^T l / s,      (J S^-1 J^T + W^-1) l = e - J b                                                 [steps, 3]

A heavy row makes 1 / w_i small and nothing else worse: what is first costs no more than what is second. Two ways:

`sweep_rows`    Gauss-Seidel row by row, as published: l_i += (e_i - J_i d - l_i / w_i) / (J_i S^-1 J_i^T + 1 / w_i),
                and after each sweep an angle that has left its range is set back to its end, by a row of its own.
`sweep_blocks`  Gauss-Seidel over two blocks: all rows at once, exactly, then the ranges. An angle that left its range
                is held at its end in the next sweep, and let go when it would come back by itself; rows that only push
                (the edges of a support) take part while they push. It ends when nothing changes sides any more, after
                2 to 6 sweeps where rows take 20 to 100.

The null-space method [balance, 1 and 2] is the second way with another block: rows that are first, and then the others
in what those leave free,

    d = b + J1^+ (e1 - J1 b) + (J2 N)^+ (e2 - J2 d1),      N = I - J1^+ J1,   J^+ by the metric s           [steps, 5]
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel

BOTH, BELOW = 0, 1  # J d = e, and J d <= e
ROWS, BLOCKS, NULL_SPACE = 0, 1, 2
_FAST = {"reassoc", "contract", "nsz"}
_SLACK = 1e-9  # rad, by which an angle may be over its end without being out
_OVER = 1e-6  # m, the same of a row that pushes
_LEAST = 1e-14
_LOOKS = 12  # for the least of a function on a line


@kernel(fastmath=_FAST)
def sweep_rows(
    J: np.ndarray,
    e: np.ndarray,
    sides: np.ndarray,
    weights: np.ndarray,
    soft: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    sweeps: int,
    enough: float,
    pull: np.ndarray,
    d: np.ndarray,
) -> int:
    """Row by row; returns how many sweeps it took.

    J, e         (m, n) and (m,); sides (m,) BOTH or BELOW; weights (m,), 0: not now
    soft         (n,) 1 / s
    low, high    (n,) what each angle may change by
    enough       m: the sweeps end when no row changes by more
    pull         (m,) l; written
    d            (n,) b on entry, the solution on return
    """
    m, n = J.shape
    hefts, stop = np.empty(m), np.zeros(n)
    for i in range(m):
        pull[i] = 0.0
        total = 0.0
        for j in range(n):
            total += J[i, j] * J[i, j] * soft[j]
        hefts[i] = total + 1.0 / max(weights[i], _LEAST)
    for k in range(sweeps):
        worst = 0.0
        for i in range(m):
            if weights[i] == 0.0:
                continue
            error = e[i] - pull[i] / weights[i]
            for j in range(n):
                error -= J[i, j] * d[j]
            change = error / hefts[i]
            if sides[i] == BELOW:
                change = min(change, -pull[i])
            pull[i] += change
            worst = max(worst, abs(change) * hefts[i])
            for j in range(n):
                d[j] += soft[j] * J[i, j] * change
        for j in range(n):
            free = d[j] - soft[j] * stop[j]
            inside = min(max(free, low[j]), high[j])
            stop[j] = (inside - free) / soft[j]
            d[j] = inside
        if worst < enough:
            return k + 1
    return sweeps


@kernel(fastmath=_FAST)
def sweep_blocks(
    J: np.ndarray,
    e: np.ndarray,
    sides: np.ndarray,
    weights: np.ndarray,
    soft: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    sweeps: int,
    pushes: np.ndarray,
    locked: np.ndarray,
    pull: np.ndarray,
    b: np.ndarray,
    d: np.ndarray,
) -> int:
    """Rows as one block, ranges as the other; returns how many sweeps it took. See `sweep_rows`, and

    pushes, locked  (m,), (n,): which rows push, and at which end (-1, 1) each angle is; kept from call to call
    b, d            (n,): where angles like to go; the solution, written

    In l the whole is the slope of a convex function that is quadratic in pieces, one piece for each way in which angles
    are held at their ends:  J clip(b + S^-1 J^T l) + W^-1 l = e.  A sweep solves the piece that l is in, and goes there
    or, where the function rises before, to its least on the way: it never goes round in a circle. J S^-1 J^T is made
    once; an angle that is held or let go changes it by a product of its column with itself.
    """
    m, n = J.shape
    free, scaled, column = np.empty(n), np.empty(n), np.empty(m)
    z, dz = np.zeros(n), np.empty(n)  # J^T l, and its change
    A, L, x = np.empty((m, m)), np.empty((m, m)), np.empty(m)
    order, is_ready = np.empty(m, np.int64), np.zeros(m, np.bool_)
    size, is_begun = 0, False
    pull[:] = 0.0
    for j in range(n):
        free[j] = soft[j] if locked[j] == 0 else 0.0
    for k in range(sweeps):
        if not is_begun or size < 0:  # other rows take part now
            size = 0
            for i in range(m):
                if weights[i] > 0.0 and (sides[i] == BOTH or pushes[i]):
                    order[size] = i
                    size += 1
                    if not is_ready[i]:
                        _add_row(J, free, i, is_ready, scaled, A)
        # The piece
        for j in range(n):
            d[j] = b[j] if locked[j] == 0 else (low[j] if locked[j] < 0 else high[j])
        for a in range(size):
            i = order[a]
            x[a] = e[i] - _dot(J[i], d, n)
            for c in range(a):
                L[a, c] = A[i, order[c]]
            L[a, a] = A[i, i] + 1.0 / weights[i]
        _solve_factor(L, x, size)
        dz[:] = 0.0
        for a in range(size):
            row = J[order[a]]
            for j in range(n):
                dz[j] += row[j] * x[a]
        for j in range(n):
            dz[j] -= z[j]
        far = 1.0
        if is_begun:
            far = _find_least(e, weights, soft, low, high, order, size, x, pull, b, z, dz)
        is_begun = True
        for j in range(n):
            z[j] += far * dz[j]
            d[j] = b[j] + soft[j] * z[j]
        for a in range(size):
            pull[order[a]] += far * (x[a] - pull[order[a]])
        # What changes sides
        changed = 0 if far == 1.0 else 1
        for j in range(n):
            side = -1 if d[j] < low[j] else (1 if d[j] > high[j] else 0)
            if side != locked[j] and soft[j] > 0.0:
                changed += 1
                locked[j] = side
                now = soft[j] if side == 0 else 0.0
                if now != free[j]:
                    change, free[j] = now - free[j], now
                    for i in range(m):
                        column[i] = J[i, j] if is_ready[i] else 0.0
                    for i in range(m):
                        if column[i] != 0.0:
                            by, own = change * column[i], A[i]
                            for c in range(i + 1):
                                own[c] += by * column[c]
            d[j] = min(max(d[j], low[j]), high[j])
        if changed == 0:
            if _change_rows(J, e, sides, weights, pushes, pull, z, d) == 0:
                return k + 1
            size = -1
    return sweeps


@kernel(fastmath=_FAST)
def _find_least(
    e: np.ndarray, weights: np.ndarray, soft: np.ndarray, low: np.ndarray, high: np.ndarray, order: np.ndarray,
    size: int, x: np.ndarray, pull: np.ndarray, b: np.ndarray, z: np.ndarray, dz: np.ndarray,
) -> float:  # fmt: skip
    """How far to go from l, `pull`, to x, 1 being all the way, so that the convex function is least."""
    slope, bend = 0.0, 0.0
    for a in range(size):
        i = order[a]
        by = x[a] - pull[i]
        slope += by * (pull[i] / weights[i] - e[i])
        bend += by * by / weights[i]
    least, most, far = 0.0, 1.0, 1.0
    at_least = at_most = 0.0
    for k in range(_LOOKS):
        rise = slope + far * bend
        for j in range(len(z)):
            rise += dz[j] * min(max(b[j] + soft[j] * (z[j] + far * dz[j]), low[j]), high[j])
        if k == 0:
            if rise <= 1e-12:
                return 1.0
            at_most = rise
            at_least = slope
            for j in range(len(z)):
                at_least += dz[j] * min(max(b[j] + soft[j] * z[j], low[j]), high[j])
            if at_least >= 0.0:
                return 1.0
        elif rise > 0.0:
            most, at_most = far, rise
        else:
            least, at_least = far, rise
        if abs(rise) < 1e-3 * abs(at_least):
            break
        far = least + (most - least) * at_least / (at_least - at_most)
        far = min(max(far, least + 0.05 * (most - least)), most - 0.05 * (most - least))
    return far


@kernel(fastmath=_FAST)
def _change_rows(
    J: np.ndarray, e: np.ndarray, sides: np.ndarray, weights: np.ndarray, pushes: np.ndarray, pull: np.ndarray,
    z: np.ndarray, d: np.ndarray,
) -> int:  # fmt: skip
    """Rows that only push begin to, or leave off; returns how many."""
    changed, n = 0, len(d)
    for i in range(len(e)):
        if sides[i] != BELOW or weights[i] == 0.0:
            continue
        if pushes[i]:
            if pull[i] > 0.0:
                pushes[i] = 0
                changed += 1
                for j in range(n):
                    z[j] -= J[i, j] * pull[i]
                pull[i] = 0.0
        elif e[i] - _dot(J[i], d, n) < -_OVER:
            pushes[i] = 1
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
    """Products of a row with itself and with all that are ready."""
    n, own = len(free), J[i]
    is_ready[i] = True
    for j in range(n):
        scaled[j] = own[j] * free[j]
    for c in range(len(is_ready)):
        if is_ready[c]:
            A[max(i, c), min(i, c)] = _dot(scaled, J[c], n)


@kernel(fastmath=_FAST)
def _solve_factor(L: np.ndarray, x: np.ndarray, size: int) -> None:
    """L L^T x = x, from the lower half of a matrix, which its factor takes the place of."""
    for a in range(size):
        own = L[a]
        for c in range(a):
            other = L[c]
            own[c] = (own[c] - _dot(own, other, c)) * other[c]
        root = np.sqrt(max(own[a] - _dot(own, own, a), _LEAST))
        own[a] = 1.0 / root  # the diagonal's own inverse
        x[a] = (x[a] - _dot(own, x, a)) * own[a]
    for a in range(size - 1, -1, -1):
        own = L[a]
        x[a] *= own[a]
        for c in range(a):
            x[c] -= own[c] * x[a]


@kernel
def sweep_null_space(
    J: np.ndarray,
    e: np.ndarray,
    sides: np.ndarray,
    weights: np.ndarray,
    first: np.ndarray,
    soft: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    sweeps: int,
    pushes: np.ndarray,
    locked: np.ndarray,
    pull: np.ndarray,
    b: np.ndarray,
    d: np.ndarray,
) -> int:
    """As `sweep_blocks`, by the null-space method. first (m,): whether a row is."""
    m, n = J.shape
    free, A, x = np.empty(n), np.empty((m, m)), np.empty(m)
    order = np.empty(m, np.int64)
    for k in range(sweeps):
        for j in range(n):
            free[j] = soft[j] if locked[j] == 0 else 0.0
            d[j] = b[j] if locked[j] == 0 else (low[j] if locked[j] < 0 else high[j])
        pull[:] = 0.0
        size = _list_rows(sides, weights, pushes, first, 1, order)
        _solve(J, e, weights, free, order, size, A, x, pull, d)
        _solve_rest(J, e, sides, weights, first, free, order, size, A, pull, d)
        if _change_sides(J, e, sides, weights, soft, free, low, high, pushes, locked, pull, b, d) == 0:
            return k + 1
    for j in range(n):
        d[j] = min(max(d[j], low[j]), high[j])
    return sweeps


@kernel
def _list_rows(
    sides: np.ndarray, weights: np.ndarray, pushes: np.ndarray, first: np.ndarray, which: int, order: np.ndarray
) -> int:
    """Write the rows that take part to `order`; which: 1 those that are first, 0 the others, -1 all."""
    size = 0
    for i in range(len(sides)):
        asked = which < 0 or first[i] == (which == 1)
        if asked and weights[i] > 0.0 and (sides[i] == BOTH or pushes[i]):
            order[size] = i
            size += 1
    return size


@kernel(fastmath=_FAST)
def _solve(
    J: np.ndarray,
    e: np.ndarray,
    weights: np.ndarray,
    free: np.ndarray,
    order: np.ndarray,
    size: int,
    A: np.ndarray,
    x: np.ndarray,
    pull: np.ndarray,
    d: np.ndarray,
) -> None:
    """Some rows at once, from d on: A is left with the Cholesky factor of J S^-1 J^T + W^-1.   [steps, 3]"""
    n = len(d)
    for a in range(size):
        i = order[a]
        error = e[i]
        for j in range(n):
            error -= J[i, j] * d[j]
        x[a] = error
        for c in range(a + 1):
            h, total = order[c], 0.0
            for j in range(n):
                total += J[i, j] * J[h, j] * free[j]
            A[a, c] = total
        A[a, a] += 1.0 / weights[i]
        for c in range(a):
            total = A[a, c]
            for h in range(c):
                total -= A[a, h] * A[c, h]
            A[a, c] = total / A[c, c]
        total, error = A[a, a], x[a]
        for h in range(a):
            total -= A[a, h] * A[a, h]
            error -= A[a, h] * x[h]
        A[a, a] = np.sqrt(max(total, _LEAST))
        x[a] = error / A[a, a]
    for a in range(size - 1, -1, -1):
        total = x[a]
        for c in range(a + 1, size):
            total -= A[c, a] * x[c]
        x[a] = total / A[a, a]
        i = order[a]
        pull[i] += x[a]
        for j in range(n):
            d[j] += free[j] * J[i, j] * x[a]


@kernel(fastmath=_FAST)
def _solve_rest(
    J: np.ndarray,
    e: np.ndarray,
    sides: np.ndarray,
    weights: np.ndarray,
    first: np.ndarray,
    free: np.ndarray,
    order: np.ndarray,
    size: int,
    A: np.ndarray,
    pull: np.ndarray,
    d: np.ndarray,
) -> None:
    """The rows that are second in what the first leave free; A has the factor of the first.   [steps, 5]"""
    m, n = J.shape
    rest, y = np.empty((m, n)), np.empty(size)
    own = np.zeros(m, np.int64)
    count = 0
    for i in range(m):
        if first[i] or weights[i] == 0.0 or sides[i] != BOTH:
            continue
        # J2 N = J2 - (J2 S^-1 J1^T) (J1 S^-1 J1^T + W1^-1)^-1 J1
        for a in range(size):
            total = 0.0
            for j in range(n):
                total += J[i, j] * J[order[a], j] * free[j]
            for h in range(a):
                total -= A[a, h] * y[h]
            y[a] = total / A[a, a]
        for a in range(size - 1, -1, -1):
            total = y[a]
            for c in range(a + 1, size):
                total -= A[c, a] * y[c]
            y[a] = total / A[a, a]
        for j in range(n):
            rest[count, j] = J[i, j]
        for a in range(size):
            for j in range(n):
                rest[count, j] -= y[a] * J[order[a], j]
        own[count] = i
        count += 1
    B, x, late = np.empty((count, count)), np.empty(count), np.zeros(count)
    wants, heavy = np.empty(count), np.empty(count)
    for a in range(count):
        i = own[a]
        heavy[a], wants[a] = weights[i], e[i]
        for j in range(n):
            wants[a] += (rest[a, j] - J[i, j]) * d[j]  # `_solve` takes the rest of d off again
    line = np.arange(count)
    _solve(rest, wants, heavy, free, line, count, B, x, late, d)
    for a in range(count):
        pull[own[a]] += late[a]


@kernel(fastmath=_FAST)
def _change_sides(
    J: np.ndarray,
    e: np.ndarray,
    sides: np.ndarray,
    weights: np.ndarray,
    soft: np.ndarray,
    free: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    pushes: np.ndarray,
    locked: np.ndarray,
    pull: np.ndarray,
    b: np.ndarray,
    d: np.ndarray,
) -> int:
    """Hold angles that left their range and let go of those that would come back; the same of rows that push."""
    m, n = J.shape
    changed = 0
    for j in range(n):
        if free[j] > 0.0:
            if d[j] < low[j] - _SLACK or d[j] > high[j] + _SLACK:
                locked[j] = -1 if d[j] < low[j] else 1
                changed += 1
        else:
            want = b[j] - d[j]  # where it would go if it were free
            for i in range(m):
                want += soft[j] * J[i, j] * pull[i]
            if want * locked[j] < 0.0:
                locked[j] = 0
                changed += 1
    for i in range(m):
        if sides[i] == BELOW and weights[i] > 0.0:
            if pushes[i]:
                if pull[i] > 0.0:
                    pushes[i] = 0
                    changed += 1
            else:
                error = e[i]
                for j in range(n):
                    error -= J[i, j] * d[j]
                if error < -_OVER:
                    pushes[i] = 1
                    changed += 1
    return changed

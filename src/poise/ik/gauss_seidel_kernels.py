"""One linear system of all goals, solved row by row: compiled.

Each row i asks that the angles change by d with J_i d = e_i, weighed by w_i; what is not asked for is free, and free
angles go where they like best, b. The change of angles d is what makes

    sum_i w_i (J_i d - e_i)^2 + sum_j s_j (d_j - b_j)^2          least, with every angle in its range    [steps, 2]

s_j being the stiffness of angle j: the damping of [balance, 6], one a joint. That is the system J^T J d = J^T e of
[balance, 4] with both sides of row i weighed (see the errata of 9) and damped. It is solved by Gauss-Seidel over the
rows. With l_i what row i has put in so far,

    d = b + sum_i J_i^T l_i / s,      l_i += (e_i - J_i d - l_i / w_i) / (sum_j J_ij^2 / s_j + 1 / w_i)  [steps, 3]

after which each angle that has left its range is set back to its end, by a row of its own whose l keeps what that took.
Rows that only push (the edges of a support) keep the sign of their l. A heavy row makes 1 / w_i small and nothing else
worse: what is first costs no more sweeps than what is second.
"""

from __future__ import annotations

import numpy as np

from poise.spatial.compile import kernel

BOTH, BELOW = 0, 1  # J d = e, and J d <= e


@kernel(fastmath={"reassoc", "contract", "nsz"})
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
    stop: np.ndarray,
    d: np.ndarray,
    hefts: np.ndarray,
) -> int:
    """Gauss-Seidel over the rows; returns how many sweeps it took.   [steps, 3]

    J, e         (m, n) and (m,); sides (m,) BOTH or BELOW; weights (m,)
    soft         (n,) 1 / s; 0 for an angle that is locked
    low, high    (n,) what each angle may change by
    enough       of the largest change of a row's error in a sweep: below it the sweeps end
    pull, stop   (m,), (n,): l of the rows and of the ranges; kept from call to call
    d            (n,): b on entry, the solution on return
    hefts        (m,) room
    """
    m, n = J.shape
    for i in range(m):
        heft = 1.0 / weights[i]
        for j in range(n):
            heft += J[i, j] * J[i, j] * soft[j]
        hefts[i] = heft
        if pull[i] != 0.0:
            for j in range(n):
                d[j] += soft[j] * J[i, j] * pull[i]
    for j in range(n):
        d[j] += soft[j] * stop[j]
    for k in range(sweeps):
        worst = 0.0
        for i in range(m):
            error = e[i] - pull[i] / weights[i]
            for j in range(n):
                error -= J[i, j] * d[j]
            change = error / hefts[i]
            if sides[i] == BELOW:
                change = min(change, -pull[i])
            if change == 0.0:
                continue
            pull[i] += change
            worst = max(worst, abs(change) * hefts[i])
            for j in range(n):
                d[j] += soft[j] * J[i, j] * change
        for j in range(n):
            if soft[j] == 0.0:
                d[j] = 0.0
                continue
            free = d[j] - soft[j] * stop[j]
            inside = min(max(free, low[j]), high[j])
            stop[j] = (inside - free) / soft[j]
            d[j] = inside
        if worst < enough:
            return k + 1
    return sweeps


@kernel(fastmath={"reassoc", "contract", "nsz"})
def sweep_blocks(
    J: np.ndarray, e: np.ndarray, sides: np.ndarray, weights: np.ndarray, soft: np.ndarray, low: np.ndarray,
    high: np.ndarray, sweeps: int, pushes: np.ndarray, locked: np.ndarray, pull: np.ndarray, b: np.ndarray, d: np.ndarray,
) -> int:
    m, n = J.shape
    A = np.empty((m, m))
    order, x, free = np.empty(m, np.int64), np.empty(m), np.empty(n)
    for k in range(sweeps):
        size = 0
        for i in range(m):
            pull[i] = 0.0
            if weights[i] > 0.0 and (sides[i] == BOTH or pushes[i]):
                order[size] = i
                size += 1
        for j in range(n):
            if locked[j] != 0:
                free[j] = 0.0
                d[j] = low[j] if locked[j] < 0 else high[j]
            else:
                free[j] = soft[j]
                d[j] = b[j]
        for a in range(size):
            i = order[a]
            error = e[i]
            for j in range(n):
                error -= J[i, j] * d[j]
            x[a] = error
            for c in range(a + 1):
                h = order[c]
                total = 0.0
                for j in range(n):
                    total += J[i, j] * J[h, j] * free[j]
                A[a, c] = total
            A[a, a] += 1.0 / weights[i]
        for a in range(size):
            for c in range(a):
                total = A[a, c]
                for h in range(c):
                    total -= A[a, h] * A[c, h]
                A[a, c] = total / A[c, c]
            total = A[a, a]
            error = x[a]
            for h in range(a):
                total -= A[a, h] * A[a, h]
                error -= A[a, h] * x[h]
            A[a, a] = np.sqrt(max(total, 1e-14))
            x[a] = error / A[a, a]
        for a in range(size - 1, -1, -1):
            total = x[a]
            for c in range(a + 1, size):
                total -= A[c, a] * x[c]
            x[a] = total / A[a, a]
            pull[order[a]] = x[a]
        for a in range(size):
            i = order[a]
            for j in range(n):
                d[j] += free[j] * J[i, j] * x[a]
        changed = 0
        for j in range(n):
            if locked[j] == 0:
                if d[j] < low[j] - 1e-9:
                    locked[j] = -1
                    changed += 1
                elif d[j] > high[j] + 1e-9:
                    locked[j] = 1
                    changed += 1
        for j in range(n):
            if free[j] == 0.0:
                # what it would be if it were free
                want = b[j] - d[j]
                for a in range(size):
                    want += soft[j] * J[order[a], j] * x[a]
                if want * locked[j] < 0.0:
                    locked[j] = 0
                    changed += 1
        for i in range(m):
            if sides[i] == BELOW:
                if pushes[i]:
                    if pull[i] > 0.0:
                        pushes[i] = 0
                        changed += 1
                else:
                    error = e[i]
                    for j in range(n):
                        error -= J[i, j] * d[j]
                    if error < -1e-6:
                        pushes[i] = 1
                        changed += 1
        if changed == 0:
            return k + 1
    for j in range(n):
        d[j] = min(max(d[j], low[j]), high[j])
    return sweeps

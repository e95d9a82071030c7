"""The least of a convex quadratic function within ranges and rows: compiled.

    least  1/2 d^T H d + g^T d      with  A_i d = 0  or  A_i d <= t_i,   low <= d <= high                    [end, 3]

H positive definite, low <= 0 <= high and t >= 0, so that d = 0 is allowed and there always is an answer. With H = L L^T
and s = L^T d it asks for the s nearest to -L^-1 g, every row being L^-1 A_i, and that of an angle's range a column of
L^-1. From the nearest of all, the row that is left by most is gone to along what of it is across the rows that hold;
one whose multiplier comes to nothing on the way lets go. The distance grows with every row that is reached: it ends.

Source: the dual method of Goldfarb and Idnani (1983), on an orthogonal basis (`dynamics/qp/row_kernels.py`).
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.dynamics.qp.row_kernels import add_to, append, dot, remove, solve_upper, split

NOT, ZERO, MOST = 0, 1, 2  # of a row: it does not count, A d = 0, A d <= t
_LEAST = 1e-9  # of a pivot: with less, it is not positive definite
_DEPENDENT = 1e-18  # |v|^2 of a row of length 1 that is in the span of others
_OVER = 1e-10  # m or rad, by which a row may be left
_ROUNDS = 300


@kernel
def factor(H: np.ndarray, W: np.ndarray) -> bool:
    """Turn H (n, n), of which the lower half counts, into L, and set W (n, n) to L^-T; False: not positive definite."""
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
def _write_rows(W: np.ndarray, A: np.ndarray, kinds: np.ndarray, rows: np.ndarray, sizes: np.ndarray) -> None:
    """L^-1 of each range and row, of length 1: rows (n + m, n), and what they were divided by, sizes (n + m,)."""
    n = len(W)
    for j in range(n):
        rows[j] = W[j]
    for k in range(len(A)):
        rows[n + k] = 0.0
        if kinds[k] != NOT:
            for j in range(n):
                if A[k, j] != 0.0:
                    add_to(rows[n + k, j:], A[k, j], W[j, j:], n - j)
    for i in range(len(rows)):
        sizes[i] = max(np.sqrt(dot(rows[i], rows[i], n)), 1e-12)
        rows[i] /= sizes[i]


@kernel
def solve_quadratic(
    W: np.ndarray,
    g: np.ndarray,
    A: np.ndarray,
    kinds: np.ndarray,
    t: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    d: np.ndarray,
    pulls: np.ndarray,
    stops: np.ndarray,
) -> None:
    """Set d (n,), and multipliers with H d + g + A^T pulls = stops.   [end, 3]

    W            (n, n), see `factor`; g (n,)
    A, kinds, t  (m, n), (m,) NOT, ZERO or MOST, (m,)
    low, high    (n,)
    pulls        (m,), 0 or more of rows that are MOST
    stops        (n,), positive at a low end, negative at a high one
    """
    m, n = A.shape
    rows, sizes = np.empty((n + m, n)), np.empty(n + m)
    _write_rows(W, A, kinds, rows, sizes)
    Q, R, s, mu = np.empty((n, n)), np.empty((n, n)), np.zeros(n), np.zeros(n)
    members, side, state = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n + m, np.int64)
    along, r, v = np.empty(n), np.empty(n), np.empty(n)
    for j in range(n):  # s = -L^-1 g
        add_to(s[j:], -g[j], W[j, j:], n - j)
    k = 0
    for i in range(n, n + m):
        if kinds[i - n] != ZERO:
            continue
        square = split(Q, k, rows[i], along, v)
        if square > _DEPENDENT and k < n:
            far = -dot(rows[i], s, n) / square
            solve_upper(R, 0, k, along, r)
            add_to(s, far, v, n)
            add_to(mu, -far, r, k)
            append(Q, R, k, along, v, np.sqrt(square))
            members[k], mu[k] = i, far
            k += 1
    fixed, rounds = k, 0
    while rounds < _ROUNDS:
        row, way = _find_worst(rows, sizes, kinds, t, low, high, state, s)
        if row < 0:
            break
        own, goal = 0.0, (t[row - n] if row >= n else (low[row] if way > 0 else high[row])) / sizes[row]
        while rounds < _ROUNDS:
            rounds += 1
            square = split(Q, k, rows[row], along, v)
            is_in_span = not square > _DEPENDENT or k >= n
            solve_upper(R, 0, k, along, r)
            step, first = np.inf, -1
            for j in range(fixed, k):
                rate = way * r[j] * side[j]
                if rate > 0.0:
                    left = max(mu[j] * side[j], 0.0) / rate
                    if left < step:
                        step, first = left, j
            if is_in_span and first < 0:  # rounding: d = 0 is allowed
                state[row] = 2
                break
            whole = np.inf if is_in_span else max(way * (goal - dot(rows[row], s, n)), 0.0) / square
            far = min(step, whole)
            if not is_in_span:
                add_to(s, way * far, v, n)
            add_to(mu, -way * far, r, k)
            own += way * far
            if whole <= step:
                append(Q, R, k, along, v, np.sqrt(square))
                members[k], side[k], state[row], mu[k] = row, way, 1, own
                k += 1
                break
            state[members[first]] = 0
            remove(Q, R, k, first)
            for j in range(first, k - 1):
                members[j], side[j], mu[j] = members[j + 1], side[j + 1], mu[j + 1]
            k -= 1
    pulls[:], stops[:] = 0.0, 0.0
    for j in range(n):
        d[j] = min(max(sizes[j] * dot(rows[j, j:], s[j:], n - j), low[j]), high[j])
    for j in range(k):
        i = members[j]
        if i < n:
            stops[i] = mu[j] / sizes[i]
        else:
            pulls[i - n] = -mu[j] / sizes[i]


@kernel
def _find_worst(
    rows: np.ndarray, sizes: np.ndarray, kinds: np.ndarray, t: np.ndarray, low: np.ndarray, high: np.ndarray,
    state: np.ndarray, s: np.ndarray,
) -> tuple[int, int]:  # fmt: skip
    """The row that is left by most, and which way it is to be gone to; (-1, 0) where none is."""
    n, row, way, most = len(s), -1, 0, _OVER
    for i in range(len(rows)):
        if state[i] != 0 or (i >= n and kinds[i - n] != MOST):
            continue
        value = sizes[i] * dot(rows[i], s, n)
        over = value - (high[i] if i < n else t[i - n])
        if over > most:
            row, way, most = i, -1, over
        if i < n and low[i] - value > most:
            row, way, most = i, 1, low[i] - value
    return row, way

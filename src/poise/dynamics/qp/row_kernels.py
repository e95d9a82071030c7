"""Rows that come and go, kept orthogonal: a QR factorisation that is updated, not made anew.

    M^T = Q^T R    M (k, N) the rows as they came, Q (k, N) orthonormal rows, R (k, k) upper triangular

Q and R are given with room for N rows. Column j of R is kept as the row R[j, :j + 1], so that every loop runs along
memory. A row comes by Gram-Schmidt, again where most of it cancels ("twice is enough"), and goes by plane rotations:
Daniel, Gragg, Kaufman and Stewart (1976). Each is O(k N), and as exact as reflections are.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel

# |v|^2 over |a|^2 below which a row is made orthogonal once more; above, it is so to ten roundings.
_MOSTLY = 0.01
# Sums may be taken in another order, to have several at once; what is not finite stays so.
_ANY_ORDER = {"reassoc", "nsz"}


@kernel(fastmath=_ANY_ORDER)
def dot(a: np.ndarray, b: np.ndarray, n: int) -> float:
    """Sum of a_i b_i over the first n."""
    total = 0.0
    for i in range(n):
        total += a[i] * b[i]
    return total


@kernel
def add_to(out: np.ndarray, factor: float, a: np.ndarray, n: int) -> None:
    """Add factor a_i to out_i for the first n."""
    for i in range(n):
        out[i] += factor * a[i]


@kernel
def split(Q: np.ndarray, k: int, a: np.ndarray, d: np.ndarray, v: np.ndarray) -> float:
    """Part a (N,) into Q^T d, along the k rows that are there, and v (N,), across them; returns |v|^2."""
    size = len(v)
    for i in range(size):
        v[i] = a[i]
    before = dot(v, v, size)
    for j in range(k):
        d[j] = dot(Q[j], v, size)
        add_to(v, -d[j], Q[j], size)
    left = dot(v, v, size)
    for _ in range(2):
        if left >= _MOSTLY * before:
            break
        before = left
        for j in range(k):
            more = dot(Q[j], v, size)
            d[j] += more
            add_to(v, -more, Q[j], size)
        left = dot(v, v, size)
    return left


@kernel
def append(Q: np.ndarray, R: np.ndarray, k: int, d: np.ndarray, v: np.ndarray, length: float) -> None:
    """Take in the row that `split` parted into d and v, whose length is |v|, as row k."""
    for i in range(len(v)):
        Q[k, i] = v[i] / length
    for j in range(k):
        R[k, j] = d[j]
    R[k, k] = length


@kernel
def remove(Q: np.ndarray, R: np.ndarray, k: int, p: int) -> None:
    """Let row p of k go; those after it move up."""
    for j in range(p, k - 1):
        for i in range(j + 2):
            R[j, i] = R[j + 1, i]
    size = Q.shape[1]
    for i in range(p, k - 1):
        # a rotation of rows i and i + 1 of R that makes R[i + 1, i] nothing, in the storage R[i, i + 1]
        a, b = R[i, i], R[i, i + 1]
        length = np.hypot(a, b)
        c, s = (a / length, b / length) if length > 0.0 else (1.0, 0.0)
        R[i, i] = length
        for j in range(i + 1, k - 1):
            a, b = R[j, i], R[j, i + 1]
            R[j, i], R[j, i + 1] = c * a + s * b, c * b - s * a
        upper, lower = Q[i], Q[i + 1]
        for j in range(size):
            a, b = upper[j], lower[j]
            upper[j], lower[j] = c * a + s * b, c * b - s * a


@kernel
def solve_upper(R: np.ndarray, first: int, k: int, d: np.ndarray, r: np.ndarray) -> None:
    """Set r = R^-1 d, of the rows from `first` to k; those before are not needed for it."""
    for j in range(first, k):
        r[j] = d[j]
    for j in range(k - 1, first - 1, -1):
        r[j] /= R[j, j]
        add_to(r[first:], -r[j], R[j, first:], j - first)


@kernel
def solve_lower(R: np.ndarray, k: int, c: np.ndarray, y: np.ndarray) -> None:
    """Set y (k,) = R^-T c."""
    for j in range(k):
        y[j] = (c[j] - dot(R[j], y, j)) / R[j, j]


@kernel
def factor_square(M: np.ndarray, n: int, order: np.ndarray) -> bool:
    """Turn M (n, n) into its LU factors with rows in an order (n,); False where it is singular."""
    largest = 0.0
    for i in range(n):
        order[i] = i
        for j in range(n):
            largest = max(largest, abs(M[i, j]))
    if not largest > 0.0:
        return False
    for j in range(n):
        best = j
        for i in range(j + 1, n):
            if abs(M[i, j]) > abs(M[best, j]):
                best = i
        if best != j:
            order[j], order[best] = order[best], order[j]
            for i in range(n):
                M[j, i], M[best, i] = M[best, i], M[j, i]
        if not abs(M[j, j]) > 1e-300 + 1e-16 * largest * 1e-4:
            return False
        for i in range(j + 1, n):
            M[i, j] /= M[j, j]
            add_to(M[i, j + 1 :], -M[i, j], M[j, j + 1 :], n - j - 1)
    return True


@kernel
def solve_square(M: np.ndarray, n: int, order: np.ndarray, c: np.ndarray, x: np.ndarray) -> None:
    """Set x (n,) to what M, as `factor_square` left it, makes of c (n,)."""
    for i in range(n):
        x[i] = c[order[i]] - dot(M[i], x, i)
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - dot(M[i, i + 1 :], x[i + 1 :], n - i - 1)) / M[i, i]

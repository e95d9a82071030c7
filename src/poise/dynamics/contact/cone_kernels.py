"""Contacts that neither give way nor pull: the velocities after a step, and the impulses that make them so.

Of all velocities u (N,) of a scene those are wanted that are nearest to what would be without contact, u0, by the
kinetic energy of the difference, while every contact i (its velocity c_i = J_i u + t_i, the normal first) keeps
Coulomb's law: its impulse f_i is in the cone |f_t| <= mu f_n; it pushes only where the gap closes, and holds or drags
against the sliding. With De Saxce's correction, c_n + mu |c_t| in place of c_n, that is the cone of a convex problem

    minimise  1/2 (u - u0)^T M (u - u0)      with  c_i + mu |c_t| e_n  in the cone dual to f_i's

which is solved by the method of multipliers: f = P(f - rho c), P the nearest point of the cone, over and over, each
time with the u that goes with it: u - u0 = M^-1 J^T y, where y (P, 3) are impulses with

    y = P(f - rho c(y)),  c = J u0 + t + W y,  W = J M^-1 J^T

by Newton's method. So a step costs what contacts cost that push, not what the body's freedoms do. With mu |c_t| of the
round before, y is where a convex function is least, which always comes to an end; where something slides that is slow,
and mu |c_t| goes into Newton's method itself as soon as that ends. Of contacts that slide against each other so that
Coulomb's law has no answer, or several, the last round's stands. Two bodies of one scene that do not touch do not
notice each other. Nothing is softened: what stands does not sink, and what is at rest stays so for hours.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel

_ROUNDS, _STEPS, _HALVES = 30, 30, 12  # of multipliers, of Newton's in each, and how often one of those is halved
_STILL = 1e-6  # m/s: what slides slower counts as hardly sliding, so that what holds is no kink


@kernel(fastmath=True)
def factor(A: np.ndarray, n: int) -> bool:
    """Cholesky's L with L L^T = A into the lower half of A (n, n), in place; False where A is not positive."""
    for i in range(n):
        for j in range(i + 1):
            total = A[i, j]
            for k in range(j):
                total -= A[i, k] * A[j, k]
            if i == j:
                if not total > 0.0:
                    return False
                A[i, i] = np.sqrt(total)
            else:
                A[i, j] = total / A[j, j]
    return True


@kernel(fastmath=True)
def solve_factored(L: np.ndarray, n: int, x: np.ndarray) -> None:
    """X becomes (L L^T)^-1 x."""
    for i in range(n):
        total = x[i]
        for k in range(i):
            total -= L[i, k] * x[k]
        x[i] = total / L[i, i]
    for i in range(n - 1, -1, -1):
        x[i] /= L[i, i]
        for k in range(i):
            x[k] -= L[i, k] * x[i]


@kernel
def project(z: np.ndarray, mu: float, f: np.ndarray) -> int:
    """F (3,), the nearest point to z of the cone |f_t| <= mu f_n: 0 its tip, 1 on its side, 2 z itself."""
    r = np.sqrt(z[1] * z[1] + z[2] * z[2])
    if z[0] >= 0.0 and r <= mu * z[0]:
        f[0], f[1], f[2] = z[0], z[1], z[2]
        return 2
    if mu * r <= -z[0]:
        f[0], f[1], f[2] = 0.0, 0.0, 0.0
        return 0
    f[0] = (z[0] + mu * r) / (1.0 + mu * mu)
    f[1], f[2] = mu * f[0] * z[1] / r, mu * f[0] * z[2] / r
    return 1


@kernel
def _slope(z: np.ndarray, mu: float, f: np.ndarray, where: int, D: np.ndarray) -> None:
    """D (3, 3): how the nearest point f of the cone follows z."""
    D[:] = 0.0
    if where == 2:
        D[0, 0] = D[1, 1] = D[2, 2] = 1.0
    elif where == 1:
        r = np.sqrt(z[1] * z[1] + z[2] * z[2])
        a, b, s = z[1] / r, z[2] / r, 1.0 / (1.0 + mu * mu)
        D[0, 0] = s
        D[0, 1] = D[1, 0] = s * mu * a
        D[0, 2] = D[2, 0] = s * mu * b
        along, aside = s * mu * mu, mu * f[0] / r
        D[1, 1] = along * a * a + aside * b * b
        D[2, 2] = along * b * b + aside * a * a
        D[1, 2] = D[2, 1] = (along - aside) * a * b


@kernel(fastmath=True)
def factor_back(M: np.ndarray, n: int) -> bool:
    """L with L^T L = M into the lower half of M (n, n), in place; False where M is not positive.

    From the last row up: of a tree's inertia, where a freedom comes after those that carry it, what is zero stays so.
    """
    for i in range(n - 1, -1, -1):
        if not M[i, i] > 0.0:
            return False
        M[i, i] = np.sqrt(M[i, i])
        for j in range(i):
            M[i, j] /= M[i, i]
        for j in range(i):
            x = M[i, j]
            if x != 0.0:
                for k in range(j + 1):
                    M[j, k] -= x * M[i, k]
    return True


@kernel(fastmath=True)
def solve_up(L: np.ndarray, n: int, x: np.ndarray) -> None:
    """X becomes L^-T x, with L of `factor_back`."""
    for i in range(n - 1, -1, -1):
        if x[i] != 0.0:
            x[i] /= L[i, i]
            for k in range(i):
                x[k] -= L[i, k] * x[i]


@kernel(fastmath=True)
def solve_down(L: np.ndarray, n: int, x: np.ndarray) -> None:
    """X becomes L^-1 x."""
    for i in range(n):
        total = x[i]
        for k in range(i):
            total -= L[i, k] * x[k]
        x[i] = total / L[i, i]


@kernel(fastmath=True)
def _eliminate(A: np.ndarray, n: int, x: np.ndarray) -> bool:
    """X (n,) becomes A^-1 x; A (n, n) is used up. False where A has no inverse."""
    for i in range(n):
        best = i
        for j in range(i + 1, n):
            if abs(A[j, i]) > abs(A[best, i]):
                best = j
        if not abs(A[best, i]) > 0.0:
            return False
        if best != i:
            x[i], x[best] = x[best], x[i]
            for k in range(i, n):
                A[i, k], A[best, k] = A[best, k], A[i, k]
        for j in range(i + 1, n):
            share = A[j, i] / A[i, i]
            if share != 0.0:
                for k in range(i + 1, n):
                    A[j, k] -= share * A[i, k]
                x[j] -= share * x[i]
    for i in range(n - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, n):
            total -= A[i, k] * x[k]
        x[i] = total / A[i, i]
    return True


@kernel
def _measure(
    W: np.ndarray, c0: np.ndarray, mu: np.ndarray, f: np.ndarray, rho: float, drag: np.ndarray, is_live: bool,
    y: np.ndarray, c: np.ndarray, p: np.ndarray, z: np.ndarray, where: np.ndarray,
) -> float:  # fmt: skip
    """Velocities c (P, 3), z (P, 3) and its nearest points p (P, 3) that go with y; the value that is lowered.

    is_live  what slides corrects its contact at once, and the value is |y - p|^2; else by drag (P,), and it is convex
    """
    count, value = len(mu), 0.0
    flat = y.reshape(-1)
    for i in range(count):
        for a in range(3):
            total = 0.0
            for k in range(3 * count):
                total += W[3 * i + a, k] * flat[k]
            c[i, a] = c0[i, a] + total
            if not is_live:
                value += 0.5 * y[i, a] * total
        slide = drag[i]
        if is_live:
            slide = mu[i] * (np.sqrt(c[i, 1] * c[i, 1] + c[i, 2] * c[i, 2] + _STILL * _STILL) - _STILL)
        z[i, 0] = f[i, 0] - rho * (c[i, 0] + slide)
        z[i, 1], z[i, 2] = f[i, 1] - rho * c[i, 1], f[i, 2] - rho * c[i, 2]
        where[i] = project(z[i], mu[i], p[i])
        for a in range(3):
            value += (y[i, a] - p[i, a]) ** 2 if is_live else p[i, a] ** 2 / (2.0 * rho)
    return value


@kernel
def _find_step(
    W: np.ndarray, mu: np.ndarray, rho: float, is_live: bool, y: np.ndarray, c: np.ndarray, p: np.ndarray,
    z: np.ndarray, where: np.ndarray, A: np.ndarray, rhs: np.ndarray, rows: np.ndarray, step: np.ndarray,
) -> bool:  # fmt: skip
    """Newton's step (P, 3) of y = p(y); contacts at the tip of their cones are known, and left out of the system."""
    count, size, D = len(mu), 0, np.empty((3, 3))
    for i in range(count):
        if where[i] == 0:
            for a in range(3):
                step[i, a] = -y[i, a]
        else:
            for a in range(3):
                rows[size] = 3 * i + a
                size += 1
    flat = step.reshape(-1)
    for m in range(0, size, 3):
        i = rows[m] // 3
        _slope(z[i], mu[i], p[i], where[i], D)
        s1, s2 = 0.0, 0.0
        if is_live:
            slide = np.sqrt(c[i, 1] ** 2 + c[i, 2] ** 2 + _STILL * _STILL)
            s1, s2 = mu[i] * c[i, 1] / slide, mu[i] * c[i, 2] / slide
        for a in range(3):
            # what a unit of each row's y does to z, through D
            d0, d1, d2 = rho * D[a, 0], rho * D[a, 1] + rho * D[a, 0] * s1, rho * D[a, 2] + rho * D[a, 0] * s2
            total = p[i, a] - y[i, a]
            for k in range(count):
                if where[k] == 0:
                    for b in range(3):
                        j = 3 * k + b
                        total -= (d0 * W[3 * i, j] + d1 * W[3 * i + 1, j] + d2 * W[3 * i + 2, j]) * flat[j]
            rhs[m + a] = total
            for k in range(size):
                j = rows[k]
                A[m + a, k] = d0 * W[3 * i, j] + d1 * W[3 * i + 1, j] + d2 * W[3 * i + 2, j]
            A[m + a, m + a] += 1.0
    if not _eliminate(A[:size, :size], size, rhs):
        return False
    for m in range(size):
        flat[rows[m]] = rhs[m]
    return True


@kernel
def _settle(
    W: np.ndarray, c0: np.ndarray, mu: np.ndarray, f: np.ndarray, rho: float, drag: np.ndarray, is_live: bool,
    y: np.ndarray, p: np.ndarray, exact: float,
) -> bool:  # fmt: skip
    """Find y = p(y) by Newton's method, to `exact` N s; False where it comes to no end."""
    count = len(mu)
    c, z, where, step = np.empty((count, 3)), np.empty((count, 3)), np.zeros(count, np.int64), np.empty((count, 3))
    A, rhs, rows = np.empty((3 * count, 3 * count)), np.empty(3 * count), np.empty(3 * count, np.int64)
    trial, best = np.empty((count, 3)), np.empty((count, 3))
    value = _measure(W, c0, mu, f, rho, drag, is_live, y, c, p, z, where)
    for _ in range(_STEPS):
        off = 0.0
        for i in range(count):
            for a in range(3):
                off = max(off, abs(y[i, a] - p[i, a]))
        if off <= exact:
            return True
        if not _find_step(W, mu, rho, is_live, y, c, p, z, where, A, rhs, rows, step):
            return False
        best[:] = y
        length, lower = 1.0, np.inf
        for _ in range(_HALVES):
            for i in range(count):
                for a in range(3):
                    trial[i, a] = best[i, a] + length * step[i, a]
            lower = _measure(W, c0, mu, f, rho, drag, is_live, trial, c, p, z, where)
            if lower < value:
                break
            length *= 0.5
        if not lower < value:
            _measure(W, c0, mu, f, rho, drag, is_live, y, c, p, z, where)
            return not is_live
        y[:], value = trial, lower
    return False


@kernel(fastmath=True)
def _compose(L: np.ndarray, u0: np.ndarray, J: np.ndarray, t: np.ndarray, Y: np.ndarray, W: np.ndarray,
             c0: np.ndarray) -> None:  # fmt: skip
    """Y = L^-T J^T as rows, W = J M^-1 J^T and c0 = J u0 + t."""
    n = len(u0)
    for i in range(len(J)):
        total = t[i // 3, i % 3]
        for k in range(n):
            Y[i, k] = J[i, k]
            total += J[i, k] * u0[k]
        c0[i // 3, i % 3] = total
        solve_up(L, n, Y[i])
        for j in range(i + 1):
            total = 0.0
            for k in range(n):
                total += Y[i, k] * Y[j, k]
            W[i, j] = W[j, i] = total


@kernel
def solve_factored_contacts(
    L: np.ndarray, u0: np.ndarray, J: np.ndarray, t: np.ndarray, mu: np.ndarray, rho: float, f: np.ndarray,
    u: np.ndarray, tolerance: float,
) -> int:  # fmt: skip
    """Write u (N,) and f (P, 3) N s; return how many rounds it took.

    L (N, N) of `factor_back`, u0 (N,), J (3 P, N), t (P, 3) m/s, mu (P,): see above;  rho kg;  f: where to begin
    tolerance  N s, by which impulses still change
    """
    n, count, turns = len(u), len(mu), 0
    u[:] = u0
    if count == 0:
        return 0
    Y, W, c0 = np.empty((3 * count, n)), np.empty((3 * count, 3 * count)), np.empty((count, 3))
    _compose(L, u0, J, t, Y, W, c0)
    y, p, drag, c = f.copy(), np.empty((count, 3)), np.zeros(count), np.empty((count, 3))
    z, where = np.empty((count, 3)), np.zeros(count, np.int64)
    exact, is_live, fixed = 0.01 * tolerance, False, 0
    for _ in range(_ROUNDS):
        turns += 1
        before = y.copy()
        if is_live and not _settle(W, c0, mu, f, rho, drag, True, y, p, exact):
            # slides that come to no end: by what they were in the round before, which always does
            is_live = False
            y[:] = before
            _measure(W, c0, mu, f, rho, drag, True, y, c, p, z, where)
            for i in range(count):
                drag[i] = mu[i] * np.sqrt(c[i, 1] ** 2 + c[i, 2] ** 2) if y[i, 0] > 0.0 else 0.0
        if not is_live:
            fixed += 1
            _settle(W, c0, mu, f, rho, drag, False, y, p, exact)
        change = 0.0
        for i in range(count):
            for a in range(3):
                change = max(change, abs(p[i, a] - f[i, a]))
                f[i, a] = y[i, a] = p[i, a]
        if not is_live:
            slides = False
            _measure(W, c0, mu, f, rho, drag, False, y, c, p, z, where)
            for i in range(count):
                slide = mu[i] * np.sqrt(c[i, 1] ** 2 + c[i, 2] ** 2) if f[i, 0] > 0.0 else 0.0
                change = max(change, 1e-3 * rho * abs(slide - drag[i]))
                slides = slides or abs(slide - drag[i]) > _STILL
                drag[i] = slide
            is_live = fixed % 3 == 1 and slides
        if change <= tolerance:
            break
    total = np.zeros(n)
    for i in range(3 * count):
        x = f[i // 3, i % 3]
        if x != 0.0:
            for k in range(n):
                total[k] += x * Y[i, k]
    solve_down(L, n, total)
    for k in range(n):
        u[k] = u0[k] + total[k]
    return turns

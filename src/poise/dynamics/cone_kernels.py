"""Contacts that neither give way nor pull: the velocities after a step, and the impulses that make them so.

Of all velocities u (N,) of a scene those are wanted that are nearest to what would be without contact, u0, by the
kinetic energy of the difference, while every contact i (its velocity c_i = J_i u + t_i, the normal first) keeps
Coulomb's law: its impulse f_i is in the cone |f_t| <= mu f_n; it pushes only where the gap closes, and holds or drags
against the sliding. With De Saxce's correction, c_n + mu |c_t| in place of c_n, that is the cone of a convex problem

    minimise  1/2 (u - u0)^T M (u - u0)      with  c_i + mu |c_t| e_n  in the cone dual to f_i's

which is solved by the method of multipliers: f = P(f - rho c), P the nearest point of the cone, over and over, each
time with the u that goes with it, by Newton's method on

    1/2 (u - u0)^T M (u - u0) + sum |P(f_i - rho c_i)|^2 / (2 rho)

which is convex and smooth. mu |c_t| is that of the round before; of contacts that slide against each other so that
Coulomb's law has no answer, or several, the last round's stands. Two bodies of one scene that do not touch do not
notice each other. Nothing is softened: what stands does not sink, and what is at rest stays so for hours.
"""

from __future__ import annotations

import numpy as np

from poise.spatial.compile import kernel

_ROUNDS, _STEPS = 30, 30  # of multipliers, and of Newton's in each


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


@kernel
def _measure(
    M: np.ndarray, u: np.ndarray, u0: np.ndarray, J: np.ndarray, t: np.ndarray, mu: np.ndarray, f: np.ndarray,
    rho: float, drag: np.ndarray, p: np.ndarray, z: np.ndarray, where: np.ndarray, Md: np.ndarray,
) -> float:  # fmt: skip
    """The value that Newton's method lowers; p (P, 3), z (P, 3), where (P,) and Md = M (u - u0) go with it."""
    n, value = len(u), 0.0
    for i in range(n):
        total = 0.0
        for k in range(n):
            total += M[i, k] * (u[k] - u0[k])
        Md[i] = total
        value += 0.5 * total * (u[i] - u0[i])
    for i in range(len(mu)):
        for a in range(3):
            c = t[i, a]
            for k in range(n):
                c += J[3 * i + a, k] * u[k]
            z[i, a] = f[i, a] - rho * (c + (drag[i] if a == 0 else 0.0))
        where[i] = project(z[i], mu[i], p[i])
        value += (p[i, 0] ** 2 + p[i, 1] ** 2 + p[i, 2] ** 2) / (2.0 * rho)
    return value


@kernel
def solve_contacts(
    M: np.ndarray, u0: np.ndarray, J: np.ndarray, t: np.ndarray, mu: np.ndarray, rho: float, f: np.ndarray,
    u: np.ndarray, tolerance: float,
) -> int:  # fmt: skip
    """Write u (N,) and f (P, 3) N s; returns how many rounds it took, -1 where M is not positive.

    M (N, N), u0 (N,), J (3 P, N), t (P, 3) m/s, mu (P,): see above;  rho kg;  f: where to begin
    tolerance  N s, by which impulses still change
    """
    n, count = len(u), len(mu)
    A, step, Md, D = np.empty((n, n)), np.empty(n), np.empty(n), np.empty((3, 3))
    p, z, where, drag = np.zeros((count, 3)), np.zeros((count, 3)), np.zeros(count, np.int64), np.zeros(count)
    trial, tp, tz = np.empty(n), np.zeros((count, 3)), np.zeros((count, 3))
    tw, tMd, row = np.zeros(count, np.int64), np.empty(n), np.empty((3, n))
    u[:] = u0
    if count == 0:
        return 0
    for turn in range(_ROUNDS):
        value = _measure(M, u, u0, J, t, mu, f, rho, drag, p, z, where, Md)
        for _ in range(_STEPS):
            # gradient and generalised Hessian
            size, scale = 0.0, 0.0
            for k in range(n):
                g = Md[k]
                for i in range(count):
                    g -= J[3 * i, k] * p[i, 0] + J[3 * i + 1, k] * p[i, 1] + J[3 * i + 2, k] * p[i, 2]
                step[k] = -g
                size = max(size, abs(g))
                scale = max(scale, abs(Md[k]))
            if size <= 1e-12 * (scale + 1e-9):
                break
            for i in range(n):
                for k in range(i + 1):
                    A[i, k] = M[i, k]
            for i in range(count):
                if where[i] == 0:
                    continue
                _slope(z[i], mu[i], p[i], where[i], D)
                for a in range(3):
                    for k in range(n):
                        row[a, k] = rho * (
                            D[a, 0] * J[3 * i, k] + D[a, 1] * J[3 * i + 1, k] + D[a, 2] * J[3 * i + 2, k]
                        )
                for a in range(3):
                    for j in range(n):
                        x = J[3 * i + a, j]
                        if x != 0.0:
                            for k in range(j + 1):
                                A[j, k] += x * row[a, k]
            if not factor(A, n):
                return -1
            solve_factored(A, n, step)
            length, lower = 1.0, 0.0
            for _ in range(30):
                for k in range(n):
                    trial[k] = u[k] + length * step[k]
                lower = _measure(M, trial, u0, J, t, mu, f, rho, drag, tp, tz, tw, tMd)
                if lower <= value:
                    break
                length *= 0.5
            if not lower <= value:
                break
            gained = value - lower
            u[:], p[:], z[:], where[:], Md[:], value = trial, tp, tz, tw, tMd, lower
            if gained <= 1e-16 * abs(value):
                break
        change = 0.0
        for i in range(count):
            for a in range(3):
                change = max(change, abs(p[i, a] - f[i, a]))
                f[i, a] = p[i, a]
            # what slides, for the next round
            ct1, ct2 = t[i, 1], t[i, 2]
            for k in range(n):
                ct1 += J[3 * i + 1, k] * u[k]
                ct2 += J[3 * i + 2, k] * u[k]
            slide = mu[i] * np.sqrt(ct1 * ct1 + ct2 * ct2)
            # where nothing pushes there is no friction to correct
            slide = slide if f[i, 0] > 0.0 else 0.0
            change = max(change, 1e-3 * rho * abs(slide - drag[i]))
            drag[i] = slide
        if change <= tolerance:
            return turn + 1
    return _ROUNDS

"""Rigid contacts with Coulomb friction: the velocities after a step, and the impulses that cause them.

Of all velocities u (N,) of a scene, find those nearest to the velocities without contact, u0, by the kinetic energy of
the difference, for which every contact i (its velocity c_i = J_i u + t_i, normal first) obeys Coulomb's law: its
impulse f_i is in the cone |f_t| <= mu f_n; it pushes only where the gap closes, and holds or drags against the sliding.
With De Saxce's correction, c_n + mu |c_t| in place of c_n, this is the cone of a convex problem

    minimise  1/2 (u - u0)^T M (u - u0)      with  c_i + mu |c_t| e_n  in the cone dual to f_i's             [1]

which is solved by the method of multipliers: f = P(f - rho c) is repeated, with P the nearest point of the cone, each
time with the u that belongs to it: u - u0 = M^-1 J^T y, where y (P, 3) are impulses with

    y = P(f - rho c(y)),  c = J u0 + t + W y,  W = J M^-1 J^T                                                 [2]

found by Newton's method. A step therefore costs what the contacts cost that push, not the body's degrees of freedom.
With mu |c_t| of the previous round, y minimises a convex function, and Newton's method always ends; if something
slides, that converges slowly, and mu |c_t| enters Newton's method itself as soon as the first round has ended. If
contacts slide against each other so that Coulomb's law has no answer, or several, the last round's impulses are kept.
Two bodies of one scene that do not touch do not influence each other. Nothing is softened: what stands does not sink,
and what is at rest stays at rest for hours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.compiled.kernel import kernel

# Most rounds of multipliers, Newton steps in each, and halvings of a Newton step. Not swept.
_ROUNDS, _STEPS, _HALVES = 30, 30, 12
# m/s: slower sliding is smoothed, so that a contact that holds is not a kink. Not swept.
_STILL = 1e-6


class ConeContacts(NamedTuple):
    """Contacts of a scene of N velocities.

    J    (3 P, N) their velocities are J u + t, the normal first of three rows
    t    (P, 3) m/s
    mu   (P,) friction
    rho  kg, step of the method of multipliers
    """

    J: np.ndarray
    t: np.ndarray
    mu: np.ndarray
    rho: float


class ConeProblem(NamedTuple):
    """The problem in impulses, [2], in one round of multipliers.

    W    (3 P, 3 P) 1/kg;  c0 (P, 3) m/s, velocities without impulses;  mu, rho: see `ConeContacts`
    f    (P, 3) N s, multipliers
    drag (P,) m/s, mu |c_t| of the previous round
    """

    W: np.ndarray
    c0: np.ndarray
    mu: np.ndarray
    rho: float
    f: np.ndarray
    drag: np.ndarray


class ConeState(NamedTuple):
    """Velocities and nearest points of the cones for impulses y.

    c      (P, 3) m/s, velocities
    z      (P, 3) N s, f - rho c, corrected
    p      (P, 3) N s, nearest points of the cones to z
    where  (P,) 0: p is the tip of its cone, 1: on its side, 2: z itself
    """

    c: np.ndarray
    z: np.ndarray
    p: np.ndarray
    where: np.ndarray


class NewtonSystem(NamedTuple):
    """Memory of a Newton step: a system A x = rhs of some rows, and the step (P, 3)."""

    A: np.ndarray
    rhs: np.ndarray
    rows: np.ndarray
    step: np.ndarray


@kernel
def solve_factored_contacts(
    L: np.ndarray, u0: np.ndarray, contacts: ConeContacts, f: np.ndarray, u: np.ndarray, tolerance: float
) -> int:
    """Write u (N,) and f (P, 3) N s; return the number of rounds.

    L (N, N) of `factor_back`;  u0 (N,), velocities without contact;  f: where to begin
    tolerance  N s, change of impulses at which the search ends
    """
    n, count, mu, rounds = len(u), len(contacts.mu), contacts.mu, 0
    u[:] = u0
    if count == 0:
        return 0
    Y, W, c0 = np.empty((3 * count, n)), np.empty((3 * count, 3 * count)), np.empty((count, 3))
    _compose(L, u0, contacts.J, contacts.t, Y, W, c0)
    problem = ConeProblem(W, c0, mu, contacts.rho, f, np.zeros(count))
    y, p, where = f.copy(), np.empty((count, 3)), np.zeros(count, np.int64)
    state = ConeState(np.empty((count, 3)), np.empty((count, 3)), p, where)
    exact, is_live, fixed = 0.01 * tolerance, False, 0
    for _ in range(_ROUNDS):
        rounds += 1
        if is_live:
            is_live = _settle_live(problem, y, state, exact)
        if not is_live:
            fixed += 1
            _settle(problem, False, y, state, exact)
        change = 0.0
        for i in range(count):
            for a in range(3):
                change = max(change, abs(p[i, a] - f[i, a]))
                f[i, a] = y[i, a] = p[i, a]
        if not is_live:
            _measure(problem, y, state, False)
            late = _set_drag(problem, f, state)
            change = max(change, 1e-3 * contacts.rho * late)
            is_live = fixed % 3 == 1 and late > _STILL
        if change <= tolerance:
            break
    _add_impulses(L, Y, f, u)
    return rounds


@kernel
def _settle_live(problem: ConeProblem, y: np.ndarray, state: ConeState, exact: float) -> bool:
    """Find y with sliding as part of Newton's method; if that does not end, restore y, set drag and return False."""
    before = y.copy()
    if _settle(problem, True, y, state, exact):
        return True
    y[:] = before
    _measure(problem, y, state, True)
    _set_drag(problem, y, state)
    return False


@kernel
def _set_drag(problem: ConeProblem, impulse: np.ndarray, state: ConeState) -> float:
    """Set drag to mu |c_t| of contacts that push, by their impulses (P, 3); return by how much it changes at most."""
    c, mu, drag, most = state.c, problem.mu, problem.drag, 0.0
    for i in range(len(mu)):
        slide = mu[i] * np.sqrt(c[i, 1] ** 2 + c[i, 2] ** 2) if impulse[i, 0] > 0.0 else 0.0
        most = max(most, abs(slide - drag[i]))
        drag[i] = slide
    return most


@kernel
def _add_impulses(L: np.ndarray, Y: np.ndarray, f: np.ndarray, u: np.ndarray) -> None:
    """Add the velocities of impulses f (P, 3) to u (N,); Y is of `_compose`."""
    n = len(u)
    total = np.zeros(n)
    for i in range(len(Y)):
        x = f[i // 3, i % 3]
        if x != 0.0:
            for k in range(n):
                total[k] += x * Y[i, k]
    solve_down(L, n, total)
    for k in range(n):
        u[k] += total[k]


@kernel(fastmath=True)
def factor(A: np.ndarray, n: int) -> bool:
    """Write Cholesky's L, L L^T = A, into the lower half of A (n, n); return False if A is not positive definite."""
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
    """Replace x by (L L^T)^-1 x."""
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
    """Write the point f (3,) of the cone |f_t| <= mu f_n nearest to z; return 0: tip, 1: on its side, 2: z itself."""
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
    """Write D (3, 3), the derivative of the cone's nearest point f by z."""
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
    """Write L, L^T L = M, into the lower half of M (n, n); return False if M is not positive definite.

    From the last row up: in a tree's inertia, where a degree of freedom comes after those that carry it, zeros stay.
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
    """Replace x by L^-T x, with L of `factor_back`."""
    for i in range(n - 1, -1, -1):
        if x[i] != 0.0:
            x[i] /= L[i, i]
            for k in range(i):
                x[k] -= L[i, k] * x[i]


@kernel(fastmath=True)
def solve_down(L: np.ndarray, n: int, x: np.ndarray) -> None:
    """Replace x by L^-1 x."""
    for i in range(n):
        total = x[i]
        for k in range(i):
            total -= L[i, k] * x[k]
        x[i] = total / L[i, i]


@kernel(fastmath=True)
def _eliminate(A: np.ndarray, n: int, x: np.ndarray) -> bool:
    """Replace x (n,) by A^-1 x and destroy A (n, n); return False if A is singular."""
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
def _measure(problem: ConeProblem, y: np.ndarray, state: ConeState, is_live: bool) -> float:
    """Write the state that belongs to y; return the value that Newton's method lowers.

    is_live  sliding corrects its contact at once, and the value is |y - p|^2; else drag does, and it is convex
    """
    W, c0, mu, rho, f, drag = problem.W, problem.c0, problem.mu, problem.rho, problem.f, problem.drag
    c, z, p, where = state.c, state.z, state.p, state.where
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
def _find_step(problem: ConeProblem, y: np.ndarray, state: ConeState, is_live: bool, system: NewtonSystem) -> bool:
    """Write Newton's step of y = p(y); return False if there is none.

    Contacts at the tip of their cones are known, and left out of the system.
    """
    W, mu, rho, c, z, p, where = problem.W, problem.mu, problem.rho, state.c, state.z, state.p, state.where
    A, rhs, rows, step = system.A, system.rhs, system.rows, system.step
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
            # derivative of p by y, row by row
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
def _settle(problem: ConeProblem, is_live: bool, y: np.ndarray, state: ConeState, exact: float) -> bool:
    """Find y = p(y) by Newton's method, to `exact` N s; return False if it does not end."""
    count, p = len(problem.mu), state.p
    system = NewtonSystem(
        np.empty((3 * count, 3 * count)), np.empty(3 * count), np.empty(3 * count, np.int64), np.empty((count, 3))
    )
    step, trial, best = system.step, np.empty((count, 3)), np.empty((count, 3))
    value = _measure(problem, y, state, is_live)
    for _ in range(_STEPS):
        off = 0.0
        for i in range(count):
            for a in range(3):
                off = max(off, abs(y[i, a] - p[i, a]))
        if off <= exact:
            return True
        if not _find_step(problem, y, state, is_live, system):
            return False
        best[:] = y
        length, lower = 1.0, np.inf
        for _ in range(_HALVES):
            for i in range(count):
                for a in range(3):
                    trial[i, a] = best[i, a] + length * step[i, a]
            lower = _measure(problem, trial, state, is_live)
            if lower < value:
                break
            length *= 0.5
        if not lower < value:
            _measure(problem, y, state, is_live)
            return not is_live
        y[:], value = trial, lower
    return False


@kernel(fastmath=True)
def _compose(L: np.ndarray, u0: np.ndarray, J: np.ndarray, t: np.ndarray, Y: np.ndarray, W: np.ndarray,
             c0: np.ndarray) -> None:  # fmt: skip
    """Write Y = L^-T J^T as rows, W = J M^-1 J^T and c0 = J u0 + t."""
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

"""Implicit joint damping for an engine that has none: the velocities at the end of a step, foreseen.

Joint damping that is stable at any step takes the velocity at the step's end, which solves

    (M + dt D) qdd = tau - D qd - bias + J^T f          then the torque to apply is  tau - D (qd + dt qdd)

M is the joint-space inertia, D the damping of each degree of freedom and f what touches the body. M is never built: it
is the articulated-body algorithm (Featherstone 2008, chapter 7) at rest, with dt D added to each joint's own inertia,
after Newton-Euler has found the bias. Spatial vectors are in world axes about each body's joint, angular rows first.

f of this step is not known. Taken from the step before, it alone would let a light foot under a heavy body turn freely
in the forecast, and the ankle's torque would come late by 1 + dt D / I steps, I the foot's own inertia. So each contact
with what cannot move also is a mass at its point, as large as its force could hold: it resists any change at once.

    I (J, 6, 6)    articulated inertia;  S (J, 3, 3) unit turns of each joint, a row each, of which count (J,) are used
    U (J, 6, 3) = I S;   V (J, 3, 3) = (S^T I S + dt D)^-1
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.dynamics import body_kernels
from poise.engines.mujoco.kernels import turned_back
from poise.engines.scene import BALL, FREE, HINGES


@kernel
def set_turns(
    kind: np.ndarray,
    count: np.ndarray,
    axes: np.ndarray,
    angles: np.ndarray,
    speeds: np.ndarray,
    R: np.ndarray,
    S: np.ndarray,
    dw: np.ndarray,
) -> None:
    """S in the world, and dw (J, 3), what the joints' angular velocities change by at constant speeds, in body axes.

    angles, speeds (J, 2) of hinges; a ball's turns are the body's own axes.
    """
    for i in range(len(kind)):
        for k in range(3):
            dw[i, k] = 0.0
        if kind[i] == BALL:
            for k in range(3):
                for a in range(3):
                    S[i, k, a] = R[i, a, k]
        elif kind[i] == HINGES:
            last = count[i] - 1
            S[i, last, 0], S[i, last, 1], S[i, last, 2] = body_kernels.turn(R[i], axes[i, last])
            if last == 1:
                half = 0.5 * angles[i, 1]
                x, y, z = turned_back(axes[i, 1], np.sin(half), np.cos(half), axes[i, 0])
                # the first axis as the body sees it turns backwards about the second
                u, s = axes[i, 1], -speeds[i, 0] * speeds[i, 1]
                dw[i, 0], dw[i, 1], dw[i, 2] = (
                    s * (u[1] * z - u[2] * y), s * (u[2] * x - u[0] * z), s * (u[0] * y - u[1] * x),
                )  # fmt: skip
                for a in range(3):
                    S[i, 0, a] = R[i, a, 0] * x + R[i, a, 1] * y + R[i, a, 2] * z


@kernel
def set_damping(
    count: np.ndarray, R: np.ndarray, S: np.ndarray, damping: np.ndarray, axial: np.ndarray, D: np.ndarray
) -> None:
    """D (J, 3) N m s/rad about each turn of each joint: of damping (J,) for all, and axial (J, 3) about body axes."""
    for i in range(len(count)):
        for a in range(3):
            D[i, a] = 0.0
            if a < count[i]:
                x, y, z = body_kernels.turn_back(R[i], S[i, a])
                D[i, a] = damping[i] + axial[i, 0] * x * x + axial[i, 1] * y * y + axial[i, 2] * z * z


@kernel
def damp(
    kind: np.ndarray,
    count: np.ndarray,
    parents: np.ndarray,
    masses: np.ndarray,
    centers: np.ndarray,
    inertias: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    v0: np.ndarray,
    w: np.ndarray,
    dw: np.ndarray,
    S: np.ndarray,
    torque: np.ndarray,
    wrench: np.ndarray,
    damping: np.ndarray,
    gravity: np.ndarray,
    dt: float,
    held: np.ndarray,
    held_at: np.ndarray,
    held_mass: np.ndarray,
    out: np.ndarray,
) -> None:
    """Out (J, 3) N m: -D (qd + dt qdd) about each turn of each joint.

    damping  (J, 3) N m s/rad about each turn
    masses   of the bodies that the engine has; torque (J, 3), wrench (J, 6) with the contacts' forces, world axes
    held     (c,) bodies that something holds, at held_at (c, 3) m in the world, like a held_mass (c,) kg there
    """
    j = len(kind)
    om, v, al, acc = np.zeros((j, 3)), np.zeros((j, 3)), np.zeros((j, 3)), np.zeros((j, 3))
    f, n = np.zeros((j, 3)), np.zeros((j, 3))
    body_kernels.move_bodies(parents, R, p, v0, w, om, v)
    body_kernels.accelerate_bodies(parents, R, p, w, dw, om, -gravity, al, acc)
    body_kernels.net_forces(masses, centers, inertias, R, om, al, acc, f, n)
    for i in range(j):
        for a in range(3):
            n[i, a] -= wrench[i, a]
            f[i, a] -= wrench[i, 3 + a]
    body_kernels.gather_inward(parents, p, f, n)
    I, U, V = np.zeros((j, 6, 6)), np.zeros((j, 6, 3)), np.zeros((j, 3, 3))
    Q, qd, bias, a6 = np.zeros((j, 3)), np.zeros((j, 3)), np.zeros((j, 6)), np.zeros((j, 6))
    for i in range(j):
        _set_rigid(masses[i], centers[i], inertias[i], R[i], I[i])
    for k in range(len(held)):
        i = held[k]
        _add_point(held_mass[k], held_at[k, 0] - p[i, 0], held_at[k, 1] - p[i, 1], held_at[k, 2] - p[i, 2], I[i])
    for i in range(j - 1, 0, -1):
        k = parents[i]
        if kind[i] == BALL or kind[i] == HINGES:
            x, y, z = body_kernels.turn(R[i], w[i])
            for a in range(count[i]):
                s = S[i, a]
                qd[i, a] = s[0] * x + s[1] * y + s[2] * z
                Q[i, a] = -damping[i, a] * qd[i, a]
                for b in range(3):
                    Q[i, a] += s[b] * (torque[i, b] - n[i, b] - bias[i, b])
            _factor(I[i], S[i], count[i], dt, damping[i], U[i], V[i])
            _reduce(I[i], U[i], V[i], Q[i], bias[i])
        _hand_on(I[i], bias[i], p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2], I[k], bias[k])
    if kind[0] == FREE:
        for a in range(3):
            a6[0, a], a6[0, 3 + a] = -n[0, a] - bias[0, a], -f[0, a] - bias[0, 3 + a]
        _solve(I[0], a6[0])
    for i in range(1, j):
        k = parents[i]
        x, y, z = p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2]
        u, a_i = a6[k], a6[i]
        for a in range(6):
            a_i[a] = u[a]
        a_i[3] += u[1] * z - u[2] * y
        a_i[4] += u[2] * x - u[0] * z
        a_i[5] += u[0] * y - u[1] * x
        for a in range(3):
            out[i, a] = 0.0
        if kind[i] == BALL or kind[i] == HINGES:
            # qdd = D^-1 (Q - U^T a)
            for b in range(count[i]):
                for row in range(6):
                    Q[i, b] -= U[i, row, b] * a_i[row]
            for a in range(count[i]):
                qdd = V[i, a, 0] * Q[i, 0] + V[i, a, 1] * Q[i, 1] + V[i, a, 2] * Q[i, 2]
                for b in range(3):
                    a_i[b] += S[i, a, b] * qdd
                out[i, a] = -damping[i, a] * (qd[i, a] + dt * qdd)


@kernel
def _factor(
    I: np.ndarray, S: np.ndarray, count: int, dt: float, damping: np.ndarray, U: np.ndarray, V: np.ndarray
) -> None:
    """U = I S and V = (S^T I S + dt D)^-1; where there are fewer than three turns the rest is zero in U, one in V."""
    D = np.zeros((3, 3))
    for a in range(3):
        D[a, a] = 1.0
    for a in range(count):
        for row in range(6):
            U[row, a] = I[row, 0] * S[a, 0] + I[row, 1] * S[a, 1] + I[row, 2] * S[a, 2]
    for a in range(count):
        for b in range(count):
            D[a, b] = S[a, 0] * U[0, b] + S[a, 1] * U[1, b] + S[a, 2] * U[2, b]
        D[a, a] += dt * damping[a]
    # The inverse by cofactors; D is symmetric.
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        for d in range(3):
            e, f = (d + 1) % 3, (d + 2) % 3
            V[d, a] = D[b, e] * D[c, f] - D[b, f] * D[c, e]
    det = D[0, 0] * V[0, 0] + D[0, 1] * V[1, 0] + D[0, 2] * V[2, 0]
    for a in range(3):
        for b in range(3):
            V[a, b] /= det


@kernel
def _reduce(I: np.ndarray, U: np.ndarray, V: np.ndarray, Q: np.ndarray, bias: np.ndarray) -> None:
    """I - U V U^T and p + U V Q: what the parent feels of a body that its joint lets turn."""
    for row in range(6):
        x = U[row, 0] * V[0, 0] + U[row, 1] * V[1, 0] + U[row, 2] * V[2, 0]
        y = U[row, 0] * V[0, 1] + U[row, 1] * V[1, 1] + U[row, 2] * V[2, 1]
        z = U[row, 0] * V[0, 2] + U[row, 1] * V[1, 2] + U[row, 2] * V[2, 2]
        bias[row] += x * Q[0] + y * Q[1] + z * Q[2]
        for a in range(6):
            I[row, a] -= x * U[a, 0] + y * U[a, 1] + z * U[a, 2]


@kernel
def _set_rigid(mass: float, center: np.ndarray, inertia: np.ndarray, R: np.ndarray, I: np.ndarray) -> None:
    """The 6 x 6 inertia of a body about its joint, world axes; see `RigidInertia.matrix`."""
    for b in range(3):
        # column b of R I_c R^T
        x, y, z = body_kernels.spin(R, inertia, 1.0 if b == 0 else 0.0, 1.0 if b == 1 else 0.0, 1.0 if b == 2 else 0.0)
        I[0, b], I[1, b], I[2, b] = x, y, z
    x, y, z = body_kernels.turn(R, center)
    _add_point(mass, x, y, z, I)


@kernel
def _add_point(mass: float, x: float, y: float, z: float, I: np.ndarray) -> None:
    """Add a point's mass at (x, y, z) from the joint."""
    I[0, 0] += mass * (y * y + z * z)
    I[1, 1] += mass * (z * z + x * x)
    I[2, 2] += mass * (x * x + y * y)
    for a, b, product in ((0, 1, x * y), (1, 2, y * z), (0, 2, x * z)):
        I[a, b] -= mass * product
        I[b, a] -= mass * product
    # the upper right block is m [c]x, the lower left its transpose
    for a, b, arm in ((0, 1, -z), (1, 2, -x), (0, 2, y)):
        I[a, 3 + b] += mass * arm
        I[b, 3 + a] -= mass * arm
        I[3 + b, a] += mass * arm
        I[3 + a, b] -= mass * arm
    for a in range(3):
        I[3 + a, 3 + a] += mass


@kernel
def _hand_on(Ia: np.ndarray, pa: np.ndarray, x: float, y: float, z: float, I: np.ndarray, bias: np.ndarray) -> None:
    """Add an inertia and a force about a joint at (x, y, z) from the parent's to the parent's own: I += X^T Ia X.

    X = [1 0; -[r]x 1] takes the parent's acceleration to the joint's.
    """
    T = np.empty((6, 6))  # Ia X
    for a in range(6):
        u, v, w = Ia[a, 3], Ia[a, 4], Ia[a, 5]
        T[a, 0], T[a, 1], T[a, 2] = Ia[a, 0] + y * w - z * v, Ia[a, 1] + z * u - x * w, Ia[a, 2] + x * v - y * u
        T[a, 3], T[a, 4], T[a, 5] = u, v, w
    for b in range(6):
        u, v, w = T[3, b], T[4, b], T[5, b]
        I[0, b] += T[0, b] + y * w - z * v
        I[1, b] += T[1, b] + z * u - x * w
        I[2, b] += T[2, b] + x * v - y * u
        I[3, b] += u
        I[4, b] += v
        I[5, b] += w
    bias[0] += pa[0] + y * pa[5] - z * pa[4]
    bias[1] += pa[1] + z * pa[3] - x * pa[5]
    bias[2] += pa[2] + x * pa[4] - y * pa[3]
    for a in range(3, 6):
        bias[a] += pa[a]


@kernel
def _solve(A: np.ndarray, x: np.ndarray) -> None:
    """X becomes A^-1 x by elimination without pivots: A (6, 6) is symmetric and positive, and is spoilt."""
    for k in range(6):
        for i in range(k + 1, 6):
            factor = A[i, k] / A[k, k]
            x[i] -= factor * x[k]
            for c in range(k, 6):
                A[i, c] -= factor * A[k, c]
    for k in range(5, -1, -1):
        for c in range(k + 1, 6):
            x[k] -= A[k, c] * x[c]
        x[k] /= A[k, k]

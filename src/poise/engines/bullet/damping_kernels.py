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

from typing import Annotated

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.layout import Floats, Ints, Layout
from poise.dynamics import body_kernels
from poise.engines.mujoco.kernels import turned_back
from poise.engines.scene import BALL, FREE, HINGES


class Damping(Layout):
    """One body in a step, and the damping that is foreseen. World axes, unless it says otherwise."""

    joints: int
    kind: Annotated[Ints, "joints"]
    count: Annotated[Ints, "joints"]  # turns of each joint
    axes: Annotated[Floats, "joints", 2, 3]  # of hinges, in the bodies' axes
    parents: Annotated[Ints, "joints"]
    masses: Annotated[Floats, "joints"]  # kg, of the bodies that the engine has
    centers: Annotated[Floats, "joints", 3]
    inertias: Annotated[Floats, "joints", 3, 3]
    R: Annotated[Floats, "joints", 3, 3]
    p: Annotated[Floats, "joints", 3]
    v0: Annotated[Floats, 3]  # m/s, of the root
    w: Annotated[Floats, "joints", 3]  # rad/s, in the bodies' axes
    dw: Annotated[Floats, "joints", 3]  # rad/s2
    angles: Annotated[Floats, "joints", 2]  # rad, of hinges
    speeds: Annotated[Floats, "joints", 2]  # rad/s
    S: Annotated[Floats, "joints", 3, 3]  # unit turns of each joint, a row each
    D: Annotated[Floats, "joints", 3]  # N m s/rad about each turn
    torque: Annotated[Floats, "joints", 3]  # N m
    wrench: Annotated[Floats, "joints", 6]  # with the contacts' forces
    gravity: Annotated[Floats, 3]  # m/s2
    holds: int  # points that hold bodies
    held: Annotated[Ints, "holds"]  # the bodies
    held_at: Annotated[Floats, "holds", 3]  # m
    held_mass: Annotated[Floats, "holds"]  # kg, of a mass that would hold as firmly
    out: Annotated[Floats, "joints", 3]  # N m: -D (qd + dt qdd) about each turn


@kernel
def set_turns(x: Damping) -> None:
    """Write S, and dw: the change of the joints' angular velocities at constant speeds, in body axes.

    A ball's turns are the body's own axes.
    """
    kind, count, axes, angles, speeds, R, S, dw = x.kind, x.count, x.axes, x.angles, x.speeds, x.R, x.S, x.dw
    for i in range(x.joints):
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
                tx, ty, tz = turned_back(axes[i, 1], np.sin(half), np.cos(half), axes[i, 0])
                # the first axis as the body sees it turns backwards about the second
                u, s = axes[i, 1], -speeds[i, 0] * speeds[i, 1]
                dw[i, 0], dw[i, 1], dw[i, 2] = (
                    s * (u[1] * tz - u[2] * ty), s * (u[2] * tx - u[0] * tz), s * (u[0] * ty - u[1] * tx),
                )  # fmt: skip
                for a in range(3):
                    S[i, 0, a] = R[i, a, 0] * tx + R[i, a, 1] * ty + R[i, a, 2] * tz


@kernel
def set_damping(x: Damping, damping: np.ndarray) -> None:
    """Write D: of damping (J,) N m s/rad for all turns of each joint."""
    count, D = x.count, x.D
    for i in range(x.joints):
        for a in range(3):
            D[i, a] = damping[i] if a < count[i] else 0.0


@kernel
def damp(x: Damping, dt: float) -> None:
    """Write `out`, the damping torques with the velocity at the step's end."""
    j, kind, count, parents, R, p, S, D = x.joints, x.kind, x.count, x.parents, x.R, x.p, x.S, x.D
    f, n, I = np.zeros((j, 3)), np.zeros((j, 3)), np.zeros((j, 6, 6))
    _find_bias(x, f, n)
    _set_inertias(x, I)
    U, V = np.zeros((j, 6, 3)), np.zeros((j, 3, 3))
    Q, qd, bias = np.zeros((j, 3)), np.zeros((j, 3)), np.zeros((j, 6))
    for i in range(j - 1, 0, -1):
        k = parents[i]
        if kind[i] == BALL or kind[i] == HINGES:
            wx, wy, wz = body_kernels.turn(R[i], x.w[i])
            for a in range(count[i]):
                s = S[i, a]
                qd[i, a] = s[0] * wx + s[1] * wy + s[2] * wz
                Q[i, a] = -D[i, a] * qd[i, a]
                for b in range(3):
                    Q[i, a] += s[b] * (x.torque[i, b] - n[i, b] - bias[i, b])
            _factor(I[i], S[i], count[i], dt, D[i], U[i], V[i])
            _reduce(I[i], U[i], V[i], Q[i], bias[i])
        _hand_on(I[i], bias[i], p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2], I[k], bias[k])
    a6 = np.zeros((j, 6))
    if kind[0] == FREE:
        for a in range(3):
            a6[0, a], a6[0, 3 + a] = -n[0, a] - bias[0, a], -f[0, a] - bias[0, 3 + a]
        _solve(I[0], a6[0])
    _accelerate(x, dt, a6, U, V, Q, qd)


@kernel
def _find_bias(x: Damping, f: np.ndarray, n: np.ndarray) -> None:
    """Write forces f and torques n (J, 3) that the joints carry at constant speeds, less what acts from outside."""
    j = x.joints
    om, v, al, acc = np.zeros((j, 3)), np.zeros((j, 3)), np.zeros((j, 3)), np.zeros((j, 3))
    body_kernels.move_bodies(x.parents, x.R, x.p, x.v0, x.w, om, v)
    body_kernels.accelerate_bodies(x.parents, x.R, x.p, x.w, x.dw, om, -x.gravity, al, acc)
    body_kernels.net_forces(x.masses, x.centers, x.inertias, x.R, om, al, acc, f, n)
    for i in range(j):
        for a in range(3):
            n[i, a] -= x.wrench[i, a]
            f[i, a] -= x.wrench[i, 3 + a]
    body_kernels.gather_inward(x.parents, x.p, f, n)


@kernel
def _set_inertias(x: Damping, I: np.ndarray) -> None:
    """Write the inertia I (J, 6, 6) of each body by itself, with the masses that hold it."""
    p = x.p
    for i in range(x.joints):
        _set_rigid(x.masses[i], x.centers[i], x.inertias[i], x.R[i], I[i])
    for k in range(x.holds):
        i, point = x.held[k], x.held_at[k]
        _add_point(x.held_mass[k], point[0] - p[i, 0], point[1] - p[i, 1], point[2] - p[i, 2], I[i])


@kernel
def _accelerate(
    x: Damping, dt: float, a6: np.ndarray, U: np.ndarray, V: np.ndarray, Q: np.ndarray, qd: np.ndarray
) -> None:
    """Write accelerations a6 (J, 6) from the root outwards, and the damping torques that follow."""
    kind, count, parents, p, S, D, out = x.kind, x.count, x.parents, x.p, x.S, x.D, x.out
    for i in range(1, x.joints):
        k = parents[i]
        rx, ry, rz = p[i, 0] - p[k, 0], p[i, 1] - p[k, 1], p[i, 2] - p[k, 2]
        u, a_i = a6[k], a6[i]
        for a in range(6):
            a_i[a] = u[a]
        a_i[3] += u[1] * rz - u[2] * ry
        a_i[4] += u[2] * rx - u[0] * rz
        a_i[5] += u[0] * ry - u[1] * rx
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
                out[i, a] = -D[i, a] * (qd[i, a] + dt * qdd)


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

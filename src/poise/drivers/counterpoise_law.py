"""Counterpoise as laws: `counterpoise.py` says what it does."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.drivers.lean_kernels import SHIFT, SIDEWAYS, find_shift, lean_by
from poise.drivers.taking_part import PELVIS_BOW
from poise.drivers.taking_part_law import find_part
from poise.dynamics.body_kernels import BODY
from poise.dynamics.instant import turn, turn_back
from poise.engines.hits import PRESSED
from poise.motion.body_track import BOW, CHEST_YAW, PELVIS_YAW
from poise.motion.part_kernels import multiply, rotate_back, set_exp
from poise.spatial.addresses import blocks, call_with_two, floats, integers, record, tables, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import fields, law

# Below this (N m, rad, rad/s and rad/s2) what is over is no longer felt.
FAINT = 1e-6
TINY = 1e-12  # kg m2: a joint that carries next to nothing
# joints  (K,);  pose (K, 4) what they hold where no motion is played
# shares  (K, 2) how much of the spine's lean and of the pelvis' each joint turns by
# rates   (2,) rad per m of the spine and the pelvis, which lean by `most` rad at most
# springs (K, 2) N m/rad and N m s/rad of each joint, which gives way to pushes, contacts and loads on the trunk; bent
#         (K, 3, 3) rad, rad/s, rad/s2, own axes: how far it has, at time `bent_at`;  felt (J, 3), pressed (J, PRESSED):
#         see `Body`;  contacts (K + 1, 3): see `CounterpoisePlayer`;  work (3 K, 3 K) and torque (3 K,): for work
# loads   (J, 4) kg m and kg, own axes: first moment and mass of loads on each body but the arms;  carried (K, J) flags:
#         which bodies each joint carries
# base, base_shown, base_block: laws of a motion that they play, and its block; 0: none
COUNTERPOISE = fields(
    arrays="joints pose shares rates springs bent felt pressed contacts loads carried work torque",
    integers="count base base_shown base_block shift is_loaded part",
    floats="most bent_at",
)


@kernel
def find_leans(b: Any, x: Any, q: np.ndarray, t: float, leans: np.ndarray) -> None:
    """How far the spine and the pelvis lean, (2, 3, 3): rotation vectors and their first and second derivatives.

    Of chest axes: x points to the left, z ahead. With what they take part in a gesture by.
    """
    shift, rates = np.empty((3, 3)), floats(x.rates, 2)
    leans[:] = 0.0
    moves = find_part(x.part, t)
    for n in range(3):
        leans[1, n, 0], leans[1, n, 1] = PELVIS_BOW * moves[n, BOW], moves[n, PELVIS_YAW]
        leans[0, n, 0], leans[0, n, 1] = moves[n, BOW] - leans[1, n, 0], moves[n, CHEST_YAW] - moves[n, PELVIS_YAW]
    if x.shift == 0:
        return
    find_shift(b, record(x.shift, SHIFT), q, t, shift)
    for k in range(2):
        back = lean_by(rates[k], x.most, shift[0, 2], shift[1, 2], shift[2, 2])
        aside = lean_by(SIDEWAYS * rates[k], x.most, shift[0, 0], shift[1, 0], shift[2, 0])
        for n in range(3):
            leans[k, n, 0] -= back[n]
            leans[k, n, 2] += aside[n]


@law
def give(body: int, block: int) -> None:
    """Where the joints are without the lean, and the lean on top, with velocities and accelerations."""
    b, x = record(body, BODY), record(block, COUNTERPOISE)
    j, k = b.joints, x.count
    joints, pose, shares = integers(x.joints, k), vectors(x.pose, k, 4), vectors(x.shares, k, 2)
    q, w, dw = vectors(b.q, j, 4), vectors(b.w, j, 3), vectors(b.dw, j, 3)
    if x.base != 0:
        call_with_two(x.base, body, x.base_block)
    else:
        for n in range(k):
            for c in range(4):
                q[joints[n], c] = pose[n, c]
            for c in range(3):
                w[joints[n], c] = dw[joints[n], c] = 0.0
    leans, e, tilt, out = np.empty((2, 3, 3)), np.empty((3, 3)), np.empty(4), np.empty(4)
    find_leans(b, x, q, b.at, leans)
    bent, ahead = blocks(x.bent, k, 3, 3), b.at - x.bent_at
    for n in range(k):
        i = joints[n]
        for c in range(3):
            for r in range(3):
                e[r, c] = shares[n, 0] * leans[0, r, c] + shares[n, 1] * leans[1, r, c] + bent[n, r, c]
            e[0, c] += ahead * bent[n, 1, c]
        set_exp(e[0], tilt)
        multiply(q[i], tilt, out)
        for c in range(4):
            q[i, c] = out[c]
        wx, wy, wz = rotate_back(tilt, w[i, 0], w[i, 1], w[i, 2])
        ax, ay, az = rotate_back(tilt, dw[i, 0], dw[i, 1], dw[i, 2])
        # own rates of a small turn: e' - e x e' / 2, and its derivative
        px, py, pz = bend_rate(e[0], e[1])
        sx, sy, sz = bend_rate(e[0], e[2])
        w[i, 0], w[i, 1], w[i, 2] = wx + px, wy + py, wz + pz
        dw[i, 0] = ax + sx + wy * pz - wz * py
        dw[i, 1] = ay + sy + wz * px - wx * pz
        dw[i, 2] = az + sz + wx * py - wy * px


@law
def bend(body: int, block: int) -> None:
    """After the step: how far the joints give way to pushes, contacts and loads on the trunk by the end of the next.

    A spring and a damper at each joint, all joints at once and implicitly, which no step makes unstable:

        (M + h D + h^2 K) a = t - K e - (D + h K) e'                                            [counterpoise, eq 1]

    M is the inertia of all that the joints carry, on hips that stay where they are.
    """
    b, x = record(body, BODY), record(block, COUNTERPOISE)
    j, k = b.joints, x.count
    x.bent_at = b.t + b.dt
    if not _is_moved(x, j):
        return
    joints, springs, bent = integers(x.joints, k), vectors(x.springs, k, 2), blocks(x.bent, k, 3, 3)
    R, felt, contacts = blocks(b.R, j, 3, 3), vectors(x.felt, j, 3), vectors(x.contacts, k + 1, 3)
    A, torque = vectors(x.work, 3 * k, 3 * k), floats(x.torque, 3 * k)
    find_inertia(b, x, A)
    for n in range(k):
        for c in range(3):
            A[3 * n + c, 3 * n + c] += b.dt * (springs[n, 1] + b.dt * springs[n, 0])
    factor(A)
    feel_contacts(b, x, A, torque, contacts)
    for n in range(k):
        i = joints[n]
        if x.is_loaded == 1:
            _feel_loads(b, x, n, felt[i])
        stiffness, damping = springs[n, 0], springs[n, 1] + b.dt * springs[n, 0]
        px, py, pz = turn(R[i], contacts[n])
        ex, ey, ez = turn(R[i], bent[n, 0])
        vx, vy, vz = turn(R[i], bent[n, 1])
        torque[3 * n] = felt[i, 0] + px - stiffness * ex - damping * vx
        torque[3 * n + 1] = felt[i, 1] + py - stiffness * ey - damping * vy
        torque[3 * n + 2] = felt[i, 2] + pz - stiffness * ez - damping * vz
        felt[i] = 0.0
    solve(A, torque)
    for n in range(k):
        bent[n, 2, 0], bent[n, 2, 1], bent[n, 2, 2] = turn_back(R[joints[n]], torque[3 * n : 3 * n + 3])
        for c in range(3):
            bent[n, 1, c] += b.dt * bent[n, 2, c]
            bent[n, 0, c] += b.dt * bent[n, 1, c]


@kernel
def _is_moved(x: Any, joints: int) -> bool:
    """Whether anything bends the joints, or has and is not over."""
    k = x.count
    felt, pressed, at = vectors(x.felt, joints, 3), vectors(x.pressed, joints, PRESSED), integers(x.joints, k)
    bent, contacts = floats(x.bent, 9 * k), floats(x.contacts, 3 * k + 3)
    if x.is_loaded == 1 or contacts[3 * k] != 0.0:
        return True
    most = 0.0
    for n in range(k):
        i = at[n]
        if felt[i, 0] != 0.0 or felt[i, 1] != 0.0 or felt[i, 2] != 0.0 or pressed[i, 6] != 0.0:
            return True
    for n in range(9 * k):
        most = max(most, abs(bent[n]))
    if most > FAINT:
        return True
    bent[:] = 0.0
    return False


@kernel
def find_inertia(b: Any, x: Any, M: np.ndarray) -> None:
    """Write the inertia (3 K, 3 K) kg m2 of the joints' rotations in world axes, with all that they carry.

    Of an outer joint l and an inner one k, r from k to l, with S the first moment and J the inertia about l of what l
    carries:  M_kl a = J a + r x (a x S)
    """
    j, k = b.joints, x.count
    joints, carried = integers(x.joints, k), tables(x.carried, k, j)
    masses, centers, inertias = floats(b.masses, j), vectors(b.centers, j, 3), blocks(b.inertias, j, 3, 3)
    parents, R, p, d = integers(b.parents, j), blocks(b.R, j, 3, 3), vectors(b.p, j, 3), np.empty(3)
    mass, S, J = masses.copy(), np.empty((j, 3)), np.empty((j, 3, 3))
    for i in range(j - 1, 0, -1):
        S[i], J[i] = 0.0, 0.0
    for i in range(j - 1, 0, -1):
        # its own segment
        d[0], d[1], d[2] = turn(R[i], centers[i])
        size = masses[i] * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
        for r in range(3):
            S[i, r] += masses[i] * d[r]
            J[i, r, r] += size
            for c in range(3):
                own = 0.0
                for s in range(3):
                    part = R[i, r, 0] * inertias[i, 0, s] + R[i, r, 1] * inertias[i, 1, s]
                    own += (part + R[i, r, 2] * inertias[i, 2, s]) * R[i, c, s]
                J[i, r, c] += own - masses[i] * d[r] * d[c]
        # all of it about the joint before, d from there
        before = parents[i]
        if before == 0:
            continue
        size = 0.0
        for c in range(3):
            d[c] = p[i, c] - p[before, c]
            size += d[c] * (mass[i] * d[c] + 2.0 * S[i, c])
        for r in range(3):
            S[before, r] += S[i, r] + mass[i] * d[r]
            J[before, r, r] += size
            for c in range(3):
                J[before, r, c] += J[i, r, c] - mass[i] * d[r] * d[c] - d[r] * S[i, c] - S[i, r] * d[c]
        mass[before] += mass[i]
    M[:] = 0.0
    for n in range(k):
        i = joints[n]
        for m in range(k):
            if carried[m, i] == 0:
                continue
            rx, ry, rz = p[i, 0] - p[joints[m], 0], p[i, 1] - p[joints[m], 1], p[i, 2] - p[joints[m], 2]
            for c in range(3):
                # a x S for the unit vector a along c
                u, v = (c + 1) % 3, (c + 2) % 3
                d[c], d[u], d[v] = 0.0, -S[i, v], S[i, u]
                M[3 * m, 3 * n + c] = J[i, 0, c] + ry * d[2] - rz * d[1]
                M[3 * m + 1, 3 * n + c] = J[i, 1, c] + rz * d[0] - rx * d[2]
                M[3 * m + 2, 3 * n + c] = J[i, 2, c] + rx * d[1] - ry * d[0]
                for r in range(3):
                    M[3 * n + c, 3 * m + r] = M[3 * m + r, 3 * n + c]


@kernel
def factor(A: np.ndarray) -> None:
    """Replace the lower half of a positive definite matrix by its Cholesky factor."""
    n = len(A)
    for c in range(n):
        for r in range(c, n):
            total = A[r, c]
            for s in range(c):
                total -= A[r, s] * A[c, s]
            A[r, c] = np.sqrt(max(total, TINY)) if r == c else total / A[c, c]


@kernel
def solve(A: np.ndarray, y: np.ndarray) -> None:
    """Solve in place with what `factor` left."""
    n = len(A)
    for r in range(n):
        for s in range(r):
            y[r] -= A[r, s] * y[s]
        y[r] /= A[r, r]
    for r in range(n - 1, -1, -1):
        for s in range(r + 1, n):
            y[r] -= A[s, r] * y[s]
        y[r] /= A[r, r]


@kernel
def feel_contacts(b: Any, x: Any, A: np.ndarray, y: np.ndarray, contacts: np.ndarray) -> None:
    """Let contacts (K + 1, 3) follow what contacts of this step put on the joints, and forget that.

    An engine meets a trunk whose motion is given as a rigid one, and what pushes less because it gives way does so a
    step late. So what is felt is a low-pass of it:

        T += s (t - T),   s = 1 / (1 + m c),   c = t (M + h D + h^2 K)^-1 t / f^2            [counterpoise, eq 2]

    with f the contact force, m the mass behind it and c how fast the springs let the touched point accelerate. That is
    the implicit step in which the mass m resists that the trunk gives way faster. It conserves the impulse, and lasts
    for a number of steps: what it delays vanishes as the step shrinks.

    A (3 K, 3 K), factored;  y (3 K,) for work
    """
    j, k = b.joints, x.count
    joints = integers(x.joints, k)
    R, pressed = blocks(b.R, j, 3, 3), vectors(x.pressed, j, PRESSED)
    force, mass, most = 0.0, 0.0, 0.0
    for n in range(k):
        row = pressed[joints[n]]
        if row[6] > force:
            force, mass = row[6], row[7] / row[6]
    if force > 0.0:
        give = 0.0
        for n in range(k):
            for c in range(3):
                y[3 * n + c] = pressed[joints[n], c] / force
        solve(A, y)
        for n in range(k):
            for c in range(3):
                give += y[3 * n + c] * pressed[joints[n], c] / force
        contacts[k, 0] = 1.0 / (1.0 + mass * give)
    elif contacts[k, 0] == 0.0:
        return
    share = contacts[k, 0]
    for n in range(k):
        t = turn_back(R[joints[n]], pressed[joints[n]])
        for c in range(3):
            contacts[n, c] += share * (t[c] - contacts[n, c])
            most = max(most, abs(contacts[n, c]))
    pressed[:] = 0.0
    if force == 0.0 and most < FAINT:
        contacts[:] = 0.0


@kernel
def _feel_loads(b: Any, x: Any, n: int, torque: np.ndarray) -> None:
    """Add what loads put on the n-th joint by their weight: (3,) N m, world axes."""
    j = b.joints
    R, p, loads, carried = (
        blocks(b.R, j, 3, 3),
        vectors(b.p, j, 3),
        vectors(x.loads, j, 4),
        tables(x.carried, x.count, j),
    )
    own, g = p[integers(x.joints, x.count)[n]], b.gravity
    for i in range(j):
        mass = loads[i, 3]
        if carried[n, i] == 0 or mass == 0.0:
            continue
        rx, ry, rz = turn(R[i], loads[i])
        rx, ry, rz = rx + mass * (p[i, 0] - own[0]), ry + mass * (p[i, 1] - own[1]), rz + mass * (p[i, 2] - own[2])
        torque[0] += ry * g[2] - rz * g[1]
        torque[1] += rz * g[0] - rx * g[2]
        torque[2] += rx * g[1] - ry * g[0]


@law
def show(body: int, block: int) -> None:
    """The pose for somebody who looks."""
    b, x = record(body, BODY), record(block, COUNTERPOISE)
    j, k = b.joints, x.count
    joints, pose, shares, q = (
        integers(x.joints, k),
        vectors(x.pose, k, 4),
        vectors(x.shares, k, 2),
        vectors(b.shown_q, j, 4),
    )
    if x.base_shown != 0:
        call_with_two(x.base_shown, body, x.base_block)
    else:
        for n in range(k):
            for c in range(4):
                q[joints[n], c] = pose[n, c]
    leans, e, tilt, out = np.empty((2, 3, 3)), np.empty(3), np.empty(4), np.empty(4)
    find_leans(b, x, q, b.at, leans)
    bent, ahead = blocks(x.bent, k, 3, 3), b.at - x.bent_at
    for n in range(k):
        for c in range(3):
            e[c] = shares[n, 0] * leans[0, 0, c] + shares[n, 1] * leans[1, 0, c] + bent[n, 0, c] + ahead * bent[n, 1, c]
        set_exp(e, tilt)
        multiply(q[joints[n]], tilt, out)
        for c in range(4):
            q[joints[n], c] = out[c]


@kernel
def bend_rate(e: np.ndarray, rate: np.ndarray) -> tuple[float, float, float]:
    """The right Jacobian of rotations times a rate, for a small rotation vector e: rate - e x rate / 2."""
    return (
        rate[0] - 0.5 * (e[1] * rate[2] - e[2] * rate[1]),
        rate[1] - 0.5 * (e[2] * rate[0] - e[0] * rate[2]),
        rate[2] - 0.5 * (e[0] * rate[1] - e[1] * rate[0]),
    )

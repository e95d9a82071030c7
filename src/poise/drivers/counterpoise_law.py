"""Counterpoise as laws: `counterpoise.py` says what it does."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.drivers.lean_kernels import SHIFT, SIDEWAYS, find_shift, lean_by
from poise.drivers.taking_part import PELVIS_BOW
from poise.drivers.taking_part_law import find_part
from poise.dynamics.body_kernels import BODY
from poise.dynamics.instant import turn, turn_back
from poise.motion.body_track import BOW, CHEST_YAW, PELVIS_YAW
from poise.motion.part_kernels import multiply, rotate_back, set_exp
from poise.spatial.addresses import blocks, call_with_two, floats, integers, record, tables, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import fields, law

# joints  (K,);  pose (K, 4) what they hold where no motion is played
# shares  (K, 2) how much of the spine's lean and of the pelvis' each joint turns by
# rates   (2,) rad per m of the spine and the pelvis, which lean by `most` rad at most
# springs (K, 3) N m/rad, N m s/rad and kg m2 of each joint, which gives way to pushes and to loads on the trunk; bent
#         (K, 3, 3) rad, rad/s, rad/s2, own axes: how far it has, at time `bent_at`;  felt (J, 3): see `Body.felt`
# loads   (J, 4) kg m and kg, own axes: first moment and mass of loads on each body but the arms;  carried (K, J) flags:
#         which bodies each joint carries
# base, base_shown, base_block: laws of a motion that they play, and its block; 0: none
COUNTERPOISE = fields(
    arrays="joints pose shares rates springs bent felt loads carried",
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
    """How far the joints give way to pushes and to loads on the trunk by the end of the step.

    A spring and a damper at each, integrated implicitly: stable at any step.
    """
    b, x = record(body, BODY), record(block, COUNTERPOISE)
    j, k = b.joints, x.count
    joints, springs, bent = integers(x.joints, k), vectors(x.springs, k, 3), blocks(x.bent, k, 3, 3)
    R, felt = blocks(b.R, j, 3, 3), vectors(x.felt, j, 3)
    for n in range(k):
        i = joints[n]
        if x.is_loaded == 1:
            _feel_loads(b, x, n, felt[i])
        torque = turn_back(R[i], felt[i])
        stiffness, damping, inertia = springs[n, 0], springs[n, 1], springs[n, 2]
        whole = inertia + b.dt * (damping + b.dt * stiffness)
        for c in range(3):
            pull = (torque[c] - stiffness * bent[n, 0, c] - (damping + b.dt * stiffness) * bent[n, 1, c]) / whole
            bent[n, 2, c] = pull
            bent[n, 1, c] += b.dt * pull
            bent[n, 0, c] += b.dt * bent[n, 1, c]
            felt[i, c] = 0.0
    x.bent_at = b.t + b.dt


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

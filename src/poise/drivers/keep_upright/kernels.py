"""A wrist that keeps what it holds upright, as a law."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import fields, law
from poise.compiled.views import blocks, floats, record, vectors
from poise.drivers.joint_limits.kernels import find_angles
from poise.dynamics.body_kernels import BODY, cross, turn, turn_back
from poise.motion.playback.part_kernels import log_between, multiply, set_exp

# As of `KeepUprightPlayer`; natural, P, C (4,), lower, upper (3,): the wrist's natural rotation and its range; P_up,
# C_up (4,), turns (2,): the forearm's, and the range of its twist.
WRIST = fields(
    arrays="aim memory natural P C lower upper P_up C_up turns",
    integers="joint parent is_on twists",
    floats="stiffness damping strength tolerance patience",
    axis=3,
)
FASTEST = 20.0  # rad/s, of the aim: where it leaves the end of a range it may jump
_TIMES = 12  # how often the aim is turned nearer: from 60 degrees off it is there to 1e-6 after seven


@kernel
def turn_upright(
    R: np.ndarray, axis: np.ndarray, natural: np.ndarray, P: np.ndarray, C: np.ndarray, lower: np.ndarray,
    upper: np.ndarray, aim: np.ndarray,
) -> float:  # fmt: skip
    """aim (4,): the wrist's rotation in its range that brings an axis (3,) of the hand nearest to the world's up.

    R (3, 3) the forearm's orientation. Returns how far off upright that still is, rad.
    """
    up = np.empty(3)  # in the forearm's axes
    up[0], up[1], up[2] = R[1, 0], R[1, 1], R[1, 2]
    e, here, out, work, angles = np.empty(3), np.empty(3), np.empty(4), np.empty((2, 4)), np.empty(5)
    left = 0.0
    for c in range(4):
        aim[c] = natural[c]
    for k in range(_TIMES + 1):
        # the turn from the axis to up, in the hand's axes: axis x up, as long as their angle
        for c in range(3):
            here[c] = up[c]
        _turn_back(aim, here)
        e[0], e[1], e[2] = cross(axis, here)
        size = np.sqrt(e[0] ** 2 + e[1] ** 2 + e[2] ** 2)
        left = np.arctan2(size, axis[0] * here[0] + axis[1] * here[1] + axis[2] * here[2])
        if k == _TIMES:
            break
        f = left / size if size > 1e-9 else 1.0
        for c in range(3):
            e[c] *= f
        # ways in which the joint does not turn, in its zero pose's axes, are left out
        _turn(C, e)
        for c in range(3):
            if upper[c] - lower[c] < 1e-6:
                e[c] = 0.0
        _turn_back(C, e)
        set_exp(e, out)
        multiply(aim, out, work[0])
        for c in range(4):
            aim[c] = work[0, c]
        find_angles(P, aim, C, work, angles)
        for c in range(3):
            angles[c] = min(max(angles[c], lower[c]), upper[c])
        set_angles(P, C, angles, aim)
    return float(left)


@kernel
def set_angles(P: np.ndarray, C: np.ndarray, angles: np.ndarray, q: np.ndarray) -> None:
    """q = P^-1 exp(x, 0, z) exp(0, y, 0) C: see `body/joints.py`."""
    e, swing, twist, back, a = np.zeros(3), np.empty(4), np.empty(4), np.empty(4), np.empty(4)
    e[0], e[2] = angles[0], angles[2]
    set_exp(e, swing)
    e[0], e[1], e[2] = 0.0, angles[1], 0.0
    set_exp(e, twist)
    back[0], back[1], back[2], back[3] = P[0], -P[1], -P[2], -P[3]
    multiply(back, swing, a)
    multiply(a, twist, back)
    multiply(back, C, q)


@kernel
def _turn(q: np.ndarray, x: np.ndarray) -> None:
    """X turned by q, in place."""
    tx, ty, tz = (
        2.0 * (q[2] * x[2] - q[3] * x[1]), 2.0 * (q[3] * x[0] - q[1] * x[2]), 2.0 * (q[1] * x[1] - q[2] * x[0])
    )  # fmt: skip
    x[0] += q[0] * tx + q[2] * tz - q[3] * ty
    x[1] += q[0] * ty + q[3] * tx - q[1] * tz
    x[2] += q[0] * tz + q[1] * ty - q[2] * tx


@kernel
def _turn_back(q: np.ndarray, x: np.ndarray) -> None:
    """X turned by the inverse of q, in place."""
    back = np.empty(4)
    back[0], back[1], back[2], back[3] = q[0], -q[1], -q[2], -q[3]
    _turn(back, x)


@law
def right_itself(body: int, block: int) -> None:
    """Torque and damping at the wrist."""
    b, x = record(body, BODY), record(block, WRIST)
    i, j = x.joint, b.joints
    R, q, w = blocks(b.R, j, 3, 3), vectors(b.q, j, 4)[i], vectors(b.w, j, 3)[i]
    aims, memory, natural = vectors(x.aim, 2, 4), floats(x.memory, 5), floats(x.natural, 4)
    lower, upper = floats(x.lower, 3), floats(x.upper, 3)
    aim, before = aims[0], aims[1]
    e, speed, asked = np.empty(3), np.zeros(3), np.empty(3)
    short = 0.0
    for c in range(4):
        before[c] = aim[c]
    if x.is_on == 1:
        if x.twists == 1:
            work, angles, turns = np.empty((2, 4)), np.empty(5), floats(x.turns, 2)
            find_angles(floats(x.P_up, 4), vectors(b.q, j, 4)[x.parent], floats(x.C_up, 4), work, angles)
            lower[1], upper[1] = min(turns[0] - angles[1], 0.0), max(turns[1] - angles[1], 0.0)
        short = turn_upright(R[x.parent], x.axis, natural, floats(x.P, 4), floats(x.C, 4), lower, upper, aim)
        if memory[4] == 1.0:
            log_between(before, aim, speed)
        memory[4] = 1.0
    else:
        for c in range(4):
            aim[c] = natural[c]
    log_between(q, aim, e)
    # hand and prop, held: -r x m g about the wrist, in the hand's axes
    mass, center = floats(b.masses, j)[i], vectors(b.centers, j, 3)[i]
    gx, gy, gz = turn_back(R[i], floats(b.gravity, 3))
    asked[0], asked[1], asked[2] = -mass * gx, -mass * gy, -mass * gz
    hx, hy, hz = cross(center, asked)
    damping = x.damping + x.stiffness * b.dt
    hold = (hx, hy, hz)
    total = 0.0
    for c in range(3):
        speed[c] = min(max(speed[c] / b.dt, -FASTEST), FASTEST)
        asked[c] = x.stiffness * e[c] + damping * speed[c] + hold[c]
        total += (asked[c] - damping * w[c]) ** 2
    share = min(1.0, x.strength / np.sqrt(max(total, 1e-30)))
    for c in range(3):
        asked[c] *= share
    torque = vectors(b.torque, j, 3)
    torque[i, 0], torque[i, 1], torque[i, 2] = turn(R[i], asked)
    floats(b.damping, j)[i] = share * damping
    if x.twists == 1:  # beyond what a wrist does, but not the arm: its range gives way
        floats(b.firm, j)[i] = x.stiffness
        told = vectors(b.aim, j, 4)[i]
        for c in range(4):
            told[c] = aim[c]
    watch(b, x, R[i], short, share, memory)


@kernel
def watch(b: Any, x: Any, R: np.ndarray, short: float, share: float, memory: np.ndarray) -> None:
    """Have it told where the prop leans for long, and why."""
    ux, uy, uz = turn(R, x.axis)
    lean = np.arctan2(np.sqrt(ux * ux + uz * uz), uy)
    memory[1] = lean
    if x.is_on == 0 or lean <= x.tolerance:
        memory[0] = 0.0
        if memory[3] == 2.0 and lean <= 0.5 * x.tolerance:
            memory[3] = 0.0
        return
    if short > 0.5 * x.tolerance or share < 1.0:
        memory[0] += b.dt
        memory[2] = 2.0 if short > 0.5 * x.tolerance else 1.0
    if memory[0] > x.patience and memory[3] == 0.0:
        memory[3] = 1.0
        b.request = 1

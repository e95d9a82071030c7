"""Laws of springs towards a pose, and of joints at rest.

What is left of how joints at rest moved before lies on top: see `drivers/transition/kernels.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import fields, law
from poise.compiled.views import blocks, floats, integers, record, vectors
from poise.dynamics.body_kernels import BODY, turn
from poise.motion.playback.part_kernels import log_between, multiply, set_exp, take_over

RELAXING = 5.0  # times `relax`, for which an aim gives way
# As of `LoosePlayer`.
SPRINGS = fields(arrays="joints stiffness damping aim lead fade offset span relax carries", integers="count")


@law
def pull(body: int, block: int) -> None:
    """Torques and damping of springs at some joints."""
    b, x = record(body, BODY), record(block, SPRINGS)
    j, k = b.joints, x.count
    pull_to_pose(
        integers(x.joints, k), floats(x.stiffness, k), floats(x.damping, k), vectors(x.aim, k, 4), vectors(b.q, j, 4),
        blocks(b.R, j, 3, 3), b.dt, vectors(x.lead, k, 3), left_over(floats(x.fade, 2), b.t), vectors(b.torque, j, 3),
        floats(b.damping, j),
    )  # fmt: skip
    if floats(x.carries, 1)[0] > 0.0:
        carry_weight(b, integers(x.joints, k))


@law
def pull_along(body: int, block: int) -> None:
    """The same of springs whose aim was taken over from how the joints moved, or gives way."""
    b, x = record(body, BODY), record(block, SPRINGS)
    k = x.count
    aim, offset, span = vectors(x.aim, k, 4), blocks(x.offset, 3, k, 3), vectors(x.span, k, 2)
    now, w, dw, part = aim.copy(), np.zeros((k, 3)), np.zeros((k, 3)), np.zeros(5)
    for i in range(k):
        if b.t + b.dt < span[i, 0] + span[i, 1]:
            part[3], part[4] = span[i, 0], span[i, 1]
            take_over(part, offset[:, i : i + 1], b.t + b.dt, now[i : i + 1], w[i : i + 1], dw[i : i + 1])
    pull_to(b, x, now)
    go_along(b, x, w)
    if floats(x.carries, 1)[0] > 0.0:
        carry_weight(b, integers(x.joints, k))
    relax = floats(x.relax, 1)[0]
    # it ends: a body that lies would else creep for ever
    if relax < np.inf and b.t < floats(x.fade, 2)[0] + RELAXING * relax:
        give_way(b, x, min(b.dt / relax, 1.0))


@kernel
def carry_weight(b: Any, joints: np.ndarray) -> None:
    """Add the torques (N m, world axes) that hold up the weight of all that hangs from some joints."""
    j = b.joints
    parents, masses, centers = integers(b.parents, j), floats(b.masses, j), vectors(b.centers, j, 3)
    R, p, torque = blocks(b.R, j, 3, 3), vectors(b.p, j, 3), vectors(b.torque, j, 3)
    moment, mass = vectors(b.f, j, 3), vectors(b.n, j, 3)  # kg m and kg of what each joint carries
    for i in range(j):
        x, y, z = turn(R[i], centers[i])
        mass[i, 0] = masses[i]
        moment[i, 0] = masses[i] * (p[i, 0] + x)
        moment[i, 1] = masses[i] * (p[i, 1] + y)
        moment[i, 2] = masses[i] * (p[i, 2] + z)
    for i in range(j - 1, 0, -1):
        mass[parents[i], 0] += mass[i, 0]
        for c in range(3):
            moment[parents[i], c] += moment[i, c]
    g = floats(b.gravity, 3)
    for i in joints:
        m = mass[i, 0]
        x, y, z = moment[i, 0] - m * p[i, 0], moment[i, 1] - m * p[i, 1], moment[i, 2] - m * p[i, 2]
        torque[i, 0] -= y * g[2] - z * g[1]
        torque[i, 1] -= z * g[0] - x * g[2]
        torque[i, 2] -= x * g[1] - y * g[0]


@kernel
def pull_to(b: Any, x: Any, aim: np.ndarray) -> None:
    """Torques and damping of springs towards rotations (K, 4)."""
    j, k = b.joints, x.count
    pull_to_pose(
        integers(x.joints, k), floats(x.stiffness, k), floats(x.damping, k), aim, vectors(b.q, j, 4),
        blocks(b.R, j, 3, 3), b.dt, vectors(x.lead, k, 3), left_over(floats(x.fade, 2), b.t), vectors(b.torque, j, 3),
        floats(b.damping, j),
    )  # fmt: skip
    tell_aims(integers(x.joints, k), floats(x.stiffness, k), aim, vectors(b.aim, j, 4), floats(b.firm, j))


@kernel
def go_along(b: Any, x: Any, w: np.ndarray) -> None:
    """Have dampers act on the speed beside that of the aim, w (K, 3) in body axes."""
    j, k = b.joints, x.count
    joints, stiffness, damping = integers(x.joints, k), floats(x.stiffness, k), floats(x.damping, k)
    torque, R = vectors(b.torque, j, 3), blocks(b.R, j, 3, 3)
    # the implicit damper k dt of the spring acts on w itself: give the motion's share of it back
    for i in range(k):
        share = damping[i] + stiffness[i] * b.dt
        wx, wy, wz = share * w[i, 0], share * w[i, 1], share * w[i, 2]
        for c in range(3):
            row = R[joints[i], c]
            torque[joints[i], c] += row[0] * wx + row[2] * wz + row[1] * wy


@kernel
def give_way(b: Any, x: Any, share: float) -> None:
    """Turn the aims by a share of the way to where the joints are."""
    k = x.count
    joints, aim, q = integers(x.joints, k), vectors(x.aim, k, 4), vectors(b.q, b.joints, 4)
    e, bend, out = np.empty(3), np.empty(4), np.empty(4)
    for i in range(k):
        log_between(aim[i], q[joints[i]], e)
        for c in range(3):
            e[c] *= share
        set_exp(e, bend)
        multiply(aim[i], bend, out)
        for c in range(4):
            aim[i, c] = out[c]


STILL = fields(arrays="joints q root", integers="count holds_root")  # as of `RestPlayer`


@law
def write(body: int, block: int) -> None:
    """Where they rest, without any speed."""
    b, x = record(body, BODY), record(block, STILL)
    j, k = b.joints, x.count
    joints, own = integers(x.joints, k), vectors(x.q, k, 4)
    q, w, dw = vectors(b.q, j, 4), vectors(b.w, j, 3), vectors(b.dw, j, 3)
    for i in range(k):
        for c in range(4):
            q[joints[i], c] = own[i, c]
        for c in range(3):
            w[joints[i], c] = 0.0
            dw[joints[i], c] = 0.0
    if x.holds_root == 1:
        place, root, v, a = floats(x.root, 3), floats(b.root, 3), floats(b.v, 3), floats(b.a, 3)
        for c in range(3):
            root[c], v[c], a[c] = place[c], 0.0, 0.0


@kernel
def pull_to_pose(
    joints: np.ndarray,
    stiffness: np.ndarray,
    damping: np.ndarray,
    aim: np.ndarray,
    q: np.ndarray,
    R: np.ndarray,
    dt: float,
    lead: np.ndarray,
    share: float,
    torque: np.ndarray,
    implicit: np.ndarray,
) -> None:
    """torque (J, 3) in world axes and implicit damping (J,) of springs at some joints.

    stiffness, damping  (K,) N m/rad and N m s/rad;  aim (K, 4) rotations wanted

    lead, share         (K, 3) N m in body axes, and how much of it acts besides: what moved the joints before

    The spring is taken at the end of the step, k (e - dt w), by giving the engine k dt more damping to integrate
    implicitly: linearly implicit Euler, which no step size makes unstable.
    """
    e, x = np.empty(3), np.empty(3)
    for k in range(len(joints)):
        i = joints[k]
        # e = log(q* aim): the turn still to be made, in the body's axes
        log_between(q[i], aim[k], e)
        for c in range(3):
            e[c] = stiffness[k] * e[c] + share * lead[k, c]
        x[0], x[1], x[2] = turn(R[i], e)
        for c in range(3):
            torque[i, c] = x[c]
        implicit[i] = damping[k] + stiffness[k] * dt


@kernel
def tell_aims(joints: np.ndarray, stiffness: np.ndarray, aim: np.ndarray, told: np.ndarray, firm: np.ndarray) -> None:
    """What some springs aim at, and how firmly, for whoever asks: told (J, 4), firm (J,) N m/rad."""
    for k in range(len(joints)):
        i = joints[k]
        firm[i] = stiffness[k]
        for c in range(4):
            told[i, c] = aim[k, c]


@kernel
def left_over(fade: np.ndarray, t: float) -> float:
    """What is left at time t of a torque that dies away: 1 at fade[0], 0 from fade[1] seconds later on."""
    u = min(max((t - fade[0]) / fade[1], 0.0), 1.0)
    return (1.0 - u) ** 2 * (1.0 + 2.0 * u)

"""Springs that follow a motion, as a law.   [tracking, section 3]"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.drivers.kinematic_law import PART, play
from poise.drivers.loose_law import SPRINGS
from poise.drivers.servo_kernels import left_over, tell_aims
from poise.drivers.track_kernels import AT_ONCE, FASTEST, HARDEST, aim_ahead, ask_dynamics, keep_below, pull, set_off
from poise.dynamics.body_kernels import BODY
from poise.motion.part_kernels import rotate_back
from poise.spatial.addresses import blocks, floats, integers, record, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import fields, law

PAPER, CRITICAL, FEEDFORWARD = range(3)
# s, over which the accelerations of a root that floats are followed. Five recordings over legs that balance: the error
# is half of what it is without, and feet slide half as far; 0.05 is better yet, at 0.02 all fall.
LATELY = 0.1
JERKED = 50.0, 100.0  # m/s2, rad/s2: more is a blow
# springs, guide: addresses of blocks, of SPRINGS and of what they follow, a PART or a FOLLOWER
# work   (3, J, 3) room for accelerations;  most (K,) N m, what is fed forward at most;  firm (K,): see `Body`
# soft   (K,) how far each spring has given way, 0 to 1;  late (K,) what has pushed it as of late: `track_give_law`
# weight (K,) N m, m g l there;  give: how much of its stiffness a spring loses at most
# root   (13,) a root that floats: its velocity and spin in the last step, its accelerations as of late, and whether
#        those are known
# kind   which of the laws above
FOLLOWED = fields(arrays="work most firm soft late weight root", integers="springs guide kind", floats="give")


@kernel
def pull_along(b: Any, x: Any, s: Any, q: np.ndarray, w: np.ndarray, dw: np.ndarray) -> None:
    """Torques of springs towards a motion that is at q (K, 4) with rates w and dw (K, 3) at mid-step."""
    j, k = b.joints, s.count
    joints, aim, lead = integers(s.joints, k), vectors(s.aim, k, 4), vectors(s.lead, k, 3)
    stiffness, damping = floats(s.stiffness, k), floats(s.damping, k)
    here, R, wanted = vectors(b.q, j, 4), blocks(b.R, j, 3, 3), vectors(b.dw, j, 3)
    torque, implicit = vectors(b.torque, j, 3), floats(b.damping, j)
    soft = floats(x.soft, k)
    share, along = left_over(floats(s.fade, 2), b.t), x.kind != PAPER
    x3, x4, fastest = np.empty(3), np.empty(4), min(FASTEST, AT_ONCE / b.dt)
    for n in range(k):
        i = joints[n]
        aim_ahead(b.dt, q[n], w[n], dw[n], x3, x4, aim[n])
        keep_below(w[n], fastest)
        set_off(aim[n], here[i], x4)
        w[n, 0], w[n, 1], w[n, 2] = rotate_back(x4, w[n, 0], w[n, 1], w[n, 2])
        ease = 1.0 - x.give * soft[n]  # the damper goes along: what gives way does not swing either
        k_n, d_n = ease * stiffness[n], np.sqrt(ease) * damping[n]
        # a spring that is far off draws the joint along at k e / (d + k dt)
        most = fastest * (d_n / k_n + b.dt) if k_n > 0.0 else np.inf
        pull(k_n, d_n, along, aim[n], w[n], here[i], R[i], lead[n], share, most, x3, torque[i])
        implicit[i] = d_n + k_n * b.dt
        if x.kind == FEEDFORWARD:
            keep_below(dw[n], HARDEST)
            wanted[i, 0], wanted[i, 1], wanted[i, 2] = rotate_back(x4, dw[n, 0], dw[n, 1], dw[n, 2])
    tell_aims(joints, floats(x.firm, k), aim, vectors(b.aim, j, 4), floats(b.firm, j))
    if x.kind == FEEDFORWARD:
        feed_forward(b, x, s)


@kernel
def feed_forward(b: Any, x: Any, s: Any) -> None:
    """Add what the wanted accelerations, in the body's `dw`, ask of the joints in its present state.

    Joints under other drivers turn as those say, or not at all.
    """
    j, k = b.joints, s.count
    joints, most, work = integers(s.joints, k), floats(x.most, k), blocks(x.work, 3, j, 3)
    torque, f, n = vectors(b.torque, j, 3), vectors(b.f, j, 3), vectors(b.n, j, 3)
    a0, kept = np.empty(3), np.empty(3)
    swing_root(b, floats(x.root, 13), a0, kept)
    ask_dynamics(
        integers(b.parents, j), floats(b.masses, j), vectors(b.centers, j, 3), blocks(b.inertias, j, 3, 3),
        blocks(b.R, j, 3, 3), vectors(b.p, j, 3), vectors(b.om, j, 3), vectors(b.w, j, 3), vectors(b.dw, j, 3), a0,
        b.gravity, b.aloft == 1, work[0], work[1], f, n,
    )  # fmt: skip
    for c in range(3):
        vectors(b.dw, j, 3)[0, c] = kept[c]
    for i in range(k):
        keep_below(n[joints[i]], most[i])
        for c in range(3):
            torque[joints[i], c] += n[joints[i], c]


@kernel
def swing_root(b: Any, root: np.ndarray, a0: np.ndarray, kept: np.ndarray) -> None:
    """How the root accelerates: a0 (3,) m/s2, and rad/s2 in its row of the body's `dw`, of which `kept` (3,) was there.

    One that is given says so. One that floats and is held up goes on, about, as it did: what this asks of the joints
    moves it at once, so that it is followed slowly.
    """
    a, v, w, dw = floats(b.a, 3), floats(b.v, 3), vectors(b.w, b.joints, 3)[0], vectors(b.dw, b.joints, 3)[0]
    is_given = False
    for c in range(3):
        a0[c], kept[c] = a[c], dw[c]
        is_given = is_given or a[c] != 0.0 or dw[c] != 0.0
    if is_given or b.aloft == 1:
        root[12] = 0.0
        return
    share = min(b.dt / LATELY, 1.0)
    for c in range(3):
        if root[12] == 1.0:
            root[6 + c] += share * ((v[c] - root[c]) / b.dt - root[6 + c])
            root[9 + c] += share * ((w[c] - root[3 + c]) / b.dt - root[9 + c])
        else:
            root[6 + c] = root[9 + c] = 0.0
        root[c], root[3 + c] = v[c], w[c]
    keep_below(root[6:9], JERKED[0])
    keep_below(root[9:12], JERKED[1])
    root[12] = 1.0
    for c in range(3):
        a0[c], dw[c] = root[6 + c], root[9 + c]


@law
def follow(body: int, block: int) -> None:
    """Torques towards where the motion is at the end of the step."""
    b, x = record(body, BODY), record(block, FOLLOWED)
    s, g = record(x.springs, SPRINGS), record(x.guide, PART)
    play(x.guide, b.t + 0.5 * b.dt)
    pull_along(b, x, s, vectors(g.q, s.count, 4), vectors(g.w, s.count, 3), vectors(g.dw, s.count, 3))

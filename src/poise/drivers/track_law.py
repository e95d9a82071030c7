"""Springs that follow a motion, as a law.   [tracking, section 3]"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.drivers.kinematic_law import PART, play
from poise.drivers.loose_law import SPRINGS
from poise.drivers.servo_kernels import left_over, pull_to_pose, tell_aims
from poise.dynamics.body_kernels import BODY
from poise.spatial.addresses import blocks, floats, integers, record, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import fields, law

FOLLOWED = fields(integers="springs guide")  # addresses of blocks: of SPRINGS, and of what they follow, a PART


@kernel
def pull_along(b: Any, s: Any, q: np.ndarray, w: np.ndarray) -> None:
    """Torques of springs towards rotations q (K, 4) that move with velocities w (K, 3)."""
    j, k = b.joints, s.count
    aim = vectors(s.aim, k, 4)
    for i in range(k):
        for c in range(4):
            aim[i, c] = q[i, c]
    joints, stiffness, damping = integers(s.joints, k), floats(s.stiffness, k), floats(s.damping, k)
    torque, R = vectors(b.torque, j, 3), blocks(b.R, j, 3, 3)
    pull_to_pose(
        joints, stiffness, damping, aim, vectors(b.q, j, 4), R, b.dt, vectors(s.lead, k, 3),
        left_over(floats(s.fade, 2), b.t), torque, floats(b.damping, j),
    )  # fmt: skip
    tell_aims(joints, stiffness, aim, vectors(b.aim, j, 4), floats(b.firm, j))
    # the implicit damper k dt of the spring acts on w itself: give the motion's share of it back
    for i in range(k):
        share = damping[i] + stiffness[i] * b.dt
        wx, wy, wz = share * w[i, 0], share * w[i, 1], share * w[i, 2]
        for c in range(3):
            row = R[joints[i], c]
            torque[joints[i], c] += row[0] * wx + row[2] * wz + row[1] * wy


@law
def follow(body: int, block: int) -> None:
    """Torques towards where the motion is at the end of the step, with its own velocity in the dampers."""
    b, x = record(body, BODY), record(block, FOLLOWED)
    s, g = record(x.springs, SPRINGS), record(x.guide, PART)
    play(x.guide, b.t + b.dt)
    pull_along(b, s, vectors(g.q, s.count, 4), vectors(g.w, s.count, 3))

"""Springs that follow a motion, as a law.   [tracking, section 3]"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.drivers.kinematic_law import PART, play
from poise.drivers.loose_law import SPRINGS, go_along, pull_to
from poise.dynamics.body_kernels import BODY
from poise.spatial.addresses import record, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import fields, law

FOLLOWED = fields(integers="springs guide")  # addresses of blocks: of SPRINGS, and of what they follow, a PART


@kernel
def pull_along(b: Any, s: Any, q: np.ndarray, w: np.ndarray) -> None:
    """Torques of springs towards rotations q (K, 4) that move with velocities w (K, 3)."""
    aim = vectors(s.aim, s.count, 4)
    for i in range(s.count):
        for c in range(4):
            aim[i, c] = q[i, c]
    pull_to(b, s, aim)
    go_along(b, s, w)


@law
def follow(body: int, block: int) -> None:
    """Torques towards where the motion is at the end of the step, with its own velocity in the dampers."""
    b, x = record(body, BODY), record(block, FOLLOWED)
    s, g = record(x.springs, SPRINGS), record(x.guide, PART)
    play(x.guide, b.t + b.dt)
    pull_along(b, s, vectors(g.q, s.count, 4), vectors(g.w, s.count, 3))

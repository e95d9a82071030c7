"""What holds the joints that hang from a physical body and that nobody drives: a firm spring at each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from poise.drivers.body import Body
from poise.drivers.loose import FIRM, Loose, LoosePlayer


def hold_pose(body: Body, joints: list[int], t: float, aims: Mapping[int, np.ndarray]) -> LoosePlayer:
    """Springs that hold some joints from time t on.

    aims  (4,) by joint: what was held before is held where it was held, not where it is now
    """
    held = Loose(stiffness=FIRM, damping=1.0).play(body, np.array(joints), t)
    for k, joint in enumerate(joints):
        if joint in aims:
            held.aim[k], held.lead[k] = aims[joint], 0.0
    return held

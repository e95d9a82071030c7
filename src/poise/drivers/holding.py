"""What holds joints that hang from a physical body and that nobody drives: a firm spring that carries their weight."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import numpy as np

from poise.drivers.body import Body
from poise.drivers.loose import FIRM, LET_GO, TONE, Loose, LoosePlayer
from poise.drivers.still import find_rest


def hold_pose(
    body: Body,
    joints: list[int],
    t: float,
    aims: Mapping[int, np.ndarray],
    before: LoosePlayer | None = None,
    is_limp: bool = False,
) -> LoosePlayer:
    """Springs that hold some joints from time t on; what still moves comes to rest first.

    aims     (4,) by joint: what was held before is held where it was held, not where it is now
    before   what held joints until now
    is_limp  whether the body has lost its balance: springs that hold a pose firmly would fight the ground
    """
    at, springs = np.array(joints), TONE if is_limp else Loose(stiffness=FIRM, damping=1.0)
    if body.state.w[at].any():
        pose = body.state.q.copy()
        pose[at] = find_rest(body, at, LET_GO)
        springs = dataclasses.replace(springs, pose=pose)
    held = springs.play(body, at, t)
    held.span[:, 1] = LET_GO
    held.carries[0] = 0.0 if is_limp else 1.0
    if is_limp and (before is None or math.isinf(before.relax[0])):
        return held  # from here on it holds nothing as it did
    known = {} if before is None else {int(joint): k for k, joint in enumerate(before.joints)}
    for k, joint in enumerate(joints):
        if joint not in aims:
            continue
        held.aim[k], held.lead[k], held.offset[:, k] = aims[joint], 0.0, 0.0
        if before is not None and joint in known:
            old = known[joint]
            held.lead[k] = before.find_lead(t)[old]
            held.offset[:, k], held.span[k] = before.offset[:, old], before.span[old]
    return held

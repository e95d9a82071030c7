"""How large a skeleton's body is, in whatever unit it comes."""

from __future__ import annotations

import numpy as np

from poise.body.skeleton import Skeleton
from poise.body.stature import find_stature

TYPICAL_STATURE = 1.7  # m
# Longest way along the bones of a person, hand to toes, over stature: 1.31 to 1.51 on the skeletons of 24 recordings,
# 1.30 without arms.
_SPAN = 1.4
# A stature found from roles, over the rough one: less or more means that the roles are not a person's. One limb alone
# has a span of a third of the stature.
_LEAST, _MOST = 0.18, 4.5


def compute_stature(skeleton: Skeleton) -> float:
    """How tall the body stands, in the skeleton's own unit; 0 if it has no length.

    As `poise.body.stature.find_stature`; for what has neither leg nor arm, roughly, from the longest way along its
    bones.
    """
    roughly = _compute_span(skeleton) / _SPAN
    if roughly == 0.0:
        return 0.0
    found = find_stature(skeleton)
    return found[0] if found is not None and _LEAST * roughly <= found[0] <= _MOST * roughly else roughly


def _compute_span(skeleton: Skeleton) -> float:
    """The longest way along the bones between any two ends, in the skeleton's unit."""
    lengths = np.linalg.norm(skeleton.offsets, axis=1)
    tips = np.where(skeleton.has_tip, np.linalg.norm(skeleton.tips, axis=1), 0.0)
    reach, span = tips.copy(), tips.copy()  # below each joint: the longest way down, and the longest way of any kind
    for joint in range(len(skeleton) - 1, 0, -1):
        parent = skeleton.parents[joint]
        way = reach[joint] + lengths[joint]
        span[parent] = max(span[parent], span[joint], reach[parent] + way)
        reach[parent] = max(reach[parent], way)
    return float(span[0])

"""A hand held up for a cue: in front of the shoulder at breast height, open, the palm up and to the middle."""

from __future__ import annotations

import numpy as np

from poise.motion.gestures.arm import Arm, ArmPath

PLACE = np.array([0.52, -0.18, 0.70])  # (out, up, forward) in arm lengths from between the shoulders
PALM = np.array([-0.35, 1.0, -0.25])
FLEXION = np.radians(-8.0)


def raised_hand(arm: Arm, lift: np.ndarray) -> ArmPath:
    """The arm's path with the hand held up, raised further by `lift` (N,) arm lengths."""
    place = PLACE + np.stack([0.0 * lift, lift, 0.0 * lift], axis=-1)
    return ArmPath(arm.length * place, PALM, np.full(len(lift), FLEXION), reach=0.95)

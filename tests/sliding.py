"""Clips whose joints slide, and a plain evaluation of where their joints are: one frame and one joint at a time."""

from __future__ import annotations

import numpy as np

from poise.motion.clip import Clip
from poise.motion.motion import Pose


def matrix(q: np.ndarray) -> np.ndarray:
    """A quaternion wxyz as a matrix (3, 3), from the textbook."""
    w, x, y, z = np.asarray(q, float) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def plain_positions(skeleton, poses: Pose) -> np.ndarray:
    """(F, J, 3) m: p_j = p_parent + R_parent (offset_j + shift_j), for poses (F, ...)."""
    frames, joints = len(poses.root), len(skeleton)
    places = np.empty((frames, joints, 3))
    for f in range(frames):
        turns = []
        for j in range(joints):
            own, parent = matrix(poses.rotations[f, j]), skeleton.parents[j]
            if parent < 0:
                places[f, j] = poses.root[f]
                turns.append(own)
                continue
            shift = 0.0 if poses.shifts is None else poses.shifts[f, j]
            places[f, j] = places[f, parent] + turns[parent] @ (skeleton.offsets[j] + shift)
            turns.append(turns[parent] @ own)
    return places


def slide(clip: Clip, joints: dict[str, float], hz: float = 0.7) -> Clip:
    """The clip with some joints (name or role -> m) that slide to and fro along all three axes, each in its own way."""
    shifts = np.zeros((len(clip), len(clip.skeleton), 3))
    for k, (joint, size) in enumerate(joints.items()):
        phase = 2.0 * np.pi * hz * clip.times[:, None] + k + np.array([0.0, 1.0, 2.5])
        shifts[:, clip.skeleton.index(joint)] = size * np.sin(phase)
    return clip.replace(shifts=shifts)

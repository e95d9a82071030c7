"""Orientations of a body's parts, as trackers give them, as a clip of joints.   [tracking, section 3, eq 1: Z1]

Samples may come at any rate, also uneven. What is between them is asked from the clip: `clip.pose(t, "slerp")` or
`clip.pose(t, "spline")`, or `resample(clip, fps, how)`.
"""

from __future__ import annotations

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.kinds import checked
from poise.motion.clip import Clip
from poise.spatial import rotation


@checked
def build_sampled_clip(
    skeleton: Skeleton,
    times: np.ndarray,
    orientations: np.ndarray,
    root: np.ndarray | None = None,
    name: str = "samples",
) -> Clip:
    """A clip out of samples of the orientation of each part in the world.

    times         (F,) s, increasing, as uneven as they came
    orientations  (F, J, 4) wxyz of the bodies at the joints; NaN where nothing was measured: that part goes along with
                  what carries it, as it is at rest
    root          (F, 3) m, where the root is; None: where it rests
    """
    times, given = np.asarray(times, float), np.array(orientations, float)
    frames, joints = len(times), len(skeleton)
    if given.shape != (frames, joints, 4):
        raise InputError(
            f"{frames} samples of {joints} joints need orientations ({frames}, {joints}, 4); given {given.shape}."
        )
    missing = np.isnan(given).any(axis=-1)
    sizes = np.linalg.norm(np.where(missing[..., None], 1.0, given), axis=-1)
    if np.any(sizes < 1e-6):
        frame, joint = (int(i) for i in np.argwhere(sizes < 1e-6)[0])
        raise InputError(f"the orientation of '{skeleton.names[joint]}' at sample {frame} is zero.")
    rotations = rotation.identity((frames, joints))
    for i in range(joints):
        parent = int(skeleton.parents[i])
        above = rotation.identity((frames,)) if parent < 0 else given[:, parent]
        given[missing[:, i], i] = above[missing[:, i]]
        given[:, i] = rotation.normalize(given[:, i])
        # theta = inboard^-1 outboard   [tracking, eq 1]
        rotations[:, i] = rotation.multiply(rotation.conjugate(above), given[:, i])
    if root is None:
        root = np.tile(skeleton.offsets[0], (frames, 1))
    return Clip(skeleton, times, root, rotations, name)

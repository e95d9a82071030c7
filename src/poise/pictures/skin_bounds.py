"""Where a body can be at many poses, from a few points: a box around what each joint carries."""

from __future__ import annotations

import itertools

import numpy as np

from poise.body.skeleton import Skeleton
from poise.body.skin import SkinnedMesh
from poise.motion.motion import Pose
from poise.spatial import rotation


class SkinBounds:
    """Boxes around the vertices that each joint moves, in the joint's frame: eight points a joint instead of hundreds.

    A blended vertex lies between where its joints would have it, so the hull of all boxes contains the body.
    """

    def __init__(self, skeleton: Skeleton, skin: SkinnedMesh):
        self.skeleton = skeleton
        rest = skeleton.rest_positions()
        joints, corners = [], []
        for joint in range(len(skeleton)):
            moved = ((skin.joints == joint) & (skin.weights > 0.0)).any(axis=1)
            if moved.any():
                own = skin.vertices[moved] - rest[joint]
                ends = np.stack([own.min(axis=0), own.max(axis=0)])
                joints.append(joint)
                corners.append(
                    [[ends[i, 0], ends[j, 1], ends[k, 2]] for i, j, k in itertools.product((0, 1), repeat=3)]
                )
        self.joints, self.corners = np.array(joints), np.array(corners)  # (K,) and (K, 8, 3) m

    def at(self, pose: Pose) -> np.ndarray:
        """(..., 8 K, 3) m, the boxes' corners in the world at one or more poses."""
        positions, orientations = self.skeleton.pose(*pose)
        turned = rotation.rotate(orientations[..., self.joints, None, :], self.corners)
        points = positions[..., self.joints, None, :] + turned
        return points.reshape(*points.shape[:-3], -1, 3)

"""A clip seen in other axes, or told from another rest pose, without a change in where anything is.

World axes turned by A and each joint's rest axes turned by Q_j: the orientation W_j of a joint becomes A W_j Q_j^-1,
its offset Q_parent o_j, its shift Q_parent s_j, and its rotation relative to its parent Q_parent r_j Q_j^-1 (the
root's: A r Q^-1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.geometry.skin import SkinnedMesh
from poise.body.skeleton import Skeleton
from poise.motion.clip import Clip
from poise.spatial import rotation


@dataclass(frozen=True, eq=False)
class Reframe:
    """From a file's units, axes and rest pose to Poise's.

    scale  metres a unit of the file
    world  (4,) the file's world axes turned into Poise's: positions p become scale * world p
    rest   (J, 4) each joint's rest axes turned
    """

    scale: float
    world: np.ndarray
    rest: np.ndarray

    def apply(self, clip: Clip) -> Clip:
        """The clip of a file in Poise's units, axes and rest pose."""
        skeleton = reframe_skeleton(clip.skeleton, self.rest).scaled(self.scale)
        parents = np.concatenate([self.world[None], self.rest[clip.skeleton.parents[1:]]])
        turned = rotation.multiply(rotation.multiply(parents, clip.rotations), rotation.conjugate(self.rest))
        root = self.scale * rotation.rotate(self.world, clip.root)
        shifts = None if clip.shifts is None else self.scale * rotation.rotate(parents, clip.shifts)
        return clip.replace(skeleton=skeleton, root=root, rotations=turned, shifts=shifts)

    def undo(self, clip: Clip) -> Clip:
        """A clip of the same joints back in the file's units, axes and rest pose."""
        return Reframe(1.0 / self.scale, rotation.conjugate(self.world), rotation.conjugate(self.rest)).apply(clip)

    def apply_to_skin(self, skin: SkinnedMesh, skeleton: Skeleton) -> SkinnedMesh:
        """A file's skin, made for the file's skeleton at rest, in Poise's units and rest pose."""
        vertices, normals = skin.pose(skeleton, reframe_skeleton(skeleton, self.rest).rest_positions(), self.rest)
        return SkinnedMesh(self.scale * vertices, normals, skin.faces, skin.joints, skin.weights)


def reframe_skeleton(skeleton: Skeleton, rest: np.ndarray) -> Skeleton:
    """The skeleton whose rest pose has every joint's axes turned by `rest` (J, 4)."""
    carriers = rest[np.maximum(skeleton.parents, 0)]
    return skeleton.replace(
        offsets=rotation.rotate(carriers, skeleton.offsets), tips=rotation.rotate(rest, np.asarray(skeleton.tips))
    )


def turn_clip(clip: Clip, q: np.ndarray) -> Clip:
    """The same motion seen in axes turned by q: rest pose, root and rotations. Positions p become q p."""
    q = np.asarray(q, float)
    return Reframe(1.0, q, np.tile(q, (len(clip.skeleton), 1))).apply(clip)

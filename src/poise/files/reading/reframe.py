"""A clip expressed in other axes and units, or relative to another rest pose; every joint stays in its place.

World axes turned by A and each joint's rest axes turned by Q_j: the orientation W_j of a joint becomes A W_j Q_j^-1,
its offset Q_parent o_j, its shift Q_parent s_j, and its rotation relative to its parent Q_parent r_j Q_j^-1 (the
root's: A r Q^-1).

`Placement` is the way back: a motion in metres and Y up, expressed in the units, axes and rest pose of its file.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from poise.body.geometry.skin import SkinnedMesh
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.motion.clip import Clip
from poise.spatial import rotation

AXES = ("X", "Y", "Z", "-X", "-Y", "-Z")
AXIS_VECTORS = np.concatenate([np.eye(3), -np.eye(3)])


def check_up(up: str) -> str:
    """Return the name of an axis, once it is one."""
    if up not in AXES:
        allowed = ", ".join(f"'{axis}'" for axis in AXES)
        raise InputError(f"the up axis must be one of {allowed}; got '{up}'. Leave it out to have it found.")
    return up


def turn_to_y(up: str) -> np.ndarray:
    """(4,) the rotation that turns a file's up axis into +Y."""
    return rotation.between(AXIS_VECTORS[AXES.index(up)], np.array([0.0, 1.0, 0.0]))


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


UNCHANGED = Reframe(1.0, rotation.identity(), rotation.identity((1,)))


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


@dataclass(frozen=True, eq=False)
class Placement:
    """How what was read lies in the coordinates of its file.

    frame   the scale and turns from the file's clip to the one that was made of it
    joints  the file's, in the order of `frame.rest`
    """

    frame: Reframe
    joints: Skeleton

    @property
    def scale(self) -> float:
        """Metres a unit of the file."""
        return self.frame.scale

    @property
    def turn(self) -> np.ndarray:
        """(4,) from the file's axes at rest to Poise's: the root's, where joints differ."""
        return np.asarray(self.frame.rest[0])

    def to_file(self, clip: Clip) -> Clip:
        """A clip in the file's units, axes and rest pose. Its skeleton keeps its own joints and lengths of bones."""
        return self._fit(clip.skeleton).undo(clip)

    def from_file(self, clip: Clip) -> Clip:
        """A clip that has the file's units, axes and rest pose in metres, Y up: `to_file` backwards."""
        return self._fit(clip.skeleton).apply(clip)

    def _fit(self, skeleton: Skeleton) -> Reframe:
        """The frame with a rest turn for each joint of a skeleton."""
        known = {name: i for i, name in enumerate(self.joints.names)}
        rest = np.empty((len(skeleton), 4))
        for i, (name, parent) in enumerate(zip(skeleton.names, skeleton.parents, strict=True)):
            if name in known:
                rest[i] = self.frame.rest[known[name]]
            else:  # a joint that the file does not have goes with the one that carries it
                rest[i] = rest[parent] if parent >= 0 else self.frame.rest[0]
        return dataclasses.replace(self.frame, rest=rest)

"""Where every body of a tree is in the world, and how it moves there; over all frames at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.dynamics.tree import Kinematics, Tree
from poise.spatial import rotation


@dataclass(frozen=True, eq=False)
class WorldPose:
    """A tree's bodies in world axes.

    joints    (..., J, 3) m, positions of the joints
    turns     (..., J, 3, 3) from each body's axes to the world's
    centers   (..., J, 3) m, centres of mass
    inertias  (..., J, 3, 3) kg m2 about them
    """

    joints: np.ndarray
    turns: np.ndarray
    centers: np.ndarray
    inertias: np.ndarray

    @property
    def batch(self) -> tuple[int, ...]:
        """The leading axes."""
        return self.joints.shape[:-2]


def compute_world_pose(
    tree: Tree, root: np.ndarray, rotations: np.ndarray, shifts: np.ndarray | None = None
) -> WorldPose:
    """Forward kinematics of joints and centres of mass. root (..., 3), rotations (..., J, 4), shifts (..., J, 3)."""
    turns = rotation.to_matrix(rotations)
    joints = np.empty((*turns.shape[:-2], 3))
    joints[..., 0, :] = root
    for i in range(1, len(tree)):
        p = tree.parents[i]
        turns[..., i, :, :] = turns[..., p, :, :] @ turns[..., i, :, :]
        joints[..., i, :] = joints[..., p, :] + turns[..., p, :, :] @ tree.offsets[i]
        if shifts is not None:
            joints[..., i, :] += np.einsum("...ab,...b->...a", turns[..., p, :, :], shifts[..., i, :])
    centers = joints + np.einsum("...jab,jb->...ja", turns, tree.centers)
    inertias = turns @ tree.inertias @ np.swapaxes(turns, -1, -2)
    return WorldPose(joints, turns, centers, inertias)


@dataclass(frozen=True, eq=False)
class WorldVelocity:
    """Velocities of a tree's bodies in world axes.

    angular  (..., J, 3) rad/s, of each body relative to the world
    joints   (..., J, 3) m/s, of each joint's position
    centers  (..., J, 3) m/s, of each centre of mass
    """

    angular: np.ndarray
    joints: np.ndarray
    centers: np.ndarray


def compute_world_velocity(tree: Tree, state: Kinematics, pose: WorldPose | None = None) -> WorldVelocity:
    """How every body moves in the world."""
    pose = pose or compute_world_pose(tree, state.root, state.rotations, state.shift)
    angular = np.einsum("...jab,...jb->...ja", pose.turns, state.angular_velocity)
    joints = np.empty_like(angular)
    joints[..., 0, :] = state.velocity
    for i in range(1, len(tree)):
        p = tree.parents[i]
        angular[..., i, :] += angular[..., p, :]
        arm = pose.joints[..., i, :] - pose.joints[..., p, :]
        joints[..., i, :] = joints[..., p, :] + np.cross(angular[..., p, :], arm)
        if state.shift_velocity is not None:
            own = np.einsum("...ab,...b->...a", pose.turns[..., p, :, :], state.shift_velocity[..., i, :])
            joints[..., i, :] += own
    centers = joints + np.cross(angular, pose.centers - pose.joints)
    return WorldVelocity(angular, joints, centers)

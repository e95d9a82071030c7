"""Where every body of a tree is in the world, and how it moves there; over all frames at once.

The joint-space inertia H(q), by composite rigid bodies, over all frames at once.

Source: Featherstone (2008), table 6.2, seen from the world's axes. A unit of one generalised velocity (`tree.py`) moves
everything outboard of its joint as one rigid body, so a column of H is the momentum of that composite body, felt at
every joint between it and the root.

    I_i^c = I_i + sum over children of I_k^c          composite inertia of what joint i carries, about joint i
    h     = I_i^c s                                   its momentum when it moves along the unit motion s
    H_ji  = s_j . h (moved to joint j)                for j = i and every j on the way to the root

Centre of mass, momentum, and the Jacobians of both and of points on the body; over all frames at once.

Columns of every Jacobian belong to the generalised velocity u of `tree.py`: the root's velocity in world axes, then the
turns of each joint in its body's axes. A turn of joint k moves all it carries, of mass m_k and centre c_k, about the
joint p_k, so for the centre of mass

    dcom / dw_k = (m_k / M) [axis x (c_k - p_k)]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.dynamics.tree import Tree, TreeState
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


def compute_world_velocity(tree: Tree, state: TreeState, pose: WorldPose | None = None) -> WorldVelocity:
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


def compute_joint_space_inertia(tree: Tree, root: np.ndarray, rotations: np.ndarray) -> np.ndarray:
    """H (..., n, n), symmetric: tau = H udot + C in the coordinates of `tree.py`.   [mix, eq 1]

    root (..., 3) m, rotations (..., J, 4); any leading axes.
    """
    pose = compute_world_pose(tree, root, rotations)
    mass, center, inertia = compute_composites(tree, pose)
    H = np.zeros((*pose.batch, tree.size, tree.size))
    for i in range(len(tree)):
        axes = np.swapaxes(pose.turns[..., i, :, :], -1, -2)  # rows: the unit turns of joint i, in world axes
        arm = (center[..., i, :] - pose.joints[..., i, :])[..., None, :]
        # Turning about joint i: linear momentum m (s x arm), angular momentum about the centre of mass I s.
        linear = mass[i] * np.cross(axes, arm)
        angular = axes @ inertia[..., i, :, :]
        at = slice(3 + 3 * i, 6 + 3 * i)
        j = i
        while j >= 0:
            lever = (center[..., i, :] - pose.joints[..., j, :])[..., None, :]
            felt = (angular + np.cross(lever, linear)) @ pose.turns[..., j, :, :]  # in joint j's axes
            across = slice(3 + 3 * j, 6 + 3 * j)
            H[..., at, across] = felt
            H[..., across, at] = np.swapaxes(felt, -1, -2)
            j = int(tree.parents[j])
        H[..., at, :3] = linear
        H[..., :3, at] = np.swapaxes(linear, -1, -2)
    H[..., :3, :3] = tree.mass * np.eye(3)
    return 0.5 * (H + np.swapaxes(H, -1, -2))  # the blocks on the diagonal are symmetric but for rounding


def compute_composites(tree: Tree, pose: WorldPose) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What each joint carries, locked in its pose: mass (J,), centre (..., J, 3) and inertia (..., J, 3, 3).

    Centres are points of the world; inertias are about them, in world axes. Where a joint carries no mass, its centre
    is the joint itself.
    """
    mass = tree.masses.copy()
    for i in reversed(range(1, len(tree))):
        mass[tree.parents[i]] += mass[i]
    moment = tree.masses[:, None] * pose.centers
    for i in reversed(range(1, len(tree))):
        moment[..., tree.parents[i], :] += moment[..., i, :]
    loaded = mass > 0
    center = np.where(loaded[:, None], moment / np.where(loaded, mass, 1.0)[:, None], pose.joints)
    inertia = pose.inertias + _steiner(tree.masses[:, None, None], pose.centers - center)
    above = tree.parents[1:]
    moved = _steiner(mass[1:, None, None], center[..., 1:, :] - center[..., above, :])
    for i in reversed(range(1, len(tree))):
        inertia[..., above[i - 1], :, :] += inertia[..., i, :, :] + moved[..., i - 1, :, :]
    return mass, center, inertia


def _steiner(mass: np.ndarray | float, d: np.ndarray) -> np.ndarray:
    """m (d.d 1 - d d^T): what a mass adds to the inertia about a point at distance d."""
    outer = d[..., :, None] * d[..., None, :]
    return mass * (np.sum(d * d, axis=-1)[..., None, None] * np.eye(3) - outer)


@dataclass(frozen=True, eq=False)
class Momentum:
    """The body's motion as a whole, in world axes.

    center    (..., 3) m, centre of mass
    velocity  (..., 3) m/s, of the centre of mass
    linear    (..., 3) N s
    angular   (..., 3) N m s about the centre of mass
    """

    center: np.ndarray
    velocity: np.ndarray
    linear: np.ndarray
    angular: np.ndarray


def compute_center_of_mass(
    tree: Tree, root: np.ndarray, rotations: np.ndarray, shifts: np.ndarray | None = None
) -> np.ndarray:
    """Return the centre of mass, (..., 3) m in world axes.

    tree       of a character: `poise.extend.build_tree(character)`
    root       (..., 3) m;  rotations (..., J, 4): a `Pose`, or many of them
    """
    centers = compute_world_pose(tree, root, rotations, shifts).centers
    return np.einsum("j,...ja->...a", tree.masses, centers) / tree.mass


def compute_momentum(tree: Tree, state: TreeState) -> Momentum:
    """Centre of mass, its velocity, and linear and angular momentum."""
    pose = compute_world_pose(tree, state.root, state.rotations, state.shift)
    speed = compute_world_velocity(tree, state, pose)
    m = tree.masses
    center = np.einsum("j,...ja->...a", m, pose.centers) / tree.mass
    linear = np.einsum("j,...ja->...a", m, speed.centers)
    spin = np.einsum("...jab,...jb->...a", pose.inertias, speed.angular)
    orbit = np.cross(pose.centers - center[..., None, :], speed.centers)
    return Momentum(center, linear / tree.mass, linear, spin + np.einsum("j,...ja->...a", m, orbit))


def compute_center_of_mass_jacobian(tree: Tree, root: np.ndarray, rotations: np.ndarray) -> np.ndarray:
    """Return the Jacobian J (..., 3, n) of the centre of mass: its velocity is J u, m/s in world axes.

    u  (3 + 3 J,): the root's velocity in world axes (m/s), then for each joint, the root first, its angular velocity
       relative to its parent in the joint's own axes (rad/s)

    `compute_point_jacobian` and `compute_joint_space_inertia` have the same columns. A floating base is as in MuJoCo;
    in Pinocchio its linear velocity, too, is in the base's own axes. Every joint has three columns, hinges as well.
    """
    pose = compute_world_pose(tree, root, rotations)
    mass, center, _ = compute_composites(tree, pose)
    axes = np.swapaxes(pose.turns, -1, -2)  # (..., J, turn, world)
    momentum = mass[:, None, None] * np.cross(axes, (center - pose.joints)[..., None, :])
    jacobian = np.zeros((*pose.batch, 3, tree.size))
    jacobian[..., :3] = np.eye(3)
    jacobian[..., 3:] = np.moveaxis(momentum, -1, -3).reshape(*pose.batch, 3, -1) / tree.mass
    return jacobian


def compute_point_jacobian(
    tree: Tree, root: np.ndarray, rotations: np.ndarray, body: int, point: np.ndarray | None = None
) -> np.ndarray:
    """(..., 6, n): angular velocity of a body (rows 0-2) and velocity of a point fixed to it (rows 3-5), world axes.

    point  (3,) m in the body's frame; the joint itself where it is not given
    """
    pose = compute_world_pose(tree, root, rotations)
    at = pose.joints[..., body, :]
    if point is not None:
        at = at + pose.turns[..., body, :, :] @ np.asarray(point, float)
    jacobian = np.zeros((*pose.batch, 6, tree.size))
    jacobian[..., 3:, :3] = np.eye(3)
    i = body
    while i >= 0:
        turns = pose.turns[..., i, :, :]
        arm = (at - pose.joints[..., i, :])[..., :, None]
        jacobian[..., :3, 3 + 3 * i : 6 + 3 * i] = turns
        jacobian[..., 3:, 3 + 3 * i : 6 + 3 * i] = np.cross(turns, arm, axis=-2)
        i = int(tree.parents[i])
    return jacobian

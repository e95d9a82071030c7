"""Centre of mass, momentum, and the Jacobians of both and of points on the body; over all frames at once.

Columns of every Jacobian belong to the generalised velocity u of `tree.py`: the root's velocity in world axes, then the
turns of each joint in its body's axes. A turn of joint k moves all it carries, of mass m_k and centre c_k, about the
joint p_k, so for the centre of mass

    dcom / dw_k = (m_k / M) [axis x (c_k - p_k)]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.dynamics.composite import compute_composites
from poise.dynamics.tree import Kinematics, Tree
from poise.dynamics.world import compute_world_pose, compute_world_velocity


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

    tree       of a character: `poise.build_tree(character)`
    root       (..., 3) m;  rotations (..., J, 4): a `Pose`, or many of them
    """
    centers = compute_world_pose(tree, root, rotations, shifts).centers
    return np.einsum("j,...ja->...a", tree.masses, centers) / tree.mass


def compute_momentum(tree: Tree, state: Kinematics) -> Momentum:
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
    return compute_momentum_jacobian(tree, root, rotations)[..., 3:, :] / tree.mass


def compute_momentum_jacobian(tree: Tree, root: np.ndarray, rotations: np.ndarray) -> np.ndarray:
    """(..., 6, n): angular momentum about the centre of mass (rows 0-2) and linear momentum (rows 3-5) from u.

    The centroidal momentum matrix of Orin, Goswami and Lee (2013), *Centroidal dynamics of a humanoid robot*.
    """
    pose = compute_world_pose(tree, root, rotations)
    mass, center, inertia = compute_composites(tree, pose)
    whole = center[..., :1, :]  # all that the root carries
    axes = np.swapaxes(pose.turns, -1, -2)  # (..., J, turn, world)
    arm = (center - pose.joints)[..., None, :]
    linear = mass[:, None, None] * np.cross(axes, arm)
    angular = axes @ inertia + np.cross((center - whole)[..., None, :], linear)
    jacobian = np.zeros((*pose.batch, 6, tree.size))
    jacobian[..., :3, 3:] = _columns(angular)
    jacobian[..., 3:, 3:] = _columns(linear)
    jacobian[..., 3:, :3] = tree.mass * np.eye(3)
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


def _columns(rows: np.ndarray) -> np.ndarray:
    """(..., J, turn, world) to (..., world, 3 J)."""
    return np.moveaxis(rows, -1, -3).reshape(*rows.shape[:-3], 3, -1)

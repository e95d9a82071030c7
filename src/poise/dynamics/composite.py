"""The joint-space inertia H(q), by composite rigid bodies, over all frames at once.

Source: Featherstone (2008), table 6.2, seen from the world's axes. A unit of one generalised velocity (`tree.py`) moves
everything outboard of its joint as one rigid body, so a column of H is the momentum of that composite body, felt at
every joint between it and the root.

    I_i^c = I_i + sum over children of I_k^c          composite inertia of what joint i carries, about joint i
    h     = I_i^c s                                   its momentum when it moves along the unit motion s
    H_ji  = s_j . h (moved to joint j)                for j = i and every j on the way to the root
"""

from __future__ import annotations

import numpy as np

from poise.dynamics.tree import Tree
from poise.dynamics.world import WorldPose, compute_world_pose


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

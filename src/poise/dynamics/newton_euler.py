"""Inverse dynamics: the forces that make a motion happen, over all frames at once (W2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.dynamics.tree import GRAVITY, Tree, TreeState, pack
from poise.errors import InputError


@dataclass(frozen=True, eq=False)
class JointForces:
    """What inverse dynamics finds.

    force   (..., 3) N in world axes: the force at the root joint that no joint and no given wrench explains
    torque  (..., J, 3) N m about each joint, of the parent on the body, in the body's axes; [0] is the root's, which
            nothing but the world outside can give
    """

    force: np.ndarray
    torque: np.ndarray

    @property
    def generalised(self) -> np.ndarray:
        """tau, (..., 3 + 3 J), dual to the generalised velocity of `tree.py`."""
        return pack(self.force, self.torque)


def compute_inverse_dynamics(
    tree: Tree, state: TreeState, external: np.ndarray | None = None, gravity: np.ndarray = GRAVITY
) -> JointForces:
    """Recursive Newton-Euler for a branching body with a free root, under given external wrenches.   [mix, eq 2-7]

    state     any leading axes; its poses, velocities and accelerations
    external  (..., J, 6) wrench [torque N m, force N] on each body about its joint, in world axes
    The equations stand in `tests/oracles/spatial_vectors.py` and `newton_euler_kernels.py` (compiled, frames side by
    side).
    """
    from poise.dynamics.newton_euler_kernels import ClipMotion, TreeArrays, inverse_dynamics

    joints = len(tree)
    if state.rotations.shape[-2] != joints:
        raise InputError(f"the state has {state.rotations.shape[-2]} joints, the tree {joints}.")
    frames = int(np.prod(state.batch, dtype=int))
    if external is None:
        wrenches = np.zeros((0, joints, 6))
    else:
        if np.shape(external) != (*state.batch, joints, 6):
            raise InputError(f"external has shape {np.shape(external)}; wanted {(*state.batch, joints, 6)}.")
        wrenches = np.ascontiguousarray(external, float).reshape(frames, joints, 6)
    motion = ClipMotion(
        np.ascontiguousarray(state.rotations).reshape(frames, joints, 4),
        np.ascontiguousarray(state.angular_velocity).reshape(frames, joints, 3),
        np.ascontiguousarray(state.acceleration).reshape(frames, 3),
        np.ascontiguousarray(state.angular_acceleration).reshape(frames, joints, 3),
        _slides(state, frames, joints),
    )
    arrays = TreeArrays(tree.parents, tree.offsets, tree.masses, tree.centers, tree.inertias)
    force, torque = np.empty((frames, 3)), np.empty((frames, joints, 3))
    inverse_dynamics(arrays, np.ascontiguousarray(gravity, float), motion, wrenches, force, torque)
    return JointForces(force.reshape(*state.batch, 3), torque.reshape(*state.batch, joints, 3))


def _slides(state: TreeState, frames: int, joints: int) -> np.ndarray:
    """Return shift, its velocity and acceleration (F, J, 9) of joints that slide; (0, J, 9) if none does."""
    if state.shift is None or state.shift_velocity is None or state.shift_acceleration is None:
        return np.zeros((0, joints, 9))
    parts = [state.shift, state.shift_velocity, state.shift_acceleration]
    return np.ascontiguousarray(np.concatenate(parts, axis=-1)).reshape(frames, joints, 9)


def compute_bias(
    tree: Tree, state: TreeState, external: np.ndarray | None = None, gravity: np.ndarray = GRAVITY
) -> np.ndarray:
    """C (..., n): generalised force at zero acceleration, from speed, gravity and external wrenches.   [mix, eq 1]"""
    still = TreeState(
        state.root,
        state.rotations,
        state.velocity,
        state.angular_velocity,
        np.zeros_like(state.acceleration),
        np.zeros_like(state.angular_acceleration),
        state.shift,
        state.shift_velocity,
        state.shift_acceleration,
    )
    return compute_inverse_dynamics(tree, still, external, gravity).generalised

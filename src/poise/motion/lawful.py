"""A body's motion made to keep the laws of flight and ground, by moving and turning it as a whole.

The centre of mass follows a path that keeps them (`center_path.py`). Likewise nothing can turn a body that flies: its
angular momentum L about the centre of mass stays. L is fitted in the same way, as the rate of a path whose acceleration
is the moment M = dL/dt, which is zero in flight. What has to be added is a motion of the whole body as if it were one
rigid piece, which changes no joint's angle:

    da      = a_path - a                    m/s2, of the centre of mass
    dalpha  = I_c^-1 (M_path - M)           rad/s2, I_c: inertia about the centre of mass, locked in its pose
    a_root  + da + dalpha x (root - c)      the net force is then m (a_path - g), the net moment M_path, exactly
"""

from __future__ import annotations

import dataclasses

import numpy as np

from poise.dynamics.composite import compute_composites
from poise.dynamics.ground import root_wrench
from poise.dynamics.momentum import compute_momentum
from poise.dynamics.newton_euler import compute_inverse_dynamics
from poise.dynamics.tree import GRAVITY, Kinematics, Tree
from poise.dynamics.world import compute_world_pose
from poise.motion.center_path import CenterPath
from poise.spatial import rotation
from poise.spatial.falling import FallingFit


def keep_laws(tree: Tree, state: Kinematics, path: CenterPath, rate: float) -> Kinematics:
    """The state (F frames at `rate` Hz) with the centre of mass on a path, and turning as its flights allow."""
    force, moment = root_wrench(state, compute_inverse_dynamics(tree, state))
    momentum = compute_momentum(tree, state)
    center = momentum.center
    moment = moment - np.cross(center, force)  # about the centre of mass
    wanted = _fit_moment(momentum.angular, rate, path) if path.flight.any() else moment
    inertia = compute_composites(tree, compute_world_pose(tree, state.root, state.rotations, state.shift))[2][:, 0]
    turn = np.linalg.solve(inertia, (wanted - moment)[..., None])[..., 0]
    shift = path.acceleration - (force / tree.mass + GRAVITY)
    angular = state.angular_acceleration.copy()
    angular[:, 0] += rotation.rotate(rotation.conjugate(state.rotations[:, 0]), turn)
    return dataclasses.replace(
        state,
        root=state.root + path.place - center,
        acceleration=state.acceleration + shift + np.cross(turn, state.root - center),
        angular_acceleration=angular,
    )


def _fit_moment(angular: np.ndarray, rate: float, path: CenterPath) -> np.ndarray:
    """(F, 3) N m, the rate of an angular momentum (F, 3) that does not change in flight."""
    h = 1.0 / rate
    way = np.concatenate([np.zeros((1, 3)), np.cumsum(0.5 * h * (angular[1:] + angular[:-1]), axis=0)])
    known = np.repeat(path.flight[:, None], 3, axis=1)
    return FallingFit(len(way), rate, path.periods).fit(way, known, np.zeros_like(way)).acceleration

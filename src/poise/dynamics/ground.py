"""What the ground must do to a body that moves as it does: net force, and the point where it acts.

Nothing but the world outside can hold the root of a body, so the force and moment that inverse dynamics leaves there,
when no external wrench is given, are those of the ground (if nothing else touches the body).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.dynamics.newton_euler import JointForces, compute_inverse_dynamics
from poise.dynamics.tree import GRAVITY, Kinematics, Tree
from poise.spatial import rotation

# Below this share of body weight the pressure centre divides noise by almost nothing; force-plate software commonly
# stops at 2 to 5 %.
LEAST_SHARE = 0.05


@dataclass(frozen=True, eq=False)
class GroundReaction:
    """The net wrench of the ground on the body, in world axes.

    force        (..., 3) N
    moment       (..., 3) N m about the world's origin
    pressure     (..., 3) m, centre of pressure (on flat ground: the zero-moment point) on the plane at `height`;
                 NaN where the ground hardly pushes
    free_moment  (...,) N m about the vertical through it
    """

    force: np.ndarray
    moment: np.ndarray
    pressure: np.ndarray
    free_moment: np.ndarray


def compute_ground_reaction(
    tree: Tree, state: Kinematics, height: float = 0.0, gravity: np.ndarray = GRAVITY
) -> GroundReaction:
    """Net ground force and centre of pressure from motion alone. `height` m is where the ground is."""
    free = compute_inverse_dynamics(tree, state, gravity=gravity)
    return find_pressure(tree, *root_wrench(state, free), height=height, gravity=gravity)


def root_wrench(state: Kinematics, forces: JointForces) -> tuple[np.ndarray, np.ndarray]:
    """What is left at the root: force (..., 3) N and moment (..., 3) N m about the world's origin, world axes."""
    torque = rotation.rotate(state.rotations[..., 0, :], forces.torque[..., 0, :])
    return forces.force, torque + np.cross(state.root, forces.force)


def find_pressure(
    tree: Tree, force: np.ndarray, moment: np.ndarray, height: float | np.ndarray = 0.0, gravity: np.ndarray = GRAVITY
) -> GroundReaction:
    """The point of the plane y = height about which the horizontal moment vanishes.   [strength, section 4.2]

    height  m, or (...,) where the ground differs from frame to frame
    M = p x f + free moment, with p_y = height; only the tangential moment can be made zero (erratum of eq 3).
    """
    pushes = force[..., 1] > LEAST_SHARE * tree.mass * float(np.linalg.norm(gravity))
    lift = np.where(pushes, force[..., 1], np.nan)
    x = (moment[..., 2] + height * force[..., 0]) / lift
    z = (height * force[..., 2] - moment[..., 0]) / lift
    pressure = np.stack([x, np.where(pushes, height, np.nan), z], axis=-1)
    free_moment = np.where(pushes, moment[..., 1] - (z * force[..., 0] - x * force[..., 2]), 0.0)
    return GroundReaction(force, moment, pressure, free_moment)

"""A body as its drivers see it: the compiled tree, its state, and where everything is in the world right now.

One for every actor, with arrays that are written in place, step after step. `update` follows the state; after it

    R (J, 3, 3), p (J, 3)   orientations of the bodies and positions of their joints in the world
    om (J, 3), v (J, 3)     angular velocities of the bodies and velocities of their joints, world axes
    c, dc (3,)              centre of mass and its velocity

and drivers add to what is asked of the engine: `torque` (J, 3) N m at the joints in world axes, `damping` (J,)
N m s/rad, `wrench` (J, 6) on the bodies about their joints.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from poise.body.character import Character
from poise.dynamics.composite import compute_composites
from poise.dynamics.tree import GRAVITY, Tree, build_tree
from poise.dynamics.world import compute_world_pose
from poise.engines.engine import BodyState
from poise.spatial import rotation
from poise.spatial.arena import Arena
from poise.spatial.inertia import RigidInertia
from poise.world.load import Load

_BYTES = 1000  # a joint, for a rig with its actor and players; about 800 are used


class Rig:
    """A character's tree and state, with room to work."""

    def __init__(self, character: Character, loads: Iterable[Load] = ()):
        self.character = character
        self.skeleton = character.skeleton
        self.tree = load_tree(build_tree(character), character, loads)
        j = len(self.tree)
        # All that changes from step to step, and what players and the actor add, next to one another in memory.
        self.arena = room = Arena(_BYTES * (j + 8))
        self.state = BodyState.zeros(j, room)
        self.dw, self.a = room.zeros(j, 3), room.zeros(3)
        self.R, self.p, self.om, self.v = room.zeros(j, 3, 3), room.zeros(j, 3), room.zeros(j, 3), room.zeros(j, 3)
        self.c, self.dc = room.zeros(3), room.zeros(3)
        self.torque, self.damping, self.wrench = room.zeros(j, 3), room.zeros(j), room.zeros(j, 6)
        self.f, self.n = room.zeros(j, 3), room.zeros(j, 3)
        # At a change of hands: accelerations (rad/s2) and torques (N m) of the joints so far, in body axes.
        self.turning, self.handed = np.zeros((j, 3)), np.zeros((j, 3))
        # What the stage says of the world: its step (s), gravity (m/s2), and the ground's height (m) and friction.
        self.dt, self.gravity, self.ground, self.friction = 0.005, np.array(GRAVITY), 0.0, 0.8

    def update(self) -> None:
        """World poses and velocities from the state."""
        from poise.dynamics import instant

        t, s = self.tree, self.state
        instant.pose_bodies(t.parents, t.offsets, s.root, s.q, self.R, self.p)
        instant.move_bodies(t.parents, self.R, self.p, s.v, s.w, self.om, self.v)
        instant.center_of_mass(t.masses, t.centers, self.R, self.p, self.om, self.v, self.c, self.dc)

    def world_turn(self, joint: int) -> np.ndarray:
        """(4,) the orientation of a body in the world."""
        return rotation.from_matrix(self.R[joint])

    def inertia(self) -> np.ndarray:
        """(3, 3) kg m2, of the whole body in its present pose about its centre of mass, world axes."""
        pose = compute_world_pose(self.tree, self.state.root, self.state.q)
        return np.asarray(compute_composites(self.tree, pose)[2][0])

    def outboard(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What each joint carries in the present pose: mass (J,) kg, distance (J,) m of its centre, inertia (J,) kg m2.

        The inertia is the largest about any axis through the joint.
        """
        pose = compute_world_pose(self.tree, self.state.root, self.state.q)
        mass, center, inertia = compute_composites(self.tree, pose)
        arm = np.linalg.norm(center - pose.joints, axis=-1)
        return mass, arm, np.linalg.eigvalsh(inertia)[..., -1] + mass * arm**2


def load_tree(tree: Tree, character: Character, loads: Iterable[Load]) -> Tree:
    """A tree with loads on some of its bodies."""
    bodies = [[tree.body(i)] for i in range(len(tree))]
    for load in loads:
        bodies[character.skeleton.index(load.joint)].append(load.inertia)
    totals = [RigidInertia.total(parts) for parts in bodies]
    return Tree(
        tree.names,
        tree.parents,
        tree.offsets,
        np.array([total.mass for total in totals]),
        np.stack([total.center for total in totals]),
        np.stack([total.inertia for total in totals]),
    )

"""What a kinematic part does to the body it hangs from (W3).

Every acceleration inside a kinematic part K is given, so the wrench that its connector C must put on it is affine in
the connector's own acceleration:

    W = I_K(q) a_C + b          I_K: K as one rigid body, locked in its present pose

`exact` (the default) gives the engine I_K as inertia of the connector, in every step, and applies only -k (W - R),
with W the wrench of K as it moves and R that of K locked, both at the connector's present velocity. Gravity and a_C
cancel in the difference, so nothing of the next step need be known: P's equation of motion is then eq 1 of the mix
paper, solved exactly (k = 1), in time linear in the joints and on an engine that knows nothing of it.

`paper` applies -k W itself, with the connector's acceleration of the *previous* step. It diverges once k times K's
inertia over P's, as felt at the connector, is more than about one.

All wrenches here are about the connector body's own joint, in its axes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oracles.twists import Wrench
from poise.dynamics.newton_euler import compute_inverse_dynamics
from poise.dynamics.tree import Tree, TreeState
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia
from poise.stage.partition import KinematicPart, Partition


@dataclass(frozen=True, eq=False)
class PartMotion:
    """How the joints of a kinematic part move relative to its connector; k joints, any leading axes.

    rotations             (..., k, 4) wxyz
    angular_velocity      (..., k, 3) rad/s, in each body's axes
    angular_acceleration  (..., k, 3) rad/s2
    """

    rotations: np.ndarray
    angular_velocity: np.ndarray
    angular_acceleration: np.ndarray


@dataclass(frozen=True, eq=False)
class ConnectorMotion:
    """How the connector's body moves, in its own axes, about its own joint.

    angular_velocity      (..., 3) rad/s
    angular_acceleration  (..., 3) rad/s2
    acceleration          (..., 3) m/s2, of its joint, less gravity (at rest on the ground: 9.81 upward)
    """

    angular_velocity: np.ndarray
    angular_acceleration: np.ndarray
    acceleration: np.ndarray


def build_part_tree(tree: Tree, part: KinematicPart) -> Tree:
    """The bodies of a kinematic part as a tree of their own; body 0 is the connector, without its mass."""
    joints = list(part.joints)
    place = {part.connector: 0, **{joint: k + 1 for k, joint in enumerate(joints)}}
    return Tree(
        (tree.names[part.connector], *(tree.names[j] for j in joints)),
        np.array([-1, *(place[int(tree.parents[j])] for j in joints)]),
        np.concatenate([np.zeros((1, 3)), tree.offsets[joints]]),
        np.concatenate([[0.0], tree.masses[joints]]),
        np.concatenate([np.zeros((1, 3)), tree.centers[joints]]),
        np.concatenate([np.zeros((1, 3, 3)), tree.inertias[joints]]),
    )


def compute_part_wrench(part: Tree, connector: ConnectorMotion, motion: PartMotion) -> Wrench:
    """W, the wrench that the connector must put on a part for it to move as it does.   [mix, eq 2-7]

    part  as of `build_part_tree`
    """
    root = rotation.identity(motion.rotations.shape[:-2])

    def with_root(first: np.ndarray, rest: np.ndarray) -> np.ndarray:
        return np.concatenate([first[..., None, :], rest], axis=-2)

    state = TreeState(
        np.zeros((*root.shape[:-1], 3)),
        with_root(root, motion.rotations),
        np.zeros((*root.shape[:-1], 3)),
        with_root(connector.angular_velocity, motion.angular_velocity),
        connector.acceleration,
        with_root(connector.angular_acceleration, motion.angular_acceleration),
    )
    forces = compute_inverse_dynamics(part, state, gravity=np.zeros(3))
    return Wrench(forces.torque[..., 0, :], forces.force)


def compute_exact_wrench(part: Tree, angular_velocity: np.ndarray, motion: PartMotion, gain: float = 1.0) -> Wrench:
    """-k (W - R): what to apply to a connector that already has the locked part's inertia.

    angular_velocity  (..., 3) rad/s of the connector's body, in its axes
    gain              k: 1 is exact, 0 lets the part hang like a dead weight in its pose, above 1 exaggerates
    """
    still = np.zeros_like(angular_velocity)
    connector = ConnectorMotion(angular_velocity, still, still)
    quiet = np.zeros_like(motion.angular_velocity)
    moving = compute_part_wrench(part, connector, motion)
    locked = compute_part_wrench(part, connector, PartMotion(motion.rotations, quiet, quiet))
    return (moving - locked) * -gain


def compute_locked_inertia(part: Tree, rotations: np.ndarray) -> RigidInertia:
    """I_K: the part as one rigid body in its present pose (k, 4), in the connector's frame."""
    turns = [np.eye(3)]
    shifts = [np.zeros(3)]
    bodies = []
    for k in range(1, len(part)):
        p = int(part.parents[k])
        turns.append(turns[p] @ rotation.to_matrix(rotations[k - 1]))
        shifts.append(shifts[p] + turns[p] @ part.offsets[k])
        bodies.append(part.body(k).moved(turns[k], shifts[k]))
    return RigidInertia.total(bodies)


def build_physical_tree(tree: Tree, partition: Partition, rotations: np.ndarray) -> Tree:
    """P with every kinematic part locked in its present pose: what the engine has to move.

    rotations  (J, 4) of the whole body, of which only those of the kinematic parts are read
    For bodies with a free root; the names, and so the order, are those of `partition.physical`.
    """
    place = {joint: i for i, joint in enumerate(partition.physical)}
    bodies = {joint: [tree.body(joint)] for joint in partition.physical}
    for part in partition.parts:
        locked = compute_locked_inertia(build_part_tree(tree, part), rotations[list(part.joints)])
        bodies[part.connector].append(locked)
    totals = [RigidInertia.total(bodies[joint]) for joint in partition.physical]
    kept = list(partition.physical)
    return Tree(
        tuple(tree.names[j] for j in kept),
        np.array([place.get(int(tree.parents[j]), -1) for j in kept]),
        tree.offsets[kept],
        np.array([body.mass for body in totals]),
        np.stack([body.center for body in totals]),
        np.stack([body.inertia for body in totals]),
    )

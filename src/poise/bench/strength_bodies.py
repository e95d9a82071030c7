"""Steps of a standing body for `poise bench strength`: inertia, bias, ranges, what is wanted, and goals.

The left foot stands; the root follows from it: u = T x, with x the accelerations of the joints' own axes. Then
H = T^T H_free T and b = T^T (gravity and speed). Goals are the right foot at rest (6 rows), the centre of mass (3) and
the right hand (3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.character import Character
from poise.body.strength import find_strength
from poise.dynamics.composite import compute_joint_space_inertia
from poise.dynamics.newton_euler import compute_inverse_dynamics
from poise.dynamics.tree import Kinematics, Tree, build_tree
from poise.dynamics.world import WorldPose, compute_world_pose
from poise.spatial import rotation

Goals = tuple[tuple[np.ndarray, np.ndarray], ...]


@dataclass(frozen=True, eq=False)
class Step:
    """One step's problem; see `poise.dynamics.limited`."""

    H: np.ndarray
    b: np.ndarray
    low: np.ndarray
    high: np.ndarray
    wanted: np.ndarray
    goals: Goals


def draw_step(character: Character, rng: np.random.Generator, share: float = 1.0, bend: float = 0.4) -> Step:
    """A random pose at random speeds.

    share  of a static strength that muscles can give: less has more joints at their bounds
    bend   rad, how far joints are turned
    """
    tree = build_tree(character)
    turns = rotation.exp(rng.normal(scale=bend, size=(len(tree), 3)))
    still = Kinematics.at_rest(np.zeros(3), turns)
    speeds = rng.normal(size=(len(tree), 3))
    state = Kinematics(still.root, turns, np.zeros(3), speeds, np.zeros(3), np.zeros((len(tree), 3)))
    pose = compute_world_pose(tree, state.root, turns)
    free = compute_joint_space_inertia(tree, state.root, turns)
    forces = compute_inverse_dynamics(tree, state)
    bias = np.concatenate([forces.force, forces.torque.ravel()])
    own = list_axes(character, tree)
    T = stand_on(find_jacobian(tree, pose, tree.names.index("leftFoot")), own)
    strength = np.repeat(share * find_strength(character)[1:], [len(a) for a in _axes(character, tree)[1:]])
    strength = np.where(np.isfinite(strength), strength, 100.0 * share)
    low, high = -strength * rng.uniform(0.4, 1.0, len(strength)), strength * rng.uniform(0.4, 1.0, len(strength))
    foot, hand = (find_jacobian(tree, pose, tree.names.index(name)) @ T for name in ("rightFoot", "rightHand"))
    center = free[:3] @ T / tree.mass
    goals = (
        (foot, np.zeros(6)),
        (center, rng.normal(scale=1.0, size=3)),
        (hand[3:], rng.normal(scale=5.0, size=3)),
    )
    H = T.T @ free @ T
    return Step(0.5 * (H + H.T), T.T @ bias, low, high, rng.normal(scale=5.0, size=len(low)), goals)


def _axes(character: Character, tree: Tree) -> list[np.ndarray]:
    return [np.asarray(character.freedoms.get(name, np.zeros((0, 3)))) for name in tree.names]


def list_axes(character: Character, tree: Tree) -> np.ndarray:
    """(3 + 3 J, n): generalised velocity of a unit turn about each axis of each joint."""
    columns = []
    for i, axes in enumerate(_axes(character, tree)):
        for axis in axes:
            column = np.zeros(tree.size)
            column[3 + 3 * i : 6 + 3 * i] = axis
            columns.append(column)
    return np.array(columns).T


def stand_on(J: np.ndarray, own: np.ndarray) -> np.ndarray:
    """T (3 + 3 J, n): how the body moves with its joints while the segment with the Jacobian J (6, .) stands still."""
    T = own.copy()
    T[:6] = -np.linalg.solve(J[:, :6], J @ own)
    return T


def find_jacobian(tree: Tree, pose: WorldPose, body: int) -> np.ndarray:
    """(6, 3 + 3 J): turning, then moving, of a body's joint in world axes."""
    J = np.zeros((6, tree.size))
    J[3:, :3] = np.eye(3)
    i = body
    while i >= 0:
        turns = pose.turns[i]
        J[:3, 3 + 3 * i : 6 + 3 * i] = turns
        J[3:, 3 + 3 * i : 6 + 3 * i] = np.cross(turns.T, pose.joints[body] - pose.joints[i]).T
        i = int(tree.parents[i])
    return J

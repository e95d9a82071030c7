"""The split of a body and the exact coupling of its parts, against the dense equation of motion."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.errors import rejects
from helpers.random_bodies import random_state
from oracles import spatial_vectors as reference
from oracles.coupling import (
    ConnectorMotion,
    PartMotion,
    build_part_tree,
    build_physical_tree,
    compute_exact_wrench,
    compute_part_wrench,
)
from oracles.hybrid import solve_hybrid_dynamics
from poise.body.character import Character
from poise.dynamics.kinematics import compute_momentum
from poise.dynamics.tree import GRAVITY, Tree, TreeState, build_tree, pack, unpack
from poise.errors import InputError
from poise.motion.parts import part_joints
from poise.spatial import rotation
from poise.stage.partition import KinematicPart, Partition, build_partition, check_published


def body(seed: int, preset: str = "tracking") -> tuple[np.random.Generator, Character, Tree]:
    rng = np.random.default_rng(seed)
    character = Character.human(rng.uniform(1.2, 2.1), rng.uniform(30, 150), preset=preset)
    return rng, character, build_tree(character)


def split(character: Character, kinematic: tuple[str, ...] = ("arms", "head")) -> Partition:
    skeleton = character.skeleton
    moved = {joint for part in kinematic for joint in part_joints(skeleton, part)}
    return build_partition(skeleton, (i for i in range(len(skeleton)) if i not in moved))


def part_motion(state: TreeState, part: KinematicPart) -> PartMotion:
    joints = list(part.joints)
    return PartMotion(state.rotations[joints], state.angular_velocity[joints], state.angular_acceleration[joints])


def world_turns(tree: Tree, state: TreeState) -> tuple[np.ndarray, np.ndarray]:
    """Orientations (J, 4) and angular velocities (J, 3) of the bodies, the latter in their own axes."""
    turns, rates = state.rotations.copy(), state.angular_velocity.copy()
    for i in range(1, len(tree)):
        p = tree.parents[i]
        rates[i] += rotation.rotate(rotation.conjugate(state.rotations[i]), rates[p])
        turns[i] = rotation.multiply(turns[p], state.rotations[i])
    return turns, rates


def solve_coupled(
    tree: Tree, partition: Partition, state: TreeState, force: np.ndarray, gravity: np.ndarray = GRAVITY
) -> np.ndarray:
    """Accelerations of P alone: locked parts' inertia, and -(W - R) on each connector."""
    kept = list(partition.physical)
    engine = build_physical_tree(tree, partition, state.rotations)
    turns, rates = world_turns(tree, state)
    wrenches = np.zeros((len(engine), 6))
    for part in partition.parts:
        c = part.connector
        pushed = compute_exact_wrench(build_part_tree(tree, part), rates[c], part_motion(state, part)).turned(turns[c])
        wrenches[kept.index(c)] += np.concatenate([pushed.torque, pushed.force])
    linear, angular = unpack(force)
    own = TreeState(
        state.root,
        state.rotations[kept],
        state.velocity,
        state.angular_velocity[kept],
        np.zeros(3),
        np.zeros((len(kept), 3)),
    )
    given = np.zeros(engine.size, bool)
    return solve_hybrid_dynamics(engine, own, pack(linear, angular[kept]), given, wrenches, gravity).acceleration


def dense(tree: Tree, partition: Partition, state: TreeState, force: np.ndarray, gravity: np.ndarray = GRAVITY):
    given = np.zeros(tree.size, bool)
    for joint in partition.kinematic:
        given[3 + 3 * joint : 6 + 3 * joint] = True
    return reference.solve_hybrid_dynamics(tree, state, force, given, gravity=gravity)[0]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kinematic", [("arms", "head"), ("leftArm",), ("upperBody",)])
@pytest.mark.many(3)
def test_exact_coupling_solves_the_equation_of_motion(seed: int, kinematic: tuple[str, ...]) -> None:
    rng, character, tree = body(seed)
    partition = split(character, kinematic)
    state = random_state(rng, tree)
    force = rng.standard_normal(tree.size) * 30
    wanted = dense(tree, partition, state, force)
    linear, angular = unpack(wanted)
    wanted = pack(linear, angular[list(partition.physical)])
    got = solve_coupled(tree, partition, state, force)
    assert np.abs(got - wanted).max() / np.abs(wanted).max() < 1e-8


@pytest.mark.parametrize("seed", range(4))
def test_swinging_arms_leave_the_total_momentum_alone(seed: int) -> None:
    """In free flight without gravity: the rate of momentum from the solved accelerations, by central differences."""
    rng, character, tree = body(seed)
    partition = split(character)
    state = random_state(rng, tree)
    solved = solve_coupled(tree, partition, state, np.zeros(tree.size), np.zeros(3))
    linear, angular = unpack(solved)
    accelerations = state.angular_acceleration.copy()
    accelerations[list(partition.physical)] = angular
    state = TreeState(state.root, state.rotations, state.velocity, state.angular_velocity, linear, accelerations)

    # With these accelerations nothing is left for the world outside to do at the root.
    left = reference.compute_inverse_dynamics(tree, state, gravity=np.zeros(3))[:6]
    arms = np.abs(reference.compute_inverse_dynamics(tree, state, gravity=np.zeros(3))).max()
    assert np.abs(left).max() < 1e-9 * arms
    assert np.linalg.norm(compute_momentum(tree, state).angular) > 0


def test_the_exact_wrench_does_not_need_the_connectors_acceleration() -> None:
    rng, character, tree = body(0)
    part = split(character, ("leftArm",)).parts[0]
    state, small = random_state(rng, tree), build_part_tree(tree, part)
    motion = part_motion(state, part)
    quiet = PartMotion(motion.rotations, 0 * motion.angular_velocity, 0 * motion.angular_velocity)
    rate = rng.standard_normal(3)
    wanted = compute_exact_wrench(small, rate, motion)
    for _ in range(3):
        connector = ConnectorMotion(rate, rng.standard_normal(3) * 50, rng.standard_normal(3) * 20)
        got = (compute_part_wrench(small, connector, motion) - compute_part_wrench(small, connector, quiet)) * -1.0
        np.testing.assert_allclose(got.force, wanted.force, atol=1e-9)
        np.testing.assert_allclose(got.torque, wanted.torque, atol=1e-9)


def test_a_part_at_rest_weighs_what_it_weighs() -> None:
    _, character, tree = body(1)
    part = split(character, ("rightArm",)).parts[0]
    small = build_part_tree(tree, part)
    k = len(part.joints)
    still = PartMotion(rotation.identity((k,)), np.zeros((k, 3)), np.zeros((k, 3)))
    wrench = compute_part_wrench(small, ConnectorMotion(np.zeros(3), np.zeros(3), -GRAVITY), still)
    np.testing.assert_allclose(wrench.force, [0, 9.81 * small.mass, 0], atol=1e-9)


def test_every_joint_is_in_exactly_one_part() -> None:
    _, character, _ = body(0, "full")
    partition = split(character)
    everything = sorted((*partition.base, *partition.physical, *(j for p in partition.parts for j in p.joints)))
    assert everything == list(range(len(character.skeleton)))
    names = character.skeleton.names
    assert {names[p.connector] for p in partition.parts} == {"upperChest"}
    assert sorted(names[p.joints[0]] for p in partition.parts) == ["leftShoulder", "neck", "rightShoulder"]


def test_limbs_on_a_kinematic_pelvis() -> None:
    _, character, _ = body(0, "full")
    skeleton = character.skeleton
    partition = build_partition(skeleton, part_joints(skeleton, "arms"))
    assert partition.base and not partition.parts
    assert partition.physical == tuple(part_joints(skeleton, "arms"))


def test_physical_joints_beyond_a_kinematic_part_are_known_and_not_for_the_papers_coupling() -> None:
    _, character, _ = body(0, "full")
    skeleton = character.skeleton
    at = skeleton.index
    elbow_held = [i for i in range(len(skeleton)) if skeleton.names[i] != "leftUpperArm"]
    partition = build_partition(skeleton, elbow_held)
    assert partition.parts == (KinematicPart(at("leftShoulder"), (at("leftUpperArm"),), (at("leftLowerArm"),)),)
    rejects(lambda: check_published(partition, skeleton), "'leftLowerArm'", "'leftUpperArm'")
    check_published(split(character), skeleton)
    with pytest.raises(InputError, match="joint 99 is not one of"):
        build_partition(skeleton, [99])

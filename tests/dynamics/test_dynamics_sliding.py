"""Dynamics of bodies whose joints slide, against spatial vectors, finite differences and a twin of the motion."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.clips import slide, under_reference
from helpers.kinematics import plain_positions
from helpers.random_bodies import human_tree, random_state, random_tree
from oracles import spatial_vectors as reference
from poise.body.character import Character
from poise.dynamics.kinematics import (
    compute_center_of_mass,
    compute_momentum,
    compute_world_pose,
    compute_world_velocity,
)
from poise.dynamics.newton_euler import compute_bias, compute_inverse_dynamics
from poise.dynamics.tree import GRAVITY, Tree, TreeState, build_tree
from poise.errors import InputError
from poise.motion import samples
from poise.motion.forces.forces import compute_forces
from poise.spatial import rotation

SEEDS = range(4)


def sliding_state(rng: np.random.Generator, tree: Tree, batch: tuple[int, ...] = ()) -> TreeState:
    """A pose anywhere, moving fast, with every joint sliding."""
    slides = [size * rng.standard_normal((*batch, len(tree), 3)) for size in (0.3, 2.0, 20.0)]
    return dataclasses.replace(
        random_state(rng, tree, batch), shift=slides[0], shift_velocity=slides[1], shift_acceleration=slides[2]
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("pushed", [False, True])
def test_inverse_dynamics_agrees_with_spatial_vectors(seed: int, pushed: bool) -> None:
    rng = np.random.default_rng(seed)
    tree = human_tree(rng) if seed % 2 else random_tree(rng)
    state = sliding_state(rng, tree, (70,))
    external = rng.standard_normal((70, len(tree), 6)) * 50 if pushed else None
    ours = compute_inverse_dynamics(tree, state, external).generalised
    for f in (0, 31, 32, 69):
        wanted = reference.compute_inverse_dynamics(tree, state[f], None if external is None else external[f])
        assert np.abs(ours[f] - wanted).max() < 1e-11 * np.abs(wanted).max()
    still = dataclasses.replace(state, shift=None, shift_velocity=None, shift_acceleration=None)
    assert np.abs(compute_inverse_dynamics(tree, still, external).generalised - ours).max() > 1.0


@pytest.mark.parametrize("seed", SEEDS)
def test_force_and_momentum_agree_with_finite_differences(seed: int) -> None:
    """sum of m a of bodies that move on given curves, and the rate of their angular momentum."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 9)
    spin, shift, path = (
        rng.standard_normal((3, 9, 3)),
        0.2 * rng.standard_normal((3, 9, 3)),
        rng.standard_normal((3, 3)),
    )
    start = rotation.random(rng, (9,))

    def at(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        turns = rotation.multiply(start, rotation.exp(spin[0] * np.sin(t + spin[1])))
        return path[0] + path[1] * t + path[2] * np.sin(3 * t), turns, shift[0] + shift[1] * np.sin(2 * t + shift[2])

    def state(t: float) -> TreeState:
        root, turns, s = at(t)
        rate, bend = spin[0] * np.cos(t + spin[1]), -spin[0] * np.sin(t + spin[1])
        phase = 2 * t + shift[2]
        return TreeState(
            root, turns, path[1] + 3 * path[2] * np.cos(3 * t), rate, -9 * path[2] * np.sin(3 * t), bend,
            s, 2 * shift[1] * np.cos(phase), -4 * shift[1] * np.sin(phase),
        )  # fmt: skip

    # About one axis each, so that the angle's derivatives are the joint's.
    spin[0] = np.eye(3)[rng.integers(0, 3, 9)] * rng.uniform(0.5, 2.0, (9, 1))
    spin[1] = np.repeat(rng.uniform(0, 6, (9, 1)), 3, axis=1)
    t, h = 0.7, 1e-4
    now = state(t)
    before, after = (compute_momentum(tree, state(t + d)) for d in (-h, h))
    centers = [compute_center_of_mass(tree, *at(t + d)) for d in (-h, 0.0, h)]
    here = compute_momentum(tree, now)
    np.testing.assert_allclose(here.velocity, (centers[2] - centers[0]) / (2 * h), rtol=1e-5, atol=1e-6)
    joints = [compute_world_pose(tree, *at(t + d)).joints for d in (-h, h)]
    speed = compute_world_velocity(tree, now)
    np.testing.assert_allclose(speed.joints, (joints[1] - joints[0]) / (2 * h), rtol=1e-5, atol=1e-5)
    force = compute_inverse_dynamics(tree, now)
    pull = (centers[2] - 2 * centers[1] + centers[0]) / h**2
    np.testing.assert_allclose(force.force, tree.mass * (pull - GRAVITY), rtol=1e-5, atol=1e-3)
    # The root's moment about the centre of mass changes the angular momentum.
    torque = rotation.rotate(now.rotations[0], force.torque[0]) + np.cross(now.root - here.center, force.force)
    np.testing.assert_allclose(torque, (after.angular - before.angular) / (2 * h), rtol=1e-5, atol=1e-4)


def test_slides_come_together() -> None:
    state = random_state(np.random.default_rng(0), random_tree(np.random.default_rng(0), 5), (4,))
    with pytest.raises(InputError, match="some are missing"):
        dataclasses.replace(state, shift=np.zeros((4, 5, 3)))
    with pytest.raises(InputError, match="shift_velocity has shape"):
        dataclasses.replace(
            state, shift=np.zeros((4, 5, 3)), shift_velocity=np.zeros((4, 3)), shift_acceleration=np.zeros((4, 5, 3))
        )


def test_bias_keeps_what_slides() -> None:
    rng = np.random.default_rng(3)
    tree = random_tree(rng)
    state = sliding_state(rng, tree)
    still = dataclasses.replace(
        state, acceleration=0 * state.acceleration, angular_acceleration=0 * state.angular_acceleration
    )
    wanted = compute_inverse_dynamics(tree, still).generalised
    np.testing.assert_allclose(compute_bias(tree, state), wanted, rtol=1e-12)


@pytest.mark.parametrize("motion", ["walk", "jump"])
def test_forces_of_a_motion_are_those_of_its_twin_under_a_reference(motion: str) -> None:
    body = Character.human(1.75, 70.0)
    clip = getattr(samples, motion)(body.skeleton)
    twin = under_reference(clip)
    np.testing.assert_allclose(twin.positions[:, 1:], clip.positions, atol=1e-12)
    character = Character.from_skeleton(twin.skeleton, mass=70.0)
    plain = compute_forces(clip, Character.from_skeleton(clip.skeleton, mass=70.0))
    forces = compute_forces(twin, character)
    assert forces.cutoff == pytest.approx(plain.cutoff)
    np.testing.assert_allclose(forces.center, plain.center, atol=1e-9)
    np.testing.assert_allclose(forces.reaction.force, plain.reaction.force, atol=1e-5)
    np.testing.assert_allclose(forces.reaction.pressure, plain.reaction.pressure, atol=1e-6)
    np.testing.assert_allclose(forces.torque[:, 1:], plain.torque, atol=1e-5)
    np.testing.assert_allclose(forces.residual, plain.residual, atol=1e-5)


def test_ground_force_of_stretching_limbs_is_that_of_their_masses() -> None:
    """sum of m a, from positions of the segments alone."""
    body = Character.human(1.75, 70.0)
    clip = slide(samples.squat(body.skeleton, 3.2, 120.0), {"leftHand": 0.05, "spine": 0.03, "rightLowerLeg": 0.02})
    character = Character.from_skeleton(clip.skeleton, mass=70.0)
    forces = compute_forces(clip, character, cutoff=np.inf)
    tree, places = build_tree(character), plain_positions(clip.skeleton, clip.poses)
    centers = places + rotation.rotate(clip.world[1], tree.centers)
    mean = np.einsum("j,fja->fa", tree.masses, centers) / tree.mass
    h = clip.times[1] - clip.times[0]
    pull = (mean[2:] - 2 * mean[1:-1] + mean[:-2]) / h**2
    np.testing.assert_allclose(forces.center, mean, atol=1e-9)
    np.testing.assert_allclose(forces.reaction.force[20:-20], tree.mass * (pull - GRAVITY)[19:-19], atol=2.0)

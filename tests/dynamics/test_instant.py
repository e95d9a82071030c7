"""The compiled single-instant kernels against the algorithms that work on whole clips, on random branching trees."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.random_bodies import human_tree, random_state, random_tree
from oracles import spatial_vectors as reference
from poise.dynamics import body_kernels
from poise.dynamics.kinematics import compute_momentum, compute_world_pose, compute_world_velocity
from poise.dynamics.newton_euler import compute_inverse_dynamics
from poise.dynamics.tree import GRAVITY, Tree, TreeState
from poise.spatial import rotation


def case(seed: int) -> tuple[Tree, TreeState]:
    rng = np.random.default_rng(seed)
    tree = human_tree(rng) if seed % 3 == 0 else random_tree(rng)
    return tree, random_state(rng, tree)


def place(tree: Tree, state: TreeState) -> tuple[np.ndarray, np.ndarray]:
    R, p = np.empty((len(tree), 3, 3)), np.empty((len(tree), 3))
    body_kernels.pose_bodies(tree.parents, tree.offsets, state.root, state.rotations, R, p)
    return R, p


def move(tree: Tree, state: TreeState, R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    om, v = np.empty_like(p), np.empty_like(p)
    body_kernels.move_bodies(tree.parents, R, p, state.velocity, state.angular_velocity, om, v)
    return om, v


SEEDS = range(6)


@pytest.mark.parametrize("seed", SEEDS)
def test_places_and_velocities(seed: int) -> None:
    tree, state = case(seed)
    R, p = place(tree, state)
    om, v = move(tree, state, R, p)
    pose = compute_world_pose(tree, state.root, state.rotations)
    wanted = compute_world_velocity(tree, state, pose)
    np.testing.assert_allclose(R, pose.turns, atol=1e-13)
    np.testing.assert_allclose(p, pose.joints, atol=1e-13)
    np.testing.assert_allclose(om, wanted.angular, atol=1e-11)
    np.testing.assert_allclose(v, wanted.joints, atol=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_centre_of_mass_and_its_velocity(seed: int) -> None:
    tree, state = case(seed)
    R, p = place(tree, state)
    om, v = move(tree, state, R, p)
    c, dc = np.empty(3), np.empty(3)
    mass = body_kernels.center_of_mass(tree.masses, tree.centers, R, p, om, v, c, dc)
    wanted = compute_momentum(tree, state)
    pose = compute_world_pose(tree, state.root, state.rotations)
    assert mass == pytest.approx(tree.mass, rel=1e-14)
    np.testing.assert_allclose(c, tree.masses @ pose.centers / tree.mass, atol=1e-13)
    np.testing.assert_allclose(mass * dc, wanted.linear, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_velocities_are_the_derivatives_of_places(seed: int) -> None:
    tree, state = case(seed)
    h = 1e-6
    ends = []
    for sign in (-1.0, 1.0):
        turns = rotation.multiply(state.rotations, rotation.exp(sign * h * state.angular_velocity))
        ends.append(place(tree, TreeState.at_rest(state.root + sign * h * state.velocity, turns)))
    R, p = place(tree, state)
    om, v = move(tree, state, R, p)
    np.testing.assert_allclose((ends[1][1] - ends[0][1]) / (2 * h), v, atol=1e-6)
    spin = rotation.log(rotation.from_matrix(ends[1][0] @ np.swapaxes(ends[0][0], -1, -2))) / (2 * h)
    np.testing.assert_allclose(spin, om, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_accelerations_are_the_derivatives_of_velocities(seed: int) -> None:
    """With w(t) = w + t dw, whose turn over h is exp(h w + ...) to second order in the middle of the interval."""
    tree, state = case(seed)
    R, p = place(tree, state)
    om, _ = move(tree, state, R, p)
    al, acc = np.empty_like(p), np.empty_like(p)
    dw, a0 = state.angular_acceleration, state.acceleration
    body_kernels.accelerate_bodies(tree.parents, R, p, state.angular_velocity, dw, om, a0, al, acc)
    h = 1e-5
    ends = []
    for t in (-h, h):
        turns = rotation.multiply(state.rotations, rotation.exp(t * (state.angular_velocity + 0.5 * t * dw)))
        zero = np.zeros_like(dw)
        then = TreeState(
            state.root + t * state.velocity + 0.5 * t * t * a0, turns,
            state.velocity + t * a0, state.angular_velocity + t * dw, np.zeros(3), zero,
        )  # fmt: skip
        ends.append(move(tree, then, *place(tree, then)))
    scale = np.abs(acc).max()
    np.testing.assert_allclose((ends[1][0] - ends[0][0]) / (2 * h), al, atol=1e-6 * scale)
    np.testing.assert_allclose((ends[1][1] - ends[0][1]) / (2 * h), acc, atol=1e-6 * scale)


@pytest.mark.parametrize("seed", SEEDS)
def test_torques_against_newton_euler(seed: int) -> None:
    tree, state = case(seed)
    R, p = place(tree, state)
    om, _ = move(tree, state, R, p)
    al, acc, f, n = (np.empty_like(p) for _ in range(4))
    lifted = state.acceleration - GRAVITY
    body_kernels.accelerate_bodies(
        tree.parents, R, p, state.angular_velocity, state.angular_acceleration, om, lifted, al, acc
    )
    body_kernels.net_forces(tree.masses, tree.centers, tree.inertias, R, om, al, acc, f, n)
    body_kernels.gather_inward(tree.parents, p, f, n)
    got = np.concatenate([f[0], np.einsum("jab,ja->jb", R, n).ravel()])
    wanted = compute_inverse_dynamics(tree, state).generalised
    scale = np.abs(wanted).max()
    assert np.abs(got - wanted).max() < 1e-11 * scale
    assert np.abs(got - reference.compute_inverse_dynamics(tree, state)).max() < 1e-11 * scale


def test_the_small_ones() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b, q = rng.standard_normal(3), rng.standard_normal(3), rotation.random(rng)
        R = np.array(body_kernels.matrix_of(q)).reshape(3, 3)
        np.testing.assert_allclose(R, rotation.to_matrix(q), atol=1e-14)
        np.testing.assert_allclose(body_kernels.turn(R, a), R @ a, atol=1e-14)
        np.testing.assert_allclose(body_kernels.turn_back(R, a), R.T @ a, atol=1e-14)
        np.testing.assert_allclose(body_kernels.cross(a, b), np.cross(a, b), atol=1e-14)
        inertia = rng.standard_normal((3, 3))
        np.testing.assert_allclose(body_kernels.spin(R, inertia, *a), R @ inertia @ R.T @ a, atol=1e-13)
        wanted = np.cross(b, rng_r := rng.standard_normal(3)) + np.cross(a, np.cross(a, rng_r))
        np.testing.assert_allclose(body_kernels.point_acceleration(a, b, *rng_r), wanted, atol=1e-13)

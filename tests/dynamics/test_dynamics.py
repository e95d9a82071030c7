"""Dynamics against Pinocchio, MuJoCo, the readable reference, finite differences and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.random_bodies import human_tree, random_state, random_tree
from oracles import spatial_vectors as reference
from oracles.hybrid import solve_hybrid_dynamics
from oracles.trees import MuJoCo, Pinocchio
from poise.dynamics.ground_reaction import compute_ground_reaction
from poise.dynamics.kinematics import (
    compute_center_of_mass,
    compute_center_of_mass_jacobian,
    compute_composites,
    compute_joint_space_inertia,
    compute_momentum,
    compute_point_jacobian,
    compute_world_pose,
    compute_world_velocity,
)
from poise.dynamics.newton_euler import compute_bias, compute_inverse_dynamics
from poise.dynamics.tree import GRAVITY, Tree, TreeState, unpack
from poise.errors import InputError, SolveError
from poise.spatial import rotation

SEEDS = range(6)
FEW_SEEDS = range(2)  # where the readable reference builds H column by column


def relative(got: np.ndarray, wanted: np.ndarray) -> float:
    """Largest difference as a share of the largest value."""
    return float(np.abs(got - wanted).max() / np.abs(wanted).max())


def make(kind: str, seed: int) -> tuple[np.random.Generator, Tree]:
    rng = np.random.default_rng(seed)
    return rng, human_tree(rng) if kind == "human" else random_tree(rng, int(rng.integers(2, 18)))


def loaded(tree: Tree, rng: np.random.Generator) -> Tree:
    """The tree with a little mass on joints that have none, for engines that insist on it."""
    bare = tree.masses == 0
    masses = np.where(bare, rng.uniform(0.1, 0.5, len(tree)), tree.masses)
    inertias = np.where(bare[:, None, None], np.diag([1e-3, 1.2e-3, 1.5e-3]), tree.inertias)
    return Tree(tree.names, tree.parents, tree.offsets, masses, tree.centers, inertias)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["random", "human"])
@pytest.mark.parametrize("pushed", [False, True])
def test_inverse_dynamics_agrees_with_pinocchio(kind: str, seed: int, pushed: bool) -> None:
    rng, tree = make(kind, seed)
    state = random_state(rng, tree, (70,))  # more than two blocks of the kernel, the last one cut
    external = rng.standard_normal((70, len(tree), 6)) * 50 if pushed else None
    ours = compute_inverse_dynamics(tree, state, external).generalised
    other = Pinocchio(tree)
    for f in (0, 31, 32, 69):
        wanted = other.inverse_dynamics(state[f], None if external is None else external[f])
        assert relative(ours[f], wanted) < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["random", "human"])
@pytest.mark.parametrize("pushed", [False, True])
def test_inverse_dynamics_agrees_with_mujoco(kind: str, seed: int, pushed: bool) -> None:
    rng, tree = make(kind, seed)
    tree = loaded(tree, rng)
    state = random_state(rng, tree, (3,))
    external = rng.standard_normal((3, len(tree), 6)) * 50 if pushed else None
    ours = compute_inverse_dynamics(tree, state, external).generalised
    other = MuJoCo(tree)
    for f in range(3):
        wanted = other.inverse_dynamics(state[f], None if external is None else external[f])
        assert relative(ours[f], wanted) < 1e-11


@pytest.mark.parametrize("seed", SEEDS)
def test_fast_path_agrees_with_the_readable_reference(seed: int) -> None:
    rng, tree = make("human", seed)
    state = random_state(rng, tree, (2, 3))
    external = rng.standard_normal((2, 3, len(tree), 6)) * 50
    ours = compute_inverse_dynamics(tree, state, external).generalised
    for index in np.ndindex(2, 3):
        assert relative(ours[index], reference.compute_inverse_dynamics(tree, state[index], external[index])) < 1e-12


def test_batches_do_not_mix_frames() -> None:
    rng, tree = make("random", 5)
    state = random_state(rng, tree, (4, 25))
    together = compute_inverse_dynamics(tree, state).generalised
    alone = np.stack([[compute_inverse_dynamics(tree, state[c, f]).generalised for f in range(25)] for c in range(4)])
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("seed", FEW_SEEDS)
@pytest.mark.parametrize("kind", ["random", "human"])
@pytest.mark.many(2)
def test_joint_space_inertia(kind: str, seed: int) -> None:
    rng, tree = make(kind, seed)
    state = random_state(rng, tree, (3,))
    H = compute_joint_space_inertia(tree, state.root, state.rotations)
    assert relative(H[1], reference.compute_joint_space_inertia(tree, state.root[1], state.rotations[1])) < 1e-12
    np.testing.assert_array_equal(H, np.swapaxes(H, -1, -2))
    tree = loaded(tree, rng)
    H = compute_joint_space_inertia(tree, state.root, state.rotations)
    assert relative(H[2], MuJoCo(tree).inertia(state[2])) < 1e-12
    assert np.linalg.eigvalsh(H).min() > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_equation_of_motion_is_inertia_times_acceleration_plus_bias(seed: int) -> None:
    rng, tree = make("human", seed)
    state = random_state(rng, tree, (5,))
    H, C = compute_joint_space_inertia(tree, state.root, state.rotations), compute_bias(tree, state)
    whole = (H @ state.generalised_acceleration[..., None])[..., 0] + C
    assert relative(compute_inverse_dynamics(tree, state).generalised, whole) < 1e-12


@pytest.mark.parametrize("seed", FEW_SEEDS)
@pytest.mark.parametrize("kind", ["random", "human"])
@pytest.mark.parametrize("split", ["joints", "directions", "all forces", "all accelerations", "root held"])
@pytest.mark.many(3)
def test_hybrid_dynamics_agrees_with_the_dense_solve(kind: str, seed: int, split: str) -> None:
    rng, tree = make(kind, seed)
    tree, n = loaded(tree, rng), tree.size
    given = {
        "joints": np.concatenate([np.zeros(3, bool), np.repeat(rng.random(len(tree)) < 0.5, 3)]),
        "directions": rng.random(n) < 0.5,
        "all forces": np.zeros(n, bool),
        "all accelerations": np.ones(n, bool),
        "root held": np.arange(n) < 6,
    }[split]
    state = random_state(rng, tree, (2,))
    external = rng.standard_normal((2, len(tree), 6)) * 30
    force = rng.standard_normal((2, n)) * 40
    ours = solve_hybrid_dynamics(tree, state, force, given, external)
    acceleration, tau = reference.solve_hybrid_dynamics(tree, state[1], force[1], given, external[1])
    assert relative(ours.acceleration[1], acceleration) < 1e-9
    assert relative(ours.force[1], tau) < 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_after_inverse_gives_the_accelerations_back(seed: int) -> None:
    rng, tree = make("random", seed)
    state = random_state(rng, tree, (3,))
    tau = compute_inverse_dynamics(tree, state).generalised
    solved = solve_hybrid_dynamics(tree, state, tau, np.zeros(tree.size, bool))
    assert relative(solved.acceleration, state.generalised_acceleration) < 1e-9


@pytest.mark.parametrize(("masses", "joint"), [([1.0, 1.0, 0.0], "hand"), ([1.0, 0.0, 1.0], "shoulder")])
def test_force_on_a_joint_that_no_mass_resists_is_refused_by_name(masses: list[float], joint: str) -> None:
    """The shoulder carries the hand, but only through a free ball joint: nothing resists its twist."""
    inertias = np.array(masses)[:, None, None] * np.diag([0.1, 0.2, 0.25])
    tree = Tree(("chest", "shoulder", "hand"), [-1, 0, 1], np.eye(3) * 0.3, masses, np.zeros((3, 3)), inertias)
    state = TreeState.at_rest(np.zeros(3), rotation.identity((3,)))
    with pytest.raises(SolveError, match=f"'{joint}' is driven by force but no mass resists it"):
        solve_hybrid_dynamics(tree, state, np.zeros(12), np.zeros(12, bool))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["random", "human"])
def test_jacobians_agree_with_mujoco(kind: str, seed: int) -> None:
    rng, tree = make(kind, seed)
    tree = loaded(tree, rng)
    state, point = random_state(rng, tree), rng.standard_normal(3)
    other, body = MuJoCo(tree), len(tree) - 1
    center = tree.mass * compute_center_of_mass_jacobian(tree, state.root, state.rotations)
    assert relative(center, other.momentum_jacobian(state)[3:]) < 1e-12
    ours = compute_point_jacobian(tree, state.root, state.rotations, body, point)
    assert relative(ours, other.point_jacobian(state, body, point)) < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_jacobians_are_derivatives_in_the_tangent_space(seed: int) -> None:
    rng, tree = make("human", seed)
    state, h, body = random_state(rng, tree), 1e-6, len(tree) // 2

    def moved(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        linear, angular = unpack(u)
        return state.root + linear, rotation.multiply(state.rotations, rotation.exp(angular))

    def difference(f) -> np.ndarray:
        steps = np.eye(tree.size) * h
        return np.stack([(f(*moved(s)) - f(*moved(-s))) / (2 * h) for s in steps], axis=-1)

    com = difference(lambda root, q: compute_center_of_mass(tree, root, q))
    assert np.abs(compute_center_of_mass_jacobian(tree, state.root, state.rotations) - com).max() < 1e-8
    joint = difference(lambda root, q: compute_world_pose(tree, root, q).joints[body])
    assert np.abs(compute_point_jacobian(tree, state.root, state.rotations, body)[3:] - joint).max() < 1e-8


@pytest.mark.parametrize("seed", SEEDS)
def test_momentum_is_mujocos_jacobian_times_velocity(seed: int) -> None:
    rng, tree = make("human", seed)
    tree = loaded(tree, rng)
    state = random_state(rng, tree)
    momentum = compute_momentum(tree, state)
    wanted = MuJoCo(tree).momentum_jacobian(state) @ state.generalised_velocity
    assert relative(momentum.angular, wanted[:3]) < 1e-11
    assert relative(momentum.linear, wanted[3:]) < 1e-11


@pytest.mark.parametrize("seed", SEEDS)
def test_kinetic_energy_is_the_bodies_own(seed: int) -> None:
    rng, tree = make("human", seed)
    state = random_state(rng, tree)
    H, u = compute_joint_space_inertia(tree, state.root, state.rotations), state.generalised_velocity
    pose, speed = compute_world_pose(tree, state.root, state.rotations), compute_world_velocity(tree, state)
    turning = np.einsum("ja,jab,jb->", speed.angular, pose.inertias, speed.angular)
    moving = np.sum(tree.masses[:, None] * speed.centers**2)
    assert 0.5 * u @ H @ u == pytest.approx(0.5 * (turning + moving), rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_rate_of_momentum_is_the_external_force(seed: int) -> None:
    """Newton and Euler for the body as a whole: finite differences of momentum against the root's wrench."""
    rng, tree = make("human", seed)
    state, h = random_state(rng, tree), 1e-5

    def after(t: float) -> TreeState:
        # To second order in t: along the body's own angular velocity, which itself grows with its acceleration.
        turn = state.angular_velocity * t + 0.5 * state.angular_acceleration * t * t
        return TreeState(
            state.root + state.velocity * t + 0.5 * state.acceleration * t * t,
            rotation.multiply(state.rotations, rotation.exp(turn)),
            state.velocity + state.acceleration * t,
            state.angular_velocity + state.angular_acceleration * t,
            state.acceleration,
            state.angular_acceleration,
        )

    reaction = compute_ground_reaction(tree, state)
    before, later = compute_momentum(tree, after(-h)), compute_momentum(tree, after(h))
    center = compute_momentum(tree, state).center
    force = reaction.force + tree.mass * GRAVITY
    moment = reaction.moment - np.cross(center, reaction.force)
    assert relative((later.linear - before.linear) / (2 * h), force) < 1e-6
    assert relative((later.angular - before.angular) / (2 * h), moment) < 1e-6


def test_standing_still_the_ground_carries_the_weight_under_the_center_of_mass() -> None:
    rng, tree = make("human", 0)
    state = TreeState.at_rest(rng.standard_normal(3), rotation.random(rng, (len(tree),)))
    reaction = compute_ground_reaction(tree, state, height=0.3)
    np.testing.assert_allclose(reaction.force, [0, 9.81 * tree.mass, 0], atol=1e-9)
    center = compute_center_of_mass(tree, state.root, state.rotations)
    np.testing.assert_allclose(reaction.pressure, [center[0], 0.3, center[2]], atol=1e-12)
    assert abs(reaction.free_moment) < 1e-9


def test_zero_moment_point_of_an_accelerated_body() -> None:
    """A rigid body pushed along x: the point lies (height) ax / g behind its centre (the cart-table model)."""
    tree = Tree(("body",), [-1], np.zeros((1, 3)), [60.0], np.zeros((1, 3)), [np.diag([8.0, 2.0, 8.0])])
    state = TreeState([0.2, 1.0, 0.4], [[1, 0, 0, 0]], np.zeros(3), np.zeros((1, 3)), [1.5, 0, -0.7], np.zeros((1, 3)))
    reaction = compute_ground_reaction(tree, state)
    np.testing.assert_allclose(reaction.pressure, [0.2 - 1.5 / 9.81, 0, 0.4 + 0.7 / 9.81], atol=1e-12)


def test_falling_freely_needs_no_ground() -> None:
    rng, tree = make("human", 1)
    rest = TreeState.at_rest(np.array([0, 1.0, 0]), rotation.random(rng, (len(tree),)))
    fall = TreeState(rest.root, rest.rotations, [1, -3, 2], rest.angular_velocity, GRAVITY, rest.angular_acceleration)
    reaction = compute_ground_reaction(tree, fall)
    np.testing.assert_allclose(reaction.force, 0, atol=1e-10)
    assert np.isnan(reaction.pressure).all()


def test_composites_add_up_to_the_whole() -> None:
    rng, tree = make("random", 2)
    pose = compute_world_pose(tree, np.zeros(3), rotation.random(rng, (len(tree),)))
    mass, center, inertia = compute_composites(tree, pose)
    assert mass[0] == pytest.approx(tree.mass)
    whole = np.einsum("j,ja->a", tree.masses, pose.centers) / tree.mass
    np.testing.assert_allclose(center[0], whole, atol=1e-12)
    d = pose.centers - whole
    apart = np.einsum(
        "j,jab->ab", tree.masses, np.eye(3) * np.sum(d * d, -1)[:, None, None] - d[:, :, None] * d[:, None]
    )
    np.testing.assert_allclose(inertia[0], pose.inertias.sum(axis=0) + apart, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"masses": [1.0, -1.0]}, "must not be negative"),
        ({"masses": [0.0, 0.0]}, "must not all be zero"),
        ({"parents": [-1, -1]}, "exactly one root"),
        ({"parents": [-1, 1]}, "parents before their children"),
        ({"offsets": np.zeros((3, 3))}, "offsets of shape"),
    ],
)
def test_bad_trees_are_refused(change: dict, message: str) -> None:
    good = {
        "names": ("a", "b"),
        "parents": [-1, 0],
        "offsets": np.zeros((2, 3)),
        "masses": [1.0, 1.0],
        "centers": np.zeros((2, 3)),
        "inertias": np.stack([np.eye(3)] * 2),
    }
    with pytest.raises(InputError, match=message):
        Tree(**{**good, **change})

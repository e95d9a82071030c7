"""What every physics engine must do, asked of each for what it declares. The oracles know nothing of the adapters."""

from __future__ import annotations

import gc
import importlib.util
import itertools
from dataclasses import replace

import numpy as np
import pytest

from helpers.engine_verbs import VerbEngine
from helpers.errors import rejects
from helpers.random_bodies import human_tree, random_state, random_tree
from oracles.hybrid import solve_hybrid_dynamics
from poise.body.geometry.primitives import Box, Capsule, Sphere
from poise.dynamics.tree import GRAVITY, Tree, TreeState
from poise.engines.engine import BodyState, Engine, Simulation
from poise.engines.registry import ENGINES, get_engine
from poise.engines.scene import BALL, FREE, GIVEN, HINGES, Joint, Scene, SceneBody
from poise.errors import InputError
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia
from poise.world.ground.ground import Ground
from poise.world.prop import Hinge, Prop

MODULES = {"mujoco": "mujoco", "bullet": "pybullet", "inverse": "mujoco"}
# Relative error of an acceleration found from one tiny step: MuJoCo's step is exact to round-off, Bullet takes velocity
# terms at a slightly later pose (it falls with the step).
PRECISION = {"mujoco": 1e-9, "bullet": 1e-4, "inverse": 1e-9}
TINY = 1e-5


@pytest.fixture(params=list(ENGINES))
def engine(request: pytest.FixtureRequest) -> Engine:
    if importlib.util.find_spec(MODULES[request.param]) is None:
        pytest.skip(f"no {MODULES[request.param]} here")
    return VerbEngine(get_engine(request.param))


def resting(state: TreeState) -> TreeState:
    return TreeState.at_rest(state.root, state.rotations)


def body_of(tree: Tree, state: TreeState, kinds: list[int] | tuple[Joint, ...], **options: object) -> SceneBody:
    joints = tuple(k if isinstance(k, Joint) else Joint(k) for k in kinds)
    name = options.pop("name", "body")
    return SceneBody(
        str(name), tree, joints, state.root, state.rotations, state.velocity, state.angular_velocity, **options
    )  # type: ignore[arg-type]


def read(simulation: Simulation, joints: int, body: int = 0) -> BodyState:
    state = BodyState.zeros(joints)
    simulation.read(body, state)
    return state


def still(joints: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.zeros((joints, 3)), np.zeros(joints), np.zeros((joints, 6))


def world_turns(tree: Tree, rotations: np.ndarray) -> np.ndarray:
    turns: list[np.ndarray] = []
    for q, parent in zip(rotations, tree.parents, strict=True):
        turns.append(q if parent < 0 else rotation.multiply(turns[parent], q))
    return np.array(turns)


def generalised(tree: Tree, rotations: np.ndarray, torque: np.ndarray) -> np.ndarray:
    """tau (n,) of torques in the world; the root's row is not read."""
    inside = rotation.rotate(rotation.conjugate(world_turns(tree, rotations)), torque)
    return np.concatenate([np.zeros(6), inside[1:].ravel()])


def measured_acceleration(simulation: Simulation, joints: int, inputs: tuple, dt: float = TINY) -> np.ndarray:
    """(n,) what one step changes, over its length; zero for GIVEN joints."""
    before = read(simulation, joints)
    simulation.apply(0, *inputs)
    simulation.step()
    after = read(simulation, joints)
    return np.concatenate([after.v - before.v, (after.w - before.w).ravel()]) / dt


def random_inputs(rng: np.random.Generator, joints: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return rng.normal(size=(joints, 3)) * 20, np.zeros(joints), rng.normal(size=(joints, 6)) * 30


def assert_close(found: np.ndarray, wanted: np.ndarray, engine: Engine, factor: float = 1.0) -> None:
    error = np.abs(found - wanted).max() / np.abs(wanted).max()
    assert error < factor * PRECISION[engine.name]


@pytest.mark.parametrize("seed", range(4))
def test_a_body_reads_as_it_was_built(engine: Engine, seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 11)
    state = random_state(rng, tree)
    axes = rotation.rotate(rotation.random(rng), np.eye(3))[:2]
    spin = np.array(state.angular_velocity)
    spin[4] = axes.T @ rng.normal(size=2)
    state = replace(state, angular_velocity=spin)
    kinds = [Joint(FREE)] + [Joint(BALL)] * 10
    kinds[4] = Joint(HINGES, axes, np.tile([-np.inf, np.inf], (2, 1)))
    found = read(engine.build(Scene((body_of(tree, state, tuple(kinds)),), ground=None)), 11)
    np.testing.assert_allclose(found.root, state.root, atol=1e-9)
    assert np.max(rotation.angle(found.q, state.rotations)) < 1e-7
    np.testing.assert_allclose(found.v, state.velocity, atol=1e-9)
    np.testing.assert_allclose(found.w, state.angular_velocity, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_free_balls_accelerate_as_the_equation_of_motion_says(engine: Engine, seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 12)
    state = random_state(rng, tree)
    torque, damping, wrench = random_inputs(rng, 12)
    simulation = engine.build(Scene((body_of(tree, state, [FREE] + [BALL] * 11),), ground=None, dt=TINY))
    found = measured_acceleration(simulation, 12, (torque, damping, wrench))
    wanted = solve_hybrid_dynamics(
        tree, state, generalised(tree, state.rotations, torque), np.zeros(tree.size, bool), wrench
    )
    assert_close(found, wanted.acceleration, engine)


def test_a_human_with_massless_joints_given_accelerates_as_it_should(engine: Engine) -> None:
    rng = np.random.default_rng(7)
    tree = human_tree(rng)
    j = len(tree)
    # A joint is simulated where it carries mass and so does what it hangs from.
    kinds = [FREE]
    for i in range(1, j):
        kinds.append(BALL if tree.masses[i] > 0 and kinds[tree.parents[i]] != GIVEN else GIVEN)
    state = random_state(rng, tree)
    spin = np.where(np.array(kinds)[:, None] == GIVEN, 0.0, state.angular_velocity)
    state = replace(state, angular_velocity=spin, angular_acceleration=np.zeros((j, 3)))
    massive = Tree(
        tree.names, tree.parents, tree.offsets, np.where(np.array(kinds) == GIVEN, 0.0, tree.masses),
        tree.centers, np.where((np.array(kinds) == GIVEN)[:, None, None], 0.0, tree.inertias),
    )  # fmt: skip
    torque, damping, wrench = random_inputs(rng, j)
    torque, wrench = torque * 0.01, wrench * 0.01
    simulation = engine.build(Scene((body_of(massive, state, kinds, is_locked=False),), ground=None, dt=TINY))
    found = measured_acceleration(simulation, j, (torque, damping, wrench))
    is_given = np.concatenate([np.zeros(3, bool), np.repeat(np.array(kinds) == GIVEN, 3)])
    wanted = solve_hybrid_dynamics(massive, state, generalised(tree, state.rotations, torque), is_given, wrench)
    free = ~is_given
    assert_close(found[free], wanted.acceleration[free], engine, factor=10)


@pytest.mark.parametrize("seed", range(4))
def test_hinges_turn_about_their_axes_only(engine: Engine, seed: int) -> None:
    if not engine.abilities.hinges:
        pytest.skip(f"{engine.name} has no hinges")
    rng = np.random.default_rng(seed)
    tree, j = random_tree(rng, 10), 10
    state = random_state(rng, tree)
    spin, change = np.array(state.angular_velocity), np.zeros((j, 3))
    kinds, is_given = [Joint(FREE)], np.zeros((j, 3), bool)
    for i in range(1, j):
        axes = np.eye(3)[rng.permutation(3)[: int(rng.integers(1, 4))]]
        if len(axes) == 3:
            kinds.append(Joint(BALL))
            continue
        kinds.append(Joint(HINGES, axes, np.tile([-np.inf, np.inf], (len(axes), 1))))
        speeds = rng.normal(size=len(axes)) * 4
        spin[i], is_given[i] = axes.T @ speeds, axes.sum(axis=0) == 0
        if len(axes) == 2:
            # The first axis, seen from the body, turns backwards about the second.
            change[i] = -np.cross(axes[1] * speeds[1], axes[0] * speeds[0])
    state = replace(state, angular_velocity=spin, angular_acceleration=change)
    torque, damping, wrench = random_inputs(rng, j)
    simulation = engine.build(Scene((body_of(tree, state, tuple(kinds)),), ground=None, dt=TINY))
    found = measured_acceleration(simulation, j, (torque, damping, wrench))
    given = np.concatenate([np.zeros(3, bool), is_given.ravel()])
    wanted = solve_hybrid_dynamics(tree, state, generalised(tree, state.rotations, torque), given, wrench).acceleration
    # Axes turn within the step, so the difference of velocities is right to first order only.
    assert np.abs(found - wanted).max() < 3e-4 * np.abs(wanted).max()


def test_hinges_turned_far_keep_energy(engine: Engine) -> None:
    """Away from where they were built two successive hinges are no longer the body's axes."""
    if not engine.abilities.hinges:
        pytest.skip(f"{engine.name} has no hinges")
    rng = np.random.default_rng(5)
    tree, axes = random_tree(rng, 3), rotation.rotate(rotation.random(rng), np.eye(3))[:2]
    state = resting(random_state(rng, tree))
    spin = np.array(state.angular_velocity)
    spin[1], spin[2] = axes.T @ [3.0, 5.0], axes[:1].T @ [4.0]
    state = replace(state, angular_velocity=spin)
    free = np.tile([-np.inf, np.inf], (2, 1))
    kinds = (Joint(FREE), Joint(HINGES, axes, free), Joint(HINGES, axes[:1], free[:1]))
    scene = Scene((body_of(tree, state, kinds),), ground=None, dt=5e-4, gravity=np.zeros(3))
    simulation = engine.build(scene)
    kinetic = []
    for _ in range(800):
        at = read(simulation, 3)
        kinetic.append(kinetic_energy(tree, at))
        simulation.step()
    assert rotation.angle(at.q[1], state.rotations[1]) > 0.5
    np.testing.assert_allclose(kinetic, kinetic[0], rtol=2e-2)


def kinetic_energy(tree: Tree, at: BodyState) -> float:
    """From positions and velocities alone."""
    turns, energy = world_turns(tree, at.q), 0.0
    om, v, p = np.zeros((len(tree), 3)), np.zeros((len(tree), 3)), np.zeros((len(tree), 3))
    for i, k in enumerate(tree.parents):
        om[i] = rotation.rotate(turns[i], at.w[i]) + (om[k] if k >= 0 else 0)
        lever = rotation.rotate(turns[k], tree.offsets[i]) if k >= 0 else np.zeros(3)
        p[i] = p[k] + lever if k >= 0 else at.root
        v[i] = v[k] + np.cross(om[k], lever) if k >= 0 else at.v
        c = v[i] + np.cross(om[i], rotation.rotate(turns[i], tree.centers[i]))
        inside = rotation.rotate(rotation.conjugate(turns[i]), om[i])
        energy += 0.5 * tree.masses[i] * c @ c + 0.5 * inside @ tree.inertias[i] @ inside
    return float(energy)


@pytest.mark.many(1)
def test_hinge_ranges_hold(engine: Engine) -> None:
    if not engine.abilities.hinges:
        pytest.skip(f"{engine.name} has no hinges")
    tree = Tree(("base", "limb"), np.array([-1, 0]), np.array([[0, 0, 0], [0, -0.1, 0]]), np.array([5.0, 1.0]),
                np.array([[0, 0, 0], [0, -0.2, 0]]), np.tile(np.eye(3) * 0.02, (2, 1, 1)))  # fmt: skip
    state = TreeState.at_rest(np.zeros(3), rotation.identity((2,)))
    reach = np.array([[-0.3, 0.5]])
    kinds = (Joint(GIVEN), Joint(HINGES, np.array([[1.0, 0, 0]]), reach))
    simulation = engine.build(Scene((body_of(tree, state, kinds, is_locked=False),), ground=None, dt=0.002))
    for push, limit in ((8.0, 0.5), (-8.0, -0.3)):
        for _ in range(1000):
            simulation.apply(0, np.array([[0, 0, 0], [push, 0, 0]]), np.array([0, 0.5]), np.zeros((2, 6)))
            simulation.step()
        angle = rotation.log(read(simulation, 2).q[1])
        np.testing.assert_allclose(angle, [limit, 0, 0], atol=0.02)


@pytest.mark.parametrize("seed", range(4))
def test_given_bodies_are_locked_inertia_on_what_they_hang_from(engine: Engine, seed: int) -> None:
    if "exact" not in engine.abilities.couplings:
        pytest.skip(f"{engine.name} does not do the exact coupling")
    rng = np.random.default_rng(seed)
    tree, j = random_tree(rng, 14), 14
    kinds = given_leaves(rng, tree)
    built, state = random_state(rng, tree), random_state(rng, tree)
    hidden = np.array(kinds) == GIVEN
    quiet = np.where(hidden[:, None], 0.0, state.angular_velocity)
    state = replace(state, angular_velocity=quiet, angular_acceleration=np.zeros((j, 3)))
    # Built in another pose of the given parts, then placed: the inertia must follow.
    built = replace(state, rotations=np.where(hidden[:, None], built.rotations, state.rotations))
    torque, damping, wrench = random_inputs(rng, j)
    simulation = engine.build(Scene((body_of(tree, built, kinds),), ground=None, dt=TINY))
    simulation.place(0, BodyState(state.root, state.rotations, state.velocity, state.angular_velocity))
    found = measured_acceleration(simulation, j, (torque, damping, wrench))
    is_given = np.concatenate([np.zeros(3, bool), np.repeat(hidden, 3)])
    wanted = solve_hybrid_dynamics(tree, state, generalised(tree, state.rotations, torque), is_given, wrench)
    assert_close(found[~is_given], wanted.acceleration[~is_given], engine)


@pytest.mark.parametrize("seed", range(4))
def test_given_bodies_without_inertia_only_hand_on_wrenches(engine: Engine, seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree, j = random_tree(rng, 14), 14
    kinds = given_leaves(rng, tree)
    hidden = np.array(kinds) == GIVEN
    state = random_state(rng, tree)
    quiet = np.where(hidden[:, None], 0.0, state.angular_velocity)
    state = replace(state, angular_velocity=quiet, angular_acceleration=np.zeros((j, 3)))
    torque, damping, wrench = random_inputs(rng, j)
    simulation = engine.build(Scene((body_of(tree, state, kinds, is_locked=False),), ground=None, dt=TINY))
    simulation.place(0, BodyState(state.root, state.rotations, state.velocity, state.angular_velocity))
    found = measured_acceleration(simulation, j, (torque, damping, wrench))
    is_given = np.concatenate([np.zeros(3, bool), np.repeat(hidden, 3)])
    light = Tree(tree.names, tree.parents, tree.offsets, np.where(hidden, 0.0, tree.masses), tree.centers,
                 np.where(hidden[:, None, None], 0.0, tree.inertias))  # fmt: skip
    wanted = solve_hybrid_dynamics(light, state, generalised(tree, state.rotations, torque), is_given, wrench)
    assert_close(found[~is_given], wanted.acceleration[~is_given], engine, factor=100)


def given_leaves(rng: np.random.Generator, tree: Tree) -> list[int]:
    """A free root, and some branches GIVEN from some joint on."""
    kinds = [FREE]
    for i in range(1, len(tree)):
        kinds.append(GIVEN if kinds[tree.parents[i]] == GIVEN or (i > 3 and rng.random() < 0.3) else BALL)
    assert GIVEN in kinds
    return kinds


@pytest.mark.parametrize("seed", range(4))
def test_limbs_hang_from_a_base_that_is_placed(engine: Engine, seed: int) -> None:
    """A GIVEN root and trunk stand still for the engine; limbs swing from where they were last placed."""
    rng = np.random.default_rng(seed)
    tree, j = random_tree(rng, 12), 12
    kinds = [GIVEN]
    for i in range(1, j):
        kinds.append(GIVEN if kinds[tree.parents[i]] == GIVEN and i < 5 else BALL)
    hidden = np.array(kinds) == GIVEN
    state = random_state(rng, tree)
    quiet = np.where(hidden[:, None], 0.0, state.angular_velocity)
    zero = np.zeros(3)
    state = replace(
        state, velocity=zero, acceleration=zero, angular_velocity=quiet, angular_acceleration=np.zeros((j, 3))
    )
    elsewhere = random_state(rng, tree)
    built = replace(
        state,
        root=elsewhere.root,
        rotations=np.where(hidden[:, None], elsewhere.rotations, state.rotations),
    )
    torque, damping, wrench = random_inputs(rng, j)
    locked = "exact" in engine.abilities.couplings
    simulation = engine.build(Scene((body_of(tree, built, kinds, is_locked=locked),), ground=None, dt=TINY))
    simulation.place(0, BodyState(state.root, state.rotations, zero, quiet))
    found = measured_acceleration(simulation, j, (torque, damping, wrench))
    is_given = np.concatenate([np.ones(3, bool), np.repeat(hidden, 3)])
    wanted = solve_hybrid_dynamics(tree, state, generalised(tree, state.rotations, torque), is_given, wrench)
    assert_close(found[~is_given], wanted.acceleration[~is_given], engine)


def test_read_leaves_given_joints_alone(engine: Engine) -> None:
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 14)
    kinds = given_leaves(rng, tree)
    state = random_state(rng, tree)
    simulation = engine.build(Scene((body_of(tree, state, kinds, is_locked=False),), ground=None))
    mark = BodyState(np.full(3, 7.0), np.full((14, 4), 7.0), np.full(3, 7.0), np.full((14, 3), 7.0))
    simulation.read(0, mark)
    hidden = np.array(kinds) == GIVEN
    assert np.all(mark.q[hidden] == 7.0)
    assert np.all(mark.w[hidden] == 7.0)
    assert not np.any(mark.q[~hidden] == 7.0)


def test_forces_act_for_one_step(engine: Engine) -> None:
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 5)
    state = resting(random_state(rng, tree))
    crate = Prop("crate", (), RigidInertia(2.0, np.array([0.1, 0, 0]), np.eye(3) * 0.1), np.array([3.0, 1, 0]))
    scene = Scene((body_of(tree, state, [FREE] + [BALL] * 4),), (crate,), None, 0.001, np.zeros(3))
    simulation = engine.build(scene)
    simulation.apply(0, *random_inputs(rng, 5))
    simulation.push_prop("crate", np.array([0, 0, 0, 5.0, 0, 0]))
    simulation.step()
    momentum, speed = root_momentum(tree, read(simulation, 5)), simulation.read_prop("crate")[2]
    for _ in range(5):
        simulation.step()
    np.testing.assert_allclose(root_momentum(tree, read(simulation, 5)), momentum, rtol=2e-3, atol=1e-4)
    np.testing.assert_allclose(simulation.read_prop("crate")[2], speed, atol=1e-5)
    assert speed[0] > 1e-3


def root_momentum(tree: Tree, at: BodyState) -> np.ndarray:
    turns, total = world_turns(tree, at.q), np.zeros(3)
    om, v = np.zeros((len(tree), 3)), np.zeros((len(tree), 3))
    for i, k in enumerate(tree.parents):
        om[i] = rotation.rotate(turns[i], at.w[i]) + (om[k] if k >= 0 else 0)
        v[i] = v[k] + np.cross(om[k], rotation.rotate(turns[k], tree.offsets[i])) if k >= 0 else at.v
        total += tree.masses[i] * (v[i] + np.cross(om[i], rotation.rotate(turns[i], tree.centers[i])))
    return total


BOX = Box(np.array([0.0, 0.1, 0.0]), np.array([0.2, 0.1, 0.15]), rotation.identity())


def box_body(mass: float = 30.0, height: float = 0.0, **options: object) -> SceneBody:
    """A box of one body, its frame at the middle of its sole."""
    inertia = mass / 3.0 * np.diag([0.1**2 + 0.15**2, 0.2**2 + 0.15**2, 0.2**2 + 0.1**2])
    tree = Tree(("box",), np.array([-1]), np.zeros((1, 3)), np.array([mass]), np.array([[0, 0.1, 0]]), inertia[None])
    at = TreeState.at_rest(np.array([0.3, height, -0.2]), rotation.identity((1,)))
    return body_of(tree, at, [FREE], shapes=((0, BOX),), **options)


def run(simulation: Simulation, seconds: float, dt: float, force: np.ndarray, height: float = 0.1) -> list[np.ndarray]:
    """Where the box is after each step under a force at a height above its sole."""
    wrench = np.concatenate([np.cross([0, height, 0], force), force])[None]
    path = []
    for _ in range(round(seconds / dt)):
        simulation.apply(0, np.zeros((1, 3)), np.zeros(1), wrench)
        simulation.step()
        path.append(read(simulation, 1).root)
    return path


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.01])
@pytest.mark.many(3)
def test_a_box_stands_on_the_ground(engine: Engine, dt: float) -> None:
    simulation = engine.build(Scene((box_body(height=0.452),), ground=Ground(0.45), dt=dt))
    path = run(simulation, 1.5, dt, np.zeros(3))
    contacts = simulation.find_contacts(0)
    weight = 30.0 * 9.81
    np.testing.assert_allclose(contacts.forces.sum(axis=0), [0, weight, 0], atol=0.01 * weight)
    assert set(contacts.others) == {"ground"}
    assert np.all(contacts.joints == 0)
    # All under the box: at its sole, within its outline, and with no moment about its middle.
    np.testing.assert_allclose(contacts.points[:, 1], 0.45, atol=3e-3)
    lever = contacts.points - [0.3, 0.45, -0.2]
    assert np.all(np.abs(lever[:, [0, 2]]) <= [0.2 + 1e-3, 0.15 + 1e-3])
    np.testing.assert_allclose(np.cross(lever, contacts.forces).sum(axis=0), 0.0, atol=0.01 * weight * 0.2)
    assert abs(path[-1][1] - 0.45) < 2e-3
    assert np.linalg.norm(path[-1][[0, 2]] - [0.3, -0.2]) < 1e-3


@pytest.mark.parametrize(("direction", "friction"), list(itertools.product([0.0, np.pi / 4, 2.0], [0.3, 0.8])))
@pytest.mark.many(5)
def test_friction_holds_below_and_gives_above(engine: Engine, direction: float, friction: float) -> None:
    toward, dt, weight = np.array([np.cos(direction), 0, np.sin(direction)]), 0.005, 30.0 * 9.81
    simulation = engine.build(Scene((box_body(),), ground=Ground(0.0, friction), dt=dt))
    run(simulation, 0.5, dt, np.zeros(3))
    held = run(simulation, 1.0, dt, 0.9 * friction * weight * toward, height=0.02)
    assert np.linalg.norm(held[-1] - held[20]) < 1e-4
    slid = run(simulation, 0.5, dt, 1.2 * friction * weight * toward, height=0.02)
    # m dv = (F - mu m g) dt, and contacts on the cone; a sliding box may hop, so its speed is right on average only.
    speed = (slid[-1] - slid[-21]) / (20 * dt)
    np.testing.assert_allclose(speed @ toward, 0.2 * friction * 9.81 * 0.45, rtol=0.3)
    force = np.zeros(3)
    while not force[1] > 0.0:
        run(simulation, dt, dt, 1.2 * friction * weight * toward, height=0.02)
        force = simulation.find_contacts(0).forces.sum(axis=0)
    assert np.hypot(force[0], force[2]) == pytest.approx(friction * force[1], rel=0.02)
    assert force @ toward < 0.0


@pytest.mark.parametrize("friction", [0.3, 0.9])
def test_a_foot_has_the_friction_that_a_root_has(engine: Engine, friction: float) -> None:
    """It hangs from a joint, and slides: m a = F - m g friction. Bullet's links had 0.5 instead of what was asked."""
    dt, steps, mass = 0.005, 60, 31.0
    inertias = np.array([0.01 * np.eye(3), 30.0 / 3.0 * np.diag([0.1**2 + 0.15**2, 0.2**2 + 0.15**2, 0.2**2 + 0.1**2])])
    centers = np.array([np.zeros(3), [0.0, 0.1, 0.0]])
    tree = Tree(("root", "foot"), np.array([-1, 0]), np.zeros((2, 3)), np.array([1.0, 30.0]), centers, inertias)
    body = body_of(tree, TreeState.at_rest(np.zeros(3), rotation.identity((2,))), [FREE, BALL], shapes=((1, BOX),))
    simulation = engine.build(Scene((body,), ground=Ground(0.0, friction), dt=dt))
    wrench = np.zeros((2, 6))
    wrench[1] = [0.0, 0.0, -0.02 * 1.5 * friction * mass * 9.81, 1.5 * friction * mass * 9.81, 0.0, 0.0]
    path = []
    for k in range(40 + steps):
        simulation.apply(0, np.zeros((2, 3)), np.zeros(2), wrench if k >= 20 else np.zeros((2, 6)))
        simulation.step()
        path.append(read(simulation, 2).root[0])
    speed = (path[-1] - path[-21]) / (20 * dt)  # on average: a sliding box may hop
    np.testing.assert_allclose(speed, 0.5 * friction * 9.81 * (10 + steps) * dt, rtol=0.15)


def test_a_sole_bears_on_more_than_points_in_bullet() -> None:
    """A post on a foot of 20 mm spins down by friction at its corners and about each: I dw = -m N (r + PATCH) dt."""
    pytest.importorskip("pybullet")
    from poise.engines.bullet.world import PATCH

    half, mass, friction, dt, about = np.array([0.01, 0.01, 0.01]), 2.0, 0.6, 0.001, 0.05
    tree = Tree(
        ("post",), np.array([-1]), np.zeros((1, 3)), np.array([mass]), np.array([[0, 0.01, 0]]), about * np.eye(3)[None]
    )
    start = TreeState.at_rest(np.zeros(3), rotation.identity((1,)))
    start = replace(start, angular_velocity=np.array([[0.0, 3.0, 0.0]]))
    box = Box(np.array([0.0, 0.01, 0.0]), half, rotation.identity())
    body = body_of(tree, start, [FREE], shapes=((0, box),))
    simulation = VerbEngine(get_engine("bullet")).build(Scene((body,), ground=Ground(0.0, friction), dt=dt))
    speeds = []
    for _ in range(300):
        simulation.apply(0, np.zeros((1, 3)), np.zeros(1), np.zeros((1, 6)))
        simulation.step()
        speeds.append(read(simulation, 1).w[0, 1])
    braked = (speeds[50] - speeds[250]) / (200 * dt)
    np.testing.assert_allclose(braked, friction * mass * 9.81 * (np.hypot(*half[:2]) + PATCH) / about, rtol=0.1)


@pytest.mark.parametrize(
    ("is_sole", "is_hard", "wanted"),
    [(True, False, 0.81), (True, True, 0.81), (False, False, 0.81), (False, True, 0.45)],
)
def test_limbs_of_a_body_that_falls_slide_more_easily_in_bullet(is_sole: bool, is_hard: bool, wanted: float) -> None:
    """On ground of friction 0.81 a limb slides as on 0.9 x 0.5; soles, and who stands, as asked for."""
    pytest.importorskip("pybullet")
    dt = 0.001
    tree = Tree(
        ("rope", "sledge"), np.array([-1, 0]), np.zeros((2, 3)), np.array([0.1, 2.0]), np.array([[0, 0.05, 0]] * 2),
        np.array([0.01, 0.5])[:, None, None] * np.eye(3),
    )  # fmt: skip
    start = TreeState.at_rest(np.zeros(3), rotation.identity((2,)))
    start = replace(start, velocity=np.array([0.0, 0.0, 3.0]))
    box = Box(np.array([0.0, 0.05, 0.0]), np.array([0.1, 0.05, 0.3]), rotation.identity())
    limb = Capsule(np.array([0.0, 0.05, -0.3]), np.array([0.0, 0.05, 0.3]), 0.05)
    body = replace(body_of(tree, start, [FREE, BALL], shapes=((1, box if is_sole else limb),)), is_hard=is_hard)
    simulation = VerbEngine(get_engine("bullet")).build(Scene((body,), ground=Ground(0.0, 0.81), dt=dt))
    speeds = []
    for _ in range(200):
        simulation.apply(0, np.zeros((2, 3)), np.zeros(2), np.zeros((2, 6)))
        simulation.step()
        speeds.append(read(simulation, 2).v[2])
    braked = (speeds[50] - speeds[150]) / (100 * dt)
    assert braked == pytest.approx(wanted * 9.81, rel=0.03)


def test_a_limb_that_is_dragged_along_has_the_friction_that_was_asked_for(engine: Engine) -> None:
    """It hangs from what is given, which does not fall, though nobody stands: its tip slides with T = friction N."""
    dt, speed, tilt = 0.002, 0.4, np.array([np.sin(0.25), 0.0, 0.0, np.cos(0.25)])
    tree = Tree(
        ("holder", "stick"), np.array([-1, 0]), np.zeros((2, 3)), np.array([1.0, 2.0]),
        np.array([np.zeros(3), [0.0, -0.5, 0.0]]), np.array([0.01, 0.2])[:, None, None] * np.eye(3),
    )  # fmt: skip
    turns = np.array([rotation.identity(), tilt[[3, 0, 1, 2]]])
    start = TreeState.at_rest(np.array([0.0, 0.05 + np.cos(0.5), 0.0]), turns)
    limb = Capsule(np.array([0.0, -0.9, 0.0]), np.array([0.0, -1.0, 0.0]), 0.05)
    body = replace(body_of(tree, start, [GIVEN, BALL], shapes=((1, limb),)), is_hard=True)
    simulation = engine.build(Scene((body,), ground=Ground(0.0, 0.6), dt=dt))
    given, ratios = BodyState(start.root.copy(), turns.copy(), np.array([0.0, 0.0, speed]), np.zeros((2, 3))), []
    for k in range(150):
        given.root[2] = speed * dt * (k + 1)
        simulation.speed(0, given, np.zeros((2, 3)), np.zeros(3))
        simulation.place(0, given)
        simulation.apply(0, np.zeros((2, 3)), np.array([0.0, 0.5]), np.zeros((2, 6)))
        simulation.step()
        force = simulation.find_contacts(0).forces.sum(axis=0)
        if k >= 75 and force[1] > 1.0:
            ratios.append(np.hypot(force[0], force[2]) / force[1])
    assert np.median(ratios) == pytest.approx(0.6, rel=0.03)


def test_contacts_say_what_touches_what(engine: Engine) -> None:
    slab = Prop("slab", (Box(np.zeros(3), np.array([1.0, 0.1, 1.0]), rotation.identity()),), position=[0, 0.1, 0])
    ball = Prop(
        "ball", (Sphere(np.array([0, 0.05, 0]), 0.1),), RigidInertia(4.0, np.array([0, 0.05, 0]), np.eye(3) * 0.016),
        np.array([0.3, 0.45, -0.2]),
    )  # fmt: skip
    simulation = engine.build(Scene((box_body(height=0.2),), (slab, ball), Ground(), 0.002))
    run(simulation, 1.0, 0.002, np.zeros(3))
    contacts = simulation.find_contacts(0)
    assert set(contacts.others) == {"slab", "ball"}
    up = {name: sum(f[1] for f, o in zip(contacts.forces, contacts.others, strict=True) if o == name)
          for name in ("slab", "ball")}  # fmt: skip
    assert up["slab"] == pytest.approx(34 * 9.81, rel=0.01)
    assert up["ball"] == pytest.approx(-4 * 9.81, rel=0.01)
    np.testing.assert_allclose(simulation.read_prop("ball")[0], [0.3, 0.45, -0.2], atol=3e-3)
    np.testing.assert_array_equal(simulation.read_prop("slab")[0], [0, 0.1, 0])


def test_capsules_lie_where_they_are_drawn(engine: Engine) -> None:
    """A capsule out of the joint's axes rests with its middle a radius above the ground."""
    tree = Tree(("rod",), np.array([-1]), np.zeros((1, 3)), np.array([2.0]), np.array([[0.1, 0.2, 0.3]]),
                np.eye(3)[None] * 0.02)  # fmt: skip
    start, end = np.array([-0.1, 0.2, 0.1]), np.array([0.3, 0.2, 0.5])
    at = TreeState.at_rest(np.array([0.0, -0.14, 0.0]), rotation.identity((1,)))
    body = body_of(tree, at, [FREE], shapes=((0, Capsule(start, end, 0.05)),))
    simulation = engine.build(Scene((body,), dt=0.002))
    for _ in range(500):
        simulation.step()
    contacts = simulation.find_contacts(0)
    found = read(simulation, 1)
    assert found.root[1] == pytest.approx(-0.15, abs=2e-3)
    assert contacts.forces.sum(axis=0)[1] == pytest.approx(2 * 9.81, rel=0.01)
    ends = found.root + rotation.rotate(found.q[0], np.array([start, end])) - [0, 0.05, 0]
    for point in contacts.points:
        assert min(np.linalg.norm(ends - point, axis=1)) < 5e-3


def test_bodies_own_segments_do_not_touch_each_other(engine: Engine) -> None:
    tree = Tree(("a", "b"), np.array([-1, 0]), np.zeros((2, 3)), np.ones(2), np.zeros((2, 3)),
                np.tile(np.eye(3) * 0.01, (2, 1, 1)))  # fmt: skip
    state = TreeState.at_rest(np.zeros(3), rotation.identity((2,)))
    shapes = tuple((i, Sphere(np.array([0.01 * i, 0, 0]), 0.1)) for i in range(2))
    simulation = engine.build(Scene((body_of(tree, state, [FREE, BALL], shapes=shapes),), ground=None))
    simulation.step()
    assert len(simulation.find_contacts(0).joints) == 0


@pytest.mark.parametrize("dt", [0.002, 0.005, 0.01])
def test_pins_hold(engine: Engine, dt: float) -> None:
    if not engine.abilities.pins:
        pytest.skip(f"{engine.name} has no pins")
    rng = np.random.default_rng(3)
    tree = human_tree(rng)
    foot = [i for i, name in enumerate(tree.names) if "Foot" in name]
    kinds = [FREE]
    for i in range(1, len(tree)):
        kinds.append(BALL if tree.masses[i] > 0 and kinds[tree.parents[i]] == FREE else GIVEN)
    for i in foot:
        while kinds[i] == GIVEN:
            kinds[i], i = BALL, int(tree.parents[i])
    state = TreeState.at_rest(np.array([0, 1.0, 0]), rotation.identity((len(tree),)))
    body = body_of(tree, state, kinds, pinned=tuple(foot), is_locked=False)
    simulation = engine.build(Scene((body,), ground=None, dt=dt))
    start = joint_places(tree, read(simulation, len(tree)))
    torque, damping, wrench = still(len(tree))
    damping[:] = 5.0
    wrench[foot[0], 3:] = [300.0, 400.0, 0.0]
    for _ in range(round(0.5 / dt)):
        simulation.apply(0, torque, damping, wrench)
        simulation.step()
    moved = joint_places(tree, read(simulation, len(tree))) - start
    assert np.max(np.abs(moved[foot])) < 1e-4


def joint_places(tree: Tree, at: BodyState) -> np.ndarray:
    turns, places = world_turns(tree, at.q), [at.root]
    for i in range(1, len(tree)):
        k = int(tree.parents[i])
        places.append(places[k] + rotation.rotate(turns[k], tree.offsets[i]))
    return np.array(places)


def shaken(seed: int = 0) -> Scene:
    """A branching body with shapes that falls onto the ground with a prop."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 8)
    state = random_state(rng, tree)
    state = replace(state, root=np.array([0, 1.0, 0]))
    shapes = tuple((i, Sphere(np.zeros(3), 0.08)) for i in range(8))
    crate = Prop("crate", (BOX,), RigidInertia(5.0, np.array([0, 0.1, 0]), np.eye(3) * 0.1), np.array([0.3, 0.3, 0]))
    body = body_of(tree, state, [FREE] + [BALL] * 7, shapes=shapes, is_locked=False)
    return Scene((body,), (crate,), Ground(), 0.004)


def trace(simulation: Simulation, steps: range, joints: int = 8) -> np.ndarray:
    rows = []
    for k in steps:
        rng = np.random.default_rng(k)
        torque, damping, wrench = random_inputs(rng, joints)
        simulation.apply(0, torque * 0.1, damping + 0.5, wrench * 0.1)
        simulation.step()
        at = read(simulation, joints)
        crate = np.concatenate(simulation.read_prop("crate"))
        rows.append(np.concatenate([at.root, at.q.ravel(), at.v, at.w.ravel(), crate]))
    return np.array(rows)


def test_two_builds_give_the_same_bits(engine: Engine) -> None:
    first, second = (trace(engine.build(shaken()), range(150)) for _ in range(2))
    assert np.all(np.isfinite(first))
    assert np.any(first[100] != first[149])
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("at", [20, 120])
@pytest.mark.many(2)
def test_a_restored_state_goes_on_with_the_same_bits(engine: Engine, at: int) -> None:
    simulation = engine.build(shaken())
    trace(simulation, range(at))
    saved = simulation.save()
    first, touched = [], 0
    for k in range(at, at + 80):
        first.append(trace(simulation, range(k, k + 1)))
        touched += len(simulation.find_contacts(0).joints)
    first = np.vstack(first)
    assert touched
    for _ in range(2):
        simulation.restore(saved)
        np.testing.assert_array_equal(trace(simulation, range(at, at + 80)), first)


def light_arm(engine: Engine, dt: float, kind: Joint, root: int) -> tuple[Simulation, Tree]:
    """A hand's inertia on a heavy trunk, turning at 5 rad/s, without gravity."""
    tree = Tree(("trunk", "hand"), np.array([-1, 0]), np.array([[0, 0, 0], [0.3, 0, 0]]), np.array([40.0, 0.4]),
                np.array([[0, 0, 0], [0.05, 0, 0]]), np.array([np.eye(3), np.diag([3e-4, 1e-3, 1.2e-3])]))  # fmt: skip
    state = TreeState.at_rest(np.zeros(3), rotation.identity((2,)))
    state = replace(state, angular_velocity=np.array([[0, 0, 0], [5.0, 0, 0]]))
    body = body_of(tree, state, (Joint(root), kind), is_locked=False)
    return engine.build(Scene((body,), ground=None, dt=dt, gravity=np.zeros(3))), tree


@pytest.mark.parametrize(
    ("dt", "kind", "root"),
    list(itertools.product([0.001, 0.002, 0.005, 0.01], ["ball", "hinge"], [FREE, GIVEN])),
)
@pytest.mark.many(8)
def test_damping_is_implicit(engine: Engine, dt: float, kind: str, root: int) -> None:
    """w' = w / (1 + dt D / I) in each step, whatever the step: decay without a sign change at any damping."""
    joint = Joint(BALL) if kind == "ball" else Joint(HINGES, np.array([[1.0, 0, 0]]), np.array([[-np.inf, np.inf]]))
    for damping in (0.01, 1.0, 10.0):
        simulation, _ = light_arm(engine, dt, joint, root)
        speeds = [5.0]
        for _ in range(30):
            simulation.apply(0, np.zeros((2, 3)), np.array([0.0, damping]), np.zeros((2, 6)))
            simulation.step()
            speeds.append(float(read(simulation, 2).w[1, 0]))
        # The trunk's inertia about x is 1: the two turn against each other with the reduced inertia.
        inertia = 3e-4 if root == GIVEN else 3e-4 * 1.0 / 1.0003
        wanted = 5.0 / (1.0 + dt * damping / inertia) ** np.arange(31)
        np.testing.assert_allclose(speeds, wanted, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.01])
def test_a_damped_human_stays_calm(engine: Engine, dt: float) -> None:
    rng = np.random.default_rng(11)
    tree = human_tree(rng)
    j = len(tree)
    kinds = [FREE]
    for i in range(1, j):
        kinds.append(BALL if tree.masses[i] > 0 and kinds[tree.parents[i]] != GIVEN else GIVEN)
    state = resting(random_state(rng, tree))
    body = body_of(tree, state, kinds, is_locked=False)
    simulation = engine.build(Scene((body,), ground=None, dt=dt, gravity=np.zeros(3)))
    torque, damping, wrench = still(j)
    kick = rng.normal(size=(j, 3)) * 2.0
    fast = []
    for k in range(round(0.4 / dt)):
        simulation.apply(0, kick if k * dt < 0.1 else torque, damping + 10.0, wrench)
        simulation.step()
        fast.append(np.abs(read(simulation, j).w[1:]).max())
    assert max(fast) < 5.0
    assert fast[-1] < 0.05 * max(fast)


@pytest.mark.parametrize(("seed", "dt"), [(1, 0.005), (2, 0.01)])
@pytest.mark.many(2)
def test_a_damped_human_falls_without_flying_off(engine: Engine, seed: int, dt: float) -> None:
    """Light limbs, large damping and contacts that come and go: what damping foreseen wrongly would blow up."""
    rng = np.random.default_rng(seed)
    tree = human_tree(rng)
    j = len(tree)
    kinds = [FREE]
    for i in range(1, j):
        kinds.append(BALL if tree.masses[i] > 0 and kinds[tree.parents[i]] != GIVEN else GIVEN)
    state = random_state(rng, tree)
    turned = rotation.exp(rotation.log(state.rotations) * 0.2)
    spin = state.angular_velocity * 0.3
    state = replace(state, root=np.array([0, 1.3, 0]), rotations=turned, angular_velocity=spin)
    shapes = tuple((i, Capsule(np.zeros(3), tree.centers[i] * 1.6, 0.04)) for i in range(j) if kinds[i] != GIVEN)
    body = body_of(tree, state, kinds, shapes=shapes, is_locked=False)
    simulation = engine.build(Scene((body,), dt=dt))
    torque, damping, wrench = still(j)
    for _ in range(round(1.2 / dt)):
        simulation.apply(0, torque, damping + 10.0, wrench)
        simulation.step()
        assert kinetic_energy(tree, read(simulation, j)) < 5000.0
    at = read(simulation, j)
    assert 0.0 < at.root[1] < 0.5
    assert np.abs(at.w).max() < 5.0


def leg_on_foot() -> SceneBody:
    """A light foot on the ground under a heavy leg, whose centre of mass is at the ankle, so that it does not tip."""
    foot = Box(np.array([0, -0.05, 0.05]), np.array([0.1, 0.05, 0.2]), rotation.identity())
    tree = Tree(("leg", "foot"), np.array([-1, 0]), np.array([[0, 0, 0], [0, -0.5, 0]]), np.array([40.0, 1.0]),
                np.array([[0, -0.5, 0], [0, -0.05, 0.05]]), np.array([np.eye(3) * 2.0, np.eye(3) * 4e-3]))  # fmt: skip
    state = TreeState.at_rest(np.array([0.0, 0.6, 0.0]), rotation.identity((2,)))
    return body_of(tree, state, [FREE, BALL], shapes=((1, foot),), is_locked=False)


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.01])
@pytest.mark.many(3)
def test_damping_is_right_for_a_body_that_is_pushed_from_the_first_step(engine: Engine, dt: float) -> None:
    """Before a contact is known the foot counts as free, and would spin; that it does not says nothing against it."""
    simulation = engine.build(Scene((leg_on_foot(),), dt=dt))
    torque, damping, wrench = still(2)
    damping[1], torque[1] = 5.0, [0, 0, -12.0]
    speeds = []
    for _ in range(round(0.5 / dt)):
        simulation.apply(0, torque, damping, wrench)
        simulation.step()
        speeds.append(read(simulation, 2).w[0, 2])
    wanted = [speeds[11]]
    for _ in speeds[12:]:  # I w' = torque - D w'
        wanted.append((wanted[-1] + dt * 12.0 / 2.0) / (1.0 + dt * 5.0 / 2.0))
    np.testing.assert_allclose(speeds[11:], wanted, rtol=0.05, atol=0.01)


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.01])
@pytest.mark.many(3)
def test_damping_is_right_for_a_body_that_stands(engine: Engine, dt: float) -> None:
    """A light foot on the ground under a heavy leg: the ankle's damping works on the leg, whose inertia is large.

    I w' = torque - D w about the ankle, with the foot at rest: the speed goes to torque / D. Soft contacts let the foot
    rock, so the leg's own speed is measured, and its average.
    """
    simulation = engine.build(Scene((leg_on_foot(),), dt=dt))
    torque, damping, wrench = still(2)
    damping[1] = 20.0
    for _ in range(round(0.3 / dt)):
        simulation.apply(0, torque, damping, wrench)
        simulation.step()
    # The leg's centre of mass is at the ankle, so no gravity: 4 N m on the leg against the foot.
    torque[1] = [0, 0, -4.0]
    speeds, wanted = [], []
    for k in range(1, round(0.5 / dt) + 1):
        simulation.apply(0, torque, damping, wrench)
        simulation.step()
        speeds.append(read(simulation, 2).w[0, 2])
        wanted.append(0.2 * (1.0 - (1.0 + dt * 20.0 / 2.0) ** -k))
    for part in np.split(np.arange(len(wanted)), 5):
        assert np.mean(np.array(speeds)[part]) == pytest.approx(np.mean(np.array(wanted)[part]), rel=0.1, abs=0.003)
    assert np.mean(speeds) == pytest.approx(np.mean(wanted), rel=0.03)


def pendulum(angle: float, damping: float = 0.0) -> Prop:
    """A rod of 2 m and 3 kg that hangs by its end, its frame away from both its end and its middle."""
    return Prop(
        "rod", (), RigidInertia(3.0, np.array([0.1, -0.5, 0]), np.diag([1.0, 0.01, 1.0])),
        np.array([0.4, 2.0, 1.0]), rotation.from_axis_angle(np.array([0, 0, 1.0]), angle),
        Hinge(np.array([0.1, 0.5, 0]), np.array([0, 0, 1.0]), damping),
    )  # fmt: skip


def test_a_hinged_prop_is_a_pendulum(engine: Engine) -> None:
    dt = 1e-3
    simulation = engine.build(Scene((), (pendulum(0.02),), None, dt))
    start = pendulum(0.02)
    pivot = start.position + rotation.rotate(start.turn, start.hinge.point)
    # I = 1 + 3 * 1^2 about the pivot, m g l = 3 g
    omega = np.sqrt(3.0 * 9.81 / 4.0)
    for k in range(1, 2001):
        simulation.step()
        if k % 250:
            continue
        position, turn, velocity, spin = simulation.read_prop("rod")
        angle, rate = 0.02 * np.cos(omega * k * dt), -0.02 * omega * np.sin(omega * k * dt)
        assert rotation.log(turn)[2] == pytest.approx(angle, abs=2e-4)
        np.testing.assert_allclose(spin, [0, 0, rate], atol=5e-4)
        np.testing.assert_allclose(position + rotation.rotate(turn, start.hinge.point), pivot, atol=1e-9)
        np.testing.assert_allclose(velocity, np.cross(spin, position - pivot), atol=1e-9)


def test_a_hinges_damping_acts(engine: Engine) -> None:
    simulation = engine.build(Scene((), (pendulum(0.02, damping=500.0),), None, 0.005))
    for _ in range(200):
        simulation.step()
    # Overdamped: the angle falls as exp(-m g l t / D).
    angle = rotation.log(simulation.read_prop("rod")[1])[2]
    assert angle == pytest.approx(0.02 * np.exp(-3.0 * 9.81 / 500.0), rel=0.01)


@pytest.mark.parametrize("is_hinged", [False, True])
def test_a_wrench_on_a_prop(engine: Engine, is_hinged: bool) -> None:
    rng = np.random.default_rng(2)
    prop = pendulum(0.7)
    prop = replace(prop, turn=rotation.random(rng), hinge=prop.hinge if is_hinged else None)
    simulation = engine.build(Scene((), (prop,), None, TINY, np.zeros(3)))
    wrench = rng.normal(size=6) * 10
    simulation.push_prop("rod", wrench)
    simulation.step()
    spin = simulation.read_prop("rod")[3] / TINY
    turn = rotation.to_matrix(prop.turn)
    inertia = prop.inertia.moved(turn, np.zeros(3))
    if is_hinged:
        arm = -rotation.rotate(prop.turn, prop.hinge.point)
        axis = rotation.rotate(prop.turn, prop.hinge.axis)
        about = axis @ inertia.about(-arm) @ axis
        wanted = axis * (axis @ (wrench[:3] + np.cross(arm, wrench[3:]))) / about
    else:
        wanted = np.linalg.solve(inertia.inertia, wrench[:3] - np.cross(inertia.center, wrench[3:]))
        middle = wrench[3:] / 3.0 - np.cross(wanted, inertia.center)
        np.testing.assert_allclose(simulation.read_prop("rod")[2] / TINY, middle, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(spin, wanted, rtol=1e-3, atol=1e-3)


def test_a_rider_is_part_of_what_carries_it(engine: Engine) -> None:
    """A swing with a body on it, all at rest: its acceleration is that of one rigid body about the hinge."""
    if not engine.abilities.carriers:
        pytest.skip(f"{engine.name} has no carriers")
    rng = np.random.default_rng(4)
    swing, tree = pendulum(0.4), random_tree(rng, 6)
    seat = resting(random_state(rng, tree))
    body = body_of(tree, seat, [GIVEN] * 6, carrier="rod")
    dt = TINY
    simulation = engine.build(Scene((body,), (swing,), None, dt))
    wrench = rng.normal(size=(6, 6)) * 20
    simulation.place(0, BodyState(seat.root, seat.rotations, np.zeros(3), np.zeros((6, 3))))
    simulation.apply(0, np.zeros((6, 3)), np.zeros(6), wrench)
    simulation.step()
    found = simulation.read_prop("rod")[3] / dt
    turn = rotation.to_matrix(swing.turn)
    inertias, torque = [swing.inertia.moved(turn, swing.position)], np.zeros(3)
    pivot = swing.position + turn @ swing.hinge.point
    turns = world_turns(tree, seat.rotations)
    local = joint_places(tree, BodyState(seat.root, seat.rotations, np.zeros(3), np.zeros((6, 3))))
    for i in range(6):
        at = swing.position + turn @ local[i]
        inertias.append(tree.body(i).moved(turn @ rotation.to_matrix(turns[i]), at))
        torque += wrench[i, :3] + np.cross(at - pivot, wrench[i, 3:])
    whole = RigidInertia.total(inertias)
    torque += np.cross(whole.center - pivot, whole.mass * GRAVITY)
    axis = turn @ swing.hinge.axis
    wanted = axis * (axis @ torque) / (axis @ whole.about(pivot) @ axis)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)


def test_a_riders_limb_swings_with_what_carries_it(engine: Engine) -> None:
    """A physical limb on a rider on a swing is a tree whose root is the swing: the same as solved by hand."""
    if not engine.abilities.carriers:
        pytest.skip(f"{engine.name} has no carriers")
    rng = np.random.default_rng(6)
    swing, tree = pendulum(0.4), random_tree(rng, 3)
    tree = Tree(tree.names, np.array([-1, 0, 1]), tree.offsets, tree.masses, tree.centers, tree.inertias)
    seat = resting(random_state(rng, tree))
    spin = np.zeros((3, 3))
    spin[1:] = rng.normal(size=(2, 3)) * 3
    seat = replace(seat, angular_velocity=spin)
    simulation = engine.build(Scene((body_of(tree, seat, [GIVEN, BALL, BALL], carrier="rod"),), (swing,), None, TINY))
    torque, damping, wrench = random_inputs(rng, 3)
    simulation.place(0, BodyState(seat.root, seat.rotations, np.zeros(3), np.zeros((3, 3))))
    simulation.apply(0, torque, damping, wrench)
    simulation.step()
    swung, limbs = simulation.read_prop("rod")[3] / TINY, (read(simulation, 3).w[1:] - spin[1:]) / TINY
    # One tree: the swing about its pivot as a root that only turns, in axes whose z is the hinge's.
    shift = -np.asarray(swing.hinge.point)
    frame = [swing.inertia.moved(np.eye(3), shift), *(tree.body(i) for i in range(3))]
    offsets = np.array([np.zeros(3), shift + seat.root, tree.offsets[1], tree.offsets[2]])
    joined = Tree(("rod", *tree.names), np.array([-1, 0, 1, 2]), offsets, np.array([f.mass for f in frame]),
                  np.array([f.center for f in frame]), np.array([f.inertia for f in frame]))  # fmt: skip
    pivot = swing.position + rotation.rotate(swing.turn, swing.hinge.point)
    zero, turns = np.zeros(3), np.vstack([swing.turn, seat.rotations])
    state = TreeState(pivot, turns, zero, np.vstack([zero, spin]), zero, np.zeros((4, 3)))
    is_given = np.ones(joined.size, bool)
    is_given[5], is_given[9:] = False, False
    force = generalised(joined, turns, np.vstack([np.zeros((1, 3)), torque]))
    wanted = solve_hybrid_dynamics(joined, state, force, is_given, np.vstack([np.zeros((1, 6)), wrench])).acceleration
    np.testing.assert_allclose(swung, rotation.rotate(swing.turn, np.array([0, 0, wanted[5]])), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(limbs.ravel(), wanted[9:], rtol=1e-6)


def test_a_carrier_is_refused_by_who_has_none(engine: Engine) -> None:
    if engine.abilities.carriers:
        pytest.skip(f"{engine.name} has carriers")
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 2)
    body = body_of(tree, resting(random_state(rng, tree)), [GIVEN, BALL], carrier="rod")
    rejects(lambda: engine.build(Scene((body,), (pendulum(0.1),), None)), "'rod'")


def test_two_bodies_do_not_disturb_each_other(engine: Engine) -> None:
    rng = np.random.default_rng(9)
    tree = random_tree(rng, 6)
    states = [random_state(rng, tree) for _ in range(2)]
    bodies = tuple(body_of(tree, s, [FREE] + [BALL] * 5, name=f"n{k}") for k, s in enumerate(states))
    both = engine.build(Scene(bodies, ground=None, dt=0.001))
    alone = [engine.build(Scene((body,), ground=None, dt=0.001)) for body in bodies]
    for _ in range(20):
        for k in range(2):
            inputs = random_inputs(np.random.default_rng(k), 6)
            both.apply(k, *inputs)
            alone[k].apply(0, *inputs)
        for simulation in (both, *alone):
            simulation.step()
    for k in range(2):
        found, wanted = read(both, 6, k), read(alone[k], 6)
        np.testing.assert_allclose(found.q, wanted.q, atol=1e-9)
        np.testing.assert_allclose(found.w, wanted.w, atol=1e-7)


def test_worlds_of_bullet_end_with_their_simulations() -> None:
    pybullet = pytest.importorskip("pybullet", reason="no pybullet here")
    simulation = VerbEngine(get_engine("bullet")).build(shaken())
    client = simulation.client  # type: ignore[attr-defined]
    saved = simulation.save()
    assert pybullet.isConnected(physicsClientId=client)
    del simulation
    gc.collect()
    assert not pybullet.isConnected(physicsClientId=client)
    VerbEngine(get_engine("bullet")).build(shaken()).restore(saved)  # the state does not need the world that it is of


def test_bullet_is_not_given_bytes_that_are_not_its_own() -> None:
    pytest.importorskip("pybullet", reason="no pybullet here")
    simulation = VerbEngine(get_engine("bullet")).build(shaken())
    saved = simulation.save()
    world = saved["world"]
    longer = world.copy()
    longer[16:20] = np.frombuffer(np.int32(10**6).tobytes(), np.uint8)  # the first chunk's length
    for broken in (world[:0], world[:40], world[:-8], world[::-1], longer):
        with pytest.raises(InputError, match="another scene, or of another version"):
            simulation.restore({**saved, "world": broken})
    with pytest.raises(InputError, match="another scene"):
        VerbEngine(get_engine("bullet")).build(replace(shaken(), props=())).restore(saved)
    simulation.restore(saved)


def test_an_unknown_engine_is_refused_with_the_nearest() -> None:
    rejects(lambda: get_engine("bulet"), "'bulet'", "Did you mean 'bullet'?")


@pytest.mark.parametrize("name", list(ENGINES))
def test_a_missing_library_is_said_in_a_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda module: None)
    with pytest.raises(
        InputError, match=rf"engine '{name}' needs {MODULES[name]}, which is not installed: pip install"
    ):
        get_engine(name)


def test_what_a_stiff_joint_carries_has_its_mass_and_its_place(engine: Engine) -> None:
    """Three masses in a row, the outer ones on joints without an axis, and a ball on one of them; Bullet lost both."""
    offsets = np.array([[0, 0, 0], [0.5, 0, 0], [-0.5, 0, 0], [0, 0.3, 0]], float)
    tree = Tree(("root", "left", "right", "tip"), np.array([-1, 0, 0, 1]), offsets, np.array([0.1, 1.0, 1.0, 1e-6]),
                np.zeros((4, 3)), np.array([np.eye(3) * 1e-3] * 3 + [np.eye(3) * 1e-9]))  # fmt: skip
    state = TreeState.at_rest(np.zeros(3), rotation.identity((4,)))
    tip = (3, Sphere(np.zeros(3), 0.1))
    body = body_of(tree, state, (Joint(FREE), Joint(HINGES), Joint(HINGES), Joint(BALL)), shapes=(tip,))
    simulation = engine.build(Scene((body,), ground=None, dt=TINY, gravity=np.zeros(3)))
    torque, damping, wrench = still(4)
    wrench[0, 3:] = 0.0, 0.0, 21.0
    simulation.apply(0, torque, damping, wrench)
    simulation.step()
    found = read(simulation, 4)
    np.testing.assert_allclose(found.v / TINY, [0.0, 0.0, 10.0], atol=0.01)
    # the tip's ball is at x = 0.5, y = 0.3: a floor a little under it is touched there, and nowhere else
    simulation = engine.build(Scene((body,), ground=Ground(0.205), dt=0.001, gravity=np.zeros(3)))
    simulation.apply(0, torque, damping, 0.0 * wrench)
    simulation.step()
    touches = simulation.find_contacts(0)
    assert set(touches.joints.tolist()) == {3}
    np.testing.assert_allclose(touches.points[0], [0.5, 0.2, 0.0], atol=0.01)


def test_a_body_of_more_joints_than_bullet_tells_of_is_refused() -> None:
    pytest.importorskip("pybullet")
    tree = random_tree(np.random.default_rng(0), 40)
    body = body_of(tree, random_state(np.random.default_rng(1), tree), [FREE] + [BALL] * (len(tree) - 1))
    with pytest.raises(InputError, match="at most 128 can be had at once"):
        VerbEngine(get_engine("bullet")).build(Scene((body,), ground=None))

"""The compiled coupling, and the engine that it talks to, against the dense equation of motion.   [mix, eq 1]"""

from __future__ import annotations

import dataclasses
from typing import Any

import mujoco
import numpy as np
import pytest
import scipy.linalg

import poise
from helpers.engine_verbs import Verbs
from helpers.random_bodies import random_state
from oracles import spatial_vectors as reference
from oracles.coupling import build_physical_tree
from oracles.hybrid import solve_hybrid_dynamics
from poise.body.character import Character
from poise.drivers.body import load_tree
from poise.drivers.kinematic.kinematic import Kinematic
from poise.drivers.root.root import Free
from poise.dynamics import body_kernels
from poise.dynamics.body_kernels import Body
from poise.dynamics.kinematics import Momentum, compute_joint_space_inertia, compute_momentum
from poise.dynamics.tree import GRAVITY, Tree, TreeState, build_tree, pack, unpack
from poise.engines.engine import BodyState
from poise.engines.mujoco.simulation import MujocoEngine
from poise.engines.scene import BALL, FREE, GIVEN, Joint, Scene, SceneBody
from poise.errors import InputError
from poise.motion.clip import Clip
from poise.motion.parts import part_joints
from poise.spatial import rotation
from poise.stage.actor import Actor
from poise.stage.coupling import kernels
from poise.stage.coupling.paper_kernels import DEFAULT_FACTOR, choose_filter, find_ratio
from poise.stage.partition import build_partition
from poise.stage.stage import Stage
from poise.stage.standing import stand_at_ease
from poise.stage.take.take import Take
from poise.world.forces import Load

# What is given: parts, and whether the root is among it. Two arms and a head are the mix paper's own.
SPLITS = {
    "arms and head": (("arms", "head"), False),
    "one arm": (("leftArm",), False),
    "upper body, which branches": (("upperBody",), False),
    "legs": (("legs",), False),
    "physical arms on a base": (("trunk", "head", "legs"), True),
    "base, physical trunk, kinematic arms": (("legs", "arms"), True),
}


def case(seed: int, split: str, load: float = 0.0) -> tuple[Tree, np.ndarray, TreeState, np.ndarray, Character]:
    """A human of some size in some pose at some speed: tree, given (J,), state, generalised force, character."""
    rng = np.random.default_rng(seed)
    # The clavicles of `full` carry no mass of their own: they can be given, but not left to forces.
    whole = "arms" in SPLITS[split][0] or "upperBody" in SPLITS[split][0]
    preset = ("mix", "tracking", "full" if whole else "strength")[seed % 3]
    character = Character.human(rng.uniform(1.2, 2.1), rng.uniform(30, 150), preset=preset)
    loads = [Load("rightHand", load, (0.05, -0.1, 0.02))] if load else []
    tree = load_tree(build_tree(character), character, loads)
    parts, root = SPLITS[split]
    given = np.zeros(len(tree), bool)
    for part in parts:
        given[part_joints(character.skeleton, part)] = True
    given[0] = root
    return tree, given, random_state(rng, tree), 30.0 * rng.standard_normal(tree.size), character


def dofs(given: np.ndarray) -> np.ndarray:
    return np.concatenate([np.repeat(given[:1], 3), np.repeat(given, 3)])


def dense(
    tree: Tree, given: np.ndarray, state: TreeState, force: np.ndarray, gravity: np.ndarray = GRAVITY
) -> np.ndarray:
    """As `reference.solve_hybrid_dynamics`, with H from composites instead of column by column."""
    H = compute_joint_space_inertia(tree, state.root, state.rotations)
    still = TreeState(
        state.root, state.rotations, state.velocity, state.angular_velocity, np.zeros(3), np.zeros((len(tree), 3))
    )
    C = reference.compute_inverse_dynamics(tree, still, gravity=gravity)
    k, free = np.flatnonzero(dofs(given)), np.flatnonzero(~dofs(given))
    found = state.generalised_acceleration.copy()
    found[free] = np.linalg.solve(H[np.ix_(free, free)], force[free] - C[free] - H[np.ix_(free, k)] @ found[k])
    return found


def world(tree: Tree, state: TreeState) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    R, p, om, v = np.empty((len(tree), 3, 3)), *(np.empty((len(tree), 3)) for _ in range(3))
    body_kernels.pose_bodies(tree.parents, tree.offsets, state.root, state.rotations, R, p)
    body_kernels.move_bodies(tree.parents, R, p, state.velocity, state.angular_velocity, om, v)
    return R, p, om


def couple_exact(tree: Tree, given: np.ndarray, state: TreeState, gain: float = 1.0) -> np.ndarray:
    dw = np.where(given[:, None], state.angular_acceleration, np.nan)  # what is not known must not be read
    body, coupling = build_layouts(tree, given, state, dw)
    coupling.gain = gain
    kernels.couple_exact(body, coupling, body.wrench)
    kernels.hand_to_connectors(tree.parents, given, body.p, body.wrench)
    return body.wrench


def build_layouts(tree: Tree, given: np.ndarray, state: TreeState, dw: np.ndarray) -> tuple[Body, kernels.Coupling]:
    """A body at a state with the joints' accelerations dw (J, 3), and its coupling, whose work arrays are NaN."""
    R, p, om = world(tree, state)
    touched, j = given.copy(), len(tree)
    for i in range(1, j):
        touched[i] |= touched[tree.parents[i]]
    body = Body(
        joints=j, parents=tree.parents, offsets=tree.offsets, masses=tree.masses, centers=tree.centers,
        inertias=tree.inertias, R=R, p=p, om=om, w=np.array(state.angular_velocity), dw=dw,
        a=np.array(state.acceleration), gravity=np.array(GRAVITY), f=np.full((j, 3), np.nan),
        n=np.full((j, 3), np.nan),
    )  # fmt: skip
    work = {name: np.full((j, 3), np.nan) for name in ("al_difference", "acc_difference", "om_locked", "al", "acc")}
    return body, kernels.Coupling(joints=j, gain=1.0, given=given, accelerating=given, touched=touched, **work)


def accelerations_in_mujoco(
    tree: Tree,
    given: np.ndarray,
    state: TreeState,
    force: np.ndarray,
    wrench: np.ndarray,
    step: bool,
    is_locked: bool = True,
    gravity: np.ndarray = GRAVITY,
) -> np.ndarray:
    """Generalised acceleration, zero where it is given."""
    joints = tuple(Joint(GIVEN if given[i] else FREE if i == 0 else BALL) for i in range(len(tree)))
    body = SceneBody(
        "body", tree, joints, state.root, state.rotations, state.velocity, state.angular_velocity, is_locked=is_locked
    )
    simulation = Verbs(MujocoEngine().build(Scene((body,), ground=None, gravity=gravity, dt=1e-3)))
    torque = np.einsum("jab,jb->ja", world(tree, state)[0], unpack(force)[1])
    if not given[0]:
        wrench = wrench.copy()
        wrench[0] += np.concatenate([torque[0], force[:3]])
    here = BodyState(state.root.copy(), state.rotations.copy(), state.velocity.copy(), state.angular_velocity.copy())
    simulation.place(0, here)
    simulation.apply(0, torque, np.zeros(len(tree)), wrench)
    if step:
        simulation.step()
    else:
        simulation.write()
        mujoco.mj_forward(simulation.model, simulation.data)
    out, x = np.zeros(tree.size), simulation.layouts[0]
    for i in np.flatnonzero(~given):
        at = x.vadr[i]
        if i == 0:
            out[:3], at = simulation.data.qacc[at : at + 3], at + 3
        out[3 + 3 * i : 6 + 3 * i] = simulation.data.qacc[at : at + 3]
    return out


def check_free(got: np.ndarray, wanted: np.ndarray, given: np.ndarray, tolerance: float = 1e-8) -> None:
    free = ~dofs(given)
    assert np.abs(got - wanted)[free].max() / np.abs(wanted[free]).max() < tolerance


@pytest.mark.parametrize("load", [0.0, 20.0])
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("seed", range(3))
def test_exact_in_mujoco_solves_the_equation_of_motion(seed: int, split: str, load: float) -> None:
    tree, given, state, force, _ = case(seed, split, load)
    wanted = dense(tree, given, state, force)
    wrench = couple_exact(tree, given, state)
    for step in (False, True):
        check_free(accelerations_in_mujoco(tree, given, state, force, wrench, step), wanted, given)


def test_the_dense_solve_is_that_of_the_reference() -> None:
    tree, given, state, force, _ = case(0, "arms and head")
    wanted = reference.solve_hybrid_dynamics(tree, state, force, dofs(given))[0]
    check_free(dense(tree, given, state, force), wanted, given, 1e-10)


@pytest.mark.parametrize("split", [split for split, (_, root) in SPLITS.items() if not root])
@pytest.mark.parametrize("seed", range(6))
def test_exact_on_the_physical_tree_alone_solves_it(seed: int, split: str) -> None:
    """No engine: locked inertia on the connectors, the wrench from outside, the articulated-body algorithm."""
    tree, given, state, force, character = case(seed, split, load=5.0)
    partition = build_partition(character.skeleton, np.flatnonzero(~given))
    kept = list(partition.physical)
    small = build_physical_tree(tree, partition, state.rotations)
    own = TreeState(
        state.root, state.rotations[kept], state.velocity, state.angular_velocity[kept], np.zeros(3),
        np.zeros((len(kept), 3)),
    )  # fmt: skip
    linear, angular = unpack(force)
    wrench = couple_exact(tree, given, state)
    assert np.all(wrench[given] == 0.0)
    none = np.zeros(small.size, bool)
    solved = solve_hybrid_dynamics(small, own, pack(linear, angular[kept]), none, wrench[kept]).acceleration
    linear, angular = unpack(dense(tree, given, state, force))
    wanted = pack(linear, angular[kept])
    assert np.abs(solved - wanted).max() / np.abs(wanted).max() < 1e-8


@pytest.mark.parametrize("seed", range(6))
def test_momentum_stays_in_free_flight(seed: int) -> None:
    """The rate of linear and angular momentum from the engine's accelerations, against the arms' own."""
    tree, given, state, _, _ = case(seed, "arms and head", load=4.0 * (seed % 2))
    wrench, none = couple_exact(tree, given, state), np.zeros(3)
    got = accelerations_in_mujoco(tree, given, state, np.zeros(tree.size), wrench, False, gravity=none)
    got = np.where(dofs(given), state.generalised_acceleration, got)
    linear, angular = unpack(got)
    solved = TreeState(state.root, state.rotations, state.velocity, state.angular_velocity, linear, angular)
    # What acts from outside at the root is the rate of momentum: force, and torque about the root joint.
    rate = reference.compute_inverse_dynamics(tree, solved, gravity=none)[:6]
    force, torque = np.abs(wrench[:, 3:]).max(), np.abs(wrench[:, :3]).max()
    assert np.abs(rate[:3]).max() < 1e-9 * force
    assert np.abs(rate[3:]).max() < 1e-9 * torque


def test_the_gain_scales_what_is_handed_on_and_nothing_else() -> None:
    tree, given, state, _, _ = case(1, "arms and head")
    one = couple_exact(tree, given, state)
    for gain in (0.0, 0.5, 2.0, -1.0):
        np.testing.assert_allclose(couple_exact(tree, given, state, gain), gain * one, atol=1e-10)


def test_a_part_that_stands_still_puts_nothing_on_its_connector() -> None:
    """Its inertia is in the engine; the connector may turn as it likes."""
    tree, given, state, _, _ = case(2, "arms and head", 3.0)
    still = given[:, None]
    state = TreeState(
        state.root, state.rotations, state.velocity, np.where(still, 0.0, state.angular_velocity), state.acceleration,
        np.where(still, 0.0, state.angular_acceleration),
    )  # fmt: skip
    np.testing.assert_allclose(couple_exact(tree, given, state), 0.0, atol=1e-10)


@pytest.mark.parametrize("split", ["arms and head", "upper body, which branches", "one arm"])
@pytest.mark.parametrize("seed", range(3))
def test_paper_with_the_right_accelerations_solves_it_too(seed: int, split: str) -> None:
    """All that is wrong with `paper` is that it has the connectors' accelerations of a step ago."""
    tree, given, state, force, _ = case(seed, split, load=2.0)
    wanted = dense(tree, given, state, force)
    linear, angular = unpack(wanted)
    R, p, om = world(tree, state)
    al, acc = np.empty((len(tree), 3)), np.empty((len(tree), 3))
    dw = np.where(given[:, None], state.angular_acceleration, angular)
    body_kernels.accelerate_bodies(tree.parents, R, p, state.angular_velocity, dw, om, linear, al, acc)
    al[given], acc[given] = np.nan, np.nan
    body, coupling = build_layouts(tree, given, state, np.where(given[:, None], dw, np.nan))
    coupling.al[:], coupling.acc[:] = al, acc
    kernels.couple_paper(body, coupling)
    got = accelerations_in_mujoco(tree, given, state, force, body.wrench, False, is_locked=False)
    check_free(got, wanted, given, 1e-6)  # MuJoCo wants a trace of mass in the bodies of given joints

    # torque alone: that of the first joint of each part, without the force that goes with it   [mix, eq 7]
    body.dw[:], body.wrench[:] = dw, 0.0
    coupling.gain, coupling.torque_only = 2.0, 1
    kernels.couple_paper(body, coupling)
    solved = TreeState(state.root, state.rotations, state.velocity, state.angular_velocity, linear, dw)
    tau = unpack(reference.compute_inverse_dynamics(tree, solved))[1]
    expected = np.zeros((len(tree), 6))
    for i in np.flatnonzero(given):
        if not given[tree.parents[i]]:
            expected[tree.parents[i], :3] -= 2.0 * R[i] @ tau[i]
    np.testing.assert_allclose(body.wrench, expected, atol=1e-9 * np.abs(expected).max())


def test_wrenches_on_given_bodies_go_to_what_carries_them() -> None:
    """Seen from any point of the world, force and moment of each part are what they were."""
    tree, given, state, _, _ = case(2, "arms and head")
    _, p, _ = world(tree, state)
    before = np.random.default_rng(0).standard_normal((len(tree), 6))
    after = before.copy()
    kernels.hand_to_connectors(tree.parents, given, p, after)
    assert np.all(after[given] == 0.0)
    point = np.array([0.3, -1.0, 2.0])
    for wrench in (before, after):
        force = wrench[:, 3:].sum(axis=0)
        moment = (wrench[:, :3] + np.cross(p - point, wrench[:, 3:])).sum(axis=0)
        np.testing.assert_allclose(force, before[:, 3:].sum(axis=0), atol=1e-12)
        np.testing.assert_allclose(moment, (before[:, :3] + np.cross(p - point, before[:, 3:])).sum(axis=0), atol=1e-12)
    untouched = ~given & ~np.isin(np.arange(len(tree)), tree.parents[given])
    assert np.array_equal(after[untouched], before[untouched])


class Drifting(MujocoEngine):
    """One that cannot say whether anything touches: nobody sees to the momentum."""

    abilities = dataclasses.replace(MujocoEngine.abilities, flights=False)


def fly(
    dt: float, couple: str, part: str, motion: object, loads: tuple[Load, ...] = (), seconds: float = 2.0
) -> tuple[Take, Actor]:
    """A body in free flight without gravity, a part of which moves as it likes; the rest holds its pose."""
    stage = Stage(Drifting(), dt=dt, couple=couple, ground=None, gravity=(0.0, 0.0, 0.0))
    character = Character.human(1.75, 75.0, preset="mix")
    actor = stage.add(character, loads=loads)
    actor.drive("root", Free())
    actor.drive(part, Kinematic(motion(character) if callable(motion) else motion))
    return stage.run(seconds), actor


def nod(character: Character) -> Clip:
    times = np.arange(0.0, 10.0, 0.01)
    turns = rotation.identity((len(times), len(character.skeleton)))
    angles = np.stack([0.4 * np.sin(9 * times), 0.5 * np.sin(7 * times + 1), 0.2 * np.sin(11 * times)], axis=-1)
    turns[:, character.skeleton.index("head")] = rotation.exp(angles)
    return Clip(character.skeleton, times, np.zeros((len(times), 3)), turns, "nod")


def momentum(take: Take, actor: Actor, own: bool) -> Momentum:
    """Of the whole body; or of its given joints alone, the rest standing still."""
    record = take.actor()
    w = record.angular_velocity * (actor.given[:, None] if own else 1.0)
    v = record.velocity * (0.0 if own else 1.0)
    return compute_momentum(actor.body.tree, TreeState(record.root, record.rotations, v, w, 0 * v, 0 * w))


def test_the_drift_of_momentum_is_first_order_in_the_step_and_small() -> None:
    """Of an engine's step alone; what the stage makes of it is in `test_flight.py`."""
    gesture = poise.gestures.conduct(beats=3, bpm=92)
    drifts = []
    for dt in (0.01, 0.005, 0.0025):
        take, actor = fly(dt, "exact", "arms", gesture, seconds=10.0)
        whole, arms = momentum(take, actor, False), momentum(take, actor, True)
        for found, own in ((whole.linear, arms.linear), (whole.angular, arms.angular)):
            drift = np.linalg.norm(found - found[0], axis=-1).max() / np.linalg.norm(own, axis=-1).max()
            drifts.append(drift)
    drifts = np.array(drifts).reshape(3, 2)
    assert np.all(drifts[1] < 0.01)
    assert np.all(drifts[:-1] / drifts[1:] > 1.7) and np.all(drifts[:-1] / drifts[1:] < 2.4)


def test_paper_goes_over_to_exact_as_the_step_shrinks() -> None:
    """A nodding head on a trunk in a heavy vest: where a part is not light for its connector, `paper` has no limit."""
    vest = (Load("spine", 60.0, (0.0, 0.25, 0.0)),)
    apart = []
    for dt in (0.01, 0.005, 0.0025):
        exact, paper = (fly(dt, couple, "head", nod, vest, seconds=1.0)[0].actor() for couple in ("exact", "paper"))
        apart.append(np.abs(exact.angular_velocity - paper.angular_velocity).max())
    moved = np.abs(exact.angular_velocity[:, 1]).max()
    assert apart[0] < 0.4 * moved
    ratios = np.array(apart[:-1]) / apart[1:]
    assert np.all(ratios > 1.7) and np.all(ratios < 2.5)


def test_a_heavy_load_in_the_hand_blows_neither_coupling_up() -> None:
    """20 kg that weigh seven times what carries them: `paper` goes by more of the steps before."""
    gesture = poise.gestures.conduct(beats=3, bpm=92)
    for couple in ("exact", "paper"):
        take, actor = fly(0.005, couple, "rightArm", gesture, (Load("rightHand", 20.0),))
        assert np.abs(take.actor().angular_velocity[:, ~actor.given]).max() < 2.0
    assert 0.02 < float(actor.coupling.filter_factor[0]) < 0.2


PUBLISHED = {
    "arms that hang": ("mix", ("arms",), {}),
    "stretched arms": ("mix", ("arms",), {"straight": True}),
    "arms on collar bones": ("full", ("arms",), {}),
    "all above the hips": ("tracking", ("upperBody",), {}),
    "a head on a base": ("tracking", ("legs", "head"), {"root": True}),
}


@pytest.mark.parametrize("case", PUBLISHED)
def test_how_much_heavier_parts_are_than_what_carries_them(case: str) -> None:
    """u of B x = u H x, B + H being the inertia of the whole body with its parts locked: by SciPy, from composites."""
    preset, parts, options = PUBLISHED[case]
    character = Character.human(1.75, 75.0, preset=preset)
    tree, pose = build_tree(character), stand_at_ease(character)
    q = rotation.identity((len(tree),)) if options.get("straight") else pose.rotations
    given = np.zeros(len(tree), bool)
    for part in parts:
        given[part_joints(character.skeleton, part)] = True
    given[0] = options.get("root", False)
    own = dataclasses.replace(
        tree, masses=np.where(given, 0.0, tree.masses), inertias=np.where(given[:, None, None], 0.0, tree.inertias)
    )
    free = np.flatnonzero(~dofs(given))
    H, both = (compute_joint_space_inertia(each, pose.root, q)[np.ix_(free, free)] for each in (own, tree))
    wanted = scipy.linalg.eigh(both, H + 1e-9 * np.eye(len(H)), eigvals_only=True)[-1] - 1.0
    R, p = np.empty((len(tree), 3, 3)), np.empty((len(tree), 3))
    body_kernels.pose_bodies(tree.parents, tree.offsets, pose.root, q, R, p)
    body = Body(
        joints=len(tree), parents=tree.parents, masses=tree.masses, centers=tree.centers, inertias=tree.inertias
    )
    found = find_ratio(body, given, R, p, False)
    assert 0.9 * wanted < found < 1.001 * wanted  # a power iteration comes from below
    factor = choose_filter(found, 1.0)
    assert factor * (1.0 + wanted) < 2.0 and (factor == DEFAULT_FACTOR or factor < 0.23)


def stand(preset: str, part: str, **options: Any) -> Actor:
    actor = Stage(couple="paper", **options).add(Character.human(1.75, 75.0, preset=preset))
    actor.drive("legs", poise.Balance())
    actor.drive(part, Kinematic(poise.gestures.arm_swing(1.0)))
    return actor


@pytest.mark.parametrize("preset", ["full", "tracking"])
def test_paper_stands_where_it_exploded(preset: str) -> None:
    """The default body, whose collar bones carry 36 times their weight, was non-finite after a tenth of a second."""
    actor = stand(preset, "arms")
    take = actor.stage.run(4.0)
    assert not take.events and np.abs(take.actor().angular_velocity[:, ~actor.given]).max() < 3.0


@pytest.mark.parametrize(
    ("part", "options"), [("upperBody", {}), ("arms", {"gain": -1.0}), ("upperBody", {"gain": 0.5, "dt": 0.01})]
)
def test_paper_refuses_what_it_cannot_hold(part: str, options: dict[str, float]) -> None:
    actor = stand("mix", part, **options)
    with pytest.raises(InputError, match=r"(weighs \d.* times what carries it|changes the weight).*Couple by 'exact'"):
        actor.stage.step()
    # and goes on where less is asked of it
    actor.drive("body", poise.Loose())
    actor.stage.step()

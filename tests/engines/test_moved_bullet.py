"""Given segments in Bullet: they strike, push and carry as those of a whole body, and anything may hang from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pybullet")

import poise
from helpers.bodies import make_human
from helpers.engine_verbs import Verbs
from helpers.kinematics import place_take_soles
from helpers.random_bodies import make_person, random_plan, random_state, random_tree
from oracles.hybrid import solve_hybrid_dynamics
from oracles.touching import CARRIED, STRIKES, Mixed
from oracles.touching_bullet import WholeBullet
from poise.body.geometry.primitives import Sphere
from poise.engines.bullet.simulation import BulletEngine
from poise.engines.engine import BodyState
from poise.engines.scene import BALL, FREE, GIVEN, HINGES, Joint, Scene, SceneBody
from poise.spatial import rotation
from poise.stage.stage import Stage
from poise.stage.standing import stand_at_ease
from test_moved import figures, reaching, world
from tools.sweeps.abuse_watch import Figure
from tools.sweeps.split_sweep import run

ENGINE = BulletEngine()


@pytest.mark.parametrize("name", STRIKES)
@pytest.mark.many(2)
def test_a_given_hand_strikes_as_that_of_a_whole_body(name: str) -> None:
    """Bullet's contacts are hard: where in a step they meet says how much of it is in that step."""
    case, dt, found, wanted = STRIKES[name], 0.005, [], []
    assert case.prop is not None
    away = np.array([0, 0, -1.0]) if name == "box on the floor" else np.array([0, -1.0, 0])
    for k in range(4):
        each = replace(case, prop=replace(case.prop, position=case.prop.position + away * 0.003 * k))
        found.append(figures(Mixed(each, dt, ENGINE).run(0.4), each, dt))
        wanted.append(figures(WholeBullet(each, dt).run(0.4), each, dt))
    means = np.mean(wanted, axis=0)
    counts = means > 0.012  # a ball's push back is less than what half a step is worth
    assert counts[:2].all()
    np.testing.assert_allclose(np.mean(found, axis=0)[counts], means[counts], rtol=0.05)


@pytest.mark.parametrize("dt", [0.002, 0.01])
def test_what_a_palm_carries_stays_on_it(dt: float) -> None:
    moved = Mixed(CARRIED, dt, ENGINE).run(0.8).prop[:, 0]
    palm = np.array([0.8 + CARRIED.root(dt * (k + 1))[0] for k in range(len(moved))])  # type: ignore[misc]
    assert np.abs(moved - palm).max() < 5e-4


def test_a_hand_that_strikes_a_ball_in_flight_keeps_the_momentum_of_both() -> None:
    case = STRIKES["heavy"]
    mixed, before, struck = Mixed(case, 0.005, ENGINE), None, 0
    simulation = mixed.simulation
    held = simulation._held[0]  # type: ignore[attr-defined]
    bullet, client = simulation._bullet, simulation.client  # type: ignore[attr-defined]
    assert case.prop is not None and case.prop.inertia is not None
    masses = [40.0, 2.0, 1.2, 0.5]
    for _ in range(60):
        mixed.step()
        total = case.prop.inertia.mass * simulation.read_prop("heavy").velocity
        for piece in held.pieces:
            total = total + masses[piece.base] * np.array(bullet.getBaseVelocity(piece.uid, physicsClientId=client)[0])
        if before is not None:
            np.testing.assert_allclose(total, before, atol=1e-9)
        before = total
        struck += bool(len(simulation.find_contacts(0)))
    assert struck


SPLITS = (
    (FREE, BALL, GIVEN, BALL),
    (FREE, GIVEN, GIVEN, BALL, GIVEN),
    (GIVEN, BALL, GIVEN, BALL),
)


@pytest.mark.parametrize("kinds", SPLITS)
def test_any_split_moves_as_the_equation_of_motion_says(kinds: tuple[int, ...]) -> None:
    """Physical and given joints alternate along a chain; Bullet needs two steps to follow a turn that has begun."""
    rng, dt, j = np.random.default_rng(1), 2e-4, len(kinds)
    tree = replace(random_tree(rng, j), parents=np.arange(j) - 1)
    hidden = np.array(kinds) == GIVEN
    start = random_state(rng, tree)
    torque, nothing = rng.normal(size=(j, 3)) * 5, np.zeros((j, 6))
    dw, a = start.angular_acceleration * hidden[:, None], start.acceleration * hidden[0]
    joints = tuple(Joint(kind) for kind in kinds)
    body = SceneBody(
        "body", tree, joints, start.root, start.rotations, start.velocity, start.angular_velocity,
        shapes=((j - 1, Sphere(np.zeros(3), 0.01)),),
    )  # fmt: skip
    simulation = Verbs(ENGINE.build(Scene((body,), ground=None, dt=dt)))
    assert simulation.handles_coupling(0)
    now = BodyState(start.root.copy(), start.rotations.copy(), start.velocity.copy(), start.angular_velocity.copy())
    for _ in range(5):
        before = now.copy()
        simulation.place(0, now)
        simulation.apply(0, torque, np.zeros(j), nothing)
        simulation.speed(0, now, dw, a)
        simulation.step()
        simulation.read(0, now)
        now.q[hidden] = rotation.multiply(now.q, rotation.exp(dt * (now.w + 0.5 * dt * dw)))[hidden]
        now.w[hidden] += dt * dw[hidden]
        if hidden[0]:
            now.root += dt * (now.v + 0.5 * dt * a)
            now.v += dt * a
    found = np.concatenate([now.v - before.v, (now.w - before.w).ravel()]) / dt
    is_given = np.concatenate([np.full(3, hidden[0]), np.repeat(hidden, 3)])
    state = replace(
        start, root=before.root, rotations=before.q, velocity=before.v, angular_velocity=before.w,
        acceleration=a, angular_acceleration=dw,
    )  # fmt: skip
    turns: list[np.ndarray] = []
    for q in before.q:
        turns.append(rotation.multiply(turns[-1], q) if turns else q)
    inside = rotation.rotate(rotation.conjugate(np.array(turns)), torque)
    tau = np.concatenate([np.zeros(6), inside[1:].ravel()])
    wanted = solve_hybrid_dynamics(tree, state, tau, is_given, nothing).acceleration
    assert np.abs(found - wanted)[~is_given].max() < 0.01 * np.abs(wanted[~is_given]).max()


# On a stage.


def test_a_hand_knocks_a_ball_off_its_post_and_goes_on_from_a_saved_state() -> None:
    (one, actor), (other, _) = reaching(engine="bullet"), reaching(engine="bullet")
    knocked = 0
    for _ in range(60):
        one.step()
        knocked += "ball" in one.groups[0].simulation.find_contacts(0).others
        if knocked == 1:
            break
    assert knocked
    other.restore(one.save())
    one.advance(6)
    other.advance(6)
    np.testing.assert_array_equal(world(one), world(other))
    assert one.read_prop("ball").velocity[2] > 1.0
    assert actor.body.state.root[1] > 0.8


def test_somebody_all_of_whom_is_given_pushes_a_ball() -> None:
    stage = Stage("bullet", gravity=(0, 0, 0), ground=None)
    stage.add_prop(poise.Prop.sphere("ball", 0.12, 0.3, (0.25, 0.92, 0.4)))
    actor = stage.add(poise.Character.human(1.75, 75, preset="mix"))
    actor.drive("body", poise.Kinematic(poise.gestures.arm_swing(1.0)))
    fastest, body = 0.0, actor.body
    for _ in range(60):
        stage.step()
        touches = stage.groups[0].simulation.find_contacts(0)
        for i, point in zip(touches.joints, touches.points, strict=True):
            fastest = max(fastest, float(np.linalg.norm(body.v[i] + np.cross(body.om[i], point - body.p[i]))))
    assert 0.9 * fastest < float(np.linalg.norm(stage.read_prop("ball").velocity)) < 1.2 * fastest


def test_a_stiff_joint_keeps_its_mass_and_its_turn() -> None:
    """A hinge about no axis: what hangs from it moves with its parent."""
    rng, dt = np.random.default_rng(3), 1e-5
    tree = replace(random_tree(rng, 3), parents=np.array([-1, 0, 1]))
    state = random_state(rng, tree)
    still = np.array([[1.0], [0.0], [1.0]])
    state = replace(
        state, angular_velocity=state.angular_velocity * still, angular_acceleration=np.zeros((3, 3))
    )  # fmt: skip
    joints = (Joint(FREE), Joint(HINGES), Joint(BALL))
    body = SceneBody(
        "body", tree, joints, state.root, state.rotations, state.velocity, state.angular_velocity
    )  # fmt: skip
    simulation = Verbs(ENGINE.build(Scene((body,), ground=None, dt=dt)))
    before, after = BodyState.zeros(3), BodyState.zeros(3)
    simulation.read(0, before)
    np.testing.assert_allclose(np.abs(before.q[1] @ state.rotations[1]), 1.0, atol=1e-12)
    simulation.apply(0, np.zeros((3, 3)), np.zeros(3), np.zeros((3, 6)))
    simulation.step()
    simulation.read(0, after)
    found = np.concatenate([after.v - before.v, (after.w - before.w).ravel()]) / dt
    stiff = np.repeat([False, False, True, False], 3)
    wanted = solve_hybrid_dynamics(tree, state, np.zeros(12), stiff, np.zeros((3, 6))).acceleration
    np.testing.assert_allclose(found, np.where(stiff, 0.0, wanted), atol=1e-3 * np.abs(wanted).max())


@pytest.mark.slow
def test_an_arm_that_is_knocked_to_the_end_of_its_range_is_stopped_beside_a_given_one() -> None:
    """Where segments are given, Bullet takes back all of a motor's error at once: stops threw it at 200 rad/s."""
    for dt in (0.0025, 0.005, 0.0075):
        stage = Stage("bullet", dt)
        stage.add_prop(poise.Prop.box("far", (0.3, 0.2, 0.25), 2.0, (3.0, 0.1, 3.0)))
        actor = stage.add(poise.Character.from_skeleton(make_human(1.75, without=("Hand",))))
        actor.drive("legs", poise.Balance())
        actor.drive("rightArm", poise.Kinematic(poise.gestures.conduct()))
        stage.advance(round(0.15 / dt))
        actor.push("leftLowerArm", (-13875.0, 11875.0, -9250.0), 0.0008)
        fastest = 0.0
        for _ in range(round(0.3 / dt)):
            stage.advance(1)
            fastest = max(fastest, float(np.abs(actor.body.state.w).max()))
        assert fastest < 25.0 and np.abs(actor.body.state.w).max() < 3.0


def test_feet_are_on_all_their_corners_from_the_first_step_on() -> None:
    """On one corner each, as Bullet finds them one a step, they went in by 13 mm and slid as far: a child fell over."""
    for turn in (0.0, 0.7):
        stage = Stage("bullet", 0.005, ground=poise.Ground(friction=0.66))
        human = poise.Character.human(1.67, 82.0, preset="mix")
        pose = stand_at_ease(human)
        turns = np.array(pose.rotations)
        turns[0] = rotation.multiply(rotation.exp(np.array([0.0, turn, 0.0])), turns[0])
        actor = stage.add(human, name="actor", pose=poise.Pose(np.array(pose.root), turns))
        actor.drive("legs", poise.Balance())
        actor.drive("arms", poise.Kinematic(poise.gestures.clap(1.55, 1.03)))
        take = stage.run(0.4, fps=100)
        soles = place_take_soles(take.actor("actor"))
        assert np.abs(soles[..., 1] - soles[0, ..., 1]).max() < 1e-3
        assert np.linalg.norm((soles - soles[0])[..., [0, 2]], axis=-1).max() < 1e-3


@pytest.mark.parametrize(("dt", "softness"), [(0.002, 0.0), (0.01, 0.0), (0.01, 0.02)])
@pytest.mark.many(1)
def test_a_blow_on_an_animated_head_moves_a_standing_body_no_more_than_it_can(dt: float, softness: float) -> None:
    """86 N s at the head of somebody whose upper body is given: the ground adds little to J / M in the first steps."""
    stage = Stage(engine="bullet", dt=dt, touch=poise.ContactSettings(softness=softness))
    stage.add_prop(poise.Prop.sphere("far", 0.1, 1.0, (9.0, 0.1, 9.0)))  # whatever is given may touch it
    actor = stage.add(poise.Character.from_skeleton(make_human(1.75, without=("Toes",))), "actor")
    actor.drive("legs", poise.Balance())
    actor.drive("upperBody", poise.Kinematic(poise.gestures.conduct()))
    stage.advance(round(0.1 / dt))
    impulse = np.array([-82.8, 15.8, -17.4])
    actor.push("head", tuple(impulse / 0.0018), 0.0018)
    stage.advance(round(0.02 / dt))
    actor.body.update()
    fast = np.linalg.norm(impulse) / actor.body.tree.mass
    assert 0.7 * fast < np.linalg.norm(actor.body.dc) < 1.3 * fast


def loosen_an_arm(engine: str, dt: float, seconds: float) -> tuple[np.ndarray, float]:
    """An arm hangs loose from an animated trunk over legs that balance: its turns (3, 4), and rad/s at the most."""
    stage = Stage(engine, dt)
    actor = stage.add(poise.Character.human())
    actor.drive("legs", poise.Balance(hold=0.0, counter_lean=0.0))
    actor.drive("upperBody", poise.Kinematic(poise.gestures.conduct(120, 1, "both")))
    stage.advance(round(0.5 / dt))
    arm = ["rightUpperArm", "rightLowerArm", "rightHand"]
    actor.drive(arm, poise.Loose(0.3, 0.3))
    fastest = 0.0
    for _ in range(round(seconds / dt)):
        stage.step()
        fastest = max(fastest, float(np.abs(actor.body.state.w).max()))
    return actor.pose().rotations[[actor.character.skeleton.index(name) for name in arm]], fastest


@pytest.mark.parametrize("dt", [0.002, 0.01])
def test_a_loose_arm_hangs_from_a_collar_bone_without_mass_as_in_mujoco(dt: float) -> None:
    """It turned at 200 rad/s from the first step on."""
    (found, fastest), (wanted, _) = (loosen_an_arm(engine, dt, 0.05) for engine in ("bullet", "mujoco"))
    assert fastest < 10.0
    assert np.linalg.norm(rotation.log(rotation.multiply(rotation.conjugate(wanted), found)), axis=1).max() < 0.02


def test_what_a_collar_bone_weighs_is_taken_from_the_chest() -> None:
    """All that Bullet has weighs what the body weighs, and where it does; asked of Bullet itself."""
    stage = Stage("bullet", gravity=(0, 0, 0), ground=None)
    actor = stage.add(poise.Character.human())
    actor.drive("legs", poise.Loose(1.0, 1.0))
    actor.drive("trunk", poise.Kinematic(poise.gestures.breathe()))
    actor.drive("root", poise.Free())
    for side in ("left", "right"):
        actor.drive([f"{side}UpperArm", f"{side}LowerArm", f"{side}Hand"], poise.Loose(1.0, 1.0))
    stage.advance(1)
    simulation, masses, moments = stage.groups[0].simulation, [], []
    bullet, client = simulation._bullet, simulation.client  # type: ignore[attr-defined]
    collars = [actor.character.skeleton.index(f"{side}Shoulder") for side in ("left", "right")]
    held = simulation._held[0]  # type: ignore[attr-defined]
    assert all(piece.links for piece in held.pieces if piece.base in collars)
    for k in range(bullet.getNumBodies(physicsClientId=client)):
        uid = bullet.getBodyUniqueId(k, physicsClientId=client)
        for link in range(-1, bullet.getNumJoints(uid, physicsClientId=client)):
            mass = bullet.getDynamicsInfo(uid, link, physicsClientId=client)[0]
            if link < 0:
                at = bullet.getBasePositionAndOrientation(uid, physicsClientId=client)[0]
            else:
                at = bullet.getLinkState(uid, link, computeForwardKinematics=1, physicsClientId=client)[0]
            masses.append(mass)
            moments.append(mass * np.array(at))
    actor.body.update()
    assert sum(masses) == pytest.approx(actor.character.mass, rel=1e-6)
    np.testing.assert_allclose(np.sum(moments, axis=0) / sum(masses), actor.body.c, atol=2e-4)


@pytest.mark.slow
def test_a_small_child_stands_quietly_at_long_steps() -> None:
    """Its feet shook at 300 rad/s."""
    stage = Stage("bullet", 0.01)
    actor = stage.add(poise.Character.human(0.5, 4.0))
    actor.drive("legs", poise.Balance(hold=0.0, counter_lean=0.0))
    actor.drive("upperBody", poise.Kinematic(poise.gestures.conduct(120, 1, "both")))
    stage.advance(30)
    actor.drive(["rightUpperArm", "rightLowerArm"], poise.Loose(0.3, 0.3))
    feet, fastest = [actor.character.skeleton.index(f"{side}Foot") for side in ("left", "right")], 0.0
    for _ in range(70):
        stage.step()
        fastest = max(fastest, float(np.linalg.norm(actor.body.state.w[feet], axis=1).max()))
    assert fastest < 5.0


@pytest.mark.slow
def test_a_loose_collar_bone_without_mass_holds_an_animated_arm() -> None:
    """Limbs went at 57 m/s."""
    found = run(3)  # a child of 1.2 m at 2 ms: the left upper arm and the right collar bone are tracked
    assert "rightShoulder" in found.told and not found.why
    assert found.speed < 3.0


def loosen_the_head(engine: str, dt: float) -> tuple[np.ndarray, float]:
    """A head hangs loose, undamped, from a neck without mass that is animated: its turn (4,), rad/s at the most."""
    rng = np.random.default_rng(9)  # a person with two neck joints, the upper of which has no mass
    stage = Stage(engine, dt)
    actor = stage.add(poise.Character.from_skeleton(make_person(rng, random_plan(rng, 3)).build()))
    actor.drive("legs", poise.Balance())
    actor.drive("upperBody", poise.Kinematic(poise.gestures.conduct()))
    actor.drive("head", poise.Loose(0.2, 0.0))
    head, fastest = actor.character.skeleton.index("head"), 0.0
    for _ in range(round(0.25 / dt)):
        stage.step()
        fastest = max(fastest, float(np.linalg.norm(actor.body.state.w[head])))
    return actor.pose().rotations[head], fastest


@pytest.mark.parametrize("dt", [0.002, 0.005])
@pytest.mark.many(1)
def test_a_loose_head_hangs_from_a_neck_without_mass_as_in_mujoco(dt: float) -> None:
    """The lower neck is too slight to lend the upper one mass, and the head turned at 340 rad/s; now the head lends."""
    (found, fastest), (wanted, _) = (loosen_the_head(engine, dt) for engine in ("bullet", "mujoco"))
    assert fastest < 10.0
    assert np.linalg.norm(rotation.log(rotation.multiply(rotation.conjugate(wanted), found))) < 0.05


def test_who_loses_his_hold_on_ice_stays_above_the_floor() -> None:
    """Feet turned about the one corner that Bullet had found, at 130 rad/s, and were 0.12 m under the floor."""
    human = poise.Character.human()
    figure, stage = Figure(human), Stage("bullet", 0.0075, ground=poise.Ground(friction=0.0))
    actor, lowest = stage.add(human), 1.0
    actor.drive("legs", poise.Balance())
    actor.drive("upperBody", poise.Kinematic(poise.gestures.conduct()))
    for _ in range(250):
        stage.step()
        lowest = min(lowest, float(figure.place(actor.pose())[0][:, 1].min()))
    assert actor.pose().root[1] < 0.3  # he has fallen
    assert lowest > -0.05

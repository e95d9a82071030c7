"""Tracking, against MuJoCo's inverse dynamics, closed forms and SciPy's correlation."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from scipy.signal import correlate, correlation_lags
from scipy.spatial.transform import Rotation

import poise
from helpers.bodies import make_human
from oracles.trees import MuJoCo
from poise.drivers.balance import settings as record
from poise.drivers.body import Body
from poise.drivers.track.kernels import ask_dynamics
from poise.drivers.track.track import LAWS, find_own_inertia
from poise.dynamics.tree import TreeState
from poise.motion.clip import Clip
from poise.motion.motion import Pose
from poise.spatial import rotation
from poise.stage.take.take import ActorTake
from poise.world.contact_settings import ContactSettings

ADULT = dataclasses.replace(poise.Character.human(), limits={})  # some of what swings here is beyond a range
FPS = 200.0
SWINGING = ("leftUpperArm", "leftLowerArm", "leftHand", "rightUpperArm", "head", "chest")


def swing(seconds: float = 4.0, hz: float = 0.7, size: float = 0.4, character: poise.Character = ADULT) -> Clip:
    """A clip of joints that swing in sines, each about an axis of its own; the left arm's are 0.3 s apart."""
    t = np.arange(round(seconds * FPS) + 1) / FPS
    skeleton = character.skeleton
    turns = np.tile(rotation.identity(), (len(t), len(skeleton), 1))
    for k, role in enumerate(SWINGING):
        axis = Rotation.from_euler("xyz", [0.5 * k, 1.0 * k, 0.0]).apply([0.3, 0.2, 1.0])
        angle = size * np.sin(2.0 * math.pi * hz * (t - 0.3 * k))
        turned = Rotation.from_rotvec(angle[:, None] * axis / np.linalg.norm(axis)).as_quat()
        turns[:, skeleton.index(role)] = turned[:, [3, 0, 1, 2]]
    root = np.tile(poise.Stage().add(character).pose(0.0).root, (len(t), 1))
    return Clip(skeleton, t, root, turns)


def track(clip: Clip, driver: poise.Track, dt: float, engine: str = "mujoco") -> ActorTake:
    """The clip's swinging joints under a driver on a body whose other joints stay."""
    stage = poise.Stage(engine, dt, ground=None, touch=ContactSettings(itself=False))
    actor = stage.add(ADULT, pose=Pose(clip.root[0], clip.rotations[0]))
    actor.drive("upperBody", driver)
    return stage.run(0.0, times=np.asarray(clip.times)).actor()


def find_lag(take: ActorTake, clip: Clip) -> float:
    """s, by the peak of the correlation of angular velocities, between frames by a parabola."""
    joints = [clip.skeleton.index(role) for role in SWINGING]
    total: Any = 0.0
    for joint in joints:
        pair = []
        for turns in (take.rotations[:, joint], clip.rotations[:, joint]):
            r = Rotation.from_quat(turns[:, [1, 2, 3, 0]])
            pair.append((r[:-1].inv() * r[1:]).as_rotvec() * FPS)
        total = total + sum(correlate(pair[0][:, c], pair[1][:, c]) for c in range(3))
    lags = correlation_lags(len(clip) - 1, len(clip) - 1)
    near = np.abs(lags) < 0.3 * FPS
    lags, total = lags[near], np.asarray(total)[near]
    k = int(np.argmax(total))
    a, b, c = total[k - 1 : k + 2]
    return float(lags[k] + 0.5 * (a - c) / (a - 2.0 * b + c)) / FPS


def find_error(take: ActorTake, clip: Clip, after: float = 0.0) -> float:
    """rad, RMS angle of the swinging joints."""
    joints = [clip.skeleton.index(role) for role in SWINGING]
    late = np.asarray(clip.times) >= after
    there, here = (
        Rotation.from_quat(x[late][:, joints].reshape(-1, 4)[:, [1, 2, 3, 0]]) for x in (clip.rotations, take.rotations)
    )
    return float(np.sqrt(np.mean((there.inv() * here).magnitude() ** 2)))


def random_state(seed: int) -> tuple[Body, TreeState]:
    loads = [poise.Load(side + "Shoulder", 0.2) for side in ("left", "right")]  # MuJoCo takes no body without mass
    rng, body = np.random.default_rng(seed), Body(ADULT, loads)
    j = len(body.tree)
    turns = Rotation.from_rotvec(0.7 * rng.normal(size=(j, 3))).as_quat()[:, [3, 0, 1, 2]]
    w, dw = 3.0 * rng.normal(size=(j, 3)), 40.0 * rng.normal(size=(j, 3))
    state = TreeState(rng.normal(size=3), turns, rng.normal(size=3), w, 5.0 * rng.normal(size=3), dw)
    body.state.root[:], body.state.q[:], body.state.v[:], body.state.w[:] = state.root, turns, state.velocity, w
    body.update()
    return body, state


def ask(body: Body, dw: np.ndarray, a0: np.ndarray, is_aloft: bool) -> np.ndarray:
    """(J, 3) N m in body axes."""
    body.block.gravity[:] = body.gravity
    ask_dynamics(body.block.record[0], np.zeros((2, *dw.shape)), body.state.w, dw, a0, is_aloft)
    return np.einsum("jba,jb->ja", body.R, body.block.n)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_fed_forward_is_what_mujoco_says(seed: int) -> None:
    """mj_inverse of the whole body, in any pose, turning about, on a root that accelerates."""
    body, state = random_state(seed)
    expected = MuJoCo(body.tree).inverse_dynamics(state)[6:].reshape(-1, 3)
    found = ask(body, np.array(state.angular_acceleration), np.array(state.acceleration), False)[1:]
    assert np.allclose(found, expected, rtol=0.0, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(5))
def test_in_the_air_it_is_what_moves_the_joints_so(seed: int) -> None:
    """MuJoCo's forward dynamics of a floating body under those torques has the accelerations that were asked for."""
    body, state = random_state(seed)
    dw = np.array(state.angular_acceleration)
    torque = ask(body, dw, np.zeros(3), True)
    oracle = MuJoCo(body.tree)
    oracle.set(state)
    oracle.data.qfrc_applied[oracle.dofs] = np.concatenate([np.zeros(6), torque[1:].ravel()])
    oracle.mujoco.mj_forward(oracle.model, oracle.data)
    found = oracle.data.qacc[oracle.dofs][6:].reshape(-1, 3)
    assert np.allclose(found, dw[1:], rtol=0.0, atol=1e-7 * np.abs(dw).max())


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
@pytest.mark.many(1)
def test_the_papers_law_lags_by_100_ms_and_feeding_forward_by_none(engine: str) -> None:
    """A damper of k / 10 on all of the velocity: atan(0.1 w) / w behind, 94 ms at 0.7 Hz, more with the inertia."""
    clip = swing()
    assert 0.085 < find_lag(track(clip, poise.Track(clip, 40_000.0, law="paper"), 0.005, engine), clip) < 0.11
    for law in ("critical", "feedforward"):
        assert abs(find_lag(track(clip, poise.Track(clip, law=law), 0.005, engine), clip)) < 0.005


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
@pytest.mark.parametrize("dt", [0.002, 0.005, 0.01])
@pytest.mark.many(1)
def test_it_follows_closely_at_any_step(dt: float, engine: str) -> None:
    """Springs alone sag by what they carry; what is fed forward carries it."""
    clip = swing()
    sagging, found = (
        find_error(track(clip, poise.Track(clip, law=law), dt, engine), clip) for law in ("critical", "feedforward")
    )
    assert found < 0.002
    assert sagging > 10.0 * found


@pytest.mark.parametrize("dt", [0.002, 0.005, 0.01])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.many(2)
def test_no_stiffness_is_too_much_for_a_step(law: str, dt: float) -> None:
    """Hands and heads are light, and turn about their long axes next to nothing: 1 to 1,000,000 /s2, all stay near."""
    clip = swing(1.0)
    for stiffness in (1.0, 30.0, 1e4, 1e6):
        take = track(clip, poise.Track(clip, stiffness, law=law), dt)
        assert np.isfinite(take.rotations).all()
        assert np.abs(take.angular_velocity).max() < 80.0  # limbs that fall reach 53
    if law != "paper":
        assert find_error(take, clip) < 0.005


def test_gains_are_one_stiffness_times_inertia() -> None:
    """The paper's of the outboard body alone, a tenth of it as damping; the others' of all that a joint carries."""
    clip, body = swing(0.2), Body(ADULT)
    at = np.array([ADULT.skeleton.index("leftUpperArm"), ADULT.skeleton.index("leftHand")])
    k, d = poise.Track(clip, 1000.0, law="paper").find_gains(body, at)
    arm = body.tree.body(int(at[0]))
    about = arm.inertia + arm.mass * (arm.center @ arm.center * np.eye(3) - np.outer(arm.center, arm.center))
    assert k[0] == pytest.approx(1000.0 * np.linalg.eigvalsh(about)[-1], rel=0.02)
    assert k == pytest.approx(1000.0 * find_own_inertia(body)[at])
    assert d == pytest.approx(k / 10.0)
    k, d = poise.Track(clip, 400.0).find_gains(body, at)
    assert k[0] > 3.0 * 400.0 * find_own_inertia(body)[at[0]]
    assert d == pytest.approx(2.0 * k / 20.0)


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
def test_a_body_in_the_air_is_not_held_up(engine: str) -> None:
    """It falls as a whole: arms that move do so about the body, and nothing weighs anything."""
    clip = swing(0.8)
    stage = poise.Stage(engine, 0.005, ground=None, touch=ContactSettings(itself=False))
    actor = stage.add(ADULT, pose=Pose(clip.root[0], clip.rotations[0]))
    actor.drive("root", poise.Free())
    actor.drive("body", poise.Track(clip))
    take = stage.run(0.0, times=np.asarray(clip.times)).actor()
    assert find_error(take, clip, 0.1) < 0.004
    T = float(clip.times[-1])
    drop = take.center[-1] - take.center[0] - T * take.center_velocity[0]
    assert drop == pytest.approx([0.0, -0.5 * 9.81 * T**2, 0.0], abs=0.01 * T * 9.81)


def test_over_legs_that_balance() -> None:
    """A whole body: nothing is given."""
    clip = swing(4.0, size=0.3)
    stage = poise.Stage(dt=0.005, touch=ContactSettings(itself=False))
    actor = stage.add(ADULT)
    actor.drive("legs", poise.Balance())
    actor.drive("upperBody", poise.Track(clip))
    take = stage.run(0.0, times=np.asarray(clip.times))
    assert not [event for event in take.events if event.kind == "fell"]
    assert find_error(take.actor(), clip, 1.0) < 0.02


def test_from_another_pose_it_goes_over_gently() -> None:
    """Arms begin 0.6 rad off the motion: no joint is jerked, and within a second they are there."""
    clip = swing(2.0)
    off = ADULT.skeleton.index("leftUpperArm")
    pose = np.array(clip.rotations[0])
    pose[off] = rotation.multiply(pose[off], rotation.exp(np.array([0.0, 0.0, 0.6])))
    stage = poise.Stage(dt=0.005, ground=None, touch=ContactSettings(itself=False))
    actor = stage.add(ADULT, pose=Pose(clip.root[0], pose))
    actor.drive("upperBody", poise.Track(clip))
    take = stage.run(0.0, times=np.asarray(clip.times)).actor()
    assert np.abs(np.diff(take.angular_velocity[:, off], axis=0)).max() * FPS < 60.0
    assert find_error(take, clip, 1.0) < 0.003


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"stiffness": 0.0}, "must be from 1 to 1e"),
        ({"stiffness": float("nan")}, "must be from 1 to 1e"),
        ({"stiffness": 1e7}, "must be from 1 to 1e"),
        ({"damping": -1.0}, "from 0 to 100"),
        ({"law": "papre"}, "Did you mean 'paper'"),
        ({"start": float("inf")}, "finite time"),
        ({"cutoff": 0.0}, "more than 0 Hz"),
    ],
)
def test_what_cannot_be_is_refused(wrong: dict, sentence: str) -> None:
    """One sentence each."""
    with pytest.raises(poise.InputError, match=sentence):
        poise.Track(swing(0.1), **wrong)


def hit_hand(clip: Clip, give: float, engine: str = "mujoco", force: float = 60.0) -> tuple[ActorTake, np.ndarray]:
    """A hand that is hit from the side for 0.1 s at 1 s; with how far springs gave way over time, (F, K)."""
    stage = poise.Stage(engine, 0.005, ground=None, touch=ContactSettings(itself=False))
    actor = stage.add(ADULT, pose=Pose(clip.root[0], clip.rotations[0]))
    actor.drive("upperBody", poise.Track(clip, give=give))
    actor.push("leftHand", (0.0, 0.0, force), 0.1, 1.0)
    stage.build()
    player: Any = actor.players[0]
    soft: list[np.ndarray] = []
    take = stage.run(0.0, times=np.asarray(clip.times), each=lambda t: soft.append(player.soft.copy()))
    return take.actor(), np.array(soft)


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
@pytest.mark.many(1)
def test_it_gives_way_where_it_is_hit_and_comes_back(engine: str) -> None:
    """The arm that is hit does, up to the shoulder, and nothing else; a second later it is where it was to be."""
    clip = swing(2.6)
    (stiff, _), (take, soft) = (hit_hand(clip, give, engine) for give in (0.0, 0.9))
    names = [ADULT.skeleton.names[i] for i in poise.motion.parts.part_joints(ADULT.skeleton, "upperBody")]
    after = soft[205:225].max(axis=0)
    assert all(after[names.index(name)] > 0.9 for name in ("leftHand", "leftLowerArm", "leftUpperArm"))
    assert all(after[names.index(name)] < 0.01 for name in ("rightHand", "rightUpperArm", "head"))
    joint = ADULT.skeleton.index("leftUpperArm")
    far, near = (
        np.linalg.norm(
            rotation.log(rotation.multiply(rotation.conjugate(clip.rotations[:, joint]), each.rotations[:, joint])),
            axis=-1,
        )
        for each in (take, stiff)
    )
    assert far[200:260].max() > 2.0 * near[200:260].max()
    assert far[200:260].max() > 0.1
    assert far[round(2.1 * FPS) :].max() < 0.02
    assert soft[round(2.1 * FPS) :].max() < 0.01


def test_nothing_is_felt_where_nothing_hits() -> None:
    """What a motion took and what moved it are the same to round-off, by MuJoCo's own step."""
    clip = swing(1.0)
    _, soft = hit_hand(clip, 0.9, force=1e-9)
    assert soft.max() == 0.0


def test_giving_way_is_saved_and_restored() -> None:
    """A stage that goes on from a state in the middle of a blow does so with the same bits."""
    clip = swing(2.0)

    def build() -> poise.Stage:
        stage = poise.Stage(dt=0.005, ground=None, touch=ContactSettings(itself=False))
        actor = stage.add(ADULT, pose=Pose(clip.root[0], clip.rotations[0]), name="one")
        actor.drive("upperBody", poise.Track(clip, give=0.9))
        actor.push("leftHand", (0.0, 0.0, 60.0), 0.1, 0.5)
        return stage

    first, second = build(), build()
    first.advance(110)
    saved = first.save()
    first.advance(60)
    second.restore(saved)
    second.advance(60)
    assert np.array_equal(first.actors["one"].body.state.q, second.actors["one"].body.state.q)
    player: Any = first.actors["one"].players[0]
    assert player.soft.max() > 0.1


@pytest.mark.parametrize("law", LAWS)
def test_fingers_without_mass_do_not_spin(law: str) -> None:
    body = poise.Character.from_skeleton(make_human(1.75))
    stage = poise.Stage(dt=0.0075)
    actor = stage.add(body)
    live = poise.Live(body.skeleton, actor.pose(), 0.03)
    actor.drive("rightArm", poise.Track(live, law=law))
    rng, first = np.random.default_rng(8), actor.pose()
    for _ in range(40):
        turned = rotation.multiply(first.rotations, rotation.exp(0.3 * rng.normal(size=(len(body.skeleton), 3))))
        live.show(Pose(first.root, turned))
        stage.advance(10)
        assert np.abs(actor.body.state.w).max() < 100.0


def test_gains_of_the_pose_that_it_took_over_in_are_saved() -> None:
    def build() -> tuple[poise.Stage, poise.Actor]:
        stage = poise.Stage(dt=0.005)
        return stage, stage.add(ADULT)

    clip = swing()
    stage, actor = build()
    actor.drive("upperBody", poise.Kinematic(clip))
    stage.advance(160)
    actor.drive("upperBody", poise.Track(clip, give=1.0))
    stage.advance(5)
    twin, other = build()
    other.drive("upperBody", poise.Track(clip, give=1.0))
    twin.restore(stage.save())
    for each in (stage, twin):
        each.actors[actor.name].push("rightHand", (0.0, 30.0, 30.0), 0.05)
        each.advance(40)
    assert np.array_equal(actor.body.state.q, other.body.state.q)


def test_it_begins_as_fast_as_the_motion_but_for_a_trunk_over_legs_that_balance() -> None:
    """Which would throw the body off its feet: hips begin at rest."""
    clip = swing(1.0)
    chest, arm = (clip.skeleton.index(role) for role in ("chest", "leftUpperArm"))
    rates = np.linalg.norm(clip.spline.velocity(clip.times[:1]).rotation[0], axis=-1)
    assert min(rates[chest], rates[arm]) > 0.5
    for legs in ("still", "balance"):
        stage = poise.Stage(touch=ContactSettings(itself=False))
        actor = stage.add(ADULT, pose=Pose(clip.root[0], clip.rotations[0]))
        if legs == "balance":
            actor.drive("legs", poise.Balance())
        actor.drive("upperBody", poise.Track(clip))
        stage.build()
        speeds = np.linalg.norm(actor.body.state.w, axis=-1)
        assert speeds[arm] == pytest.approx(rates[arm], rel=0.1)
        assert speeds[chest] == pytest.approx(0.0 if legs == "balance" else rates[chest], rel=0.1)


@pytest.mark.parametrize(("driver", "is_still"), [(poise.Track, True), (poise.Kinematic, False)])
def test_a_balance_begins_with_the_centre_of_mass_as_fast_as_it_is(driver: type, is_still: bool) -> None:
    """A trunk on springs is at rest; one that is animated moves from the first step on."""
    clip = swing(2.0, size=0.2)
    stage = poise.Stage(touch=ContactSettings(itself=False))
    actor = stage.add(ADULT, pose=Pose(clip.root[0], clip.rotations[0]))
    actor.drive("legs", poise.Balance(follow=clip))
    actor.drive("upperBody", driver(clip))
    stage.build()
    aims = actor.player("legs").way.aims  # type: ignore[attr-defined]
    speed = np.linalg.norm(aims[0, record.CENTER_SPEED : record.CENTER_SPEED + 2])
    assert (speed < 0.002) if is_still else (speed > 0.02)

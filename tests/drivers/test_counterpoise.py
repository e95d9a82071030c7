"""A trunk that leans against its arms: the shift it goes by, its rates, its defaults, and that nothing jumps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from helpers.errors import rejects
from helpers.kinematics import place_joints
from helpers.random_bodies import Plan, make_person
from poise import Balance, Character, Counterpoise, InputError, Kinematic, Load, Loose, Stage
from poise.body.skeleton import Skeleton
from poise.drivers.body import Body
from poise.drivers.counterpoise.kernels import find_shift_now, lean_by
from poise.drivers.counterpoise.lean import ArmShift, find_arms, find_chest, find_shift_of
from poise.motion import samples
from poise.motion.samples.tracks import stand_pose
from poise.stage.actor import Actor

HUMAN = Character.human(1.75, 75.0)
REACH = poise.gestures.arm_swing(1.4, 50.0)  # both arms, to the front and back


def scipy_turn(q: np.ndarray) -> Rotation:
    return Rotation.from_quat(np.asarray(q)[..., [1, 2, 3, 0]])


def sum_arms(skeleton: Skeleton, masses: np.ndarray, centers: np.ndarray, q: np.ndarray) -> np.ndarray:
    """(3,) kg m: masses of the arms times where they are, in the axes of the chest. By SciPy's rotations."""
    chest = find_chest(skeleton)
    places, turns = place_joints(skeleton, np.zeros(3), q)
    arms = sorted(find_arms(skeleton))
    away = sum(masses[i] * (places[i] + turns[i].apply(np.array(centers[i])) - places[chest]) for i in arms)
    return turns[chest].inv().apply(away)


@pytest.mark.parametrize("load", [0.0, 3.0])
def test_the_shift_and_its_rates_are_those_of_the_arms_alone(load: float) -> None:
    """The oracle sums masses by SciPy's rotations; rates are finite differences of it."""
    body = Body(HUMAN, [Load("leftHand", load)] if load else [])
    tree, rng = body.tree, np.random.default_rng(3)
    q0 = np.array(stand_pose(HUMAN.skeleton).rotations)
    w, dw = rng.normal(0.0, 2.0, (2, len(tree), 3))
    start = scipy_turn(q0) * Rotation.from_rotvec(rng.normal(0.0, 0.5, (len(tree), 3)))

    def pose(t: float) -> np.ndarray:
        return (start * Rotation.from_rotvec(t * w + 0.5 * t * t * dw)).as_quat()[:, [3, 0, 1, 2]]

    hanging = sum_arms(HUMAN.skeleton, tree.masses, tree.centers, q0)
    h = 1e-4
    near = [sum_arms(HUMAN.skeleton, tree.masses, tree.centers, pose(t)) - hanging for t in (-h, 0.0, h)]
    before, now, after = (each / tree.mass for each in near)
    body.state.q[:], body.state.w[:], body.dw[:] = pose(0.0), w, dw
    shift = find_shift_of(body)
    assert shift is not None
    found = shift.find(body, 0.0)
    np.testing.assert_allclose(found[0], now, atol=1e-12)
    np.testing.assert_allclose(found[1], (after - before) / (2 * h), atol=1e-6)
    np.testing.assert_allclose(found[2], (after - 2 * now + before) / h**2, atol=1e-4)


def test_a_lean_approaches_its_cap_with_matching_rates() -> None:
    for r in (0.0, 0.01, 0.08, -0.4):
        value, rate, bend = lean_by(1.3, 0.1, r, 0.3, -0.7)
        h = 1e-5
        near = [lean_by(1.3, 0.1, r + 0.3 * t - 0.35 * t * t, 0.0, 0.0)[0] for t in (-h, h)]
        assert abs(value) < 0.1 and np.sign(value) == np.sign(r)
        assert rate == pytest.approx((near[1] - near[0]) / (2 * h), rel=1e-5, abs=1e-9)
        assert bend == pytest.approx((near[1] - 2 * value + near[0]) / h**2, rel=1e-3, abs=1e-5)
    assert lean_by(1.3, 0.1, 1e-3, 0.0, 0.0)[0] == pytest.approx(1.3e-3, rel=1e-3)


def gesturing(**asked: float) -> Actor:
    actor = Stage().add(HUMAN)
    actor.drive("legs", Balance(**asked))
    actor.drive("arms", Kinematic(REACH))
    return actor


def test_given_rates_are_those_of_the_given_pose() -> None:
    """Velocities and accelerations of the trunk's joints are finite differences of what it gives."""
    actor = gesturing()
    actor.stage.run(1.5)
    body, joints = actor.body, actor.partition.kinematic if actor.partition else ()
    trunk = [i for i in joints if i not in find_arms(HUMAN.skeleton) and "Toes" not in HUMAN.skeleton.names[i]]
    h, found = 1e-4, []
    for t in (-h, 0.0, h):
        actor.show(actor.stage.time + t)
        found.append((scipy_turn(body.state.q[trunk]), body.state.w[trunk].copy(), body.dw[trunk].copy()))
    w = (found[0][0].inv() * found[2][0]).as_rotvec() / (2 * h)
    assert np.abs(w).max() > 0.02
    np.testing.assert_allclose(found[1][1], w, atol=1e-4)
    np.testing.assert_allclose(found[1][2], (found[2][1] - found[0][1]) / (2 * h), atol=2e-2)


def test_hips_and_head_go_against_the_arms_and_the_gaze_stays_level() -> None:
    """Where people's do; the centre of mass hardly moves, and knees stay straight."""
    take = gesturing().stage.run(4.0, fps=100)
    clip, record = take.clip(), take.actor()
    places, skeleton = clip.positions[100:], clip.skeleton
    hands = places[:, [skeleton.index("leftHand"), skeleton.index("rightHand")], 2].mean(axis=1)
    for role, least in (("hips", 0.01), ("neck", 0.02), ("head", 0.02)):
        x = places[:, skeleton.index(role), 2]
        assert np.corrcoef(x, hands)[0, 1] < -0.8 and np.ptp(x) > least, role
    assert np.ptp(record.center[100:, 2]) < 0.005
    assert np.ptp(places[:, skeleton.index("hips"), 1]) < 0.008
    up = clip.world[1][100:, skeleton.index("head")]
    tilt = np.arccos(scipy_turn(up).apply([0.0, 1.0, 0.0])[:, 1])
    assert np.degrees(tilt).max() < 1.5
    assert np.linalg.norm((record.soles - record.soles[0])[..., [0, 2]], axis=-1).max() < 1e-4


def test_without_hold_and_lean_the_centre_of_mass_goes_along() -> None:
    moved = []
    for asked in ({}, {"hold": 0.0, "counter_lean": 0.0}):
        record = gesturing(**asked).stage.run(3.0, fps=50).actor()
        moved.append(np.ptp(record.center[50:, 2]))
    assert moved[1] > 3.0 * moved[0]


def test_undriven_trunk_and_head_counterpoise_where_legs_balance() -> None:
    skeleton = HUMAN.skeleton
    own = {skeleton.index(role) for role in ("spine", "chest", "upperChest", "neck", "head")}
    actor = gesturing()
    assert own == set(next(a for a in actor.assignments if a.is_default).claim.moved)
    actor.drive("head", Loose(1.0))
    assert own - {skeleton.index("neck"), skeleton.index("head")} == set(
        next(a for a in actor.assignments if a.is_default).claim.moved
    )
    actor.drive("legs", Loose(1.0))
    assert not any(a.is_default for a in actor.assignments)
    paper = Stage(couple="paper").add(HUMAN)
    paper.drive("legs", Balance())
    assert not any(a.is_default for a in paper.assignments)


@pytest.mark.parametrize("part", ["head", "legs", "rightArm"])
def test_switching_while_the_body_leans_does_not_jump(part: str) -> None:
    """Arms held to the front: pose and velocity go on, and the hips' acceleration stays that of standing."""
    held = poise.gestures.arm_swing(1.4, 40.0)
    actor = Stage().add(HUMAN, loads=[Load("leftHand", 2.0), Load("rightHand", 2.0)])
    actor.drive("legs", Balance())
    actor.drive("arms", Kinematic(held))
    stage = actor.stage
    stage.run(0.9)
    usual = stage.run(1.5, fps=200).actor()
    before = actor.pose()
    driver = {"head": Loose(3.0), "legs": Balance(stiffness=1.5), "rightArm": Loose(3.0)}[part]
    actor.drive(part, driver)
    stage.build()
    after = actor.pose()
    assert np.abs(after.root - before.root).max() < 1e-9 and np.abs(after.rotations - before.rotations).max() < 1e-6
    record = stage.run(0.5, fps=200).actor()
    quick = [np.abs(np.diff(each.velocity, axis=0)).max() for each in (usual, record)]
    assert quick[1] < 4.0 * quick[0]
    spins = [np.abs(np.diff(each.angular_velocity[:, [0, 1, 2]], axis=0)).max() for each in (usual, record)]
    assert spins[1] < 4.0 * spins[0]


@pytest.mark.parametrize("other", [Balance(), Balance(stiffness=1.5), Balance(hold=0.3, counter_lean=0.2)])
def test_another_balance_takes_over_the_torques_of_legs_while_the_body_leans(other: Balance) -> None:
    """Without that, hips and knees jumped by 17 to 80 N m. Restored in the middle it goes on with the same bits."""
    actor = Stage().add(HUMAN, loads=[Load("leftHand", 1.5), Load("rightHand", 1.5)])
    actor.drive("legs", Balance())
    actor.drive("arms", Kinematic(poise.gestures.arm_swing(1.4, 40.0)))
    stage = actor.stage
    stage.run(0.9)
    usual = stage.run(1.0, fps=200).actor()
    actor.drive("legs", other)
    record = stage.run(0.1, fps=200).actor()
    torques = np.concatenate([usual.torque, record.torque[1:]])
    steps = np.abs(np.diff(torques, axis=0)).max(axis=(1, 2))
    switch = len(usual.torque) - 1
    assert steps[switch:].max() < 4.0 * steps[20:switch].max()
    saved = stage.save()
    there = stage.run(0.3).actor()
    stage.restore(saved)
    again = stage.run(0.3).actor()
    assert np.array_equal(there.rotations, again.rotations) and np.array_equal(there.torque, again.torque)


def test_a_push_and_a_load_on_the_trunk_bend_it() -> None:
    def bend(loads: list[Load], push: float) -> float:
        actor = Stage().add(HUMAN, loads=loads)
        actor.drive("legs", Balance())
        if push:
            actor.push("upperChest", (0.0, 0.0, push), 0.2, 0.2)
        clip = actor.stage.run(0.6, fps=100).clip()
        chest = scipy_turn(clip.world[1][:, clip.skeleton.index("upperChest")])
        hips = scipy_turn(clip.world[1][:, clip.skeleton.index("hips")])
        return float(np.abs((hips.inv() * chest).as_rotvec()[:, 0]).max())

    assert bend([], 0.0) < 1e-6
    assert bend([], 100.0) > np.radians(2.0)
    assert bend([Load("upperChest", 15.0, offset=(0.0, 0.1, -0.2))], 0.0) > np.radians(0.5)


@pytest.mark.parametrize(
    "plan",
    [
        Plan(neck=0, spine=1, clavicle=False),
        Plan(spine=4, neck=2, fingers=5),
        Plan(oddities=("missing head",)),
        Plan(oddities=("missing arms",)),
        Plan(oddities=("missing arm",)),
        Plan(oddities=("ground root", "four arms")),
    ],
    ids=str,
)
def test_bodies_without_neck_chest_collar_bones_or_arms_stand(plan: Plan) -> None:
    skeleton = make_person(np.random.default_rng(1), plan).build()
    actor = Stage().add(Character.from_skeleton(skeleton))
    actor.drive("legs", Balance())
    stage = actor.stage
    if find_arms(skeleton):
        stage.run(0.2)
        for arm in sorted(find_arms(skeleton))[:1]:
            actor.load(Load(skeleton.names[arm], 1.0))
    take = stage.run(1.0)
    assert take.fell_at() is None
    assert np.isfinite(take.actor().torque).all()
    moved = np.linalg.norm((take.actor().soles - take.actor().soles[0])[..., [0, 2]], axis=-1)
    assert moved.max() < 1e-3


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"spine": -1.0}, r"spine \(rad/m\) of a counterpoise must be from 0 to 10; got -1"),
        ({"keep_level": 1.5}, "keep_level of a counterpoise must be from 0 to 1; got 1.5"),
        ({"cap": float("nan")}, "cap"),
        ({"follow": "clip.bvh"}, "Counterpoise follows a Clip"),
    ],
)
def test_bad_numbers_are_refused(asked: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Counterpoise(**asked)  # type: ignore[arg-type]


def test_a_part_without_spine_or_head_is_refused() -> None:
    rejects(lambda: Stage().add(HUMAN).drive("leftArm", Counterpoise()), "spine", "head", "'leftArm'")


@pytest.mark.parametrize("part", ["upperBody", "arms", "rightArm"])
@pytest.mark.parametrize("follows", [False, True])
def test_the_shift_from_world_poses_is_that_of_the_joints(part: str, follows: bool) -> None:
    """Two ways to r and its rate: down the arms in the axes of the chest, and from where everything is in the world."""
    stage = Stage()
    actor = stage.add(poise.Character.human(1.6, 55.0, preset="mix"), loads=[poise.Load("leftHand", 3.0)])
    actor.drive("legs", poise.Balance())
    actor.drive(part, poise.Kinematic(poise.gestures.conduct(hands="both" if part != "rightArm" else "right")))
    clip = samples.wave(actor.skeleton, 3.0) if follows else None
    for _ in range(5):
        stage.advance(47)
        body = actor.body
        body.update()
        body.block.t = stage.time
        shift, found = ArmShift(body, clip), np.empty((2, 3))
        find_shift_now(body.block.record[0], shift.block.record[0], shift.chest, found)
        np.testing.assert_allclose(found, shift.find(body, stage.time)[:2], rtol=0.0, atol=1e-14)
        assert np.abs(found).max() > 1e-3

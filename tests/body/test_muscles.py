"""Strength over angle and speed: the published formula, other people's figures, and what must hold for every body."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from helpers import random_bodies, rigs
from helpers.bodies import make_human
from helpers.errors import rejects
from oracles import anderson
from poise import JointStrength
from poise.body.character import Character
from poise.body.joints import PRESETS
from poise.body.roles import mirror_role
from poise.body.skeleton import Skeleton
from poise.body.strength.joint_strength import WEAK, TorqueBound, TorqueTable
from poise.body.strength.static import static_strength
from poise.errors import InputError, PoiseError
from poise.spatial import rotation

MAN = Character.human(1.75, 70.0, sex="male", age=22.0)
WOMAN = Character.human(1.65, 55.0, sex="female", age=22.0)
# (role, direction of the table) -> which way the torque turns about x, and the sign of their angle to ours
LEGS = {("UpperLeg", 0): (1, -1), ("UpperLeg", 1): (-1, -1), ("LowerLeg", 0): (-1, 1), ("LowerLeg", 1): (1, 1)}
LEGS |= {("Foot", 0): (1, -1), ("Foot", 1): (-1, -1)}


def at(
    muscles: JointStrength, joint: str, axis: str, angle: object, rate: object = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """The bounds of one row over arrays of angles and rates."""
    row = muscles.row(joint, axis)
    angle, rate = np.broadcast_arrays(np.asarray(angle, float), np.asarray(rate, float))
    angles, rates = np.zeros((*angle.shape, len(muscles))), np.zeros((*angle.shape, len(muscles)))
    angles[..., row], rates[..., row] = angle, rate
    low, high = muscles.torque_range(angles, rates)
    return low[..., row], high[..., row]


@pytest.mark.parametrize("sex", [0, 1])
@pytest.mark.parametrize(("role", "direction"), LEGS)
@pytest.mark.parametrize("side", ["left", "right"])
def test_the_legs_of_young_adults_are_as_published(side: str, role: str, direction: int, sex: int) -> None:
    """Where the cosine is above its least, while muscles shorten: everywhere, to the last digits."""
    body = (MAN, WOMAN)[sex]
    sign, turn = LEGS[role, direction]
    c = anderson.coefficients(["UpperLeg", "LowerLeg", "Foot"].index(role), direction, sex, 0)
    angle, speed = np.meshgrid(np.linspace(-1.0, 2.2, 33), np.linspace(0.0, 4.5, 19), indexing="ij")
    wanted = anderson.torque(c, angle, speed) * body.mass * 9.81 * body.height
    low, high = at(JointStrength.from_character(body), side + role, "x", turn * angle, sign * speed)
    deep = (role, direction) == ("LowerLeg", 0)  # half is left in a deep squat
    exact = (np.cos(c[1] * (angle - c[2])) > np.where(deep & (angle > c[2]), 0.56, 0.31)) & (
        np.abs(c[1] * (angle - c[2])) < 1.5
    )
    exact &= anderson.torque(c, c[2], speed) > 0.11 * c[0]
    assert exact.sum() > 200
    np.testing.assert_allclose((high if sign > 0 else -low)[exact], wanted[exact], rtol=1e-9)


@pytest.mark.parametrize(("role", "direction"), LEGS)
def test_three_quarters_and_half_are_left_at_the_published_speeds_and_the_peak_is_where_it_is(
    role: str, direction: int
) -> None:
    sign, turn = LEGS[role, direction]
    c = anderson.coefficients(["UpperLeg", "LowerLeg", "Foot"].index(role), direction, 0, 0)
    angles, way = np.linspace(-2.0, 2.0, 4001), 1 if sign > 0 else 0
    over = np.abs(at(JointStrength.from_character(MAN), "left" + role, "x", angles)[way])
    assert angles[np.argmax(over)] == pytest.approx(turn * c[2], abs=1e-3)
    assert over.max() == pytest.approx(c[0] * 70.0 * 9.81 * 1.75, rel=1e-6)
    speeds = sign * np.array([c[3], c[4]])
    left = np.abs(at(JointStrength.from_character(MAN), "left" + role, "x", turn * c[2], speeds)[way]) / over.max()
    np.testing.assert_allclose(left, [0.75, 0.5], rtol=1e-6)


@pytest.mark.parametrize(("role", "direction"), LEGS)
@pytest.mark.parametrize(("age", "group"), [(60.0, 1), (72.0, 2)])
@pytest.mark.parametrize("sex", [0, 1])
def test_older_groups_are_as_published_too(role: str, direction: int, age: float, group: int, sex: int) -> None:
    body = Character.human(1.65, 50.0, sex=("male", "female")[sex], age=age)
    sign, turn = LEGS[role, direction]
    c = anderson.coefficients(["UpperLeg", "LowerLeg", "Foot"].index(role), direction, sex, group)
    wanted = anderson.torque(c, c[2], np.array([0.0, c[3], c[4]])) * 50.0 * 9.81 * 1.65
    low, high = at(
        JointStrength.from_character(body), "left" + role, "x", turn * c[2], sign * np.array([0.0, c[3], c[4]])
    )
    np.testing.assert_allclose(high if sign > 0 else -low, wanted, rtol=1e-9)


@pytest.mark.parametrize(("role", "direction"), LEGS)
def test_stretched_muscles_stay_near_what_is_published_where_that_rises_and_never_lose_strength(
    role: str, direction: int
) -> None:
    sign, turn = LEGS[role, direction]
    c = anderson.coefficients(["UpperLeg", "LowerLeg", "Foot"].index(role), direction, 0, 0)
    speed = np.linspace(0.0, c[4], 200)
    published = anderson.torque(c, c[2], -speed) / c[0]
    way = 1 if sign > 0 else 0
    ours = np.abs(at(JointStrength.from_character(MAN), "left" + role, "x", turn * c[2], -sign * speed)[way])
    ours /= ours[0]
    most = np.clip(published.max(), 1.0, 1.4)
    assert np.all(np.diff(ours) >= 0.0) and 1.0 <= ours[-1] <= most
    rising = speed <= speed[np.argmax(published)]
    assert np.max(np.abs(ours - np.maximum(published, 1.0))[rising]) < 0.12


def test_a_mans_knee_flexes_and_extends_as_others_measured() -> None:
    """Sarabon et al. (2021), Front Physiol 12:767941: N m/kg at mid-range, flexed and extended knee; 95 % intervals."""
    muscles = JointStrength.from_character(MAN)
    low, high = (bound / 70.0 for bound in at(muscles, "leftLowerLeg", "x", np.radians([65.0, 95.0, 25.0])))
    assert 0.9 * 2.92 < -low[0] < 1.1 * 3.45 and 0.85 * 2.50 < -low[1] < 1.15 * 3.06
    assert 0.85 * 1.34 < -low[2] < 1.15 * 2.23
    assert 1.15 < high[0] < 1.62
    deep = at(muscles, "leftLowerLeg", "x", np.radians([125.0, 150.0]))[0] / 70.0
    assert np.all(-deep > 0.49 * 0.163 * 9.81 * 1.75)  # who squats gets up again


def test_the_arm_is_as_strong_over_its_angle_as_its_sources_say() -> None:
    muscles = JointStrength.from_character(MAN)
    flexion = -at(muscles, "leftLowerArm", "x", -np.radians([0.0, 45.0, 90.0, 140.0]))[0]
    a = np.array([0.0, 45.0, 90.0, 140.0])
    wanted = 336.29 + 1.544 * a - 0.0085 * a * a  # Chaffin's regression
    np.testing.assert_allclose(flexion / flexion[2], wanted / wanted[2], atol=0.01)
    shoulder = -at(muscles, "leftUpperArm", "x", -np.radians([0.0, 90.0]))[0]
    assert shoulder[1] / shoulder[0] == pytest.approx((274.6 - 0.296 * 90) / 274.6, abs=0.02)
    wrist = -at(muscles, "rightHand", "z", np.radians(np.arange(-80.0, 91.0)))[0]  # extension of the right
    flex = at(muscles, "rightHand", "z", np.radians(np.arange(-80.0, 91.0)))[1]
    assert np.arange(-80, 91)[np.argmax(flex)] == 40 and flex.max() > 1.5 * wrist.max()
    extent = wrist[(np.arange(-80, 91) >= -70) & (np.arange(-80, 91) <= 30)]
    assert (
        extent.min() > 0.95 * extent.max()
    )  # relatively constant from 30 degrees of flexion to 70 of extension [delp]


def test_the_back_bent_to_36_degrees_is_stronger_than_upright_and_joints_share_its_bend() -> None:
    one = JointStrength.from_character(Character.human(1.75, 70.0, sex="male", age=22.0, preset="mix"))
    upright, bent = -at(one, "spine", "x", np.radians([0.0, 36.0]))[0]
    assert 1.0 < bent / upright < 1.68
    full = JointStrength.from_character(MAN)
    for angle, rate in ((0.3, 0.0), (0.9, 1.2), (-0.4, -2.0)):
        whole = at(one, "spine", "x", angle, rate)
        for joint in ("spine", "chest", "upperChest"):  # each two thirds, as its range is
            np.testing.assert_allclose(at(full, joint, "x", angle / 1.5, rate / 1.5), whole, rtol=1e-9)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(("sex", "age", "height", "mass"), [("male", 30, 1.8, 80), ("female", 70, 1.6, 62),
                                                            ("neutral", 6, 1.15, 20)])  # fmt: skip
def test_every_preset_falls_with_speed_is_continuous_and_never_without_strength(
    preset: str, sex: str, age: float, height: float, mass: float
) -> None:
    character = Character.human(height, mass, sex=sex, age=age, preset=preset)
    muscles = JointStrength.from_character(character)
    assert len(muscles) == character.degrees_of_freedom
    rates = np.linspace(-60.0, 60.0, 2401)[:, None]
    for angle in (-3.0, -1.0, 0.0, 0.7, 2.5):
        low, high = muscles.torque_range(np.full(len(muscles), angle), rates)
        assert np.all(np.isfinite(low)) and np.all(np.isfinite(high))
        assert np.all(high > 0.0) and np.all(low < 0.0)
        # who turns faster along the torque has less of it
        assert np.all(np.diff(high, axis=0) <= 1e-12) and np.all(np.diff(low, axis=0) <= 1e-12)
        steepest = np.max(np.abs(np.diff(high, axis=0)) / muscles.peaks[:, 1])
        assert steepest < 0.05 * 4.0  # per 0.05 rad/s
    angles = np.linspace(-4.0, 4.0, 3201)[:, None]
    low, high = muscles.torque_range(np.broadcast_to(angles, (3201, len(muscles))), np.zeros(len(muscles)))
    least = np.stack([-low, high], axis=-1) / muscles.peaks
    assert least.min() >= 0.25 - 1e-12 and least.max() <= 1.0 + 1e-12
    assert np.max(np.abs(np.diff(least, axis=0))) < 0.0025 * 1.7


def test_nothing_overflows_at_absurd_angles_and_speeds() -> None:
    muscles = JointStrength.from_character(MAN)
    for angle in (0.0, 1e300, -1e300):
        for rate in (0.0, 1e300, -1e300):
            low, high = muscles.torque_range(np.full(len(muscles), angle), np.full(len(muscles), rate))
            assert np.all(np.isfinite(low) & np.isfinite(high) & (low < 0.0) & (high > 0.0))
    with pytest.raises(InputError, match="finite"):
        muscles.torque_range(np.full(len(muscles), np.nan), np.zeros(len(muscles)))
    rejects(lambda: muscles.torque_range(np.zeros(3), np.zeros(3)), "51")


def test_the_slope_over_the_angle_does_not_jump() -> None:
    """Where a curve goes over to its least its slope goes to nothing, without a corner."""
    muscles = JointStrength.from_character(MAN)
    angles = np.linspace(-2.0, 3.5, 20001)
    low, _ = at(muscles, "leftLowerLeg", "x", angles)
    slope = np.gradient(low, angles)
    assert np.max(np.abs(np.diff(slope))) < 1e-2 * np.max(np.abs(slope))  # a corner's is 0.5


def mirrored(muscles: JointStrength, angles: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, ...]:
    """The bounds of the body's mirror image, brought back."""
    order = [muscles.row(mirror_role(muscles.labels[i]), muscles.axes[i]) for i in range(len(muscles))]
    sign = np.where(np.array(muscles.axes) == "x", 1.0, -1.0)
    low, high = muscles.torque_range((sign * angles)[order], (sign * rates)[order])
    low, high = low[order], high[order]
    return np.where(sign > 0, low, -high), np.where(sign > 0, high, -low)


@pytest.mark.parametrize("preset", PRESETS)
def test_left_and_right_are_mirror_images(preset: str) -> None:
    muscles = JointStrength.from_character(Character.human(1.7, 65.0, preset=preset))
    rng = np.random.default_rng(3)
    for _ in range(20):
        angles, rates = rng.normal(0, 0.8, len(muscles)), rng.normal(0, 3.0, len(muscles))
        for ours, theirs in zip(muscles.torque_range(angles, rates), mirrored(muscles, angles, rates), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("rig", [rigs.unreal, rigs.daz, rigs.mikumikudance, rigs.rigify, rigs.cmu_asf])
def test_rigs_of_other_programs_have_alike_strength_on_both_sides(rig: Callable[[], tuple[Skeleton, object]]) -> None:
    character = Character.from_skeleton(rig()[0], 70.0)
    muscles = JointStrength.from_character(character)
    assert len(muscles) == character.degrees_of_freedom
    for i, label in enumerate(muscles.labels):
        if label.startswith("left") and label in character.skeleton.roles:
            other = muscles.peaks[muscles.row(mirror_role(label), muscles.axes[i])]
            np.testing.assert_allclose(muscles.peaks[i], other if muscles.axes[i] == "x" else other[::-1], rtol=1e-12)


@pytest.mark.parametrize("seed", range(24))
def test_odd_bodies_have_a_finite_strength_for_every_degree_of_freedom(seed: int) -> None:
    rng = np.random.default_rng(seed)
    character = None
    while character is None:  # some have too little to be a person, and are refused before
        body = random_bodies.make_person(rng, random_bodies.random_plan(rng, seed % 4))
        with contextlib.suppress(PoiseError):
            character = Character.from_skeleton(body.build(), 70.0)
    muscles = JointStrength.from_character(character)
    assert len(muscles) == character.degrees_of_freedom
    q, w = rotation.random(rng, (5, len(character.skeleton))), rng.normal(0, 3, (5, len(character.skeleton), 3))
    low, high = muscles.torque_range(*muscles.find_state(q, w)[:2])
    assert np.all(np.isfinite(low) & np.isfinite(high) & (low < 0) & (high > 0)) and np.max(np.abs([low, high])) < 500


def test_what_nobody_measured_has_a_bound_from_the_nearest_joint_above() -> None:
    human = make_human()
    names = (*human.names, "twist", "finger", "tail")
    parents = np.array([*human.parents, *(human.index(n) for n in ("leftLowerArm", "leftHand", "hips"))])
    offsets = np.vstack([human.offsets, [[0.1, 0, 0], [0.08, 0, 0], [0, 0, -0.1]]])
    tips = np.vstack([human.tips, np.full((3, 3), np.nan)])
    skeleton = type(human)(names, parents, offsets, tips, {**human.roles, "leftIndexProximal": "finger"})
    plain = Character.from_skeleton(skeleton, 70.0)
    free = {**plain.freedoms, **{name: np.eye(3) for name in ("twist", "finger", "tail")}}
    body = Character(plain.name, skeleton, plain.segments, plain.height, plain.limits, free)
    muscles = JointStrength.from_character(body)
    assert len(muscles) == plain.degrees_of_freedom + 9
    np.testing.assert_allclose(
        muscles.peaks[muscles.row("twist", "x")], muscles.peaks[muscles.row("leftLowerArm", "x")]
    )
    assert muscles.peaks[muscles.rows("finger")].max() == muscles.peaks[muscles.rows("leftHand")].max()
    np.testing.assert_allclose(
        muscles.peaks[muscles.row("tail", "x")], muscles.peaks[muscles.row("spine", "x")], rtol=1e-12
    )
    # the tail does not take a share of the trunk's bend
    np.testing.assert_array_equal(
        at(muscles, "spine", "x", 0.3), at(JointStrength.from_character(plain), "spine", "x", 0.3)
    )
    nobody = Character("thing", skeleton.replace(roles={}), plain.segments, 1.0, {}, {"spine": np.eye(3)})
    assert np.all(np.isfinite(JointStrength.from_character(nobody).peaks))


def test_the_strongest_way_of_a_joint_is_its_static_strength() -> None:
    """For young adults both models have the same table behind them, but for clavicles and shoulder extension."""
    for body in (MAN, WOMAN):
        muscles, static = JointStrength.from_character(body), static_strength(body)
        for role in (
            "spine",
            "neck",
            "leftLowerArm",
            "leftHand",
            "rightUpperLeg",
            "leftLowerLeg",
            "leftFoot",
            "leftToes",
        ):
            most = muscles.peaks[muscles.rows(role)].max()
            assert most == pytest.approx(static[body.skeleton.index(role)], rel=2e-3)


def test_it_scales_with_the_body_and_with_what_is_asked() -> None:
    half = JointStrength.from_character(Character.human(1.75, 35.0, sex="male", age=22.0))
    np.testing.assert_allclose(JointStrength.from_character(MAN).peaks, 2.0 * half.peaks)
    muscles = JointStrength.from_character(MAN)
    tired = muscles.scaled({"leftLowerLeg": 0.5, "rightHand": 0})
    state = np.full(len(muscles), 0.4), np.full(len(muscles), 0.7)
    for ours, usual in zip(tired.torque_range(*state), muscles.torque_range(*state), strict=True):
        share = np.ones(len(muscles))
        share[muscles.rows("leftLowerLeg")], share[muscles.rows("rightHand")] = 0.5, 0.0
        np.testing.assert_allclose(ours, share * usual, atol=1e-15)
    np.testing.assert_allclose(JointStrength.from_character(MAN, 0.5).peaks, 0.5 * muscles.peaks)
    boy, girl = (Character.human(1.3, 27.0, sex=sex, age=8) for sex in ("male", "female"))
    np.testing.assert_allclose(JointStrength.from_character(boy).peaks, JointStrength.from_character(girl).peaks)
    grown = [
        JointStrength.from_character(Character.human(1.7, 70.0, sex="male", age=a)).peaks.sum()
        for a in (25, 50, 75, 95)
    ]
    assert all(np.diff(grown) < 0)


def test_the_weak_figure_is_the_same_at_every_angle_and_speed() -> None:
    weak, usual = JointStrength.weak(MAN), JointStrength.from_character(MAN)
    rng = np.random.default_rng(1)
    low, high = weak.torque_range(rng.normal(0, 2, (30, len(weak))), rng.normal(0, 9, (30, len(weak))))
    np.testing.assert_allclose(low, np.broadcast_to(-WEAK * usual.peaks[:, 0], low.shape))
    np.testing.assert_allclose(high, np.broadcast_to(WEAK * usual.peaks[:, 1], high.shape))
    np.testing.assert_allclose(JointStrength.weak(MAN, 0.1).peaks, 0.1 * usual.peaks)


def test_angles_are_those_of_the_limits_and_axes_turn_them() -> None:
    muscles, skeleton = JointStrength.from_character(MAN), MAN.skeleton
    rng = np.random.default_rng(5)
    angles = np.zeros((len(skeleton), 3))
    for name, limits in MAN.limits.items():
        angles[skeleton.index(name)] = rng.uniform(0.8 * limits.lower, 0.8 * limits.upper)
    q = np.tile(rotation.identity(), (len(skeleton), 1))
    for name, limits in MAN.limits.items():
        q[skeleton.index(name)] = limits.rotation(angles[skeleton.index(name)])
    w = rng.normal(0, 1, (len(skeleton), 3))
    found, rates, axes = muscles.find_state(q, w)
    for i in range(len(muscles)):
        assert found[i] == pytest.approx(angles[muscles.joints[i], "xyz".index(muscles.axes[i])], abs=1e-9)
    np.testing.assert_allclose(np.linalg.norm(axes, axis=-1), 1.0, atol=1e-12)
    np.testing.assert_allclose(rates, np.sum(axes * w[muscles.joints], axis=-1), atol=1e-12)
    np.testing.assert_allclose(muscles.project(w, axes), rates, atol=1e-12)
    for role in ("leftLowerLeg", "rightLowerArm", "leftUpperArm", "rightUpperLeg", "spine"):
        joint, limits = skeleton.index(role), MAN.limits[role]
        rows = muscles.rows(role)
        np.testing.assert_allclose(axes[rows] @ axes[rows].T, np.eye(len(rows)), atol=1e-12)
        # the twist's axis is the carried segment's own long one
        long = rotation.rotate(rotation.conjugate(limits.child_zero), np.array([0.0, 1.0, 0.0]))
        np.testing.assert_allclose(axes[muscles.row(role, "y")], long, atol=1e-12)
        # without a swing about z, a turn about x changes the angle x as fast as it goes, by differences
        straight = angles[joint] * [1.0, 1.0, 0.0]
        q[joint] = limits.rotation(straight)
        axis = muscles.find_state(q, w)[2][muscles.row(role, "x")]
        turned = rotation.multiply(q[joint], rotation.exp(1e-6 * axis))
        np.testing.assert_allclose((limits.angles(turned) - straight) / 1e-6, [1.0, 0.0, 0.0], atol=1e-4)


def test_a_raised_arm_is_not_one_that_hangs_behind() -> None:
    """Straight up is 180 degrees of swing: its angle stays on the side of the range, beyond it too."""
    muscles, skeleton = JointStrength.from_character(MAN), MAN.skeleton
    q = np.tile(rotation.identity(), (len(skeleton), 1))
    limits = MAN.limits["leftUpperArm"]
    q[skeleton.index("leftUpperArm")] = limits.rotation(np.array([np.radians(-186.0), 0.0, 0.0]))
    angles = muscles.find_state(q, np.zeros((len(skeleton), 3)))[0]
    assert np.degrees(angles[muscles.row("leftUpperArm", "x")]) == pytest.approx(-186.0)


def test_tables_of_ones_own_stand_for_the_curves() -> None:
    muscles = JointStrength.from_character(MAN)
    table = TorqueTable([-1.0, 0.0, 2.0], [-5.0, 5.0], [[10.0, 2.0], [20.0, 4.0], [60.0, 12.0]])
    own = muscles.with_bounds(
        [TorqueBound("leftLowerLeg", "x", -30.0, table), TorqueBound("leftLowerLeg", "y", upper=5)]
    )
    low, high = at(own, "leftLowerLeg", "x", [0.0, 1.0, 9.0, -9.0, 1.0], [-5.0, 0.0, 99.0, -99.0, 5.0])
    np.testing.assert_allclose(low, -30.0)
    np.testing.assert_allclose(high, [20.0, 24.0, 12.0, 10.0, 8.0])
    np.testing.assert_allclose(own.peaks[own.row("leftLowerLeg", "x")], [30.0, 36.0])
    np.testing.assert_allclose(at(own.scaled(0.5), "leftLowerLeg", "x", 1.0), [-15.0, 12.0])
    np.testing.assert_allclose(at(own, "rightLowerLeg", "x", 1.0), at(muscles, "rightLowerLeg", "x", 1.0))
    assert own.flat().peaks[own.row("leftLowerLeg", "x"), 1] == pytest.approx(36.0)
    again = pickle.loads(pickle.dumps(own))
    np.testing.assert_array_equal(at(again, "leftLowerLeg", "x", 1.0), at(own, "leftLowerLeg", "x", 1.0))
    assert not again.curves.flags.writeable and not again.tables[own.row("leftLowerLeg", "x"), 1].torque.flags.writeable


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda m: m.scaled(-0.5), "is -0.5 of the usual; it is 0 or more"),
        (lambda m: m.scaled(np.inf), "0 or more"),
        (lambda m: m.scaled({"leftKne": 1.0}), "Did you mean"),
        (lambda m: m.scaled({"hips": 1.0}), "'hips' is not in the degrees of freedom"),
        (lambda m: m.with_bounds([TorqueBound("leftLowerLeg", "z", -1.0, 1.0)]),
         "'z' is not in those that leftLowerLeg"),
        (lambda m: m.with_bounds([TorqueBound("leftLowerLeg", "x", 30.0, -20.0)]), "Are the bounds exchanged"),
        (lambda m: m.with_bounds([TorqueBound("leftLowerLeg", "x", upper=np.nan)]), "finite torque"),
        (lambda m: m.with_bounds([TorqueBound("leftLowerLeg", "x", upper=TorqueTable([0.0], [0.0], [[-1.0]]))]),
         "exchanged"),
        (lambda m: TorqueTable([0.0, 1.0], [0.0], [[1.0], [np.nan]]), "gaps"),
        (lambda m: TorqueTable([1.0, 0.0], [0.0], [[1.0], [1.0]]), "rises: 1, 0 does not"),
        (lambda m: TorqueTable([0.0, 0.0], [0.0], [[1.0], [1.0]]), "rises"),
        (lambda m: TorqueTable([0.0, 1.0], [0.0], [[1.0], [1.0, 2.0]]), "all rows as long"),
        (lambda m: TorqueTable([0.0, 1.0], [0.0], [[1.0]]), "2 angles and 1 rates"),
        (lambda m: TorqueTable([], [0.0], np.zeros((0, 1))), "rises: nothing does not"),
        (lambda m: JointStrength.weak(MAN, -1.0), "0 or more"),
        (lambda m: JointStrength.from_character(MAN, "strong"), "must be a number"),
        (lambda m: m.find_state(np.zeros((3, 4)), np.zeros((3, 3))), "of all joints"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(make: object, said: str) -> None:
    with pytest.raises(InputError, match=said.replace("(", r"\(")) as told:
        make(JointStrength.from_character(MAN))  # type: ignore[operator]
    assert "\n" not in str(told.value)


def test_the_weak_figure_holds_out_1_kg_and_not_3() -> None:
    """Straight ahead, by weights times levers: what the paper's figure tracks, and what its arm gives way to."""
    skeleton, places = MAN.skeleton, MAN.skeleton.rest_positions()  # a T-pose: the arm is as long to the side
    arm, hand = skeleton.index("rightUpperArm"), skeleton.index("rightHand")
    lever = abs(float((places[hand] - places[arm])[0]))
    own = sum(
        9.81 * MAN.inertias[i].mass * abs(float((places[i] + MAN.inertias[i].center - places[arm])[0]))
        for i in skeleton.descendants(arm)
    )
    low, _ = at(JointStrength.weak(MAN), "rightUpperArm", "x", np.radians(-90.0))
    assert own + 9.81 * 1.0 * lever < -low < own + 9.81 * 3.0 * lever


def test_torque_range_copies_arrays_that_numpy_warns_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba asks whether an array is writeable when it first meets its type; of a broadcast one, NumPy then warns."""
    muscles, seen = JointStrength.from_character(MAN), []
    monkeypatch.setattr("poise.body.strength.kernels.fill_ranges", lambda *given: seen.extend(given))
    for angles in (np.zeros(len(muscles)), np.zeros((3, 2, len(muscles)))):
        muscles.torque_range(angles, np.zeros(len(muscles)))
    assert all(each.flags.writeable and each.flags.c_contiguous for each in seen)

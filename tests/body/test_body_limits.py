"""Joint limits and freedoms: what a body can do and what it cannot, from any rest pose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.errors import rejects
from helpers.recordings import data_file
from poise.body.character import Character
from poise.body.joints import ANATOMICAL, JointLimits, find_freedoms, find_limits, get_range, mirror_range
from poise.body.roles import BODY_ROLES, mirror_role, sided
from poise.body.segments.proportions import build_skeleton, compute_proportions
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.files.registry import load_clip
from poise.spatial import rotation

T_POSE = build_skeleton(1.75, compute_proportions(), BODY_ROLES)
LIMITS = find_limits(T_POSE)
TURNING = [role for role in BODY_ROLES if role != "hips"]


def turn(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    """A rotation vector in degrees about the body's axes."""
    return rotation.exp(np.radians([x, y, z]))


def pose_limb(joint: str, q: np.ndarray, end: str) -> np.ndarray:
    """Where `end` is, seen from `joint`, when the joint is turned by q in the T-pose and all others rest."""
    pose = rotation.identity((len(T_POSE),))
    pose[T_POSE.index(joint)] = q
    positions, _ = T_POSE.pose(np.zeros(3), pose)
    line = positions[T_POSE.index(end)] - positions[T_POSE.index(joint)]
    return line / np.linalg.norm(line)


angles = st.tuples(*[st.floats(-1.5, 1.5)] * 3).map(np.array)


@given(angles, st.integers(0, 10**6))
def test_angles_and_rotations_are_inverse(xyz, seed):
    rng = np.random.default_rng(seed)
    limits = JointLimits(-np.ones(3), np.ones(3), rotation.random(rng), rotation.random(rng))
    np.testing.assert_allclose(limits.angles(limits.rotation(xyz)), xyz, atol=1e-12)
    q = rotation.random(rng, (5,))
    assert np.max(rotation.angle(limits.rotation(limits.angles(q)), q)) < 1e-7


@given(angles, st.integers(0, 10**6))
def test_clamping_ends_inside_and_leaves_the_inside_alone(xyz, seed):
    rng = np.random.default_rng(seed)
    upper = rng.uniform(0.1, 1.2, 3)
    limits = JointLimits(-upper, upper, rotation.random(rng), rotation.random(rng))
    clamped = limits.clamp(limits.rotation(xyz))
    assert np.max(np.abs(limits.excess(clamped))) < 1e-12
    inside = limits.rotation(np.clip(xyz, -0.99 * upper, 0.99 * upper))
    np.testing.assert_array_equal(limits.clamp(inside), inside)


def test_a_half_turn_about_a_horizontal_axis_has_angles():
    limits = JointLimits(-np.ones(3), np.ones(3), rotation.identity(), rotation.identity())
    found = limits.angles(rotation.exp(np.array([np.pi, 0.0, 0.0])))
    np.testing.assert_allclose(np.abs(found), [np.pi, 0.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("role", TURNING)
def test_every_joint_has_limits_that_hold_the_rest_and_the_zero_pose(role):
    limits = LIMITS[role]
    np.testing.assert_allclose(limits.excess(rotation.identity()), 0.0, atol=1e-12)
    assert np.all(limits.lower <= 0.0)
    assert np.all(limits.upper >= 0.0)


@pytest.mark.parametrize("role", TURNING)
def test_right_is_the_mirror_of_left(role):
    lower, upper = get_range(role)
    np.testing.assert_array_equal(mirror_range(lower, upper), get_range(mirror_role(role)))
    # And as rotations: mirroring a vector flips y and z of a rotation vector.
    if mirror_role(role) != role:
        xyz = np.array([0.3, -0.2, 0.4])
        mine = rotation.log(LIMITS[role].rotation(xyz))
        other = rotation.log(LIMITS[mirror_role(role)].rotation(xyz * [1.0, -1.0, -1.0]))
        np.testing.assert_allclose(mine * [1.0, -1.0, -1.0], other, atol=1e-12)


def test_the_zero_pose_of_a_t_pose_hangs_the_arms():
    down = pose_limb("leftUpperArm", LIMITS["leftUpperArm"].rotation(np.zeros(3)), "leftHand")
    np.testing.assert_allclose(down, [0.0, -1.0, 0.0], atol=1e-12)


# joint, angles in degrees (x, y, z) in the zero pose's axes, the end whose direction tells, where it should point
MEANINGS = [
    ("leftUpperArm", (-90, 0, 0), "leftHand", (0, 0, 1)),  # forward
    ("rightUpperArm", (-90, 0, 0), "rightHand", (0, 0, 1)),
    ("leftUpperArm", (0, 0, 90), "leftHand", (1, 0, 0)),  # out to the side: the T-pose
    ("rightUpperArm", (0, 0, -90), "rightHand", (-1, 0, 0)),
    ("leftLowerArm", (-90, 0, 0), "leftHand", (0, 0, 1)),  # in a T-pose a bent elbow points the forearm forward
    ("rightLowerArm", (-90, 0, 0), "rightHand", (0, 0, 1)),
    ("leftUpperLeg", (-90, 0, 0), "leftFoot", (0, 0, 1)),  # thigh forward
    ("leftUpperLeg", (0, 0, 45), "leftFoot", (0.5**0.5, -(0.5**0.5), 0)),  # apart
    ("rightUpperLeg", (0, 0, -45), "rightFoot", (-(0.5**0.5), -(0.5**0.5), 0)),
    ("leftLowerLeg", (90, 0, 0), "leftFoot", (0, 0, -1)),  # heel back
    ("chest", (90, 0, 0), "head", (0, 0, 1)),  # bow
    ("leftShoulder", (0, 0, 30), "leftUpperArm", (3**0.5 / 2, 0.5, 0)),  # shrug
]


@pytest.mark.parametrize(("joint", "degrees", "end", "direction"), MEANINGS)
def test_what_the_angles_mean(joint, degrees, end, direction):
    q = LIMITS[joint].rotation(np.radians(degrees))
    np.testing.assert_allclose(pose_limb(joint, q, end), direction, atol=1e-9)


def test_hand_bends_towards_the_palm():
    """T-pose, palms down: flexion (negative z on the left) takes the fingers down."""
    q = LIMITS["leftHand"].rotation(np.radians([0.0, 0.0, -90.0]))
    np.testing.assert_allclose(rotation.rotate(q, [1.0, 0.0, 0.0]), [0.0, -1.0, 0.0], atol=1e-12)


# Everyday postures as rotations in the T-pose's own frames; all must be allowed.
POSTURES = {
    "stride, leg behind": {"leftUpperLeg": turn(x=20), "leftLowerLeg": turn(x=15), "leftFoot": turn(x=40)},
    "stride, leg ahead": {"rightUpperLeg": turn(x=-35), "rightLowerLeg": turn(x=60), "rightFoot": turn(x=-15)},
    "push-off": {"leftToes": turn(x=-55)},
    "deep squat": {"leftUpperLeg": turn(x=-125), "leftLowerLeg": turn(x=150), "leftFoot": turn(x=-30)},
    "kneel": {"leftUpperLeg": turn(x=-5), "leftLowerLeg": turn(x=155), "leftFoot": turn(x=50)},
    "sit cross-legged": {"leftUpperLeg": rotation.multiply(turn(y=35), turn(x=-85))},
    "touch toes": {"spine": turn(x=55), "chest": turn(x=35), "leftUpperLeg": turn(x=-80)},
    "arms down": {"leftUpperArm": turn(z=-90), "rightUpperArm": turn(z=90)},
    "arms forward": {"leftUpperArm": turn(y=-90), "rightUpperArm": turn(y=90)},
    "T a little back": {"leftUpperArm": turn(y=10)},
    "hand to mouth": {"leftLowerArm": turn(y=-140)},
    "look left, nod": {"head": rotation.multiply(turn(y=55), turn(x=30))},
}


@pytest.mark.parametrize("posture", POSTURES)
def test_everyday_postures_are_allowed(posture):
    for joint, q in POSTURES[posture].items():
        assert np.max(np.abs(LIMITS[joint].excess(q))) < 1e-9, joint


@pytest.mark.parametrize(
    ("joint", "q"),
    [
        ("leftLowerLeg", turn(x=-20)), ("leftLowerArm", turn(y=30)), ("rightLowerArm", turn(y=-30)),
        ("head", turn(y=110)), ("leftUpperLeg", turn(x=60)), ("leftUpperLeg", turn(z=-60)), ("leftFoot", turn(x=80)),
        ("spine", turn(y=60)), ("leftToes", turn(x=-100)), ("leftUpperArm", turn(y=100)), ("leftLowerLeg", turn(z=30)),
    ],
)  # fmt: skip
def test_impossible_postures_are_not(joint, q):
    assert np.max(np.abs(LIMITS[joint].excess(q))) > np.radians(5.0)


def test_the_trunks_range_is_divided():
    one, two, three = (get_range("spine", share)[1][0] for share in (1, 2, 3))
    assert (one, two, three) == pytest.approx((np.radians(105), 0.75 * one, 2 / 3 * one))
    assert get_range("hips") is None
    assert get_range("leftIndexDistal") is None


def arms_down(skeleton: Skeleton) -> Skeleton:
    """The same human whose rest pose has the arms hanging."""
    pose = rotation.identity((len(skeleton),))
    pose[skeleton.index("leftUpperArm")] = turn(z=-90)
    pose[skeleton.index("rightUpperArm")] = turn(z=90)
    positions, orientations = skeleton.pose(skeleton.offsets[0], pose)
    offsets = np.vstack([positions[:1], positions[1:] - positions[skeleton.parents[1:]]])
    return skeleton.replace(offsets=offsets, tips=rotation.rotate(orientations, skeleton.tips))


def test_limits_follow_the_rest_pose():
    """The same posture has the same angles, whether the rest pose is a T or hanging arms."""
    hanging = find_limits(arms_down(T_POSE))
    np.testing.assert_allclose(hanging["leftUpperArm"].angles(rotation.identity()), 0.0, atol=1e-12)
    q_hang = {"leftUpperArm": turn(x=-60, z=20), "leftLowerArm": turn(x=-80)}
    # World orientations of the segments are the same but for the rest pose's turn.
    fold = turn(z=-90)
    q_t = {
        "leftUpperArm": rotation.multiply(q_hang["leftUpperArm"], fold),
        "leftLowerArm": rotation.multiply(rotation.multiply(rotation.conjugate(fold), q_hang["leftLowerArm"]), fold),
    }
    for joint, q in q_hang.items():
        np.testing.assert_allclose(hanging[joint].angles(q), LIMITS[joint].angles(q_t[joint]), atol=1e-12)


def test_freedoms_turn_as_the_limits_do():
    freedoms = find_freedoms(T_POSE)
    assert [len(freedoms[f"left{stem}"]) for stem in ("UpperArm", "LowerArm", "Hand", "LowerLeg", "Foot", "Toes")] == [
        3,
        2,
        2,
        2,
        2,
        1,
    ]
    for role, letters in ANATOMICAL.items():
        for letter, axis in zip(letters, freedoms[role], strict=True):
            xyz = np.zeros(3)
            xyz["xyz".index(letter)] = 0.3
            small = LIMITS[role].rotation(xyz)
            # From the zero pose: the turn before the zero pose's own rotation.
            zero = LIMITS[role].rotation(np.zeros(3))
            np.testing.assert_allclose(
                rotation.log(rotation.multiply(small, rotation.conjugate(zero))), 0.3 * axis, atol=1e-12
            )


def test_bad_axes_letters():
    rejects(lambda: find_freedoms(T_POSE, {"head": "w"}), "head", "'w'")


@pytest.mark.parametrize(
    ("lower", "upper", "zero", "message"),
    [
        ([0, 0, 0.1], [0, 0, 0], [1, 0, 0, 0], "must not be above"),
        ([0, 0], [0, 0, 0], [1, 0, 0, 0], "lower of a joint's limits must be 3"),
        ([0, 0, 0], [0, 0, np.nan], [1, 0, 0, 0], "upper of a joint's limits"),
        ([0, 0, 0], [0, 0, 0], [1, 1, 0, 0], "unit quaternion"),
    ],
)
def test_bad_limits(lower, upper, zero, message):
    with pytest.raises(InputError, match=message):
        JointLimits(lower, upper, zero, rotation.identity())


@pytest.mark.data
@pytest.mark.parametrize(
    "file",
    [
        "bvh-cmu/07_01.bvh",
        "bvh-cmu/09_01.bvh",
        "bvh-cmu/115_06.bvh",
        "bvh-other/test_mocapbank.bvh",
        "force-bvh/walk3d.bvh",
    ],
)
def test_recorded_people_bend_within_their_limits(file):
    """Walk, run, lift with bent knees, crouch, walk: 99 % of frames within 12 degrees of the bending limits."""
    clip = load_clip(data_file(file))
    character = Character.from_skeleton(clip.skeleton)
    for role in (*sided(["UpperLeg", "LowerLeg", "UpperArm"]), "spine", "chest"):
        if role in clip.skeleton.roles:
            limits = character.limits[clip.skeleton.roles[role]]
            bend = np.abs(limits.excess(clip.rotations[:, clip.skeleton.index(role)])[:, 0])
            assert np.degrees(np.percentile(bend, 99)) < 12.0, role

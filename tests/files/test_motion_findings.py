"""Findings about frames and floor: an added T-pose, heading, steps, still joints."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.bodies import make_human, tpose
from poise.files.formats.bvh.text import BvhFile, BvhJoint
from poise.files.reading import observations
from poise.files.reading.pipeline import Reading, interpret
from poise.files.reading.recording import Recording
from poise.files.reading.repairs import find_added_tpose, find_empty_frames
from poise.findings import Finding
from poise.motion.clip import Clip
from poise.motion.edits.ground import translate, turn
from poise.motion.samples import jump, walk
from poise.spatial import rotation


@pytest.fixture(scope="module")
def walking() -> Clip:
    return walk(make_human(1.75), 3.0, fps=30.0)


def with_first(clip: Clip, rotations: np.ndarray) -> Clip:
    """The clip with one more frame before it, at its first root position."""
    return clip.replace(
        times=np.arange(len(clip) + 1) / clip.fps,
        root=np.concatenate([clip.root[:1], clip.root]),
        rotations=np.concatenate([rotations[None], clip.rotations]),
    )


def bow(clip: Clip) -> Clip:
    """Far from a T: the trunk bent, arms down; so that a T-pose before it is a jump."""
    rotations = clip.rotations.copy()
    rotations[:, clip.skeleton.index("spine")] = rotation.exp(np.array([1.2, 0.0, 0.0]))
    for side, sign in (("left", -1.0), ("right", 1.0)):
        rotations[:, clip.skeleton.index(f"{side}UpperArm")] = rotation.exp(np.array([0.0, 0.0, sign * 1.3]))
    return clip.replace(rotations=rotations)


def read(clip: Clip, source: BvhFile | None = None) -> Reading:
    """A reading of a clip that is in metres and Y up."""
    return Reading(clip, Recording(clip, "test", "", source=source))


def test_an_added_rest_pose_is_found_whatever_its_heading(walking):
    rest = rotation.identity((len(walking.skeleton),))
    for heading in (0.0, 2.0):
        rest[0] = rotation.exp(np.array([0.0, heading, 0.0]))
        added = find_added_tpose(with_first(bow(walking), rest))
        assert added is not None and added.value == 1
        assert added.sentence.startswith("added T-pose: the first frame is the rest pose")


def test_an_added_t_pose_that_is_not_the_rest_pose_is_found(walking):
    """The rest pose has legs apart; the added frame closes them, as in the CMU database."""
    skeleton = walking.skeleton
    splay = rotation.identity((len(skeleton),))
    offsets = skeleton.offsets.copy()
    pose = rotation.identity((len(skeleton),))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        splay = rotation.exp(np.array([0.0, 0.0, sign * np.radians(20.0)]))
        for stem in ("LowerLeg", "Foot", "Toes"):
            i = skeleton.index(side + stem)
            offsets[i] = rotation.rotate(splay, offsets[i])
        pose[skeleton.index(side + "UpperLeg")] = rotation.conjugate(splay)
    splayed = bow(walking).replace(skeleton=skeleton.replace(offsets=offsets))
    added = find_added_tpose(with_first(splayed, pose))
    assert added is not None and added.value == 1 and "a T-pose" in added.message
    assert find_added_tpose(splayed) is None


@pytest.mark.parametrize("held", [1, 2, 40])
def test_added_pose_is_found_when_it_is_held(walking: Clip, held: int) -> None:
    """A T-pose, then the rest pose for some frames at the origin, as some files of the CMU database begin."""
    rest = rotation.identity((len(walking.skeleton),))
    arms = rest.copy()
    for side, sign in (("left", 1.0), ("right", -1.0)):
        arms[walking.skeleton.index(f"{side}UpperArm")] = rotation.exp(np.array([0.0, 0.0, sign * 0.3]))
    clip = bow(walking)
    for _ in range(held):
        clip = with_first(clip, arms)
    clip = with_first(clip, rest)
    assert find_added_tpose(clip).value == held + 1
    reading = interpret(Recording(clip, "BVH", "x.bvh", unit=1.0, up="Y"))
    assert reading.dropped == held + 1 and len(reading.clip) == len(walking)
    assert reading.clip.times[0] == pytest.approx((held + 1) / 30.0)


def test_still_beginning_is_left_alone_if_it_is_no_t_pose(walking: Clip) -> None:
    clip = bow(walking)
    for _ in range(10):
        clip = with_first(clip, clip.rotations[0])
    assert find_added_tpose(clip) is None


def test_who_moves_out_of_a_t_pose_is_left_alone(walking):
    """From T into the bow over a second: the first frame is the rest pose, but the clip is continuous."""
    target = bow(walking)
    ease = np.linspace(0.0, 1.0, 30)
    rotations = rotation.slerp(rotation.identity((30, len(walking.skeleton))), target.rotations[:30], ease[:, None])
    clip = target.replace(rotations=np.concatenate([rotations, target.rotations[30:]]))
    assert rotation.angle(clip.rotations[0], rotation.identity((len(walking.skeleton),))).max() < 1e-9
    assert find_added_tpose(clip) is None


def test_other_first_frames_are_left_alone(walking):
    assert find_added_tpose(walking) is None
    sitting = rotation.identity((len(walking.skeleton),))
    for side in ("left", "right"):
        sitting[walking.skeleton.index(f"{side}UpperLeg")] = rotation.exp(np.array([-1.5, 0.0, 0.0]))
    assert find_added_tpose(with_first(bow(walking), sitting)) is None  # a jump, but no T
    cut = walking.replace(times=walking.times[:3], root=walking.root[:3], rotations=walking.rotations[:3])
    short = with_first(cut, rotation.identity((len(walking.skeleton),)))
    assert find_added_tpose(short) is None  # too short to tell


@pytest.mark.parametrize("height", [0.0, 0.2, -0.4])
def test_the_floors_height(walking, height):
    reading = read(translate(walking, np.array([0.0, height, 0.0])))
    assert reading.ground.height == pytest.approx(height, abs=0.02)
    named = observations.describe_ground(reading)
    assert [each.value for each in named] == ([] if height == 0.0 else [reading.ground.height])
    assert all(f"{reading.ground.height:.2f} m" in each.message for each in named)


def test_steps_are_told_from_a_raised_leg():
    """Standing on a box for a second is a level; holding one foot up for a second is none."""
    skeleton = tpose()
    still = rotation.identity((90, len(skeleton)))
    root = np.tile(skeleton.offsets[0], (90, 1))
    box = root + np.where(np.arange(90) > 45, 0.3, 0.0)[:, None] * [0.0, 1.0, 0.0]
    reading = read(Clip(skeleton, np.arange(90) / 30, box, still))
    assert reading.ground.steps == pytest.approx(0.3, abs=0.01)
    assert "levels" in [each.kind for each in observations.describe_ground(reading)]
    raised = still.copy()
    raised[45:, skeleton.index("leftUpperLeg")] = rotation.exp(np.array([-1.2, 0.0, 0.0]))
    assert observations.find_ground(Clip(skeleton, np.arange(90) / 30, root, raised)).steps == 0.0


@pytest.mark.parametrize("degrees", [0.0, 15.0, 90.0, -136.0, 180.0])
def test_the_heading(walking, degrees):
    reading = read(turn(walking, np.radians(degrees)))
    facing = reading.heading
    off = (facing - observations.find_heading(walking) - degrees + 180.0) % 360.0 - 180.0
    assert abs(off) < 1e-3
    assert bool(observations.describe_heading(reading)) == (abs(degrees) > 30.0)


def test_joints_without_length_and_joints_that_never_turn_are_named(walking):
    offsets = walking.skeleton.offsets.copy()
    offsets[walking.skeleton.index("leftShoulder")] = 0.0
    (flat,) = observations.find_flat_joints(read(walking.replace(skeleton=walking.skeleton.replace(offsets=offsets))))
    assert flat.sentence == "zero-length joints: leftShoulder share their parents' place; they are kept."
    rotations = rotation.multiply(
        walking.rotations, rotation.exp(0.1 * np.sin(walking.times)[:, None, None] * np.eye(3)[0])
    )
    rotations[:, walking.skeleton.index("leftHand")] = [1.0, 0.0, 0.0, 0.0]
    still = walking.skeleton.replace(tips=np.full((len(walking.skeleton), 3), 0.1))
    (found,) = observations.find_still_joints(read(walking.replace(skeleton=still, rotations=rotations)))
    assert found.sentence == "still joints: leftHand never turn in this clip; they may not have been captured."


def test_mirrored_names_are_named(walking):
    skeleton = walking.skeleton
    assert observations.find_mirrored_names(read(walking)) == []
    mirrored = skeleton.replace(offsets=skeleton.offsets * [-1, 1, 1])
    assert observations.find_mirrored_names(read(walking.replace(skeleton=mirrored)))[0].kind == "sides"


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({}, []),
        ({"hips": "head"}, ["roles: hips (head) hangs on neck (neck), which it should carry."]),
        ({"leftLowerLeg": "leftToes"}, ["roles: leftLowerLeg (leftToes) hangs on leftFoot (leftFoot), which"]),
        (
            {"leftFoot": "rightFoot", "rightFoot": "leftFoot"},
            [
                "sides: leftFoot (rightFoot) hangs on rightLowerLeg (rightLowerLeg), on the other side.",
                "sides: rightFoot (leftFoot) hangs on leftLowerLeg (leftLowerLeg), on the other side.",
            ],
        ),
        ({"leftHand": "rightHand"}, ["sides: leftHand (rightHand) hangs on rightLowerArm"]),
    ],
)
def test_roles_that_contradict_the_tree_are_named(walking, told, said):
    reading = interpret(Recording(walking, "test", ""), roles=told)
    found = [warning for warning in reading.warnings if warning.startswith(("roles:", "sides:"))]
    assert len(found) == len(said) and all(w.startswith(s) for w, s in zip(found, said, strict=True))


def test_several_euler_orders_are_named(walking):
    def find_orders(*orders: str) -> list[Finding]:
        joints = [
            BvhJoint(f"j{i}", i - 1, (0.0, 1.0, 0.0), tuple(f"{axis}rotation" for axis in order), None)
            for i, order in enumerate(orders)
        ]
        file = BvhFile("test.bvh", tuple(joints), 1 / 30, np.zeros((1, 3 * len(orders))), ())
        return observations.find_euler_orders(read(walking, file))

    assert find_orders("ZXY", "ZXY", "X") == []
    assert "2 (XYZ, ZXY)" in find_orders("ZXY", "XYZ", "ZXY")[0].message
    assert observations.find_euler_orders(read(walking)) == []


def test_a_jump_has_a_floor_and_no_steps():
    ground = observations.find_ground(jump(make_human(1.75), fps=60.0))
    assert abs(ground.height) < 0.03 and ground.steps == 0.0


@pytest.mark.parametrize("tpose_first", [False, True])
def test_empty_frames_before_the_motion_are_left_out(walking, tpose_first):
    """All channels at zero, perhaps with a T-pose before them: the body would lie in the floor, and jump out of it."""
    count = 5
    still = rotation.identity((count, len(walking.skeleton)))
    if tpose_first:
        still[0, walking.skeleton.index("leftUpperLeg")] = rotation.exp(np.array([0.0, 0.0, 0.4]))
    clip = walking.replace(
        times=np.arange(len(walking) + count) / walking.fps,
        root=np.concatenate([np.zeros((count, 3)), walking.root]),
        rotations=np.concatenate([still, walking.rotations]),
    )
    assert find_empty_frames(clip).value == count
    reading = interpret(Recording(clip, "test", "", unit=1.0))
    assert reading.dropped == count and len(reading.clip) == len(walking)
    assert any(sentence.startswith(("empty frames", "added T-pose")) for sentence in reading.warnings)
    kept = interpret(Recording(clip, "test", "", unit=1.0), whole=True)
    assert kept.dropped == 0 and len(kept.clip) == len(clip)


def test_a_motion_that_begins_at_the_origin_keeps_its_frames(walking):
    assert find_empty_frames(walking.replace(root=walking.root - walking.root[0])) is None
    assert find_empty_frames(walking) is None

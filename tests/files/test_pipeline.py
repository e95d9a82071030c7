"""From a file's units, axes and rest pose to Poise's: what is found, and that nothing moves."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.bodies import make_human
from helpers.clips import random_clip
from helpers.errors import rejects
from helpers.recordings import data_file
from poise.body.geometry.skin import SkinnedMesh
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.files import read_clip
from poise.files.reading.pipeline import OBSERVATIONS, STEPS, interpret
from poise.files.reading.recording import Recording
from poise.files.reading.reframe import Reframe, turn_clip
from poise.files.reading.unit import compute_stature
from poise.motion.clip import Clip
from poise.motion.samples import walk
from poise.spatial import rotation

X, Y, Z = np.eye(3)
TURNS = {"X": -Z, "Y": None, "Z": X, "-X": Z, "-Y": 2 * Z, "-Z": -X}  # half turns / 2 that bring Y to each axis


def record(clip: Clip, **fields: object) -> Recording:
    return Recording(clip.replace(skeleton=clip.skeleton.replace(roles={})), "test", "test.bvh", **fields)


@pytest.fixture(scope="module")
def walking() -> Clip:
    return walk(make_human(1.75), 3.0, fps=30.0)


def test_a_clean_clip_stays_as_it_is(walking):
    reading = interpret(record(walking))
    assert (reading.scale, reading.up, reading.warnings, reading.find("roles").value) == (1.0, "Y", (), 1.0)
    np.testing.assert_allclose(reading.clip.positions, walking.positions, atol=1e-12)
    np.testing.assert_allclose(reading.clip.skeleton.offsets, walking.skeleton.offsets, atol=1e-12)
    assert (reading.find("rest pose").value, reading.dropped) == ("T", 0)
    assert abs(reading.find("rest facing").value) < 1e-6 and abs(reading.heading) < 10.0
    assert abs(reading.ground.height) < 0.02


@pytest.mark.parametrize("up", TURNS)
def test_every_up_axis_is_turned_and_every_joint_with_it(walking, up):
    turn = (
        rotation.identity()
        if TURNS[up] is None
        else rotation.from_axis_angle(TURNS[up], 0.5 * np.pi * np.linalg.norm(TURNS[up]))
    )
    reading = interpret(record(turn_clip(walking, turn)))
    assert reading.up == up
    assert any(w.startswith("up axis:") for w in reading.warnings) == (up != "Y")
    height = reading.clip.positions[..., 1]
    np.testing.assert_allclose(height, walking.positions[..., 1], atol=1e-9)
    np.testing.assert_allclose(reading.clip.skeleton.offsets[1:], walking.skeleton.offsets[1:], atol=1e-9)


def test_a_rest_along_y_under_a_motion_along_z(walking):
    """The root's rotation turns the whole body: the rest pose is Y-up, the world Z-up."""
    tilt = rotation.from_axis_angle(X, 0.5 * np.pi)
    rest = rotation.identity((len(walking.skeleton),))
    tilted = Reframe(1.0, tilt, rest).apply(walking)
    reading = interpret(record(tilted))
    assert reading.up == "Z"
    assert any(w.startswith("up axis: the rest pose stands along Y, the motion along Z") for w in reading.warnings)
    np.testing.assert_allclose(reading.clip.positions, walking.positions, atol=1e-9)
    np.testing.assert_allclose(reading.clip.skeleton.offsets, walking.skeleton.offsets, atol=1e-9)


def lying(skeleton: Skeleton, frames: int = 60) -> Clip:
    """On the back, the floor at zero, arms waving."""
    turns = rotation.identity((frames, len(skeleton)))
    turns[:, 0] = rotation.from_axis_angle(X, -0.5 * np.pi)
    for side in ("left", "right"):
        wave = 0.5 * np.sin(np.linspace(0, 12, frames))[:, None] * Y
        turns[:, skeleton.index(f"{side}UpperArm")] = rotation.exp(wave)
    return Clip(skeleton, np.arange(frames) / 30, np.tile([0.3, 0.1, 2.0], (frames, 1)), turns)


def test_who_lies_all_the_time_does_not_turn_the_world():
    reading = interpret(record(lying(make_human(1.75))))
    assert reading.up == "Y"
    assert reading.heading is None and reading.ground is None


def test_who_lies_at_first_does_not_turn_the_world(walking):
    bed = lying(walking.skeleton)
    clip = Clip(
        walking.skeleton,
        np.arange(len(bed) + len(walking)) / 30,
        np.concatenate([bed.root, walking.root]),
        np.concatenate([bed.rotations, walking.rotations]),
    )
    assert interpret(record(clip)).up == "Y"


@given(st.floats(-np.pi, np.pi), st.sampled_from([X, Y, Z]))
@settings(max_examples=12, deadline=None)
def test_any_rest_facing_is_told_facing_z_and_nothing_moves(angle, axis):
    walking = walk(make_human(1.75), 3.0, fps=10.0)
    rest = np.tile(rotation.from_axis_angle(axis, angle), (len(walking.skeleton), 1))
    turned = Reframe(1.0, rotation.identity(), rest).apply(walking)
    reading = interpret(record(turned), up="Y")
    np.testing.assert_allclose(reading.clip.positions, walking.positions, atol=1e-9)
    ankles = [
        reading.clip.skeleton.rest_positions()[walking.skeleton.index(f"{side}Foot")] for side in ("left", "right")
    ]
    assert ankles[0][0] > 0.05 > -0.05 > ankles[1][0]
    toes = reading.clip.skeleton.offsets[walking.skeleton.index("leftToes")]
    assert toes[2] > 0.9 * np.linalg.norm(toes[[0, 2]])


def test_a_rest_pose_that_does_not_stand_is_replaced_by_a_frame(walking):
    """All bones along X, as some game skeletons have it: orientations carry the whole pose."""
    rng = np.random.default_rng(0)
    lengths = np.linalg.norm(walking.skeleton.offsets, axis=1)
    along = np.zeros((len(walking.skeleton), 4))
    for i in range(len(walking.skeleton)):
        child = next(iter(walking.skeleton.children(i)), None)
        bone = walking.skeleton.offsets[child] if child is not None else Y
        along[i] = rotation.multiply(rotation.from_axis_angle(X, rng.uniform(0, 6)), rotation.between(bone, X))
    odd = Reframe(1.0, rotation.identity(), along).apply(walking)
    assert np.allclose(np.linalg.norm(odd.skeleton.offsets, axis=1), lengths)
    reading = interpret(record(odd))
    assert any(w.startswith("rest pose: it does not stand") for w in reading.warnings)
    assert reading.up == "Y"
    np.testing.assert_allclose(reading.clip.positions, walking.positions, atol=1e-9)
    rest = reading.clip.skeleton.rest_positions()
    head, foot = (rest[reading.clip.skeleton.index(role)] for role in ("head", "leftFoot"))
    assert head[1] - foot[1] > 1.3
    left, right = (rest[reading.clip.skeleton.index(f"{side}UpperLeg")] for side in ("left", "right"))
    assert left[0] - right[0] > 0.15


@pytest.mark.parametrize("up", ["Y", "Z"])
def test_the_way_back_gives_the_files_own_numbers(up):
    clip = random_clip(np.random.default_rng(2))
    reading = interpret(Recording(clip, "test", ""), scale=0.01, up=up)
    back = reading.frame.undo(reading.clip)
    np.testing.assert_allclose(back.positions, clip.positions, atol=1e-9)
    np.testing.assert_allclose(back.skeleton.offsets, clip.skeleton.offsets, atol=1e-12)
    assert rotation.angle(back.rotations, clip.rotations).max() < 1e-7


def test_given_values_are_used_and_checked(walking):
    clip = random_clip(np.random.default_rng(1))
    reading = interpret(Recording(clip, "test", ""), scale=0.5, up="Y")
    np.testing.assert_allclose(reading.clip.positions, 0.5 * clip.positions, atol=1e-12)
    assert [reading.find(kind).origin for kind in ("unit", "up axis")] == ["given", "given"]
    for wrong in (0.0, -1.0, float("nan")):
        with pytest.raises(InputError, match="positive"):
            interpret(Recording(clip, "test", ""), scale=wrong)
        with pytest.raises(InputError, match="positive"):
            interpret(Recording(clip, "test", ""), fps=wrong)
    rejects(lambda: interpret(Recording(clip, "test", ""), up="W"), "'X'", "'Y'", "'Z'")
    faster = interpret(record(walking), fps=60.0).clip
    assert faster.fps == pytest.approx(60.0) and faster.times[0] == 0.0
    assert (
        interpret(record(walking), roles={"leftHand": "leftLowerArm"}).clip.skeleton.roles["leftHand"] == "leftLowerArm"
    )


def test_a_rate_that_no_file_states_is_named(walking):
    assert any(
        w.startswith("frame rate: the file states none") for w in interpret(record(walking, has_rate=False)).warnings
    )
    assert not interpret(record(walking, has_rate=False), fps=30.0).warnings


def test_the_mesh_goes_with_the_rest_pose_and_says_how_tall_the_body_is(walking):
    """A skin of one dot a joint, on a rest pose that faces backwards and is in centimetres."""
    back = np.tile(rotation.from_axis_angle(Y, np.pi), (len(walking.skeleton), 1))
    file = Reframe(100.0, rotation.identity(), back).apply(walking)
    rest = file.skeleton.rest_positions()
    dots = np.concatenate([rest, [rest[file.skeleton.index("head")] + [0.0, 30.0, 0.0]]])
    joints = np.zeros((len(dots), 4), int)
    joints[:, 0] = [*range(len(rest)), file.skeleton.index("head")]
    weights = np.tile([1.0, 0.0, 0.0, 0.0], (len(dots), 1))
    skin = SkinnedMesh(dots, np.tile(Z, (len(dots), 1)), np.zeros((0, 3), int), joints, weights)
    reading = interpret(dataclasses.replace(record(file), skin=skin))
    assert reading.scale == 0.01
    np.testing.assert_allclose(reading.skin.vertices[:-1], reading.clip.skeleton.rest_positions(), atol=1e-9)
    np.testing.assert_allclose(reading.skin.normals, np.tile(-Z, (len(dots), 1)), atol=1e-9)
    assert reading.stature == pytest.approx(np.ptp(dots[:, 1]) / 100.0)
    assert reading.stature != pytest.approx(compute_stature(reading.clip.skeleton), rel=1e-3)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 30), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_any_recording_is_survived(joints, frames, seed):
    clip = random_clip(np.random.default_rng(seed), frames, joints)
    reading = interpret(Recording(clip, "test", ""))
    assert np.isfinite(reading.clip.positions).all()
    assert len(reading.clip.skeleton) == joints
    assert len(reading.clip) + reading.dropped == frames
    assert all(w.endswith(".") and "\n" not in w for w in reading.warnings)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "scale", "up", "named"),
    [
        ("bvh-cmu/07_01.bvh", 0.0254 / 0.45, "Y", {"added T-pose", "lost bones", "unit", "zero-length joints"}),
        ("bvh-cmu/140_01.bvh", 0.0254 / 0.45, "Y", {"added T-pose", "lost bones"}),  # begins prone
        ("bvh-cmu/90_18.bvh", 0.0254 / 0.45, "Y", {"added T-pose", "floor"}),  # falls and lies
        ("bvh-cmu/111_27.bvh", 0.0254 / 0.45, "Y", {"levels", "heading"}),  # stairs
        ("bvh-cmu/141_16.bvh", 0.0254 / 0.45, "Y", {"heading"}),
        ("bvh-other/bvh_test1.bvh", 0.0254, "Z", {"unit", "up axis", "rest facing", "Euler orders"}),
        ("bvh-other/test_mocapbank.bvh", 0.01, "Y", {"rest pose"}),
        ("force-bvh/gait10dof_walk.bvh", 0.01, "Y", set()),  # no arms
        ("force-bvh/walk3d.bvh", 0.01, "Y", set()),
    ],
)  # fmt: skip
def test_recordings(name, scale, up, named):
    reading = read_clip(data_file(name))
    assert (reading.scale, reading.up) == (scale, up)
    found = {warning.split(":")[0] for warning in reading.warnings}
    assert found >= named
    assert named or found <= {"still joints"}
    assert ("added T-pose" in found) == name.startswith("bvh-cmu")
    head, feet = (reading.clip.positions[:, reading.clip.skeleton.index(joint), 1] for joint in ("head", "leftFoot"))
    assert (head - feet).max() > 1.0
    left, right = (
        reading.clip.skeleton.rest_positions()[reading.clip.skeleton.index(f"{s}UpperLeg")] for s in ("left", "right")
    )
    assert left[0] > right[0]


def list_documented(what: str) -> list[tuple[str, str]]:
    """The rows of a table of docs/files.md: the name in its first column, and the rest."""
    text = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
    table = text.split(f"<!-- {what} -->")[1].split(f"<!-- /{what} -->")[0]
    return re.findall(r"^\| `(\w+)` \|(.*)\|$", table, re.MULTILINE)


def test_the_documented_steps_are_those_of_the_pipeline():
    assert [name for name, _ in list_documented("steps")] == [step.__name__ for step in STEPS]
    assert [name for name, _ in list_documented("observations")] == [each.__name__ for each in OBSERVATIONS]
    for (name, row), step in zip(list_documented("steps"), STEPS, strict=True):
        assert step.__module__.replace(".", "/").removeprefix("poise/") in row, name


def test_each_decision_is_made_once_and_is_known_by_its_kind(walking):
    reading = interpret(record(walking), scale=1.0)
    decisions = [finding for finding in reading.findings if finding.origin is not None]
    kinds = ["roles", "frame rate", "unit", "up axis", "rest facing", "rest pose"]
    assert [finding.kind for finding in decisions] == kinds
    assert all(reading.find(finding.kind) is finding for finding in decisions)
    assert reading.find("unit").origin == "given" and reading.find("frame rate").origin == "stated"


def test_findings_stay_with_what_they_are_of(walking):
    reading = interpret(record(walking.replace(root=walking.root + [0.0, 0.4, 0.0]), has_rate=False), fps=None)
    kinds = [finding.kind for finding in reading.observations]
    assert "floor" in kinds and "frame rate" in kinds and reading.find("frame rate").origin == "guessed"
    assert reading.warnings == tuple(finding.sentence for finding in reading.observations)

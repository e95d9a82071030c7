"""DeepMimic text: an own forward kinematics by matrices, the humanoid of its own file, and broken files."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from helpers.errors import rejects
from helpers.recordings import data_file
from poise.errors import FileError, InputError
from poise.files.formats.deepmimic import HUMANOID, read_deepmimic


def make_frames(count: int = 3, seed: int = 0) -> list[list[float]]:
    """Frames of the humanoid: random poses, uneven durations."""
    rng = np.random.default_rng(seed)
    frames = []
    for i in range(count):
        row = [0.02 + 0.01 * i, *rng.normal(size=3)]
        for kind in HUMANOID.types:
            if kind in ("none", "spherical"):
                row += Rotation.random(random_state=rng).as_quat(scalar_first=True).tolist()
            elif kind == "revolute":
                row.append(float(rng.normal()))
        frames.append(row)
    return frames


def write(folder: Path, frames: Any, name: str = "walk.txt", **more: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps({"Loop": "wrap", "Frames": frames, **more}))
    return path


CHARACTER: dict[str, Any] = {
    "Skeleton": {
        "Joints": [
            {"Name": "base", "Type": "none", "Parent": -1},
            {"Name": "arm", "Type": "revolute", "Parent": 0, "AttachX": 1.0, "AttachThetaX": 0.7, "AttachThetaZ": -0.4},
            {"Name": "ball", "Type": "spherical", "Parent": 1, "AttachY": 2.0, "AttachThetaY": 1.1},
            {"Name": "end", "Type": "fixed", "Parent": 2, "AttachZ": 0.5},
        ]
    },
    "BodyDefs": [
        {"Shape": "sphere", "Mass": 3},
        {"Shape": "capsule", "Mass": 1},
        {"Shape": "box", "Mass": 1},
        {"Shape": "sphere", "Mass": 0.5, "AttachZ": 0.2, "Param0": 0.1},
    ],
}


def test_positions_of_the_humanoid(tmp_path: Path) -> None:
    frames = make_frames()
    clip = read_deepmimic(write(tmp_path, frames)).clip
    assert clip.times == pytest.approx([0.0, 0.02, 0.05])
    for f, row in enumerate(frames):
        at = 4
        turns, places = [], []
        for j, kind in enumerate(HUMANOID.types):
            parent = int(HUMANOID.skeleton.parents[j])
            n = {"none": 4, "spherical": 4, "revolute": 1, "fixed": 0}[kind]
            values, at = row[at : at + n], at + n
            local = (
                Rotation.from_quat(values, scalar_first=True)
                if n == 4
                else Rotation.from_rotvec([0, 0, values[0] if n else 0.0])
            )
            turns.append(local if parent < 0 else turns[parent] * local)
            offset = HUMANOID.skeleton.offsets[j].copy()
            places.append(np.array(row[1:4]) if parent < 0 else places[parent] + turns[parent].apply(offset))
        assert at == 44
        assert clip.positions[f] == pytest.approx(np.array(places), abs=1e-9)


def test_joint_frames_turned_at_rest(tmp_path: Path) -> None:
    """With AttachTheta the joints' axes are not the character's: x_world = x_parent A_j q_j."""
    (tmp_path / "robot.txt").write_text(json.dumps(CHARACTER))
    rng = np.random.default_rng(5)
    ball, root = (Rotation.random(random_state=rng) for _ in range(2))
    row = [0.1, 1, 2, 3, *root.as_quat(scalar_first=True), 0.8, *ball.as_quat(scalar_first=True)]
    clip = read_deepmimic(write(tmp_path, [row], "robot_move.txt")).clip
    arm_at = np.array([1.0, 2, 3]) + root.apply([1, 0, 0])
    arm = root * Rotation.from_euler("xyz", [0.7, 0, -0.4]) * Rotation.from_rotvec([0, 0, 0.8])
    ball_at = arm_at + arm.apply([0, 2, 0])
    ball_turn = arm * Rotation.from_euler("xyz", [0, 1.1, 0]) * ball
    end_at = ball_at + ball_turn.apply([0, 0, 0.5])
    assert clip.positions[0, 1:] == pytest.approx(np.array([arm_at, ball_at, end_at]), abs=1e-9)
    rest = read_deepmimic(tmp_path / "robot.txt").clip
    assert rest.positions[0] == pytest.approx(rest.skeleton.rest_positions())
    tip = rest.skeleton.tips[3].copy()
    assert np.linalg.norm(tip) == pytest.approx(0.25)
    world = Rotation.from_quat(clip.world[1][0, 3].copy(), scalar_first=True)
    assert world.apply(tip) == pytest.approx(ball_turn.apply([0, 0, 0.25]), abs=1e-9)


def test_without_a_character_the_humanoid_is_taken(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("walks, downloaded on Monday")
    (tmp_path / "robot.txt").write_text(json.dumps(CHARACTER))
    recording = read_deepmimic(write(tmp_path, make_frames()))
    assert recording.source.character is HUMANOID and recording.source.loop == "wrap"
    assert recording.roles["head"] == "neck" and recording.roles["leftFoot"] == "left_ankle"
    assert recording.unit == 1.0 and recording.up == "Y"
    assert recording.findings[0].kind == "character file"


@pytest.mark.data
def test_the_built_in_humanoid_is_the_published_one() -> None:
    recording = read_deepmimic(data_file("deepmimic/humanoid3d_walk.txt"))
    character = recording.source.character
    assert character is not HUMANOID
    assert character.skeleton.names == HUMANOID.skeleton.names and character.types == HUMANOID.types
    assert np.array_equal(character.skeleton.offsets, HUMANOID.skeleton.offsets)
    assert np.allclose(character.skeleton.tips, HUMANOID.skeleton.tips, atol=1e-12, equal_nan=True)
    assert np.array_equal(character.masses, HUMANOID.masses) and character.masses.sum() == pytest.approx(45.0)
    clip = recording.clip
    ankles = [clip.skeleton.index(f"{side}_ankle") for side in ("left", "right")]
    assert 0.04 < clip.positions[:, ankles, 1].min() < 0.07  # a foot's box is 5 cm below its ankle
    assert clip.duration == pytest.approx(38 * 0.033332)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"walk.txt: the file is empty. Export it again"),
        ("hello", r"walk.txt:1: not a DeepMimic file: it begins with 'hello'"),
        ('{"Frames":\n[[1, 2,]]}', r"walk.txt:2: not JSON"),
        ('{"a": 1}', r"no 'Frames'; its keys are a"),
        ('{"Frames": []}', r"at least one row"),
        ('{"Frames": [[0.1, NaN]]}', r"a value NaN"),
        ('{"Frames": [[0.1, "x"]]}', r"frame 0 holds something"),
        ('{"Frames": [[0.1, 1e400]]}', r"frame 0 holds something"),
        ('{"Frames": [[1, 2], [1]]}', r"frame 1 has 1 numbers, frame 0 has 2"),
        ('{"Frames": [[1, 2, 3, 4, 5]]}', r"a frame has 5 numbers, DeepMimic's humanoid 44"),
        ('{"Frames": ' + "[" * 100_000, r"nested too deeply|not JSON"),
        ('{"Frames": [[' + "9" * 10_000 + "]]}", r"numbers too long|holds something"),
        ('{"Skeleton": {"Joints": [{"Name": "a", "Type": "none", "Parent": 0}]}}', r"has no parent before it"),
        ('{"Skeleton": {"Joints": [{"Name": "a", "Type": "wheel"}]}}', r"type other than"),
    ],
)
def test_broken_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "walk.txt"
    path.write_text(text)
    with pytest.raises(FileError, match=message):
        read_deepmimic(path)


def test_broken_frames(tmp_path: Path) -> None:
    frames = make_frames()
    frames[1][0] = 0.0
    with pytest.raises(FileError, match=r"frame 1 lasts 0 s"):
        read_deepmimic(write(tmp_path, frames))
    frames = make_frames()
    frames[2][8] += 3.0
    rejects(lambda: read_deepmimic(write(tmp_path, frames)), "'chest'", "2", error=FileError)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_mutated_files_are_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    for old in tmp_path.iterdir():
        old.unlink()
    motion = write(tmp_path, make_frames(2))
    character = tmp_path / "robot.txt"
    character.write_text(json.dumps(CHARACTER))
    path = data.draw(st.sampled_from([motion, character]))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 4))] = data.draw(
            st.one_of(st.binary(max_size=4), st.sampled_from([b"1e9", b"null", b"-1", b"[", b"}", b'"']))
        )
    path.write_bytes(content)
    with contextlib.suppress(InputError):
        read_deepmimic(path)


@pytest.mark.data
def test_a_motion_that_wraps_says_so() -> None:
    said = read_deepmimic(data_file("deepmimic/humanoid3d_walk.txt")).warnings
    assert any(sentence.startswith("loop: ") for sentence in said)

"""npz: own files back bit for bit, other programs' arrays, AMASS's by hand, and files that lie about their size."""

from __future__ import annotations

import contextlib
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from helpers.recordings import data_file
from poise.body.character import Character
from poise.body.roles import ROLES
from poise.body.skeleton import Skeleton
from poise.errors import FileError, InputError
from poise.files.formats.amass import STATURES, build_smpl_skeleton
from poise.files.formats.npz import read_npz, save_npz
from poise.files.reading.pipeline import interpret
from poise.files.reading.unit import compute_stature
from poise.motion import samples
from poise.motion.clip import Clip
from poise.spatial import rotation


def make_clip(frames: int = 5) -> Clip:
    rng = np.random.default_rng(1)
    tips = np.full((4, 3), np.nan)
    tips[3] = 0.1, 0.2, 0.3
    skeleton = Skeleton(
        ("Hips", "Ünder thigh", "knee:L", "tail"),
        np.array([-1, 0, 1, 0]),
        rng.normal(size=(4, 3)),
        tips,
        {"hips": "Hips", "leftLowerLeg": "knee:L"},
    )
    times = np.cumsum(rng.uniform(0.01, 0.03, frames))
    return Clip(skeleton, times, rng.normal(size=(frames, 3)), rotation.random(rng, (frames, 4)), "tumble")


def test_own_files_come_back_bit_for_bit(tmp_path: Path) -> None:
    clip = make_clip()
    save_npz(clip, tmp_path / "a.npz")
    save_npz(clip, tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    recording = read_npz(tmp_path / "a.npz")
    back = recording.clip
    assert back.name == "tumble" and back.skeleton.names == clip.skeleton.names
    assert recording.roles == dict(clip.skeleton.roles) and recording.unit == 1.0 and recording.up == "Y"
    for ours, theirs in (
        (back.times, clip.times),
        (back.root, clip.root),
        (back.skeleton.offsets, clip.skeleton.offsets),
        (back.skeleton.tips, clip.skeleton.tips),
    ):
        assert np.array_equal(ours, theirs, equal_nan=True)
    assert np.abs(back.rotations - clip.rotations).max() < 1e-15


def write(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


def plain_arrays(frames: int = 3) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    return {
        "names": np.array(["pelvis", "leg"]),
        "parents": np.array([-1, 0], np.int32),
        "local_offsets": np.array([[0, 0, 1], [0, 0, -0.5]], np.float32),
        "root_translation": rng.normal(size=(frames, 3)),
        "local_quat_xyzw": Rotation.random(2 * frames, random_state=rng).as_quat().reshape(frames, 2, 4),
        "fps": np.array(50.0),
    }


def test_w_last_quaternions_of_other_programs(tmp_path: Path) -> None:
    arrays = plain_arrays()
    recording = read_npz(write(tmp_path / "amp.npz", **arrays))
    assert recording.unit is None and recording.up is None and recording.clip.fps == pytest.approx(50.0)
    for f in range(3):
        turn = Rotation.from_quat(arrays["local_quat_xyzw"][f, 0])
        expected = arrays["root_translation"][f] + turn.apply([0, 0, -0.5])
        assert recording.clip.positions[f, 1] == pytest.approx(expected, abs=1e-9)
    arrays["rotations"] = arrays.pop("local_quat_xyzw")[..., [3, 0, 1, 2]]
    again = read_npz(write(tmp_path / "own.npz", **arrays))
    assert np.allclose(again.clip.positions, recording.clip.positions, atol=1e-12)


@pytest.mark.parametrize(("columns", "joints"), [(66, 22), (72, 24), (156, 52), (165, 55)])
def test_amass_stands_upright_with_z_up(tmp_path: Path, columns: int, joints: int) -> None:
    rng = np.random.default_rng(4)
    poses = 0.3 * rng.normal(size=(4, columns))
    poses[:, :3] = Rotation.from_euler("x", 90, degrees=True).as_rotvec()  # as AMASS stands its Y-up body up
    trans = rng.normal(size=(4, 3))
    path = write(tmp_path / "a.npz", poses=poses, trans=trans, mocap_framerate=120.0, gender=np.array("female"))
    recording = read_npz(path)
    clip = recording.clip
    assert recording.up == "Z" and recording.unit == 1.0 and clip.fps == pytest.approx(120.0)
    assert len(clip.skeleton) == joints and set(recording.roles) <= set(ROLES)
    assert "average person" in recording.warnings[0]
    assert compute_stature(clip.skeleton) == pytest.approx(STATURES["female"], rel=1e-6)
    # By hand, with the rest pose in the model's own axes (Y up, facing +Z): (x, y, z) there is (x, -z, y) here.
    offsets = clip.skeleton.offsets[:, [0, 2, 1]] * [1, 1, -1]
    for f in range(4):
        turns, places = [], []
        for j, parent in enumerate(clip.skeleton.parents):
            local = Rotation.from_rotvec(poses[f, 3 * j : 3 * j + 3])
            turns.append(local if parent < 0 else turns[parent] * local)
            places.append(trans[f] if parent < 0 else places[parent] + turns[parent].apply(offsets[j]))
        assert clip.positions[f] == pytest.approx(np.array(places), abs=1e-9)
    ankle, head = (clip.skeleton.index(role) for role in ("leftFoot", "head"))
    rest = clip.skeleton.rest_positions()
    assert rest[head, 2] - rest[ankle, 2] > 1.2 and rest[clip.skeleton.index("leftToes"), 1] < rest[ankle, 1]


def test_amass_in_pieces(tmp_path: Path) -> None:
    poses = 0.2 * np.random.default_rng(6).normal(size=(3, 165))
    whole = read_npz(write(tmp_path / "a.npz", poses=poses, trans=np.zeros((3, 3)), mocap_frame_rate=30)).clip
    pieces = dict(
        zip(
            ("root_orient", "pose_body", "pose_jaw", "pose_eye", "pose_hand"),
            np.split(poses, [3, 66, 69, 75], axis=1),
            strict=True,
        )
    )
    parts = read_npz(write(tmp_path / "b.npz", trans=np.zeros((3, 3)), mocap_frame_rate=30, **pieces)).clip
    assert np.array_equal(whole.positions, parts.positions)


def test_smpl_hands_are_mirror_images() -> None:
    skeleton = build_smpl_skeleton(52, False, 1.7)
    rest = skeleton.rest_positions()
    for name in skeleton.names:
        if name.startswith("left_"):
            other = rest[skeleton.index(name.replace("left", "right"))]
            assert rest[skeleton.index(name)] == pytest.approx(other * [-1, 1, 1], abs=1e-12)


def npy_bytes(header: str, data: bytes = b"") -> bytes:
    text = header.encode() + b" " * (117 - len(header)) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


def bomb(path: Path, name: str, content: bytes) -> Path:
    buffer = io.BytesIO()
    np.savez(buffer, **{k: v for k, v in plain_arrays().items() if k != name})
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.npy", content)
    path.write_bytes(buffer.getvalue())
    return path


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (10**12, 2, 4)}", r"cannot be read"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 2, 4)}", r"not as large as its header"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (-3, 2, 4)}", r"not as large|cannot be read"),
        ("{'descr': '|O', 'fortran_order': False, 'shape': (3, 2, 4)}", r"holds Python objects"),
        ("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,)}", r"holds records"),
        ("{'descr': '<U3', 'fortran_order': False, 'shape': ()}", r"not as large|holds text"),
        ("[" * 110, r"cannot be read"),
    ],
)
def test_headers_that_lie(tmp_path: Path, header: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_npz(bomb(tmp_path / "x.npz", "local_quat_xyzw", npy_bytes(header)))


def test_bombs_are_refused_before_they_unpack(tmp_path: Path) -> None:
    """Three gigabytes of zeros, three megabytes on the disk: refused by the directory and the header alone."""
    path = tmp_path / "x.npz"
    buffer = io.BytesIO()
    np.savez(buffer, **{k: v for k, v in plain_arrays().items() if k != "local_quat_xyzw"})
    frames = 3_000_000_000 // 64
    head = npy_bytes(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({frames}, 2, 4)}}")
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr("local_quat_xyzw.npy", head)
        info = archive.getinfo("local_quat_xyzw.npy")
        info.file_size = len(head) + frames * 64  # the directory claims what the header does
    path.write_bytes(buffer.getvalue())
    with pytest.raises(FileError, match=r"take more than 256000000 bytes, the most that is unpacked"):
        read_npz(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fps": np.array(0.0)}, r"0 frames a second"),
        ({"fps": np.array([1.0, 2.0])}, r"'fps' must be one number"),
        ({"names": np.array([1, 2])}, r"'names' must be a list"),
        ({"parents": np.array([0, 0])}, r"exactly one root"),
        ({"parents": np.array([-1, 0, 0])}, r"'parents' has shape \(3,\)"),
        ({"root_translation": np.full((3, 3), np.nan)}, r"has nan at \(0, 0\)"),
        ({"root_translation": np.zeros((2, 3))}, r"'root_translation' has shape \(2, 3\); \(3, 3\) is needed"),
        ({"local_quat_xyzw": np.zeros((3, 2, 4))}, r"is zero"),
        ({"roles": np.array(["hips", "wheel"])}, r"role 'wheel' is none of VRM's"),
        ({"unit": np.array(-1.0)}, r"unit -1.0"),
    ],
)
def test_broken_arrays(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(FileError, match=message):
        read_npz(write(tmp_path / "x.npz", **{**plain_arrays(), **changes}))


def test_other_broken_files(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    with pytest.raises(FileError, match="no such file"):
        read_npz(path)
    path.write_bytes(b"PK but not a zip")
    with pytest.raises(FileError, match="not an npz file"):
        read_npz(path)
    with pytest.raises(FileError, match=r"arrays names, parents, offsets, root, rotations are missing; it has betas"):
        read_npz(write(path, betas=np.zeros(10)))
    with pytest.raises(FileError, match=r"poses have 99 columns"):
        read_npz(write(path, poses=np.zeros((2, 99)), trans=np.zeros((2, 3))))
    with pytest.raises(FileError, match="Python objects"):
        np.savez(path, poses=np.array([{}, {}], object), trans=np.zeros((2, 3)))
        read_npz(path)
    whole = write(path, **plain_arrays()).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match="not an npz file, or cut off"):
        read_npz(path)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_mutated_files_are_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "x.npz"
    amass = data.draw(st.booleans())
    arrays = {"poses": np.zeros((2, 72)), "trans": np.zeros((2, 3)), "gender": np.array("male")}
    content = bytearray(write(path, **(arrays if amass else plain_arrays())).read_bytes())
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(1, len(content)))] if data.draw(st.booleans()) else content)
    with contextlib.suppress(InputError):
        read_npz(path)


@pytest.mark.data
def test_a_conductor_of_amp() -> None:
    recording = read_npz(data_file("npz/120_04_conducting_amp15.npz"))
    clip = recording.clip
    assert (len(clip), len(clip.skeleton)) == (3247, 15) and clip.fps == pytest.approx(60.0)
    feet = [clip.skeleton.index(f"{side}_foot") for side in ("left", "right")]
    # A foot that stands has its centre 5 to 7 cm above the floor, Z up.
    lowest = clip.positions[:, feet, 2].min(axis=0)
    assert np.all((lowest > 0.045) & (lowest < 0.075))
    reading = interpret(recording)
    assert len(reading.clip.skeleton.roles) == 15 and reading.up == "Z"


def test_joints_without_stated_roles_have_them_found_by_name(tmp_path: Path) -> None:
    """Other programs' arrays state neither roles, unit nor axis: all are looked for, as in any file."""
    skeleton = Character.human(1.7, 70.0).skeleton
    clip = samples.idle(skeleton, 1.0, 30.0)
    path = write(
        tmp_path / "plain.npz", names=np.array(skeleton.names), parents=skeleton.parents, offsets=skeleton.offsets,
        root=clip.root, rotations=clip.rotations, fps=np.array(30.0),
    )  # fmt: skip
    assert not read_npz(path).roles
    assert {"hips", "head", "leftFoot", "rightHand"} <= interpret(read_npz(path)).clip.skeleton.roles.keys()

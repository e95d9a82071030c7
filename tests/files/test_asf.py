"""ASF and AMC: an own forward kinematics as the format's guide tells it, and the same take as BVH."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from helpers.errors import rejects
from helpers.recordings import data_file
from poise.errors import FileError, InputError
from poise.files.formats.acclaim.amc import find_asf, read_amc
from poise.files.formats.acclaim.asf import read_asf, read_asf_tables
from poise.files.formats.bvh.clip import read_bvh

ASF = """# made by hand
:version 1.10
:name test
:units
  mass 1.0
  length 0.45
  angle deg
:documentation
  anything: may stand
  here
:root
  order RX TY RY TX RZ TZ
  axis XYZ
  position 0.5 1 0
  orientation 0 0 0
:bonedata
  begin
    id 1
    name lhip
    direction 0.6 -0.8 0
    length 2
    axis 0 0 0 XYZ
  end
  begin
    name lleg
    direction 0 -1 0
    length 4
    axis 10 20 30 ZYX
    dof rz rx ry
    limits (-160.0 20.0)
           (-70.0, 70.0)
           (-inf inf)
  end
  begin
    name lshin
    direction 0.1 -2 0.3
    length 3.5
    axis 5 -40 7 XYZ
    dof rx
  end
  begin
    name back
    direction 0 1 0.1
    length 3
    axis 0 0 0 XYZ
    dof rx ry rz
  end
:hierarchy
  begin
    root lhip back
    lhip lleg
    lleg lshin
  end
"""
VALUES = {"root": 6, "lleg": 3, "lshin": 1, "back": 3}


def write(folder: Path, asf: str = ASF, frames: int = 4, head: str = ":FULLY-SPECIFIED\n:DEGREES\n") -> Path:
    rng = np.random.default_rng(3)
    lines = [head]
    for frame in range(1, frames + 1):
        lines.append(f"{frame}\n")
        for name, count in VALUES.items():
            lines.append(f"{name} {' '.join(f'{v:.6f}' for v in rng.uniform(-80, 80, count))}\n")
    (folder / "07.asf").write_text(asf)
    path = folder / "07_02.amc"
    path.write_text("".join(lines))
    return path


def pose_bones(path: Path, frame: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Start and end of every bone of the hand-made skeleton, by matrices: R_bone = R_parent C M C^-1."""
    words = [line.split() for line in path.read_text().split("\n") if line and not line.startswith(":")]
    rows = [row for row in words if len(row) > 1][frame * len(VALUES) : (frame + 1) * len(VALUES)]
    values = {row[0]: np.array([float(v) for v in row[1:]]) for row in rows}
    bones = {  # parent, direction, length, axis order and angles in that order, dof
        "lhip": ("root", (0.6, -0.8, 0), 2, "xyz", (0, 0, 0), ""),
        "lleg": ("lhip", (0, -1, 0), 4, "zyx", (30, 20, 10), "zxy"),
        "lshin": ("lleg", (0.1, -2, 0.3), 3.5, "xyz", (5, -40, 7), "x"),
        "back": ("root", (0, 1, 0.1), 3, "xyz", (0, 0, 0), "xyz"),
    }
    root = values["root"]  # RX TY RY TX RZ TZ
    turn = {"root": Rotation.from_euler("xyz", root[[0, 2, 4]], degrees=True).as_matrix()}
    end = {"root": np.array([0.5, 1.0, 0.0]) + root[[3, 1, 5]]}
    start = dict(end)
    for name, (parent, direction, length, order, angles, dof) in bones.items():
        c = Rotation.from_euler(order, angles, degrees=True).as_matrix()
        m = Rotation.from_euler(dof, values[name], degrees=True).as_matrix().reshape(3, 3) if dof else np.eye(3)
        turn[name] = turn[parent] @ c @ m @ c.T
        start[name] = end[parent]
        end[name] = start[name] + turn[name] @ (length * np.array(direction) / np.linalg.norm(direction))
    return start, end


def test_joints_are_where_bones_start(tmp_path: Path) -> None:
    path = write(tmp_path)
    clip = read_amc(path).clip
    assert clip.skeleton.names == ("root", "lhip", "lleg", "lshin", "back")
    for frame in range(len(clip)):
        start, end = pose_bones(path, frame)
        for name in clip.skeleton.names:
            j = clip.skeleton.index(name)
            assert clip.positions[frame, j] == pytest.approx(start[name], abs=1e-9)
            if clip.skeleton.has_tip[j]:
                q = Rotation.from_quat(clip.world[1][frame, j].copy(), scalar_first=True)
                assert clip.positions[frame, j] + q.apply(clip.skeleton.tips[j].copy()) == pytest.approx(
                    end[name], abs=1e-9
                )
    assert list(clip.skeleton.has_tip) == [False, False, False, True, True]


def test_what_the_file_states(tmp_path: Path) -> None:
    recording = read_amc(write(tmp_path))
    assert recording.unit == pytest.approx(0.0254 / 0.45)
    assert not recording.has_rate and recording.clip.fps == pytest.approx(120.0)
    assert recording.choices == ("07_02",) and recording.warnings == ()
    assert recording.source.skeleton.bones[1].freedoms == ("rz", "rx", "ry")
    stated = read_amc(write(tmp_path, head=":SAMPLES-PER-SECOND 60\n"))
    assert stated.has_rate and stated.clip.fps == pytest.approx(60.0)


def test_radians_are_degrees_told_otherwise(tmp_path: Path) -> None:
    degrees = read_amc(write(tmp_path)).clip
    path = tmp_path / "07_02.amc"
    lines = []
    for line in path.read_text().replace(":DEGREES", ":RADIANS").split("\n"):
        name, *values = line.split() or [""]
        if name in VALUES:
            keep = (1, 3, 5) if name == "root" else ()
            values = [v if i in keep else repr(float(np.radians(float(v)))) for i, v in enumerate(values)]
        lines.append(" ".join([name, *values]))
    path.write_text("\n".join(lines))
    assert np.abs(read_amc(path).clip.positions - degrees.positions).max() < 1e-9


def test_preset_orientation_turns_everything(tmp_path: Path) -> None:
    plain = read_amc(write(tmp_path)).clip
    turned = read_amc(write(tmp_path, ASF.replace("orientation 0 0 0", "orientation 0 90 0"))).clip
    still = read_asf(tmp_path / "07.asf").clip
    assert turned.positions[:, 0] == pytest.approx(plain.positions[:, 0])
    quarter = Rotation.from_euler("y", 90, degrees=True)
    for frame in range(len(plain)):
        root = Rotation.from_quat(plain.rotations[frame, 0].copy(), scalar_first=True)
        expected = plain.positions[frame, 0] + (root * quarter).apply(still.skeleton.offsets[2].copy())
        assert turned.positions[frame, 2] == pytest.approx(expected, abs=1e-9)


def test_an_asf_alone_is_its_rest_pose(tmp_path: Path) -> None:
    write(tmp_path)
    recording = read_asf(tmp_path / "07.asf")
    assert len(recording.clip) == 1 and recording.format == "ASF"
    assert recording.clip.positions[0] == pytest.approx(recording.clip.skeleton.rest_positions())
    assert recording.clip.skeleton.rest_positions()[2] == pytest.approx([0.5 + 1.2, 1 - 1.6, 0.0])


def test_which_skeleton_is_taken(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert find_asf(path).name == "07.asf"
    (tmp_path / "other.asf").write_text(ASF)
    assert find_asf(path).name == "07.asf"
    (tmp_path / "07_02.ASF").write_text(ASF)
    assert find_asf(path).name == "07_02.ASF"
    for name in ("07.asf", "07_02.ASF"):
        (tmp_path / name).unlink()
    assert find_asf(path).name == "other.asf"
    (tmp_path / "third.asf").write_text(ASF)
    rejects(lambda: read_amc(path), "other.asf", "third.asf", "07.asf", error=FileError)
    for name in ("other.asf", "third.asf"):
        (tmp_path / name).unlink()
    with pytest.raises(FileError, match=r"there is none"):
        read_amc(path)


def test_frames_that_leave_bones_out_hold_them(tmp_path: Path) -> None:
    path = write(tmp_path)
    lines = path.read_text().split("\n")
    second = [i for i, line in enumerate(lines) if line.startswith("lshin")][1]
    path.write_text("\n".join(lines[:second] + lines[second + 1 :]))
    recording = read_amc(path)
    j = recording.clip.skeleton.index("lshin")
    assert recording.clip.rotations[1, j] == pytest.approx(recording.clip.rotations[0, j])
    assert any("not every frame has lshin" in warning for warning in recording.warnings)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1\nroot", "x\nroot", r"07_02.amc:3: not an AMC file: 'x'"),
        ("lshin ", "shin ", r"'shin' is not in 07.asf, which has root, lhip"),
        ("lshin ", "lshin 1 ", r"'lshin' has 2 values, the skeleton declares 1"),
        ("lshin ", "lshin nan #", r"neither angles nor positions"),
        ("lshin ", "lshin oops #", r"'oops' are not all numbers"),
    ],
)
def test_broken_motions(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = write(tmp_path)
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(FileError, match=message):
        read_amc(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (":version 1.10", "version", r"07.asf:1: not an ASF file: it begins with 'version'"),
        ("direction 0.6 -0.8 0", "direction 0.6", r"07.asf:20: 'direction' needs 3 numbers"),
        ("length 2\n", "length 1e30\n", r"which no body has"),
        ("dof rz rx ry", "dof rz rx rw", r"dof 'rw' is not known"),
        ("name lshin", "name lleg", r"second bone is called 'lleg'"),
        ("lleg lshin", "lleg knee", r"bone 'knee' is not in :bonedata"),
        ("lleg lshin", "lleg lshin lhip", r"lists 'lhip' under more than one bone"),
        ("root lhip back", "lhip back", r"gives 'root' no children"),
        ("angle deg", "angle grad", r"angle 'grad' is not known"),
        ("length 0.45", "length 0", r"length 0 is not a unit"),
    ],
)
def test_broken_skeletons(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in ASF
    path = tmp_path / "07.asf"
    path.write_text(ASF.replace(old, new, 1))
    with pytest.raises(FileError, match=message):
        read_asf_tables(path)


def test_deep_skeletons_do_not_recurse(tmp_path: Path) -> None:
    names = [f"b{i}" for i in range(5000)]
    bones = "".join(f"begin\nname {n}\ndirection 0 1 0\nlength 1\nend\n" for n in names)
    tree = "".join(f"{a} {b}\n" for a, b in zip(["root", *names], names, strict=False))
    path = tmp_path / "deep.asf"
    path.write_text(f":version 1.1\n:bonedata\n{bones}:hierarchy\nbegin\n{tree}end\n")
    assert len(read_asf(path).clip.skeleton) == 5001


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_mutated_files_are_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    path = write(tmp_path, frames=2)
    target = data.draw(st.sampled_from([path, tmp_path / "07.asf"]))
    content = bytearray(target.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 6))] = data.draw(st.binary(max_size=6))
    target.write_bytes(content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content)
    try:
        read_amc(path)
    except InputError as error:
        assert isinstance(error, FileError) or "joint" in str(error)


@pytest.mark.data
def test_the_same_take_as_bvh() -> None:
    """AMC frame k is BVH frame k + 1. The BVH lost the thorax's length; all above it is shifted by that bone."""
    recording = read_amc(data_file("asf-amc-cmu/02_05.amc"))
    amc, bvh = recording.clip, read_bvh(data_file("bvh-cmu/02_05.bvh")).clip
    assert recording.unit is not None
    names = {"root": "Hips", "lowerback": "LowerBack", "upperback": "Spine", "thorax": "Spine1"}
    for letter, side in (("l", "Left"), ("r", "Right")):
        names |= {letter + "femur": side + "UpLeg", letter + "tibia": side + "Leg", letter + "foot": side + "Foot"}
        names |= {letter + "toes": side + "ToeBase"}
    for ours, theirs in names.items():
        apart = amc.positions[:, amc.skeleton.index(ours)] - bvh.positions[1:, bvh.skeleton.index(theirs)]
        assert recording.unit * np.linalg.norm(apart, axis=1).max() < 1e-5, ours
    above = {
        "lowerneck": "Neck",
        "head": "Head",
        "lhumerus": "LeftArm",
        "lradius": "LeftForeArm",
        "rwrist": "RightHand",
    }
    lost = amc.positions[:, amc.skeleton.index("lowerneck")] - amc.positions[:, amc.skeleton.index("thorax")]
    for ours, theirs in above.items():
        apart = amc.positions[:, amc.skeleton.index(ours)] - bvh.positions[1:, bvh.skeleton.index(theirs)] - lost
        assert recording.unit * np.linalg.norm(apart, axis=1).max() < 1e-5, ours


def test_bones_that_move_and_stretch(tmp_path):
    """tx ty tz put the start of a bone elsewhere along its own axes, l its end; by matrices as above."""
    asf = ASF.replace("dof rx\n", "dof rx tx tz l\n").replace("dof rz rx ry", "dof rz rx ry l")
    asf = asf.replace("    limits (-160.0 20.0)\n           (-70.0, 70.0)\n           (-inf inf)\n", "")
    rng = np.random.default_rng(5)
    rows = [[rng.uniform(-30, 30, n) for n in (6, 4, 4, 3)] for _ in range(5)]
    lines = [":FULLY-SPECIFIED", ":DEGREES"]
    for frame, values in enumerate(rows, 1):
        named = zip(("root", "lleg", "lshin", "back"), values, strict=True)
        lines += [str(frame), *(f"{name} {' '.join(f'{v:.9f}' for v in row)}" for name, row in named)]
    (tmp_path / "07.asf").write_text(asf)
    (tmp_path / "07_02.amc").write_text("\n".join(lines) + "\n")
    recording = read_amc(tmp_path / "07_02.amc")
    clip = recording.clip
    assert clip.shifts is not None and not any("left out" in said for said in recording.warnings)
    for frame, (root, leg, shin, _) in enumerate(rows):
        hips = Rotation.from_euler("xyz", root[[0, 2, 4]], degrees=True).as_matrix()
        knee_axes = Rotation.from_euler("xyz", (5, -40, 7), degrees=True).as_matrix()
        leg_axes = Rotation.from_euler("zyx", (30, 20, 10), degrees=True).as_matrix()
        thigh = hips @ leg_axes @ Rotation.from_euler("zxy", leg[:3], degrees=True).as_matrix() @ leg_axes.T
        hip = np.array([0.5, 1.0, 0.0]) + root[[3, 1, 5]] + hips @ [1.2, -1.6, 0.0]
        knee = hip + thigh @ ([0.0, -4.0 - leg[3], 0.0] + knee_axes @ [shin[1], 0.0, shin[2]])
        np.testing.assert_allclose(clip.positions[frame, clip.skeleton.index("lleg")], hip, atol=1e-6)
        np.testing.assert_allclose(clip.positions[frame, clip.skeleton.index("lshin")], knee, atol=1e-6)

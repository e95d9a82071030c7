"""The error that a conversion reports sees a wrong reading, a wrong writing, a joint that is not there."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from helpers.bodies import make_human
from helpers.files.gltf_bodies import SINGLE, Body, build
from helpers.files.seeds import write_seed
from poise.body.role_finding.guess import with_roles
from poise.cli import main
from poise.files.formats.bvh import clip as bvh_reader
from poise.files.formats.bvh.clip import save_bvh
from poise.files.formats.gltf import read as gltf_reader
from poise.files.reading.pipeline import Reading, interpret
from poise.files.registry import read_recording
from poise.files.writing import writing
from poise.files.writing.writing import Edits, keep_as, write_clean
from poise.motion.edits import timing as motion_edits
from poise.motion.samples import walk
from poise.spatial import rotation
from tools.sweeps.reading_cases import UNTOLD, BvhCase, GltfCase, list_bvh, list_gltf
from tools.sweeps.reading_sweep import AIM, SUFFIXES, check


@pytest.fixture
def walking(tmp_path: Path) -> Path:
    save_bvh(walk(with_roles(make_human(1.75)), 4.0), tmp_path / "walk.bvh")
    return tmp_path / "walk.bvh"


def read(path: Path) -> Reading:
    return interpret(read_recording(path), whole=True)


def ask(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[dict[str, Any], str]:
    assert main([*map(str, words), "--json"]) == 0
    said = capsys.readouterr()
    return json.loads(said.out), said.err


def bend_bone(reading: Reading) -> Reading:
    """A bone 0.1 m too long."""
    skeleton = reading.clip.skeleton
    offsets = skeleton.offsets.copy()
    offsets[-1, 1] += 0.1
    return dataclasses.replace(reading, clip=reading.clip.replace(skeleton=skeleton.replace(offsets=offsets)))


def lift_root(reading: Reading) -> Reading:
    """The body 0.1 m too high."""
    return dataclasses.replace(reading, clip=reading.clip.replace(root=reading.clip.root + [0.0, 0.1, 0.0]))


@pytest.mark.parametrize("wrong", [bend_bone, lift_root])
@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".gltf", ".vrm", ".vrma", ".npz"])
def test_a_wrong_reading_is_seen_in_every_format_that_is_written(suffix: str, wrong: Any, tmp_path: Path) -> None:
    path = write_seed(suffix, tmp_path)
    assert path is not None
    reading = read(path)
    good = write_clean(reading, tmp_path / "good.npz")
    bad = write_clean(wrong(reading), tmp_path / "bad.npz")
    assert good.error is not None and good.error < 1e-6
    assert bad.error == pytest.approx(0.1, abs=1e-5)
    assert (bad.reading_error, bad.writing_error) == (pytest.approx(0.1, abs=1e-5), pytest.approx(0.0, abs=1e-9))
    assert "100 mm from where the numbers in" in bad.warnings[-1]


def test_euler_angles_in_the_wrong_order_are_seen(walking: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """What the old figure could not see: it compared the file with the same wrong reading, and said two micrometres."""
    right = bvh_reader.from_euler_curves
    monkeypatch.setattr(
        bvh_reader, "from_euler_curves", lambda a, orders: right(a[..., ::-1], [o[::-1] for o in orders])
    )
    reading = read(walking)
    for written in (write_clean(reading, tmp_path / "x.glb"), keep_as(reading, tmp_path / "x.bvh")):
        assert written.reading_error is not None and written.reading_error > 0.01
    assert write_clean(reading, tmp_path / "x.glb").error == pytest.approx(written.reading_error, rel=1e-3)


def test_a_glb_whose_joints_are_swapped_is_seen(tmp_path: Path, monkeypatch: Any) -> None:
    """Places of a left and a right joint exchanged by the reader."""
    build(SINGLE["plain"])[0].save(tmp_path / "x.glb")
    right = gltf_reader.compute_poses

    def swapped(nodes: Any, rig: Any, tracks: Any, at: Any) -> Any:
        poses = right(nodes, rig, tracks, at)
        names = [nodes.names[node] for node in rig.joints]
        a, b = names.index("leftToes"), names.index("rightToes")
        positions = poses.positions.copy()
        positions[:, [a, b]] = positions[:, [b, a]]
        return dataclasses.replace(poses, positions=positions)

    good = write_clean(read(tmp_path / "x.glb"), tmp_path / "y.npz").error
    monkeypatch.setattr(gltf_reader, "compute_poses", swapped)
    bad = write_clean(read(tmp_path / "x.glb"), tmp_path / "y.npz").error
    assert good is not None and bad is not None and good < 1e-5 and bad > 0.05


def test_a_trim_is_compared_frame_by_frame(walking: Path, tmp_path: Path, monkeypatch: Any) -> None:
    reading = read(walking)
    edits = Edits(start=1.0, end=2.0)
    for written in (write_clean(reading, tmp_path / "x.npz", edits), keep_as(reading, tmp_path / "x.bvh", edits)):
        assert written.frames == 61 and written.error is not None and written.error < 1e-5
    right = motion_edits.trim

    def late(clip: Any, start: Any, end: Any) -> Any:
        cut = right(clip, start, end)
        return right(clip, start + 1 / 60, end + 1 / 60).replace(times=cut.times)

    monkeypatch.setattr(writing, "trim", late)
    wrong = write_clean(reading, tmp_path / "x.npz", edits).error
    assert wrong is not None and wrong > 0.005


@pytest.mark.parametrize("edits", [Edits(fps=30.0), Edits(loop=True), Edits(in_place=True)])
def test_an_edited_motion_has_the_sum_of_two_errors(edits: Edits, walking: Path, tmp_path: Path) -> None:
    reading = read(walking)
    written = write_clean(reading, tmp_path / "x.bvh", edits)
    assert written.reading_error is not None and written.writing_error is not None
    assert written.error == written.reading_error + written.writing_error < 1e-5
    worse = write_clean(lift_root(reading), tmp_path / "x.bvh", edits)
    assert worse.error == pytest.approx(0.1, abs=1e-4)


def test_restored_bones_are_not_a_reading_error(tmp_path: Path) -> None:
    human = make_human(1.75)
    offsets = human.offsets.copy()
    stacked = [human.names.index(name) for name in ("neck", "leftShoulder", "rightShoulder")]
    offsets[stacked] = 0.0
    clip = walk(with_roles(human), 4.0)
    save_bvh(clip.replace(skeleton=clip.skeleton.replace(offsets=offsets)), tmp_path / "lost.bvh")
    reading = interpret(read_recording(tmp_path / "lost.bvh"), bones="restore")
    assert reading.is_changed and any(warning.startswith("lost bones") for warning in reading.warnings)
    written = write_clean(reading, tmp_path / "x.npz")
    assert written.error is not None and written.error < 1e-6
    assert not interpret(read_recording(tmp_path / "lost.bvh")).is_changed


def test_joints_that_are_left_out_are_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    build(Body(clutter=True))[0].save(tmp_path / "x.glb")
    found, said = ask(capsys, "convert", tmp_path / "x.glb", tmp_path / "y.bvh")
    assert found["joints_left_out"] == ["Ball"]
    assert "joints of the input that are not in it: Ball." in said
    assert found["max_joint_error_m"] < 1e-5 and found["reading_error_m"] < 1e-5 and found["writing_error_m"] < 1e-5


def test_joints_in_another_tree_are_named(tmp_path: Path) -> None:
    """Two hands that float beside the body, each a tree of its own: one skeleton has one root."""
    builder, _ = build(Body())
    for side in ("left", "right"):
        node = builder.node(name=f"{side} glove", translation=[0.5, 1.0, 0.0])
        builder.json["skins"][0]["joints"].append(node)
        builder.json["scenes"][0]["nodes"].append(node)
    written = write_clean(read(builder.save(tmp_path / "x.glb")), tmp_path / "y.glb")
    assert written.left_out == ("left glove", "right glove")
    assert written.error is not None and written.error < 1e-5


def test_an_error_that_rounding_cannot_explain_is_told(
    capsys: pytest.CaptureFixture[str], walking: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    _, said = ask(capsys, "convert", walking, tmp_path / "x.glb")
    assert "Compare the two" not in said
    monkeypatch.setattr(bvh_reader, "from_euler_curves", lambda a, orders: rotation.identity(a.shape[:-1]))
    found, said = ask(capsys, "convert", walking, tmp_path / "x.glb")
    assert found["max_joint_error_m"] > 0.1
    assert "Compare the two before you use it" in said


def test_a_source_that_cannot_be_checked_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = write_seed(".c3d", tmp_path)
    found, said = ask(capsys, "convert", path, tmp_path / "x.glb")
    assert found["reading_error_m"] is None and found["max_joint_error_m"] == found["writing_error_m"] < 1e-5
    assert "how well it was read could not be checked: C3D has no joints of its own" in said


def test_retargeting_adds_the_error_of_reading(
    capsys: pytest.CaptureFixture[str], walking: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    found, _ = ask(capsys, "retarget", walking, walking, "-o", tmp_path / "x.bvh")
    assert found["max_joint_error_m"] == found["reading_error_m"] + found["writing_error_m"] < 1e-5


BVH = [(f"{group}, {name}", case) for group, name, case in list_bvh() if group != UNTOLD]
GLTF = [(f"{group}, {name}", case) for group, name, case in list_gltf(8)]
# A slice of the sweep (tests/tools/sweeps/reading_sweep.py), a format in turn each.
SLICE = [(name, case, SUFFIXES[i % len(SUFFIXES)]) for i, (name, case) in enumerate([*BVH[::6], *GLTF[::3]])]


@pytest.mark.parametrize(("name", "case", "suffix"), SLICE, ids=[f"{name} to {suffix}" for name, _, suffix in SLICE])
@pytest.mark.many(4)
def test_generated_files_are_converted_within_a_tenth_of_a_millimetre(
    name: str, case: BvhCase | GltfCase, suffix: str, tmp_path: Path
) -> None:
    found = check(case, suffix, tmp_path)
    assert found.off < AIM and abs(found.off - found.told) < AIM
    assert set(found.lost) <= {"Ball"}


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.many(4)
def test_a_model_keeps_its_motion(name: str, tmp_path: Path) -> None:
    found = check(GltfCase(SINGLE[name]), ".glb", tmp_path, keep=True)
    assert found.off < AIM and abs(found.off - found.told) < AIM

"""What `poise convert` writes: the input's own form with --keep, clean files without; motions cut, looped, in place."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.bodies import make_human
from helpers.clips import locked_clip, random_clip
from helpers.errors import rejects
from helpers.files.seeds import write_seed
from helpers.recordings import data_file
from poise.body.role_finding.guess import with_roles
from poise.body.skeleton import Skeleton
from poise.cli import main
from poise.errors import FileError, InputError
from poise.files.formats.bvh.clip import compute_clip, read_bvh, save_bvh
from poise.files.formats.bvh.euler import from_euler_curves, to_euler_near
from poise.files.formats.bvh.keep import count_decimals, format_bvh_as, save_bvh_as
from poise.files.formats.bvh.text import BvhFile, parse_bvh, read_bvh_tables
from poise.files.registry import load_clip, read_clip
from poise.files.writing.round_trip import read_positions
from poise.files.writing.writing import Edits, keep_as, rename_by_role, write_clean
from poise.motion.clip import Clip
from poise.motion.edits.ground import clip_heading, ground_position, turn
from poise.motion.edits.in_place import remove_drift, remove_travel
from poise.motion.edits.loop import make_loop, measure_gap
from poise.motion.samples import walk
from poise.spatial import rotation

# As odd as files get: CRLF, Z up, four Euler orders, position channels inside, a joint with one channel, a joint with
# none, an OFFSET at the root, double names, an exponent, wrapped angles, numbers of unlike length.
ODD = """HIERARCHY
ROOT Hips
{
  OFFSET 1.0 2.0 40.5
  CHANNELS 6 Zposition Xposition Yposition Yrotation Xrotation Zrotation
  JOINT Hüfte l
  {
    OFFSET 4.00 0.0 -1.25
    CHANNELS 6 Xposition Yposition Zposition Xrotation Zrotation Yrotation
    JOINT knee
    {
      OFFSET 0 0 -18
      CHANNELS 1 Xrotation
      End Site
      {
        OFFSET 0 6 -16
      }
    }
  }
  JOINT knee
  {
    OFFSET -4 0 -1.25
    JOINT head
    {
      OFFSET 0 0 30
      CHANNELS 3 Zrotation Yrotation Xrotation
    }
  }
}
MOTION
Frames:   3
Frame Time:\t0.0416667
40 1 2 10.5 -89.99999 359.5 4.1 0 -1.25 1 2 3 7 0.125 5 -6
40.25 1.5 2 11.5 -90 -0.5 4 0 -1.25 1.5 2 3 7.5 0.25 5e-1 -6
40.5 2 2e0 12.5 -89.5 0.25 4.2 0.00 -1.25 2 2 3 8 0.5 5 -6.0000001
""".replace("\n", "\r\n")

PAIR = """HIERARCHY
ROOT A
{
OFFSET 0 0 0
CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
JOINT spine
{
OFFSET 0 50 0
CHANNELS 3 Zrotation Xrotation Yrotation
End Site
{
OFFSET 0 40 0
}
}
}
ROOT B
{
OFFSET 0 0 0
CHANNELS 4 Xposition Yposition Zposition Yrotation
JOINT spine
{
OFFSET 0 60 0
CHANNELS 3 Zrotation Xrotation Yrotation
End Site
{
OFFSET 0 40 0
}
}
}
MOTION
Frames: 2
Frame Time: 0.04
0 90 0 1 2 3 4 5 6 100 80 0 45 7 8 9
1 90 0 1 2 3 4 5 6 101 80 0 46 7 8 9
"""


def odd_file(text: str = ODD) -> BvhFile:
    return parse_bvh(text.encode(), "odd.bvh")


def angle_table(clip: Clip, order: str) -> np.ndarray:
    from poise.files.formats.bvh.euler import to_euler_curves

    return np.degrees(to_euler_curves(clip.rotations, order))


def ask(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> dict:
    assert main([*map(str, words), "--json", "--quiet"]) == code
    found: dict = json.loads(capsys.readouterr().out)
    return found


# --keep


def test_nothing_changed_gives_the_same_numbers_and_text() -> None:
    file = odd_file()
    again = format_bvh_as(compute_clip(file)[0], file)
    back = parse_bvh(again)
    np.testing.assert_array_equal(back.values, file.values)
    assert again.split(b"Frame Time")[0].split() == ODD.encode().split(b"Frame Time")[0].split()
    assert b"Frame Time:\t0.0416667\r\n40.0000000 1.0000000 " in again
    assert again.count(b"\n") == again.count(b"\r\n") == ODD.count("\n")


# Line ends that change half way, and numbers of which each is written otherwise.
MIXED = (
    b"HIERARCHY\r\nROOT r\r\n{\r\nOFFSET 0 0 0\r\nCHANNELS 3 Xposition Yposition Zposition\r\n}\r\nMOTION\r\n"
    b"Frames: 03\nFrame Time: .0083333\n 0 -21 0\t\n-0.0000 1.50 +2\r\n1e1 2 3"
)


def test_a_file_that_does_not_change_is_kept_byte_by_byte(tmp_path: Path) -> None:
    (tmp_path / "in.bvh").write_bytes(MIXED)
    reading = read_clip(tmp_path / "in.bvh")
    keep_as(reading, tmp_path / "out.bvh")
    assert (tmp_path / "out.bvh").read_bytes() == MIXED
    keep_as(reading, tmp_path / "last.bvh", Edits(start=0.009))
    lines = MIXED.replace(b"Frames: 03", b"Frames: 1").split(b"\n")
    assert (tmp_path / "last.bvh").read_bytes() == b"\n".join([*lines[:-3], lines[-1]])
    # A frame that did change is written anew, the others are not.
    clip = reading.recording.clip
    root = clip.root.copy()
    root[1, 0] = 0.25
    changed = format_bvh_as(clip.replace(root=root), reading.recording.source)
    assert changed == MIXED.replace(b"-0.0000 1.50 +2\r\n", b"0.250000 1.500000 2.000000\n")
    # What is no longer there cannot be copied: the numbers are the same.
    (tmp_path / "in.bvh").unlink()
    again = parse_bvh(format_bvh_as(clip, reading.recording.source))
    np.testing.assert_array_equal(again.values, reading.recording.source.values)


def test_the_way_through_metres_and_back_changes_no_number(tmp_path: Path) -> None:
    (tmp_path / "odd.bvh").write_bytes(ODD.encode("latin-1"))
    reading = read_clip(tmp_path / "odd.bvh", scale=0.0254, up="Z")
    placement = reading.placement
    assert placement.scale == pytest.approx(0.0254, rel=1e-12)
    save_bvh_as(placement.to_file(reading.clip), reading.recording.source, tmp_path / "back.bvh")
    np.testing.assert_array_equal(read_bvh_tables(tmp_path / "back.bvh").values, reading.recording.source.values)


def test_one_changed_joint_changes_its_own_channels_only() -> None:
    file = odd_file()
    clip = compute_clip(file)[0]
    rotations = clip.rotations.copy()
    head = clip.skeleton.names.index("head")
    rotations[1, head] = rotation.multiply(rotations[1, head], rotation.exp([0.1, 0.0, 0.0]))
    edited = clip.replace(rotations=rotations)
    back = parse_bvh(format_bvh_as(edited, file), "odd.bvh")
    changed = back.values != file.values
    assert changed[1, -3:].any()
    assert not changed[[0, 2]].any() and not changed[1, :-3].any()
    assert rotation.angle(compute_clip(back)[0].rotations, edited.rotations).max() < 1e-7


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]), st.floats(0, 0.5))
def test_angles_stay_on_the_branch_of_the_source(seed: int, order: str, size: float) -> None:
    """Source angles of any number of turns and either triple: a change of the pose is one of the angles, not a jump."""
    rng = np.random.default_rng(seed)
    source = rng.uniform(-9, 9, (20, 3, 3))
    source[..., 1] = rng.choice([0.0, np.pi], (20, 3)) + rng.uniform(-1.0, 1.0, (20, 3))  # away from gimbal lock
    source[:3, 0, 1] = 0.5 * np.pi  # and in it
    q = from_euler_curves(source, [order] * 3)
    np.testing.assert_allclose(to_euler_near(q, order, source), source, atol=2e-8)
    nudged = rotation.multiply(q, rotation.exp(size * rng.normal(size=(20, 3, 3)) * 0.2))
    found = to_euler_near(nudged, order, source)
    assert rotation.angle(from_euler_curves(found, [order] * 3), nudged).max() < 1e-7
    assert np.abs(found[3:] - source[3:]).max() <= np.pi + 1e-9


def test_a_joint_far_from_the_source_has_curves_without_jumps() -> None:
    """Half a turn and more away, frame after frame: no nearest branch, but a continuous one."""
    clip = locked_clip()
    source = parse_bvh(
        "HIERARCHY ROOT upper { OFFSET 0 1 0 CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation "
        "JOINT lower { OFFSET 0 -0.5 0.1 CHANNELS 3 Zrotation Xrotation Yrotation } }\nMOTION\nFrames: 60\n"
        f"Frame Time: {1 / 60:.9f}\n".encode()
        + b"0 0 0 720 0 0 0 0 0\n" * 60
    )
    table = parse_bvh(format_bvh_as(clip, source)).values
    assert np.abs(np.diff(table[:, 3:], axis=0)).max() < np.degrees(0.2)
    assert abs(table[0, 3] - 720) < 180
    assert (
        rotation.angle(compute_clip(parse_bvh(format_bvh_as(clip, source)))[0].rotations, clip.rotations).max() < 1e-7
    )


@pytest.mark.parametrize(
    ("values", "decimals"),
    [([1.0, -2.0], 0), ([0.1, 1234.5678], 4), ([1e-7], 7), ([1 / 3], 15), ([0.1 + 0.2], 15), ([0.0], 0)],
)
def test_decimals_are_the_fewest_that_keep_every_number(values: list[float], decimals: int) -> None:
    assert count_decimals(np.array(values)) == decimals


@given(st.lists(st.floats(-1e9, 1e9) | st.decimals(-9999, 9999, places=6).map(float), min_size=3, max_size=3))
def test_any_numbers_are_written_so_that_they_come_back(values: list[float]) -> None:
    head = "HIERARCHY ROOT r { OFFSET 0 0 0 CHANNELS 3 Xposition Yposition Zposition }\nMOTION\nFrames: 1\n"
    file = parse_bvh(f"{head}Frame Time: 0.1\n{' '.join(map(repr, values))}\n".encode())
    again = format_bvh_as(compute_clip(file)[0], file)
    np.testing.assert_array_equal(parse_bvh(again).values, file.values)
    assert not re.search(rb"\de", again.split(b"MOTION")[1].split(b"\n", 3)[3])


def test_each_of_several_skeletons_is_a_clip_and_the_others_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "pair.bvh"
    path.write_text(PAIR)
    first, second = read_bvh(path), read_bvh(path, "B")
    assert first.choices == second.choices == ("A", "B")
    assert "2 skeletons: A, B" in first.warnings[0]
    assert first.clip.skeleton.names == ("A", "spine") and second.clip.skeleton.names == ("B", "spine")
    np.testing.assert_array_equal(second.clip.root, [[100, 80, 0], [101, 80, 0]])
    assert rotation.angle(second.clip.rotations[1, 0], rotation.exp([0, np.radians(46), 0])) < 1e-12
    rejects(lambda: read_bvh(path, "C"), "'C'")
    moved = second.clip.replace(root=second.clip.root + [0, 1, 0])
    save_bvh_as(moved, second.source, tmp_path / "out.bvh", tree=1)
    table = read_bvh_tables(tmp_path / "out.bvh").values
    np.testing.assert_array_equal(table[:, :9], second.source.values[:, :9])
    np.testing.assert_array_equal(table[:, 10], [81, 81])


def test_other_joints_are_refused() -> None:
    with pytest.raises(InputError, match="Retarget it first"):
        format_bvh_as(random_clip(np.random.default_rng(0)), odd_file())


def test_keep_through_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "odd.bvh").write_bytes(ODD.encode())
    found = ask(capsys, "convert", tmp_path / "odd.bvh", tmp_path / "out.bvh", "--keep")
    assert (found["frames"], found["max_joint_error_m"]) == (3, 0.0)
    back = read_bvh_tables(tmp_path / "out.bvh")
    np.testing.assert_array_equal(back.values, odd_file().values)
    assert back.joints == odd_file().joints
    ask(capsys, "convert", tmp_path / "odd.bvh", tmp_path / "out.bvh", "--keep", "--start", 0.04, "--fps", 24)
    back = read_bvh_tables(tmp_path / "out.bvh")
    np.testing.assert_array_equal(back.values, odd_file().values[1:])
    assert back.frame_time == pytest.approx(1 / 24, abs=1e-9)
    assert main(["convert", str(tmp_path / "odd.bvh"), str(tmp_path / "x.glb"), "--keep", "--quiet"]) == 2
    assert "Leave out --keep" in capsys.readouterr().err
    assert main(["convert", str(tmp_path / "odd.bvh"), str(tmp_path / "x.bvh"), "--keep", "--names", "vrm"]) == 2
    assert not (tmp_path / "x.bvh").exists() and not (tmp_path / "x.glb").exists()


def test_edits_reach_the_input_in_its_own_axes(tmp_path: Path) -> None:
    """A walk in inches, Z up, turned: in place, it has the same numbers but for the two that travel.

    It starts and stops within a second, faster than the way can bend: a tenth of the travel remains.
    """
    human = make_human(1.7)
    clip = walk(with_roles(human), 4.0)
    to_z_up = rotation.from_axis_angle(np.array([1.0, 0, 0]), 0.5 * np.pi)
    from poise.files.reading.reframe import turn_clip

    inches = turn_clip(turn(clip, 0.7), to_z_up)
    inches = inches.replace(skeleton=inches.skeleton.scaled(1 / 0.0254), root=inches.root / 0.0254)
    save_bvh(inches, tmp_path / "walk.bvh")
    reading = read_clip(tmp_path / "walk.bvh", scale=0.0254, up="Z")
    written = keep_as(reading, tmp_path / "out.bvh", Edits(in_place=True))
    assert written.error is not None and written.error < 1e-7
    old, new = read_bvh_tables(tmp_path / "walk.bvh").values, read_bvh_tables(tmp_path / "out.bvh").values
    assert np.all(np.ptp(new[:, :2], axis=0) < 0.15 * np.ptp(old[:, :2], axis=0))
    np.testing.assert_array_equal(new[:, 2:], old[:, 2:])


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["bvh-cmu/07_01.bvh", "bvh-cmu/90_18.bvh", "bvh-other/bvh_test1.bvh", "bvh-other/test_mocapbank.bvh"]
)
def test_recordings_are_kept(name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = ask(capsys, "convert", data_file(name), tmp_path / "x.bvh", "--keep")
    assert found["max_joint_error_m"] == 0.0
    old, new = read_bvh_tables(data_file(name)), read_bvh_tables(tmp_path / "x.bvh")
    np.testing.assert_array_equal(new.values, old.values)
    assert (new.joints, new.frame_time) == (old.joints, old.frame_time)
    assert new.head.split() == old.head.split()


@pytest.mark.parametrize("suffix", [".glb", ".gltf", ".vrm"])
def test_a_characters_own_file_is_kept(suffix: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Everything that was in it is in it again; the motion is one more animation, or the same one."""
    seed = write_seed(suffix, tmp_path)
    assert seed is not None
    found = ask(capsys, "convert", seed, tmp_path / "out.glb", "--keep", "--start", 0.005)
    assert found["max_joint_error_m"] < 1e-6
    assert found["frames"] == 4
    data = (tmp_path / "out.glb").read_bytes()
    document = json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")])
    old = seed.read_bytes()
    before = json.loads(old if suffix == ".gltf" else old[20 : 20 + int.from_bytes(old[12:16], "little")])
    for part in ("meshes", "materials", "skins"):
        assert len(document[part]) == len(before[part])
    assert [node["name"] for node in document["nodes"]] == [node["name"] for node in before["nodes"]]
    assert document.get("extensionsUsed") == before.get("extensionsUsed")


# In place


def straight_walk(frames: int = 300, sway: float = 0.03) -> Clip:
    """Constant speed along a slant, hips swaying sideways at 0.9 Hz and up and down at 1.8 Hz."""
    human = with_roles(make_human())
    t = np.arange(frames) / 60.0
    root = np.stack(
        [0.4 * t + sway * np.sin(2 * np.pi * 0.9 * t), 0.9 + 0.02 * np.cos(2 * np.pi * 1.8 * t), 1.2 * t], axis=1
    )
    return Clip(human, t, root, rotation.identity((frames, len(human))))


def test_a_constant_velocity_is_taken_out_exactly() -> None:
    clip = straight_walk(sway=0.0)
    still, way = remove_travel(clip)
    np.testing.assert_allclose(still.root[:, [0, 2]], np.broadcast_to(clip.root[0, [0, 2]], (300, 2)), atol=1e-9)
    np.testing.assert_array_equal(still.root[:, 1], clip.root[:, 1])
    np.testing.assert_allclose(still.root + way, clip.root, atol=1e-12)


def test_sway_stays() -> None:
    """At 0.9 Hz, with a cutoff of 0.4 Hz, the smoother's gain is 1 / (1 + (0.9 / 0.4)^4) = 3.8 %."""
    still = remove_travel(straight_walk(600))[0]
    middle = still.root[100:500, 0] - np.mean(still.root[100:500, 0])
    t = still.times[100:500]
    amplitude = np.abs(2 * np.mean(middle * np.exp(-2j * np.pi * 0.9 * t)))
    assert amplitude == pytest.approx(0.03 * (1 - 1 / (1 + (0.9 / 0.4) ** 4)), rel=0.02)


def test_a_turning_path_is_taken_out() -> None:
    t = np.arange(1200) / 60.0
    clip = straight_walk(1200).replace(root=np.stack([3 * np.cos(t / 3), 0.9 + 0 * t, 3 * np.sin(t / 3)], axis=1))
    left = remove_travel(clip)[0].root[:, [0, 2]]
    assert np.ptp(left[180:-180], axis=0).max() < 0.005  # gain (f / cutoff)^4 of 3 m at f = 1 / 6 pi Hz, on both sides
    assert np.ptp(left, axis=0).max() < 0.1  # at its ends the way is straight


@pytest.mark.parametrize("frames", [1, 2, 3, 4])
def test_short_clips_have_a_way_too(frames: int) -> None:
    clip = straight_walk(frames)
    still, way = remove_travel(clip)
    np.testing.assert_allclose(still.root + way, clip.root)
    if frames == 2:
        np.testing.assert_allclose(ground_position(still)[1], ground_position(still)[0], atol=1e-12)


def test_a_bad_cutoff_is_refused() -> None:
    with pytest.raises(InputError, match="positive number of Hz"):
        remove_travel(straight_walk(), 0.0)


# Loops


def swinging(seconds: float = 5.3, period: float = 1.25, drift: float = 0.0) -> Clip:
    """A body that repeats itself every `period` s while it walks along a circle; drift rad/s makes it never close."""
    human = with_roles(make_human())
    t = np.arange(round(seconds * 60)) / 60.0
    phase = 2 * np.pi * t / period
    rng = np.random.default_rng(8)
    axes = rng.normal(size=(2, len(human), 3)) * 0.2
    turns = rotation.exp(np.sin(phase)[:, None, None] * axes[0] + np.cos(phase)[:, None, None] * axes[1])
    if drift:
        turns[:, 3] = rotation.multiply(turns[:, 3], rotation.exp(np.outer(drift * t, [1.0, 0, 0])))
    turns[:, 0] = rotation.exp(np.outer(0.3 * t, [0, 1.0, 0]))
    root = np.stack([2 * np.sin(0.3 * t), 0.9 + 0.03 * np.sin(phase), 2 * np.cos(0.3 * t)], axis=1)
    return Clip(human, t, root, turns)


def test_a_periodic_motion_loops_over_whole_periods() -> None:
    loop = make_loop(swinging())
    periods = (loop.end - loop.start) / 1.25
    assert periods == pytest.approx(round(periods), abs=1e-6) and round(periods) in (3, 4)
    assert loop.gap < 1e-9
    assert loop.clip.duration == pytest.approx(loop.end - loop.start)


def test_what_does_not_close_is_made_to() -> None:
    clip = swinging(drift=0.15)
    loop = make_loop(clip)
    assert loop.gap > 0.01
    assert measure_gap(loop.clip) < 1e-12
    # The pose and its speed go on over the seam: the step across it is like those beside it.
    played = np.concatenate([loop.clip.rotations[:-1], loop.clip.rotations])[:, 1:]
    rates = rotation.log(rotation.multiply(rotation.conjugate(played[:-1]), played[1:]))
    jumps = np.linalg.norm(np.diff(rates, axis=0), axis=-1).max(axis=1)
    seam = len(loop.clip) - 1
    # The seam's own acceleration beside the largest that the motion and the fades have.
    assert jumps[seam - 2 : seam + 1].max() < 2 * np.median(jumps) + 5e-3
    assert np.abs(clip_heading(loop.clip)[-1] - clip_heading(loop.clip)[0]) == pytest.approx(
        0.3 * (loop.end - loop.start), abs=0.05
    )


def test_a_loop_in_place_ends_where_it_began() -> None:
    loop = make_loop(swinging(drift=0.1)).clip
    still = remove_drift(loop)[0]
    np.testing.assert_allclose(ground_position(still)[-1], ground_position(still)[0], atol=1e-12)


def test_what_cannot_loop_is_refused() -> None:
    with pytest.raises(InputError, match="single frame"):
        make_loop(straight_walk(1))
    with pytest.raises(InputError, match="at least 4"):
        make_loop(straight_walk(3))
    with pytest.raises(InputError, match="not negative"):
        make_loop(straight_walk(), fade=-1)


# Clean files


@pytest.fixture
def walking(tmp_path: Path) -> Path:
    clip = walk(with_roles(make_human(1.75)), 4.0)
    names = tuple(name[0].upper() + name[1:] for name in clip.skeleton.names)
    save_bvh(clip.replace(skeleton=clip.skeleton.replace(names=names)), tmp_path / "walk.bvh")
    return tmp_path / "walk.bvh"


@pytest.mark.parametrize("suffix", ["bvh", "glb"])
def test_names_are_the_inputs_unless_asked_for(
    suffix: str, walking: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for names, hips in (("own", b'"Hips"' if suffix == "glb" else b"ROOT Hips"), ("vrm", b"hips")):
        output = tmp_path / f"{names}.{suffix}"
        assert ask(capsys, "convert", walking, output, "--names", names)["max_joint_error_m"] < 1e-5
        assert hips in output.read_bytes()
    assert load_clip(tmp_path / "vrm.bvh").skeleton.names[0] == "hips" if suffix == "bvh" else True


def test_a_name_that_is_anothers_role_is_not_used_twice() -> None:
    skeleton = Skeleton(
        ("a", "hips", "hips_2"), np.array([-1, 0, 1]), np.ones((3, 3)), roles={"hips": "a", "spine": "hips_2"}
    )
    renamed = rename_by_role(skeleton)
    assert renamed.names == ("hips", "hips_2", "spine")
    assert renamed.roles == {"hips": "hips", "spine": "spine"}


def test_changes_through_the_command_line(walking: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = ask(
        capsys, "convert", walking, tmp_path / "x.bvh", "--start", 1, "--end", 3, "--resample", 30, "--root", "in-place"
    )
    clip = load_clip(tmp_path / "x.bvh", 1.0, "Y")
    assert found["frames"] == len(clip) == 61
    assert clip.fps == pytest.approx(30)
    assert found["travel_m"] > 1.0
    assert np.ptp(clip.root[:, [0, 2]], axis=0).max() < 0.2
    found = ask(capsys, "convert", walking, tmp_path / "x.glb", "--start", 1, "--end", 3.2, "--loop")
    assert 1.0 <= found["loop_start_s"] < found["loop_end_s"] <= 3.2 + 1e-6
    assert found["loop_gap_after_m"] < 1e-5
    assert found["loop_end_s"] - found["loop_start_s"] >= 1.1 - 1e-6


def test_a_folder_is_converted_and_failures_are_told(
    walking: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    library = tmp_path / "library"
    (library / "deep").mkdir(parents=True)
    (library / "deep" / "a.bvh").write_bytes(walking.read_bytes())
    (library / "b.bvh").write_text("HIERARCHY\nnonsense")
    (library / "c.BVH").write_bytes(walking.read_bytes())
    (library / "notes.txt").write_text("not a motion")
    found = ask(capsys, "convert", library, tmp_path / "out", "--to", "glb", code=2)
    assert (found["done"], found["failed"]) == (2, 1)
    assert [Path(f["file"]).relative_to(tmp_path / "out").as_posix() for f in found["files"]] == ["c.glb", "deep/a.glb"]
    assert "b.bvh:2:" in found["failures"][0]["error"]
    assert sorted(p.name for p in (tmp_path / "out").rglob("*.*")) == ["a.glb", "c.glb"]
    assert main(["convert", str(library), str(tmp_path / "out2"), "--keep"]) == 2
    out, err = capsys.readouterr()
    assert out.count("\n") == 3 and "1 failed" in out
    assert "b.bvh:2:" in err
    assert sorted(p.name for p in (tmp_path / "out2").rglob("*.*")) == ["a.bvh", "c.BVH"]


def test_folders_and_files_are_not_mixed_up(walking: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for words, sentence in (
        ([walking, empty], "is a folder. Give the path of a file in it"),
        ([empty, tmp_path / "out"], "no file in it that can be read"),
        ([tmp_path, walking], "Give a folder to write to"),
        ([walking, tmp_path / "x.glb", "--to", "bvh"], "--to is for folders"),
    ):
        assert main(["convert", *map(str, words), "--quiet"]) == 2
        err = capsys.readouterr().err
        assert sentence in err and err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_two_files_are_not_written_over_each_other(
    walking: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "a.bvh").write_bytes(walking.read_bytes())
    (library / "a.BVH").write_bytes(walking.read_bytes())
    found = ask(capsys, "convert", library, tmp_path / "out", "--to", ".glb", code=2)
    assert (found["done"], found["failed"]) == (1, 1)
    assert "Rename one of the two" in found["failures"][0]["error"]


def test_what_is_written_is_measured(tmp_path: Path) -> None:
    """The figure is that of the file: compared here with a reader that shares nothing with the code under test."""
    clip = random_clip(np.random.default_rng(4))
    save_bvh(clip, tmp_path / "a.bvh")
    reading = read_clip(tmp_path / "a.bvh", 1.0, "Y")
    written = write_clean(reading, tmp_path / "b.glb")
    places = read_positions(tmp_path / "b.glb", reading.clip.skeleton)
    assert places is not None
    assert written.error == pytest.approx(np.linalg.norm(places - reading.clip.positions, axis=-1).max())
    with pytest.raises(FileError, match="can be"):
        write_clean(reading, tmp_path / "b.xyz")

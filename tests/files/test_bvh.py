"""BVH in and out: round trips, what the wild does to the format, and every refusal."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.clips import locked_clip, random_clip
from helpers.errors import rejects
from helpers.recordings import data_file
from poise.errors import FileError, InputError
from poise.files import load_clip, read_clip, save_clip
from poise.files.formats.bvh.clip import compute_clip, format_bvh, save_bvh
from poise.files.formats.bvh.euler import from_euler_curves, to_euler_curves
from poise.files.formats.bvh.text import parse_bvh, parse_numbers, read_bvh_tables
from poise.files.reading.recording import Recording
from poise.spatial import rotation

ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")

SMALL = """HIERARCHY
ROOT hips
{
	OFFSET 0.0 90.0 0.0
	CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
	JOINT spine
	{
		OFFSET 0.0 50.0 0.0
		CHANNELS 3 Zrotation Yrotation Xrotation
		End Site
		{
			OFFSET 0.0 20.0 0.0
		}
	}
}
MOTION
Frames: 2
Frame Time: 0.025
1.0 95.0 2.0 10.0 20.0 30.0 40.0 50.0 60.0
1.5 96.0 2.5 11.0 21.0 31.0 41.0 51.0 61.0
"""


def raw_clip(text: str | bytes):
    """The clip of a text, in its own units and axes."""
    return compute_clip(parse_bvh(text.encode() if isinstance(text, str) else text))[0]


def assert_same_motion(a, b, within: float = 1e-5) -> None:
    """All joints, by name, at the same world positions; 0.01 mm by default."""
    index = [b.skeleton.names.index(name) for name in a.skeleton.names]
    np.testing.assert_allclose(a.times - a.times[0], b.times, atol=1e-9)
    np.testing.assert_allclose(a.positions, b.positions[:, index], atol=within, rtol=0)


# Numbers and angles


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.decimals(-9999, 9999, places=6).map(float)))
def test_numbers_are_those_of_float(values):
    text = " \n".join(f"{x}" for x in values).encode()
    numbers = parse_numbers(text)
    assert numbers.values.tolist() == values
    assert not len(numbers.bad)


def test_words_that_are_no_numbers_are_told():
    text = b"1 -.5 5. +7 . - 1.2.3 1_0 x 12345678901234567890.5 0.12345678901234567 1e3 -0"
    numbers = parse_numbers(text)
    assert [text.split()[i] for i in numbers.bad] == [b".", b"-", b"1.2.3", b"1_0", b"x"]
    good = np.delete(numbers.values, numbers.bad)
    np.testing.assert_array_equal(
        good, [1, -0.5, 5, 7, 12345678901234567890.5, 0.12345678901234567, 1e3, -0.0], strict=True
    )
    assert [text[i : i + 1] for i in numbers.starts[:3]] == [b"1", b"-", b"5"]


def test_euler_angles_of_mixed_orders():
    angles = np.random.default_rng(1).uniform(-4, 4, (30, 6, 3))
    q = from_euler_curves(angles, ORDERS)
    for j, order in enumerate(ORDERS):
        np.testing.assert_allclose(rotation.angle(q[:, j], rotation.from_euler(angles[:, j], order)), 0, atol=1e-7)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("away", [0.0, 1e-12, 1e-9, 1e-8, 1e-7, 1e-4, 0.3])
def test_euler_curves_at_and_about_gimbal_lock(order, away):
    rng = np.random.default_rng(2)
    angles = rng.uniform(-3, 3, (40, 3))
    angles[:, 1] = rng.choice([-1, 1], 40) * (0.5 * np.pi - away)
    q = rotation.from_euler(angles, order)
    back = rotation.from_euler(to_euler_curves(q, order), order)
    assert rotation.angle(q, back).max() < 1e-7


def test_euler_curves_have_no_jumps_where_the_motion_has_none():
    clip = locked_clip()
    steps = np.abs(np.diff(to_euler_curves(clip.rotations, "ZXY"), axis=0))
    assert steps.max() < 0.2  # the motion turns by 0.1 rad a frame; a jump would be pi


@pytest.mark.parametrize("order", ORDERS)
def test_euler_curves_follow_whole_turns(order):
    spin = np.linspace(0, 30, 400)
    angles = np.stack([spin, 0.3 * np.sin(spin), -2 * spin], axis=1)
    np.testing.assert_allclose(to_euler_curves(rotation.from_euler(angles, order), order), angles, atol=1e-9)


# Round trips


@pytest.mark.parametrize("seed", range(5))
def test_round_trip_of_random_poses(seed, tmp_path):
    clip = random_clip(np.random.default_rng(seed))
    save_bvh(clip, tmp_path / "x.bvh")
    back = load_clip(tmp_path / "x.bvh", scale=1.0, up="Y")
    assert_same_motion(clip, back)
    kept = clip.skeleton.has_tip
    index = [back.skeleton.names.index(name) for name in clip.skeleton.names]
    np.testing.assert_allclose(clip.skeleton.tips[kept], back.skeleton.tips[index][kept], atol=1e-6)


def test_round_trip_through_gimbal_lock(tmp_path):
    save_bvh(locked_clip(), tmp_path / "x.bvh")
    assert_same_motion(locked_clip(), load_clip(tmp_path / "x.bvh", scale=1.0, up="Y"))


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["bvh-cmu/09_01.bvh", "bvh-cmu/90_18.bvh", "bvh-other/bvh_test1.bvh", "force-bvh/walk3d.bvh"]
)
def test_round_trip_of_recordings(name, tmp_path):
    clip = load_clip(data_file(name))
    save_clip(clip, tmp_path / "x.bvh")
    back = read_clip(tmp_path / "x.bvh")
    assert (back.scale, back.up) == (1.0, "Y")
    assert back.clip.skeleton.roles == clip.skeleton.roles
    assert_same_motion(clip, back.clip)


def test_written_text_is_plain_and_always_the_same():
    clip = random_clip(np.random.default_rng(3))
    tiny = clip.replace(root=clip.root * 1e-9, rotations=rotation.identity((len(clip), len(clip.skeleton))))
    for each in (clip, tiny):
        text = format_bvh(each)
        assert text == format_bvh(each)
        numbers = text.split("MOTION")[1]
        assert not re.search(r"\d[eE]|nan|-0\.0+\b", numbers)
        assert parse_bvh(text.encode()).joints[0].offset == (0, 0, 0)  # so that both readings of OFFSET agree


@pytest.mark.parametrize("step", [1 / 120, 1 / 60, 1 / 30, 0.0083333, 0.01, 1 / 23.976])
def test_frame_times_survive(step):
    clip = random_clip(np.random.default_rng(4), frames=5000, joints=2)
    clip = clip.replace(times=np.arange(5000) * step)
    np.testing.assert_allclose(raw_clip(format_bvh(clip)).times, clip.times, atol=1e-9)


def test_uneven_times_are_refused():
    clip = random_clip(np.random.default_rng(5), frames=3)
    with pytest.raises(InputError, match=r"frame 1 .* Resample the clip"):
        format_bvh(clip.replace(times=[0, 0.01, 0.03]))


def test_one_frame_and_one_joint():
    clip = random_clip(np.random.default_rng(6), frames=1, joints=2)
    assert_same_motion(clip, raw_clip(format_bvh(clip)))


def test_every_leaf_is_written_with_an_end_site_of_some_length():
    clip = random_clip(np.random.default_rng(7))
    leaves = ~np.isin(np.arange(12), clip.skeleton.parents)
    assert not clip.skeleton.has_tip[leaves].all()
    tips = {joint.name: joint.tip for joint in parse_bvh(format_bvh(clip).encode()).joints}
    assert all(np.linalg.norm(tips[f"joint{i}"]) > 1e-3 for i in np.flatnonzero(leaves))


# What the numbers mean


def test_positions_replace_the_offset_and_rotations_multiply_in_order():
    clip = raw_clip(SMALL)
    np.testing.assert_array_equal(clip.root, [[1, 95, 2], [1.5, 96, 2.5]])
    np.testing.assert_array_equal(clip.skeleton.offsets[0], [0, 90, 0])
    np.testing.assert_array_equal(clip.skeleton.tips, [[np.nan] * 3, [0, 20, 0]])
    z, x, y = np.radians([10.0, 20.0, 30.0])
    by_hand = rotation.multiply(
        rotation.exp([0, 0, z]), rotation.multiply(rotation.exp([x, 0, 0]), rotation.exp([0, y, 0]))
    )
    assert rotation.angle(clip.rotations[0, 0], by_hand) < 1e-7
    assert rotation.angle(clip.rotations[1, 1], rotation.from_euler(np.radians([41.0, 51, 61]), "ZYX")) < 1e-7


@pytest.mark.parametrize(
    ("channels", "values", "angles"),
    [
        ("0", "", (0, 0, 0)),
        ("1 Yrotation", "50", (0, 50, 0)),
        ("2 Zrotation Xrotation", "40 60", (40, 0, 60)),
    ],
)
def test_joints_with_fewer_rotation_channels(channels, values, angles):
    text = SMALL.replace("CHANNELS 3 Zrotation Yrotation Xrotation", f"CHANNELS {channels}")
    text = re.sub("4[01].0 5[01].0 6[01].0", values, text)
    expected = rotation.from_euler(np.radians(angles), "ZYX")
    assert rotation.angle(raw_clip(text).rotations[0, 1], expected) < 1e-7


def six_channels(first: str, second: str) -> str:
    """SMALL with position channels at its inner joint, whose OFFSET is 0 50 0."""
    text = SMALL.replace("CHANNELS 3 Z", "CHANNELS 6 Xposition Yposition Zposition Z")
    return text.replace("40.0 50.0", f"{first} 40.0 50.0").replace("41.0 51.0", f"{second} 41.0 51.0")


@pytest.mark.parametrize(
    ("first", "second", "offset", "warned"),
    [
        ("0 50 0", "0 50 0", (0, 50, 0), False),
        ("3 48 0", "3 48 0", (3, 48, 0), False),
        ("0 48 0", "0 52 0", (0, 50, 0), True),
        ("0 0 0", "0 0 0", (0, 50, 0), False),  # displacements
        ("1 0 0", "3 0 0", (0, 50, 0), True),
    ],
)
def test_position_channels_of_inner_joints(first, second, offset, warned):
    clip, findings = compute_clip(parse_bvh(six_channels(first, second).encode()))
    np.testing.assert_allclose(clip.skeleton.offsets[1], offset)
    given = np.array([first.split(), second.split()], float) + ([0, 50, 0] if float(first.split()[1]) == 0 else 0)
    from_parent = rotation.rotate(rotation.conjugate(clip.rotations[:, 0]), clip.positions[:, 1] - clip.positions[:, 0])
    np.testing.assert_allclose(from_parent, given, atol=1e-12)
    assert bool(findings) == warned
    assert all("is kept" in each.message for each in findings)


# What the wild does to the format


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.replace("\n", "\r\n"),
        lambda t: t.replace("\n", "\r"),
        lambda t: t.replace(" ", "\t"),
        lambda t: t.rstrip("\n"),
        lambda t: t + "\n\n \n",
        lambda t: "\n\n" + t.replace("\n", "\n\n"),
        lambda t: "\ufeff" + t,
        lambda t: t.replace("Frames: ", "Frames:").replace("Frame Time: ", "Frame Time:\t"),
        lambda t: t.replace("95.0", "9.5e+01").replace("2.5", "25E-1").replace("10.0", "+10."),
        lambda t: re.sub(r"\s*\{\s*", " { ", t),
        lambda t: t.replace("{\n", "{").replace("}", " }"),
        lambda t: t.lower(),
        lambda t: t.replace("10.0 20.0", "10.0\n20.0").replace("41.0 51.0", "41.0\n51.0"),
        lambda t: t.replace("End Site", "End Site spine_end"),
    ],
)
def test_layouts_that_mean_the_same(change):
    expected, got = raw_clip(SMALL), raw_clip(change(SMALL))
    np.testing.assert_array_equal(got.positions, expected.positions)
    np.testing.assert_array_equal(got.skeleton.tips, expected.skeleton.tips)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
@pytest.mark.parametrize("name", ["Left arm", "mixamorig:Hips", "Hüfte", "a.b-c_1", "JOINT"])
def test_names_survive(name, encoding):
    clip = raw_clip(SMALL.replace("JOINT spine", f"JOINT {name}").encode(encoding))
    assert clip.skeleton.names == ("hips", name)
    assert raw_clip(format_bvh(clip)).skeleton.names == ("hips", name)


def test_double_names_are_made_different():
    file = parse_bvh(SMALL.replace("spine", "hips").encode())
    assert [joint.name for joint in file.joints] == ["hips", "hips_2"]
    assert "line 6" in file.findings[0].message


def test_joints_without_end_site_or_with_several():
    bare = re.sub(r"\s*End Site\s*\{[^}]*\}", "", SMALL)
    assert not raw_clip(bare).skeleton.has_tip.any()
    end = "End Site { OFFSET %s }"
    two = bare.replace("CHANNELS 3", f"{end % '0 0 0'} {end % '0 7 0'} {end % '0 8 0'} CHANNELS 3")
    np.testing.assert_array_equal(raw_clip(two).skeleton.tips[1], [0, 7, 0])


def test_more_frames_than_announced_are_read_with_a_warning():
    file = parse_bvh(SMALL.replace("Frames: 2", "Frames: 1").encode())
    assert len(file.values) == 2
    assert "2 follow" in file.findings[0].message


def test_nesting_may_be_deep(tmp_path):
    depth = 3000
    joints = "".join(f"JOINT j{i} {{ OFFSET 0 0.001 0 CHANNELS 0\n" for i in range(depth))
    text = f"HIERARCHY ROOT r {{ OFFSET 0 0 0 CHANNELS 1 Xrotation {joints}{'}' * depth} }}\nMOTION\nFrames: 1\n"
    (tmp_path / "deep.bvh").write_text(f"{text}Frame Time: 0.1\n0\n")
    clip = load_clip(tmp_path / "deep.bvh")
    save_bvh(clip, tmp_path / "again.bvh")
    assert len(load_clip(tmp_path / "again.bvh").skeleton) == depth + 1


# What is refused, and how

BAD = {
    "empty": (lambda t: "", r"x.bvh: the file is empty"),
    "blank": (lambda t: " \n\n", r"x.bvh: the file is empty"),
    "other file": (lambda t: "glTF\x02\0\0", r"x.bvh:1: not a BVH file: it begins with 'glTF"),
    "no root": (lambda t: "HIERARCHY\nMOTION\nFrames: 1\nFrame Time: 1\n", r"x.bvh:2: there is no ROOT"),
    "joint first": (lambda t: t.replace("ROOT", "JOINT"), r"x.bvh:2: JOINT 'hips' stands outside"),
    "two roots": (lambda t: t.replace("JOINT", "ROOT"), r"x.bvh:6: ROOT 'spine' is a second root.* Split the file"),
    "no name": (lambda t: t.replace("JOINT spine", "JOINT"), r"x.bvh:6: JOINT has no name"),
    "no brace": (lambda t: t.replace("spine\n\t{", "spine\n"), r"x.bvh:8: JOINT spine must be followed by '{'"),
    "brace too many": (lambda t: t.replace("MOTION", "}\nMOTION"), r"x.bvh:16: there is a '}' too many"),
    "brace too few": (lambda t: t.replace("}\nMOTION", "MOTION"), r"x.bvh:15: 1 blocks are not closed"),
    "no offset": (lambda t: t.replace("\t\tOFFSET 0.0 50.0 0.0\n", ""), r"x.bvh:6: joint 'spine' has no OFFSET"),
    "short offset": (
        lambda t: t.replace("0.0 50.0 0.0", "0.0 50.0"),
        r"x.bvh:9: OFFSET needs three numbers; 'CHANNELS'",
    ),
    "offset nan": (lambda t: t.replace("0.0 50.0 0.0", "0.0 nan 0.0"), r"x.bvh:8: OFFSET .* not a length"),
    "offset huge": (lambda t: t.replace("0.0 50.0 0.0", "0.0 1e300 0.0"), r"x.bvh:8: OFFSET .* not a length"),
    "unknown channel": (lambda t: t.replace("3 Zrot", "3 Wrot"), r"x.bvh:9: .*'Wrotation' is none of Xposition"),
    "channels short": (lambda t: t.replace("S 3 Z", "S 4 Z"), r"x.bvh:10: CHANNELS announces 4 .*'End'"),
    "channels long": (lambda t: t.replace("S 3 Z", "S 2 Z"), r"x.bvh:9: CHANNELS announces 2 channels, but lists more"),
    "channels absurd": (lambda t: t.replace("S 3 Z", "S 999999999 Z"), r"x.bvh:9: CHANNELS needs a number"),
    "channel twice": (
        lambda t: t.replace("3 Zrotation Y", "3 Xrotation Y"),
        r"x.bvh:9: joint 'spine' lists a channel twice",
    ),
    "no channels": (lambda t: re.sub("CHANNELS.*", "", t), r"x.bvh:19: no joint has CHANNELS"),
    "unknown word": (lambda t: t.replace("OFFSET", "OFSET"), r"x.bvh:4: 'OFSET' is not understood .*Known: ROOT"),
    "cut in hierarchy": (lambda t: t[: t.index(" Zposition")], r"x.bvh:5: the file ends inside the HIERARCHY"),
    "cut in a block": (lambda t: t[: t.index("JOINT")], r"x.bvh:6: 1 blocks are not closed"),
    "cut before motion": (lambda t: t.split("MOTION")[0], r"x.bvh:15: there is no MOTION section.* cut off"),
    "cut after motion": (lambda t: t.split("Frames")[0], r"x.bvh:17: 'Frames:' should stand here"),
    "no frame time": (lambda t: t.replace("Frame Time", "Time"), r"x.bvh:18: 'Frame Time:' should stand here"),
    "no frames": (lambda t: t.replace("Frames: 2", "Frames: 0"), r"x.bvh:17: 'Frames: 0' is not a number of frames"),
    "minus frames": (lambda t: t.replace("Frames: 2", "Frames: -2"), r"x.bvh:17: 'Frames: -2' is not"),
    "absurd frames": (
        lambda t: t.replace("Frames: 2", "Frames: 99999999999"),
        r"x.bvh:20: .*after 2 of 99999999999 frames",
    ),
    "zero time": (lambda t: t.replace("0.025", "0"), r"x.bvh:18: Frame Time 0 s is outside"),
    "rate for time": (lambda t: t.replace("0.025", "120"), r"x.bvh:18: .* If it is frames a second, write 0.0083333"),
    "word for time": (lambda t: t.replace("0.025", "fast"), r"x.bvh:18: Frame Time 'fast' is not a number"),
    "cut off": (lambda t: t[:-20], r"x.bvh:20: frame has 5 values, the HIERARCHY declares 9\. The file is cut off or"),
    "cut frames": (lambda t: t.replace("Frames: 2", "Frames: 3"), r"x.bvh:20: the file ends after 2 of 3 frames"),
    "long frame": (lambda t: t.replace("60.0", "60.0 7"), r"x.bvh:19: frame has 10 values, the HIERARCHY declares 9"),
    "shifted": (lambda t: t.replace(" 60.0\n", "\n60.0 "), r"x.bvh:19: frame has 8 values, the HIERARCHY declares 9"),
    "not a number": (lambda t: t.replace("51.0", "5l.0"), r"x.bvh:20: '5l.0' is not a number"),
    "decimal comma": (lambda t: t.replace("51.0", "51,0"), r"x.bvh:20: '51,0' is not a number"),
    "nan": (lambda t: t.replace("51.0", "nan"), r"x.bvh:20: value nan is neither"),
    "infinite": (lambda t: t.replace("51.0", "-inf"), r"x.bvh:20: value -inf is neither"),
    "huge": (lambda t: t.replace("51.0", "1e30"), r"x.bvh:20: value 1e\+30 is neither"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_in_a_sentence_with_the_line(case, tmp_path, monkeypatch):
    change, expected = BAD[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.bvh").write_text(change(SMALL), newline="")
    with pytest.raises(FileError, match=f"^{expected}") as caught:
        load_clip("x.bvh")
    assert len(str(caught.value)) < 300
    assert str(caught.value).endswith(".")


def test_too_many_joints_for_the_channels_are_refused_before_memory_is_taken():
    joints = "".join(f"JOINT j{i} {{ OFFSET 0 1 0 }}\n" for i in range(9000))
    head = (
        f"HIERARCHY ROOT r {{ OFFSET 0 0 0 CHANNELS 1 Xrotation {joints} }}\nMOTION\nFrames: 20000\nFrame Time: 0.1\n"
    )
    with pytest.raises(FileError, match=r"9001 joints have only 1 channels"):
        parse_bvh(head.encode() + b"0\n" * 20000)
    many = "".join(f"JOINT j{i} {{ OFFSET 0 1 0 }}\n" for i in range(10_001))
    with pytest.raises(FileError, match=r"more than 10000 joints"):
        parse_bvh(f"HIERARCHY ROOT r {{ OFFSET 0 0 0\n{many}".encode())


def test_paths_that_cannot_be_read(tmp_path):
    with pytest.raises(FileError, match=r"no such file"):
        read_bvh_tables(tmp_path / "none.bvh")
    with pytest.raises(FileError, match=r"is a folder"):
        read_bvh_tables(tmp_path)
    rejects(lambda: load_clip(tmp_path / "a.xyz"), "'.xyz'", "BVH", error=FileError)
    with pytest.raises(FileError, match=r"without suffix cannot be written as animation; it can be: .*\.glb"):
        save_clip(raw_clip(SMALL), tmp_path / "a")


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(SMALL) - 1), st.integers(0, 255)), min_size=1, max_size=8),
    st.integers(0, 500),
)
@example([(0, 0xFF), (1, 0xFE)], 0)
def test_any_bytes_give_a_clip_or_a_file_error(changes, cut):
    data = bytearray(SMALL.encode())
    for place, value in changes:
        data[place] = value
    check_survives(bytes(data[: len(data) - cut]))


WORDS = [*SMALL.split(), "nan", "1e999", "-1", "9" * 400, "{", "}", "\n", "\x00", "ä"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=30), st.integers(0, len(SMALL)))
def test_any_words_give_a_clip_or_a_file_error(words, place):
    check_survives((SMALL[:place] + " ".join(words) + SMALL[place:]).encode())
    check_survives(("HIERARCHY\n" + " ".join(words)).encode())


def check_survives(data: bytes) -> None:
    from poise.files.reading.pipeline import interpret

    try:
        file = parse_bvh(data)
    except FileError:
        return
    reading = interpret(Recording(compute_clip(file)[0], "BVH", ""))
    assert np.isfinite(reading.clip.positions).all()
    assert raw_clip(format_bvh(reading.clip)).skeleton.parents.tolist() == reading.clip.skeleton.parents.tolist()

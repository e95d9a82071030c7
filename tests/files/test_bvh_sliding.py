"""BVH files with positions on every joint, through every way out again, against a plain reader of the text."""

import itertools

import numpy as np
import pytest

from helpers.bodies import tpose
from helpers.files.bvh_twins import AXES, plain_bvh, write_twin
from poise.files.formats.bvh.clip import format_bvh, read_bvh
from poise.files.formats.bvh.keep import format_bvh_as
from poise.files.reading.pipeline import interpret
from poise.motion import samples
from poise.motion.clip import Clip
from poise.motion.contacts.contacts import find_contacts
from poise.motion.contacts.points import foot_points
from poise.motion.edits.ground import translate
from poise.motion.edits.mirror import mirror

CLOSE = 1e-4  # m
WALK = samples.walk(tpose(), 3.0, 30.0)
WAYS = list(itertools.product(range(4), (False, True)))


def save(tmp_path, text: str):
    path = tmp_path / "twin.bvh"
    path.write_text(text)
    return path


def places(text: str, clip: Clip, unit: float, up: str, adds: bool) -> np.ndarray:
    """(F, J, 3) m, Y up: where the text has the clip's joints."""
    found = plain_bvh(text, adds)
    return np.stack([found[name] for name in clip.skeleton.names], axis=1) * unit @ AXES[up]


@pytest.mark.parametrize(("carrier", "adds"), WAYS)
@pytest.mark.parametrize("stretch", [0.0, 0.03])
@pytest.mark.parametrize(
    ("unit", "up", "orders"),
    [
        (0.01, "Y", ("ZXY",)),
        (0.0254, "Z", ("XYZ", "YZX", "ZYX")),
        (1.0, "Y", ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")),
        (0.001, "X", ("YXZ",)),
    ],
)
@pytest.mark.many(8)
def test_every_joint_is_where_the_file_has_it(tmp_path, carrier, adds, stretch, unit, up, orders):
    text = write_twin(WALK, 3, carrier, adds, unit, up, orders, stretch)
    path = save(tmp_path, text)
    reading = interpret(read_bvh(path), unit, up)
    wanted = places(text, reading.clip, unit, up, adds)
    assert np.ptp(wanted[:, reading.clip.skeleton.index("hips"), 2]) > 1.5  # it does walk
    np.testing.assert_allclose(reading.clip.positions, wanted, atol=CLOSE)
    # The same body as that of the plain clip, where only the travel moved.
    index = [reading.clip.skeleton.names.index(name) for name in WALK.skeleton.names[1:]]
    assert np.allclose(reading.clip.skeleton.offsets[index], WALK.skeleton.offsets[1:], atol=1e-3 + 1.01 * stretch)
    # Written again, it is there again, by anybody's reading, and in the manner of the file to the last digit.
    back = places(format_bvh(reading.clip), reading.clip, 1.0, "Y", False)
    np.testing.assert_allclose(back, wanted, atol=CLOSE)
    kept = format_bvh_as(reading.recording.clip, reading.recording.source).decode()
    numbers = [[float(x) for x in part.split("Frame Time:")[1].split()] for part in (text, kept)]
    np.testing.assert_array_equal(*numbers)


@pytest.mark.parametrize(("above", "adds"), WAYS)
def test_nothing_has_to_be_told(tmp_path, above, adds):
    text = write_twin(WALK, above, above, adds)
    reading = interpret(read_bvh(save(tmp_path, text)))
    assert reading.scale == 0.01 and reading.up == "Y"
    np.testing.assert_allclose(reading.clip.positions, places(text, reading.clip, 0.01, "Y", adds), atol=CLOSE)
    joints = [reading.clip.skeleton.index(name) for name in WALK.skeleton.names]
    np.testing.assert_allclose(reading.clip.positions[:, joints], WALK.positions, atol=CLOSE)
    assert reading.clip.skeleton.roles == WALK.skeleton.roles


@pytest.mark.parametrize("others", ["six", "three"])
@pytest.mark.parametrize("hips_offset", [False, True])
@pytest.mark.parametrize("adds", [False, True])
def test_hips_alone_say_what_their_channels_mean(tmp_path, others, hips_offset, adds):
    text = write_twin(WALK, 1, 1, adds, others=others, hips_offset=hips_offset)
    clip = interpret(read_bvh(save(tmp_path, text))).clip
    np.testing.assert_allclose(clip.positions, places(text, clip, 0.01, "Y", adds), atol=CLOSE)


def test_unused_channels_at_zero_do_not_make_the_hips_displaced(tmp_path):
    """The hips replace their OFFSET, all other joints have channels that nobody filled."""

    def leave_empty(table: np.ndarray) -> None:
        for joint in range(2, len(WALK.skeleton) + 1):
            table[:, 6 * joint : 6 * joint + 3] = 0.0

    text = change_table(write_twin(WALK, 1, 1), leave_empty)
    clip = interpret(read_bvh(save(tmp_path, text))).clip
    joints = [clip.skeleton.index(name) for name in WALK.skeleton.names]
    np.testing.assert_allclose(clip.positions[:, joints], WALK.positions, atol=CLOSE)


@pytest.mark.parametrize("others", ["six", "three"])
@pytest.mark.parametrize("adds", [False, True])
def test_hips_at_zero_under_a_root_that_travels_are_there(tmp_path, others, adds):
    text = write_twin(WALK, 1, 0, adds, others=others)
    clip = interpret(read_bvh(save(tmp_path, text)), 0.01, "Y").clip
    np.testing.assert_allclose(clip.positions, places(text, clip, 0.01, "Y", adds), atol=CLOSE)


def change_table(text: str, change) -> str:
    """The text with its table of frames (F, columns) changed in place."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("Frame Time")) + 1
    table = np.array([[float(x) for x in line.split()] for line in lines[start:]])
    change(table)
    return "\n".join([*lines[:start], *(" ".join(f"{x:.9f}" for x in row) for row in table)]) + "\n"


@pytest.mark.parametrize("adds", [False, True])
@pytest.mark.parametrize("clip", ["walk", "lying"])
def test_no_channel_has_to_be_exact(tmp_path, adds, clip):
    """Every position of every joint trembles, and the hips may lie near the ground all the time."""
    motion = WALK if clip == "walk" else WALK.replace(root=WALK.root * [1.0, 0.1, 1.0])
    columns = [6 * j + axis for j in range(1, len(WALK.skeleton) + 1) for axis in range(3)]

    def tremble(table: np.ndarray) -> None:
        table[:, columns] += np.random.default_rng(1).normal(size=(len(table), len(columns))) * 0.05

    text = change_table(write_twin(motion, 1, 1, adds), tremble)
    found = interpret(read_bvh(save(tmp_path, text)), 0.01, "Y").clip
    np.testing.assert_allclose(found.positions, places(text, found, 0.01, "Y", adds), atol=CLOSE)


@pytest.mark.parametrize("adds", [False, True])
@pytest.mark.parametrize("aside", [(0.2, 0.0, 0.0), (0.3, 0.0, -0.4)])
def test_offsets_along_the_way_say_little(tmp_path, adds, aside):
    """Hips whose OFFSET lies along their travel, beside joints whose channels nobody filled."""
    skeleton = WALK.skeleton.replace(offsets=WALK.skeleton.offsets + [aside, *np.zeros((len(WALK.skeleton) - 1, 3))])
    text = write_twin(WALK.replace(skeleton=skeleton), 1, 1, adds)

    def leave_empty(table: np.ndarray) -> None:
        for joint in range(2, len(skeleton) + 1):
            table[:, 6 * joint : 6 * joint + 3] = 0.0

    found = interpret(read_bvh(save(tmp_path, change_table(text, leave_empty))), 0.01, "Y").clip
    joints = [found.skeleton.index(name) for name in skeleton.names]
    np.testing.assert_allclose(found.positions[:, joints], WALK.positions, atol=CLOSE)


def test_bones_that_keep_their_length_give_a_plain_clip(tmp_path):
    """Six channels everywhere, with digits that round differently in every frame."""
    text = write_twin(WALK, 0, 0)
    plain = read_bvh(save(tmp_path, text)).clip
    assert plain.shifts is None
    noisy = interpret(read_bvh(save(tmp_path, write_twin(WALK, 0, 0, stretch=2e-7)))).clip
    assert noisy.shifts is None
    joints = [noisy.skeleton.index(name) for name in WALK.skeleton.names]
    np.testing.assert_allclose(noisy.positions[:, joints], WALK.positions, atol=1e-5)


@pytest.mark.parametrize("height", [0.1, 0.95, 3.0])
def test_what_is_written_is_read_the_same_wherever_the_hips_are(height):
    """Hips that lie near the ground while their bone is long look like displacements: then all joints have channels."""
    skeleton = normalise_twin_skeleton()
    turns = np.tile([1.0, 0, 0, 0], (20, len(skeleton), 1))
    shifts = np.zeros((20, len(skeleton), 3))
    shifts[:, 1] = [0.0, height, 0.0] - skeleton.offsets[1]
    shifts[:, 1, 0] += 0.02 * np.sin(np.arange(20))
    clip = Clip(skeleton, np.arange(20) / 30, np.zeros((20, 3)), turns, shifts=shifts)
    text = format_bvh(clip)
    np.testing.assert_allclose(places(text, clip, 1.0, "Y", False), clip.positions, atol=CLOSE)
    again = read_text(text)
    np.testing.assert_allclose(again.positions, clip.positions, atol=CLOSE)


def normalise_twin_skeleton():
    return read_text(write_twin(WALK.pick(slice(0, 3)), 1, 1, unit=1.0)).skeleton


def read_text(text: str) -> Clip:
    from poise.files.formats.bvh.clip import compute_clip
    from poise.files.formats.bvh.text import parse_bvh

    return compute_clip(parse_bvh(text.encode()))[0]


@pytest.mark.parametrize("hips_offset", [False, True])
def test_soles_and_ground_are_those_of_the_plain_file(tmp_path, hips_offset):
    """They hang on the rest pose, which must not take the height of the hips' travel for a bone."""
    raised = WALK.replace(root=WALK.root + [0.0, 0.06, 0.0])
    plain, twin = (
        interpret(read_bvh(save(tmp_path, write_twin(raised, above, above, hips_offset=hips_offset)))).clip
        for above in (0, 1)
    )
    np.testing.assert_allclose(foot_points(twin), foot_points(plain), atol=1e-9)
    assert find_contacts(twin).ground_height == pytest.approx(find_contacts(plain).ground_height, abs=1e-9)


def test_each_of_two_skeletons_is_where_it_is_alone(tmp_path):
    """Two people in one file, both carried by hips whose OFFSET is not their height."""
    texts = [write_twin(translated, 1, 1, hips_offset=False) for translated in (WALK, mirrored_and_moved())]
    heads, tables = zip(*(text.split("MOTION\n") for text in texts), strict=True)
    second = heads[1].removeprefix("HIERARCHY\n").replace("Reference", "Reference2")
    frames = [part.split("Frame Time:")[1].splitlines()[1:] for part in tables]
    top = tables[0][: tables[0].index("\n", tables[0].index("Frame Time:")) + 1]
    rows = "\n".join(f"{a} {b}" for a, b in zip(*frames, strict=True))
    path = save(tmp_path, heads[0] + second + "MOTION\n" + top + rows + "\n")
    for number, text in enumerate(texts):
        alone = interpret(read_bvh(save_as(tmp_path, f"{number}.bvh", text))).clip
        found = interpret(read_bvh(path, str(number))).clip
        np.testing.assert_allclose(found.positions, alone.positions, atol=1e-12)
        np.testing.assert_allclose(found.skeleton.offsets, alone.skeleton.offsets, atol=1e-12)


def mirrored_and_moved() -> Clip:
    return translate(mirror(WALK), np.array([2.0, 0.0, 0.5]))


def save_as(tmp_path, name: str, text: str):
    (tmp_path / name).write_text(text)
    return tmp_path / name

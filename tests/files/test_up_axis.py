"""Which axis is up where rest pose and motion disagree, and where somebody only lies: made motions and recordings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from helpers import postures
from helpers.bodies import make_human
from helpers.recordings import data_file
from poise.files.reading.pipeline import Reading, interpret
from poise.files.reading.reframe import Reframe, turn_to_y
from poise.files.reading.unit import compute_stature
from poise.files.reading.up_axis import compute_carried, find_up, sample_motion
from poise.files.registry import read_clip
from poise.motion.edits.ground import translate, turn
from poise.motion.samples import idle, walk
from poise.spatial import rotation

HUMAN = make_human(1.75)
AXES = ("Y", "Z", "X", "-Z", "-Y")
UNITS = (1.0, 100.0, 1.0 / 0.0254, 1000.0)


def axis_warnings(reading: Reading) -> list[str]:
    return [w for w in reading.warnings if w.startswith("up axis")]


@pytest.mark.parametrize("name", postures.STANDING)
@pytest.mark.many(1)
def test_the_motion_is_followed_where_it_stands_along_another_axis(name):
    """Over all pairs of axes, in several units, facing every way. At the origin, so that no floor is where it lies."""
    clip = postures.STANDING[name](HUMAN)
    for n, (rest, motion) in enumerate(itertools.product(AXES, AXES)):
        faced = turn(clip, np.radians(90.0 * (n % 4) + 5.0), np.zeros(3))
        reading = interpret(postures.told(faced, rest, motion, UNITS[n % 4]))
        assert reading.up == motion, (rest, motion, n)
        found = axis_warnings(reading)
        assert any("the motion is believed" in w for w in found) == (rest != motion)
        np.testing.assert_allclose(
            reading.clip.positions[..., 1], faced.positions[..., 1], atol=1e-6, err_msg=f"{rest} {motion}"
        )


@pytest.mark.parametrize("name", postures.FLOOR)
@pytest.mark.many(3)
def test_who_is_on_the_floor_or_upside_down_is_left_there(name):
    """Wherever it is, however high, and whichever way it faces."""
    clip = postures.FLOOR[name](HUMAN)
    spots = itertools.product((0.0, -0.8, 1.0), (0.0, 90.0, 180.0, 37.0))
    for n, (height, degrees) in enumerate(spots):
        spot = np.array([0.4 * n - 2.0, height, 0.7 - 0.3 * n])
        faced = translate(turn(clip, np.radians(degrees), np.zeros(3)), spot)
        up = AXES[n % len(AXES)]
        assert interpret(postures.told(faced, up, up, UNITS[n % 4])).up == up, (height, degrees)


def test_lying_or_standing_is_said_where_nothing_tells():
    """Still, at no floor: the rest pose is believed, and the doubt is said."""
    still = idle(HUMAN, fps=30.0)
    reading = interpret(postures.told(translate(still, [0.0, 3.0, 0.0]), "Y", "Z"))
    assert reading.up == "Y"
    assert [w for w in axis_warnings(reading) if "taken to lie" in w and "--up=Z" in w]
    assert not axis_warnings(interpret(postures.told(walk(HUMAN, fps=30.0), "Y", "Y")))


def test_what_a_file_states_goes_before_both_and_is_questioned():
    recording = postures.told(walk(HUMAN, fps=30.0), "Y", "Z")
    clip = recording.clip.replace(skeleton=recording.clip.skeleton.replace(roles=dict(HUMAN.roles)))
    decision, warning = find_up(clip, 1.75, "Y")
    assert (decision.value, decision.origin) == ("Y", "stated")
    assert "the motion stands along Z" in warning.message and "--up=Z" in warning.message
    assert find_up(clip, 1.75)[0].value == "Z"


@pytest.mark.parametrize("up", [[0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
def test_only_the_true_vertical_carries_a_walk(up):
    """A turned world gives the same answer for the turned axis."""
    clip = walk(HUMAN, fps=30.0)
    shares = []
    for q in (rotation.identity(), rotation.from_axis_angle(np.array([0.6, 0.0, 0.8]), 1.1)):
        motion = sample_motion(HUMAN, clip.times, rotation.rotate(q, clip.positions), 1.75, 240)
        shares.append(compute_carried(motion, rotation.rotate(q, np.array(up))))
    assert shares[0] == pytest.approx(shares[1], abs=0.06)  # the plane's own two axes differ
    assert shares[0] > 0.8 if up[1] == 1.0 else shares[0] < 0.35


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "kept"),
    [("bvh-cmu/90_18", "Y"), ("bvh-cmu/140_01", "Y"), ("bvh-cmu/09_01", "Y"), ("bvh-cmu/111_27", "Y")]
    + [("bvh-other/test_mocapbank", "Y"), ("bvh-other/bvh_test1", "Z")],
)
def test_recordings_keep_their_axis(name, kept):
    reading = read_clip(data_file(f"{name}.bvh"))
    assert reading.up == kept
    assert not [w for w in axis_warnings(reading) if "believed" in w or "taken to lie" in w]


@pytest.mark.data
@pytest.mark.parametrize("name", ["02_05", "07_01", "09_01", "13_11", "49_18", "111_02", "111_27", "111_28", "140_01"])
@pytest.mark.parametrize("rest", ["Z", "X", "-Y"])
def test_recordings_under_another_rest_pose_are_found(name, rest):
    clip = read_clip(data_file(f"bvh-cmu/{name}.bvh")).clip
    turned = np.tile(rotation.conjugate(turn_to_y(rest)), (len(clip.skeleton), 1))
    other = Reframe(1.0, rotation.identity(), turned).apply(clip)
    assert find_up(other, compute_stature(clip.skeleton))[0].value == "Y"


@pytest.mark.data
@pytest.mark.parametrize("clip", ["Lie_Idle", "Push_Ups", "Lie_Down", "Lie_StandUp"])
def test_hand_made_clips_on_the_floor_keep_their_axis(clip):
    path = data_file("gltf/Med_Simulation.glb")
    names = [name for name in read_clip(path).recording.choices if clip.lower() in name.lower()]
    assert names
    for name in names:
        reading = read_clip(path, clip=name)
        assert reading.up == "Y" and not axis_warnings(reading)

"""Steps: a foot steps if it leaves the ground or ends up elsewhere, not if a point of its sole stays in place."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import poise
from helpers.recordings import data_file
from poise.motion.clip import Clip
from poise.motion.contacts.stepping import describe_steps, find_steps
from poise.motion.samples import squat, walk
from poise.spatial import rotation

BODY = poise.Character.human(1.75).skeleton
SIDES = ("left", "right")
X, Y = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])


def bump(t: np.ndarray, start: float, seconds: float) -> np.ndarray:
    """0, up to 1 and back to 0 within `seconds`."""
    return np.where((t > start) & (t < start + seconds), np.sin(np.pi * (t - start) / seconds) ** 2, 0.0)


def make_clip(turns: dict[str, np.ndarray], seconds: float = 4.0, fps: float = 60.0) -> Clip:
    """A body at rest whose joints turn about X by angles (F,) rad."""
    t = np.arange(round(seconds * fps)) / fps
    rotations = rotation.identity((len(t), len(BODY)))
    for joint, angles in turns.items():
        rotations[:, BODY.index(joint)] = rotation.from_axis_angle(X, angles)
    return Clip(BODY, t, np.zeros((len(t), 3)) + BODY.offsets[0], rotations)


def hold(clip: Clip, joint: str) -> Clip:
    """Move the root so that a joint stays where it is in the first frame."""
    places = clip.positions[:, clip.skeleton.index(joint)]
    return clip.replace(root=clip.root + places[0] - places)


def times(fps: float = 60.0) -> np.ndarray:
    return np.arange(round(4.0 * fps)) / fps


def rise_heels(angle: float = 0.9) -> Clip:
    """Both heels rise over toes that stay flat on the ground."""
    a = angle * bump(times(), 1.0, 2.0)
    turns = {side + joint: sign * a for side in SIDES for joint, sign in (("Foot", 1.0), ("Toes", -1.0))}
    return hold(make_clip(turns), "leftToes")


def tap(seconds: float = 0.5, angle: float = 0.5, fps: float = 60.0) -> Clip:
    """The left foot is lifted by hip and knee, and put back in its place."""
    a = angle * bump(times(fps), 1.0, seconds)
    return make_clip({"leftUpperLeg": -a, "leftLowerLeg": 2.0 * a, "leftFoot": -a}, fps=fps)


def turn_about(joint: str, angle: float) -> Clip:
    """The whole body turns about the vertical through a joint."""
    clip = make_clip({})
    a = angle * np.clip(times() - 1.0, 0.0, 1.0)
    rotations = clip.rotations.copy()
    rotations[:, 0] = rotation.from_axis_angle(Y, a)
    return hold(clip.replace(rotations=rotations), joint)


def slide(clip: Clip, way: float) -> Clip:
    """The whole body glides sideways from 1 s to 1.5 s."""
    return clip.replace(root=clip.root + way * np.clip((times() - 1.0) / 0.5, 0.0, 1.0)[:, None] * X)


def reshape(clip: Clip, size: float = 1.0, height: float = 0.0, noise: float = 0.0) -> Clip:
    rng = np.random.default_rng(0)
    root = size * (clip.root + height * Y + noise * rng.standard_normal(clip.root.shape))
    return Clip(clip.skeleton.scaled(size), clip.times, root, clip.rotations)


# A unit read wrongly, a floor elsewhere than at 0, and 5 mm of noise must not matter.
WAYS = [(1.0, 0.0, 0.0), (0.01, 0.0, 0.0), (100.0, 0.0, 0.0), (1.0, 0.3, 0.0), (1.0, -0.2, 0.0), (1.0, 0.0, 0.005)]


@pytest.mark.parametrize(("size", "height", "noise"), WAYS)
def test_heel_rise_is_not_a_step(size: float, height: float, noise: float) -> None:
    clip = rise_heels()
    ankles = clip.positions[:, [BODY.index("leftFoot"), BODY.index("rightFoot")]]
    assert np.linalg.norm(ankles - ankles[0], axis=-1).max() > 0.1
    assert find_steps(reshape(clip, size, height, noise)) == ()


@pytest.mark.parametrize(("size", "height", "noise"), WAYS)
def test_tap_is_a_step_at_its_time(size: float, height: float, noise: float) -> None:
    (step,) = find_steps(reshape(tap(), size, height, noise))
    assert step.side == "left"
    assert step.start == pytest.approx(1.05, abs=0.1)
    assert step.end == pytest.approx(1.45, abs=0.1)
    assert step.distance < 0.02 * size
    assert 0.05 * size < step.lift


@pytest.mark.parametrize("fps", [15.0, 30.0, 120.0, 500.0])
def test_tap_is_found_at_any_frame_rate(fps: float) -> None:
    assert [step.side for step in find_steps(tap(fps=fps))] == ["left"]


@pytest.mark.parametrize("seconds", [0.3, 1.0, 2.5])
def test_tap_is_found_at_any_speed(seconds: float) -> None:
    assert {step.side for step in find_steps(tap(seconds))} == {"left"}


@pytest.mark.parametrize("angle", [-1.5, 0.7, 1.5])
def test_pivot_is_not_a_step_of_the_foot_that_pivots(angle: float) -> None:
    """The other foot is carried around."""
    assert {step.side for step in find_steps(turn_about("leftToes", angle))} == {"right"}
    assert {step.side for step in find_steps(turn_about("leftFoot", angle))} == {"right"}


@pytest.mark.parametrize(("way", "expected"), [(0.05, 0), (0.08, 0), (0.14, 2), (0.5, 2)])
def test_sliding_away_is_a_step_beyond_a_share_of_the_leg(way: float, expected: int) -> None:
    steps = find_steps(slide(make_clip({}), way))
    assert len(steps) == expected
    for step in steps:
        assert step.distance == pytest.approx(way, abs=0.03) and step.start == pytest.approx(1.05, abs=0.15)


def test_heel_rise_with_a_slide_is_a_step() -> None:
    assert find_steps(slide(rise_heels(), 0.3))


def test_spike_of_two_frames_is_not_a_step() -> None:
    clip = make_clip({})
    root = clip.root.copy()
    root[100:102] += 0.5
    assert find_steps(clip.replace(root=root)) == ()


def test_foot_on_a_box_does_not_step() -> None:
    """One foot stands 20 cm higher than the other all the time."""
    t = times()
    a = np.full(len(t), 0.6)
    clip = make_clip({"leftUpperLeg": -a, "leftLowerLeg": 2.0 * a, "leftFoot": -a, "head": 0.3 * np.sin(t)})
    feet = clip.positions[0, [BODY.index("leftFoot"), BODY.index("rightFoot")], 1]
    assert feet[0] > feet[1] + 0.1
    assert find_steps(clip) == ()


def test_walk_has_as_many_steps_as_it_takes_and_squat_none() -> None:
    clip = walk(BODY, 4.0)
    steps = find_steps(clip)
    sides = [step.side for step in steps]
    assert {"left", "right"} == set(sides) and len(sides) >= 4
    assert all(a != b for a, b in itertools.pairwise(sides))
    assert describe_steps(steps).count("foot at") == 2
    assert find_steps(squat(BODY)) == ()


def test_clip_that_begins_in_mid_step_steps() -> None:
    clip = walk(BODY, 4.0)
    middle = [step for step in find_steps(clip) if step.side == "left"][1]
    begins = int(np.searchsorted(clip.times, 0.5 * (middle.start + middle.end)))
    rest = clip.pick(slice(begins, begins + int(0.8 * clip.fps)))
    first = find_steps(rest)[0]
    assert first.side == "left" and first.start == rest.times[0]


def test_long_clip_of_many_steps_is_fast_to_search() -> None:
    """The search does not look at the whole clip again after every step."""
    clip = tap()
    count = 200
    long = Clip(BODY, np.arange(count * len(clip)) / 60.0, np.tile(clip.root, (count, 1)),
                np.tile(clip.rotations, (count, 1, 1)))  # fmt: skip
    assert len(find_steps(long)) == count


@pytest.mark.data
def test_recorded_clips_step_when_their_feet_do() -> None:
    """18_08 rearranges both feet in its first 2.5 s; 28_01 stands after the pose that the converter put before it."""
    steps = find_steps(poise.load_clip(data_file("bvh-cmu/18_08.bvh")))
    assert {step.side for step in steps} == {"left", "right"} and max(step.end for step in steps) < 2.5
    assert find_steps(poise.load_clip(data_file("bvh-cmu/28_01.bvh"))) == ()

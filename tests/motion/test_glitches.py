"""Glitches: what no body does is named with its time, and forces and simulations go past it."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from helpers.postures import shaken
from helpers.recordings import data_file
from poise.jobs.mix.plan import MixPlan
from poise.jobs.shared.simulation import simulate
from poise.jobs.track.plan import TrackPlan
from poise.motion.clip import Clip
from poise.motion.contacts.glitches import MOST, describe_glitches, ease, find_glitches
from poise.motion.forces.forces import compute_forces
from poise.motion.playback.track import build_curve
from poise.motion.samples import jump, squat, walk, wave
from poise.spatial import rotation

ADULT = poise.Character.human(1.75, 75.0)
SPINE, ARM, HAND = (ADULT.skeleton.index(role) for role in ("spine", "leftUpperArm", "leftHand"))
AT = 150  # the frame that is off, 1.25 s


@pytest.fixture(scope="module")
def walking() -> Clip:
    return walk(ADULT.skeleton, 3.0, fps=120.0)


def flipped(clip: Clip, joint: int, angle: float, stays: bool = False) -> Clip:
    """Turn a joint by an angle (rad) in one frame, or from it on."""
    turns, frames = clip.rotations.copy(), slice(AT, None if stays else AT + 1)
    turns[frames, joint] = rotation.multiply(turns[frames, joint], rotation.exp(np.array([0.0, angle, 0.0])))
    return clip.replace(rotations=turns)


def thrown(clip: Clip, by: tuple[float, float, float], stays: bool = False) -> Clip:
    """Move the root by so many metres in one frame, or from it on."""
    root = clip.root.copy()
    root[AT : None if stays else AT + 1] += by
    return clip.replace(root=root)


ODD = {
    "hand turned": lambda clip: flipped(clip, HAND, 3.12),
    "arm turned": lambda clip: flipped(clip, ARM, 3.12),
    "spine turned": lambda clip: flipped(clip, SPINE, 1.5),
    "hips up": lambda clip: thrown(clip, (0.0, 0.05, 0.0)),
    "hips elsewhere": lambda clip: thrown(clip, (0.0, 0.0, 2.0), stays=True),
}


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0, 240.0])
@pytest.mark.parametrize("make", [walk, jump, squat, wave])
@pytest.mark.parametrize("noise", [0.0, 0.002])
@pytest.mark.many(40)
def test_a_motion_without_glitches_has_none_whatever_its_rate_and_noise(make, fps, noise):
    clip = shaken(make(ADULT.skeleton, fps=fps), noise)
    assert not find_glitches(clip)
    assert clip.bridged.root is clip.root and clip.bridged.rotations is clip.rotations
    assert ease(clip) is clip


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
def test_a_glitch_is_named_with_joint_time_and_figure(fps):
    clip = walk(ADULT.skeleton, 6.0, fps=fps)
    when = f"at {AT / fps:.2f} s"
    said = describe_glitches(clip, find_glitches(flipped(clip, HAND, np.radians(179.0))))
    assert said[0].sentence == f"glitch: {when} leftHand turns by 179 degrees from one frame to the next."
    far = 703.0 / fps**2 / 2.0  # one frame off by this is a second difference of twice that
    said = describe_glitches(clip, find_glitches(thrown(clip, (0.0, far, 0.0))))
    assert f"{when} the root, hips, jumps at 70" in said[0].message
    assert said[-1].kind == "glitches" and "poses are kept" in said[-1].message


def test_many_glitches_are_told_in_few_sentences(walking):
    turns = walking.rotations.copy()
    turns[10:290:4, HAND] = rotation.multiply(turns[10:290:4, HAND], rotation.exp(np.array([0.0, 3.0, 0.0])))
    said = describe_glitches(walking, find_glitches(walking.replace(rotations=turns)))
    assert len(said) == MOST + 1
    assert f"there are {70 - MOST} more" in said[-1].message


def test_the_poses_of_a_glitch_are_played_as_they_are(walking):
    odd = flipped(walking, ARM, 3.12)
    curve = build_curve(odd, [ARM])
    np.testing.assert_allclose(curve.turns[AT, 0, 3], odd.rotations[AT, ARM], atol=1e-12)


@pytest.mark.parametrize("name", ODD)
def test_forces_go_past_a_glitch(walking, name):
    odd = ODD[name](walking)
    assert odd.glitches
    clean, found = compute_forces(walking, ADULT), compute_forces(odd, ADULT)
    for mine, theirs in ((found.torque[:, 1:], clean.torque[:, 1:]), (found.reaction.force, clean.reaction.force)):
        assert np.linalg.norm(mine, axis=-1).max() < 1.15 * np.linalg.norm(theirs, axis=-1).max()
    far = np.abs(np.arange(len(odd)) - AT) > 60
    np.testing.assert_allclose(found.torque[far], clean.torque[far], atol=8.0)


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("plan", [TrackPlan(base="kinematic"), MixPlan(base="kinematic", physical=("upperBody",))])
def test_what_is_simulated_on_a_glitching_root_goes_past_it(walking, plan, name):
    """A hand that flips costs 40 N m at the spine instead of 25 where it is not bridged, a root elsewhere 200,000."""
    before, after = (np.linalg.norm(simulate(clip, ADULT, plan).take.actor().torque, axis=-1).max(axis=0)
                     for clip in (walking, ODD[name](walking)))  # fmt: skip
    assert after[SPINE] < 1.2 * before[SPINE]
    assert after.max() < 2.0 * before.max()


def test_an_arm_that_flips_for_good_is_followed_without_a_blow(walking):
    odd = flipped(walking, ARM, 2.0, stays=True)
    found = simulate(odd, ADULT, TrackPlan(base="kinematic"))
    assert np.linalg.norm(found.take.actor().torque, axis=-1)[:, [SPINE, ARM]].max() < 60.0
    later = AT + 60
    assert rotation.angle(found.clip.rotations[later:, ARM], odd.rotations[later:, ARM]).max() < 0.1


def test_a_recording_that_freezes_in_a_stride_does_not_stop_the_body_at_once(walking):
    kept = np.minimum(np.arange(len(walking)), AT)
    fast = walking.replace(root=walking.root[kept] * [1.0, 1.0, 4.0], rotations=walking.rotations[kept])  # 5 m/s
    assert fast.glitches.found[0].is_jump
    found = np.linalg.norm(simulate(fast, ADULT, TrackPlan(base="kinematic")).take.actor().torque, axis=-1)
    assert found[:, SPINE].max() < 300.0


@pytest.mark.data
def test_glitches_of_a_recording_are_warned_of():
    from poise.files.registry import read_clip

    reading = read_clip(data_file("bvh-cmu/141_20.bvh"))
    assert any("at 6.04 s leftUpperLeg turns by 177 degrees" in sentence for sentence in reading.warnings)

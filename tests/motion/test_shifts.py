"""Joints that slide on their bones: a clip's shifts, against an evaluation of one joint and one frame at a time."""

import numpy as np
import pytest

from helpers.bodies import tpose
from helpers.clips import slide
from helpers.kinematics import plain_positions
from poise.errors import InputError
from poise.motion import Clip
from poise.spatial import rotation


def wild(frames: int = 30, fps: float = 30.0, seed: int = 1) -> Clip:
    """Large smooth turns of all joints, three of which slide."""
    rng, skeleton = np.random.default_rng(seed), tpose()
    t = np.arange(frames) / fps
    phase = rng.uniform(0, 6, (len(skeleton), 3))
    turns = rotation.exp(1.5 * np.sin(2.5 * t[:, None, None] + phase))
    clip = Clip(skeleton, t, np.sin(t[:, None] * [1.0, 2.0, 3.0]), turns)
    return slide(clip, {skeleton.names[1]: 0.8, skeleton.names[4]: 0.05, skeleton.names[-1]: 0.02})


def test_a_clip_stands_where_the_plain_evaluation_has_it():
    clip = wild()
    np.testing.assert_allclose(clip.positions, plain_positions(clip.skeleton, clip.poses), atol=1e-12)
    still = clip.replace(shifts=None)
    assert np.abs(still.positions - clip.positions).max() > 0.5
    np.testing.assert_allclose(still.world[1], clip.world[1], atol=1e-14)


def test_one_pose_and_batches_of_poses_agree():
    clip = wild()
    for frame in (0, 7):
        positions, _ = clip.skeleton.pose(clip.root[frame], clip.rotations[frame], clip.shifts[frame])
        np.testing.assert_allclose(positions, clip.positions[frame], atol=1e-14)
    blocks = [array.reshape(5, 6, *array.shape[1:]) for array in clip.poses]
    np.testing.assert_allclose(clip.skeleton.pose(*blocks)[0].reshape(30, -1, 3), clip.positions, atol=1e-14)


def test_no_shifts_are_none_and_the_same_clip():
    clip = wild()
    for size in (0.0, 1e-10):
        still = clip.replace(shifts=np.full_like(clip.shifts, size))
        assert still.shifts is None
        np.testing.assert_array_equal(still.positions, clip.replace(shifts=None).positions)


def test_shifts_are_frozen_and_go_with_every_copy():
    clip = wild()
    with pytest.raises(ValueError, match="read-only"):
        clip.shifts[0, 1, 0] = 1.0
    assert clip.replace(name="other").shifts is clip.shifts
    np.testing.assert_array_equal(clip.replace(root=clip.root + 1.0).shifts, clip.shifts)
    picked = clip.pick(slice(3, 9))
    np.testing.assert_allclose(picked.positions, clip.positions[3:9], atol=1e-14)
    np.testing.assert_array_equal(picked.times, clip.times[3:9])


@pytest.mark.parametrize(
    ("shifts", "said"),
    [
        (lambda s: s[:-1], "needs shifts"),
        (lambda s: np.where(np.arange(len(s))[:, None, None] == 3, np.nan, s), "shifts are not finite at frame 3"),
        (lambda s: s + 0.1, "belongs to `root`"),
    ],
)
def test_bad_shifts_are_refused_with_the_reason(shifts, said):
    clip = wild()
    with pytest.raises(InputError, match=said):
        clip.replace(shifts=shifts(clip.shifts))


@pytest.mark.parametrize("how", ["slerp", "spline"])
def test_poses_pass_through_the_frames_and_hold_the_ends(how):
    clip = wild()
    at = clip.pose(clip.times, how)
    np.testing.assert_allclose(clip.skeleton.pose(*at)[0], clip.positions, atol=1e-9)
    outside = clip.pose(np.array([-1.0, 99.0]), how)
    np.testing.assert_allclose(outside.shifts, clip.shifts[[0, -1]], atol=1e-12)
    between = clip.pose(0.5 * (clip.times[3] + clip.times[4]), how)
    np.testing.assert_allclose(between.shifts, 0.5 * (clip.shifts[3] + clip.shifts[4]), atol=2e-2)
    one = clip.pick(slice(5, 6)).pose(np.array([0.0, 1.0]), how)
    np.testing.assert_allclose(one.shifts, clip.shifts[[5, 5]], atol=1e-12)


def test_the_splines_rates_are_those_of_its_own_curve():
    clip, h = wild(), 1e-4
    t = np.linspace(0.1, 0.8, 23)
    before, now, after = (clip.spline.pose(t + d).shifts for d in (-h, 0.0, h))
    np.testing.assert_allclose(clip.spline.velocity(t).shift, (after - before) / (2 * h), atol=1e-5)
    np.testing.assert_allclose(clip.spline.acceleration(t).shift, (after - 2 * now + before) / h**2, atol=1e-3)
    still = clip.pick(slice(5, 6)).spline
    assert not still.velocity(t).shift.any()

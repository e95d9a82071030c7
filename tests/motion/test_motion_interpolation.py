"""Poses between frames, and the spline's derivatives, against closed forms, SciPy and finite differences."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from helpers.bodies import tpose
from helpers.errors import rejects
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.motion import Clip, Motion
from poise.spatial import rotation

PAIR = Skeleton(("a", "b"), np.array([-1, 0]), np.array([[0, 1, 0], [0, 1, 0]], float))


def wild(frames: int = 40, fps: float = 30.0, seed: int = 1) -> Clip:
    """A smooth clip with large turns in all joints of a body, some past half a turn."""
    rng, skeleton = np.random.default_rng(seed), tpose()
    t = np.arange(frames) / fps
    phase, size = rng.uniform(0, 6, (2, len(skeleton), 3)), rng.uniform(0.3, 2.2, (len(skeleton), 3))
    turns = size * np.sin(2.5 * t[:, None, None] + phase[0])
    rotations = rotation.multiply(rotation.exp(turns), rotation.exp(np.sin(phase[1])))
    return Clip(skeleton, t, np.sin(t[:, None] * [1.0, 2.0, 3.0]), rotations)


def test_a_clip_is_a_motion():
    assert isinstance(wild(), Motion)


def test_slerp_agrees_with_scipy_at_single_and_many_times():
    clip = wild()
    times = np.random.default_rng(2).uniform(0, clip.duration, 50)
    pose = clip.pose(times)
    assert pose.rotations.shape == (50, len(clip.skeleton), 4)
    for j in range(len(clip.skeleton)):
        expected = Slerp(clip.times, Rotation.from_quat(clip.rotations[:, j], scalar_first=True))(times)
        np.testing.assert_allclose(rotation.to_matrix(pose.rotations[:, j]), expected.as_matrix(), atol=1e-12)
    one = clip.pose(float(times[7]))
    np.testing.assert_allclose(one.rotations, pose.rotations[7], atol=1e-15)
    np.testing.assert_allclose(one.root, [np.interp(times[7], clip.times, c) for c in clip.root.T], atol=1e-12)


@pytest.mark.parametrize("how", ["slerp", "spline"])
def test_frames_are_met_and_times_outside_are_held(how):
    clip = wild()
    at = clip.pose(clip.times, how)
    np.testing.assert_allclose(rotation.angle(at.rotations, clip.rotations), 0, atol=1e-7)
    np.testing.assert_allclose(at.root, clip.root, atol=1e-12)
    outside = clip.pose(np.array([-5.0, 99.0]), how)
    np.testing.assert_allclose(outside.root, clip.root[[0, -1]], atol=1e-12)


def test_the_spline_is_exact_for_a_steady_turn_and_nearly_so_for_a_swing():
    t = np.arange(61) / 30.0
    axis = np.array([0.36, 0.48, 0.8])
    swing = 1.9 * np.sin(4.0 * t)
    clip = Clip(PAIR, t, np.zeros((61, 3)), rotation.exp(np.stack([2.0 * t, swing], axis=1)[..., None] * axis))
    at = np.linspace(0.2, 1.8, 200)
    omega, alpha = clip.spline.velocity(at).rotation, clip.spline.acceleration(at).rotation
    np.testing.assert_allclose(omega[:, 0], 2.0 * np.tile(axis, (200, 1)), atol=2e-6)
    np.testing.assert_allclose(omega[:, 1], 7.6 * np.cos(4 * at)[:, None] * axis, atol=2e-3)
    np.testing.assert_allclose(alpha[:, 1], -30.4 * np.sin(4 * at)[:, None] * axis, atol=0.15)


def test_rates_are_the_derivatives_of_the_spline_in_the_childs_frame():
    clip, h = wild(), 1e-4
    t = np.linspace(0.103, 1.207, 37)  # between frames: at one the third derivative jumps
    before, now, after = (clip.spline.pose(t + d) for d in (-h, 0.0, h))
    # In the tangent space of the present rotation: log(q^-1 q(t +- h)).
    forward = rotation.log(rotation.multiply(rotation.conjugate(now.rotations), after.rotations))
    backward = rotation.log(rotation.multiply(rotation.conjugate(now.rotations), before.rotations))
    velocity, acceleration = clip.spline.velocity(t), clip.spline.acceleration(t)
    np.testing.assert_allclose(velocity.rotation, (forward - backward) / (2 * h), atol=2e-5)
    np.testing.assert_allclose(acceleration.rotation, (forward + backward) / h**2, atol=1e-3)
    np.testing.assert_allclose(velocity.root, (after.root - before.root) / (2 * h), atol=1e-6)
    np.testing.assert_allclose(acceleration.root, (after.root - 2 * now.root + before.root) / h**2, atol=1e-5)


def test_the_spline_is_smooth_in_acceleration_across_frames():
    clip, eps = wild(), 1e-9
    inner = clip.times[1:-1]
    left, right = clip.spline.acceleration(inner - eps), clip.spline.acceleration(inner + eps)
    np.testing.assert_allclose(left.rotation, right.rotation, atol=1e-4)


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_very_short_clips_have_poses_and_rates(frames):
    clip = wild(frames)
    for how in ("slerp", "spline"):
        pose = clip.pose(np.array([-1.0, 0.0, 0.01, 5.0]), how)
        np.testing.assert_allclose(np.linalg.norm(pose.rotations, axis=-1), 1, atol=1e-12)
    rates = clip.spline.velocity(0.0)
    assert np.isfinite(rates.rotation).all()
    if frames == 1:
        assert not np.any(rates.rotation) and not np.any(clip.spline.acceleration(0.0).root)


def test_bad_questions_are_refused():
    with pytest.raises(InputError, match="not a finite number"):
        wild().pose(np.nan)
    rejects(lambda: wild().pose(0.0, "splien"), "Did you mean 'spline'")

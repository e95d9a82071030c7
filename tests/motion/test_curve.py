"""Tracks and their clock: through the samples, rates by finite differences, no jumps where a period or a tempo ends."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise.body.character import Character
from poise.errors import InputError
from poise.motion.clip import Clip
from poise.motion.playback import kernels
from poise.motion.playback.track import Track, build_curve
from poise.spatial import rotation

HUMAN = Character.human(1.75, 75.0, preset="mix")


def wild_clip(frames: int = 200, fps: float = 60.0, noise: float = 0.0, seed: int = 0) -> Clip:
    """Smooth turns of every joint by up to a few radians, and a root that wanders."""
    rng = np.random.default_rng(seed)
    skeleton = HUMAN.skeleton
    t = np.arange(frames) / fps
    phase, speed = rng.uniform(0, 6, (2, len(skeleton), 3)), rng.uniform(1.0, 8.0, (2, len(skeleton), 3))
    size = rng.uniform(0.1, 0.8, (2, len(skeleton), 3))
    a, b = (size[k] * np.sin(speed[k] * t[:, None, None] + phase[k]) for k in range(2))
    turns = rotation.multiply(rotation.exp(a), rotation.exp(b))
    turns = rotation.multiply(turns, rotation.exp(noise * rng.standard_normal(a.shape)))
    root = np.stack([np.sin(2 * t), 1 + 0.1 * np.cos(3 * t), 0.5 * t**2], axis=-1)
    return Clip(skeleton, t, root + noise * rng.standard_normal(root.shape), turns, "wild")


def turns_at(curve: Track, phase: float) -> np.ndarray:
    q = np.empty((len(curve.joints), 4))
    kernels.play_turns(curve.knots, curve.turns, curve.period, phase, q)
    return q


def rates_at(curve: Track, phase: float, speed: float = 1.0, slope: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    w, dw = np.empty((2, len(curve.joints), 3))
    k, x, inside = kernels.find_segment(curve.knots, curve.period, phase)
    kernels.rates_at(curve.rates, k, x, speed if inside else 0.0, slope if inside else 0.0, w, dw)
    return w, dw


def differences(turns: object, t: float, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Angular velocity and acceleration in body axes by central differences in the tangent space at t."""
    q, before, after = turns(t), turns(t - h), turns(t + h)  # type: ignore[operator]
    back = rotation.log(rotation.multiply(rotation.conjugate(q), before))
    ahead = rotation.log(rotation.multiply(rotation.conjugate(q), after))
    return (ahead - back) / (2 * h), (ahead + back) / h**2


def angle(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(rotation.log(rotation.multiply(rotation.conjugate(a), b)), axis=-1).max())


@pytest.mark.parametrize("cutoff", [None, 5.0, np.inf])
def test_poses_pass_through_the_samples_whatever_is_filtered(cutoff: float | None) -> None:
    clip = wild_clip(noise=0.01)
    joints = [0, 3, 7, 12]
    curve = build_curve(clip, joints, cutoff)
    for k in range(0, len(clip), 7):
        assert angle(turns_at(curve, clip.times[k]), clip.rotations[k, joints]) < 1e-9
        place, v, a = np.empty((3, 3))
        kernels.play_root(curve.knots, curve.root, curve.root_rates, 0.0, clip.times[k], 1.0, 0.0, place, v, a)
        np.testing.assert_allclose(place, clip.root[k], atol=1e-12)


def test_only_rates_are_filtered() -> None:
    quiet, noisy = wild_clip(), wild_clip(noise=0.02)
    joints = list(range(15))
    truth = build_curve(quiet, joints, np.inf)
    raw, smooth = build_curve(noisy, joints, np.inf), build_curve(noisy, joints, 6.0)
    assert np.array_equal(raw.turns, smooth.turns)
    errors = []
    for curve in (raw, smooth):
        found = [rates_at(curve, t)[1] - rates_at(truth, t)[1] for t in np.linspace(0.5, 2.8, 40)]
        errors.append(np.sqrt(np.mean(np.square(found))))
    assert errors[1] < 0.2 * errors[0]


@pytest.mark.parametrize("seed", range(3))
def test_rates_are_the_derivatives_of_the_turns(seed: int) -> None:
    curve = build_curve(wild_clip(seed=seed), list(range(15)), np.inf)
    rng = np.random.default_rng(seed)
    for phase in rng.uniform(0.2, 3.0, 20):
        w, dw = rates_at(curve, phase)
        slow, fast = differences(lambda p: turns_at(curve, p), phase, 1e-4)
        np.testing.assert_allclose(w, slow, atol=1e-5 * np.abs(w).max())
        np.testing.assert_allclose(dw, fast, atol=2e-3 * np.abs(dw).max())
        place, v, a = np.empty((3, 3))
        spots = []
        for p in (phase - 1e-4, phase + 1e-4, phase):
            kernels.play_root(curve.knots, curve.root, curve.root_rates, 0.0, p, 1.0, 0.0, place, v, a)
            spots.append(place.copy())
        np.testing.assert_allclose(v, (spots[1] - spots[0]) / 2e-4, atol=1e-6)
        np.testing.assert_allclose(a, (spots[1] + spots[0] - 2 * spots[2]) / 1e-8, atol=1e-2)


def test_rates_of_a_phase_that_speeds_up() -> None:
    curve = build_curve(wild_clip(), list(range(15)), np.inf)
    clock = np.array([0.0, 0.7, 1.3, -0.8, 2.1, 0.9])
    for t in (0.05, 0.3, 0.8, 1.0):
        phase, rate, slope = kernels.phase_at(clock, t)
        w, dw = rates_at(curve, phase, rate, slope)
        slow, fast = differences(lambda t: turns_at(curve, kernels.phase_at(clock, t)[0]), t, 1e-4)
        np.testing.assert_allclose(w, slow, atol=1e-5 * np.abs(w).max())
        np.testing.assert_allclose(dw, fast, atol=2e-3 * np.abs(dw).max())


@pytest.mark.parametrize("make", [poise.gestures.conduct, poise.gestures.arm_swing, poise.gestures.clap])
def test_a_period_ends_as_it_begins_to_the_second_derivative(make: object) -> None:
    gesture = make()  # type: ignore[operator]
    curve = build_curve(gesture, gesture.joints(HUMAN.skeleton), skeleton=HUMAN.skeleton)
    assert curve.period > 0.0
    for periods in (0, 1, 5):
        seam, e = curve.begin + periods * curve.period, 1e-9
        assert angle(turns_at(curve, seam - e), turns_at(curve, seam + e)) < 1e-7
        (w0, dw0), (w1, dw1) = rates_at(curve, seam - e), rates_at(curve, seam + e)
        np.testing.assert_allclose(w0, w1, atol=1e-6)
        np.testing.assert_allclose(dw0, dw1, atol=1e-4 * max(1.0, np.abs(dw0).max()))
        inside = turns_at(curve, curve.begin + 0.37 * curve.period)
        assert angle(turns_at(curve, seam + 0.37 * curve.period), inside) < 1e-9
    # and it is the gesture, between the samples too
    phase = np.random.default_rng(0).uniform(0.0, curve.period, 50)
    wanted = gesture.rotations(HUMAN.skeleton, phase)
    assert max(angle(turns_at(curve, p), wanted[k]) for k, p in enumerate(phase)) < 2e-4


def test_a_track_holds_its_ends() -> None:
    clip = wild_clip()
    curve = build_curve(clip, [3, 4], np.inf)
    for t, frame in ((-1.0, 0), (clip.times[-1] + 5.0, -1)):
        assert angle(turns_at(curve, t), clip.rotations[frame, [3, 4]]) < 1e-9
        w, dw = rates_at(curve, t)
        assert not w.any() and not dw.any()


def test_uneven_samples_are_found() -> None:
    knots = np.cumsum(np.random.default_rng(2).uniform(0.001, 1.0, 50))
    for phase in np.random.default_rng(3).uniform(knots[0], knots[-1], 200):
        k, x, inside = kernels.find_segment(knots, 0.0, phase)
        assert inside and k == np.searchsorted(knots, phase, "right") - 1
        assert x == pytest.approx(phase - knots[k])
    for k, knot in enumerate(knots[:-1]):
        assert kernels.find_segment(knots, 0.0, knot) == (k, 0.0, True)
    assert kernels.find_segment(knots, 0.0, knots[-1])[0] == len(knots) - 2


def test_the_clock_glides_whatever_is_changed_while_it_does() -> None:
    """Rate and slope are the derivatives of phase, and neither phase nor rate nor slope jumps at a change."""
    rng = np.random.default_rng(0)
    clock, t = np.array([0.0, 0.0, 1.5, 0.0, 1.5, 0.0]), 0.0
    for _ in range(30):
        t += rng.uniform(0.01, 0.6)
        before = kernels.phase_at(clock, t)
        h = 1e-5
        for s in (t - 2.1 * h, t - 1e-3):
            ahead, back = kernels.phase_at(clock, s + h), kernels.phase_at(clock, s - h)
            _, rate, slope = kernels.phase_at(clock, s)
            assert (ahead[0] - back[0]) / (2 * h) == pytest.approx(rate, abs=1e-6)
            assert (ahead[1] - back[1]) / (2 * h) == pytest.approx(slope, abs=2e-2)
        clock = np.array([t, *before, rng.uniform(0.5, 4.0), 0.35])
        np.testing.assert_allclose(kernels.phase_at(clock, t), before, atol=1e-12)
        late = kernels.phase_at(clock, t + 0.35)
        np.testing.assert_allclose(late[1:], [clock[kernels.AIM], 0.0], atol=1e-9)
        np.testing.assert_allclose(kernels.phase_at(clock, t + 0.36)[0], late[0] + 0.01 * clock[kernels.AIM])


def test_a_motion_that_is_too_long_is_refused() -> None:
    class Endless:
        skeleton, duration = HUMAN.skeleton, 1e9

        def pose(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            raise AssertionError

    with pytest.raises(InputError, match="lasts up to"):
        build_curve(Endless(), [0])


def test_a_motion_whose_poses_are_not_finite_is_refused() -> None:
    class Broken:
        skeleton, duration = HUMAN.skeleton, 1.0

        def pose(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            turns = rotation.identity((len(t), len(HUMAN.skeleton)))
            turns[len(t) // 2, 3] = np.nan
            return np.zeros((len(t), 3)), turns

    with pytest.raises(InputError, match="poses of a motion must be finite"):
        build_curve(Broken(), [3, 4])

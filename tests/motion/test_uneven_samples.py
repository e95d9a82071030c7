"""Samples of 15 to 25 Hz, uneven, as smooth curves: against closed forms, SciPy, and recordings at full rate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, RotationSpline, Slerp

from helpers.bodies import tpose
from helpers.kinematics import pose_by_scipy
from helpers.recordings import data_file
from poise.errors import InputError
from poise.files import read_clip
from poise.motion import Clip, build_sampled_clip, resample


def uneven_times(seconds: float, seed: int = 0) -> np.ndarray:
    """Every 1/25 to 1/15 s, at random."""
    gaps = np.random.default_rng(seed).uniform(1 / 25, 1 / 15, int(25 * seconds) + 2)
    times = np.concatenate([[0.0], np.cumsum(gaps)])
    return times[times <= seconds]


def moving(times: np.ndarray, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Orientations in the world (F, J, 4) and axes (F, J, 3, 3) of parts that turn smoothly, each its own way."""
    rng, joints = np.random.default_rng(seed), len(tpose())
    size, phase, rate = (
        rng.uniform(0.1, 0.7, (joints, 3)),
        rng.uniform(0, 6, (joints, 3)),
        rng.uniform(2, 7, (joints, 1)),
    )
    vectors = size * np.sin(rate * np.asarray(times)[:, None, None] + phase)
    turns = Rotation.from_rotvec(vectors.reshape(-1, 3))
    shape = (len(times), joints)
    return turns.as_quat(scalar_first=True).reshape(*shape, 4), turns.as_matrix().reshape(*shape, 3, 3)


def test_joints_are_inboard_inverse_times_outboard():
    times = uneven_times(3.0)
    orientations, axes = moving(times)
    clip = build_sampled_clip(tpose(), times, orientations)
    for frame in (0, 7, -1):
        found = pose_by_scipy(clip.skeleton, clip.root[frame], clip.rotations[frame])[1]
        np.testing.assert_allclose(found, axes[frame], atol=1e-12)
    assert np.ptp(np.diff(clip.times)) > 0.02


def test_parts_that_were_not_measured_go_along():
    times = uneven_times(1.0)
    orientations, _ = moving(times)
    hand = tpose().index("leftHand")
    orientations[:, hand] = np.nan
    clip = build_sampled_clip(tpose(), times, orientations)
    np.testing.assert_allclose(clip.rotations[:, hand], np.tile([1.0, 0, 0, 0], (len(times), 1)), atol=1e-12)
    with pytest.raises(InputError, match="need orientations"):
        build_sampled_clip(tpose(), times, orientations[:, :3])
    with pytest.raises(InputError, match="is zero"):
        build_sampled_clip(tpose(), times, 0.0 * np.nan_to_num(orientations))


def test_slerp_is_scipys_and_the_spline_comes_as_near_as_scipys():
    times, fine = uneven_times(4.0), np.arange(0.1, 3.8, 1 / 240)
    orientations, _ = moving(times)
    clip = build_sampled_clip(tpose(), times, orientations)
    truth = build_sampled_clip(tpose(), fine, moving(fine)[0])
    errors = {"slerp": [], "spline": [], "scipy": []}
    for j in range(1, len(tpose())):
        samples = Rotation.from_quat(clip.rotations[:, j], scalar_first=True)
        exact = Rotation.from_quat(truth.rotations[:, j], scalar_first=True)
        slerp = clip.pose(fine, "slerp").rotations[:, j]
        expected = Slerp(clip.times, samples)(fine)
        assert (Rotation.from_quat(slerp, scalar_first=True).inv() * expected).magnitude().max() < 1e-7
        spline = Rotation.from_quat(clip.pose(fine, "spline").rotations[:, j], scalar_first=True)
        for name, each in (
            ("slerp", expected),
            ("spline", spline),
            ("scipy", RotationSpline(clip.times, samples)(fine)),
        ):
            errors[name].append((each.inv() * exact).magnitude().max())
    assert max(errors["spline"]) < 0.35 * max(errors["slerp"])
    assert np.mean(errors["spline"]) < 2.0 * np.mean(errors["scipy"])


def test_the_spline_is_smooth_and_slerp_is_not():
    """Speed changes from frame to frame, at 1000 frames a second."""
    clip = build_sampled_clip(tpose(), uneven_times(3.0), moving(uneven_times(3.0))[0])
    jumps = {}
    for how in ("slerp", "spline"):
        fine = resample(clip, 1000.0, how)
        steps = Rotation.from_quat(fine.rotations[:-1, 5], scalar_first=True).inv()
        speeds = (steps * Rotation.from_quat(fine.rotations[1:, 5], scalar_first=True)).as_rotvec() * 1000.0
        jumps[how] = np.linalg.norm(np.diff(speeds, axis=0), axis=1).max()
    assert jumps["spline"] < 0.1 * jumps["slerp"]


# Recording, and mm RMS of all joints that spline and slerp may be off where they were thinned to 15-25 Hz.
RECORDINGS = {"bvh-cmu/02_05.bvh": (1.5, 1.8), "bvh-cmu/111_02.bvh": (0.3, 0.8), "bvh-cmu/13_11.bvh": (1.3, 3.2)}


@pytest.mark.data
@pytest.mark.parametrize("name", RECORDINGS)
def test_recordings_thinned_unevenly_are_near_the_full_rate(name):
    whole = read_clip(data_file(name)).clip
    keep = np.unique(np.searchsorted(whole.times, uneven_times(whole.duration)))
    thin: Clip = whole.pick(np.append(keep[keep < len(whole) - 1], len(whole) - 1))
    assert len(thin) < 0.2 * len(whole)
    off = {}
    for how in ("spline", "slerp"):
        places = whole.skeleton.pose(*thin.pose(whole.times, how))[0]
        off[how] = 1e3 * float(np.sqrt(np.mean(np.sum((places - whole.positions) ** 2, axis=-1))))
    assert off["spline"] < RECORDINGS[name][0]
    assert off["slerp"] < RECORDINGS[name][1]
    assert off["spline"] < off["slerp"]

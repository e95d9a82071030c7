"""Units, axes and stature found from a skeleton."""

from __future__ import annotations

import numpy as np
import pytest

from clips import random_clip
from humans import make_human
from poise.body.skeleton import Skeleton
from poise.body.stature import estimate_stature
from poise.errors import InputError
from poise.files import read_clip
from poise.files.normalise import compute_stature, guess_scale, guess_up, normalise, turn_clip
from poise.files.recording import Recording
from poise.motion.clip import Clip
from poise.spatial import rotation
from realdata import data_file


def random_poses(skeleton: Skeleton, seed: int = 0) -> Clip:
    rng = np.random.default_rng(seed)
    return Clip(skeleton, np.arange(4) / 30, rng.normal(size=(4, 3)), rotation.random(rng, (4, len(skeleton))))


@pytest.mark.parametrize("stature", [1.0, 1.4, 1.75, 2.1])
@pytest.mark.parametrize("metres", [1.0, 0.01, 0.001, 0.0254, 0.3048])
def test_units_are_found_from_the_stature(stature, metres):
    scale, reason = guess_scale(make_human(stature).scaled(1 / metres))
    assert scale == metres
    assert "m tall" in reason


def test_stature_is_the_same_in_every_unit_and_rough_without_names():
    human = make_human(1.75)
    stature = estimate_stature(human)
    for factor in (1e-3, 1.0, 39.37, 1e4):
        assert compute_stature(human.scaled(factor)) == pytest.approx(factor * stature)
    nameless = Skeleton([f"j{i}" for i in range(len(human))], human.parents, human.offsets, human.tips)
    # Good enough to tell the unit: the nearest two are a factor of 2.2 / 0.9 apart.
    assert compute_stature(nameless) == pytest.approx(1.75, rel=0.2)


def test_bodies_of_no_known_unit_are_scaled_to_a_person():
    skeleton = make_human(1.75).scaled(300)
    scale, reason = guess_scale(skeleton)
    assert compute_stature(skeleton.scaled(scale)) == pytest.approx(1.7)
    assert "no known unit" in reason
    assert guess_scale(Skeleton(("dot",), [-1], np.zeros((1, 3))))[0] == 1.0


def test_z_up_is_turned_and_every_joint_with_it():
    clip = random_poses(make_human(1.75))
    lying = turn_clip(clip, rotation.from_axis_angle(np.array([1.0, 0, 0]), 0.5 * np.pi))
    assert guess_up(clip.skeleton)[0] == "Y"
    assert guess_up(lying.skeleton)[0] == "Z"
    np.testing.assert_allclose(lying.positions, clip.positions[..., [0, 2, 1]] * [1, -1, 1], atol=1e-12)
    reading = normalise(Recording(lying, "test", ""))
    assert (reading.scale, reading.up) == (1.0, "Z")
    np.testing.assert_allclose(reading.clip.positions, clip.positions, atol=1e-12)
    np.testing.assert_allclose(reading.clip.skeleton.offsets, clip.skeleton.offsets, atol=1e-12)


def test_given_values_are_used_and_checked():
    clip = random_clip(np.random.default_rng(1))
    reading = normalise(Recording(clip, "test", ""), scale=0.5, up="Y")
    np.testing.assert_allclose(reading.clip.positions, 0.5 * clip.positions, atol=1e-12)
    assert (reading.scale_reason, reading.up_reason) == ("given", "given")
    for wrong in (0.0, -1.0, float("nan")):
        with pytest.raises(InputError, match="positive"):
            normalise(Recording(clip, "test", ""), scale=wrong)
    with pytest.raises(InputError, match="allowed: 'Y', 'Z'"):
        normalise(Recording(clip, "test", ""), up="X")


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "scale", "up"),
    [
        ("bvh-cmu/07_01.bvh", 0.0254 / 0.45, "Y"),
        ("bvh-cmu/140_01.bvh", 0.0254 / 0.45, "Y"),  # begins prone
        ("bvh-other/bvh_test1.bvh", 0.0254, "Z"),
        ("bvh-other/test_mocapbank.bvh", 0.01, "Y"),
        ("force-bvh/gait10dof_walk.bvh", 0.01, "Y"),  # no arms
        ("force-bvh/walk3d.bvh", 0.01, "Y"),
    ],
)
def test_units_and_axes_of_recordings(name, scale, up):
    reading = read_clip(data_file(name))
    assert (reading.scale, reading.up) == (scale, up)
    assert not reading.warnings
    head, feet = (reading.clip.positions[:, reading.clip.skeleton.index(joint), 1] for joint in ("head", "leftFoot"))
    assert (head - feet).max() > 1.0

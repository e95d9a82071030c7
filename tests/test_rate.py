"""Frame rates judged by gravity: own motions played at other rates, with noise, and recordings."""

from __future__ import annotations

import numpy as np
import pytest

from humans import make_human
from poise.files.formats import read_clip
from poise.motion.clip import Clip
from poise.motion.own import idle, jump, squat, walk
from poise.motion.rate import check_rate, describe_rate
from poise.spatial import rotation
from realdata import data_file


def played(clip: Clip, factor: float) -> Clip:
    """The same frames, said to be `factor` times as fast."""
    return clip.replace(times=clip.times / factor)


def shaken(clip: Clip, metres: float, seed: int = 0) -> Clip:
    """With noise on the root and a tenth of a degree a millimetre on every joint."""
    rng = np.random.default_rng(seed)
    turns = rotation.exp(rng.normal(scale=np.radians(100.0 * metres), size=(*clip.rotations.shape[:2], 3)))
    return clip.replace(
        root=clip.root + rng.normal(scale=metres, size=clip.root.shape),
        rotations=rotation.multiply(clip.rotations, turns),
    )


@pytest.fixture(scope="module")
def jumping() -> Clip:
    return jump(make_human(1.75), fps=120.0)


@pytest.mark.parametrize("noise", [0.0, 0.0005])
@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
def test_a_jump_falls_at_g(fps, noise):
    check = check_rate(shaken(jump(make_human(1.75), fps=fps), noise))
    assert not check.is_wrong
    assert check.flights == 1
    assert check.fall == pytest.approx(9.81, rel=0.1)
    assert describe_rate(check) is None


@pytest.mark.parametrize("factor", [0.5, 2.0, 4.0, 60 / 24, 30 / 24])
@pytest.mark.parametrize("noise", [0.0, 0.0005])
def test_a_jump_at_a_wrong_rate_is_found_and_its_true_rate_too(jumping, factor, noise):
    check = check_rate(shaken(played(jumping, factor), noise))
    assert check.is_wrong
    assert check.likely == pytest.approx(120.0, rel=0.06)
    assert check.fall == pytest.approx(9.81 * factor**2, rel=0.1)
    sentence = describe_rate(check)
    assert sentence.startswith("frame rate:") and "--fps 120" in sentence


@pytest.mark.parametrize("make", [walk, idle, squat])
@pytest.mark.parametrize("factor", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("noise", [0.0, 0.001])
def test_calm_motions_at_their_rate_or_slower_prove_nothing(make, factor, noise):
    clip = make(make_human(1.75), 4.0, fps=60.0)
    assert not check_rate(played(shaken(clip, noise), factor)).is_wrong


def test_a_squat_four_times_as_fast_falls_faster_than_g_with_its_feet_down():
    clip = squat(make_human(1.75), 2.0, fps=60.0)
    check = check_rate(played(clip, 4.0))
    assert check.is_wrong and check.flights == 0
    assert check.fall > 1.5 * 9.81
    assert check.likely == pytest.approx(120.0)
    assert "no ground can pull" in check.evidence


def test_a_glitch_is_no_fall(jumping):
    """One frame, 20 cm off: a spike, not a parabola."""
    clip = walk(make_human(1.75), 3.0, fps=120.0)
    root = clip.root.copy()
    root[100, 1] += 0.2
    root[200, 1] -= 0.2
    assert not check_rate(clip.replace(root=root)).is_wrong


def test_feet_off_the_floor_on_a_seat_are_no_flight():
    """Sitting high with the feet hanging: nothing falls."""
    clip = idle(make_human(1.75), 3.0, fps=60.0)
    ramp = np.interp(clip.times, [0.0, 0.5, 1.1, 2.0, 2.6], [0.0, 0.0, 1.0, 1.0, 0.0])
    up = 0.2 * (1.0 - np.cos(np.pi * ramp))
    assert not check_rate(clip.replace(root=clip.root + up[:, None] * [0.0, 1.0, 0.0]), ground=0.0).is_wrong


def test_what_cannot_be_judged_is_not():
    clip = jump(make_human(1.75), fps=60.0)
    short = clip.replace(times=clip.times[:5], root=clip.root[:5], rotations=clip.rotations[:5])
    assert not check_rate(short).is_wrong
    armless = clip.replace(skeleton=clip.skeleton.replace(roles={"hips": "hips"}))
    assert check_rate(armless).fall == 0.0


@pytest.mark.data
@pytest.mark.parametrize("name", ["75_15", "93_03"])
def test_rates_that_are_known_to_be_wrong_are_found(name):
    check = check_rate(read_clip(data_file(f"bvh-cmu/{name}.bvh")).clip)
    assert check.likely == pytest.approx(60.0, rel=1e-3)


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["02_05", "07_01", "09_01", "13_11", "13_26", "49_18", "90_18", "111_02", "111_27", "111_28"]
)
def test_rates_that_are_known_to_be_right_are_not_accused(name):
    assert not check_rate(read_clip(data_file(f"bvh-cmu/{name}.bvh")).clip).is_wrong


@pytest.mark.data
@pytest.mark.parametrize("name", ["09_01", "13_11", "90_18", "115_06"])
def test_right_recordings_played_twice_as_fast_are_accused(name):
    clip = read_clip(data_file(f"bvh-cmu/{name}.bvh")).clip
    assert check_rate(played(clip, 2.0)).likely == pytest.approx(120.0, rel=1e-3)

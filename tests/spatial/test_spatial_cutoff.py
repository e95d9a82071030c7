"""The choice of a cut-off, judged by what it is for: the acceleration's error, against the best cut-off there is."""

import csv

import numpy as np
import pytest

from helpers.recordings import data_file
from poise.errors import InputError
from poise.spatial.cutoff import HARMLESS, LOWEST, choose_cutoff
from poise.spatial.derivative import position_derivatives, smooth_positions


def gait(rate, seconds=4.0, seed=0):
    """Two steps a second with eight harmonics, travelling at 1.3 m/s: positions and accelerations, (F, 3)."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(seconds * rate)) / rate
    x, a = np.zeros((len(t), 3)), np.zeros((len(t), 3))
    for channel, size in enumerate((0.02, 0.02, 0.015)):
        for k in range(1, 9):
            w, phase = 2 * np.pi * 1.9 * k, rng.uniform(0, 2 * np.pi)
            wave = size * k**-3.3 * rng.uniform(0.5, 1.5) * np.sin(w * t + phase)
            x[:, channel] += wave
            a[:, channel] -= w * w * wave
    x[:, 2] += 1.3 * t
    return t, x, a


def error(t, x, a, cutoff):
    return float(np.sqrt(np.mean((smooth_positions(x, t, cutoff).acceleration - a) ** 2)))


@pytest.mark.parametrize("rate", [24.0, 30.0, 60.0, 120.0, 240.0])
@pytest.mark.parametrize("size", [1e-5, 1e-4, 1e-3, 5e-3])
@pytest.mark.many(8)
def test_near_the_best_cutoff_for_white_noise(rate, size):
    t, x, a = gait(rate)
    x = x + size * np.random.default_rng(1).standard_normal(x.shape)
    chosen = choose_cutoff(x, rate)
    best = min(error(t, x, a, c) for c in np.geomspace(LOWEST, rate / 2, 30))
    assert error(t, x, a, chosen.hz) < 1.7 * best + 0.05
    if chosen.hz < rate / 2:
        assert 0.25 < chosen.error / error(t, x, a, chosen.hz) < 4.0


@pytest.mark.parametrize("rate", [60.0, 120.0])
def test_near_the_best_cutoff_for_noise_with_a_memory(rate):
    t, x, a = gait(rate, seconds=8.0)
    drive = np.random.default_rng(2).standard_normal(x.shape)
    noise = np.empty_like(x)
    noise[0] = drive[0]
    r = np.exp(-1 / (0.03 * rate))
    for i in range(1, len(x)):
        noise[i] = r * noise[i - 1] + np.sqrt(1 - r * r) * drive[i]
    x = x + 5e-4 * noise
    best = min(error(t, x, a, c) for c in np.geomspace(LOWEST, rate / 2, 30))
    assert error(t, x, a, choose_cutoff(x, rate).hz) < 1.7 * best


@pytest.mark.parametrize("rate", [60.0, 120.0, 240.0])
def test_procedural_motion_needs_no_filter(rate):
    t = np.arange(int(5 * rate)) / rate
    swing = np.stack([0.3 * np.sin(2 * np.pi * t), 0.1 * np.cos(4 * np.pi * t), 0.2 * np.sin(2 * np.pi * t + 1)], -1)
    chosen = choose_cutoff(swing, rate)
    assert chosen.hz == rate / 2 and chosen.noise < HARMLESS
    assert "needs no filter" in chosen.reason


def test_clean_gait_is_not_hurt():
    for rate in (60.0, 120.0):
        t, x, a = gait(rate)
        assert error(t, x, a, choose_cutoff(x, rate).hz) < error(t, x, a, None) + 0.01 * np.sqrt(np.mean(a**2))


def test_one_pop_of_a_marker_is_not_a_noise_floor():
    _, x, _ = gait(120.0, seconds=8.0)
    x = x + 2e-4 * np.random.default_rng(3).standard_normal(x.shape)
    before = choose_cutoff(x, 120.0).hz
    x[400] += 0.01
    assert choose_cutoff(x, 120.0).hz > 0.6 * before


def test_more_noise_never_asks_for_less_filtering():
    _, x, _ = gait(120.0)
    noise = np.random.default_rng(4).standard_normal(x.shape)
    cutoffs = [choose_cutoff(x + size * noise, 120.0).hz for size in (3e-5, 1e-4, 3e-4, 1e-3, 3e-3)]
    assert cutoffs == sorted(cutoffs, reverse=True)


def test_order_of_channels_direction_of_time_place_and_speed_do_not_matter():
    t, x, _ = gait(120.0)
    x = x + 3e-4 * np.random.default_rng(5).standard_normal(x.shape)
    chosen = choose_cutoff(x, 120.0)
    for same in (x[:, ::-1], x[::-1], x + [5.0, -100.0, 1e3], x + t[:, None] * [3.0, 0.0, -2.0], x.reshape(-1, 1, 3)):
        assert choose_cutoff(same, 120.0).hz == pytest.approx(chosen.hz)
    assert choose_cutoff(x, 120.0, lowest=9.0).hz == pytest.approx(max(chosen.hz, 9.0), rel=0.05)


@pytest.mark.parametrize("frames", [1, 2, 15, 16, 24, 40])
def test_short_clips_have_an_answer(frames):
    rng = np.random.default_rng(frames)
    chosen = choose_cutoff(rng.standard_normal((frames, 3)), 24.0)
    assert LOWEST <= chosen.hz <= 12.0 and chosen.reason.endswith(".")


def test_stillness_and_nonsense():
    assert choose_cutoff(np.zeros((100, 3)), 60.0).hz == 30.0
    assert choose_cutoff(np.full((100, 3), 0.1), 60.0).hz == 30.0
    with pytest.raises(InputError, match="not finite at sample 7"):
        x = np.zeros((20, 3))
        x[7, 1] = np.inf
        choose_cutoff(x, 60.0)
    with pytest.raises(InputError, match="rate of -1"):
        choose_cutoff(np.zeros((20, 3)), -1.0)
    with pytest.raises(InputError, match="lowest"):
        choose_cutoff(np.zeros((20, 3)), 60.0, lowest=0.0)


def columns(path, *names):
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return np.array([[float(row[name]) for name in names] for row in rows])


@pytest.mark.data
def test_measured_forces_of_a_raw_walk():
    # OpenSim's own centre of mass from raw inverse kinematics, against force plates. 4 to 7 Hz are known to be good.
    grf = columns(data_file("force-bvh/walk3d_ik_raw_grf.csv"), "time", "total_fx", "total_fy", "total_fz", "valid")
    center = columns(data_file("force-bvh/walk3d_ik_raw_reference.csv"), "com_x", "com_y", "com_z")
    times, force, valid, mass = grf[:, 0], grf[:, 1:4], grf[:, 4] == 1, 85.27

    def percent(cutoff):
        a = smooth_positions(center, times, cutoff).acceleration
        e = (mass * (a + [0.0, 9.81, 0.0]) - force)[valid] / (mass * 9.81)
        return 100 * float(np.sqrt(np.mean(e**2)))

    chosen = choose_cutoff(center, 100.0)
    assert 4.0 < chosen.hz < 7.0
    assert percent(chosen.hz) < 3.5 < 0.2 * percent(None)


@pytest.mark.data
@pytest.mark.parametrize("trial", ["walk3d_ik", "walk3d_raw", "walk3d"])
def test_walks_that_are_smooth_already_are_left_alone(trial):
    center = columns(data_file(f"force-bvh/{trial}_reference.csv"), "com_x", "com_y", "com_z")
    times = np.arange(len(center)) / 100.0
    raw = position_derivatives(center, times).acceleration
    kept = smooth_positions(center, times, choose_cutoff(center, 100.0).hz).acceleration
    assert np.sqrt(np.mean((kept - raw)[10:-10] ** 2)) < 0.05

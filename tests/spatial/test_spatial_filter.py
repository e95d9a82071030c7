"""The two-pass Butterworth filter, against SciPy's filtfilt, the printed recursion and the gain it must have."""

import math

import numpy as np
import pytest
from scipy import signal

from poise.errors import InputError
from poise.spatial import rotation
from poise.spatial.filter import CORRECTION, gain, lowpass, lowpass_rotations, uniform_rate

rng = np.random.default_rng(8)
RATES = (24.0, 30.0, 60.0, 120.0, 240.0)


def recursion(x, rate, cutoff):
    """One pass of mix, eq 10 and 11, with Winter's K1 = sqrt(2) w_c."""
    wc = math.tan(math.pi * cutoff / rate) / CORRECTION
    k1, k2 = math.sqrt(2) * wc, wc**2
    a0 = k2 / (1 + k1 + k2)
    k3 = 2 * a0 / k2
    b1, b2 = -2 * a0 + k3, 1 - 2 * a0 - k3
    y = x.copy()
    for i in range(2, len(x)):
        y[i] = a0 * (x[i] + 2 * x[i - 1] + x[i - 2]) + b1 * y[i - 1] + b2 * y[i - 2]
    return y


@pytest.mark.parametrize("rate", RATES)
def test_far_from_the_ends_it_is_the_printed_recursion_run_twice(rate):
    x = np.cumsum(rng.standard_normal(4000)) * 0.01
    cutoff = 0.15 * rate
    twice = recursion(recursion(x, rate, cutoff)[::-1], rate, cutoff)[::-1]
    middle = slice(500, -500)
    np.testing.assert_allclose(lowpass(x, rate, cutoff)[middle], twice[middle], atol=1e-9)


def test_far_from_the_ends_it_is_scipys_filtfilt():
    rate, cutoff = 120.0, 6.0
    x = rng.standard_normal((3000, 2, 3))
    corner = rate / math.pi * math.atan(math.tan(math.pi * cutoff / rate) / 0.8022)
    b, a = signal.butter(2, corner / (rate / 2))
    np.testing.assert_allclose(
        lowpass(x, rate, cutoff)[400:-400], signal.filtfilt(b, a, x, axis=0)[400:-400], atol=1e-4
    )


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("share", [0.05, 0.2, 0.4, 0.49])
def test_half_the_power_is_left_at_the_cutoff_and_nothing_is_delayed(rate, share):
    cutoff = share * rate
    t = np.arange(6000) / rate
    wave = np.exp(2j * np.pi * cutoff * t)
    middle = slice(2000, -2000)
    out = (lowpass(wave.real, rate, cutoff) + 1j * lowpass(wave.imag, rate, cutoff))[middle] / wave[middle]
    np.testing.assert_allclose(out, 1 / np.sqrt(2), atol=1e-6)
    assert gain(cutoff, rate, cutoff) == pytest.approx(1 / np.sqrt(2))


def test_gain_is_that_of_both_passes_as_scipy_sees_them():
    rate, cutoff = 100.0, 7.0
    corner = rate / math.pi * math.atan(math.tan(math.pi * cutoff / rate) / CORRECTION)
    f = np.linspace(0.1, 49.9, 200)
    _, response = signal.freqz(*signal.butter(2, corner, fs=rate), worN=f, fs=rate)
    np.testing.assert_allclose(gain(f, rate, cutoff), np.abs(response) ** 2, atol=1e-12)
    assert gain(50.0, rate, cutoff) == pytest.approx(0.0, abs=1e-12)
    assert (gain(f, rate, 50.0) == 1.0).all()


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.45, 0.4999])
def test_a_parabola_passes_unchanged_up_to_its_ends(rate, share):
    t = np.arange(60) / rate
    x = np.stack([0.9 + 1.3 * t - 4.9 * t**2, 1000.0 - t, np.full_like(t, 3.0)], axis=-1)
    np.testing.assert_allclose(lowpass(x, rate, share * rate), x, rtol=0, atol=1e-7)


def test_acceleration_near_the_ends_beats_reflection():
    # A falling, swinging body with 1 mm of noise: RMS error of the second difference over the first and last 0.1 s.
    rate, cutoff = 120.0, 6.0
    t = np.arange(240) / rate
    truth = -9.81 - 0.05 * (2 * np.pi * 1.3) ** 2 * np.sin(2 * np.pi * 1.3 * t + 0.4)
    clean = -0.5 * 9.81 * t**2 + 0.05 * np.sin(2 * np.pi * 1.3 * t + 0.4)
    corner = rate / math.pi * math.atan(math.tan(math.pi * cutoff / rate) / CORRECTION)
    b, a = signal.butter(2, corner, fs=rate)
    ends = np.r_[1:13, -13:-1]
    errors = {"ours": [], "odd": [], "gust": []}
    for seed in range(40):
        x = clean + 1e-3 * np.random.default_rng(seed).standard_normal(len(t))
        for name, y in (
            ("ours", lowpass(x, rate, cutoff)),
            ("odd", signal.filtfilt(b, a, x, padlen=60)),
            ("gust", signal.filtfilt(b, a, x, method="gust")),
        ):
            errors[name].append((np.gradient(np.gradient(y, t), t) - truth)[ends])
    rms = {name: float(np.sqrt(np.mean(np.square(e)))) for name, e in errors.items()}
    assert rms["ours"] < 0.5 * rms["odd"] < 0.5 * rms["gust"], rms


@pytest.mark.parametrize("frames", [1, 2, 3, 4, 7, 20])
def test_clips_shorter_than_the_continuation(frames):
    x = rng.standard_normal((frames, 3))
    y = lowpass(x, 120.0, 2.0)
    assert y.shape == x.shape and np.isfinite(y).all()
    # Three points have one parabola through them: nothing to smooth.
    if frames <= 3:
        np.testing.assert_allclose(y, x, atol=1e-7)


def test_linear_reversible_and_channel_by_channel():
    x, y = rng.standard_normal((2, 90, 4))
    f = lambda v: lowpass(v, 60.0, 5.0)  # noqa: E731
    np.testing.assert_allclose(f(2 * x - y), 2 * f(x) - f(y), atol=1e-10)
    np.testing.assert_allclose(f(x[::-1])[::-1], f(x), atol=1e-7)
    np.testing.assert_allclose(f(x)[:, 2], f(x[:, 2]), atol=1e-12)
    np.testing.assert_array_equal(lowpass(x.T, 60.0, 5.0, axis=-1), f(x).T)


@pytest.mark.parametrize("cutoff", [30.0, 31.0, math.inf])
def test_from_half_the_rate_on_nothing_is_filtered(cutoff):
    x = rng.standard_normal((50, 2))
    y = lowpass(x, 60.0, cutoff)
    np.testing.assert_array_equal(y, x)
    assert y is not x


@pytest.mark.parametrize(
    ("x", "rate", "cutoff", "says"),
    [
        ([0.0, 1.0, np.nan], 60.0, 5.0, "not finite at sample 2"),
        ([0.0, 1.0], 60.0, 0.0, "cut-off of 0 Hz"),
        ([0.0, 1.0], 60.0, -3.0, "cut-off of -3 Hz"),
        ([0.0, 1.0], 60.0, math.nan, "cut-off of nan Hz"),
        ([0.0, 1.0], 0.0, 5.0, "rate of 0 Hz"),
        ([0.0, 1.0], math.inf, 5.0, "rate of inf Hz"),
        ([], 60.0, 5.0, "at least one sample"),
    ],
)
def test_what_cannot_be_filtered_is_refused(x, rate, cutoff, says):
    with pytest.raises(InputError, match=says):
        lowpass(np.array(x, float), rate, cutoff)


def tumble(t):
    spin = rotation.from_axis_angle(np.array([1.0, 2.0, -0.5]), 9.0 * t)
    return rotation.multiply(spin, rotation.from_axis_angle(np.array([0.0, 1.0, 1.0]), np.sin(7 * t)))


def test_rotations_are_filtered_whatever_their_signs_and_axes():
    t = np.arange(240) / 120.0
    q = rotation.multiply(tumble(t), rotation.exp(0.02 * rng.standard_normal((240, 3))))
    smooth = lowpass_rotations(q, 120.0, 10.0)
    flips = rng.choice([-1.0, 1.0], (240, 1))
    flips[0] = 1.0
    np.testing.assert_allclose(lowpass_rotations(q * flips, 120.0, 10.0), smooth, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(smooth, axis=-1), 1.0, atol=1e-14)
    # The filter knows no axes: turning parent and child first gives the turned result.
    left, right = rotation.random(rng, (2,))
    turned = rotation.multiply(left, rotation.multiply(q, right))
    expected = rotation.multiply(left, rotation.multiply(smooth, right))
    np.testing.assert_allclose(lowpass_rotations(turned, 120.0, 10.0), expected, atol=1e-10)
    assert rotation.angle(smooth, tumble(t)).mean() < 0.6 * rotation.angle(q, tumble(t)).mean()


def test_uniform_rate_takes_rounded_times_and_refuses_dropped_frames():
    assert uniform_rate(np.round(np.arange(500) / 120.0, 4)) == pytest.approx(120.0, rel=1e-3)
    times = np.arange(10) / 30.0
    with pytest.raises(InputError, match="the step after frame 4"):
        uniform_rate(np.delete(times, 5))
    with pytest.raises(InputError, match="at least two times"):
        uniform_rate(np.zeros(1))
    with pytest.raises(InputError, match="uniform rate"):
        uniform_rate(np.zeros(5))

"""The viscosity filter against the paper's own recursion and closed forms: step, ramp, noise, dropout.   [M2]"""

from __future__ import annotations

import math

import numpy as np
import pytest

from poise.errors import InputError
from poise.puppetry.viscosity import REACH, Viscosity
from poise.spatial import rotation

NONE = np.zeros((0, 4))
ALPHAS = (0.05, 0.3, 0.9, 1.0)


def run(alpha: float, times: np.ndarray, x: np.ndarray) -> np.ndarray:
    """What is felt of samples (F, N) at each of their times."""
    felt = Viscosity(alpha)
    out = []
    for t, row in zip(times, x, strict=True):
        assert felt.feel(float(t), row, NONE)
        out.append(felt.numbers.copy())
    return np.array(out)


def paper(alpha: float, x: np.ndarray, start: float = 0.0) -> np.ndarray:
    """Equation 1 as it is printed, begun `start` beside the first sample."""
    v = [x[0] + start, x[0] + start]
    for i in range(1, len(x)):
        v.append(v[-1] + (1.0 - alpha) * (v[-1] - v[-2]) + alpha * (x[i] - x[i - 1]))
    return np.array(v[1:])


@pytest.mark.parametrize("alpha", ALPHAS)
def test_at_sixty_hertz_it_is_the_papers_equation(alpha: float) -> None:
    x = np.cumsum(np.random.default_rng(1).normal(size=(1000, 2)), axis=0)
    felt = run(alpha, np.arange(len(x)) * REACH, x)
    assert np.abs(felt - paper(alpha, x)).max() < 1e-9
    # as printed it never forgets a wrong start: one metre stays one metre
    assert np.abs(paper(alpha, x, 1.0) - felt - 1.0).max() < 1e-9


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("rate", [60.0, 90.0, 240.0])
def test_a_step_is_felt_alike_at_every_rate(alpha: float, rate: float) -> None:
    times = np.concatenate([[-1.0 / rate], np.arange(int(rate)) / rate])
    felt = run(alpha, times, (times >= 0.0).astype(float)[:, None])[:, 0]
    # begun a sample before, as a sample speaks for the time since the one before
    assert np.allclose(felt, 1.0 - (1.0 - alpha) ** (np.maximum(times + 1.0 / rate, 0.0) / REACH), atol=1e-12)


def test_uneven_times_feel_like_even_ones() -> None:
    rng = np.random.default_rng(3)
    gaps = rng.uniform(0.001, REACH, 600)
    times = np.concatenate([[0.0], np.cumsum(gaps)])
    x = (times >= 0.5).astype(float)
    first = times[np.argmax(x) - 1]
    felt = run(0.2, times, x[:, None])[:, 0]
    wanted = np.where(x > 0.0, 1.0 - 0.8 ** ((times - first) / REACH), 0.0)
    assert np.abs(felt - wanted).max() < 1e-12


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("rate", [60.0, 240.0])
def test_a_ramp_lags_by_what_the_law_says(alpha: float, rate: float) -> None:
    times = np.arange(int(6 * rate)) / rate
    felt = run(alpha, times, 0.7 * times[:, None])[:, 0]
    a = 1.0 - (1.0 - alpha) ** (1.0 / rate / REACH)
    assert felt[-1] == pytest.approx(0.7 * times[-1] - 0.7 * (1.0 - a) / a / rate, abs=1e-6)


@pytest.mark.parametrize("alpha", (0.05, 0.3, 0.9))
def test_noise_is_as_much_less_as_theory_says_and_nothing_drifts(alpha: float) -> None:
    rng = np.random.default_rng(5)
    count = 900
    x = rng.normal(size=(count, 1500))
    felt = run(alpha, np.arange(count) * REACH, x)[count // 3 :]
    # of white noise a first-order filter leaves alpha / (2 - alpha) of the variance
    assert np.var(felt) == pytest.approx(alpha / (2.0 - alpha), rel=0.03)
    assert abs(felt.mean()) < 5.0 * math.sqrt(1.0 / felt.size)


def test_nothing_is_left_of_a_long_path_once_the_hand_is_back() -> None:
    rng = np.random.default_rng(6)
    way = np.cumsum(rng.normal(size=(5000, 1)), axis=0)
    x = np.concatenate([way, np.zeros((300, 1))])
    felt = run(0.3, np.cumsum(rng.uniform(0.002, 0.2, len(x))), x)
    assert abs(felt[-1, 0]) < 1e-12


def test_silence_is_a_hand_that_rests_and_who_comes_back_is_gone_to_gently() -> None:
    felt = Viscosity(0.3)
    felt.feel(0.0, np.zeros(1), NONE)
    felt.feel(REACH, np.ones(1), NONE)
    before = [float(felt.at(REACH + gap)[0][0]) for gap in np.linspace(0.0, 5.0, 400)]
    assert np.all(np.diff(before) >= 0.0) and before[-1] == pytest.approx(1.0, abs=1e-9)  # to where it was, no farther
    for gap in (0.02, 0.5, 30.0):
        other = Viscosity(0.3)
        other.feel(0.0, np.zeros(1), NONE)
        other.feel(gap, np.ones(1), NONE)
        assert other.numbers[0] == pytest.approx(0.3)  # by alpha of the way, however long it was silent


def test_what_cannot_be_used_is_counted_and_changes_nothing() -> None:
    felt = Viscosity(0.3)
    unit = np.array([[1.0, 0.0, 0.0, 0.0]])
    felt.feel(1.0, np.ones(2), unit)
    bad = [(0.5, np.ones(2), unit), (1.0, np.ones(2), unit), (math.nan, np.ones(2), unit),
           (2.0, np.array([1.0, np.nan]), unit), (2.0, np.ones(2), 0.0 * unit), (2.0, np.ones(3), unit)]  # fmt: skip
    assert not any(felt.feel(*sample) for sample in bad)
    assert felt.ignored == len(bad)
    assert np.array_equal(felt.at(9.0)[0], np.ones(2))


def test_turns_about_one_axis_are_felt_as_their_angle_whatever_their_sign() -> None:
    rng = np.random.default_rng(7)
    angle = np.cumsum(rng.normal(scale=0.05, size=200))
    times = np.cumsum(rng.uniform(0.004, 0.05, 200))
    axis = np.array([0.36, 0.48, 0.8])
    felt = Viscosity(0.25)
    alone = run(0.25, times, angle[:, None])[:, 0]
    for t, each, wanted in zip(times, angle, alone, strict=True):
        sign = rng.choice([-1.0, 1.0])
        felt.feel(float(t), np.zeros(0), sign * rotation.exp(each * axis)[None])
        apart = rotation.log(rotation.multiply(rotation.conjugate(felt.turns[0]), rotation.exp(wanted * axis)))
        assert np.linalg.norm(apart) < 1e-9


@pytest.mark.parametrize("alpha", [0.0, -1.0, 1.5, math.nan, "thick"])
def test_other_viscosities_are_refused(alpha: object) -> None:
    with pytest.raises(InputError, match="above 0"):
        Viscosity(alpha)  # type: ignore[arg-type]

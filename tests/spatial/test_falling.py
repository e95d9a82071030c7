"""The smooth path that falls where it must, against dense least squares, closed forms, and its own filter's gain."""

import numpy as np
import pytest

from poise.spatial.spline import FallingFit

G = np.array([0.0, -9.81, 0.0])


def nothing(frames):
    return np.zeros((frames, 3), bool), np.zeros((frames, 3))


def dense(x, h, period, known, acceleration):
    """The same problem in plain matrices, the known accelerations as exact constraints (a KKT system)."""
    n = len(x)
    place, bend = np.zeros((n, n + 2)), np.zeros((n, n + 2))
    for i in range(n):
        place[i, i : i + 3] = 1 / 6, 4 / 6, 1 / 6
        bend[i, i : i + 3] = 1, -2, 1
    rough = np.diff(bend, 2, axis=0)
    weight = (period / (2 * np.pi * h)) ** 8
    out = np.empty((n, 3))
    for axis in range(3):
        left = place.T @ place + weight * rough.T @ rough
        rows = bend[known[:, axis]]
        m = len(rows)
        kkt = np.block([[left, rows.T], [rows, np.zeros((m, m))]])
        right = np.concatenate([place.T @ x[:, axis], acceleration[known[:, axis], axis] * h**2])
        out[:, axis] = bend @ np.linalg.solve(kkt, right)[: n + 2] / h**2
    return out


@pytest.mark.parametrize("rate", [30.0, 60.0, 120.0])
@pytest.mark.parametrize("period", [0.05, 0.12, 0.25])
def test_it_is_the_constrained_least_squares_path(rate, period):
    rng = np.random.default_rng(4)
    x = np.cumsum(0.01 * rng.standard_normal((50, 3)), axis=0)
    known = np.zeros((50, 3), bool)
    known[12:20] = True
    known[30:34, [0, 2]] = True
    acceleration = np.tile(G, (50, 1))
    path = FallingFit(50, rate, period).fit(x, known, acceleration)
    expected = dense(x, 1 / rate, period, known, acceleration)
    np.testing.assert_allclose(path.acceleration, expected, atol=2e-3 * np.abs(expected).max())
    np.testing.assert_array_equal(path.acceleration[known], acceleration[known])


@pytest.mark.parametrize("period", [0.02, 0.1, 0.3])
def test_a_thrown_stone_is_left_alone_wherever_it_is_told_to_fall(period):
    t = np.arange(80) / 100.0
    stone = np.array([3.0, 1.0, -2.0]) * t[:, None] + [40.0, 2.0, 7.0] + 0.5 * G * t[:, None] ** 2
    known = np.zeros((80, 3), bool)
    known[20:60] = True
    path = FallingFit(80, 100.0, period).fit(stone, known, np.tile(G, (80, 1)))
    np.testing.assert_allclose(path.place, stone, atol=1e-7)
    np.testing.assert_allclose(path.acceleration[5:-5], np.tile(G, (70, 1)), atol=1e-3)


@pytest.mark.parametrize("frequency", [1.0, 4.0, 5.0, 8.0])
def test_half_of_a_motion_of_the_period_passes(frequency):
    rate, period = 200.0, 0.2
    t = np.arange(1600) / rate
    wave = np.sin(2 * np.pi * frequency * t)
    path = FallingFit(len(t), rate, period).fit(np.stack([wave] * 3, axis=1), *nothing(len(t)))
    inside = slice(400, 1200)
    gain = np.linalg.lstsq(wave[inside, None], path.place[inside, 1], rcond=None)[0][0]
    assert gain == pytest.approx(1 / (1 + (frequency * period) ** 8), abs=0.03)


def test_no_digits_are_lost_far_from_the_origin():
    rng = np.random.default_rng(1)
    x = np.cumsum(0.01 * rng.standard_normal((200, 3)), axis=0)
    fit = FallingFit(200, 120.0, 0.15)
    near, far = (fit.fit(x + shift, *nothing(200)) for shift in (0.0, 5000.0))
    np.testing.assert_allclose(near.acceleration, far.acceleration, atol=1e-5 * np.abs(near.acceleration).max())


@pytest.mark.parametrize("rate", [240.0, 500.0, 1000.0])
def test_a_high_rate_gives_the_same_forces(rate):
    """Knots stay 8 ms apart or more: neither smoothing nor precision depends on how finely a motion was sampled."""

    def fitted(rate):
        t = np.arange(0, 2, 1 / rate)
        x = np.stack([np.sin(3 * t), np.cos(5 * t) + 0.1 * np.sin(40 * t), 2 * t], axis=1)
        known = np.repeat(((t > 0.8) & (t < 1.0))[:, None], 3, axis=1)
        return t, FallingFit(len(t), rate, 0.2).fit(x, known, np.tile(G, (len(t), 1))).acceleration

    (t, coarse), (fine_t, fine) = fitted(120.0), fitted(rate)
    found = np.stack([np.interp(t, fine_t, fine[:, axis]) for axis in range(3)], axis=1)
    inside = slice(12, -12)
    assert np.sqrt(np.mean((found - coarse)[inside] ** 2)) < 0.1 * np.sqrt(np.mean(coarse[inside] ** 2))

"""One joint that swings, against SciPy's integration and closed forms, at any frame step.   [M5, M9]"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from poise.puppetry import joint_kernels as kernels

FAR = 1e9
STEPS = (0.008, 1.0 / 60.0, 0.033)


def run(angle: float, speed: float, dt: float, seconds: float, *numbers: float) -> np.ndarray:
    """(N,) angles after every frame."""
    found, pendulum = [], kernels.Pendulum(*numbers[:7])
    for _ in range(round(seconds / dt)):
        angle, speed = kernels.step_pendulum(angle, speed, dt, pendulum, *numbers[7:])
        found.append(angle)
    return np.array(found)


def integrate(angle: float, speed: float, times: np.ndarray, *numbers: float) -> np.ndarray:
    """The same by another's integrator, of the equation as it is written."""
    inertia, pull, hang, k, b, target, push = numbers

    def rate(_t: float, x: np.ndarray) -> list[float]:
        return [x[1], (push - pull * math.sin(x[0] - hang) + k * (target - x[0]) - b * x[1]) / inertia]

    found = solve_ivp(rate, (0.0, times[-1]), [angle, speed], t_eval=times, rtol=1e-10, atol=1e-12)
    return np.asarray(found.y[0])


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize(
    ("numbers", "begin"),
    [
        ((0.4, 11.0, 0.2, 0.0, 0.0, 0.0, 0.0), (1.4, 0.0)),  # a free pendulum, far out
        ((0.4, 11.0, -0.9, 0.0, 0.35, 0.0, 0.0), (0.3, -4.0)),  # damped
        ((0.4, 11.0, 0.0, 140.0, 10.0, 1.1, 9.0), (0.0, 0.0)),  # on a firm spring
        ((0.07, 2.8, 3.0, 30.0, 1.0, 0.4, 0.0), (0.1, 5.0)),  # upside down
        ((0.01, 0.0, 0.0, 0.0, 0.2, 0.0, 0.0), (0.0, 9.0)),  # nothing but a damper
    ],
)
def test_pendulum_matches_scipy(dt: float, numbers: tuple[float, ...], begin: tuple[float, float]) -> None:
    times = dt * np.arange(1, round(3.0 / dt) + 1)
    found = run(*begin, dt, times[-1] + 1e-9, *numbers, -FAR, FAR)
    assert np.abs(found - integrate(*begin, times, *numbers)).max() < 2e-4


@pytest.mark.parametrize("dt", [0.001, *STEPS, 0.25])
@pytest.mark.parametrize("stiffness", [1e-3, 1.0, 1e4, 1e9])
@pytest.mark.parametrize("damping", [0.0, 1.0, 1e6])
def test_pendulum_is_stable_at_any_stiffness_and_damping(dt: float, stiffness: float, damping: float) -> None:
    found = run(1.0, -3.0, dt, 100 * dt, 0.1, 2.0, 0.5, stiffness, damping, 0.2, 0.0, -FAR, FAR)
    # what it had at first, of height and of speed, is all that it can ever have
    most = 0.8 + 3.0 / math.sqrt(stiffness / 0.1) + (4.0 + 30.0) / max(stiffness, 2.0) + 3.0
    assert np.isfinite(found).all() and np.abs(found - 0.2).max() < most


def test_pendulum_at_rest_does_not_move_by_a_bit() -> None:
    push = 11.0 * math.sin(0.9 - 0.3)
    assert np.all(run(0.9, 0.0, 0.033, 60.0, 0.4, 11.0, 0.3, 3.0, 0.1, 0.9, push, -FAR, FAR) == 0.9)


@pytest.mark.parametrize("dt", STEPS)
def test_pendulum_stays_in_its_range_without_rebound(dt: float) -> None:
    found = run(1.0, -12.0, dt, 2.0, 0.4, 11.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0)
    assert found.min() >= 0.0
    assert (
        np.all(np.diff(found) <= 0.0) and found[-1] < 1e-6
    )  # it hangs beyond its range: it comes to the end and stays


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_stiffness_factor_is_a_gaussian_about_the_vertical(share: float) -> None:
    for u in np.linspace(-3.0, 3.0, 31):
        wanted = 1.0 - share * math.exp(-0.5 * (math.remainder(u - 0.4, 2.0 * math.pi) / 0.2) ** 2)
        assert kernels.find_stiffness_factor(u, 0.4, share, 0.2) == pytest.approx(wanted, abs=1e-12)


def test_hanging_angle_has_the_lowest_center() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        down, center = rng.normal(size=3), rng.normal(size=3)
        down /= np.linalg.norm(down)
        hang, share = kernels.find_hanging_angle(down[1], down[2], center[1], center[2])
        angles = np.linspace(-math.pi, math.pi, 20001)
        y = center[1] * np.cos(angles) - center[2] * np.sin(angles)
        z = center[1] * np.sin(angles) + center[2] * np.cos(angles)
        best = angles[np.argmax(down[1] * y + down[2] * z)]
        assert abs(math.remainder(hang - best, 2.0 * math.pi)) < 1e-3
        assert share == pytest.approx(math.hypot(down[1], down[2]))


def test_foot_torque_is_that_of_the_weight_along_the_shin() -> None:
    """Equations 11 and 12 with the mass: vectors in three dimensions, against the planar formula."""
    rng = np.random.default_rng(4)
    for _ in range(50):
        pitch, lean = rng.uniform(-0.6, 0.6), rng.uniform(-0.7, 0.7)
        lever = np.array([0.0, 0.07, rng.choice([0.06, -0.11])])
        shin = np.array([0.0, -math.cos(lean), math.sin(lean)])
        turned = np.array([0.0, lever[1] * math.cos(pitch) - lever[2] * math.sin(pitch),
                           lever[1] * math.sin(pitch) + lever[2] * math.cos(pitch)])  # fmt: skip
        weight = 75.0 * np.array([0.0, -9.81, 0.0])
        along = (weight @ shin) * shin
        wanted = np.cross(turned, along)[0] / (75.0 * lever @ lever)
        found = kernels.compute_foot_torque(pitch, kernels.Shin(lever[1], lever[2], shin[1], shin[2]), 9.81)
        assert found == pytest.approx(wanted)
        # the paper's |g| cos(alpha) cos(beta - pi/2) r, beta between the shin and the line from hinge to ankle
        size = np.linalg.norm(lever)
        beta = math.acos(np.clip(turned @ shin / size, -1.0, 1.0))
        assert abs(found) == pytest.approx(9.81 * math.cos(lean) * math.cos(beta - math.pi / 2.0) / size)

"""What a balance makes of a clip's centre of mass: dynamics that the soles can give, and no more change than that."""

from __future__ import annotations

import numpy as np
import pytest

from poise.drivers.balance.reference import BEGINNING, GENTLE, _calm, _fade, _fade_calmly, _find_feasible
from poise.drivers.balance.support_polygon import SupportPolygon

RATE = 120.0
# A support of 0.2 by 0.2 m.
SQUARE = SupportPolygon(np.array([[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]]), 4)


def pressure(center: np.ndarray, above: np.ndarray, lifting: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """s = c - (h c'' - M / m) / (g + lift), by central differences, without the two ends."""
    pull = (center[2:] - 2.0 * center[1:-1] + center[:-2]) * RATE**2
    return center[1:-1] - (above[1:-1, None] * pull - moment[1:-1]) / (9.81 + lifting[1:-1, None])


def motion(size: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    t = np.arange(360) / RATE
    center = size * np.stack([np.sin(5 * t), 0.6 * np.sin(7 * t + 1.0)], axis=-1)
    return center, 0.9 + 0.05 * np.sin(3 * t), -0.45 * np.sin(3 * t), 0.1 * np.stack([np.cos(4 * t), np.sin(6 * t)], -1)


def test_what_the_soles_can_give_stays_as_it_is() -> None:
    asked = motion(0.01)
    assert np.abs(pressure(*asked)).max() < 0.1
    found = _find_feasible(*asked, RATE, SQUARE)
    assert np.abs(found - asked[0]).max() < 1e-9


@pytest.mark.parametrize("size", [0.05, 0.3])
def test_more_than_that_is_brought_within_them(size: float) -> None:
    center, above, lifting, moment = motion(size)
    assert np.abs(pressure(center, above, lifting, moment)).max() > 0.1, "it asks for more"
    found = _find_feasible(center, above, lifting, moment, RATE, SQUARE)
    assert np.abs(pressure(found, above, lifting, moment)).max() < 0.1 + 1e-9


def test_a_fade_begins_as_told_and_ends_at_rest() -> None:
    found = _fade(np.array([0.3]), np.array([-2.0]), 240, RATE)[:, 0]
    assert found[0] == 0.3
    assert (found[1] - found[0]) * RATE == pytest.approx(-2.0, abs=0.2)
    end = int(BEGINNING * RATE) + 1
    assert np.all(found[end:] == 0.0)
    assert abs(found[end - 1] - found[end - 2]) * RATE < 0.1


@pytest.mark.parametrize("size", [0.001, 0.02, 0.06])
def test_a_calm_fade_takes_as_long_as_a_gentle_push_needs(size: float) -> None:
    found = _fade_calmly(np.array([0.6, -0.8]) * size, 600, RATE)
    np.testing.assert_allclose(found[0], np.array([0.6, -0.8]) * size)
    assert np.all(found[480:] == 0.0)
    pull = np.linalg.norm(np.diff(found, 2, axis=0), axis=1) * RATE**2
    assert pull.max() < 1.001 * GENTLE
    assert pull[0] < 0.1 * GENTLE, "it begins at rest"


@pytest.mark.parametrize("frames", [30, 90, 400])
def test_hips_that_are_thrown_ask_less_of_the_ground_however_short_the_clip(frames: int) -> None:
    """Also where the clip is shorter than what is smoothed at once."""
    rate = 480.0
    above = 0.9 + 0.1 * np.sin(2.0 * np.pi * 4.0 * np.arange(frames) / rate)
    found = _calm(above, rate, 9.81)
    pulls = [np.abs(np.diff(each, 2) * rate**2).max() for each in (above, found)]
    assert found.shape == above.shape and pulls[0] > 40.0
    assert pulls[1] < 0.3 * pulls[0]

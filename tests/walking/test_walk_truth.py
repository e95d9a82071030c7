"""One truth about who carries when: what was planned is what is played, and what was played is not planned anew."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from helpers.kinematics import margin_in_hull
from poise.walking.gait import Gait
from poise.walking.start import start_walk


@pytest.mark.parametrize(("height", "mass", "pace"), [(1.75, 75.0, 1.4), (1.9, 120.0, 2.0)])
@pytest.mark.slow
def test_steps_that_take_longer_are_what_the_path_was_found_for(height: float, mass: float, pace: float) -> None:
    """Down stairs at a pace that balance cannot keep up with: times are changed again and again, heels are up early."""
    body, ground = poise.Character.human(height, mass), poise.Stairs(-0.17, 0.29, 20, 0.6, 0.0)
    walker = start_walk(body, ground, 5, manner=Gait(pace=pace)).walker
    seen = []
    while np.isfinite(walker._known):
        times = np.arange(max(walker._known - 1.5, 0.0), walker._known - 1e-6, 0.05)
        seen.append((times, look(walker, times)))
        walker.reach(walker._known + 1e-6)
    for times, before in seen:
        np.testing.assert_allclose(look(walker, times), before, atol=1e-12)
    margins = []
    for t in np.arange(0.0, walker.end, 0.025):
        carries = np.concatenate(walker.course.carriers_at(float(t)))[:, [0, 2]]
        margins.append(margin_in_hull(carries, walker.center.at(float(t))[0]))
    assert min(margins) > walker.manner.margin - walker.worst - 0.002 and walker.worst < 0.006


def look(walker, times):
    """Both feet and the centre of mass at times (F,), in a row each."""
    feet = [part for foot in walker.feet_at(times) for part in (foot.place, foot.turn)]
    return np.concatenate([*feet, walker.center.places(times), walker.height.places(times)], axis=1)

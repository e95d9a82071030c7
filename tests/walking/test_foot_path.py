"""How a foot goes: smooth to the acceleration, and what carries stays."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from poise import Character
from poise.spatial import rotation
from poise.walking.feet.foot import build_feet
from poise.walking.feet.stance import FootStance, FootSwing
from poise.walking.steps import StepPlan, Timing

TIMING = Timing(0.5, 0.6, 0.2, 0.2, np.radians(14.0), np.radians(24.0))


def make(preset: str) -> StepPlan:
    feet = build_feet(Character.human(1.75, 75.0, preset=preset))
    places = [np.array([0.08, 0.0, 0.0]), np.array([-0.08, 0.0, 0.0])]
    course = StepPlan(feet, tuple([FootStance(place, rotation.identity())] for place in places))  # type: ignore[arg-type]
    turn = rotation.multiply(rotation.exp(np.array([0.0, 0.3, 0.0])), rotation.exp(np.array([-0.1, 0.0, 0.05])))
    step = course.add(0, FootStance(np.array([0.1, 0.1, 0.4]), turn), FootSwing(0.06, tip=0.3), 0.5, TIMING)
    course.add(1, FootStance(np.array([-0.05, 0.2, 0.8]), turn), FootSwing(0.1, early=0.1), step.land, TIMING)
    course.add(0, FootStance(np.array([0.1, 0.2, 1.1]), turn), FootSwing(0.06), step.land + 1.1, TIMING)
    return course


@pytest.mark.parametrize("preset", ["full", "mix"])
@pytest.mark.parametrize("side", [0, 1])
def test_feet_go_smoothly(preset: str, side: int) -> None:
    """Place and orientation have no jump in velocity, and none in acceleration but for round-off."""
    course, h = make(preset), 1e-3
    times = np.arange(0.3, 4.2, h)
    states = course.follow(side, times)
    speed = np.diff(states.place, axis=0) / h
    bend = np.diff(speed, axis=0) / h
    turns = Rotation.from_quat(states.turn, scalar_first=True)
    spin = (turns[:-1].inv() * turns[1:]).as_rotvec() / h
    whirl = np.diff(spin, axis=0) / h
    assert np.abs(bend).max() < 80.0 and np.abs(whirl).max() < 400.0
    # accelerations are continuous: their steps are as small as the jerk allows
    assert np.abs(np.diff(bend, axis=0)).max() < 2.0 and np.abs(np.diff(whirl, axis=0)).max() < 12.0


@pytest.mark.parametrize("preset", ["full", "mix"])
def test_what_carries_does_not_move(preset: str) -> None:
    course = make(preset)
    for side in range(2):
        foot = course.feet[side]
        for stance in course.stances[side]:
            begin, end = max(stance.land, 0.0), min(stance.off, 6.0)
            times = np.linspace(begin, end, 40)
            states = course.follow(side, times)
            turns = Rotation.from_quat(states.turn, scalar_first=True)
            heel = np.stack([states.place + turns.apply(point) for point in foot.back], axis=1)
            ball = states.place + turns.apply(foot.ball)
            early, late = times <= stance.rise, times >= stance.flat
            np.testing.assert_allclose(heel[early], np.broadcast_to(heel[early][0], heel[early].shape), atol=1e-12)
            np.testing.assert_allclose(ball[late], np.broadcast_to(ball[late][0], ball[late].shape), atol=1e-12)
            if foot.toes >= 0:  # toes stay as they lie
                toes = turns * Rotation.from_rotvec(-np.outer(states.bend, foot.hinge))
                flat = Rotation.from_quat(stance.turn, scalar_first=True)
                assert (flat.inv() * toes[late]).magnitude().max() < 1e-9


def test_steps_can_be_forgotten() -> None:
    course = make("full")
    before = course.follow(0, np.linspace(0.0, 1.5, 20)).place
    course.drop_from(1)
    assert len(course.steps) == 1 and len(course.stances[1]) == 1
    np.testing.assert_array_equal(course.follow(0, np.linspace(0.0, 1.5, 20)).place, before)


def test_the_body_hangs_from_a_foot_that_is_down() -> None:
    course = make("full")
    for t in np.arange(0.0, 4.0, 0.01):
        side = course.support_at(float(t))
        assert len(course.carriers_at(float(t))[side])

"""Springs of a trunk that nobody drives, with `paper` coupling: they lean against the arms, and nothing jumps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from poise import Balance, Character, Clip, Driver, Kinematic, Load, Stage
from poise.stage.actor import Actor

HUMAN = Character.human(1.75, 75.0)
HANDS = "leftHand", "rightHand"


def lift(mass: float = 2.0, **asked: float) -> Actor:
    """Somebody who lifts a mass (kg) in each hand to the front within 0.7 s, and keeps it there."""
    actor = Stage(couple="paper").add(HUMAN, loads=[Load(hand, mass) for hand in HANDS])
    actor.drive("legs", Balance(**asked))
    actor.drive("arms", Kinematic(poise.gestures.lift_arms(hold=5.0)))
    return actor


def find_tilt(clip: Clip, role: str) -> np.ndarray:
    """(F,) degrees by which a body segment leans forward."""
    turns = clip.world[1][:, clip.skeleton.index(role)]
    up = Rotation.from_quat(turns[:, [1, 2, 3, 0]]).apply([0.0, 1.0, 0.0])
    return np.degrees(np.arctan2(up[:, 2], up[:, 1]))


def test_under_lifted_arms_the_trunk_leans_back_and_the_head_stays_level() -> None:
    clip = lift().stage.run(2.5, fps=50).clip()
    hips, chest, head = (find_tilt(clip, role)[100:] for role in ("hips", "upperChest", "head"))
    assert hips.max() < -1.5
    assert (chest - hips).max() < -1.5
    assert np.abs(head).max() < 2.0
    moved = clip.positions[100:, :, 2] - clip.positions[0, :, 2]
    for role, least in (("hips", 0.02), ("neck", 0.05), ("head", 0.05)):
        assert moved[:, clip.skeleton.index(role)].max() < -least, role


def test_without_a_counter_lean_the_springs_hold_the_trunk_upright() -> None:
    clip = lift(counter_lean=0.0).stage.run(2.5, fps=50).clip()
    for role in ("hips", "upperChest", "head"):
        assert np.abs(find_tilt(clip, role)[100:]).max() < 1.0, role


def test_the_trunk_takes_part_in_a_gesture() -> None:
    def bow(share: float) -> float:
        actor = Stage(couple="paper").add(HUMAN)
        actor.drive("legs", Balance())
        actor.drive("arms", Kinematic(poise.gestures.conduct(hands="both", takes_part=share)))
        clip = actor.stage.run(3.0, fps=50).clip()
        return float((find_tilt(clip, "upperChest") - find_tilt(clip, "hips"))[50:].mean())

    assert bow(1.0) - bow(0.0) > 0.5


@pytest.mark.parametrize("legs", [Balance(), Balance(counter_lean=4.0), Balance(counter_lean=0.0)])
def test_other_legs_do_not_jerk_a_trunk_that_leans(legs: Driver) -> None:
    """Angular accelerations of trunk and head stay those of a trunk that goes over to another pose."""
    actor = lift()
    stage = actor.stage
    stage.run(3.0)
    actor.drive("legs", legs)
    record = stage.run(1.0, fps=1.0 / stage.dt).actor()
    trunk = [HUMAN.skeleton.index(role) for role in ("spine", "chest", "upperChest", "neck", "head")]
    pushed = np.diff(record.angular_velocity[:, trunk], axis=0) / stage.dt
    assert np.abs(pushed[:3]).max() < 1.0
    assert np.abs(pushed).max() < 6.0

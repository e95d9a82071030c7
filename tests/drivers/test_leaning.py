"""Springs of a trunk that nobody drives, with `paper` coupling: they lean against the arms, and nothing jumps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from poise import Balance, Character, Clip, Kinematic, Load, Stage
from poise.extend import Driver
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


@pytest.mark.parametrize("character", [Character.human(1.05, 17.0), HUMAN, Character.human(2.4, 200.0)])
@pytest.mark.parametrize(
    ("gesture", "most"),
    [
        (poise.gestures.conduct(60, hands="both", size=1.5), 2.0),
        (poise.gestures.conduct(120, hands="both", size=1.5), 2.5),
        (poise.gestures.conduct(180, hands="both", size=1.5), 2.5),
        (poise.gestures.lift_arms(), 3.5),
    ],
    ids=["60", "120", "180", "lift"],
)
def test_quick_arms_do_not_tip_the_head(gesture: poise.Gesture, most: float, character: Character) -> None:
    """In degrees; trunk and head of springs that did not know what arms put on them tipped by 4 to 12."""
    actor = Stage(couple="paper").add(character)
    actor.drive("legs", Balance())
    actor.drive("arms", Kinematic(gesture))
    clip = actor.stage.run(3.0, fps=50).clip()
    assert np.abs(find_tilt(clip, "head")).max() < most


def test_springs_that_carry_the_arms_still_give_way_to_a_push() -> None:
    """As much under arms that conduct as under arms that hang."""
    bends = []
    for pushed in ("head", "upperChest"):
        for arms in (None, poise.gestures.conduct(92, hands="both")):
            tilts = []
            for force in (0.0, -40.0):
                actor = Stage(couple="paper").add(HUMAN)
                actor.drive("legs", Balance())
                if arms is not None:
                    actor.drive("arms", Kinematic(arms))
                actor.push(pushed, (0.0, 0.0, force), 0.3, 1.0)
                tilts.append(find_tilt(actor.stage.run(1.4, fps=50).clip(), "head"))
            bends.append(float(np.abs(tilts[1] - tilts[0]).max()))
    assert min(bends) > 3.0
    assert bends[1] == pytest.approx(bends[0], rel=0.2) and bends[3] == pytest.approx(bends[2], rel=0.2)

"""Hands that help: who would fall stands, where they go by forward kinematics, and who does not help."""

from __future__ import annotations

import math

import numpy as np
import pytest

import poise
from helpers.stages import check_goes_on
from poise.demos.shared.show import stand_still
from poise.drivers.body import Body
from poise.drivers.strength.hand_support import BACK, IDLE, ON, REACHING, HandSupport
from poise.drivers.strength.player import StrengthPlayer
from poise.drivers.strength.reference import CaptureShortfall
from poise.spatial import rotation
from poise.stage.actor import Actor

MAN = poise.Character.human(1.75, 75.0, sex="male", age=25, preset="strength")
DT = 1.0 / 30.0


def shove(wall: float | None) -> tuple[poise.Stage, Actor]:
    """Somebody who was shoved forward, by 0.6 m/s; a wall so far ahead."""
    stage = poise.Stage(engine="inverse", dt=DT, touch=poise.ContactSettings(itself=False))
    if wall is not None:
        stage.add_prop(poise.Prop.box("wall", (3.0, 3.0, 0.2), position=(0.0, 1.5, wall + 0.1)))
    actor = stage.add(MAN)
    actor.drive("body", poise.Strength(stand_still(MAN)))
    actor.push("chest", (0.0, 0.0, 75.0 * 0.6 / 0.2), 0.2, 0.2)
    return stage, actor


def player_of(actor: Actor) -> StrengthPlayer:
    player = actor.player("body")
    assert isinstance(player, StrengthPlayer)
    return player


def test_alone_it_falls() -> None:
    stage, actor = shove(None)
    stage.advance(54)
    assert actor.fallen is not None
    assert not player_of(actor).hands.state.any()


def test_hands_on_a_wall_hold_it_and_go_back() -> None:
    stage, actor = shove(0.9)
    seen, most, over, touching = set(), 0.0, 0.0, set()
    for _ in range(90):
        stage.step()
        player, touches = player_of(actor), actor.body.touches
        seen |= set(player.hands.state.tolist())
        over = max(over, float(np.max(player.torque - player.high)), float(np.max(player.low - player.torque)))
        own = [k for k, other in enumerate(touches.others) if other == "wall"]
        touching |= {MAN.skeleton.names[touches.joints[k]] for k in own}
        most = max(most, float(np.linalg.norm(touches.forces[own].sum(axis=0))) if own else 0.0)
    assert actor.fallen is None
    assert over <= 0.0
    assert seen == {IDLE, REACHING, ON, BACK}
    assert touching == {"leftHand", "rightHand"}
    assert 0.2 < most / (75.0 * 9.81) < 2.0  # the body is stopped, and not at one blow
    assert abs(actor.body.c[2]) < 0.1  # over its feet again


@pytest.mark.parametrize("degrees", [-40.0, 0.0, 35.0])
def test_arms_reach_a_wall_with_the_palm(degrees: float) -> None:
    """By forward kinematics: the wrist is a hand's thickness off the wall, the palm on it, the elbow bent."""
    a = math.radians(degrees)
    ahead = np.array([math.sin(a), 0.0, math.cos(a)])
    stage = poise.Stage(engine="inverse", dt=DT)
    stage.add_prop(
        poise.Prop.box(
            "wall", (3.0, 3.0, 0.2), position=0.5 * ahead + [0.0, 1.5, 0.0], turn=rotation.from_axis_angle([0, 1, 0], a)
        )
    )
    actor = stage.add(MAN)
    actor.drive("body", poise.Strength(stand_still(MAN)))
    stage.step()
    body, hands = actor.body, player_of(actor).hands
    assert hands.see(body)
    for k, arm in enumerate(hands.arms):  # left, right
        assert arm is not None
        face = hands._choose_face(body, arm, CaptureShortfall(0.1, 0.1 * ahead, ahead))
        if face is None:  # across the body
            assert (degrees > 0.0) == (k == 1) and degrees
            continue
        np.testing.assert_allclose(face.normal, -ahead, atol=1e-9)
        assert face.point @ ahead == pytest.approx(0.4, abs=1e-9)
        hands.state[k], hands.point[k], hands.normal[k] = ON, *face
        there = Body(MAN)
        there.put(body.state)
        for joint, turn in zip(arm.joints, hands.find_pose(body, k), strict=True):
            there.state.q[joint] = turn
        there.update()
        wrist = arm.joints[2]
        np.testing.assert_allclose(there.p[wrist], face.point + arm.radius * face.normal, atol=2e-3)
        assert there.R[wrist] @ arm.palm @ ahead > 0.8
        for joint, limits in zip(arm.joints, arm.limits, strict=True):
            assert limits is not None
            assert np.abs(limits.excess(there.state.q[joint])).max() < 1e-6


def test_a_hand_that_is_led_or_full_does_not_help() -> None:
    stage = poise.Stage(engine="inverse", dt=DT)
    stage.add_prop(poise.Prop.box("wall", (3.0, 3.0, 0.2), position=(0.0, 1.5, 0.6)))
    actor = stage.add(MAN, loads=[poise.Load("leftHand", 5.0)])
    actor.drive("body", poise.Strength(stand_still(MAN), effectors={"rightHand": "position"}))
    stage.step()
    hands = player_of(actor).hands
    assert not hands.see(actor.body)
    free = HandSupport(range(1, len(MAN.skeleton)))
    assert free.see(actor.body)
    assert free.arms[0] is None and free.arms[1] is not None


def test_who_tips_to_the_side_does_not_reach() -> None:
    stage, actor = shove(0.5)
    stage.step()
    hands = player_of(actor).hands
    hands.see(actor.body)
    for way in ([1.0, 0.0, 0.0], [0.0, 0.0, -1.0]):
        hands.choose(actor.body, CaptureShortfall(0.1, np.zeros(3), np.array(way)))
        assert not hands.state.any()
    hands.choose(actor.body, CaptureShortfall(0.1, np.array([0.0, 0.0, 0.1]), np.array([0.0, 0.0, 1.0])))
    assert set(hands.state.tolist()) == {REACHING}


def test_a_reach_that_was_saved_goes_on_with_the_same_bits() -> None:
    stage, actor = shove(0.7)
    stage.advance(22)
    assert player_of(actor).hands.state.any()
    check_goes_on(stage, 0.1)


def test_a_foot_that_a_shove_took_off_the_ground_is_put_down_again() -> None:
    """It hung in the air, and he fell over it a second later."""
    stage = poise.Stage(engine="inverse", dt=DT, touch=poise.ContactSettings(itself=False))
    actor = stage.add(MAN)
    actor.drive("body", poise.Strength(stand_still(MAN)))
    push = 75.0 * 0.6 / 0.2 / math.sqrt(2.0)
    actor.push("chest", (push, 0.0, push), 0.2, 0.2)
    foot, highest = MAN.skeleton.index("rightFoot"), 0.0
    began = actor.pose().root.copy()
    for _ in range(120):
        stage.step()
        highest = max(highest, float(actor.body.p[foot, 1]))
    assert highest > actor.body.p[foot, 1] + 0.01  # it came off
    assert actor.fallen is None
    assert player_of(actor).reference.feet.stands.all()
    assert np.abs(actor.pose().root - began).max() < 0.03

"""Events of overloaded joints (W13)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import poise
from poise.motion.gestures import conduct
from poise.stage.actor import Actor
from poise.stage.monitor.effort import SETTLING
from poise.stage.take.take import Event

GRAVITY = 9.81
ARM = ("rightUpperArm", "rightLowerArm", "rightHand")


def make_load(kg: float) -> poise.Load:
    """A load in the right palm, beyond the wrist."""
    return poise.Load("rightHand", kg, (-0.06, 0.0, 0.0))


def add_conductor(stage: poise.Stage, kg: float, name: str = "conductor") -> Actor:
    """Put an actor on the stage that conducts with a load in its right hand."""
    loads = [make_load(kg)] if kg else []
    actor = stage.add(poise.Character.human(1.75, 70.0, preset="mix"), name=name, loads=loads)
    actor.drive("legs", poise.Balance())
    actor.drive("rightArm", poise.Kinematic(conduct(hands="right")))
    return actor


def find_begun(events: Any, name: str = "conductor") -> list[Event]:
    return [event for event in events if event.kind == "effort" and event.actor == name]


@pytest.mark.parametrize("dt", [0.002, 0.005])
def test_overload_from_the_first_step_is_reported_for_each_joint(dt: float) -> None:
    stage = poise.Stage(dt=dt)
    actor = add_conductor(stage, 25.0)
    take = stage.run(0.3)
    begun = find_begun(take.events)
    assert [event.joint for event in begun] == list(ARM)
    assert all(event.time == pytest.approx(SETTLING) for event in begun)
    frame = int(np.argmin(np.abs(take.times - SETTLING)))
    for event in begun:
        assert event.effort == take.actor().effort[frame, actor.skeleton.index(event.joint)] > 1.0
        assert event.joint in event.message


def test_overload_of_an_actor_that_joins_later_is_reported_after_its_own_settling() -> None:
    stage = poise.Stage()
    add_conductor(stage, 0.0, "first")
    stage.run(0.3)
    add_conductor(stage, 40.0)
    begun = find_begun(stage.run(0.3).events)
    assert "rightUpperArm" in {event.joint for event in begun}
    assert min(event.time for event in begun) == pytest.approx(0.3 + SETTLING)


def test_overload_begins_when_a_load_is_picked_up_and_ends_when_it_is_dropped() -> None:
    stage = poise.Stage()
    actor = add_conductor(stage, 0.0)
    assert not find_begun(stage.run(0.4).events)
    actor.load(make_load(40.0))
    begun = find_begun(stage.run(0.2).events)
    assert {event.joint for event in begun if event.time == pytest.approx(0.4)} == set(ARM)
    assert sum(event.joint == "rightUpperArm" for event in begun) == 1  # not repeated in every frame
    actor.drop("rightHand")
    ended = [event for event in stage.run(0.1).events if event.kind == "effort-ended"]
    assert {event.joint for event in ended} >= {"rightUpperArm", "rightLowerArm"}
    assert all(event.effort < 0.9 for event in ended)


def test_overload_ends_when_a_physical_driver_takes_over() -> None:
    stage = poise.Stage()
    actor = add_conductor(stage, 40.0)
    stage.run(0.2)
    actor.drive("rightArm", poise.Loose())
    ended = [event.joint for event in stage.run(0.1).events if event.kind == "effort-ended"]
    assert sorted(ended) == sorted(ARM)


def test_listener_hears_an_overload_without_a_take_and_the_motion_stays_the_same() -> None:
    heard: list[Event] = []
    stages = [poise.Stage(), poise.Stage()]
    actors = [add_conductor(stage, 25.0) for stage in stages]
    actors[0].listen(heard.append)
    for stage in stages:
        stage.advance(20)
        stage.advance(30)
    assert {event.joint for event in heard} >= {"rightUpperArm"}
    assert actors[0].body.state.q.tobytes() == actors[1].body.state.q.tobytes()


def test_overload_is_not_reported_again_by_a_restored_state() -> None:
    stage = poise.Stage()
    actor = add_conductor(stage, 40.0)
    stage.run(0.2)
    saved, strained = stage.save(), actor.effort.strained.copy()
    assert strained.sum() == len(ARM)
    events = [(event.kind, event.joint, event.time) for event in stage.run(0.5).events]
    twin = poise.Stage()
    other = add_conductor(twin, 40.0)
    twin.restore(saved)
    assert np.array_equal(other.effort.strained, strained)
    assert [(event.kind, event.joint, event.time) for event in twin.run(0.5).events] == events


def test_effort_of_a_stretched_arm_grows_by_the_moment_of_the_load() -> None:
    """Two loads differ by the weight times the horizontal lever, over the strength of the shoulder."""
    found = []
    for kg in (15.0, 25.0):
        stage = poise.Stage()
        actor = stage.add(poise.Character.human(1.75, 70.0, preset="mix"), loads=[poise.Load("rightHand", kg)])
        skeleton = actor.skeleton
        still = np.tile([1.0, 0.0, 0.0, 0.0], (100, len(skeleton), 1))  # the rest pose: arms to the sides
        clip = poise.Clip(skeleton, np.arange(100) / 25.0, np.zeros((100, 3)), still)
        actor.drive("legs", poise.Balance())
        actor.drive("rightArm", poise.Kinematic(clip))
        take = stage.run(3.0)
        shoulder, hand = skeleton.index("rightUpperArm"), skeleton.index("rightHand")
        points = take.clip().world[0][-1]
        lever = np.linalg.norm((points[hand] - points[shoulder])[[0, 2]])
        assert "rightUpperArm" in {event.joint for event in find_begun(take.events, actor.name)}
        effort = np.median(take.actor().effort[-50:, shoulder])
        found.append((effort * actor.effort.strength[shoulder], lever))
    (less, lever), (more, _) = found
    assert more - less == pytest.approx(10.0 * GRAVITY * lever, rel=0.05)


def test_events_of_a_take_keep_joint_and_effort(tmp_path: Any) -> None:
    stage = poise.Stage()
    add_conductor(stage, 25.0)
    take = stage.run(0.2)
    take.save(tmp_path / "one.take.npz")
    assert poise.load_take(tmp_path / "one.take.npz").events == take.events
    assert find_begun(take.events)

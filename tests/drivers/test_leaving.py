"""An actor that others follow or wait for leaves the stage: they go on, and hold the last pose of who has left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import poise

BODY = poise.Character.human(1.75, 75)


def place(stage: poise.Stage, name: str, aside: float) -> Any:
    """An actor that stands so far (m) beside the middle."""
    pose = poise.Stage().add(BODY).pose()
    return stage.add(BODY, name, poise.Pose(pose.root + [aside, 0.0, 0.0], pose.rotations))


def test_walk_goes_on_when_the_actor_that_it_waits_for_leaves() -> None:
    stage = poise.Stage()
    walker, other = place(stage, "walker", 0.0), place(stage, "other", 0.6)
    walker.drive("body", poise.Walk(waits_for=other, near=0.62, far=0.65, blind=True))
    other.drive("legs", poise.Balance())
    stage.advance(800)
    waits_at = walker.pose().root[2]
    stage.advance(100)
    assert walker.pose().root[2] == pytest.approx(waits_at, abs=0.01)  # it stands, as it is to
    stage.remove(other)
    stage.advance(600)
    assert walker.pose().root[2] > waits_at + 0.5
    told = [event for event in stage.events if event.kind == "waits-no-longer"]
    assert [(event.actor, "'other'" in event.message) for event in told] == [("walker", True)]


def test_ghost_goes_on_without_its_shadow() -> None:
    """Its shadow is asked before it stands on its other foot: who has left never answers."""
    stage = poise.Stage()
    ghost, body = stage.add(BODY, "ghost"), stage.add(BODY, "body")
    ghost.drive("body", poise.Walk(waits_for=body, blind=True))
    body.drive("body", poise.Shadow(ghost))
    stage.advance(200)
    stage.remove(body)
    before = ghost.pose().root[2]
    stage.advance(800)
    assert ghost.pose().root[2] > before + 0.8


@pytest.mark.parametrize("driver", [poise.Kinematic, poise.Track])
def test_follower_holds_the_last_pose_of_who_has_left(driver: Any) -> None:
    stage = poise.Stage()
    leader, follower = place(stage, "leader", 0.9), place(stage, "follower", 0.0)
    leader.drive("body", poise.Walk())
    follower.drive("legs", poise.Balance())
    follower.drive("arms", driver(leader))
    stage.advance(250)
    stage.remove(leader)
    last = leader.pose()
    stage.advance(400)
    now = leader.pose()
    assert np.array_equal(now.root, last.root) and np.array_equal(now.rotations, last.rotations)
    arm = BODY.skeleton.index("leftUpperArm")
    assert abs(float(follower.pose().rotations[arm] @ last.rotations[arm])) > np.cos(0.01)

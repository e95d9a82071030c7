"""A state knows all of a driver: a stage that is set up alike goes on from it with the same bits, whatever came before.

What a player works out as it takes over (gains from the pose and the mass that a body has then) is not what a player of
a twin works out at its own start: it has to be in the state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import poise
from poise.stage.actor import Actor
from poise.stage.stage import Stage
from poise.stage.stance import stand_at_ease

HUMAN = poise.Character.human()  # it has toes, which bend under some drivers and not under others

DRIVERS: dict[str, tuple[str, Callable[[Actor], Any]]] = {
    "Kinematic": ("arms", lambda _other: poise.Kinematic(poise.gestures.conduct(100, 3, "both"))),
    "Loose": ("arms", lambda _other: poise.Loose(0.5, 0.5, relax=0.3)),
    "Track": ("upperBody", lambda other: poise.Track(other)),
    "Track by the paper": ("arms", lambda _other: poise.Track(poise.gestures.conduct(), 2000.0, law="paper")),
    "Balance": ("legs", lambda _other: poise.Balance(2.0)),
    "Balance, pinned": ("legs", lambda _other: poise.Balance(pinned=True)),
    "Walk": ("body", lambda _other: poise.Walk(3)),
    "Strength": ("arms", lambda _other: poise.Strength(poise.gestures.conduct())),
    "Shadow": ("body", lambda other: poise.Shadow(other, 8.0)),
}


def set_up(engine: str, loads: list[poise.Load]) -> tuple[Stage, Actor, Actor]:
    """Two who conduct, a step and a half apart: the second one is looked at."""
    stage, ease = Stage(engine), stand_at_ease(HUMAN)
    other = stage.add(HUMAN, "other", poise.Pose(ease.root + [1.5, 0.0, 0.0], ease.rotations))
    actor = stage.add(HUMAN, "actor", loads=loads)
    for each in (other, actor):
        each.drive("legs", poise.Balance())
        each.drive("upperBody", poise.Kinematic(poise.gestures.conduct()))
    return stage, actor, other


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
@pytest.mark.parametrize("name", DRIVERS)
def test_a_twin_goes_on_alike_from_somebody_who_was_loaded_and_pushed_since(engine: str, name: str) -> None:
    """Of `Shadow` neither the foot that was fixed nor how hard the other one is drawn came out alike."""
    if engine == "bullet":
        pytest.importorskip("pybullet")
    stage, actor, other = set_up(engine, [])
    stage.advance(20)
    part, make = DRIVERS[name]
    actor.drive(part, make(other))
    stage.advance(10)
    actor.load(poise.Load("leftFoot", 2.0))
    stage.advance(7)
    actor.push("spine", (60.0, 0.0, 20.0), 0.05)
    stage.advance(8)
    saved = stage.save()

    twin, same, another = set_up(engine, list(actor.loads))
    same.drive(part, make(another))
    twin.restore(saved)
    for each in (stage, twin):
        each.advance(12)
    for one, two in ((actor, same), (other, another)):
        np.testing.assert_array_equal(one.pose().rotations, two.pose().rotations)
        np.testing.assert_array_equal(one.pose().root, two.pose().root)


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
def test_a_shadow_that_has_changed_feet_is_restored(engine: str) -> None:
    """Its toes bend, so it has other shapes than a state was looked through for: it was refused."""
    if engine == "bullet":
        pytest.importorskip("pybullet")

    def make() -> tuple[Stage, Actor]:
        stage = Stage(engine, 0.01)
        ghost = stage.add(HUMAN, "ghost")
        ghost.drive("body", poise.Walk(3))
        body = stage.add(HUMAN, "body")
        body.drive("body", poise.Shadow(ghost, 5.0))
        return stage, body

    stage, body = make()
    feet = set()
    for _ in range(8):
        stage.advance(30)
        feet.add(body.player("body").pinned)  # type: ignore[attr-defined]
        saved = stage.save()
        twin, same = make()
        twin.restore(saved)
        for each in (stage, twin):
            each.advance(1)
        np.testing.assert_array_equal(body.body.state.w, same.body.state.w)
    assert feet == {0, 1}  # it was built anew, on its other foot

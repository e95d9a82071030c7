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
from poise.body.geometry.primitives import Box, Capsule
from poise.stage.actor import Actor
from poise.stage.stage import Stage
from poise.stage.standing import stand_at_ease

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
@pytest.mark.many(3)
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
@pytest.mark.slow
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


def list_contacts(stage: Stage) -> list[tuple[Any, ...]]:
    """Who touches whom in Bullet, where and how hard, as Bullet itself says."""
    found = []
    for group in stage.groups:
        world = group.simulation.world  # type: ignore[attr-defined]
        found += [point[1:] for point in world.bullet.getContactPoints(physicsClientId=world.client) or ()]
    return sorted(found)


@pytest.mark.slow
def test_a_twin_of_who_touches_nothing_touches_nothing() -> None:
    """Bullet takes contacts from states that have some, and otherwise kept those that the twin was built with."""
    pytest.importorskip("pybullet")

    def make() -> tuple[Stage, Actor]:
        stage = Stage("bullet", touch=poise.ContactSettings(itself=False))
        actor = stage.add(HUMAN)
        actor.drive("body", poise.Loose(1.0, 0.5))
        actor.drive("root", poise.Free())
        return stage, actor

    stage, actor = make()
    actor.push("hips", (0.0, 5000.0, 0.0), 0.1)
    stage.advance(60)
    assert actor.pose().root[1] > 2.0 and not list_contacts(stage)
    saved = stage.save()
    twin, same = make()
    twin.build()
    assert list_contacts(twin)  # its soles
    twin.restore(saved)
    assert not list_contacts(twin)
    for each in (stage, twin):
        each.advance(300)  # and lands
    np.testing.assert_array_equal(actor.pose().rotations, same.pose().rotations)
    assert list_contacts(stage) == list_contacts(twin) != []


@pytest.mark.slow
def test_a_twin_goes_on_alike_where_things_have_several_shapes() -> None:
    """Of two segments that touch with several shapes, Bullet restores the contacts of one."""
    pytest.importorskip("pybullet")
    staff = Capsule(np.array([0.0, -0.6, 0.0]), np.array([0.0, 0.6, 0.0]), 0.02)
    legs = [Box(np.array([x, 0.15, z]), np.array([0.03, 0.15, 0.03])) for x in (-0.3, 0.3) for z in (-0.2, 0.2)]
    top = Box(np.array([0.0, 0.32, 0.0]), np.array([0.35, 0.02, 0.25]))

    def make() -> tuple[Stage, Actor]:
        stage = Stage("bullet")
        stage.add_prop(poise.Prop.solid("staff", staff, 1.0, (2.0, 1.0, 0.0)))
        stage.add_prop(poise.Prop.solid("stool", [top, *legs], 4.0, (0.0, 0.001, 0.6)))
        stage.add_prop(poise.Prop.solid("steps", [top, *legs], None, (0.0, 0.0, -0.8)))
        actor = stage.add(HUMAN)
        actor.grasp("rightHand", "staff")
        actor.drive("body", poise.Loose(0.1, 0.3))
        actor.drive("root", poise.Free())
        actor.push("hips", (0.0, 0.0, 400.0), 0.1)
        return stage, actor

    stage, actor = make()
    touched = set()
    for _ in range(16):
        stage.advance(10)
        saved = stage.save()
        twin, same = make()
        twin.restore(saved)
        for each in (stage, twin):
            each.advance(5)
        np.testing.assert_array_equal(actor.pose().rotations, same.pose().rotations)
        np.testing.assert_array_equal(stage.read_prop("stool").position, twin.read_prop("stool").position)
        touched |= {(point[0], point[1], point[2], point[3]) for point in list_contacts(stage)}
    assert len(touched) > 8

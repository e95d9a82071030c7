"""Bullet goes on from a state in a world that is built anew: nothing that the state does not hold has a part in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import poise
from helpers.random_bodies import make_person, random_plan
from poise.stage.actor import Actor

pytest.importorskip("pybullet", reason="no pybullet here")


def let_fall() -> Actor:
    """Somebody who falls, and in 0.75 s lies on himself."""
    stage = poise.Stage("bullet", 0.005)
    actor = stage.add(poise.Character.human(preset="mix"))
    actor.drive("body", poise.Loose(0.1, 0.1))
    actor.drive("root", poise.Free())
    actor.push("spine", (60.0, 0.0, 120.0), 0.2)
    return actor


def read(actor: Actor) -> np.ndarray:
    """All numbers of a body's state."""
    state = actor.body.state
    return np.concatenate([each.ravel() for each in (state.root, state.q, state.v, state.w)])


def list_contacts(actor: Actor) -> list[tuple[Any, ...]]:
    """As Bullet has them, in the order in which it came to them."""
    simulation: Any = actor.stage.groups[0].simulation
    client = {"physicsClientId": simulation.client}
    return [point[1:] for point in simulation.world.bullet.getContactPoints(**client) or ()]


def find_world(saved: dict[str, Any]) -> np.ndarray:
    """Bullet's own bytes in a state of a stage."""
    return np.asarray(saved["groups"][0]["state"]["world"])


def test_a_world_that_was_saved_and_a_twin_go_on_alike_to_the_order_of_contacts() -> None:
    """The saved world had them in the order in which they were found, the twin in another."""
    actor, twin = let_fall(), let_fall()
    actor.stage.advance(150)
    saved, again = actor.stage.save(), actor.stage.save()
    np.testing.assert_array_equal(find_world(saved), find_world(again))
    twin.stage.restore(saved)
    for steps in (5, 4):
        for each in (actor, twin):
            each.stage.advance(steps)
        one, two = list_contacts(actor), list_contacts(twin)
        assert one == two and any(a == b for a, b, *_ in one)  # what belongs to one body touches itself
        np.testing.assert_array_equal(read(actor), read(twin))
        np.testing.assert_array_equal(find_world(actor.stage.save()), find_world(twin.stage.save()))


def test_a_save_changes_the_last_bits_alone() -> None:
    saved, other = let_fall(), let_fall()
    for each in (saved, other):
        each.stage.advance(40)
    assert list_contacts(saved)
    saved.stage.save()
    np.testing.assert_array_equal(read(saved), read(other))
    for each in (saved, other):
        each.stage.advance(10)
    np.testing.assert_allclose(read(saved), read(other), atol=1e-9)


def test_a_spine_of_segments_without_mass_is_calm_under_who_stands() -> None:
    """Three of its joints in a row have next to no inertia between them: they turned at 320 rad/s within 10 steps."""
    rng = np.random.default_rng(3)
    character = poise.Character.from_skeleton(make_person(rng, random_plan(rng, 3)).build())
    names = character.skeleton.names
    bare = set(names) - {segment.joint for segment in character.segments if segment.inertia.mass > 0.0}
    spine = [names.index(name) for name in names if name.startswith("spine") and name in bare]
    assert len(spine) == 3
    stage = poise.Stage("bullet", 0.005, touch=poise.ContactSettings(softness=0.02, bounce=0.3))
    actor = stage.add(character)
    actor.drive("body", poise.Loose(0.3, 0.3))
    actor.drive("legs", poise.Balance())
    actor.load(poise.Load("rightHand", 2.7))
    fastest = 0.0
    for _ in range(60):
        stage.advance(1)
        fastest = max(fastest, float(np.linalg.norm(actor.body.state.w[spine], axis=1).max()))
    assert fastest < 10.0

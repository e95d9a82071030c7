"""What is deep in the ground when it is let go comes out of it, and is not flung out."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise.motion.motion import Pose
from poise.stage.actor import Actor
from tools.sweeps.abuse_watch import Figure

HUMAN = poise.Character.human(1.75, 75.0, preset="mix")
FIGURE = Figure(HUMAN)
DEPTH = 0.3  # m


def sink(dt: float, softness: float) -> Actor:
    """A ragdoll in Bullet that stands in the ground up to its shins."""
    pytest.importorskip("pybullet")
    other = poise.Stage()
    start = other.add(HUMAN)
    other.build()
    stage = poise.Stage("bullet", dt, "paper", touch=poise.ContactSettings(softness=softness))
    pose = Pose(start.body.state.root - [0.0, DEPTH, 0.0], start.body.state.q.copy())
    actor = stage.add(HUMAN, pose=pose)
    actor.drive("root", poise.Free())
    actor.drive("body", poise.Loose(1.0, 1.0))
    return actor


def find_center(actor: Actor) -> tuple[float, float]:
    """m, how high the centre of mass is, and the lowest joint."""
    joints, centers = FIGURE.place(actor.pose())
    return float(FIGURE.masses @ centers[:, 1] / FIGURE.mass), float(joints[:, 1].min())


@pytest.mark.parametrize(("dt", "softness"), [(0.001, 0.0), (0.005, 0.0), (0.01, 0.0), (0.002, 0.02)])
@pytest.mark.many(1)
def test_who_is_let_go_in_the_ground_rises_slowly(dt: float, softness: float) -> None:
    """Pushed out by a share of the depth a step he went at 15 m/s, and in parts of a step at more."""
    actor = sink(dt, softness)
    actor.stage.build()
    (before, _), fastest = find_center(actor), 0.0
    for _ in range(round(0.6 / dt)):
        actor.stage.step()
        now, lowest = find_center(actor)
        fastest, before = max(fastest, (now - before) / dt), now
    assert fastest < 1.1
    assert lowest > -0.05


@pytest.mark.parametrize("softness", [0.0, 0.02])
@pytest.mark.slow
def test_who_rises_goes_on_alike_in_a_twin(softness: float) -> None:
    actor, twin = sink(0.005, softness), sink(0.005, softness)
    actor.stage.advance(10)
    saved = actor.stage.save()
    twin.stage.restore(saved)
    for each in (actor, twin):
        each.stage.advance(20)
    after = actor.body.state.copy()
    assert np.array_equal(after.q, twin.body.state.q) and np.array_equal(after.root, twin.body.state.root)
    actor.stage.advance(60)  # out of it
    actor.stage.restore(saved)
    actor.stage.advance(20)
    assert np.array_equal(actor.body.state.q, after.q) and np.array_equal(actor.body.state.root, after.root)

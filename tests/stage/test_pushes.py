"""A push gives its impulse, whatever the step and whenever it begins: measured by what the body weighs and does."""

from __future__ import annotations

import numpy as np
import pytest

from poise import Balance, Character, Free, Kinematic, Stage, gestures
from poise.stage.actor import Actor

HUMAN = Character.human(1.75, 75.0, preset="mix")
IMPULSE = 10.0  # N s


def floating(engine: str, dt: float) -> Actor:
    couple = "exact" if engine == "mujoco" else "paper"
    actor = Stage(engine=engine, ground=None, gravity=(0.0, 0.0, 0.0), dt=dt, couple=couple).add(HUMAN)
    actor.drive("root", Free())
    return actor


def find_momentum(actor: Actor) -> float:
    """N s along z, by two steps of the centre of mass."""
    places = []
    for _ in range(2):
        actor.stage.step()
        actor.body.update()
        places.append(actor.body.c[2])
    return float((places[1] - places[0]) / actor.stage.dt * HUMAN.mass)


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
@pytest.mark.parametrize(("dt", "seconds", "start"), [
    (0.005, 1e-4, 0.0), (0.005, 1e-4, 0.0123), (0.005, 0.0075, 0.0), (0.005, 0.0301, 0.0123), (0.01, 0.002, 0.019),
    (0.01, 0.1, 0.0), (0.0037, 0.1, 0.05),
])  # fmt: skip
@pytest.mark.many(6)
def test_a_push_gives_its_impulse(engine: str, dt: float, seconds: float, start: float) -> None:
    if engine == "bullet":
        pytest.importorskip("pybullet")
    actor = floating(engine, dt)
    actor.push("spine", (0.0, 0.0, IMPULSE / seconds), seconds, start)
    actor.stage.advance(int(np.ceil((start + seconds) / dt)) + 2)
    assert not actor.pushes
    assert find_momentum(actor) == pytest.approx(IMPULSE, rel=2e-4)  # what the integrator drifts of momentum


def test_a_state_saved_in_the_middle_of_a_push_gives_the_rest_of_it() -> None:
    actor = floating("mujoco", 0.005)
    actor.push("spine", (0.0, 0.0, IMPULSE / 0.0301), 0.0301, 0.0123)
    actor.stage.advance(5)
    saved = actor.stage.save()
    actor.stage.advance(30)
    actor.stage.restore(saved)
    actor.stage.advance(30)
    assert find_momentum(actor) == pytest.approx(IMPULSE, rel=2e-4)


def test_a_blow_under_the_paper_coupling_is_no_harder_than_under_the_exact() -> None:
    """All above the hips is given and follows late: the hips alone met it, and went off at 18 m/s."""
    fastest = {}
    for couple in ("exact", "paper"):
        actor = Stage(dt=0.001, couple=couple).add(HUMAN)
        actor.drive("legs", Balance())
        actor.drive("upperBody", Kinematic(gestures.conduct()))
        actor.stage.advance(50)
        actor.push("head", (40000.0, 0.0, 0.0), 0.001)
        assert sum(np.array(push.force) * push.seconds for push in actor.pushes) == pytest.approx([40.0, 0.0, 0.0])
        speeds = []
        for _ in range(30):
            actor.stage.advance(5)
            speeds.append(np.linalg.norm(actor.body.state.v))
        fastest[couple] = max(speeds)
    assert fastest["paper"] < 1.5 * fastest["exact"]

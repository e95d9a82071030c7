"""Segments of next to no mass between others, such as collar bones: nothing resists their turning, and none whirls."""

from __future__ import annotations

import numpy as np
import pytest

from poise import Balance, Character, Free, Kinematic, Loose, Stage, Track, gestures
from poise.stage.actor import Actor
from poise.stage.step.kernels import MASSLESS_TIME, damp_overspeed

FULL = Character.human()


def swing(dt: float) -> float:
    """rad/s, the fastest of a body whose arms, in a fast motion, are let go without spring or damper."""
    actor = Stage(dt=dt).add(FULL)
    actor.drive("root", Free())
    actor.drive("body", Track(gestures.conduct(bpm=160, hands="both"), stiffness=60.0))
    actor.stage.advance(round(0.3 / dt))
    actor.drive("arms", Loose(0.0, damping=0.0))
    fastest = 0.0
    for _ in range(round(0.3 / dt)):
        actor.stage.advance(1)
        fastest = max(fastest, float(np.abs(actor.body.state.w).max()))
    return fastest


@pytest.mark.parametrize("dt", [0.001, 0.01])
def test_arms_that_hang_from_them_without_a_damper_stay_finite(dt: float) -> None:
    """It was 5e6 rad/s at 1 ms, and not finite at 10."""
    assert swing(dt) < 60.0


def test_their_damper_is_that_of_its_formula() -> None:
    """d = I / MASSLESS_TIME   [calm, 2], where nobody asks for more; and nothing else of a body at rest has any."""
    actor = loose()
    body = actor.body
    body.om[:] = 0.0
    body.damping[:] = 0.0
    damp_overspeed(body.block, actor.coupling.block)
    names = FULL.skeleton.names
    braked = {names[i] for i in np.flatnonzero(body.damping)}
    assert braked == {"leftShoulder", "rightShoulder"}
    for name in braked:
        i = names.index(name)
        assert body.damping[i] == pytest.approx(actor.coupling.inertia[i] / MASSLESS_TIME)


def loose() -> Actor:
    actor = Stage().add(FULL)
    actor.drive("legs", Balance())
    actor.drive("arms", Loose(0.0, damping=0.0))
    actor.drive("trunk", Kinematic(gestures.breathe()))
    actor.stage.advance(2)
    return actor

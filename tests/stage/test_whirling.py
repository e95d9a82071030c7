"""Limbs that whirl: the least damping of every physical joint keeps them finite at any step, and is nothing at rest."""

from __future__ import annotations

import numpy as np
import pytest

from poise import Balance, Character, Free, Kinematic, Loose, Stage, gestures
from poise.stage.actor import Actor

MIX, FULL = Character.human(preset="mix"), Character.human()


def slapped(dt: float) -> Actor:
    """A loose arm without damping is hit at the hand."""
    actor = Stage(dt=dt).add(MIX)
    actor.drive("legs", Balance(friction=0.5))
    actor.drive("rightArm", Loose(0.3, damping=0.0))
    actor.stage.advance(round(0.2 / dt))
    actor.push("rightHand", (1000.0, 0.0, 0.0), 0.01)
    return actor


def dropped(dt: float) -> Actor:
    """A ragdoll without any damping."""
    actor = Stage(dt=dt).add(FULL)
    actor.drive("root", Free())
    actor.drive("body", Loose(0.0, damping=0.0))
    actor.push("chest", (162.0, 0.0, 252.0), 0.2)
    return actor


@pytest.mark.parametrize("make", [slapped, dropped])
@pytest.mark.parametrize("dt", [0.005, 0.01])
@pytest.mark.many(2)
def test_they_stay_finite(make: object, dt: float) -> None:
    """All of these exploded within 0.8 s."""
    actor = make(dt)  # type: ignore[operator]
    fastest = 0.0
    for _ in range(round(1.5 / dt) // 10):
        actor.stage.advance(10)
        fastest = max(fastest, float(np.abs(actor.body.state.w).max()))
    assert fastest < 120.0


@pytest.mark.parametrize("speed", [1.0, 40.0])
def test_the_least_damping_is_that_of_its_formula(speed: float) -> None:
    """d = c I (w^2 - w_0^2) dt   [calm, 1]; what drivers ask for stays where it is more."""
    from poise.stage.step.kernels import OVERSPEED, OVERSPEED_DAMPING, damp_overspeed

    actor = Stage(dt=0.005).add(MIX)
    actor.drive("legs", Balance())
    actor.drive("rightArm", Loose(0.3))
    actor.drive("leftArm", Kinematic(gestures.conduct(hands="both")))
    actor.stage.advance(20)
    body, rng = actor.body, np.random.default_rng(0)
    body.om[:] = speed * rng.normal(size=body.om.shape)
    asked = body.damping.copy()
    damp_overspeed(body.block, actor.coupling.block)
    square = (body.om**2).sum(axis=1)
    parents = MIX.skeleton.parents
    wanted = asked.copy()
    for i in range(1, len(parents)):
        if not actor.given[i]:
            least = (
                OVERSPEED_DAMPING
                * body.outboard()[2][i]
                * (max(square[i], square[parents[i]]) - (OVERSPEED / 0.005) ** 2)
                * 0.005
            )
            wanted[i] = max(asked[i], least)
    np.testing.assert_allclose(body.damping, wanted, rtol=0.2)  # what hangs on the arms has moved since it was built
    physical = ~actor.given & (np.arange(len(parents)) > 0)
    if speed < 2.0:
        np.testing.assert_array_equal(body.damping, asked)  # at ease, nothing is added
    else:
        assert (body.damping[physical] > asked[physical]).sum() > 5

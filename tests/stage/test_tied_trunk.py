"""A loose trunk on legs that stand: the hips, which are light then, do not shake at any step."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from poise import Balance, Character, Kinematic, Loose, Stage, Track, gestures
from poise.stage.actor import Actor
from poise.stage.step.kernels import damp_overspeed

FULL, MIX = Character.human(), Character.human(preset="mix")


def stand(body: Character, dt: float, stiffness: float, damping: float = 0.4) -> Actor:
    actor = Stage(dt=dt).add(body)
    actor.drive("legs", Balance())
    actor.stage.advance(round(0.1 / dt))
    actor.drive("upperBody", Loose(stiffness, damping))
    return actor


def find_jolt(actor: Actor, seconds: float) -> float:
    """rad/s2, the worst of the hips, by differences of the poses that a user sees."""
    dt, turns = actor.stage.dt, []
    for _ in range(round(seconds / dt)):
        actor.stage.step()
        turns.append(actor.pose().rotations[0])
    hips = Rotation.from_quat(np.array(turns), scalar_first=True)
    w = (hips[:-1].inv() * hips[1:]).as_rotvec() / dt
    return float(np.linalg.norm(np.diff(w, axis=0), axis=1).max() / dt)


@pytest.mark.parametrize(("body", "dt", "stiffness"), [
    (MIX, 0.005, 0.0), (MIX, 0.01, 1.0), (FULL, 0.005, 0.1), (FULL, 0.01, 0.3),
])  # fmt: skip
def test_hips_do_not_shake(body: Character, dt: float, stiffness: float) -> None:
    """It was 1700 to 3400 rad/s2."""
    actor = stand(body, dt, stiffness, 0.0 if stiffness == 0.0 else 0.4)
    assert find_jolt(actor, 0.3) < 30.0


def test_nor_where_drivers_of_the_trunk_blink() -> None:
    actor = stand(MIX, 0.005, 0.3)
    for k in range(12):
        actor.drive("upperBody", (Track(gestures.conduct()), Loose(0.3))[k % 2])
        actor.stage.step()
    assert find_jolt(actor, 0.2) < 60.0  # 2100 of the spine


def test_what_ties_them_is_an_inertia_and_no_damper() -> None:
    """t = e w(n) - e w(n+1)   [calm, 3]: nothing at a steady speed, and nothing of a trunk that is held firmly."""
    actor = stand(FULL, 0.005, 0.3)
    actor.stage.advance(20)
    body, tied = actor.body, actor.coupling.trunk_damping
    own, i = body.torque.copy(), FULL.skeleton.index("spine")
    body.om[:], body.damping[:] = 0.0, 0.25 * tied
    body.state.w[i] = 0.1, -0.2, 0.3
    damp_overspeed(body.block, actor.coupling.block)
    assert body.damping[i] == pytest.approx(tied[i])
    given = body.R[i].T @ (body.torque[i] - own[i])
    np.testing.assert_allclose(given, 0.75 * tied[i] * body.state.w[i], rtol=1e-12)
    firm = Stage().add(FULL)
    firm.drive("legs", Balance())
    firm.drive("arms", Kinematic(gestures.conduct()))
    firm.drive("trunk", Loose(12.0, 1.0))
    firm.stage.advance(3)
    assert np.all(firm.body.damping >= firm.coupling.trunk_damping) and firm.coupling.trunk_damping.any()

"""Springs and limits that are scaled by weight go by the stage's gravity, not by the Earth's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import poise
from poise.demos.shared.show import stand_still

EARTH, MOON = (0.0, -9.81, 0.0), (0.0, -1.62, 0.0)
SHARE = 1.62 / 9.81


def build(gravity: tuple[float, float, float], driver: Any) -> poise.Stage:
    stage = poise.Stage(gravity=gravity)
    character = poise.Character.human(1.7, 70.0)
    clip = stand_still(character)
    ghost, body = stage.add(character, "ghost"), stage.add(character, "body")
    ghost.drive("root", poise.Kinematic(clip))
    if driver is poise.Shadow:
        body.drive("body", poise.Shadow(ghost))
    else:
        body.drive("root", poise.Kinematic(clip))
        body.drive("arms", driver())
    stage.build()
    return stage


def read_springs(stage: poise.Stage, part: str) -> np.ndarray:
    player: Any = stage.actors["body"].player(part)
    springs = player.track.springs if hasattr(player, "track") else player
    return np.array(springs.stiffness)


def test_loose_springs_are_as_stiff_as_limbs_are_heavy() -> None:
    earth, moon = (read_springs(build(g, lambda: poise.Loose(1.0)), "arms") for g in (EARTH, MOON))
    heavy = earth > 1.0  # N m/rad: above the least that a spring has
    assert heavy.any()
    np.testing.assert_allclose(moon[heavy], SHARE * earth[heavy], rtol=1e-9)


def test_legs_of_a_shadow_carry_its_weight_where_it_is() -> None:
    earth, moon = (build(g, poise.Shadow) for g in (EARTH, MOON))
    found = [read_springs(stage, "body") for stage in (earth, moon)]
    body = earth.actors["body"]
    player: Any = body.player("body")
    rows = [player.joints.tolist().index(body.skeleton.index(side + "LowerLeg")) for side in ("left", "right")]
    np.testing.assert_allclose(found[1][rows], SHARE * found[0][rows], rtol=1e-9)


@pytest.mark.parametrize("gravity", [EARTH, MOON, (0.0, 0.0, 0.0)])
def test_weight_per_mass_is_the_size_of_gravity_or_the_earths(gravity: tuple[float, float, float]) -> None:
    stage = build(gravity, lambda: poise.Loose(1.0))
    wanted = float(np.linalg.norm(gravity)) or 9.81
    assert stage.actors["body"].body.weight_per_mass == wanted

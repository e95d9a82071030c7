"""Runs that once exploded, lifted their heels or came to no end, as they were tried; feet by SciPy's rotations."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.errors import rejects
from helpers.kinematics import place_take_soles
from helpers.rigs import mikumikudance, unreal
from poise import (
    Attached,
    Balance,
    Character,
    Free,
    InputError,
    Kinematic,
    Live,
    Loose,
    Pose,
    Stage,
    Strength,
    Track,
    gestures,
    rotation,
)
from poise.motion.samples import idle
from poise.stage.standing import stand_at_ease

FULL, MIX = Character.human(), Character.human(preset="mix")


@pytest.mark.parametrize("body", [MIX, FULL])
def test_heels_stay_down_under_large_fast_conducting(body: Character) -> None:
    """They lifted and slammed once a bar, up to 20 mm."""
    stage = Stage()
    actor = stage.add(body, name="actor")
    actor.drive("legs", Balance())
    actor.drive("upperBody", Kinematic(gestures.conduct(130, hands="both", size=1.5)))
    take = stage.run(4.0, fps=100)
    soles = place_take_soles(take.actor("actor"))
    assert take.fell_at("actor") is None
    assert np.abs(soles[..., 1]).max() < 1e-3
    assert np.linalg.norm((soles - soles[0])[..., [0, 2]], axis=-1).max() < 1e-3


def test_the_default_body_stands_in_bullet_and_what_it_cannot_carry_is_refused() -> None:
    """It became non-finite within a second, arms given or not."""
    pytest.importorskip("pybullet")
    stage = Stage("bullet", couple="paper")
    actor = stage.add(FULL)
    actor.drive("legs", Balance())
    stage.advance(100)
    assert actor.fallen is None and np.abs(actor.body.state.w).max() < 1.0
    actor.drive("arms", Kinematic(gestures.conduct()))
    rejects(lambda: stage.advance(1), "'paper'")


@pytest.mark.parametrize("gravity", [(0.0, 9.81, 0.0), (9.81, -1.0, 0.0), (0.0, 0.0, 0.0)])
def test_nobody_stands_against_gravity_that_does_not_point_down(gravity: tuple[float, float, float]) -> None:
    """Its legs swung up in the air until they broke."""
    stage = Stage(gravity=gravity)
    stage.add(MIX).drive("legs", Balance())
    with pytest.raises(InputError, match="does not point down"):
        stage.advance(1)


@pytest.mark.slow
def test_three_ragdolls_dropped_on_one_another_at_long_steps() -> None:
    """Two of six such became non-finite."""
    stage, rng = Stage(dt=0.01), np.random.default_rng(1)
    ease = stand_at_ease(FULL)
    for k in range(3):
        turns = np.concatenate([rotation.exp(rng.normal(size=3))[None], ease.rotations[1:]])
        actor = stage.add(FULL, f"actor {k}", Pose(np.array([0.1 * k, 1.0 + 0.9 * k, 0.0]), turns))
        actor.drive("root", Free())
        actor.drive("body", Loose(0.0, damping=0.0))
    highest = 0.0
    for _ in range(15):
        stage.advance(10)
        highest = max(highest, *(float(np.abs(actor.body.state.v).max()) for actor in stage.actors.values()))
    assert highest < 8.0  # from 2.8 m: 7.4 m/s


def test_a_prop_that_is_not_there_is_refused_at_once_while_a_stage_runs() -> None:
    """It was taken, and the stage could not be built any more."""
    actor = Stage().add(MIX)
    actor.drive("legs", Balance())
    actor.stage.advance(1)
    rejects(lambda: actor.drive("root", Attached("swing")), "'swing'")
    actor.stage.advance(1)


@pytest.mark.parametrize("gain", [0.0, 0.25, 0.5, 1.6])
def test_paper_refuses_a_gain_that_changes_most_of_the_weight(gain: float) -> None:
    """Half of the upper body's weight gone, a balance threw the rest into the air at 6 m/s."""
    stage = Stage(dt=0.001, couple="paper", gain=gain)
    actor = stage.add(MIX)
    actor.drive("legs", Balance())
    actor.drive("upperBody", Kinematic(gestures.conduct()))
    with pytest.raises(InputError, match="changes the weight of"):
        stage.build()


def test_paper_refuses_most_of_a_body_that_does_not_stand() -> None:
    stage = Stage(dt=0.001, couple="paper")
    actor = stage.add(MIX)
    actor.drive("root", Free())
    actor.drive("body", Loose(0.3, 0.3))
    stage.advance(10)
    with pytest.raises(InputError, match="would be kinematic while it does not stand"):
        actor.drive("upperBody", Kinematic(gestures.conduct()))
    stage.advance(10)  # as before
    actor.drive("arms", Kinematic(gestures.conduct()))
    stage.advance(10)


def test_paper_refuses_a_live_motion_on_most_of_a_body() -> None:
    """A feed that jumped threw a body that stood at 64 m/s; what is light it may move."""
    stage = Stage(dt=0.001, couple="paper")
    actor = stage.add(MIX)
    actor.drive("legs", Balance())
    with pytest.raises(InputError, match="would follow a live motion, which may jump"):
        actor.drive("upperBody", Kinematic(Live(MIX.skeleton)))
    actor.drive("arms", Kinematic(Live(MIX.skeleton)))
    stage.advance(10)


def test_a_finger_tip_without_mass_that_gives_way_altogether_is_still_held_by_something() -> None:
    """Its spring and its damper were nothing in a blow, and so was its mass: not finite."""
    body = Character.from_skeleton(unreal()[0])
    tip = body.skeleton.names.index("index_03_l")
    assert body.skeleton.names[tip] not in {segment.joint for segment in body.segments if segment.inertia.mass > 0.0}
    stage = Stage(dt=0.01)
    actor = stage.add(body)
    actor.drive("legs", Balance())
    actor.drive("leftArm", Kinematic(gestures.conduct(hands="both")))
    actor.drive(["index_03_l"], Track(idle(body.skeleton, 1.0, 30.0), give=1.0))
    stage.advance(5)
    next(player for player in actor.players if hasattr(player, "soft")).soft[:] = 1.0
    stage.advance(5)
    assert np.isfinite(actor.body.state.w).all()


def test_muscles_do_not_turn_a_body_about_a_root_without_mass() -> None:
    """In Bullet the first step threw it at 300 m/s."""
    pytest.importorskip("pybullet")
    body = Character.from_skeleton(mikumikudance()[0])
    stage = Stage("bullet")
    actor = stage.add(body)
    actor.drive("body", Strength(gestures.conduct()))
    stage.advance(4)
    assert np.linalg.norm(actor.body.state.v) < 0.5


def test_bullet_refuses_what_is_animated_from_a_root_without_mass_on() -> None:
    """It was shaken at 270 m/s."""
    pytest.importorskip("pybullet")
    body = Character.from_skeleton(unreal()[0])
    stage = Stage("bullet")
    actor = stage.add(body)
    actor.drive("root", Free())
    actor.drive(body.skeleton.names[1:], Kinematic(idle(body.skeleton, 1.0, 30.0)))
    with pytest.raises(InputError, match="has no mass to speak of and floats, and what it carries is animated"):
        stage.advance(1)


def test_what_paper_follows_late_is_let_go_in_a_fall_whatever_it_is_to_keep() -> None:
    stage = Stage(dt=0.001, couple="paper")
    actor = stage.add(MIX)
    actor.drive("legs", Balance())
    actor.drive("upperBody", Kinematic(gestures.conduct(), active_after_fall=True))
    stage.advance(100)
    actor.push("hips", (600.0, 0.0, 0.0), 0.3)
    for _ in range(2000):
        stage.advance(1)
        if actor.has_lost_balance:
            break
    stage.advance(5)
    assert actor.has_lost_balance and not actor.given.any()

"""A restored state goes on with the same bits, and a simulation that has exploded ends with its error."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from helpers.stages import check_goes_on
from poise.errors import InputError, SolveError
from poise.stage.stage import Stage
from poise.walking import state
from poise.walking.feet.stance import FootStance


def test_brake_of_a_joint_that_was_fast_ends_with_its_speed() -> None:
    """It stayed: a joint far from its ends was not looked at again, and kept the damping of the moment it was fast."""
    stage = Stage("inverse", dt=0.02, gravity=(0.0, 0.0, 0.0), ground=None)
    actor = stage.add(poise.Character.human(preset="mix"))
    actor.drive("body", poise.Loose(0.0, 0.0))
    stage.advance(1)
    actor.body.state.w[1:] = 0.0, 60.0, 0.0
    actor.limits.law(actor.body.block, actor.limits.block)
    braked = np.abs(actor.body.axial).max(axis=1) > 0.0  # these come to an end within two steps
    actor.body.state.w[:] = 0.0
    actor.limits.law(actor.body.block, actor.limits.block)
    ends = np.abs(actor.body.axial).max(axis=1) > 0.0
    assert braked.sum() > ends.sum()
    actor.limits.quick[:, 4] = 0.0  # have it look at all of them
    actor.limits.law(actor.body.block, actor.limits.block)
    np.testing.assert_array_equal(ends, np.abs(actor.body.axial).max(axis=1) > 0.0)


def test_saved_walk_has_every_number_of_a_stance() -> None:
    fields = {field.name for field in dataclasses.fields(FootStance)}
    assert {"place", "turn", *state._TIMES, *state._OUTLINES} == fields


@pytest.mark.parametrize("engine", ["mujoco", "bullet", "inverse"])
@pytest.mark.parametrize("to", ["Walk", "Strength"])
def test_state_saved_right_after_a_switch_goes_on_alike(engine: str, to: str) -> None:
    if engine == "bullet":
        pytest.importorskip("pybullet")
    rough = poise.HeightMap(np.random.default_rng(5).uniform(0.0, 0.03, (40, 40)), 0.15)
    stage = Stage(engine, dt=0.01, ground=rough)
    actor = stage.add(poise.Character.human(preset="mix"))
    actor.drive("legs", poise.Balance())
    actor.drive("upperBody", poise.Track(poise.gestures.conduct()))
    stage.advance(15)
    actor.drive("body", poise.Walk(3) if to == "Walk" else poise.Strength(poise.gestures.conduct()))
    stage.advance(20 if to == "Walk" else 1)
    actor.drive("rightArm", poise.Loose(0.5, 0.5))
    check_goes_on(stage)


@pytest.mark.parametrize("engine", ["mujoco", "bullet", "inverse"])
@pytest.mark.parametrize("what", ["root", "q", "v", "w"])
def test_exploded_simulation_ends_with_its_error_until_a_state_is_restored(engine: str, what: str) -> None:
    if engine == "bullet":
        pytest.importorskip("pybullet")
    stage = Stage(engine)
    actor = stage.add(poise.Character.human(preset="mix"))
    actor.drive("body", poise.Loose(0.5, 0.5))
    stage.advance(2)
    saved = stage.save()
    getattr(actor.body.state, what)[...] = np.nan
    for action in (actor.pose, stage.step, lambda: stage.advance(3), lambda: stage.run(0.1), stage.save):
        with pytest.raises(SolveError, match=r"non-finite at t=0\.01 s .*'mix'.*smaller step"):
            action()
    stage.restore(saved)
    stage.advance(1)
    assert np.isfinite(actor.pose().rotations).all()


def test_crowd_of_which_one_explodes_ends_with_its_name() -> None:
    stage = Stage(threads=2, touch=poise.ContactSettings(actors=False))
    actors = [stage.add(poise.Character.human(preset="mix"), f"actor {k}") for k in range(3)]
    for actor in actors:
        actor.drive("root", poise.Free())
        actor.drive("body", poise.Loose(0.5, 0.5))
    stage.advance(1)
    actors[1].push("hips", (1e12, 0.0, 0.0), 0.005)
    rejects(lambda: stage.advance(5), "'actor 1'", error=SolveError)
    assert np.isfinite(actors[0].pose().root).all()
    rejects(lambda: poise.run_crowd(stage, 0.1), "'actor 1'", error=SolveError)


def hang() -> poise.Puppet:
    """A puppet's driver, whose hands are still."""
    hands = poise.HandsTake(np.arange(3) / 10.0, np.zeros((3, 2, 3)), poise.rotation.identity((3, 2)))
    return poise.Puppet([poise.PuppetLayer(poise.load_mapping("legs"), hands)])


def test_puppet_refuses_gravity_that_points_up() -> None:
    stage = Stage(gravity=(0.0, 9.81, 0.0))
    stage.add(poise.Character.human()).drive("body", hang())
    with pytest.raises(InputError, match="points up"):
        stage.advance(1)


@pytest.mark.parametrize(
    ("driver", "has_begun"),
    [(hang, False), (hang, True), (poise.Balance, False), (poise.Balance, True), (lambda: poise.Walk(3), False)],
    ids=["Puppet", "Puppet, later", "Balance", "Balance, later", "Walk"],
)
def test_drivers_that_stand_are_refused_on_a_stage_without_a_ground(driver, has_begun: bool) -> None:
    stage = Stage(ground=None)
    actor = stage.add(poise.Character.human())
    if has_begun:
        actor.drive("body", poise.Kinematic(poise.gestures.breathe()))
        stage.advance(1)
    with pytest.raises(InputError, match=r"this stage has none.*ground="):
        actor.drive("body" if driver is not poise.Balance else "legs", driver())
        stage.advance(1)

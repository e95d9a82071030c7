"""Contacts of segments whose joints are given: as of a whole body that is made to move the same way."""

from __future__ import annotations

import copy
from dataclasses import replace

import mujoco
import numpy as np
import pytest

import poise
from helpers.errors import rejects
from helpers.stages import VerbsEngine, use_verbs
from oracles.touching import CARRIED, STRIKES, Case, Mixed, Run, Whole, still
from poise.engines.mujoco import library
from poise.engines.mujoco.simulation import MujocoEngine
from poise.stage.actor import Actor
from poise.stage.stage import Stage

ENGINE = MujocoEngine()


def figures(run: Run, case: Case, dt: float) -> np.ndarray:
    """Peak force, impulse, how fast the thing is then and how far it came, and how fast the body is pushed back."""
    assert np.all(np.isfinite(run.prop)) and np.all(np.isfinite(run.trunk))
    assert case.prop is not None
    moved = np.linalg.norm(run.prop[-1] - case.prop.position) if case.prop.inertia is not None else 0.0
    back = np.linalg.norm(run.trunk[-1]) if case.root is None else 0.0
    return np.array([run.force.max(), run.force.sum() * dt, moved, back])


@pytest.mark.parametrize("dt", [0.002, 0.01])
@pytest.mark.parametrize("name", STRIKES)
@pytest.mark.many(2)
def test_a_given_hand_strikes_as_that_of_a_whole_body(name: str, dt: float) -> None:
    """Where in a step they meet changes the peak by a tenth, in both: means of several places."""
    case, found, wanted, untold = STRIKES[name], [], [], []
    assert case.prop is not None
    away = np.array([0, 0, -1.0]) if name == "box on the floor" else np.array([0, -1.0, 0])
    for k in range(4):
        each = replace(case, prop=replace(case.prop, position=case.prop.position + away * 0.003 * k))
        found.append(figures(Mixed(each, dt, ENGINE).run(0.5), each, dt))
        wanted.append(figures(Whole(each, dt).run(0.5), each, dt))
        untold.append(figures(Mixed(each, dt, ENGINE, is_told=False).run(0.5), each, dt))
    means = np.mean(wanted, axis=0)
    counts = means > 0.02  # a ball's push back is less than what the whole body drifts by
    np.testing.assert_allclose(np.mean(found, axis=0)[counts], means[counts], rtol=0.05)
    assert np.mean(untold, axis=0)[0] < 0.5 * means[0]


@pytest.mark.parametrize("dt", [0.001, 0.01])
def test_what_a_palm_carries_stays_on_it(dt: float) -> None:
    """A metre and a half a second back and forth: without speed the palm slides away, without acceleration by 12 mm."""
    case = CARRIED
    moved = Mixed(case, dt, ENGINE).run(2.4).prop[:, 0]
    palm = np.array([0.8 + case.root(dt * (k + 1))[0] for k in range(len(moved))])  # type: ignore[misc]
    assert np.abs(moved - palm).max() < 5e-4
    left = Mixed(case, dt, ENGINE, is_told=False).run(0.8).prop[-1, 0]
    assert abs(left - 1.6) > 0.2


def test_where_nothing_moves_the_step_is_mujocos_own_to_the_bit() -> None:
    mixed = Mixed(replace(CARRIED, root=still), 0.005, ENGINE)
    simulation = mixed.simulation
    model, data = copy.copy(simulation.model), copy.copy(simulation.data)
    for _ in range(100):
        mixed.step()
        mujoco.mj_step(model, data)
    assert data.ncon >= 4
    assert simulation._care is not None and simulation._care.is_moving  # type: ignore[attr-defined]
    np.testing.assert_array_equal(simulation.data.qpos, data.qpos)
    np.testing.assert_array_equal(simulation.data.efc_force, data.efc_force)


def test_a_contact_gives_the_body_what_it_takes_from_the_ball() -> None:
    """In flight: what the momentum of both changes by in a step is what the coupling puts on the body.

    Where they touch: a body in flight that nothing touches MuJoCo turns in a way of its own.
    """
    mixed, pushed, dt = Mixed(STRIKES["ball"], 0.005, ENGINE), 0, 0.005
    model, data = mixed.simulation.model, mixed.simulation.data  # type: ignore[attr-defined]
    mass = np.zeros((model.nv, model.nv))
    for _ in range(60):
        mixed.step()
        mujoco.mj_fullM(model, data, mass)  # at the pose that the step was made from
        lost = dt * (mass @ data.qacc - data.qfrc_smooth)
        if data.efc_force.any():
            np.testing.assert_allclose(lost[:3] + lost[6:9], 0.0, atol=1e-9)
            pushed += float(np.abs(lost).max()) > 1e-3
    assert pushed > 3


# On a stage.


def reaching(props: bool = True, **more: object) -> tuple[Stage, Actor]:
    """Somebody whose left hand comes by a ball on a post."""
    stage = Stage(**more)  # type: ignore[arg-type]
    if props:
        stage.add_prop(poise.Prop.box("post", (0.06, 0.8, 0.06), None, (0.25, 0.4, 0.4)))
        stage.add_prop(poise.Prop.sphere("ball", 0.12, 0.3, (0.25, 0.92, 0.4)))
    actor = stage.add(poise.Character.human(1.75, 75, preset="mix"))
    actor.drive("legs", poise.Balance())
    actor.drive("upperBody", poise.Kinematic(poise.gestures.arm_swing(1.0)))
    return stage, actor


def world(stage: Stage) -> np.ndarray:
    states = [actor.body.state for actor in stage.actors.values()]
    props = [np.concatenate(stage.read_prop(name)) for name in stage.props]
    return np.concatenate([np.concatenate([x.root, x.q.ravel(), x.v, x.w.ravel()]) for x in states] + props)


def test_a_hand_knocks_a_ball_off_its_post_alike_by_laws_and_by_verbs() -> None:
    (fast, actor), (slow, _) = reaching(), reaching()
    use_verbs(slow)
    knocked = 0
    for k in range(100):
        fast.step()
        slow.step()
        touches = fast.groups[0].simulation.find_contacts(0)
        other = slow.groups[0].simulation.find_contacts(0)
        knocked += "ball" in touches.others
        np.testing.assert_array_equal(world(fast), world(slow), err_msg=str(k))
        np.testing.assert_array_equal(touches.forces, other.forces)
    assert fast.groups[0].program.is_compiled and not slow.groups[0].program.is_compiled
    assert knocked > 1
    assert fast.read_prop("ball").velocity[2] > 1.0  # forward, as fast as the hand was
    assert actor.body.state.root[1] > 0.8


def test_a_state_in_the_middle_of_a_contact_goes_on_with_the_same_bits() -> None:
    (one, _), (other, _) = reaching(), reaching()
    one.advance(38)
    for _ in range(12):
        one.step()
        if "ball" in one.groups[0].simulation.find_contacts(0).others:
            break
    assert "ball" in one.groups[0].simulation.find_contacts(0).others
    other.restore(one.save())
    one.advance(20)
    for _ in range(20):
        other.step()
    np.testing.assert_array_equal(world(one), world(other))


def test_a_mujoco_that_is_not_understood_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its structures are read by offsets: one that lacks a field is another version."""
    monkeypatch.setitem(library._OF_DATA, "com", "no_such_field")
    rejects(library.find_offsets.__wrapped__, "MuJoCo", "Install mujoco 4.0")


def test_many_take_turns_at_desks_with_hands_that_touch() -> None:
    """Each drums on a table of the stage's own: found again in their own data, to the same bits."""

    def drummers() -> Stage:
        stage = Stage()
        stage.add_prop(poise.Prop.box("table", (1.0, 0.1, 0.3), None, (0.0, 1.05, 0.45)))
        for _ in range(9):
            actor = stage.add(poise.Character.human(1.75, 75, preset="mix"))
            actor.drive("legs", poise.Balance())
            actor.drive("upperBody", poise.Kinematic(poise.gestures.arm_swing(1.0)))
        return stage

    many, alone = drummers(), drummers()
    alone.engine = VerbsEngine()
    alone.advance(70)
    many.advance(70)
    np.testing.assert_array_equal(world(many), world(alone))
    simulation = many.groups[8].simulation
    assert simulation.can_move  # type: ignore[attr-defined]
    found, wanted = simulation.find_contacts(0), alone.groups[8].simulation.find_contacts(0)
    assert "table" in found.others
    np.testing.assert_array_equal(found.forces, wanted.forces)


def test_somebody_all_of_whom_is_given_pushes_a_ball() -> None:
    stage = Stage(gravity=(0, 0, 0), ground=None)
    stage.add_prop(poise.Prop.sphere("ball", 0.12, 0.3, (0.25, 0.92, 0.4)))
    actor = stage.add(poise.Character.human(1.75, 75, preset="mix"))
    actor.drive("body", poise.Kinematic(poise.gestures.arm_swing(1.0)))
    fastest, body = 0.0, actor.body
    for _ in range(80):
        stage.step()
        touches = stage.groups[0].simulation.find_contacts(0)
        for i, point in zip(touches.joints, touches.points, strict=True):
            fastest = max(fastest, float(np.linalg.norm(body.v[i] + np.cross(body.om[i], point - body.p[i]))))
    assert stage.groups[0].program.is_compiled
    # As fast as what struck it, and what a soft contact gives back.
    assert fastest < float(np.linalg.norm(stage.read_prop("ball").velocity)) < 1.2 * fastest

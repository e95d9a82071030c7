"""A wrist that keeps a staff upright: beside SciPy's rotations, and with its range and strength."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from helpers.kinematics import find_world
from poise import KeepUpright, Stage
from poise.demos.tracking import staff
from poise.errors import InputError
from poise.stage.actor import Actor
from poise.stage.take.take import Take


def lean(take: Take, actor: Actor) -> np.ndarray:
    """(F,) degrees, from the joints alone."""
    _, turns = find_world(take.clip())
    hand, grip = take.clip().skeleton.index("rightHand"), actor.grips[0]
    along = poise.rotation.rotate(grip.turn, np.array([0.0, 1.0, 0.0]))
    return np.asarray(np.degrees(np.arccos(turns[hand].apply(along)[:, 1].clip(-1.0, 1.0))))


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
@pytest.mark.many(1)
def test_a_staff_that_tilts_by_thirty_degrees_is_kept_within_five(engine: str) -> None:
    pytest.importorskip("pybullet" if engine == "bullet" else "mujoco")
    found = {}
    for way in ("tracked", "upright"):
        stage, actor = staff.build(way, engine)
        take = stage.run(2.0)
        found[way] = lean(take, actor)[take.times > staff.SETTLED]
        assert take.fell_at() is None
    assert found["upright"].max() < 5.0
    assert found["tracked"].max() > 25.0


def build(**options: Any) -> tuple[Stage, Actor]:
    stage, actor = staff.build("tracked")
    actor.drive(["rightHand"], KeepUpright("staff", **options))
    return stage, actor


def test_the_wrist_stays_in_its_range_and_gives_no_more_than_its_strength() -> None:
    """What it gives, its damper taken at the step's end, where the engine takes it; the range has a degree of play."""
    stage, actor = build(twists=False, strength=4.0)
    i, body = actor.skeleton.index("rightHand"), actor.body
    limits, most = actor.character.limits["rightHand"], 0.0
    beyond = 0.0
    for _ in range(300):
        stage.step()
        given = body.R[i].T @ (body.torque[i] - body.stops[i]) - body.damping[i] * body.state.w[i]
        most = max(most, float(np.linalg.norm(given)))
        angles = limits.angles(body.state.q[i])
        beyond = max(beyond, float(np.max(angles - limits.upper)), float(np.max(limits.lower - angles)))
    assert 3.0 < most < 4.4
    assert beyond < np.radians(2.5)


def test_it_says_when_it_cannot() -> None:
    weak, _ = build(strength=0.5)
    weak.run(2.0)
    told = [event for event in weak.events if event.kind == "cannot-keep-upright"]
    assert (
        told and "'staff' leans" in told[0].message and "rightHand has no more strength than 0.5 N m" in told[0].message
    )
    strong, _ = build()
    strong.run(2.0)
    assert not [event for event in strong.events if event.kind == "cannot-keep-upright"]


def test_a_range_that_is_too_narrow_is_told() -> None:
    """A staff held along the forearm: no wrist rights that."""
    stage = Stage()
    stage.add_prop(poise.Prop.capsule("staff", 0.015, 1.0, 0.5))
    actor = stage.add(poise.Character.human(1.75, 75.0, preset="mix"))
    actor.grasp("rightHand", "staff", turn=poise.rotation.exp(np.array([0.0, 0.0, 0.5 * np.pi])))
    actor.drive("legs", poise.Balance())
    actor.drive("arms", poise.Track(staff.StaffPump()))
    actor.drive(["rightHand"], KeepUpright("staff"))
    stage.run(2.0)
    told = [event.message for event in stage.events if event.kind == "cannot-keep-upright"]
    assert told and "rightHand is at the end of its range" in told[0]


def test_dropped_it_lets_the_wrist_be() -> None:
    stage, actor = build()
    stage.run(0.5)
    actor.drop("rightHand")
    take = stage.run(1.0)
    assert take.fell_at() is None
    assert take.props["staff"][-1, 1] == pytest.approx(0.5 * staff.LENGTH + staff.RADIUS, abs=0.02)  # it stands


def test_a_state_is_kept() -> None:
    stage, actor = build()
    stage.advance(60)
    saved = stage.save()
    stage.advance(60)
    first = actor.body.state.q.copy()
    stage.restore(saved)
    stage.advance(60)
    assert np.array_equal(first, actor.body.state.q)


@pytest.mark.parametrize("wrong", [{"quickness": 0.0}, {"damping": -1.0}, {"axis": (0.0, 0.0, 0.0)}, {"tolerance": 9.0},
                                   {"strength": -2.0}])  # fmt: skip
def test_wrong_numbers_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        KeepUpright("staff", **wrong)


def test_it_moves_one_wrist_which_holds_the_prop() -> None:
    stage, actor = staff.build("tracked")
    with pytest.raises(InputError, match="one wrist"):
        actor.drive("arms", KeepUpright("staff"))
    actor.drive(["leftHand"], KeepUpright("staff"))
    rejects(stage.step, "leftHand", "'staff'")

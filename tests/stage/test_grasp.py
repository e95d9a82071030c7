"""Props in hands: part of the hand's body, in both engines, until they are let go."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from helpers.kinematics import find_world
from helpers.stages import check_goes_on
from poise import Kinematic, Loose, Prop, Stage
from poise.demos.shared.show import stand_still
from poise.errors import InputError

HUMAN = poise.Character.human(1.75, 75.0, preset="mix")
ENGINES = ("mujoco", "bullet")


def staff(length: float = 1.7, mass: float = 1.2) -> Prop:
    return Prop.capsule("staff", 0.015, length, mass)


def conductor(engine: str = "mujoco") -> tuple[Stage, Any]:
    stage = Stage(engine)
    stage.add_prop(staff())
    actor = stage.add(HUMAN, "actor")
    actor.grasp("rightHand", "staff")
    actor.drive("legs", poise.Balance())
    actor.drive("arms", Kinematic(poise.gestures.conduct(hands="both")))
    return stage, actor


@pytest.mark.parametrize("engine", ENGINES)
def test_a_staff_goes_where_the_hand_goes(engine: str) -> None:
    """By SciPy's rotations, from the take's own joints."""
    pytest.importorskip("pybullet" if engine == "bullet" else "mujoco")
    stage, actor = conductor(engine)
    take = stage.run(0.6)
    places, turns = find_world(take.clip())
    hand, grip = HUMAN.skeleton.index("rightHand"), actor.grips[0]
    seen = turns[hand].inv().apply(take.props["staff"][:, :3] - places[:, hand])
    assert seen == pytest.approx(np.tile(grip.place, (len(seen), 1)), abs=1e-9)
    assert np.ptp(take.props["staff"][:, :3], axis=0).max() > 0.05


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.many(1)
def test_a_hand_and_its_staff_swing_as_one_compound_pendulum(engine: str) -> None:
    """T = 2 pi sqrt(I / (m g l)) of both together about the wrist: without the staff it is half as long."""
    pytest.importorskip("pybullet" if engine == "bullet" else "mujoco")
    stage = Stage(engine, dt=0.001, ground=None)
    stage.add_prop(staff(0.5, 0.6))
    still = stand_still(HUMAN)
    turns = still.rotations[0].copy()
    hand = HUMAN.skeleton.index("rightHand")
    turns[hand] = poise.rotation.multiply(turns[hand], poise.rotation.exp(np.array([0.0, 0.0, 0.12])))
    free = dataclasses.replace(HUMAN, limits={})
    actor = stage.add(free, "actor", poise.Pose(still.root[0].copy(), turns))
    actor.grasp("rightHand", "staff")
    actor.drive("root", Kinematic(still))
    actor.drive("upperBody", Kinematic(still))
    actor.drive(["rightHand"], Loose(0.0, 0.0))
    take = stage.run(2.5, fps=500)
    own, prop = HUMAN.inertias[hand], actor.grips[0].inertia
    mass = own.mass + prop.mass
    center = (own.mass * own.center + prop.mass * prop.center) / mass
    tensor = np.zeros((3, 3))
    for part in (own, prop):  # Steiner, by hand
        d = part.center
        tensor += part.inertia + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    velocity = take.actor().angular_velocity[:, hand]
    axis = np.linalg.svd(velocity - velocity.mean(axis=0))[2][0]
    period = 2.0 * np.pi * np.sqrt(axis @ tensor @ axis / (mass * 9.81 * np.linalg.norm(np.cross(axis, center))))
    speed = velocity @ axis
    up = np.flatnonzero((speed[:-1] < 0.0) & (speed[1:] >= 0.0))
    crossings = take.times[up] + 0.002 * speed[up] / (speed[up] - speed[up + 1])
    assert len(crossings) >= 2
    assert np.diff(crossings).mean() == pytest.approx(period, rel=0.03)
    alone = 2.0 * np.pi * np.sqrt(
        axis @ (own.inertia + own.mass * (own.center @ own.center * np.eye(3) - np.outer(own.center, own.center)))
        @ axis / (own.mass * 9.81 * np.linalg.norm(np.cross(axis, own.center)))
    )  # fmt: skip
    assert abs(alone / period - 1.0) > 0.1


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_dropped_falls_from_where_the_hand_was_as_fast_as_that(engine: str) -> None:
    pytest.importorskip("pybullet" if engine == "bullet" else "mujoco")
    stage, actor = conductor(engine)
    stage.run(0.55)
    before = stage.read_prop("staff")
    actor.drop("rightHand")
    take = stage.run(0.05, fps=200)  # before it comes by the arm
    middle = take.props["staff"][:, :3]
    assert middle[0] == pytest.approx(before.position, abs=1e-6)
    t = take.times - take.times[0]
    fallen = before.position + t[:, None] * before.velocity + 0.5 * t[:, None] ** 2 * stage.gravity
    assert np.linalg.norm(before.velocity) > 0.1
    assert middle == pytest.approx(fallen, abs=2e-3)
    assert [event.kind for event in stage.events] == ["dropped"]
    assert actor.body.tree.mass == pytest.approx(75.0)


def test_it_is_taken_up_again_where_it_is() -> None:
    stage, actor = conductor()
    stage.run(0.3)
    actor.drop("rightHand")
    stage.step()
    there = stage.read_prop("staff")
    actor.grasp("rightHand", "staff")
    assert stage.read_prop("staff").position == pytest.approx(there.position, abs=1e-9)
    take = stage.run(0.3)
    assert take.fell_at() is None
    assert actor.body.tree.mass == pytest.approx(76.2)


def test_a_state_with_a_staff_goes_on_with_the_same_bits() -> None:
    stage, _ = conductor()
    stage.advance(40)
    saved = stage.save()
    check_goes_on(stage)
    other, actor = conductor()
    other.build()
    actor.drop("rightHand")
    with pytest.raises(InputError, match="loads"):
        other.restore(saved)


def test_a_staff_touches_what_the_hand_does() -> None:
    """Held upright over the ground it carries: lowered by its length, it would be through the floor."""
    stage = Stage()
    stage.add_prop(staff(2.6, 2.0))
    actor = stage.add(HUMAN, "actor")
    actor.grasp("rightHand", "staff", turn=(1.0, 0.0, 0.0, 0.0))
    actor.drive("legs", poise.Balance())
    actor.drive(["rightUpperArm", "rightLowerArm", "rightHand"], Loose(0.3, 1.0))
    stage.build()
    joints = {joint for joint, _ in stage.groups[0].scene.bodies[0].shapes}
    assert HUMAN.skeleton.index("rightHand") in joints
    take = stage.run(1.0)
    i = HUMAN.skeleton.index("rightHand")
    ends = np.array([[0.0, 1.3, 0.0], [0.0, -1.3, 0.0]])
    low = min((row[:3] + poise.rotation.rotate(row[3:], ends))[:, 1].min() for row in take.props["staff"])
    assert low > -0.02
    assert i in {HUMAN.skeleton.index(e.joint) for e in take.events if e.kind == "hit"} or low > 0.0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (("rightHand", "stuff"), "prop 'stuff' is not in this stage"),
        (("thirdHand", "staff"), "thirdHand"),
        (("rightHand", "wall"), "stands still for good"),
        (("rightHand", "staff", (1.0, 2.0)), "3 numbers"),
        (("rightHand", "staff", None, (0.0, 0.0, 0.0, 0.0)), "not zero"),
    ],
)
def test_what_cannot_be_held_is_refused_by_a_sentence(wrong: tuple[Any, ...], words: str) -> None:
    stage = Stage()
    stage.add_prop(staff())
    stage.add_prop(Prop.box("wall", (1.0, 1.0, 0.1), None, (0.0, 0.5, 3.0)))
    actor = stage.add(HUMAN, "actor")
    with pytest.raises(InputError, match=words):
        actor.grasp(*wrong)
    assert actor.grips == []


def test_one_prop_is_in_one_hand_and_within_reach() -> None:
    stage = Stage()
    stage.add_prop(staff())
    stage.add_prop(Prop.sphere("ball", 0.1, 1.0, (2.0, 0.1, 0.0)))
    actor = stage.add(HUMAN, "actor")
    actor.drive("legs", poise.Balance())
    actor.grasp("rightHand", "staff")
    rejects(lambda: actor.grasp("leftHand", "staff"), "rightHand")
    stage.run(0.05)
    with pytest.raises(InputError, match=r"2(\.\d)? m from leftHand|1\.\d+ m from leftHand"):
        actor.grasp("leftHand", "ball")


@pytest.mark.parametrize("runs", [False, True])
def test_nobody_holds_what_somebody_rides_on(runs: bool) -> None:
    """It was in a hand and under a root at once, and then in no simulation."""
    stage = Stage()
    stage.add_prop(Prop.box("cart", (0.4, 0.2, 0.4), 5.0, (0.0, 0.1, 0.0)))
    rider = stage.add(HUMAN, "rider")
    pose = rider.pose()
    other = stage.add(HUMAN, "other", poise.Pose(pose.root + [0.0, 0.0, 2.0], pose.rotations))
    rider.drive("root", poise.Attached("cart"))
    if runs:
        stage.step()
    for actor in (rider, other):
        with pytest.raises(InputError, match="'rider' rides on 'cart', so no hand can take it"):
            actor.grasp("rightHand", "cart")
    stage.step()


def test_nobody_rides_on_what_is_in_a_hand() -> None:
    stage = Stage()
    stage.add_prop(staff())
    actor = stage.add(HUMAN, "actor")
    actor.grasp("rightHand", "staff")
    rejects(lambda: actor.drive("root", poise.Attached("staff")), "rightHand", "'actor'")
    stage.step()

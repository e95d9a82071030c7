"""Somebody else's engine, in one file outside the package: it does what MuJoCo does, and what it cannot is refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from helpers.guides import load_guide
from helpers.stages import check_goes_on
from poise import rotation
from poise.body.geometry.primitives import Sphere
from poise.engines.engine import Capabilities
from poise.engines.mujoco.simulation import MujocoEngine
from poise.jobs.job import RECIPE, load_recipe
from poise.jobs.mix.job import MixOptions
from poise.jobs.mix.plan import MixPlan
from poise.jobs.shared.simulation import simulate as mix
from poise.stage.stage import Stage

# Without limits: of a body that falls MuJoCo would make hinges, which this engine has not.
HUMAN = replace(poise.Character.human(1.75, 75.0, preset="mix"), limits={})
Euler = load_guide("own_engine").Euler
Wave, FastWave = load_guide("own_driver").Wave, load_guide("own_fast_driver").FastWave
Metronome = load_guide("own_motion").Metronome


class Drifting(MujocoEngine):
    """MuJoCo as an engine that does not keep momentum in flight, which Euler's rule does not."""

    abilities = dataclasses.replace(MujocoEngine.abilities, flights=False)


def dancer(engine: Any, count: int = 1, **options: Any) -> Stage:
    stage = Stage(engine, **options)
    for _ in range(count):
        actor = stage.add(HUMAN)
        actor.drive("root", poise.Free())
        actor.drive("legs", poise.Loose(3.0, 1.0))
        actor.drive("rightArm", Metronome(bpm=150, swing=1.0))
    return stage


def same(one: poise.Take, other: poise.Take) -> bool:
    names = ("root", "rotations", "velocity", "angular_velocity", "torque", "wrench")
    pairs = zip(one.actors.values(), other.actors.values(), strict=True)
    return all(getattr(a, name).tobytes() == getattr(b, name).tobytes() for a, b in pairs for name in names)


def test_joints_stay_in_their_ranges_on_it_too() -> None:
    """One damping for all axes of a joint is enough: thrown about without weight, none is 3 degrees beyond."""
    character = poise.Character.human(1.75, 75.0, preset="mix")
    stage = Stage(Euler(), ground=None)
    actor = stage.add(character)
    actor.drive("root", poise.Free())
    actor.drive("body", poise.Loose(0.0, 0.3))
    actor.push("rightLowerLeg", (0.0, 0.0, 200.0), 0.1)
    actor.push("leftLowerArm", (0.0, 0.0, -60.0), 0.1)
    stage.advance(160)
    excess = [
        limits.excess(actor.body.state.q[character.skeleton.index(name)]) for name, limits in character.limits.items()
    ]
    assert np.abs(actor.body.state.w).max() > 1.0
    assert np.degrees(np.abs(excess).max()) < 3.0


def test_it_moves_a_body_as_mujoco_does() -> None:
    """In free fall, an arm given, a load in the other hand, pushed: the same equation by other code, to round-off."""
    records = []
    for engine in (Euler(), Drifting()):
        stage = dancer(engine, ground=None)
        actor = stage.actors["mix"]
        actor.load(poise.Load("leftHand", 2.0))
        actor.push("chest" if HUMAN.skeleton.find_role("chest") else "spine", (30.0, 0.0, 20.0), 0.1)
        records.append(stage.run(0.3).actor())
    one, other = records
    np.testing.assert_allclose(one.root, other.root, atol=1e-9)
    np.testing.assert_allclose(one.rotations, other.rotations, atol=1e-9)
    np.testing.assert_allclose(one.angular_velocity, other.angular_velocity, atol=1e-7)
    arms = [HUMAN.skeleton.index("leftUpperArm"), HUMAN.skeleton.index("rightUpperArm")]
    assert np.abs(one.angular_velocity[:, arms]).max() > 1.0
    assert one.root[-1, 1] < one.root[0, 1] - 0.3


def test_it_is_found_by_its_name_and_takes_or_is_given() -> None:
    assert same(dancer("euler").run(0.1), dancer(Euler()).run(0.1))


def test_its_state_is_saved_and_restored_to_the_same_bits() -> None:
    stage = dancer(Euler(), 2)
    stage.run(0.1)
    check_goes_on(stage, 0.1, dancer("euler", 2))


def test_a_crowd_is_the_same_bits_on_any_number_of_threads() -> None:
    one, other = (poise.run_crowd(dancer(Euler(), 3, threads=threads), 0.06) for threads in (1, 2))
    assert one.rotations.tobytes() == other.rotations.tobytes()
    assert one.rotations[:, 0].tobytes() == one.rotations[:, 2].tobytes()


@pytest.mark.parametrize("driver", [Wave(), FastWave(), poise.Kinematic(poise.gestures.conduct())])
@pytest.mark.many(1)
def test_parts_change_hands_without_a_jump(driver: poise.extend.Driver) -> None:
    stage = dancer(Euler())
    actor = stage.actors["mix"]
    stage.run(0.1)
    for taking in (driver, Metronome(bpm=150)):
        actor.show(stage.time)
        before = actor.body.state.copy()
        actor.drive("rightArm", taking)
        stage.build()
        actor.show(stage.time)
        after = actor.body.state
        turn = rotation.log(rotation.multiply(rotation.conjugate(before.q), after.q))
        assert np.abs(turn).max() < 1e-6 and np.abs(before.w - after.w).max() < 1e-3
        stage.run(0.06)
    assert [event.kind for event in stage.events].count("switched") == 2


def test_a_body_that_nothing_holds_up_falls_on_its_ground() -> None:
    stage = Stage(Euler(), dt=0.01)
    actor = stage.add(HUMAN)
    actor.drive("root", poise.Free())
    actor.drive("legs", poise.Loose(0.1))
    take = stage.run(1.0)
    assert take.fell_at() is not None
    # and until then its soles stood on it
    feet = [HUMAN.skeleton.index(f"{side}Foot") for side in ("left", "right")]
    assert np.abs(np.diff(take.clip().positions[:10, feet, 1], axis=0)).max() < 5e-3


def test_a_recipe_has_it_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text(f'format = "{RECIPE}"\n[stage]\nengine = "euler"\n[drivers]\nphysical = ["leftArm"]\n')
    asked = load_recipe(MixOptions, path).values
    actor = Stage().add(HUMAN)
    root, q = actor.body.state.root, actor.body.state.q
    clip = poise.Clip(HUMAN.skeleton, np.arange(5) / 50, np.tile(root, (5, 1)), np.tile(q, (5, 1, 1)))
    found = mix(clip, HUMAN, MixPlan(asked["physical"], engine=asked["engine"]))
    assert HUMAN.skeleton.index("leftUpperArm") in found.physical


# What it cannot do.


def drive(part: str, driver: poise.extend.Driver) -> Callable[[], object]:
    return lambda: Stage(Euler()).add(HUMAN).drive(part, driver)


def build(part: str, driver: poise.extend.Driver) -> Callable[[], object]:
    def make() -> None:
        stage = Stage(Euler())
        stage.add(HUMAN).drive(part, driver)
        stage.run(0.1)

    return make


def with_prop() -> None:
    stage = Stage(Euler())
    stage.add(HUMAN)
    stage.add_prop(poise.Prop("ball", ((Sphere(np.zeros(3), 0.1)),)))
    stage.run(0.1)


@pytest.mark.parametrize(
    ("ask", "complaint"),
    [
        (lambda: Stage(Euler(), couple="paper"), "the engine 'euler' cannot couple by 'paper', only by exact"),
        (
            drive("legs", poise.Balance(pinned=True)),
            "Balance fixes joints to the world, which the engine 'euler' cannot",
        ),
        (drive("root", poise.Attached("swing")), "ride on 'swing', and with the engine 'euler' nobody rides on a prop"),
        (build("legs", poise.Balance()), "a hinge of 'leftLowerLeg', and the engine 'euler' has only ball joints"),
        (with_prop, "'ball' is a prop, and the engine 'euler' has none"),
        (lambda: Stage("eulr"), "engine 'eulr' is not known. Did you mean 'euler'"),
    ],
)
def test_what_it_cannot_do_is_refused_by_name(ask: Callable[[], object], complaint: str) -> None:
    with pytest.raises(poise.InputError, match=complaint):
        ask()


def test_a_refusal_leaves_the_stage_as_it_was() -> None:
    stage = Stage(Euler())
    actor = stage.add(HUMAN)
    with pytest.raises(poise.InputError):
        actor.drive("legs", poise.Balance(pinned=True))
    assert not actor.assignments
    actor.drive("legs", poise.Balance())
    with pytest.raises(poise.InputError, match="hinge"):
        stage.run(0.1)
    actor.drive("legs", poise.Loose())
    stage.run(0.02)


def test_corrections_of_drift_are_left_out_by_an_engine_without_them() -> None:
    class Hinged(Euler):  # type: ignore[misc, valid-type]
        abilities = Capabilities(couplings=("exact",))  # knees as balls: it only has to be asked to move them

    stage = Stage(Hinged())
    stage.add(HUMAN).drive("legs", poise.Balance())
    stage.run(0.02)  # a simulation that is nudged says that it cannot


class Nameless(poise.extend.Engine):
    abilities = Capabilities(couplings=("exact",))

    def build(self, scene: poise.extend.Scene) -> Any:
        raise AssertionError


class Unable(Nameless):
    name = "unable"
    abilities = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("engine", "complaint"),
    [
        (Nameless(), "Nameless has no name"),
        (Unable(), "Unable does not say what it can do"),
        (Euler, "or an Engine of yours"),
        (None, "or an Engine of yours"),
    ],
)
def test_what_is_no_engine_is_refused(engine: Any, complaint: str) -> None:
    with pytest.raises(poise.InputError, match=complaint):
        Stage(engine)


def test_an_engine_that_raises_is_heard() -> None:
    class Broken(load_guide("own_engine").EulerSimulation):  # type: ignore[misc]
        def step(self) -> None:
            raise ArithmeticError("no more")

    class Breaks(Euler):  # type: ignore[misc, valid-type]
        def build(self, scene: poise.extend.Scene) -> Broken:
            return Broken(scene)

    stage = dancer(Breaks(), 2, threads=2)
    with pytest.raises(ArithmeticError, match="no more"):
        stage.run(0.1)
    assert stage.time == 0.0

"""The stage: the same bits every time, actors that do not know of one another, splits and numbers that cannot be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import poise
from helpers.stages import VerbsEngine
from poise.body.character import Character
from poise.drivers.balance.balance import Balance
from poise.drivers.kinematic.kinematic import Kinematic
from poise.drivers.loose.loose import Loose
from poise.drivers.root.root import Attached, Free
from poise.errors import InputError, SolveError
from poise.motion.clip import Clip
from poise.motion.motion import Pose
from poise.spatial import rotation
from poise.stage.actor import Actor
from poise.stage.stage import Stage
from poise.stage.take.take import Take
from poise.world.forces import Load

HUMAN = Character.human(1.75, 75.0, preset="mix")
FULL = Character.human(1.62, 60.0, preset="full")
STATE = ("root", "rotations", "velocity", "angular_velocity")


def conductor(stage: Stage, character: Character = HUMAN, name: str | None = None, bpm: float = 100.0) -> Actor:
    actor = stage.add(character, name)
    actor.drive("legs", Balance())
    actor.drive("upperBody", Kinematic(poise.gestures.conduct(beats=3, bpm=bpm)))
    return actor


def mixed(stage: Stage, character: Character = HUMAN) -> Actor:
    """Everything at once: balance, a conducting arm, a loose one, and a trunk and a head that nobody drives."""
    actor = stage.add(character)
    actor.drive("legs", Balance())
    actor.drive("rightArm", Kinematic(poise.gestures.conduct(beats=3, bpm=100.0)))
    actor.drive("leftArm", Loose(0.3))
    return actor


def same(a: Take, b: Take, name: str | None = None, other: str | None = None) -> bool:
    first, second = a.actor(name), b.actor(other or name)
    return all(np.array_equal(getattr(first, field), getattr(second, field)) for field in STATE)


def still(character: Character, fps: float = 30.0, seconds: float = 3.0) -> Clip:
    times = np.arange(int(fps * seconds)) / fps
    turns = rotation.identity((len(times), len(character.skeleton)))
    return Clip(character.skeleton, times, np.tile(character.skeleton.offsets[0], (len(times), 1)), turns)


@pytest.mark.parametrize("couple", ["exact", "paper"])
def test_the_same_run_gives_the_same_bits(couple: str) -> None:
    takes = []
    for _ in range(2):
        stage = Stage(couple=couple, gain=1.0 if couple == "exact" else 0.05)
        actor = mixed(stage)
        actor.push("spine", (30.0, 0.0, 20.0), 0.1, start=0.3)
        takes.append(stage.run(1.0))
    assert same(*takes)


def test_what_is_saved_goes_on_with_the_same_bits() -> None:
    stage = Stage()
    actor = mixed(stage)
    stage.run(0.5)
    actor.change(bpm=140)
    stage.run(0.1)
    saved, when = stage.save(), stage.time
    first = stage.run(0.7)
    actor.change(bpm=60)
    stage.run(0.2)
    stage.restore(saved)
    assert stage.time == when
    assert same(stage.run(0.7), first)
    # and back once more: what was saved is not what goes on
    stage.restore(saved)
    assert same(stage.run(0.7), first)


def test_running_on_is_running_through() -> None:
    whole = conductor(Stage()).stage.run(1.0)
    stage = conductor(Stage()).stage
    halves = [stage.run(0.5), stage.run(0.5)]
    for field in STATE:
        both = np.concatenate([getattr(halves[0].actor(), field), getattr(halves[1].actor(), field)[1:]])
        # frames are at the same times but for their last bits
        np.testing.assert_allclose(both, getattr(whole.actor(), field), atol=1e-11)


def test_recording_changes_nothing() -> None:
    """Frames at any times, or hardly any: the body moves the same."""
    ends = []
    for times in (np.array([1.0]), np.linspace(0.0, 1.0, 177), np.arange(201) * 0.005):
        stage = Stage()
        conductor(stage)
        ends.append(stage.run(0.0, times=times).actor())
    for end in ends[1:]:
        np.testing.assert_array_equal(end.rotations[-1], ends[0].rotations[-1])
        np.testing.assert_array_equal(end.root[-1], ends[0].root[-1])


def test_actors_on_one_stage_do_not_know_of_one_another() -> None:
    both = Stage()
    conductor(both, HUMAN, "one", 100.0)
    conductor(both, FULL, "two", 150.0)
    take = both.run(1.0)
    for character, name, bpm in ((HUMAN, "one", 100.0), (FULL, "two", 150.0)):
        stage = Stage()
        conductor(stage, character, name, bpm)
        assert same(take, stage.run(1.0), name)


def test_laws_do_what_the_verbs_of_the_engine_do() -> None:
    takes = []
    for engine in ("mujoco", VerbsEngine()):
        stage = Stage(engine)
        actor = mixed(stage)
        actor.push("spine", (60.0, 0.0, 40.0), 0.15, start=0.4)
        takes.append(stage.run(1.2))
        assert stage.loop.runner.programs[0].is_compiled == (engine == "mujoco")
    for field in (*STATE, "torque", "center", "wrench", "feet"):
        np.testing.assert_array_equal(*(getattr(take.actor(), field) for take in takes), err_msg=field)


# Who moves what.


def test_joints_that_nobody_drives_hold_their_pose() -> None:
    """Kinematically on what is kinematic, by a firm spring that carries the weight on what is physical."""
    stage = Stage(couple="paper")
    actor = stage.add(HUMAN)
    actor.drive("legs", Balance())
    take = stage.run(2.0)
    assert take.fell_at() is None
    start, end = take.actor().rotations[0], take.actor().rotations[-1]
    turned = np.linalg.norm(rotation.log(rotation.multiply(rotation.conjugate(start), end)), axis=-1)
    assert not actor.given.any()
    assert 0.0 < turned[1:9].max() < 0.01

    stage = Stage()
    actor = stage.add(HUMAN)
    actor.drive("legs", Balance())
    actor.drive("trunk", Kinematic(still(HUMAN)))
    take = stage.run(0.5)
    above = actor.character.skeleton.descendants(1)
    assert actor.given[above].all()
    for joint in above[1:]:
        assert np.ptp(take.actor().rotations[:, joint], axis=0).max() < 1e-15


def test_a_free_body_falls_as_bodies_do() -> None:
    """No ground under it: g for all of it, whatever it does."""
    stage = Stage(ground=None)
    actor = stage.add(HUMAN)
    actor.drive("root", Free())
    actor.drive("arms", Kinematic(poise.gestures.clap()))
    take = stage.run(1.0, fps=100)
    fall = take.actor().center - take.actor().center[0]
    # semi-implicit Euler falls by g t (t + dt) / 2
    t = take.times - take.times[0]
    np.testing.assert_allclose(
        fall[:, 1], take.actor().center_velocity[0, 1] * t - 9.81 * t * (t + 0.005) / 2, atol=2e-3
    )


ILLEGAL: dict[str, tuple[Callable[[Actor], None], str]] = {
    "physical hand beyond a kinematic arm": (
        lambda actor: (
            actor.drive("legs", Balance()),
            actor.drive(["leftUpperArm", "leftLowerArm"], Kinematic(still(HUMAN))),
            actor.drive(["leftHand"], Loose()),
        )[-1],
        r"'leftHand' is physical but hangs from the kinematic part",
    ),
    "loose arms on a kinematic trunk on physical legs": (
        lambda actor: (
            actor.drive("legs", Balance()),
            actor.drive("trunk", Kinematic(still(HUMAN))),
            actor.drive("arms", Loose()),
        )[-1],
        r"is physical but hangs from the kinematic part that begins at 'spine'.*'hips'",
    ),
    "half a leg": (lambda actor: actor.drive("leftLeg", Balance()), "whole of both legs.*rightUpperLeg"),
    "balance of arms": (
        lambda actor: actor.drive([*HUMAN.skeleton.names[1:]], Balance()),
        "drives legs only.*leftUpperArm",
    ),
    "a free arm": (lambda actor: actor.drive("leftArm", Free()), "only the root is Free or Attached"),
    "a balancing root": (lambda actor: actor.drive("root", Balance()), "the root is Free, Attached or Kinematic"),
    "no such part": (lambda actor: actor.drive("wings", Loose()), "wings"),
    "no such joint": (lambda actor: actor.drive(["leftKne"], Loose()), "leftKne"),
}


@pytest.mark.parametrize("case", ILLEGAL)
@pytest.mark.parametrize("running", [False, True])
def test_splits_that_cannot_be_are_refused_and_leave_everything_as_it_was(case: str, running: bool) -> None:
    wrong, reason = ILLEGAL[case]
    stage = Stage(couple="paper" if "kinematic" in case else "exact")  # `exact` takes any split of joints
    actor = stage.add(HUMAN)
    if running:
        actor.drive("legs", Balance())
        stage.run(0.1)
    with pytest.raises(InputError, match=reason) as caught:
        wrong(actor)
    assert str(caught.value).count(". ") <= 2
    before = len(actor.assignments)
    with pytest.raises(InputError):
        actor.drive("wings", Loose())
    assert len(actor.assignments) == before
    if running and case in ("half a leg", "balance of arms", "a free arm", "a balancing root"):
        other = Stage()
        other.add(HUMAN).drive("legs", Balance())
        other.run(0.1)
        assert same(stage.run(0.3), other.run(0.3))


# Loads and pushes.


def test_a_dropped_load_is_gone() -> None:
    stage = Stage()
    actor = conductor(stage)
    assert actor.body.tree.mass == pytest.approx(75.0)
    actor.load(Load("rightHand", 2.0))
    assert actor.body.tree.mass == pytest.approx(77.0)
    heard: list[str] = []
    actor.listen(lambda event: heard.append(event.kind))
    stage.run(1.0)
    actor.drop("rightHand")
    take = stage.run(3.0)
    assert actor.body.tree.mass == pytest.approx(75.0) and "dropped" in heard
    assert take.fell_at() is None
    assert take.actor().feet[-50:, :, 1].sum(axis=1).mean() == pytest.approx(75.0 * 9.81, rel=0.02)
    with pytest.raises(InputError, match="holds nothing"):
        actor.drop("rightHand")


def test_a_load_is_felt_in_the_joints_that_hold_it() -> None:
    """Held still: the torque of a joint is the weight of what it carries, by hand."""
    shoulder, hand = (HUMAN.skeleton.index(role) for role in ("rightUpperArm", "rightHand"))
    found = []
    for loads in ([], [Load("rightHand", 5.0)]):
        stage = Stage()
        pose = Pose(HUMAN.skeleton.offsets[0].copy(), still(HUMAN).rotations[0])
        actor = stage.add(HUMAN, pose=pose, loads=loads)
        actor.drive("legs", Balance())
        actor.drive("upperBody", Kinematic(still(HUMAN)))
        record = stage.run(1.5).actor()
        reach = np.linalg.norm((actor.body.p[hand] - actor.body.p[shoulder])[[0, 2]])
        torque = np.median(np.linalg.norm(record.torque[-25:, shoulder], axis=-1))
        found.append((torque, np.median(record.effort[-25:, shoulder])))
    assert found[1][0] - found[0][0] == pytest.approx(5.0 * 9.81 * reach, rel=0.05)
    assert found[1][1] / found[0][1] == pytest.approx(found[1][0] / found[0][0], rel=0.05)


def test_a_push_gives_its_impulse() -> None:
    """In free flight: J = m dv, and nothing before or after."""
    stage = Stage(ground=None, gravity=(0.0, 0.0, 0.0))
    actor = stage.add(HUMAN)
    actor.drive("root", Free())
    actor.drive("arms", Kinematic(still(HUMAN)))
    actor.push("rightHand", (0.0, 10.0, 60.0), 0.2, start=0.5)
    take = stage.run(1.0, fps=100)
    v = take.actor().center_velocity
    assert np.abs(v[:50]).max() < 1e-9
    np.testing.assert_allclose(75.0 * v[-1], [0.0, 2.0, 12.0], atol=0.05)
    assert np.abs(v[72:] - v[-1]).max() < 1e-3


# Numbers that cannot be.

BAD: dict[str, tuple[Callable[[], object], str]] = {
    "no step": (lambda: Stage(dt=0.0), r"step of a stage .* s; got 0\."),
    "negative step": (lambda: Stage(dt=-0.005), r"step of a stage .* s; got -0\.005"),
    "nan step": (lambda: Stage(dt=float("nan")), "step of a stage .* s; got nan"),
    "endless step": (lambda: Stage(dt=1.0), r"step of a stage .* s; got 1\."),
    "gain": (lambda: Stage(gain=float("nan")), "gain .*got nan"),
    "coupling": (lambda: Stage(couple="exactly"), "exactly.*exact, paper"),
    "torque only": (lambda: Stage(torque_only=True), "'paper' coupling"),
    "engine": (lambda: Stage(engine="mujocco"), "mujocco"),
    "gravity": (lambda: Stage(gravity=(0.0, float("nan"), 0.0)), "gravity"),
    "gravity in two": (lambda: Stage(gravity=(0.0, -9.81)), "gravity"),
    "negative load": (lambda: Load("rightHand", -2.0), "load at 'rightHand' is -2 kg"),
    "nan load": (lambda: Load("rightHand", float("nan")), "load at 'rightHand' is nan kg"),
    "nan offset": (lambda: Load("rightHand", 1.0, (float("nan"), 0.0, 0.0)), "offset"),
    "no load": (lambda: Load("rightHand", 0.0), "more than 0"),
    "nan push": (lambda: Stage().add(HUMAN).push("chest", (0, 0, float("nan")), 0.2), "chest|finite newtons"),
    "push for nothing": (lambda: Stage().add(HUMAN).push("spine", (0, 0, 9), 0.0), "more than 0 s"),
    "push of two": (lambda: Stage().add(HUMAN).push("spine", (0, 9), 0.1), "push"),
    "push where": (lambda: Stage().add(HUMAN).push("nose", (0, 0, 9), 0.1), "nose"),
    "load where": (lambda: Stage().add(HUMAN, loads=[Load("nose", 1.0)]), "nose"),
    "no time": (lambda: conductor(Stage()).stage.run(0.0), "more than 0 s"),
    "nan time": (lambda: conductor(Stage()).stage.run(float("nan")), "more than 0 s"),
    "too many frames": (lambda: conductor(Stage()).stage.run(1.0, fps=1000.0), "1000 frames a second"),
    "times that go back": (lambda: conductor(Stage()).stage.run(0.0, times=np.array([0.1, 0.05])), "increas"),
    "times before": (lambda: conductor(Stage()).stage.run(0.0, times=np.array([-1.0, 0.0])), "before"),
    "nan times": (lambda: conductor(Stage()).stage.run(0.0, times=np.array([0.0, np.nan])), "finite|increas"),
    "no actor": (lambda: Stage().run(1.0), "actor"),
    "same name": (lambda: [stage.add(HUMAN, "a") for stage in [Stage()] for _ in range(2)], "actor 'a'"),
    "nothing there": (lambda: _ride("moon"), "moon"),
    "stiffness": (lambda: Balance(stiffness=0.0), "stiffness of a balance"),
    "height": (lambda: Balance(height=-1.0), "hip height"),
    "pose of others": (lambda: Stage().add(HUMAN, pose=Pose(np.zeros(3), rotation.identity((3,)))), "pose"),
    "change too early": (lambda: conductor(Stage()).change(bpm=100), "while a stage runs"),
}  # fmt: skip


def _ride(prop: str) -> None:
    actor = Stage().add(HUMAN)
    actor.drive("root", Attached(prop))
    actor.stage.run(0.1)


@pytest.mark.parametrize("case", BAD)
def test_numbers_that_cannot_be_are_refused_in_a_sentence(case: str) -> None:
    wrong, reason = BAD[case]
    with pytest.raises(InputError, match=reason) as caught:
        wrong()
    said = str(caught.value)
    assert said.endswith(".") and "\n" not in said and len(said) < 500


def test_what_turns_non_finite_stops_and_keeps_the_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log where it is
    stage = Stage()
    actor = conductor(stage)

    def poke(t: float) -> None:
        if t > 0.5:
            actor.push("spine", (0.0, 1e300, 0.0), 0.01)

    with pytest.raises(SolveError, match=r"non-finite at t=0\.5.* s \(.* of .*'mix'\)") as caught:
        stage.run(2.0, each=poke)
    take = caught.value.take  # type: ignore[attr-defined]
    assert 20 <= len(take) <= 30
    assert all(np.isfinite(getattr(take.actor(), field)).all() for field in STATE)


def test_a_moment_before_a_fall_can_be_played_again() -> None:
    """A body that falls is built anew; going back brings the simulation that it stood in, and the same bits."""
    stage = Stage()
    actor = stage.add(Character.human(1.75, 75.0, preset="mix"))
    actor.drive("legs", Balance())
    stage.advance(40)
    saved = stage.save()
    ends = []
    for _ in range(2):
        actor.pushes.clear()
        actor.push("spine", (0.0, 0.0, 500.0), 0.2)
        stage.advance(300)
        assert actor.fallen is not None
        ends.append(actor.body.state.copy())
        stage.restore(saved)
        assert actor.fallen is None
    np.testing.assert_array_equal(ends[0].root, ends[1].root)
    np.testing.assert_array_equal(ends[0].w, ends[1].w)
    actor.pushes.clear()
    stage.refresh(actor)
    stage.advance(200)
    assert actor.fallen is None


@pytest.mark.parametrize("engine", ["mujoco", "inverse"])
def test_a_thing_that_moves_and_nobody_to_meet_it(engine: str) -> None:
    """It ended in an IndexError."""
    stage = Stage(engine)
    stage.add_prop(poise.Prop.sphere("ball", 0.1, 1.0, (2.0, 1.0, 0.0)))
    with pytest.raises(InputError, match="nobody is on this stage"):
        stage.step()
    stage.add(poise.Character.human())
    stage.step()
    assert stage.read_prop("ball").velocity[1] < 0.0

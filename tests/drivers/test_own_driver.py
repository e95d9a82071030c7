"""Somebody else's driver, in one file outside the package, gets all that the built-in ones get."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from helpers.guides import GUIDES, load_guide
from helpers.stages import check_goes_on
from poise import rotation
from poise.drivers.registry import DRIVERS, Drive, build_driver
from poise.jobs.job import RECIPE, format_recipe, load_recipe
from poise.jobs.mix.job import MixOptions
from poise.jobs.mix.plan import MixPlan
from poise.jobs.shared.simulation import simulate as mix
from poise.stage.actor import Actor
from poise.stage.stage import Stage

HUMAN = poise.Character.human(1.75, 75.0, preset="mix")
Wave = load_guide("own_driver").Wave
FastWave = load_guide("own_fast_driver").FastWave
Metronome = load_guide("own_motion").Metronome
OWN = [Wave, FastWave, Metronome]


def conductor(driver: poise.extend.Driver, count: int = 1, threads: int = 1) -> Stage:
    stage = Stage(threads=threads)
    for _ in range(count):
        actor = stage.add(HUMAN)
        actor.drive("legs", poise.Balance())
        actor.drive("rightArm", driver)
    return stage


def first(stage: Stage) -> Actor:
    return next(iter(stage.actors.values()))


def state_now(actor: Actor) -> tuple[np.ndarray, np.ndarray]:
    actor.show(actor.stage.time)
    return actor.body.state.q.copy(), actor.body.state.w.copy()


def turned(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.linalg.norm(rotation.log(rotation.multiply(rotation.conjugate(a), b)), axis=-1)


def numbers(take: poise.Take) -> bytes:
    """All that was recorded, as bytes."""
    names = ("root", "rotations", "velocity", "angular_velocity", "torque", "wrench")
    return b"".join(getattr(record, name).tobytes() for record in take.actors.values() for name in names)


@pytest.mark.parametrize("driver", OWN)
@pytest.mark.many(1)
def test_it_switches_without_a_jump_both_ways(driver: Callable[..., poise.extend.Driver]) -> None:
    stage = conductor(driver(bpm=100, swing=0.4))
    actor = first(stage)
    stage.run(0.4)
    others = (poise.Loose(0.3), poise.Kinematic(poise.gestures.conduct(bpm=150)), poise.Track(poise.gestures.conduct()))
    speeds = []
    for other in others:
        for taking in (other, driver(bpm=100, swing=0.4)):
            before = state_now(actor)
            speeds.append(np.abs(before[1]).max())
            actor.drive("rightArm", taking)
            stage.build()
            after = state_now(actor)
            assert turned(before[0], after[0]).max() < 1e-6
            assert np.abs(before[1] - after[1]).max() < 1e-3
            stage.run(0.25)
    assert max(speeds) > 1.0


@pytest.mark.parametrize("driver", [Wave(150, 0.6), poise.Track(poise.gestures.conduct(beats=4, bpm=160, size=1.3))])
def test_a_servo_that_lets_go_flings_nothing(driver: poise.extend.Driver) -> None:
    """Its spring and its damper all but cancel; what is handed on to the next driver is both."""
    stage = conductor(driver)
    stage.run(0.5)
    arm = first(stage).player("rightArm").joints
    before = np.abs(state_now(first(stage))[1][arm]).max()
    first(stage).drive("rightArm", poise.Loose(0.3))
    record = stage.run(0.3, fps=200).actor()
    assert before > 1.0
    assert np.abs(record.angular_velocity[:, arm]).max() < 4.0 * before  # 17 and 33 times with the spring alone


def test_rates_of_a_hand_over_are_those_of_its_poses() -> None:
    """Also of a root that somebody else's motion places."""

    class Gliding(poise.extend.MotionPlayer):
        def write(self, body: poise.extend.Body, t: float) -> None:
            body.state.root[:], body.state.v[:], body.a[:] = [0.3 * t, 1.0, 0.0], [0.3, 0.0, 0.0], 0.0
            body.state.q[0], body.state.w[0], body.dw[0] = [1.0, 0.0, 0.0, 0.0], 0.0, 0.0

    class Glide(poise.extend.Driver):
        level, root = "motion", "also"

        def build(self, body: poise.extend.Body, joints: np.ndarray, t: float) -> Gliding:
            return Gliding()

    stage = Stage(ground=None)
    actor = stage.add(HUMAN)
    actor.drive("root", poise.Free())
    actor.drive("legs", poise.Loose())
    actor.drive("rightArm", Metronome(bpm=100))
    stage.run(0.3)
    body = actor.body
    before = body.state.copy()
    actor.drive("root", Glide())
    actor.drive("rightArm", Metronome(bpm=150))
    stage.build()
    np.testing.assert_allclose(body.state.root, before.root, atol=1e-12)
    start, h = stage.time, 1e-4
    for t in start + np.array([1e-3, 0.1, 0.3, 0.6]):
        found = []
        for at in (t - h, t, t + h):
            actor.show(at)
            found.append((body.state.copy(), body.dw.copy(), body.a.copy()))
        (back, _, _), (now, dw, a), (on, _, _) = found
        np.testing.assert_allclose(now.v, (on.root - back.root) / (2 * h), atol=1e-4)
        np.testing.assert_allclose(a, (on.v - back.v) / (2 * h), atol=1e-2)
        for joint in (0, *actor.player("rightArm").joints):
            wide = rotation.log(rotation.multiply(rotation.conjugate(back.q[joint]), on.q[joint]))
            np.testing.assert_allclose(now.w[joint], wide / (2 * h), atol=1e-4)
            np.testing.assert_allclose(dw[joint], (on.w[joint] - back.w[joint]) / (2 * h), atol=0.05)
    assert np.abs(before.v).max() > 1.0  # it fell: there was something to take over
    actor.show(start + 1.0)
    np.testing.assert_allclose(body.state.root, [0.3 * (start + 1.0), 1.0, 0.0], atol=1e-12)  # and it is over


@pytest.mark.parametrize("driver", OWN)
def test_it_is_saved_in_a_hand_over_and_restored_to_the_same_bits(driver: Callable[..., poise.extend.Driver]) -> None:
    stage = conductor(poise.Loose(0.3))
    first(stage).push("rightHand", (0.0, 0.0, 40.0), 0.1)
    stage.run(0.2)
    first(stage).drive("rightArm", driver(bpm=100))
    stage.run(0.1)
    check_goes_on(stage, 0.2, conductor(driver(bpm=100)))


@pytest.mark.parametrize("driver", OWN)
def test_a_crowd_is_the_same_bits_on_any_number_of_threads(driver: Callable[..., poise.extend.Driver]) -> None:
    takes = [poise.run_crowd(conductor(driver(bpm=90), 4, threads), 0.1) for threads in (1, 2)]
    assert takes[0].rotations.tobytes() == takes[1].rotations.tobytes()
    assert takes[0].rotations[:, 0].tobytes() == takes[0].rotations[:, 3].tobytes()
    assert turned(takes[0].rotations[0], takes[0].rotations[-1]).max() > 1e-2


@pytest.mark.parametrize("driver", [Wave, FastWave])
def test_its_events_are_told_and_its_parameters_changed(driver: Callable[..., poise.extend.Driver]) -> None:
    stage = conductor(driver(bpm=150))
    heard: list[str] = []
    first(stage).listen(lambda event: heard.append(event.kind))
    take = stage.run(1.0)
    assert heard == ["beat"] * 2 == [event.kind for event in take.events]
    first(stage).change("rightArm", bpm=600.0)
    stage.run(1.0)
    assert 11 <= len(heard) <= 12
    with pytest.raises(poise.InputError, match=r"parameter 'tempo' is not in what a \w+ can change.*Known: bpm"):
        first(stage).change("rightArm", tempo=3.0)


def test_the_compiled_law_does_what_the_python_does() -> None:
    slow, fast = (conductor(driver(bpm=80, swing=0.5)) for driver in (Wave, FastWave))
    one, other = slow.run(0.5).actor(), fast.run(0.5).actor()
    np.testing.assert_allclose(other.rotations, one.rotations, atol=1e-9)
    np.testing.assert_allclose(other.torque, one.torque, atol=1e-6)
    assert not slow.groups[0].program.is_compiled
    assert fast.groups[0].program.is_compiled


@pytest.mark.parametrize("driver", [Wave, FastWave])
def test_it_is_told_of_a_load(driver: Callable[..., poise.extend.Driver]) -> None:
    stage = conductor(driver())
    stage.run(0.05)
    player: Any = first(stage).player("rightArm")
    before = player.spring.copy()
    first(stage).load(poise.Load("rightHand", 2.0))
    assert (player.spring[:2] > 1.2 * before[:2]).all()  # the hand itself turns about the load
    stage.run(0.05)


def test_a_body_that_it_does_not_hold_falls() -> None:
    stage = Stage(dt=0.01)
    actor = stage.add(HUMAN)
    actor.drive("root", poise.Free())
    actor.drive("legs", Wave(stiffness=0.05))
    take = stage.run(1.5)
    assert take.fell_at() is not None
    assert actor.fallen is not None


# By a name.


def standing() -> poise.Clip:
    actor = Stage().add(HUMAN)
    f = 16
    state = actor.body.state
    return poise.Clip(HUMAN.skeleton, np.arange(f) / 50, np.tile(state.root, (f, 1)), np.tile(state.q, (f, 1, 1)))


def test_a_recipe_has_it_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    text = '[[drives]]\npart = "rightArm"\ndriver = "wave"\nbpm = 90\nswing = 0.8\n'
    path.write_text(f'format = "{RECIPE}"\n{text}[[drives]]\npart = "leftLowerArm"\ndriver = "track"\nstiffness = 9\n')
    recipe = load_recipe(MixOptions, path).values
    assert recipe["drives"] == (
        Drive("rightArm", "wave", {"bpm": 90, "swing": 0.8}),
        Drive("leftLowerArm", "track", {"stiffness": 9}),
    )
    again = tmp_path / "again.toml"
    again.write_text(format_recipe(MixOptions, recipe, tmp_path))
    assert load_recipe(MixOptions, again).values == recipe
    clip = standing()
    found = mix(clip, HUMAN, MixPlan(physical=(), drives=recipe["drives"]))
    arm = [HUMAN.skeleton.index(name) for name in ("rightUpperArm", "rightLowerArm")]
    assert set(arm) <= set(found.physical) and not set(arm) & set(found.kinematic)
    assert turned(found.clip.rotations[-1, arm], clip.rotations[-1, arm]).max() > 0.1
    assert HUMAN.skeleton.index("leftLowerArm") in found.physical


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ("driver = 'wav'", r"driver 'wav' is not known\. Did you mean 'wave'"),
        (
            "driver = 'wave'\ntempo = 3",
            r"parameter of driver 'wave', 'tempo' is not known\..* Known: bpm, swing",
        ),
        ("driver = 'wave'\nbpm = 'fast'", "'bpm' of driver 'wave' must be a number"),
        ("driver = 'wave'\nbpm = inf", "'bpm' of driver 'wave' must be a finite number"),
        ("driver = 'balance'\npinned = 1", "'pinned' of driver 'balance' must be true or false"),
        ("bpm = 3", "lacks 'driver'"),
    ],
)
def test_a_recipe_that_is_wrong_says_where(lines: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text(f'format = "{RECIPE}"\n[[drives]]\npart = "arms"\n{lines}\n')
    with pytest.raises(poise.FileError, match=complaint):
        load_recipe(MixOptions, path)


def test_what_a_driver_needs_is_asked_for() -> None:
    rejects(lambda: build_driver("attached", {}), "'attached'", "'prop'")
    assert isinstance(build_driver("track", {}, motion=poise.gestures.conduct(), start=1.0), poise.Track)
    for name in DRIVERS:
        assert isinstance(build_driver(name, {}, motion=poise.gestures.conduct(), prop="swing"), poise.extend.Driver)


@pytest.mark.parametrize(("name", "make"), [("balance", Wave), ("", Wave), (3, Wave), ("mine", None)])
def test_what_cannot_be_registered(name: Any, make: Any) -> None:
    with pytest.raises(poise.InputError, match="driver"):
        poise.extend.register_driver(name, make)


# What a stranger stumbles over.


class Odd(poise.extend.Driver):
    """Does what it is told to, whatever that is."""

    level = "torque"

    def __init__(self, act: Callable[[poise.extend.Body, float], None], **parts: Any):
        self.act, self.parts = act, parts
        self.level = parts.get("level", "torque")

    def claim(self, character: poise.Character, joints: list[int], part: str) -> poise.extend.Claim:
        return self.parts.get("claim", lambda joints: poise.extend.Claim(tuple(joints)))(joints)

    def build(self, body: poise.extend.Body, joints: np.ndarray, t: float) -> Any:
        return self.parts["build"]() if "build" in self.parts else OddPlayer(self)


class OddPlayer(poise.extend.Player):
    """Sets nothing, and calls nobody's __init__."""

    def __init__(self, driver: Odd):
        self.driver = driver

    def write(self, body: poise.extend.Body, t: float) -> None:
        self.driver.act(body, t)

    def laws(self) -> Any:
        return self.driver.parts.get("laws", {})


def nothing(body: poise.extend.Body, t: float) -> None:
    pass


def fail_at(when: float) -> Callable[[poise.extend.Body, float], None]:
    def stumble(body: poise.extend.Body, t: float) -> None:
        if t >= when:
            raise ZeroDivisionError(f"at {t:.3f}")

    return stumble


@pytest.mark.parametrize("threads", [1, 2])
def test_what_a_player_raises_reaches_the_caller_and_the_stage_goes_on(threads: int) -> None:
    stage = conductor(Odd(fail_at(0.1)), 3, threads)
    actors = list(stage.actors.values())
    with pytest.raises(ZeroDivisionError, match=r"at 0\.1") as caught:
        stage.run(1.0)
    assert "stumble" in "".join(traceback.format_tb(caught.value.__traceback__))
    assert caught.value.__notes__ == ["(and 2 more of this stage's players raised in the same run)"]
    assert stage.time == pytest.approx(0.1)
    with pytest.raises(ZeroDivisionError):  # nobody mended it
        stage.advance(3)
    assert stage.time == pytest.approx(0.1)
    for actor in actors:
        actor.drive("rightArm", Wave())
    take = stage.run(0.2)
    assert not any(event.kind == "fell" for event in take.events)
    assert stage.time == pytest.approx(0.3)
    assert {int(actor.body.block["steps"]) for actor in actors} == {stage.steps}


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("what", ["torque", "damping"])
def test_a_player_that_writes_no_number_is_told_by_name(what: str, value: float) -> None:
    def act(body: poise.extend.Body, t: float) -> None:
        if t > 0.03:
            getattr(body, what)[body.skeleton.index("rightLowerArm")] = value

    stage = conductor(Odd(act))
    with pytest.raises(poise.SolveError, match=f"OddPlayer gave 'rightLowerArm' of 'mix' a {what} that is not finite"):
        stage.run(0.2)
    assert stage.time < 0.05


def test_a_motion_that_is_no_number_is_told_by_name() -> None:
    stage = conductor(Metronome(bpm=np.nan))
    with pytest.raises(poise.SolveError, match=r"MetronomePlayer gave '.*' of 'mix' a rotation that is not finite"):
        stage.run(0.2)


def test_a_law_that_writes_no_number_is_told_by_name() -> None:
    stage = conductor(FastWave(swing=np.nan))
    rejects(lambda: stage.run(0.2), "FastWavePlayer", error=poise.SolveError)


ARM = HUMAN.skeleton.index("rightUpperArm")


@pytest.mark.parametrize(
    ("claim", "complaint"),
    [
        (lambda joints: None, "Odd.claim must return a Claim"),
        (lambda joints: joints, "Odd.claim must return a Claim"),
        (lambda joints: poise.extend.Claim(()), "moves no joint"),
        (lambda joints: poise.extend.Claim((99,)), "gave 99 among the joints that are moved"),
        (lambda joints: poise.extend.Claim(("rightHand",)), "gave 'rightHand' among"),
        (lambda joints: poise.extend.Claim((0.5,)), "gave 0.5 among"),
        (lambda joints: poise.extend.Claim(tuple(joints), held=(-1,)), "gave -1 among the joints that are held"),
        (lambda joints: poise.extend.Claim((*joints, joints[0])), "twice"),
        (lambda joints: poise.extend.Claim(tuple(joints), tuple(joints)), "twice"),
        (lambda joints: poise.extend.Claim((1,)), "which it was not given"),
    ],
)
def test_a_wrong_claim_is_told_by_name(claim: Callable[[list[int]], Any], complaint: str) -> None:
    actor = Stage().add(HUMAN)
    with pytest.raises(poise.InputError, match=complaint):
        actor.drive("rightArm", Odd(nothing, claim=claim))
    assert not actor.assignments


@pytest.mark.parametrize(
    ("driver", "complaint"),
    [
        (Odd(nothing, build=lambda: None), "Odd.build must return a Player that is no MotionPlayer; it returned None"),
        (Odd(nothing, build=lambda: 3), "it returned a int"),
        (Odd(nothing, level="motion"), "level 'motion', so Odd.build must return a MotionPlayer; it returned a OddPl"),
        (Odd(nothing, laws={"writes": ()}), "OddPlayer.laws has 'writes'; the phases of laws are 'write' or 'post_"),
        (Odd(nothing, laws={"write": (nothing, None)}), "must give a law"),
    ],
)
def test_a_wrong_player_is_told_by_name(driver: Odd, complaint: str) -> None:
    stage = Stage()
    actor = stage.add(HUMAN)
    actor.drive("rightArm", driver)
    with pytest.raises(poise.InputError, match=complaint):
        stage.run(0.1)
    actor.drive("rightArm", Odd(nothing))
    stage.run(0.1)


@pytest.mark.parametrize("driver", [Odd(nothing, level="torqe"), Odd(nothing, level=None), OddPlayer, None, "wave"])
def test_what_is_no_driver_is_refused(driver: Any) -> None:
    with pytest.raises(poise.InputError, match=r"driver"):
        Stage().add(HUMAN).drive("rightArm", driver)


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        ("aims", np.zeros(3), "field 'aims' is not in this block. Did you mean 'aim'"),
        ("aim", np.zeros(3, np.float32), "of float32; laws read float64, int64 and bool"),
        ("aim", np.zeros(3, np.int32), "of int32"),
        ("aim", np.zeros(3, object), "of object"),
        ("aim", np.zeros((4, 4))[:, 1], "do not lie next to one another"),
        ("aim", [1.0, 2.0], "is a whole number, or an array"),
        ("swing", np.zeros(3), "one number, and no array's address"),
        ("swing", "far", "is a number; given 'far'"),
        ("place", [1.0, 2.0], "is 3 numbers"),
    ],
)
def test_a_block_takes_what_a_law_can_read(field: str, value: Any, complaint: str) -> None:
    block = poise.extend.Block(poise.extend.fields(arrays="aim", integers="count", floats="swing", place=3))
    with pytest.raises(poise.InputError, match=complaint):
        block.set(**{field: value})


# Machine code of a law of somebody else's.


@pytest.fixture
def own_law(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Imports the text of a file of laws, beside a file of kernels, anew."""
    from numba.core import config

    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setenv("HOME", str(tmp_path / "home" / "nobody"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / "nobody"))
    (tmp_path / "home").touch()  # no folder can be made there
    (tmp_path / "laws").mkdir()
    (tmp_path / "laws" / "plain_kernels.py").touch()

    def load(text: str) -> ModuleType:
        path = tmp_path / "laws" / "one_law.py"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        spec = importlib.util.spec_from_file_location("one_law", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "one_law", module)  # as an import does: Numba finds it by its name
        spec.loader.exec_module(module)
        return module

    yield load


LAW = """
from poise.extend import laws
CELL = laws.fields(floats="x")

@laws.law
def add(body, block):
    laws.record(block, CELL).x += 2.0
"""


def use(module: ModuleType) -> tuple[float, int]:
    """What its law adds, and how often its machine code was found in the cache."""
    block = poise.extend.Block(module.CELL)
    module.add(block, block)
    return float(block["x"]), module.add._compiled.cache_hits


def test_machine_code_is_kept_beside_the_law_and_made_anew_when_it_changes(own_law: Any, tmp_path: Path) -> None:
    assert use(own_law(LAW)) == (2.0, 0)
    assert list((tmp_path / "laws").rglob("*.nbc"))
    assert use(own_law(LAW)) == (2.0, 1)
    assert use(own_law(LAW.replace("2.0", "30.0"))) == (30.0, 0)
    assert use(own_law(LAW.replace("2.0", "30.0"))) == (30.0, 1)
    (tmp_path / "laws" / "plain_kernels.py").write_text("# another kernel, which the law may call\n")
    assert use(own_law(LAW.replace("2.0", "30.0"))) == (30.0, 0)


def test_a_law_whose_folder_cannot_be_written_is_compiled_each_time(own_law: Any, tmp_path: Path) -> None:
    (tmp_path / "laws" / "__pycache__").touch()
    assert use(own_law(LAW)) == (2.0, 0)
    assert use(own_law(LAW)) == (2.0, 0)
    assert not list(tmp_path.rglob("*.nbc"))


def test_a_law_of_the_guides_is_outside_the_package() -> None:
    assert not GUIDES.is_relative_to(Path(poise.__file__).parent)
    for path in GUIDES.glob("*.py"):
        lines = [line.strip() for line in path.read_text().splitlines() if "poise" in line and "import" in line]
        assert set(lines) <= {"import poise", "from poise import rotation", "from poise.extend import laws"}, path

"""What a user holds can be pickled, copied and sent to worker processes and back, and is still read-only there."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import types
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from helpers.clips import random_clip
from helpers.files.seeds import reason_for_none, write_seed
from poise.body.geometry.mannequin import build_mannequin
from poise.dynamics.tree import build_tree
from poise.errors import FileError, PoiseError, SolveError
from poise.files.reading.pipeline import interpret
from poise.files.registry import FORMATS, read_recording
from poise.jobs.mix.job import MixOptions
from poise.jobs.mix.plan import MixPlan
from poise.jobs.shared.simulation import simulate as mix
from poise.motion import samples
from poise.motion.contacts.contacts import find_contacts
from poise.motion.gestures.gesture import GestureMotion
from poise.motion.gestures.speak import Speak, Stress
from poise.motion.samples.body import Figure
from poise.stage.runner import Frame, Runner
from poise.world.forces import Push
from poise.world.scenery import Scenery
from poise.world.swing import build_swing

HUMAN = poise.Character.human()


@cache
def idle() -> poise.Clip:
    clip: poise.Clip = samples.idle(HUMAN.skeleton, 0.5)
    _ = clip.world, clip.spline  # what was computed is there to be left behind
    return clip


@cache
def stage() -> poise.Stage:
    made = poise.Stage()
    made.add(HUMAN, "one").drive("legs", poise.Balance())
    made.add(poise.Character.human(1.6, 60.0), "two").drive("legs", poise.Balance())
    return made


def frame() -> Frame:
    with Runner(stage(), speed=None, seconds=0.05) as runner:
        return runner.latest()


GESTURE = poise.gestures.conduct(bpm=92, beats=4, hands="both")
THINGS: dict[str, Callable[[], Any]] = {
    "skeleton": lambda: HUMAN.skeleton,
    "character": lambda: HUMAN,
    "clip": idle,
    "random clip": lambda: random_clip(np.random.default_rng(0)),
    "take": lambda: stage().run(0.1),
    "crowd take": lambda: poise.run_crowd(stage(), 0.1),
    "mix": lambda: mix(idle(), HUMAN, MixPlan(pushes=(Push("hips", (0.0, 0.0, 10.0), 0.1),))),
    "frame": frame,
    "gesture": lambda: GESTURE,
    "speech": lambda: Speak((Stress(0.5, "beat"), Stress(1.5, "beat", "left"))),
    "gesture's motion": lambda: GestureMotion(GESTURE, HUMAN.skeleton),
    "balance": lambda: poise.Balance(follow=idle()),
    "kinematic": lambda: poise.Kinematic(idle(), 1.0),
    "track": lambda: poise.Track(idle()),
    "loose": poise.Loose,
    "free": poise.Free,
    "attached": lambda: poise.Attached("swing"),
    "load": lambda: poise.Load("rightHand", 2.0),
    "prop": build_swing,
    "scenery": Scenery,
    "options": lambda: MixOptions(Path("x.bvh")),
    "contacts": lambda: find_contacts(idle()),
    "forces": lambda: poise.compute_forces(samples.idle(HUMAN.skeleton, 2.0), HUMAN),
    "tree": lambda: build_tree(HUMAN),
    "meshes": lambda: build_mannequin(HUMAN.skeleton, 70.0),
    "figure": lambda: Figure(HUMAN.skeleton),
}


def check_same(a: Any, b: Any, where: str = "it") -> None:
    """Assert that two things have the same content and the same places that nobody can write to, but share none."""
    assert type(a) is type(b), where
    if isinstance(a, np.ndarray):
        np.testing.assert_array_equal(a, b, err_msg=where)
        assert a.dtype == b.dtype and a.flags.writeable == b.flags.writeable, where
        assert not np.shares_memory(a, b), where
    elif isinstance(a, dict | types.MappingProxyType):
        assert list(a) == list(b), where
        for key in a:
            check_same(a[key], b[key], f"{where}[{key!r}]")
    elif isinstance(a, tuple | list):
        assert len(a) == len(b), where
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            check_same(x, y, f"{where}[{k}]")
    elif dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            check_same(getattr(a, field.name), getattr(b, field.name), f"{where}.{field.name}")
    elif isinstance(a, float):
        assert a == b or (np.isnan(a) and np.isnan(b)), where
    elif type(a).__eq__ is not object.__eq__:
        assert a == b, where


@pytest.mark.parametrize("how", ["pickle", "deepcopy"])
@pytest.mark.parametrize("name", THINGS)
def test_what_a_user_holds_is_the_same_after_a_journey(name: str, how: str) -> None:
    thing = THINGS[name]()
    there = pickle.loads(pickle.dumps(thing)) if how == "pickle" else copy.deepcopy(thing)
    check_same(thing, there)


@pytest.mark.parametrize("suffix", [entry.suffix for entry in FORMATS if entry.read and entry.suffix != ".fbx"])
def test_what_was_read_from_a_file_travels(suffix: str, tmp_path: Path) -> None:
    seed = write_seed(suffix, tmp_path)
    if seed is None:
        pytest.skip(reason_for_none(suffix))
    recording = read_recording(seed)
    for thing in (recording, interpret(recording)):
        for there in (pickle.loads(pickle.dumps(thing)), copy.deepcopy(thing)):
            check_same(thing.clip, there.clip)
            assert type(there.source if thing is recording else there.recording) is not None


def test_nobody_can_write_to_what_arrived() -> None:
    clip, body = pickle.loads(pickle.dumps((idle(), HUMAN)))
    for array in (clip.times, clip.root, clip.rotations, clip.skeleton.offsets, body.segments[0].inertia.inertia):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    with pytest.raises(TypeError):
        body.skeleton.roles["hips"] = "x"
    with pytest.raises(dataclasses.FrozenInstanceError):
        clip.name = "x"


def test_what_was_computed_stays_behind() -> None:
    """A clip that was looked at is no larger on its way than one that was not, and computes the same there."""
    fresh = samples.idle(HUMAN.skeleton, 0.5)
    assert len(pickle.dumps(idle())) == len(pickle.dumps(fresh))
    there = pickle.loads(pickle.dumps(idle()))
    np.testing.assert_array_equal(there.positions, idle().positions)
    assert pickle.loads(pickle.dumps(HUMAN)).mass == HUMAN.mass


def test_one_thing_twice_is_one_thing_there() -> None:
    clip, same = pickle.loads(pickle.dumps((idle(), idle())))
    assert clip is same
    take = pickle.loads(pickle.dumps(stage().run(0.1)))
    take_of_copy = copy.deepcopy(take)
    assert take_of_copy.actors["one"].character.skeleton is not take.actors["one"].character.skeleton


def simulate(body: poise.Character, clip: poise.Clip) -> tuple[poise.Take, poise.Clip]:
    here = poise.Stage()
    here.add(body, "actor").drive("legs", poise.Balance())
    return here.run(0.1), clip.replace(name="seen")


def fail(path: str) -> None:
    read_recording(path)


def test_worker_processes_take_and_give_them() -> None:
    """There and back in a process that was started anew, as on Windows; an error comes back as what it was."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        take, clip = pool.submit(simulate, HUMAN, idle()).result()
        here, _ = simulate(HUMAN, idle())
        np.testing.assert_array_equal(take.actor().rotations, here.actor().rotations)
        check_same(clip.rotations, idle().rotations)
        with pytest.raises(FileError, match=r"^none\.bvh: there is no such file") as caught:
            pool.submit(fail, "none.bvh").result()
    assert caught.value.path == "none.bvh"


@pytest.mark.parametrize(
    "error", [PoiseError("a"), FileError("x.bvh", "is odd.", 3), poise.InputError("b"), SolveError("c")]
)
def test_errors_travel(error: PoiseError) -> None:
    error.take = idle()  # type: ignore[attr-defined]
    for there in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert type(there) is type(error) and str(there) == str(error) and there.exit_code == error.exit_code
        assert there.__dict__.keys() == error.__dict__.keys()
        check_same(there.take, idle())

"""A value of another kind than what is asked for is answered by a sentence, wherever somebody may give one."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from helpers.command_inputs import make_clip
from poise.errors import PoiseError

HUMAN = poise.Character.human(1.75, 75)
WAVE = poise.gestures.conduct()
CLIP = make_clip(frames=12)


def stage(**options: Any) -> poise.Stage:
    made = poise.Stage(**options)
    made.add(HUMAN)
    return made


def stood(**options: Any) -> Any:
    return stage().add(HUMAN, **options)


def pose(**changed: Any) -> poise.Pose:
    found = stood().pose()
    values = {"root": found.root, "rotations": found.rotations} | changed
    return poise.Pose(**values)


CASES: dict[str, Callable[[Path], Any]] = {
    **{f"load_clip({given!r})": lambda _, x=given: poise.load_clip(x) for given in (None, 3, [])},
    **{f"load_character({given!r})": lambda _, x=given: poise.load_character(x) for given in (None, 3)},
    **{f"load_state({given!r})": lambda _, x=given: poise.load_state(x) for given in (None, 3)},
    **{f"load_take({given!r})": lambda _, x=given: poise.load_take(x) for given in (None, 3)},
    **{f"info({given!r})": lambda _, x=given: poise.info(x) for given in (None, 3)},
    "save_character of a word": lambda at: poise.save_character("x", at / "y.json"),
    "save_character nowhere": lambda _: poise.save_character(HUMAN, 3),
    "save_clip of a word": lambda at: poise.save_clip("x", at / "y.bvh"),
    "save_clip nowhere": lambda _: poise.save_clip(CLIP, 3),
    "info of a clip": lambda _: poise.info(CLIP),
    "convert from a number": lambda at: poise.convert(3, at / "x.glb"),
    "convert a clip": lambda at: poise.convert(CLIP, at / "x.glb"),
    **{
        f"convert, {name}": lambda at, x=name: poise.convert(written(at), at / "y.bvh", **{x: "a"})
        for name in ("start", "end", "resample", "fps", "height", "scale")
    },
    "roles that are pairs": lambda at: poise.load_clip(written(at), roles=[("hips", "x")]),
    "roles that are numbers": lambda at: poise.load_clip(written(at), roles=[1]),
    "mix, roles": lambda at: poise.mix(written(at), roles=[("hips", "x")]),
    "mix, tell": lambda at: poise.mix(written(at), tell=3),
    "ground's height": lambda _: poise.Ground("a"),
    "ground's friction": lambda _: poise.Ground(friction="a"),
    "tilt": lambda _: poise.Slope("x"),
    "steps' start": lambda _: poise.Stairs(start="a"),
    "profile's points": lambda _: poise.Profile("x"),
    "profile's heading": lambda _: poise.Profile(heading="x"),
    "map's corner": lambda _: poise.HeightMap(np.zeros((3, 3)), 1.0, corner=1),
    "complex heights": lambda _: poise.HeightMap(np.zeros((3, 3)) + 1j, 1.0),
    "dt": lambda _: poise.Stage(dt="a"),
    "gain": lambda _: poise.Stage(gain="a"),
    "run's seconds": lambda _: stage().run("a"),
    "run's fps": lambda _: stage().run(1, fps="a"),
    "runner of nothing": lambda _: poise.Runner(None),
    "runner's fps": lambda _: poise.Runner(stage(), fps="x"),
    "runner's speed": lambda _: poise.Runner(stage(), speed="x"),
    "live of nothing": lambda _: poise.Live(None),
    "live's delay": lambda _: poise.Live(HUMAN.skeleton, delay="a"),
    "crowd of nothing": lambda _: poise.run_crowd(None, 1),
    "remove a word": lambda _: stage().remove("x"),
    "loose": lambda _: poise.Loose("a"),
    "loose's pose": lambda _: poise.Loose(pose="x"),
    "kinematic's start": lambda _: poise.Kinematic(WAVE, start="a"),
    "kinematic's cutoff": lambda _: poise.Kinematic(WAVE, cutoff=math.nan),
    "balance's target": lambda _: poise.Balance(target=1),
    "balance's clip": lambda _: poise.Balance(follow="x"),
    "balance's pins": lambda _: poise.Balance(pinned="x"),
    "forces of a word": lambda _: poise.compute_forces("x", HUMAN),
    "skeleton that is a clip": lambda _: poise.Character.from_skeleton(CLIP),
    "age": lambda _: poise.Character.human(age="x"),
    "height": lambda _: poise.Character.human("x"),
    "pose that is a word": lambda _: stood(pose="x"),
    "pose with NaN": lambda _: stood(pose=pose(root=np.full(3, np.nan))),
    "rotations three long": lambda _: stood(pose=pose(rotations=3.0 * stood().pose().rotations)),
    "rotations of nothing": lambda _: stood(pose=pose(rotations=0.0 * stood().pose().rotations)),
    "another body's pose": lambda _: stood(pose=pose(rotations=stood().pose().rotations[:-1])),
    "anchored on a word": lambda _: poise.Anchored(CLIP, ground="a"),
    "anchored by a side": lambda _: poise.Anchored(CLIP, when="left"),
    "anchored by a number": lambda _: poise.Anchored(CLIP, when=3),
    "anchored at words": lambda _: poise.Anchored(CLIP, when=[("a", "left")]),
    "supports that are a list": lambda _: poise.Anchored(CLIP, supports=["left"]),
    "supports that are None": lambda _: poise.Anchored(CLIP, supports={"a": None}),
    "anchored, take_over": lambda _: poise.Anchored(CLIP, take_over="a"),
    "anchored, settle": lambda _: poise.Anchored(CLIP, settle="a"),
    "nothing driven": lambda _: stood().drive([], poise.Loose()),
}


def written(at: Path) -> Path:
    poise.save_clip(CLIP, at / "x.bvh")
    return at / "x.bvh"


@pytest.mark.parametrize("name", CASES)
def test_it_is_answered_by_a_sentence(name: str, tmp_path: Path) -> None:
    with pytest.raises(PoiseError) as caught:
        CASES[name](tmp_path)
    said = str(caught.value)
    assert said.endswith(".") and "object at" not in said and len(said) < 600

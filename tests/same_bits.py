"""Whether a change of the code left every simulation as it was, to the last bit.

    python tests/same_bits.py [-o FILE.json] [--only WORD ...] [--list]
    python tests/same_bits.py --compare BEFORE.json AFTER.json

It runs many short simulations and a few commands, and prints one SHA-256 a case: over all arrays of what was recorded
(name, dtype, shape and bytes of each, in the order of their names), its times and its events. A case that raises has
the error's type and sentence for its result. Every case begins from nothing, so that one can be run alone; all of them
take some minutes, one after the other.

To judge a refactor, run it before and after on one machine with one environment and compare the two files. `--compare`
lists each case whose result differs with the arrays that do and by how much, and exits 1 if there is one. What only the
second has (a case, an array, a figure) is told and is no difference. `sum` in the files is of the absolute values: its
change says whether it is round-off or another motion.

Only public names are used, and the build functions of `poise.demos`, since everything else may move; `find` looks for
the few that were not always public. NaN counts as one number, whatever its bits. Of files that commands write, pictures
and films are left out, and so are figures that the machine's speed decides.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import importlib
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import poise

Case = Callable[..., Any]
CASES: dict[str, Case] = {}
PICTURES = (".png", ".mp4", ".webm", ".webp", ".gif")
# What can be given by a motion: with the paper's coupling nothing that outweighs the rest, or it explodes.
PARTS = {"exact": "upperBody", "paper": "arms"}
# Keys of figures that change from run to run.
BY_SPEED = re.compile(r"realtime|wall|us_per|build_s|total_s|threads")


def find(name: str, *homes: str) -> Any:
    """A public name, or one of those modules' where `poise` itself does not have it."""
    for home in ("poise", *homes):
        try:
            return getattr(importlib.import_module(home), name)
        except (ImportError, AttributeError):
            continue
    raise LookupError(f"neither poise nor {', '.join(homes)} has {name}.")


# What a result is made of.


def list_parts(thing: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """All arrays and texts of a take or of anything made of them, each with its name."""
    if isinstance(thing, np.ndarray | np.generic):
        yield name, np.asarray(thing)
    elif isinstance(thing, dict):
        for key, value in thing.items():
            yield from list_parts(value, f"{name}/{key}")
    elif hasattr(thing, "kind") and hasattr(thing, "message"):
        yield name, f"{thing.time!r} {thing.actor} {thing.kind}: {thing.message}"
    elif isinstance(thing, list | tuple) and len(thing) and hasattr(thing[0], "kind"):
        yield name, "\n".join(text for event in thing for _, text in list_parts(event))
    elif isinstance(thing, list | tuple):
        for k, value in enumerate(thing):
            yield from list_parts(value, f"{name}/{k}")
    elif isinstance(thing, poise.Character):
        return
    elif dataclasses.is_dataclass(thing):
        for field in dataclasses.fields(thing):
            if not BY_SPEED.search(field.name):
                yield from list_parts(getattr(thing, field.name), f"{name}/{field.name}")
    elif thing is not None:
        yield name, repr(thing) if isinstance(thing, float) else str(thing)


def digest(value: Any) -> dict[str, Any]:
    """The SHA-256 of an array or text, and what shows how far two of them are apart."""
    if not isinstance(value, np.ndarray):
        return {"sha256": hashlib.sha256(value.encode("utf-8", "surrogateescape")).hexdigest(), "text": value[:2000]}
    array = np.ascontiguousarray(value)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    head = f"{array.dtype.str} {array.shape} ".encode()
    found: dict[str, Any] = {"sha256": hashlib.sha256(head + array.tobytes()).hexdigest(), "shape": list(array.shape)}
    if array.dtype.kind in "fiu":
        with np.errstate(all="ignore"):
            found["sum"] = float(np.nansum(np.abs(array), dtype=float))
    return found


def run_case(case: Case) -> dict[str, Any]:
    """The result of a case: each part's digest, and one over all of them."""
    began = time.perf_counter()
    try:
        thing = case()
    except Exception as error:  # whatever it is, it is the result
        thing = {"error": f"{type(error).__name__}: {error}", "take": getattr(error, "take", None)}
    parts = {name: digest(value) for name, value in sorted(list_parts(thing))}
    whole = "".join(f"{name} {part['sha256']}\n" for name, part in parts.items())
    seconds = round(time.perf_counter() - began, 2)
    return {"sha256": hashlib.sha256(whole.encode()).hexdigest(), "seconds": seconds, "parts": parts}


# What cases are made of.


def human(height: float = 1.75, mass: float = 75.0, preset: str = "mix", **more: Any) -> Any:
    """A body, of the mix paper's joints unless said otherwise."""
    return poise.Character.human(height, mass, preset=preset, **more)


def beat(**more: Any) -> Any:
    """Both hands conduct."""
    return poise.gestures.conduct(**{"bpm": 100.0, "beats": 3, "hands": "both", **more})


def stand(stage: Any, body: Any = None, gesture: Any = None, part: str = "upperBody", **balance: Any) -> Any:
    """An actor whose legs balance under a gesture."""
    actor = stage.add(human() if body is None else body)
    actor.drive("legs", poise.Balance(**balance))
    actor.drive(part, poise.Kinematic(beat() if gesture is None else gesture))
    return actor


def conduct(seconds: float = 1.5, fps: float = 50.0, body: Any = None, gesture: Any = None,
            balance: dict[str, Any] | None = None, part: str = "upperBody", **stage: Any) -> Any:  # fmt: skip
    """The take of one who stands and conducts."""
    place = poise.Stage(**stage)
    stand(place, None if body is None else human(**body), gesture and gesture(), part, **(balance or {}))
    return place.run(seconds, fps=fps)


def plan(*moments: tuple[float, Callable[[], object]]) -> Callable[[float], None]:
    """What `Stage.run` calls as `each`: does things once, when their times have come."""
    waiting = sorted(moments, key=lambda moment: moment[0])

    def each(t: float) -> None:
        while waiting and t >= waiting[0][0] - 1e-9:
            waiting.pop(0)[1]()

    return each


def own_clip(name: str, body: Any, seconds: float, fps: float = 60.0, **more: Any) -> Any:
    """One of Poise's own motions, written as BVH and read again."""
    make = find(name, "poise.motion.own")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.bvh"
        poise.save_clip(make(body.skeleton, seconds, fps, **more), path)
        return poise.load_clip(path)


def clip_body(name: str, seconds: float, **more: Any) -> tuple[Any, Any]:
    """A motion, and a body of the motion's own skeleton."""
    clip = own_clip(name, human(preset="full"), seconds, **more)
    return clip, poise.Character.from_skeleton(clip.skeleton, 70.0)


def add_case(name: str, case: Case, *words: Any, **more: Any) -> None:
    """Have a case run, with arguments."""
    assert name not in CASES, name
    CASES[name] = partial(case, *words, **more)


def case(name: str) -> Callable[[Case], Case]:
    """Have a function run as a case."""

    def keep(function: Case) -> Case:
        add_case(name, function)
        return function

    return keep


# Bodies, gestures, and a stage's own numbers.

BODIES: dict[str, dict[str, Any]] = {
    "toddler": {"height": 1.0, "mass": 16.0, "age": 4.0},
    "child": {"height": 1.2, "mass": 24.0, "age": 7.0},
    "heavy child": {"height": 1.25, "mass": 55.0, "age": 9.0},
    "small": {"height": 1.5, "mass": 45.0, "sex": "female"},
    "old": {"height": 1.65, "mass": 70.0, "sex": "female", "age": 85.0},
    "thin": {"height": 1.85, "mass": 48.0},
    "fat": {"height": 1.7, "mass": 150.0},
    "giant": {"height": 2.3, "mass": 160.0, "sex": "male"},
    "strength": {"preset": "strength"},
    "tracking": {"preset": "tracking"},
    "full": {"preset": "full"},
    "full child": {"preset": "full", "height": 1.1, "mass": 19.0, "age": 5.0},
    "by Winter": {"table": "winter", "preset": "full"},
}
for name, body in BODIES.items():
    add_case(f"body {name}", conduct, body=body)

GESTURES: dict[str, tuple[str, Callable[[], Any]]] = {
    "one arm": ("rightArm", lambda: poise.gestures.conduct(bpm=92.0, beats=4)),
    "swing": ("arms", lambda: poise.gestures.arm_swing(rate=1.0, amplitude=50.0)),
    "clap": ("arms", poise.gestures.clap),
    "cue": ("leftArm", lambda: poise.gestures.cue("left")),
    "breathe": ("upperBody", poise.gestures.breathe),
    "fast": ("upperBody", lambda: beat(bpm=180.0, size=1.3)),
}
for name, (part, gesture) in GESTURES.items():
    add_case(f"gesture {name}", conduct, gesture=gesture, part=part)

STAGES: dict[str, dict[str, Any]] = {
    "step 1 ms": {"dt": 0.001, "seconds": 0.5},
    "step 2.5 ms": {"dt": 0.0025},
    "step 10 ms": {"dt": 0.01},
    "24 fps": {"fps": 24.0},
    "47.3 fps": {"fps": 47.3},
    "60 fps": {"fps": 60.0},
    "200 fps": {"fps": 200.0, "seconds": 0.5},
    "30 fps step 10 ms": {"fps": 30.0, "dt": 0.01},
    "long": {"seconds": 10.0, "fps": 25.0},
    "gain 0": {"gain": 0.0},
    "gain 0.5": {"gain": 0.5},
    "gain 2": {"gain": 2.0},
    "gain -1": {"gain": -1.0},
    "paper": {"couple": "paper", "part": "arms"},
    "paper step 2.5 ms": {"couple": "paper", "part": "arms", "dt": 0.0025},
    "paper gain 0.5": {"couple": "paper", "part": "arms", "gain": 0.5},
    "paper torque only": {"couple": "paper", "part": "arms", "torque_only": True},
    "paper explodes": {"couple": "paper"},
    "moon": {"gravity": (0.0, -1.62, 0.0)},
    "tilted gravity": {"gravity": (0.4, -9.7, 0.2)},
    "ice": {"ground": poise.Ground(friction=0.02)},
    "slippery": {"ground": poise.Ground(friction=0.15)},
    "rubber": {"ground": poise.Ground(friction=1.5)},
    "low ground": {"ground": poise.Ground(height=-0.02)},
    "raised ground": {"ground": poise.Ground(height=0.3)},
}
for name, options in STAGES.items():
    add_case(f"stage {name}", conduct, **options)

BALANCES: dict[str, dict[str, Any]] = {
    "soft": {"stiffness": 0.3},
    "stiff": {"stiffness": 3.0},
    "damped": {"damping": 1.0},
    "squat": {"height": 0.8},
    "aside": {"target": (0.03, 0.02)},
    "pinned": {"pinned": True},
    "careful": {"friction": 0.1},
}
for name, options in BALANCES.items():
    add_case(f"balance {name}", conduct, balance=options)

BULLETS: dict[str, dict[str, Any]] = {
    "conducts": {},
    "step 2.5 ms": {"dt": 0.0025, "seconds": 0.7},
    "step 10 ms": {"dt": 0.01},
    "gain 0": {"gain": 0.0},
    "torque only": {"torque_only": True},
    "child": {"body": BODIES["child"]},
    "full": {"body": BODIES["full"], "gain": 0.0, "seconds": 0.7},
    "pinned": {"balance": {"pinned": True}},
    "explodes": {"part": "upperBody"},
    "exact": {"couple": "exact"},
}
for name, options in BULLETS.items():
    add_case(f"bullet {name}", conduct, **{"engine": "bullet", "couple": "paper", "part": "arms", **options})


@case("frames at odd times")
def run_odd_times() -> Any:
    stage = poise.Stage()
    stand(stage)
    return stage.run(1.0, times=np.array([0.0, 0.0031, 0.1, 0.1004, 0.333, 0.335, 0.77, 1.0]))


@case("steps by hand")
def run_by_hand() -> Any:
    stage = poise.Stage()
    stand(stage)
    for _ in range(7):
        stage.step()
    stage.advance(43)
    return [stage.run(0.3), stage.run(0.3, fps=30.0)]


@case("speech")
def run_speech() -> Any:
    play = find("speak", "poise.motion.gestures.speaking", "poise.gestures")
    stress = find("Stress", "poise.motion.gestures.speaking", "poise.gestures")
    stage = poise.Stage()
    stand(stage, gesture=play([stress(0.6), stress(1.2), stress(1.8)]))
    return stage.run(2.0)


# Drivers.


def switch(before: dict[str, Callable[[], Any]], *moments: tuple[float, Any, Callable[[], Any]], seconds: float = 2.0,
           body: dict[str, Any] | None = None, **options: Any) -> Any:  # fmt: skip
    """One whose drivers are changed while it runs. moments: time, part, driver."""
    stage = poise.Stage(**options)
    actor = stage.add(human(**(body or {})))
    for part, make in before.items():
        actor.drive(part, make())
    turns = [(t, lambda part=part, make=make: actor.drive(part, make())) for t, part, make in moments]
    return stage.run(seconds, each=plan(*turns))


def playing() -> Any:
    return poise.Kinematic(beat(bpm=160.0, size=1.3))


def tracking() -> Any:
    return poise.Track(beat())


STANDING: dict[str, Callable[[], Any]] = {"legs": poise.Balance, "upperBody": playing}
LIGHTLY: dict[str, Callable[[], Any]] = {"legs": poise.Balance, "arms": playing}
SWITCHES: dict[str, tuple[Any, ...]] = {
    "arm loose and back": (LIGHTLY, (0.5, "rightArm", poise.Loose), (1.2, "rightArm", playing)),
    "arms tracked and back": (STANDING, (0.5, "arms", tracking), (1.2, "arms", playing)),
    "arms loose then tracked": (STANDING, (0.4, "arms", poise.Loose), (1.0, "arms", tracking)),
    "ten times": (LIGHTLY, *((0.1 + 0.18 * k, "leftArm", (poise.Loose, playing)[k % 2]) for k in range(10))),
    "trunk loose": (STANDING, (0.5, "trunk", lambda: poise.Loose(12.0, 1.0)), (1.5, "upperBody", playing)),
    "a jump": (STANDING, (0.5, "arms", poise.Loose), (1.0, "arms", lambda: poise.Kinematic(beat(), take_over=0.0))),
    "another gesture": (STANDING, (0.7, "arms", lambda: poise.Kinematic(poise.gestures.clap()))),
    "legs loose": (STANDING, (0.5, "legs", poise.Loose)),
    "one leg loose": (STANDING, (0.5, "leftLeg", poise.Loose)),
    "legs stiffer": (STANDING, (0.5, "legs", lambda: poise.Balance(stiffness=3.0))),
    "all loose": (STANDING, (0.3, "legs", poise.Loose), (0.3, "upperBody", poise.Loose), (0.3, "root", poise.Free)),
    "loose arms": ({"legs": poise.Balance, "arms": poise.Loose}, (1.0, "arms", playing)),
    "tracked": ({"legs": poise.Balance, "upperBody": tracking}, (1.0, "arms", playing)),
    "only legs": ({"legs": poise.Balance},),
    "a forearm": ({"legs": poise.Balance, "arms": poise.Loose}, (0.5, ["rightLowerArm", "rightHand"], playing)),
    "an arm of a given trunk": (STANDING, (0.5, "rightArm", poise.Loose)),
}
for name, (before, *moments) in SWITCHES.items():
    add_case(f"switch {name}", switch, before, *moments)
for name in ("arm loose and back", "arms tracked and back", "legs loose", "all loose"):
    before, *moments = SWITCHES[name]
    add_case(f"switch {name}, paper", switch, LIGHTLY, *moments, couple="paper")
    add_case(f"switch {name}, bullet", switch, LIGHTLY, *moments, couple="paper", engine="bullet", seconds=1.5)
    add_case(f"switch {name}, full body", switch, before, *moments, body=BODIES["full"], dt=0.01)

for name, body in {"mix": {}, "tracking": BODIES["tracking"], "child": BODIES["full child"]}.items():
    add_case(f"track {name}", switch, {"legs": poise.Balance, "upperBody": tracking}, body=body)
add_case("track arms", switch, {"legs": poise.Balance, "arms": lambda: poise.Track(beat(), stiffness=8.0, damping=0.5)})


@case("ragdoll")
def run_ragdoll(**options: Any) -> Any:
    stage = poise.Stage(**options)
    body = human(preset="full")
    actor = stage.add(body)
    actor.drive("root", poise.Free())
    actor.drive(body.skeleton.names[1:], poise.Loose(0.2))
    actor.push("hips", (30.0, 0.0, 60.0), 0.2)
    return stage.run(1.5)


add_case("ragdoll bullet", run_ragdoll, engine="bullet", couple="paper")
add_case("ragdoll in the air", run_ragdoll, ground=None)


# Tempo, pushes and loads.


@case("change of tempo")
def run_change() -> Any:
    stage = poise.Stage()
    actor = stand(stage)
    moments = [(0.5, {"bpm": 140.0}), (0.6, {"bpm": 60.0}), (1.2, {"size": 1.4}), (1.5, {"bpm": 90.0, "beats": 4})]
    return stage.run(2.5, each=plan(*((t, partial(actor.change, **words)) for t, words in moments)))


PUSHES: dict[str, list[tuple[str, tuple[float, float, float], float, float]]] = {
    "recovered": [("spine", (0.0, 0.0, 60.0), 0.2, 0.3)],
    "aside": [("spine", (50.0, 0.0, 0.0), 0.2, 0.3)],
    "many": [("head", (0.0, 0.0, 15.0), 0.3, 0.2), ("hips", (20.0, 0.0, 0.0), 0.5, 0.4),
             ("leftHand", (0.0, 20.0, 0.0), 0.1, 0.45)],
    "falls": [("spine", (0.0, 0.0, 350.0), 0.3, 0.3)],
    "falls back": [("hips", (0.0, 0.0, -300.0), 0.3, 0.2)],
    "thrown": [("hips", (0.0, 3000.0, 900.0), 0.2, 0.2)],
}  # fmt: skip


def push(pushes: Iterable[tuple[str, tuple[float, float, float], float, float]], planned: bool, **options: Any) -> Any:
    """One who is pushed: planned before it runs, or while it does."""
    stage = poise.Stage(**options)
    actor = stand(stage, part=PARTS[stage.couple])
    if planned:
        for joint, force, seconds, start in pushes:
            actor.push(joint, force, seconds, start)
        return stage.run(2.0)
    return stage.run(2.0, each=plan(*((t, partial(actor.push, joint, f, s)) for joint, f, s, t in pushes)))


for name, pushes in PUSHES.items():
    add_case(f"push {name}", push, pushes, True)
    add_case(f"push {name}, at once", push, pushes, False)
for name in ("recovered", "falls"):
    add_case(f"push {name}, paper", push, PUSHES[name], True, couple="paper", dt=0.0025)
    add_case(f"push {name}, bullet", push, PUSHES[name], True, couple="paper", engine="bullet")
    add_case(f"push {name}, step 10 ms", push, PUSHES[name], False, dt=0.01)


@case("fall and lie")
def run_fall() -> Any:
    stage = poise.Stage()
    stand(stage, human(preset="tracking")).push("chest", (0.0, 0.0, 300.0), 0.3, 0.2)
    return [stage.run(1.0), stage.run(2.0, fps=30.0)]


@case("loads")
def run_loads() -> Any:
    stage = poise.Stage()
    actor = stage.add(human(), loads=[poise.Load("leftHand", 1.5, (0.1, 0.0, 0.0))])
    actor.drive("legs", poise.Balance())
    actor.drive("upperBody", poise.Kinematic(beat()))
    return stage.run(2.5, each=plan(
        (0.5, lambda: actor.load(poise.Load("rightHand", 2.0))), (1.0, lambda: actor.load(poise.Load("head", 3.0))),
        (1.5, lambda: actor.drop("rightHand")), (2.0, lambda: actor.drop("leftHand")),
    ))  # fmt: skip


@case("load dropped by a listener")
def run_overload() -> Any:
    stage = poise.Stage()
    actor = stage.add(human(), loads=[poise.Load("rightHand", 14.0)])
    actor.drive("legs", poise.Balance())
    actor.drive("rightArm", poise.Kinematic(beat(hands="right", size=1.4)))
    heard: list[str] = []

    def listen(event: Any) -> None:
        if event.kind == "effort" and not heard:
            heard.append(event.message)
            actor.drop("rightHand")

    actor.listen(listen)
    return [stage.run(2.0), {"heard": " ".join(heard)}]


# Props, and several on one stage.


def box(name: str, half: tuple[float, float, float], place: tuple[float, float, float], mass: float | None) -> Any:
    """A box, fixed where it has no mass."""
    shape = find("Box", "poise.body.shape")(np.zeros(3), np.array(half), np.array([1.0, 0.0, 0.0, 0.0]))
    return poise.Prop(name, (shape,), solid(mass, half), np.array(place))


def ball(name: str, place: tuple[float, float, float], speed: tuple[float, float, float], mass: float = 2.0) -> Any:
    """A ball that flies."""
    shape = find("Sphere", "poise.body.shape")(np.zeros(3), 0.12)
    return poise.Prop(name, (shape,), solid(mass, (0.1, 0.1, 0.1)), np.array(place), velocity=np.array(speed))


def solid(mass: float | None, half: tuple[float, float, float]) -> Any:
    """The inertia of a box about its centre; None where it has no mass."""
    if mass is None:
        return None
    x, y, z = np.square(half)
    return find("RigidInertia", "poise.spatial.inertia")(mass, np.zeros(3), mass / 3.0 * np.diag([y + z, x + z, x + y]))


PROPS: dict[str, Callable[[], list[Any]]] = {
    "a wall": lambda: [box("wall", (0.6, 1.0, 0.05), (0.0, 1.0, 0.5), None)],
    "a wall apart": lambda: [box("wall", (0.6, 1.0, 0.05), (0.0, 1.0, 3.0), None)],
    "a ball": lambda: [ball("ball", (0.1, 1.2, 1.5), (0.0, 2.0, -6.0))],
    "a heavy ball": lambda: [ball("ball", (0.0, 1.2, 1.5), (0.0, 1.0, -9.0), 8.0)],
    "boxes": lambda: [
        box("crate", (0.2, 0.2, 0.2), (0.7, 0.6, 0.0), 9.0),
        box("block", (0.3, 0.1, 0.3), (0.7, 0.1, 0.0), None),
    ],
}


def run_props(props: Callable[[], list[Any]], people: int = 1, pushed: bool = False, **options: Any) -> Any:
    """Some who stand in a row among things."""
    stage = poise.Stage(**options)
    for prop in props():
        stage.add_prop(prop)
    for k in range(people):
        body, gesture = human(1.6 + 0.1 * k, 60.0 + 8.0 * k), beat(bpm=90.0 + 10.0 * k)
        actor = stand(stage, body, gesture, PARTS[stage.couple])
        if pushed and k == 0:
            actor.push("spine", (0.0, 0.0, 300.0), 0.3, 0.2)
    return stage.run(1.5)


for name, props in PROPS.items():
    add_case(f"prop {name}", run_props, props)
    add_case(f"prop {name}, bullet", run_props, props, engine="bullet", couple="paper")
add_case("prop a wall, fallen against", run_props, PROPS["a wall"], pushed=True)
add_case("prop a ball, paper", run_props, PROPS["a ball"], couple="paper")
add_case("several", run_props, list, people=3)
add_case("several, one falls", run_props, list, people=3, pushed=True)
add_case("several, one falls, two threads", run_props, list, people=3, pushed=True, threads=2)
add_case("several, with a wall", run_props, PROPS["a wall apart"], people=2)
add_case("several, with a ball", run_props, PROPS["a ball"], people=2)
add_case("several, with a ball, one falls", run_props, PROPS["a ball"], people=2, pushed=True)
add_case("several, bullet", run_props, list, people=2, engine="bullet", couple="paper")


@case("a door")
def run_door() -> Any:
    hinge = find("Hinge", "poise.world.prop", "poise.world")
    half = (0.4, 1.0, 0.03)
    shape = find("Box", "poise.body.shape")(np.zeros(3), np.array(half), np.array([1.0, 0.0, 0.0, 0.0]))
    at = hinge(np.array([-0.4, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), 0.5)
    stage = poise.Stage()
    stage.add_prop(poise.Prop("door", (shape,), solid(15.0, half), np.array([0.2, 1.05, 0.45]), hinge=at,
                              spin=np.array([0.0, 1.5, 0.0])))  # fmt: skip
    stand(stage)
    return stage.run(1.5)


def run_swing(late: float, dt: float = 0.005) -> Any:
    """A rider on a swing."""
    return find("pump", "poise.demos.swing")(late, 3.0, dt=dt)[1]


add_case("swing", run_swing, 0.0)
add_case("swing late", run_swing, 0.5, 0.01)


@case("swing with loose arms")
def run_loose_rider() -> Any:
    stage = poise.Stage()
    rider, _ = find("seat_rider", "poise.demos.swing")(stage, 0.0)
    return stage.run(2.0, each=plan((0.7, lambda: rider.drive("arms", poise.Loose()))))


@case("different ones together")
def run_different() -> Any:
    stage = poise.Stage(threads=2)
    stand(stage)
    stand(stage, human(1.2, 24.0, age=7.0), part="arms")
    tracked = stage.add(human(preset="tracking"), "tracked")
    tracked.drive("legs", poise.Balance())
    tracked.drive("upperBody", tracking())
    doll = stage.add(human(1.9, 90.0), "doll")
    doll.drive("root", poise.Free())
    doll.drive("upperBody", poise.Loose())
    return stage.run(1.5)


@case("joining and leaving")
def run_joining() -> Any:
    stage = poise.Stage()
    first = stand(stage)
    takes = [stage.run(0.5)]
    stand(stage, human(1.6, 58.0), beat(bpm=130.0))
    takes.append(stage.run(0.5))
    stage.remove(first)
    takes.append(stage.run(0.5))
    return takes


# Clips.


@case("clip played")
def run_clip(name: str = "walk", ground: bool = True) -> Any:
    clip, body = clip_body(name, 3.0)
    stage = poise.Stage() if ground else poise.Stage(ground=None)
    actor = stage.add(body)
    actor.drive("root", poise.Kinematic(clip))
    actor.drive(body.skeleton.names[1:], poise.Kinematic(clip))
    return stage.run(3.2, fps=60.0)


add_case("clip played, a jump, no ground", run_clip, "jump", False)


@case("clip with loose arms")
def run_clip_loose() -> Any:
    clip, body = clip_body("walk", 3.0)
    stage = poise.Stage(couple="paper")
    actor = stage.add(body)
    actor.drive("root", poise.Kinematic(clip))
    actor.drive("legs", poise.Kinematic(clip))
    actor.drive("arms", poise.Loose(0.3))
    actor.drive("head", poise.Track(clip))
    return stage.run(2.0)


def run_over_legs(name: str, follow: bool, seconds: float = 2.0, cutoff: float | None = None, **options: Any) -> Any:
    """A clip over legs that balance, and that follow its hips if asked to."""
    clip, body = clip_body(name, seconds)
    stage = poise.Stage(**options)
    actor = stage.add(body)
    actor.drive("legs", poise.Balance(follow=clip) if follow else poise.Balance())
    actor.drive(PARTS[stage.couple], poise.Kinematic(clip, cutoff=cutoff))
    return stage.run(seconds)


add_case("clip over legs", run_over_legs, "wave", False)
add_case("clip over legs, cut off", run_over_legs, "wave", False, cutoff=5.0)
add_case("clip over legs that follow", run_over_legs, "wave", True)
add_case("clip over legs that follow, squat", run_over_legs, "squat", True, 3.0)
add_case(
    "clip over legs that follow, bullet", run_over_legs, "squat", True, 2.0, engine="bullet", couple="paper", gain=0.0
)
add_case("clip over legs that follow a walk", run_over_legs, "walk", True, 3.0)


@case("clip then balance then clip")
def run_clip_switch() -> Any:
    clip, body = clip_body("idle", 3.0)
    stage = poise.Stage()
    actor = stage.add(body)
    actor.drive("root", poise.Kinematic(clip))
    actor.drive(body.skeleton.names[1:], poise.Kinematic(clip))

    def return_to_clip() -> None:
        actor.drive("root", poise.Kinematic(clip))
        actor.drive("legs", poise.Kinematic(clip))

    return stage.run(2.4, each=plan((0.6, lambda: actor.drive("legs", poise.Balance())), (1.5, return_to_clip)))


@case("clip then ragdoll")
def run_clip_fall() -> Any:
    clip, body = clip_body("walk", 3.0)
    stage = poise.Stage()
    actor = stage.add(body)
    actor.drive("root", poise.Kinematic(clip))
    actor.drive(body.skeleton.names[1:], poise.Kinematic(clip))

    def let_go() -> None:
        actor.drive("root", poise.Free())
        actor.drive(body.skeleton.names[1:], poise.Loose(0.3))

    return stage.run(2.2, each=plan((1.0, let_go)))


@case("clip tracked whole")
def run_clip_tracked() -> Any:
    clip, body = clip_body("wave", 2.0)
    stage = poise.Stage()
    actor = stage.add(body)
    actor.drive("root", poise.Kinematic(clip))
    actor.drive(body.skeleton.names[1:], poise.Track(clip))
    return stage.run(1.5)


# Crowds, and states saved.


def run_many(threads: int, fall: bool = False, mixed: bool = False, **options: Any) -> Any:
    """Twelve conductors."""
    build, draw, bodies = (
        find(name, "poise.demos.conductors") for name in ("build_stage", "draw_conductors", "draw_bodies")
    )
    stage = build(draw(12, 5), bodies(12, 5), threads)
    if mixed:
        actor = stage.add(human(preset="tracking"), "tracked")
        actor.drive("legs", poise.Balance())
        actor.drive("upperBody", tracking())
    pushed = list(stage.actors.values())[::5]

    def knock() -> None:
        for actor in pushed:
            actor.push("hips", (0.0, 0.0, 400.0), 0.3)
        next(iter(stage.actors.values())).change(bpm=150.0)

    return poise.run_crowd(stage, 1.5, each=plan((0.3, knock)) if fall else None, **options)


for threads in (1, 2):
    add_case(f"crowd on {threads}", run_many, threads)
    add_case(f"crowd on {threads}, some fall", run_many, threads, True)
    add_case(f"crowd on {threads}, one tracked", run_many, threads, True, True)
add_case("crowd, some frames", run_many, 1, keep_every=5, fps=100.0)
add_case("crowd, no frames", run_many, 2, keep_every=None)


def run_saved(part: Callable[[Any], Any], **options: Any) -> Any:
    """A state that is returned to in the middle, twice."""
    stage = poise.Stage(**options)
    part(stage)
    takes = [stage.run(0.5)]
    saved = stage.save()
    takes.append(stage.run(1.0))
    stage.restore(saved)
    takes.append(stage.run(1.0))
    stage.restore(saved)
    stage.advance(40)
    return [*takes, stage.run(0.4, fps=30.0)]


def stand_pushed(stage: Any) -> None:
    """One who is pushed over after the state was saved."""
    stand(stage).push("spine", (0.0, 0.0, 350.0), 0.3, 0.4)


def stand_tracked(stage: Any) -> None:
    """One whose arms are pulled after a gesture."""
    actor = stage.add(human(preset="tracking"))
    actor.drive("legs", poise.Balance())
    actor.drive("arms", tracking())


stand_lightly = partial(stand, part="arms")
add_case("saved", run_saved, stand)
add_case("saved, paper", run_saved, stand_lightly, couple="paper")
add_case("saved, bullet", run_saved, stand_lightly, couple="paper", engine="bullet")
add_case("saved, falls after", run_saved, stand_pushed)
add_case("saved, tracked", run_saved, stand_tracked)


@case("saved, a swing")
def run_saved_swing() -> Any:
    return run_saved(lambda stage: find("seat_rider", "poise.demos.swing")(stage, 0.0))


# Commands.

# `poise` without its pictures, which take most of a demo's time: whoever has one of these names does nothing instead.
WITHOUT_PICTURES = """
import importlib, pkgutil, sys
import numpy as np
import poise.demos
for found in pkgutil.iter_modules(poise.demos.__path__):
    importlib.import_module(f"poise.demos.{found.name}")
blank = lambda *words, **more: np.zeros((4, 4, 3), np.uint8)
for name, module in list(sys.modules.items()):
    for picture in ("film_shots", "save_plots", "draw_crowd"):
        if name.startswith("poise.") and hasattr(module, picture):
            setattr(module, picture, blank)
from poise.cli import main
sys.exit(main())
"""


def call(folder: Path, *words: str) -> dict[str, Any]:
    """What a command prints as JSON, and its exit code."""
    command = [sys.executable, "-c", WITHOUT_PICTURES, *words, "--json", "--quiet"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    try:
        printed = json.loads(done.stdout)
    except ValueError:
        printed = {"stdout": done.stdout, "stderr": done.stderr}
    return {"exit": str(done.returncode), "printed": leave_out_speed(printed)}


def leave_out_speed(figures: Any) -> Any:
    """Figures without those that change from run to run, numbers as texts."""
    if isinstance(figures, dict):
        return {key: leave_out_speed(value) for key, value in figures.items() if not BY_SPEED.search(key)}
    return json.dumps(figures)


def read_files(folder: Path, but: Iterable[str] = ()) -> dict[str, Any]:
    """Contents of all files that are no pictures: arrays of an NPZ, figures of a JSON, the bytes of others."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_dir() or path.suffix in PICTURES or path.name in but:
            continue
        name = path.relative_to(folder).as_posix()
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as arrays:
                found[name] = {key: arrays[key] for key in arrays.files if not BY_SPEED.search(key)}
        elif path.suffix == ".json":
            found[name] = leave_out_speed(json.loads(path.read_text(encoding="utf-8")))
        else:
            found[name] = np.frombuffer(path.read_bytes(), np.uint8)
    return found


def run_demo(name: str, *words: str) -> Any:
    """A demo's files and figures."""
    with tempfile.TemporaryDirectory() as folder:
        printed = call(Path(folder), "demo", name, "-o", "out", *words)
        return {**printed, "files": read_files(Path(folder))}


for name in ("conductor", "armswing", "clap", "speech", "mocap", "swing", "switch", "thin-fat", "overload", "gains",
             "compare"):  # fmt: skip
    add_case(f"demo {name}", run_demo, name)
add_case("demo crowd", run_demo, "crowd", "--count", "6", "--seconds", "2", "--seed", "3")


def run_mix(name: str, seconds: float, output: str, *words: str) -> Any:
    """What `poise mix` makes of one of Poise's own motions."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        poise.save_clip(find(name, "poise.motion.own")(human(preset="full").skeleton, seconds, 60.0), folder / "in.bvh")
        printed = call(folder, "mix", "in.bvh", "-o", output, *words)
        return {**printed, "files": read_files(folder, but=["in.bvh"])}


add_case("mix wave", run_mix, "wave", 3.0, "out.take.npz")
add_case("mix wave as GLB", run_mix, "wave", 2.0, "out.glb", "--save-recipe", "out.toml")
add_case("mix squat", run_mix, "squat", 3.0, "out.bvh", "--push", "t=1 hips 0,0,40 0.2s", "--load", "rightHand=2")
add_case("mix squat, stiff", run_mix, "squat", 3.0, "out.take.npz", "--stiffness", "3", "--dt", "0.0025", "--pin")
add_case("mix walk, arms", run_mix, "walk", 3.0, "out.take.npz", "--physical", "arms")
add_case("mix idle by Bullet", run_mix, "idle", 2.0, "out.take.npz", "--engine", "bullet", "--couple", "paper")
add_case("mix idle, falls", run_mix, "idle", 2.0, "out.take.npz", "--push", "t=0.5 hips 0,0,400 0.3s")


# Comparing.


def compare(before: dict[str, Any], after: dict[str, Any]) -> tuple[list[str], list[str]]:
    """What differs, and what only the second has."""
    differ = [f"{name}: is gone" for name in before if name not in after]
    added = [f"{name}: a new case" for name in after if name not in before]
    for name in [name for name in before if name in after]:
        old, new = before[name]["parts"], after[name]["parts"]
        wrong = [f"    {part} {describe(old[part], new.get(part))}" for part in old if not is_same(old, new, part)]
        if wrong:
            differ.append("\n".join([f"{name}: {len(wrong)} of {len(old)} parts differ", *wrong]))
        more = [part for part in new if part not in old]
        if more:
            added.append(f"{name}: {', '.join(more)}")
    return differ, added


def is_same(old: dict[str, Any], new: dict[str, Any], part: str) -> bool:
    """Whether a part is in both, and the same."""
    return part in new and old[part]["sha256"] == new[part]["sha256"]


def describe(old: dict[str, Any], new: dict[str, Any] | None) -> str:
    """How two digests differ."""
    if new is None:
        return "is gone"
    if "text" in old or "text" in new:
        return f"was {old.get('text')!r}, is {new.get('text')!r}"
    if old["shape"] != new["shape"]:
        return f"was of shape {old['shape']}, is of {new['shape']}"
    if "sum" not in old or not old["sum"]:
        return "differs"
    return f"differs: sum by {abs(new['sum'] - old['sum']) / old['sum']:.1e} of itself"


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("-o", "--output", type=Path, help="keep the results in this file")
    parser.add_argument("--only", action="append", metavar="WORD", help="cases whose name has it; may be repeated")
    parser.add_argument("--list", action="store_true", help="say which cases there are")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("BEFORE", "AFTER"), help="two files of results")
    words = parser.parse_args()
    if words.compare:
        before, after = (json.loads(path.read_text(encoding="utf-8")) for path in words.compare)
        differ, added = compare(before, after)
        print("\n".join([*differ, *(f"added, {line}" for line in added)]))
        print(f"{len(before)} cases, {len(differ)} differ")
        return 1 if differ else 0
    names = [name for name in CASES if not words.only or any(word in name for word in words.only)]
    if not names:
        parser.error(f"no case has {words.only} in its name; --list says which there are")
    results = {}
    for name in names:
        if words.list:
            print(name)
            continue
        results[name] = run_case(CASES[name])
        failed = results[name]["parts"].get("/error", {}).get("text", "")
        print(f"{results[name]['sha256']}  {name}{f'  ({failed})' if failed else ''}", flush=True)
    if words.output and not words.list:
        words.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

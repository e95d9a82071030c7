"""One who stands and conducts: bodies, gestures, stages, balances, tempo, pushes and loads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from .cases import add_case, case
from .names import find, poise
from .scenes import CHILD, FULL, PARTS, beat, conduct, human, plan, stand

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
    "moon": {"gravity": (0.0, -1.62, 0.0)},
    "tilted gravity": {"gravity": (0.4, -9.7, 0.2)},
    "ice": {"ground": lambda: poise.Ground(friction=0.02)},
    "slippery": {"ground": lambda: poise.Ground(friction=0.15)},
    "rubber": {"ground": lambda: poise.Ground(friction=1.5)},
    "low ground": {"ground": lambda: poise.Ground(height=-0.02)},
    "raised ground": {"ground": lambda: poise.Ground(height=0.3)},
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
    "child": {"body": CHILD},
    "full": {"body": FULL, "gain": 0.0, "seconds": 0.7},
    "pinned": {"balance": {"pinned": True}},
    "exact": {"couple": "exact"},
}
for name, options in BULLETS.items():
    add_case(f"bullet {name}", conduct, **{"engine": "bullet", "couple": "paper", "part": "arms", **options})


# What weighs more than what carries it cannot be coupled as the paper has it.
add_case("refused, the paper's coupling of a heavy part", conduct, couple="paper", raises="InputError")
add_case("refused, the paper's coupling of a heavy part, bullet", conduct, couple="paper", engine="bullet",
         raises="InputError")  # fmt: skip


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
    play = find("speak")
    stress = find("Stress")
    stage = poise.Stage()
    stand(stage, gesture=play([stress(0.6), stress(1.2), stress(1.8)]))
    return stage.run(2.0)


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

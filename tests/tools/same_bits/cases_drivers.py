"""Every driver: alone, changed while it runs, and over a clip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .cases import add_case
from .names import call, find, poise
from .scenes import FULL, TRACKING, beat, human, make_clip, playing, ragdoll, switch, tracking

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
    add_case(f"switch {name}, full body", switch, before, *moments, body=FULL, dt=0.01)

for name, body in {
    "mix": {},
    "tracking": TRACKING,
    "child": {"preset": "full", "height": 1.1, "mass": 19.0, "age": 5.0},
}.items():
    add_case(f"track {name}", switch, {"legs": poise.Balance, "upperBody": tracking}, body=body)
add_case("track arms", switch, {"legs": poise.Balance, "arms": lambda: poise.Track(beat(), stiffness=8.0, damping=0.5)})


def run_ragdoll(**options: Any) -> Any:
    """Limp on the ground, pushed."""
    stage = poise.Stage(**options)
    ragdoll(stage).push("hips", (30.0, 0.0, 60.0), 0.2)
    return stage.run(1.5)


add_case("ragdoll", run_ragdoll)
add_case("ragdoll bullet", run_ragdoll, engine="bullet", couple="paper")
add_case("ragdoll in the air", run_ragdoll, ground=None)


# One row a driver.


def drive(parts: dict[str, Callable[[Any], Any]], seconds: float = 1.5, body: dict[str, Any] | None = None,
          push: tuple[str, tuple[float, float, float], float, float] | None = None, **options: Any) -> Any:  # fmt: skip
    """One whose parts have drivers, made for the body; the take and the state of the stage after it."""
    stage = poise.Stage(**options)
    actor = stage.add(human(**(body or {})))
    for part, make in parts.items():
        actor.drive(part, make(actor.character))
    if push is not None:
        actor.push(*push)
    return [stage.run(seconds, fps=50.0), {"state": stage.save()}]


def walk_of(body: Any, seconds: float = 3.0) -> Any:
    return make_clip("walk", body.skeleton, seconds)


def low_ground(x: Any, z: Any) -> Any:
    """A floor of one's own."""
    return 0.0 * x + 0.05


NUDGE = ("spine", (0.0, 0.0, 60.0), 0.2, 0.3)
ROWS: dict[str, tuple[dict[str, Callable[[Any], Any]], dict[str, Any]]] = {
    "balance gives": ({"legs": lambda _: poise.Balance(give=0.5), "arms": lambda _: playing()}, {"push": NUDGE}),
    "balance holds half": ({"legs": lambda _: poise.Balance(hold=0.5), "upperBody": lambda _: playing()}, {}),
    "balance leans against": (
        {"legs": lambda _: poise.Balance(counter_lean=3.0), "arms": lambda _: playing()}, {}),
    "counterpoise": (
        {"legs": lambda _: poise.Balance(), "arms": lambda _: playing(), "trunk": lambda _: poise.Counterpoise()}, {}),
    "counterpoise over a clip": (
        {"legs": lambda _: poise.Balance(), "arms": lambda _: playing(),
         "trunk": lambda body: poise.Counterpoise(spine=0.8, cap=0.05, follow=make_clip("idle", body.skeleton))}, {}),
    "a gesture that the body takes part in": (
        {"legs": lambda _: poise.Balance(), "arms": lambda _: poise.Kinematic(beat(takes_part=1.0))}, {"seconds": 2.5}),
    "loose springs with a pose": (
        {"legs": lambda _: poise.Balance(), "arms": lambda body: poise.Loose(
            2.0, 0.7, pose=find("stand_pose")(body.skeleton).rotations, relax=0.5)}, {}),
    "track by the paper's law": (
        {"legs": lambda _: poise.Balance(), "upperBody": lambda _: poise.Track(beat(), 400.0, law="paper")}, {}),
    "track by critical springs": (
        {"legs": lambda _: poise.Balance(), "upperBody": lambda _: poise.Track(beat(), 400.0, law="critical")}, {}),
    "track that gives": (
        {"legs": lambda _: poise.Balance(), "upperBody": lambda _: poise.Track(beat(), give=0.8)}, {"push": NUDGE}),
    "anchored": ({"root": lambda body: poise.Anchored(walk_of(body)),
                  "body": lambda body: poise.Kinematic(walk_of(body))}, {"seconds": 3.0}),
    "anchored by times": (
        {"root": lambda body: poise.Anchored(walk_of(body), when=[(0.0, "left"), (1.2, "right"), (2.0, None)]),
         "body": lambda body: poise.Kinematic(walk_of(body))}, {"seconds": 2.5}),
    "anchored on a point": (
        {"root": lambda body: poise.Anchored(walk_of(body), fixes="point", cutoff=np.inf, ground=low_ground),
         "body": lambda body: poise.Kinematic(walk_of(body))}, {"seconds": 2.0}),
    "anchored on steps": (
        {"root": lambda body: poise.Anchored(walk_of(body)), "body": lambda body: poise.Kinematic(walk_of(body))},
        {"seconds": 3.0, "ground": poise.Stairs(0.1, 0.5, 4)}),
    "anchored over loose legs": (
        {"root": lambda _: poise.Anchored(fixes="point"), "upperBody": lambda _: playing(),
         "legs": lambda body: poise.Kinematic(make_clip("idle", body.skeleton))}, {}),
    "kinematic kept to its feet": (
        {"root": lambda body: call(poise.Kinematic, walk_of(body), cutoff=3.0, active_after_fall=True),
         "body": lambda body: call(poise.Kinematic, walk_of(body), cutoff=3.0, active_after_fall=True)},
        {"seconds": 2.0}),
}  # fmt: skip
for name, (parts, options) in ROWS.items():
    add_case(f"driver {name}", drive, parts, **options)

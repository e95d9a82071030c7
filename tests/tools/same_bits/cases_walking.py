"""Walking: over every terrain, by every body and manner, and as a driver that is pushed and turned."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .cases import add_case, case
from .cases_jobs import run_job
from .names import poise
from .scenes import CHILD, human, make_clip, plan

TERRAINS: dict[str, dict[str, Any]] = {
    "flat": {}, "slope": {}, "stairs": {}, "rough": {"seed": 3}, "moving": {},
    "stairs, random": {"shape": {"random": "yes"}, "seed": 2}, "slope across": {"shape": {"cross": 0.1}},
    "moving, rough": {"shape": {"ground": "rough"}, "seed": 2},
}  # fmt: skip
for _name, _options in TERRAINS.items():
    add_case(f"walk on {_name}", run_job, lambda f, name=_name, options=_options: poise.walk(
        re.match("[a-z]+", name)[0], 5, fps=30.0, **options))  # fmt: skip
for _body in ("fat", "thin", "short", "child", "long-leg", "locked-knee", "one-arm", "backpack"):
    add_case(f"walk of body {_body}", run_job, lambda f, body=_body: poise.walk("flat", 4, body=body, fps=30.0))

MANNERS: dict[str, dict[str, float]] = {
    "quick": {"pace": 1.3, "step": 0.6}, "careful": {"pace": 0.6, "step": 0.25, "margin": 0.03},
    "high": {"lift": 0.15, "toe_out": 0.3}, "leaning": {"lean": 0.15, "arms": 0.0}, "wide": {"width": 0.3, "roll": 0.4},
}  # fmt: skip
PLACES = [(0.5, 0.8), (-0.5, 1.6), (0.0, 2.4)]
for _name, _manner in MANNERS.items():
    add_case(f"walk, {_name}", run_job, lambda f, manner=_manner: poise.walk(
        "flat", 4, manner=poise.Gait(**manner), fps=30.0))  # fmt: skip
add_case("walk along a path", run_job, lambda f: poise.walk("flat", path=PLACES, fps=30.0))
add_case("walk along a path, backwards", run_job, lambda f: poise.walk("flat", path=PLACES, facing="back", fps=30.0))
add_case("walk along a path, sideways", run_job, lambda f: poise.walk("flat", path=PLACES, facing="left", fps=30.0))
add_case("walk with a load", run_job, lambda f: poise.walk("stairs", 4, loads="rightHand=5", fps=30.0))


def walk(seconds: float, *moments: tuple[float, Callable[[Any], object]], body: dict[str, Any] | None = None,
         ground: Callable[[], Any] | None = None, dt: float = 0.005, **walk: Any) -> Any:  # fmt: skip
    """Somebody on a stage who walks, and to whom things happen."""
    stage = poise.Stage(dt=dt) if ground is None else poise.Stage(dt=dt, ground=ground())
    actor = stage.add(poise.Character.human(1.75, 75) if body is None else human(**body), "walker")
    actor.drive("body", poise.Walk(**walk))
    turns = [(t, lambda what=what: what(actor)) for t, what in moments]
    return [stage.run(seconds, fps=50.0, each=plan(*turns) if turns else None), {"state": stage.save()}]


add_case("walker of four steps", walk, 3.5, steps=4)
add_case("walker without end", walk, 2.5)
add_case("walker along a path", walk, 4.0, path=[(0.4, 0.8), (0.0, 1.6)])
add_case("walker who looks aside", walk, 3.0, steps=3, facing=0.6)
add_case("walker backwards", walk, 3.0, path=[(0.0, -1.0)], facing="back")
add_case("walker of a manner", walk, 3.0, steps=3, manner={"pace": 1.2, "step": 0.5, "lift": 0.1})
add_case("walker, a child", walk, 3.0, body={**CHILD, "preset": "full"}, steps=3)
add_case("walker, step 10 ms", walk, 3.0, dt=0.01, steps=3)
add_case("walker up stairs", walk, 4.0, ground=lambda: poise.Stairs(0.15, 0.3, 3), steps=5)
add_case("walker on a slope", walk, 3.0, ground=lambda: poise.Slope(np.radians(6.0), 0.4), steps=4)
add_case("walker on a rough map", walk, 3.0, ground=lambda: poise.HeightMap(
    0.03 * np.random.default_rng(3).random((60, 60)), 0.1), steps=4)  # fmt: skip
add_case(
    "walker on a raft",
    walk,
    3.0,
    ground=lambda: poise.MovingGround(poise.Ground(), sway=(0.1, 0.0, 0.1), period=4.0),
    steps=3,
)
add_case(
    "walker who goes limp",
    walk,
    3.0,
    (1.4, lambda a: (a.drive("root", poise.Free()), a.drive("body", poise.Loose(0.3)))),
    steps=6,
)
add_case("walker who is turned", walk, 4.0, (1.5, lambda a: a.drive("body", poise.Walk(path=[(1.0, 1.0)]))), steps=6)
add_case("walker who stops and conducts", walk, 4.0, (1.5, lambda a: a.drive("body", poise.Walk(0))),
         (2.6, lambda a: a.drive("arms", poise.Kinematic(poise.gestures.conduct(hands="both")))), steps=6)  # fmt: skip
add_case(
    "walker who stands up straight by physics", walk, 3.0, (1.6, lambda a: a.drive("legs", poise.Balance())), steps=2
)
add_case("walker after a clip", walk, 3.5, (0.0, lambda a: a.drive("arms", poise.Loose(1.0))), steps=4)


@case("walker after physics")
def run_walk_after() -> Any:
    """One who stands by physics begins to walk, another out of a squat."""
    stage = poise.Stage()
    one, two = stage.add(human(), "one"), stage.add(poise.Character.human(1.6, 60.0), "two")
    one.drive("legs", poise.Balance())
    one.drive("arms", poise.Loose(0.5))
    squat = make_clip("squat", two.skeleton, 3.5)
    two.drive("root", poise.Kinematic(squat))
    two.drive("body", poise.Kinematic(squat))
    return stage.run(3.5, fps=50.0, each=plan(
        (0.6, lambda: one.drive("body", poise.Walk(3))), (1.4, lambda: two.drive("body", poise.Walk(2)))))  # fmt: skip


@case("walkers in a crowd")
def run_walkers() -> Any:
    stage = poise.Stage(threads=2)
    for k in range(3):
        stage.add(human(1.5 + 0.1 * k, 50.0 + 10.0 * k)).drive("body", poise.Walk(3, manner={"pace": 0.8 + 0.2 * k}))
    return stage.run(2.0, fps=30.0)

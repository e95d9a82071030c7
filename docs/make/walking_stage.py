"""How far a walk goes with its root free: the figures of docs/walking-stage.md.

    python docs/make/walking_stage.py [rows]

The joints are those of `Walk`, the root floats, and nothing but the ground carries the body. Beside it walks the plan.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import poise
from poise import rotation

BODIES = {"1.75 m, 75 kg": (1.75, 75), "1.20 m, 25 kg": (1.2, 25), "1.95 m, 110 kg": (1.95, 110)}
STEPS = (0.001, 0.002, 0.005, 0.01)  # s
MORE = {
    "backwards": (0.005, 20, {"facing": "back"}, None),
    "sideways": (0.005, 20, {"facing": "left"}, None),
    "5 kg in the right hand": (0.005, 20, {}, 5.0),
    "100 steps": (0.005, 100, {}, None),
    "1.5 times the pace": (0.005, 20, {"manner": {"pace": 1.5}}, None),
    "twice the pace": (0.005, 20, {"manner": {"pace": 2.0}}, None),
}
ROWS = {
    **{f"{name}, {1e3 * dt:g} ms": (body, dt, 20, {}, None) for name, body in BODIES.items() for dt in STEPS},
    **{name: ((1.75, 75), *row) for name, row in MORE.items()},
}


def measure(body: tuple[float, float], dt: float, steps: int, walk: dict, load: float | None) -> str:
    """A row of the table."""
    character = poise.Character.human(*body)
    loads = [] if load is None else [poise.Load("rightHand", load)]
    stages = [poise.Stage(dt=dt) for _ in range(2)]
    real, plan = (stage.add(character, "walker", loads=loads) for stage in stages)
    for actor in (real, plan):
        actor.drive("body", poise.Walk(steps=steps, **walk))
    real.drive("root", poise.Free())
    worst, tilt, broke, every = 0.0, 0.0, None, round(0.05 / dt)
    began = time.perf_counter()
    while stages[0].time < 1.4 * steps + 10.0:
        for stage in stages:
            stage.advance(every)
        off = float(np.linalg.norm(real.body.state.root - plan.body.state.root))
        turn = rotation.log(rotation.multiply(rotation.conjugate(plan.body.state.q[0]), real.body.state.q[0]))
        worst, tilt = max(worst, off), max(tilt, float(np.degrees(np.linalg.norm(turn))))
        if off > 0.1 or real.fallen is not None:
            broke = stages[0].time
            break
        if plan.player("body").is_done:
            break
    way = float(np.linalg.norm(plan.body.state.root[[0, 2]] - [0.0, 0.0]))
    print(f"({time.perf_counter() - began:.0f} s)", file=sys.stderr)
    done = "all" if broke is None else f"left it at {broke:.1f} s"
    return f"{stages[0].time:.1f} | {way:.1f} | {1e3 * worst:.1f} | {tilt:.2f} | {done}"


if __name__ == "__main__":
    print("| what | s | m | off, most, mm | turned, most, deg | steps |\n|---|---|---|---|---|---|")
    for name in sys.argv[1:] or ROWS:
        print(f"| {name} | {measure(*ROWS[name])} |", flush=True)

"""Makes the tables of docs/crowd.md but for the settings: where a character-step's time goes, and how cost grows.

    .venv/bin/python docs/make/crowd.py [profile] [growth] [bench]

Rewrites the tables between the marks; without a word, all of them. Times are medians on one thread of whatever machine
this is: run it when nothing else does.
"""

from __future__ import annotations

import ctypes
import inspect
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import mujoco
import numba
import numpy as np

import poise
from poise.bench import crowd as bench_crowd
from poise.bench import growth
from poise.bench.crowd import CrowdBench
from poise.bench.harness import measure
from poise.compiled.law import Law
from poise.compiled.views import call_with_two
from poise.demos.shared.conductors import build_stage, draw_bodies, draw_conductors

PAGE = Path(__file__).parents[1] / "crowd.md"
COUNT = 200
# What each law of the step is for.
PURPOSE = {
    "start_clock": "the clock",
    "write": "kinematic parts: pose, velocity and acceleration from their splines",
    "couple_exactly": "where all bodies are and how they move; what the kinematic parts put on their connectors",
    "clear_commands": "torques of the last step are forgotten",
    "stand": "balance: the wanted force, the legs' torques, feet put back where they were planted",
    "write (MuJoCo)": "wrenches and torques as generalised forces of the engine",
    "read (MuJoCo)": "the state back from the engine",
    "advance_clock": "the clock goes on",
}
TIMERS = {
    "mjTIMER_POS_KINEMATICS": "kinematics",
    "mjTIMER_POS_INERTIA": "inertia, and its factor",
    "mjTIMER_POS_COLLISION": "collision",
    "mjTIMER_POS_MAKE": "rows of the contacts",
    "mjTIMER_POS_PROJECT": "their inertia",
    "mjTIMER_VELOCITY": "velocities and bias forces",
    "mjTIMER_ACTUATION": "actuation",
    "mjTIMER_CONSTRAINT": "solver",
    "mjTIMER_ADVANCE": "integration",
}


def main() -> None:
    """Rewrite the tables that were asked for."""
    tables: dict[str, Callable[[], str]] = {
        "profile": make_profile, "growth": make_growth, "bench": make_bench,
    }  # fmt: skip
    for name in sys.argv[1:] or tables:
        put(name, tables[name]())


def put(name: str, table: str) -> None:
    """A table between its marks in the page."""
    text = PAGE.read_text()
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    if begin not in text:
        raise SystemExit(f"{PAGE.name} has no marks for {name}.")
    pattern = re.escape(begin) + ".*?" + re.escape(end)
    PAGE.write_text(re.sub(pattern, lambda _: begin + table + "\n" + end, text, flags=re.DOTALL))
    print(f"{name}\n{table}\n")


# Where the time of a step goes.


def make_profile() -> str:
    """Each law alone on a running character, again and again; the engine by its own timers."""
    us = time_laws()
    bench = CrowdBench(COUNT, [1], frames=5)
    timings = measure(bench.contenders, 25, clock=bench.clock)
    whole, bare, apart = (bench.us(timings, f"{name} 1") for name in ("crowd", "shared", "bare"))
    rows = ["| part | us | share |", "| --- | ---: | ---: |"]
    rows.append(f"| **the whole step, with poses read at 50 Hz** | **{whole:.2f}** | 100 % |")
    rows.append(f"| the engine's step (`mj_step`), states carried to it | {bare:.2f} | {100 * bare / whole:.0f} % |")
    for key, share in time_engine(bench.stage).items():
        rows.append(f"| &nbsp;&nbsp;{key} | {share * bare:.2f} | {100 * share * bare / whole:.0f} % |")
    for name, each in sorted(us.items(), key=lambda item: -item[1]):
        rows.append(f"| `{name}`: {PURPOSE.get(name, 'other')} | {each:.2f} | {100 * each / whole:.0f} % |")
    rest = whole - bare - sum(us.values())
    rows.append(
        f"| the rest: memory (see below), addresses, poses, `Stage.advance` | {rest:.2f} | {100 * rest / whole:.0f} % |"
    )
    rows.append(f"| *beside it: `mj_step` alone, each body with its own `MjData`* | *{apart:.2f}* | |")
    return "\n".join(rows)


def time_laws(calls: int = 2000) -> dict[str, float]:
    """Microseconds of one call of each law of a conductor's step, the engine's own step left out."""
    stage = build_stage(draw_conductors(1, bodies=1), draw_bodies(1))
    stage.advance(200)
    saved = stage.save()

    @numba.njit
    def loop(n, law, body, block):  # type: ignore[no-untyped-def]
        for _ in range(n):
            call_with_two(law, body, block)

    us = {}
    for entry in stage.loop.runner.programs[0].entries:
        if not isinstance(entry.law, Law):
            continue
        name = entry.law.name + (" (MuJoCo)" if ".mujoco." in entry.law.function.__module__ else "")
        if name not in PURPOSE:
            continue
        taken = []
        for _ in range(12):
            stage.restore(saved)
            began = time.perf_counter()
            loop(calls, entry.law.address, entry.body.address, entry.block.address)
            taken.append((time.perf_counter() - began) / calls)
        us[name] = 1e6 * float(np.median(taken[1:]))
    stage.restore(saved)
    return us


def time_engine(stage: poise.Stage, steps: int = 400) -> dict[str, float]:
    """Shares of `mj_step` by MuJoCo's own timers, which a clock without Python drives."""
    library = ctypes.CDLL(next(str(p) for p in Path(mujoco.__file__).parent.glob("libmujoco.so*")))
    clock_gettime = ctypes.CDLL(None).clock_gettime
    clock_gettime.argtypes, clock_gettime.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_int

    @numba.cfunc("float64()")
    def now():  # type: ignore[no-untyped-def]
        both = np.empty(2, np.int64)
        clock_gettime(1, both.ctypes.data)
        return 1e6 * both[0] + 1e-3 * both[1]

    pointer = ctypes.c_void_p.in_dll(library, "mjcb_time")
    stage.loop.is_recorded = True  # each body in its own data, where its timers are
    numbers = {key: getattr(mujoco.mjtTimer, key) for key in TIMERS}
    total, parts = 0.0, dict.fromkeys(TIMERS, 0.0)
    try:
        pointer.value = now.address
        stage.advance(steps)
    finally:
        pointer.value = None
    for group in stage.groups:
        timer = group.simulation.data.timer  # type: ignore[attr-defined]
        total += timer.duration[int(mujoco.mjtTimer.mjTIMER_STEP)]
        for key, number in numbers.items():
            parts[key] += timer.duration[int(number)]
    shares = {TIMERS[key]: value / total for key, value in parts.items() if value / total > 0.005}
    return shares | {"the rest of it": 1.0 - sum(shares.values())}


# How cost grows.


def make_growth() -> str:
    """Microseconds by characters and by joints."""
    found = growth.run(rounds=7)
    rows = ["| characters | us a character and step | to that of the most |", "| ---: | ---: | ---: |"]
    for count, us in found["characters"].items():
        rows.append(f"| {count} | {us:.2f} | {found['characters_to_most'][count]:.3f} |")
    rows += [
        "",
        "| joints | inverse dynamics, chain | tree | coupling, chain | tree |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    for count in found["dynamics_chain"]:
        keys = ("dynamics_chain", "dynamics_tree", "coupling_chain", "coupling_tree")
        rows.append(f"| {count} | " + " | ".join(f"{found[key][count]:.2f}" for key in keys) + " |")
    return "\n".join(rows)


def make_bench() -> str:
    """What `poise bench crowd` says here."""
    found = bench_crowd.run()
    keys = inspect.getsource(bench_crowd.run)
    rows = ["| figure | |", "| --- | ---: |"]
    for key, value in found.items():
        if f'"{key}"' in keys and isinstance(value, int | float):
            rows.append(f"| {key} | {value:.4g} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()

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
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import mujoco
import numba
import numpy as np

from poise.bench import crowd as bench_crowd
from poise.bench import growth
from poise.bench.crowd import CrowdBench
from poise.bench.harness import measure
from poise.demos.conductors import build_stage, draw_bodies, draw_conductors
from poise.drivers import balance_kernels, feet_kernels, servo_kernels, support_kernels
from poise.dynamics import instant
from poise.engines import joint_kernels, mujoco_kernels
from poise.motion import part_kernels
from poise.stage import coupling_kernels
from poise.stage.stage import Stage

PAGE = Path(__file__).parents[1] / "crowd.md"
COUNT = 200
KERNELS: tuple[ModuleType, ...] = (
    balance_kernels, feet_kernels, servo_kernels, support_kernels, instant, joint_kernels, mujoco_kernels,
    part_kernels, coupling_kernels,
)  # fmt: skip
# What each kernel of the step is for; kernels that only others call are in these.
PURPOSE = {
    "play_part": "kinematic parts: pose, velocity and acceleration from their splines",
    "pose_bodies": "where all bodies are",
    "move_bodies": "how they move",
    "center_of_mass": "centre of mass and its velocity",
    "couple_exact": "what the kinematic parts put on their connectors",
    "hand_to_connectors": "that, summed up to the connectors",
    "ask_floors": "what is under the soles",
    "balance": "balance: the wanted force and the legs' torques",
    "hold_feet": "feet put back where they were planted",
    "gather_wrenches": "wrenches and torques, for the engine",
    "write_forces": "those as generalised forces",
    "nudge": "the turns that put the feet back",
    "read_body": "the state back from the engine",
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
    """Each kernel alone on the arrays of a running character, jolted between calls; the engine by its own timers."""
    calls = record_step()
    us: dict[str, float] = defaultdict(float)
    for function, arguments in calls:
        us[function.__name__] += time_kernel(function, arguments)
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


def record_step() -> list[tuple[Any, tuple[Any, ...]]]:
    """Every kernel that one readable step of a conductor calls, with its arguments."""
    stage = build_stage(draw_conductors(1, bodies=1), draw_bodies(1))
    stage.compiled = False
    stage.rebuild(next(iter(stage.actors.values())))
    stage.advance(200)
    calls: list[tuple[Any, tuple[Any, ...]]] = []
    seen: dict[tuple[str, str], Any] = {}

    def spy(function: Any) -> Any:
        def call(*arguments: Any) -> Any:
            calls.append((function, arguments))
            return function(*arguments)

        return call

    # By every name that a module outside the kernels' own knows a kernel.
    places = [module for name, module in sys.modules.items() if name.startswith("poise.")]
    kernels = {id(value) for module in KERNELS for value in vars(module).values() if hasattr(value, "py_func")}
    for module in places:
        for name, value in list(vars(module).items()):
            if id(value) in kernels:
                seen[module.__name__, name] = value
                setattr(module, name, spy(value))
    try:
        stage.advance(1)
    finally:
        for (module, name), value in seen.items():
            setattr(sys.modules[module], name, value)
    wanted = [(function, arguments) for function, arguments in calls if function.__name__ in PURPOSE]
    # The readable path places the bodies once more for the engine, and reads the state twice: the program does not.
    once: dict[str, int] = defaultdict(int)
    kept = []
    for function, arguments in wanted:
        once[function.__name__] += 1
        if once[function.__name__] <= (2 if function.__name__ == "nudge" else 1):
            kept.append((function, arguments))
    return kept


def time_kernel(function: Any, arguments: tuple[Any, ...], calls: int = 2000) -> float:
    """Microseconds of one call, in a compiled loop that changes its arrays a little so that nothing can be hoisted."""
    arrays = [a for a in arguments if isinstance(a, np.ndarray) and a.dtype == float and a.size and a.flags.writeable]
    kept = [a.copy() for a in arrays]
    floats = [a.ravel() for a in arrays if a.flags.c_contiguous]

    @numba.njit(error_model="numpy")
    def loop(n, jolt, args):  # type: ignore[no-untyped-def]
        for _ in range(n):
            jolt[0] = jolt[0] * (1.0 + 1e-13)
            function(*args)

    taken = []
    for _ in range(12):
        for a, b in zip(arrays, kept, strict=True):
            a[...] = b
        began = time.perf_counter()
        loop(calls, floats[0], arguments)
        taken.append((time.perf_counter() - began) / calls)
    for a, b in zip(arrays, kept, strict=True):
        a[...] = b
    return 1e6 * float(np.median(taken[1:]))


def time_engine(stage: Stage, steps: int = 400) -> dict[str, float]:
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
    stage._is_recorded = True  # each body in its own data, where its timers are
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

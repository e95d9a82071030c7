"""Makes the tables of docs/crowd.md: where a character-step's time goes, solver settings, and how cost grows.

    .venv/bin/python docs/make/crowd.py [profile] [settings] [growth] [bench]

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
from poise.engines import mujoco_kernels
from poise.motion import part_kernels
from poise.stage import coupling_kernels
from poise.stage.stage import Stage

PAGE = Path(__file__).parents[1] / "crowd.md"
COUNT = 200
KERNELS: tuple[ModuleType, ...] = (
    balance_kernels, feet_kernels, servo_kernels, support_kernels, instant, mujoco_kernels, part_kernels,
    coupling_kernels,
)  # fmt: skip
# What each kernel of the step is for; kernels that only others call are in these.
PURPOSE = {
    "play_part": "kinematic parts: pose, velocity and acceleration from their splines",
    "pose_bodies": "where all bodies are",
    "move_bodies": "how they move",
    "center_of_mass": "centre of mass and its velocity",
    "couple_exact": "what the kinematic parts put on their connectors",
    "hand_to_connectors": "that, summed up to the connectors",
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
        "profile": make_profile, "settings": make_settings, "growth": make_growth, "bench": make_bench,
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


# Solver settings.

_PUSH, _AT, _FOR = 30.0, 4.0, 0.3  # N sideways at the chest of everybody, s
_SECONDS = 16.0


def make_settings() -> str:
    """Quality and speed of the engine's settings, each on the same crowd."""
    opt = mujoco.mjtIntegrator, mujoco.mjtCone, mujoco.mjtSolver
    settings: dict[str, dict[str, Any]] = {
        "**as used: discrete, elliptic, impratio 100, solref 2 dt, Newton**": {},
        "implicitfast": {"integrator": opt[0].mjINT_IMPLICITFAST},
        "Euler": {"integrator": opt[0].mjINT_EULER},
        "impratio 1": {"impratio": 1.0},
        "impratio 10": {"impratio": 10.0},
        "impratio 1000": {"impratio": 1000.0},
        "pyramidal cone, impratio 1": {"cone": opt[1].mjCONE_PYRAMIDAL, "impratio": 1.0},
        "pyramidal cone, impratio 100": {"cone": opt[1].mjCONE_PYRAMIDAL},
        "solref 4 dt": {"solref": 0.020},
        "solref 8 dt": {"solref": 0.040},
        "1 iteration": {"iterations": 1},
        "2 iterations": {"iterations": 2},
        "4 iterations": {"iterations": 4},
        "tolerance 1e-4": {"tolerance": 1e-4},
        "tolerance 1e-6": {"tolerance": 1e-6},
        "tolerance 1e-10": {"tolerance": 1e-10},
        "conjugate gradients": {"solver": opt[2].mjSOL_CG},
        "projected Gauss-Seidel": {"solver": opt[2].mjSOL_PGS},
    }
    rows = [
        "| setting | us a step | fell | feet moved, mm | sway, mm | deepest, mm | iterations |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    stages, figures = {}, {}
    for name, setting in settings.items():
        stages[name], figures[name] = try_setting(setting)
    contenders = {name: (lambda stage=stage: stage.advance(50)) for name, stage in stages.items()}
    timings = measure(contenders, 11)
    count = len(next(iter(stages.values())).actors)
    for name in settings:
        rows.append(f"| {name} | {1e6 * timings.median(name) / 50 / count:.1f} | {figures[name]} |")
    return "\n".join(rows)


def try_setting(setting: dict[str, Any]) -> tuple[Stage, str]:
    """A crowd under some settings: who fell, how far feet moved, how far bodies swayed, how deep feet sank."""
    stage = build_stage(draw_conductors(16, bodies=16), draw_bodies(16))
    stage.build()
    for group in stage.groups:
        model = group.simulation.model  # type: ignore[attr-defined]
        for key, value in setting.items():
            if key == "solref":
                model.geom_solref[:, 0] = value
            else:
                setattr(model.opt, key, value)
    for actor in stage.actors.values():
        actor.push("spine", (_PUSH, 0.0, 0.0), _FOR, start=_AT)
    take = stage.run(_SECONDS, fps=20.0)
    records = take.actors.values()
    still = int(2.0 * 20.0)
    moved = max(np.linalg.norm((r.soles[still:] - r.soles[still])[..., [0, 2]], axis=-1).max() for r in records)
    quiet = slice(int((_AT + 4.0) * 20.0), None)
    sway = np.mean([np.sqrt(np.var(r.center[quiet][:, [0, 2]], axis=0).sum()) for r in records])
    depth = -min(float(r.soles[still:, ..., 1].min()) for r in records)
    rounds = np.mean([group.simulation.data.solver_niter[0] for group in stage.groups])  # type: ignore[attr-defined]
    fell = sum(take.fell_at(name) is not None for name in take.actors)
    return stage, f"{fell} | {1e3 * moved:.2f} | {1e3 * sway:.2f} | {1e3 * depth:.2f} | {rounds:.1f}"


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

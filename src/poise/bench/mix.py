"""A step of one mixed character, beside the same one fully simulated, and beside the engine's own step.

mixed      legs balance, everything above is a gesture: all that a stage does for a step, frames aside
tracked    the same character on the same legs with every joint above physical, pulled after the same gesture
tracking   the same with the 48 degrees of freedom of the tracking paper
bare       the engine's step alone of the mixed and of the tracked model, at the very states and forces of a second of
           such a run; what putting those into the engine takes is measured beside it and taken off

Everybody runs a second of conducting with contacts at 200 steps a second, in turn. `compiled` says whose step calls no
Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import poise
from poise.bench.harness import measure
from poise.drivers.loose.loose import FIRM
from poise.motion.gestures import conduct
from poise.stage.actor import Actor

SETTLE = 1.0  # s before anything is timed
FPS = 50.0


def run(rounds: int = 15, seconds: float = 1.0) -> dict[str, Any]:
    """Microseconds a step, ratios within a round, and `realtime_factor`: simulated over real time of the mixed one.

    `ratio`            mixed over bare
    `tracked_ratio`    tracked over mixed; `tracking_ratio` alike
    `recorded_...`     with frames recorded at 50 Hz, as `Stage.run` does

    rounds   how often each is timed
    seconds  simulated, in each timing
    """
    mixed, recorded = build_mixed(), build_mixed()
    tracked, tracking = build_tracked("mix"), build_tracked("tracking")
    steps = round(seconds / mixed.dt)
    bare, put = replay(build_mixed(), steps)
    bare_tracked, put_tracked = replay(build_tracked("mix"), steps)
    contenders: dict[str, Callable[[], object]] = {
        "mixed": lambda: advance(mixed, steps),
        "bare": bare,
        "put": put,
        "bare tracked": bare_tracked,
        "put tracked": put_tracked,
        "tracked": lambda: advance(tracked, steps),
        "tracking": lambda: advance(tracking, steps),
        "recorded": lambda: recorded.run(seconds, fps=FPS),
    }
    timings = measure(contenders, rounds)
    us = {name: 1e6 * timings.median(name) / steps for name in contenders}
    alone = timings.rounds["bare"] - timings.rounds["put"]
    alone_tracked = timings.rounds["bare tracked"] - timings.rounds["put tracked"]
    stages = {"mixed": mixed, "tracked": tracked, "tracking": tracking}
    return {
        "dt_s": mixed.dt,
        "us_per_step": us["mixed"],
        "tracked_us_per_step": us["tracked"],
        "tracking_us_per_step": us["tracking"],
        "bare_engine_us": 1e6 * float(np.median(alone)) / steps,
        "bare_tracked_engine_us": 1e6 * float(np.median(alone_tracked)) / steps,
        "bare_tracked_ratio": float(np.median(alone_tracked / alone)),
        "ratio": float(np.median(timings.rounds["mixed"] / alone)),
        "tracked_ratio": timings.ratio("tracked", to="mixed"),
        "tracking_ratio": timings.ratio("tracking", to="mixed"),
        "realtime_factor": mixed.dt / (1e-6 * us["mixed"]),
        "recorded_us_per_step": us["recorded"],
        "recorded_realtime_factor": mixed.dt / (1e-6 * us["recorded"]),
        "compiled": {name: stage.loop.runner.programs[0].is_compiled for name, stage in stages.items()},
        "freedoms": {name: count_freedoms(stage) for name, stage in stages.items()},
        "fell": any(actor.fallen is not None for stage in stages.values() for actor in stage.actors.values()),
        "spread": max(timings.spread(name) for name in contenders if not name.startswith("put")),
    }


def build_mixed() -> poise.Stage:
    """A conductor of 1.75 m and 75 kg whose legs balance, after it has settled."""
    stage = poise.Stage()
    actor = stage.add(poise.Character.human(1.75, 75.0, preset="mix"))
    actor.drive("legs", poise.Balance())
    actor.drive("upperBody", poise.Kinematic(conduct(hands="both")))
    advance(stage, round(SETTLE / stage.dt))
    return stage


def build_tracked(preset: str) -> poise.Stage:
    """The same with physical arms that springs pull after the gesture, and springs at trunk and head."""
    stage = poise.Stage()
    actor = stage.add(poise.Character.human(1.75, 75.0, preset=preset))
    actor.drive("legs", poise.Balance())
    actor.drive("upperBody", poise.Track(conduct(hands="both")))
    put_trunk_on_springs(actor)
    advance(stage, round(SETTLE / stage.dt))
    return stage


def put_trunk_on_springs(actor: Actor) -> None:
    """Have springs hold trunk and head, as physical parts: the whole body is simulated."""
    for part in ("trunk", "head"):
        actor.drive(part, poise.Loose(FIRM, damping=1.0))


def advance(stage: poise.Stage, steps: int) -> None:
    """Some steps of a stage, as many at a time as there are in a frame."""
    at_once = round(1.0 / (FPS * stage.dt))
    for _ in range(steps // at_once):
        stage.advance(at_once)


def count_freedoms(stage: poise.Stage) -> int:
    """Degrees of freedom that the engine integrates."""
    return int(_simulation(stage).model.nv)


def replay(stage: poise.Stage, steps: int) -> tuple[Callable[[], None], Callable[[], None]]:
    """The engine's steps at the states and forces that a stage had, and the same without the steps."""
    import mujoco

    simulation = _simulation(stage)
    model, data = simulation.model, simulation.data
    rows: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for _ in range(steps):
        before = data.qpos.copy(), data.qvel.copy()
        stage.step()
        rows.append((*before, data.qfrc_applied.copy()))  # which the step leaves as it was given
    qpos, qvel, force = data.qpos, data.qvel, data.qfrc_applied

    def put() -> None:
        for row in rows:
            qpos[:], qvel[:], force[:] = row

    def bare() -> None:
        for row in rows:
            qpos[:], qvel[:], force[:] = row
            mujoco.mj_step(model, data)

    return bare, put


def _simulation(stage: poise.Stage) -> Any:
    return stage.groups[0].simulation

"""A crowd of conductors, beside a compiled loop over the engine's own step of the same bodies.

crowd     `Stage.advance` of everybody, with the poses of all read 50 times a second
bare      `mj_step` alone, by its address in the same compiled loop, on the same models from the same states with the
          same threads, each body with its own `MjData`
shared    the same at the threads' workspaces, which the crowd uses (`engines/mujoco/workspaces.py`), states and forces
          carried there and back
tracking  `mj_step` alone of the 48 freedoms of the tracking paper, every joint physical and pulled after the same
          gesture: less than what such a character costs, as its control is not in it
bullet    Bullet's own step of one mixed body, where it is installed

All begin from the same states, which are put back between the timings, off the clock. Figures are medians over rounds.
"""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import poise
from poise.bench.harness import Timings, measure
from poise.bench.mix import put_trunk_on_springs
from poise.demos.shared.conductors import build_stage, draw_bodies, draw_conductors
from poise.motion.gestures import conduct
from poise.stage.crowd.crowd import ProgramRunner

SETTLE = 1.0  # s before anything is timed
STEPS_A_FRAME = 4  # 200 steps and 50 frames a second


def run(count: int = 200, rounds: int = 21, frames: int = 5) -> dict[str, Any]:
    """Figures of a crowd on all cores; see the keys in the source.

    count   conductors
    rounds  how often each is timed
    frames  in each timing
    """
    threads = os.cpu_count() or 1
    bench = CrowdBench(count, sorted({1, threads}), frames)
    heavy, heavy_steps = _track_fully(), STEPS_A_FRAME * frames
    bullet = _find_bullet()
    contenders: dict[str, Callable[[], object]] = dict(bench.contenders)
    contenders["tracking"] = lambda: _step_rows(heavy, heavy_steps, bench.clock)
    if bullet is not None:
        contenders["bullet"] = lambda: [bullet() for _ in range(heavy_steps)]
    timings = measure(contenders, rounds, clock=bench.clock)
    one = bench.us(timings, "crowd 1")
    heavy_us = 1e6 * timings.rounds["tracking"] / (len(heavy.groups) * heavy_steps)
    ours, bare = f"crowd {threads}", f"bare {threads}"
    return {
        "count": count,
        "threads": threads,
        "dt_s": bench.stage.dt,
        "us_per_character_step": bench.us(timings, ours),
        "bare_engine_us": bench.us(timings, bare),
        "ratio": timings.ratio(ours, to=bare),
        "shared_engine_us": bench.us(timings, f"shared {threads}"),
        "shared_ratio": timings.ratio(ours, to=f"shared {threads}"),
        "realtime_characters": int(1e6 * bench.stage.dt / bench.us(timings, ours)),
        "one_thread_us_per_character_step": one,
        "one_thread_bare_engine_us": bench.us(timings, "bare 1"),
        "one_thread_ratio": timings.ratio("crowd 1", to="bare 1"),
        "one_thread_realtime_characters": int(1e6 * bench.stage.dt / one),
        "speedup": timings.ratio("crowd 1", to=ours),
        "bare_speedup": timings.ratio("bare 1", to=bare),
        "speedup_share": _compare_speedups(timings, threads),
        "tracking_engine_us": float(np.median(heavy_us)),
        "tracking_ratio": float(np.median(heavy_us / bench.us_rounds(timings, "crowd 1"))),
        "freedoms": {"mixed": _freedoms(bench.stage), "tracking": _freedoms(heavy)},
        "bullet_engine_us": 1e6 * timings.median("bullet") / heavy_steps if bullet is not None else None,
        "fell": sum(actor.fallen is not None for actor in bench.stage.actors.values()),
        "spread": max(timings.spread(name) for name in contenders),
        "missing": [] if bullet is not None else ["pybullet"],
    }


class PausedClock:
    """Seconds that passed while it was not paused: what a contender does beforehand does not count.

    source  of seconds; `time.process_time` on a machine that others use; None: the clock's
    """

    def __init__(self, source: Callable[[], float] | None = None) -> None:
        self._off, self._source = 0.0, source or time.perf_counter

    def __call__(self) -> float:
        return self._source() - self._off

    def pause(self, work: Callable[[], object]) -> None:
        """Do something off the clock."""
        began = self._source()
        work()
        self._off += self._source() - began


class CrowdBench:
    """A settled crowd with its contenders: `crowd N` and `bare N` for each number of threads.

    stage  of so many actors; conductors if None
    """

    def __init__(self, count: int, threads: list[int], frames: int, stage: poise.Stage | None = None):
        self.count, self.frames = count, frames
        self.stage = build_stage(draw_conductors(count), draw_bodies(count)) if stage is None else stage
        self.stage.advance(round(SETTLE / self.stage.dt))
        self.saved = self.stage.save()
        self.clock = PausedClock()
        joints = max(len(actor.character.skeleton) for actor in self.stage.actors.values())
        self.root, self.turns = np.zeros((count, 3)), np.zeros((count, joints, 4))
        self.contenders: dict[str, Callable[[], object]] = {}
        for number in threads:
            crowd = ProgramRunner(number, self.stage.engine.share(number))
            crowd.set_programs(self.stage.loop.runner.programs)
            self.contenders[f"crowd {number}"] = partial(self._run, crowd)
            self.contenders[f"bare {number}"] = partial(self._step, crowd)
            self.contenders[f"shared {number}"] = partial(self._step, crowd, own=False)

    def us_rounds(self, timings: Timings, name: str) -> np.ndarray:
        """(R,) microseconds a character and step."""
        return 1e6 * timings.rounds[name] / (self.count * self.frames * STEPS_A_FRAME)

    def us(self, timings: Timings, name: str) -> float:
        """Their median."""
        return float(np.median(self.us_rounds(timings, name)))

    def _prepare(self, crowd: ProgramRunner) -> None:
        self.stage.loop.runner = crowd
        self.stage.restore(self.saved)

    def _run(self, crowd: ProgramRunner) -> None:
        self.clock.pause(lambda: self._prepare(crowd))
        self.clock.pause(lambda: crowd.watch(self.root, self.turns))
        for _ in range(self.frames):
            self.stage.advance(STEPS_A_FRAME)

    def _step(self, crowd: ProgramRunner, own: bool = True) -> None:
        self.clock.pause(lambda: self._prepare(crowd))
        for _ in range(self.frames):
            crowd.step_engine(STEPS_A_FRAME, own)


def _compare_speedups(timings: Timings, threads: int) -> float:
    """Our speed-up by threads over the bare engine's, within rounds."""
    seconds = timings.rounds
    ours = seconds["crowd 1"] / seconds[f"crowd {threads}"]
    return float(np.median(ours / (seconds["bare 1"] / seconds[f"bare {threads}"])))


def _track_fully(count: int = 8) -> poise.Stage:
    """Settled bodies of the tracking preset with every joint physical."""
    stage = poise.Stage()
    for k in range(count):
        actor = stage.add(poise.Character.human(1.6 + 0.03 * k, 60.0 + 4.0 * k, preset="tracking"))
        actor.drive("legs", poise.Balance())
        actor.drive("upperBody", poise.Track(conduct(bpm=70.0 + 8.0 * k, hands="both")))
        put_trunk_on_springs(actor)
    stage.advance(round(SETTLE / stage.dt))
    stage.saved = stage.save()  # type: ignore[attr-defined]
    return stage


def _step_rows(stage: poise.Stage, steps: int, clock: PausedClock) -> None:
    """The engine's own steps of all actors."""
    clock.pause(lambda: stage.restore(stage.saved))  # type: ignore[attr-defined]
    for _ in range(steps // STEPS_A_FRAME):
        stage.loop.runner.step_engine(STEPS_A_FRAME)


def _find_bullet() -> Callable[[], object] | None:
    """One step of a settled mixed body by Bullet; None where it is not installed."""
    if importlib.util.find_spec("pybullet") is None:
        return None
    stage = poise.Stage(engine="bullet")
    actor = stage.add(poise.Character.human(1.75, 75.0, preset="mix"))
    actor.drive("legs", poise.Balance())
    actor.drive("upperBody", poise.Kinematic(conduct(hands="both")))
    stage.advance(20)
    return stage.groups[0].simulation.step


def _freedoms(stage: poise.Stage) -> int:
    """Degrees of freedom of one body that the engine integrates."""
    return int(stage.groups[0].simulation.model.nv)  # type: ignore[attr-defined]

"""A step of a tracked body, beside the engine's own step of the same body.

full    the tracking paper's 48 freedoms, springs above legs that balance, by each of the three laws
upper   its arms alone, 18 freedoms, on a trunk that stays
crowd   100 full bodies at once, on all cores

Each is timed in turn with `mj_step` alone, by its address in the same compiled loop, on the same models from the same
states with the same threads, by the processor's time, which others on the machine do not change. Frames are read 50
times a second; the gesture is conducting with both hands.
"""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

import poise
from poise.bench.crowd import CrowdBench, PausedClock
from poise.bench.harness import measure
from poise.bench.mix import put_trunk_on_springs
from poise.drivers.track.track import FEEDFORWARD, LAWS
from poise.motion.gestures import conduct

PRESET = "tracking"


def run(count: int = 100, rounds: int = 21, frames: int = 10) -> dict[str, Any]:
    """Microseconds a body and step, and ratios to the engine's own within a round.

    `ratio`         of one full body that feeds forward; `paper_ratio`, `critical_ratio`, `upper_ratio`, `crowd_ratio`
                    alike
    `give_ratio`    of one that gives way where it is hit

    count   bodies of the crowd
    rounds  how often each is timed
    frames  in each timing
    """
    threads = os.cpu_count() or 1
    found: dict[str, Any] = {"threads": threads, "count": count}
    fell = 0
    kinds = {"": (FEEDFORWARD, False, 0.0), "give_": (FEEDFORWARD, False, 0.9), "upper_": (FEEDFORWARD, True, 0.0)}
    kinds |= {f"{law}_": (law, False, 0.0) for law in LAWS if law != FEEDFORWARD}
    for name, (law, is_upper, give) in kinds.items():
        bench = CrowdBench(1, [1], frames, build(1, law, is_upper, give))
        bench.clock = PausedClock(time.process_time)
        found |= _time(bench, name, 1, rounds)
        fell += _count_fallen(bench.stage)
    bench = CrowdBench(count, [threads], max(1, frames // 5), build(count))
    bench.clock = PausedClock(time.process_time)
    found |= _time(bench, "crowd_", threads, rounds)
    found["realtime_characters"] = int(threads * 1e6 * bench.stage.dt / found["crowd_us_per_step"])
    return {**found, "dt_s": bench.stage.dt, "fell": fell + _count_fallen(bench.stage)}


def build(count: int, law: str = FEEDFORWARD, is_upper: bool = False, give: float = 0.0) -> poise.Stage:
    """Bodies of 1.6 to 1.9 m that do not touch one another; is_upper: on pelvises that stay."""
    stage = poise.Stage(touch=poise.ContactSettings(itself=False, actors=False))
    for k in range(count):
        height, mass = 1.6 + 0.3 * (k % 11) / 10.0, 60.0 + 30.0 * (k % 7) / 6.0
        actor = stage.add(poise.Character.human(height, mass, preset=PRESET), name=f"body {k}")
        if not is_upper:
            actor.drive("legs", poise.Balance())
        actor.drive(
            "upperBody", poise.Track(conduct(bpm=70.0 + 50.0 * (k % 13) / 12.0, hands="both"), law=law, give=give)
        )
        if not is_upper:
            put_trunk_on_springs(actor)
    return stage


def _time(bench: CrowdBench, name: str, threads: int, rounds: int) -> dict[str, float]:
    ours, bare = f"crowd {threads}", f"bare {threads}"
    timings = measure({key: bench.contenders[key] for key in (ours, bare)}, rounds, clock=bench.clock)
    return {
        f"{name}us_per_step": bench.us(timings, ours),
        f"{name}bare_engine_us": bench.us(timings, bare),
        f"{name}ratio": float(np.median(timings.rounds[ours] / timings.rounds[bare])),
        f"{name}spread": max(timings.spread(ours), timings.spread(bare)),
    }


def _count_fallen(stage: poise.Stage) -> int:
    return sum(actor.fallen is not None for actor in stage.actors.values())

"""A run of a stage that is recorded: at which times, whether there is room, and the loop over its steps."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from poise.errors import InputError, SolveError, check_most
from poise.spatial import quick_compile
from poise.stage.recorder import Recorder
from poise.stage.take import Take

if TYPE_CHECKING:
    from poise.stage.stage import Stage

MOST_BYTES = 2_000_000_000  # of a take: two hours of a body of 25 joints at 50 frames a second
_FRAME_BYTES, _JOINT_BYTES = 900, 88  # what a frame of an actor takes, and each of its joints
MOST_STEPS = 100_000_000  # of one run: six days at 5 ms


def list_times(stage: Stage, seconds: float, fps: float) -> np.ndarray:
    """(F,) s on the stage's clock, of frames for some seconds from now on."""
    if not (math.isfinite(seconds) and seconds > 0.0):
        raise InputError(f"a stage runs for more than 0 s; {seconds:g} given.")
    if not (math.isfinite(fps) and 0.0 < fps <= 1.0 / stage.dt + 1e-6):
        raise InputError(f"{fps:g} frames a second cannot be had from steps of {stage.dt:g} s.")
    _check_room(stage, seconds, fps)
    return stage.time + np.arange(round(seconds * fps) + 1) / fps


def _check_room(stage: Stage, seconds: float, fps: float) -> None:
    """Raise InputError where a take would be larger than what is kept at once."""
    frame = sum(_FRAME_BYTES + _JOINT_BYTES * len(actor.body.tree) for actor in stage.actors.values())
    frames, most = seconds * fps + 1.0, math.floor(MOST_BYTES / max(frame, 1))
    advice = "Run it in pieces, with fewer frames a second (fps), or as a crowd that keeps none (run_crowd)."
    check_most(
        f"{seconds:g} s at {fps:g} frames a second are {frames:.4g} frames of {len(stage.actors)} bodies",
        frames, most, advice,
    )  # fmt: skip


def check_run(stage: Stage, times: np.ndarray) -> None:
    """Raise InputError unless there is somebody to record, at times (F,) that can be."""
    if not stage.actors:
        raise InputError("there is no actor on this stage. Put one there first: stage.add(character).")
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all() or np.any(np.diff(times) <= 0.0):
        raise InputError(f"frames are at finite, increasing times (F,); given {times.size} of shape {times.shape}.")
    if times[0] < stage.time - 1e-9 * stage.dt:
        raise InputError(f"a frame at {times[0]:g} s is before the stage's clock, which is at {stage.time:g} s.")
    steps = (float(times[-1]) - stage.time) / stage.dt
    check_most(f"up to {times[-1]:g} s there are {steps:.4g} steps of {stage.dt:g} s", steps, MOST_STEPS,
               "Run it in pieces.")  # fmt: skip


def record_run(stage: Stage, times: np.ndarray, each: Callable[[float], None] | None) -> Take:
    """Run a stage up to the last of some times (F,), recording it at each.

    each  called with the time before every step
    """
    recorder = Recorder(stage, times)
    stage.build()
    stage.crowd.run(0)  # what a first run compiles or loads is so here, and with its first frame
    recorder.record()
    clock = _Clock()
    try:
        while not recorder.is_done:
            if each is not None:
                each(stage.time)
            elif recorder.steps_ahead > 1:
                stage.advance(recorder.steps_ahead - 1)
            recorder.remember()
            stage.step()
            recorder.record()
    except SolveError as error:
        error.take = recorder.finish(clock.read())  # type: ignore[attr-defined]
        raise
    return recorder.finish(clock.read())


class _Clock:
    """Seconds since it was made, less those in which kernels were compiled: a first run is as fast as the next."""

    def __init__(self) -> None:
        self._began = self._now()

    def read(self) -> float:
        return self._now() - self._began

    @staticmethod
    def _now() -> float:
        return time.perf_counter() - quick_compile.get_seconds()

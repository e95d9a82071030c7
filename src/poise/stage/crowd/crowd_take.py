"""Runs many actors and keeps what a crowd is for: their poses, who fell and how long it took.

A `Take` has forces, torques and contacts of every frame, which Python gathers actor by actor. Here compiled code
writes the poses of all straight into two arrays, and Python is only called for events.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from poise.body.character import Character
from poise.errors import InputError, unknown_name
from poise.frozen import Portable
from poise.kinds import checked
from poise.motion.clip import Clip
from poise.spatial import rotation
from poise.stage.monitor.events import TakeEvents
from poise.stage.take.take import Event

if TYPE_CHECKING:
    from poise.stage.stage import Stage
LONGEST = 1e7  # s
MOST_BYTES = 2_000_000_000  # of kept poses: 1000 characters of 16 joints for a minute and a half at 25 frames a second


@dataclass(frozen=True, eq=False)
class CrowdTake(Portable):
    """Poses of C actors over F frames, J the most joints that one has.

    times         (F,) s on the stage's clock; none where no frame was kept
    names         of the actors, in order; characters alike
    root          (F, C, 3) m
    rotations     (F, C, J, 4) relative to parents; the identity where an actor has fewer joints
    last_root, last_rotations   (C, 3), (C, J, 4) at the end, whether frames were kept or not
    events        in order
    frames        how many poses of all were read, kept or not
    wall_seconds  that stepping and reading took
    """

    times: np.ndarray
    names: tuple[str, ...]
    characters: tuple[Character, ...]
    root: np.ndarray
    rotations: np.ndarray
    last_root: np.ndarray
    last_rotations: np.ndarray
    events: tuple[Event, ...]
    frames: int
    wall_seconds: float

    @cached_property
    def fell(self) -> tuple[str, ...]:
        """Names of those who fell, in the order in which they did."""
        return tuple(event.actor for event in self.events if event.kind == "fell")

    def clip(self, name: str) -> Clip:
        """One actor's motion; its first frame is at time 0."""
        k = self._index(name)
        skeleton = self.characters[k].skeleton
        if not len(self.times):
            raise InputError("this run kept no frames, so there is no clip of it. Run it with keep_every=1.")
        turns = rotation.make_continuous(self.rotations[:, k, : len(skeleton)])
        return Clip(skeleton, self.times - self.times[0], self.root[:, k], turns, name)

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise unknown_name("actor", name, self.names, "this take")
        return self.names.index(name)


@checked
def run_crowd(
    stage: Stage,
    seconds: float,
    fps: float = 50.0,
    keep_every: int | None = 1,
    each: Callable[[float], None] | None = None,
) -> CrowdTake:
    """Run all actors of a stage for some seconds, reading the poses of all `fps` times a second.

    keep_every  1 keeps every frame, 2 every other one; None keeps none, and memory does not grow however long it runs
    each        called with the time before the steps of every frame: push, switch drivers, change tempo. Nobody may
                join or leave meanwhile

    A frame is at a whole step: `fps` must divide the steps a second.
    """
    steps = _steps_a_frame(stage, fps)
    frames = _count_frames(seconds, fps, keep_every)
    if not stage.actors:
        raise InputError("there is no actor on this stage. Put one there first: stage.add(character).")
    with stage.hold():
        return _run(stage, steps, frames, keep_every, each)


def _run(
    stage: Stage, steps: int, frames: int, keep_every: int | None, each: Callable[[float], None] | None
) -> CrowdTake:
    stage.build()
    reader = _Reader(stage)
    kept = 0 if keep_every is None else 1 + frames // keep_every
    reader.check_room(kept)
    times = np.zeros(kept)
    root, rotations = np.zeros((kept, *reader.root.shape)), np.zeros((kept, *reader.rotations.shape))
    events = TakeEvents(stage)
    began = time.perf_counter()
    for frame in range(frames + 1):
        if frame:
            if each is not None:
                each(stage.time)
            stage.advance(steps)
        reader.read()
        if keep_every is not None and frame % keep_every == 0:
            k = frame // keep_every
            times[k], root[k], rotations[k] = stage.time, reader.root, reader.rotations
    wall = time.perf_counter() - began
    stage.loop.runner.stop_watching()
    return CrowdTake(
        times, tuple(stage.actors), tuple(actor.character for actor in stage.actors.values()), root, rotations,
        reader.root, reader.rotations, events.finish(), frames + 1, wall,
    )  # fmt: skip


class _Reader:
    """The present pose of every actor of a stage, in the order of the stage.

    root (C, 3), rotations (C, J, 4)
    """

    def __init__(self, stage: Stage):
        self.stage = stage
        self.names = list(stage.actors)
        joints = max(len(actor.character.skeleton) for actor in stage.actors.values())
        self.root, self.rotations = np.zeros((len(self.names), 3)), rotation.identity((len(self.names), joints))
        self._programs: list[object] | None = None

    def check_room(self, frames: int) -> None:
        """Raise InputError where so many frames are more than is kept at once."""
        size = frames * 8 * (self.root.size + self.rotations.size)
        if size > MOST_BYTES:
            raise InputError(
                f"{frames} frames of {len(self.names)} characters take {size / 1e9:.1f} GB, more than the "
                f"{MOST_BYTES / 1e9:g} GB that are kept at once. Keep fewer (keep_every), or none (keep_every=None)."
            )

    def read(self) -> None:
        """Look at all."""
        crowd = self.stage.loop.runner
        if list(self.stage.actors) != self.names:
            raise InputError("actors joined or left a stage that is being recorded. Do that between two runs.")
        if self._programs != crowd.programs:
            self._sort()
        if self._in_order:
            crowd.watch(self.root, self.rotations)
            return
        crowd.show(self._part_root, self._part_rotations)
        self.root[self._place] = self._part_root
        self.rotations[self._place] = self._part_rotations

    def _sort(self) -> None:
        """Where everybody is in the order of the stage."""
        self._programs = list(self.stage.loop.runner.programs)
        at = {name: k for k, name in enumerate(self.names)}
        self._place = np.array([at[actor.name] for actor in self.stage.loop.runner.actors], int)
        self._in_order = bool(np.array_equal(self._place, np.arange(len(self.names))))
        self._part_root = np.zeros((len(self._place), 3))
        self._part_rotations = rotation.identity((len(self._place), self.rotations.shape[1]))


def _steps_a_frame(stage: Stage, fps: float) -> int:
    """How many steps there are between two frames."""
    steps = 1.0 / (stage.dt * fps) if math.isfinite(fps) and fps > 0.0 else 0.0
    if round(steps) < 1 or abs(steps - round(steps)) > 1e-6:
        raise InputError(
            f"{fps:g} frames a second do not fall on steps of {stage.dt:g} s; "
            f"use {1.0 / stage.dt:g} or a whole part of that."
        )
    return round(steps)


def _count_frames(seconds: float, fps: float, keep_every: int | None) -> int:
    """Frames after the first."""
    if not 0.0 < seconds <= LONGEST:
        raise InputError(f"a crowd runs for more than 0 and at most {LONGEST:g} s; {seconds:g} given.")
    if keep_every is not None and not (isinstance(keep_every, int) and keep_every >= 1):
        raise InputError(f"every first, second or so frame is kept (keep_every 1, 2, ...); {keep_every} given.")
    frames = round(seconds * fps)
    if frames < 1:
        raise InputError(f"{seconds:g} s are less than a frame at {fps:g} frames a second. Run longer, or take more.")
    return frames

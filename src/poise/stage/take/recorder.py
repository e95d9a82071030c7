"""Recording of a take while a stage runs: at which times, whether there is room, and the loop over its steps.

The frames of an actor are arrays that exist before, a row per frame.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.compiled import quick_compile
from poise.drivers.driver import Status
from poise.engines.engine import BodyState, Simulation
from poise.errors import InputError, SolveError, check_most
from poise.spatial import rotation
from poise.stage.attachment import find_holder
from poise.stage.monitor.events import TakeEvents
from poise.stage.step.call import Call, build_table
from poise.stage.step.program import Program
from poise.stage.step.step import list_compiled_writes
from poise.stage.take.take import ARRAYS, ActorTake, Take

if TYPE_CHECKING:
    from poise.stage.actor import Actor
    from poise.stage.groups.groups import Group
    from poise.stage.stage import Stage
_NOWHERE = Status(soles=np.full((2, 4, 3), np.nan))
# Fields of `Frame`, by their names in a take.
_STATE = ("root", "velocity", "center", "center_velocity", "rotations", "angular_velocity")


class Recorder:
    """Frames of a stage at given times.

    A frame between two steps gets its physical state by interpolation between them and its kinematic one exactly.
    """

    def __init__(self, stage: Stage, times: np.ndarray):
        self.stage, self.times = stage, times
        self.frame = 0
        self._before: dict[str, BodyState] = {}
        self._time_before = stage.time
        self._frames = {name: Frames(len(actor.body.tree), len(times)) for name, actor in stage.actors.items()}
        self._props: dict[str, list[np.ndarray]] = {name: [] for name in stage.props}
        self._quick: dict[str, tuple[Program, int, QuickFrame | None]] = {}
        self._events = TakeEvents(stage)
        self._feet = {name: _find_feet(actor.character.skeleton) for name, actor in stage.actors.items()}

    @property
    def is_done(self) -> bool:
        """Whether every frame has been recorded."""
        return self.frame >= len(self.times)

    @property
    def steps_ahead(self) -> int:
        """How many steps there are to the next frame: the last of them reaches or passes it."""
        ahead = (float(self.times[self.frame]) - self.stage.time) / self.stage.dt
        return max(1, math.ceil(ahead - 1e-6))

    def remember(self) -> None:
        """Keep the state before a step, for frames within it."""
        self._time_before = self.stage.time
        if self.frame < len(self.times) and self.times[self.frame] < self.stage.time + self.stage.dt * (1 - 1e-9):
            self._before = {name: actor.body.state.copy() for name, actor in self.stage.actors.items()}

    def record(self) -> None:
        """All frames that the stage has come to."""
        stage = self.stage
        while not self.is_done and self.times[self.frame] <= stage.time + 1e-9 * stage.dt:
            t = float(self.times[self.frame])
            share = (stage.time - t) / stage.dt
            for group in stage.groups:
                for k, actor in enumerate(group.actors):
                    self._record_actor(group, k, actor, t, share)
            for name, poses in self._props.items() if stage.groups else ():
                poses.append(self._find_prop(name))
            self.frame += 1

    def _find_prop(self, name: str) -> np.ndarray:
        """(7,) where a prop is in this frame: in the hand that has it, or where the engine has it."""
        holder = find_holder(self.stage, name)
        if holder is None:
            position, turn, _, _ = self.stage.read_prop(name)
            return np.concatenate([position, turn])
        actor, grip = holder
        rows, skeleton = self._frames[actor.name].arrays, actor.character.skeleton
        at, turns = skeleton.pose(rows["root"][self.frame], rows["rotations"][self.frame])
        i = skeleton.index(grip.joint)
        return np.concatenate(grip.follow(rotation.to_matrix(turns[i]), at[i]))

    def _record_actor(self, group: Group, k: int, actor: Actor, t: float, share: float) -> None:
        frames, frame, body = self._frames[actor.name], self.frame, actor.body
        frames.make_room(frame)
        rows, quick = frames.arrays, self._find_quick(group, actor)
        if quick is not None and not (share > 1e-9 and actor.name in self._before):
            quick.record(t, rows, frame)
            self._record_feet(group, k, actor, rows, frame)
        else:
            now, dw, state = body.state.copy(), body.dw.copy(), body.state
            actor.show(t)
            rows["torque"][frame], rows["effort"][frame] = actor.measure()  # of the step, with its end's velocities
            if share > 1e-9 and actor.name in self._before:
                _mix(state, self._before[actor.name], now, 1.0 - share)
                actor.show(t)
            rows["root"][frame], rows["rotations"][frame] = state.root, state.q
            rows["velocity"][frame], rows["angular_velocity"][frame] = state.v, state.w
            rows["center"][frame], rows["center_velocity"][frame] = body.c, body.dc
            self._record_feet(group, k, actor, rows, frame)
            body.put(now)
            body.dw[:] = dw
        if actor.connectors or frames.connectors:
            frames.write_wrench(frame, actor.connectors, body.coupling)

    def _record_feet(self, group: Group, k: int, actor: Actor, rows: dict[str, np.ndarray], frame: int) -> None:
        read_feet(group.simulation, k, self._feet[actor.name], rows["feet"][frame], rows["pressure"][frame])
        found = (player.status(actor.body, self.stage.time) for player in actor.players)
        support = next((each for each in found if each.soles is not None), _NOWHERE)
        rows["margin"][frame], rows["soles"][frame] = support.margin, support.soles

    def _find_quick(self, group: Group, actor: Actor) -> QuickFrame | None:
        """Return what records an actor without Python; None if its drivers need Python, or it has listeners.

        Who listens to an effort may change the actor, and finds it as it is in the frame.
        """
        if actor.listeners:
            return None
        found, program = self._quick.get(actor.name), group.program
        if found is None or found[0] is not program or found[1] != program.version:
            writes = list_compiled_writes(actor)
            quick = None if writes is None else QuickFrame(actor, writes)
            self._quick[actor.name] = found = program, program.version, quick
        return found[2]

    def finish(self, wall: float) -> Take:
        """The take so far."""
        stage = self.stage
        actors = {}
        for name, frames in self._frames.items():
            actor = stage.actors[name]
            columns = frames.finish(self.frame)
            columns["rotations"] = rotation.make_continuous(columns["rotations"])
            labels = tuple(actor.character.skeleton.labels[i] for i in frames.connectors)
            actors[name] = ActorTake(name, actor.character, connectors=labels, **columns)
        props = {name: np.array(poses).reshape(-1, 7) for name, poses in self._props.items()}
        return Take(self.times[: self.frame].copy(), actors, props, self._events.finish(), wall)


class QuickFrame:
    """Frames of one actor by compiled code.

    writes  calls that write its prescribed joints; they are kept alive while their addresses are used
    """

    def __init__(self, actor: Actor, writes: list[Call]):
        from poise.stage.take.frame_kernels import Frame, record_frame

        self._effort, self._block, self._writes, self._record = actor.effort, actor.body.block, writes, record_frame
        self._frame = Frame(joints=len(actor.body.tree), write_count=len(writes), writes=build_table(writes))
        self._arrays = {name: self._frame.arrays[name] for name in _STATE}
        self._arrays |= {name: actor.effort.loads.arrays[name] for name in ("torque", "effort")}

    def record(self, t: float, rows: dict[str, np.ndarray], frame: int) -> None:
        """Write a frame at time t (s) into the rows of a take's arrays, except those of feet and connectors."""
        changed = self._record(self._block.address, self._frame.address, self._effort.loads.address, t)
        for name, array in self._arrays.items():
            rows[name][frame] = array
        if changed:
            self._effort.report(rows["effort"][frame])


def _mix(out: BodyState, a: BodyState, b: BodyState, share: float) -> None:
    out.root[:], out.v[:] = a.root + share * (b.root - a.root), a.v + share * (b.v - a.v)
    out.w[:], out.q[:] = a.w + share * (b.w - a.w), rotation.slerp(a.q, b.q, share)


def _find_feet(skeleton: Skeleton) -> np.ndarray:
    """(J,) 0 for the joints of the left foot, 1 for those of the right, toes included; -1 for all others."""
    feet = np.full(len(skeleton), -1)
    for side, name in enumerate(SIDES):
        foot = skeleton.find_role(name + "Foot")
        if foot is not None:
            feet[skeleton.descendants(foot)] = side
    return feet


def read_feet(simulation: Simulation, body: int, feet: np.ndarray, force: np.ndarray, pressure: np.ndarray) -> None:
    """Write the ground's force (2, 3) N on each foot and its centre of pressure (2, 3) m, NaN for a foot in the air.

    feet  (J,) as of `_find_feet`

    An engine that can add up its contacts by itself (`press`) is asked to.
    """
    force.fill(0.0)
    pressure.fill(np.nan)
    if simulation.press(body, feet, force, pressure):
        return
    contacts = simulation.find_contacts(body)
    for side in range(2):
        mine = feet[contacts.joints] == side
        forces = contacts.forces[mine]
        load = forces[:, 1].sum()
        if load > 0.0:
            force[side] = forces.sum(axis=0)
            pressure[side] = forces[:, 1] @ contacts.points[mine] / load


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
    """Raise InputError unless there is an actor to record, at valid times (F,)."""
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
    stage.loop.runner.run(0)  # what a first run compiles or loads is so here, and with its first frame
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


_FIRST = 1024  # frames that there is room for at first; twice as many whenever they are full


class Frames:
    """Rows of a take's arrays, in `arrays` by name.

    joints  J, of the actor
    most    frames that will be written, if nothing comes between
    """

    def __init__(self, joints: int, most: int):
        shapes = {
            "root": (3,), "rotations": (joints, 4), "velocity": (3,), "angular_velocity": (joints, 3),
            "torque": (joints, 3), "effort": (joints,), "center": (3,), "center_velocity": (3,), "margin": (),
            "feet": (2, 3), "pressure": (2, 3), "soles": (2, 4, 3), "wrench": (0, 6),
        }  # fmt: skip
        self.most, self.room = most, min(most, _FIRST)
        self.arrays = {name: np.empty((self.room, *shapes[name])) for name in ARRAYS}
        self.connectors: list[int] = []  # whose wrenches there are, a column each, in the order that they came

    def make_room(self, frame: int) -> None:
        """Have a row for a frame."""
        while frame >= self.room:
            self.room = min(max(2 * self.room, 1), max(self.most, frame + 1))
            self.arrays = {name: _enlarge(array, self.room) for name, array in self.arrays.items()}

    def write_wrench(self, frame: int, connectors: list[int], coupling: np.ndarray) -> None:
        """The connectors' rows of coupling (J, 6) in a frame; NaN for those that carry nothing given in it."""
        if connectors != self.connectors:
            self.connectors += [joint for joint in connectors if joint not in self.connectors]
        array, count = self.arrays["wrench"], len(self.connectors)
        if count > array.shape[1]:
            wider = np.full((len(array), count, 6), np.nan)
            wider[:, : array.shape[1]] = array
            self.arrays["wrench"] = array = wider
        if connectors == self.connectors:
            array[frame] = coupling[connectors]
            return
        array[frame] = np.nan
        array[frame, [self.connectors.index(joint) for joint in connectors]] = coupling[connectors]

    def finish(self, frames: int) -> dict[str, np.ndarray]:
        """The first so many, by name."""
        return {name: array if len(array) == frames else array[:frames].copy() for name, array in self.arrays.items()}


def _enlarge(array: np.ndarray, room: int) -> np.ndarray:
    """The same rows, with room for more."""
    larger = np.empty((room, *array.shape[1:]))
    larger[: len(array)] = array
    return larger

"""Writes a take while a stage runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.drivers.driver import Support
from poise.engines.engine import BodyState, Simulation
from poise.spatial import rotation
from poise.stage.call import Call
from poise.stage.frames import Frames
from poise.stage.grasping import find_holder
from poise.stage.hitting import TakeEvents
from poise.stage.program import Program, build_table
from poise.stage.step import list_give
from poise.stage.take import ActorTake, Take

if TYPE_CHECKING:
    from poise.stage.actor import Actor
    from poise.stage.stage import Group, Stage

_NOWHERE = Support(np.full((2, 4, 3), np.nan), np.nan)


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
        supports = (player.find_support(actor.body) for player in actor.players)
        support = next((each for each in supports if each is not None), _NOWHERE)
        rows["margin"][frame], rows["soles"][frame] = support.margin, support.soles

    def _find_quick(self, group: Group, actor: Actor) -> QuickFrame | None:
        """What records an actor without Python; None where its drivers need that, or somebody listens.

        Who listens to an effort may change the actor, and finds it as it is in the frame.
        """
        if actor.listeners:
            return None
        found, program = self._quick.get(actor.name), group.program
        if found is None or found[0] is not program or found[1] != program.version:
            gives = list_give(actor)
            quick = None if gives is None else QuickFrame(actor, gives)
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

    gives  what puts its given joints where they are
    """

    def __init__(self, actor: Actor, gives: list[Call]):
        from poise.stage.frame_kernels import KEPT, record_frame
        from poise.stage.measure_kernels import WORK

        j = len(actor.body.tree)
        self._actor, self._gives = actor, gives  # which are kept for as long as their addresses are used
        self._table = build_table(gives)[: len(gives)]
        self._record, self._work, self._kept = record_frame, np.empty((WORK, j, 3)), np.empty(KEPT * j + 6)
        self._place = np.empty((4, 3))

    def record(self, t: float, rows: dict[str, np.ndarray], frame: int) -> None:
        """Write a frame at time t (s) into the rows of a take's arrays, but for what feet and connectors say."""
        actor, place, efforts = self._actor, self._place, rows["effort"][frame]
        changed = self._record(
            actor.body.block.address, self._table, t, actor.given, actor.body.gravity, actor.effort.strength,
            self._work, self._kept, place, rows["rotations"][frame], rows["angular_velocity"][frame],
            rows["torque"][frame], efforts, actor.effort.strained,
        )  # fmt: skip
        rows["root"][frame], rows["velocity"][frame] = place[0], place[1]
        rows["center"][frame], rows["center_velocity"][frame] = place[2], place[3]
        if changed:
            actor.effort.report(efforts)


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

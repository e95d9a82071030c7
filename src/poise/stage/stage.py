"""The stage: ground, props and actors, one physics engine, one clock.

`Stage.step` is the whole of Poise in five lines; everything else here prepares it or records it.
"""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.shape import Capsule, Shape
from poise.dynamics.tree import GRAVITY
from poise.engines.engine import BodyState, Engine, Simulation
from poise.engines.registry import get_engine
from poise.engines.scene import Scene
from poise.errors import InputError, SolveError, check_most, unknown_name
from poise.motion.motion import Pose
from poise.stage.actor import Actor
from poise.stage.asking import take_character, take_name, take_prop
from poise.stage.crowd import Crowd
from poise.stage.hold import Hold
from poise.stage.program import Program, can_compile
from poise.stage.recorder import Recorder
from poise.stage.take import Event, Take
from poise.world.bulk import build_bulk
from poise.world.ground import Ground
from poise.world.load import Load
from poise.world.prop import Prop

COUPLINGS = ("exact", "paper")
MOST_GRAVITY = 1000.0  # m/s2
STEPS = (1e-5, 0.05)  # s
MOST_ACTORS = 5_000  # of some 1.5 MB each
MOST_BYTES = 2_000_000_000  # of a take: two hours of a body of 25 joints at 50 frames a second
_FRAME_BYTES, _JOINT_BYTES = 2200, 88  # what a frame of an actor takes, and each of its joints
MOST_STEPS = 100_000_000  # of one run: six days at 5 ms
MOST_EVENTS = 100_000  # that are kept, and that a take's file may have
_ENDLESS = 1e6  # m, m/s, rad/s: beyond it a state has exploded, whether an engine still counts or not


def is_step(dt: float) -> bool:
    """Whether a stage can take steps of dt (s); round-off aside, since 1 / 1e5 frames a second is below 1e-5 s."""
    return math.isfinite(dt) and STEPS[0] * (1.0 - 1e-9) <= dt <= STEPS[1] * (1.0 + 1e-9)


@dataclass(eq=False)
class Group:
    """Actors that one simulation moves together; with a program where all that its only actor has can be compiled."""

    simulation: Simulation
    actors: list[Actor]
    program: Program | None = None


class Stage:
    """Where actors move.

    engine       `mujoco` or `bullet`
    dt           s, the step
    couple       `exact`, or `paper`: with the connector's acceleration of the steps before, which lags and can explode
    gain         k: 1 is physics, 0 no coupling, above 1 exaggerates
    torque_only  with `paper`: hand on the torque without the force that goes with it
    ground       None: there is none
    gravity      (3,) m/s2
    threads      that share many actors; the result does not depend on it
    """

    def __init__(
        self,
        engine: str | Engine = "mujoco",
        dt: float = 0.005,
        couple: str = "exact",
        gain: float = 1.0,
        torque_only: bool = False,
        ground: Ground | None = Ground(),  # noqa: B008  frozen
        gravity: Iterable[float] = tuple(GRAVITY),
        threads: int = 1,
    ):
        self.engine = get_engine(engine) if isinstance(engine, str) else engine
        if couple not in COUPLINGS:
            raise unknown_name("coupling", couple, COUPLINGS)
        if couple not in self.engine.abilities.couplings:
            able = ", ".join(self.engine.abilities.couplings)
            raise InputError(f"the engine '{self.engine.name}' cannot couple by '{couple}', only by {able}.")
        if not is_step(dt):
            raise InputError(f"a step of {dt:g} s cannot be used; it must be from {STEPS[0]:g} to {STEPS[1]:g} s.")
        if not (math.isfinite(gain) and -10.0 <= gain <= 10.0):
            raise InputError(f"a coupling gain of {gain:g} cannot be used; it must be from -10 to 10.")
        if not (isinstance(threads, int) and 1 <= threads <= 256):
            raise InputError(f"a stage runs on 1 to 256 threads; {threads!r} given.")
        if torque_only and couple == "exact":
            raise InputError("torque alone is an option of the 'paper' coupling; 'exact' hands on the whole wrench.")
        self.dt, self.couple, self.gain, self.torque_only = float(dt), couple, float(gain), torque_only
        try:
            self.ground, self.gravity = ground, np.array([float(a) for a in gravity])
        except (TypeError, ValueError):
            raise InputError(f"gravity is three finite numbers (m/s2, world axes); given {gravity!r}.") from None
        if self.gravity.shape != (3,) or not np.isfinite(self.gravity).all():
            raise InputError(f"gravity is three finite numbers (m/s2, world axes); given {self.gravity.tolist()}.")
        pull = float(np.linalg.norm(self.gravity))
        if pull > MOST_GRAVITY:
            raise InputError(f"gravity is {pull:g} m/s2; at most {MOST_GRAVITY:g} can be used. The Earth's is 9.81.")
        self.actors: dict[str, Actor] = {}
        self.props: dict[str, Prop] = {}
        self.groups: list[Group] = []
        self.crowd = Crowd(threads)
        self.is_built = False
        self.compiled = True  # False: every actor by the readable path, for comparison
        self.steps = 0
        self._origin = 0.0
        self._waiting: set[str] = set()
        self._is_recorded = False
        self.events: list[Event] = []
        self._hold = Hold()
        self._stale: dict[str, Actor] = {}  # whose programs are to look again before the next step
        self._ends: list[tuple[float, int, Actor]] = []  # when pushes end, as a heap
        self._tickets = itertools.count()
        self._forgotten = 0  # events

    @property
    def time(self) -> float:
        """s, since the beginning."""
        return self._origin + self.steps * self.dt

    def hold(self) -> Hold:
        """Keep the stage for this thread while the context lasts; BusyError where another has it."""
        return self._hold

    def add(
        self,
        character: Character | str | PathLike[str],
        name: str | None = None,
        pose: Pose | None = None,
        loads: Iterable[Load] = (),
    ) -> Actor:
        """A character, or that of a file, on the stage. Without a pose a human stands at ease over the origin."""
        character = take_character(character)
        name = take_name(name, self._free_name(character.name))
        if name in self.actors:
            raise InputError(f"there is an actor '{name}' on this stage already. Give another name.")
        check_most(f"this would be actor {len(self.actors) + 1} of a stage", len(self.actors) + 1, MOST_ACTORS,
                   "Use several stages.")  # fmt: skip
        with self.hold():
            if self._is_recorded:
                raise InputError("nobody joins while a take is recorded. Run the stage in pieces, and add in between.")
            actor = Actor(self, character, name, pose, loads)
            self.actors[name] = actor
            self.rebuild(actor)
        return actor

    def _free_name(self, name: str) -> str:
        numbered = (f"{name} {k}" for k in itertools.count(len(self.actors)))
        return name if name not in self.actors else next(each for each in numbered if each not in self.actors)

    def remove(self, actor: Actor) -> None:
        """Take an actor off the stage, at any time. Nobody else notices."""
        if self.actors.get(actor.name) is not actor:
            raise unknown_name("actor", actor.name, self.actors, "this stage")
        if self.is_built and any(prop.inertia is not None for prop in self.props.values()):
            raise InputError("nobody leaves a stage that runs with a prop that moves. Remove them before it runs.")
        with self.hold():
            del self.actors[actor.name]
            self._waiting.discard(actor.name)
            self._ends = [each for each in self._ends if each[2] is not actor]
            heapq.heapify(self._ends)
            self.groups = [group for group in self.groups if group.actors != [actor]]
            self._gather_crowd()

    def add_prop(self, prop: Prop) -> Prop:
        """A thing on the stage."""
        prop = take_prop(prop)
        if prop.name in self.props:
            raise InputError(f"there is a prop '{prop.name}' on this stage already. Give another name.")
        if self.is_built:
            raise InputError("props are put on a stage before it runs.")
        with self.hold():
            self.props[prop.name] = prop
        return prop

    # The step.

    def step(self) -> None:
        """Advance everything by dt."""
        self.advance(1)

    def advance(self, steps: int) -> None:
        """Advance everything by some steps; events are told after the last of them."""
        if not (isinstance(steps, int | np.integer) and steps >= 0):
            raise InputError(f"a stage advances by a whole number of steps, 0 or more; {steps!r} given.")
        with self.hold():
            self._advance(int(steps))

    def _advance(self, steps: int) -> None:
        self.build()
        began = self.steps
        readable = [group for group in self.groups if group.program is None]
        self.crowd.run(steps, own=self._is_recorded)  # the five lines, compiled, for all actors that can be
        lost = self.crowd.find_lost()
        for group in readable:
            self._run_group(group, began, steps)
        for program, made in lost:
            actor = program.actor
            self.check_finite(actor)
            if actor.balance is not None:
                actor.balance.give_up(actor.rig, program.lost_at)
            self._run_group(self._build_anew(actor, began + made), began + made, steps - made)
        self.steps = began + steps
        self._end_pushes()
        self._follow()

    def _run_group(self, group: Group, began: int, steps: int) -> None:
        """Some steps by the readable path; an actor that loses its balance is built anew at once."""
        made = 0
        while made < steps:
            made += self._step_group(group, began + made, steps - made)
            for actor in [actor for actor in group.actors if actor.is_let_go]:
                actor.is_let_go = False
                group = self._build_anew(actor, began + made)

    def _step_group(self, group: Group, began: int, steps: int) -> int:
        """The step as it is meant to be read; `program_kernels` does the same without Python.

        Returns how many were made: fewer if somebody lost its balance.
        """
        for self.steps in range(began, began + steps):
            t, half = self.time, 0.5 * self.dt
            for actor in group.actors:
                self._ride(group, actor)
                actor.give(t + half)  # 1. kinematic drivers: q, w and dw at mid-step
                actor.couple(t)  # 2. what that puts on the connectors
                actor.act(t)  # 3. physical drivers: torques
                self._hand_over(group, actor)
            group.simulation.step()  # 4. the engine moves the physical parts
            for k, actor in enumerate(group.actors):
                group.simulation.read(k, actor.rig.state)  # 5. kinematic parts are set when somebody looks
                self._ride(group, actor)
                actor.settle()
            if any(actor.is_let_go for actor in group.actors):
                return self.steps + 1 - began
        return steps

    def _build_anew(self, actor: Actor, steps: int) -> Group:
        """The group of an actor that is on its feet no more, after some steps: all of it may touch the ground now."""
        self.steps = steps
        self.rebuild(actor)
        self.build()
        return next(group for group in self.groups if actor in group.actors)

    def _follow(self) -> None:
        """Events of the steps that were made."""
        for program in self.crowd.find_odd():
            self._tell(program.actor)
        for group in self.groups:
            if group.program is None:
                for actor in group.actors:
                    self._tell(actor)

    def _tell(self, actor: Actor) -> None:
        self.check_finite(actor)
        actor.follow(self.time)

    def _gather_crowd(self) -> None:
        self.crowd.set_programs([group.program for group in self.groups if group.program is not None])

    def _hand_over(self, group: Group, actor: Actor) -> None:
        """Places, torques and wrenches of one actor to the engine."""
        k, rig = group.actors.index(actor), actor.rig
        state = rig.state
        if actor.carrier is not None:
            state = BodyState(actor.seat[0], rig.state.q.copy(), rig.state.v, rig.state.w)
            state.q[0] = actor.seat[1]
        group.simulation.place(k, state)
        group.simulation.apply(k, rig.torque, rig.damping, rig.wrench)
        if actor.balance is not None and self.engine.abilities.nudges:
            for joint, turn in actor.balance.corrections(rig):
                group.simulation.nudge(k, joint, turn)

    def _ride(self, group: Group, actor: Actor) -> None:
        if actor.carrier is not None:
            actor.ride(*group.simulation.read_prop(actor.carrier))

    def check_finite(self, actor: Actor) -> None:
        """Raise SolveError where an actor's state has exploded."""
        state = actor.rig.state
        total = float(np.abs(state.root).sum() + np.abs(state.w).sum() + np.abs(state.v).sum())
        if total < _ENDLESS:  # False for NaN, too
            return
        bad = np.flatnonzero(~(np.abs(state.w) < _ENDLESS).all(axis=1) | ~np.isfinite(state.q).all(axis=1))
        joint = actor.character.skeleton.labels[int(bad[0])] if len(bad) else "the root"
        raise SolveError(
            f"simulation became non-finite at t={self.time:.4g} s (velocity of {joint} of '{actor.name}'). "
            "Take a smaller step (dt), a lower gain, or the 'exact' coupling."
        )

    # Building.

    def refresh(self, actor: Actor) -> None:
        """Have an actor's program look again, before the next step, at what its drivers play."""
        with self.hold():
            self._stale[actor.name] = actor

    def _refresh_stale(self) -> None:
        for group in self.groups if self._stale else ():
            if group.program is not None and self._stale.get(group.actors[0].name) is group.actors[0]:
                group.program.refresh()
                self.crowd.refresh()
        self._stale.clear()

    def expect(self, end: float, actor: Actor) -> None:
        """Have an actor forget its pushes that have ended once the clock has come to `end` (s)."""
        heapq.heappush(self._ends, (end, next(self._tickets), actor))

    def _end_pushes(self) -> None:
        over: dict[str, Actor] = {}
        while self._ends and self._ends[0][0] <= self.time:
            actor = heapq.heappop(self._ends)[2]
            over[actor.name] = actor
        for actor in over.values():
            actor.drop_pushes(self.time)
            self.refresh(actor)

    def rebuild(self, actor: Actor) -> None:
        """Have an actor's simulation built anew before the next step, from where everything is then."""
        if self.actors.get(actor.name) is actor:
            with self.hold():
                self._waiting.add(actor.name)

    def build(self) -> None:
        """Build what is waiting for it."""
        if self._waiting or self._stale or not self.is_built:
            with self.hold():
                if self._waiting or not self.is_built:
                    self._build()
                self._refresh_stale()

    def _build(self) -> None:
        for name in [name for name in self.actors if name in self._waiting]:
            actor = self.actors[name]
            if actor.carrier is not None and actor.carrier not in self.props:
                raise unknown_name("prop", actor.carrier, self.props, "this stage")
            fresh = actor.partition is None or not actor.started
            if not fresh:
                actor.show(self.time)
            if actor.carrier is not None and fresh:
                prop = self.props[actor.carrier]
                actor.build(self.time, fresh)
                actor.sit(prop.position, prop.turn)
            else:
                actor.build(self.time, fresh)
            actor.started = True
        moving = any(prop.inertia is not None for prop in self.props.values())
        if moving:
            self._build_group(list(self.actors.values()), 0)
        else:
            places = {group.actors[0].name: k for k, group in enumerate(self.groups)}
            for actor in self.actors.values():
                if actor.name not in places or actor.name in self._waiting:
                    self._build_group([actor], places.get(actor.name))
        self._waiting.clear()
        self._gather_crowd()
        self.is_built = True

    def _build_group(self, actors: list[Actor], at: int | None) -> None:
        scene = Scene(
            tuple(actor.describe() for actor in actors),
            tuple(self._props_now(at)),
            self.ground,
            self.dt,
            self.gravity,
        )
        simulation = self.engine.build(scene)
        program = None
        if self.compiled and len(actors) == 1 and can_compile(actors[0], simulation):
            program = Program(actors[0], simulation, 0)  # type: ignore[arg-type]
        group = Group(simulation, actors, program)
        if at is None or at >= len(self.groups):
            self.groups.append(group)
        else:
            self.groups[at] = group

    def _props_now(self, at: int | None) -> list[Prop]:
        """The props as they are: a simulation that is built anew goes on with them."""
        if at is None or at >= len(self.groups):
            return list(self.props.values())
        return [self._prop_now(prop, self.groups[at].simulation) for prop in self.props.values()]

    @staticmethod
    def _prop_now(prop: Prop, simulation: Simulation) -> Prop:
        if prop.inertia is None:
            return prop
        position, turn, velocity, spin = simulation.read_prop(prop.name)
        return dataclasses.replace(prop, position=position, turn=turn, velocity=velocity, spin=spin)

    def body_shapes(self, actor: Actor) -> tuple[tuple[int, Shape], ...]:
        """What of a body, besides its feet, touches things.

        Nothing, while it stands on them and there is only the ground: the engine's step is a fifth quicker so. A body
        that loses its balance is built anew, with all of it.
        """
        balance = actor.balance
        if balance is not None and balance.gone is None and balance.way is None and not self.props:
            return ()
        skeleton = actor.character.skeleton
        feet = {joint for role in ("leftFoot", "rightFoot") if (joint := skeleton.find_role(role)) is not None}
        below = {i for foot in feet for i in skeleton.descendants(foot)}
        return tuple((i, shape) for i, shape in build_bulk(actor.character).items() if i not in below)

    # Running and recording.

    def record_event(self, actor: Actor, kind: str, message: str) -> None:
        """Write an event down and tell whoever listens."""
        event = Event(self.time, actor.name, kind, message)
        self.events.append(event)
        if len(self.events) >= 2 * MOST_EVENTS:  # the older half: a stage may run for days
            del self.events[:-MOST_EVENTS]
            self._forgotten += MOST_EVENTS
        for listener in actor.listeners:
            listener(event)

    @property
    def event_count(self) -> int:
        """How many events there were, those that are kept no more included."""
        return self._forgotten + len(self.events)

    def events_since(self, count: int) -> tuple[Event, ...]:
        """The events after the first `count`, the last of them where there are too many."""
        return tuple(self.events[max(0, count - self._forgotten) :][-MOST_EVENTS:])

    def run(
        self,
        seconds: float,
        fps: float = 50.0,
        times: np.ndarray | None = None,
        each: Callable[[float], None] | None = None,
    ) -> Take:
        """Run for some seconds and return what happened.

        fps    frames a second in the take; or
        times  (F,) s on the stage's clock of each frame, increasing; between two steps states are interpolated
        each   called with the time before every step: change tempo, push, switch drivers
        """
        with self.hold():
            if self._is_recorded:
                raise InputError("this stage is running already. Run it again when that is over, not from `each`.")
            times = self._frame_times(seconds, fps) if times is None else np.asarray(times, float)
            self._check_run(times)
            return self._record(times, each)

    def _frame_times(self, seconds: float, fps: float) -> np.ndarray:
        """(F,) s on the stage's clock, of frames for some seconds from now on."""
        if not (math.isfinite(seconds) and seconds > 0.0):
            raise InputError(f"a stage runs for more than 0 s; {seconds:g} given.")
        if not (math.isfinite(fps) and 0.0 < fps <= 1.0 / self.dt + 1e-6):
            raise InputError(f"{fps:g} frames a second cannot be had from steps of {self.dt:g} s.")
        self._check_room(seconds, fps)
        return self.time + np.arange(round(seconds * fps) + 1) / fps

    def _record(self, times: np.ndarray, each: Callable[[float], None] | None) -> Take:
        recorder = Recorder(self, times)
        self.build()
        self.crowd.run(0)  # a first run compiles here, and not in the time that is measured
        began = time.perf_counter()
        self._is_recorded = True
        try:
            recorder.record()
            while not recorder.is_done:
                if each is not None:
                    each(self.time)
                elif recorder.steps_ahead > 1:
                    self.advance(recorder.steps_ahead - 1)
                recorder.remember()
                self.step()
                recorder.record()
        except SolveError as error:
            error.take = recorder.finish(time.perf_counter() - began)  # type: ignore[attr-defined]
            raise
        finally:
            self._is_recorded = False
        return recorder.finish(time.perf_counter() - began)

    def _check_room(self, seconds: float, fps: float) -> None:
        """Raise InputError where a take would be larger than what is kept at once."""
        frame = sum(_FRAME_BYTES + _JOINT_BYTES * len(actor.rig.tree) for actor in self.actors.values())
        frames, most = seconds * fps + 1.0, math.floor(MOST_BYTES / max(frame, 1))
        advice = "Run it in pieces, with fewer frames a second (fps), or as a crowd that keeps none (run_crowd)."
        check_most(
            f"{seconds:g} s at {fps:g} frames a second are {frames:.4g} frames of {len(self.actors)} bodies",
            frames, most, advice,
        )  # fmt: skip

    def _check_run(self, times: np.ndarray) -> None:
        """Raise InputError unless there is somebody to record, at times that can be."""
        if not self.actors:
            raise InputError("there is no actor on this stage. Put one there first: stage.add(character).")
        if times.ndim != 1 or not len(times) or not np.isfinite(times).all() or np.any(np.diff(times) <= 0.0):
            raise InputError(f"frames are at finite, increasing times (F,); given {times.size} of shape {times.shape}.")
        if times[0] < self.time - 1e-9 * self.dt:
            raise InputError(f"a frame at {times[0]:g} s is before the stage's clock, which is at {self.time:g} s.")
        steps = (float(times[-1]) - self.time) / self.dt
        check_most(f"up to {times[-1]:g} s there are {steps:.4g} steps of {self.dt:g} s", steps, MOST_STEPS,
                   "Run it in pieces.")  # fmt: skip

    def save(self) -> Any:
        """The whole state: the simulations as they are built, and the engine's, drivers' and clock's numbers."""
        with self.hold():
            return self._save()

    def _save(self) -> dict[str, Any]:
        self.build()
        return {
            "steps": self.steps,
            "groups": [(dataclasses.replace(group), group.simulation.save()) for group in self.groups],
            "actors": {
                name: (actor.rig.state.copy(), [player.save() for player in actor.players], actor.fallen)
                for name, actor in self.actors.items()
            },
            "paper": {name: (actor.al.copy(), actor.acc.copy()) for name, actor in self.actors.items()},
            "rest": {name: actor.save_rest() for name, actor in self.actors.items()},
            "pushes": {name: list(actor.pushes) for name, actor in self.actors.items()},
            "who": self._who_drives(),
        }

    def _who_drives(self) -> dict[str, Any]:
        """What must be the same when a state is restored."""
        return {name: ([a.player for a in actor.assignments], list(actor.loads)) for name, actor in self.actors.items()}

    def restore(self, saved: Any) -> None:
        """Back to a saved state; who is there and what drives them must be as it was."""
        now = self._who_drives()
        if list(now) != list(saved["who"]):
            raise InputError("actors joined or left since this state was saved. Save again when they have.")
        changed = [name for name, who in saved["who"].items() if now[name] != who]
        if changed:
            raise InputError(f"'{changed[0]}' has other drivers or loads than when this state was saved. Save again.")
        with self.hold():
            self._restore(saved)

    def _restore(self, saved: Any) -> None:
        self.steps = saved["steps"]
        self._waiting.clear()
        self._ends.clear()
        # A body that fell since was built anew: the simulation it stood in comes back with the state.
        self.groups = [dataclasses.replace(group) for group, _ in saved["groups"]]
        for group, (_, state) in zip(self.groups, saved["groups"], strict=True):
            group.simulation.restore(state)
            if group.program is not None:
                group.program.stand_again()
        self._gather_crowd()
        for name, (state, players, fallen) in saved["actors"].items():
            actor = self.actors[name]
            actor.fallen, actor.is_let_go = fallen, False
            actor.restore_rest(saved["rest"][name])
            for field in ("root", "q", "v", "w"):
                getattr(actor.rig.state, field)[:] = getattr(state, field)
            for player, data in zip(actor.players, players, strict=True):
                player.restore(data)
            actor.al[:], actor.acc[:] = saved["paper"][name]
            actor.pushes[:] = saved["pushes"][name]
            for push in actor.pushes:
                self.expect(push.start + push.seconds, actor)
            self.refresh(actor)
        self._refresh_stale()


def _end_above(shape: Shape, ankle: np.ndarray) -> Shape:
    """A shank's capsule that ends at the ankle (3,) m, its round end included: only the foot is to touch the ground."""
    length = float(np.linalg.norm(ankle))
    if not isinstance(shape, Capsule) or length == 0.0:
        return shape
    along, most = ankle / length, length - shape.radius
    start, end = (point + min(0.0, most - float(point @ along)) * along for point in (shape.start, shape.end))
    return Capsule(start, end, shape.radius)

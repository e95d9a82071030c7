"""The stage: ground, props and actors, one physics engine, one clock.

What it consists of has modules of its own: `groups/groups.py` builds the simulations, `step/loop.py` runs their steps.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.dynamics.tree import GRAVITY
from poise.engines.engine import Engine, PropState, check_ground, check_touch
from poise.engines.registry import DEFAULT, check_engine, get_engine
from poise.errors import BusyError, InputError, check_most, unknown_name
from poise.kinds import checked
from poise.motion.motion import Pose
from poise.stage.actor import Actor
from poise.stage.arguments import (
    check_coupling,
    check_settings,
    take_character,
    take_gravity,
    take_name,
    take_prop,
    take_touch,
)
from poise.stage.groups.groups import Group, SimulationGroups
from poise.stage.monitor.events import EventLog, HitReports
from poise.stage.state.snapshot import check_same, restore_stage, save_stage
from poise.stage.step.loop import StepLoop
from poise.stage.take.recorder import check_run, list_times, record_run
from poise.stage.take.take import Event, Take
from poise.world.contact_settings import ContactSettings
from poise.world.forces import Load
from poise.world.ground.ground import Ground
from poise.world.prop import Prop

MOST_ACTORS = 5_000  # of some 1.5 MB each
_WHOLE = (int, np.integer)  # types that count steps


@checked
class Stage:
    """Ground, props and actors, moved by one engine and one clock.

    engine       its name (`engines.registry`), or an `Engine` of your own
    dt           s, the step
    couple       `exact`, which takes any split; or `paper`, which lags: by the connectors' accelerations of the past
    gain         k: 1 is physics, 0 no coupling, above 1 exaggerates
    torque_only  with `paper`: the torque alone acts on connectors, without the force that goes with it
    coupling_filter  with `paper`: fraction of the past in the connectors' accelerations, 0 to below 1. 0 is the law as
                 published, which diverges if kinematic parts outweigh what carries them. None: a stable one is chosen,
                 and splits for which there is none are rejected
    ground       None: no ground
    gravity      (3,) m/s2
    threads      number of threads that share many actors; the result does not depend on it
    touch        which actors and props collide, and how softly

    Its parts: `simulations` (which actors one simulation moves), `loop` (runs the steps), `event_log` and `hits`.
    """

    def __init__(
        self,
        engine: str | Engine = DEFAULT,
        dt: float = 0.005,
        couple: str = "exact",
        *,
        gain: float = 1.0,
        torque_only: bool = False,
        coupling_filter: float | None = None,
        ground: Ground | None = Ground(),  # noqa: B008  frozen
        gravity: Iterable[float] = tuple(GRAVITY),
        threads: int = 1,
        touch: ContactSettings = ContactSettings(),  # noqa: B008  frozen
    ):
        self.engine = get_engine(engine) if isinstance(engine, str) else engine
        check_engine(self.engine)
        check_settings(dt, couple, gain, torque_only, coupling_filter, threads)
        check_coupling(self.engine, couple)
        check_ground(self.engine, ground)
        self.dt, self.couple, self.gain, self.torque_only = float(dt), couple, float(gain), torque_only
        self.coupling_filter = None if coupling_filter is None else float(coupling_filter)
        self.ground, self.gravity = ground, take_gravity(gravity)
        self.touch = take_touch(touch)
        check_touch(self.engine, self.touch)
        self.actors: dict[str, Actor] = {}
        self.props: dict[str, Prop] = {}
        self.event_log, self.hits = EventLog(), HitReports(self)
        self.simulations = SimulationGroups(self)
        self.loop = StepLoop(self, threads)
        self._lock = StageLock()

    @property
    def time(self) -> float:
        """s, since the beginning."""
        return self.loop.steps * self.dt

    @property
    def steps(self) -> int:
        """Number of steps since the beginning."""
        return self.loop.steps

    @property
    def events(self) -> list[Event]:
        """The last events."""
        return self.event_log.events

    @property
    def groups(self) -> list[Group]:
        """The simulations, each with the actors that it moves."""
        return self.simulations.groups

    @property
    def is_built(self) -> bool:
        """Whether the simulations have been built once: props cannot be added any more."""
        return self.simulations.is_built

    def hold(self) -> StageLock:
        """Keep the stage for this thread while the context lasts; raise BusyError if another thread has it."""
        return self._lock

    def add(
        self,
        character: Character | str | PathLike[str],
        name: str | None = None,
        pose: Pose | None = None,
        loads: Iterable[Load] = (),
    ) -> Actor:
        """Put a character, or that of a file, on the stage. Without a pose a human stands at ease over the origin."""
        character = take_character(character)
        name = take_name(name, self._free_name(character.name))
        if name in self.actors:
            raise InputError(f"there is an actor '{name}' on this stage already. Give another name.")
        check_most(f"this would be actor {len(self.actors) + 1} of a stage", len(self.actors) + 1, MOST_ACTORS,
                   "Use several stages.")  # fmt: skip
        with self.hold():
            if self.loop.is_recorded:
                raise InputError("nobody joins while a take is recorded. Run the stage in pieces, and add in between.")
            actor = Actor(self, character, name, pose, loads)
            self.actors[name] = actor
            self.rebuild(actor)
        return actor

    def _free_name(self, name: str) -> str:
        numbered = (f"{name} {k}" for k in itertools.count(len(self.actors)))
        return name if name not in self.actors else next(each for each in numbered if each not in self.actors)

    @checked
    def remove(self, actor: Actor) -> None:
        """Take an actor off the stage, at any time. A motion that follows it holds its last pose; a walk goes on."""
        if self.actors.get(actor.name) is not actor:
            raise unknown_name("actor", actor.name, self.actors, "this stage")
        if self.is_built and any(prop.inertia is not None for prop in self.props.values()):
            raise InputError("nobody leaves a stage that runs with a prop that moves. Remove them before it runs.")
        for other in self.actors.values():
            if other is not actor and any(a.ghost is actor for a in other.assignments):
                raise InputError(
                    f"nobody leaves a stage while another follows him; '{other.name}' is a shadow of '{actor.name}'. "
                    f"Remove '{other.name}' first, or drive it with something else."
                )
        with self.hold():
            actor.leave()
            del self.actors[actor.name]
            self.loop.forget_pushes(actor)
            self.simulations.remove(actor)

    def add_prop(self, prop: Prop) -> Prop:
        """Put a prop on the stage."""
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
        """Advance everything by some steps; events are reported after the last of them."""
        if not (isinstance(steps, _WHOLE) and steps >= 0):
            raise InputError(f"a stage advances by a whole number of steps, 0 or more; {steps!r} given.")
        with self.hold():
            self.loop.check_going()
            self.loop.advance(int(steps))

    def build(self) -> None:
        """Build what is pending: simulations of actors that joined or whose drivers changed."""
        if self.simulations.is_pending:
            with self.hold():
                self.simulations.build()

    def rebuild(self, actor: Actor) -> None:
        """Build an actor's simulation again before the next step, from the state that everything has then."""
        if self.actors.get(actor.name) is actor:
            with self.hold():
                self.simulations.rebuild(actor)

    def refresh(self, actor: Actor) -> None:
        """List an actor's step again before the next one: what its drivers play has changed, or its pushes."""
        with self.hold():
            self.simulations.refresh(actor)

    def read_prop(self, name: str) -> PropState:
        """Return pose and velocity of a prop now."""
        return self.simulations.read_prop(name)

    # Running and recording.

    @checked
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
            if self.loop.is_recorded:
                raise InputError("this stage is running already. Run it again when that is over, not from `each`.")
            self.loop.check_going()
            frames = list_times(self, seconds, fps) if times is None else np.asarray(times, float)
            check_run(self, frames)
            self.loop.is_recorded = True
            try:
                return record_run(self, frames, each)
            finally:
                self.loop.is_recorded = False

    def save(self) -> dict[str, Any]:
        """Return the entire state as plain data: arrays, numbers, strings, and lists and dictionaries of those."""
        with self.hold():
            self.loop.check_going()
            self.build()
            return save_stage(self)

    def restore(self, saved: dict[str, Any]) -> None:
        """Go back to a saved state, of this stage or of one with the same actors, drivers and loads."""
        check_same(self, saved)
        with self.hold():
            self.build()
            before = save_stage(self)
            try:
                self._restore(saved)
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                self._restore(before)
                why = str(error) if isinstance(error, InputError) else "It is no state of a stage that is set up alike."
                raise InputError(f"this state cannot be restored here, and nothing has changed: {why}") from None

    def _restore(self, saved: dict[str, Any]) -> None:
        self.simulations.forget_pending()
        self.loop.forget_pushes()
        self.hits.forget()  # what has begun before is not reported
        restore_stage(self, saved)
        self.loop.reopen()
        self.simulations.find_collisions()
        self.loop.set_groups()


class StageLock:
    """A context that only one thread is in, which may enter it again; another one gets a BusyError and does not wait.

    Compiled code reads and writes a stage's memory without checks: two threads in it would end the process.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise BusyError(
                "this stage is being stepped by another thread. Use a stage from one thread at a time, or run it in a "
                "Runner and post to that what is to be done."
            )

    def __exit__(self, *_: object) -> None:
        self._lock.release()

"""The stage: ground, props and actors, one physics engine, one clock.

`Stage.step` is the whole of Poise in five lines; everything else here prepares it or records it.
"""

from __future__ import annotations

import dataclasses
import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any, NoReturn

import numpy as np

from poise.body.character import Character
from poise.drivers.body import Body
from poise.drivers.driver import Player
from poise.dynamics.tree import GRAVITY
from poise.engines.contact_log import ContactLog, Impact
from poise.engines.engine import Engine, PropState, Simulation, check_ground
from poise.engines.penalty import build_simulation
from poise.engines.registry import DEFAULT, check_engine, get_engine
from poise.engines.scene import Scene
from poise.errors import InputError, SolveError, check_most, unknown_name
from poise.kinds import checked
from poise.motion.motion import Pose
from poise.stage.actor import Actor
from poise.stage.actor_builder import build_actor, describe_actor
from poise.stage.arguments import (
    check_coupling,
    check_scene,
    check_settings,
    take_character,
    take_gravity,
    take_name,
    take_prop,
    take_touch,
)
from poise.stage.attachment import find_held, find_holder, list_free
from poise.stage.crowd.crowd import ProgramRunner
from poise.stage.groups.contact_pairs import Named, check_apart, check_clear, find_apart, find_meets, tell_apart
from poise.stage.groups.proximity import EVERY, ProximityGroups, list_ghosts
from poise.stage.lock import StageLock
from poise.stage.monitor.events import EventLog, build_hits, describe_hit
from poise.stage.monitor.health import find_exploded
from poise.stage.state.snapshot import check_same, restore_stage, save_stage
from poise.stage.step.program import Program
from poise.stage.take.recorder import MOST_STEPS, check_run, list_times, record_run
from poise.stage.take.take import Event, Take
from poise.world.contact_settings import ContactSettings
from poise.world.forces import Load
from poise.world.ground.ground import Ground
from poise.world.prop import Prop

MOST_ACTORS = 5_000  # of some 1.5 MB each
_WHOLE = (int, np.integer)  # what counts steps


@dataclass(eq=False)
class Group:
    """Actors that one simulation moves together, by a program.

    scene  what the engine was asked to build
    hits   who follows its contacts, from step `began` of the stage on; None: nothing of it can be hit
    """

    scene: Scene
    simulation: Simulation
    actors: list[Actor]
    program: Program
    hits: ContactLog | None = None
    began: int = 0


@checked
class Stage:
    """Where actors move.

    engine       its name (`engines.registry`), or an `Engine` of your own
    dt           s, the step
    couple       `exact`, which takes any split; or `paper`, which lags: by the connectors' accelerations of the past
    gain         k: 1 is physics, 0 no coupling, above 1 exaggerates
    torque_only  with `paper`: hand on the torque without the force that goes with it
    coupling_filter  with `paper`: fraction of the past in the connectors' accelerations, 0 to below 1. 0 is the law as
                 published, which diverges if kinematic parts outweigh what carries them. None: a stable one is chosen,
                 and splits for which there is none are rejected
    ground       None: there is none
    gravity      (3,) m/s2
    threads      that share many actors; the result does not depend on it
    touch        who touches whom, and how softly
    """

    def __init__(
        self,
        engine: str | Engine = DEFAULT,
        dt: float = 0.005,
        couple: str = "exact",
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
        self.touch, self.company = take_touch(touch), ProximityGroups()
        self.actors: dict[str, Actor] = {}
        self.props: dict[str, Prop] = {}
        self.groups: list[Group] = []
        self.crowd = ProgramRunner(threads, self.engine.share(threads))
        self.is_built = False
        self.steps = 0
        self._origin = 0.0
        self._waiting: set[str] = set()
        self._ghosts: set[str] = set()  # who touches nothing, in the simulations as they are built
        self._is_recorded = False
        self._ended: str | None = None  # why the simulation has ended: see `check_finite`
        self._is_open = False  # whether some of its actors may meet
        self._hit: list[Group] = []  # those in which something may be hit
        self.news = EventLog()
        self._hold = StageLock()
        self._stale: dict[str, Actor] = {}  # whose programs are to look again before the next step
        self._ends: list[tuple[float, int, Actor]] = []  # when pushes end, as a heap
        self._tickets = itertools.count()
        self._lookers: list[tuple[Player, Body]] = []  # players that read others before every step, and their bodies
        self.talkers: set[Actor] = set()  # who is asked for news after every run: Python drives it, or it called once

    @property
    def time(self) -> float:
        """s, since the beginning."""
        return self._origin + self.steps * self.dt

    @property
    def events(self) -> list[Event]:
        """What happened, as far as it is kept."""
        return self.news.events

    def hold(self) -> StageLock:
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
            self._waiting.discard(actor.name)
            self._ends = [each for each in self._ends if each[2] is not actor]
            heapq.heapify(self._ends)
            self.groups = [group for group in self.groups if group.actors != [actor]]
            if self.is_built:
                self.company.join([], list(self.actors.values()))
                for k, group in enumerate(self.groups):
                    if actor in group.actors:
                        self.build_group([each for each in group.actors if each is not actor], k)
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
        if not (isinstance(steps, _WHOLE) and steps >= 0):
            raise InputError(f"a stage advances by a whole number of steps, 0 or more; {steps!r} given.")
        with self.hold():
            self._check_going()
            self._advance(int(steps))

    def _advance(self, steps: int) -> None:
        while True:
            self.build()
            most = self._meet()
            some = min(steps, 1 if self._lookers else most)
            self._advance_at_once(some)
            steps -= some
            if steps <= 0:
                return

    def _advance_at_once(self, steps: int) -> None:
        for player, body in self._lookers if steps else ():  # all of them before anybody moves
            player.before_step(body, self.time)
        began = self.steps
        self._run(self.crowd, steps, self._is_recorded)
        if self.crowd.is_quiet and not self.talkers:
            self.steps = began + steps
            self._tell_hits()
            self._end_pushes()
            self._watch_efforts()
            return
        told: dict[str, Actor] = {actor.name: actor for actor in self.talkers}
        odd = self.crowd.find_odd()
        for actor in odd:  # before anybody looks at its state
            self.check_finite(actor)
        for program, made in self.crowd.find_called():
            told |= {actor.name: actor for actor in program.actors}
            self._go_on(program, began, made, steps)
        self.steps = began + steps
        self._tell_hits()
        self._end_pushes()
        for actor in odd:
            told.setdefault(actor.name, actor)
        for name in [name for name in self.actors if name in told] if told else ():
            self.check_finite(told[name])
            told[name].follow(self.time)
        self._watch_efforts()

    def _watch_efforts(self) -> None:
        """Measure the efforts of the actors that have listeners; a take measures them in its frames."""
        for actor in () if self._is_recorded else list(self.actors.values()):
            if actor.listeners and actor.started and actor.given.any():
                actor.effort.watch()

    def _run(self, crowd: ProgramRunner, steps: int, own: bool) -> None:
        """Run some programs. If a player raises, the clock of all is where that one came to.

        A player that raises because a state has exploded is not the cause: the explosion is reported.
        """
        try:
            crowd.run(steps, own)
        except BaseException as error:
            self.steps += crowd.fewest
            for actor in self.actors.values():
                actor.body.block["steps"] = self.steps
            for actor in self.actors.values() if isinstance(error, Exception) else ():
                self.check_finite(actor)
            raise

    def _go_on(self, program: Program, began: int, made: int, steps: int) -> None:
        """The rest of the steps of actors one of whom called: built anew, if need be, and as often as they call."""
        crowd = ProgramRunner()
        while True:
            self.steps = began + made
            for actor in program.actors:
                self.check_finite(actor)
                self.talkers.add(actor)
                if actor.handle_request(self.time):
                    self.rebuild(actor)
            self.build()
            program = next(group.program for group in self.groups if program.actors[0] in group.actors)
            if made == steps:
                return
            crowd.set_programs([program])
            self._run(crowd, steps - made, own=True)
            called = crowd.find_called()
            made = made + called[0][1] if called else steps
            if not called:
                return

    def _tell_hits(self) -> None:
        """Report what was hit since the last time, at the time when it was."""
        for group in self._hit:
            if group.hits is not None and group.hits.has_news:
                for actor, event, is_listed in self._describe_hits(group, group.hits.take()):
                    actor.tell_event(event, is_listed)

    def list_open_hits(self) -> list[Event]:
        """Return the hits that have begun and are not reported yet, with the impulse so far."""
        return [
            event
            for group in self._hit
            if group.hits is not None
            for _, event, is_listed in self._describe_hits(group, group.hits.find_open())
            if not is_listed
        ]

    def _describe_hits(self, group: Group, hits: list[Impact]) -> Iterator[tuple[Actor, Event, bool]]:
        """Whose hit, its event, and whether the event before it is the same hit as the other actor felt it."""
        is_listed = False
        for hit in hits:
            actor = group.actors[hit.body]
            time = self._origin + (group.began + hit.step) * self.dt
            is_listed = is_listed and hit.is_twin
            if self.actors.get(actor.name) is actor:
                yield actor, describe_hit(actor, hit, time), is_listed
                is_listed = True

    def _gather_crowd(self) -> None:
        for group in self._hit:
            if group.hits is not None and group not in self.groups:
                group.hits.end()
        self._tell_hits()
        self._hit = [group for group in self.groups if group.hits is not None]
        self.crowd.set_programs([group.program for group in self.groups])
        silent = [group for group in self.groups if group.program.is_compiled]
        standing = {actor for group in silent for actor in group.actors}
        self.talkers = {actor for actor in self.talkers if actor.name in self.actors}
        self._lookers = [
            (player, actor.body)
            for actor in self.actors.values()
            for player in actor.players
            if player.needs_before_step
        ]
        self.talkers |= {actor for actor in self.actors.values() if actor not in standing}

    def _advise(self) -> str:
        """What to do where a simulation broke."""
        if self.couple == "exact":
            return "Take a smaller step (dt) or a lower gain."
        if "exact" in self.engine.abilities.couplings:
            return "Take the 'exact' coupling, a smaller step (dt) or a lower gain."
        return f"Take an engine with the 'exact' coupling, which '{self.engine.name}' lacks, or a lower gain."

    def check_finite(self, actor: Actor) -> None:
        """Raise SolveError if an actor's state has exploded: the stage has then ended, until a state is restored."""
        exploded = find_exploded(actor)
        if exploded is not None:
            self._end(exploded)

    def _end(self, exploded: str) -> NoReturn:
        self._ended = f"{exploded}{self._advise()}"
        raise SolveError(self._ended)

    def _check_going(self) -> None:
        """Raise SolveError again if the simulation has ended."""
        if self._ended is not None:
            raise SolveError(self._ended)

    # Building.

    def refresh(self, actor: Actor) -> None:
        """Have an actor's program look again, before the next step, at what its drivers play."""
        with self.hold():
            self._stale[actor.name] = actor

    def _refresh_stale(self) -> None:
        for group in self.groups if self._stale else ():
            if any(self._stale.get(actor.name) is actor for actor in group.actors):
                group.program.refresh()
                self.crowd.refresh()
        self._stale.clear()

    def expect(self, end: float, actor: Actor) -> None:
        """Have an actor forget its pushes that have ended once the clock has come to `end` (s)."""
        heapq.heappush(self._ends, (end, next(self._tickets), actor))

    def _end_pushes(self) -> None:
        if not self._ends:
            return
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
        if not self.actors and self._has_moving_prop:
            raise InputError("nobody is on this stage, and its props move with bodies alone. Add an actor first.")
        begun = []
        for name in [name for name in self.actors if name in self._waiting]:
            actor = self.actors[name]
            if actor.carrier is not None and actor.carrier not in self.props:
                raise unknown_name("prop", actor.carrier, self.props, "this stage")
            actor.body.read_prop = self.read_prop
            if actor.started:
                actor.show(self.time)
            build_actor(actor, self.time, not actor.started)
            begun += [] if actor.started else [actor]
            actor.started = True
        for actor in begun:  # now that everybody is in his place
            for player in (player for player in actor.players if player.needs_before_step):
                player.before_step(actor.body, self.time)
                actor.show(self.time)
        everybody = list(self.actors.values())
        check_apart(self, everybody, self.props.values())
        if self.steps == 0:  # later what is deep in whom joins is kept apart from him until it is out: `find_apart`
            try:
                check_clear(self, begun)
            except InputError:
                for actor in begun:
                    actor.started = False
                raise
        if self.touch.actors:
            self.company.join(begun, everybody)
        ghosts = list_ghosts(everybody)
        if self._has_moving_prop:
            self.build_group(everybody, 0)
            del self.groups[1:]  # of before a prop was let go
            self.open_to_meet()
        else:
            self._build_groups(everybody, self._waiting | (ghosts ^ self._ghosts))
        self._ghosts = ghosts
        self._waiting.clear()
        self._gather_crowd()
        self.is_built = True

    @property
    def _has_moving_prop(self) -> bool:
        return any(prop.inertia is not None for prop in list_free(self))

    # Who is moved together.

    @property
    def _look_steps(self) -> int:
        return max(1, round(EVERY / self.dt))

    def _meet(self) -> int:
        """Where it is time, have those moved together that may touch; how many steps there are to the next time."""
        if not self._is_open:
            return MOST_STEPS
        late = self.steps % self._look_steps
        is_time = late == 0 and (len(self.groups) < len(self.actors) or self.company.has_near(self._ahead))
        if is_time and self._build_groups(list(self.actors.values()), set()):
            self._gather_crowd()
        return self._look_steps - late

    @property
    def _ahead(self) -> float:
        """s, until everybody has been looked at again."""
        return (self._look_steps + 1) * self.dt

    def open_to_meet(self) -> None:
        """Find out whether anybody may meet anybody, and has to be looked at."""
        self._is_open = False
        if self.touch.actors and len(self.actors) > 1 and not self._has_moving_prop:
            self.company.settle(list(self.actors.values()))
            self._is_open = self.company.is_open

    def _build_groups(self, everybody: list[Actor], waiting: set[str]) -> bool:
        """A simulation for all that are near one another, those anew that are waiting; whether one was built."""
        self.open_to_meet()
        together = [[actor] for actor in everybody]
        if self._is_open:
            together = self.company.find_together([group.actors for group in self.groups], self._ahead)
        before = {tuple(actor.name for actor in group.actors): group for group in self.groups}
        kept = {pair for group in self.groups for pair in tell_apart(group.scene, group.actors)}
        groups: list[Group] = []
        is_new = False
        for actors in together:
            found = before.get(tuple(actor.name for actor in actors))
            if found is None or found.actors != actors or any(actor.name in waiting for actor in actors):
                goes_on = not any(actor.name in waiting for actor in actors)
                found, is_new = self._make_group(actors, None, kept if goes_on else None), True
            groups.append(found)
        self.groups = groups
        return is_new

    def build_group(self, actors: list[Actor], at: int | None) -> None:
        """A simulation of some actors as they are now, in place of group `at` or as a new one."""
        group = self._make_group(actors, self._props_now(at), None)
        if at is None or at >= len(self.groups):
            self.groups.append(group)
        else:
            self.groups[at] = group

    def _make_group(self, actors: list[Actor], props: list[Prop] | None, kept: set[frozenset[Named]] | None) -> Group:
        """A simulation of some actors with props as they are now; see `find_apart` for what is kept."""
        in_company = len(actors) > 1 or self._has_moving_prop
        bodies = tuple(describe_actor(actor, in_company) for actor in actors)
        things = tuple(list_free(self) if props is None else props)
        meets = find_meets(self, actors)
        scene = Scene(bodies, things, self.ground, self.dt, self.gravity, self.time, self.touch, meets)
        return self.make_group(actors, dataclasses.replace(scene, apart=find_apart(self, actors, scene, kept)))

    def make_group(self, actors: list[Actor], scene: Scene) -> Group:
        """A simulation of some actors in a scene."""
        check_scene(self.engine, scene)
        for actor, body in zip(actors, scene.bodies, strict=True):
            standing = {int(i) for player in actor.find_standing() for i in player.joints}
            actor.limits.begin(body.joints, not self.engine.abilities.axial, standing)
        simulation = build_simulation(self.engine, scene)
        hits = build_hits(actors, scene)
        return Group(scene, simulation, actors, Program(actors, simulation, hits), hits, self.steps)

    def read_prop(self, name: str) -> PropState:
        """Where a prop is and how fast, now."""
        if name not in self.props:
            raise unknown_name("prop", name, self.props, "this stage")
        prop, holder = self.props[name], find_holder(self, name)
        if holder is not None:
            return find_held(*holder)
        if self.groups and any(each.name == name for each in self.groups[0].scene.props):
            state = self.groups[0].simulation.read_prop(name)
            if not all(np.isfinite(array).all() for array in state):
                self._end_by(name)
            return state
        return PropState(prop.position, prop.turn, prop.velocity, prop.spin)

    def _props_now(self, at: int | None) -> list[Prop]:
        """The props as they are: a simulation that is built anew goes on with them."""
        free = list_free(self)
        if at is None or at >= len(self.groups):
            return free
        there = {prop.name for prop in self.groups[at].scene.props}
        return [self._prop_now(each, self.groups[at].simulation) if each.name in there else each for each in free]

    def _prop_now(self, prop: Prop, simulation: Simulation) -> Prop:
        if prop.inertia is None:
            return prop
        position, turn, velocity, spin = simulation.read_prop(prop.name)
        try:
            return dataclasses.replace(prop, position=position, turn=turn, velocity=velocity, spin=spin)
        except InputError:  # it is not finite, or faster than any prop may be
            self._end_by(prop.name)

    def _end_by(self, prop: str) -> NoReturn:
        self._end(f"simulation became non-finite at t={self.time:.4g} s (prop '{prop}'). ")

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
            if self._is_recorded:
                raise InputError("this stage is running already. Run it again when that is over, not from `each`.")
            self._check_going()
            frames = list_times(self, seconds, fps) if times is None else np.asarray(times, float)
            check_run(self, frames)
            self._is_recorded = True
            try:
                return record_run(self, frames, each)
            finally:
                self._is_recorded = False

    def save(self) -> dict[str, Any]:
        """The whole state as plain data: arrays, numbers, words, and lists and dictionaries of those."""
        with self.hold():
            self._check_going()
            self.build()
            return save_stage(self)

    def restore(self, saved: dict[str, Any]) -> None:
        """Back to a saved state, of this stage or of one set up alike: with the same actors, drivers and loads."""
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
        self._waiting.clear()
        self._ends.clear()
        self._hit = []  # what has begun there is no news here
        restore_stage(self, saved)
        self._ended = None
        self.open_to_meet()
        self._gather_crowd()

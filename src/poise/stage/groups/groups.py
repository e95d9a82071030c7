"""The simulations of a stage: actors that may touch are moved together by one, all others by one each."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poise.engines.contact_log import ContactLog
from poise.engines.engine import PropState, Simulation
from poise.engines.penalty import build_simulation
from poise.engines.scene import Scene
from poise.errors import InputError, unknown_name
from poise.stage.actor_builder import build_actor, describe_actor
from poise.stage.arguments import check_scene
from poise.stage.attachment import find_held, find_holder, list_free
from poise.stage.groups.contact_pairs import Named, check_apart, check_clear, find_apart, find_meets, name_apart
from poise.stage.groups.proximity import CHECK_INTERVAL, ProximityGroups, list_ghosts
from poise.stage.monitor.events import build_hits
from poise.stage.step.program import Program
from poise.stage.take.recorder import MOST_STEPS
from poise.world.prop import Prop

if TYPE_CHECKING:
    from poise.stage.actor import Actor
    from poise.stage.stage import Stage


@dataclass(eq=False)
class Group:
    """Actors that one simulation moves together, by a program.

    scene  the description that the simulation was built from
    hits   log of its contacts, from step `began` of the stage on; None: nothing of it can be hit
    """

    scene: Scene
    simulation: Simulation
    actors: list[Actor]
    program: Program
    hits: ContactLog | None = None
    began: int = 0


class SimulationGroups:
    """The simulations of one stage.

    groups     in the order of the stage
    proximity  which actors may collide, and which are near each other
    is_built   whether they have been built once
    """

    def __init__(self, stage: Stage):
        self._stage = stage
        self.groups: list[Group] = []
        self.proximity = ProximityGroups()
        self.is_built = False
        self._pending: set[str] = set()  # names of actors that are built before the next step
        self._stale: dict[str, Actor] = {}  # actors whose step is listed again before the next one
        self._ghosts: set[str] = set()  # actors that touch nothing, in the simulations as they are built
        self._may_collide = False  # whether any two actors may

    # What the stage requests.

    def rebuild(self, actor: Actor) -> None:
        """Build an actor's simulation again before the next step, from the state that everything has then."""
        self._pending.add(actor.name)

    def refresh(self, actor: Actor) -> None:
        """List an actor's step again before the next one."""
        self._stale[actor.name] = actor

    def remove(self, actor: Actor) -> None:
        """Go on without an actor, which has left the stage."""
        self._pending.discard(actor.name)
        self.groups = [group for group in self.groups if group.actors != [actor]]
        if self.is_built:
            self.proximity.join([], list(self._stage.actors.values()))
            for k, group in enumerate(self.groups):
                if actor in group.actors:
                    self._replace([each for each in group.actors if each is not actor], k)
        self._stage.loop.set_groups()

    def forget_pending(self) -> None:
        """Build nothing: a state is restored."""
        self._pending.clear()

    @property
    def is_pending(self) -> bool:
        """Whether anything is to be built or listed before the next step."""
        return bool(self._pending or self._stale or not self.is_built)

    # Building.

    def build(self) -> None:
        """Build what is pending."""
        if self._pending or not self.is_built:
            self._build()
        for group in self.groups if self._stale else ():
            if any(self._stale.get(actor.name) is actor for actor in group.actors):
                group.program.refresh()
                self._stage.loop.runner.refresh()
        self._stale.clear()

    def _build(self) -> None:
        stage, actors = self._stage, list(self._stage.actors.values())
        if not actors and self._has_moving_prop:
            raise InputError("nobody is on this stage, and its props move with bodies alone. Add an actor first.")
        new = self._build_actors()
        check_apart(stage, actors, stage.props.values())
        if stage.steps == 0:  # later, what is deep in an actor that joins ignores it until it is out: `find_apart`
            try:
                check_clear(stage, new)
            except InputError:
                for actor in new:
                    actor.started = False
                raise
        if stage.touch.actors:
            self.proximity.join(new, actors)
        ghosts = list_ghosts(actors)
        if self._has_moving_prop:
            self._replace(actors, 0)
            del self.groups[1:]  # of before a prop was dropped
            self.find_collisions()
        else:
            self._build_groups(self._pending | (ghosts ^ self._ghosts))
        self._ghosts = ghosts
        self._pending.clear()
        stage.loop.set_groups()
        self.is_built = True

    def _build_actors(self) -> list[Actor]:
        """Build the players of pending actors; return the actors that begin."""
        stage = self._stage
        new = []
        for actor in [actor for name, actor in stage.actors.items() if name in self._pending]:
            prop = actor.assignments.rides_on
            if prop is not None and prop not in stage.props:
                raise unknown_name("prop", prop, stage.props, "this stage")
            actor.body.read_prop = stage.read_prop
            if actor.started:
                actor.show(stage.time)
            build_actor(actor, stage.time, not actor.started)
            new += [] if actor.started else [actor]
            actor.started = True
        for actor in new:  # now that all actors are in their places
            for player in (player for player in actor.players if player.needs_before_step):
                player.before_step(actor.body, stage.time)
                actor.show(stage.time)
        return new

    @property
    def _has_moving_prop(self) -> bool:
        return any(prop.inertia is not None for prop in list_free(self._stage))

    # Actors that are near each other.

    @property
    def _check_steps(self) -> int:
        return max(1, round(CHECK_INTERVAL / self._stage.dt))

    @property
    def _ahead(self) -> float:
        """s, until all actors have been checked again."""
        return (self._check_steps + 1) * self._stage.dt

    def join_near(self) -> int:
        """At a check, let one simulation move actors that may touch; return the number of steps to the next check."""
        if not self._may_collide:
            return MOST_STEPS
        late = self._stage.steps % self._check_steps
        is_apart = len(self.groups) == len(self._stage.actors)
        is_due = late == 0 and (not is_apart or self.proximity.has_near(self._ahead))
        if is_due and self._build_groups(set()):
            self._stage.loop.set_groups()
        return self._check_steps - late

    def find_collisions(self) -> None:
        """Find out whether any two actors may collide, and have to be checked."""
        stage = self._stage
        self._may_collide = False
        if stage.touch.actors and len(stage.actors) > 1 and not self._has_moving_prop:
            self.proximity.settle(list(stage.actors.values()))
            self._may_collide = self.proximity.is_open

    def _build_groups(self, pending: set[str]) -> bool:
        """Build a simulation for each set of actors that are near each other; return whether one was built.

        pending  names of actors whose simulations are built in any case
        """
        self.find_collisions()
        together = [[actor] for actor in self._stage.actors.values()]
        if self._may_collide:
            together = self.proximity.find_together([group.actors for group in self.groups], self._ahead)
        before = {tuple(actor.name for actor in group.actors): group for group in self.groups}
        kept = {pair for group in self.groups for pair in name_apart(group.scene, group.actors)}
        groups: list[Group] = []
        is_new = False
        for actors in together:
            group, is_changed = (
                before.get(tuple(actor.name for actor in actors)),
                any(a.name in pending for a in actors),
            )
            if group is None or group.actors != actors or is_changed:
                group, is_new = self._make(actors, None, None if is_changed else kept), True
            groups.append(group)
        self.groups = groups
        return is_new

    # One simulation.

    def _replace(self, actors: list[Actor], at: int) -> None:
        """Build a simulation of some actors as they are now, in place of group `at`, or as the first one."""
        self.groups[at : at + 1] = [self._make(actors, self._find_props(at), None)]

    def _make(self, actors: list[Actor], props: Sequence[Prop] | None, kept: set[frozenset[Named]] | None) -> Group:
        """Make a group with props as they are now; see `find_apart` for `kept`."""
        stage = self._stage
        in_company = len(actors) > 1 or self._has_moving_prop
        bodies = tuple(describe_actor(actor, in_company) for actor in actors)
        props = tuple(list_free(stage) if props is None else props)
        meets = find_meets(stage, actors)
        scene = Scene(bodies, props, stage.ground, stage.dt, stage.gravity, stage.time, stage.touch, meets)
        return self.make_group(actors, dataclasses.replace(scene, apart=find_apart(stage, actors, scene, kept)))

    def make_group(self, actors: list[Actor], scene: Scene) -> Group:
        """Make a group of some actors in a scene."""
        engine = self._stage.engine
        check_scene(engine, scene)
        for actor, body in zip(actors, scene.bodies, strict=True):
            standing = {int(i) for player in actor.assignments.find_standing() for i in player.joints}
            actor.limits.begin(body.joints, not engine.abilities.axial, standing)
        simulation = build_simulation(engine, scene)
        hits = build_hits(actors, scene)
        return Group(scene, simulation, actors, Program(actors, simulation, hits), hits, self._stage.steps)

    # Props.

    def read_prop(self, name: str) -> PropState:
        """Return pose and velocity of a prop now."""
        stage = self._stage
        if name not in stage.props:
            raise unknown_name("prop", name, stage.props, "this stage")
        prop, holder = stage.props[name], find_holder(stage, name)
        if holder is not None:
            return find_held(*holder)
        if self.groups and any(each.name == name for each in self.groups[0].scene.props):
            state = self.groups[0].simulation.read_prop(name)
            if not all(np.isfinite(array).all() for array in state):
                stage.loop.end_by_prop(name)
            return state
        return PropState(prop.position, prop.turn, prop.velocity, prop.spin)

    def _find_props(self, at: int) -> list[Prop]:
        """Return the free props as they are now in group `at`: a simulation that is built again goes on with them."""
        free = list_free(self._stage)
        if at >= len(self.groups):
            return free
        there = {prop.name for prop in self.groups[at].scene.props}
        return [self._update(each, self.groups[at].simulation) if each.name in there else each for each in free]

    def _update(self, prop: Prop, simulation: Simulation) -> Prop:
        if prop.inertia is None:
            return prop
        position, turn, velocity, spin = simulation.read_prop(prop.name)
        try:
            return dataclasses.replace(prop, position=position, turn=turn, velocity=velocity, spin=spin)
        except InputError:  # it is not finite, or faster than any prop may be
            self._stage.loop.end_by_prop(prop.name)

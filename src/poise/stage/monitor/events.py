"""Events of a stage, hits among them; as many are kept as a take can have.

A hit is a contact of a segment of an actor that began, with its impulse.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from poise.body.roles import SIDES
from poise.engines.contact_log import ContactLog, Impact
from poise.engines.scene import Scene
from poise.stage.take.take import Event

if TYPE_CHECKING:
    from poise.stage.actor import Actor
    from poise.stage.groups.groups import Group
    from poise.stage.stage import Stage
MOST_EVENTS = 100_000  # that are kept, and that a take's file may have


class EventLog:
    """The last events; a stage may run for days."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._forgotten = 0

    def add(self, event: Event) -> None:
        """Add an event."""
        self.events.append(event)
        if len(self.events) >= 2 * MOST_EVENTS:
            del self.events[:-MOST_EVENTS]  # in place: callers may hold the list
            self._forgotten += MOST_EVENTS

    @property
    def count(self) -> int:
        """Number of events so far, those that are no longer kept included."""
        return self._forgotten + len(self.events)

    def since(self, count: int) -> tuple[Event, ...]:
        """Return the events after the first `count`, or the last of them if there are too many."""
        return tuple(self.events[max(0, count - self._forgotten) :][-MOST_EVENTS:])


STANDING = 0.7  # of a contact force on a foot that is upward, from which the foot stands


def build_hits(actors: list[Actor], scene: Scene) -> ContactLog | None:
    """Return a log of the contacts of a scene; None if nothing but soles on the ground can touch."""
    feet = [find_feet(actor) for actor in actors]
    bare = all({joint for joint, _ in body.shapes} <= own for body, own in zip(scene.bodies, feet, strict=True))
    if bare and scene.meets is None and not any(prop.touches for prop in scene.props):
        return None
    return ContactLog(scene, feet)


def find_feet(actor: Actor) -> set[int]:
    """Return the joints of both feet, toes included."""
    skeleton = actor.character.skeleton
    found = [skeleton.find_role(side + "Foot") for side in SIDES]
    return {i for foot in found if foot is not None for i in skeleton.descendants(foot)}


def describe_hit(actor: Actor, hit: Impact, time: float) -> Event:
    """Return the event of a hit that began at a time (s)."""
    joint, impulse = actor.character.skeleton.labels[hit.joint], float(np.linalg.norm(hit.impulse))
    words = f"{joint} and {hit.other}: {impulse:.3g} N s"
    return Event(time, actor.name, "hit", words, joint, hit.other, impulse, force=hit.force)


class HitReports:
    """Reports the hits of a stage's simulations, and those that are not over yet."""

    def __init__(self, stage: Stage):
        self._stage = stage
        self._groups: list[Group] = []  # those in which something may be hit

    def watch(self, groups: Sequence[Group]) -> None:
        """Follow these groups from now on; what had begun in others is reported as it is."""
        for group in self._groups:
            if group.hits is not None and group not in groups:
                group.hits.end()
        self.report()
        self._groups = [group for group in groups if group.hits is not None]

    def forget(self) -> None:
        """Report nothing of what has begun."""
        self._groups = []

    def report(self) -> None:
        """Report the hits since the last time, each at its time."""
        for group in self._groups:
            if group.hits is not None and group.hits.has_news:
                for actor, event, is_listed in self._describe(group, group.hits.take()):
                    actor.report_event(event, is_listed)

    def list_open(self) -> list[Event]:
        """Return the hits that have begun and are not reported yet, with the impulse so far."""
        return [
            event
            for group in self._groups
            if group.hits is not None
            for _, event, is_listed in self._describe(group, group.hits.find_open())
            if not is_listed
        ]

    def _describe(self, group: Group, hits: list[Impact]) -> Iterator[tuple[Actor, Event, bool]]:
        """Return the actor of each hit, its event, and whether the event before is the same hit on the other actor."""
        stage, is_listed = self._stage, False
        for hit in hits:
            actor = group.actors[hit.body]
            time = (group.began + hit.step) * stage.dt
            is_listed = is_listed and hit.is_twin
            if stage.actors.get(actor.name) is actor:
                yield actor, describe_hit(actor, hit, time), is_listed
                is_listed = True


class TakeEvents:
    """The events of a take: what is reported while it is recorded, and the hits that are not over at its end.

    A hit is in the take in which its impulse exceeds the limit. What a take that ended where this one begins has listed
    is not listed again.
    """

    def __init__(self, stage: Stage):
        self._stage, self._first = stage, stage.event_log.count
        self._before = {self._identify(event) for event in stage.hits.list_open()}

    def finish(self) -> tuple[Event, ...]:
        """Return them, at the end of the take."""
        stage = self._stage
        events = (*stage.event_log.since(self._first), *stage.hits.list_open())
        return tuple(event for event in events if event.kind != "hit" or self._identify(event) not in self._before)

    def _identify(self, event: Event) -> tuple[float, frozenset[str]]:
        """Return what two events of one hit have in common, whichever actor reports it and where a prop touched it."""
        actor, prop = self._stage.actors.get(event.actor), self._stage.props.get(event.other)
        who = event.actor
        if actor is not None and (prop is None or prop.inertia is None):
            who = f"{event.actor}/{actor.skeleton.names[actor.skeleton.index(event.joint)]}"
        return event.time, frozenset((who, event.other))

"""Events of a stage, hits among them; as many are kept as a take can have.

A hit: what of an actor began to touch something, and with what impulse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.body.roles import SIDES
from poise.engines.contact_log import ContactLog, Impact
from poise.engines.scene import Scene
from poise.stage.take.take import Event

if TYPE_CHECKING:
    from poise.stage.actor import Actor
    from poise.stage.stage import Stage
MOST_EVENTS = 100_000  # that are kept, and that a take's file may have


class EventLog:
    """Events, the last of them; a stage may run for days.

    events  those that are kept
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._forgotten = 0

    def add(self, event: Event) -> None:
        """Write one down."""
        self.events.append(event)
        if len(self.events) >= 2 * MOST_EVENTS:
            del self.events[:-MOST_EVENTS]  # in place: somebody may hold the list
            self._forgotten += MOST_EVENTS

    @property
    def count(self) -> int:
        """How many there were, those that are kept no more included."""
        return self._forgotten + len(self.events)

    def since(self, count: int) -> tuple[Event, ...]:
        """Those after the first `count`, the last of them where there are too many."""
        return tuple(self.events[max(0, count - self._forgotten) :][-MOST_EVENTS:])


STANDING = 0.7  # of a contact force on a foot that is upward, from which the foot stands


def build_hits(actors: list[Actor], scene: Scene) -> ContactLog | None:
    """Who follows the contacts of a scene; None where all that touches anything is soles on the ground."""
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


class TakeEvents:
    """The events of a take: what is reported while it is recorded, and the hits that are not over at its end.

    A hit is in the take in which its impulse exceeds the limit. What a take that ended where this one begins has listed
    is not listed again.
    """

    def __init__(self, stage: Stage):
        self._stage, self._first = stage, stage.news.count
        self._before = {self._identify(event) for event in stage.list_open_hits()}

    def finish(self) -> tuple[Event, ...]:
        """Return them, at the end of the take."""
        stage = self._stage
        events = (*stage.news.since(self._first), *stage.list_open_hits())
        return tuple(event for event in events if event.kind != "hit" or self._identify(event) not in self._before)

    def _identify(self, event: Event) -> tuple[float, frozenset[str]]:
        """What two events of one hit share, whichever of two actors felt it and wherever a prop touched it."""
        actor, prop = self._stage.actors.get(event.actor), self._stage.props.get(event.other)
        who = event.actor
        if actor is not None and (prop is None or prop.inertia is None):
            who = f"{event.actor}/{actor.skeleton.names[actor.skeleton.index(event.joint)]}"
        return event.time, frozenset((who, event.other))

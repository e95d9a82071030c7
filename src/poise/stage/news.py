"""What happened on a stage: events, written down, and as many of them kept as a take can have."""

from __future__ import annotations

from poise.stage.take import Event

MOST_EVENTS = 100_000  # that are kept, and that a take's file may have


class News:
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

"""Cues of a performance: when a puppet is handed to physics, and when it is taken back.

    let go      nobody holds it: it falls
    stand       legs keep it on its feet by themselves (`Balance`)
    take back   hands have it again; who lies is drawn up

A cue is done at the first 120th of a second that is not before it (`jobs/puppet/cued_puppet.py`). One that asks for
what is so already does nothing, and so does one that asks somebody who was let go to stand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from poise.errors import InputError, finite_number, unknown_name

LET_GO, STAND, TAKE_BACK = "let go", "stand", "take back"
CUES = (LET_GO, STAND, TAKE_BACK)
MOST_CUES, LATEST = 5000, 3600.0  # ; s


@dataclass(frozen=True)
class Cue:
    """What happens to the puppet at a time (s of the performance).

    layer  with whose recording it was made: it goes where that goes. None: it is nobody's, and stays
    """

    at: float
    do: str
    layer: str | None = None

    def __post_init__(self) -> None:
        if self.do not in CUES:
            raise unknown_name("cue", str(self.do), CUES)
        if not 0.0 <= finite_number(self.at, "'at' of a cue") <= LATEST:
            raise InputError(f"a cue is at 0 to {LATEST:g} s of the performance; {self.at:g} s given.")


def sort_cues(cues: Iterable[Cue]) -> tuple[Cue, ...]:
    """Cues in order of time; those of one time as they come."""
    return tuple(sorted(cues, key=lambda cue: cue.at))

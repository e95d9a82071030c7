"""Cues of a performance: times at which physics takes over a puppet, and at which the hands do again.

    let go      nothing holds it: it falls
    stand       it balances on its legs (`Balance`)
    take back   the hands play it again; a lying puppet gets up

A cue is done at the first 120th of a second that is not before it (`jobs/puppet/cued_puppet.py`). A cue for the present
state has no effect, and neither has `stand` after `let go`.
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
    """A change of control over the puppet at a time (s of the performance).

    layer  whose recording it was made with, and is dropped with; None: it belongs to none
    """

    at: float
    do: str
    layer: str | None = None

    def __post_init__(self) -> None:
        if self.do not in CUES:
            raise unknown_name("cue", str(self.do), CUES)
        if not 0.0 <= finite_number(self.at, "'at' of a cue") <= LATEST:
            raise InputError(f"a cue must be at 0 to {LATEST:g} s of the performance; got {self.at:g} s.")


def sort_cues(cues: Iterable[Cue]) -> tuple[Cue, ...]:
    """Return cues in order of time; those at equal times keep their order."""
    return tuple(sorted(cues, key=lambda cue: cue.at))

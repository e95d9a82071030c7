"""What tracking is asked to do: which joints follow the clip by springs, how stiffly, and what the body stands on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from poise.drivers.track.track import FEEDFORWARD, HIGHEST, LAWS, LOWEST, USUAL, Track
from poise.errors import InputError, check_range, unknown_name
from poise.jobs.mix.plan import choose_followed
from poise.jobs.shared.base import FollowPlan
from poise.motion.clip import Clip

AUTOMATIC = "auto"  # of a stiffness: found by search


@dataclass(frozen=True)
class TrackPlan(FollowPlan):
    """How a clip is tracked. What is not said here is as of a `FollowPlan`.

    physical  parts that are tracked, besides legs that balance; the rest follows the clip exactly
    law       of `Track`
    springs   1/s2, their stiffness; None: as usual for the law
    give      how much of it is lost where something hits
    """

    parts: ClassVar[str] = "parts"
    law: str = FEEDFORWARD
    springs: float | None = None
    give: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.law not in LAWS:
            raise unknown_name("law", str(self.law), LAWS)
        if self.springs is not None and not LOWEST <= self.springs <= HIGHEST:
            raise InputError(
                f"the stiffness of tracking is {self.springs:g} 1/s2; it must be from {LOWEST:g} to {HIGHEST:g}, or "
                f"{AUTOMATIC}."
            )
        check_range("the compliance of tracking (give)", self.give, 0.0, 1.0)

    @property
    def stiffest(self) -> float:
        """1/s2, the stiffness that is used."""
        return USUAL[self.law] if self.springs is None else self.springs

    @property
    def yielding(self) -> float:
        """See `MixPlan.yielding`: that of the springs."""
        return self.give

    def build_track(self, clip: Clip, start: float, balances: bool) -> Track:
        """See `MixPlan.build_track`."""
        motion, cutoff = choose_followed(clip, balances)
        return Track(motion, self.springs, start=start, law=self.law, give=self.give, cutoff=cutoff)


def parse_stiffness(word: str) -> float | str:
    """A stiffness out of a word: a number, or `auto`."""
    if word.strip().lower() == AUTOMATIC:
        return AUTOMATIC
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not LOWEST <= value <= HIGHEST:
        raise InputError(
            f"the stiffness of tracking must be from {LOWEST:g} to {HIGHEST:g} 1/s2, or '{AUTOMATIC}'; got '{word}'."
        )
    return value


def parse_pair(word: str) -> tuple[str, str]:
    """Two things that touch, out of a word: `leftHand=drum`."""
    one, equals, other = (piece.strip() for piece in word.partition("="))
    if not (one and equals and other) or "=" in other:
        raise InputError(f"what touches is two names, as in leftHand=drum; '{word}' was given.")
    if one == other:
        raise InputError(f"nothing touches itself; '{word}' was given. Name two, as in leftHand=drum.")
    return one, other

"""What a conversion does to a motion on its way, what it allows, and what changes nothing."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from poise.errors import InputError, unknown_name
from poise.files.audience import NOBODY, Audience

if TYPE_CHECKING:
    from poise.files.writing import Edits
    from poise.motion.clip import Clip

RATES = (0.1, 100_000.0)  # frames a second that may be asked for
MOST_POSES = 50_000_000  # joints times frames that may be made of a clip: their rotations take 1.6 GB
ROOTS = ("keep", "in-place")


@dataclasses.dataclass(frozen=True)
class Changes:
    """What a conversion does to the motion; nothing by default.

    start, end  s: what is before and after is left out
    resample    frames a second to write
    loop        make it loop: the best stretch, its ends made to meet
    root        `keep`, or `in-place`: the way over the ground is taken out; sway and height stay
    """

    start: float | None = None
    end: float | None = None
    resample: float | None = None
    loop: bool = False
    root: str = "keep"

    def check(self, audience: Audience = NOBODY) -> None:
        """Refuse what can be done to no clip."""
        spell = audience.spell
        for option in ("start", "end"):
            seconds = getattr(self, option)
            if seconds is not None and not (math.isfinite(seconds) and seconds >= 0.0):
                raise InputError(f"{spell(option)} is a time from 0 s, the first frame, on; {seconds:g} given.")
        if self.start is not None and self.end is not None and self.end < self.start:
            raise InputError(
                f"{spell('end')} {self.end:g} is before {spell('start')} {self.start:g}; it must be a later time."
            )
        if self.resample is not None and not RATES[0] <= self.resample <= RATES[1]:
            raise InputError(
                f"{spell('resample')} must be from {RATES[0]:g} to {RATES[1]:g} frames a second; {self.resample:g} "
                "given."
            )
        if self.root not in ROOTS:
            raise unknown_name("root", self.root, ROOTS)

    def check_in(self, clip: Clip, audience: Audience = NOBODY) -> None:
        """Refuse what cannot be done to this clip, and say what changes nothing about it."""
        spell = audience.spell
        first, last = float(clip.times[0]), float(clip.times[-1])
        if self.start is not None and self.start > last:
            raise InputError(f"{spell('start')} {self.start:g} s is after the clip's last frame, at {last:g} s.")
        if self.end is not None and self.end > last:
            audience.note(
                f"{spell('end')} {self.end:g} s is after the clip's last frame, at {last:g} s: it leaves nothing out."
            )
        lasts = min(last, self.end if self.end is not None else last) - max(first, self.start or first)
        if self.resample is not None and lasts * self.resample * len(clip.skeleton) > MOST_POSES:
            raise InputError(
                f"{spell('resample')} {self.resample:g} would make {lasts * self.resample:.3g} frames of "
                f"{len(clip.skeleton)} joints, which is more than can be kept. Ask for fewer, or trim the clip."
            )

    def plan(self) -> Edits:
        """The same, as files are written with it."""
        from poise.files.writing import Edits

        return Edits(self.start, self.end, self.resample, self.loop, self.root == "in-place")

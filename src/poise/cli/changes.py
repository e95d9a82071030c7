"""What `poise convert` does to a motion on its way: the options, what they allow, and what changes nothing."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

from poise.cli.report import Report
from poise.cli.words import read_number
from poise.errors import InputError

if TYPE_CHECKING:
    from poise.files.writing import Edits
    from poise.motion.clip import Clip

GROUP = Group("What to change", sort_key=40)
RATES = (0.1, 100_000.0)  # frames a second that may be asked for
MOST_POSES = 50_000_000  # joints times frames that may be made of a clip: their rotations take 1.6 GB


@Parameter(name="*", group=GROUP)
@dataclasses.dataclass(frozen=True)
class Changes:
    """What a conversion does to the motion; nothing by default."""

    start: Annotated[float | None, Parameter(converter=read_number, help="Seconds: leave out what is before.")] = None
    end: Annotated[float | None, Parameter(converter=read_number, help="Seconds: leave out what is after.")] = None
    resample: Annotated[float | None, Parameter(converter=read_number, help="Frames a second to write.")] = None
    loop: Annotated[
        bool, Parameter(negative="", show_default=False, help="Make it loop: the best stretch, its ends made to meet.")
    ] = False
    root: Annotated[
        Literal["keep", "in-place"], Parameter(help="in-place: take the way over the ground out; sway and height stay.")
    ] = "keep"

    def check(self) -> None:
        """Refuse what can be done to no clip."""
        for option in ("start", "end"):
            seconds = getattr(self, option)
            if seconds is not None and not (math.isfinite(seconds) and seconds >= 0.0):
                raise InputError(f"--{option} is a time from 0 s, the first frame, on; {seconds:g} given.")
        if self.start is not None and self.end is not None and self.end < self.start:
            raise InputError(f"--end {self.end:g} is before --start {self.start:g}; it must be a later time.")
        if self.resample is not None and not RATES[0] <= self.resample <= RATES[1]:
            raise InputError(
                f"--resample must be from {RATES[0]:g} to {RATES[1]:g} frames a second; {self.resample:g} given."
            )

    def check_in(self, clip: Clip, report: Report) -> None:
        """Refuse what cannot be done to this clip, and say what changes nothing about it."""
        first, last = float(clip.times[0]), float(clip.times[-1])
        if self.start is not None and self.start > last:
            raise InputError(f"--start {self.start:g} s is after the clip's last frame, at {last:g} s.")
        if self.end is not None and self.end > last:
            report.note(f"--end {self.end:g} s is after the clip's last frame, at {last:g} s: it leaves nothing out.")
        lasts = min(last, self.end if self.end is not None else last) - max(first, self.start or first)
        if self.resample is not None and lasts * self.resample * len(clip.skeleton) > MOST_POSES:
            raise InputError(
                f"--resample {self.resample:g} would make {lasts * self.resample:.3g} frames of {len(clip.skeleton)} "
                "joints, which is more than can be kept. Ask for fewer, or trim the clip."
            )

    def plan(self) -> Edits:
        """The same, as files are written with it."""
        from poise.files.writing import Edits

        return Edits(self.start, self.end, self.resample, self.loop, self.root == "in-place")


NONE = Changes()

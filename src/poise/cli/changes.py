"""The options of what `poise convert` changes; what they do is in `jobs.changes`."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from poise.cli.words import read_number
from poise.jobs import changes as jobs

GROUP = Group("What to change", sort_key=40)


@Parameter(name="*", group=GROUP)
@dataclasses.dataclass(frozen=True)
class ChangeOptions(jobs.Changes):
    """The fields of `jobs.changes.Changes`, as words of the command line."""

    start: Annotated[float | None, Parameter(converter=read_number, help="Seconds: leave out what is before.")] = None
    end: Annotated[float | None, Parameter(converter=read_number, help="Seconds: leave out what is after.")] = None
    resample: Annotated[float | None, Parameter(converter=read_number, help="Frames a second to write.")] = None
    loop: Annotated[
        bool, Parameter(negative="", show_default=False, help="Make it loop: the best stretch, its ends made to meet.")
    ] = False
    root: Annotated[
        Literal["keep", "in-place"], Parameter(help="in-place: take the way over the ground out; sway and height stay.")
    ] = "keep"


NONE = ChangeOptions()

"""Options that say whose body it is, of commands that need no clip."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from poise.cli.words import read_input, read_number

BODY = Group("The body", sort_key=50)


@Parameter(name="*", group=BODY)
@dataclasses.dataclass(frozen=True)
class MadeBody:
    """Whose body it is."""

    body: Annotated[
        str | None,
        Parameter(
            help="A kind of body: average, fat, thin, short, child, long-leg, locked-knee, one-arm or backpack. "
            "[default: average]"
        ),
    ] = None
    height: Annotated[float | None, Parameter(converter=read_number, help="Stature, m. [default: 1.75]")] = None
    mass: Annotated[float | None, Parameter(converter=read_number, help="Mass of the body, kg. [default: 75]")] = None
    character: Annotated[
        Path | None,
        Parameter(
            converter=read_input,
            help="Body to use: a .json of poise.save_character, or a model: .glb, .gltf, .vrm.",
        ),
    ] = None

"""Options shared by commands: how a clip is read (`files/reading/options.py`), and whose body it is."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from poise.cli.arguments import read_input, read_number
from poise.files.reading import options as files

GROUP = Group("The clip and its body", sort_key=50)


@Parameter(name="*", group=GROUP)
@dataclass(frozen=True)
class SourceOptions(files.Source):
    """The fields of `files/reading/options.py:Source`, as words of the command line."""

    mass: Annotated[float | None, Parameter(converter=read_number, help="Mass of the body, kg.")] = None
    height: Annotated[float | None, Parameter(converter=read_number, help="Stature, m: the clip is scaled to it.")] = (
        None
    )
    character: Annotated[
        Path | None,
        Parameter(
            converter=read_input,
            help="Body that performs the clip: a .json of poise.save_character, or a model (.glb, .gltf, .vrm), onto "
            "whose own file a .glb or .vrm is written.",
        ),
    ] = None
    fps: Annotated[
        float | None, Parameter(converter=read_number, help="True frame rate, where the file's is wrong.")
    ] = None
    roles: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="role=joint (leftFoot=L_Ankle,...), or a .toml or .json file of them; repeatable.",
        ),
    ] = ()
    clip: Annotated[
        str | None, Parameter(help="Which clip of a file that has several: its name, or number from 0.")
    ] = None
    scale: Annotated[float | None, Parameter(converter=read_number, help="Metres a unit of the file.")] = None
    up: Annotated[
        Literal["X", "Y", "Z", "-X", "-Y", "-Z"] | None,
        Parameter(help="The file's vertical axis; --up=-Y for a negative one."),
    ] = None
    bones: Annotated[
        Literal["keep", "restore"] | None,
        Parameter(
            help="Bones that lost their length in a conversion (CMU's thorax and hands): keep the file's, or restore "
            "them from proportions. [default: keep]"
        ),
    ] = None


DEFAULT = SourceOptions()
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

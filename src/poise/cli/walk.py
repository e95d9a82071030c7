"""`poise walk`: balanced steps from nothing but a body, a ground and goals."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from poise.cli import console as speaking
from poise.cli.arguments import read_input, read_number, read_path, read_paths, read_whole
from poise.cli.console import Report
from poise.cli.source import BODY, MadeBody

WALKED, FELL = 0, 1
GAIT = Group("How it walks", sort_key=40)


@Parameter(name="*", group=GAIT)
@dataclasses.dataclass(frozen=True)
class GaitOptions:
    """How it walks: see `poise.walking.gait`. None: as usual."""

    step: Annotated[
        float | None, Parameter(converter=read_number, help="From foot to foot, of the leg's length. [default: 0.5]")
    ] = None
    width: Annotated[
        float | None,
        Parameter(converter=read_number, help="Between the feet's lines, of the leg's length. [default: 0.15]"),
    ] = None
    pace: Annotated[
        float | None, Parameter(converter=read_number, help="How quick: 2 takes half the time. [default: 1]")
    ] = None
    lift: Annotated[
        float | None,
        Parameter(converter=read_number, help="How high feet swing, of the leg's length. [default: 0.05]"),
    ] = None
    arms: Annotated[
        float | None, Parameter(converter=read_number, help="How much they swing: 0 not at all. [default: 1]")
    ] = None
    roll: Annotated[
        float | None,
        Parameter(converter=read_number, help="How much feet roll from heel to toes: 0 keeps them flat. [default: 1]"),
    ] = None
    stretch: Annotated[
        float | None,
        Parameter(
            converter=read_number, help="How straight legs get: 0.9 crouches, nearer 1 is upright. [default: 0.985]"
        ),
    ] = None
    margin: Annotated[
        float | None,
        Parameter(
            converter=read_number, help="How far inside what carries the centre of mass stays, m. [default: 0.012]"
        ),
    ] = None
    toe_out: Annotated[
        float | None, Parameter(converter=read_number, help="How far feet point outwards, degrees. [default: 7]")
    ] = None
    lean: Annotated[
        float | None, Parameter(converter=read_number, help="How far the trunk leans forward, degrees. [default: 2]")
    ] = None


@Parameter(name="*", group=BODY)
@dataclasses.dataclass(frozen=True)
class WalkerOptions(MadeBody):
    """Whose body it is, and what it carries."""

    load: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="Something heavy: joint=kg, as in rightHand=5; repeatable."),
    ] = ()


USUAL_GAIT, USUAL_BODY = GaitOptions(), WalkerOptions()


def walk(
    *,
    output: Annotated[
        tuple[Path, ...],
        Parameter(
            name=["-o", "--output"],
            converter=read_paths,
            negative="",
            show_default=False,
            help="The motion, in any format that is written; a film (.mp4, .webm, .webp, .gif); or a .png of moments; "
            "repeatable.",
        ),
    ],
    terrain: Annotated[
        str | None,
        Parameter(
            help="flat, slope, stairs, rough or moving; or a file: heights (.png, .npz), a mesh (.glb, .gltf), a stage "
            "(.toml). [default: flat]"
        ),
    ] = None,
    shape: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="name=value of the terrain, as in rise=0.15 or random=yes for stairs; repeatable.",
        ),
    ] = (),
    stage: Annotated[
        Path | None,
        Parameter(converter=read_input, help="TOML of ground and props that stand on it, instead of a terrain."),
    ] = None,
    steps: Annotated[
        int | None, Parameter(converter=read_whole, help="How many. [default: 30, or to the end of the path]")
    ] = None,
    path: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            consume_multiple=True,
            help="x,z x,z ...: places to walk through, m; it begins at 0,0 and faces +Z.",
        ),
    ] = (),
    goal: Annotated[str | None, Parameter(show_default=False, help="x,z: where the path ends, m.")] = None,
    facing: Annotated[
        Literal["ahead", "back", "left", "right"],
        Parameter(help="How it goes: back walks backwards; left and right sideways, to that side."),
    ] = "ahead",
    fps: Annotated[float, Parameter(converter=read_number, help="Frames a second of the motion.")] = 60.0,
    film: Annotated[
        Path | None, Parameter(converter=read_path, help="A film of it: .mp4, .webm, .webp or .gif.")
    ] = None,
    plot: Annotated[
        Path | None, Parameter(converter=read_path, help="PNG of the centre of mass over the support.")
    ] = None,
    joints: Annotated[Path | None, Parameter(converter=read_path, help="PNG of the angles of the legs.")] = None,
    gait: GaitOptions = USUAL_GAIT,
    body: WalkerOptions = USUAL_BODY,
    report: Report = speaking.DEFAULT,
) -> int:
    """Have a body walk over a ground, balanced all the time.

    Footholds are looked for as it goes; what is in the way is walked around, and what cannot be stepped on or over is
    told. Figures are measured on the file. Exit 1 if its centre of mass is ever outside of what carries it.
    """
    import math

    from poise.errors import InputError
    from poise.jobs.shared.options import parse_load
    from poise.jobs.walk.job import WalkRecipe, parse_path, parse_shape, run_walk, sort_outputs
    from poise.walking.gait import Gait
    from poise.world.scenery import is_random

    if stage is not None and (terrain is not None or shape):
        raise InputError("--stage has a ground of its own; leave out --terrain and --shape, or --stage.")
    said = {name: value for name, value in dataclasses.asdict(gait).items() if value is not None}
    for name in ("toe_out", "lean"):
        if name in said:
            said[name] = math.radians(said[name])
    asked = WalkRecipe(
        str(stage) if stage is not None else terrain or "flat", parse_shape(shape), report.seed or 0, steps,
        (*parse_path(path), *(() if goal is None else parse_path([goal]))), facing, Gait(**said),
        tuple(map(parse_load, body.load)), body.body, body.height, body.mass, body.character, fps,
    )  # fmt: skip
    if not is_random(str(asked.terrain), asked.shape):
        report.tell_nothing_random()
    more = {"plots": plot, "joints": joints}
    outputs = sort_outputs((*output, *(() if film is None else (film,))))
    outputs = dataclasses.replace(outputs, **{kind: (each,) for kind, each in more.items() if each is not None})
    found = run_walk(asked, outputs, report, report.json)
    report.result({**found.figures, "files": [str(path) for path in found.files]})
    return FELL if found.fell else WALKED

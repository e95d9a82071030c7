"""`poise track`: a simulated body follows a clip."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from poise.cli import console as speaking
from poise.cli import source as sources
from poise.cli.arguments import read_input, read_number, read_path
from poise.cli.console import Report
from poise.cli.mix import FELL, SIMULATION, STOOD
from poise.cli.source import SourceOptions


@Parameter(name="*", group=SIMULATION)
@dataclasses.dataclass(frozen=True)
class TrackingOptions:
    """How it is simulated."""

    law: Annotated[
        Literal["feedforward", "critical", "paper"],
        Parameter(
            help="feedforward: with what the motion asks for, no lag; critical: springs and dampers alone; paper: "
            "damped by a tenth of the stiffness, 100 ms late."
        ),
    ] = "feedforward"
    stiffness: Annotated[
        str | None,
        Parameter(help="Of the springs, 1/s2, from 1 to 1000000; auto: found by search. [default: the law's own]"),
    ] = None
    give: Annotated[
        float,
        Parameter(converter=read_number, help="Fraction of the stiffness that is lost while something hits, 0 to 1."),
    ] = 0.0
    engine: Annotated[Literal["mujoco", "bullet"] | None, Parameter(help="[default: mujoco]")] = None
    dt: Annotated[
        float | None,
        Parameter(
            converter=read_number,
            help="Longest step, s; the longest of which a frame is a multiple is taken. [default: 0.005]",
        ),
    ] = None
    stage: Annotated[Path | None, Parameter(converter=read_input, help="TOML of ground and props.")] = None


USUAL = TrackingOptions()


def track(
    clip: Annotated[Path, Parameter(converter=read_input, help="A motion file.")],
    /,
    *,
    output: Annotated[
        Path,
        Parameter(
            converter=read_path,
            name=["-o", "--output"],
            help="The motion, in any format that is written, or a .take.npz.",
        ),
    ],
    parts: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="Parts or joints that are tracked, with commas; the rest follows the clip. [default: body]",
        ),
    ] = (),
    base: Annotated[
        Literal["auto", "kinematic", "balance"] | None,
        Parameter(
            help="balance: legs keep the body on its feet; kinematic: pelvis and legs follow the clip; auto: balance "
            "if the clip does not step. [default: auto]"
        ),
    ] = None,
    touch: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="Two that touch, and nothing else but the ground: leftHand=drum; repeatable. [default: props]",
        ),
    ] = (),
    load: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="Something heavy: joint=kg, as in rightHand=2; repeatable."),
    ] = (),
    push: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="A push: 't=2 chest 0,0,75 0.2s' (newtons, world x, y, z); repeatable.",
        ),
    ] = (),
    film: Annotated[
        Path | None, Parameter(converter=read_path, help="A film of it: .mp4, .webm, .webp or .gif.")
    ] = None,
    plot: Annotated[
        Path | None, Parameter(converter=read_path, help="PNG of how far off it is, and of the search.")
    ] = None,
    simulation: TrackingOptions = USUAL,
    source: SourceOptions = sources.DEFAULT,
    report: Report = speaking.DEFAULT,
) -> int:
    """Have a simulated body follow a clip by springs, so that contact, pushes and its own mass change the motion.

    Legs balance a clip that does not step; one that steps is followed on its own pelvis and legs.
    With --character the motion is put on that body first. What is written has that body's joints and the clip's times.
    Exit 1 if it falls.
    """
    from poise.files.reading.options import parse_roles
    from poise.jobs.mix.outputs import list_outputs
    from poise.jobs.mix.plan import parse_load, parse_parts, parse_push
    from poise.jobs.mix.recipe import Recipe
    from poise.jobs.track.plan import parse_pair, parse_stiffness
    from poise.jobs.track.run import TrackRequest, run_track

    roles = tuple(f"{role}={joint}" for role, joint in parse_roles(source.roles, report).items())
    asked = Recipe(
        clip, source.character, source.clip, source.up, source.mass, source.height, source.fps, source.scale, roles,
        simulation.stage, simulation.engine, dt=simulation.dt, physical=parse_parts(parts) if parts else None,
        loads=tuple(map(parse_load, load)), pushes=tuple(map(parse_push, push)), output=output, film=film, plot=plot,
        base=base, bones=source.bones,
    )  # fmt: skip
    stiffness = None if simulation.stiffness is None else parse_stiffness(simulation.stiffness)
    request = TrackRequest(asked, simulation.law, stiffness, simulation.give, tuple(map(parse_pair, touch)))
    report.tell_nothing_random()
    found = run_track(request, list_outputs(asked), report, source.list_files(), report.json)
    report.result({**found.figures, "file": str(output)})
    return FELL if found.fell else STOOD

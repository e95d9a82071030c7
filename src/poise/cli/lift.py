"""`poise lift`: a body follows a clip within its strength."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from poise.cli import console as speaking
from poise.cli import source as sources
from poise.cli.arguments import read_input, read_number, read_path
from poise.cli.console import Report, lines
from poise.cli.mix import FELL, SIMULATION, STOOD
from poise.cli.source import SourceOptions


@Parameter(name="*", group=SIMULATION)
@dataclasses.dataclass(frozen=True)
class LiftingOptions:
    """How it is simulated."""

    center: Annotated[
        Literal["xz", "xyz", "none"],
        Parameter(help="Axes along which the centre of mass is led where the clip has it."),
    ] = "xz"
    lead: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="A body that is led as well: rightHand=position, orientation or both; repeatable.",
        ),
    ] = ()
    path: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="Where a body is led instead: rightHand=hand.csv with columns time, x, y, z (and qw, qx, qy, qz), "
            "seconds and metres; center=com.csv for the centre of mass; repeatable.",
        ),
    ] = ()
    priorities: Annotated[
        Literal["weighted", "strict"],
        Parameter(
            help="weighted: feet, centre of mass, led bodies and joints are weighted goals; strict: each is solved in "
            "the null space of those before it, as in the paper."
        ),
    ] = "weighted"
    base: Annotated[
        Literal["auto", "kinematic", "balance"] | None,
        Parameter(
            help="balance: the whole body stands on its own legs; kinematic: pelvis and legs follow the clip; auto: "
            "balance if the clip does not step. [default: auto]"
        ),
    ] = None
    engine: Annotated[Literal["inverse", "mujoco", "bullet"] | None, Parameter(help="[default: inverse]")] = None
    dt: Annotated[
        float | None,
        Parameter(
            converter=read_number,
            help="Longest step, s; the longest of which a frame is a multiple is taken. [default: 1/30 for inverse, "
            "0.005 for others]",
        ),
    ] = None
    stage: Annotated[Path | None, Parameter(converter=read_input, help="TOML of ground and props.")] = None


USUAL = LiftingOptions()


def lift(
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
    load: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="Something heavy: joint=kg, as in rightHand=20; repeatable."),
    ] = (),
    strength: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="Times the usual strength: 0.5, or of one joint, rightUpperArm=0.5; repeatable. [default: 1]",
        ),
    ] = (),
    weak: Annotated[
        bool, Parameter(negative="", show_default=False, help="As weak as the paper's figure, at any angle and speed.")
    ] = False,
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
    plot: Annotated[Path | None, Parameter(converter=read_path, help="PNG of torque over strength.")] = None,
    simulation: LiftingOptions = USUAL,
    source: SourceOptions = sources.DEFAULT,
    report: Report = speaking.DEFAULT,
) -> int:
    """Have a body follow a clip within what its muscles can do, loads in its hands, and fall where that is too much.

    Strength is that of the body's sex, age, mass and stature, at each joint's angle and speed. Where a joint has too
    little, others help; the result says who was at his limit, and when. Exit 1 if it falls.
    """
    from poise.files.reading.options import parse_roles
    from poise.jobs.lift.plan import parse_lead, parse_path, parse_strengths
    from poise.jobs.lift.run import LiftRequest, run_lift
    from poise.jobs.mix.outputs import list_outputs
    from poise.jobs.mix.plan import parse_load, parse_push
    from poise.jobs.mix.recipe import Recipe

    roles = tuple(f"{role}={joint}" for role, joint in parse_roles(source.roles, report).items())
    asked = Recipe(
        clip, source.character, source.clip, source.up, source.mass, source.height, source.fps, source.scale, roles,
        simulation.stage, simulation.engine, dt=simulation.dt, loads=tuple(map(parse_load, load)),
        pushes=tuple(map(parse_push, push)), output=output, film=film, plot=plot, base=simulation.base,
        bones=source.bones,
    )  # fmt: skip
    whole, joints = parse_strengths(strength)
    request = LiftRequest(
        asked, whole, joints, weak, simulation.center, dict(map(parse_lead, simulation.lead)),
        dict(map(parse_path, simulation.path)), simulation.priorities,
    )  # fmt: skip
    report.tell_nothing_random()
    found = run_lift(request, list_outputs(asked), report, source.list_files(), report.json)
    figures = {**found.figures, "file": str(output)}
    brief = {key: value for key, value in figures.items() if key not in ("limits", "told")}
    report.result(figures, f"{found.figures['told']}\n{lines(brief)}")
    return FELL if found.fell else STOOD

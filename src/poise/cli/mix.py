"""`poise mix`: physics on the chosen part of a body, the clip exactly on the rest."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from poise.cli import console as speaking
from poise.cli import source as sources
from poise.cli.arguments import read_input, read_number, read_path
from poise.cli.console import Report
from poise.cli.source import SourceOptions
from poise.errors import InputError
from poise.files.reporting import Reporter

STOOD, FELL = 0, 1
SIMULATION = Group("The simulation", sort_key=40)


@Parameter(name="*", group=SIMULATION)
@dataclasses.dataclass(frozen=True)
class SimulationOptions:
    """How it is simulated. None: as a recipe says, else as usual."""

    couple: Annotated[
        Literal["exact", "paper"] | None,
        Parameter(help="exact: the hybrid equation of motion; paper: the last step's acceleration. [default: exact]"),
    ] = None
    gain: Annotated[
        float | None, Parameter(converter=read_number, help="Of the coupling: 1 is physics, 0 none. [default: 1]")
    ] = None
    torque_only: Annotated[
        bool | None, Parameter(negative="", show_default=False, help="With --couple paper: torque without force.")
    ] = None
    coupling_filter: Annotated[
        float | None,
        Parameter(
            converter=read_number,
            help="With --couple paper: fraction of past accelerations, 0 (as published, may diverge) to below 1. "
            "[default: chosen so that it is stable]",
        ),
    ] = None
    engine: Annotated[Literal["mujoco", "bullet"] | None, Parameter(help="[default: mujoco]")] = None
    dt: Annotated[
        float | None,
        Parameter(
            converter=read_number,
            help="Longest step, s; the longest of which a frame is a multiple is taken. [default: 0.005]",
        ),
    ] = None
    stage: Annotated[Path | None, Parameter(converter=read_input, help="TOML of ground and props.")] = None


USUAL = SimulationOptions()


def mix(
    clip: Annotated[
        Path | None, Parameter(converter=read_input, help="A motion file; may be left out where a recipe names it.")
    ] = None,
    /,
    *,
    output: Annotated[
        Path | None,
        Parameter(
            converter=read_path,
            name=["-o", "--output"],
            help="The motion, in any format that is written, or a .take.npz.",
        ),
    ] = None,
    physical: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="Parts or joints that physics moves, with commas; the rest follows. [default: legs]",
        ),
    ] = (),
    from_: Annotated[
        tuple[str, ...],
        Parameter(
            name="--from",
            negative="",
            show_default=False,
            help="Parts that move as in another clip, on this body: arms=gestures.bvh, or leftArm,head=other.bvh; "
            "repeatable. The result lasts as long as the first clip; when another ends earlier, its parts return to "
            "the first clip's motion.",
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
    base: Annotated[
        Literal["auto", "planted", "kinematic"] | None,
        Parameter(
            help="planted: physical legs balance on feet that stay; kinematic: root and legs follow the clip; auto: "
            "planted if it stands. [default: auto]"
        ),
    ] = None,
    pin: Annotated[bool | None, Parameter(negative="", show_default=False, help="Fix the feet to the ground.")] = None,
    stiffness: Annotated[
        float | None,
        Parameter(converter=read_number, help="Of the balance: 0.3 sways widely, 3 is stiff. [default: 1]"),
    ] = None,
    hold: Annotated[
        float | None,
        Parameter(
            converter=read_number,
            help="Of the balance: 1 keeps the centre of mass still, so that hips move against the arms; 0 keeps the "
            "hips still. [default: 1]",
        ),
    ] = None,
    counter_lean: Annotated[
        float | None,
        Parameter(
            converter=read_number,
            help="How far the pelvis, and the spine in proportion, lean against loads and arms that the clip does not "
            "have: rad for each metre by which they shift the centre of mass. [default: 1.2, as people do]",
        ),
    ] = None,
    recipe: Annotated[
        Path | None, Parameter(converter=read_input, help="TOML that says all this; options go before it.")
    ] = None,
    save_recipe: Annotated[Path | None, Parameter(converter=read_path, help="Write what was done as a recipe.")] = None,
    film: Annotated[
        Path | None, Parameter(converter=read_path, help="A film of it: .mp4, .webm, .webp or .gif.")
    ] = None,
    plot: Annotated[
        Path | None, Parameter(converter=read_path, help="PNG of the centre of mass over the support.")
    ] = None,
    simulation: SimulationOptions = USUAL,
    source: SourceOptions = sources.DEFAULT,
    report: Report = speaking.DEFAULT,
) -> int:
    """Put physics on a part of a body, under the rest of its motion.

    Physical legs keep the body on its feet, which stay planted; arms, head and trunk are where the clip has them.
    A clip that steps is followed on its own legs, and only other parts are physical.
    With --character the motion is retargeted onto that body first. What is written has that body's joints, or the
    clip's, and the clip's frame times; a glTF or VRM character keeps its meshes and materials. Exit 1 if it falls.
    """
    from poise.files.reading.options import parse_roles
    from poise.jobs.mix.borrowing import parse_from
    from poise.jobs.mix.outputs import list_outputs
    from poise.jobs.mix.plan import parse_load, parse_parts, parse_push
    from poise.jobs.mix.recipe import Recipe, follow_recipe
    from poise.jobs.mix.run import run_mix

    asked = Recipe(
        clip, source.character, source.clip, source.up, source.mass, source.height, source.fps, source.scale,
        tuple(f"{role}={joint}" for role, joint in parse_roles(source.roles, report).items()),
        simulation.stage, simulation.engine, simulation.couple, simulation.gain,
        simulation.torque_only or None, simulation.dt, parse_parts(physical) if physical else None, stiffness,
        pin or None, tuple(map(parse_load, load)), tuple(map(parse_push, push)), output, film, plot,
        report.seed or None, base=base, coupling_filter=simulation.coupling_filter,
        bones=source.bones, hold=hold, counter_lean=counter_lean,
        from_=tuple(each for word in from_ for each in parse_from(word)),
    )  # fmt: skip
    audience: Reporter = report
    if recipe is not None:
        asked, audience = follow_recipe(asked, recipe, report)
    if asked.clip is None:
        raise InputError("no clip was given. Name a motion file, or a --recipe that names one.")
    if asked.output is None:
        raise InputError("no output was given. Say -o and a path, such as -o out.glb, or name it in the recipe.")
    report.tell_nothing_random()
    found = run_mix(asked, list_outputs(asked, save_recipe), audience, (recipe, *source.list_files()), report.json)
    report.result({**found.figures, "file": str(asked.output)})
    return FELL if found.fell else STOOD

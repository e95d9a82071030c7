"""A mix from beginning to end: read, planned, checked, simulated, written, measured on what was written, and drawn.

`MixOptions` has every option of it, for Python, the command line and recipes such as this:

    format = "poise-recipe 1"
    seed = 0

    [character]               # whose motion: the options of every command that reads a clip
    clip = "wave.bvh"
    mass = 70.0

    [stage]
    engine = "mujoco"
    couple = "exact"
    file = "room.toml"        # ground and props, see docs/grounds.md

    [drivers]
    physical = ["legs"]       # everything else follows the clip
    base = "auto"             # or "planted", "kinematic": what physical legs stand on

    [[drives]]                # a part by a driver of a name, with its parameters: see `drivers.registry`
    part = "leftArm"
    driver = "loose"
    stiffness = 0.5

    [[from]]                  # a part that moves as in another clip
    part = "rightArm"
    clip = "gestures.bvh"

    [[loads]]
    joint = "rightHand"
    mass = 2.0

    [[pushes]]
    time = 2.0
    joint = "chest"
    force = [0.0, 0.0, 75.0]
    seconds = 0.2

    [outputs]
    motion = "out.glb"

An option that a recipe leaves out has its default. Paths count from the recipe's folder. See docs/recipes.md.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

from poise.drivers.registry import Drive, read_drive
from poise.errors import FileError, InputError
from poise.files.reading.options import TakeOptions
from poise.files.reporting import SILENT, Reporter
from poise.files.toml import Table
from poise.jobs.job import Answer, Run, format_recipe, job
from poise.jobs.shared.options import (
    FELL,
    KINEMATIC,
    STOOD,
    CouplingOptions,
    EngineOptions,
    ForceOptions,
    OutputOptions,
    PhysicalOptions,
    StageFileOptions,
    StepOptions,
)
from poise.motion.clip import Clip
from poise.options import File, JobOptions, Option
from poise.world.ground.ground import Ground
from poise.world.prop import Prop
from poise.world.scenery import Scenery

if TYPE_CHECKING:  # the others are imported when the job runs, so that its help is quick
    from poise.jobs.mix.borrowing import Borrowed
    from poise.jobs.mix.plan import MixPlan
    from poise.jobs.shared.body import ClipBody
    from poise.jobs.shared.outputs import Outputs
    from poise.jobs.shared.simulation import Mix


def _take_from(given: Any) -> tuple[Borrowed, ...]:
    """Return parts of other clips, of a mapping or of words as on the command line."""
    from poise.jobs.mix.borrowing import parse_from, read_mapping

    if isinstance(given, Mapping):
        return read_mapping(given)
    words = [given] if isinstance(given, str) else given
    return tuple(each for word in words for each in parse_from(word))


def _read_from(table: Table, folder: Path) -> Borrowed:
    from poise.jobs.mix.borrowing import Borrowed

    return Borrowed(table.needed_text("part"), folder / table.needed_text("clip"))


def _write_from(borrowed: Iterable[Borrowed], locate: Callable[[Any], Any]) -> list[dict[str, Any]]:
    return [{"part": each.part, "clip": locate(each.clip)} for each in borrowed]


def _read_drive(table: Table, _folder: Path) -> Drive:
    return read_drive(table.needed_text("part"), table.needed_text("driver"), table.rest())


def _write_drives(drives: Iterable[Drive], _locate: Callable[[Any], Any]) -> list[dict[str, Any]]:
    return [drive.describe() for drive in drives]


@dataclass(frozen=True, kw_only=True)
class PartOptions:
    """Parts of the body that move otherwise than the clip."""

    title: ClassVar[str] = JobOptions.title

    drives: Annotated[
        tuple[Drive, ...],
        Option(
            "Parts under drivers of their own.",
            flag="",
            key="drives",
            several=True,
            read=_read_drive,
            write=_write_drives,
        ),
    ] = field(default=(), init=False)
    from_: Annotated[
        Mapping[str, Clip | File],
        Option(
            "Parts that move as in another clip, on this body: arms=gestures.bvh, or leftArm,head=other.bvh; "
            "repeatable. The result lasts as long as the first clip; when another ends earlier, its parts return to "
            "the first clip's motion.",
            key="from",
            several=True,
            accept=_take_from,
            read=_read_from,
            write=_write_from,
        ),
    ] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class MixOptions(
    JobOptions,
    OutputOptions,
    ForceOptions,
    PartOptions,
    PhysicalOptions,
    StepOptions,
    CouplingOptions,
    EngineOptions,
    StageFileOptions,
    TakeOptions,
):
    """Options of `mix`."""

    clip: Annotated[
        Clip | File | None, Option("A motion file; may be left out where a recipe names it.", key="character.clip")
    ] = field(default=None, kw_only=False)
    ground: Annotated[Ground | None, Option("The ground, instead of `scenery`.", flag="")] = None
    props: Annotated[Prop | Iterable[Prop], Option("Props on it, instead of `scenery`.", flag="", several=True)] = ()
    recipe: Annotated[
        File | None, Option("TOML that has any of these options; those that are given win.", is_recipe=True)
    ] = None
    save_recipe: Annotated[File | None, Option("Write what was done as a recipe.", writes=True)] = field(
        default=None, init=False
    )
    seed: Annotated[int | None, Option("Seed of everything random.", flag="", key="seed")] = field(
        default=None, init=False
    )

    def plan(self) -> MixPlan:
        """Return the plan of the simulation; the stage file is read."""
        from poise.jobs.mix.plan import MixPlan

        scenery = self.load_scenery()
        if self.ground is not None or self.props != ():
            props = cast("tuple[Prop, ...]", self.props)
            scenery = Scenery(self.ground or Ground(), self.ground is not None, props)
        values = {each.name: getattr(self, each.name) for each in dataclasses.fields(MixPlan)}
        return MixPlan(**{**values, "scenery": scenery})


@job(MixOptions)
def mix(options: MixOptions, run: Run) -> Mix:
    """Put physics on a part of a body, under the rest of its motion.

    Physical legs keep the body on its feet, which stay planted; arms, head and trunk are where the clip has them.
    A clip that steps is followed on its own legs, and only other parts are physical.
    With --character the motion is retargeted onto that body first. What is written has that body's joints, or the
    clip's, and the clip's frame times; a glTF or VRM character keeps its meshes and materials. Exit 1 if it falls.
    """
    from poise.jobs.mix.borrowing import borrow_parts
    from poise.jobs.mix.checks import check_effects
    from poise.jobs.shared.body import find_body, read_motion
    from poise.jobs.shared.outputs import TAKE, list_outputs

    outputs = list_outputs(options, options.save_recipe)
    _check_given(options, run)
    others = cast("tuple[Borrowed, ...]", options.from_ or ())
    read = [options.clip, options.character, options.scenery, options.recipe, *(each.clip for each in others)]
    outputs.check([*read, *options.source.list_files()], run, "a mix", TAKE)
    recipes = {path: _format_recipe(options, outputs, path, run) for path in outputs["save_recipe"]}
    clip, reading = read_motion(options.clip, options, run)
    body = find_body(clip, reading, options.source, run)
    body, borrowed = borrow_parts(body, others, run)
    plan = options.plan()
    parts = [each.part for each in others]
    check_effects(body.clip, body.character, plan, outputs.has_any("film"), run, run.given.values, parts)
    found = _perform(body, plan, outputs, recipes, run)
    bones = {} if reading is None else reading.describe_bones()
    figures = {**found.figures, **({"from": borrowed} if borrowed else {}), **bones}
    run.answer = Answer({**figures, "file": str(options.output)}, exit_code=FELL if found.fell else STOOD)
    return dataclasses.replace(found, figures=figures, notes=tuple(run.notes), warnings=tuple(run.warnings))


def _check_given(options: MixOptions, run: Run) -> None:
    """Raise InputError if something is missing, or two options contradict each other."""
    if options.clip is None:
        raise InputError(f"no clip was given. Name a motion file, or a {run.spell('recipe')} that names one.")
    if run.given.is_typed and options.output is None:
        raise InputError("no output was given. Say -o and a path, such as -o out.glb, or name it in the recipe.")
    if options.scenery is not None and (options.ground is not None or options.props != ()):
        raise InputError("scenery has its own ground and props; leave out one of the two.")
    if options.physical == () and not options.drives:
        raise InputError(
            f"{run.spell('physical')} is empty and there are no [[drives]], so nothing would be physical. Name parts, "
            'as in physical = ["legs"], or leave it out.'
        )
    options.source.check(run)


def _format_recipe(options: MixOptions, outputs: Outputs, path: Path, run: Run) -> bytes:
    """Return what was given as a recipe for a folder, whether in Python or by options and another recipe."""
    named = {name: outputs[name][0] for name in ("output", "film", "plot") if outputs[name]}
    try:
        return format_recipe(MixOptions, {**run.given.values, **named}, path.parent).encode()
    except UnicodeEncodeError:
        option = run.spell("save_recipe")
        raise FileError(
            path,
            f"a recipe is UTF-8 text, and a path or name in it is not. Rename that file, or leave out {option}.",
        ) from None


def _perform(body: ClipBody, plan: MixPlan, outputs: Outputs, recipes: dict[Path, bytes], reporter: Reporter) -> Mix:
    """Simulate, write and draw. recipes: what is written besides the motion, once it is."""
    from poise.files.output import write_bytes
    from poise.jobs.mix.pictures import draw_plot
    from poise.jobs.shared.results import draw_outputs, report_warnings
    from poise.jobs.shared.simulation import simulate

    reporter.progress(f"simulating {body.clip.duration:.1f} s")
    found = simulate(body.clip, body.character, plan, body.played)
    _report(found, plan, body.played is None, reporter)
    figures = write_motion(found, body, plan, outputs.motion, reporter)
    for path in outputs.more_motions:
        write_motion(found, body, plan, path)
    figures |= report_warnings(found, outputs, reporter)
    for path, data in recipes.items():
        write_bytes(path, data)
    draw_outputs(found, body, plan, outputs, lambda: draw_plot(found))
    return dataclasses.replace(found, figures=figures, files=tuple(outputs))


def write_motion(
    found: Mix, body: ClipBody, plan: MixPlan, output: Path | None, reporter: Reporter = SILENT
) -> dict[str, Any]:
    """Write the motion on its body; its figures, of what was written."""
    from poise.jobs.shared.metrics import measure_error
    from poise.jobs.shared.results import write_mix

    written = write_mix(found, body, plan, output, reporter)
    faithful = [joint for joint in found.kinematic if joint not in found.answering]
    return {
        **written.start,
        "kinematic_error_rad": measure_error(written.clip, written.wanted, faithful),
        "coupling": plan.couple,
        "base": found.base,
        **written.end,
    }


def _report(found: Mix, plan: MixPlan, is_own: bool, reporter: Reporter) -> None:
    """Report what there is to say of a mix. is_own: whether no part comes from another clip"""
    from poise.jobs.shared.results import report_notes

    if not plan.scenery.is_placed and abs(found.ground) > 0.005:
        reporter.note(
            f"the ground is at {found.ground:.3f} m, where the clip's soles rest. Override with "
            f"{reporter.spell('stage')}."
        )
    report_notes(found, reporter)
    if found.base == KINEMATIC and not found.physical:
        result = "the clip" if is_own else "the clip with these parts"
        reporter.note(
            f"nothing else is physical, so the result is {result}. Name parts with {reporter.spell('physical')}."
        )

"""`poise mix`: physics on the chosen part of a body, the clip exactly on the rest."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from poise.cli import report as speaking
from poise.cli import source as sources
from poise.cli.mix_checks import check_effects, check_files, choose_dump
from poise.cli.report import Report
from poise.cli.source import Source, parse_roles
from poise.cli.words import read_input, read_number, read_path
from poise.errors import FileError, InputError

if TYPE_CHECKING:
    from poise.body.character import Character
    from poise.files.normalise import Reading
    from poise.motion.clip import Clip
    from poise.stage.mixing import Mix
    from poise.stage.plan import MixPlan
    from poise.stage.recipe import Recipe

STOOD, FELL = 0, 1
SIMULATION = Group("The simulation", sort_key=40)


@Parameter(name="*", group=SIMULATION)
@dataclasses.dataclass(frozen=True)
class Simulation:
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
    engine: Annotated[Literal["mujoco", "bullet"] | None, Parameter(help="[default: mujoco]")] = None
    dt: Annotated[
        float | None,
        Parameter(
            converter=read_number,
            help="Longest step, s; the longest of which a frame is a multiple is taken. [default: 0.005]",
        ),
    ] = None
    stage: Annotated[Path | None, Parameter(converter=read_input, help="TOML of ground and props.")] = None


USUAL = Simulation()


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
    pin: Annotated[bool | None, Parameter(negative="", show_default=False, help="Fix the feet to the ground.")] = None,
    stiffness: Annotated[
        float | None,
        Parameter(converter=read_number, help="Of the balance: 0.3 sways widely, 3 is stiff. [default: 1]"),
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
    simulation: Simulation = USUAL,
    source: Source = sources.DEFAULT,
    report: Report = speaking.DEFAULT,
) -> int:
    """Put physics on a part of a body, under the rest of its motion.

    Physical legs keep the body on its feet, which stay planted; arms, head and trunk are where the clip has them.
    What is written has the clip's joints and frame times. Exit 1 if it falls.
    """
    from poise.stage.plan import parse_load, parse_parts, parse_push
    from poise.stage.recipe import Recipe, load_recipe

    asked = Recipe(
        clip, source.character, source.clip, source.up, source.mass, source.height, source.fps, source.scale,
        tuple(f"{role}={joint}" for role, joint in parse_roles(source.roles).items()),
        simulation.stage, simulation.engine, simulation.couple, simulation.gain,
        simulation.torque_only or None, simulation.dt, parse_parts(physical) if physical else None, stiffness,
        pin or None, tuple(map(parse_load, load)), tuple(map(parse_push, push)), output, film, plot,
        report.seed or None,
    )  # fmt: skip
    if recipe is not None:
        asked = asked.over(load_recipe(recipe))
    if asked.clip is None:
        raise InputError("no clip was given. Name a motion file, or a --recipe that names one.")
    if asked.output is None:
        raise InputError("no output was given. Say -o and a path, such as -o out.glb, or name it in the recipe.")
    report.tell_nothing_random()
    check_files(asked, (recipe, *source.list_files()), save_recipe, report.json)
    saved = {} if save_recipe is None else {save_recipe: _format_recipe(asked, save_recipe)}
    return _perform(asked, saved, report)


def _format_recipe(asked: Recipe, path: Path) -> bytes:
    from poise.stage.recipe import format_recipe

    try:
        return format_recipe(asked, path.parent).encode()
    except UnicodeEncodeError:
        raise FileError(
            path,
            "a recipe is UTF-8 text, and a path or name in it is not. Rename that file, or leave out --save-recipe.",
        ) from None


def _perform(asked: Recipe, saved: dict[Path, bytes], report: Report) -> int:
    """Simulate and write. saved: what is written besides the motion, once it is."""
    from poise.files.atomic import write_bytes
    from poise.stage.mixing import mix as simulate

    source = _find_source(asked)
    path = Path(str(asked.clip))
    reading = source.read(path, report)
    character = source.build_character(reading.clip, report)
    plan = _find_plan(asked)
    check_effects(reading.clip, character, plan, asked)
    if asked.film is not None:
        from poise.stage.mix_pictures import check_film

        check_film(reading.clip)
    report.progress(f"simulating {reading.clip.duration:.1f} s")
    found = simulate(reading.clip, character, plan)
    if not plan.scenery.is_placed and abs(found.ground) > 0.005:
        report.note(f"the ground is at {found.ground:.3f} m, where the clip's soles rest. Override with --stage.")
    if found.stepping and "legs" in plan.physical:
        report.note("the clip steps; its feet stay planted here.")
    for sentence in found.notes:
        report.note(sentence)
    output = Path(str(asked.output))
    figures = _write(found, reading, character, plan, output)
    if found.broken is not None:
        figures["fell_why"] = _say_broken(found, output)
        report.warn(figures["fell_why"])
    for place, data in saved.items():
        write_bytes(place, data)
    _draw(found, character, plan, asked)
    report.result({**figures, "file": str(output)})
    return FELL if figures["fell"] else STOOD


def _find_source(asked: Recipe) -> Source:
    ups = ("X", "Y", "Z", "-X", "-Y", "-Z")
    if asked.up is not None and asked.up not in ups:
        raise InputError(f"up is one of {', '.join(ups)}; '{asked.up}' was given.")
    return Source(
        asked.mass,
        asked.height,
        asked.character,
        asked.fps,
        asked.roles,
        asked.take,
        asked.scale,
        asked.up,  # type: ignore[arg-type]
    )


def _find_plan(asked: Recipe) -> MixPlan:
    from poise.stage.plan import MixPlan
    from poise.stage.scenery_file import load_scenery

    said: dict[str, Any] = {
        name: getattr(asked, name)
        for name in ("physical", "couple", "gain", "torque_only", "dt", "engine", "stiffness")
        if getattr(asked, name) is not None
    }
    if asked.stage is not None:
        said["scenery"] = load_scenery(asked.stage)
    return MixPlan(loads=asked.loads, pushes=asked.pushes, drives=asked.drives, pinned=bool(asked.pin), **said)


def _write(found: Mix, reading: Reading, character: Character, plan: MixPlan, output: Path) -> dict[str, Any]:
    """Write the motion, on the input's own body where it has one; its figures, of what was written."""
    from poise.drivers.rig import load_tree
    from poise.dynamics.tree import build_tree
    from poise.files.checked import checked_output
    from poise.files.naming import stem_of
    from poise.files.writing import write_result
    from poise.stage.measures import describe_body, describe_effort, measure_error, measure_feet, read_written
    from poise.stage.take_file import load_take, save_take

    clip = reading.clip
    error = None
    with checked_output(output) as draft:
        if str(output).endswith(".take.npz"):
            save_take(found.take, draft)
            there: Clip | None = load_take(draft).clip(start=-float(clip.times[0]))
        else:
            named = found.clip.replace(name=found.clip.name or stem_of(output))
            error = write_result(named, reading, draft, character.mass).error
            there = read_written(draft, found.clip)
    result = found.clip if there is None else there
    n = len(result)
    short = clip if n == len(clip) else clip.pick(slice(0, n))
    tree = load_tree(build_tree(character), character, plan.loads)
    return {
        "fell": found.fell_at is not None or found.broken is not None,
        "fell_at_s": found.fell_at,
        "fell_why": found.fell_why or None,
        "kinematic_error_rad": measure_error(result, short, found.kinematic),
        **measure_feet(result, tree, found.ground),
        "realtime_factor": found.take.times[-1] / max(found.take.wall_seconds, 1e-9),
        "coupling": plan.couple,
        "stepping": found.stepping,
        "frames": n,
        "max_joint_error_m": error,
        "fps": clip.fps,
        "dt_s": found.dt,
        "engine": plan.engine,
        "ground_m": found.ground,
        **describe_body(character),
        **describe_effort(found.take.actor(), found.physical, found.kinematic),
        "measured_on": "the file" if there is not None else "the poses: this format cannot be read back",
    }


def _say_broken(found: Mix, output: Path) -> str:
    from poise.stage.take_file import save_take

    what = str(found.broken).split(". ")[0]
    if found.last is None:
        return f"{what}. A smaller --dt, a lower --gain or --couple exact may help."
    dump = choose_dump(output)
    count = len(found.last)
    save_take(found.last, dump)
    return (
        f"{what}. The last {count} states are in {dump}; to look at them in Python: poise.load_take('{dump}'). "
        "A smaller --dt, a lower --gain or --couple exact may help."
    )


def _draw(found: Mix, character: Character, plan: MixPlan, asked: Recipe) -> None:
    from poise.stage.mix_pictures import draw_plot, save_mix_film

    if asked.plot is not None:
        from poise.files.atomic import write_bytes

        write_bytes(asked.plot, draw_plot(found))
    if asked.film is not None:
        save_mix_film(found, character, plan, asked.film)

"""A mix from beginning to end: read, planned, checked, simulated, written, measured on what was written, and drawn.

`run_mix` is what the command, `poise.mix`, a recipe, a page and a batch call alike.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from poise.body.character import Character
from poise.errors import FileError, InputError
from poise.files.reading.options import Source
from poise.files.reading.pipeline import Reading
from poise.files.reading.up_axis import AXES
from poise.files.registry import read_source
from poise.files.reporting import SILENT, Reporter
from poise.jobs.mix.borrowing import borrow_parts
from poise.jobs.mix.checks import check_effects, check_files, choose_dump
from poise.jobs.mix.outputs import TAKE, MixOutputs, list_outputs
from poise.jobs.mix.plan import AUTO, KINEMATIC, MixPlan
from poise.jobs.mix.recipe import BALANCE, STAGE_SETTINGS, Recipe, format_recipe
from poise.jobs.retarget import Saved
from poise.jobs.shared.body import ClipBody, find_body
from poise.jobs.shared.simulation import Mix
from poise.motion.clip import Clip
from poise.world.scenery import Scenery

_OF_FILES = ("fps", "height", "roles", "take", "scale", "up", "bones")  # what says how a file is read


def run_mix(
    asked: Recipe,
    outputs: MixOutputs | None = None,
    audience: Reporter = SILENT,
    read: Iterable[Path | None] = (),
    json: bool = False,
) -> Mix:
    """Do what a recipe says.

    outputs  what is written; as the recipe says if None
    read     files that were read besides those that the recipe names
    json     whether standard output is to have one object and nothing else
    """
    outputs = list_outputs(asked) if outputs is None else outputs
    if asked.clip is None:
        raise InputError(f"no clip was given. Name a motion file, or a {audience.spell('recipe')} that names one.")
    check_files(asked, outputs, read, audience, json)
    recipes = {path: _format_recipe(asked, path, audience) for path in outputs.recipes}
    clip, reading = read_clip(asked, audience)
    body = find_body(clip, reading, list_source(asked), audience)
    body, borrowed = borrow_parts(body, asked.from_, audience)
    plan = find_plan(asked)
    check_effects(body.clip, body.character, plan, asked, bool(outputs.films), audience)
    found = _perform(body, plan, outputs, recipes, audience)
    bones = {} if reading is None else reading.describe_bones()
    others = {"from": borrowed} if borrowed else {}
    return dataclasses.replace(found, figures={**found.figures, **others, **bones})


def _perform(body: ClipBody, plan: MixPlan, outputs: MixOutputs, recipes: dict[Path, bytes], audience: Reporter) -> Mix:
    """Simulate, write and draw. recipes: what is written besides the motion, once it is."""
    from poise.files.output import write_bytes
    from poise.jobs.shared.metrics import find_self_collision
    from poise.jobs.shared.simulation import simulate

    audience.progress(f"simulating {body.clip.duration:.1f} s")
    found = simulate(body.clip, body.character, plan, body.played)
    for sentence in _describe(found, plan, body.played is None, audience):
        audience.note(sentence)
    figures = write_motion(found, body, plan, next(iter(outputs.motions), None), audience)
    for path in outputs.motions[1:]:
        write_motion(found, body, plan, path)
    collided = find_self_collision(found.take)
    if collided is not None:
        audience.warn(collided)
    if found.broken is not None:
        figures["fell_why"] = say_broken(found, outputs, audience)
        audience.warn(figures["fell_why"])
    for path, data in recipes.items():
        write_bytes(path, data)
    _draw(found, body.character, plan, outputs)
    return dataclasses.replace(found, figures=figures, files=tuple(outputs))


def read_clip(asked: Recipe, audience: Reporter) -> tuple[Clip, Reading | None]:
    """The clip, and how its file was read where it is of one."""
    if asked.up is not None and asked.up not in AXES:
        raise InputError(f"up is one of {', '.join(AXES)}; '{asked.up}' was given.")
    source = list_source(asked)
    if not isinstance(asked.clip, Clip):
        reading = read_source(str(asked.clip), source, audience)
        return reading.clip, reading
    said = [option for option in _OF_FILES if getattr(asked, option) not in (None, ())]
    if said:
        raise InputError(
            f"{', '.join(said)} says how a file is read, and the clip is given as it is. Give its path, or say it to "
            "poise.load_clip."
        )
    source.check(audience)
    return asked.clip, None


def list_source(asked: Recipe) -> Source:
    """What a recipe says of how its clip is read, and of its body."""
    return Source(
        mass=asked.mass, height=asked.height, character=asked.character, fps=asked.fps, roles=asked.roles,
        clip=asked.take, scale=asked.scale, up=asked.up, bones=asked.bones,
    )  # fmt: skip


def find_plan(asked: Recipe) -> MixPlan:
    """How a recipe wants a clip to be simulated."""
    from poise.world.scenery import load_scenery

    said: dict[str, Any] = {
        name: getattr(asked, name)
        for name in ("physical", *STAGE_SETTINGS, *BALANCE, "base")
        if getattr(asked, name) is not None
    }
    if asked.stage is not None:
        said["scenery"] = asked.stage if isinstance(asked.stage, Scenery) else load_scenery(asked.stage)
    return MixPlan(loads=asked.loads, pushes=asked.pushes, drives=asked.drives, pinned=bool(asked.pin), **said)


def write_clip(found: Mix, body: ClipBody, output: Path | None, audience: Reporter = SILENT) -> Saved:
    """Write a result on its body, or as a take; and read it back."""
    from poise.files.output import checked_output
    from poise.stage.take.files import load_take
    from poise.stage.take.take import save_take

    if output is None or not str(output).endswith(TAKE):
        return body.target.save(found.clip, output, audience)
    with checked_output(output) as draft:
        save_take(found.take, draft)
        there = load_take(draft).clip(start=-float(body.clip.times[0]))
    return Saved(there, measured_on="the file")


def write_motion(
    found: Mix, body: ClipBody, plan: MixPlan, output: Path | None, audience: Reporter = SILENT
) -> dict[str, Any]:
    """Write the motion on its body; its figures, of what was written."""
    from poise.drivers.body import load_tree
    from poise.dynamics.tree import build_tree
    from poise.jobs.shared.answers import measure_answer
    from poise.jobs.shared.metrics import (
        describe_body,
        describe_effort,
        list_hits,
        list_steps,
        measure_error,
        measure_feet,
    )

    saved = write_clip(found, body, output, audience)
    clip, character = body.clip, body.character
    result = found.clip if saved.clip is None else saved.clip
    n = len(result)
    wanted = body.wanted if n == len(clip) else body.wanted.pick(slice(0, n))
    faithful = [joint for joint in found.kinematic if joint not in found.answering]
    tree = load_tree(build_tree(character), character, plan.loads)
    return {
        "fell": found.fell,
        "fell_at_s": found.fell_at,
        "fell_why": found.fell_why or None,
        "kinematic_error_rad": measure_error(result, wanted, faithful),
        **measure_feet(result, tree, found.floor or found.ground),
        **measure_answer(result, tree, wanted, found.stands, found.floor or found.ground),
        "realtime_factor": float(found.take.times[-1]) / max(found.take.wall_seconds, 1e-9),
        "coupling": plan.couple,
        **list_steps(found.steps),
        "base": found.base,
        "frames": n,
        "max_joint_error_m": saved.error,
        "fps": clip.fps,
        "dt_s": found.dt,
        "engine": plan.engine,
        "ground_m": found.ground,
        "hits": list_hits(found.take),
        **describe_body(character),
        **describe_effort(found.take.actor(), found.physical, found.kinematic),
        "measured_on": saved.measured_on,
        "notes": list(saved.notes),
    }


def _describe(found: Mix, plan: MixPlan, is_own: bool, audience: Reporter) -> list[str]:
    """What there is to say of a mix, a sentence each. is_own: whether no part comes from another clip."""
    said = []
    if not plan.scenery.is_placed and abs(found.ground) > 0.005:
        said.append(
            f"the ground is at {found.ground:.3f} m, where the clip's soles rest. Override with "
            f"{audience.spell('stage')}."
        )
    chosen = plan.base == AUTO and found.base == KINEMATIC
    said += [f"{note} Override with {audience.spell('base')}." if chosen and " no balance" in note else note
             for note in found.notes]  # fmt: skip
    if found.base == KINEMATIC and not found.physical:
        result = "the clip" if is_own else "the clip with these parts"
        said.append(
            f"nothing else is physical, so the result is {result}. Name parts with {audience.spell('physical')}."
        )
    return said


def say_broken(found: Mix, outputs: MixOutputs, audience: Reporter, reduce: str = "gain") -> str:
    """A sentence about a simulation that broke off, whose last states are kept beside the output.

    reduce  the option that may be lower
    """
    from poise.stage.take.take import save_take

    what = str(found.broken).split(". ")[0]
    smaller, lower, couple = (audience.spell(option) for option in ("dt", reduce, "couple"))
    advice = f"A smaller {smaller} or a lower {lower} may help."
    if reduce == "gain":
        advice = f"A smaller {smaller}, a lower {lower} or {couple} exact may help."
    if found.last is None or not outputs.motions:
        return f"{what}. {advice}"
    dump = choose_dump(outputs.motions[0])
    count = len(found.last)
    save_take(found.last, dump)
    return (
        f"{what}. The last {count} states are in {dump}; to look at them in Python: poise.load_take('{dump}'). {advice}"
    )


def _draw(found: Mix, character: Character, plan: MixPlan, outputs: MixOutputs) -> None:
    from poise.files.output import write_bytes
    from poise.jobs.mix.pictures import draw_plot, save_mix_film

    for path in outputs.plots:
        write_bytes(path, draw_plot(found))
    for path in outputs.films:
        save_mix_film(found, character, plan, path)


def _format_recipe(asked: Recipe, path: Path, audience: Reporter) -> bytes:
    try:
        return format_recipe(asked, path.parent).encode()
    except UnicodeEncodeError:
        option = audience.spell("save_recipe")
        raise FileError(
            path,
            f"a recipe is UTF-8 text, and a path or name in it is not. Rename that file, or leave out {option}.",
        ) from None

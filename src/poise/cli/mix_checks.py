"""What a mix cannot do, known before it is simulated: outputs that cannot be written, options that would do nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from poise.cli.outputs import check_outputs, check_suffix
from poise.errors import FileError, InputError

if TYPE_CHECKING:
    from poise.body.character import Character
    from poise.jobs.plan import MixPlan, PlannedPush
    from poise.jobs.recipe import Recipe
    from poise.motion.clip import Clip

FILMS = (".mp4", ".webm", ".webp", ".gif")
TAKE = ".take.npz"
BROKEN = "nonfinite"


def check_files(asked: Recipe, read: Iterable[Path | None], save_recipe: Path | None, json: bool) -> None:
    """Refuse outputs that are inputs or each other, that cannot be there, or that nothing here can write.

    read  files that are read besides those that the recipe names
    """
    wanted = {"-o": asked.output, "--film": asked.film, "--plot": asked.plot, "--save-recipe": save_recipe}
    check_outputs((asked.clip, asked.character, asked.stage, *read), wanted, json)
    _check_motion(Path(str(asked.output)))
    check_suffix("--film", asked.film, *FILMS)
    check_suffix("--plot", asked.plot, ".png")
    check_suffix("--save-recipe", save_recipe, ".toml")
    if asked.film is not None:
        from poise.pictures.film import check_film

        check_film(asked.film)


def _check_motion(path: Path) -> None:
    from poise.files.formats import FORMATS, check_can_save, find_format

    if path.name.endswith(TAKE):
        return
    entry = find_format(path)
    if entry is None or entry.save is None:
        known = ", ".join(e.suffix for e in FORMATS if e.save is not None)
        raise FileError(path, f"'{path.suffix}' cannot be written; a mix is written as {known} or {TAKE}.")
    check_can_save(path)


def check_effects(clip: Clip, character: Character, plan: MixPlan, asked: Recipe) -> None:
    """Refuse what would change nothing: a load or a push that no physical part feels, a stiffness without a balance.

    Also what could not be drawn in the end.
    """
    from poise.jobs.mixing import find_physical
    from poise.motion.parts import part_joints

    skeleton = clip.skeleton
    physical = find_physical(character, plan.physical)
    try:
        legs = set(part_joints(skeleton, "legs"))
    except InputError:
        legs = set()
    balances = bool(legs) and legs <= physical
    if asked.stiffness is not None and not balances:
        raise InputError(
            "--stiffness is the balance's, which is for physical legs; make 'legs' physical, or leave it out."
        )

    def feels(joint: str) -> bool:
        return balances or any(i in physical for i in skeleton.chain(skeleton.index(joint)))

    for load in plan.loads:
        if not feels(load.joint):
            raise InputError(f"nothing physical carries the load at '{load.joint}'. {_say_physical(plan)}")
    for push in plan.pushes:
        _check_push(clip, plan, push, feels)
    if asked.film is not None:
        from poise.body.mannequin import build_mannequin

        try:
            build_mannequin(skeleton, character.mass)
        except InputError as error:
            raise InputError(f"--film cannot be drawn: {error}") from error


def _check_push(clip: Clip, plan: MixPlan, push: PlannedPush, feels: Callable[[str], bool]) -> None:
    from poise.jobs.mixing import choose_step, find_pushed

    if not any(push.force):
        raise InputError(
            f"the push at t={push.time:g} s has 0 N and would do nothing. Give it a force, or leave it out."
        )
    if push.time >= clip.duration:
        raise InputError(
            f"the push at t={push.time:g} s comes after the clip's end, at {clip.duration:g} s. Give an earlier time."
        )
    step = choose_step(clip, plan.dt)
    first = step * math.ceil(push.time / step - 1e-9)  # s, the first step that begins within the push
    if first >= min(push.time + push.seconds, clip.duration - 1e-9):
        raise InputError(
            f"the push at t={push.time:g} s for {push.seconds:g} s lies between two steps of {step:.3g} s and would do "
            "nothing. Make it longer or earlier, or --dt smaller."
        )
    if not feels(find_pushed(clip.skeleton, push.joint)):
        raise InputError(f"nothing physical feels the push at '{push.joint}'. {_say_physical(plan)}")


def _say_physical(plan: MixPlan) -> str:
    return f"Physical is only: {', '.join(plan.physical)}. Name more with --physical, or leave it out."


def choose_dump(output: Path) -> Path:
    """Where the last states of a simulation that broke are kept: beside the output, under a name that nobody has."""
    for count in range(1, 10_000):
        path = output.with_name(f"{BROKEN}{TAKE}" if count == 1 else f"{BROKEN}-{count}{TAKE}")
        if not path.exists() and not path.is_symlink():
            return path
    raise FileError(output.parent, f"there are thousands of {BROKEN} takes in this folder. Remove some.")

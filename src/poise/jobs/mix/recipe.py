"""Recipes: what a mix is made of, as readable TOML that gives the same result again.

    format = "poise-recipe 1"
    seed = 0

    [character]               # whose motion: the options of every command that reads a clip
    clip = "wave.bvh"
    mass = 70.0

    [stage]
    engine = "mujoco"
    couple = "exact"
    file = "room.toml"        # ground and props, see `world/scenery.py`

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

What is left out is as without a recipe. Paths count from the recipe's own folder. All keys are in docs/recipes.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any

from poise.body.character import Character
from poise.drivers.registry import Drive, read_drive
from poise.errors import InputError
from poise.files.output import write_bytes
from poise.files.reading.options import Source, parse_roles
from poise.files.reading.up_axis import check_up
from poise.files.reporting import SILENT, Reporter
from poise.files.toml import Table, TomlFile, format_toml
from poise.jobs.mix.borrowing import Borrowed
from poise.jobs.mix.plan import MixPlan, plan_push
from poise.motion.clip import Clip
from poise.stage.arguments import check_settings
from poise.world.forces import Load, Push
from poise.world.scenery import Scenery

FORMAT = "poise-recipe 1"
BALANCE = {"stiffness": (0.01, 50.0), "hold": (0.0, 1.0), "counter_lean": (0.0, 10.0)}  # ranges, as `Balance` has them
SOURCE_TEXTS, SOURCE_NUMBERS = ("take", "up", "bones"), ("mass", "height", "fps", "scale")
STAGE_SETTINGS = ("engine", "couple", "gain", "torque_only", "coupling_filter", "dt")
# Where a recipe has what a `Recipe` has.
_TABLES = {
    "character": ("clip", "character", "roles", *SOURCE_TEXTS, *SOURCE_NUMBERS),
    "stage": ("stage", *STAGE_SETTINGS),
    "drivers": ("physical", *BALANCE, "pin"),
    "outputs": ("output", "film", "plot"),
}
_KEYS = {"character": "body", "stage": "file", "output": "motion"}  # called otherwise there


@dataclass(frozen=True)
class Recipe:
    """Everything that may be said; None: not said.

    clip      file of the motion;  character, stage: files of a body, of ground and props. In Python also the things
              themselves, which no recipe can be saved with
    take      which clip of a file that has several
    roles     role=joint words
    from_     parts that come from other clips
    others    as the options of `poise mix`
    """

    clip: Path | Clip | None = None
    character: Path | Character | None = None
    take: str | None = None
    up: str | None = None
    mass: float | None = None
    height: float | None = None
    fps: float | None = None
    scale: float | None = None
    roles: tuple[str, ...] = ()
    stage: Path | Scenery | None = None
    engine: str | None = None
    couple: str | None = None
    gain: float | None = None
    torque_only: bool | None = None
    dt: float | None = None
    physical: tuple[str, ...] | None = None
    stiffness: float | None = None
    pin: bool | None = None
    loads: tuple[Load, ...] = ()
    pushes: tuple[Push, ...] = ()
    output: Path | None = None
    film: Path | None = None
    plot: Path | None = None
    seed: int | None = field(default=None)
    drives: tuple[Drive, ...] = ()
    base: str | None = None
    coupling_filter: float | None = None
    bones: str | None = None
    hold: float | None = None
    counter_lean: float | None = None
    from_: tuple[Borrowed, ...] = ()

    def list_said(self) -> list[str]:
        """Names of the fields that say something."""
        return [f.name for f in fields(self) if getattr(self, f.name) not in (None, ())]

    def over(self, other: Recipe) -> Recipe:
        """This recipe where it says something, the other where it does not. Lists are not joined."""
        said = {name: getattr(self, name) for name in self.list_said()}
        return Recipe(**{**{f.name: getattr(other, f.name) for f in fields(other)}, **said})


class RecipeReader(Reporter):
    """Whoever follows a recipe: told as before, but of what the recipe says by the recipe's own keys.

    audience  who hears it
    said      what the recipe says, and nobody else
    path      of the recipe's file; None where the sentence is going to begin with it
    """

    def __init__(self, audience: Reporter, said: Iterable[str], path: str | PathLike[str] | None = None):
        where = "" if path is None else f" in {path}"
        self._audience = audience
        self._words = {
            name: f"'{_KEYS.get(name, name)}' of [{table}]{where}"
            for table, names in _TABLES.items()
            for name in names
            if name in said
        }

    def note(self, sentence: str) -> None:
        """See `Reporter`."""
        self._audience.note(sentence)

    def warn(self, sentence: str) -> None:
        """See `Reporter`."""
        self._audience.warn(sentence)

    def progress(self, sentence: str) -> None:
        """See `Reporter`."""
        self._audience.progress(sentence)

    def advance(self, what: str, done: int, total: int) -> None:
        """See `Reporter`."""
        self._audience.advance(what, done, total)

    def spell(self, option: str) -> str:
        """See `Reporter.spell`."""
        return self._words.get(option) or self._audience.spell(option)


def follow_recipe(asked: Recipe, path: str | PathLike[str], audience: Reporter) -> tuple[Recipe, Reporter]:
    """What is asked for, over what a recipe's file says; and who is told of it, by the names that were used."""
    recipe = load_recipe(path)
    return asked.over(recipe), RecipeReader(audience, set(recipe.list_said()) - set(asked.list_said()), path)


def load_recipe(path: str | PathLike[str]) -> Recipe:
    """Read a recipe; everything is checked."""
    with TomlFile(path) as file:
        return parse_recipe(file.plain, Path(path).parent)


def parse_recipe(plain: object, folder: Path) -> Recipe:
    """A recipe out of TOML's tables. folder: where its paths count from."""
    top = Table("a recipe", plain)
    if top.text("format") != FORMAT:
        raise InputError(f'is no recipe of this program: it must begin with format = "{FORMAT}".')
    said: dict[str, Any] = {"seed": top.whole("seed")}

    def place(table: Table, key: str) -> Path | None:
        text = table.text(key)
        return None if text is None else folder / text

    who = top.table("character")
    said |= {"clip": place(who, "clip"), "character": place(who, "body"), "roles": _read_roles(who, folder)}
    said |= {key: who.text(key) for key in SOURCE_TEXTS} | {key: who.number(key) for key in SOURCE_NUMBERS}
    where = top.table("stage")
    said |= {"stage": place(where, "file"), "engine": where.text("engine"), "couple": where.text("couple")}
    said |= {"gain": where.number("gain"), "dt": where.number("dt"), "torque_only": where.flag("torque_only")}
    said["coupling_filter"] = where.number("coupling_filter")
    drivers = top.table("drivers")
    said |= {"physical": drivers.words("physical"), **{key: drivers.number(key) for key in BALANCE}}
    said |= {"pin": drivers.flag("pin"), "base": drivers.text("base")}
    drives, loads, pushes = top.tables("drives"), top.tables("loads"), top.tables("pushes")
    others = top.tables("from")
    said["from_"] = tuple(Borrowed(t.needed_text("part"), folder / t.needed_text("clip")) for t in others)
    said["drives"] = tuple(read_drive(t.needed_text("part"), t.needed_text("driver"), t.rest()) for t in drives)
    said["loads"] = tuple(Load(t.needed_text("joint"), t.needed_number("mass")) for t in loads)
    said["pushes"] = tuple(_read_push(t) for t in pushes)
    out = top.table("outputs")
    said |= {"output": place(out, "motion"), "film": place(out, "film"), "plot": place(out, "plot")}
    for table in (who, where, drivers, *others, *loads, *pushes, out, top):
        table.check_all_read()
    recipe = Recipe(**said)
    _check(recipe)
    return recipe


def _check(recipe: Recipe) -> None:
    """Refuse values that no clip can make sense of."""
    keys = RecipeReader(SILENT, recipe.list_said())
    source = {key: getattr(recipe, key) for key in SOURCE_NUMBERS}
    Source(**source, roles=recipe.roles, bones=recipe.bones).check(keys)
    if recipe.up is not None:
        check_up(recipe.up)
    usual = MixPlan()
    check_settings(
        usual.dt if recipe.dt is None else recipe.dt,
        usual.couple if recipe.couple is None else recipe.couple,
        usual.gain if recipe.gain is None else recipe.gain,
        False,  # whether this and the filter go with the coupling is known when all is said
        None,
        1,
    )
    check_balance(recipe, keys)
    if recipe.physical == () and not recipe.drives:
        raise InputError(
            "'physical' of [drivers] is empty and there are no [[drives]], so nothing would be physical. Name parts, "
            'as in physical = ["legs"], or leave it out.'
        )


def check_balance(asked: Recipe, audience: Reporter = SILENT) -> None:
    """Refuse numbers that no balance can have."""
    for name, (least, most) in BALANCE.items():
        value = getattr(asked, name)
        if value is not None and not least <= value <= most:
            raise InputError(f"{audience.spell(name)} must be from {least:g} to {most:g}; {value:g} given.")


def _read_roles(table: Table, folder: Path) -> tuple[str, ...]:
    """`role=joint` words; files of them are read."""
    words = [word if "=" in word else str(folder / word) for word in table.words("roles") or ()]
    return tuple(f"{role}={joint}" for role, joint in parse_roles(words, RecipeReader(SILENT, ["roles"])).items())


def _read_push(table: Table) -> Push:
    force = table.numbers("force", 3)
    if force is None:
        raise InputError(f"{table.what} lacks 'force', three numbers in newtons.")
    x, y, z = force
    time, joint, seconds = table.needed_number("time"), table.needed_text("joint"), table.needed_number("seconds")
    return plan_push(joint, (x, y, z), seconds, time)


def save_recipe(recipe: Recipe, path: str | PathLike[str]) -> None:
    """Write a recipe as TOML. Files are named from where the recipe is, so that a folder can be moved as a whole."""
    write_bytes(path, format_recipe(recipe, Path(path).parent).encode())


def format_recipe(recipe: Recipe, folder: Path) -> str:
    """A recipe as TOML, its paths counted from a folder."""

    def place(file: object) -> str | None:
        if file is None:
            return None
        if not isinstance(file, Path):
            raise InputError(
                f"a recipe names files, and a {type(file).__name__} was given as it is. Save it and give its path, or "
                "leave out the recipe."
            )
        try:
            return Path(os.path.relpath(file, folder)).as_posix()
        except ValueError:  # another drive
            return str(file)

    tables: Mapping[str, Any] = {
        "format": FORMAT,
        "seed": recipe.seed,
        "character": {
            "clip": place(recipe.clip),
            "body": place(recipe.character),
            **{key: getattr(recipe, key) for key in (*SOURCE_TEXTS, *SOURCE_NUMBERS, "roles")},
        },
        "stage": {
            "file": place(recipe.stage),
            **{key: getattr(recipe, key) for key in STAGE_SETTINGS},
        },
        "drivers": {
            "physical": None if recipe.physical is None else list(recipe.physical),  # none at all is said, too
            "base": recipe.base,
            **{key: getattr(recipe, key) for key in BALANCE},
            "pin": recipe.pin,
        },
        "drives": [drive.describe() for drive in recipe.drives],
        "from": [{"part": each.part, "clip": place(each.clip)} for each in recipe.from_],
        "loads": [{"joint": load.joint, "mass": load.mass} for load in recipe.loads],
        "pushes": [
            {"time": push.start, "joint": push.joint, "force": push.force, "seconds": push.seconds}
            for push in recipe.pushes
        ],
        "outputs": {"motion": place(recipe.output), "film": place(recipe.film), "plot": place(recipe.plot)},
    }
    return format_toml(tables)

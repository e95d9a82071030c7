"""Recipes: what a mix is made of, as readable TOML that gives the same result again.

    format = "poise-recipe 1"
    seed = 0

    [character]               # whose motion: the options of every command that reads a clip
    clip = "wave.bvh"
    mass = 70.0

    [stage]
    engine = "mujoco"
    couple = "exact"
    file = "room.toml"        # ground and props, see `scenery_file`

    [drivers]
    physical = ["legs"]       # everything else follows the clip
    base = "auto"             # or "planted", "kinematic": what physical legs stand on

    [[drives]]                # a part by a driver of a name, with its parameters: see `drivers.registry`
    part = "leftArm"
    driver = "loose"
    stiffness = 0.5

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

What is left out is as without a recipe. Paths count from the recipe's own folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from os import PathLike
from pathlib import Path
from typing import Any

from poise.body.character import Character
from poise.drivers.registry import Drive, read_drive
from poise.errors import FileError, InputError
from poise.files.atomic import write_bytes
from poise.jobs.plan import Scenery, plan_push
from poise.jobs.toml_tables import Table, format_toml, load_toml
from poise.motion.clip import Clip
from poise.world.load import Load
from poise.world.push import Push

FORMAT = "poise-recipe 1"
SOURCE_TEXTS, SOURCE_NUMBERS = ("take", "up"), ("mass", "height", "fps", "scale")


@dataclass(frozen=True)
class Recipe:
    """Everything that may be said; None: not said.

    clip      file of the motion;  character, stage: files of a body, of ground and props. In Python also the things
              themselves, which no recipe can be saved with
    take      which clip of a file that has several
    roles     role=joint words
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

    def over(self, other: Recipe) -> Recipe:
        """This recipe where it says something, the other where it does not. Lists are not joined."""
        said = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) not in (None, ())}
        return Recipe(**{**{f.name: getattr(other, f.name) for f in fields(other)}, **said})


def load_recipe(path: str | PathLike[str]) -> Recipe:
    """Read a recipe; everything is checked."""
    plain = load_toml(path)
    try:
        return parse_recipe(plain, Path(path).parent)
    except InputError as error:
        raise FileError(path, str(error)) from error


def parse_recipe(plain: object, folder: Path) -> Recipe:
    """A recipe out of TOML's tables. folder: where its paths count from."""
    top = Table("a recipe", plain)
    if top.text("format") != FORMAT:
        raise InputError(f'is no recipe of this program: it must begin with format = "{FORMAT}".')
    seed = top.number("seed")
    said: dict[str, Any] = {"seed": None if seed is None else int(seed)}

    def place(table: Table, key: str) -> Path | None:
        text = table.text(key)
        return None if text is None else folder / text

    who = top.table("character")
    said |= {"clip": place(who, "clip"), "character": place(who, "body"), "roles": who.words("roles") or ()}
    said |= {key: who.text(key) for key in SOURCE_TEXTS} | {key: who.number(key) for key in SOURCE_NUMBERS}
    where = top.table("stage")
    said |= {"stage": place(where, "file"), "engine": where.text("engine"), "couple": where.text("couple")}
    said |= {"gain": where.number("gain"), "dt": where.number("dt"), "torque_only": where.flag("torque_only")}
    drivers = top.table("drivers")
    said |= {"physical": drivers.words("physical"), "stiffness": drivers.number("stiffness")}
    said |= {"pin": drivers.flag("pin"), "base": drivers.text("base")}
    drives, loads, pushes = top.tables("drives"), top.tables("loads"), top.tables("pushes")
    said["drives"] = tuple(read_drive(t.needed_text("part"), t.needed_text("driver"), t.rest()) for t in drives)
    said["loads"] = tuple(Load(t.needed_text("joint"), t.needed_number("mass")) for t in loads)
    said["pushes"] = tuple(_read_push(t) for t in pushes)
    out = top.table("outputs")
    said |= {"output": place(out, "motion"), "film": place(out, "film"), "plot": place(out, "plot")}
    for table in (who, where, drivers, *loads, *pushes, out, top):
        table.check_all_read()
    return Recipe(**said)


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
            **{key: getattr(recipe, key) for key in ("engine", "couple", "gain", "torque_only", "dt")},
        },
        "drivers": {key: getattr(recipe, key) for key in ("physical", "base", "stiffness", "pin")},
        "drives": [drive.describe() for drive in recipe.drives],
        "loads": [{"joint": load.joint, "mass": load.mass} for load in recipe.loads],
        "pushes": [
            {"time": push.start, "joint": push.joint, "force": push.force, "seconds": push.seconds}
            for push in recipe.pushes
        ],
        "outputs": {"motion": place(recipe.output), "film": place(recipe.film), "plot": place(recipe.plot)},
    }
    return format_toml(tables)

"""Stage files: what is on a stage besides bodies, as readable TOML.

[ground]
height = 0.0              # m; left out: where the clip's soles rest
friction = 0.8
kind = "tilted"           # tilted, steps or map, with numbers of their own: see `ground_table`; left out: level
angle_degrees = 6.0

[[props]]
name = "table"
shape = "box"             # box: size [x, y, z] m;  sphere: radius;  capsule: radius and length, upright
size = [1.2, 0.7, 0.6]
position = [0, 0.35, 0.8] # m, of its middle
turn = [1, 0, 0, 0]       # wxyz; left out: none
mass = 12.0               # kg; left out: it never moves
friction = 0.5            # of whatever touches it; left out: the stage's

[touch]                   # who touches whom: see `poise.Touch`; all of it may be left out
itself = "physical"       # segments of one body that physics moves; true: all of them; false: none
props = true
softness = 0.0            # s
bounce = 0.0              # of the speed at which things meet
forces = "engine"         # or "penalty"
only = []                 # pairs of names alike: nothing else touches
friction = 0.8
apart = [["leftHand", "trunk"], ["head", "table"]]
"""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from poise.body.shape import Box, Capsule, Shape, Sphere, even_inertia
from poise.errors import InputError, unknown_name
from poise.jobs.ground_table import read_ground
from poise.jobs.plan import Scenery
from poise.jobs.toml_tables import Table, TomlFile
from poise.spatial import rotation
from poise.world.prop import MASSES, Prop
from poise.world.touch import PHYSICAL, Touch

SHAPES = ("box", "sphere", "capsule")
_SIZES = (1e-3, 1e3)  # m
_FARTHEST = 1e4  # m


def load_scenery(path: str | PathLike[str]) -> Scenery:
    """Ground and props of a stage file; everything is checked."""
    with TomlFile(path) as file:
        return parse_scenery(file.plain)


def parse_scenery(plain: object) -> Scenery:
    """The same, from the tables of such a file."""
    top = Table("a stage file", plain)
    ground, is_placed = read_ground(top.table("ground"))
    props = tuple(_read_prop(table) for table in top.tables("props"))
    touch = _read_touch(top.table("touch"))
    top.check_all_read()
    names = [prop.name for prop in props]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise InputError(f"two props are called '{double}'. Give each a name of its own.")
    return Scenery(ground, is_placed, props, touch)


def _read_touch(table: Table) -> Touch:
    said: dict[str, Any] = {name: table.flag(name) for name in ("actors", "props")}
    said["itself"] = table.flag_or_word("itself", PHYSICAL)
    said |= {name: table.number(name) for name in ("softness", "friction", "bounce")}
    said |= {name: table.pairs(name) for name in ("apart", "only")}
    said["forces"] = table.text("forces")
    table.check_all_read()
    return Touch(**{name: value for name, value in said.items() if value is not None})


def _read_prop(table: Table) -> Prop:
    name = table.needed_text("name")
    table.what = f"prop '{name}'"
    shape = _read_shape(table)
    position, turn = table.numbers("position", 3), table.numbers("turn", 4)
    mass, friction = table.number("mass"), table.number("friction")
    table.check_all_read()
    if position is not None and max(map(abs, position)) > _FARTHEST:
        raise InputError(
            f"prop '{name}' is at {list(position)} m; at most {_FARTHEST:g} m from the origin can be used."
        )
    if turn is not None and np.linalg.norm(turn) < 1e-6:
        raise InputError(f"the turn of prop '{name}' must be a quaternion w, x, y, z that is not zero.")
    if mass is not None and not MASSES[0] <= mass <= MASSES[1]:
        raise InputError(
            f"prop '{name}' has mass {mass:g} kg; it must be from {MASSES[0]:g} to {MASSES[1]:g} kg, or left out."
        )
    return Prop(
        name,
        (shape,),
        None if mass is None else even_inertia(shape, mass),
        np.zeros(3) if position is None else np.array(position),
        rotation.identity() if turn is None else rotation.normalize(np.array(turn)),
        friction=friction,
    )


def _read_shape(table: Table) -> Shape:
    kind = table.needed_text("shape")
    if kind not in SHAPES:
        raise unknown_name("shape", kind, SHAPES)
    if kind == "box":
        size = table.numbers("size", 3)
        if size is None:
            raise InputError(f"{table.what} is a box and lacks its 'size', three numbers in metres.")
        return Box(np.zeros(3), np.array([_check_size(table, each) for each in size]) / 2.0, rotation.identity())
    radius = _check_size(table, table.needed_number("radius"))
    if kind == "sphere":
        return Sphere(np.zeros(3), radius)
    half = np.array([0.0, _check_size(table, table.needed_number("length")) / 2.0, 0.0])
    return Capsule(-half, half, radius)


def _check_size(table: Table, value: float) -> float:
    if not _SIZES[0] <= value <= _SIZES[1]:
        raise InputError(f"{table.what} has a size of {value:g} m; it must be from {_SIZES[0]:g} to {_SIZES[1]:g} m.")
    return value

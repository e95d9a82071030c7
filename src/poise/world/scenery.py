"""Stage files: what is on a stage besides bodies, as readable TOML.

[ground]
height = 0.0              # m; left out: where the clip's soles rest
friction = 0.8
kind = "tilted"           # tilted, steps or map, with numbers of their own: see below; left out: level
angle_degrees = 6.0

[[props]]
name = "table"
shape = "box"             # box: size [x, y, z] m;  sphere: radius;  capsule: radius and length, upright
size = [1.2, 0.7, 0.6]
position = [0, 0.35, 0.8] # m, of its middle
turn = [1, 0, 0, 0]       # wxyz; left out: none
mass = 12.0               # kg; left out: it never moves
friction = 0.5            # of whatever touches it; left out: the stage's

[touch]                   # who touches whom: see `poise.ContactSettings`; all of it may be left out
itself = "physical"       # segments of one body that physics moves; true: all of them; false: none
props = true
softness = 0.0            # s
bounce = 0.0              # of the speed at which things meet
forces = "engine"         # or "penalty"
only = []                 # pairs of names alike: nothing else touches
friction = 0.8
apart = [["leftHand", "trunk"], ["head", "table"]]

The `[ground]` of a stage file is of one kind, with its numbers:

kind = "level"            # level, tilted, steps, profile or map; left out: level
height = 0.0              # m; left out: where the clip's soles rest
friction = 0.8

angle_degrees = 6.0       # tilted: from level, and the way that it rises: 0 ahead (+Z), 90 left (+X)
heading_degrees = 0.0

rise = 0.17               # steps: m, of each; negative goes down
run = 0.29                # m, from edge to edge
count = 10
start = 0.5               # m, the first edge, along heading_degrees

points = [[1, 0], [1, 0.2], [2, 0.2], [4, 0]]  # profile: m along heading_degrees and m high; a riser, and a ramp down

heights = [[0, 0.1], [0.1, 0.2]]  # map: m, rows along z, columns along x
spacing = 0.5             # m
corner = [-0.25, -0.25]   # m, x and z of the first; left out: the middle is over the origin

velocity = [0, 0, 0.5]    # any of them moves: m/s
sway = [0.2, 0, 0]        # m, there and back in `period` s
period = 4.0

`--terrain` names a word, or a file with heights, a mesh or a whole stage.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.body.geometry.primitives import Box, Capsule, Shape, Sphere, uniform_inertia
from poise.errors import InputError, check_range, unknown_name
from poise.files.toml import Table, TomlFile
from poise.spatial import rotation
from poise.world.contact_settings import PHYSICAL, ContactSettings
from poise.world.ground.files import ENDINGS, load_height_map
from poise.world.ground.ground import Ground, Slope
from poise.world.ground.height_map import HeightMap
from poise.world.ground.moving import MovingGround
from poise.world.ground.profile import Profile, Stairs
from poise.world.ground.terrain import WORDS, build_terrain
from poise.world.prop import MASSES, Prop

if TYPE_CHECKING:
    pass
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


def _read_touch(table: Table) -> ContactSettings:
    said: dict[str, Any] = {name: table.flag(name) for name in ("actors", "props")}
    said["itself"] = table.flag_or_word("itself", PHYSICAL)
    said |= {name: table.number(name) for name in ("softness", "friction", "bounce")}
    said |= {name: table.pairs(name) for name in ("apart", "only")}
    said["forces"] = table.text("forces")
    table.check_all_read()
    return ContactSettings(**{name: value for name, value in said.items() if value is not None})


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
        None if mass is None else uniform_inertia(shape, mass),
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
    check_range(f"the size of {table.what}", value, *_SIZES, "m")
    return value


KINDS = ("level", "tilted", "steps", "profile", "map")


def read_ground(table: Table) -> tuple[Ground, bool]:
    """The ground of a table, and whether its height is given; keys that its kind does not have are refused."""
    kind = table.text("kind") or "level"
    if kind not in KINDS:
        raise unknown_name("kind of ground", kind, KINDS)
    height, friction = table.number("height"), table.number("friction")
    own = _given({"height": height or 0.0, "friction": friction})
    if kind == "tilted":
        own |= {"angle": math.radians(table.needed_number("angle_degrees")), "heading": _heading(table)}
        ground: Ground = Slope(**own)
    elif kind == "steps":
        names = ("rise", "run", "start")
        numbers = _given({name: table.number(name) for name in names})
        ground = Stairs(**own, **numbers, **_given({"count": _count(table)}), heading=_heading(table))
    elif kind == "profile":
        ground = Profile(_rows(table, "points", "profile"), heading=_heading(table), **own)
    elif kind == "map":
        corner: Any = table.numbers("corner", 2)
        ground = HeightMap(_rows(table, "heights", "map"), table.needed_number("spacing"), corner, **own)
    else:
        ground = Ground(**own)
    motion = {"velocity": table.numbers("velocity", 3), "sway": table.numbers("sway", 3)}
    period = table.number("period")
    if any(motion.values()):
        ground = MovingGround(ground, **_given({**motion, "period": period}))
    elif period is not None:
        raise InputError(f"{table.what} has a 'period' and nothing that has one. Give it a 'sway', three numbers in m.")
    table.check_all_read()
    return ground, height is not None


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _heading(table: Table) -> float:
    return math.radians(table.number("heading_degrees") or 0.0)


def _count(table: Table) -> int | None:
    count = table.number("count")
    if count is not None and not count.is_integer():
        raise InputError(f"'count' of {table.what} must be a whole number of steps; {count:g} given.")
    return None if count is None else int(count)


def _rows(table: Table, key: str, kind: str) -> Any:
    rows = table.rows(key)
    if rows is None:
        raise InputError(f"{table.what} is a {kind} and lacks its '{key}', a list of rows of numbers in metres.")
    return rows


def find_terrain(text: str, seed: int = 0, **options: Any) -> Scenery:
    """Ground and props of a terrain.

    text     flat, slope, stairs, rough, moving; a height map (.png, .npz, .glb, .gltf); a stage file (.toml)
    seed     of what a word has at random
    options  of `build_terrain` or of `load_height_map`; a stage file has none
    """
    ending = Path(text).suffix.lower()
    if text in WORDS:
        return Scenery(build_terrain(text, seed, **options), True)
    if ending == ".toml":
        if options:
            raise InputError(f"a stage file says all of its ground itself; option '{next(iter(options))}' was given.")
        return load_scenery(text)
    if ending in ENDINGS:
        known = ("spacing", "scale", "corner", "holes", "height", "friction")
        for name in options:
            if name not in known:
                raise unknown_name("option of a height map,", name, known)
        if "holes" in options and ending in (".png", ".npz"):
            raise InputError(f"'holes' is for meshes, and a {ending} has a height everywhere. Leave it out.")
        return Scenery(load_height_map(text, **options), True)
    raise unknown_name("terrain", text, [*WORDS, *(f"FILE{each}" for each in (*ENDINGS, ".toml"))])


def find_ground(text: str) -> Ground | None:
    """The ground of a terrain, for what is played on it without props."""
    found = find_terrain(text)
    if found.props:
        raise InputError(
            f"{text}: a puppet is played on a ground without props; got prop '{found.props[0].name}'. Leave out its "
            "props."
        )
    return found.ground


def is_random(text: str, options: Mapping[str, Any]) -> bool:
    """Whether a seed changes a terrain."""
    if text == "moving":
        return options.get("ground") == "rough"
    return text == "rough" or (text == "stairs" and bool(options.get("random")))


@dataclass(frozen=True)
class Scenery:
    """What is on the stage besides the body. Where `is_placed` is false the ground is where the clip's soles rest."""

    ground: Ground = field(default_factory=Ground)
    is_placed: bool = False
    props: tuple[Prop, ...] = ()
    touch: ContactSettings = field(default_factory=ContactSettings)

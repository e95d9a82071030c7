"""The `[ground]` of a stage file: which kind it is, and its numbers.

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
"""

from __future__ import annotations

import math
from typing import Any

from poise.errors import InputError, unknown_name
from poise.jobs.toml_tables import Table
from poise.world.ground import Ground
from poise.world.height_map import HeightMap
from poise.world.moving import Moving
from poise.world.profile import Profile
from poise.world.steps import Steps
from poise.world.tilted import Tilted

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
        ground: Ground = Tilted(**own)
    elif kind == "steps":
        names = ("rise", "run", "start")
        numbers = _given({name: table.number(name) for name in names})
        ground = Steps(**own, **numbers, **_given({"count": _count(table)}), heading=_heading(table))
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
        ground = Moving(ground, **_given({**motion, "period": period}))
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

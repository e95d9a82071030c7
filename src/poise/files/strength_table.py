"""Strengths from a TOML file: whose they are to begin with, and one's own for some degrees of freedom.

    format = "poise-strength 1"
    base = "human"                 # or "weak": a share of static strength at every angle and speed
    scale = 0.9                    # of all joints; the share itself where the base is weak

    [scales]                       # of some joints, by name or role
    rightHand = 0.5

    [[joint]]
    joint = "leftLowerLeg"
    axis = "x"                     # x bends, y turns, z goes sideways
    lower = -150.0                 # N m, 0 or less
    [joint.upper]                  # a table: degrees, degrees a second, N m, a row an angle
    angles = [0, 60, 120]
    speeds = [-180, 0, 180]
    torque = [[60, 50, 20], [110, 90, 40], [70, 60, 20]]

Without `speeds` a table is over the angle alone, and `torque` a list as long.
"""

from __future__ import annotations

import itertools
from os import PathLike

import numpy as np

from poise.body.character import Character
from poise.body.strength.joint_strength import JointStrength, TorqueBound, TorqueTable
from poise.errors import unknown_name
from poise.files.toml import Table, TomlFile

FORMAT = "poise-strength 1"
_BASES = ("human", "weak")
_MOST = 1000  # rows of a file; angles or speeds of a table


def load_muscles(path: str | PathLike[str], character: Character) -> JointStrength:
    """The strength of a character as a file has it; a FileError begins with path and line."""
    with TomlFile(path) as file:
        return read_muscles(file.plain, character)


def read_muscles(plain: object, character: Character) -> JointStrength:
    """The same out of the tables of such a file."""
    top = Table("a table of strengths", plain)
    if top.needed_text("format") != FORMAT:
        raise top.wrong("format", f"'format' of a table of strengths must be '{FORMAT}'.")
    base = top.text("base") or "human"
    if base not in _BASES:
        raise top.wrong("base", str(unknown_name("base", base, _BASES)))
    scale = top.number("scale")
    with top.reading("scale"):
        if base == "weak":
            muscles = JointStrength.weak(character) if scale is None else JointStrength.weak(character, scale)
        else:
            muscles = JointStrength.from_character(character, 1.0 if scale is None else scale)
    scales = top.table("scales")
    for joint in scales.rest():
        with scales.reading(joint):
            muscles = muscles.scaled({joint: scales.needed_number(joint)})
    seen: set[int] = set()
    for table in top.tables("joint", _MOST):
        bound = _read_bound(table)
        with table.reading("joint" if bound.joint not in (*muscles.names, *muscles.labels) else "axis"):
            row = muscles.row(bound.joint, bound.axis)
        if row in seen:
            raise table.wrong("joint", f"{bound.joint} about {bound.axis} stands there twice; say it once.")
        seen.add(row)
        for key, one in (("lower", bound._replace(upper=None)), ("upper", bound._replace(lower=None))):
            with table.reading(key):
                muscles = muscles.with_bounds([one])
        table.check_all_read()
    top.check_all_read()
    return muscles


def _read_bound(table: Table) -> TorqueBound:
    bound = TorqueBound(
        table.needed_text("joint"), table.needed_text("axis"), _read_side(table, "lower"), _read_side(table, "upper")
    )
    if bound.lower is None and bound.upper is None:
        raise table.wrong(None, f"{table.what} has neither 'lower' nor 'upper': give one or both.")
    return bound


def _read_side(table: Table, key: str) -> float | TorqueTable | None:
    if not isinstance(table.peek(key), dict):
        return table.number(key)
    inside = table.table(key)
    angles = inside.row("angles", _MOST)
    if angles is None:
        raise inside.wrong(None, f"{inside.what} of {table.what} lacks 'angles', in degrees.")
    if "speeds" in inside:
        speeds, torque = inside.row("speeds", _MOST), inside.rows("torque")
    else:
        speeds, row = (0.0,), inside.row("torque", _MOST)
        torque = None if row is None else [[value] for value in row]
    if torque is None:
        raise inside.wrong(None, f"{inside.what} of {table.what} lacks 'torque', in N m.")
    inside.check_all_read()
    for name, values in (("angles", angles), ("speeds", speeds or ())):  # in the file's degrees, not in radians
        for first, second in itertools.pairwise(values):
            if second <= first:
                raise inside.wrong(
                    name, f"'{name}' of {inside.what} must be a list that rises: {second:g} comes after {first:g}."
                )
    with inside.reading():
        return TorqueTable(np.radians(angles), np.radians(speeds or ()), np.array(torque))

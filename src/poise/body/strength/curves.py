"""Which strength each degree of freedom of a body has: rows of `kernels.py`, for its sex, age, mass and stature.

    STRENGTH = c m' g h     as in `static.py`; c from `tables.py`

Legs have the age groups of the table; what the tables give for one adult goes with age, puberty and fat as in
`static.py`. The trunk's and the neck's joints share a bend, under the whole torque, since the same muscles pass all
of them. Files divide it as they like: as in `body/joints.py` each of n joints is taken to turn (n + 1) / 2n of it, as
fast.

What nobody measured
  clavicles          one and a half times the strongest direction of the shoulder, about every axis: they pass on the
                     arm's load, on a lever that is longer by themselves
  ways that no muscle turns (a knee sideways, a hand about its length)
                     the strongest direction of the joint, both ways: bones and ligaments hold it
  fingers, jaw, tails, twist bones, bodies without roles
                     the rows of the nearest joint above that has some, of the trunk where none has: more than they can
Those do not change with angle or speed, but for joints without a role, which have the curves of the one above.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from poise.body.character import Character
from poise.body.joints import find_column, find_zero_pose
from poise.body.roles import TRUNK_ROLES
from poise.body.strength.static import MAN, WOMAN, age_factor, blend_sexes, find_leverage
from poise.body.strength.tables import ANDERSON, ANDERSON_AGES, ROWS, Ages, Row
from poise.spatial import rotation

# Of a joint's strength is left at any angle: cosines that were fitted in the middle of a range end at nothing.
FLOOR = 0.25
_MOST_STRETCHED = 1.4  # of the static torque; muscle itself has no more
_CLAVICLE = 1.5
_FLAT = (0.0, 0.0, 0.0, 0.0, 1.0, FLOOR, FLOOR)  # whatever the angle, whatever the speed
_TRUNK, _NECK = (*TRUNK_ROLES, "hips"), ("neck", "head")
Curve = tuple[float, ...]
Curves = dict[tuple[str, int], Curve]  # (axis, sign) -> a row of `kernels.py`


class Axis(NamedTuple):
    """A degree of freedom: the joint's index, which of the anatomical axes, P and C, and the range of all three."""

    joint: int
    letter: int
    frame: np.ndarray
    ranges: np.ndarray


def find_axes(character: Character) -> list[Axis]:
    """The degrees of freedom of a body: joints in order, each with as many axes as it turns about, in their order.

    An axis of `Character.freedoms` counts as the anatomical one that it is nearest to; its sign does not matter.
    """
    skeleton, zero = character.skeleton, find_zero_pose(character.skeleton)
    nearest = skeleton.structure.nearest_roles
    found = []
    for joint, name in enumerate(skeleton.names):
        if name not in character.freedoms:
            continue
        limits = character.limits.get(name)
        if limits is not None:
            frame = np.stack([limits.parent_zero, limits.child_zero])
            ranges = np.stack([limits.lower, limits.upper])
        else:
            roles = nearest[skeleton.structure.parents[joint]], nearest[joint]
            frame = np.stack([zero[role] if role is not None else rotation.identity() for role in roles])
            ranges = np.stack([np.full(3, -np.inf), np.full(3, np.inf)])
        own = rotation.rotate(frame[0], character.freedoms[name])
        found += [Axis(joint, letter, frame, ranges) for letter in _match(own)]
    return found


def _match(axes: np.ndarray) -> tuple[int, ...]:
    """Which anatomical axis each of (n, 3) axes is: a different one each, as near as they can be together."""
    along = np.abs(axes)
    ways = itertools.permutations(range(3), len(axes))
    return max(ways, key=lambda way: sum(round(float(along[i, letter]), 9) for i, letter in enumerate(way)))


def find_curves(character: Character, axes: list[Axis]) -> np.ndarray:
    """(n, 2, 8) the rows of the lower and the upper torque about each axis."""
    skeleton, weight = character.skeleton, find_leverage(character)
    stems = [_known_stem(character, axis.joint) for axis in axes]
    column = find_column(skeleton)
    shared = [
        stem in ("spine", "neck") and skeleton.names[a.joint] in column for a, stem in zip(axes, stems, strict=True)
    ]
    counts = {
        stem: len({a.joint for a, s, is_in in zip(axes, stems, shared, strict=True) if is_in and s == stem})
        for stem in set(stems)
    }
    known = {stem: _known_curves(stem, character) for stem in {*stems, "UpperArm"}}
    rows = np.zeros((len(axes), 2, 8))
    for i, (axis, stem) in enumerate(zip(axes, stems, strict=True)):
        role = skeleton.structure.nearest_roles[axis.joint] or ""
        mirrored = role.startswith("right") and axis.letter != 0
        if stem == "Shoulder":
            most = _CLAVICLE * max(curve[0] for curve in known["UpperArm"].values())
        else:
            most = max(curve[0] for curve in known[stem].values())
        for way, sign in enumerate((-1, 1)):
            curve = known[stem].get(("xyz"[axis.letter], -sign if mirrored else sign), (most, *_FLAT))
            strength, width, peak, p, q, stretched, below, above = curve
            if mirrored:
                peak, below, above = -peak, above, below
            k = 2.0 * counts[stem] / (counts[stem] + 1.0) if shared[i] else 1.0
            rows[i, way] = (weight * strength, k * width, peak / k, k * p, k * q, stretched, below, above)
    return rows


def _known_stem(character: Character, joint: int) -> str:
    """Whose rows a joint has: those of its role without the side, or of the nearest joint above with known ones."""
    skeleton = character.skeleton
    role_of, parents = skeleton.structure.role_of, skeleton.structure.parents
    while joint >= 0:
        role = role_of.get(skeleton.names[joint], "")
        stem = role.removeprefix("left").removeprefix("right")
        if role in _TRUNK:
            return "spine"
        if role in _NECK:
            return "neck"
        if stem in ROWS or stem == "Shoulder":
            return stem
        joint = parents[joint]
    return "spine"


def _known_curves(stem: str, character: Character) -> Curves:
    """What the tables say of a stem, the strength as a share of weight and stature."""
    blend = _blender(character)
    curves = {}
    for measured in ANDERSON.get(stem, ()):
        deep = measured.deep or FLOOR
        man = _from_anderson(_at_age(measured.man, character.age, "male"), measured.turn, deep)
        woman = _from_anderson(_at_age(measured.woman, character.age, "female"), measured.turn, deep)
        curves["x", measured.sign] = blend(man, woman)
    for row in ROWS.get(stem, ()):
        man = _from_row(row, row.man / MAN * age_factor("male", character.age))
        woman = _from_row(row, row.woman / WOMAN * age_factor("female", character.age))
        curves[row.axis, row.sign] = blend(man, woman)
    return curves


def _blender(character: Character) -> Callable[[Curve, Curve], Curve]:
    def blend(man: Curve, woman: Curve) -> Curve:
        return tuple(blend_sexes(m, w, character) for m, w in zip(man, woman, strict=True))

    return blend


def _at_age(groups: Ages, age: float, sex: str) -> Curve:
    """C1 ... C6 at an age: in a line between the groups; beyond the last, C1 falls as in `static.py`."""
    values = [float(np.interp(age, ANDERSON_AGES, column)) for column in zip(*groups, strict=True)]
    if age > ANDERSON_AGES[-1]:
        values[0] *= age_factor(sex, age) / age_factor(sex, ANDERSON_AGES[-1])
    return tuple(values)


def _from_anderson(c: Curve, turn: int, deep: float) -> Curve:
    """A row from C1 ... C6; turn: the sign of their angle to ours; deep: what is left at the greatest of theirs."""
    c1, c2, c3, c4, c5, c6 = c
    # (2 C4 C5 + u (C5 - 3 C4)) / (2 C4 C5 + u (2 C5 - 4 C4)) = (1 + p u) / (1 + q u)
    p, q = (c5 - 3.0 * c4) / (2.0 * c4 * c5), (c5 - 2.0 * c4) / (c4 * c5)
    # the most that (1 + p u) / (1 + q u) (1 + C6 u) comes to up to C5
    u = np.linspace(0.0, c5, 513)
    most = float(np.max((1.0 + p * u) / (1.0 + q * u) * (1.0 + c6 * u)))
    floors = (FLOOR, deep)[::turn]
    return c1, c2, turn * c3, p, q, min(max(most, 1.0), _MOST_STRETCHED), *floors


def _from_row(row: Row, strength: float) -> Curve:
    # (1 - u / zero) / (1 + q u) is `half` at zero / 2   [Hill]
    p, q = -1.0 / row.zero, (1.0 / row.half - 2.0) / row.zero
    return strength, row.width, math.radians(row.peak), p, q, row.stretched, FLOOR, FLOOR

"""How heavy the parts of a body are: tables of segments, one citation a table, and the sex and age they are asked for.

A row gives a segment's share of the body's mass, the place of its centre of mass on the line between two end points
(a fraction of that line, from the proximal or cranial end), and its radii of gyration about the three anatomical axes
through that centre (fractions of the line's length). The end points are the same in every table, so that a body can
be given another table without other code:

    head          vertex to cervicale (C7), neck included
    upperTrunk    cervicale to xiphion       middleTrunk  xiphion to omphalion     lowerTrunk  omphalion to mid-hip
    upperArm      shoulder to elbow          forearm      elbow to wrist           hand        wrist to fingertip
    thigh         hip to knee                shank        knee to ankle            foot        heel to toe tip

Axes: sagittal is front to back, transverse is side to side, longitudinal along the line. In the hand the sagittal axis
is normal to the palm; in the foot, whose line lies flat, it is normal to the sole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from poise.errors import InputError, unknown_name
from poise.spatial.portable import Portable

SEXES = ("male", "female", "neutral")
TRUNK = ("upperTrunk", "middleTrunk", "lowerTrunk")
LIMBS = ("upperArm", "forearm", "hand", "thigh", "shank", "foot")
SEGMENTS = ("head", *TRUNK, *LIMBS)
ADULT_AGE = 18.0
AGES = (4.0, 120.0)


@dataclass(frozen=True)
class SegmentRow:
    """One segment of a table; all numbers are fractions.

    mass    of the body's mass, one side
    center  of the segment's length, from the proximal or cranial end point
    radii   of the segment's length: about the sagittal, transverse and longitudinal axis
    length  of the stature
    """

    mass: float
    center: float
    radii: tuple[float, float, float]
    length: float


@dataclass(frozen=True)
class BodyTable(Portable):
    """A whole body's rows, with where they are from. Shares add up to 1 with the limbs counted twice."""

    name: str
    citation: str
    rows: Mapping[str, SegmentRow]

    def __post_init__(self) -> None:
        if set(self.rows) != set(SEGMENTS):
            raise InputError(f"table '{self.name}' must have exactly the segments {', '.join(SEGMENTS)}.")
        # Printed shares add up to 0.999 to 1.001; every body must weigh what it is said to weigh.
        total = sum(row.mass * sides(segment) for segment, row in self.rows.items())
        rows = {segment: replace(row, mass=row.mass / total) for segment, row in self.rows.items()}
        object.__setattr__(self, "rows", MappingProxyType(rows))

    def __getitem__(self, segment: str) -> SegmentRow:
        return self.rows[segment]


def sides(segment: str) -> int:
    """How many of a segment a body has."""
    return 2 if segment in LIMBS else 1


def mean_rows(a: Mapping[str, SegmentRow], b: Mapping[str, SegmentRow]) -> dict[str, SegmentRow]:
    """The mean of two tables, number by number: what `neutral` means."""

    def mean(x: float, y: float) -> float:
        return 0.5 * (x + y)

    return {
        segment: SegmentRow(
            mean(a[segment].mass, b[segment].mass),
            mean(a[segment].center, b[segment].center),
            (
                mean(a[segment].radii[0], b[segment].radii[0]),
                mean(a[segment].radii[1], b[segment].radii[1]),
                mean(a[segment].radii[2], b[segment].radii[2]),
            ),
            mean(a[segment].length, b[segment].length),
        )
        for segment in SEGMENTS
    }


def check_sex_age(sex: str, age: float) -> None:
    """Raise InputError for a sex or age that no table has."""
    if sex not in SEXES:
        raise unknown_name("sex", sex, SEXES)
    if not AGES[0] <= age <= AGES[1]:
        raise InputError(f"age is {age:g} years; the tables hold from {AGES[0]:g} to {AGES[1]:g}.")

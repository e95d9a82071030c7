"""Mass, centre and inertia of body segments from the literature, by sex and age; one citation per table.

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

de Leva, the default table: segment masses, centres and radii of gyration.

P. de Leva (1996), Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters, J. Biomechanics 29(9), 1223-1230,
table 4; gamma-ray scans of 100 men and 15 women, of mean stature 1.741 m and 1.735 m. End points are joint centres
where the table has them (its alternative rows): head VERT-CERV, upper trunk CERV-XYPH, hand WJC-DAC3, shank KJC-AJC.
The three trunk rows then lie end to end from C7 to mid-hip, and their lengths add up to the table's own CERV-MIDH.

Winter, that is Dempster, the alternative table: segment masses, centres, radii and densities.

D. A. Winter (2009), Biomechanics and Motor Control of Human Movement, 4th ed., Wiley, table 4.1, from W. T. Dempster
(1955), Space requirements of the seated operator, WADC-TR-55-159 (cadavers of old men; one column for both sexes).

The table differs from de Leva's in its end points and has fewer numbers; the rows are brought to the common end points
(see `anthropometry`) as follows.
  head   C7 to ear canal; the ear lies EAR_ABOVE_C7 of the way up to the vertex.
  foot   lateral malleolus to the head of metatarsal II: from ANKLE_FROM_HEEL to BALL_FROM_HEEL of the foot.
  hand   wrist to knuckle II: the fraction `knuckle_fraction()` of the hand.
  trunk  greater trochanter to shoulder, with one mass and centre for the whole. It is cut into three slabs of de
         Leva's lengths whose masses go with their lengths, moved together so that the whole's centre is Winter's.
The one radius that Winter gives is taken as the transverse one; how thick a segment is across its line, which he does
not give, is de Leva's (mean of both sexes), and so are the radii of the trunk.

Jensen: how the fractions of the segments change while a child grows.

R. K. Jensen (1986), Body segment mass, radius and radius of gyration proportions of children, J. Biomechanics 19(5),
359-368, and (1989), Changes in segment inertia proportions between 4 and 20 years, J. Biomechanics 22(6/7), 529-536:
boys, photographed once a year and modelled as elliptical zones.

Jensen's law is a quadratic in age. For the head and neck it is his own (1989). For the others the quadratic goes
through his shares at 6, 12 and 18 years (6 and 18 from 1989, 12 from 1986), since only these were at hand: his printed
coefficients may differ from it by a few tenths of a per cent of the body's mass. What is used is only the *ratio* of a
share to the same share at 18, by which the adult table is multiplied; so a child's segments are cut where the adult's
are, girls grow like boys, and at 18 the adult table is met without a step. Centres and radii, as fractions of the
segment's own length, stay the adult's.

`get_table` chooses the table for a sex and an age.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from poise.errors import InputError, unknown_name
from poise.frozen import Portable

SKULL_BELOW_VERTEX = 0.074  # ear canal and skull joint, of the stature
ANKLE_FROM_HEEL = 0.2255  # of the foot's length
BALL_FROM_HEEL = 0.673
_HEAD_LENGTH = 0.5 * (242.9 / 1741.0 + 243.7 / 1735.0)  # C7 to vertex, de Leva, of the stature
EAR_ABOVE_C7 = 1.0 - SKULL_BELOW_VERTEX / _HEAD_LENGTH  # of the way up to the vertex
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


DE_LEVA = "de Leva (1996), J. Biomechanics 29(9), 1223-1230, table 4"
# segment: mass %, centre %, radii % (sagittal, transverse, longitudinal), length mm
_MALE = {
    "head": (6.94, 50.02, 30.3, 31.5, 26.1, 242.9),
    "upperTrunk": (15.96, 50.66, 50.5, 32.0, 46.5, 242.1),
    "middleTrunk": (16.33, 45.02, 48.2, 38.3, 46.8, 215.5),
    "lowerTrunk": (11.17, 61.15, 61.5, 55.1, 58.7, 145.7),
    "upperArm": (2.71, 57.72, 28.5, 26.9, 15.8, 281.7),
    "forearm": (1.62, 45.74, 27.6, 26.5, 12.1, 268.9),
    "hand": (0.61, 36.24, 28.8, 23.5, 18.4, 187.9),
    "thigh": (14.16, 40.95, 32.9, 32.9, 14.9, 422.2),
    "shank": (4.33, 43.95, 25.1, 24.6, 10.2, 440.3),
    "foot": (1.37, 44.15, 25.7, 24.5, 12.4, 258.1),
}
_FEMALE = {
    "head": (6.68, 48.41, 27.1, 29.5, 26.1, 243.7),
    "upperTrunk": (15.45, 50.50, 46.6, 31.4, 44.9, 228.0),
    "middleTrunk": (14.65, 45.12, 43.3, 35.4, 41.5, 205.3),
    "lowerTrunk": (12.47, 49.20, 43.3, 40.2, 44.4, 181.5),
    "upperArm": (2.55, 57.54, 27.8, 26.0, 14.8, 275.1),
    "forearm": (1.38, 45.59, 26.1, 25.7, 9.4, 264.3),
    "hand": (0.56, 34.27, 24.4, 20.8, 15.4, 170.1),
    "thigh": (14.78, 36.12, 36.9, 36.4, 16.2, 368.5),
    "shank": (4.81, 43.52, 26.7, 26.3, 9.2, 438.6),
    "foot": (1.29, 40.14, 29.9, 27.9, 13.9, 228.3),
}
_STATURE_MM = {"male": 1741.0, "female": 1735.0}
# Mid-shoulder to mid-hip and wrist to third knuckle, mm, of the same table (MIDS-MIDH, WJC-MET3).
_SHOULDERS_TO_HIPS_MM = {"male": 515.5, "female": 497.9}
_WRIST_TO_KNUCKLE_MM = {"male": 86.2, "female": 78.0}


def get_de_leva_table(sex: str) -> BodyTable:
    """De Leva's rows for `male`, `female`, or their mean for `neutral`."""
    if sex == "neutral":
        return BodyTable("deleva", DE_LEVA, mean_rows(_rows("male"), _rows("female")))
    return BodyTable("deleva", DE_LEVA, _rows(sex))


def shoulder_height(sex: str) -> float:
    """Height of the shoulder joints on the line from mid-hip to cervicale, as a fraction of it."""
    if sex == "neutral":
        return 0.5 * (shoulder_height("male") + shoulder_height("female"))
    rows = _rows(sex)
    trunk = sum(rows[part].length for part in ("upperTrunk", "middleTrunk", "lowerTrunk"))
    return _SHOULDERS_TO_HIPS_MM[sex] / _STATURE_MM[sex] / trunk


def knuckle_fraction() -> float:
    """Wrist to third knuckle as a fraction of wrist to fingertip, the mean of both sexes."""
    tables = {"male": _MALE, "female": _FEMALE}
    return 0.5 * sum(_WRIST_TO_KNUCKLE_MM[sex] / table["hand"][5] for sex, table in tables.items())


def _rows(sex: str) -> dict[str, SegmentRow]:
    table = _MALE if sex == "male" else _FEMALE
    return {
        segment: SegmentRow(
            mass / 100, center / 100, (sagittal / 100, transverse / 100, longitudinal / 100), length / _STATURE_MM[sex]
        )
        for segment, (mass, center, sagittal, transverse, longitudinal, length) in table.items()
    }


WINTER = "Winter (2009), Biomechanics and Motor Control of Human Movement, table 4.1 (Dempster 1955)"
# segment: mass, centre from the proximal end, radius of gyration, in Winter's own end points
_PRINTED = {
    "head": (0.081, 1.000, 0.495),
    "upperArm": (0.028, 0.436, 0.322),
    "forearm": (0.016, 0.430, 0.303),
    "hand": (0.006, 0.506, 0.297),
    "thigh": (0.100, 0.433, 0.323),
    "shank": (0.0465, 0.433, 0.302),
    "foot": (0.0145, 0.500, 0.475),
}
_TRUNK_MASS, _TRUNK_CENTER = 0.497, 0.500
# kg/m3, table 4.1. Winter prints no density for the abdomen alone; the trunk's is used. Pelvis and abdomen: 1.01.
DENSITIES: Mapping[str, float] = MappingProxyType(
    {
        "head": 1110.0,
        "upperTrunk": 920.0,
        "middleTrunk": 1030.0,
        "lowerTrunk": 1010.0,
        "upperArm": 1070.0,
        "forearm": 1130.0,
        "hand": 1160.0,
        "thigh": 1050.0,
        "shank": 1090.0,
        "foot": 1100.0,
    }
)


def get_winter_table(sex: str) -> BodyTable:
    """Winter's rows; lengths, which he takes from elsewhere, are de Leva's for the sex."""
    shape = get_de_leva_table("neutral")
    lengths = get_de_leva_table(sex)
    rows = {}
    for segment, (mass, center, radius) in _PRINTED.items():
        start, end = _ends(segment)
        # From the table's own line to the common one: x = start + (end - start) x'.
        center, radius = start + (end - start) * center, abs(end - start) * radius
        rows[segment] = SegmentRow(mass, center, _radii(radius, shape[segment]), lengths[segment].length)
    rows |= _trunk_rows(shape, lengths, shoulder_height(sex))
    return BodyTable("winter", WINTER, rows)


def _ends(segment: str) -> tuple[float, float]:
    """Winter's end points on the common line, as fractions from its proximal or cranial end."""
    if segment == "head":  # from C7 up to the ear; the common line begins at the vertex
        return 1.0, 1.0 - EAR_ABOVE_C7
    if segment == "foot":
        return ANKLE_FROM_HEEL, BALL_FROM_HEEL
    if segment == "hand":
        return 0.0, knuckle_fraction()
    return 0.0, 1.0


def _radii(transverse: float, shape: SegmentRow) -> tuple[float, float, float]:
    """All three radii, from the transverse one and the thickness of another table's segment."""
    sagittal2, transverse2, longitudinal2 = (radius**2 for radius in shape.radii)
    depth = 0.5 * (transverse2 + longitudinal2 - sagittal2)  # mean square distance front to back
    width = 0.5 * (sagittal2 + longitudinal2 - transverse2)  # and side to side
    along = transverse**2 - depth
    return math.sqrt(along + width), transverse, shape.radii[2]


def _trunk_rows(shape: BodyTable, lengths: BodyTable, shoulders: float) -> dict[str, SegmentRow]:
    total = sum(lengths[part].length for part in TRUNK)
    # Winter's centre is half-way between hips and shoulders, that of equal slabs half-way between hips and C7.
    shift = 0.5 * total - _TRUNK_CENTER * shoulders * total  # towards the hips, in statures
    return {
        part: SegmentRow(
            _TRUNK_MASS * lengths[part].length / total,
            0.5 + shift / lengths[part].length,
            shape[part].radii,
            lengths[part].length,
        )
        for part in TRUNK
    }


JENSEN = "Jensen (1986), J. Biomechanics 19(5), 359-368; Jensen (1989), J. Biomechanics 22(6/7), 529-536"
# share of the head and neck = 0.27881 - 0.021152 age + 0.00053168 age^2   [Jensen 1989, table 1]
_HEAD = (0.27881, -0.021152, 0.00053168)
_AGES = (6.0, 12.0, 18.0)
# per cent of the body's mass at 6, 12 and 18 years, one side
_SHARES = {
    "trunk": (43.0, 41.7, 44.6),
    "upperArm": (2.4, 3.2, 3.6),
    "forearm": (1.3, 1.7, 1.9),
    "hand": (0.8, 0.9, 0.9),
    "thigh": (8.5, 11.0, 11.4),
    "shank": (4.6, 5.3, 4.8),
    "foot": (1.9, 2.1, 1.7),
}


def compute_share(segment: str, age: float) -> float:
    """Jensen's share of a segment (one side) at an age from 4 to 18; the trunk's parts share its fate."""
    if segment == "head":
        return _HEAD[0] + _HEAD[1] * age + _HEAD[2] * age**2
    shares = _SHARES["trunk" if segment in TRUNK else segment]
    return 0.01 * float(np.polyval(np.polyfit(_AGES, shares, 2), age))


def grow(adult: BodyTable, age: float) -> BodyTable:
    """The table of a child of this age, out of an adult's."""
    rows = {
        segment: replace(row, mass=row.mass * compute_share(segment, age) / compute_share(segment, ADULT_AGE))
        for segment, row in adult.rows.items()
    }
    return BodyTable(adult.name, f"{adult.citation}; growth: {JENSEN}", rows)


def get_table(name: str = "deleva", sex: str = "neutral", age: float = 30.0) -> BodyTable:
    """A table for a sex and an age in years; below 18 the shares are those of a growing child (Jensen)."""
    check_sex_age(sex, age)
    tables: dict[str, Callable[[str], BodyTable]] = {"deleva": get_de_leva_table, "winter": get_winter_table}
    if name not in tables:
        raise unknown_name("body table", name, tables)
    adult = tables[name](sex)
    return grow(adult, age) if age < ADULT_AGE else adult

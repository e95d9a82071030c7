"""Segment masses, centres, radii and densities after Winter, that is Dempster: the alternative table.

D. A. Winter (2009), Biomechanics and Motor Control of Human Movement, 4th ed., Wiley, table 4.1, from W. T. Dempster
(1955), Space requirements of the seated operator, WADC-TR-55-159 (cadavers of old men; one column for both sexes).

The table differs from de Leva's in its end points and has fewer numbers; the rows are brought to the common end points
(see `anthropometry`) as follows.
  head   C7 to ear canal; the ear lies EAR_ABOVE_C7 of the way up to the vertex.
  foot   lateral malleolus to the head of metatarsal II: from ANKLE_FROM_HEEL to BALL_FROM_HEEL of the foot.
  hand   wrist to knuckle II: the fraction `deleva.knuckle_fraction()` of the hand.
  trunk  greater trochanter to shoulder, with one mass and centre for the whole. It is cut into three slabs of de
         Leva's lengths whose masses go with their lengths, moved together so that the whole's centre is Winter's.
The one radius that Winter gives is taken as the transverse one; how thick a segment is across its line, which he does
not give, is de Leva's (mean of both sexes), and so are the radii of the trunk.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from poise.body import deleva
from poise.body.anthropometry import TRUNK, BodyTable, SegmentRow
from poise.body.proportions import ANKLE_FROM_HEEL, BALL_FROM_HEEL, EAR_ABOVE_C7

CITATION = "Winter (2009), Biomechanics and Motor Control of Human Movement, table 4.1 (Dempster 1955)"

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


def get_table(sex: str) -> BodyTable:
    """Winter's rows; lengths, which he takes from elsewhere, are de Leva's for the sex."""
    shape = deleva.get_table("neutral")
    lengths = deleva.get_table(sex)
    rows = {}
    for segment, (mass, center, radius) in _PRINTED.items():
        start, end = _ends(segment)
        # From the table's own line to the common one: x = start + (end - start) x'.
        center, radius = start + (end - start) * center, abs(end - start) * radius
        rows[segment] = SegmentRow(mass, center, _radii(radius, shape[segment]), lengths[segment].length)
    rows |= _trunk_rows(shape, lengths, deleva.shoulder_height(sex))
    return BodyTable("winter", CITATION, rows)


def _ends(segment: str) -> tuple[float, float]:
    """Winter's end points on the common line, as fractions from its proximal or cranial end."""
    if segment == "head":  # from C7 up to the ear; the common line begins at the vertex
        return 1.0, 1.0 - EAR_ABOVE_C7
    if segment == "foot":
        return ANKLE_FROM_HEEL, BALL_FROM_HEEL
    if segment == "hand":
        return 0.0, deleva.knuckle_fraction()
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

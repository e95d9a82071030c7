"""How the shares of the segments change while a child grows.

R. K. Jensen (1986), Body segment mass, radius and radius of gyration proportions of children, J. Biomechanics 19(5),
359-368, and (1989), Changes in segment inertia proportions between 4 and 20 years, J. Biomechanics 22(6/7), 529-536:
boys, photographed once a year and modelled as elliptical zones.

Jensen's law is a quadratic in age. For the head and neck it is his own (1989). For the others the quadratic goes
through his shares at 6, 12 and 18 years (6 and 18 from 1989, 12 from 1986), since only these were at hand: his printed
coefficients may differ from it by a few tenths of a per cent of the body's mass. What is used is only the *ratio* of a
share to the same share at 18, by which the adult table is multiplied; so a child's segments are cut where the adult's
are, girls grow like boys, and at 18 the adult table is met without a step. Centres and radii, as fractions of the
segment's own length, stay the adult's.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from poise.body.anthropometry import ADULT_AGE, TRUNK, BodyTable

CITATION = "Jensen (1986), J. Biomechanics 19(5), 359-368; Jensen (1989), J. Biomechanics 22(6/7), 529-536"

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
    return BodyTable(adult.name, f"{adult.citation}; growth: {CITATION}", rows)

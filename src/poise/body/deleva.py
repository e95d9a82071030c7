"""Segment masses, centres and radii of gyration after de Leva: the default table.

P. de Leva (1996), Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters, J. Biomechanics 29(9), 1223-1230,
table 4; gamma-ray scans of 100 men and 15 women, of mean stature 1.741 m and 1.735 m. End points are joint centres
where the table has them (its alternative rows): head VERT-CERV, upper trunk CERV-XYPH, hand WJC-DAC3, shank KJC-AJC.
The three trunk rows then lie end to end from C7 to mid-hip, and their lengths add up to the table's own CERV-MIDH.
"""

from __future__ import annotations

from poise.body.anthropometry import BodyTable, SegmentRow, mean_rows

CITATION = "de Leva (1996), J. Biomechanics 29(9), 1223-1230, table 4"

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


def get_table(sex: str) -> BodyTable:
    """De Leva's rows for `male`, `female`, or their mean for `neutral`."""
    if sex == "neutral":
        return BodyTable("deleva", CITATION, mean_rows(_rows("male"), _rows("female")))
    return BodyTable("deleva", CITATION, _rows(sex))


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

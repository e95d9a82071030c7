"""Strengths that people measured, as their abstracts and tables print them: not the tables of `poise.body`.

Each was read where its source says. None says how heavy its people were: they stand beside the mean man and woman of
the time, 78 kg and 1.75 m, 64 kg and 1.62 m.
"""

from __future__ import annotations

from typing import NamedTuple

DELP = "Delp, Grierson, Buchanan 1996, J Biomech 29:1371 (abstract), ten men"
GALLWEY = "O'Sullivan, Gallwey 2002, J Electromyogr Kinesiol 12:275 (abstract), 24 men"
SUGIMOTO = "Sugimoto 2014, Clin J Sport Med 24:422 (abstract), 16 male and 20 female athletes"
ENDO = "Endo, Ashton-Miller, Alexander 2002, J Gerontol A 57:M392 (abstract), 20 young people, both sexes"
NECK = "Prediction of 3D maximum isometric neck strength 2014, 10.1007/s10439-014-1046-0 (abstract), nine men"
YILDIZ = "Yildiz 2003, J Sports Sci Med 2:70, table 2, nine healthy people"
SHOULDER = "Dynamic shoulder flexion strength for use in occupational risk analysis (abstract), 26 young men"
MAN, WOMAN, BOTH = "man", "woman", "both"


class Point(NamedTuple):
    """One measured torque.

    who      man, woman, or the mean of both
    what     in words;  joint, axis, sign: of the left side, and which way the torque turns
    degrees  the angle; None: where it is strongest
    speed    degrees a second along the torque; negative: stretched
    torque   N m, or N m/kg where `a_kg`;  spread: its standard deviation, None where none is given
    """

    source: str
    who: str
    what: str
    joint: str
    axis: str
    sign: int
    degrees: float | None
    speed: float
    torque: float
    spread: float | None = None
    a_kg: bool = False


POINTS = (
    Point(NECK, MAN, "neck, flexion", "neck", "x", +1, None, 0, 30.0, 6.0),
    Point(NECK, MAN, "neck, extension", "neck", "x", -1, None, 0, 51.0, 11.0),
    Point(NECK, MAN, "neck, sideways", "neck", "z", +1, None, 0, 32.0, 9.0),
    Point(NECK, MAN, "neck, turning", "neck", "y", +1, None, 0, 13.0, 5.0),
    Point(SHOULDER, MAN, "shoulder, flexion", "leftUpperArm", "x", -1, 0, 0, 89.9),
    Point(SHOULDER, MAN, "shoulder, flexion", "leftUpperArm", "x", -1, -45, 0, 68.6),
    Point(SHOULDER, MAN, "shoulder, flexion", "leftUpperArm", "x", -1, -45, 50, 46.9),
    Point(SHOULDER, MAN, "shoulder, flexion", "leftUpperArm", "x", -1, -45, -50, 75.3),
    Point(GALLWEY, MAN, "forearm, supination", "leftLowerArm", "y", +1, -60, 0, 16.2),
    Point(GALLWEY, MAN, "forearm, pronation", "leftLowerArm", "y", -1, 0, 0, 13.1),
    Point(DELP, MAN, "wrist, flexion", "leftHand", "z", -1, -40, 0, 12.2, 3.7),
    Point(DELP, MAN, "wrist, extension", "leftHand", "z", +1, -30, 0, 7.1, 2.1),
    Point(DELP, MAN, "wrist, extension", "leftHand", "z", +1, 70, 0, 7.1, 2.1),
    Point(DELP, MAN, "wrist, to the thumb", "leftHand", "x", -1, None, 0, 11.0, 2.0),
    Point(DELP, MAN, "wrist, to the little finger", "leftHand", "x", +1, None, 0, 9.5, 2.2),
    Point(SUGIMOTO, MAN, "hip, abduction, a kg", "leftUpperLeg", "z", +1, None, 60, 1.29, 0.24, True),
    Point(SUGIMOTO, WOMAN, "hip, abduction, a kg", "leftUpperLeg", "z", +1, None, 60, 1.13, 0.20, True),
    *(
        Point(YILDIZ, MAN, "ankle, eversion", "leftFoot", "z", +1, -degrees, -120, torque, spread)
        for degrees, torque, spread in (
            (0, 32.8, 4.9), (5, 34.7, 5.2), (10, 36.7, 5.5), (15, 37.6, 5.7), (20, 32.8, 6.0)
        )
    ),
    *(
        Point(YILDIZ, MAN, "ankle, inversion", "leftFoot", "z", -1, -degrees, 120, torque, spread)
        for degrees, torque, spread in (
            (0, 20.9, 4.3), (5, 17.6, 4.5), (10, 15.3, 5.0), (15, 11.4, 4.8), (20, 8.3, 4.4)
        )
    ),
    Point(ENDO, BOTH, "toes, down", "leftToes", "x", +1, None, 0, 19.0, 6.8),
)  # fmt: skip

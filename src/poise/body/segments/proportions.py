"""Lengths of a human body as fractions of its stature, and the T-pose skeleton they make.

Sources
  legs      R. Drillis, R. Contini (1966), Body segment parameters, NYU TR 1166-03, as in Winter (2009), fig 4.1: ankle
            0.039, knee 0.285 and hip 0.530 of the stature above the floor.
  above     de Leva (1996), table 4: trunk C7 to mid-hip in three parts and head C7 to vertex, in their proportion,
            scaled to the 0.470 that are left (as printed they overshoot it by 3 %, being measured along the body).
  arms      de Leva (1996): upper arm, forearm, hand; shoulder height 0.85 (men) and 0.81 (women) of the trunk.
  breadths  shoulders: half the biacromial breadth, 0.237 (men) and 0.224 (women) of the stature, ANSUR II (Gordon et
            al. 2014, NATICK/TR-15/007). Hip joints: 0.36 of the breadth between the iliac spines from the middle (Bell,
            Pedersen, Brand 1990, J. Biomechanics 23(6), 617-621), that breadth being 0.137 of the stature.
  head      ear canal and skull joint 0.074 of the stature below the vertex (ANSUR II, tragion to top of head).
  foot      length after de Leva; heel 0.2255 of it behind the ankle, ball at 0.673 from the heel: the feet of
            Rajagopal et al. (2016), IEEE Trans. Biomed. Eng. 63(10), 2068-2079.

Children (below 18): the head grows least and the legs most. Everything above the hips is scaled by sitting height over
stature (after Hawkes et al. 2020, J. Pediatrics 226, 221-227: NHANES III, both sexes, only to the nearest 0.005), the
head inside that by Stratz's canon of stature in head heights (4 at birth, 5 at 2, 6 at 6, 7 at 12, 7.5 grown; Bogin
(1999), Patterns of Human Growth). The legs take what is left; arms, breadths and feet keep the adult's fraction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from poise.body.roles import BODY_ROLES, SIDES
from poise.body.segments import tables
from poise.body.segments.tables import (
    ADULT_AGE,
    ANKLE_FROM_HEEL,
    BALL_FROM_HEEL,
    EAR_ABOVE_C7,
    TRUNK,
    BodyTable,
    check_sex_age,
)
from poise.body.skeleton import Skeleton

ANKLE_HEIGHT = 0.039  # of the stature
KNEE_HEIGHT = 0.285
HIP_HEIGHT = 0.530
HIP_JOINT_OFFSET = 0.36 * 0.137  # from the middle, of the stature
BIACROMIAL = {"male": 0.237, "female": 0.224, "neutral": 0.2305}
BALL_HEIGHT = 0.3  # of the ankle's height
CLAVICLE_START = 0.1  # of the shoulder's distance from the middle
_AGES = (4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0)
_SITTING_HEIGHT = (0.555, 0.545, 0.530, 0.525, 0.520, 0.515, 0.520, 0.525)
_CANON_AGES = (2.0, 6.0, 12.0, 18.0)
_CANON_HEADS = (5.0, 6.0, 7.0, 7.5)


@dataclass(frozen=True)
class Proportions:
    """Lengths as fractions of the stature; vertex to floor is 1.

    trunk        mid-hip to C7, and `trunk_parts` of it: omphalion and xiphion as fractions of its length from the hips
    shoulder     height of the shoulder joints, a fraction of the trunk's length from the hips
    """

    ankle: float
    shank: float
    thigh: float
    trunk: float
    trunk_parts: tuple[float, float]
    head: float
    skull: float
    shoulder: float
    shoulder_offset: float
    hip_offset: float
    upper_arm: float
    forearm: float
    hand: float
    foot: float

    @property
    def hip(self) -> float:
        """Height of the hip joints above the floor."""
        return self.ankle + self.shank + self.thigh


@lru_cache(maxsize=64)
def compute_proportions(sex: str = "neutral", age: float = 30.0) -> Proportions:
    """The proportions of a body of this sex and age in years."""
    check_sex_age(sex, age)
    table = tables.get_de_leva_table(sex)
    above, head_growth = _grow(age)
    trunk_to_head = sum(table[part].length for part in TRUNK) / table["head"].length
    head = head_growth * (1.0 - HIP_HEIGHT) / (1.0 + trunk_to_head)
    trunk = above - head
    legs = (1.0 - above) / HIP_HEIGHT
    return Proportions(
        ankle=legs * ANKLE_HEIGHT,
        shank=legs * (KNEE_HEIGHT - ANKLE_HEIGHT),
        thigh=legs * (HIP_HEIGHT - KNEE_HEIGHT),
        trunk=trunk,
        trunk_parts=trunk_levels(table),
        head=head,
        skull=(1.0 - EAR_ABOVE_C7) * head,
        shoulder=tables.shoulder_height(sex),
        shoulder_offset=0.5 * BIACROMIAL[sex],
        hip_offset=HIP_JOINT_OFFSET,
        upper_arm=table["upperArm"].length,
        forearm=table["forearm"].length,
        hand=table["hand"].length,
        foot=table["foot"].length,
    )


def trunk_levels(table: BodyTable) -> tuple[float, float]:
    """Omphalion and xiphion on the line from mid-hip to C7, as fractions from the hips."""
    upper, middle, lower = (table[part].length for part in TRUNK)
    total = upper + middle + lower
    return lower / total, (lower + middle) / total


def build_skeleton(height: float, proportions: Proportions, roles: tuple[str, ...]) -> Skeleton:
    """A T-pose of this height with these roles as joints: arms along x, palms down, toes forward, soles at y = 0.

    Roles that are left out give their place to the joint before them: without a neck the head turns about C7, without
    toes the foot reaches to the toe tip.
    """
    places, parents, tips = _place_joints(proportions)
    if "neck" not in roles:
        places["head"] = places["neck"]
        tips["head"] = tips["head"] + np.array([0.0, proportions.head - proportions.skull, 0.0])
    for side in SIDES:
        if side + "Toes" not in roles:
            tips[side + "Foot"] = places[side + "Toes"] + tips[side + "Toes"] - places[side + "Foot"]
    names = tuple(role for role in BODY_ROLES if role in roles)  # depth first, the order in which a BVH lists joints
    indices, offsets = [], []
    for role in names:
        parent = parents[role]
        while parent is not None and parent not in roles:
            parent = parents[parent]
        indices.append(-1 if parent is None else names.index(parent))
        offsets.append(places[role] if parent is None else places[role] - places[parent])
    return Skeleton(
        names,
        np.array(indices),
        height * np.array(offsets),
        height * np.array([tips.get(role, np.full(3, np.nan)) for role in names]),
        {role: role for role in names},
    )


def _place_joints(p: Proportions) -> tuple[dict[str, np.ndarray], dict[str, str | None], dict[str, np.ndarray]]:
    """Where each role's joint is, its parent, and its tip, in statures, for the whole body."""
    omphalion, xiphion = p.trunk_parts
    heights = {
        "hips": p.hip,
        "spine": p.hip + omphalion * p.trunk,
        "chest": p.hip + xiphion * p.trunk,
        "upperChest": p.hip + 0.5 * (xiphion + 1.0) * p.trunk,
        "neck": p.hip + p.trunk,
        "head": 1.0 - p.skull,
    }
    places = {role: np.array([0.0, y, 0.0]) for role, y in heights.items()}
    roles = list(heights)
    parents: dict[str, str | None] = {"hips": None, **dict(zip(roles[1:], roles[:-1], strict=True))}
    tips = {"head": np.array([0.0, p.skull, 0.0])}
    shoulder_y = p.hip + p.shoulder * p.trunk
    for side, x in zip(SIDES, (1.0, -1.0), strict=True):
        arm = [CLAVICLE_START * p.shoulder_offset, p.shoulder_offset]
        arm += [arm[1] + p.upper_arm, arm[1] + p.upper_arm + p.forearm]
        limb = {stem: (x * at, shoulder_y, 0.0) for stem, at in zip(_ARM, arm, strict=True)}
        heights_of_leg = (p.hip, p.ankle + p.shank, p.ankle)
        limb |= {stem: (x * p.hip_offset, y, 0.0) for stem, y in zip(_LEG, heights_of_leg, strict=False)}
        limb["Toes"] = (x * p.hip_offset, BALL_HEIGHT * p.ankle, (BALL_FROM_HEEL - ANKLE_FROM_HEEL) * p.foot)
        places |= {side + stem: np.array(place) for stem, place in limb.items()}
        parents |= _chain(side, _ARM, "upperChest") | _chain(side, _LEG, "hips")
        tips[side + "Hand"] = np.array([x * p.hand, 0.0, 0.0])
        tips[side + "Toes"] = np.array([0.0, 0.0, (1.0 - BALL_FROM_HEEL) * p.foot])
    return places, parents, tips


_ARM = ("Shoulder", "UpperArm", "LowerArm", "Hand")
_LEG = ("UpperLeg", "LowerLeg", "Foot", "Toes")


def _chain(side: str, stems: tuple[str, ...], root: str) -> dict[str, str | None]:
    roles = [side + stem for stem in stems]
    return dict(zip(roles, [root, *roles[:-1]], strict=True))


def _grow(age: float) -> tuple[float, float]:
    """What lies above the hips as a fraction of the stature, and the head's growth beyond an adult's."""
    if age >= ADULT_AGE:
        return 1.0 - HIP_HEIGHT, 1.0
    sitting = float(np.interp(age, _AGES, _SITTING_HEIGHT)) / _SITTING_HEIGHT[-1]
    heads = float(np.interp(age, _CANON_AGES, _CANON_HEADS)) / _CANON_HEADS[-1]
    return (1.0 - HIP_HEIGHT) * sitting, 1.0 / heads

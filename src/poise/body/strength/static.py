"""Static strength: the largest torque that people hold without moving, joint by joint (W13).

One number a joint, of the direction in which it is strongest, for the shoulder of lifting: enough to say what share of
somebody's strength a motion or a load asks for. `joint_strength.py` says what angle, speed and direction change about
it.

    tau = c m' g h        [Anderson, Madigan and Nussbaum 2007: strength over weight and stature]

c    a joint's share, by role, sex and age: `_SHARES`
m'   kg, the mass that has the muscle of this body: its own, but of what it weighs above the mean of its height, sex and
     age only a third counts
g h  9.81 m/s2 and the stature, m

A fat body is thus little stronger than one of mean weight. Children follow by their size; girls and boys are alike
before puberty.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from poise.body.character import Character
from poise.body.segments.stature import estimate_mass
from poise.body.segments.tables import ADULT_AGE
from poise.body.skeleton import Skeleton
from poise.errors import InputError

# Man and woman that absolute figures are divided by: weight times stature, N m, of 78 kg and 1.75 m, 64 kg and 1.62 m:
# means of adults in the United States around 1980 (NHANES II; from memory).
MAN, WOMAN = 78.0 * 9.81 * 1.75, 64.0 * 9.81 * 1.62
# c of a man and a woman of 25, by the role without its side.
# Hip, knee, ankle: Anderson, Madigan, Nussbaum (2007), J Biomech 40:3105, table 3, C1 of hip extension, knee extension
#   and plantar flexion at 18-25 years (read in RBDL's copy of the table).
# Trunk: extension of the bent back, 355 and 213 N m of 70 men of 49 years and 30 women of 48 (J Korean Acad Rehabil Med
#   21:1, 1997), by the decline below 411 and 229 at 25. The same muscles pass all trunk joints.
# Elbow: medians of Stobbe (1982) as printed in Chaffin, Andersson, Martin, Occupational Biomechanics: flexion 77 and
#   41 N m (from memory).
# Shoulder: 68.6 N m, static flexion at 45 degrees of 26 young men; women half (abstract of a study of dynamic shoulder
#   flexion by 25 women and 26 men). Stobbe's abduction, 71 and 37 N m, agrees (from memory). No one has measured the
#   clavicle's joint in newton metres: it passes on the arm's weight, so it is taken to be as strong as the shoulder.
# Wrist: Delp, Grierson, Buchanan (1996), J Biomech 29:1371: peak flexion 12.2 N m of ten men; women 0.64 of men, as in
#   J Funct Morphol Kinesiol 10:377 (2025).
# Neck: Ann Biomed Eng (2014), 10.1007/s10439-014-1046-0: extension 51 N m of nine men. Women 0.4 of that: Vasavada,
#   Li, Delp (2001), Spine 26:1904, 52 and 21 N m (from memory); 191 N at the head of 220 women of Jyvaskyla fits.
# Toes: Endo, Ashton-Miller, Alexander (2002), J Gerontol A 57:M392: 20.2 and 12.3 N m over young and old together,
#   of which the young have 19.0 / 16.25 times as much.
_SHARES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "spine": (411.0 / MAN, 229.0 / WOMAN),
        "neck": (51.0 / MAN, 21.0 / WOMAN),
        "UpperArm": (68.6 / MAN, 34.3 / WOMAN),
        "LowerArm": (77.0 / MAN, 41.0 / WOMAN),
        "Hand": (12.2 / MAN, 0.64 * 12.2 / WOMAN),
        "UpperLeg": (0.161, 0.181),
        "LowerLeg": (0.163, 0.159),
        "Foot": (0.095, 0.104),
        "Toes": (1.17 * 20.2 / MAN, 1.17 * 12.3 / WOMAN),
    }
)
_SAME = MappingProxyType({"chest": "spine", "upperChest": "spine", "head": "neck", "Shoulder": "UpperArm"})
# Danneskiold-Samsoe et al. (2009), Acta Physiol 197 suppl 673: strength falls in a line from 25 years in men, from 40
# in women, to 54-89 % and 48-92 % at 75. Here to the middle of these, and on.
_DECLINE = {"male": (25.0, 0.715), "female": (40.0, 0.70)}
_OLD = 75.0
_LEAST = 0.4  # of a young adult's, however old
# Years. Holm et al. (2008), Acta Paediatr 97:602: no difference between the sexes from 7 to 11.
_PUBERTY = 11.0
# A quarter of what is gained in weight is lean (Heymsfield et al. 2014, Obes Rev 15:310, "quarter FFM rule"), against
# three quarters of a body of mean weight.
_EXCESS = 1.0 / 3.0
_UNEVEN = 10.0  # how much harder or easier than the mean a joint is turned at most


def static_strength(character: Character) -> np.ndarray:
    """(J,) N m, the static strength of each joint of a character; inf where nothing is known of it.

    Joints without a role (twist bones, extra vertebrae) are as strong as the nearest joint with one on their way to the
    root. Fingers, jaw, eyes, the root and all joints of a body without roles have no figure.
    """
    weight = find_leverage(character)
    return np.array([weight * _share(role, character) for role in _nearest_roles(character.skeleton)])


def find_stiffness(character: Character, shares: Mapping[str, float] | None = None) -> dict[str, float]:
    """Joint name -> how much harder than others it is turned, by its strength: for `PoseSolver`.   [balance, 1]

    shares  joint or role -> its strength beside what is usual: 0.5 half as strong, 0 not turned at all

    The strong turn more readily: 1 / strength, 1 for the geometric mean of all, at most a factor of `_UNEVEN` off it.
    Joints whose strength is not known have 1.
    """
    strength, skeleton = static_strength(character), character.skeleton
    known = np.isfinite(strength) & np.isin(skeleton.names, list(character.freedoms))
    mean = float(np.exp(np.mean(np.log(strength[known])))) if known.any() else 1.0
    hard = {
        skeleton.names[i]: float(np.clip(mean / strength[i], 1.0 / _UNEVEN, _UNEVEN)) for i in np.flatnonzero(known)
    }
    for joint, share in (shares or {}).items():
        name = skeleton.names[skeleton.index(joint)]
        if not share >= 0.0:
            raise InputError(f"the strength of '{joint}' is {share:g} of the usual; it is 0 or more.")
        hard[name] = hard.get(name, 1.0) / share if share > 0.0 else np.inf
    return hard


def _share(role: str | None, character: Character) -> float:
    """C for a role with its side, or inf."""
    stem = (role or "").removeprefix("left").removeprefix("right")
    row = _SHARES.get(_SAME.get(stem, stem))
    if row is None:
        return np.inf
    sexes = dict(zip(("male", "female"), row, strict=True))
    shares = [sexes[sex] * age_factor(sex, character.age) for sex in ("male", "female")]
    return blend_sexes(shares[0], shares[1], character)


def blend_sexes(man: float, woman: float, character: Character) -> float:
    """What a man and a woman of the character's age have, for its own sex and age."""
    # Before puberty both are as girls grow up to be: what men have more of comes with it.
    grown = min(max((character.age - _PUBERTY) / (ADULT_AGE - _PUBERTY), 0.0), 1.0)
    boy = woman + grown * (man - woman)
    return {"male": boy, "female": woman, "neutral": 0.5 * (boy + woman)}[character.sex]


def find_leverage(character: Character) -> float:
    """N m, m' g h: what the shares of strength are shares of."""
    return _muscular_mass(character) * 9.81 * character.height


def age_factor(sex: str, age: float) -> float:
    """What is left of a young adult's strength at an age (years)."""
    begin, share = _DECLINE[sex]
    return max(_LEAST, 1.0 - (1.0 - share) * max(age - begin, 0.0) / (_OLD - begin))


def _muscular_mass(character: Character) -> float:
    """kg."""
    mean = estimate_mass(character.height, character.sex, character.age)
    return min(character.mass, mean) + _EXCESS * max(character.mass - mean, 0.0)


def _nearest_roles(skeleton: Skeleton) -> list[str | None]:
    """For every joint its role, or that of the nearest joint above which has one; the root has none."""
    role_of = {name: role for role, name in skeleton.roles.items()}
    roles: list[str | None] = []
    for i, name in enumerate(skeleton.names):
        above = roles[skeleton.parents[i]] if i else None
        roles.append(role_of.get(name, above) if i else None)
    return roles

"""How tall a skeleton's body is, and how heavy a body of that height.

The stature is the sum of bone lengths from sole to vertex, so that it does not depend on the pose: shank, thigh,
mid-hip to neck, neck to head, head to vertex. What a skeleton does not have (the height of the ankle over the sole, the
skull above a head joint without an end site) is a fraction of the stature, and the sum is solved for it.

A skeleton of the legs alone, or of the arms, has no head to measure up to: its stature is estimated from what it has,
by the same proportions, and `find_stature` says so.

Some files lose the length of a bone that has two children: in the CMU recordings as BVH the thorax has none, and the
neck sits below the shoulders. There the neck is taken to be where the height of the shoulders says it is.
"""

from __future__ import annotations

import numpy as np

from poise.body.role_finding.guess import check_human, with_roles
from poise.body.roles import LEG_STEMS, SIDES, sided
from poise.body.segments.proportions import ANKLE_HEIGHT, compute_proportions
from poise.body.segments.tables import ADULT_AGE, check_sex_age
from poise.body.skeleton import Skeleton
from poise.errors import InputError

# Mean body mass index of the world's men and women, 2014, kg/m2: NCD Risk Factor Collaboration (2016), Lancet 387.
ADULT_BMI = {"male": 24.2, "female": 24.4}
# Median body mass index of children, kg/m2: CDC growth charts for the United States (2000), BMI for age.
_BMI_AGES = (4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0)
_CHILD_BMI = {
    "male": (15.6, 15.4, 15.8, 16.6, 17.8, 19.1, 20.5, 21.8),
    "female": (15.3, 15.2, 15.8, 16.8, 18.1, 19.4, 20.5, 21.2),
}
# From the youth's index at 18 to the grown-ups' mean, which middle age has raised.
_GROWN_AGE = 25.0
STATURES = (0.3, 3.0)
MEASURED, STATED = "measured", "stated by the file"
_LEGS = sided(LEG_STEMS[:3])
# A head's joint this much higher over the hips than the neck's base should be is at the skull: half-way, about.
_SKULL_LIMIT = 1.1


def estimate_stature(skeleton: Skeleton) -> float:
    """The stature in metres of the body that a skeleton is of, from its rest bone lengths."""
    skeleton = with_roles(skeleton)
    check_human(skeleton)
    stature, _ = _measure_body(skeleton)
    if not STATURES[0] <= stature <= STATURES[1]:
        raise InputError(
            f"the skeleton's body would be {stature:.3g} m tall; {STATURES[0]:g} to {STATURES[1]:g} m are expected. "
            "Give the height, or scale the skeleton (is its length unit right?)."
        )
    return stature


def find_stature(skeleton: Skeleton) -> tuple[float, str] | None:
    """The stature, in the skeleton's own unit, and how it is known; None where neither leg nor arm is there.

    "measured" is from sole to vertex along the bones; "estimated from ..." names the bones that there are.
    """
    skeleton = with_roles(skeleton)
    usual = compute_proportions()
    if all(skeleton.find_role(role) is not None for role in ("hips", *_LEGS)):
        stature, above = _measure_body(skeleton)
        if skeleton.find_role("head") is not None:
            return stature, MEASURED
        return stature, "estimated from the legs" + (" and the trunk" if above > 0.0 else "")
    for part, stems, fraction in (
        ("leg", ("UpperLeg", "LowerLeg", "Foot"), usual.thigh + usual.shank),
        ("arm", ("UpperArm", "LowerArm", "Hand"), usual.upper_arm + usual.forearm),
    ):
        lengths = [length for side in SIDES if (length := _measure_limb(skeleton, side, stems)) > 0.0]
        if lengths:
            return sum(lengths) / len(lengths) / fraction, f"estimated from the {part}{'s' if len(lengths) > 1 else ''}"
    return None


def _measure_body(skeleton: Skeleton) -> tuple[float, float]:
    """The stature by legs and what is above them, and how much of it is above the hips."""
    above, missing = _measure_above_hips(skeleton)
    return (_measure_legs(skeleton) + above) / (1.0 - (missing + ANKLE_HEIGHT)), above


def _measure_limb(skeleton: Skeleton, side: str, stems: tuple[str, ...]) -> float:
    """From a limb's first joint along the others to its last; 0 where it has not all of them."""
    joints = [skeleton.find_role(side + stem) for stem in stems]
    there = [joint for joint in joints if joint is not None]
    if len(there) < len(stems):
        return 0.0
    bones = np.diff(skeleton.rest_positions()[there], axis=0)
    return float(np.linalg.norm(bones, axis=1).sum())


def _measure_legs(skeleton: Skeleton) -> float:
    """Metres from ankle to hip, the mean of both sides."""
    bones = [skeleton.index(side + stem) for side in SIDES for stem in ("UpperLeg", "LowerLeg", "Foot")]
    hips, knees, ankles = (skeleton.rest_positions()[bones[k::3]] for k in range(3))
    return 0.5 * float(np.sum(np.linalg.norm(hips - knees, axis=1) + np.linalg.norm(knees - ankles, axis=1)))


def _measure_above_hips(skeleton: Skeleton) -> tuple[float, float]:
    """Metres from mid-hip to the vertex as far as the skeleton goes, and what it lacks as a fraction of the stature."""
    usual = compute_proportions()
    top = find_trunk_top(skeleton)
    if top is None:
        return 0.0, usual.trunk + usual.head
    trunk = float(np.linalg.norm(top - find_mid_hip(skeleton)))
    head = skeleton.find_role("head")
    if head is None:
        return trunk, usual.head
    base = top if _is_neck_placed(skeleton) else find_neck_base(skeleton)
    neck = float(np.linalg.norm(skeleton.rest_positions()[head] - base))
    vertex = find_vertex(skeleton, head)
    if vertex is None:
        return trunk + neck, usual.skull if neck > 0.0 else usual.head
    return trunk + neck + float(np.linalg.norm(vertex)), 0.0


def find_trunk_top(skeleton: Skeleton) -> np.ndarray | None:
    """(3,) m, where the trunk ends and the neck begins in the rest pose; None where there is neither neck nor head.

    That is the neck's joint, or the head's. The shoulders' height tells where a neck's joint is too low to be true (see
    above) and where a head without a neck turns at the skull, not at the neck's base.
    """
    neck, head = skeleton.find_role("neck"), skeleton.find_role("head")
    base = head if neck is None else neck
    if base is None:
        return None
    rest = skeleton.rest_positions()
    mid_hip = find_mid_hip(skeleton)
    line = rest[base] - mid_hip
    length = float(np.linalg.norm(line))
    arms = [skeleton.find_role(side + "UpperArm") for side in SIDES]
    heights = [float((rest[arm] - mid_hip) @ line) / length for arm in arms if arm is not None and length > 0.0]
    if not heights:
        return np.asarray(rest[base])
    expected = sum(heights) / len(heights) / compute_proportions().shoulder
    too_low = max(heights) > length
    at_skull = neck is None and length > _SKULL_LIMIT * expected > 0.0
    return np.asarray(mid_hip + expected / length * line if too_low or at_skull else rest[base])


def _is_neck_placed(skeleton: Skeleton) -> bool:
    """Whether the neck is where the trunk's last bone ends, or that bone was lost and all above it sits too low."""
    neck = skeleton.find_role("neck")
    return neck is None or float(np.linalg.norm(skeleton.offsets[neck])) > 0.0


def find_mid_hip(skeleton: Skeleton) -> np.ndarray:
    """(3,) m, the middle between the hip joints in the rest pose."""
    rest = skeleton.rest_positions()
    left, right = (rest[skeleton.index(side + "UpperLeg")] for side in SIDES)
    return np.asarray(0.5 * (left + right))


def find_neck_base(skeleton: Skeleton) -> np.ndarray | None:
    """(3,) m, where the neck begins in the rest pose: its joint, or the top of the trunk where it has none."""
    neck = skeleton.find_role("neck")
    return find_trunk_top(skeleton) if neck is None else np.asarray(skeleton.rest_positions()[neck])


def find_vertex(skeleton: Skeleton, head: int) -> np.ndarray | None:
    """(3,) m, from the head's joint to the top of the head in the rest pose, or None where the file does not say.

    Eyes, jaw and other joints in front do not count: a vertex lies within 60 degrees of the way from the hips up.
    """
    rest = skeleton.rest_positions()
    up = rest[head] - rest[skeleton.index("hips")]
    ends = [rest[i] - rest[head] for i in skeleton.descendants(head)[1:]]
    ends += [rest[i] + skeleton.tips[i] - rest[head] for i in skeleton.descendants(head) if skeleton.has_tip[i]]
    heights = [float(end @ up) for end in ends]
    if not heights:
        return None
    top = ends[int(np.argmax(heights))]
    length = float(np.linalg.norm(top))
    if length < 0.05 * float(np.linalg.norm(up)) or max(heights) < 0.5 * length * float(np.linalg.norm(up)):
        return None
    return np.asarray(top)


def estimate_mass(height: float, sex: str = "neutral", age: float = 30.0) -> float:
    """The mass in kg of an average body of this height in metres: height^2 times the index of its sex and age."""
    check_sex_age(sex, age)
    sexes = ("male", "female") if sex == "neutral" else (sex,)
    return height**2 * sum(_body_mass_index(each, age) for each in sexes) / len(sexes)


def _body_mass_index(sex: str, age: float) -> float:
    if age < ADULT_AGE:
        return float(np.interp(age, _BMI_AGES, _CHILD_BMI[sex]))
    return float(np.interp(age, (ADULT_AGE, _GROWN_AGE), (_CHILD_BMI[sex][-1], ADULT_BMI[sex])))

"""The words of a human body: VRM 1.0's roles, the parts they make up, left and right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from poise.errors import unknown_name

SIDES = ("left", "right")
TRUNK_ROLES = ("spine", "chest", "upperChest")
ARM_STEMS = ("Shoulder", "UpperArm", "LowerArm", "Hand")
LEG_STEMS = ("UpperLeg", "LowerLeg", "Foot", "Toes")
FINGER_BONES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Thumb": ("Metacarpal", "Proximal", "Distal"),
        **dict.fromkeys(("Index", "Middle", "Ring", "Little"), ("Proximal", "Intermediate", "Distal")),
    }
)
FINGER_STEMS = tuple(finger + bone for finger, bones in FINGER_BONES.items() for bone in bones)


def sided(stems: Iterable[str], sides: Iterable[str] = SIDES) -> tuple[str, ...]:
    """The roles of these stems on these sides: `UpperLeg` to `leftUpperLeg`, `rightUpperLeg`."""
    return tuple(side + stem for side in sides for stem in stems)


# The humanoid bones of VRM 1.0 (VRMC_vrm-1.0, humanoid.md), the body before eyes, jaw and fingers.
BODY_ROLES = ("hips", *TRUNK_ROLES, "neck", "head", *sided(ARM_STEMS), *sided(LEG_STEMS))
ROLES = (*BODY_ROLES, "leftEye", "rightEye", "jaw", *sided(FINGER_STEMS))
BODY = "body"  # the part that is all of it, the root and joints without a role too
PARTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "trunk": TRUNK_ROLES,
        "head": ("neck", "head", "leftEye", "rightEye", "jaw"),
        "arms": sided((*ARM_STEMS, *FINGER_STEMS)),
        "leftArm": sided((*ARM_STEMS, *FINGER_STEMS), ["left"]),
        "rightArm": sided((*ARM_STEMS, *FINGER_STEMS), ["right"]),
        "legs": sided(LEG_STEMS),
        "leftLeg": sided(LEG_STEMS, ["left"]),
        "rightLeg": sided(LEG_STEMS, ["right"]),
        BODY: ROLES,
        "upperBody": tuple(role for role in ROLES if role != "hips" and role not in sided(LEG_STEMS)),
    }
)


def mirror_role(role: str) -> str:
    """The same role on the other side: `leftHand` to `rightHand`; a role of the middle is its own mirror."""
    for side, other in (SIDES, SIDES[::-1]):
        if role.startswith(side):
            return other + role.removeprefix(side)
    return role


def find_part(name: str) -> tuple[str, ...]:
    """The roles of a part, e.g. `leftArm`."""
    try:
        return PARTS[name]
    except KeyError:
        raise unknown_name("part", name, PARTS) from None

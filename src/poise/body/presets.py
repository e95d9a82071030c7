"""Ready-made bodies: which joints a human has and how they turn, one preset a paper, and one with everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from poise.body.freedoms import ANATOMICAL, BALLS
from poise.body.roles import BODY_ROLES, sided
from poise.errors import unknown_name

_LIMBS = sided(("UpperArm", "LowerArm", "Hand", "UpperLeg", "LowerLeg", "Foot"))
_TOES = sided(["Toes"])


@dataclass(frozen=True)
class Preset:
    """The joints of a body and the axes each turns about (see `freedoms`)."""

    summary: str
    roles: tuple[str, ...]
    axes: Mapping[str, str]


PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        # 15 segments, 14 joints: pelvis, one trunk, head, and three segments a limb.   [mix, section 3.1]
        "mix": Preset("15 segments, 14 joints, 34 degrees of freedom", ("hips", "spine", "head", *_LIMBS), ANATOMICAL),
        # 18 segments, 17 joints, 39 degrees of freedom.   [strength, fig 2]
        "strength": Preset(
            "18 segments, 17 joints, 39 degrees of freedom",
            ("hips", "spine", "chest", "head", *_LIMBS, *_TOES),
            ANATOMICAL,
        ),
        # 16 ball joints, 48 degrees of freedom besides the pelvis's.   [tracking]
        "tracking": Preset(
            "17 segments, 16 ball joints, 48 degrees of freedom",
            ("hips", "spine", "chest", "neck", "head", *_LIMBS),
            BALLS,
        ),
        "full": Preset("every VRM body role, clavicles and toes included", BODY_ROLES, ANATOMICAL),
    }
)


def get_preset(name: str) -> Preset:
    """A preset by name: mix, strength, tracking or full."""
    try:
        return PRESETS[name]
    except KeyError:
        raise unknown_name("preset", name, PRESETS) from None

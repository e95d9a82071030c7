"""Poses to begin at, where the way from the given one ends short: an arm that is up, or a knee that is bent the other
way round an obstacle of its own ranges, is another optimum. Angles are those of `body.limits`, in degrees below.
"""

from __future__ import annotations

import numpy as np

from poise.ik.figure import Figure

_X, _Y, _Z = 0, 1, 2
_TRUNK = ("spine", "chest", "upperChest")
_BOTH = ("left", "right")

# What is turned by how much; stems stand for both sides, "trunk" for what of the trunk there is, in equal parts
_STARTS: tuple[tuple[tuple[str, int, float], ...], ...] = (
    (  # crouching, arms ahead
        ("UpperLeg", _X, -85), ("LowerLeg", _X, 100), ("Foot", _X, -25), ("trunk", _X, 35), ("UpperArm", _X, -60),
        ("LowerArm", _X, -20),
    ),
    (  # bowing, arms hanging
        ("UpperLeg", _X, -60), ("LowerLeg", _X, 15), ("trunk", _X, 60), ("UpperArm", _X, -80), ("LowerArm", _X, -10),
    ),
    (("UpperArm", _X, -165), ("LowerArm", _X, -15), ("trunk", _X, -10), ("LowerLeg", _X, 5)),  # arms up
    (  # turned to the left, knees bent
        ("trunk", _Y, 50), ("UpperLeg", _X, -30), ("LowerLeg", _X, 45), ("Foot", _X, -15), ("UpperArm", _X, -60),
        ("LowerArm", _X, -30),
    ),
    (  # and to the right
        ("trunk", _Y, -50), ("UpperLeg", _X, -30), ("LowerLeg", _X, 45), ("Foot", _X, -15), ("UpperArm", _X, -60),
        ("LowerArm", _X, -30),
    ),
    (  # bent to the left, arms out
        ("trunk", _Z, -30), ("UpperLeg", _X, -20), ("LowerLeg", _X, 30), ("UpperArm", _Z, 80), ("LowerArm", _X, -20),
    ),
    (  # and to the right
        ("trunk", _Z, 30), ("UpperLeg", _X, -20), ("LowerLeg", _X, 30), ("UpperArm", _Z, 80), ("LowerArm", _X, -20),
    ),
    (("UpperLeg", _X, -45), ("LowerLeg", _X, 70), ("trunk", _X, -20), ("UpperArm", _X, 40)),  # leaning back
)  # fmt: skip


def find_starts(figure: Figure) -> np.ndarray:
    """(S, J, 3) rad: angles of all joints, in their ranges."""
    character = figure.character
    roles, index = character.skeleton.roles, character.skeleton.index
    out = np.zeros((len(_STARTS), len(character.skeleton), 3))
    trunk = [role for role in _TRUNK if role in roles]
    for row, start in zip(out, _STARTS, strict=True):
        for stem, axis, degrees in start:
            named = trunk if stem == "trunk" else [side + stem for side in _BOTH if side + stem in roles]
            for role in named:
                share = len(trunk) if stem == "trunk" else 1
                sign = -1.0 if axis == _Z and role.startswith("right") else 1.0
                row[index(role), axis] = sign * np.radians(degrees) / share
        for i, name in enumerate(character.skeleton.names):
            if figure.arrays.turns[i]:
                ends = character.limits[name]
                row[i] = np.clip(row[i], ends.lower, ends.upper)
    return out

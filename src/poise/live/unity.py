"""Unity's axes and names, as VMC has them.

Unity's axes are left-handed: y up, a body faces +z and its left is -x. Poise's are right-handed with its left +x
(`docs/conventions.md`), so x changes its sign, and a rotation its y and z: it is seen in a mirror.

    p_unity = (-x, y, z)        q_unity = (x, -y, -z, w)  of  q = (w, x, y, z)

Bones are called as Unity's HumanBodyBones: as VRM 1.0's with a capital, but for the thumb, whose first bone is VRM's
metacarpal. A bone's rotation is against its carrier's, and none in a T-pose.
"""

from __future__ import annotations

import numpy as np

_THUMB = {"ThumbMetacarpal": "ThumbProximal", "ThumbProximal": "ThumbIntermediate"}


def to_unity_place(place: np.ndarray) -> np.ndarray:
    """(..., 3) m; the way back is the same."""
    return np.asarray(place, float) * (-1.0, 1.0, 1.0)


def to_unity_turn(turn: np.ndarray) -> np.ndarray:
    """(..., 4) xyzw of rotations (..., 4) wxyz."""
    w, x, y, z = np.moveaxis(np.asarray(turn, float), -1, 0)
    return np.stack([x, -y, -z, w], axis=-1)


def from_unity_turn(turn: np.ndarray) -> np.ndarray:
    """(..., 4) wxyz of rotations (..., 4) xyzw."""
    x, y, z, w = np.moveaxis(np.asarray(turn, float), -1, 0)
    return np.stack([w, x, -y, -z], axis=-1)


def name_bone(role: str) -> str:
    """HumanBodyBones' name of a role."""
    for vrm, unity in _THUMB.items():
        if role.endswith(vrm):
            role = role.removesuffix(vrm) + unity
            break
    return role[0].upper() + role[1:]

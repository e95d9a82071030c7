"""Skeletons of people in T-pose, written by hand: one with a spine of five, one by Drillis & Contini's proportions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise import Skeleton, rotation

if TYPE_CHECKING:
    pass


# Joint, parent, rest offset as a share of the stature; limbs are the left ones.
_TRUNK = (
    ("hips", "", (0, 0.535, 0)),
    ("spine", "hips", (0, 0.045, -0.005)),
    ("chest", "spine", (0, 0.075, -0.005)),
    ("upperChest", "chest", (0, 0.075, 0)),
    ("neck", "upperChest", (0, 0.118, 0.002)),
    ("head", "neck", (0, 0.055, 0.012)),
)
_LIMBS = (
    ("Shoulder", "upperChest", (0.015, 0.085, 0.0)),
    ("UpperArm", "Shoulder", (0.088, -0.007, 0)),
    ("LowerArm", "UpperArm", (0.172, 0, 0)),
    ("Hand", "LowerArm", (0.146, 0, 0)),
    ("UpperLeg", "hips", (0.052, -0.010, 0)),
    ("LowerLeg", "UpperLeg", (0, -0.242, 0.004)),
    ("Foot", "LowerLeg", (0, -0.244, -0.008)),
    ("Toes", "Foot", (0.004, -0.028, 0.072)),
)


def make_human(
    stature: float = 1.75, arms_down: bool = False, without: tuple[str, ...] = (), has_tips: bool = True
) -> Skeleton:
    """A human of some stature (m), standing on the ground.

    without  ends of joint names to leave out; what hung on them hangs on the joint before
    """
    trunk = {name for name, _, _ in _TRUNK}
    rows = [(name, parent, np.array(offset, float)) for name, parent, offset in _TRUNK]
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for name, parent, (x, y, z) in _LIMBS:
            if arms_down and name in ("LowerArm", "Hand"):
                x, y = 0.05 * x, -x
            rows.append((side + name, parent if parent in trunk else side + parent, np.array([sign * x, y, z])))
    kept: dict[str, tuple[str, np.ndarray]] = {}
    gone: dict[str, tuple[str, np.ndarray]] = {}
    for name, parent, offset in rows:
        if parent in gone:
            parent, offset = gone[parent][0], offset + gone[parent][1]
        (gone if name.endswith(without) and without else kept)[name] = (parent, offset)
    names = tuple(kept)
    tips = np.full((len(names), 3), np.nan)
    if has_tips and "head" in names:
        tips[names.index("head")] = (0, 0.09 * stature, 0)
    return Skeleton(
        names,
        np.array([names.index(parent) if parent else -1 for parent, _ in kept.values()]),
        stature * np.array([offset for _, offset in kept.values()]),
        tips,
        {name: name for name in names},
    )


def make_pose(skeleton: Skeleton, **turns: tuple[float, float, float]) -> np.ndarray:
    """Rotations (J, 4): those named by rotation vectors in degrees, all others none."""
    rotations = rotation.identity((len(skeleton),))
    for joint, degrees in turns.items():
        rotations[skeleton.index(joint)] = rotation.exp(np.radians(degrees))
    return rotations


def tpose(height: float = 1.75, *, toes: bool = True, left_leg: float = 1.0) -> Skeleton:
    """A skeleton of `height` m that stands on y = 0; `left_leg` scales its thigh and shank to make it asymmetric."""
    h = height
    joints: list[tuple[str, str | None, tuple[float, float, float]]] = [
        ("hips", None, (0, 0.53 * h, 0)),
        ("spine", "hips", (0, 0.06 * h, -0.01 * h)),
        ("chest", "spine", (0, 0.08 * h, 0)),
        ("upperChest", "chest", (0, 0.07 * h, 0)),
        ("neck", "upperChest", (0, 0.09 * h, 0)),
        ("head", "neck", (0, 0.05 * h, 0.01 * h)),
    ]
    tips: dict[str, tuple[float, float, float]] = {"head": (0, 0.12 * h, 0)}
    for side, s in (("left", 1), ("right", -1)):
        leg = left_leg if side == "left" else 1.0
        joints += [
            (f"{side}Shoulder", "upperChest", (s * 0.02 * h, 0.06 * h, 0)),
            (f"{side}UpperArm", f"{side}Shoulder", (s * 0.09 * h, 0.01 * h, 0)),
            (f"{side}LowerArm", f"{side}UpperArm", (s * 0.172 * h, 0, 0)),
            (f"{side}Hand", f"{side}LowerArm", (s * 0.146 * h, 0, 0)),
            (f"{side}UpperLeg", "hips", (s * 0.052 * h, 0, 0)),
            (f"{side}LowerLeg", f"{side}UpperLeg", (0, -0.245 * h * leg, 0)),
            (f"{side}Foot", f"{side}LowerLeg", (0, -0.246 * h * leg, 0)),
        ]
        tips[f"{side}Hand"] = (s * 0.1 * h, 0, 0)
        if toes:
            joints.append((f"{side}Toes", f"{side}Foot", (0, -0.026 * h, 0.072 * h)))
            tips[f"{side}Toes"] = (0, -0.01 * h, 0.04 * h)
        else:
            tips[f"{side}Foot"] = (0, -0.039 * h, 0.114 * h)
    names = [name for name, _, _ in joints]
    parents = [-1 if parent is None else names.index(parent) for _, parent, _ in joints]
    offsets = np.array([offset for _, _, offset in joints], float)
    ends = np.array([tips.get(name, (np.nan, np.nan, np.nan)) for name in names], float)
    return Skeleton(tuple(names), np.array(parents), offsets, ends, {name: name for name in names})

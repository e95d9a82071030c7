"""A T-pose human made by hand from Drillis & Contini's proportions (Winter 2009, fig. 4.1), for tests of motions."""

from __future__ import annotations

import numpy as np

from poise.body.skeleton import Skeleton


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

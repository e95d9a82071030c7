"""Which way a body stands: its own left, up and front, from where its joints are, in any axes."""

from __future__ import annotations

import numpy as np

from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton

_TOPS = ("neck", "head", "upperChest", "chest", "spine")
STRAIGHT = np.cos(np.radians(40.0))  # trunk over legs: whoever stands is straighter than this
UPRIGHT = np.cos(np.radians(35.0))  # how near to an axis a standing body is


def find_body_axis(skeleton: Skeleton, positions: np.ndarray) -> np.ndarray:
    """(..., 3) unit, from the feet up through hips and trunk, in positions (..., J, 3); NaN where the body is bent.

    NaN everywhere for a skeleton without legs; without a trunk the legs alone tell it.
    """
    legs = [[skeleton.find_role(f"{side}{stem}") for stem in ("UpperLeg", "LowerLeg", "Foot")] for side in SIDES]
    top = next((j for j in map(skeleton.find_role, _TOPS) if j is not None), None)
    if any(joint is None for leg in legs for joint in leg):
        return np.full((*positions.shape[:-2], 3), np.nan)
    hips, knees, feet = (0.5 * (positions[..., a, :] + positions[..., b, :]) for a, b in zip(*legs, strict=True))
    arms = [skeleton.find_role(f"{side}UpperArm") for side in SIDES]
    above = 2.0 * hips - feet if top is None else positions[..., top, :]
    if None not in arms:
        above = 0.5 * (positions[..., arms[0], :] + positions[..., arms[1], :])
    bones = [unit(above - hips), unit(hips - knees), unit(knees - feet)]
    axis = unit(bones[0] + unit(hips - feet))
    straight = np.all([np.sum(axis * bone, axis=-1) > STRAIGHT for bone in bones], axis=0)
    return np.where(straight[..., None], axis, np.nan)


def find_line(skeleton: Skeleton, positions: np.ndarray) -> np.ndarray:
    """(..., 3) unit, from between the feet to the top of the trunk, however bent; NaN without legs or a trunk."""
    feet = [skeleton.find_role(f"{side}Foot") for side in SIDES]
    top = next((j for j in map(skeleton.find_role, _TOPS) if j is not None), None)
    if top is None or feet[0] is None or feet[1] is None:
        return np.full((*positions.shape[:-2], 3), np.nan)
    return unit(positions[..., top, :] - 0.5 * (positions[..., feet[0], :] + positions[..., feet[1], :]))


def find_left(skeleton: Skeleton, positions: np.ndarray) -> np.ndarray:
    """(..., 3) from right to left, along the hip and shoulder joints, in positions (..., J, 3); NaN without legs."""
    lines = []
    for stem in ("UpperLeg", "UpperArm"):
        left, right = skeleton.find_role(f"left{stem}"), skeleton.find_role(f"right{stem}")
        if left is not None and right is not None:
            lines.append(unit(positions[..., left, :] - positions[..., right, :]))
    if not lines:
        return np.full((*positions.shape[:-2], 3), np.nan)
    return unit(np.sum(np.nan_to_num(lines), axis=0))


def degrees_from_z(front: np.ndarray) -> float:
    """The angle about the vertical from +Z to a direction (3,), positive to the left: in (-180, 180]."""
    angle = round(float(np.degrees(np.arctan2(front[0], front[2]))), 6) + 0.0
    return 180.0 if angle == -180.0 else angle


def unit(v: np.ndarray) -> np.ndarray:
    """Directions (..., 3); NaN for what has no length."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(v / np.linalg.norm(v, axis=-1, keepdims=True))

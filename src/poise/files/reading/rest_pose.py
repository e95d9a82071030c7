"""The rest pose told from the standard one: Y up, facing +Z, left on +X. The motion stays where it is.

A rest pose that stands is turned as a whole (VRM 0 faces -Z, some files are Z-up). One that does not stand (all bones
along one axis, as some game skeletons have it) is replaced by the straightest frame of the motion, since no body can be
measured in it.

Which way a body stands, its own left, up and front, follows from where its joints are, in any axes.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.files.reading.reframe import Reframe, turn_to_y
from poise.findings import Finding
from poise.motion.clip import Clip
from poise.spatial import rotation

if TYPE_CHECKING:
    from poise.files.reading.recording import Interpretation

_Y = np.array([0.0, 1.0, 0.0])
# A rest pose within this of axes is meant to be along them (mocap actors stand a few degrees off): rad.
_NEAR = np.radians(12.0)
_T_POSE, _A_POSE = 25.0, 65.0  # degrees off the horizon, at most
_MOST_FRAMES = 400


def orient_rest_pose(motion: Interpretation) -> list[Finding]:
    """Bring the motion to metres and Y up, with a rest pose that faces +Z."""
    world = turn_to_y(motion.up)
    turns, found = find_rest_turns(motion.clip, world)
    motion.frame = Reframe(motion.scale, world, turns)
    motion.clip = motion.frame.apply(motion.clip)
    return found


def name_rest_pose(motion: Interpretation) -> list[Finding]:
    """Name the rest pose by its arms."""
    return describe_arms(find_arm_drop(motion.clip.skeleton))


def find_rest_turns(clip: Clip, world: np.ndarray) -> tuple[np.ndarray, list[Finding]]:
    """(J, 4) the rotation of each joint's rest axes; degrees from +Z that the file's rest faces, and warnings.

    world  (4,) the turn of the world's axes; a replaced rest pose is upright after it
    """
    skeleton = clip.skeleton
    rest = skeleton.rest_positions()
    axis, left = find_body_axis(skeleton, rest), find_left(skeleton, rest)
    if np.isfinite(axis).all() and np.isfinite(left).all():
        turn = _find_turn(axis, left)
        turns = np.tile(turn, (len(skeleton), 1))
        facing = _facing(np.cross(left, axis), axis, world)
        shown = "elsewhere than +Z" if facing is None else f"{facing:.0f} degrees from +Z"
        found = [Finding("rest facing", f"at rest the body faces {shown}", facing, "guessed")]
        is_off = facing is None or abs(facing) > np.degrees(_NEAR)
        if is_off and rotation.angle(turn, rotation.identity()) > 1e-9:
            message = f"{found[0].message}; the rest pose is told facing +Z, the motion stays."
            found.append(Finding("rest facing", message, facing))
        return turns, found
    unknown = Finding("rest facing", "the rest pose does not stand", None, "guessed")
    frame = _find_straight_frame(clip)
    if frame is None:
        return rotation.identity((len(skeleton),)), [unknown]
    orientations = rotation.multiply(world, clip.world[1][frame])
    left = rotation.rotate(world, find_left(skeleton, clip.positions[frame]))
    heading = rotation.between(unit(left * (1 - _Y)), np.array([1.0, 0.0, 0.0]))
    message = f"it does not stand, so no body can be measured in it; frame {frame} of the motion is used instead."
    return rotation.multiply(heading, orientations), [unknown, Finding("rest pose", message, frame)]


def _facing(front: np.ndarray, up: np.ndarray, world: np.ndarray) -> float | None:
    """Degrees about the vertical from +Z to where a rest pose faces, in the world turned Y up or as it stands."""
    for turn in (world, rotation.identity()):
        if rotation.rotate(turn, up)[1] > 0.8:
            ahead = rotation.rotate(turn, front)
            return degrees_from_z(ahead)
    return None


def _find_turn(up: np.ndarray, left: np.ndarray) -> np.ndarray:
    """(4,) from a body's own axes to left +X, up +Y, front +Z: the nearest turn between axes where one is near."""
    across = unit(left - (left @ up) * up)
    exact = rotation.from_matrix(np.stack([across, up, np.cross(across, up)]))
    candidates = [
        rotation.from_matrix(matrix)
        for order in itertools.permutations(range(3))
        for signs in itertools.product((1.0, -1.0), repeat=3)
        if np.linalg.det(matrix := np.diag(signs)[list(order)]) > 0
    ]
    angles = [float(rotation.angle(exact, candidate)) for candidate in candidates]
    nearest = int(np.argmin(angles))
    return candidates[nearest] if angles[nearest] < _NEAR else exact


def _find_straight_frame(clip: Clip) -> int | None:
    """The frame in which the body stands straightest, by the way from feet to trunk; None where it never stands."""
    frames = np.unique(np.linspace(0, len(clip) - 1, min(len(clip), _MOST_FRAMES)).astype(int))
    positions = clip.positions[frames]
    standing = np.isfinite(find_body_axis(clip.skeleton, positions)).all(axis=-1)
    if not standing.any():
        return None
    feet = [clip.skeleton.index(f"{side}Foot") for side in SIDES]
    tops = [clip.skeleton.find_role(role) for role in ("head", "spine", "hips")]
    top = next(joint for joint in (*tops, 0) if joint is not None)
    reach = np.linalg.norm(positions[:, top] - positions[:, feet].mean(axis=1), axis=1)
    return int(frames[int(np.argmax(np.where(standing, reach, -np.inf)))])


def find_arm_drop(skeleton: Skeleton) -> float | None:
    """Degrees by which the arms hang below horizontal in the rest pose, Y up; None without arms."""
    drops = []
    rest = skeleton.rest_positions()
    for side in SIDES:
        shoulder, hand = skeleton.find_role(f"{side}UpperArm"), skeleton.find_role(f"{side}Hand")
        if shoulder is not None and hand is not None:
            drops.append(np.degrees(np.arcsin(-unit(rest[hand] - rest[shoulder])[1])))
    return float(np.mean(drops)) if drops and np.isfinite(drops).all() else None


def describe_arms(drop: float | None) -> list[Finding]:
    """Return the kind of rest pose that the arms make ("T", "A", ...); and a warning if it is neither of these two.

    drop  degrees, as `find_arm_drop` returns it
    """
    if drop is None:
        return [Finding("rest pose", "there are no arms to name it by", "unknown", "guessed")]
    kind = next((k for k, most in (("T", _T_POSE), ("A", _A_POSE), ("arms down", 91.0)) if abs(drop) <= most), "other")
    found = [Finding("rest pose", f"the arms hang {drop:.0f} degrees below the horizon", kind, "guessed")]
    if kind == "arms down":
        found.append(Finding("rest pose", f"not a T; {found[0].message}.", kind))
    return found


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

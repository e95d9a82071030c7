"""Metrics of a pose, or of the motion into it: reached targets, balance, depth under the floor; and their messages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.roles import SIDES
from poise.dynamics.kinematics import compute_center_of_mass
from poise.dynamics.tree import build_tree
from poise.files.reporting import Reporter
from poise.ik.support_polygon import find_edges, find_margin
from poise.jobs.pose.standing import PoseGoals
from poise.jobs.shared.metrics import find_supports
from poise.motion.clip import Clip
from poise.spatial import rotation
from poise.world.collision_shapes import find_outside

REACHED = 1e-3  # m: a joint within this distance of its target has reached it
SUNK = 2e-3  # m: a greater depth under the floor fails the pose
SHORT = 5e-4  # m: a margin that is smaller than its target by more is reported


def measure_pose(
    clip: Clip, character: Character, wanted: PoseGoals, down: np.ndarray, ground: float = 0.0
) -> dict[str, Any]:
    """How well a motion does what was wanted: its last frame, and its balance and its floor at every frame.

    down    (F, 2) which feet stand on the ground, which is level at a height (m)
    """
    skeleton = character.skeleton
    positions, turns = clip.world
    targets = {}
    for joint, place in wanted.reach.items():
        at = positions[-1, skeleton.index(joint)]
        targets[joint] = {"target": place, "at": at, "error_m": float(np.linalg.norm(at - place))}
    center = compute_center_of_mass(build_tree(character), *clip.poses)[:, [0, 2]]
    margins = [
        float(find_margin(find_edges(outline), spot)) if len(outline) else -math.inf
        for outline, spot in zip(find_supports(clip, down, ground), center, strict=True)
    ]
    depth, lowest = find_depth(clip, character, down, ground)
    worst = max((each["error_m"] for each in targets.values()), default=0.0)
    look = None
    if wanted.look is not None:
        head = skeleton.index("head")
        way = wanted.look - positions[-1, head]
        ahead = rotation.rotate(turns[-1, head], np.array([0.0, 0.0, 1.0]))
        look = float(np.arccos(np.clip(ahead @ way / max(float(np.linalg.norm(way)), 1e-9), -1.0, 1.0)))
    return {
        "reached": bool(worst < REACHED),
        "reach_error_m": worst,
        "targets": targets,
        "com_margin_m": float(min(margins)),
        "floor_depth_m": depth,
        "floor_joint": lowest,
        "look_error_rad": look,
    }


def find_depth(clip: Clip, character: Character, down: np.ndarray, ground: float) -> tuple[float, str | None]:
    """The largest depth (m) of a drawn segment below the ground, 0 if none is, and its joint; but for standing feet."""
    skeleton, (positions, turns) = clip.skeleton, clip.world
    depth, lowest = 0.0, None
    for joint, points in find_outside(character).items():
        heights = positions[:, joint, 1] + rotation.rotate(turns[:, joint, None], points)[..., 1].min(axis=1) - ground
        for side, is_down in zip(SIDES, np.asarray(down, bool).T, strict=True):
            if joint in skeleton.descendants(skeleton.index(side + "Foot")):
                heights = heights[~is_down]
        if len(heights) and -float(heights.min()) > depth:
            depth, lowest = -float(heights.min()), skeleton.labels[joint]
    return depth, lowest


def describe_missed(figures: Mapping[str, Any]) -> tuple[str, ...]:
    said = [
        f"'{joint}' is {each['error_m']:.3f} m from its target: out of reach, and as near as balance allows."
        for joint, each in figures["targets"].items()
        if each["error_m"] >= REACHED
    ]
    if figures["look_error_rad"] is not None and figures["look_error_rad"] > np.radians(2.0):
        said.append(f"the head looks {np.degrees(figures['look_error_rad']):.0f} degrees past its target.")
    return tuple(said)


def describe_failures(figures: Mapping[str, Any], audience: Reporter) -> tuple[str, ...]:
    said = []
    if figures["margin_used_m"] < figures["margin_m"] - 1e-9:
        said.append(
            f"{audience.spell('margin')} {figures['margin_m']:g} is more than the soles that touch the ground allow; "
            f"{figures['margin_used_m']:.4f} m is used."
        )
    if figures["com_margin_m"] < 0.0:
        said.append(f"the centre of mass is {-figures['com_margin_m']:.4f} m outside the soles that touch the ground.")
    elif figures["com_margin_m"] < figures["margin_used_m"] - SHORT:
        said.append(
            f"the centre of mass is only {figures['com_margin_m']:.4f} m inside the soles that touch the ground, where "
            f"{figures['margin_used_m']:.4f} m is the aim."
        )
    if figures["floor_depth_m"] > SUNK:
        said.append(f"'{figures['floor_joint']}' is {figures['floor_depth_m']:.3f} m under the floor.")
    return tuple(said)

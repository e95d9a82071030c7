"""A T-pose that a converter put before the recording.

It is told by two things together: the first frame is the rest pose, or a T, and the second is far from it, while the
rest of the clip is continuous. Actors who really begin in a T move out of it like everybody else, and are left alone.
"""

from __future__ import annotations

import numpy as np

from poise.body.roles import SIDES
from poise.motion.clip import Clip
from poise.spatial import rotation

# Largest turn (rad) of any joint that is still the rest pose; limbs this far off a T are still one.
_REST_ANGLE = np.radians(3.0)
_ARM_ANGLE, _LEG_ANGLE = np.radians(25.0), np.radians(15.0)
# The jump beside the largest step between later frames (recordings here: 5.3 or more with an added pose, below 1.3
# without), and as a share of the body's size.
_JUMP, _SIZE = 4.0, 0.03
_FEWEST = 5  # frames, to know what a usual step is


def find_added_tpose(clip: Clip) -> str | None:
    """A warning where the first frame is an added T-pose, else None. Needs no units and no axes."""
    if len(clip) < _FEWEST:
        return None
    hips = clip.skeleton.find_role("hips") or 0
    places = clip.positions - clip.positions[:, hips, None]
    steps = np.linalg.norm(np.diff(places, axis=0), axis=-1).mean(axis=1)
    size = float(np.linalg.norm(np.ptp(clip.skeleton.rest_positions(), axis=0)))
    if steps[0] < _JUMP * steps[1:].max() or steps[0] < _SIZE * size:
        return None
    turns = rotation.angle(clip.rotations[0, 1:], rotation.identity((len(clip.skeleton) - 1,)))
    if turns.size and turns.max() < _REST_ANGLE:
        what = "the rest pose"
    elif _is_t_pose(clip, places[0]):
        what = "a T-pose"
    else:
        return None
    return (
        f"added T-pose: the first frame is {what}, {steps[0] / max(steps[1:].max(), 1e-12):.0f} times as far from the "
        f"second as any frame from its next; it is left out, and the motion begins at {clip.times[1]:.4g} s."
    )


def _is_t_pose(clip: Clip, places: np.ndarray) -> bool:
    """Whether arms are spread sideways and legs straight below the trunk, in positions (J, 3)."""

    def line(start: str, end: str) -> np.ndarray | None:
        a, b = clip.skeleton.find_role(start), clip.skeleton.find_role(end)
        return None if a is None or b is None else places[b] - places[a]

    across = line("rightUpperLeg", "leftUpperLeg")
    if across is None:
        return False
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        arm, leg = line(f"{side}UpperArm", f"{side}Hand"), line(f"{side}UpperLeg", f"{side}Foot")
        up = line("hips", "head")
        if arm is None or leg is None or up is None:
            return False
        if _angle(arm, sign * across) > _ARM_ANGLE or _angle(leg, -up) > _LEG_ANGLE:
            return False
    return True


def _angle(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))

"""A T-pose that a converter put before the recording.

Two things together tell it: the first frame is the rest pose, or a T, and the recording is far from it, while the rest
of the clip is continuous. The pose may be held for several frames, and a second one may follow it: some files of the
CMU database begin with a T, then hold the rest pose at the origin for half a second. Held frames equal each other
exactly. Actors who really begin in a T move out of it like everybody else, and are left alone.
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
_MOST_POSES = 2  # held one after the other before the recording
_HELD = 1e-6  # of the body's size: a recording's own noise moves joints by more between frames


def find_added_tpose(clip: Clip) -> tuple[int, str | None]:
    """Return how many first frames are an added T-pose, and a warning; 0 and None without one."""
    if len(clip) < _FEWEST:
        return 0, None
    hips = clip.skeleton.find_role("hips") or 0
    places = clip.positions - clip.positions[:, hips, None]
    steps = np.linalg.norm(np.diff(places, axis=0), axis=-1).mean(axis=1)
    size = float(np.linalg.norm(np.ptp(clip.skeleton.rest_positions(), axis=0)))
    poses = np.cumsum(steps > _HELD * size)  # how many were held up to each step
    later = np.maximum.accumulate(steps[::-1])[::-1][1:]  # the largest step after each, but the last
    jumps = (steps[:-1] >= _SIZE * size) & (steps[:-1] >= _JUMP * later)
    last = np.flatnonzero(jumps & (poses[:-1] <= _MOST_POSES))
    if not len(last) or len(clip) - last[-1] < _FEWEST:
        return 0, None
    turns = rotation.angle(clip.rotations[0, 1:], rotation.identity((len(clip.skeleton) - 1,)))
    if turns.size and turns.max() < _REST_ANGLE:
        what = "the rest pose"
    elif _is_t_pose(clip, places[0]):
        what = "a T-pose"
    else:
        return 0, None
    k = int(last[-1])
    count = "the first frame is" if k == 0 else f"the first {k + 1} frames hold"
    ratio = steps[k] / max(later[k], 1e-12)
    return k + 1, (
        f"added T-pose: {count} {what}, {ratio:.0f} times as far from the next frame as any later frame is from its "
        f"next; the motion begins at {clip.times[k + 1]:.4g} s."
    )


def count_empty_frames(clip: Clip) -> int:
    """How many frames at the beginning hold no data: a root at exactly 0, and every channel of one of them at 0.

    Some converters write those before the first frame that was solved, with or without a T-pose before them.
    """
    at_zero = ~clip.root.any(axis=1)
    count = len(clip) if at_zero.all() else int(np.argmin(at_zero))
    unturned = rotation.angle(clip.rotations[:count], rotation.identity((len(clip.skeleton),))).max(axis=1, initial=0.0)
    size = float(np.linalg.norm(np.ptp(clip.skeleton.rest_positions(), axis=0)))
    if count == len(clip) or not (unturned == 0.0).any() or np.linalg.norm(clip.root[count]) < _SIZE * size:
        return 0
    return count


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

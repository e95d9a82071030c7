"""Repairs of recordings: a T-pose that a converter put before them, and bones that lost their length.

The added T-pose.

Two things together tell it: the first frame is the rest pose, or a T, and the recording is far from it, while the rest
of the clip is continuous. The pose may be held for several frames, and a second one may follow it: some files of the
CMU database begin with a T, then hold the rest pose at the origin for half a second. Held frames equal each other
exactly. Actors who really begin in a T move out of it like everybody else, and are left alone.

Bones with two or more children that lost their length when a recording was converted.

A converter that gives a joint the bone *before* it has no place for a bone that branches. In the CMU database as BVH
the thorax (neck and both shoulders sit on its lower end) and the wrist (fingers and thumb sit on it) have no length,
and the body is 12 cm short. The legs are whole.

`--bones restore` restores them. The thorax gets the length of the trunk's bone below it, as those models divide the
back evenly (subject 02: 11.6 cm, 11.7 in its ASF file); the wrist, what the hand lacks of its usual share of the
stature (de Leva 1996: 10.0 cm; 9.5 in the ASF). Both go along the bone before them.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from poise.body.roles import SIDES
from poise.body.segments.proportions import compute_proportions
from poise.body.segments.stature import find_mid_hip
from poise.body.skeleton import Skeleton
from poise.files.reading.recording import RESTORE
from poise.files.reading.unit import compute_stature
from poise.findings import Finding
from poise.motion.clip import Clip
from poise.spatial import rotation

if TYPE_CHECKING:
    from poise.files.reading.recording import Interpretation

# Largest turn (rad) of any joint that is still the rest pose; limbs this far off a T are still one.
_REST_ANGLE = np.radians(3.0)
_ARM_ANGLE, _LEG_ANGLE = np.radians(25.0), np.radians(15.0)
# The jump beside the largest step between later frames (recordings here: 5.3 or more with an added pose, below 1.3
# without), and as a share of the body's size.
_JUMP, _SIZE = 4.0, 0.03
_FEWEST = 5  # frames, to know what a usual step is
_MOST_POSES = 2  # held one after the other before the recording
_HELD = 1e-6  # of the body's size: a recording's own noise moves joints by more between frames


def leave_out_frames(motion: Interpretation) -> list[Finding]:
    """Leave out first frames that are not of the recording: an added T-pose, or frames without data."""
    added = find_added_tpose(motion.clip) or find_empty_frames(motion.clip)
    if added is None:
        return []
    if motion.given.whole:
        return [dataclasses.replace(added, message=f"{added.message} It is kept. Use --start to leave it out.")]
    motion.dropped = added.value
    motion.clip = motion.clip.pick(slice(motion.dropped, None))
    return [dataclasses.replace(added, message=f"{added.message} The frames before are left out.")]


def restore_bones(motion: Interpretation) -> list[Finding]:
    """Restore lost bones, from proportions: of the body that is measured, and if asked of the clip.

    A body with a mesh has lost nothing. `observations.describe_lost_bones` has the warning, with the size of the error.
    """
    motion.body = motion.clip.skeleton
    if motion.recording.skin is None:
        motion.body, motion.lost_bones = restore_lost_bones(motion.body)
    if motion.given.bones == RESTORE:
        motion.clip = motion.clip.replace(skeleton=motion.body)
    return []


def find_added_tpose(clip: Clip) -> Finding | None:
    """The first frames that are an added T-pose, if any; its value is their number."""
    if len(clip) < _FEWEST:
        return None
    hips = clip.skeleton.find_role("hips") or 0
    places = clip.positions - clip.positions[:, hips, None]
    steps = np.linalg.norm(np.diff(places, axis=0), axis=-1).mean(axis=1)
    size = float(np.linalg.norm(np.ptp(clip.skeleton.rest_positions(), axis=0)))
    poses = np.cumsum(steps > _HELD * size)  # how many were held up to each step
    later = np.maximum.accumulate(steps[::-1])[::-1][1:]  # the largest step after each, but the last
    jumps = (steps[:-1] >= _SIZE * size) & (steps[:-1] >= _JUMP * later)
    last = np.flatnonzero(jumps & (poses[:-1] <= _MOST_POSES))
    if not len(last) or len(clip) - last[-1] < _FEWEST:
        return None
    turns = rotation.angle(clip.rotations[0, 1:], rotation.identity((len(clip.skeleton) - 1,)))
    if turns.size and turns.max() < _REST_ANGLE:
        what = "the rest pose"
    elif _is_t_pose(clip, places[0]):
        what = "a T-pose"
    else:
        return None
    k = int(last[-1])
    count = "the first frame is" if k == 0 else f"the first {k + 1} frames hold"
    ratio = steps[k] / max(later[k], 1e-12)
    message = (
        f"{count} {what}, {ratio:.0f} times as far from the next frame as any later frame is from its next; the motion "
        f"begins at {clip.times[k + 1]:.4g} s."
    )
    return Finding("added T-pose", message, k + 1)


def find_empty_frames(clip: Clip) -> Finding | None:
    """The first frames that hold no data, if any: a root at exactly 0, and every channel of one of them at 0.

    Some converters write those before the first frame that was solved, with or without a T-pose before them.
    """
    at_zero = ~clip.root.any(axis=1)
    count = len(clip) if at_zero.all() else int(np.argmin(at_zero))
    unturned = rotation.angle(clip.rotations[:count], rotation.identity((len(clip.skeleton),))).max(axis=1, initial=0.0)
    size = float(np.linalg.norm(np.ptp(clip.skeleton.rest_positions(), axis=0)))
    if count == len(clip) or not (unturned == 0.0).any() or np.linalg.norm(clip.root[count]) < _SIZE * size:
        return None
    return Finding("empty frames", f"the first {count} hold no data, all channels at 0.", count) if count else None


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


_NO_LENGTH = 1e-4  # of the stature
# Mid-hip to shoulders as a share of the leg (0.288 / 0.491, Drillis and Contini 1966): below this share of it, the
# trunk is too short to be whole. CMU's are 0.77 to 0.91 before.
_USUAL_TRUNK, _SHORT = 0.288 / 0.491, 0.95
_LONGEST = 1.35


def restore_lost_bones(skeleton: Skeleton) -> tuple[Skeleton, tuple[str, ...]]:
    """Return a skeleton, in any unit, with its lost bones restored, and the names of the joints before them."""
    skeleton, thorax = _restore_thorax(skeleton)
    skeleton, hands = _restore_hands(skeleton)
    return skeleton, (*thorax, *hands)


def _find_stacked(skeleton: Skeleton, joint: int) -> list[int]:
    """The children of a joint if there are two or more and all are in its own place, else none."""
    children = skeleton.children(joint)
    size = float(np.abs(skeleton.rest_positions()).max())
    lengths = np.linalg.norm(skeleton.offsets[children], axis=1)
    return children if len(children) > 1 and np.all(lengths <= _NO_LENGTH * size) else []


def _shift(skeleton: Skeleton, joints: list[int], by: np.ndarray) -> Skeleton:
    offsets = skeleton.offsets.copy()
    offsets[joints] += by
    return skeleton.replace(offsets=offsets)


def _restore_thorax(skeleton: Skeleton) -> tuple[Skeleton, list[str]]:
    neck = skeleton.find_role("neck")
    arms = [skeleton.find_role(f"{side}UpperArm") for side in SIDES]
    legs = [skeleton.find_role(f"{side}{stem}") for side in SIDES for stem in ("UpperLeg", "LowerLeg", "Foot")]
    if neck is None or None in arms or None in legs:
        return skeleton, []
    top = int(skeleton.parents[neck])
    stacked = _find_stacked(skeleton, top)
    below = skeleton.offsets[top]
    if neck not in stacked or len(stacked) < 3 or not np.linalg.norm(below) > 0.0:
        return skeleton, []
    rest = skeleton.rest_positions()
    leg = 0.5 * sum(float(np.linalg.norm(rest[legs[k]] - rest[legs[k + 1]])) for k in (0, 1, 3, 4))
    shoulders = np.mean([rest[arm] for arm in arms], axis=0)
    trunk = float(np.linalg.norm(shoulders - find_mid_hip(skeleton)))
    usual = _USUAL_TRUNK * leg
    if trunk > _SHORT * usual:
        return skeleton, []
    length = min(float(np.linalg.norm(below)), max(_LONGEST * usual - trunk, 0.0))
    return _shift(skeleton, stacked, length * below / np.linalg.norm(below)), [skeleton.names[top]]


def _restore_hands(skeleton: Skeleton) -> tuple[Skeleton, list[str]]:
    restored = []
    usual = compute_proportions().hand * compute_stature(skeleton)
    for side in SIDES:
        hand = skeleton.find_role(f"{side}Hand")
        stacked = _find_stacked(skeleton, hand) if hand is not None else []
        if hand is None or not stacked or not np.linalg.norm(skeleton.offsets[hand]) > 0.0:
            continue
        lacking = usual - _reach(skeleton, hand)
        if lacking > 0.2 * usual:
            along = skeleton.offsets[hand] / np.linalg.norm(skeleton.offsets[hand])
            skeleton = _shift(skeleton, stacked, lacking * along)
            restored.append(skeleton.names[hand])
    return skeleton, restored


def _reach(skeleton: Skeleton, joint: int) -> float:
    """The farthest end below a joint, from it."""
    rest = skeleton.rest_positions()
    inside = skeleton.descendants(joint)
    ends = [rest[i] for i in inside] + [rest[i] + skeleton.tips[i] for i in inside if skeleton.has_tip[i]]
    return max(float(np.linalg.norm(end - rest[joint])) for end in ends)

"""Bones with two or more children that lost their length when a recording was converted.

A converter that gives a joint the bone *before* it has no place for a bone that branches. In the CMU database as BVH
the thorax (neck and both shoulders sit on its lower end) and the wrist (fingers and thumb sit on it) have no length,
and the body is 12 cm short. The legs are whole.

`--bones restore` restores them. The thorax gets the length of the trunk's bone below it, as those models divide the
back evenly (subject 02: 11.6 cm, 11.7 in its ASF file); the wrist, what the hand lacks of its usual share of the
stature (de Leva 1996: 10.0 cm; 9.5 in the ASF). Both go along the bone before them.
"""

from __future__ import annotations

import numpy as np

from poise.body.proportions import compute_proportions
from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.body.stature import find_mid_hip
from poise.files.measures import compute_stature

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

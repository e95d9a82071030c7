"""Soles of feet: heel, ball, toe tip and the box on them, from whatever joints a skeleton has.

The lower face of a foot's box (`build_footing`) is its sole: the mannequin is drawn on it, physics engines touch the
ground with it, balance and walks are planned and measured on it.

Files seldom have a heel. What is missing is placed by proportions of the foot: Winter 2009, Biomechanics and Motor
Control of Human Movement, fig. 4.1 (after Drillis & Contini 1966), in fractions of stature: thigh 0.245, shank 0.246,
ankle height 0.039, foot length 0.152. The ankle's centre lies about a quarter of the foot's length before the back of
the heel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.geometry.primitives import Box
from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton, remembered
from poise.errors import InputError
from poise.spatial import rotation
from poise.spatial.rotation import length

_LEG, _ANKLE_HEIGHT, _FOOT = 0.245 + 0.246, 0.039, 0.152
_AHEAD = np.array([0.0, 0.0, 1.0])
# Breadth over length of the box: the ball of the foot of men and women in Gordon et al. (1989), 1988 Anthropometric
# survey of US Army personnel, is 101 mm broad at a length of 270 mm, and 90 mm at 244 mm.
BREADTH = 0.37
SHORTEST = 0.95  # of a foot's usual share of thigh and shank: a box is at least as long; people's feet vary by as much
_THICKNESS = 0.5  # of the ankle's height: the height of the box; only its lower face matters
_HEEL_SHARE = 0.25  # of the foot's length that lies behind the ankle
# Of the leg's length (3 cm): legs that differ by less have feet that stand side by side, as recorded ones do.
_UNEVEN = 0.035
_BALL_SHARE = 0.72  # of the foot's length from the heel to the joints of the toes (Winter 2009, table 4.1: MT heads)


@dataclass(frozen=True, eq=False)
class Sole:
    """One foot's joints and the points of its sole. Points are (3,) m, in the rest axes of the joint they move with.

    foot, toes  joint indices; toes is None where the skeleton has no such joint
    heel        from the foot's joint
    ball, tip   from the toes' joint, with which they stay on the ground while the heel rises; from the foot's joint
                where there are no toes
    """

    foot: int
    toes: int | None
    heel: np.ndarray
    ball: np.ndarray
    tip: np.ndarray


@remembered
def find_soles(skeleton: Skeleton) -> tuple[Sole, Sole]:
    """The soles of the left and the right foot. All their points lie on the plane that the feet stand on at rest.

    Where one leg is longer than the other by more than `_UNEVEN` of it, only that foot stands there; the other's plane
    is as much higher as the foot is.
    """
    missing = [f"{s}{j}" for s in SIDES for j in ("UpperLeg", "LowerLeg", "Foot") if f"{s}{j}" not in skeleton.roles]
    if missing:
        raise InputError(f"the feet need joints with the roles {', '.join(missing)}; give them with roles.")
    legs = [leg_length(skeleton, side) for side in SIDES]
    if min(legs) == 0.0:
        raise InputError("the legs have no length, so the feet cannot be found. Mend the skeleton's offsets.")
    ground = _rest_ground(skeleton)
    higher = [0.0, 0.0]
    if max(legs) - min(legs) > _UNEVEN * max(legs):
        lowest = [min(_foot_heights(skeleton, side)) for side in SIDES]
        higher = [height - min(lowest) for height in lowest]
    left, right = (_find_sole(skeleton, side, ground + by) for side, by in zip(SIDES, higher, strict=True))
    return left, right


def _foot_heights(skeleton: Skeleton, side: str) -> list[float]:
    """m, of all that is known of a foot, at rest."""
    rest, heights = skeleton.rest_positions(), []
    for joint in skeleton.descendants(skeleton.index(f"{side}Foot")):
        heights.append(float(rest[joint, 1]))
        if skeleton.has_tip[joint]:
            heights.append(float(rest[joint, 1] + skeleton.tips[joint, 1]))
    return heights


def _rest_ground(skeleton: Skeleton) -> float:
    """The floor's height under the rest pose: 0 where the feet are just above it, else the lowest point of the feet."""
    heights = [height for side in SIDES for height in _foot_heights(skeleton, side)]
    lowest, stature = min(heights), _stature(skeleton)
    if not np.any(np.asarray(skeleton.tips)[:, 1] < 0) and len(heights) == 2:
        lowest -= _ANKLE_HEIGHT * stature  # nothing but the ankles is known
    return 0.0 if 0.0 <= lowest < 1.5 * _ANKLE_HEIGHT * stature else float(lowest)


def _stature(skeleton: Skeleton) -> float:
    """Stature in metres, from the legs."""
    return leg_length(skeleton, "left") / _LEG


@remembered
def leg_length(skeleton: Skeleton, side: str) -> float:
    """Thigh plus shank in metres."""
    rest = skeleton.rest_positions()
    hip, knee, ankle = (rest[skeleton.index(f"{side}{joint}")] for joint in ("UpperLeg", "LowerLeg", "Foot"))
    return length(knee - hip) + length(ankle - knee)


def _find_sole(skeleton: Skeleton, side: str, ground: float) -> Sole:
    rest = skeleton.rest_positions()
    foot, toes = skeleton.index(f"{side}Foot"), skeleton.find_role(f"{side}Toes")
    ankle = rest[foot]
    tip = _find_tip(skeleton, foot, toes)
    toes_at = None if toes is None else rest[toes]
    if tip is None:
        # Beyond the toes' joint by their share of the foot, or the whole forefoot before the ankle.
        whole = _FOOT * _stature(skeleton)
        reach = (1 - _HEEL_SHARE) * whole if toes_at is None else length(_flat(toes_at - ankle)) + 0.28 * whole
        tip = ankle + reach * (_AHEAD if toes_at is None else _direction(toes_at - ankle))
    forward = _direction(tip - ankle)
    whole = length(_flat(tip - ankle)) / (1 - _HEEL_SHARE)
    ball = ankle + (_BALL_SHARE - _HEEL_SHARE) * whole * forward if toes_at is None else toes_at
    heel = ankle - _HEEL_SHARE * whole * forward
    heel, ball, tip = (np.array([point[0], ground, point[2]]) for point in (heel, ball, tip))
    front = ankle if toes_at is None else toes_at
    return Sole(foot, toes, heel - ankle, ball - front, tip - front)


def _find_tip(skeleton: Skeleton, foot: int, toes: int | None) -> np.ndarray | None:
    """The rest position of the foremost end below the toes (or the foot), or None."""
    rest = skeleton.rest_positions()
    ends = []
    for joint in skeleton.descendants(foot if toes is None else toes):
        if skeleton.has_tip[joint]:
            ends.append(rest[joint] + skeleton.tips[joint])
        elif joint != foot and joint != toes:
            ends.append(rest[joint])
    ends = [end for end in ends if length(_flat(end - rest[foot])) > 0.02 * leg_length(skeleton, "left")]
    return max(ends, key=lambda end: length(_flat(end - rest[foot]))) if ends else None


def _direction(v: np.ndarray) -> np.ndarray:
    """The unit vector along v seen from above; ahead where v has no length there."""
    size = length(_flat(v))
    return _flat(v) / size if size > 0 else _AHEAD


def _flat(v: np.ndarray) -> np.ndarray:
    return v * np.array([1.0, 0.0, 1.0])


@remembered
def build_footing(skeleton: Skeleton) -> tuple[Box, Box]:
    """Boxes in the frames of the left and the right foot's joint. Their lower faces are the soles."""
    boxes = tuple(_build_box(skeleton, side, sole) for side, sole in zip(SIDES, find_soles(skeleton), strict=True))
    for box in boxes:
        for array in (box.center, box.half, box.turn):
            array.flags.writeable = False
    return boxes[0], boxes[1]


def _build_box(skeleton: Skeleton, side: str, sole: Sole) -> Box:
    """A foot's box from its heel and the tip of its toes. Some recordings' last marker is at the root of the toes."""
    rest = skeleton.rest_positions()
    front = sole.foot if sole.toes is None else sole.toes
    tip = sole.tip + rest[front] - rest[sole.foot]
    along = _flat(tip - sole.heel)
    known = length(along)
    turn = rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), float(np.arctan2(along[0], along[2])))
    longer = max(1.0, SHORTEST * _FOOT / _LEG * leg_length(skeleton, side) / known)
    long = longer * known
    thickness = max(_THICKNESS * -float(sole.heel[1]), 0.05 * long)
    center = longer * (sole.heel + tip) / 2.0
    center[1] = sole.heel[1] + thickness / 2.0
    return Box(center, np.array([BREADTH * long, thickness, long]) / 2.0, turn)


def find_crease(skeleton: Skeleton, sole: Sole, box: Box) -> float | None:
    """m, how far before the middle of a foot's box its toes bend; None where the skeleton has no toes."""
    if sole.toes is None:
        return None
    rest = skeleton.rest_positions()
    ball = rest[sole.toes] - rest[sole.foot] - box.center
    return float(np.clip(ball @ rotation.rotate(box.turn, _AHEAD), -0.1 * box.half[2], 0.9 * box.half[2]))

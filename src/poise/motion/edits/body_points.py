"""Points of a hand or foot by name, for whatever joints a skeleton has: where a palm or a fingertip is.

Hands are measured by their own joints and end sites; what these do not say is taken from proportions: a hand of 0.108
of the stature (Winter 2009, fig. 4.1), knuckles at 0.46 of it (de Leva 1996), 29 mm thick on an arm of 0.57 m. Fingers
are as at rest. Axes are those of the reference pose (`retargeting.reference`): there the palm faces down.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.body.geometry.rest_frame import RestFrame
from poise.body.geometry.soles import find_soles
from poise.body.roles import SIDES
from poise.body.segments import tables
from poise.body.skeleton import Skeleton
from poise.errors import InputError, unknown_name
from poise.motion.retargeting.reference import find_turns
from poise.spatial import rotation
from poise.spatial.rotation import length

X, Y, Z = np.eye(3)
HAND = 0.108  # of the stature
_HALF_THICK = 0.5 * 0.029 / 1.75  # of the stature
_PALM = 0.75  # of the way to the knuckles: the middle of the palm
# The middle of a closed hand, where it holds a stick: of the way to the knuckles, and towards the palm, in half hands'
# thickness.
_FIST = (0.85, 1.6)
# name: along the hand, in ways to the knuckles (to the fingertip where `is_tip`), and towards the palm.
_ON_HAND = {"palm": (_PALM, 1.0), "back": (_PALM, -1.0), "fist": _FIST, "knuckles": (1.0, 0.0), "fingertip": (1.0, 0.0)}
HAND_POINTS = ("joint", "palm", "back", "fist", "knuckles", "fingertip")
FOOT_POINTS = ("joint", "sole", "heel", "ball", "toe")
POINTS = ("joint", "tip")


def find_point(skeleton: Skeleton, joint: str, point: str | Sequence[float] = "joint") -> np.ndarray:
    """(3,) m, a point in the frame of a joint.

    joint  name or role
    point  a name: of a hand palm, back, fist, knuckles, fingertip; of a foot sole, heel, ball, toe; of any joint
           `joint` (itself) or `tip` (its end site). Or three numbers in m, in the joint's axes at rest
    """
    index = skeleton.index(joint)
    if not isinstance(point, str):
        place = np.asarray(point, float)
        if place.shape != (3,) or not np.isfinite(place).all():
            raise InputError(f"a point of '{joint}' is a name or three finite numbers in metres; given {point!r:.80}.")
        return place
    if point == "joint":
        return np.zeros(3)
    role = next((role for role, name in skeleton.roles.items() if name == skeleton.names[index]), "")
    if role in ("leftHand", "rightHand") and point in _ON_HAND:
        return _find_on_hand(skeleton, index, role[: -len("Hand")], point)
    if role in ("leftFoot", "rightFoot") and point in FOOT_POINTS:
        return _find_on_foot(skeleton, index, SIDES.index(role[: -len("Foot")]), point)
    if point == "tip" and skeleton.has_tip[index]:
        return np.asarray(skeleton.tips[index])
    known = HAND_POINTS if role.endswith("Hand") else FOOT_POINTS if role.endswith("Foot") else POINTS[:1]
    raise unknown_name("point", point, (*known, "tip") if skeleton.has_tip[index] else known, f"joint '{joint}'")


def _find_on_hand(skeleton: Skeleton, hand: int, side: str, point: str) -> np.ndarray:
    stature, turn = RestFrame(skeleton).stature, find_turns(skeleton)[hand]
    along, knuckles, tip = _measure_hand(skeleton, hand, side, stature)
    share, palmward = _ON_HAND[point]
    palm = rotation.rotate(rotation.conjugate(turn), -Y)
    palm = palm - (palm @ along) * along
    reach = tip if point == "fingertip" else share * knuckles
    return np.asarray(reach * along + palmward * _HALF_THICK * stature * palm / max(length(palm), 1e-12))


def _measure_hand(skeleton: Skeleton, hand: int, side: str, stature: float) -> tuple[np.ndarray, float, float]:
    """The direction (3,) of a hand in its own axes at rest, and m to its knuckles and to its longest fingertip."""
    usual, rest = HAND * stature, skeleton.rest_positions()
    turn = find_turns(skeleton)[hand]
    along = rotation.rotate(rotation.conjugate(turn), X if side == "left" else -X)
    carried = skeleton.descendants(hand)
    ends = [rest[i] - rest[hand] for i in carried[1:]]
    ends += [rest[i] + skeleton.tips[i] - rest[hand] for i in carried if skeleton.has_tip[i]]
    far = max(ends, key=length, default=np.zeros(3))
    if length(far) < 0.1 * usual:
        return along, tables.knuckle_fraction() * usual, usual
    knuckle = skeleton.find_role(f"{side}MiddleProximal")
    if knuckle is not None:
        bone = rest[knuckle] - rest[hand]
        return bone / max(length(bone), 1e-12), length(bone), length(far)
    fraction = tables.knuckle_fraction()
    is_tip = length(far) > 0.5 * (1.0 + fraction) * usual
    tip = length(far) if is_tip else length(far) / fraction
    tip = min(max(tip, 0.8 * usual), 1.2 * usual)
    return far / length(far), fraction * tip, tip


def _find_on_foot(skeleton: Skeleton, foot: int, side: int, point: str) -> np.ndarray:
    sole, rest = find_soles(skeleton)[side], skeleton.rest_positions()
    front = rest[foot if sole.toes is None else sole.toes] - rest[foot]
    places = {"heel": sole.heel, "ball": front + sole.ball, "toe": front + sole.tip}
    places["sole"] = 0.5 * (places["heel"] + places["ball"])
    return np.asarray(places[point])

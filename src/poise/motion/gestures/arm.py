"""One arm of any human skeleton, and how its joints turn to bring the wrist onto a curve.

Coordinates ("arm axes"): out, up, forward, fixed to the joint that carries the arm, from the middle between the two
shoulder joints at rest. `out` is to the arm's own side, so one curve serves both arms, the right one as the left one's
mirror image; all is computed for a left arm and mirrored at the end.

Reference pose: the arm out to the side, palm down (see `retargeting.reference`). There the left arm's bones point along
+X, the palm to -Y, the thumb to +Z, and the elbow bends about -Y.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton, remembered
from poise.errors import InputError
from poise.ik.two_bone import solve_two_bone
from poise.motion.gestures.curves import soften_above
from poise.motion.retargeting.reference import find_turns
from poise.spatial import rotation
from poise.spatial.rotation import lengths

X, Y, Z = np.eye(3)
MIRROR_VECTOR = np.array([-1.0, 1.0, 1.0])
MIRROR_TURN = np.array([1.0, 1.0, -1.0, -1.0])  # a rotation seen in the mirror x -> -x
_FOREARM_SHARE = 0.146 / 0.186  # of the upper arm, Drillis and Contini 1966: for a forearm that ends nowhere
# The arm's greatest stretch as a share of its length: an elbow bent by 11 degrees. It is approached over the last
# REACH_ROOM of the way, so that an elbow never snaps straight.
REACH_LIMIT, REACH_ROOM = 0.995, 0.055
# The collar bone rises by 5 degrees with a level arm and comes forward by as much. Found by eye: none looks wooden, and
# twice as much like a shrug.
_CLAVICLE_LIFT, _CLAVICLE_FORWARD = np.radians(20.0), np.radians(5.0)


class ArmPath(NamedTuple):
    """What an arm does over N phases, in arm axes.

    wrist    (N, 3) m, where the wrist should be; beyond reach it is brought nearer, smoothly
    palm     (N, 3) or (3,), where the palm should face, as nearly as the forearm's direction allows; any length
    flexion  (N,) rad, bend of the wrist towards the palm
    level    share of the forearm's slope that the wrist takes back by bending palmwards: 0 leaves the hand in line
             with the forearm, 1 bends it by 57 degrees on an upright forearm
    flat     whether the hand is kept parallel to the body's middle plane instead, as to clap
    reach    the arm's greatest stretch, as a share of its length
    """

    wrist: np.ndarray
    palm: np.ndarray
    flexion: np.ndarray
    level: float = 0.0
    flat: bool = False
    reach: float = REACH_LIMIT


@dataclass(frozen=True, eq=False)
class Arm:
    """One arm's measures in arm axes (out, up, forward) and its joints.

    sign      +1 for the left arm, -1 for the right
    joints    indices, from the body outward: collar bone if there is one, upper arm, forearm, hand if there is one
    turns     (K, 4) of each joint, from its axes at rest to those in the reference pose
    carrier   (4,) the same of the joint that carries the arm
    clavicle  (3,) m, the collar bone's joint, or the shoulder's where there is none; shoulder (3,) m, at rest
    upper, lower  m, lengths of upper arm and forearm
    """

    sign: float
    joints: tuple[int, ...]
    turns: np.ndarray
    carrier: np.ndarray
    clavicle: np.ndarray
    shoulder: np.ndarray
    upper: float
    lower: float
    has_clavicle: bool
    has_hand: bool

    @property
    def length(self) -> float:
        """m, shoulder to wrist, stretched out."""
        return self.upper + self.lower

    def vector(self, body: np.ndarray) -> np.ndarray:
        """A vector (..., 3) in the body's axes (left, up, forward) in arm axes (out, up, forward), or back."""
        return np.asarray(body, float) * (X * self.sign + Y + Z)

    @property
    def hanging(self) -> np.ndarray:
        """(3,) m, the wrist of an arm that hangs at ease: 4 degrees forward, 9 aside, the elbow bent by 16."""
        forward, aside, bend = np.radians([4.0, 9.0, 16.0])
        lift = rotation.multiply(rotation.exp(-forward * X), rotation.exp((aside - 0.5 * np.pi) * Z))
        fore = rotation.multiply(lift, rotation.exp(-bend * Y))
        return self.shoulder + self.upper * rotation.rotate(lift, X) + self.lower * rotation.rotate(fore, X)

    def solve(self, path: ArmPath) -> np.ndarray:
        """(N, K, 4) rotations of the joints relative to their parents, signs continuous."""
        wrist = np.atleast_2d(path.wrist)
        rest = np.concatenate([[self.hanging], wrist])  # in front, so that signs are always chosen from the same pose
        clavicle = self._turn_clavicle(rest)
        shoulder = self.clavicle + rotation.rotate(clavicle, self.shoulder - self.clavicle)
        line = rest - shoulder
        distance = lengths(line, keepdims=True) / self.length
        line *= soften_above(distance, path.reach - REACH_ROOM, path.reach) / distance

        limb = solve_two_bone(np.zeros(3), line, _find_hinge(line), self.upper * X, self.lower * X, -Y)
        forearm = rotation.rotate(limb.lower, X)
        palm = np.concatenate([[-X], np.broadcast_to(path.palm, wrist.shape)])
        palm = _unit(palm - np.sum(palm * forearm, axis=-1, keepdims=True) * forearm)
        lower = rotation.from_matrix(np.stack([forearm, -palm, rotation.cross(forearm, -palm)], axis=-1))
        flexion = np.concatenate([[0.0], np.broadcast_to(path.flexion, len(wrist))]) + path.level * forearm[:, 1]
        if path.flat:
            # cos f forearm + sin f palm has no part across the body.
            flexion = flexion - np.arctan2(-forearm[:, 0], -palm[:, 0])
        hand = rotation.multiply(lower, rotation.exp(-flexion[:, None] * Z))

        chain = [*([clavicle] if self.has_clavicle else []), limb.upper, lower, *([hand] if self.has_hand else [])]
        return self._relative(np.stack(chain, axis=1))[1:]

    def _turn_clavicle(self, wrist: np.ndarray) -> np.ndarray:
        """(N, 4) the collar bone follows the hand a little, up and forward; not at all where the arm hangs."""
        if not self.has_clavicle:
            return rotation.identity((len(wrist),))
        aim = (wrist - self.shoulder) / self.length
        lift = _CLAVICLE_LIFT * (0.5 + 0.5 * aim[:, 1]) ** 2
        return rotation.exp(lift[:, None] * Z - _CLAVICLE_FORWARD * aim[:, 2, None] * Y)

    def _relative(self, reference: np.ndarray) -> np.ndarray:
        """From orientations (N, K, 4) of the left arm, from the reference pose, to rotations relative to parents."""
        if self.sign < 0:
            reference = reference * MIRROR_TURN
        orientations = rotation.multiply(reference, self.turns)
        above = np.concatenate([np.broadcast_to(self.carrier, orientations[:, :1].shape), orientations[:, :-1]], axis=1)
        return rotation.make_continuous(rotation.multiply(rotation.conjugate(above), orientations))


def find_arms(skeleton: Skeleton, sides: Iterable[str]) -> list[Arm]:
    """The arms of these sides, in this order."""
    sides = list(sides)
    needed = ["hips", *(f"{side}{stem}" for side in sides for stem in ("UpperArm", "LowerArm"))]
    missing = [role for role in needed if role not in skeleton.roles]
    if missing:
        raise InputError(
            f"this gesture needs arms, and no joint has the roles {', '.join(missing)}. Name them: "
            f"roles={{'{missing[0]}': 'the joint'}}."
        )
    return [_find_arm(skeleton, side) for side in sides]


@remembered
def _find_arm(skeleton: Skeleton, side: str) -> Arm:
    turns = find_turns(skeleton)
    sign, along = (1.0, X) if side == "left" else (-1.0, -X)
    rest = skeleton.rest_positions()
    roles = [f"{side}{stem}" for stem in ("Shoulder", "UpperArm", "LowerArm", "Hand")]
    found = {role: skeleton.index(role) for role in roles if role in skeleton.roles}
    upper, lower, hand = found[roles[1]], found[roles[2]], found.get(roles[3])
    has_clavicle = roles[0] in found and found[roles[0]] in skeleton.chain(upper)[:-1]
    if not has_clavicle:
        found.pop(roles[0], None)
    joints = tuple(found.values())
    carrier = turns[max(int(skeleton.parents[joints[0]]), 0)]

    bone = rest[lower] - rest[upper]
    forearm = rest[hand] - rest[lower] if hand is not None else _find_forearm(skeleton, lower, bone)
    if min(np.linalg.norm(bone), np.linalg.norm(forearm)) == 0.0:
        raise InputError(f"the {side} arm's bones have no length. Mend the skeleton's offsets.")
    own = turns[list(joints)].copy()
    if hand is None:
        swung = rotation.rotate(turns[lower], forearm)
        own[-1] = rotation.multiply(rotation.between(swung, along), turns[lower])

    def seen(joint: int) -> np.ndarray:
        """(3,) where a joint is at rest, in arm axes."""
        place = rotation.rotate(carrier, rest[joint] - _find_middle(skeleton, rest, upper))
        return place * MIRROR_VECTOR if sign < 0 else place

    return Arm(
        sign=sign,
        joints=joints,
        turns=own,
        carrier=carrier,
        clavicle=seen(joints[0]),
        shoulder=seen(upper),
        upper=float(np.linalg.norm(bone)),
        lower=float(np.linalg.norm(forearm)),
        has_clavicle=has_clavicle,
        has_hand=hand is not None,
    )


def _find_forearm(skeleton: Skeleton, lower: int, upper_arm: np.ndarray) -> np.ndarray:
    """(3,) the forearm's rest vector where no joint is the hand: to its end site or child, else by proportion."""
    ends = [skeleton.offsets[child] for child in skeleton.children(lower)]
    if skeleton.has_tip[lower]:
        ends.insert(0, skeleton.tips[lower])
    longest = max(ends, key=lambda end: float(np.linalg.norm(end)), default=np.zeros(3))
    if np.linalg.norm(longest) > 0.3 * np.linalg.norm(upper_arm):
        return np.asarray(longest)
    return _FOREARM_SHARE * upper_arm


def _find_middle(skeleton: Skeleton, rest: np.ndarray, upper: int) -> np.ndarray:
    """(3,) between the shoulder joints; where there is only one, beside it over the hips."""
    roles = [f"{side}UpperArm" for side in SIDES]
    if all(role in skeleton.roles for role in roles):
        return np.asarray(rest[[skeleton.index(role) for role in roles]].mean(axis=0))
    hips = rest[skeleton.index("hips")]
    return np.array([hips[0], rest[upper, 1], rest[upper, 2]])


def _find_hinge(line: np.ndarray) -> np.ndarray:
    """(N, 3) the axis a left elbow bends about when the wrist lies along `line` (N, 3) from the shoulder.

    The elbow points back under a hanging arm, down under a level one, to the side under a raised one, always a bit
    outward. It lies on the side of the pole p, so the axis is p x line; no arm points along its own pole.
    """
    up = line[:, 1] / lengths(line)
    pole = np.stack([np.full_like(up, 0.40), np.full_like(up, -0.85), -0.30 * (1.0 - up)], axis=-1)
    return rotation.cross(pole, line)


def _unit(v: np.ndarray) -> np.ndarray:
    return v / lengths(v, keepdims=True)

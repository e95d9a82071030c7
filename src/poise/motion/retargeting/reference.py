"""One reference pose for every skeleton, whatever pose its file calls rest: arms straight out to the sides with the
palms down, legs straight down, feet ahead and flat.

Bones are brought there one after the other from the trunk outward, each by the smallest turn that gives it its
direction. That takes an arm from A, from hanging or from straight ahead to T as a shoulder would, palms included. What
a bone's direction cannot say is left as it is at rest: the curve of the spine, the collar bones, the head. Palms are
turned down where knuckles show which way they face.

In the reference pose a role means the same on every skeleton: the same world orientation of the thigh makes two
skeletons' thighs point the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from poise.body.geometry.rest_frame import RestFrame, unit
from poise.body.roles import FINGER_STEMS, SIDES
from poise.body.skeleton import Skeleton, remembered
from poise.motion.clip import Clip
from poise.spatial import rotation
from poise.spatial.rotation import length

X, Y, Z = np.eye(3)
# Bone of a role: the roles it may lead to, the first that is there; with its direction on the left in the reference.
_NEXT_FINGER = {
    stem: (following,)
    for stem, following in pairwise(FINGER_STEMS)
    if stem[:4] == following[:4] and not stem.startswith("Thumb")
}
_BONES = {
    **{stem: (ends, X) for stem, ends in {"UpperArm": ("LowerArm",), "LowerArm": ("Hand",), **_NEXT_FINGER}.items()},
    "UpperLeg": (("LowerLeg",), -Y),
    "LowerLeg": (("Foot",), -Y),
}
_KNUCKLES = ("IndexProximal", "MiddleProximal", "RingProximal", "LittleProximal")
_SPLAYED = np.radians(5.0)  # legs at rest further apart than this may carry feet that are not flat
_FOLLOWS = 0.25  # a foot was turned with its splayed leg if that explains all but this share of its toe-out
_LEANING, _TURNED = np.radians(30.0), np.radians(15.0)  # a trunk at rest that is off by less is meant to be upright
_SHORTEST = 1e-3  # of the stature: a shorter bone has no direction


@dataclass(frozen=True, eq=False)
class Reference:
    """A skeleton seen from the reference pose.

    original  the skeleton as its file has it
    skeleton  the same joints with the reference pose as rest pose
    turns     (J, 4) from each joint's axes at rest in the file to those of the reference
    """

    original: Skeleton
    skeleton: Skeleton
    turns: np.ndarray

    def enter(self, clip: Clip) -> Clip:
        """A clip of the original skeleton as one of the reference skeleton: all positions stay as they are."""
        # Orientations O C^-1, so rotations relative to the parent are C_parent R C^-1.
        above = self._above()
        rotations = rotation.multiply(rotation.multiply(above, clip.rotations), rotation.conjugate(self.turns))
        shifts = None if clip.shifts is None else rotation.rotate(above, clip.shifts)
        return clip.replace(skeleton=self.skeleton, rotations=rotations, shifts=shifts)

    def leave(self, clip: Clip) -> Clip:
        """The opposite of `enter`."""
        above = rotation.conjugate(self._above())
        rotations = rotation.multiply(rotation.multiply(above, clip.rotations), self.turns)
        shifts = None if clip.shifts is None else rotation.rotate(above, clip.shifts)
        return clip.replace(skeleton=self.original, rotations=rotations, shifts=shifts)

    def turned(self, joint: int, by: np.ndarray) -> Reference:
        """The reference with a joint, and all that it carries, turned by `by` (4,) at rest."""
        turns = self.turns.copy()
        below = self.skeleton.descendants(joint)
        turns[below] = rotation.multiply(by, turns[below])
        return _build(self.original, turns)

    def _above(self) -> np.ndarray:
        """(J, 4) each parent's turn; none for the root, whose parent is the world."""
        return np.concatenate([rotation.identity((1,)), self.turns[self.skeleton.parents[1:]]])


def build_reference(skeleton: Skeleton) -> Reference:
    """The reference pose of a skeleton with roles, of which it needs `hips`."""
    return _build(skeleton, find_turns(skeleton).copy())


@remembered
def find_turns(skeleton: Skeleton) -> np.ndarray:
    """(J, 4) from each joint's axes at rest to those in the reference pose; not to be written to."""
    frame = RestFrame(skeleton)
    upright = rotation.from_matrix(_trunk_axes(frame))
    turns = np.tile(upright, (len(skeleton), 1))
    role_of = {name: role for role, name in skeleton.roles.items()}
    for joint in range(1, len(skeleton)):
        turns[joint] = turns[skeleton.parents[joint]]
        role = role_of.get(skeleton.names[joint], "")
        side = next((s for s in SIDES if role.startswith(s)), None)
        if side is None:
            continue
        stem = role.removeprefix(side)
        if stem in _BONES:
            ends, direction = _BONES[stem]
            bone = _find_bone(frame, joint, [side + end for end in ends])
            if bone is not None:
                turns[joint] = _aim(turns[joint], bone, _sided(direction, side))
        elif stem == "Foot":
            turns[joint] = _level_foot(frame, joint, side, upright, turns[joint])
        elif stem == "Hand":
            turns[joint] = _turn_palm(frame, joint, side, turns)
    turns.flags.writeable = False
    return turns


def _trunk_axes(frame: RestFrame) -> np.ndarray:
    """(3, 3) rows: the trunk's left, up and front; the world's axes where it is nearly along them."""
    up = unit(frame.shoulders - frame.hips)
    up = Y if up[1] > np.cos(_LEANING) else up
    pairs = [(frame.at("left" + stem), frame.at("right" + stem)) for stem in ("UpperLeg", "UpperArm")]
    left = sum((a - b for a, b in pairs if a is not None and b is not None), np.zeros(3))
    left = left - (left @ up) * up
    if length(left) < _SHORTEST * frame.stature or left[0] > np.cos(_TURNED) * length(left):
        left = X - (X @ up) * up
    left = unit(left)
    return np.stack([left, up, np.cross(left, up)])


def _build(skeleton: Skeleton, turns: np.ndarray) -> Reference:
    """The reference skeleton that the turns make, its ankles as high above the ground as at rest."""
    offsets = skeleton.offsets.copy()
    offsets[1:] = rotation.rotate(turns[skeleton.parents[1:]], skeleton.offsets[1:])
    tips = rotation.rotate(turns, np.asarray(skeleton.tips))
    posed = skeleton.replace(offsets=offsets, tips=tips)
    feet = [i for side in SIDES if (i := skeleton.find_role(f"{side}Foot")) is not None]
    if feet:
        offsets[0, 1] += skeleton.rest_positions()[feet, 1].min() - posed.rest_positions()[feet, 1].min()
    return Reference(skeleton, posed.replace(offsets=offsets), turns)


def _find_bone(frame: RestFrame, joint: int, ends: list[str]) -> np.ndarray | None:
    """(3,) rest vector of the bone from a joint to the first of these roles, or None where it has no length."""
    for role in ends:
        end = frame.at(role)
        if end is not None and length(end - frame.places[joint]) > _SHORTEST * frame.stature:
            return np.asarray(end - frame.places[joint])
    return None


def _sided(direction: np.ndarray, side: str) -> np.ndarray:
    """A direction of the left side, as it is on `side`."""
    return direction if side == "left" else direction * np.array([-1.0, 1.0, 1.0])


def _aim(turn: np.ndarray, bone: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """(4,) the turn, followed by the smallest one that makes the bone point in a direction."""
    return rotation.multiply(rotation.between(rotation.rotate(turn, bone), direction), turn)


def _turn_palm(frame: RestFrame, hand: int, side: str, turns: np.ndarray) -> np.ndarray:
    """(4,) the hand's turn. Where its twist is known half of it goes to the forearm, in place."""
    knuckles = [p - frame.places[hand] for stem in _KNUCKLES if (p := frame.at(side + stem)) is not None]
    bone = np.mean(knuckles, axis=0) if knuckles else np.zeros(3)
    if length(bone) < _SHORTEST * frame.stature:
        return turns[hand]
    along = _sided(X, side)
    swung = _aim(turns[hand], bone, along)
    index, little = frame.at(side + "IndexProximal"), frame.at(side + "LittleProximal")
    if index is None or little is None:
        return swung
    across = rotation.rotate(swung, index - little)
    if length(across[1:]) < _SHORTEST * frame.stature:
        return swung
    twist = np.arctan2(across[1], across[2])  # about X: what brings the index finger's side to the front
    forearm = frame.skeleton.find_role(f"{side}LowerArm")
    if forearm is not None:
        turns[forearm] = rotation.multiply(rotation.exp(0.5 * twist * X), turns[forearm])
    return rotation.multiply(rotation.exp(twist * X), swung)


def _level_foot(frame: RestFrame, foot: int, side: str, upright: np.ndarray, leg: np.ndarray) -> np.ndarray:
    """(4,) the foot's turn: flat as at rest, or as it is on a leg that was splayed with it; its toes to the front."""
    forward = _find_bone(frame, foot, [f"{side}Toes"])
    if forward is None and frame.skeleton.has_tip[foot]:
        forward = np.asarray(frame.skeleton.tips[foot])
    turn = upright
    if forward is None or length(forward) < _SHORTEST * frame.stature:
        return turn
    aside = [abs(rotation.rotate(q, forward)[0]) for q in (upright, leg)]
    if rotation.angle(upright, leg) > _SPLAYED and aside[1] < _FOLLOWS * aside[0]:
        turn = leg
    ahead = rotation.rotate(turn, forward)
    if np.hypot(ahead[0], ahead[2]) < 0.2 * length(ahead):
        return turn  # it points down: nothing says where the front is
    return rotation.multiply(rotation.exp(-np.arctan2(ahead[0], ahead[2]) * Y), turn)

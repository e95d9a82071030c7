"""The shape of a foot that walks: the outline of its sole, and the axes about which it rolls.

All in the frame of the foot's joint at rest, in metres: +z ahead, +x to the left. A foot stands at a *place*, the point
of its sole's plane that is straight under its joint at rest, with a *turn*. A heel rises about the toes' joint while
the toes stay where they are; a foot without toes rolls over its front edge. Toes rise about the heel's edge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.character import Character
from poise.body.geometry.soles import build_footing, find_soles, leg_length
from poise.body.roles import SIDES
from poise.spatial import rotation
from poise.walking.feet.records import FootShape
from poise.world.foot_boxes import find_corners

_STIFF = np.radians(40.0)  # a knee that bends less has its leg swung as a whole
_ASKEW = 0.004  # rad
_AXIS = np.array([1.0, 0.0, 0.0])


@dataclass(frozen=True, eq=False)
class WalkingFoot:
    """One foot.

    side          0 left, 1 right
    joint, toes   indices; toes is -1 where the skeleton has none
    down          m, from the joint to the plane of its sole
    corners       (4, 3) m, of the sole: heel right, heel left, front right, front left
    front         (N, 3) m, corners of what carries while the heel is up
    back          (2, 3) m, corners of what carries while the toes are up
    ball, heel    (3,) m, what the heel and the toes rise about
    hinge         (3,) unit, the axis of both: turning about it brings toes down
    yaw           rad, how far to the left of ahead the sole points at rest
    hip           index of the leg's first joint; leg m, from hip to ankle
    stiff         whether the knee over it hardly bends
    bends         rad, how far its toes bend about the hinge within their range: those of a skewed foot hardly do
    """

    side: int
    joint: int
    toes: int
    down: float
    corners: np.ndarray
    front: np.ndarray
    back: np.ndarray
    ball: np.ndarray
    heel: np.ndarray
    hinge: np.ndarray
    yaw: float
    hip: int
    leg: float
    stiff: bool = False
    bends: float = np.inf

    @property
    def ahead(self) -> np.ndarray:
        """(3,) unit, the way that the sole points at rest."""
        return np.array([np.sin(self.yaw), 0.0, np.cos(self.yaw)])

    @property
    def sole(self) -> np.ndarray:
        """(4, 2) m, of the corners from the foot's place: along the hinge, and along the sole."""
        return np.stack([self.corners @ self.hinge, self.corners @ self.ahead], axis=1)

    @property
    def length(self) -> float:
        """m, of the sole."""
        return float(np.linalg.norm(self.corners[2] - self.corners[0]))

    def build_shape(self) -> FootShape:
        """Return the foot as compiled code reads it."""
        ball, heel, hinge = (np.array(each, float) for each in (self.ball, self.heel, self.hinge))
        return FootShape(drop=self.down, has_toes=int(self.toes >= 0), ball=ball, heel=heel, hinge=hinge)

    def pitched(self, angle: float | np.ndarray) -> np.ndarray:
        """(..., 4) the turn of a foot whose heel is up by an angle (...), or whose toes are where it is negative."""
        return rotation.exp(np.asarray(angle, float)[..., None] * self.hinge)


def build_feet(character: Character) -> tuple[WalkingFoot, WalkingFoot]:
    """The left and the right foot of a body."""
    skeleton = character.skeleton
    rest = skeleton.rest_positions()
    feet = []
    for side, (word, sole, box) in enumerate(zip(SIDES, find_soles(skeleton), build_footing(skeleton), strict=True)):
        hinge = rotation.rotate(box.turn, _AXIS)
        ahead = rotation.rotate(box.turn, np.array([0.0, 0.0, 1.0]))
        corners = find_corners(box)
        corners = corners[np.lexsort((corners @ hinge, np.round(corners @ ahead, 9)))]  # heel first, right to left
        back, tip = corners[:2], corners[2:]
        if sole.toes is None:
            ball, front = tip.mean(axis=0), tip
        else:
            ball = rest[sole.toes] - rest[sole.foot]
            share = np.clip((ball - back[0]) @ ahead / ((tip[0] - back[0]) @ ahead), 0.4, 0.95)
            front = np.concatenate([back + share * (tip - back), tip])
        feet.append(
            WalkingFoot(
                side, sole.foot, -1 if sole.toes is None else sole.toes, -float(sole.heel[1]), corners, front, back,
                ball, back.mean(axis=0), hinge, float(np.arctan2(ahead[0], ahead[2])),
                skeleton.index(f"{word}UpperLeg"), leg_length(skeleton, word), _is_stiff(character, f"{word}LowerLeg"),
                _find_bend(character, sole.toes, hinge),
            )
        )  # fmt: skip
    return feet[0], feet[1]


def _is_stiff(character: Character, knee: str) -> bool:
    """Whether a knee hardly bends, so that its foot gets past the other one by the hips alone."""
    name = character.skeleton.names[character.skeleton.index(knee)]
    if name not in character.freedoms:
        return True
    ends = character.limits.get(name)
    return ends is not None and float(np.max(ends.upper - ends.lower)) < _STIFF


def _find_bend(character: Character, toes: int | None, hinge: np.ndarray) -> float:
    """rad, how far toes turn up about a hinge (3,) before their range has them turn otherwise by `_ASKEW`."""
    ends = None if toes is None else character.limits.get(character.skeleton.names[toes])
    if ends is None:
        return float("inf")
    bends = np.linspace(0.0, 0.5 * np.pi, 181)
    wanted = rotation.exp(-bends[:, None] * hinge)
    got = ends.rotation(np.clip(ends.angles(wanted), ends.lower, ends.upper))
    off = np.linalg.norm(rotation.log(rotation.multiply(rotation.conjugate(wanted), got)), axis=-1)
    beyond = np.flatnonzero(off > _ASKEW)
    return float(bends[max(beyond[0] - 1, 0)]) if len(beyond) else float("inf")

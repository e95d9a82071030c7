"""What Poise's own motions need to know of a body: joints by role, bone vectors, soles, and how it stands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poise.body.geometry.soles import Sole, find_soles, leg_length
from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.frozen import Portable

_LEGS = ("hips", *(f"{s}{j}" for s in SIDES for j in ("UpperLeg", "LowerLeg", "Foot")))
_NEEDED = ("hips", "head", *_LEGS[1:], *(f"{s}{j}" for s in SIDES for j in ("UpperArm", "LowerArm")))
REACH = 0.995  # the longest leg, hip to ankle, as a share of its length: no knee is straighter than 11 degrees
_HIP_BEFORE_ANKLE = 0.02  # of the leg's length: puts the centre of mass over the arch of the foot
TOE_OUT = np.radians(7.0)  # Murray et al. 1964, "Walking patterns of normal men": about 7 degrees


@dataclass(frozen=True, eq=False)
class Figure(Portable):
    """A human skeleton with roles, its arms out to the sides (T) or down at an angle (A) at rest. Lengths in metres.

    is_whole  whether it must have arms and a head, too
    """

    skeleton: Skeleton
    is_whole: bool = True

    def __post_init__(self) -> None:
        needed = _NEEDED if self.is_whole else _LEGS
        missing = [role for role in needed if role not in self.skeleton.roles]
        if missing:
            raise InputError(f"this motion needs a human skeleton: no joint has the roles {', '.join(missing)}.")

    @cached_property
    def rest(self) -> np.ndarray:
        """(J, 3) rest positions."""
        return self.skeleton.rest_positions()

    @cached_property
    def soles(self) -> tuple[Sole, Sole]:
        """The left and the right sole."""
        return find_soles(self.skeleton)

    @cached_property
    def leg(self) -> float:
        """The shorter leg's length, hip to ankle: the unit that everything is proportional to."""
        return min(leg_length(self.skeleton, side) for side in SIDES)

    def bone(self, start: str, end: str) -> np.ndarray:
        """(3,) rest vector from one role's joint to another's."""
        return self.rest[self.skeleton.index(end)] - self.rest[self.skeleton.index(start)]

    def pivot(self, side: int) -> np.ndarray:
        """(3,) from the ankle to where the foot rolls over its front: the toes' joint, else the tip of the foot."""
        sole = self.soles[side]
        return sole.tip if sole.toes is None else self.rest[sole.toes] - self.rest[sole.foot]

    @cached_property
    def stance(self) -> np.ndarray:
        """(2, 3) where the ankles are in quiet standing on y = 0, the hips over the origin."""
        rows = []
        for i, side in enumerate(SIDES):
            across = self.bone("hips", f"{side}UpperLeg")[0]
            rows.append([across, -self.soles[i].heel[1], -_HIP_BEFORE_ANKLE * self.leg])
        return np.array(rows)

    @cached_property
    def stand_height(self) -> float:
        """The height of the hips' joint in quiet standing."""
        return float(self.highest_hips(np.zeros((1, 3)), self.stance[None])[0])

    def highest_hips(self, hips: np.ndarray, ankles: np.ndarray, reach: float = REACH) -> np.ndarray:
        """(F,) the greatest height of upright hips at (F, 3), so that no leg is longer than `reach` of its length.

        ankles  (F, 2, 3)
        """
        heights = []
        for i, side in enumerate(SIDES):
            hip = self.bone("hips", f"{side}UpperLeg")
            flat = ankles[:, i] - hips - hip  # only x and z are used
            length = reach * leg_length(self.skeleton, side)
            room = np.maximum(length**2 - flat[:, 0] ** 2 - flat[:, 2] ** 2, 0.0)
            heights.append(ankles[:, i, 1] - hip[1] + np.sqrt(room))
        return np.minimum(*heights)

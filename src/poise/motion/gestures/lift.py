"""Arms lifted to the front, held there and let down again, as to show somebody how heavy a thing is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.errors import check_range
from poise.motion.gestures.arm import Arm, ArmPath, X
from poise.motion.gestures.gesture import HANDS, SingleGesture, check_choice
from poise.motion.samples.curves import rise_and_fall
from poise.spatial import rotation

_PALM = np.array([-1.0, 0.0, 0.0])
_STRETCH = 0.99  # wrist from the shoulder in front, over the arm's length: the elbow nearly straight


@dataclass(frozen=True)
class LiftArms(SingleGesture):
    """Phase is seconds; at 0 and at the end the arms hang.

    hands  "both", "left" or "right"
    angle  degrees forward from hanging straight down, 10 to 150; 90 is shoulder height
    up     s to rise, at least 0.3; hold s held, from 0; down s to go down again, at least 0.3
    """

    hands: str = "both"
    angle: float = 90.0
    up: float = 0.7
    hold: float = 1.2
    down: float = 0.9

    def __post_init__(self) -> None:
        check_choice("lift_arms", "hands", self.hands, list(HANDS))
        check_range("lift_arms: angle", self.angle, 10.0, 150.0, "degrees")
        check_range("lift_arms: up", self.up, 0.3, 60.0, "s")
        check_range("lift_arms: hold", self.hold, 0.0, 3600.0, "s")
        check_range("lift_arms: down", self.down, 0.3, 60.0, "s")

    @property
    def length(self) -> float:
        """s, up, held and down."""
        return self.up + self.hold + self.down

    @property
    def sides(self) -> tuple[str, ...]:
        """The arms of `hands`."""
        return HANDS[self.hands]

    def path(self, arm: Arm, phase: np.ndarray) -> ArmPath:
        """The wrist on an arc about the shoulder, from hanging at ease to the front, where the arm is stretched."""
        share = rise_and_fall(phase, 0.0, self.up, self.up + self.hold, self.length)[:, None]
        line = arm.hanging - arm.shoulder
        ahead = np.arctan2(line[2], -line[1])  # of an arm that hangs
        stretch = 1.0 + share * (_STRETCH * arm.length / np.linalg.norm(line) - 1.0)
        turn = rotation.exp(share * (ahead - np.radians(self.angle)) * X)
        return ArmPath(arm.shoulder + stretch * rotation.rotate(turn, line), _PALM, np.zeros(len(phase)))


def lift_arms(
    hands: str = "both", angle: float = 90.0, up: float = 0.7, hold: float = 1.2, down: float = 0.9
) -> LiftArms:
    """Arms lifted to the front, held and let down, from hanging and back to it; see `LiftArms`."""
    return LiftArms(hands, angle, up, hold, down)

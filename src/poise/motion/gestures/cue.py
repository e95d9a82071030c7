"""A cue played once: one arm rises from hanging, holds its hand up, and goes down again.

The hand is held in front of the shoulder at breast height, open, the palm up and to the middle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.errors import check_range
from poise.motion.gestures.arm import Arm, ArmPath
from poise.motion.gestures.gesture import SingleGesture, check_choice
from poise.motion.samples.curves import hump, rise, rise_and_fall

_ARC = np.array([0.10, -0.06, 0.06])  # arm lengths by which the way up swings outward and forward
_HANGING_PALM = np.array([-1.0, 0.0, 0.0])


@dataclass(frozen=True)
class Cue(SingleGesture):
    """Phase is seconds; at 0 and at the end the arm hangs.

    hand  "left" or "right"
    up    s to rise, at least 0.3; hold s held, from 0; down s to go down again, at least 0.3
    """

    hand: str = "left"
    up: float = 0.7
    hold: float = 1.2
    down: float = 0.9

    def __post_init__(self) -> None:
        check_choice("cue", "hand", self.hand, ["left", "right"])
        check_range("cue: up", self.up, 0.3, 60.0, "s")
        check_range("cue: hold", self.hold, 0.0, 3600.0, "s")
        check_range("cue: down", self.down, 0.3, 60.0, "s")

    @property
    def length(self) -> float:
        """s, up, held and down."""
        return self.up + self.hold + self.down

    @property
    def sides(self) -> tuple[str, ...]:
        """The one arm."""
        return (self.hand,)

    def path(self, arm: Arm, phase: np.ndarray) -> ArmPath:
        """From hanging to held up on an arc, and back the same way."""
        raised = raised_hand(arm, np.zeros(len(phase)))
        leave = self.up + self.hold
        share = rise_and_fall(phase, 0.0, self.up, leave, self.length)[:, None]
        # The palm turns up late, once the forearm has come forward.
        turn = rise_and_fall(phase, 0.25 * self.up, self.up, leave, leave + 0.75 * self.down)[:, None]
        swing = hump(rise(phase, 0.0, self.up)) + hump(rise(phase, leave, self.length))
        wrist = arm.hanging + share * (raised.wrist - arm.hanging) + arm.length * _ARC * swing[:, None]
        palm = _HANGING_PALM + turn * (raised.palm - _HANGING_PALM)
        return ArmPath(wrist, palm, raised.flexion * turn[:, 0])


def cue(hand: str = "left", up: float = 0.7, hold: float = 1.2, down: float = 0.9) -> Cue:
    """One hand raised for a cue, from hanging and back to it; see `Cue`."""
    return Cue(hand, up, hold, down)


PLACE = np.array([0.52, -0.18, 0.70])  # (out, up, forward) in arm lengths from between the shoulders
PALM = np.array([-0.35, 1.0, -0.25])
FLEXION = np.radians(-8.0)


def raised_hand(arm: Arm, lift: np.ndarray) -> ArmPath:
    """The arm's path with the hand held up, raised further by `lift` (N,) arm lengths."""
    place = PLACE + np.stack([0.0 * lift, lift, 0.0 * lift], axis=-1)
    return ArmPath(arm.length * place, PALM, np.full(len(lift), FLEXION), reach=0.95)

"""Swinging the arms, as in figure 6 of the mix paper: forward to the height of the shoulders, and back.

Who takes part turns his shoulders with hands of which one goes forward while the other goes back, as recorded people do
(CMU 15_08, hand signals, and 79_18, air drums): by 2.2 and 2.4 rad for each metre of either hand (correlation 0.86 and
0.72), their pelvis by 0.5 and 0.2 of that. Nobody is recorded who swings both arms together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError, check_range
from poise.motion.body_track import BodyTrack
from poise.motion.gestures.arm import Arm, ArmPath
from poise.motion.gestures.gesture import HANDS, ArmGesture, check_choice
from poise.motion.gestures.taking_part import Along, find_body_track

_BACK = 0.30  # of the forward angle, as far as it is below _MOST_BACK
_MOST_BACK = 28.0  # degrees: beyond some 50 the shoulder has no further to go
# Wrist from the shoulder at rest over the arm's length, at the back and in front, where the collar bone comes along;
# the soft limit of the reach leaves an elbow bent by 20 to 30 degrees.
_STRETCH = (0.995, 1.01)
_ASIDE = np.radians(9.0)  # hands clear of the hips; in front they come together again
_LAG = np.radians(2.2)  # wrist bend a radian a second at 1 swing a second
_ALONG = Along(apart=2.2, pelvis=0.35)


@dataclass(frozen=True)
class ArmSwing(ArmGesture):
    """Arms that swing in the sagittal plane. Phase counts swings, there and back; at 0 the left arm is furthest back.

    rate       swings a second, 0.1 to 3
    amplitude  degrees forward from hanging, 5 to 120; 90 is shoulder height. Back they go 0.3 of it, 28 at most
    hands      "both", "left" or "right"
    opposite   False: both arms together; True: one forward while the other goes back, as in walking
    takes_part how much the rest of the body goes along, 0 to 1: the chest turns with arms that swing `opposite` or with
               one alone, by up to 20 degrees. Where legs balance (`Balance`) with a trunk that nobody else drives;
               played by themselves or without physics, the arms alone move
    """

    rate: float = 1.0
    amplitude: float = 85.0
    hands: str = "both"
    opposite: bool = False
    takes_part: float = 0.0

    def __post_init__(self) -> None:
        check_range("arm_swing: rate", self.rate, 0.1, 3.0, "swings a second")
        check_range("arm_swing: amplitude", self.amplitude, 5.0, 120.0, "degrees")
        check_choice("arm_swing", "hands", self.hands, list(HANDS))
        check_choice("arm_swing", "opposite", self.opposite, [True, False])
        check_range("arm_swing: takes_part", self.takes_part, 0.0, 1.0)
        if self.takes_part and self.hands == "both" and not self.opposite:
            raise InputError(
                "arm_swing: takes_part has no effect on arms that swing together; it must be 0 unless opposite is True "
                f"or one hand swings; given {self.takes_part!r}. Set opposite=True, or leave takes_part out."
            )

    @property
    def period(self) -> float:
        """One swing."""
        return 1.0

    @property
    def sides(self) -> tuple[str, ...]:
        """The arms of `hands`."""
        return HANDS[self.hands]

    def path(self, arm: Arm, phase: np.ndarray) -> ArmPath:
        """The wrist on an arc about the shoulder, the elbow a little more bent in front."""
        late = 0.5 if self.opposite and arm.sign < 0 else 0.0
        turn = 2.0 * np.pi * (phase + late)
        front, back = self.amplitude, -min(_BACK * self.amplitude, _MOST_BACK)
        share = 0.5 - 0.5 * np.cos(turn)  # 0 at the back, 1 in front
        angle = np.radians(back + (front - back) * share)
        aside = _ASIDE * (1.0 - 0.8 * share)
        stretch = arm.length * (_STRETCH[0] + (_STRETCH[1] - _STRETCH[0]) * share)
        direction = np.stack([np.sin(aside), -np.cos(aside) * np.cos(angle), np.cos(aside) * np.sin(angle)], axis=-1)
        # In the swing's plane the palm is inward and the wrist's bend sideways; turned down it lags with the hand.
        palm = np.stack([-np.ones_like(share), -0.45 * np.sin(angle), 0.0 * share - 0.45 * np.cos(angle)], axis=-1)
        lag = _LAG * np.pi * np.radians(front - back) * np.sin(turn)
        return ArmPath(arm.shoulder + stretch[:, None] * direction, palm, lag)

    def body_track(self, skeleton: Skeleton) -> BodyTrack | None:
        """See `Motion.body_track`."""
        swing = ArmSwing(1.0, self.amplitude, self.hands, self.opposite)
        return find_body_track(swing, self.sides, _ALONG, skeleton, self.takes_part, 1.0, self.rate)


def arm_swing(
    rate: float = 1.0, amplitude: float = 85.0, hands: str = "both", opposite: bool = False, takes_part: float = 0.0
) -> ArmSwing:
    """Arms swinging `rate` times a second, forward by `amplitude` degrees; see `ArmSwing`."""
    return ArmSwing(rate, amplitude, hands, opposite, takes_part)

"""Clapping: the palms meet in front of the chest on every whole phase, quickest just before, and spring apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.errors import check_range
from poise.motion.gestures.arm import Arm, ArmPath
from poise.motion.gestures.curves import bounce
from poise.motion.gestures.gesture import HANDS, ArmGesture

# Half a hand's thickness in arm lengths: 29 mm over the metacarpals, on an arm of 0.57 m. Wrists this far from the
# middle plane, hands parallel to it, have their palms on it; the mannequin's curled fingers reach 8 mm past it.
HALF_HAND = 0.5 * 0.029 / 0.57
_PLACE = np.array([0.0, -0.30, 0.50])  # of the contact, (out, up, forward) in arm lengths from between the shoulders
_OPEN = 0.26  # arm lengths each hand goes outward, at width 1
_DROP = -0.03  # hands sink a little as they part
_PALM = np.array([-1.0, 0.10, 0.0])
_OUTWARD = np.radians(-4.0)  # fingers stand off a little, so that relaxed ones, which curl, meet and do not cross
_SOFTNESS, _LEAN = 0.6, 0.35


@dataclass(frozen=True)
class Clap(ArmGesture):
    """Both hands. Phase counts claps; the palms touch at whole phases.

    rate   claps a second, 0.2 to 6. Above 2 the hands part less, with the root of it
    width  how far they part, 0.2 to 2; 1 is 0.3 m between the palms of an adult
    """

    rate: float = 2.0
    width: float = 1.0

    def __post_init__(self) -> None:
        check_range("clap: rate", self.rate, 0.2, 6.0, "claps a second")
        check_range("clap: width", self.width, 0.2, 2.0)

    @property
    def period(self) -> float:
        """One clap."""
        return 1.0

    @property
    def sides(self) -> tuple[str, ...]:
        """Both arms."""
        return HANDS["both"]

    def path(self, arm: Arm, phase: np.ndarray) -> ArmPath:
        """One hand, coming to the middle plane and going out from it."""
        apart = _OPEN * self.width * min(1.0, np.sqrt(2.0 / self.rate)) * bounce(phase, _SOFTNESS, _LEAN)[0]
        place = _PLACE + np.stack([HALF_HAND + apart, _DROP * apart / _OPEN, 0.0 * apart], axis=-1)
        return ArmPath(arm.length * place, _PALM, np.full(len(phase), _OUTWARD), flat=True)


def clap(rate: float = 2.0, width: float = 1.0) -> Clap:
    """Clapping `rate` times a second; see `Clap`."""
    return Clap(rate, width)

"""Stiffness and damping of each joint of a marionette.

They are frequencies and damping ratios instead of newton metres, so that they mean the same for a child and for a
giant. The paper gives none; these were found by eye and from the measurements of people that are cited beside them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

from poise.errors import check_range, unknown_name


@dataclass(frozen=True)
class Spring:
    """Spring and damper of a joint.

    frequency             Hz: low lags and sways, high is stiff
    ratio                 damping ratio: 0 swings for ever, 1 does not overshoot
    width                 rad around hanging in which a hinge swings freely: small is tight
    passive_damping       damping ratio of that free swing
    down_frequency        Hz, of a knee that bears weight, and of a foot on the ground that its target holds off level
    down_ratio            damping ratio of those
    locked                Hz, of a straight knee that bears weight
    lock_range            rad from straight, at which such a knee begins to lock
    level                 Hz, how fast a nearly level foot on the ground becomes level
    loose                 1/s, damping of a foot that falls flat
    gravity_compensation  0: rests off its target by its weight, as in the paper; 1: at its target
    """

    frequency: float = 10.0
    ratio: float = 1.0
    width: float = 0.2
    passive_damping: float = 0.08
    down_frequency: float = 2.8
    down_ratio: float = 0.3
    locked: float = 12.0
    lock_range: float = math.radians(4.0)
    level: float = 6.0
    loose: float = 4.0
    gravity_compensation: float = 1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            check_range(f"'{field.name}' of a spring", getattr(self, field.name), *RANGES[field.name])


RANGES = {
    "frequency": (0.1, 60.0), "ratio": (0.0, 10.0), "width": (0.01, 3.0), "passive_damping": (0.0, 10.0),
    "down_frequency": (0.1, 60.0), "down_ratio": (0.0, 10.0), "locked": (0.1, 60.0), "lock_range": (0.001, 1.0),
    "level": (0.5, 60.0), "loose": (0.0, 100.0), "gravity_compensation": (0.0, 1.0),
}  # fmt: skip

# A relaxed knee's swing loses about half of its height each time: its damping ratio in the pendulum test of healthy
# people is 0.1 or so (Wartenberg 1951; Bajd and Vodovnik 1984). A leg that hops is a spring of 2 to 3 Hz (Farley et al.
# 1991). A foot is flat a tenth of a second after the heel (Perry 1992: 12 % of a cycle, from heel strike at 0).
SPRINGS: Mapping[str, Spring] = {
    "LowerLeg": Spring(frequency=3.0, ratio=0.7),
    "LowerArm": Spring(frequency=4.0, ratio=0.7, width=0.15, passive_damping=0.12),
    "Foot": Spring(frequency=5.0, ratio=0.7, down_frequency=4.0, down_ratio=0.35),
    "Toes": Spring(frequency=15.0),
    "root": Spring(frequency=6.0),
    "others": Spring(),
}


def read_springs(given: Mapping[str, Mapping[str, float]]) -> dict[str, Spring]:
    """Return the default springs with some of their numbers replaced, such as {"LowerLeg": {"frequency": 4}}."""
    found = dict(SPRINGS)
    for name, numbers in given.items():
        if name not in found:
            raise unknown_name("kind of joint", name, found)
        for key in numbers:
            if key not in RANGES:
                raise unknown_name(f"number of the spring '{name}',", key, RANGES)
        default = {field.name: getattr(found[name], field.name) for field in fields(Spring)}
        found[name] = Spring(**{**default, **numbers})
    return found

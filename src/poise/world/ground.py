"""What bodies stand on: one level plane."""

from __future__ import annotations

import math
from dataclasses import dataclass

from poise.errors import InputError

HIGHEST = 1e5  # m


@dataclass(frozen=True)
class Ground:
    """A level floor.

    height    m
    friction  sideways force it takes, of the force on it: 0 ice, about 0.8 a shoe on a dry floor, above 1 rubber
    """

    height: float = 0.0
    friction: float = 0.8

    def __post_init__(self) -> None:
        if not (math.isfinite(self.height) and abs(self.height) <= HIGHEST):
            raise InputError(f"the ground's height is {self.height}; it must be of at most {HIGHEST:g} m.")
        if not 0.0 <= self.friction <= 10.0:
            raise InputError(f"the ground's friction is {self.friction:g}; it must be from 0 (ice) to 10.")

"""A slope."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poise.kinds import checked
from poise.world.ground import Ground, Plane, check_range
from poise.world.ground_record import TILTED

STEEPEST = math.radians(60.0)


@checked
@dataclass(frozen=True)
class Tilted(Ground):
    """A plane that rises one way.

    angle    rad, from level: 0.1 is a steep street, 0.17 (10 degrees) a wheelchair's limit and more
    heading  rad, the way that it rises: 0 is +Z, where a character faces; pi / 2 is +X, its left
    height   m, over the origin
    """

    angle: float = 0.0
    heading: float = 0.0
    height: float = field(default=0.0, kw_only=True)
    friction: float = field(default=0.8, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("tilt of the ground", self.angle, -STEEPEST, STEEPEST, " rad")
        check_range("heading in which the ground rises", self.heading, -100.0, 100.0, " rad")

    @property
    def slope(self) -> tuple[float, float]:
        """How much it rises a metre along x and along z."""
        steep = math.tan(self.angle)
        return steep * math.sin(self.heading), steep * math.cos(self.heading)

    def height_at(self, x: np.ndarray | float, z: np.ndarray | float, t: float = 0.0) -> np.ndarray:
        """See `Ground`."""
        return super().height_at(x, z) + self.slope[0] * np.asarray(x) + self.slope[1] * np.asarray(z)

    def normal_at(self, x: np.ndarray | float, z: np.ndarray | float, t: float = 0.0) -> np.ndarray:
        """See `Ground`."""
        return np.broadcast_to(self._normal(), (*np.broadcast(x, z).shape, 3)).copy()

    def _normal(self) -> np.ndarray:
        s = math.sin(self.angle)
        return np.array([-s * math.sin(self.heading), math.cos(self.angle), -s * math.cos(self.heading)])

    def pieces(self) -> tuple[Plane, ...]:
        """See `Ground`."""
        return (Plane(np.array([0.0, self.height, 0.0]), self._normal()),)

    def describe(self) -> dict[str, Any]:
        """See `Ground`."""
        return {**super().describe(), "kind": TILTED, "slope_x": self.slope[0], "slope_z": self.slope[1]}

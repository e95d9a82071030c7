"""What bodies stand on. A ground is asked: how high it is, which way up, how rough and how fast, at x and z.

`Ground` is a level floor; `Slope`, `Stairs`, `HeightMap` and `MovingGround` are grounds too, each in its file. All
answer to

    height_at(x, z, t)    m
    normal_at(x, z, t)    (..., 3) unit, up
    friction_at(x, z, t)  sideways force it takes, of the force on it
    velocity_at(x, z, t)  (..., 3) m/s

for arrays x and z (m) of any one shape, at a time t (s). `pieces` is what engines build of it, and `describe` what
compiled code reads: see `world/ground/kernels.py`.

A slope.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poise.body.geometry.primitives import Box
from poise.errors import InputError, check_range
from poise.kinds import checked
from poise.world.ground.record import LEVEL, TILTED

HIGHEST = 1e5  # m
FAR = 1000.0  # m: how far what engines have no endless shape for goes on


@dataclass(frozen=True, eq=False)
class Plane:
    """An endless plane, solid below: point (3,) m on it; normal (3,) unit."""

    point: np.ndarray
    normal: np.ndarray


@checked
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
        check_range("the friction of the ground", self.friction, 0.0, 10.0)

    @property
    def moves(self) -> bool:
        """Whether it is ever elsewhere."""
        return False

    def height_at(self, x: np.ndarray | float, z: np.ndarray | float, t: float = 0.0) -> np.ndarray:
        """(...) m, at x and z (...)."""
        return np.full(np.broadcast(x, z).shape, float(self.height))

    def normal_at(self, x: np.ndarray | float, z: np.ndarray | float, t: float = 0.0) -> np.ndarray:
        """(..., 3) unit, out of the ground."""
        return _everywhere(x, z, np.array([0.0, 1.0, 0.0]))

    def friction_at(self, x: np.ndarray | float, z: np.ndarray | float, t: float = 0.0) -> np.ndarray:
        """(...) sideways force it takes, of the force on it."""
        return np.full(np.broadcast(x, z).shape, float(self.friction))

    def velocity_at(self, x: np.ndarray | float, z: np.ndarray | float, t: float = 0.0) -> np.ndarray:
        """(..., 3) m/s."""
        return _everywhere(x, z, np.zeros(3))

    def pieces(self) -> tuple[Plane | Box | Ground, ...]:
        """What an engine builds it of, all solid below; where it is at t = 0, if it moves. A map gives itself."""
        return (Plane(np.array([0.0, self.height, 0.0]), np.array([0.0, 1.0, 0.0])),)

    def describe(self) -> dict[str, Any]:
        """Fields of `GROUND`; those left out are 0."""
        return {"kind": LEVEL, "height": self.height, "friction": self.friction}


def _everywhere(x: np.ndarray | float, z: np.ndarray | float, vector: np.ndarray) -> np.ndarray:
    return np.broadcast_to(vector, (*np.broadcast(x, z).shape, 3)).copy()


STEEPEST = math.radians(60.0)


@checked
@dataclass(frozen=True)
class Slope(Ground):
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
        check_range("the tilt of the ground", self.angle, -STEEPEST, STEEPEST, "rad")
        check_range("the heading in which the ground rises", self.heading, -100.0, 100.0, "rad")

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

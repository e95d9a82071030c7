"""A ground that moves as a whole: a belt, a lift, a deck.

d(t)  = velocity t + sway (1 - cos(2 pi t / period)) / 2
d'(t) = velocity   + sway (pi / period) sin(2 pi t / period)
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poise.body.geometry.primitives import Box
from poise.errors import InputError, check_range
from poise.kinds import checked
from poise.world.ground.ground import Ground, Plane


@checked
@dataclass(frozen=True)
class MovingGround(Ground):
    """Another ground, carried along without turning.

    ground    what moves: where it is at t = 0
    velocity  (3,) m/s, steady
    sway      (3,) m, how far it goes and comes back, from rest
    period    s, there and back
    height, friction   of the ground that moves; None: as it has them
    """

    ground: Ground = Ground()  # noqa: RUF009  frozen
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    sway: tuple[float, float, float] = (0.0, 0.0, 0.0)
    period: float = 4.0
    height: float = field(default=None, kw_only=True)  # type: ignore[assignment]
    friction: float = field(default=None, kw_only=True)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if not isinstance(self.ground, Ground) or isinstance(self.ground, MovingGround):
            raise InputError(f"what moves is a ground that does not move by itself; given {self.ground!r:.80}.")
        own = {"height": self.height, "friction": self.friction}
        ground = dataclasses.replace(self.ground, **{key: each for key, each in own.items() if each is not None})
        object.__setattr__(self, "ground", ground)
        object.__setattr__(self, "height", ground.height)
        object.__setattr__(self, "friction", ground.friction)
        for what, most in (("velocity", 20.0), ("sway", 20.0)):
            given = getattr(self, what)
            object.__setattr__(self, what, _three(what, given, most))
        check_range("the period of a moving ground", self.period, 0.1, 1e4, "s")

    @property
    def moves(self) -> bool:
        """See `Ground`."""
        return True

    def shift(self, t: float) -> np.ndarray:
        """(3,) m, from where it is at t = 0."""
        out = 0.5 * (1.0 - math.cos(2.0 * math.pi * t / self.period))
        return np.asarray(np.array(self.velocity) * t + np.array(self.sway) * out)

    def speed(self, t: float) -> np.ndarray:
        """(3,) m/s."""
        rate = math.pi / self.period
        return np.asarray(np.array(self.velocity) + np.array(self.sway) * rate * math.sin(2.0 * rate * t))

    def acceleration(self, t: float) -> np.ndarray:
        """(3,) m/s2."""
        rate = math.pi / self.period
        return np.asarray(np.array(self.sway) * 2.0 * rate**2 * math.cos(2.0 * rate * t))

    def height_at(self, x: np.ndarray | float, z: np.ndarray | float, t: float = 0.0) -> np.ndarray:
        """See `Ground`."""
        dx, dy, dz = self.shift(t)
        return self.ground.height_at(np.asarray(x) - dx, np.asarray(z) - dz) + dy

    def normal_at(self, x: np.ndarray | float, z: np.ndarray | float, t: float = 0.0) -> np.ndarray:
        """See `Ground`."""
        dx, _, dz = self.shift(t)
        return self.ground.normal_at(np.asarray(x) - dx, np.asarray(z) - dz)

    def friction_at(self, x: np.ndarray | float, z: np.ndarray | float, t: float = 0.0) -> np.ndarray:
        """See `Ground`."""
        dx, _, dz = self.shift(t)
        return self.ground.friction_at(np.asarray(x) - dx, np.asarray(z) - dz)

    def velocity_at(self, x: np.ndarray | float, z: np.ndarray | float, t: float = 0.0) -> np.ndarray:
        """See `Ground`."""
        return np.broadcast_to(self.speed(t), (*np.broadcast(x, z).shape, 3)).copy()

    def pieces(self) -> tuple[Plane | Box | Ground, ...]:
        """See `Ground`."""
        return self.ground.pieces()

    def describe(self) -> dict[str, Any]:
        """See `Ground`."""
        own = {"moves": 1, "drift": self.velocity, "sway": self.sway, "rate": math.pi / self.period}
        return {**self.ground.describe(), **own}


def _three(what: str, given: Iterable[float], most: float) -> tuple[float, float, float]:
    try:
        x, y, z = (float(each) for each in given)
    except (TypeError, ValueError):
        raise InputError(f"the {what} of a moving ground is three numbers, x, y and z; given {given!r:.80}.") from None
    if not all(math.isfinite(each) and abs(each) <= most for each in (x, y, z)):
        raise InputError(f"the {what} of a moving ground is of at most {most:g}; given {[x, y, z]}.")
    return x, y, z

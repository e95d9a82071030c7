"""Loads that a body holds, and pushes: forces on a body for a while."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from poise.errors import InputError
from poise.kinds import checked
from poise.spatial.inertia import RigidInertia


@checked
@dataclass(frozen=True)
class Load:
    """Something heavy that a body holds: a ball of a mass, as dense as water, at a joint.

    joint   name or role
    mass    kg
    offset  (3,) m from the joint, in its frame
    """

    joint: str
    mass: float
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        given: Any = (self.joint, self.mass)
        if not (isinstance(given[0], str) and isinstance(given[1], Real)):
            raise InputError(
                f"a load is a joint's name and kilograms, as in Load('rightHand', 2); given {given[0]!r} and "
                f"{given[1]!r}."
            )
        object.__setattr__(self, "mass", float(self.mass))
        if not (np.isfinite(self.mass) and 0.0 < self.mass <= 1000.0):
            raise InputError(
                f"the load at '{self.joint}' is {self.mass:g} kg; it must be more than 0 and at most 1000 kg."
            )
        if np.shape(self.offset) != (3,) or not np.all(np.abs(self.offset) <= 1000.0):
            raise InputError(
                f"the offset of the load at '{self.joint}' is three numbers of at most 1000 m; given {self.offset}."
            )

    @property
    def radius(self) -> float:
        """m."""
        return float((3.0 * self.mass / (4.0 * np.pi * 1000.0)) ** (1.0 / 3.0))

    @property
    def inertia(self) -> RigidInertia:
        """In the joint's frame."""
        return RigidInertia(self.mass, np.array(self.offset), 0.4 * self.mass * self.radius**2 * np.eye(3))


@checked
@dataclass(frozen=True)
class Push:
    """A force on one body, at its centre of mass.

    joint    name or role of the joint whose body is pushed
    force    (3,) N, world axes
    seconds  s that it lasts
    start    s on the stage's clock; in a mix, since the clip's first frame
    """

    joint: str
    force: tuple[float, float, float]
    seconds: float
    start: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.joint, str):
            raise InputError(f"a push is at a joint, by its name or role, as in 'chest'; given {self.joint!r}.")
        try:
            x, y, z = (float(a) for a in self.force)
        except (TypeError, ValueError):
            raise InputError(f"a push is three newtons (world axes); given {self.force!r}.") from None
        try:
            seconds, start = float(self.seconds), float(self.start)
        except (TypeError, ValueError):
            raise InputError(
                f"a push begins and lasts for numbers of seconds; given {self.start!r} and {self.seconds!r}."
            ) from None
        if not (all(map(math.isfinite, (x, y, z, seconds, start))) and seconds > 0.0):
            raise InputError(f"a push takes finite newtons for more than 0 s; given {[x, y, z]} for {seconds:g} s.")
        for name, value in (("force", (x, y, z)), ("seconds", seconds), ("start", start)):
            object.__setattr__(self, name, value)

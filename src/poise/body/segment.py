"""One rigid body of a character: what a joint carries up to the next joints."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from poise.errors import InputError
from poise.spatial.inertia import RigidInertia
from poise.spatial.portable import Portable

MOST_MASS, MOST_REACH = 1e4, 1e3  # kg, m: beyond any body, below what round-off makes nonsense of


@dataclass(frozen=True, eq=False)
class Segment(Portable):
    """The matter that turns with a joint.

    name     what it is called, by default the joint's role
    joint    name of the joint whose frame it moves with
    inertia  mass (kg), centre (m) and inertia (kg m2), in the joint's frame
    """

    name: str
    joint: str
    inertia: RigidInertia

    def __post_init__(self) -> None:
        mass, center = float(self.inertia.mass), np.array(self.inertia.center, float)
        tensor = np.array(self.inertia.inertia, float)
        if center.shape != (3,) or tensor.shape != (3, 3):
            raise InputError(
                f"segment '{self.name}' needs a centre (3,) and an inertia (3, 3); "
                f"given {center.shape} and {tensor.shape}."
            )
        place, flat = center.tolist(), tensor.ravel().tolist()
        if not all(map(math.isfinite, (mass, *place, *flat))):
            raise InputError(f"segment '{self.name}' has a mass, centre or inertia that is not a finite number.")
        for what, size, most, unit in (
            ("mass", abs(mass), MOST_MASS, "kg"),
            ("centre", max(map(abs, place)), MOST_REACH, "m from its joint"),
            ("inertia", max(map(abs, flat)), MOST_MASS * MOST_REACH**2, "kg m2"),
        ):
            if size > most:
                raise InputError(
                    f"segment '{self.name}' has a {what} of {size:g} {unit}; at most {most:g} can be used. Check units."
                )
        if mass < 0.0:
            raise InputError(f"segment '{self.name}' has a mass of {mass:g} kg; it cannot be negative.")
        upper, lower = (flat[1], flat[2], flat[5]), (flat[3], flat[6], flat[7])
        if upper != lower and not np.allclose(tensor, tensor.T, rtol=1e-9, atol=1e-15):
            raise InputError(f"segment '{self.name}' has an inertia that is not symmetric.")
        inertia = RigidInertia(mass, center, 0.5 * (tensor + tensor.T))
        if not inertia.is_physical():
            raise InputError(
                f"segment '{self.name}' has an inertia that no body of {mass:g} kg can have: its principal moments "
                "must be positive and each at most the sum of the other two."
            )
        for array in (inertia.center, inertia.inertia):
            array.flags.writeable = False
        object.__setattr__(self, "inertia", inertia)

    @property
    def mass(self) -> float:
        """kg."""
        return self.inertia.mass

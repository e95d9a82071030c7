"""Things on the stage: free bodies, bodies on a hinge, and obstacles that do not move."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from poise.body.shape import Shape
from poise.errors import InputError
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia

MASSES = (1e-6, 1e5)  # kg: lighter or heavier ones beside a body are beyond what engines can reckon with
FARTHEST = 1e4  # m, m/s, rad/s


@dataclass(frozen=True, eq=False)
class Hinge:
    """A prop's joint with the world: it turns about an axis through a point.

    point  (3,) m in the prop's frame;  axis (3,) unit, in the prop's frame;  damping N m s/rad
    """

    point: np.ndarray
    axis: np.ndarray
    damping: float = 0.0


@dataclass(frozen=True, eq=False)
class Prop:
    """A thing that is not a body.

    name      unlike any other on the stage
    shapes    what it looks like and, where `touches`, collides with, in its own frame
    inertia   mass, centre and inertia in its own frame; None: it stands still for good
    position  (3,) m where its frame begins;  turn (4,) wxyz
    hinge     what holds it to the world; None: nothing does
    touches   whether bodies collide with it
    velocity, spin   (3,) m/s of its frame's origin and rad/s, in the world, when it begins
    """

    name: str
    shapes: tuple[Shape, ...]
    inertia: RigidInertia | None = None
    position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    turn: np.ndarray = field(default_factory=rotation.identity)
    hinge: Hinge | None = None
    touches: bool = True
    velocity: np.ndarray = field(default_factory=lambda: np.zeros(3))
    spin: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def __post_init__(self) -> None:
        if not self.name.isprintable() or not self.name:
            raise InputError(f"a prop needs a printable name; given {self.name!r}.")
        if self.inertia is not None:
            self._check_inertia(self.inertia)
        for what, numbers, size in (
            ("position", self.position, 3), ("turn", self.turn, 4), ("velocity", self.velocity, 3),
            ("spin", self.spin, 3),
        ):  # fmt: skip
            values = np.asarray(numbers, float)
            if values.shape != (size,) or not np.all(np.abs(values) <= FARTHEST):
                raise InputError(f"the {what} of prop '{self.name}' is {size} numbers of at most {FARTHEST:g}.")
        if np.linalg.norm(self.turn) < 1e-6:
            raise InputError(f"the turn of prop '{self.name}' must be a quaternion w, x, y, z that is not zero.")
        if self.hinge is not None and self.inertia is None:
            raise InputError(f"prop '{self.name}' has a hinge but no mass, so nothing would move it. Give it a mass.")

    def _check_inertia(self, inertia: RigidInertia) -> None:
        mass, moments = float(inertia.mass), np.asarray(inertia.inertia, float)
        if not MASSES[0] <= mass <= MASSES[1]:
            raise InputError(
                f"prop '{self.name}' has mass {mass:g} kg; it must be from {MASSES[0]:g} to {MASSES[1]:g} kg, or be "
                "fixed (no inertia)."
            )
        whole = np.concatenate([np.ravel(inertia.center), np.ravel(moments)])
        if not np.all(np.abs(whole) <= MASSES[1] * FARTHEST**2) or not inertia.is_physical():
            raise InputError(
                f"prop '{self.name}' has an inertia that no body of {mass:g} kg can have: its principal moments must "
                "be positive and each at most the sum of the other two."
            )

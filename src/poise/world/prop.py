"""Things on the stage: free bodies, bodies on a hinge, and obstacles that do not move."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from poise.body.shape import Shape
from poise.errors import InputError
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia


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
        if self.inertia is not None and not self.inertia.mass > 0.0:
            raise InputError(f"prop '{self.name}' has mass {self.inertia.mass:g} kg; it must be positive, or fixed.")
        if self.hinge is not None and self.inertia is None:
            raise InputError(f"prop '{self.name}' has a hinge but no mass, so nothing would move it. Give it a mass.")

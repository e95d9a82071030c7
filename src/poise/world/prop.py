"""Things on the stage: free bodies, bodies on a hinge, and obstacles that do not move."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from poise.body.geometry.primitives import Box, Capsule, Shape, Sphere, uniform_inertia
from poise.errors import InputError, check_range, finite_number
from poise.kinds import checked
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia
from poise.world.contact_settings import MOST_FRICTION

MASSES = (1e-6, 1e5)  # kg: lighter or heavier ones beside a body are beyond what engines can reckon with
FARTHEST = 1e4  # m, m/s, rad/s
Place = Iterable[float]
ORIGIN = (0.0, 0.0, 0.0)


@checked
@dataclass(frozen=True, eq=False)
class Hinge:
    """A prop's joint with the world: it turns about an axis through a point.

    point  (3,) m in the prop's frame;  axis (3,) unit, in the prop's frame;  damping N m s/rad
    """

    point: np.ndarray
    axis: np.ndarray
    damping: float = 0.0


@checked
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
    friction  of whatever touches it; None: the stage's
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
    friction: float | None = None

    @classmethod
    def solid(
        cls, name: str, shapes: Shape | Iterable[Shape], mass: float | None = None,
        position: Place = ORIGIN, **more: Any,
    ) -> Self:  # fmt: skip
        """A thing of shapes that share a mass (kg) by their volumes, of one density; without a mass it never moves.

        more  `turn`, `hinge`, `touches`, `velocity`, `spin`, `friction`
        """
        parts = (shapes,) if isinstance(shapes, Shape) else tuple(shapes)
        for shape in parts:
            _check_shape(name, shape)
        inertia = None
        if mass is not None and parts:
            volume = sum(shape.volume for shape in parts)
            masses = [finite_number(mass, f"the mass of prop '{name}'") * shape.volume / volume for shape in parts]
            each = [uniform_inertia(shape, share) for shape, share in zip(parts, masses, strict=True)]
            inertia = each[0] if len(each) == 1 else RigidInertia.total(each)
        return cls(name, parts, inertia, position, **more)  # type: ignore[arg-type]

    @classmethod
    def box(
        cls, name: str, size: Iterable[float], mass: float | None = None, position: Place = ORIGIN, **more: Any
    ) -> Self:
        """A box with its frame in its middle. size: its edges along x, y, z (m). The rest as of `solid`."""
        try:
            x, y, z = (float(edge) for edge in size)
        except (TypeError, ValueError):
            raise InputError(f"the size of box '{name}' is three numbers, in metres; given {size!r}.") from None
        return cls.solid(name, Box(np.zeros(3), 0.5 * np.array([x, y, z])), mass, position, **more)

    @classmethod
    def sphere(cls, name: str, radius: float, mass: float | None = None, position: Place = ORIGIN, **more: Any) -> Self:
        """A ball with its frame in its middle. radius: m. The rest as of `solid`."""
        return cls.solid(name, Sphere(np.zeros(3), radius), mass, position, **more)

    @classmethod
    def capsule(
        cls, name: str, radius: float, length: float, mass: float | None = None, position: Place = ORIGIN, **more: Any
    ) -> Self:
        """An upright rod with round ends, its frame in its middle. length: m between the centres of its ends."""
        half = np.array([0.0, 0.5 * finite_number(length, f"the length of capsule '{name}'"), 0.0])
        return cls.solid(name, Capsule(-half, half, radius), mass, position, **more)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isprintable() or not self.name:
            raise InputError(f"a prop needs a printable name; given {self.name!r}.")
        shapes = (self.shapes,) if isinstance(self.shapes, Shape) else tuple(self.shapes)
        if not all(isinstance(shape, Shape) for shape in shapes):
            raise InputError(f"the shapes of prop '{self.name}' are Box, Sphere and Capsule; given {self.shapes!r}.")
        object.__setattr__(self, "shapes", shapes)
        if self.inertia is not None:
            self._check_inertia(self.inertia)
        for what, numbers, size in (
            ("position", self.position, 3), ("turn", self.turn, 4), ("velocity", self.velocity, 3),
            ("spin", self.spin, 3),
        ):  # fmt: skip
            try:
                values = np.asarray(numbers, float)
            except (TypeError, ValueError):
                values = np.zeros(0)
            if values.shape != (size,) or not np.all(np.abs(values) <= FARTHEST):
                raise InputError(f"the {what} of prop '{self.name}' is {size} numbers of at most {FARTHEST:g}.")
            object.__setattr__(self, what, values)
        if self.friction is not None:
            check_range(f"the friction of prop '{self.name}'", self.friction, 0.0, MOST_FRICTION)
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


def _check_shape(name: str, shape: Shape) -> None:
    sizes = shape.half if isinstance(shape, Box) else [shape.radius]
    if not all(isinstance(size, int | float) and 0.0 < size <= FARTHEST for size in sizes):
        raise InputError(
            f"prop '{name}' has a size of {', '.join(f'{size!r}' for size in sizes)}; it must be more than 0 m and at "
            f"most {FARTHEST:g} m."
        )

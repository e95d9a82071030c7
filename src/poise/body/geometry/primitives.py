"""Simple shapes around a segment's mesh, for physics engines: spheres, capsules and boxes in the joint's own frame."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from poise.errors import InputError
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia


@dataclass(frozen=True, eq=False)
class Sphere:
    """center (3,) m; radius m."""

    center: np.ndarray
    radius: float

    def __post_init__(self) -> None:
        _as_arrays(self, "center")

    @property
    def volume(self) -> float:
        """m3."""
        return float(4.0 / 3.0 * np.pi * self.radius**3)


@dataclass(frozen=True, eq=False)
class Capsule:
    """All points within `radius` (m) of the line from start (3,) m to end (3,) m."""

    start: np.ndarray
    end: np.ndarray
    radius: float

    def __post_init__(self) -> None:
        _as_arrays(self, "start", "end")

    @property
    def length(self) -> float:
        """m between the centres of its two ends."""
        return float(np.linalg.norm(self.end - self.start))

    @property
    def volume(self) -> float:
        """m3."""
        return float(np.pi * self.radius**2 * (self.length + 4.0 / 3.0 * self.radius))


@dataclass(frozen=True, eq=False)
class Box:
    """center (3,) m; half (3,) m, half its edges' lengths; turn (4,) wxyz, from the box's axes to the joint's."""

    center: np.ndarray
    half: np.ndarray
    turn: np.ndarray = field(default_factory=rotation.identity)

    def __post_init__(self) -> None:
        _as_arrays(self, "center", "half", "turn")

    @property
    def volume(self) -> float:
        """m3."""
        return float(8.0 * np.prod(self.half))

    @property
    def corners(self) -> np.ndarray:
        """(8, 3) m."""
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return np.asarray(self.center + rotation.rotate(self.turn, signs * self.half))


Shape = Sphere | Capsule | Box


def _as_arrays(shape: Shape, *names: str) -> None:
    """Numbers as arrays, whatever they were given as."""
    for name in names:
        value = getattr(shape, name)
        try:
            array = np.asarray(value, float)
        except (TypeError, ValueError):
            array = np.zeros(0)
        if array.shape != ((4,) if name == "turn" else (3,)):
            count = "4 numbers" if name == "turn" else "3 numbers, in metres"
            raise InputError(f"the {name} of a {type(shape).__name__.lower()} is {count}; given {value!r}.")
        object.__setattr__(shape, name, array)


def uniform_inertia(shape: Shape, mass: float) -> RigidInertia:
    """Of a body of one density and a mass (kg) that fills a shape, in the shape's frame."""
    if isinstance(shape, Sphere):
        return RigidInertia(mass, shape.center, 0.4 * mass * shape.radius**2 * np.eye(3))
    if isinstance(shape, Box):
        squares, turn = shape.half**2, rotation.to_matrix(shape.turn)
        return RigidInertia(mass, shape.center, turn @ (mass / 3.0 * np.diag(squares.sum() - squares)) @ turn.T)
    r, length = shape.radius, shape.length
    rod = mass * length / (length + 4.0 / 3.0 * r)
    ends = mass - rod
    along = (0.5 * rod + 0.4 * ends) * r**2
    # two half balls, their centres of mass 3/8 r beyond the ends of the rod
    across = rod * (r**2 / 4.0 + length**2 / 12.0) + ends * (0.4 * r**2 + length**2 / 4.0 + 3.0 / 8.0 * length * r)
    axis = (shape.end - shape.start) / length if length > 0.0 else np.array([0.0, 1.0, 0.0])
    lengthwise = np.outer(axis, axis)
    inertia = along * lengthwise + across * (np.eye(3) - lengthwise)
    return RigidInertia(mass, 0.5 * (shape.start + shape.end), inertia)


def capsule_radius(volume: float, length: float) -> float:
    """The radius of the capsule of a volume and a length over all: pi r^2 (length - 2 r) + 4/3 pi r^3 = volume."""
    roots = np.roots([-2.0 / 3.0 * np.pi, np.pi * length, 0.0, -volume])
    real = roots[np.abs(roots.imag) < 1e-9 * length].real
    fitting = real[(real > 0.0) & (real <= length / 2.0)]
    return float(fitting.min()) if len(fitting) else length / 2.0

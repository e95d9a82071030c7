"""Simple shapes around a segment's mesh, for physics engines: spheres, capsules and boxes in the joint's own frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from poise.body.geometry.mesh import Mesh
from poise.body.geometry.polyhedron import check_closed, mass_properties
from poise.errors import InputError
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia

_BOX_ROLES = ("Foot", "Toes")


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


def fit_sphere(mesh: Mesh) -> Sphere:
    """The sphere of a closed mesh's volume about its centre of mass."""
    body = mass_properties(mesh, 1.0)
    return Sphere(body.center, float((3.0 * body.mass / (4.0 * np.pi)) ** (1.0 / 3.0)))


def fit_capsule(mesh: Mesh) -> Capsule | Sphere:
    """The capsule of a closed mesh's volume and length, along its axis of least inertia; a sphere for a round one.

    The surface is met on average: the mesh stands out of it here and is inside it there.
    """
    body = mass_properties(mesh, 1.0)
    _, axes = np.linalg.eigh(body.inertia)
    axis = axes[:, 0] * (1.0 if axes[np.argmax(np.abs(axes[:, 0])), 0] > 0 else -1.0)
    along = (mesh.vertices[np.unique(mesh.faces)] - body.center) @ axis
    low, high = float(along.min()), float(along.max())
    radius = capsule_radius(body.mass, high - low)
    if high - low - 2.0 * radius < 1e-3 * (high - low):
        return fit_sphere(mesh)
    return Capsule(body.center + (low + radius) * axis, body.center + (high - radius) * axis, radius)


def capsule_radius(volume: float, length: float) -> float:
    """The radius of the capsule of a volume and a length over all: pi r^2 (length - 2 r) + 4/3 pi r^3 = volume."""
    roots = np.roots([-2.0 / 3.0 * np.pi, np.pi * length, 0.0, -volume])
    real = roots[np.abs(roots.imag) < 1e-9 * length].real
    fitting = real[(real > 0.0) & (real <= length / 2.0)]
    return float(fitting.min()) if len(fitting) else length / 2.0


def fit_box(mesh: Mesh, turn: np.ndarray | None = None) -> Box:
    """The smallest box around a closed mesh with given axes: turn (4,), or else the joint's own."""
    check_closed(mesh)
    turn = rotation.identity() if turn is None else np.asarray(turn, float)
    seen = rotation.rotate(rotation.conjugate(turn), mesh.vertices[np.unique(mesh.faces)])
    low, high = seen.min(axis=0), seen.max(axis=0)
    return Box(np.asarray(rotation.rotate(turn, (low + high) / 2.0)), (high - low) / 2.0, turn)


def collision_shapes(meshes: Mapping[str, Mesh], roles: Mapping[str, str]) -> dict[str, Shape]:
    """One simple shape per segment by joint name: boxes for feet and toes, capsules for the rest.

    meshes  by joint name, in their joints' frames
    roles   VRM role -> joint name

    A foot's box keeps the ground's plane for its sole (at rest all axes are the world's) and is turned about the
    vertical to lie along the foot.
    """
    role_of = {name: role for role, name in roles.items()}
    shapes: dict[str, Shape] = {}
    for name, mesh in meshes.items():
        if role_of.get(name, "").endswith(_BOX_ROLES):
            shapes[name] = fit_box(mesh, _heading(mesh))
        else:
            shapes[name] = fit_capsule(mesh)
    return shapes


def _heading(mesh: Mesh) -> np.ndarray:
    """(4,) the turn about +Y, at most a quarter, that brings +Z along a mesh's longest level direction."""
    body = mass_properties(mesh, 1.0)
    covariance = (np.trace(body.inertia) / 2.0 * np.eye(3) - body.inertia)[np.ix_([0, 2], [0, 2])]
    x, z = np.linalg.eigh(covariance)[1][:, 1]
    if z < 0.0:
        x, z = -x, -z
    ratio = np.linalg.eigvalsh(covariance)
    # Toes are about as long as they are wide: no direction there, keep the axes.
    angle = float(np.arctan2(x, z)) if ratio[1] > 1.5 * ratio[0] else 0.0
    return rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), angle)

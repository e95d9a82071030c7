"""Simple solids as triangles to draw: spheres, boxes, capsules and arrows."""

from __future__ import annotations

import numpy as np

from poise.body.geometry.mesh import Mesh
from poise.body.geometry.primitives import Box, Shape, Sphere
from poise.errors import InputError
from poise.spatial import rotation

_AROUND = 28  # corners of a circle: a smooth outline at the sizes props have in a picture
_Y = np.array([0.0, 1.0, 0.0])
_HEAD_LENGTH, _HEAD_RADIUS = 3.6, 2.4  # of an arrow, in radii of its shaft


def build_solid(shape: Shape) -> Mesh:
    """The closed surface of a sphere, capsule or box, in the frame the shape is given in."""
    if isinstance(shape, Box):
        return _build_box(shape)
    start, axis = (shape.center, 0.0 * _Y) if isinstance(shape, Sphere) else (shape.start, shape.end - shape.start)
    length = float(np.linalg.norm(axis))
    angles = np.linspace(0.0, np.pi / 2.0, _AROUND // 4 + 1)[1:]
    upper = [(shape.radius * np.cos(a), length + shape.radius * np.sin(a)) for a in angles[:-1]]
    lower = [(radius, length - along) for radius, along in reversed(upper)]
    sides = [(shape.radius, 0.0), (shape.radius, length)] if length > 0.0 else [(shape.radius, 0.0)]
    profile = [(0.0, -shape.radius), *lower, *sides, *upper, (0.0, length + shape.radius)]
    return _turn_profile(profile, start, axis)


def build_arrow(tip: np.ndarray, vector: np.ndarray, radius: float = 0.018) -> Mesh:
    """A solid arrow that ends at its tip (3,) m and points along vector (3,) m, which is as long as the arrow.

    radius  m, of the shaft; the head of a short arrow shrinks, so that at least a third of it is shaft
    """
    tip, vector = np.asarray(tip, float), np.asarray(vector, float)
    length = float(np.linalg.norm(vector))
    if tip.shape != (3,) or vector.shape != (3,) or not np.isfinite([*tip, *vector]).all() or length <= 0.0:
        raise InputError(f"an arrow needs a finite tip (3,) and a vector (3,) of some length; given {tip}, {vector}.")
    radius = min(radius, length / (1.5 * _HEAD_LENGTH))
    neck, wide = length - _HEAD_LENGTH * radius, _HEAD_RADIUS * radius
    # Corners are given twice, so that each piece keeps its own edge.
    pieces = [
        [(0.0, 0.0), (radius, 0.0)],
        [(radius, 0.0), (radius, neck)],
        [(radius, neck), (wide, neck)],
        [(wide, neck), (0.0, length)],
    ]
    return Mesh.joined(_turn_profile(piece, tip - vector, vector) for piece in pieces)


def _turn_profile(profile: list[tuple[float, float]], start: np.ndarray, axis: np.ndarray) -> Mesh:
    """The surface that a profile (distance to the axis m, along it m) makes when it turns about an axis (3,).

    A distance of 0, allowed first and last, is one point.
    """
    length = float(np.linalg.norm(axis))
    along = axis / length if length > 0.0 else _Y
    side = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    side /= np.linalg.norm(side)
    angles = 2.0 * np.pi * np.arange(_AROUND) / _AROUND
    around = np.cos(angles)[:, None] * side + np.sin(angles)[:, None] * np.cross(along, side)
    rings = [
        start + height * along + radius * (around if radius > 0.0 else np.zeros((1, 3))) for radius, height in profile
    ]
    first = np.cumsum([0] + [len(ring) for ring in rings])
    turn = np.arange(_AROUND)
    faces = []
    for k in range(len(profile) - 1):
        # Corners of each strip: here and next on the lower ring, here and next on the upper.
        a, b = (first[k] + turn % len(rings[k]), first[k] + (turn + 1) % len(rings[k]))
        c, d = (first[k + 1] + turn % len(rings[k + 1]), first[k + 1] + (turn + 1) % len(rings[k + 1]))
        if len(rings[k]) > 1:
            faces.append(np.column_stack([a, b, d]))
        if len(rings[k + 1]) > 1:
            faces.append(np.column_stack([a, d, c]))
    return Mesh(np.concatenate(rings), np.concatenate(faces))


def _build_box(box: Box) -> Mesh:
    vertices: list[np.ndarray] = []
    faces: list[list[int]] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            square = np.zeros((4, 3))
            square[:, axis] = sign
            square[:, (axis + 1) % 3] = sign * np.array([-1.0, 1.0, 1.0, -1.0])
            square[:, (axis + 2) % 3] = [-1.0, -1.0, 1.0, 1.0]
            start = len(vertices) * 4
            vertices.append(square * box.half)
            faces += [[start, start + 1, start + 2], [start, start + 2, start + 3]]
    return Mesh(box.center + rotation.rotate(box.turn, np.concatenate(vertices)), np.array(faces))

"""Closed rounded solids made by stacking cross-sections along a curve.

A cross-section is a superellipse |x / a|^n + |y / b|^n = 1 whose half-widths differ by quadrant, so that a calf can
bulge to the back alone; n = 2 is an ellipse, 4 nearly a rounded box. Both ends close with a dome.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.geometry.mesh import Mesh
from poise.body.geometry.polyhedron import compute_volume

_FIELDS = ("centers", "x_axis", "y_axis", "extents", "powers")


@dataclass(frozen=True, eq=False)
class Sections:
    """Cross-sections along a curve; +x and +y are each section's own axes.

    centers  (N, 3) m
    x_axis   (N, 3) unit
    y_axis   (N, 3) unit, normal to x_axis
    extents  (N, 4) m, half-widths towards +x, -x, +y, -y
    powers   (N, 2) the superellipse's n in the +y half and in the -y half
    """

    centers: np.ndarray
    x_axis: np.ndarray
    y_axis: np.ndarray
    extents: np.ndarray
    powers: np.ndarray

    def __len__(self) -> int:
        return len(self.centers)

    def __getitem__(self, which: np.ndarray | slice) -> Sections:
        """Some of the sections, in order."""
        return Sections(*(getattr(self, name)[which] for name in _FIELDS))


def straight_sections(
    heights: np.ndarray, extents: np.ndarray, powers: np.ndarray | float, origin: np.ndarray, axes: np.ndarray
) -> Sections:
    """Sections along a straight line.

    heights  (N,) m along the line; extents (N, 4) m; powers (N, 2), or one for all
    origin   (3,) m, where the height is 0
    axes     (3, 3) rows: the sections' x and y, and the line's direction
    """
    n = len(heights)
    return Sections(
        origin + np.asarray(heights, float)[:, None] * axes[2],
        np.repeat(axes[:1], n, axis=0),
        np.repeat(axes[1:2], n, axis=0),
        np.asarray(extents, float),
        np.broadcast_to(powers, (n, 2)),
    )


def tube_sections(points: np.ndarray, radii: np.ndarray, x_axis: np.ndarray) -> Sections:
    """Round sections along a bent line: points (N, 3) m, radii (N,) m, and where their angles start: x_axis (3,)."""
    tangent = np.gradient(points, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    x = x_axis - (tangent @ x_axis)[:, None] * tangent
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return Sections(
        np.asarray(points, float),
        x,
        np.cross(tangent, x),
        np.repeat(np.asarray(radii, float)[:, None], 4, axis=1),
        np.full((len(points), 2), 2.0),
    )


# Where a dome has its sections, rad from its rim. The first is close to it, so that shading stays straight up to it.
_DOME = np.array([0.05, 0.3, 0.7, 1.1])
DOME_RINGS = len(_DOME) + 1


def add_domes(sections: Sections, start: float, end: float) -> Sections:
    """The same solid with rounded ends: half ellipsoids `start` and `end` m high, of `DOME_RINGS` sections each."""
    parts = []
    for at, height, turn in ((0, start, slice(None, None, -1)), (-1, end, slice(None))):
        outward = np.cross(sections.x_axis[at], sections.y_axis[at])
        inward = sections.centers[1 if at == 0 else -2] - sections.centers[at]
        outward = outward * (-np.sign(outward @ inward) or 1.0)
        # The last ring is a point: the pole.
        rise, shrink = np.append(np.sin(_DOME), 1.0)[turn], np.append(np.cos(_DOME), 0.0)[turn]
        count = len(rise)
        parts.append(
            Sections(
                sections.centers[at] + height * rise[:, None] * outward,
                np.repeat(sections.x_axis[at][None], count, axis=0),
                np.repeat(sections.y_axis[at][None], count, axis=0),
                sections.extents[at] * shrink[:, None],
                np.repeat(sections.powers[at][None], count, axis=0),
            )
        )
    whole = (parts[0], sections, parts[1])
    return Sections(*(np.concatenate([getattr(part, name) for part in whole]) for name in _FIELDS))


def section_angles(sides: int) -> np.ndarray:
    """(sides,) rad, where each section has its corners: 0 at +x, pi / 2 at +y."""
    return np.arange(sides) * (2.0 * np.pi / sides)


def loft(sections: Sections, sides: int = 16, swell: np.ndarray | None = None) -> Mesh:
    """The closed mesh through sections whose first and last have shrunk to a point (see `add_domes`).

    swell  (N, sides) factors on each corner's distance from its section's centre: relief such as a nose
    """
    angle = section_angles(sides)
    cos, sin = np.cos(angle), np.sin(angle)
    a = np.where(cos >= 0, sections.extents[:, 0:1], sections.extents[:, 1:2])
    b = np.where(sin >= 0, sections.extents[:, 2:3], sections.extents[:, 3:4])
    n = np.where(sin >= 0, sections.powers[:, 0:1], sections.powers[:, 1:2])
    reach = (np.abs(cos) ** n + np.abs(sin) ** n) ** (-1.0 / n)
    if swell is not None:
        reach = reach * swell
    x, y = (a * cos * reach)[..., None], (b * sin * reach)[..., None]
    rings = sections.centers[:, None] + x * sections.x_axis[:, None] + y * sections.y_axis[:, None]
    inner = rings[1:-1]
    vertices = np.vstack([inner.reshape(-1, 3), sections.centers[:1], sections.centers[-1:]])
    mesh = Mesh(vertices, _stack_faces(len(inner), sides))
    return mesh if compute_volume(mesh) >= 0.0 else mesh.flipped()


def stack_volume(sections: Sections, sides: int = 16) -> float:
    """m3 between the first section and the last, without domes."""
    return compute_volume(loft(add_domes(sections, 0.0, 0.0), sides))


def _stack_faces(rings: int, sides: int) -> np.ndarray:
    """Triangles between rings of corners, and from the first and last ring to their poles (the last two vertices)."""
    this = np.arange(sides)
    following = (this + 1) % sides
    ring = np.arange(rings - 1)[:, None] * sides
    a, b, c, d = (x.ravel() for x in (ring + this, ring + following, ring + sides + following, ring + sides + this))
    bottom, top = rings * sides, rings * sides + 1
    last = (rings - 1) * sides
    return np.concatenate(
        [
            np.column_stack([a, b, c]),
            np.column_stack([a, c, d]),
            np.column_stack([np.full(sides, bottom), following, this]),
            np.column_stack([np.full(sides, top), last + this, last + following]),
        ]
    )


def interpolate(knots: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """A smooth curve through rows of a table: knots (K,) increasing, values (K, C), at (N,); held beyond the ends.

    Cubic Hermite pieces; the slope at a knot is that of the parabola through it and its neighbours.
    """
    at = np.clip(at, knots[0], knots[-1])
    slopes = np.gradient(values, knots, axis=0)
    i = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, len(knots) - 2)
    h = (knots[i + 1] - knots[i])[:, None]
    s = (at - knots[i])[:, None] / h
    return np.asarray(
        (1 + 2 * s) * (1 - s) ** 2 * values[i]
        + s * (1 - s) ** 2 * h * slopes[i]
        + s**2 * (3 - 2 * s) * values[i + 1]
        + s**2 * (s - 1) * h * slopes[i + 1]
    )

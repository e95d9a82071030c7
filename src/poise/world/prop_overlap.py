"""How deep a prop is in a body: boxes as they are, capsules and spheres as lines with a thickness."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from poise.body.shape import Box, Capsule, Shape, Sphere
from poise.spatial import rotation
from poise.world.overlap import DEEP, build_lines, find_depth, find_depths

_ALONG = np.linspace(0.0, 1.0, 7)[:, None]  # points of a capsule that are looked for in a box


def place_shape(shape: Shape, turn: np.ndarray, place: np.ndarray) -> Shape:
    """A shape where its frame is: turned (4,) and at a place (3,) m."""

    def at(x: np.ndarray) -> np.ndarray:
        return np.asarray(place + rotation.rotate(turn, x))

    if isinstance(shape, Sphere):
        return Sphere(at(shape.center), shape.radius)
    if isinstance(shape, Capsule):
        return Capsule(at(shape.start), at(shape.end), shape.radius)
    return Box(at(shape.center), shape.half, rotation.multiply(turn, shape.turn))


def find_overlap(a: Shape, b: Shape) -> float:
    """m, how deep two shapes are in one another; negative: apart by at least about so much."""
    if not isinstance(a, Box) and not isinstance(b, Box):
        return float(find_depths(build_lines([(0, a)]), build_lines([(0, b)]))[0, 0])
    deepest = -np.inf
    for box, other in ((a, b), (b, a)):
        if isinstance(box, Box):
            points, radius = _list_points(other)
            deepest = max(deepest, *(find_depth(box, point)[0] + radius for point in points))
    return float(deepest)


def find_deep_joints(
    prop: Iterable[Shape], body: Iterable[tuple[int, Shape]], R: np.ndarray, p: np.ndarray
) -> dict[int, float]:
    """Joints of a body in whose shapes those of a prop are deep, and how deep (m).

    prop  shapes in the world;  body (joint, shape in the joint's frame);  R (J, 3, 3), p (J, 3) m
    """
    found: dict[int, float] = {}
    things = [(shape, *_find_ball(shape)) for shape in prop]
    for joint, own in body:
        placed = place_shape(own, rotation.from_matrix(R[joint]), p[joint])
        middle, reach = _find_ball(placed)
        for shape, its_middle, its_reach in things:
            if np.sum((middle - its_middle) ** 2) > (reach + its_reach) ** 2:
                continue
            depth = find_overlap(placed, shape)
            if depth > DEEP * min(_thickness(placed), _thickness(shape)):
                found[joint] = max(depth, found.get(joint, 0.0))
    return found


def _list_points(shape: Shape) -> tuple[np.ndarray, float]:
    """Points (n, 3) m of a shape, and how thick it is about them (m)."""
    if isinstance(shape, Sphere):
        return shape.center[None], shape.radius
    if isinstance(shape, Capsule):
        return shape.start + _ALONG * (shape.end - shape.start), shape.radius
    return np.concatenate([shape.corners, shape.center[None]]), 0.0


def _find_ball(shape: Shape) -> tuple[np.ndarray, float]:
    """A ball around a shape: its middle (3,) m and radius (m)."""
    if isinstance(shape, Capsule):
        return 0.5 * (shape.start + shape.end), 0.5 * shape.length + shape.radius
    return shape.center, float(np.linalg.norm(shape.half)) if isinstance(shape, Box) else shape.radius


def _thickness(shape: Shape) -> float:
    return float(np.min(shape.half)) if isinstance(shape, Box) else float(shape.radius)

"""Where a centre of mass may be: inside the outline of what a body stands on, seen from above."""

from __future__ import annotations

import numpy as np

_DEEP = 0.9  # of the largest margin that any place has: how far a margin may shrink an outline at most
_GRID, _FINER = 9, 12  # places a side, and rounds, in which the place with the largest margin is looked for


def find_outline(points: np.ndarray) -> np.ndarray:
    """The convex outline (K, 2), turning from the first axis to the second, of points (N, 2); K may be 1 or 2.

    Andrew's monotone chain: the lower side from left to right, the upper one back.
    """
    points = np.unique(np.asarray(points, float), axis=0)
    if len(points) < 3:
        return points
    sides: list[list[np.ndarray]] = []
    for row in (points, points[::-1]):
        side: list[np.ndarray] = []
        for point in row:
            while len(side) > 1 and _turn(side[-2], side[-1], point) <= 1e-15:
                side.pop()
            side.append(point)
        sides.append(side[:-1])
    return np.array(sides[0] + sides[1])


def find_edges(points: np.ndarray, margin: float = 0.0) -> np.ndarray:
    """Edges (K, 3) of the outline of points (N, 2): a, b, c with a x + b z <= c inside, (a, b) a unit vector.

    margin  m, from the edge inwards; less where the outline is narrower than that: see `find_possible_margin`
    """
    edges = _find_edges(points)
    edges[:, 2] -= _limit_margin(points, edges, margin)
    return edges


def find_possible_margin(points: np.ndarray, margin: float) -> float:
    """m, the margin that `find_edges` applies to the outline of points (N, 2): at most 0.9 of the largest there is."""
    return _limit_margin(points, _find_edges(points), margin)


def _limit_margin(points: np.ndarray, edges: np.ndarray, margin: float) -> float:
    if margin <= 0.0 or _DEEP * float(find_margin(edges, points.mean(axis=0))) >= margin:
        return max(margin, 0.0)
    low, high = points.min(axis=0), points.max(axis=0)
    best, middle, half = -np.inf, 0.5 * (low + high), 0.5 * (high - low)
    share = np.stack(np.meshgrid(*[np.linspace(-1.0, 1.0, _GRID)] * 2), axis=-1).reshape(-1, 2)
    for _ in range(_FINER):
        places = middle + half * share
        margins = find_margin(edges, places)
        best, middle, half = max(best, float(margins.max())), places[int(np.argmax(margins))], 0.6 * half
    return float(min(margin, _DEEP * max(best, 0.0)))


def _find_edges(points: np.ndarray) -> np.ndarray:
    """Edges (K, 3) without a margin."""
    outline = find_outline(points)
    ends = np.roll(outline, -1, axis=0)
    along = ends - outline
    sizes = np.linalg.norm(along, axis=1, keepdims=True)
    if len(outline) < 3 or np.any(sizes <= 0.0):
        return _enclose(outline)
    normals = np.column_stack([along[:, 1], -along[:, 0]]) / sizes
    reach = np.sum(normals * outline, axis=1)
    return np.column_stack([normals, reach])


def find_margin(edges: np.ndarray, place: np.ndarray) -> np.ndarray:
    """(...) m, how far inside all edges (K, 3) places (..., 2) are; negative outside."""
    return np.asarray(np.min(edges[:, 2] - np.asarray(place) @ edges[:, :2].T, axis=-1))


def _enclose(points: np.ndarray) -> np.ndarray:
    """Edges along the axes around a point or a line."""
    low, high = points.min(axis=0), points.max(axis=0)
    return np.array([[1.0, 0.0, high[0]], [-1.0, 0.0, -low[0]], [0.0, 1.0, high[1]], [0.0, -1.0, -low[1]]])


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    """Twice the area of a triangle, positive where it turns from the first axis to the second."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))

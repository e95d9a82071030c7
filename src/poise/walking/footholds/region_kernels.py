"""Convex regions seen from above, drawn in by a margin, and the nearest point of one: compiled.

A region is (M, 2) corners, counter-clockwise from the first axis to the second, of which `size` count.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel

MOST = 16  # corners of a region


@kernel
def find_region(points: np.ndarray, count: int, margin: float, out: np.ndarray) -> int:
    """Write the convex hull of points (N, 2), drawn in by a margin (m), to out (MOST, 2); return its size.

    If the hull is too narrow for the margin, it is drawn in by half of its depth.
    """
    hull = np.empty((count + 1, 2))
    size = _find_hull(points, count, hull)
    if size < 3:
        for i in range(size):
            out[i] = hull[i]
        return size
    middle = np.zeros(2)
    for i in range(size):
        middle += hull[i] / size
    deep = np.inf
    for i in range(size):
        deep = min(deep, _inside(hull[i], hull[(i + 1) % size], middle))
    inset = min(margin, 0.5 * deep)
    # the hull cut by each of its edges, moved inwards
    now = hull[:size].copy()
    for i in range(size):
        now = _cut(now, hull[i], hull[(i + 1) % size], inset)
    kept = min(len(now), len(out))
    for i in range(kept):
        out[i] = now[i]
    return kept


@kernel
def _find_hull(points: np.ndarray, count: int, hull: np.ndarray) -> int:
    """Write the convex hull of points (N, 2), counter-clockwise; return its size."""
    size = 0
    order = np.argsort(points[:count, 0] + 1e-9 * points[:count, 1])
    for turn in range(2):
        start = size
        for k in range(count):
            i = order[k] if turn == 0 else order[count - 1 - k]
            while size - start >= 2 and _turn(hull[size - 2], hull[size - 1], points[i]) <= 1e-14:
                size -= 1
            hull[size] = points[i]
            size += 1
        size -= 1
    return max(size, 1)


@kernel
def _cut(corners: np.ndarray, a: np.ndarray, b: np.ndarray, inset: float) -> np.ndarray:
    """Return the part of a region that is at least `inset` (m) inside of the edge from a to b."""
    cut, found, count = np.empty((len(corners) + 2, 2)), 0, len(corners)
    for k in range(count):
        p, q = corners[k], corners[(k + 1) % count]
        dp, dq = _inside(a, b, p) - inset, _inside(a, b, q) - inset
        if dp >= 0.0:
            cut[found] = p
            found += 1
        if (dp > 0.0 and dq < 0.0) or (dp < 0.0 and dq > 0.0):
            cut[found] = p + (q - p) * (dp / (dp - dq))
            found += 1
    return cut[:found]


@kernel
def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    """Twice the area of a triangle, positive where it turns from the first axis to the second."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


@kernel
def _inside(a: np.ndarray, b: np.ndarray, p: np.ndarray) -> float:
    """m, how far a point is to the inner side of the edge from a to b."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    size = np.sqrt(dx * dx + dy * dy)
    return _turn(a, b, p) / max(size, 1e-300)


@kernel
def clamp_to_region(corners: np.ndarray, size: int, x: float, y: float) -> tuple[float, float]:
    """The point of a region that is nearest to (x, y), which is that itself where it is inside."""
    if size == 1:
        return corners[0, 0], corners[0, 1]
    inside = size > 2
    bx, by, best = x, y, np.inf
    for i in range(size):
        ax, ay = corners[i, 0], corners[i, 1]
        j = i + 1 if i + 1 < size else 0
        dx, dy = corners[j, 0] - ax, corners[j, 1] - ay
        if inside and dx * (y - ay) - dy * (x - ax) < 0.0:
            inside = False
        s = ((x - ax) * dx + (y - ay) * dy) / max(dx * dx + dy * dy, 1e-300)
        s = min(max(s, 0.0), 1.0)
        px, py = ax + s * dx, ay + s * dy
        far = (px - x) ** 2 + (py - y) ** 2
        if far < best:
            bx, by, best = px, py, far
    if inside:
        return x, y
    return bx, by

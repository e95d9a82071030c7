"""The ground's part in balance, compiled: where a force on the soles can act, and how their corners share it."""

from __future__ import annotations

import numpy as np

from poise.spatial.compile import kernel


@kernel
def find_hull(points: np.ndarray, n: int, hull: np.ndarray) -> int:
    """The convex hull of the first n points (N, 2) into hull (N + 1, 2), counter-clockwise; returns its corners.

    Andrew's monotone chain. Points on an edge are left out.
    """
    order = np.empty(n, np.int64)
    for i in range(n):
        order[i] = i
    for i in range(1, n):  # insertion sort by x, then y: n is 8
        k = order[i]
        j = i - 1
        while j >= 0 and (
            points[order[j], 0] > points[k, 0]
            or (points[order[j], 0] == points[k, 0] and points[order[j], 1] > points[k, 1])
        ):
            order[j + 1] = order[j]
            j -= 1
        order[j + 1] = k
    size = 0
    for half in range(2):
        start = size
        for i in range(n):
            k = order[i] if half == 0 else order[n - 1 - i]
            while size >= start + 2 and _turns_right(hull[size - 2], hull[size - 1], points[k]):
                size -= 1
            hull[size] = points[k]
            size += 1
        size -= 1  # the last point begins the other half
    return max(size, 1)


@kernel
def _turns_right(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> bool:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) <= 1e-14


@kernel
def clamp_to_hull(hull: np.ndarray, size: int, x: float, y: float) -> tuple[float, float]:
    """The point of a convex polygon (its first `size` corners) that is nearest to (x, y)."""
    inside = size >= 3
    best, bx, by = np.inf, x, y
    for i in range(size):
        a, b = hull[i], hull[(i + 1) % size]
        ex, ey = b[0] - a[0], b[1] - a[1]
        if ex * (y - a[1]) - ey * (x - a[0]) < 0.0:
            inside = False
        length = ex * ex + ey * ey
        t = 0.0 if length == 0.0 else min(1.0, max(0.0, ((x - a[0]) * ex + (y - a[1]) * ey) / length))
        px, py = a[0] + t * ex, a[1] + t * ey
        d = (x - px) ** 2 + (y - py) ** 2
        if d < best:
            best, bx, by = d, px, py
    return (x, y) if inside else (bx, by)


@kernel
def hull_margin(hull: np.ndarray, size: int, x: float, y: float) -> float:
    """Signed distance (m) of a point inside a convex polygon; negative outside."""
    px, py = clamp_to_hull(hull, size, x, y)
    outside = np.sqrt((x - px) ** 2 + (y - py) ** 2)
    if outside > 0.0 or size < 3:
        return -outside
    least = np.inf
    for i in range(size):
        a, b = hull[i], hull[(i + 1) % size]
        ex, ey = b[0] - a[0], b[1] - a[1]
        least = min(least, (ex * (y - a[1]) - ey * (x - a[0])) / np.sqrt(ex * ex + ey * ey))
    return least


@kernel
def share_load(points: np.ndarray, n: int, load: float, x: float, y: float, out: np.ndarray) -> None:
    """The evenest share of a downward load (N) between points, none pulling, whose centre of pressure is (x, y).

    points (N, 2) m, the first n of which count; out (N,) N.

        minimise sum f_i^2   with   sum f_i = load,  sum f_i X_i = load X,  f_i >= 0

    By duality f_i = max(0, a + b . X_i), with three unknowns that minimise the convex

        1/2 sum max(0, a + b . X_i)^2 - a - b . X

    found by Newton's method on the active points, each step halved until that falls; (x, y) must be inside the points'
    hull.
    """
    cx, cy, scale = 0.0, 0.0, 0.0
    for i in range(n):
        cx += points[i, 0] / n
        cy += points[i, 1] / n
    for i in range(n):
        scale = max(scale, abs(points[i, 0] - cx), abs(points[i, 1] - cy))
    scale = max(scale, 1e-9)
    px, py = (x - cx) / scale, (y - cy) / scale
    a, b, c = 1.0 / n, 0.0, 0.0
    now = np.inf
    for step in range(50):
        # residual and its generalised derivative over the points that carry
        r0, r1, r2 = -1.0, -px, -py
        s, sx, sy, sxx, sxy, syy = 1e-12, 0.0, 0.0, 1e-12, 0.0, 1e-12
        for i in range(n):
            u, w = (points[i, 0] - cx) / scale, (points[i, 1] - cy) / scale
            f = a + b * u + c * w
            if f > 0.0 or step == 0:
                r0, r1, r2 = r0 + f, r1 + f * u, r2 + f * w
                s, sx, sy, sxx, sxy, syy = s + 1.0, sx + u, sy + w, sxx + u * u, sxy + u * w, syy + w * w
        if r0 * r0 + r1 * r1 + r2 * r2 < 1e-24:
            break
        # 3 x 3 symmetric solve by cofactors
        m0, m1, m2 = sxx * syy - sxy * sxy, sy * sxy - sx * syy, sx * sxy - sy * sxx
        det = s * m0 + sx * m1 + sy * m2
        if abs(det) < 1e-18:
            break
        d0 = (m0 * r0 + m1 * r1 + m2 * r2) / det
        d1 = (m1 * r0 + (s * syy - sy * sy) * r1 + (sx * sy - s * sxy) * r2) / det
        d2 = (m2 * r0 + (sx * sy - s * sxy) * r1 + (s * sxx - sx * sx) * r2) / det
        length = 1.0
        for _ in range(40):
            value = -(a - length * d0) - (b - length * d1) * px - (c - length * d2) * py
            for i in range(n):
                u, w = (points[i, 0] - cx) / scale, (points[i, 1] - cy) / scale
                f = max(0.0, a - length * d0 + (b - length * d1) * u + (c - length * d2) * w)
                value += 0.5 * f * f
            if value < now:
                break
            length *= 0.5
        if value >= now:
            break
        now = value
        a, b, c = a - length * d0, b - length * d1, c - length * d2
    total = 0.0
    for i in range(n):
        out[i] = max(0.0, a + b * (points[i, 0] - cx) / scale + c * (points[i, 1] - cy) / scale)
        total += out[i]
    for i in range(n):
        out[i] *= load / total if total > 0.0 else 0.0

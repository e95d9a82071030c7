"""The ground's part in balance, compiled: where a force on the soles can act, and how their corners share it."""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel

FAR = 0.9  # of a sole, from its middle to its edge: a pressure centre that is further out tips it
_TINY = 1e-12  # m: a corner this little off an edge is on it


@kernel
def find_hull(points: np.ndarray, n: int, hull: np.ndarray) -> int:
    """The convex hull of the first n points into hull (N + 1, 2), counter-clockwise; returns its corners.

    points  (N, 2) m, or with more columns that do not count

    Andrew's chains, over points in order. Signs of areas are taken as they come: an area that counts as none would
    lose a far corner between two that are nearly the same. What is on an edge is left out afterwards.
    """
    order = np.empty(n, np.int64)
    for i in range(n):
        k, x, y = i, points[i, 0], points[i, 1]
        while k > 0 and (x < points[order[k - 1], 0] or (x == points[order[k - 1], 0] and y < points[order[k - 1], 1])):
            order[k] = order[k - 1]
            k -= 1
        order[k] = i
    chain, size = np.empty((2 * n + 1, 2)), 0
    for turn in range(2):
        start = size
        for k in range(n):
            i = order[k] if turn == 0 else order[n - 1 - k]
            x, y = points[i, 0], points[i, 1]
            while size - start >= 2 and _area(chain[size - 2], chain[size - 1], x, y) <= 0.0:
                size -= 1
            chain[size, 0], chain[size, 1] = x, y
            size += 1
        size -= 1  # the next chain begins with it
    size = _leave_out(chain, max(size, min(n, 1)))
    for i in range(size):
        hull[i, 0], hull[i, 1] = chain[i, 0], chain[i, 1]
    return size


@kernel
def _area(a: np.ndarray, b: np.ndarray, x: float, y: float) -> float:
    """m2, twice that of a triangle; positive where it turns to the left."""
    return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])


@kernel
def _leave_out(hull: np.ndarray, size: int) -> int:
    """Leave out corners that are the same as the last one, or on the edge past them; returns how many are left."""
    i = 0
    while i < size and size > 1:
        before, after = hull[(i - 1) % size], hull[(i + 1) % size]
        ax, ay = hull[i, 0] - before[0], hull[i, 1] - before[1]
        cx, cy = after[0] - before[0], after[1] - before[1]
        long = np.sqrt(cx * cx + cy * cy)
        is_same = ax * ax + ay * ay < _TINY * _TINY
        is_between = ax * cx + ay * cy > 0.0 and size > 2 and abs(ax * cy - ay * cx) < _TINY * long
        if is_same or (is_between and ax * cx + ay * cy < long * long):
            for k in range(i, size - 1):
                hull[k, 0], hull[k, 1] = hull[k + 1, 0], hull[k + 1, 1]
            size -= 1
        else:
            i += 1
    return size


@kernel
def clamp_to_hull(hull: np.ndarray, size: int, x: float, y: float) -> tuple[float, float]:
    """The point of a convex polygon (its first `size` corners) that is nearest to (x, y)."""
    if size >= 3 and _is_inside(hull, size, x, y):
        return x, y
    best, bx, by = np.inf, x, y
    ax, ay = hull[size - 1, 0], hull[size - 1, 1]
    for i in range(size):
        ex, ey = hull[i, 0] - ax, hull[i, 1] - ay
        length = ex * ex + ey * ey
        t = 0.0 if length == 0.0 else min(1.0, max(0.0, ((x - ax) * ex + (y - ay) * ey) / length))
        px, py = ax + t * ex, ay + t * ey
        d = (x - px) ** 2 + (y - py) ** 2
        if d < best:
            best, bx, by = d, px, py
        ax, ay = hull[i, 0], hull[i, 1]
    return bx, by


@kernel
def _is_inside(hull: np.ndarray, size: int, x: float, y: float) -> bool:
    ax, ay = hull[size - 1, 0], hull[size - 1, 1]
    least = np.inf
    for i in range(size):
        least = min(least, (hull[i, 0] - ax) * (y - ay) - (hull[i, 1] - ay) * (x - ax))
        ax, ay = hull[i, 0], hull[i, 1]
    return least >= 0.0


@kernel
def hull_margin(hull: np.ndarray, size: int, x: float, y: float) -> float:
    """Signed distance (m) of a point inside a convex polygon; negative outside."""
    if size < 3 or not _is_inside(hull, size, x, y):
        px, py = clamp_to_hull(hull, size, x, y)
        return -np.sqrt((x - px) ** 2 + (y - py) ** 2)
    least = np.inf
    ax, ay = hull[size - 1, 0], hull[size - 1, 1]
    for i in range(size):
        ex, ey = hull[i, 0] - ax, hull[i, 1] - ay
        least = min(least, (ex * (y - ay) - ey * (x - ax)) / np.sqrt(ex * ex + ey * ey))
        ax, ay = hull[i, 0], hull[i, 1]
    return least


@kernel
def share_load(points: np.ndarray, n: int, load: float, x: float, y: float, out: np.ndarray, kept: float = 0.0) -> None:
    """The evenest share of a downward load (N) between points, none pulling, whose centre of pressure is (x, y).

    points (N, 2) m or more columns, the first n of which count; out (N,) N. kept: the share of what is in out already
    that stays there.

        minimise sum f_i^2   with   sum f_i = load,  sum f_i X_i = load X,  f_i >= 0

    By duality f_i = max(0, a + b . X_i), with three unknowns that minimise the convex

        1/2 sum max(0, a + b . X_i)^2 - a - b . X

    found by Newton's method on the active points, each step halved until that falls; (x, y) must be inside the points'
    hull.
    """
    cx, cy, scale = 0.0, 0.0, 1e-9
    for i in range(n):
        cx += points[i, 0] / n
        cy += points[i, 1] / n
    for i in range(n):
        scale = max(scale, abs(points[i, 0] - cx), abs(points[i, 1] - cy))
    unit = 1.0 / scale
    px, py = (x - cx) * unit, (y - cy) * unit
    a, b, c = 1.0 / n, 0.0, 0.0
    now, least = np.inf, 0.0
    for step in range(50):
        # residual and its generalised derivative over the points that carry
        r0, r1, r2 = -1.0, -px, -py
        s, sx, sy, sxx, sxy, syy = 1e-12, 0.0, 0.0, 1e-12, 0.0, 1e-12
        for i in range(n):
            u, w = (points[i, 0] - cx) * unit, (points[i, 1] - cy) * unit
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
            a1, b1, c1 = a - length * d0, b - length * d1, c - length * d2
            value, least = -a1 - b1 * px - c1 * py, np.inf
            for i in range(n):
                f = a1 + b1 * (points[i, 0] - cx) * unit + c1 * (points[i, 1] - cy) * unit
                least = min(least, f)
                f = max(0.0, f)
                value += 0.5 * f * f
            if value < now:
                break
            length *= 0.5
        if value >= now:
            break
        now = value
        a, b, c = a1, b1, c1
        if step == 0 and least >= 0.0:
            break  # all carry and none pulls: there is nothing else to find
    total = 0.0
    for i in range(n):
        total += max(0.0, a + b * (points[i, 0] - cx) * unit + c * (points[i, 1] - cy) * unit)
    share = (1.0 - kept) * load / total if total > 0.0 else 0.0
    for i in range(n):
        found = max(0.0, a + b * (points[i, 0] - cx) * unit + c * (points[i, 1] - cy) * unit)
        out[i] = (kept * out[i] if kept > 0.0 else 0.0) + share * found


@kernel
def _place_in_sole(spots: np.ndarray, side: int, rx: float, rz: float) -> tuple[float, float]:
    """A place (rx, rz) from a sole's middle along its two edges: -1 to 1 within it."""
    i = 4 * side
    ax, az = spots[i + 1, 0] - spots[i, 0], spots[i + 1, 2] - spots[i, 2]
    bx, bz = spots[i + 2, 0] - spots[i, 0], spots[i + 2, 2] - spots[i, 2]
    u = 2.0 * (rx * ax + rz * az) / max(ax * ax + az * az, 1e-12)
    v = 2.0 * (rx * bx + rz * bz) / max(bx * bx + bz * bz, 1e-12)
    return u, v


@kernel
def share_feet(spots: np.ndarray, load: float, x: float, z: float, out: np.ndarray) -> float:
    """A share of a downward load (N) with centre of pressure (x, z) that presses each sole in its middle, as it can.

    spots (8, 3) m, corners of two rectangular soles; out (8,) N. Returns how far it is to be followed: 1, or less, down
    to 0, where a sole would be pressed at its very edge or beyond.

    The evenest share over all corners (`share_load`) presses the lighter foot at its inner edge, and tips it. Here the
    feet share the load by where the pressure centre is between their middles, t and 1 - t. What is left of its place is
    asked of each in proportion to its load, which asks for the least sum of squares, but of the heavier no more than
    `FAR`. Corners then carry (1 +- u) (1 +- v) / 4 of a foot's load for a pressure centre at (u, v) in its sole.
    """
    mx, mz, ox, oz = 0.0, 0.0, 0.0, 0.0
    for k in range(4):
        mx, mz = mx + 0.25 * spots[k, 0], mz + 0.25 * spots[k, 2]
        ox, oz = ox + 0.25 * spots[4 + k, 0], oz + 0.25 * spots[4 + k, 2]
    dx, dz = ox - mx, oz - mz
    t = ((x - mx) * dx + (z - mz) * dz) / max(dx * dx + dz * dz, 1e-12)
    t = min(max(t, 0.0), 1.0)
    rx, rz = x - mx - t * dx, z - mz - t * dz
    heavy = 1 if t > 0.5 else 0
    much = max(t, 1.0 - t)
    little = 1.0 - much
    u, v = _place_in_sole(spots, heavy, rx, rz)
    far = min(much / (much * much + little * little), FAR / max(abs(u), abs(v), 1e-12))
    near = (1.0 - much * far) / max(little, 1e-12)
    if little < 1e-6:
        far, near = 1.0, 0.0
    room = 1.0
    for side in range(2):
        aside, carried = (far, much) if side == heavy else (near, little)
        u, v = _place_in_sole(spots, side, aside * rx, aside * rz)
        room = min(room, 1.0 - abs(u), 1.0 - abs(v))
        i, share = 4 * side, 0.25 * carried * load
        out[i], out[i + 1] = share * (1.0 - u) * (1.0 - v), share * (1.0 + u) * (1.0 - v)
        out[i + 2], out[i + 3] = share * (1.0 - u) * (1.0 + v), share * (1.0 + u) * (1.0 + v)
    return min(max(room / (1.0 - FAR), 0.0), 1.0)

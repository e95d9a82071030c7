"""Penalty forces between shapes, compiled.

A contact is a point of one shape in another, d deep, with the way out n; v the speed of the one against the other:

    f = max(0, k d - c v.n) n        and sideways  -min(mu |f|, c |v_t|) v_t / |v_t|
    k = m / s^2,  c = 2 z m / s      1 / m = sum over both of 1 / M + (r x n) I^-1 (r x n)

s is how soft it is, z its damping, M and I mass and inertia of a thing by itself, r from its centre to the point: a
hand that is struck at its tip is a quarter as heavy there.

A line (LINE) goes from `a` to `b` and is as thick as its radius; a box (BOX) has its middle at `a` and half its edges
in `b`. Both in the frame of the thing that they are on.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.layout import Floats, Ints, Layout

LINE, BOX = 0, 1
ALONG = 3  # points of a line that may touch a box
MOST = 512  # contacts at a time


class PenaltyScene(Layout):
    """Things (segments of all bodies, then props), their shapes, pairs of shapes that may touch, and the contacts."""

    things: int
    R: Annotated[Floats, "things", 3, 3]
    p: Annotated[Floats, "things", 3]  # m
    om: Annotated[Floats, "things", 3]  # rad/s, world axes
    v: Annotated[Floats, "things", 3]  # m/s
    wrench: Annotated[Floats, "things", 6]  # torque about p, force
    # Each thing by itself, in its frame; zeros for one that does not move.
    inverse_mass: Annotated[Floats, "things"]  # 1/kg
    center: Annotated[Floats, "things", 3]  # m
    inverse_inertia: Annotated[Floats, "things", 3, 3]  # 1/(kg m2)
    shape_count: int
    kind: Annotated[Ints, "shape_count"]
    thing: Annotated[Ints, "shape_count"]
    radius: Annotated[Floats, "shape_count"]
    a: Annotated[Floats, "shape_count", 3]
    b: Annotated[Floats, "shape_count", 3]
    axes: Annotated[Floats, "shape_count", 3, 3]  # columns: of a box
    world_a: Annotated[Floats, "shape_count", 3]
    world_b: Annotated[Floats, "shape_count", 3]
    world_axes: Annotated[Floats, "shape_count", 3, 3]
    pair_count: int
    pairs: Annotated[Ints, "pair_count", 2]
    softness: Annotated[Floats, "pair_count"]  # s
    damping_ratio: Annotated[Floats, "pair_count"]
    friction: Annotated[Floats, "pair_count"]
    most: int
    contact_things: Annotated[Ints, "most", 2]
    contact_points: Annotated[Floats, "most", 3]  # m
    contact_forces: Annotated[Floats, "most", 3]  # N, on the first thing


@kernel
def place_shapes(x: PenaltyScene) -> None:
    """Write the shapes in the world."""
    for k in range(x.shape_count):
        R, p = x.R[x.thing[k]], x.p[x.thing[k]]
        for i in range(3):
            u, w = p[i], p[i]
            for j in range(3):
                u += R[i, j] * x.a[k, j]
                w += R[i, j] * x.b[k, j]
            x.world_a[k, i] = u
            x.world_b[k, i] = w if x.kind[k] == LINE else x.b[k, i]
            for c in range(3):
                z = 0.0
                for j in range(3):
                    z += R[i, j] * x.axes[k, j, c]
                x.world_axes[k, i, c] = z


@kernel
def depth_in_box(x: PenaltyScene, box: int, point: np.ndarray, n: np.ndarray) -> float:
    """Return the depth of a point in a box (negative: its distance), and write the direction out n (3,)."""
    middle, half, axes = x.world_a[box], x.world_b[box], x.world_axes[box]
    seen, beyond, worst = np.empty(3), np.empty(3), 0
    dx, dy, dz = point[0] - middle[0], point[1] - middle[1], point[2] - middle[2]
    for c in range(3):
        seen[c] = axes[0, c] * dx + axes[1, c] * dy + axes[2, c] * dz
        beyond[c] = abs(seen[c]) - half[c]
        if beyond[c] > beyond[worst]:
            worst = c
    if beyond[worst] <= 0.0:
        sign = 1.0 if seen[worst] >= 0.0 else -1.0
        for i in range(3):
            n[i] = sign * axes[i, worst]
        return float(-beyond[worst])
    far = 0.0
    for c in range(3):
        seen[c] = max(beyond[c], 0.0) * (1.0 if seen[c] >= 0.0 else -1.0)
        far += seen[c] * seen[c]
    far = np.sqrt(far)
    for i in range(3):
        n[i] = (axes[i, 0] * seen[0] + axes[i, 1] * seen[1] + axes[i, 2] * seen[2]) / far
    return float(-far)


@kernel
def nearest_of_lines(x: PenaltyScene, one: int, other: int, out: np.ndarray) -> None:
    """Write the nearest points of two lines with ends, out (2, 3); as in `world.overlap.find_distances`."""
    uu = vv = uv = uw = vw = 0.0
    for c in range(3):
        u, v = x.world_b[one, c] - x.world_a[one, c], x.world_b[other, c] - x.world_a[other, c]
        w = x.world_a[one, c] - x.world_a[other, c]
        uu, vv, uv, uw, vw = uu + u * u, vv + v * v, uv + u * v, uw + u * w, vw + v * w
    across = uu * vv - uv * uv
    s = min(max((uv * vw - vv * uw) / across, 0.0), 1.0) if across > 1e-12 * uu * vv else 0.0
    t = min(max((uv * s + vw) / vv, 0.0), 1.0) if vv > 0.0 else 0.0
    s = min(max((uv * t - uw) / uu, 0.0), 1.0) if uu > 0.0 else 0.0
    for c in range(3):
        out[0, c] = x.world_a[one, c] + s * (x.world_b[one, c] - x.world_a[one, c])
        out[1, c] = x.world_a[other, c] + t * (x.world_b[other, c] - x.world_a[other, c])


@kernel
def press(x: PenaltyScene) -> int:
    """Write what all pairs of shapes put on their things to `wrench`; return the number of contacts."""
    x.wrench[:] = 0.0
    count = 0
    for k in range(x.pair_count):
        one, other = x.pairs[k, 0], x.pairs[k, 1]
        if x.kind[one] == LINE and x.kind[other] == LINE:
            count = _press_lines(x, k, count)
            continue
        if x.kind[other] == BOX:
            count = _press_box(x, k, other, one, 1.0, count)
        if x.kind[one] == BOX:
            count = _press_box(x, k, one, other, -1.0, count)
    return count


@kernel
def _press_lines(x: PenaltyScene, pair: int, count: int) -> int:
    """Press two lines of pair number `pair` apart."""
    one, other = x.pairs[pair, 0], x.pairs[pair, 1]
    ends, n, point = np.empty((2, 3)), np.empty(3), np.empty(3)
    nearest_of_lines(x, one, other, ends)
    far = np.sqrt((ends[0, 0] - ends[1, 0]) ** 2 + (ends[0, 1] - ends[1, 1]) ** 2 + (ends[0, 2] - ends[1, 2]) ** 2)
    depth = x.radius[one] + x.radius[other] - far
    if depth <= 0.0 or far < 1e-9:
        return count
    for c in range(3):
        n[c] = (ends[0, c] - ends[1, c]) / far
        point[c] = ends[1, c] + (x.radius[other] - 0.5 * depth) * n[c]
    return push(x, pair, point, n, depth, count)


@kernel
def _press_box(x: PenaltyScene, pair: int, box: int, other: int, sign: float, count: int) -> int:
    """Press points of a shape out of a box. sign: 1 if the box is the second of the pair."""
    n, point = np.empty(3), np.empty(3)
    is_line = x.kind[other] == LINE
    a, b, axes = x.world_a[other], x.world_b[other], x.world_axes[other]
    points = ALONG if is_line else 8
    if is_line and a[0] == b[0] and a[1] == b[1] and a[2] == b[2]:
        points = 1
    radius = x.radius[other] if is_line else 0.0
    for m in range(points):
        if is_line:
            fraction = m / max(points - 1, 1)
            for c in range(3):
                point[c] = a[c] + fraction * (b[c] - a[c])
        else:
            for c in range(3):
                point[c] = a[c]
                for axis in range(3):
                    point[c] += axes[c, axis] * b[axis] * (1.0 if (m >> axis) & 1 else -1.0)
        depth = depth_in_box(x, box, point, n) + radius
        if depth <= 0.0:
            continue
        for c in range(3):
            point[c] -= (radius - 0.5 * depth) * n[c]
            n[c] *= sign
        count = push(x, pair, point, n, depth, count)
    return count


@kernel
def push(x: PenaltyScene, pair: int, point: np.ndarray, n: np.ndarray, depth: float, count: int) -> int:
    """Add the force of one contact; n points out of the second thing, into the first. Return the number of contacts."""
    one, other = x.thing[x.pairs[pair, 0]], x.thing[x.pairs[pair, 1]]
    softness, ratio, friction, wrench = x.softness[pair], x.damping_ratio[pair], x.friction[pair], x.wrench
    speed, f = np.empty(3), np.empty(3)
    _find_velocity(x, one, point, speed)
    _find_velocity(x, other, point, f)
    along = 0.0
    for c in range(3):
        speed[c] -= f[c]
        along += speed[c] * n[c]
    ease = lightness(x, one, point, n) + lightness(x, other, point, n)
    if ease <= 0.0:
        return count
    damping = 2.0 * ratio / (softness * ease)
    size = depth / (softness**2 * ease) - damping * along
    if size <= 0.0:
        return count
    side = 0.0
    for c in range(3):
        speed[c] -= along * n[c]
        side += speed[c] * speed[c]
    side = np.sqrt(side)
    grip = min(friction * size / side, damping) if side > 1e-12 else 0.0
    for c in range(3):
        f[c] = size * n[c] - grip * speed[c]
    for sign, thing in ((1.0, one), (-1.0, other)):
        rx, ry, rz = point[0] - x.p[thing, 0], point[1] - x.p[thing, 1], point[2] - x.p[thing, 2]
        wrench[thing, 0] += sign * (ry * f[2] - rz * f[1])
        wrench[thing, 1] += sign * (rz * f[0] - rx * f[2])
        wrench[thing, 2] += sign * (rx * f[1] - ry * f[0])
        for c in range(3):
            wrench[thing, 3 + c] += sign * f[c]
    if count < x.most:
        x.contact_things[count, 0], x.contact_things[count, 1] = one, other
        for c in range(3):
            x.contact_points[count, c], x.contact_forces[count, c] = point[c], f[c]
        count += 1
    return count


@kernel
def _find_velocity(x: PenaltyScene, thing: int, point: np.ndarray, out: np.ndarray) -> None:
    """Write the velocity (3,) of a thing's point."""
    p, w, v = x.p[thing], x.om[thing], x.v[thing]
    rx, ry, rz = point[0] - p[0], point[1] - p[1], point[2] - p[2]
    out[0] = v[0] + w[1] * rz - w[2] * ry
    out[1] = v[1] + w[2] * rx - w[0] * rz
    out[2] = v[2] + w[0] * ry - w[1] * rx


@kernel
def lightness(x: PenaltyScene, thing: int, point: np.ndarray, n: np.ndarray) -> float:
    """Return 1/kg, how readily a thing by itself yields at a point along a direction."""
    R, p, center, inverse = x.R[thing], x.p[thing], x.center[thing], x.inverse_inertia[thing]
    r, d, t = np.empty(3), np.empty(3), np.empty(3)
    for c in range(3):
        r[c] = R[0, c] * (point[0] - p[0]) + R[1, c] * (point[1] - p[1]) + R[2, c] * (point[2] - p[2]) - center[c]
        d[c] = R[0, c] * n[0] + R[1, c] * n[1] + R[2, c] * n[2]
    t[0], t[1], t[2] = r[1] * d[2] - r[2] * d[1], r[2] * d[0] - r[0] * d[2], r[0] * d[1] - r[1] * d[0]
    total = x.inverse_mass[thing]
    for i in range(3):
        for j in range(3):
            total += t[i] * inverse[i, j] * t[j]
    return float(total)

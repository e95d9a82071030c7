"""Penalty forces between shapes, compiled.

A contact is a point of one shape in another, d deep, with the way out n; v the speed of the one against the other:

    f = max(0, k d - c v.n) n        and sideways  -min(mu |f|, c |v_t|) v_t / |v_t|
    k = m / s^2,  c = 2 z m / s      1 / m = sum over both of 1 / M + (r x n) I^-1 (r x n)

s is how soft it is, z its damping, M and I mass and inertia of a thing by itself, r from its centre to the point: a
hand that is struck at its tip is a quarter as heavy there.

Shapes are rows: kind, thing, a (3), b (3), radius, turn (9). A line (LINE) goes from a to b and is as thick as its
radius; a box (BOX) has its middle at a and half its edges in b. All in the frame of the thing that they are on.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel

LINE, BOX = 0, 1
ROW = 18  # numbers a shape
ALONG = 3  # points of a line that may touch a box
MOST = 512  # contacts at a time


@kernel
def place_rows(rows: np.ndarray, R: np.ndarray, p: np.ndarray, out: np.ndarray) -> None:
    """Shapes in the world, from those of things at R (T, 3, 3), p (T, 3)."""
    for k in range(len(rows)):
        thing = int(rows[k, 1])
        turn, at = R[thing], p[thing]
        out[k, 0], out[k, 1], out[k, 8] = rows[k, 0], rows[k, 1], rows[k, 8]
        for a in range(3):
            x, y = at[a], at[a]
            for b in range(3):
                x += turn[a, b] * rows[k, 2 + b]
                y += turn[a, b] * rows[k, 5 + b]
            out[k, 2 + a] = x
            out[k, 5 + a] = y if rows[k, 0] == LINE else rows[k, 5 + a]
            for c in range(3):
                z = 0.0
                for b in range(3):
                    z += turn[a, b] * rows[k, 9 + 3 * b + c]
                out[k, 9 + 3 * a + c] = z


@kernel
def depth_in_box(box: np.ndarray, x: float, y: float, z: float, n: np.ndarray) -> float:
    """How deep a point is in a box (negative: how far off), and the way out n (3,)."""
    seen, beyond, worst = np.empty(3), np.empty(3), 0
    for c in range(3):
        seen[c] = box[9 + c] * (x - box[2]) + box[12 + c] * (y - box[3]) + box[15 + c] * (z - box[4])
        beyond[c] = abs(seen[c]) - box[5 + c]
        if beyond[c] > beyond[worst]:
            worst = c
    if beyond[worst] <= 0.0:
        sign = 1.0 if seen[worst] >= 0.0 else -1.0
        for a in range(3):
            n[a] = sign * box[9 + 3 * a + worst]
        return float(-beyond[worst])
    far = 0.0
    for c in range(3):
        seen[c] = max(beyond[c], 0.0) * (1.0 if seen[c] >= 0.0 else -1.0)
        far += seen[c] * seen[c]
    far = np.sqrt(far)
    for a in range(3):
        n[a] = (box[9 + 3 * a] * seen[0] + box[10 + 3 * a] * seen[1] + box[11 + 3 * a] * seen[2]) / far
    return float(-far)


@kernel
def nearest_of_lines(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """The nearest points of two lines with ends, out (2, 3); as in `world.overlap.find_distances`."""
    uu = vv = uv = uw = vw = 0.0
    for c in range(3):
        u, v, w = a[5 + c] - a[2 + c], b[5 + c] - b[2 + c], a[2 + c] - b[2 + c]
        uu, vv, uv, uw, vw = uu + u * u, vv + v * v, uv + u * v, uw + u * w, vw + v * w
    across = uu * vv - uv * uv
    s = min(max((uv * vw - vv * uw) / across, 0.0), 1.0) if across > 1e-12 * uu * vv else 0.0
    t = min(max((uv * s + vw) / vv, 0.0), 1.0) if vv > 0.0 else 0.0
    s = min(max((uv * t - uw) / uu, 0.0), 1.0) if uu > 0.0 else 0.0
    for c in range(3):
        out[0, c] = a[2 + c] + s * (a[5 + c] - a[2 + c])
        out[1, c] = b[2 + c] + t * (b[5 + c] - b[2 + c])


@kernel
def press(
    pairs: np.ndarray, gains: np.ndarray, rows: np.ndarray, R: np.ndarray, p: np.ndarray, om: np.ndarray, v: np.ndarray,
    light: np.ndarray, wrench: np.ndarray, told: np.ndarray,
) -> int:  # fmt: skip
    """Add what pairs (n, 2) of shapes put on their things to wrench (T, 6), [torque about p, force]; how many contacts.

    gains  (n, 3) s, z, mu;  rows in the world;  R (T, 3, 3);  p, om, v (T, 3)
    light  (T, 13) of each thing: 1 / M, its centre (3), I^-1 (9), in its frame; zeros for one that does not move
    told   (MOST, 8) thing, thing, point, force on the first
    """
    count, n, ends, at = 0, np.empty(3), np.empty((2, 3)), np.empty(3)
    for k in range(len(pairs)):
        a, b = rows[pairs[k, 0]], rows[pairs[k, 1]]
        one, other = int(a[1]), int(b[1])
        if a[0] == LINE and b[0] == LINE:
            nearest_of_lines(a, b, ends)
            far = np.sqrt(
                (ends[0, 0] - ends[1, 0]) ** 2 + (ends[0, 1] - ends[1, 1]) ** 2 + (ends[0, 2] - ends[1, 2]) ** 2
            )
            depth = a[8] + b[8] - far
            if depth <= 0.0 or far < 1e-9:
                continue
            for c in range(3):
                n[c] = (ends[0, c] - ends[1, c]) / far
                at[c] = ends[1, c] + (b[8] - 0.5 * depth) * n[c]
            count = push(one, other, at, n, depth, gains[k], R, p, om, v, light, wrench, told, count)
            continue
        for turn in range(2):
            box, line = (b, a) if turn == 0 else (a, b)
            if box[0] != BOX:
                continue
            sign = 1.0 if turn == 0 else -1.0
            points = ALONG if line[0] == LINE else 8
            if line[0] == LINE and line[2] == line[5] and line[3] == line[6] and line[4] == line[7]:
                points = 1
            for m in range(points):
                radius = 0.0
                if line[0] == LINE:
                    radius, share = line[8], m / max(points - 1, 1)
                    for c in range(3):
                        at[c] = line[2 + c] + share * (line[5 + c] - line[2 + c])
                else:
                    for c in range(3):
                        at[c] = line[2 + c]
                        for axis in range(3):
                            at[c] += line[9 + 3 * c + axis] * line[5 + axis] * (1.0 if (m >> axis) & 1 else -1.0)
                depth = depth_in_box(box, at[0], at[1], at[2], n) + radius
                if depth <= 0.0:
                    continue
                for c in range(3):
                    at[c] -= (radius - 0.5 * depth) * n[c]
                    n[c] *= sign
                count = push(one, other, at, n, depth, gains[k], R, p, om, v, light, wrench, told, count)
    return count


@kernel
def push(
    one: int, other: int, at: np.ndarray, n: np.ndarray, depth: float, gain: np.ndarray, R: np.ndarray, p: np.ndarray,
    om: np.ndarray, v: np.ndarray, light: np.ndarray, wrench: np.ndarray, told: np.ndarray, count: int,
) -> int:  # fmt: skip
    """One contact: n points out of the second thing, into the first."""
    speed, f = np.empty(3), np.empty(3)
    _speed(one, at, p, om, v, speed)
    _speed(other, at, p, om, v, f)
    along = 0.0
    for c in range(3):
        speed[c] -= f[c]
        along += speed[c] * n[c]
    ease = lightness(light[one], R[one], p[one], at, n) + lightness(light[other], R[other], p[other], at, n)
    if ease <= 0.0:
        return count
    damping = 2.0 * gain[1] / (gain[0] * ease)
    size = depth / (gain[0] ** 2 * ease) - damping * along
    if size <= 0.0:
        return count
    side = 0.0
    for c in range(3):
        speed[c] -= along * n[c]
        side += speed[c] * speed[c]
    side = np.sqrt(side)
    grip = min(gain[2] * size / side, damping) if side > 1e-12 else 0.0
    for c in range(3):
        f[c] = size * n[c] - grip * speed[c]
    for sign, thing in ((1.0, one), (-1.0, other)):
        x, y, z = at[0] - p[thing, 0], at[1] - p[thing, 1], at[2] - p[thing, 2]
        wrench[thing, 0] += sign * (y * f[2] - z * f[1])
        wrench[thing, 1] += sign * (z * f[0] - x * f[2])
        wrench[thing, 2] += sign * (x * f[1] - y * f[0])
        for c in range(3):
            wrench[thing, 3 + c] += sign * f[c]
    if count < len(told):
        told[count, 0], told[count, 1] = one, other
        for c in range(3):
            told[count, 2 + c], told[count, 5 + c] = at[c], f[c]
        count += 1
    return count


@kernel
def _speed(thing: int, at: np.ndarray, p: np.ndarray, om: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
    x, y, z = at[0] - p[thing, 0], at[1] - p[thing, 1], at[2] - p[thing, 2]
    w = om[thing]
    out[0] = v[thing, 0] + w[1] * z - w[2] * y
    out[1] = v[thing, 1] + w[2] * x - w[0] * z
    out[2] = v[thing, 2] + w[0] * y - w[1] * x


@kernel
def lightness(light: np.ndarray, R: np.ndarray, p: np.ndarray, at: np.ndarray, n: np.ndarray) -> float:
    """1/kg, how readily a thing by itself gives way at a point along a direction."""
    r, d, x = np.empty(3), np.empty(3), np.empty(3)
    for c in range(3):
        r[c] = R[0, c] * (at[0] - p[0]) + R[1, c] * (at[1] - p[1]) + R[2, c] * (at[2] - p[2]) - light[1 + c]
        d[c] = R[0, c] * n[0] + R[1, c] * n[1] + R[2, c] * n[2]
    x[0], x[1], x[2] = r[1] * d[2] - r[2] * d[1], r[2] * d[0] - r[0] * d[2], r[0] * d[1] - r[1] * d[0]
    total = light[0]
    for a in range(3):
        for b in range(3):
            total += x[a] * light[4 + 3 * a + b] * x[b]
    return float(total)

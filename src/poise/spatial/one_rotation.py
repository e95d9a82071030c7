"""The laws of `rotation` for one rotation or vector, in Python's own numbers.

For four numbers NumPy takes five (a product) to seventy (a matrix) times as long: most of what a body cost. Every
operation here is that of `rotation`, in the same order, so results are the same to the last bit; sine, cosine and
arctangent are NumPy's, whose last bits are not those of `math`. What Python refuses (a division by zero) or sorts
otherwise (NaN) is not for these functions: they return None, and `rotation` goes its usual way.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

Numbers = list[float]
# Below this angle (radians) sin(x)/x and friends come from their Taylor series: its first dropped term is under 1e-17.
SMALL = 1e-4


def multiply(a: Numbers, b: Numbers) -> Numbers:
    """The product of two quaternions."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return [
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ]


def cross(a: Numbers, b: Numbers) -> Numbers:
    """a x b."""
    ax, ay, az = a
    bx, by, bz = b
    return [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]


def rotate(q: Numbers, v: Numbers) -> Numbers:
    """v turned by q."""
    w, x, y, z = q
    vx, vy, vz = v
    tx, ty, tz = 2.0 * (y * vz - z * vy), 2.0 * (z * vx - x * vz), 2.0 * (x * vy - y * vx)
    return [vx + w * tx + (y * tz - z * ty), vy + w * ty + (z * tx - x * tz), vz + w * tz + (x * ty - y * tx)]


def normalize(q: Numbers) -> Numbers | None:
    """The unit quaternion along q."""
    w, x, y, z = q
    norm = sqrt(w * w + x * x + y * y + z * z)
    return [w / norm, x / norm, y / norm, z / norm] if norm > 0.0 else None


def from_matrix(m: list[Numbers]) -> Numbers | None:
    """The quaternion, w >= 0, of a matrix."""
    (xx, m01, m02), (m10, yy, m12), (m20, m21, zz) = m
    squares = [1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz]
    if sum(squares) != sum(squares):  # NaN, which NumPy calls the largest
        return None
    largest = squares.index(max(squares))
    if largest == 0:
        found = [squares[0], m21 - m12, m02 - m20, m10 - m01]
    elif largest == 1:
        found = [m21 - m12, squares[1], m10 + m01, m02 + m20]
    elif largest == 2:
        found = [m02 - m20, m10 + m01, squares[2], m21 + m12]
    else:
        found = [m10 - m01, m02 + m20, m21 + m12, squares[3]]
    q = normalize(found)
    return [-a for a in q] if q is not None and q[0] < 0 else q


def exp(rotvec: Numbers) -> Numbers:
    """The rotation by |rotvec| about it."""
    x, y, z = rotvec
    angle = sqrt(x * x + y * y + z * z)
    half_sinc = 0.5 - angle * angle / 48.0 if angle < SMALL else float(np.sin(0.5 * angle)) / angle
    return [float(np.cos(0.5 * angle)), half_sinc * x, half_sinc * y, half_sinc * z]


def from_axis_angle(axis: Numbers, angle: float) -> Numbers | None:
    """The rotation by an angle about an axis of any length but none."""
    x, y, z = axis
    norm = sqrt(x * x + y * y + z * z)
    return exp([x / norm * angle, y / norm * angle, z / norm * angle]) if norm > 0.0 else None


def unit(v: Numbers) -> Numbers:
    """v at length 1; nothing where it has none."""
    x, y, z = v
    norm = max(sqrt(x * x + y * y + z * z), 1e-300)
    return [x / norm, y / norm, z / norm]


def log(q: Numbers) -> Numbers:
    """The rotation vector of q, the shorter way round."""
    w, x, y, z = q if not q[0] < 0 else [-a for a in q]
    s = sqrt(x * x + y * y + z * z)
    scale = 2.0 + s * s / 3.0 if s < SMALL else 2.0 * float(np.arctan2(s, w)) / s
    return [scale * x, scale * y, scale * z]


def between(u: Numbers, v: Numbers) -> Numbers | None:
    """The smallest rotation from direction u to direction v; None where they are opposite."""
    (ux, uy, uz), (vx, vy, vz) = unit(u), unit(v)
    w = 1.0 + (ux * vx + uy * vy + uz * vz)
    return normalize([w, uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx]) if w >= 1e-12 else None

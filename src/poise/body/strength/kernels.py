"""Strength about one axis at one instant, compiled: `joint_strength.py` says what it means.

A direction is a row of `COUNT` numbers, whatever joint it is of:

    tau = STRENGTH A(angle) V(u)                 u = the angular velocity along the torque, rad/s       [strength, eq 5]
    A = cos(WIDTH (angle - PEAK)), kept above BELOW at lesser angles than PEAK, ABOVE at greater ones
                                                                               [Anderson, Madigan and Nussbaum 2007]
    V = (1 + P u) / (1 + Q u), kept above SLOWEST            u >= 0: the muscles shorten
    V = 1 + (STRETCHED - 1) |u| / (|u| + s)                  u < 0: they are stretched;  s = (STRETCHED - 1) / (Q - P)

Differences from the source. Where a cosine would go on to nothing and below, its least stands; the two meet smoothly.
Their torque of stretched muscles, V(|u|) (1 + C6 |u|), comes back to nothing and below at high speeds; here it goes on
from rest with the slope that it comes with, to the most that theirs comes to.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel

Axes = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # an `AxisArrays` of `joint_strength.py`
STRENGTH, WIDTH, PEAK, P, Q, STRETCHED, BELOW, ABOVE = range(8)
COUNT = 8
SLOWEST = 0.05  # of the static torque is left at any speed: no joint is ever quite without
EDGE = 0.05  # half of the zone in which a curve goes over to its least
_MOST = 1e6  # rad and rad/s: beyond it nothing changes, and nothing overflows


@kernel
def keep_above(value: float, least: float) -> float:
    """The value, or its least where it is less, with a parabola between: the slope never jumps."""
    over = value - least
    if over >= EDGE:
        return value
    if over <= -EDGE:
        return least
    return least + (over + EDGE) ** 2 / (4.0 * EDGE)


@kernel
def find_torque(curve: np.ndarray, angle: float, speed: float) -> float:
    """N m, at least 0, of one direction at an angle (rad) and a speed (rad/s) along the torque."""
    angle = min(max(angle, -_MOST), _MOST)
    speed = min(max(speed, -_MOST), _MOST)
    phase = min(abs(curve[WIDTH] * (angle - curve[PEAK])), 0.5 * np.pi)
    at = keep_above(np.cos(phase), curve[ABOVE] if angle > curve[PEAK] else curve[BELOW])
    p, q, more = curve[P], curve[Q], curve[STRETCHED] - 1.0
    if speed >= 0.0:
        # V = (2 C4 C5 + u (C5 - 3 C4)) / (2 C4 C5 + u (2 C5 - 4 C4)) over 2 C4 C5   [Anderson, eq 1]
        left = keep_above((1.0 + p * speed) / (1.0 + q * speed), SLOWEST)
    else:
        slope = (q - p) * -speed
        left = 1.0 + more * slope / (slope + more) if more > 0.0 and slope > 0.0 else 1.0
    return curve[STRENGTH] * at * left


@kernel
def look_up(numbers: np.ndarray, start: int, rows: int, columns: int, angle: float, rate: float) -> float:
    """A table's value, linear between its angles and rates, its edge beyond them.

    numbers, from start  rows angles, columns rates, then the values, a row an angle
    """
    i, x = _place(numbers, start, rows, angle)
    k, y = _place(numbers, start + rows, columns, rate)
    first = start + rows + columns
    below = min(i + 1, rows - 1)
    beside = min(k + 1, columns - 1)
    near = (1.0 - y) * numbers[first + i * columns + k] + y * numbers[first + i * columns + beside]
    far = (1.0 - y) * numbers[first + below * columns + k] + y * numbers[first + below * columns + beside]
    return (1.0 - x) * near + x * far


@kernel
def _place(numbers: np.ndarray, start: int, count: int, value: float) -> tuple[int, float]:
    """Between which two of rising numbers a value is, and how far on the way."""
    i = 0
    while i < count - 2 and value >= numbers[start + i + 1]:
        i += 1
    if count == 1:
        return 0, 0.0
    x = (value - numbers[start + i]) / (numbers[start + i + 1] - numbers[start + i])
    return i, min(max(x, 0.0), 1.0)


@kernel
def fill_range(
    curves: np.ndarray,
    tables: np.ndarray,
    numbers: np.ndarray,
    angles: np.ndarray,
    rates: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> None:
    """The least and the greatest torque (n,) N m, of n axes at one instant: low <= 0 <= high.

    curves   (n, 2, COUNT) of the lower and the upper torque
    tables   (n, 2, 3) where a table stands in `numbers`, and how many angles and rates it has; 0 angles: no table
    angles, rates  (n,) rad and rad/s about each axis
    """
    for i in range(len(curves)):
        for way in range(2):
            sign = 2.0 * way - 1.0
            if tables[i, way, 1] > 0:
                at = tables[i, way]
                torque = look_up(numbers, at[0], at[1], at[2], angles[i], rates[i])
            else:
                torque = sign * find_torque(curves[i, way], angles[i], sign * rates[i])
            if way == 0:
                low[i] = torque
            else:
                high[i] = torque


@kernel
def fill_ranges(
    curves: np.ndarray,
    tables: np.ndarray,
    numbers: np.ndarray,
    angles: np.ndarray,
    rates: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> None:
    """`fill_range` of many instants: angles, rates, low and high are (F, n)."""
    for f in range(len(angles)):
        fill_range(curves, tables, numbers, angles[f], rates[f], low[f], high[f])


@kernel
def fill_state(of: Axes, q: np.ndarray, w: np.ndarray, angles: np.ndarray, rates: np.ndarray, axes: np.ndarray) -> None:
    """Write angles (n,) rad, rates (n,) rad/s, and axes (n, 3) in the carried bodies' frames, at one instant.

    q, w     (J, 4) and (J, 3) of all joints: rotations, and velocities in the carried bodies' axes

    E = P q C^-1 = S T, a swing S and a twist T about y. The axes are those of the zero pose after the swing alone: y
    lies along the carried segment, x and z across it. A rate is w about its axis, a torque's part is that about it.
    """
    joints, letters, frames, ranges = of
    x, y, z = 0.0, 0.0, 0.0
    for i in range(len(joints)):
        j, P_, C_ = joints[i], frames[i, 0], frames[i, 1]
        if i == 0 or joints[i - 1] != j:
            x, y, z = _swing_and_twist(P_, q[j], C_)
            x, z = _choose_branch(x, z, ranges[i, 0], ranges[i, 1])
        # T^-1 e in the zero pose's axes of what is carried
        if letters[i] == 0:
            angles[i], a, b, c = x, np.cos(y), 0.0, np.sin(y)
        elif letters[i] == 1:
            angles[i], a, b, c = y, 0.0, 1.0, 0.0
        else:
            angles[i], a, b, c = z, -np.sin(y), 0.0, np.cos(y)
        # C^-1 takes them to its own
        qw, qx, qy, qz = C_[0], -C_[1], -C_[2], -C_[3]
        tx, ty, tz = 2.0 * (qy * c - qz * b), 2.0 * (qz * a - qx * c), 2.0 * (qx * b - qy * a)
        axes[i, 0] = a + qw * tx + (qy * tz - qz * ty)
        axes[i, 1] = b + qw * ty + (qz * tx - qx * tz)
        axes[i, 2] = c + qw * tz + (qx * ty - qy * tx)
        rates[i] = axes[i, 0] * w[j, 0] + axes[i, 1] * w[j, 1] + axes[i, 2] * w[j, 2]


@kernel
def fill_states(
    of: Axes, q: np.ndarray, w: np.ndarray, angles: np.ndarray, rates: np.ndarray, axes: np.ndarray
) -> None:
    """Like `fill_state`, for many instants: every array has them first."""
    for f in range(len(q)):
        fill_state(of, q[f], w[f], angles[f], rates[f], axes[f])


@kernel
def _swing_and_twist(P_: np.ndarray, q: np.ndarray, C_: np.ndarray) -> tuple[float, float, float]:
    """x, y, z of P q C^-1 = exp(x, 0, z) exp(0, y, 0)."""
    aw = P_[0] * q[0] - P_[1] * q[1] - P_[2] * q[2] - P_[3] * q[3]
    ax = P_[0] * q[1] + P_[1] * q[0] + P_[2] * q[3] - P_[3] * q[2]
    ay = P_[0] * q[2] - P_[1] * q[3] + P_[2] * q[0] + P_[3] * q[1]
    az = P_[0] * q[3] + P_[1] * q[2] - P_[2] * q[1] + P_[3] * q[0]
    bw, bx, by, bz = C_[0], -C_[1], -C_[2], -C_[3]
    w = aw * bw - ax * bx - ay * by - az * bz
    x = aw * bx + ax * bw + ay * bz - az * by
    y = aw * by - ax * bz + ay * bw + az * bx
    z = aw * bz + ax * by - ay * bx + az * bw
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    n = np.sqrt(w * w + y * y)
    c, s = (w / n, y / n) if n > 1e-9 else (1.0, 0.0)
    sx, sz = x * c + z * s, z * c - x * s
    m = np.sqrt(sx * sx + sz * sz)
    f = 2.0 if m < 1e-12 else 2.0 * np.arctan2(m, n) / m
    return f * sx, 2.0 * np.arctan2(s, c), f * sz


@kernel
def _choose_branch(x: float, z: float, lower: np.ndarray, upper: np.ndarray) -> tuple[float, float]:
    """A swing is one the other way too, by the rest of a whole turn: that which is less beyond the range."""
    size = np.sqrt(x * x + z * z)
    if size < 2.0:
        return x, z
    f = 1.0 - 2.0 * np.pi / size
    ox, oz = f * x, f * z
    here = max(x - upper[0], lower[0] - x, z - upper[2], lower[2] - z)
    there = max(ox - upper[0], lower[0] - ox, oz - upper[2], lower[2] - oz)
    return (ox, oz) if there < here and here > 0.0 else (x, z)

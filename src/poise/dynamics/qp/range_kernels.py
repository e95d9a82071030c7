"""Torque ranges as bounds on products with rows, as `dynamics/qp/active_set_kernels.py` takes them, and back.

    t = H x + b,   low <= t <= high         the ranges of `Ranges`, any number of them
    z = (x - center) / roots                roots 1 / sqrt(weight), weights of mean 1
    rows[i] = H_i roots / sizes_i           of length 1

The answer is checked against the ranges as they were given, and torques that are out of them are cut.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from poise.compiled.kernel import kernel
from poise.dynamics.qp.active_set_kernels import MEMBERS, Room
from poise.dynamics.qp.row_kernels import add_to, dot, factor_square, solve_lower, solve_square

OK, CLIPPED, OUT = range(3)
_ENOUGH = 1e-10  # of a range: by how much a search may miss a bound. A tenth of what is promised.
_PROMISED = 1e-9
_ROUNDING = 2.3e-16


class Ranges(NamedTuple):
    """Torques H x + b (b,) N m and what they may be.

    H  (b, n) kg m2, not always symmetric, nor square;  b, low, high (b,) N m, where infinite: no such bound
    """

    H: np.ndarray
    b: np.ndarray
    low: np.ndarray
    high: np.ndarray


@kernel
def count_floats(bounds: int, n: int, m: int) -> int:
    """Length of the float64 array that `limit` works in, for so many bounds, n unknowns and m rows of goals."""
    width, rows = n + m, bounds + m
    return rows * width + 2 * width * width + 7 * width + 4 * rows + 3 * n + bounds + m + 2 * m * m + bounds * bounds


@kernel
def count_integers(bounds: int, n: int, m: int) -> int:
    """Length of the int64 array that `limit` works in."""
    return 2 * (n + m) + bounds + m + 4 + bounds


@kernel
def carve(floats: np.ndarray, integers: np.ndarray, bounds: int, n: int, m: int) -> Room:
    """Views into two flat arrays."""
    width, rows = n + m, bounds + m
    at = rows * width
    square = width * width
    Q, R = floats[at : at + square].reshape(width, width), floats[at + square : at + 2 * square].reshape(width, width)
    at += 2 * square
    wide = floats[at : at + 7 * width].reshape(7, width)
    at += 7 * width
    tall = floats[at : at + 4 * rows].reshape(4, rows)
    at += 4 * rows
    small = floats[at : at + 3 * n].reshape(3, n)
    at += 3 * n
    marks = integers[: 2 * width].reshape(2, width)
    state = integers[2 * width : 2 * width + rows]
    counts = integers[2 * width + rows : 2 * width + rows + 4]
    return Room(
        floats[: rows * width].reshape(rows, width),
        tall[0],
        tall[1],
        tall[2],
        Q,
        R,
        wide[0],
        wide[1],
        marks[0],
        marks[1],
        state,
        counts,
        wide[2],
        wide[3],
        wide[4],
        wide[5],
        wide[6],
        small[0],
        small[1],
        tall[3],
        floats[at : at + m],
        floats[at + m : at + m + bounds],
        small[2],
        floats[at + m + bounds : at + m + bounds + m * m].reshape(m, m),
        floats[at + m + bounds + m * m : at + m + bounds + 2 * m * m].reshape(m, m),
    )


@kernel
def begin(room: Room, H: np.ndarray, wanted: np.ndarray, weights: np.ndarray) -> None:
    """Roots of the weights, the rows of H under them at length 1, and nobody a member."""
    n, width = len(wanted), len(room.z)
    mean = 0.0
    for i in range(n):
        mean += weights[i] / n
    for i in range(n):
        room.roots[i] = math.sqrt(mean / weights[i])
    for i in range(len(H)):
        row = room.rows[i]
        for j in range(n):
            row[j] = H[i, j] * room.roots[j]
        for j in range(n, width):
            row[j] = 0.0
        length = math.sqrt(dot(row, row, n))
        room.sizes[i] = length if length > 0.0 else 1.0
        for j in range(n):
            row[j] /= room.sizes[i]
    room.state[:] = 0
    room.z[:] = 0.0
    room.counts[:] = 0


@kernel
def set_center(room: Room, given: Ranges, center: np.ndarray) -> None:
    """Measure z from a centre (n,): bounds of the values' change, each over its row's length."""
    H, b, low, high = given
    n = len(center)
    largest = 0.0
    for i in range(n):
        room.center[i] = center[i]
        largest += (center[i] / room.roots[i]) ** 2
    largest = math.sqrt(largest)
    for i in range(len(b)):
        value = dot(H[i], room.center, n) + b[i]
        room.low[i], room.high[i] = (low[i] - value) / room.sizes[i], (high[i] - value) / room.sizes[i]
        near = min(abs(room.low[i]), abs(room.high[i]))
        rounding = (
            4.0 * _ROUNDING * (abs(b[i]) / room.sizes[i] + largest + near + _span(low[i], high[i], room.sizes[i]))
        )
        room.slip[i] = _ENOUGH * _span(low[i], high[i], room.sizes[i]) + rounding


@kernel
def _span(low: float, high: float, size: float) -> float:
    """How far a bound is from the other, over its row's length; nothing where one is not there."""
    span = (high - low) / size
    return span if span < np.inf else 0.0


@kernel
def set_x(room: Room, x: np.ndarray) -> None:
    """x (n,) of z."""
    for i in range(len(x)):
        x[i] = room.center[i] + room.roots[i] * room.z[i]


@kernel
def move_center(room: Room, goals: int) -> None:
    """Measure z from where it is now."""
    n = len(room.center)
    for i in range(len(room.value) + goals):
        value = dot(room.rows[i], room.z, n)
        room.low[i] -= value
        room.high[i] -= value
    set_x(room, room.center)


@kernel
def polish(room: Room, given: Ranges, x: np.ndarray) -> None:
    """Take from x (n,) what rounding left of values that should be at their bounds."""
    H, b, low, high = given
    n, k = len(x), room.counts[MEMBERS]
    for _ in range(2):
        for j in range(k):
            i = room.members[j]
            room.c[j] = 0.0
            if i < len(b):
                value = dot(H[i], x, n) + b[i]
                room.c[j] = ((high[i] if room.side[j] < 0 else low[i]) - value) / room.sizes[i]
        solve_lower(room.R, k, room.c, room.y)
        room.v[:] = 0.0
        for j in range(k):
            add_to(room.v, room.y[j], room.Q[j], n)
        for i in range(n):
            x[i] += room.roots[i] * room.v[i]


@kernel
def finish(room: Room, given: Ranges, M: np.ndarray, order: np.ndarray, x: np.ndarray) -> int:
    """Look whether values are in range, and cut them to it where they are not: x = H^-1 (clip(t) - b).

    M (b, b), order (b,)  room. Where there are not as many unknowns as bounds nothing is cut.
    """
    H, b, low, high = given
    if is_within(given, x):
        return OK
    n = len(b)
    if n != len(x):
        return OUT
    for i in range(n):
        for j in range(n):
            M[i, j] = H[i, j]
    if factor_square(M, n, order):
        cut, right, change = room.value, room.c, room.moved
        for i in range(n):
            t = dot(H[i], x, n) + b[i]
            cut[i] = min(max(t, low[i]), high[i]) if abs(t) < np.inf else 0.5 * (low[i] + high[i])
            right[i] = cut[i] - b[i]
        solve_square(M, n, order, right, x)
        for _ in range(3):
            if is_within(given, x):
                return CLIPPED
            for i in range(n):
                right[i] = cut[i] - b[i] - dot(H[i], x, n)
            solve_square(M, n, order, right, change)
            add_to(x, 1.0, change, n)
        if is_within(given, x):
            return CLIPPED
    return OUT


@kernel
def is_within(given: Ranges, x: np.ndarray) -> bool:
    """Whether values are in their ranges, but for a billionth of them and what sums of this size lose by rounding."""
    H, b, low, high = given
    n, largest = len(x), 0.0
    for j in range(n):
        largest = max(largest, abs(x[j]))
    for i in range(len(b)):
        t, size = b[i] + dot(H[i], x, n), abs(b[i])
        for j in range(n):
            size += abs(H[i, j]) * largest
        slip = _PROMISED * _span(low[i], high[i], 1.0) + 8.0 * _ROUNDING * size
        if not low[i] - slip <= t <= high[i] + slip:
            return False
    return True


@kernel
def tell_torques(given: Ranges, x: np.ndarray, torque: np.ndarray, at: np.ndarray) -> None:
    """Values (b,) of x, and at which bound they are, (b,): -1 the low one, 1 the high one, 0 neither."""
    H, b, low, high = given
    for i in range(len(b)):
        torque[i] = dot(H[i], x, len(x)) + b[i]
        slip = 1e-8 * _span(low[i], high[i], 1.0) + 8.0 * _ROUNDING * abs(b[i])
        is_low, is_high = torque[i] <= low[i] + slip, torque[i] >= high[i] - slip
        at[i] = 0
        if is_low and (not is_high or torque[i] - low[i] <= high[i] - torque[i]):
            at[i] = -1
        elif is_high:
            at[i] = 1

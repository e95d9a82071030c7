"""Torque ranges as bounds on products with rows, as `nearest_kernels` takes them, and back.

    t = H x + b,   low <= t <= high         the ranges of `Ranges`
    z = (x - center) / roots                roots 1 / sqrt(weight), weights of mean 1
    rows[i] = H_i roots / sizes_i           of length 1

The answer is checked against the ranges as they were given, and torques that are out of them are cut.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from poise.dynamics.nearest_kernels import MEMBERS, Room
from poise.dynamics.rows_kernels import add_to, dot, factor_square, size_of, solve_lower, solve_square
from poise.spatial.compile import kernel

OK, CLIPPED, OUT = range(3)
_ENOUGH = 1e-10  # of a range: by how much a search may miss a bound. A tenth of what is promised.
_PROMISED = 1e-9
_ROUNDING = 2.3e-16


class Ranges(NamedTuple):
    """Torques H x + b (n,) N m and what they may be.

    H  (n, n) kg m2, not always symmetric;  b, low, high (n,) N m
    """

    H: np.ndarray
    b: np.ndarray
    low: np.ndarray
    high: np.ndarray


@kernel
def count_floats(n: int, m: int) -> int:
    """Length of the float64 array that `limit` works in, for n freedoms and m rows of goals."""
    size = n + m
    return 3 * size * size + 12 * size + 3 * n + 2 * m * m + n * n


@kernel
def count_integers(n: int, m: int) -> int:
    """Length of the int64 array that `limit` works in."""
    return 3 * (n + m) + 4 + n


@kernel
def carve(floats: np.ndarray, integers: np.ndarray, n: int, m: int) -> Room:
    """Views into two flat arrays."""
    size = n + m
    square, at = size * size, 3 * size * size
    vectors = floats[at : at + 12 * size].reshape(12, size)
    at += 12 * size
    small = floats[at : at + 3 * n].reshape(3, n)
    at += 3 * n
    marks = integers[: 3 * size].reshape(3, size)
    return Room(
        floats[:square].reshape(size, size),
        vectors[0],
        vectors[1],
        vectors[2],
        floats[square : 2 * square].reshape(size, size),
        floats[2 * square : 3 * square].reshape(size, size),
        vectors[3],
        vectors[4],
        marks[0],
        marks[1],
        marks[2],
        integers[3 * size : 3 * size + 4],
        vectors[5],
        vectors[6],
        vectors[7],
        vectors[8],
        vectors[9],
        small[0],
        small[1],
        vectors[10],
        vectors[11],
        small[2],
        floats[at : at + m * m].reshape(m, m),
        floats[at + m * m : at + 2 * m * m].reshape(m, m),
    )


@kernel
def begin(room: Room, H: np.ndarray, wanted: np.ndarray, weights: np.ndarray) -> None:
    """Roots of the weights, the rows of H under them at length 1, and nobody a member."""
    n, size = len(wanted), len(room.z)
    mean = 0.0
    for i in range(n):
        mean += weights[i] / n
    for i in range(n):
        room.roots[i] = math.sqrt(mean / weights[i])
    for i in range(n):
        row = room.rows[i]
        for j in range(n):
            row[j] = H[i, j] * room.roots[j]
        for j in range(n, size):
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
    """Measure z from a centre (n,): bounds of the torques' change, each over its row's length."""
    H, b, low, high = given
    n = len(b)
    largest = 0.0
    for i in range(n):
        room.center[i] = center[i]
        largest += (center[i] / room.roots[i]) ** 2
    largest = math.sqrt(largest)
    for i in range(n):
        torque = dot(H[i], room.center, n) + b[i]
        room.low[i], room.high[i] = (low[i] - torque) / room.sizes[i], (high[i] - torque) / room.sizes[i]
        rounding = 4.0 * _ROUNDING * (abs(b[i]) / room.sizes[i] + largest + abs(room.low[i]) + abs(room.high[i]))
        room.slip[i] = _ENOUGH * (high[i] - low[i]) / room.sizes[i] + rounding


@kernel
def set_x(room: Room, x: np.ndarray) -> None:
    """x (n,) of z."""
    for i in range(len(x)):
        x[i] = room.center[i] + room.roots[i] * room.z[i]


@kernel
def move_center(room: Room, goals: int) -> None:
    """Measure z from where it is now."""
    n = len(room.center)
    for i in range(n + goals):
        value = dot(room.rows[i], room.z, n)
        room.low[i] -= value
        room.high[i] -= value
    set_x(room, room.center)


@kernel
def polish(room: Room, given: Ranges, x: np.ndarray) -> None:
    """Take from x (n,) what rounding left of torques that should be at their bounds."""
    H, b, low, high = given
    n, k = len(b), room.counts[MEMBERS]
    for _ in range(2):
        for j in range(k):
            i = room.members[j]
            room.c[j] = 0.0
            if i < n:
                torque = dot(H[i], x, n) + b[i]
                room.c[j] = ((high[i] if room.side[j] < 0 else low[i]) - torque) / room.sizes[i]
        solve_lower(room.R, k, room.c, room.y)
        room.v[:] = 0.0
        for j in range(k):
            add_to(room.v, room.y[j], room.Q[j], n)
        for i in range(n):
            x[i] += room.roots[i] * room.v[i]


@kernel
def finish(room: Room, given: Ranges, M: np.ndarray, order: np.ndarray, x: np.ndarray) -> int:
    """Look whether torques are in range, and cut them to it where they are not: x = H^-1 (clip(t) - b).

    M (n, n), order (n,)  room
    """
    H, b, low, high = given
    if is_within(given, x):
        return OK
    n = len(b)
    for i in range(n):
        for j in range(n):
            M[i, j] = H[i, j]
    if factor_square(M, n, order):
        cut, right, change = room.torque, room.low, room.high
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
    """Whether torques are in their ranges, but for a billionth of them and what sums of this size lose by rounding."""
    H, b, low, high = given
    n = len(b)
    for i in range(n):
        t, size = b[i] + dot(H[i], x, n), abs(b[i]) + size_of(H[i], x, n)
        slip = _PROMISED * (high[i] - low[i]) + 8.0 * _ROUNDING * size
        if not low[i] - slip <= t <= high[i] + slip:
            return False
    return True


@kernel
def tell_torques(given: Ranges, x: np.ndarray, torque: np.ndarray, at: np.ndarray) -> None:
    """Torques (n,) of x, and at which bound they are, (n,): -1 the low one, 1 the high one, 0 neither."""
    H, b, low, high = given
    n = len(b)
    for i in range(n):
        torque[i] = dot(H[i], x, n) + b[i]
        slip = 1e-8 * (high[i] - low[i]) + 8.0 * _ROUNDING * abs(b[i])
        is_low, is_high = torque[i] <= low[i] + slip, torque[i] >= high[i] - slip
        at[i] = 0
        if is_low and (not is_high or torque[i] - low[i] <= high[i] - torque[i]):
            at[i] = -1
        elif is_high:
            at[i] = 1

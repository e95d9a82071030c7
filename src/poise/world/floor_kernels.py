"""The floor as compiled code asks it: the ground, and the upper sides of fixed props, whichever is higher."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.spatial.addresses import call_with_two, record
from poise.spatial.compile import kernel
from poise.world.ground_kernels import ground_height, ground_normal
from poise.world.ground_record import BALL, BOX, TOP

_SIZE = TOP.itemsize
_ALONG = 1e-12  # of a face's normal: less of it upward, and a vertical line runs along the face


@kernel
def find_floor(floor: Any, x: float, z: float, below: float) -> tuple[float, float, float, float]:
    """Height (m) of the floor at x and z, and its unit normal. Props that reach higher than `below` (m) are not it.

    What is more than a level ground that stands still is looked up by a law of its own (`floor_law`), which is compiled
    where there is such a floor.
    """
    if floor.find == 0:
        return floor.height, 0.0, 1.0, 0.0
    floor.asked[0], floor.asked[1], floor.asked[2] = x, z, below
    call_with_two(floor.find, floor.address, 0)
    return floor.found[0], floor.found[1], floor.found[2], floor.found[3]


@kernel
def find_heights(floor: Any, x: np.ndarray, z: np.ndarray, below: float, heights: np.ndarray) -> None:
    """Heights (N,) m of the floor at x and z (N,): written."""
    for i in range(len(x)):
        heights[i] = find_floor(floor, x[i], z[i], below)[0]


@kernel
def search_floor(floor: Any, x: float, z: float, below: float) -> tuple[float, float, float, float]:
    """The same, of any floor."""
    height = ground_height(floor, x, z)
    nx, ny, nz = ground_normal(floor, x, z)
    if floor.top_count > 0:
        for k in range(floor.top_count):
            low, high, tx, ty, tz = span_top(record(floor.tops + k * _SIZE, TOP), x, z)
            if low <= high and height < high <= below:
                height, nx, ny, nz = high, tx, ty, tz
    return height, nx, ny, nz


@kernel
def find_room(floor: Any, x: float, z: float, room: float) -> float:
    """m, the lowest floor at x and z over which there are `room` metres free."""
    height = ground_height(floor, x, z)
    if floor.top_count > 0:
        for _ in range(floor.top_count):
            before = height
            for k in range(floor.top_count):
                low, high, _, _, _ = span_top(record(floor.tops + k * _SIZE, TOP), x, z)
                if low < height + room and high > height and low <= high:
                    height = high
            if height == before:
                break
    return height


@kernel
def span_top(top: Any, x: float, z: float) -> tuple[float, float, float, float, float]:
    """From where to where (m) a shape is on the vertical line at x and z, and its normal at the upper end.

    A line that misses it goes from +inf to -inf.
    """
    if (x - top.middle[0]) ** 2 + (z - top.middle[1]) ** 2 > top.reach * top.reach:
        return np.inf, -np.inf, 0.0, 1.0, 0.0
    if top.kind == BOX:
        return _span_box(top.center, top.half, top.turn, x, z)
    if top.kind == BALL:
        return _span_ball(top.center, top.radius, x, z)
    return _span_rod(top.center, top.end, top.radius, x, z)


@kernel
def _span_box(
    center: np.ndarray, half: np.ndarray, R: np.ndarray, x: float, z: float
) -> tuple[float, float, float, float, float]:
    low, high, face, sign = -np.inf, np.inf, 1, 1.0
    for a in range(3):
        # in the box's axes the line is o + y d
        o = R[0, a] * (x - center[0]) - R[1, a] * center[1] + R[2, a] * (z - center[2])
        d = R[1, a]
        if abs(d) < _ALONG:
            if abs(o) > half[a]:
                return np.inf, -np.inf, 0.0, 1.0, 0.0
            continue
        begin, end = (-half[a] - o) / d, (half[a] - o) / d
        if d < 0.0:
            begin, end = end, begin
        low = max(low, begin)
        if end < high:
            high, face, sign = end, a, 1.0 if d > 0.0 else -1.0
    if low > high:
        return np.inf, -np.inf, 0.0, 1.0, 0.0
    return low, high, sign * R[0, face], sign * R[1, face], sign * R[2, face]


@kernel
def _span_ball(center: np.ndarray, radius: float, x: float, z: float) -> tuple[float, float, float, float, float]:
    dx, dz = x - center[0], z - center[2]
    square = radius * radius - dx * dx - dz * dz
    if square < 0.0:
        return np.inf, -np.inf, 0.0, 1.0, 0.0
    up = np.sqrt(square)
    return center[1] - up, center[1] + up, dx / radius, up / radius, dz / radius


@kernel
def _span_rod(
    start: np.ndarray, end: np.ndarray, radius: float, x: float, z: float
) -> tuple[float, float, float, float, float]:
    """Both round ends, and what is between them of a cylinder."""
    low, high, nx, ny, nz = _span_ball(start, radius, x, z)
    other = _span_ball(end, radius, x, z)
    if other[1] > high:
        _, high, nx, ny, nz = other
    low = min(low, other[0])
    ax, ay, az = end[0] - start[0], end[1] - start[1], end[2] - start[2]
    length = np.sqrt(ax * ax + ay * ay + az * az)
    if length == 0.0:
        return low, high, nx, ny, nz
    ax, ay, az = ax / length, ay / length, az / length
    # |w + y d|^2 = r^2 across the axis, w from its start to the line at y = 0
    wx, wy, wz = x - start[0], -start[1], z - start[2]
    along = wx * ax + wy * ay + wz * az
    wx, wy, wz = wx - along * ax, wy - along * ay, wz - along * az
    dx, dy, dz = -ay * ax, 1.0 - ay * ay, -ay * az
    a, b = dx * dx + dy * dy + dz * dz, wx * dx + wy * dy + wz * dz
    square = b * b - a * (wx * wx + wy * wy + wz * wz - radius * radius)
    if a < _ALONG or square < 0.0:
        return low, high, nx, ny, nz
    root = np.sqrt(square)
    for sign in (-1.0, 1.0):
        y = (-b + sign * root) / a
        if 0.0 <= along + y * ay <= length:
            low = min(low, y)
            if y > high:
                high, nx, ny, nz = y, (wx + y * dx) / radius, (wy + y * dy) / radius, (wz + y * dz) / radius
    return low, high, nx, ny, nz

"""Grounds as compiled code asks them: the laws of `Ground` and its kinds, on a record of `ground_record`.

A mesh of triangles seen from above: how high it is at the places of a grid.

The floor as compiled code asks it: the ground, and the upper sides of fixed props, whichever is higher.

What is under a place, as a law: for floors that are more than a level ground that stands still.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.law import law
from poise.compiled.views import call_with_two, record, vectors
from poise.world.ground.record import BALL, BOX, GROUND, LEVEL, PROFILE, STEPS, TILTED, TOP


@kernel
def move_ground(ground: Any, t: float) -> None:
    """Tell a ground the time (s): one that moves is elsewhere now."""
    if ground.moves == 0:
        return
    out, pace = 0.5 * (1.0 - np.cos(2.0 * ground.rate * t)), ground.rate * np.sin(2.0 * ground.rate * t)
    change = 2.0 * ground.rate * ground.rate * np.cos(2.0 * ground.rate * t)
    for k in range(3):
        ground.shift[k] = ground.drift[k] * t + ground.sway[k] * out
        ground.speed[k] = ground.drift[k] + ground.sway[k] * pace
        ground.pull[k] = ground.sway[k] * change


@kernel
def ground_height(ground: Any, x: float, z: float) -> float:
    """m, at x and z."""
    if ground.moves == 0:
        return _still_height(ground, x, z)
    return _still_height(ground, x - ground.shift[0], z - ground.shift[2]) + ground.shift[1]


@kernel
def _still_height(ground: Any, x: float, z: float) -> float:
    if ground.kind == LEVEL:
        return ground.height
    if ground.kind == TILTED:
        return ground.height + ground.slope_x * x + ground.slope_z * z
    if ground.kind == STEPS:
        along = ground.along_x * x + ground.along_z * z
        number = np.floor((along - ground.start) / ground.run) + 1.0
        return ground.height + ground.rise * min(max(number, 0.0), float(ground.count))
    if ground.kind == PROFILE:
        return _profile_height(ground, x, z)[0]
    return _map_height(ground, x, z)[0]


@kernel
def ground_normal(ground: Any, x: float, z: float) -> tuple[float, float, float]:
    """Unit, out of the ground at x and z."""
    if ground.kind in (LEVEL, STEPS):
        return 0.0, 1.0, 0.0
    along_x, along_z = ground.slope_x, ground.slope_z
    if ground.kind != TILTED:
        if ground.moves == 1:
            x, z = x - ground.shift[0], z - ground.shift[2]
        if ground.kind == PROFILE:
            _, rise = _profile_height(ground, x, z)
            along_x, along_z = rise * ground.along_x, rise * ground.along_z
        else:
            _, along_x, along_z = _map_height(ground, x, z)
    size = np.sqrt(1.0 + along_x * along_x + along_z * along_z)
    return -along_x / size, 1.0 / size, -along_z / size


@kernel
def ground_velocity(ground: Any, x: float, z: float) -> tuple[float, float, float]:
    """m/s, at x and z."""
    return ground.speed[0], ground.speed[1], ground.speed[2]


@kernel
def _map_height(ground: Any, x: float, z: float) -> tuple[float, float, float]:
    """Height of a map, and how it rises along x and z: two triangles a cell, see `HeightMap`."""
    across, along = (x - ground.corner_x) / ground.spacing, (z - ground.corner_z) / ground.spacing
    rows, columns = ground.rows, ground.columns
    if not (0.0 <= across <= columns - 1 and 0.0 <= along <= rows - 1):
        return ground.lowest, 0.0, 0.0
    i, j = min(int(across), columns - 2), min(int(along), rows - 2)
    u, w = across - i, along - j
    h = vectors(ground.heights, rows, columns)
    a, b, c, d = h[j, i], h[j, i + 1], h[j + 1, i], h[j + 1, i + 1]
    if u >= w:
        rise_x, rise_z = b - a, d - b
    else:
        rise_x, rise_z = d - c, c - a
    return ground.height + a + u * rise_x + w * rise_z, rise_x / ground.spacing, rise_z / ground.spacing


@kernel
def _profile_height(ground: Any, x: float, z: float) -> tuple[float, float]:
    """Height of a profile, and how it rises a metre along."""
    along = ground.along_x * x + ground.along_z * z
    points = vectors(ground.heights, ground.rows, 2)
    low, high = 0, ground.rows  # the last point that is not beyond is before `high`, and not before `low` - 1
    while low < high:
        middle = (low + high) // 2
        if points[middle, 0] <= along:
            low = middle + 1
        else:
            high = middle
    k = max(low - 1, 0)
    if low == 0 or k + 1 == ground.rows:
        return ground.height + points[k, 1], 0.0
    run = points[k + 1, 0] - points[k, 0]
    rise = (points[k + 1, 1] - points[k, 1]) / run
    return ground.height + points[k, 1] + rise * (along - points[k, 0]), rise


@kernel
def raise_heights(
    points: np.ndarray, faces: np.ndarray, corner: np.ndarray, spacing: float, heights: np.ndarray
) -> None:
    """Heights (R, C) m of the highest triangle at each place; those under none stay as they are (-inf).

    A place on the edge between two belongs to both, and one a hair outside of an outer edge to the triangle inside.
    """
    rows, columns = heights.shape
    slack = 1e-6 * spacing
    for f in range(len(faces)):
        a, b, c = points[faces[f, 0]], points[faces[f, 1]], points[faces[f, 2]]
        # twice the area seen from above
        area = (b[0] - a[0]) * (c[2] - a[2]) - (c[0] - a[0]) * (b[2] - a[2])
        if area == 0.0:
            continue
        long = max(max(abs(b[0] - a[0]), abs(c[0] - a[0])), max(abs(b[2] - a[2]), abs(c[2] - a[2])))
        low_x, high_x = min(min(a[0], b[0]), c[0]), max(max(a[0], b[0]), c[0])
        low_z, high_z = min(min(a[2], b[2]), c[2]), max(max(a[2], b[2]), c[2])
        first = max(int(np.ceil((low_z - slack - corner[1]) / spacing)), 0)
        last = min(int(np.floor((high_z + slack - corner[1]) / spacing)), rows - 1)
        left = max(int(np.ceil((low_x - slack - corner[0]) / spacing)), 0)
        right = min(int(np.floor((high_x + slack - corner[0]) / spacing)), columns - 1)
        near = -slack * long / abs(area)
        top = max(max(a[1], b[1]), c[1])
        for i in range(first, last + 1):
            z = corner[1] + i * spacing
            for j in range(left, right + 1):
                x = corner[0] + j * spacing
                v = ((x - a[0]) * (c[2] - a[2]) - (c[0] - a[0]) * (z - a[2])) / area
                w = ((b[0] - a[0]) * (z - a[2]) - (x - a[0]) * (b[2] - a[2])) / area
                if v >= near and w >= near and v + w <= 1.0 - near:
                    y = a[1] + v * (b[1] - a[1]) + w * (c[1] - a[1])
                    heights[i, j] = max(heights[i, j], min(y, top))


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


@law
def find(floor: int, _nothing: int) -> None:
    """Answer what is asked of the record, in it."""
    x = record(floor, GROUND)
    x.found[0], x.found[1], x.found[2], x.found[3] = search_floor(x, x.asked[0], x.asked[1], x.asked[2])

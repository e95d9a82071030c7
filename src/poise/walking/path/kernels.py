"""Where a body can go: what it meets at a place, along a line, and round what is in the way.

limits  (10,): highest step up and down (m), longest stride between places to stand (m), highest thing to step over (m),
        tangent of the steepest slope, bumps (m), half the feet's track (m), radius of the body (m), how high beside it
        things may be (m), room over the floor (m)
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.world.ground.kernels import find_room

FREE, NOTHING, STEEP, UNEVEN, DROP, RISE, WALL = range(7)  # what a place is: one stands only where it is free
_NO_GROUND = -1e7  # m
_RING = 0.05  # m between samples round a place
_FOOT = 0.06  # m, half the side of the patch that a foot stands on
_STEPPING, _CLIMBING = 0.1, 0.5  # m that a stride over something, and each metre up or down, are worth
_WAYS = np.array([[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1]])


@kernel
def probe(floor: Any, x: float, z: float, limits: np.ndarray) -> tuple[int, float, float, float, float]:
    """What a place is, and heights (m): of the floor there, of the highest within the feet's track and the radius.

    And why it is not free: how high or low what is there is (m), or the tangent of the slope.
    """
    room = limits[9]
    if floor.find == 0:
        return (FREE if floor.height > _NO_GROUND else NOTHING), floor.height, floor.height, floor.height, 0.0
    h = find_room(floor, x, z, room)
    if not h > _NO_GROUND:
        return NOTHING, h, h, h, 0.0
    state, found = _probe_foot(floor, x, z, h, limits)
    up, down, width, radius, tall = limits[0], limits[1], limits[6], limits[7], limits[8]
    near, top, rings = 0.0, 0.0, max(int(np.ceil(radius / _RING)), 1)
    for ring in range(1, rings + 1):
        r = radius * ring / rings
        count = int(np.ceil(2.0 * np.pi * r / _RING))
        for k in range(count):
            angle = 2.0 * np.pi * k / count
            off = find_room(floor, x + r * np.cos(angle), z + r * np.sin(angle), room) - h
            top = max(top, off)
            if r <= width:
                near = max(near, off)
            if r <= width and state in (FREE, UNEVEN):
                if off > up:
                    state, found = RISE, off
                elif off < -down:
                    state, found = DROP, -off
    if top > tall:
        state, found = WALL, top
    return state, h, h + near, h + top, found


@kernel
def _probe_foot(floor: Any, x: float, z: float, h: float, limits: np.ndarray) -> tuple[int, float]:
    """Whether a small patch is flat enough to stand on: nine heights and the plane through them."""
    across, along, total = 0.0, 0.0, 0.0
    heights = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            y = find_room(floor, x + (j - 1) * _FOOT, z + (i - 1) * _FOOT, limits[9])
            heights[i, j] = y
            total += y
            across += (j - 1) * y
            along += (i - 1) * y
    across, along, total = across / 6.0, along / 6.0, total / 9.0
    low, high = 0.0, 0.0
    for i in range(3):
        for j in range(3):
            off = heights[i, j] - total - (j - 1) * across - (i - 1) * along
            low, high = min(low, off), max(high, off)
    slope = np.sqrt(across * across + along * along) / _FOOT
    if not high - low <= limits[5]:
        return UNEVEN, high - low
    if slope > limits[4]:
        return STEEP, slope
    return FREE, 0.0


@kernel
def _can_step(a: float, b: float, between: float, beside: float, stride: float, limits: np.ndarray) -> bool:
    """Whether a step goes from height a to b in one stride (m), over what is between and past what is beside (m)."""
    if b - a > limits[0] or a - b > limits[1]:
        return False
    high = max(a, b)
    return between - high <= limits[3] and beside - high <= limits[8] and stride <= limits[2]


@kernel
def walk_line(
    floor: Any, ax: float, az: float, bx: float, bz: float, limits: np.ndarray, states: np.ndarray, heights: np.ndarray,
    tops: np.ndarray, found: np.ndarray, reached: np.ndarray,
) -> bool:  # fmt: skip
    """Whether one can walk straight from a to b; what is at N places on the way, and which of them are reached."""
    count = len(states)
    each = np.hypot(bx - ax, bz - az) / (count - 1)
    for k in range(count):
        u = k / (count - 1)
        x, z = ax + u * (bx - ax), az + u * (bz - az)
        states[k], heights[k], tops[k, 0], tops[k, 1], found[k] = probe(floor, x, z, limits)
    for k in (0, count - 1):
        if states[k] == UNEVEN:
            states[k] = FREE  # one may stop with a riser between one's feet
    reached[:] = False
    reached[0] = states[0] == FREE
    for k in range(1, count):
        if states[k] != FREE:
            continue
        between, beside = -np.inf, -np.inf
        for j in range(k - 1, -1, -1):
            stride = (k - j) * each if j < k - 1 else 0.0
            if stride > limits[2]:
                break
            if reached[j] and _can_step(heights[j], heights[k], between, beside, stride, limits):
                reached[k] = True
                break
            between, beside = max(between, tops[j, 0]), max(beside, tops[j, 1])
    return reached[count - 1]


@kernel
def search_way(
    floor: Any, corner: np.ndarray, cell: float, shape: np.ndarray, begin: np.ndarray, end: np.ndarray,
    limits: np.ndarray, most: int,
) -> np.ndarray:  # fmt: skip
    """The shortest way over a grid by steps in eight directions, short ones and strides: (N, 2) row and column.

    It is empty where there is none, or none was found after `most` places. Rows go along z, columns along x.
    """
    rows, columns = shape[0], shape[1]
    known = np.full((rows, columns), -1, np.int8)
    heights, tops = np.empty((rows, columns), np.float32), np.empty((rows, columns, 2), np.float32)
    cost = np.full((rows, columns), np.inf, np.float32)
    parent = np.full((rows, columns), -1, np.int32)
    done = np.zeros((rows, columns), np.bool_)
    first, last = begin[0] * columns + begin[1], end[0] * columns + end[1]
    for at in (begin, end):
        _, h, near, top, _ = probe(floor, corner[0] + at[1] * cell, corner[1] + at[0] * cell, limits)
        known[at[0], at[1]], heights[at[0], at[1]] = FREE, h
        tops[at[0], at[1], 0], tops[at[0], at[1], 1] = near, top
    cost[begin[0], begin[1]] = 0.0
    heap = [(0.0, first)]
    seen = 0
    while len(heap) > 0:
        _, at = heapq.heappop(heap)
        i, j = at // columns, at % columns
        if done[i, j]:
            continue
        done[i, j] = True
        if at == last:
            break
        seen += 1
        if seen > most:
            break
        for way in range(8):
            di, dj = _WAYS[way, 0], _WAYS[way, 1]
            long = cell * np.sqrt(float(di * di + dj * dj))
            between, beside = -np.inf, -np.inf
            for k in range(1, int(limits[2] / long) + 2):
                r, c = i + k * di, j + k * dj
                if not (0 <= r < rows and 0 <= c < columns):
                    break
                if known[r, c] < 0:
                    state, h, near, top, _ = probe(floor, corner[0] + c * cell, corner[1] + r * cell, limits)
                    known[r, c], heights[r, c], tops[r, c, 0], tops[r, c, 1] = state, h, near, top
                a, b = heights[i, j], heights[r, c]
                if known[r, c] == FREE and _can_step(a, b, between, beside, k * long if k > 1 else 0.0, limits):
                    new = cost[i, j] + k * long + _CLIMBING * abs(b - a) + (_STEPPING if k > 1 else 0.0)
                    if new < cost[r, c]:
                        cost[r, c], parent[r, c] = new, at
                        heapq.heappush(heap, (new + cell * np.hypot(end[0] - r, end[1] - c), r * columns + c))
                    break
                between, beside = max(between, tops[r, c, 0]), max(beside, tops[r, c, 1])
    if not done[end[0], end[1]]:
        return np.empty((0, 2), np.int64)
    count, at = 1, last
    while at != first:
        at = parent[at // columns, at % columns]
        count += 1
    path = np.empty((count, 2), np.int64)
    at = last
    for k in range(count - 1, -1, -1):
        path[k, 0], path[k, 1] = at // columns, at % columns
        at = parent[at // columns, at % columns]
    return path

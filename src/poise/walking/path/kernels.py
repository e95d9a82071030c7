"""Where a body can walk: at a place, along a line, and round what is in the way. Compiled."""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np

from poise.compiled.kernel import kernel
from poise.walking.path.records import PathGrid, PathLimits, PathLine
from poise.world.ground.kernels import find_room

FREE, NOTHING, STEEP, UNEVEN, DROP, RISE, WALL = range(7)  # states of a place: a body stands only on a free one
_NO_GROUND = -1e7  # m
_RING = 0.05  # m between samples round a place
_FOOT = 0.06  # m, half the side of the patch that a foot stands on
_STEPPING, _CLIMBING = 0.1, 0.5  # m that a stride over something, and each metre up or down, are worth
_DIRECTIONS = np.array([[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1]])


@kernel
def probe(floor: Any, x: float, z: float, limits: PathLimits) -> tuple[int, float, float, float, float]:
    """Return the state of a place, and heights (m): of the floor, of the highest within track and radius.

    The last number is by how much it is not free: a height (m) or the tangent of the slope.
    """
    headroom = limits.headroom
    if floor.find == 0:
        return (FREE if floor.height > _NO_GROUND else NOTHING), floor.height, floor.height, floor.height, 0.0
    h = find_room(floor, x, z, headroom)
    if not h > _NO_GROUND:
        return NOTHING, h, h, h, 0.0
    state, found = _probe_foot(floor, x, z, h, limits)
    near, top, rings = 0.0, 0.0, max(int(np.ceil(limits.radius / _RING)), 1)
    for ring in range(1, rings + 1):
        r = limits.radius * ring / rings
        count = int(np.ceil(2.0 * np.pi * r / _RING))
        for k in range(count):
            angle = 2.0 * np.pi * k / count
            off = find_room(floor, x + r * np.cos(angle), z + r * np.sin(angle), headroom) - h
            top = max(top, off)
            if r <= limits.track:
                near = max(near, off)
            if r <= limits.track and state in (FREE, UNEVEN):
                if off > limits.up:
                    state, found = RISE, off
                elif off < -limits.down:
                    state, found = DROP, -off
    if top > limits.tall:
        state, found = WALL, top
    return state, h, h + near, h + top, found


@kernel
def _probe_foot(floor: Any, x: float, z: float, h: float, limits: PathLimits) -> tuple[int, float]:
    """Return whether a small patch is flat enough to stand on: nine heights and the plane through them."""
    across, along, total = 0.0, 0.0, 0.0
    heights = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            y = find_room(floor, x + (j - 1) * _FOOT, z + (i - 1) * _FOOT, limits.headroom)
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
    if not high - low <= limits.bumps:
        return UNEVEN, high - low
    if slope > limits.steepness:
        return STEEP, slope
    return FREE, 0.0


@kernel
def _can_step(a: float, b: float, between: float, beside: float, stride: float, limits: PathLimits) -> bool:
    """Return whether a step leads from height a to b in one stride (m), over `between` and past `beside` (m)."""
    if b - a > limits.up or a - b > limits.down:
        return False
    high = max(a, b)
    return between - high <= limits.over and beside - high <= limits.tall and stride <= limits.stride


@kernel
def walk_line(floor: Any, line: PathLine, limits: PathLimits) -> bool:
    """Write the places along a line, and which of them are reached; return whether the last one is."""
    count, states, heights, tops, reached = line.count, line.states, line.heights, line.tops, line.is_reached
    ax, az, bx, bz = line.begin_x, line.begin_z, line.end_x, line.end_z
    each = np.hypot(bx - ax, bz - az) / (count - 1)
    for k in range(count):
        u = k / (count - 1)
        x, z = ax + u * (bx - ax), az + u * (bz - az)
        states[k], heights[k], tops[k, 0], tops[k, 1], line.found[k] = probe(floor, x, z, limits)
    for k in (0, count - 1):
        if states[k] == UNEVEN:
            states[k] = FREE  # a body may stop with a riser between its feet
    reached[:] = False
    reached[0] = states[0] == FREE
    for k in range(1, count):
        if states[k] != FREE:
            continue
        between, beside = -np.inf, -np.inf
        for j in range(k - 1, -1, -1):
            stride = (k - j) * each if j < k - 1 else 0.0
            if stride > limits.stride:
                break
            if reached[j] and _can_step(heights[j], heights[k], between, beside, stride, limits):
                reached[k] = True
                break
            between, beside = max(between, tops[j, 0]), max(beside, tops[j, 1])
    return reached[count - 1]


class _Search(NamedTuple):
    """What a search knows of each cell. Half as large numbers do: there may be a million cells."""

    state: np.ndarray  # -1: not looked at yet
    heights: np.ndarray  # m
    tops: np.ndarray  # m
    cost: np.ndarray  # m
    parent: np.ndarray
    is_done: np.ndarray


@kernel
def search_way(floor: Any, grid: PathGrid, limits: PathLimits) -> np.ndarray:
    """Return the shortest way over a grid by steps in eight directions, short ones and strides: (N, 2) row and column.

    It is empty if there is none, or if none was found after `most` places.
    """
    rows, columns, begin, end = grid.rows, grid.columns, grid.begin, grid.end
    search = _Search(
        np.full((rows, columns), -1, np.int8), np.empty((rows, columns), np.float32),
        np.empty((rows, columns, 2), np.float32), np.full((rows, columns), np.inf, np.float32),
        np.full((rows, columns), -1, np.int32), np.zeros((rows, columns), np.bool_),
    )  # fmt: skip
    for at in (begin, end):
        _look(floor, grid, limits, search, at[0], at[1])
        search.state[at[0], at[1]] = FREE
    search.cost[begin[0], begin[1]] = 0.0
    last = end[0] * columns + end[1]
    heap = [(0.0, begin[0] * columns + begin[1])]
    seen = 0
    while len(heap) > 0:
        _, at_cell = heapq.heappop(heap)
        i, j = at_cell // columns, at_cell % columns
        if search.is_done[i, j]:
            continue
        search.is_done[i, j] = True
        if at_cell == last:
            break
        seen += 1
        if seen > grid.most:
            break
        for direction in range(8):
            k = _find_step(floor, grid, limits, search, at_cell, direction)
            if k == 0:
                continue
            r, c = i + k * _DIRECTIONS[direction, 0], j + k * _DIRECTIONS[direction, 1]
            far = grid.cell * np.hypot(end[0] - r, end[1] - c)
            heapq.heappush(heap, (_price(grid, search, at_cell, direction, k) + far, r * columns + c))
    if not search.is_done[end[0], end[1]]:
        return np.empty((0, 2), np.int64)
    return _trace(grid, search.parent)


@kernel
def _look(floor: Any, grid: PathGrid, limits: PathLimits, search: _Search, r: int, c: int) -> None:
    """Find out about a cell."""
    state, h, near, top, _ = probe(floor, grid.corner_x + c * grid.cell, grid.corner_z + r * grid.cell, limits)
    search.state[r, c], search.heights[r, c] = state, h
    search.tops[r, c, 0], search.tops[r, c, 1] = near, top


@kernel
def _price(grid: PathGrid, search: _Search, cell: int, direction: int, k: int) -> float:
    """Return the cost (m) of a cell k steps from another one, by way of that."""
    i, j = cell // grid.columns, cell % grid.columns
    di, dj = _DIRECTIONS[direction, 0], _DIRECTIONS[direction, 1]
    long = grid.cell * np.sqrt(float(di * di + dj * dj))
    a, b = search.heights[i, j], search.heights[i + k * di, j + k * dj]
    return search.cost[i, j] + k * long + _CLIMBING * abs(b - a) + (_STEPPING if k > 1 else 0.0)


@kernel
def _find_step(floor: Any, grid: PathGrid, limits: PathLimits, search: _Search, cell: int, direction: int) -> int:
    """Step or stride from a cell to the next free one; return how many cells, 0 if that is no shorter way."""
    i, j = cell // grid.columns, cell % grid.columns
    di, dj = _DIRECTIONS[direction, 0], _DIRECTIONS[direction, 1]
    long = grid.cell * np.sqrt(float(di * di + dj * dj))
    between, beside = -np.inf, -np.inf
    for k in range(1, int(limits.stride / long) + 2):
        r, c = i + k * di, j + k * dj
        if not (0 <= r < grid.rows and 0 <= c < grid.columns):
            break
        if search.state[r, c] < 0:
            _look(floor, grid, limits, search, r, c)
        a, b = search.heights[i, j], search.heights[r, c]
        if search.state[r, c] == FREE and _can_step(a, b, between, beside, k * long if k > 1 else 0.0, limits):
            cost = _price(grid, search, cell, direction, k)
            if not cost < search.cost[r, c]:
                return 0
            search.cost[r, c], search.parent[r, c] = cost, cell
            return k
        between, beside = max(between, search.tops[r, c, 0]), max(beside, search.tops[r, c, 1])
    return 0


@kernel
def _trace(grid: PathGrid, parent: np.ndarray) -> np.ndarray:
    """Return the cells from the begin to the end, (N, 2)."""
    columns, count = grid.columns, 1
    first, last = grid.begin[0] * columns + grid.begin[1], grid.end[0] * columns + grid.end[1]
    cell = last
    while cell != first:
        cell = parent[cell // columns, cell % columns]
        count += 1
    path = np.empty((count, 2), np.int64)
    cell = last
    for k in range(count - 1, -1, -1):
        path[k, 0], path[k, 1] = cell // columns, cell % columns
        cell = parent[cell // columns, cell % columns]
    return path

"""Where a sole can lie flat: heights on a small grid under and round it, and a plane through them: compiled.

Heights of a grid along the foot's heading are found when they are needed; every place of the sole that is tried is a
block of that grid. The plane under it is that of least squares, raised until it touches the highest point.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.views import record
from poise.walking.footholds.records import FootholdBest, FootholdLimits, SoleGrid, SolePlacement
from poise.world.ground.kernels import ground_height, span_top
from poise.world.ground.record import TOP

_SIZE = TOP.itemsize
FITS, NOTHING, STEEP, EDGE, BUMPY, OBSTACLE, HIGH, LOW = range(8)  # 0, or why there is no foothold
_SAME = -1  # for the same reason as before
_NO_GROUND = -1e7  # m: what is lower is no ground
# Costs of a place, in metres that another may be farther away: a radian of slope, a metre of bumps, a ring of the
# margin that is over an edge; a sole that hangs over, and the fraction of its length that does.
_SLOPE, _BUMP, _RING, _HANGS, _HANG = 0.1, 3.0, 0.04, 0.2, 0.4
_CLIFF = 0.04  # m from one sample to the next: an edge, not a bump
_GRAZE = 0.004  # m by which the ground beside an edge may be above a sole that hangs over it


@kernel
def find_surface(floor: Any, x: float, z: float, below: float, room: float) -> float:
    """Return the height (m) of the floor at x and z: the highest that is not above `below`.

    If an object that reaches above `below` is less than `room` metres over that, return the height of the object.
    """
    height = ground_height(floor, x, z)
    if floor.top_count == 0:
        return height
    for k in range(floor.top_count):
        low, high, _, _, _ = span_top(record(floor.tops + k * _SIZE, TOP), x, z)
        if low <= high and height < high <= below:
            height = high
    wall = height
    for k in range(floor.top_count):
        low, high, _, _, _ = span_top(record(floor.tops + k * _SIZE, TOP), x, z)
        if low <= high and high > below and low < height + room:
            wall = max(wall, high)
    return wall


@kernel
def find_surfaces(floor: Any, points: np.ndarray, below: float, room: float, out: np.ndarray) -> None:
    """Write the heights (m) of the floor at points (N, 3): see `find_surface`."""
    for i in range(len(points)):
        out[i] = find_surface(floor, points[i, 0], points[i, 2], below, room)


class _Block(NamedTuple):
    """Rows and columns of the patch, the ends included."""

    first: int
    last: int
    left: int
    right: int


class _Plane(NamedTuple):
    """Height in the middle of a block, and its rises along x and z of the grid."""

    height: float
    rise_x: float
    rise_z: float


@kernel
def _find_height(floor: Any, grid: SoleGrid, limits: FootholdLimits, row: float, column: float) -> float:
    """Return the height of the floor at a row and a column of the grid, which may be between its samples."""
    u, w, s, c = grid.corner_x + column * grid.dx, grid.corner_z + row * grid.dz, grid.sine, grid.cosine
    return find_surface(floor, grid.x + c * u + s * w, grid.z - s * u + c * w, limits.below, limits.headroom)


@kernel
def _fill(floor: Any, grid: SoleGrid, limits: FootholdLimits, block: _Block) -> None:
    """Find the heights of a block that are not known yet."""
    patch = grid.patch
    for i in range(block.first, block.last + 1):
        for j in range(block.left, block.right + 1):
            if np.isnan(patch[i, j]):
                patch[i, j] = _find_height(floor, grid, limits, i, j)


@kernel
def _fit(patch: np.ndarray, block: _Block, dx: float, dz: float) -> _Plane:
    """Return the plane of least squares over a block."""
    first, last, left, right = block
    rows, columns = last - first + 1, right - left + 1
    middle, aside = 0.5 * (first + last), 0.5 * (left + right)
    total, along, across = 0.0, 0.0, 0.0
    for i in range(first, last + 1):
        for j in range(left, right + 1):
            h = patch[i, j]
            total += h
            along += (i - middle) * h
            across += (j - aside) * h
    # sum over a grid of (i - mean)^2 = n (n^2 - 1) / 12, once for every column
    square_z = columns * rows * (rows * rows - 1.0) / 12.0
    square_x = rows * columns * (columns * columns - 1.0) / 12.0
    return _Plane(total / (rows * columns), across / (square_x * dx), along / (square_z * dz))


@kernel
def _spread(grid: SoleGrid, block: _Block, plane: _Plane, most: float) -> tuple[float, float]:
    """Return the largest distances of a block under and over a plane; it ends early if their sum exceeds `most`."""
    patch, dx, dz = grid.patch, grid.dx, grid.dz
    middle, aside = 0.5 * (block.first + block.last), 0.5 * (block.left + block.right)
    low, high = 0.0, 0.0
    for i in range(block.first, block.last + 1):
        for j in range(block.left, block.right + 1):
            off = patch[i, j] - plane.height - plane.rise_x * (j - aside) * dx - plane.rise_z * (i - middle) * dz
            low, high = min(low, off), max(high, off)
        if high - low > most:
            break
    return low, high


@kernel
def _is_uneven(grid: SoleGrid, limits: FootholdLimits, block: _Block) -> bool:
    """Return whether the corners of a block alone show that it is too steep or has an edge."""
    patch = grid.patch
    first, last, left, right = block
    a, b, c, d = patch[first, left], patch[first, right], patch[last, left], patch[last, right]
    long = limits.steepness * (grid.dz * (last - first) + grid.dx * (right - left))
    return max(max(a, b), max(c, d)) - min(min(a, b), min(c, d)) > long + 0.05 or not np.isfinite(a + b + c + d)


@kernel
def _count_clear_rings(grid: SoleGrid, limits: FootholdLimits, block: _Block, plane: _Plane) -> int:
    """Return how many rings of cells round a block are in its plane too."""
    patch, dx, dz = grid.patch, grid.dx, grid.dz
    first, last, left, right = block
    middle, aside = 0.5 * (first + last), 0.5 * (left + right)
    for ring in range(1, grid.rings + 1):
        for i in range(first - ring, last + ring + 1):
            inner = first - ring < i < last + ring
            for j in range(left - ring, right + ring + 1, right - left + 2 * ring if inner else 1):
                off = patch[i, j] - plane.height - plane.rise_x * (j - aside) * dx - plane.rise_z * (i - middle) * dz
                if not abs(off) <= limits.bumps:
                    return ring - 1
    return grid.rings


@kernel
def _sticks_out(floor: Any, grid: SoleGrid, limits: FootholdLimits, block: _Block, plane: _Plane, most: float) -> bool:
    """Return whether something between the samples of a block, such as a post, is more than `most` (m) above it."""
    first, last, left, right = block
    middle, aside = 0.5 * (first + last), 0.5 * (left + right)
    for i in range(2 * (last - first) + 1):
        for j in range((i + 1) % 2, 2 * (right - left) + 1, 1 if i % 2 == 1 else 2):
            row, column = first + 0.5 * i, left + 0.5 * j
            h = _find_height(floor, grid, limits, row, column)
            rise = plane.rise_x * (column - aside) * grid.dx
            if h - plane.height - rise - plane.rise_z * (row - middle) * grid.dz > most:
                return True
    return False


@kernel
def search_foothold(floor: Any, grid: SoleGrid, limits: FootholdLimits, best: FootholdBest) -> tuple[int, float]:
    """Write the cheapest place of a sole, if it is cheaper than `best`.

    Return why the desired place (the first one) is not a foothold: a reason, and by how much; FITS if it is one.
    """
    reason, by = FITS, 0.0
    for k in range(grid.count):
        cost = grid.costs[k] + limits.turn_cost
        if cost >= best.cost:
            break
        top, left = grid.places[k, 0], grid.places[k, 1]
        whole = _Block(top, top + grid.rows - 1, left, left + grid.columns - 1)
        _fill(floor, grid, limits, whole)
        why, much = _try_place(floor, grid, limits, best, whole, cost)
        if k == 0:
            reason, by = why, much
            if why in (EDGE, BUMPY):
                reason, by = _explain(floor, grid, limits, whole, why, much)
            elif why == HIGH and ground_height(floor, grid.x, grid.z) < much - _CLIFF:
                reason = OBSTACLE  # an object on the ground
    return reason, by


@kernel
def _try_place(
    floor: Any, grid: SoleGrid, limits: FootholdLimits, best: FootholdBest, whole: _Block, cost: float
) -> tuple[int, float]:
    """Try a place with the whole sole, then with less of the heel, then of the toes; see `search_foothold`."""
    why, much = EDGE, 0.0
    for side in range(1 if grid.hang == 0 else 3):
        if side > 0 and (why in (STEEP, HIGH, LOW) or cost + _HANGS >= best.cost):
            break
        for less in range(0 if side == 0 else 1, 1 if side == 0 else grid.hang + 1):
            first = whole.first + less if side == 1 else whole.first
            last = whole.last - less if side == 2 else whole.last
            part = _Block(first, last, whole.left, whole.right)
            reason, by = _try_part(floor, grid, limits, best, whole, part, cost)
            if reason == FITS:
                return FITS, much
            if reason != _SAME:
                why, much = reason, by
    return why, much


@kernel
def _try_part(
    floor: Any, grid: SoleGrid, limits: FootholdLimits, best: FootholdBest, whole: _Block, part: _Block, cost: float
) -> tuple[int, float]:
    """Try a place with a part of the sole on the ground; write it if it is the cheapest."""
    less = (whole.last - whole.first) - (part.last - part.first)
    if _is_uneven(grid, limits, part):
        return _SAME, 0.0
    plane = _fit(grid.patch, part, grid.dx, grid.dz)
    slope = np.sqrt(plane.rise_x * plane.rise_x + plane.rise_z * plane.rise_z)
    low, high = _spread(grid, part, plane, limits.bumps)
    if high - low > limits.bumps:
        return (BUMPY, high - low) if less == 0 else (_SAME, 0.0)
    if slope > limits.steepness:
        return (STEEP, slope) if less == 0 else (_SAME, 0.0)
    if not plane.height <= limits.highest:
        return HIGH, plane.height
    if not plane.height >= limits.lowest:
        return LOW, plane.height
    if less > 0 and _grazes(grid, whole, part, plane, high):
        return _SAME, 0.0
    cost = cost + _SLOPE * np.arctan(slope) + _BUMP * (high - low)
    if less > 0:
        cost += _HANGS + _HANG * less / grid.rows
    elif grid.rings > 0 and cost < best.cost:
        r = grid.rings
        _fill(floor, grid, limits, _Block(whole.first - r, whole.last + r, whole.left - r, whole.right + r))
        cost += _RING * (r - _count_clear_rings(grid, limits, whole, plane))
    if cost < best.cost:
        if _sticks_out(floor, grid, limits, part, plane, high + limits.bumps):
            return BUMPY, limits.bumps
        best.cost, best.row, best.column, best.first, best.last = cost, whole.first, whole.left, part.first, part.last
        best.height, best.rise_x, best.rise_z = plane
    return FITS, 0.0


@kernel
def _grazes(grid: SoleGrid, whole: _Block, part: _Block, plane: _Plane, high: float) -> bool:
    """Return whether the part of a sole that hangs over an edge touches the ground."""
    if part.first > whole.first:
        beyond = _Block(whole.first, part.first - 1, whole.left, whole.right)
    else:
        beyond = _Block(part.last + 1, whole.last, whole.left, whole.right)
    shift = 0.5 * (beyond.first + beyond.last) - 0.5 * (part.first + part.last)
    raised = _Plane(plane.height + high + plane.rise_z * shift * grid.dz, plane.rise_x, plane.rise_z)
    return _spread(grid, beyond, raised, np.inf)[1] > _GRAZE


@kernel
def _explain(
    floor: Any, grid: SoleGrid, limits: FootholdLimits, block: _Block, why: int, much: float
) -> tuple[int, float]:
    """Return why a block is not a foothold: no ground, an object on it, an edge or bumps; and by how much."""
    patch, low, high, cliff = grid.patch, np.inf, -np.inf, 0.0
    first, last, left, right = block
    for i in range(first, last + 1):
        for j in range(left, right + 1):
            low, high = min(low, patch[i, j]), max(high, patch[i, j])
            cliff = max(
                cliff, abs(patch[i, j] - patch[max(i - 1, first), j]), abs(patch[i, j] - patch[i, max(j - 1, left)])
            )
    if low < _NO_GROUND:
        return NOTHING, 0.0
    if high > limits.below:
        return (OBSTACLE if floor.top_count > 0 else HIGH), high
    if why == EDGE or cliff > _CLIFF:
        return EDGE, high - low
    return BUMPY, much


@kernel
def fit_sole(floor: Any, sole: SolePlacement) -> tuple[float, float, float]:
    """Return the plane of least squares under the part of a sole that is on the ground, sampled twice as densely."""
    x, z, s, c = sole.x, sole.z, sole.sine, sole.cosine
    rows = max(round((sole.end - sole.begin) / (0.5 * sole.dz)), 2)
    columns = max(round((sole.left - sole.right) / (0.5 * sole.dx)), 2)
    dx, dz = (sole.left - sole.right) / columns, (sole.end - sole.begin) / rows
    patch = np.empty((rows + 1, columns + 1))
    for i in range(rows + 1):
        for j in range(columns + 1):
            u, w = sole.right + j * dx, sole.begin + i * dz
            patch[i, j] = find_surface(floor, x + c * u + s * w, z - s * u + c * w, sole.below, sole.headroom)
    plane = _fit(patch, _Block(0, rows, 0, columns), dx, dz)
    return plane.height, plane.rise_x, plane.rise_z


@kernel
def settle_sole(floor: Any, sole: SolePlacement) -> None:
    """Lay a sole, parallel to its plane, on the highest point under it, sampled twice as densely as in the search."""
    x, z, s, c = sole.x, sole.z, sole.sine, sole.cosine
    # rises in the world: the grid's x is (cos, -sin), its z is (sin, cos)
    rise_x, rise_z = c * sole.rise_x + s * sole.rise_z, -s * sole.rise_x + c * sole.rise_z
    slope = np.sqrt(rise_x * rise_x + rise_z * rise_z)
    size = np.sqrt(1.0 + slope * slope)
    nx, ny, nz = -rise_x / size, 1.0 / size, -rise_z / size
    # the shortest rotation from up to the normal, after the heading
    norm = np.sqrt(2.0 * (1.0 + ny))
    tw, tx, tz = (1.0 + ny) / norm, nz / norm, -nx / norm
    half = 0.5 * np.arctan2(s, c)
    yw, yy = np.cos(half), np.sin(half)
    qw, qx, qy, qz = tw * yw, tx * yw - tz * yy, tw * yy, tx * yy + tz * yw
    # the sole's x and z in the world: two columns of its matrix
    left_x, left_y, left_z = 1.0 - 2.0 * (qy * qy + qz * qz), 2.0 * (qx * qy + qw * qz), 2.0 * (qx * qz - qw * qy)
    ahead_x, ahead_y, ahead_z = 2.0 * (qx * qz + qw * qy), 2.0 * (qy * qz - qw * qx), 1.0 - 2.0 * (qx * qx + qy * qy)
    back, front, right, left = sole.back, sole.front, sole.right, sole.left
    rows, columns = round((front - back) / (0.5 * sole.dz)), round((left - right) / (0.5 * sole.dx))
    high, low = -np.inf, np.inf
    for i in range(rows + 1):
        w = back + (front - back) * i / rows
        for j in range(columns + 1):
            u = right + (left - right) * j / columns
            at_x, at_z = x + left_x * u + ahead_x * w, z + left_z * u + ahead_z * w
            need = find_surface(floor, at_x, at_z, sole.below, sole.headroom) - left_y * u - ahead_y * w
            high = max(high, need)
            if sole.begin - 1e-9 <= w <= sole.end + 1e-9:
                low = min(low, need)
    sole.y, sole.slope, sole.gap, q = high, slope, high - low, sole.orientation
    q[0], q[1], q[2], q[3] = qw, qx, qy, qz

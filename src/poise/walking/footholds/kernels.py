"""Where a sole can lie flat: heights on a small grid under and round it, a plane through those, and how well it lies.

A grid along the foot's heading is asked as far as it is needed; every place of the sole that is looked at is a block of
that grid. The plane under it is the one of least squares, raised until it touches the highest point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.views import record
from poise.world.ground.kernels import ground_height, span_top
from poise.world.ground.record import TOP

_SIZE = TOP.itemsize
NOTHING, STEEP, EDGE, BUMPY, OBSTACLE, HIGH, LOW = range(1, 8)  # why there is none
NO_GROUND = -1e7  # m: what is lower is no ground
# What a place costs, in metres that another may be farther away: a radian of slope and of turning, a metre of bumps, a
# ring of the margin that is over an edge; soles that hang over, and how much of their length.
_SLOPE, _BUMP, _RING, _HANGS, _HANG = 0.1, 3.0, 0.04, 0.2, 0.4
_CLIFF = 0.04  # m from one sample to the next: no bump but an edge
_GRAZE = 0.004  # m that what hangs over an edge may be from the plane, where the ground goes on beside it


@kernel
def find_surface(floor: Any, x: float, z: float, below: float, room: float) -> float:
    """m, the floor at x and z: the highest that is not higher than `below`.

    Where something that reaches higher than `below` is in the `room` metres over it, the height of that.
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
    """m, the floor at points (N, 3): see `find_surface`."""
    for i in range(len(points)):
        out[i] = find_surface(floor, points[i, 0], points[i, 2], below, room)


@kernel
def _fill(
    floor: Any, frame: np.ndarray, below: float, room: float, patch: np.ndarray, first: int, last: int, left: int,
    right: int,
) -> None:  # fmt: skip
    """Ask for what is not known yet in a block of the patch. frame: x, z, sin, cos, corner and cells of the grid."""
    x, z, s, c, corner_x, corner_z, dx, dz = frame
    for i in range(first, last + 1):
        for j in range(left, right + 1):
            if np.isnan(patch[i, j]):
                u, w = corner_x + j * dx, corner_z + i * dz
                patch[i, j] = find_surface(floor, x + c * u + s * w, z - s * u + c * w, below, room)


@kernel
def _fit(
    patch: np.ndarray, first: int, last: int, left: int, right: int, dx: float, dz: float
) -> tuple[float, float, float]:
    """The plane of least squares over a block: height in its middle, and how it rises along x and z of the grid."""
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
    return total / (rows * columns), across / (square_x * dx), along / (square_z * dz)


@kernel
def _spread(
    patch: np.ndarray, first: int, last: int, left: int, right: int, plane: tuple[float, float, float], dx: float,
    dz: float, most: float,
) -> tuple[float, float]:  # fmt: skip
    """How far a block is under and over a plane at the most; ends early where that is more than `most` together."""
    height, rise_x, rise_z = plane
    middle, aside = 0.5 * (first + last), 0.5 * (left + right)
    low, high = 0.0, 0.0
    for i in range(first, last + 1):
        for j in range(left, right + 1):
            off = patch[i, j] - height - rise_x * (j - aside) * dx - rise_z * (i - middle) * dz
            low, high = min(low, off), max(high, off)
        if high - low > most:
            break
    return low, high


@kernel
def _differ(
    patch: np.ndarray, first: int, last: int, left: int, right: int, steep: float, dx: float, dz: float
) -> bool:
    """Whether the corners of a block alone say that no plane that is flat enough is under it. steep: m, and a metre."""
    a, b, c, d = patch[first, left], patch[first, right], patch[last, left], patch[last, right]
    long = steep * (dz * (last - first) + dx * (right - left))
    return max(max(a, b), max(c, d)) - min(min(a, b), min(c, d)) > long + 0.05 or not np.isfinite(a + b + c + d)


@kernel
def _clear_rings(
    patch: np.ndarray, first: int, last: int, left: int, right: int, plane: tuple[float, float, float], rings: int,
    most: float, dx: float, dz: float,
) -> int:  # fmt: skip
    """How many rings of cells round a block are in its plane too."""
    height, rise_x, rise_z = plane
    middle, aside = 0.5 * (first + last), 0.5 * (left + right)
    for ring in range(1, rings + 1):
        for i in range(first - ring, last + ring + 1):
            inner = first - ring < i < last + ring
            for j in range(left - ring, right + ring + 1, right - left + 2 * ring if inner else 1):
                off = patch[i, j] - height - rise_x * (j - aside) * dx - rise_z * (i - middle) * dz
                if not abs(off) <= most:
                    return ring - 1
    return rings


@kernel
def _sticks_out(
    floor: Any, frame: np.ndarray, first: int, last: int, left: int, right: int, plane: tuple[float, float, float],
    most: float, below: float, room: float,
) -> bool:  # fmt: skip
    """Whether anything between the samples of a block, a post say, is more than `most` (m) above its plane."""
    x, z, s, c, corner_x, corner_z, dx, dz = frame
    height, rise_x, rise_z = plane
    middle, aside = 0.5 * (first + last), 0.5 * (left + right)
    for i in range(2 * (last - first) + 1):
        for j in range((i + 1) % 2, 2 * (right - left) + 1, 1 if i % 2 == 1 else 2):
            row, column = first + 0.5 * i, left + 0.5 * j
            u, w = corner_x + column * dx, corner_z + row * dz
            h = find_surface(floor, x + c * u + s * w, z - s * u + c * w, below, room)
            if h - height - rise_x * (column - aside) * dx - rise_z * (row - middle) * dz > most:
                return True
    return False


@kernel
def search_foothold(
    floor: Any, frame: np.ndarray, patch: np.ndarray, places: np.ndarray, costs: np.ndarray, counts: np.ndarray,
    limits: np.ndarray, best: np.ndarray,
) -> tuple[int, float]:  # fmt: skip
    """The cheapest place of a sole in a patch, and why the one that was wanted (the first) is none: a reason and by how
    much.

    frame    x, z, sin and cos of the heading, corner (2,) and cells (2,) m of the grid in the heading's frame
    patch    (R, C) m, NaN where it is not known yet
    places   (N, 2) row and column of the sole's heel end and right side, cheapest first;  costs (N,) m
    counts   rows and columns of the sole, rings of margin, rows that may hang over
    limits   below, room (m), tangent of the steepest slope, bumps, lowest and highest place (m), what the turn costs
    best     (8,) cost so far, row, column, first and last row that is on the ground, plane (3,) in that block's middle
    """
    below, room, steep, bumps, lowest, highest, turning = limits
    dx, dz = frame[6], frame[7]
    rows, columns, rings, hang = counts[0], counts[1], counts[2], counts[3]
    reason, by = 0, 0.0
    for k in range(len(places)):
        base = costs[k] + turning
        if base >= best[0]:
            break
        top, left = places[k, 0], places[k, 1]
        end, right = top + rows - 1, left + columns - 1
        _fill(floor, frame, below, room, patch, top, end, left, right)
        why, much = EDGE, 0.0
        for side in range(1 if hang == 0 else 3):  # whole, less of the heel, less of the toes
            if side > 0 and (why in (STEEP, HIGH, LOW) or base + _HANGS >= best[0]):
                break
            done = False
            for less in range(0 if side == 0 else 1, 1 if side == 0 else hang + 1):
                first, last = (top + less, end) if side == 1 else (top, end - less)
                if _differ(patch, first, last, left, right, steep, dx, dz):
                    continue
                plane = _fit(patch, first, last, left, right, dx, dz)
                slope = np.sqrt(plane[1] * plane[1] + plane[2] * plane[2])
                low, high = _spread(patch, first, last, left, right, plane, dx, dz, bumps)
                if high - low > bumps:
                    if side == 0:
                        why, much = BUMPY, high - low
                    continue
                if slope > steep:
                    if side == 0:
                        why, much = STEEP, slope
                    continue
                if not plane[0] <= highest:
                    why, much = HIGH, plane[0]
                    continue
                if not plane[0] >= lowest:
                    why, much = LOW, plane[0]
                    continue
                if side > 0:
                    # what hangs over must be free of the ground
                    a, b = (top, first - 1) if side == 1 else (last + 1, end)
                    shift = 0.5 * (a + b) - 0.5 * (first + last)
                    beyond = (plane[0] + high + plane[2] * shift * dz, plane[1], plane[2])
                    if _spread(patch, a, b, left, right, beyond, dx, dz, np.inf)[1] > _GRAZE:
                        continue
                cost = base + _SLOPE * np.arctan(slope) + _BUMP * (high - low)
                if side > 0:
                    cost += _HANGS + _HANG * less / rows
                elif rings > 0 and cost < best[0]:
                    _fill(floor, frame, below, room, patch, top - rings, end + rings, left - rings, right + rings)
                    clear = _clear_rings(patch, top, end, left, right, plane, rings, bumps, dx, dz)
                    cost += _RING * (rings - clear)
                if cost < best[0]:
                    if _sticks_out(floor, frame, first, last, left, right, plane, high + bumps, below, room):
                        why, much = BUMPY, bumps
                        continue
                    best[0], best[1], best[2], best[3], best[4] = cost, top, left, first, last
                    best[5], best[6], best[7] = plane
                done = True
                break
            if done:
                why = 0
                break
        if k == 0:
            reason, by = why, much
            if why in (EDGE, BUMPY):
                reason, by = _explain(floor, patch, top, end, left, right, below, why, much)
            elif why == HIGH and ground_height(floor, frame[0], frame[1]) < much - _CLIFF:
                reason = OBSTACLE  # a thing that is on the ground
    return reason, by


@kernel
def _explain(
    floor: Any, patch: np.ndarray, first: int, last: int, left: int, right: int, below: float, why: int, much: float
) -> tuple[int, float]:
    """Why a block is no place: nothing there, something that stands on it, an edge, bumps; and how much of it."""
    low, high, cliff = np.inf, -np.inf, 0.0
    for i in range(first, last + 1):
        for j in range(left, right + 1):
            low, high = min(low, patch[i, j]), max(high, patch[i, j])
            cliff = max(
                cliff, abs(patch[i, j] - patch[max(i - 1, first), j]), abs(patch[i, j] - patch[i, max(j - 1, left)])
            )
    if low < NO_GROUND:
        return NOTHING, 0.0
    if high > below:
        return (OBSTACLE if floor.top_count > 0 else HIGH), high
    if why == EDGE or cliff > _CLIFF:
        return EDGE, high - low
    return BUMPY, much


@kernel
def fit_sole(floor: Any, frame: np.ndarray, block: np.ndarray, limits: np.ndarray, plane: np.ndarray) -> None:
    """The plane (3,) of least squares under the part of a sole that is on the ground, asked at half the distances.

    block, limits, plane  see `settle_sole`
    """
    x, z, s, c = frame[0], frame[1], frame[2], frame[3]
    right, left, first, last = block[2], block[3], block[4], block[5]
    rows, columns = max(round((last - first) / (0.5 * frame[7])), 2), max(round((left - right) / (0.5 * frame[6])), 2)
    dx, dz = (left - right) / columns, (last - first) / rows
    patch = np.empty((rows + 1, columns + 1))
    for i in range(rows + 1):
        for j in range(columns + 1):
            u, w = right + j * dx, first + i * dz
            patch[i, j] = find_surface(floor, x + c * u + s * w, z - s * u + c * w, limits[0], limits[1])
    plane[0], plane[1], plane[2] = _fit(patch, 0, rows, 0, columns, dx, dz)


@kernel
def settle_sole(
    floor: Any, frame: np.ndarray, block: np.ndarray, plane: np.ndarray, limits: np.ndarray, out: np.ndarray
) -> None:
    """Lay a sole on the highest of what is under it, asked at half the distances.

    block  (6,) m along z and x of the heading: sole from, to, right, left; the part on the ground from, to
    plane  (3,) height in the block's middle, rises along x and z of the grid
    out    (7,) height of the sole's origin, at the frame's own place; turn (4,); tangent of its slope; the widest gap
           under the part that is on the ground
    """
    x, z, s, c = frame[0], frame[1], frame[2], frame[3]
    # rises in the world: the grid's x is (cos, -sin), its z is (sin, cos)
    rise_x, rise_z = c * plane[1] + s * plane[2], -s * plane[1] + c * plane[2]
    slope = np.sqrt(rise_x * rise_x + rise_z * rise_z)
    size = np.sqrt(1.0 + slope * slope)
    nx, ny, nz = -rise_x / size, 1.0 / size, -rise_z / size
    # the short way from up to the normal, after the heading
    norm = np.sqrt(2.0 * (1.0 + ny))
    tw, tx, tz = (1.0 + ny) / norm, nz / norm, -nx / norm
    half = 0.5 * np.arctan2(s, c)
    yw, yy = np.cos(half), np.sin(half)
    qw, qx, qy, qz = tw * yw, tx * yw - tz * yy, tw * yy, tx * yy + tz * yw
    # the sole's x and z in the world: two columns of its matrix
    left_x, left_y, left_z = 1.0 - 2.0 * (qy * qy + qz * qz), 2.0 * (qx * qy + qw * qz), 2.0 * (qx * qz - qw * qy)
    ahead_x, ahead_y, ahead_z = 2.0 * (qx * qz + qw * qy), 2.0 * (qy * qz - qw * qx), 1.0 - 2.0 * (qx * qx + qy * qy)
    begin, end, right, left, first, last = block
    rows, columns = round((end - begin) / (0.5 * frame[7])), round((left - right) / (0.5 * frame[6]))
    high, low = -np.inf, np.inf
    for i in range(rows + 1):
        w = begin + (end - begin) * i / rows
        for j in range(columns + 1):
            u = right + (left - right) * j / columns
            at_x, at_z = x + left_x * u + ahead_x * w, z + left_z * u + ahead_z * w
            need = find_surface(floor, at_x, at_z, limits[0], limits[1]) - left_y * u - ahead_y * w
            high = max(high, need)
            if first - 1e-9 <= w <= last + 1e-9:
                low = min(low, need)
    out[0], out[1], out[2], out[3], out[4], out[5], out[6] = high, qw, qx, qy, qz, slope, high - low

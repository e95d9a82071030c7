"""Grounds as compiled code asks them: the laws of `Ground` and its kinds, on a record of `ground_record`."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.spatial.addresses import vectors
from poise.spatial.compile import kernel
from poise.world.ground_record import LEVEL, PROFILE, STEPS, TILTED


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
def ground_friction(ground: Any, x: float, z: float) -> float:
    """Sideways force it takes at x and z, of the force on it."""
    return ground.friction


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

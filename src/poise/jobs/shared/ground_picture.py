"""A ground as a picture has it: the slab under a way, cut where the ground has its edges."""

from __future__ import annotations

import math

import numpy as np

from poise.pictures.relief import Heights, Relief, build_relief
from poise.world.ground.ground import Ground
from poise.world.ground.height_map import HeightMap
from poise.world.ground.moving import MovingGround
from poise.world.ground.profile import Profile, Stairs

_BESIDE, _BEYOND = 0.9, 1.2  # m of ground beside a way, and before and after it
_TILE = 0.5  # m
_MOST = 400  # lines one way
_RAFT = 0.12  # m, how thick a slab is that moves


def still_ground(ground: Ground) -> Ground:
    """What is there at t = 0, without its motion."""
    return ground.ground if isinstance(ground, MovingGround) else ground


def is_uneven(ground: Ground) -> bool:
    """Whether it takes more to draw it than the room's level ground."""
    return type(ground) is not Ground


def find_heights(ground: Ground) -> Heights:
    """Heights at t = 0."""
    still = still_ground(ground)
    return lambda x, z: still.height_at(x, z)


def draw_ground(ground: Ground, way: np.ndarray, times: np.ndarray) -> tuple[Relief, float]:
    """The slab under a way (F, 3) m, and how high the room's level ground under it is (m)."""
    still = still_ground(ground)
    seen = way - np.array([ground.shift(float(t)) for t in times]) if isinstance(ground, MovingGround) else way
    heading = still.heading if isinstance(still, Profile | Stairs) else 0.0
    ahead = np.array([math.sin(heading), math.cos(heading)])
    left = np.array([math.cos(heading), -math.sin(heading)])
    along = _find_lines(still, seen[:, [0, 2]] @ ahead, _BEYOND, True)
    across = _find_lines(still, seen[:, [0, 2]] @ left, _BESIDE, False)
    height = find_heights(ground)
    a, c = np.meshgrid(along, across)
    floor = float(height(a * ahead[0] + c * left[0], a * ahead[1] + c * left[1]).min())
    moved = None
    if isinstance(ground, MovingGround):
        moved = ground.shift
        floor -= _RAFT
        low = min(float(ground.shift(float(t))[1]) for t in times)
        return build_relief(height, along, across, heading, floor, moved, way, times), floor + low - 0.01
    return build_relief(height, along, across, heading, floor - 1e-3, None, way, times), floor - 1e-3


def _find_lines(ground: Ground, way: np.ndarray, beyond: float, is_along: bool) -> np.ndarray:
    """(N,) m, increasing: where cells begin and end, under a way and some metres beyond."""
    low, high = float(way.min()) - beyond, float(way.max()) + beyond
    if isinstance(ground, HeightMap):
        size, corner = ground.heights.shape[0 if is_along else 1], ground.corner[1 if is_along else 0]  # type: ignore[index]
        own = corner + ground.spacing * np.arange(size)
        inside = own[(own > low) & (own < high)]
        inside = inside[:: max(1, math.ceil(len(inside) / _MOST))]
        return np.unique(np.concatenate([[low], inside, [high]]))
    tiles = _TILE * np.arange(math.ceil(low / _TILE), math.floor(high / _TILE) + 1)
    tiles = tiles[:: max(1, math.ceil(len(tiles) / _MOST))]
    edges: np.ndarray = np.zeros(0)
    if is_along and isinstance(ground, Profile):
        edges = ground.table[:, 0]
    elif is_along and isinstance(ground, Stairs):
        edges = ground.start + ground.run * np.arange(ground.count)
    edges = edges[(edges > low) & (edges < high)]
    lines = np.unique(np.concatenate([[low, high], edges, tiles]))
    # Tiles end at an edge rather than a hair beside it.
    keep = np.array([line in edges or not len(edges) or np.abs(edges - line).min() > 0.01 for line in lines])
    return lines[keep | (lines == low) | (lines == high)]

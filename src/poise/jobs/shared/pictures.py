"""What pictures of jobs have in common: a body with its loads, the ground under its path, and sheets of stills.

The drawn ground is the slab under a path, cut at the edges of the ground.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from poise.body.geometry.primitives import Sphere
from poise.dynamics.kinematics import compute_center_of_mass
from poise.dynamics.tree import build_tree
from poise.errors import check_most
from poise.jobs.shared.body import LoadedBody
from poise.jobs.shared.metrics import find_supports
from poise.motion.clip import Clip
from poise.pictures.body import BODY_COLOR
from poise.pictures.items import WOOD_COLOR, BalanceMarks, DrawnProp, Item
from poise.pictures.picture import DrawnBody
from poise.pictures.relief import Heights, Relief, build_relief
from poise.spatial import rotation
from poise.world.ground.ground import Ground
from poise.world.ground.height_map import HeightMap
from poise.world.ground.moving import MovingGround
from poise.world.ground.profile import Profile, Stairs

MOST_FRAMES = 110_000  # of a film: an hour
Color = tuple[float, float, float]
_TARGET: Color = (0.82, 0.42, 0.36)
_STILL = (1.0, 0.0, 0.0, 0.0)  # orientation of a ball
_BESIDE, _BEYOND = 0.9, 1.2  # m of ground beside a way, and before and after it
_TILE = 0.5  # m
_MOST = 400  # lines one way
_RAFT = 0.12  # m, how thick a slab is that moves


def check_film_length(seconds: float, fps: float, advice: str) -> None:
    """Raise InputError if a film would have too many frames. advice: what to do then"""
    count = seconds * fps
    check_most(f"a film of {seconds:g} s has {count:.4g} frames", count, MOST_FRAMES, advice)


def draw_ball(clip: Clip, joint: str, ball: Sphere) -> DrawnProp:
    """Draw a ball that is fixed to a joint. ball: in the joint's frame"""
    positions, turns = clip.world
    i = clip.skeleton.index(joint)
    return draw_point(clip, positions[:, i] + rotation.rotate(turns[:, i], ball.center), ball.radius)


def draw_point(clip: Clip, places: np.ndarray, radius: float, color: Color = WOOD_COLOR) -> DrawnProp:
    """Draw a ball at places (3,) or (F, 3) m, one per frame of a clip."""
    times = clip.times - clip.times[0]
    at = np.broadcast_to(np.asarray(places, float), (len(times), 3))
    poses = np.concatenate([at, np.tile(_STILL, (len(times), 1))], axis=1)
    return DrawnProp(Sphere(np.zeros(3), radius), poses, times, color)


def draw_body(
    clip: Clip,
    body: LoadedBody,
    marks: Iterable[Item] = (),
    label: str = "",
    color: Color = BODY_COLOR,
) -> DrawnBody:
    """Draw a body with its loads, and marks."""
    shown = clip.replace(times=clip.times - clip.times[0])
    items = [*marks, *(draw_ball(clip, joint, ball) for joint, ball, _ in body.balls)]
    return DrawnBody(shown, body.skin, color, label=label, items=tuple(items))


def mark_balance(clip: Clip, body: LoadedBody, down: np.ndarray, targets: Iterable[np.ndarray] = ()) -> list[Item]:
    """Return the centre of mass over the support, and targets (3,) or (F, 3) m. down: (F, 2) which feet carry"""
    center = compute_center_of_mass(build_tree(body.character), *clip.poses)
    marks: list[Item] = [BalanceMarks(clip.times - clip.times[0], center, find_supports(clip, down))]
    return marks + [draw_point(clip, place, 0.035, _TARGET) for place in targets]


def tile(cells: Sequence[np.ndarray], columns: int) -> np.ndarray:
    """Return pictures (H, W, 3) of one size in rows; the last row is filled with white."""
    filled = [*cells, *[np.full_like(cells[0], 255)] * (-len(cells) % columns)]
    rows = [np.concatenate(filled[k : k + columns], axis=1) for k in range(0, len(filled), columns)]
    return np.concatenate(rows)


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

"""Metrics of a walk, measured on the poses that were written, by other code than the one that planned them.

Of the plan only the times of the stances are known here. WalkedSoles are grids of points: those behind the toes' joint
move with the foot, the others with the toes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from poise.body.character import Character
from poise.body.geometry.soles import build_footing
from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.dynamics.kinematics import compute_center_of_mass
from poise.dynamics.tree import build_tree
from poise.motion.clip import Clip
from poise.motion.parts import find_runs
from poise.spatial import rotation
from poise.world.foot_boxes import find_corners
from poise.world.ground.floor import Floor
from poise.world.ground.moving import MovingGround

DOWN = 0.002  # m: a point of a sole that is no higher over the ground than this is on it
BUMPS = 0.01  # m: one of a sole that lies on bumps, where no other point of it does; soles and ground give
_HOVERS = 0.005  # m: a sole that is nowhere nearer to the ground carries nothing; `sole_gap_mm` tells of less
_ROWS, _LINES = 13, 9  # points along a sole, behind the toes' joint and before it; lines of them from side to side


@dataclass(frozen=True, eq=False)
class Footfall:
    """One stance of a foot: side 0 left, 1 right; times (s) as of `walking/feet/stance.py:FootStance`.

    place  (3,) m, of the foot as it lies there
    """

    side: int
    land: float
    flat: float
    rise: float
    off: float
    place: np.ndarray


class WalkedSoles(NamedTuple):
    """Points of both soles over time.

    points  (F, 2, N, 3) m; lines from heel to toes, from right to left
    front   (N,) which are of the toes, and stay down while the heel rises
    back    (N,) which are of the heel's edge, and stay down while the toes are up
    """

    points: np.ndarray
    front: np.ndarray
    back: np.ndarray

    @property
    def corners(self) -> list[int]:
        """Numbers of the four points at the corners, in turn."""
        n = len(self.front)
        one = n // _LINES
        return [0, one - 1, n - 1, n - one]


def find_soles(clip: Clip) -> WalkedSoles:
    """Points of the soles of a clip, in the world."""
    positions, turns = clip.world
    sides = []
    for side in SIDES:
        rows, front, back = _place_rows(clip.skeleton, side)
        foot, toes = clip.skeleton.index(f"{side}Foot"), clip.skeleton.find_role(f"{side}Toes")
        points = positions[:, foot, None] + rotation.rotate(turns[:, foot, None], rows)
        if toes is not None:
            rest = clip.skeleton.rest_positions()
            own = rows[front] - (rest[toes] - rest[foot])
            points[:, front] = positions[:, toes, None] + rotation.rotate(turns[:, toes, None], own)
        sides.append(points)
    return WalkedSoles(np.stack(sides, axis=1), front, back)


def _place_rows(skeleton: Skeleton, side: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(N, 3) m points in the frame of a foot at rest; which of them are of the toes, and of the heel's edge."""
    box = build_footing(skeleton)[SIDES.index(side)]
    corners = find_corners(box)
    ahead = rotation.rotate(box.turn, np.array([0.0, 0.0, 1.0]))
    across = rotation.rotate(box.turn, np.array([1.0, 0.0, 0.0]))
    corners = corners[np.lexsort((corners @ across, np.round(corners @ ahead, 9)))]
    toes = skeleton.find_role(f"{side}Toes")
    share = 1.0
    if toes is not None:
        rest = skeleton.rest_positions()
        whole = float((corners[2] - corners[0]) @ ahead)
        share = float(
            np.clip((rest[toes] - rest[skeleton.index(f"{side}Foot")] - corners[0]) @ ahead / whole, 0.3, 0.97)
        )
    rear = np.linspace(0.0, share, _ROWS)
    fore = np.linspace(share, 1.0, _ROWS) if toes is not None else np.ones(1)
    at = np.concatenate([rear, fore])
    begins, ends = (np.linspace(corners[k], corners[k + 1], _LINES) for k in (0, 2))
    rows = np.concatenate([begin + at[:, None] * (end - begin) for begin, end in zip(begins, ends, strict=True)])
    front = np.tile(np.arange(len(at)) >= _ROWS, _LINES)
    back = np.tile(np.arange(len(at)) == 0, _LINES)
    return rows, front, back


def find_ground(points: np.ndarray, floor: Floor, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Height (F, ...) m of the ground under points (F, ..., 3), how far (F, 3) it has moved: see `Floor.find_under`.

    Asked of the ground itself where nothing stands on it.
    """
    if floor.ground is None or floor.record["top_count"][0]:
        return floor.find_under(points, times)
    ground, shifts = floor.ground, np.zeros((len(times), 3))
    if isinstance(ground, MovingGround):
        shifts = np.array([ground.shift(float(t)) for t in times])
        ground = ground.ground
    spread = shifts.reshape(len(times), *(1,) * (points.ndim - 2), 3)
    own = points - spread
    return ground.height_at(own[..., 0], own[..., 2]) + spread[..., 1], shifts


class WalkBalance(NamedTuple):
    """Of every frame, as seen from a ground that moves: center (F, 3) m, of all that is carried; outlines, F of (N, 2)
    m, of what is down; margins (F,) m, how far inside of that the centre of mass is, -inf where nothing is down.
    """

    center: np.ndarray
    outlines: list[np.ndarray]
    margins: np.ndarray


def measure_balance(clip: Clip, character: Character, floor: Floor, footfalls: Sequence[Footfall]) -> WalkBalance:
    """The centre of mass over what is down. character: with all that it carries.

    Down is what touches the ground; and, of a sole that lies on it, what else is planted with bumps under it.
    """
    times = clip.times - clip.times[0]
    soles = find_soles(clip)
    points = soles.points
    heights, shifts = find_ground(points, floor, times)
    over = points[..., 1] - heights
    lies = np.zeros(over.shape, bool)
    for fall in footfalls:
        parts = _list_parts(fall, soles)
        flat = over[(times >= parts[0][1]) & (times <= parts[0][2]), fall.side]
        if not len(flat) or flat.min(axis=1).max() > _HOVERS:
            continue  # it hovers
        for part, first, last in parts:
            frames = (times >= first) & (times <= last)
            lies[:, fall.side] |= frames[:, None] & part
    down = (over < DOWN) | (lies & (over < BUMPS))
    points = points - shifts[:, None, None]
    center = compute_center_of_mass(build_tree(character), *clip.poses) - shifts
    outlines, margins = [], np.full(len(times), -np.inf)
    for k, touches in enumerate(down):
        if not touches.any():
            outlines.append(np.zeros((0, 2)))
            continue
        outline = find_hull(points[k][touches][:, [0, 2]])
        outlines.append(outline)
        margins[k] = find_margin(outline, center[k, [0, 2]])
    return WalkBalance(center, outlines, margins)


def _list_parts(fall: Footfall, soles: WalkedSoles) -> tuple[tuple[np.ndarray, float, float], ...]:
    """Which points (N,) of a sole are planted from when to when (s)."""
    late, early = 1e-6, -1e-6
    return (
        (np.ones_like(soles.front), fall.flat + early, fall.rise + late),
        (soles.front, fall.flat + early, fall.off + late),
        (soles.back, fall.land + early, fall.rise + late),
    )


def find_hull(points: np.ndarray) -> np.ndarray:
    """(K, 2) corners of the convex hull of points (N, 2), counter-clockwise: Andrew's monotone chain."""
    order = [(float(x), float(z)) for x, z in np.unique(np.round(points, 7), axis=0)]
    if len(order) < 3:
        return np.array(order)
    halves = []
    for row in (order, order[::-1]):
        half: list[tuple[float, float]] = []
        for x, z in row:
            while len(half) > 1:
                (ax, az), (bx, bz) = half[-2:]
                if (bx - ax) * (z - az) - (bz - az) * (x - ax) > 0.0:
                    break
                half.pop()
            half.append((x, z))
        halves += half[:-1]
    return np.array(halves)


def find_margin(hull: np.ndarray, spot: np.ndarray) -> float:
    """m, how far inside of a convex outline (K, 2), counter-clockwise, a point (2,) is; negative outside."""
    along = np.roll(hull, -1, axis=0) - hull
    length = np.maximum(np.linalg.norm(along, axis=1), 1e-12)
    away = spot - hull
    inward = (along[:, 0] * away[:, 1] - along[:, 1] * away[:, 0]) / length
    if len(hull) > 2 and np.all(inward >= 0.0):
        return float(inward.min())
    share = np.clip(np.sum(away * along, axis=1) / length**2, 0.0, 1.0)
    return -float(np.linalg.norm(away - share[:, None] * along, axis=1).min())


def measure_walk(
    clip: Clip, character: Character, floor: Floor, footfalls: Sequence[Footfall], balance: WalkBalance
) -> dict[str, Any]:
    """All figures that are of poses: see docs/walking.md."""
    times = clip.times - clip.times[0]
    outside = find_runs(balance.margins < 0.0)
    fell = next((float(times[first]) for first, last in outside if last > first), None)
    return {
        "fell": fell is not None,
        "fell_at_s": fell,
        "com_margin_m": float(balance.margins.min()),
        "com_margin_at_s": float(times[balance.margins.argmin()]),
        **_measure_feet(clip, floor, footfalls),
        **_measure_joints(clip, character),
        **_measure_steps(clip, footfalls),
    }


def _measure_feet(clip: Clip, floor: Floor, footfalls: Sequence[Footfall]) -> dict[str, Any]:
    times = clip.times - clip.times[0]
    soles = find_soles(clip)
    heights, shifts = find_ground(soles.points, floor, times)
    over = soles.points[..., 1] - heights
    points = soles.points - shifts[:, None, None]
    travel, gap, uneven = 0.0, 0.0, 0.0
    swings = np.ones((len(times), 2), bool)
    for fall in footfalls:
        swings[(times >= fall.land) & (times <= fall.off), fall.side] = False
        for part, first, last in _list_parts(fall, soles):
            frames = (times >= first) & (times <= last)
            if frames.sum() > 1:
                path = points[frames][:, fall.side][:, part]
                travel = max(travel, float(np.linalg.norm(path - path[0], axis=-1).max()))
        lies = over[(times >= fall.flat) & (times <= fall.rise), fall.side]
        if len(lies):
            gap = max(gap, float(np.abs(lies.min(axis=1)).max()))
            uneven = max(uneven, float(np.quantile(lies, 0.5, axis=1).max()))
    depth = max((float(-over[swings[:, side], side].min()) for side in range(2) if swings[:, side].any()), default=0.0)
    return {
        "foot_error_mm": 1000.0 * travel,
        "swing_depth_mm": 1000.0 * max(depth, 0.0),
        "sole_gap_mm": 1000.0 * gap,
        "sole_unevenness_mm": 1000.0 * max(uneven, 0.0),
    }


def _measure_joints(clip: Clip, character: Character) -> dict[str, Any]:
    """How fast joints change their speed, and how far any is beyond its range; knees, how straight they ever are."""
    dt = float(np.median(np.diff(clip.times))) if len(clip) > 1 else 1.0
    turned = rotation.multiply(rotation.conjugate(clip.rotations[:-1]), clip.rotations[1:])
    speed = rotation.log(turned) / dt
    bend = np.linalg.norm(np.diff(speed, axis=0), axis=-1) / dt
    at = np.unravel_index(int(np.argmax(bend)), bend.shape) if bend.size else (0, 0)
    excess = 0.0
    for name, limits in character.limits.items():
        off = limits.excess(clip.rotations[:, clip.skeleton.index(name)])
        excess = max(excess, float(np.abs(off).max()))
    root = np.linalg.norm(np.diff(clip.root, 2, axis=0), axis=-1) / dt**2 if len(clip) > 2 else np.zeros(1)
    return {
        "peak_joint_acceleration_rad_s2": float(bend.max(initial=0.0)),
        "peak_joint": clip.skeleton.labels[int(at[1])],
        "peak_joint_at_s": float(clip.times[int(at[0]) + 1] - clip.times[0]) if bend.size else 0.0,
        "peak_root_acceleration_m_s2": float(root.max()),
        "limit_excess_deg": float(np.degrees(excess)),
        "least_knee_deg": find_least_knee(clip),
    }


def find_least_knee(clip: Clip) -> float:
    """Degrees, the least that a knee is bent: the angle between thigh and shank."""
    least = np.inf
    for side in SIDES:
        hip, knee, foot = (clip.positions[:, clip.skeleton.index(f"{side}{part}")]
                           for part in ("UpperLeg", "LowerLeg", "Foot"))  # fmt: skip
        thigh, shank = knee - hip, foot - knee
        cosine = np.sum(thigh * shank, axis=1) / (np.linalg.norm(thigh, axis=1) * np.linalg.norm(shank, axis=1))
        least = min(least, float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))).min()))
    return least


def _measure_steps(clip: Clip, footfalls: Sequence[Footfall]) -> dict[str, Any]:
    """How many steps there are, how far they go and how long they take."""
    times = clip.times - clip.times[0]
    steps = sorted(
        (fall for fall in footfalls if np.isfinite(fall.land) and fall.land <= times[-1]), key=lambda f: f.land
    )
    longest, highest = 0.0, 0.0
    last = {fall.side: fall.place for fall in footfalls if not np.isfinite(fall.land)}
    for fall in steps:
        other = last[1 - fall.side]
        longest = max(longest, float(np.linalg.norm((fall.place - other)[[0, 2]])))
        highest = max(highest, float(abs(fall.place[1] - other[1])))
        last[fall.side] = fall.place
    hips = clip.positions[:, clip.skeleton.index("hips")]
    way = float(np.linalg.norm(np.diff(hips[:, [0, 2]], axis=0), axis=1).sum())
    return {
        "steps": len(steps),
        "duration_s": float(times[-1]),
        "distance_m": way,
        "climb_m": float(hips[:, 1].max() - hips[:, 1].min()),
        "longest_step_m": longest,
        "highest_step_m": highest,
        "speed_m_s": way / max(float(times[-1]), 1e-9),
    }

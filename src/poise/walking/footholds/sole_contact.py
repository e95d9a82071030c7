"""The part of a planted sole that lies on the ground: all of it on a plane, three points of it on rubble."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from poise.ik.support_polygon import find_outline
from poise.spatial import rotation
from poise.walking.feet.foot import WalkingFoot
from poise.walking.feet.stance import FootStance
from poise.walking.footholds.terrain import Foothold, Terrain

# m: what is no farther than that from the ground lies on it. Where hardly anything does, soles give, and so little of
# them counts as so much less.
_GIVES = ((0.002, 1.0), (0.005, 0.5), (0.01, 0.3))
_LEAST = 0.35  # of a sole
_ACROSS, _BEHIND, _BEFORE = 7, 11, 7  # points of a sole that are looked at: across it, up to its ball, and beyond
_MOST = 8  # corners of an outline
_ENOUGH = 0.4  # of the front, or of the heel's edge, that it can stand on alone


class _Grid(NamedTuple):
    across: np.ndarray  # (N,) m, along the foot's hinge
    along: np.ndarray  # (N,) m, along its sole
    ball: float
    heel: float


def stand_on(foot: WalkingFoot, found: Foothold, terrain: Terrain) -> FootStance:
    """A foot on a foothold; its times are not known yet."""
    turn = rotation.multiply(found.turn, rotation.exp(np.array([0.0, -foot.yaw, 0.0])))
    stance, grid = FootStance(found.place, turn), _build_grid(foot)
    local = np.outer(grid.across, foot.hinge) + np.outer(grid.along, foot.ahead)
    points = found.place + rotation.rotate(turn, local)
    over = points[:, 1] - terrain.heights(points, float(found.place[1]) + 0.3)
    stance = replace(stance, gap=float(np.median(over)))
    if over.max() < _GIVES[0][0]:
        return stance
    front, back = grid.along >= grid.ball - 1e-9, grid.along <= grid.heel + 1e-9
    flat = np.stack([grid.across, grid.along], axis=1)
    whole, share = np.ones(len(over), bool), 0.0
    for give, counts in _GIVES:
        lies = over < give
        share = counts * _area(flat[lies]) / _area(flat[whole])
        if share > _LEAST * counts:
            break
    front_share = _area(flat[lies & front]) / max(_area(flat[front]), 1e-12)
    edge = np.ptp(grid.across[lies & back]) / np.ptp(grid.across) if (lies & back).any() else 0.0
    nothing = np.zeros((0, 3))
    return replace(
        stance, share=float(share), whole=_pick(flat, lies, points),
        front=_pick(flat, lies & front, points) if front_share > _ENOUGH else nothing,
        back=points[lies & back] if edge > _ENOUGH else nothing,
    )  # fmt: skip


def _build_grid(foot: WalkingFoot) -> _Grid:
    across, along = foot.corners @ foot.hinge, foot.corners @ foot.ahead
    ball = float(np.min(foot.front @ foot.ahead))
    rows = np.concatenate(
        [np.linspace(along.min(), ball, _BEHIND), np.linspace(ball, along.max(), _BEFORE)[1:]]
    )  # a foot without toes has its ball at its tip
    columns = np.linspace(across.min(), across.max(), _ACROSS)
    x, z = (grid.ravel() for grid in np.meshgrid(columns, rows))
    return _Grid(x, z, ball, float(along.min()))


def _area(points: np.ndarray) -> float:
    """m2, of the outline of points (N, 2)."""
    if len(points) < 3:
        return 0.0
    outline = find_outline(points)
    x, z = outline[:, 0], outline[:, 1]
    return 0.5 * abs(float(np.sum(x * np.roll(z, -1) - z * np.roll(x, -1))))


def _pick(flat: np.ndarray, lies: np.ndarray, points: np.ndarray) -> np.ndarray:
    """(N, 3) m, corners of the outline of those that lie on the ground, `_MOST` of them at the most."""
    chosen = np.flatnonzero(lies)
    ways = np.linspace(0.0, 2.0 * np.pi, _MOST, endpoint=False) + 1e-3
    far = flat[chosen] @ np.stack([np.cos(ways), np.sin(ways) * 0.4])  # a sole is long: its corners are found first
    return points[np.unique(chosen[np.argmax(far, axis=0)])] if len(chosen) else np.zeros((0, 3))

"""Uneven ground in a picture: a slab whose upper side has given heights, and marks that lie on it.

Both are asked where they are at a time, as all items of a picture. What is painted (`pictures/items.py`) lies on the
level ground of the room; what is here lies wherever the ground is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from poise.pictures.raster import Paint, Surface, linear

Color = tuple[float, float, float]
Heights = Callable[[np.ndarray, np.ndarray], np.ndarray]
Moved = Callable[[float], np.ndarray]
# sRGB: two greys told apart as a chequered floor is, and darker ones for what stands upright.
_TONES = (0.790, 0.805, 0.825), (0.735, 0.752, 0.775)
_UPRIGHT: Color = (0.60, 0.62, 0.65)
_TILE = 0.5  # m, of the chequers
_EDGE = 1e-6  # m: how far inside of a cell its corners are asked for, so that both sides of a riser are known
_RISER = 1e-3  # m, that neighbours differ by where something upright is between them
_LIFT = 0.004  # m, of marks over the ground
_WIDTH, _DOT, _AROUND = 0.012, 0.035, 24  # m and m, of lines and of the centre of mass; corners of a circle


@dataclass(frozen=True, eq=False)
class Relief:
    """A slab of ground.

    points, normals, colors  (V, 3), four a cell
    faces                    (F, 3)
    moved                    (3,) m, how far it has gone at a time; None: it stays
    near, times              (N, 3) m and (N,) s: a way, of which only what is within `reach` m is drawn; None: all
    """

    points: np.ndarray
    normals: np.ndarray
    colors: np.ndarray
    faces: np.ndarray
    moved: Moved | None = None
    near: np.ndarray | None = None
    times: np.ndarray | None = None
    reach: float = 7.0
    is_framed: ClassVar[bool] = False

    def surface(self, t: float, body: np.ndarray | None = None) -> Surface:
        """It at time t (s)."""
        points = self.points if self.moved is None else self.points + self.moved(t)
        faces = self.faces
        if self.near is not None and self.times is not None:
            spot = np.array([np.interp(t, self.times, axis) for axis in self.near.T])
            away = np.abs(points[faces[:, 0]] - spot)[:, [0, 2]].max(axis=1)
            faces = faces[away < self.reach]
            used, faces = np.unique(faces, return_inverse=True)
            faces = faces.reshape(-1, 3)
            return Surface(points[used], self.normals[used], self.colors[used], faces)
        return Surface(points, self.normals, self.colors, faces)

    def paints(self, t: float) -> list[Paint]:
        """Nothing on the level ground."""
        return []


def build_relief(
    height: Heights,
    along: np.ndarray,
    across: np.ndarray,
    heading: float = 0.0,
    floor: float = 0.0,
    moved: Moved | None = None,
    near: np.ndarray | None = None,
    times: np.ndarray | None = None,
) -> Relief:
    """A slab from lines along and across a heading, down to a floor.

    height  m, at arrays of x and z;  floor m, how far down its sides go
    along   (R,) m, increasing, where cells begin and end the way that it heads;  across (C,) m, to the left of that
    """
    rows = np.stack([along[:-1] + _EDGE, along[1:] - _EDGE], axis=1)
    columns = np.stack([across[:-1] + _EDGE, across[1:] - _EDGE], axis=1)
    ahead = np.broadcast_to(rows[:, None, :, None], (len(rows), len(columns), 2, 2))
    left = np.broadcast_to(columns[None, :, None, :], ahead.shape)
    s, c = np.sin(heading), np.cos(heading)
    y = height(ahead * s + left * c, ahead * c - left * s)
    tops = _tops(along, across, y)
    up = np.cross(tops[:, 2] - tops[:, 0], tops[:, 3] - tops[:, 1])
    up *= np.sign(up[:, 1:2]) / np.linalg.norm(up, axis=1, keepdims=True)
    before, out = _risers(along, across, y, floor)
    beside, aside = _risers(across, along, y.transpose(1, 0, 3, 2), floor)
    quads = np.concatenate([tops, before, beside[..., [2, 1, 0]]])  # (Q, 4, 3): along, up, across
    normals = np.concatenate([up, out, aside[:, [2, 1, 0]]])
    colors = np.concatenate([_chequer(along, across), np.tile(linear(_UPRIGHT), (len(quads) - len(tops), 1))])
    turn = np.array([[s, 0.0, c], [0.0, 1.0, 0.0], [c, 0.0, -s]])
    first = 4 * np.arange(len(quads))[:, None]
    faces = np.concatenate([first + [0, 1, 2], first + [0, 2, 3]])
    return Relief(
        (quads @ turn.T).reshape(-1, 3), np.repeat(normals @ turn.T, 4, axis=0), np.repeat(colors, 4, axis=0), faces,
        moved, near, times,
    )  # fmt: skip


def _tops(along: np.ndarray, across: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(Q, 4, 3) the upper sides, seen from above in turn; cut from the corner of least to the one of most."""
    a0, c0 = np.meshgrid(along[:-1], across[:-1], indexing="ij")
    a1, c1 = np.meshgrid(along[1:], across[1:], indexing="ij")
    corners = [
        np.stack([a0, y[:, :, 0, 0], c0], -1), np.stack([a1, y[:, :, 1, 0], c0], -1),
        np.stack([a1, y[:, :, 1, 1], c1], -1), np.stack([a0, y[:, :, 0, 1], c1], -1),
    ]  # fmt: skip
    return np.stack(corners, axis=2).reshape(-1, 4, 3)


def _chequer(along: np.ndarray, across: np.ndarray) -> np.ndarray:
    """(Q, 3) linear light of each upper side."""
    middle = [np.floor((0.5 * (lines[1:] + lines[:-1])) / _TILE).astype(int) for lines in (along, across)]
    odd = (middle[0][:, None] + middle[1][None, :]) % 2
    tones = np.stack([linear(tone) for tone in _TONES])
    return np.asarray(tones[odd].reshape(-1, 3))


def _risers(lines: np.ndarray, aside: np.ndarray, y: np.ndarray, floor: float) -> tuple[np.ndarray, np.ndarray]:
    """(Q, 4, 3) what stands upright on lines, where cells before and after differ and at both ends; normals (Q, 3).

    y  (R - 1, C - 1, 2, 2) m: of cells, their ends along and across
    """
    low = np.full((1, y.shape[1], 2), floor)
    before = np.concatenate([low, y[:, :, 1]])  # (R, C - 1, 2), the height that comes to a line
    after = np.concatenate([y[:, :, 0], low])
    i, j = np.nonzero(np.abs(after - before).max(axis=2) > _RISER)
    b, f = before[i, j], after[i, j]
    corners = [
        np.stack([lines[i], each, aside[side]], axis=-1)
        for each, side in ((b[:, 0], j), (f[:, 0], j), (f[:, 1], j + 1), (b[:, 1], j + 1))
    ]
    out = np.zeros((len(i), 3))
    out[:, 0] = np.where(f.mean(axis=1) > b.mean(axis=1), -1.0, 1.0)  # towards the lower side
    return np.stack(corners, axis=1).reshape(-1, 4, 3), out


@dataclass(frozen=True, eq=False)
class ReliefMarks:
    """On uneven ground: prints of the feet that have stood, the support now, and the centre of mass over it.

    times    (F,) s
    height   m, at arrays of x and z, of the ground where it was at first
    center   (F, 3) m
    support  F outlines (N, 2) m, x and z; empty where nothing is down
    prints   (from when s, corners (N, 3) m, sRGB): drawn from then on
    moved    as of `Relief`; center, support and prints are as seen from the ground
    """

    times: np.ndarray
    height: Heights
    center: np.ndarray
    support: Sequence[np.ndarray]
    prints: Sequence[tuple[float, np.ndarray, Color]] = ()
    moved: Moved | None = None
    support_color: Color = (0.0, 0.447, 0.698)
    center_color: Color = (0.835, 0.369, 0.0)
    is_framed: ClassVar[bool] = False

    def surface(self, t: float, body: np.ndarray | None = None) -> Surface:
        """All marks at time t (s)."""
        now = max(int(np.searchsorted(self.times, t + 1e-9, side="right")) - 1, 0)
        spot = self.center[now]
        parts = [
            _flat(corners + [0.0, _LIFT, 0.0], color)
            for since, corners, color in self.prints
            if since <= t and np.abs(corners[0] - spot)[[0, 2]].max() < 6.0
        ]
        outline = self.support[now]
        if len(outline) > 2:
            parts.append(self._line(np.concatenate([outline, outline[:1]])))
        parts.append(self._dot(spot, 1.3 * _DOT, (1.0, 1.0, 1.0), 2.0))
        parts.append(self._dot(spot, _DOT, self.center_color, 3.0))
        surface = Surface.joined(parts)
        if self.moved is None:
            return surface
        return Surface(surface.points + self.moved(t), surface.normals, surface.colors, surface.faces)

    def paints(self, t: float) -> list[Paint]:
        """Nothing on the level ground."""
        return []

    def _line(self, way: np.ndarray) -> Surface:
        """A ribbon through points (N, 2) that lies on the ground."""
        pieces = []
        for a, b in pairwise(way):
            count = max(int(np.linalg.norm(b - a) / 0.04), 1)
            pieces.append(a + (b - a) * np.arange(count)[:, None] / count)
        line = np.concatenate([*pieces, way[-1:]])
        along = np.gradient(line, axis=0)
        along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
        side = 0.5 * _WIDTH * np.stack([-along[:, 1], along[:, 0]], axis=1)
        y = self.height(line[:, 0], line[:, 1]) + 1.5 * _LIFT
        both = [np.stack([each[:, 0], y, each[:, 1]], axis=1) for each in (line + side, line - side)]
        n = len(line)
        k = np.arange(n - 1)[:, None]
        faces = np.concatenate([k + [0, 1, n], k + [1, n + 1, n]])
        return _level(np.concatenate(both), faces, self.support_color)

    def _dot(self, spot: np.ndarray, radius: float, color: Color, lift: float) -> Surface:
        turns = 2.0 * np.pi * np.arange(_AROUND) / _AROUND
        x, z = spot[0] + radius * np.cos(turns), spot[2] + radius * np.sin(turns)
        y = float(self.height(np.array(spot[0]), np.array(spot[2]))) + lift * _LIFT
        return _flat(np.stack([x, np.full_like(x, y), z], axis=1), color)


def _flat(corners: np.ndarray, color: Color) -> Surface:
    """A convex polygon (N, 3)."""
    fan = np.arange(1, len(corners) - 1)[:, None]
    return _level(corners, np.concatenate([np.zeros_like(fan), fan, fan + 1], axis=1), color)


def _level(points: np.ndarray, faces: np.ndarray, color: Color) -> Surface:
    up = np.broadcast_to(np.array([0.0, 1.0, 0.0]), points.shape)
    return Surface(points, up, np.broadcast_to(linear(color), points.shape), faces)

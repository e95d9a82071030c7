"""What is drawn beside the figures of a picture: props, pushes, and where the balance stands on the ground.

Each holds its own samples over time, on the figures' clock, and is asked for what it looks like at a time. The sample
that holds is the last one at or before that time; before the first, the first.

What is painted on the ground under a figure, areas, lines, dots and rings, is given from above as x and z in metres.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

from poise.body.geometry.mesh import Mesh
from poise.body.geometry.primitives import Box, Capsule, Shape, Sphere
from poise.errors import InputError
from poise.pictures.raster import Paint, Surface, linear
from poise.pictures.solids import build_arrow, build_solid
from poise.spatial import rotation

Color = tuple[float, float, float]
# sRGB, after Okabe and Ito: told apart by everybody.
WOOD_COLOR: Color = (0.62, 0.52, 0.42)
PUSH_COLOR: Color = (0.835, 0.369, 0.0)
SUPPORT_COLOR: Color = (0.0, 0.447, 0.698)
CENTER_COLOR: Color = (0.835, 0.369, 0.0)
TARGET_COLOR: Color = (0.25, 0.28, 0.32)
_DOT = 0.032  # m, radius of the centre of mass on the ground: seen at 500 pixels, and smaller than any support
_NEAR_LINE = 0.04  # m, about the thickness of an arrow's head: skin as near to its line as that hides the tip


@dataclass(frozen=True, eq=False)
class DrawnProp:
    """A thing made of simple shapes or a mesh, still or moving.

    shape  a Sphere, Capsule, Box or Mesh, or several, in the prop's own frame
    poses  (7,) or (F, 7): position m, then orientation wxyz, in the world; None where the shape is in the world already
    times  (F,) s, of the poses
    color  sRGB 0 to 1
    """

    shape: Shape | Mesh | Sequence[Shape | Mesh]
    poses: np.ndarray | None = None
    times: np.ndarray | None = None
    color: Color = WOOD_COLOR
    is_framed: ClassVar[bool] = True  # whether a camera is placed so as to see it

    def __post_init__(self) -> None:
        poses = np.array([[0.0, 0, 0, 1, 0, 0, 0]] if self.poses is None else self.poses, float)
        poses = poses[None] if poses.ndim == 1 else poses
        times = np.zeros(1) if self.times is None else np.asarray(self.times, float)
        if poses.ndim != 2 or poses.shape[1] != 7 or times.shape != poses.shape[:1] or not np.isfinite(poses).all():
            raise InputError(
                "a prop needs finite poses (7,) or (F, 7), position and wxyz, and a time for each of several; given "
                f"{poses.shape} and {times.shape}."
            )
        object.__setattr__(self, "poses", poses)
        object.__setattr__(self, "times", times)

    @cached_property
    def mesh(self) -> Mesh:
        """The whole prop in its own frame."""
        several = [self.shape] if isinstance(self.shape, Sphere | Capsule | Box | Mesh) else list(self.shape)
        return Mesh.joined(shape if isinstance(shape, Mesh) else build_solid(shape) for shape in several)

    def surface(self, t: float, body: np.ndarray | None = None) -> Surface:
        """It at time t (s), whatever body it is drawn with."""
        pose = np.asarray(self.poses)[find_sample(np.asarray(self.times), t)]
        turn = pose[3:] / np.linalg.norm(pose[3:])
        points = pose[:3] + rotation.rotate(turn, self.mesh.vertices)
        return _surface(Mesh(points, self.mesh.faces), rotation.rotate(turn, self.mesh.normals), self.color)

    def paints(self, t: float) -> list[Paint]:
        """Nothing on the ground."""
        return []


@dataclass(frozen=True, eq=False)
class PushArrow:
    """An arrow that pushes where a force acts: its tip is there, or on the skin before it where that is inside a body.

    times   (F,) s
    points  (F, 3) m, in the world
    forces  (F, 3) N; zero or NaN is no arrow
    scale   m of arrow for each N
    linger  s that an arrow stays after its force ended, so that a short push is seen
    color   sRGB 0 to 1
    """

    times: np.ndarray
    points: np.ndarray
    forces: np.ndarray
    scale: float = 0.006
    linger: float = 0.25
    color: Color = PUSH_COLOR
    is_framed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        shapes = np.shape(self.times), np.shape(self.points), np.shape(self.forces)
        if len(shapes[0]) != 1 or shapes[1:] != ((shapes[0][0], 3), (shapes[0][0], 3)) or not shapes[0][0]:
            raise InputError(f"a push needs times (F,), points (F, 3) and forces (F, 3); given {shapes}.")

    def surface(self, t: float, body: np.ndarray | None = None) -> Surface:
        """The arrow at time t (s), or nothing; body (V, 3) m is the skin that must not hide its tip."""
        times, forces = np.asarray(self.times, float), np.nan_to_num(np.asarray(self.forces, float))
        now = find_sample(times, t)
        recent = np.flatnonzero((times <= t) & (times > t - self.linger - 1e-9) & (forces != 0.0).any(axis=1))
        if t >= times[0] and forces[now].any():
            recent = np.array([now])
        point = np.asarray(self.points, float)[now]
        if not len(recent) or not np.isfinite(point).all():
            return Surface.joined([])
        vector = self.scale * forces[recent[-1]]
        arrow = build_arrow(point - _depth(point, vector, body) * vector / np.linalg.norm(vector), vector)
        return _surface(arrow, arrow.normals, self.color)

    def paints(self, t: float) -> list[Paint]:
        """Nothing on the ground."""
        return []


@dataclass(frozen=True, eq=False)
class BalanceMarks:
    """On the ground: the support's area, the centre of mass above it, and where that is wanted.

    times    (F,) s
    center   (F, 3) m, centre of mass in the world; a dot, with the way it went in the last `trail` seconds
    support  (N, 2) m, x and z: the convex outline, or F of them for one that changes; empty where nothing is down
    target   (2,) or (F, 2) m, x and z: a ring
    """

    times: np.ndarray
    center: np.ndarray | None = None
    support: np.ndarray | Sequence[np.ndarray] | None = None
    target: np.ndarray | None = None
    trail: float = 1.0
    is_framed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        frames = len(np.atleast_1d(self.times))
        if self.center is not None and np.shape(self.center) != (frames, 3):
            raise InputError(
                f"the centre of mass of {frames} times has shape ({frames}, 3); given {np.shape(self.center)}."
            )
        if self.target is not None and np.shape(self.target) not in ((2,), (frames, 2)):
            raise InputError(f"a target is (2,) or ({frames}, 2), x and z; given {np.shape(self.target)}.")
        if self.support is not None and not _is_one_outline(self.support) and len(self.support) != frames:
            raise InputError(f"supports are one outline (N, 2) or {frames} of them; given {len(self.support)}.")

    def surface(self, t: float, body: np.ndarray | None = None) -> Surface:
        """Nothing solid."""
        return Surface.joined([])

    def paints(self, t: float) -> list[Paint]:
        """What is on the ground at time t (s), bottom first."""
        times = np.atleast_1d(np.asarray(self.times, float))
        now, marks = find_sample(times, t), []
        if self.support is not None:
            outline = self.support if _is_one_outline(self.support) else self.support[now]
            if len(outline) > 2:
                marks += [paint_area(np.asarray(outline), SUPPORT_COLOR, 0.28)]
                marks += [paint_line(np.asarray(outline), SUPPORT_COLOR, closed=True)]
        if self.target is not None:
            target = np.asarray(self.target, float).reshape(-1, 2)
            marks += [paint_ring(target[now if len(target) > 1 else 0], 1.5 * _DOT, TARGET_COLOR)]
        if self.center is not None:
            way = np.asarray(self.center, float)[(times <= t) & (times > t - self.trail)][:, [0, 2]]
            spot = np.asarray(self.center, float)[now][[0, 2]]
            if len(way) > 1:
                marks += [paint_line(way, CENTER_COLOR, 0.006)]
            marks += [paint_dot(spot, _DOT, (1.0, 1.0, 1.0)), paint_dot(spot, 0.8 * _DOT, CENTER_COLOR)]
        return marks


class Item(Protocol):
    """What is drawn beside figures, asked at a time t (s).

    is_framed  whether a camera is placed so as to see it
    """

    @property
    def is_framed(self) -> bool:
        """Whether a camera is placed so as to see it."""

    def surface(self, t: float, body: np.ndarray | None = None) -> Surface:
        """What is solid of it; body (V, 3) m is the skin that it is drawn with."""

    def paints(self, t: float) -> list[Paint]:
        """What of it is painted on the level ground."""


def find_sample(times: np.ndarray, t: float) -> int:
    """The last of increasing times (F,) s at or before t; the first where t is earlier."""
    return max(int(np.searchsorted(times, t + 1e-9, side="right")) - 1, 0)


def _depth(point: np.ndarray, vector: np.ndarray, body: np.ndarray | None) -> float:
    """m from a point back along a vector to the last skin on that line; 0 outside a body."""
    if body is None:
        return 0.0
    away = body - point
    back = -(away @ vector) / np.linalg.norm(vector)
    aside = np.linalg.norm(away + back[:, None] * vector / np.linalg.norm(vector), axis=1)
    return max(float(np.max(back[aside < _NEAR_LINE], initial=0.0)), 0.0)


def _is_one_outline(support: np.ndarray | Sequence[np.ndarray]) -> bool:
    return len(support) == 0 or np.ndim(support[0]) == 1


def _surface(mesh: Mesh, normals: np.ndarray, color: Color) -> Surface:
    return Surface(mesh.vertices, normals, np.broadcast_to(linear(color), mesh.vertices.shape), mesh.faces)


_AROUND = 32


def paint_area(outline: np.ndarray, color: Color, cover: float = 0.35) -> Paint:
    """The inside of a convex outline (N, 2) m, in either direction; fewer than three points paint nothing."""
    outline = _check_points(outline)
    fan = np.column_stack([np.zeros(len(outline), int), np.arange(len(outline)), np.arange(len(outline)) + 1])
    return Paint(outline, fan[1:-1], color, cover)


def paint_line(points: np.ndarray, color: Color, width: float = 0.008, closed: bool = False) -> Paint:
    """A line of a width (m) through points (N, 2) m; closed, it returns to the first."""
    points = _check_points(points)
    if closed and len(points) > 1:
        points = np.concatenate([points, points[:1]])
    along = np.diff(points, axis=0)
    length = np.linalg.norm(along, axis=1, keepdims=True)
    keep = length[:, 0] > 1e-9
    starts, along = points[:-1][keep], (along / np.maximum(length, 1e-9))[keep]
    ends = points[1:][keep]
    across = 0.5 * width * np.column_stack([-along[:, 1], along[:, 0]])
    reach = 0.5 * width * along  # half a width further at both ends, so that corners close
    corners = np.stack(
        [starts - reach - across, ends + reach - across, ends + reach + across, starts - reach + across], 1
    )
    first = 4 * np.arange(len(corners))[:, None]
    faces = np.concatenate([first + [0, 1, 2], first + [0, 2, 3]])
    return Paint(corners.reshape(-1, 2), faces, color)


def paint_dot(center: np.ndarray, radius: float, color: Color, cover: float = 1.0) -> Paint:
    """A disc around center (2,) m."""
    return paint_area(_circle(center, radius), color, cover)


def paint_ring(center: np.ndarray, radius: float, color: Color, width: float = 0.008) -> Paint:
    """A circle's line around center (2,) m."""
    return paint_line(_circle(center, radius), color, width, closed=True)


def _circle(center: np.ndarray, radius: float) -> np.ndarray:
    turns = 2.0 * np.pi * np.arange(_AROUND) / _AROUND
    return _check_points(np.asarray(center, float) + radius * np.column_stack([np.cos(turns), np.sin(turns)]))


def _check_points(points: np.ndarray) -> np.ndarray:
    points = np.asarray(points, float)
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise InputError(f"marks on the ground need finite points (N, 2), x and z in metres; given {points.shape}.")
    return points

"""Ground that changes one way only: stairs up and down, ramps, kerbs and ditches, one after another.

Stairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poise.body.geometry.primitives import Box
from poise.errors import InputError, check_range
from poise.kinds import checked
from poise.spatial import rotation
from poise.world.ground.ground import FAR, HIGHEST, Ground, Plane
from poise.world.ground.record import PROFILE, STEPS

MAX_POINTS = 4000  # points
STEEPEST = math.radians(60.0)
_DEPTH = 10.0  # m: how far boxes go on below the lowest level
_THINNEST = 0.02  # m, of a ramp's box


@checked
@dataclass(frozen=True)
class Profile(Ground):
    """Heights along a heading, endless sideways; level before the first and after the last of them.

    points   (N, 2) m: how far along the heading, and how high over `height`. Between two it is straight; two as far
             along as each other are a riser, on whose edge one is on the second
    heading  rad, the way they go: 0 is +Z, where a character faces; pi / 2 is +X, its left
    height   m, that is added to all
    """

    points: tuple[tuple[float, float], ...] = ((0.0, 0.0),)
    heading: float = 0.0
    height: float = field(default=0.0, kw_only=True)
    friction: float = field(default=0.8, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("the heading of a profile", self.heading, -100.0, 100.0, "rad")
        try:
            table = np.array([[float(each) for each in point] for point in self.points], float, order="C")
        except (TypeError, ValueError):
            table = np.zeros(0)
        if table.ndim != 2 or table.shape[1] != 2 or not 1 <= len(table) <= MAX_POINTS:
            raise InputError(f"a profile has 1 to {MAX_POINTS} points, each how far along and how high, in metres.")
        if not (np.all(np.abs(table[:, 0]) <= 1e4) and np.all(np.abs(table[:, 1]) <= HIGHEST)):
            raise InputError(f"the points of a profile are at most 10000 m along and {HIGHEST:g} m high.")
        run, rise = np.diff(table, axis=0).T
        if np.any(run < 0.0):
            at = int(np.argmax(run < 0.0))
            raise InputError(
                f"point {at + 1} of a profile, {table[at + 1, 0]:g} m along, goes back from {table[at, 0]:g}."
            )
        if np.any((run > 0.0) & (np.abs(rise) > math.tan(STEEPEST) * run * (1.0 + 1e-9))):
            at = int(np.argmax((run > 0.0) & (np.abs(rise) > math.tan(STEEPEST) * run)))
            raise InputError(
                f"a profile is steeper than {math.degrees(STEEPEST):.0f} degrees after point {at}. Make it a riser: "
                "two points as far along as each other."
            )
        table.flags.writeable = False
        object.__setattr__(self, "points", tuple((float(s), float(h)) for s, h in table))
        object.__setattr__(self, "_table", table)

    @property
    def along(self) -> tuple[float, float]:
        """x and z of the unit vector the way it goes."""
        return math.sin(self.heading), math.cos(self.heading)

    @property
    def table(self) -> np.ndarray:
        """(N, 2) m, its points."""
        return self._table  # type: ignore[attr-defined]

    def height_at(self, x: np.ndarray | float, z: np.ndarray | float, t: float = 0.0) -> np.ndarray:
        """See `Ground`."""
        return self.height + self._find(x, z)[0]

    def normal_at(self, x: np.ndarray | float, z: np.ndarray | float, t: float = 0.0) -> np.ndarray:
        """See `Ground`."""
        slope = self._find(x, z)[1]
        normal = np.stack([-slope * self.along[0], np.ones_like(slope), -slope * self.along[1]], axis=-1)
        return np.asarray(normal / np.linalg.norm(normal, axis=-1, keepdims=True))

    def _find(self, x: np.ndarray | float, z: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
        """Height without `height` (m), and how it rises a metre along."""
        along = self.along[0] * np.asarray(x, float) + self.along[1] * np.asarray(z, float)
        s, h = self.table.T
        k = np.searchsorted(s, along, side="right") - 1  # the last that is not beyond
        a, b = np.clip(k, 0, len(s) - 1), np.clip(k + 1, 0, len(s) - 1)
        run = s[b] - s[a]
        slope = np.where(run > 0.0, (h[b] - h[a]) / np.where(run > 0.0, run, 1.0), 0.0)
        return h[a] + slope * np.where(run > 0.0, along - s[a], 0.0), slope

    def pieces(self) -> tuple[Plane | Box, ...]:
        """See `Ground`. An endless plane at the lowest level, and a box for each piece that is above it."""
        s, h = self.table.T
        h = h + self.height
        lowest = float(h.min())
        s = np.concatenate([[s[0] - FAR], s, [s[-1] + FAR]])
        h = np.concatenate([h[:1], h, h[-1:]])
        boxes = []
        for k in range(len(s) - 1):
            if s[k + 1] > s[k] and max(h[k], h[k + 1]) > lowest:
                boxes.append(self._build_box(s[k], h[k], s[k + 1], h[k + 1], lowest))
        return (Plane(np.array([0.0, lowest, 0.0]), np.array([0.0, 1.0, 0.0])), *boxes)

    def _build_box(self, begin: float, low: float, end: float, high: float, lowest: float) -> Box:
        """A box whose upper side is one piece, thick enough to reach below the lowest level where that can be."""
        yaw = rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), self.heading)
        angle = math.atan2(high - low, end - begin)
        thick = max(low, high) - lowest + _DEPTH
        if angle != 0.0:
            # The end of a tilted box leans out beyond its upper edge, and must stay under the ground there.
            top, way = (end, 1.0) if angle > 0.0 else (begin, -1.0)
            share = np.linspace(0.0, 1.0, 65)[1:]
            while thick > _THINNEST:
                out = top + way * (share * thick * math.sin(abs(angle)) + 1e-9)
                under = max(low, high) - share * thick * math.cos(angle)
                along = np.array(self.along)
                if np.all(under <= np.maximum(self.height_at(out * along[0], out * along[1]), lowest) + 1e-9):
                    break
                thick *= 0.7
        turn = rotation.multiply(yaw, rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), -angle))
        middle = np.array([0.0, 0.5 * (low + high), 0.5 * (begin + end)])
        center = rotation.rotate(yaw, middle) - rotation.rotate(turn, np.array([0.0, 0.5 * thick, 0.0]))
        half = np.array([FAR, 0.5 * thick, 0.5 * math.hypot(end - begin, high - low)])
        return Box(center, half, turn)

    def describe(self) -> dict[str, Any]:
        """See `Ground`. The points are read where they are: whoever keeps the record keeps the profile."""
        return {
            **super().describe(), "kind": PROFILE, "heights": self.table.ctypes.data, "rows": len(self.table),
            "along_x": self.along[0], "along_z": self.along[1],
        }  # fmt: skip


MAX_STEPS = 1000


@checked
@dataclass(frozen=True)
class Stairs(Ground):
    """Stairs one way, endless sideways, level before the first step and after the last.

    rise     m, of a step; negative: they go down
    run      m, from one edge to the next
    count    how many there are; 1 is a kerb
    start    m, where the first one's edge is, counted from the origin along the heading
    heading  rad, the way they go: 0 is +Z, where a character faces; pi / 2 is +X, its left
    height   m, of the ground before them
    """

    rise: float = 0.17
    run: float = 0.29
    count: int = 10
    start: float = 0.5
    heading: float = 0.0
    height: float = field(default=0.0, kw_only=True)
    friction: float = field(default=0.8, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("the rise of a step", self.rise, -10.0, 10.0, "m")
        check_range("the run of a step", self.run, 0.01, 100.0, "m")
        if (
            isinstance(self.count, bool)
            or not isinstance(self.count, int | np.integer)
            or not 1 <= self.count <= MAX_STEPS
        ):
            raise InputError(f"stairs have 1 to {MAX_STEPS} steps; {self.count!r} given.")
        check_range("the start of the stairs", self.start, -1e4, 1e4, "m")
        check_range("the heading of the stairs", self.heading, -100.0, 100.0, "rad")

    @property
    def along(self) -> tuple[float, float]:
        """x and z of the unit vector the way they go."""
        return math.sin(self.heading), math.cos(self.heading)

    def height_at(self, x: np.ndarray | float, z: np.ndarray | float, t: float = 0.0) -> np.ndarray:
        """See `Ground`."""
        along = self.along[0] * np.asarray(x) + self.along[1] * np.asarray(z)
        number = np.clip(np.floor((along - self.start) / self.run) + 1.0, 0, self.count)
        return super().height_at(x, z) + self.rise * number

    def pieces(self) -> tuple[Plane | Box, ...]:
        """See `Ground`. An endless plane at the lowest level, and a box for each level above it."""
        levels = self.height + self.rise * np.arange(self.count + 1)
        edges = self.start + self.run * np.arange(self.count)
        edges = np.concatenate([[edges[0] - FAR], edges, [edges[-1] + FAR]])
        lowest = float(levels.min())
        turn = rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), self.heading)
        boxes = []
        for level, begin, end in zip(levels, edges[:-1], edges[1:], strict=True):
            if level > lowest:
                low = lowest - _DEPTH
                center = np.array([0.0, 0.5 * (level + low), 0.5 * (begin + end)])
                half = np.array([FAR, 0.5 * (level - low), 0.5 * (end - begin)])
                boxes.append(Box(rotation.rotate(turn, center), half, turn))
        return (Plane(np.array([0.0, lowest, 0.0]), np.array([0.0, 1.0, 0.0])), *boxes)

    def describe(self) -> dict[str, Any]:
        """See `Ground`."""
        own = {"rise": self.rise, "run": self.run, "count": self.count, "start": self.start}
        return {**super().describe(), "kind": STEPS, **own, "along_x": self.along[0], "along_z": self.along[1]}

"""Stairs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poise.body.shape import Box
from poise.errors import InputError
from poise.kinds import checked
from poise.spatial import rotation
from poise.world.ground import FAR, Ground, Plane, check_range
from poise.world.ground_record import STEPS

MOST = 1000
_DEPTH = 10.0  # m: how far a step goes on below the lowest level


@checked
@dataclass(frozen=True)
class Steps(Ground):
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
        check_range("rise of a step", self.rise, -10.0, 10.0, " m")
        check_range("run of a step", self.run, 0.01, 100.0, " m")
        if isinstance(self.count, bool) or not isinstance(self.count, int | np.integer) or not 1 <= self.count <= MOST:
            raise InputError(f"stairs have 1 to {MOST} steps; {self.count!r} given.")
        check_range("start of the stairs", self.start, -1e4, 1e4, " m")
        check_range("heading of the stairs", self.heading, -100.0, 100.0, " rad")

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

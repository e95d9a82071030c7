"""Uneven ground: heights on a grid, two flat triangles a cell.

Triangles and not bilinear patches: engines have triangles, and a ground must answer where things come to rest on it.
Each cell is cut from its corner of least x and z to the one of most.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poise.errors import InputError, check_range
from poise.kinds import checked
from poise.world.ground.ground import HIGHEST, Ground, Plane
from poise.world.ground.record import MAP

MOST = 2000  # rows, columns


@checked
@dataclass(frozen=True, eq=False)
class HeightMap(Ground):
    """Heights on a square grid; round it the ground is level, as low as the map's lowest point.

    heights  (R, C) m, over `height`: rows go along +Z, columns along +X
    spacing  m, between neighbours
    corner   (2,) m, x and z of heights[0, 0]; None: the grid's middle is over the origin
    height   m, that is added to all
    """

    heights: np.ndarray = field(default_factory=lambda: np.zeros((2, 2)))
    spacing: float = 0.1
    corner: tuple[float, float] | None = None
    height: float = field(default=0.0, kw_only=True)
    friction: float = field(default=0.8, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("the spacing of a height map", self.spacing, 0.001, 1000.0, "m")
        try:
            heights = np.array(self.heights, float, order="C")
        except (TypeError, ValueError):
            raise InputError("a height map needs a table of numbers (m), rows along z and columns along x.") from None
        if heights.ndim != 2 or not all(2 <= size <= MOST for size in heights.shape):
            raise InputError(
                f"a height map has 2 to {MOST} rows of 2 to {MOST} heights; given an array of shape {heights.shape}."
            )
        if not np.all(np.abs(heights) <= HIGHEST):
            raise InputError(f"the heights of a height map are finite and at most {HIGHEST:g} m.")
        heights.flags.writeable = False
        rows, columns = heights.shape
        corner = (-0.5 * (columns - 1) * self.spacing, -0.5 * (rows - 1) * self.spacing)
        if self.corner is not None:
            corner = tuple(float(each) for each in self.corner)  # type: ignore[assignment]
            if len(corner) != 2 or not np.all(np.abs(corner) <= 1e4):
                raise InputError(f"the corner of a height map is x and z of at most 10000 m; given {self.corner}.")
        object.__setattr__(self, "heights", heights)
        object.__setattr__(self, "corner", corner)

    __eq__ = object.__eq__  # two maps are the same only if they are one
    __hash__ = object.__hash__

    @property
    def lowest(self) -> float:
        """m, the least of its heights, `height` included: how high the ground around it is."""
        return float(self.height + self.heights.min())

    def height_at(self, x: np.ndarray | float, z: np.ndarray | float, t: float = 0.0) -> np.ndarray:
        """See `Ground`."""
        inside, u, w, (a, b, c, d) = self._cell(x, z)
        found = np.where(u >= w, a + u * (b - a) + w * (d - b), a + w * (c - a) + u * (d - c))
        return np.where(inside, self.height + found, self.lowest)

    def normal_at(self, x: np.ndarray | float, z: np.ndarray | float, t: float = 0.0) -> np.ndarray:
        """See `Ground`."""
        inside, u, w, (a, b, c, d) = self._cell(x, z)
        along_x = np.where(inside, np.where(u >= w, b - a, d - c), 0.0) / self.spacing
        along_z = np.where(inside, np.where(u >= w, d - b, c - a), 0.0) / self.spacing
        normal = np.stack([-along_x, np.ones_like(along_x), -along_z], axis=-1)
        return np.asarray(normal / np.linalg.norm(normal, axis=-1, keepdims=True))

    def _cell(self, x: np.ndarray | float, z: np.ndarray | float) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
        """Whether it is on the map, how far in its cell along x and z (0 to 1), and the heights of its corners."""
        rows, columns = self.heights.shape
        corner = self.corner or (0.0, 0.0)
        across, along = np.broadcast_arrays(
            (np.asarray(x, float) - corner[0]) / self.spacing, (np.asarray(z, float) - corner[1]) / self.spacing
        )
        inside = (across >= 0.0) & (across <= columns - 1) & (along >= 0.0) & (along <= rows - 1)
        i = np.clip(np.floor(np.where(inside, across, 0.0)).astype(int), 0, columns - 2)
        j = np.clip(np.floor(np.where(inside, along, 0.0)).astype(int), 0, rows - 2)
        h = self.heights
        return inside, across - i, along - j, (h[j, i], h[j, i + 1], h[j + 1, i], h[j + 1, i + 1])

    def pieces(self) -> tuple[Plane | HeightMap, ...]:
        """See `Ground`."""
        return Plane(np.array([0.0, self.lowest, 0.0]), np.array([0.0, 1.0, 0.0])), self

    def describe(self) -> dict[str, Any]:
        """See `Ground`. The heights are read where they are: whoever keeps the record keeps the map."""
        corner = self.corner or (0.0, 0.0)
        return {
            **super().describe(), "kind": MAP, "heights": self.heights.ctypes.data, "rows": self.heights.shape[0],
            "columns": self.heights.shape[1], "spacing": self.spacing, "corner_x": corner[0], "corner_z": corner[1],
            "lowest": self.lowest,
        }  # fmt: skip

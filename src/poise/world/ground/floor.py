"""What is under a body: the ground, or the upper side of a prop that never moves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from poise.body.geometry.primitives import Box, Capsule, Shape
from poise.spatial import rotation
from poise.world.ground.ground import Ground
from poise.world.ground.record import BALL, BOX, GROUND, LEVEL, ROD, TOP
from poise.world.prop import Prop

_REACH = 0.1  # m


class Floor:
    """Ground and fixed props as one, with the record that compiled code reads.

    ground  what it was made of; None: there is none, and the floor is endlessly far below
    props   all that there are, those that move, too
    record  (1,) of `GROUND`, and address: where that is in memory, for as long as this object is kept
    """

    def __init__(self, ground: Ground | None = None, props: Iterable[Prop] = ()):
        self.ground, self.props = ground, tuple(props)
        self.record = np.zeros(1, GROUND)
        self._tops = _build_tops(self.props)
        fields = ground.describe() if ground is not None else {"height": -np.inf}
        tops = {"tops": self._tops.ctypes.data, "top_count": len(self._tops)}
        for name, value in {**fields, **tops, "address": self.address}.items():
            self.record[0][name] = value
        self._is_plain = len(self._tops) == 0 and not self.record["moves"][0] and self.record["kind"][0] == LEVEL
        if not self._is_plain:
            from poise.world.ground.kernels import find

            self.record["find"] = find.address

    @property
    def address(self) -> int:
        """Of the record."""
        return int(self.record.ctypes.data)

    def move(self, t: float) -> None:
        """Tell it the time (s): a ground that moves is elsewhere now."""
        if self.ground is not None and self.ground.moves:
            from poise.world.ground.kernels import move_ground

            move_ground(self.record[0], t)

    def find(self, x: float, z: float, below: float = np.inf) -> tuple[float, np.ndarray]:
        """Height (m) at x and z and the unit normal (3,) there. Props that reach higher than `below` (m) are not it."""
        if self._is_plain:
            return float(self.record["height"][0]), np.array([0.0, 1.0, 0.0])
        from poise.world.ground.kernels import find_floor

        height, *normal = find_floor(self.record[0], float(x), float(z), float(below))
        return float(height), np.array(normal)

    def find_heights(self, x: np.ndarray, z: np.ndarray, below: float = np.inf) -> np.ndarray:
        """The same heights (...) m, at x and z (...)."""
        if self._is_plain:
            return np.full(np.shape(x), self.record["height"][0])
        from poise.world.ground.kernels import find_heights

        found = np.empty(np.shape(x))
        find_heights(self.record[0], np.ravel(x), np.ravel(z), below, found.reshape(-1))
        return found

    def find_room(self, x: float, z: float, room: float) -> float:
        """m, the lowest floor at x and z over which there are `room` metres free: a bridge is walked under."""
        if self._is_plain:
            return float(self.record["height"][0])
        from poise.world.ground.kernels import find_room

        return float(find_room(self.record[0], float(x), float(z), float(room)))

    def find_under(self, points: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Height (F, ...) m of the floor under points (F, ..., 3) m at times (F,) s, and how far (F, 3) it has moved.

        Props that reach more than `_REACH` above a point are not under it.
        """
        heights, shifts = np.empty(points.shape[:-1]), np.zeros((len(times), 3))
        for k, t in enumerate(times):
            self.move(float(t))
            shifts[k] = self.record["shift"][0]
            found = [self.find(x, z, y + _REACH)[0] for x, y, z in points[k].reshape(-1, 3)]
            heights[k] = np.reshape(found, heights[k].shape)
        return heights, shifts

    def __reduce__(self) -> Any:
        # The record has addresses of this process: it is made anew.
        return Floor, (self.ground, self.props)


def _build_tops(props: Iterable[Prop]) -> np.ndarray:
    """(n,) of `TOP`, of all shapes of props that touch and never move."""
    shapes = [(prop, shape) for prop in props if prop.inertia is None and prop.touches for shape in prop.shapes]
    tops = np.zeros(len(shapes), TOP)
    for top, (prop, shape) in zip(tops, shapes, strict=True):
        _set_top(top, prop, shape)
    return tops


def _set_top(top: Any, prop: Prop, shape: Shape) -> None:
    turn = rotation.normalize(np.asarray(prop.turn, float))

    def place(point: np.ndarray) -> np.ndarray:
        return np.asarray(prop.position) + rotation.rotate(turn, np.asarray(point, float))

    if isinstance(shape, Box):
        top["kind"], top["half"] = BOX, shape.half
        top["turn"] = rotation.to_matrix(rotation.multiply(turn, shape.turn))
        top["center"], reach = place(shape.center), float(np.linalg.norm(shape.half))
        middle = top["center"]
    elif isinstance(shape, Capsule):
        top["kind"], top["radius"], top["center"], top["end"] = ROD, shape.radius, place(shape.start), place(shape.end)
        middle, reach = 0.5 * (top["center"] + top["end"]), 0.5 * shape.length + shape.radius
    else:
        top["kind"], top["radius"], top["center"] = BALL, shape.radius, place(shape.center)
        middle, reach = top["center"], shape.radius
    top["middle"], top["reach"] = middle[[0, 2]], reach

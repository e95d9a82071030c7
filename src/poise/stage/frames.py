"""The frames of one actor while they are recorded: arrays that are there before, a row a frame."""

from __future__ import annotations

import numpy as np

from poise.stage.take import ARRAYS

_FIRST = 1024  # frames that there is room for at first; twice as many whenever they are full


class Frames:
    """Rows of a take's arrays, in `arrays` by name.

    joints      J, of the actor
    most        frames that will be written, if nothing comes between
    connectors  joints whose bodies carried something given in any frame: whose columns `wrench` has
    """

    def __init__(self, joints: int, most: int):
        shapes = {
            "root": (3,), "rotations": (joints, 4), "velocity": (3,), "angular_velocity": (joints, 3),
            "torque": (joints, 3), "effort": (joints,), "center": (3,), "center_velocity": (3,), "margin": (),
            "feet": (2, 3), "pressure": (2, 3), "soles": (2, 4, 3), "wrench": (0, 6),
        }  # fmt: skip
        self.most, self.room = most, min(most, _FIRST)
        self.connectors: list[int] = []
        self.arrays = {name: np.empty((self.room, *shapes[name])) for name in ARRAYS}

    def make_room(self, frame: int) -> None:
        """Have a row for a frame."""
        while frame >= self.room:
            self.room = min(max(2 * self.room, 1), max(self.most, frame + 1))
            self.arrays = {name: _enlarge(array, self.room) for name, array in self.arrays.items()}

    def write_wrench(self, frame: int, connectors: list[int], wrench: np.ndarray) -> None:
        """Of all joints' wrenches (J, 6) those of a frame's connectors; the row of one that is none in it is NaN."""
        if connectors != self.connectors:
            self._add_connectors(connectors)
        array = self.arrays["wrench"]
        if connectors == self.connectors:
            array[frame] = wrench[connectors] if connectors else 0.0
            return
        array[frame] = np.nan
        array[frame, [self.connectors.index(joint) for joint in connectors]] = wrench[connectors]

    def _add_connectors(self, connectors: list[int]) -> None:
        """Columns for those that have none, in the order of the joints."""
        known, array = self.connectors, self.arrays["wrench"]
        self.connectors = sorted({*known, *connectors})
        if len(self.connectors) > len(known):
            self.arrays["wrench"] = np.full((len(array), len(self.connectors), 6), np.nan)
            self.arrays["wrench"][:, [self.connectors.index(joint) for joint in known]] = array

    def finish(self, frames: int) -> dict[str, np.ndarray]:
        """The first so many, by name."""
        return {name: array if len(array) == frames else array[:frames].copy() for name, array in self.arrays.items()}


def _enlarge(array: np.ndarray, room: int) -> np.ndarray:
    """The same rows, with room for more."""
    larger = np.empty((room, *array.shape[1:]))
    larger[: len(array)] = array
    return larger

"""The frames of one actor while they are recorded: arrays that are there before, a row a frame."""

from __future__ import annotations

import numpy as np

from poise.stage.take import ARRAYS

_FIRST = 1024  # frames that there is room for at first; twice as many whenever they are full


class Frames:
    """Rows of a take's arrays, in `arrays` by name.

    joints  J, of the actor
    most    frames that will be written, if nothing comes between
    """

    def __init__(self, joints: int, most: int):
        shapes = {
            "root": (3,), "rotations": (joints, 4), "velocity": (3,), "angular_velocity": (joints, 3),
            "torque": (joints, 3), "effort": (joints,), "center": (3,), "center_velocity": (3,), "margin": (),
            "feet": (2, 3), "pressure": (2, 3), "soles": (2, 4, 3), "wrench": (0, 6),
        }  # fmt: skip
        self.most, self.room = most, min(most, _FIRST)
        self.arrays = {name: np.empty((self.room, *shapes[name])) for name in ARRAYS}
        self.connectors: list[int] = []  # whose wrenches there are, a column each, in the order that they came

    def make_room(self, frame: int) -> None:
        """Have a row for a frame."""
        while frame >= self.room:
            self.room = min(max(2 * self.room, 1), max(self.most, frame + 1))
            self.arrays = {name: _enlarge(array, self.room) for name, array in self.arrays.items()}

    def write_wrench(self, frame: int, connectors: list[int], coupling: np.ndarray) -> None:
        """The connectors' rows of coupling (J, 6) in a frame; NaN for those that carry nothing given in it."""
        if connectors != self.connectors:
            self.connectors += [joint for joint in connectors if joint not in self.connectors]
        array, count = self.arrays["wrench"], len(self.connectors)
        if count > array.shape[1]:
            wider = np.full((len(array), count, 6), np.nan)
            wider[:, : array.shape[1]] = array
            self.arrays["wrench"] = array = wider
        if connectors == self.connectors:
            array[frame] = coupling[connectors]
            return
        array[frame] = np.nan
        array[frame, [self.connectors.index(joint) for joint in connectors]] = coupling[connectors]

    def finish(self, frames: int) -> dict[str, np.ndarray]:
        """The first so many, by name."""
        return {name: array if len(array) == frames else array[:frames].copy() for name, array in self.arrays.items()}


def _enlarge(array: np.ndarray, room: int) -> np.ndarray:
    """The same rows, with room for more."""
    larger = np.empty((room, *array.shape[1:]))
    larger[: len(array)] = array
    return larger

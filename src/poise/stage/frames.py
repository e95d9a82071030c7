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

    def make_room(self, frame: int) -> None:
        """Have a row for a frame."""
        while frame >= self.room:
            self.room = min(max(2 * self.room, 1), max(self.most, frame + 1))
            self.arrays = {name: _enlarge(array, self.room) for name, array in self.arrays.items()}

    def write_wrench(self, frame: int, wrench: np.ndarray) -> None:
        """The connectors' (C, 6) of a frame: where a switch changed their number, the missing ones are NaN."""
        array, count = self.arrays["wrench"], len(wrench)
        if count > array.shape[1]:
            wider = np.full((len(array), count, 6), np.nan)
            wider[:, : array.shape[1]] = array
            self.arrays["wrench"] = array = wider
        array[frame, :count] = wrench
        if count < array.shape[1]:
            array[frame, count:] = np.nan

    def finish(self, frames: int) -> dict[str, np.ndarray]:
        """The first so many, by name."""
        return {name: array if len(array) == frames else array[:frames].copy() for name, array in self.arrays.items()}


def _enlarge(array: np.ndarray, room: int) -> np.ndarray:
    """The same rows, with room for more."""
    larger = np.empty((room, *array.shape[1:]))
    larger[: len(array)] = array
    return larger

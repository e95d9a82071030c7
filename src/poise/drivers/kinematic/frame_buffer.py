"""Frames of a motion that a driver makes a little ahead of what is shown."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from poise.drivers.stateful import Stateful
from poise.engines.memory import write_over

BEHIND = 6  # frames that are kept behind the time that is shown


class FrameBuffer(Stateful):
    """The newest frames of a motion, at equal periods; `frame_kernels.py` interpolates between them.

    period     s from frame to frame
    ahead      frames that are made ahead of those that a step needs
    rotations  (N, J, 4);  others: arrays (N, ...) of the same frames
    first      number of the oldest frame in the buffer
    made       number of frames in the buffer
    """

    STATE = ("rotations", "first", "made")

    def __init__(self, period: float, ahead: int, dt: float, joints: int, *shapes: tuple[int, ...]):
        count = BEHIND + ahead + 4 + math.ceil(2.0 * dt / period)
        self.period, self.ahead = period, ahead
        self.rotations = np.zeros((count, joints, 4))
        self.others = tuple(np.zeros((count, *shape)) for shape in shapes)
        self.first, self.made = -1, 0

    def clear(self) -> None:
        """Begin with the frame before time 0."""
        self.first, self.made = -1, 0

    @property
    def next(self) -> int:
        """Number of the frame that is made next."""
        return self.first + self.made

    def find_last(self, time: float) -> int:
        """Return the number of the last frame that is needed at a time (s)."""
        return math.floor(time / self.period + 1e-6) + self.ahead

    def add(self, rotations: np.ndarray, *others: np.ndarray) -> None:
        """Append a frame; if the buffer is full, drop the oldest one."""
        if self.made == len(self.rotations):
            for array in (self.rotations, *self.others):
                array[:-1] = array[1:].copy()
            self.first, self.made = self.first + 1, self.made - 1
        for array, row in zip((self.rotations, *self.others), (rotations, *others), strict=True):
            array[self.made] = row
        self.made += 1

    def find(self, time: float) -> tuple[int, float]:
        """Return the row before a time (s), and the fraction of the way to the next row, 0 to 1."""
        number = min(max(math.floor(time / self.period), self.first + 1), self.first + self.made - 3)
        return number - self.first, min(max(time / self.period - number, 0.0), 1.0)

    def save(self) -> dict[str, Any]:
        """See `Stateful.save`."""
        return {**super().save(), "others": [array.copy() for array in self.others]}

    def restore(self, saved: dict[str, Any]) -> None:
        """See `Stateful.restore`."""
        super().restore(saved)
        for array, other in zip(self.others, saved["others"], strict=True):
            write_over({"others": array}, {"others": other})

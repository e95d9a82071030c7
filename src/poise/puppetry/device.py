"""What a device is asked that plays two hands: where they are, and whether it is still there.

The handles of a page, a gamepad, phones and trackers are all this. A device has its own thread, or none; it is read
a hundred times a second, and must not wait.
"""

from __future__ import annotations

import threading
import time
from typing import NamedTuple, Protocol

import numpy as np

from poise.puppetry.hands import BUTTONS
from poise.spatial import rotation


class HandsReading(NamedTuple):
    """Both hands, as a device has them.

    places    (2, 3) m;  turns (2, 4) wxyz;  NaN for a hand that it does not see
    grips     (2,) 0 open to 1 closed;  buttons (2,) bits
    received  s of `time.perf_counter`, when the newest of it came
    """

    places: np.ndarray
    turns: np.ndarray
    grips: np.ndarray
    buttons: np.ndarray
    received: float


class HandsDevice(Protocol):
    """A device that plays two hands.

    name  for people
    """

    name: str

    def read(self) -> HandsReading | None:
        """The newest that is known; None before anything is."""

    def tell(self) -> tuple[bool, str]:
        """Whether it is there, and a sentence about it for people."""

    def calibrate(self) -> None:
        """Have both hands mean nothing where they are now, as far as the device has to know."""

    def close(self) -> None:
        """Let go of it."""


class HeldHands:
    """Hands that stay where they were put until they are put elsewhere; threads may put and read at once.

    What devices are made of: each puts what it hears. Axes are the puppet's, places from where hands mean nothing.
    """

    name = "hands"

    def __init__(self, name: str | None = None, seen: bool = True):
        self.name = name or self.name
        self._lock = threading.Lock()
        self._places, self._turns = np.zeros((2, 3)), rotation.identity((2,))
        self._grips, self._buttons = np.zeros(2), np.zeros(2, np.int64)
        self._received = 0.0
        if not seen:
            self._places[:] = self._turns[:] = np.nan

    def put(
        self, hand: int, place: np.ndarray | None = None, turn: np.ndarray | None = None, grip: float | None = None,
        buttons: int | None = None,
    ) -> None:  # fmt: skip
        """Have a hand (0 left, 1 right) be somewhere; what is not given stays."""
        with self._lock:
            if place is not None:
                self._places[hand] = place
            if turn is not None:
                self._turns[hand] = turn
            if grip is not None:
                self._grips[hand] = grip
            if buttons is not None:
                self._buttons[hand] = buttons & (2**BUTTONS - 1)
            self._received = time.perf_counter()

    def lose(self, hand: int) -> None:
        """Have a hand not be seen."""
        with self._lock:
            self._places[hand] = self._turns[hand] = np.nan

    def read(self) -> HandsReading | None:
        """See `HandsDevice.read`."""
        with self._lock:
            return HandsReading(
                self._places.copy(), self._turns.copy(), self._grips.copy(), self._buttons.copy(), self._received
            )

    def tell(self) -> tuple[bool, str]:
        """See `HandsDevice.tell`."""
        return True, f"{self.name}: ready"

    def calibrate(self) -> None:
        """See `HandsDevice.calibrate`."""

    def close(self) -> None:
        """See `HandsDevice.close`."""

"""Interface of devices that play two hands: the handles of a page, a gamepad, phones, trackers.

A device has its own thread, or none. It is read a hundred times a second, and must not block.
"""

from __future__ import annotations

import threading
import time
from typing import NamedTuple, Protocol

import numpy as np

from poise.puppetry.hands import BUTTONS
from poise.spatial import rotation


class HandsReading(NamedTuple):
    """The newest positions of both hands.

    places    (2, 3) m;  turns (2, 4) wxyz;  NaN for a hand that the device does not see
    grips     (2,) 0 open to 1 closed;  buttons (2,) bits
    received  s of `time.perf_counter`, when the newest input arrived
    """

    places: np.ndarray
    turns: np.ndarray
    grips: np.ndarray
    buttons: np.ndarray
    received: float


class HandsDevice(Protocol):
    """A device that plays two hands.

    name  shown to the user
    """

    name: str

    def read(self) -> HandsReading | None:
        """Return the newest reading; None before the first."""

    def status(self) -> tuple[bool, str]:
        """Return whether it is connected, and a message about it."""

    def calibrate(self) -> None:
        """Make the present positions the neutral ones, if the device has to know."""

    def close(self) -> None:
        """Release it."""


class HeldHands:
    """Hands that stay where they were put; threads may put and read at once. Devices inherit from it.

    Axes are the puppet's; positions are relative to the neutral ones.
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
        """Move a hand (0 left, 1 right); what is not given stays."""
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
        """Mark a hand as not seen."""
        with self._lock:
            self._places[hand] = self._turns[hand] = np.nan

    def read(self) -> HandsReading | None:
        """See `HandsDevice.read`."""
        with self._lock:
            return HandsReading(
                self._places.copy(), self._turns.copy(), self._grips.copy(), self._buttons.copy(), self._received
            )

    def status(self) -> tuple[bool, str]:
        """See `HandsDevice.status`."""
        return True, f"{self.name}: ready"

    def calibrate(self) -> None:
        """See `HandsDevice.calibrate`."""

    def close(self) -> None:
        """See `HandsDevice.close`."""

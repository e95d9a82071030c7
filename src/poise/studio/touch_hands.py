"""Two hands that fingers play on other screens: what tablets and phones send, checked, and who has which hand.

A message is a short text of JSON. From a screen:

    {"left": [x, y, z,  w, x, y, z,  grip], "right": [...], "held": true}
                        m and a turn in the puppet's axes, from where the hand means nothing; either hand, or both.
                        held: a finger is down; without it the hand glides back or stays
    {"ping": 1234.5}    answered at once by {"pong": 1234.5}
    {"do": "record"}    record, play, stop, calibrate, take (have this device be read); {"do": "layer", "name": "arms"}

Whoever touched a hand last has it: two people may play one each. A screen that vanishes leaves its hands where they
were. A message that is none of these, or of numbers that cannot be, is left out whole and counted.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from poise.puppetry.device import HeldHands
from poise.spatial import rotation

MOST_BYTES = 1024  # of a message
MOST_SCREENS = 16
MOST_A_SECOND = 600  # messages of one screen
FARTHEST = 1.0  # m
SILENT = 2.5  # s, after which a screen of which nothing comes is gone; they say something every second
DEEDS = ("record", "play", "stop", "calibrate", "take", "layer")
_SIDES = {"left": 0, "right": 1}
_NUMBERS = 8


class Said(NamedTuple):
    """What is to be done about a message.

    answer  that goes back at once;  deed, name: what was asked for, and of what
    """

    answer: str | None = None
    deed: str | None = None
    name: str = ""


class _Screen:
    """Somebody's screen."""

    def __init__(self, now: float):
        self.last, self.begin, self.count = now, now, 0


class TouchHands(HeldHands):
    """Hands that screens play. Any thread may call.

    address   that screens open, told to people;  lets_others_in: whether it is one for other machines
    heard     messages that were used;  ignored: that could not be
    homes     how often hands were brought back to where they mean nothing: screens follow
    touched   s of the clock, when a finger last moved a hand
    """

    name = "touch"

    def __init__(self, address: str = "", clock: Callable[[], float] = time.perf_counter):
        super().__init__()
        self.address, self.lets_others_in, self.clock = address, False, clock
        self.heard = self.ignored = self.homes = 0
        self.touched = -math.inf
        self._screens: dict[int, _Screen] = {}
        self._owners: list[int | None] = [None, None]
        self._next, self._guard = 0, threading.Lock()

    # Who is there.

    def join(self) -> int | None:
        """A screen came; its number, or None where there are too many."""
        with self._guard:
            if len(self._screens) >= MOST_SCREENS:
                return None
            self._next += 1
            self._screens[self._next] = _Screen(self.clock())
            return self._next

    def leave(self, screen: int) -> None:
        """A screen is gone; the hands that it had stay where they were."""
        with self._guard:
            self._screens.pop(screen, None)

    def has(self, screen: int) -> list[bool]:
        """Which hands a screen has: left, right."""
        return [owner == screen for owner in self._owners]

    def _list_awake(self) -> list[int]:
        now = self.clock()
        with self._guard:
            return [number for number, each in self._screens.items() if now - each.last <= SILENT]

    def status(self) -> tuple[bool, str]:
        """See `HandsDevice.status`."""
        awake = self._list_awake()
        count = "1 screen is" if len(awake) == 1 else f"{len(awake)} screens are"
        counts = f" ({self.ignored} messages ignored)" if self.ignored else ""
        orphans = [side for side, hand in _SIDES.items() if self._owners[hand] not in (None, *awake)]
        if not awake:
            what = "the screen that played is gone" if orphans else "no screen is there"
            where = f" Open {self.address} on a tablet or a phone." if self.address else ""
            return False, f"touch: {what}{counts}.{where}"
        if orphans:
            hands = "both hands" if len(orphans) == 2 else f"the {orphans[0]} hand"
            return False, f"touch: who played {hands} is gone; {count} there{counts}. Touch a pad to play on."
        return True, f"touch: {count} connected{counts}"

    # What they say.

    def take(self, screen: int, message: str | bytes) -> Said:
        """Use a message of a screen, or count it."""
        try:
            return self._use(screen, message)
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            self.ignored += 1
            return Said()

    def _use(self, screen: int, message: str | bytes) -> Said:
        if not isinstance(message, str) or len(message) > MOST_BYTES:
            raise ValueError("no text, or too long")
        with self._guard:
            known, now = self._screens[screen], self.clock()
            if now - known.begin >= 1.0:
                known.begin, known.count = now, 0
            known.count += 1
            if known.count > MOST_A_SECOND:
                raise ValueError("too many")
            known.last = now
        said = json.loads(message)
        if not isinstance(said, dict):
            raise ValueError("no object")
        if "ping" in said:
            return Said(json.dumps({"pong": _read([said["ping"]], 1)[0]}))
        if "do" in said:
            return self._use_deed(said)
        hands = {hand: _read_hand(said[side]) for side, hand in _SIDES.items() if side in said}
        is_held = said.get("held", False)
        if not hands or not isinstance(is_held, bool):
            raise ValueError("no hands")
        for hand, (place, turn, grip) in hands.items():
            if is_held:
                self._owners[hand] = screen
            if self._owners[hand] == screen:
                self.put(hand, place, turn, grip)
        if is_held:
            self.touched = self.clock()
        self.heard += 1
        return Said()

    def _use_deed(self, said: dict[str, Any]) -> Said:
        deed, name = said["do"], said.get("name", "")
        if deed not in DEEDS or not isinstance(name, str):
            raise ValueError("nothing to be done")
        self.heard += 1
        return Said(deed=deed, name=name)

    def calibrate(self) -> None:
        """Bring both hands back to where they mean nothing; screens follow."""
        for hand in range(2):
            self.put(hand, np.zeros(3), rotation.identity(), 0.0)
        self.homes += 1


def _read_hand(said: Any) -> tuple[np.ndarray, np.ndarray, float]:
    numbers = _read(said, _NUMBERS)
    place, turn, grip = np.array(numbers[:3]), np.array(numbers[3:7]), numbers[7]
    size = float(np.linalg.norm(turn))
    if np.abs(place).max() > FARTHEST or not 0.5 < size < 2.0 or not 0.0 <= grip <= 1.0:
        raise ValueError("numbers that cannot be")
    return place, turn / size, grip


def _read(said: Any, count: int) -> list[float]:
    if not isinstance(said, list) or len(said) != count:
        raise ValueError("numbers are missing")
    if any(isinstance(each, bool) or not isinstance(each, int | float) for each in said):
        raise ValueError("no numbers")
    numbers = [float(each) for each in said]
    if not all(math.isfinite(each) and abs(each) <= 1e12 for each in numbers):
        raise ValueError("numbers that cannot be")
    return numbers

"""Two hands in a page: handles that are dragged with a mouse or by touch, and nudged with keys.

One pointer has one handle. What the other does meanwhile is said by a word, or by a key that is held while a tube is
dragged:

    alone      it stays where it is
    alike      it does the same, mirrored: both knees up, both arms out
    against    it does the opposite ahead and up: one leg forward, the other back

Axes are the puppet's, so handles that are dragged in the view mean what they show.
"""

from __future__ import annotations

import math
import time

import numpy as np

from poise.errors import unknown_name
from poise.puppetry.device import HeldHands
from poise.spatial import rotation

ALONE, ALIKE, AGAINST = "alone", "alike", "against"
WAYS = (ALONE, ALIKE, AGAINST)
_MIRROR = np.array([-1.0, 1.0, 1.0])  # of a place across the body;  a turn's vector is mirrored the other way round
FARTHEST = 1.0  # m, that a hand goes from where it means nothing


class PageHands(HeldHands):
    """Hands that a page moves. See above.

    moved  s of `time.perf_counter`, when somebody last moved one
    """

    name = "handles of the page"

    def __init__(self) -> None:
        super().__init__()
        self.way, self.moved = ALONE, -math.inf
        self._at, self._turned = np.zeros((2, 3)), rotation.identity((2,))

    def follow(self, way: str) -> None:
        """Say what the other hand does."""
        if way not in WAYS:
            raise unknown_name("way of the other hand", way, WAYS)
        self.way = way

    def place(self, hand: int) -> np.ndarray:
        """(3,) m, where a hand is, from where it means nothing."""
        return self._at[hand].copy()

    def turn(self, hand: int) -> np.ndarray:
        """(4,) how a hand is turned."""
        return self._turned[hand].copy()

    def move(self, hand: int, place: np.ndarray, turn: np.ndarray, way: str | None = None) -> None:
        """Have a hand be somewhere, and the other one do what it does then."""
        place = np.clip(np.asarray(place, float), -FARTHEST, FARTHEST)
        turn = np.asarray(turn, float)
        if not (np.isfinite(place).all() and np.isfinite(turn).all() and np.linalg.norm(turn) > 1e-6):
            return
        turn = turn / np.linalg.norm(turn)
        self.moved = time.perf_counter()
        self._set(hand, place, turn)
        way = self.way if way is None else way
        if way == ALONE:
            return
        by = rotation.log(turn)
        if way == ALIKE:
            self._set(1 - hand, place * _MIRROR, rotation.exp(by * -_MIRROR))
        else:
            self._set(1 - hand, -place, rotation.exp(-by))

    def nudge(self, hand: int, place: np.ndarray, turn: np.ndarray) -> None:
        """Move a hand by (3,) m and turn it by (3,) rad: what a key does."""
        turned = rotation.multiply(rotation.exp(np.asarray(turn, float)), self._turned[hand])
        self.move(hand, self._at[hand] + place, turned)

    def _set(self, hand: int, place: np.ndarray, turn: np.ndarray) -> None:
        self._at[hand], self._turned[hand] = place, turn
        self.put(hand, place, turn)

    def mirror(self, other: HeldHands) -> None:
        """Be where other hands are, which play now: handles show them, and nothing jumps when these play on."""
        reading = other.read()
        if reading is not None and np.isfinite(reading.places).all():
            for hand in range(2):
                self._set(hand, reading.places[hand], reading.turns[hand])

    def calibrate(self) -> None:
        """Bring both hands back to where they mean nothing."""
        for hand in range(2):
            self._set(hand, np.zeros(3), rotation.identity())

    def grip(self, value: float) -> None:
        """Close both hands, 0 to 1."""
        for hand in range(2):
            self.put(hand, grip=min(max(float(value), 0.0), 1.0))

"""How a body takes part in the gesture that its arms play: hips and trunk follow that gesture's `BodyTrack`.

    move(t) = amount(t) way(t)        way: the track at the gesture's phase, `LEAD` seconds ahead of the hands

The amount goes from 0 to the track's within `FADE` seconds after the gesture began, and back to 0 after it ended: the
track plays on for as long. Where the gesture changes, the amount goes over to the new one, and what the new way is off
the one before dies away. Both are quintics with the value, the rate and the acceleration that there were, so that all
three are continuous in every move, however often anything changes.

A player of a gesture offers its track (`Player.gesture`). Who moves hips or trunk reads what comes of it, for the
time that it needs (`drivers/counterpoise/kernels.py:find_part`): `Balance` the hips' height and yaw and `PELVIS_BOW` of
the bow, `Counterpoise`, or springs that lean (`counterpoise.py`), the rest, with a head that stays level and looks
ahead. Nobody else does: under legs that walk or are animated the track is left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.arena import Arena
from poise.compiled.law import Block
from poise.motion.body_track import MOVES, BodyTrack

PELVIS_BOW = 0.5  # of the bow of the chest, that the pelvis has; of leans against the arms people's has 1.1 of 2.5
Offer = tuple[BodyTrack, np.ndarray]  # a track, and the clock (6,) of its phase


class TakingPart:
    """How one body takes part.

    now   (3, 4) moves of a `BodyTrack`, their rates and accelerations, as of when somebody last asked
    hips  (3, 4) of that: height (m) and rotation vector (rad, world axes) by which a balance wants the hips away from
          how they stand, with derivatives
    """

    def __init__(self, room: Arena):
        from poise.drivers.counterpoise import kernels

        self._law = kernels
        self.now, self.hips = room.zeros(3, MOVES), room.zeros(3, MOVES)
        self.clock, self.amount, self.rest = room.zeros(6), room.zeros(1 + 4 * MOVES), room.zeros(1 + 3 * MOVES)
        self.knots, self.curve = np.zeros(0), np.zeros((0, 4, MOVES))
        self.block = Block(kernels.TAKING, room, now=self.now, clock=self.clock, amount=self.amount, rest=self.rest)

    def find(self, t: float) -> np.ndarray:
        """(3, 4) moves at time t, their rates and accelerations; the next call writes over it."""
        return np.asarray(self._law.find_part(self.block.address, t))

    def follow(self, offer: Offer | None, t: float) -> None:
        """Go over, from time t on, to what somebody offers; None: to taking no part."""
        goal = np.zeros(MOVES) if offer is None else np.array(offer[0].amount, float)
        is_new_way = offer is not None and not self._goes_like(offer)
        if not is_new_way and np.array_equal(goal, self.amount[1 : 1 + MOVES]):
            return
        amount, way = np.zeros((3, MOVES)), np.zeros((3, MOVES))
        x = self.block.record[0]
        if self.block["law"]:
            self._law.find_amount(x, t, amount)
            self._law.find_way(x, t, way)
        amount[0] -= goal
        self.amount[:] = t, *goal, *amount.ravel()
        takes_part = bool(np.any(amount[0] + goal) or amount[1:].any())
        if is_new_way:
            assert offer is not None
            self._set_way(offer[0].phase, offer[0].curve, offer[0].period)
            self.clock[:], self.rest[:] = offer[1], 0.0
            if takes_part:
                there = np.zeros_like(way)
                self._law.find_way(x, t, there)
                self.rest[0], self.rest[1:] = t, (way - there).ravel()

    def _goes_like(self, offer: Offer) -> bool:
        track, clock = offer
        return (
            np.array_equal(self.clock, clock)
            and np.array_equal(self.knots, track.phase)
            and np.array_equal(self.curve, track.curve)
        )

    def _set_way(self, knots: np.ndarray, curve: np.ndarray, period: float) -> None:
        self.knots, self.curve = np.array(knots, float), np.array(curve, float)
        self.block.set(
            knots=self.knots, curve=self.curve, knot_count=len(knots), period=period,
            law=self._law.take_part.address if len(knots) else 0,
        )  # fmt: skip

    def save(self) -> dict[str, Any] | None:
        """All that it is now, as plain data; None: the body never took part in anything."""
        if not self.block["law"]:
            return None
        arrays = {name: getattr(self, name).copy() for name in (*_NUMBERS, "knots", "curve")}
        return {**arrays, "period": float(self.block["period"])}

    def restore(self, saved: dict[str, Any] | None) -> None:
        """Be again what was saved."""
        for name in _NUMBERS:
            getattr(self, name)[:] = 0.0 if saved is None else saved[name]
        empty = np.zeros(0), np.zeros((0, 4, MOVES)), 0.0
        self._set_way(*(empty if saved is None else (saved["knots"], saved["curve"], saved["period"])))


_NUMBERS = ("clock", "amount", "rest", "now", "hips")

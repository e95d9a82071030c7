"""A puppet that is taken back from the floor: drawn up (`puppet_rise.py`), and then in its strings without a jump.

Frames are numbered as the player's are. Number 0 is the body as it was taken back; the one before it goes on from there
with the velocity that it had, backwards. When it is up, strings take hold of it as it is, and what they have it do
otherwise dies away (`hand_over.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.drivers.body import Body
from poise.drivers.hand_over import HandOver
from poise.drivers.puppet_rise import Rise
from poise.engines.engine import BodyState
from poise.spatial import rotation

_STATE = ("root", "q", "v", "w")


class DrawnUp:
    """From the floor into the strings.

    rise   the way up;  is_up: whether it is at its end, and strings have it
    """

    def __init__(self, rise: Rise):
        self.rise, self.is_up = rise, False
        self._met: tuple[BodyState, float, float] | None = None  # as strings have it when it is up; when; s they take
        self._over: HandOver | None = None

    @classmethod
    def find(cls, body: Body, like: Body, frame: float) -> DrawnUp | None:
        """How a body, up to date, is drawn up, on a floor like another's; None: its legs are under it."""
        rise = Rise(like, frame)
        return cls(rise) if rise.is_needed(body) else None

    @property
    def body(self) -> Body:
        """Where it is."""
        return self.rise.body

    @property
    def is_over(self) -> bool:
        """Whether nothing is left of how it was drawn up."""
        return self._over is not None and float(self.body.block["at"]) > float(np.sum(self._over.span))

    def begin(self, state: BodyState, t: float, stand: np.ndarray) -> None:
        """Be in a state at time t (s), on the way to a pose, rotations (J, 4)."""
        self.rise.begin(state, t, stand)

    def step(self, number: int) -> BodyState:
        """The state in a frame."""
        if number > 0:
            self.rise.step()
            self.is_up = self.rise.is_over
        if number >= 0:
            return self.body.state
        now, back = self.body.state, -self.rise.frame
        return BodyState(now.root + back * now.v, rotation.multiply(now.q, rotation.exp(back * now.w)), now.v, now.w)

    def meet(self, strings: BodyState, joints: np.ndarray, t: float, span: float) -> None:
        """Strings have it in a state in the frame of time t; they take so many seconds or some more."""
        self._over = HandOver(self.body, joints, t, moves_root=True)
        self._met = strings.copy(), t, span

    def follow(self, strings: BodyState, t: float) -> BodyState:
        """The state in a frame in which strings have it in another."""
        assert self._over is not None
        if self._met is not None:
            self._measure(strings, t)
        self.body.put(strings)
        self._over.add(self.body, t)
        return self.body.state

    def _measure(self, strings: BodyState, t: float) -> None:
        """Find what is left of how it was drawn up, with how fast strings move it from one frame to the next."""
        assert self._over is not None and self._met is not None
        (first, begun, span), at = self._met, self._over.joints
        dt, none = t - begun, np.zeros((len(at), 3))
        w = rotation.log(rotation.multiply(rotation.conjugate(first.q[at]), strings.q[at])) / dt
        v = (strings.root - first.root) / dt
        self._over.measure(self.body, first.q[at], w, none, first.root, v, np.zeros(3), begun, span)
        self._met = None

    # Its state.

    def save(self) -> dict[str, Any]:
        """All of it, as plain data."""
        over = None if self._over is None else {name: array.copy() for name, array in self._over.numbers().items()}
        met = None
        if self._met is not None:
            met = {"times": list(self._met[1:]), **{name: getattr(self._met[0], name).copy() for name in _STATE}}
        return {"rise": self.rise.save(), "is_up": self.is_up, "over": over, "met": met}

    @classmethod
    def load(cls, saved: dict[str, Any], like: Body, frame: float, joints: np.ndarray) -> DrawnUp:
        """What was saved."""
        found = cls(Rise(like, frame))
        found.rise.restore(saved["rise"])
        found.is_up = bool(saved["is_up"])
        if saved["over"] is not None:
            found._over = HandOver(found.body, joints, moves_root=True)
            for name, array in found._over.numbers().items():
                array[...] = saved["over"][name]
        if saved["met"] is not None:
            state = BodyState(*(np.array(saved["met"][name]) for name in _STATE))
            found._met = (state, *map(float, saved["met"]["times"]))  # type: ignore[assignment]
        return found

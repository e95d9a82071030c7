"""What a hand does, as if it moved through something viscous: the filter of the marionette.

Source: [marionette, eq 1], with x_i what comes at step i, v_i what is felt, and alpha from 0 (honey) to 1 (air):

    v_i = v_i-1 + (1 - alpha) (v_i-1 - v_i-2) + alpha (x_i - x_i-1)                               [marionette, eq 1]

Its changes d_i = v_i - v_i-1 obey d_i = (1 - alpha) d_i-1 + alpha (x_i - x_i-1). Summed from a start with v_0 = x_0
and d_0 = 0 that is

    v_i = v_i-1 + alpha (x_i - v_i-1)                                                             [viscosity, 1]

and from any other start the same with a constant that never goes away. The second form is what is computed: it forgets.

Differences from the source: alpha is per step, so the same hand would feel otherwise at another rate. Here it is what
happens within REACH, a sixtieth of a second, and between samples of any times what is left of the way dies away by

    v <- x + (v - x) (1 - alpha)^(dt / REACH)                                                     [viscosity, 2]

At 60 Hz that is eq 1 to the last digit but one. A sample speaks for the time since the one before, but for no more
than REACH: before that the one before is still true. So who comes back after a gap is gone to as after a step, by alpha
of the way at first, however long the gap was. Who is silent is believed to be where he was last: nothing drifts.

A step is felt alike at every rate. A ramp of speed s lags by  s dt (1 - a) / a,  a = 1 - (1 - alpha)^(dt / REACH):
that the paper's law samples and holds costs half of dt, and no scaling of alpha mends it.
"""

from __future__ import annotations

import math

import numpy as np

from poise.errors import InputError
from poise.spatial import rotation

REACH = 1.0 / 60.0  # s: alpha is the share of the way that is gone in it


class Viscosity:
    """Numbers and rotations that are followed through something viscous.

    alpha    above 0, where hands are in honey, to 1, where they are in air and nothing is filtered
    numbers  (N,) what is felt of numbers;  turns (M, 4): of rotations, wxyz
    time     s, of the last sample; None before the first, which is felt as it is
    ignored  samples that could not be used: not finite, or not later than the one before
    """

    def __init__(self, alpha: float):
        self.alpha = check_alpha(alpha)
        self.time: float | None = None
        self.ignored = 0
        self.numbers, self.turns = np.zeros(0), np.zeros((0, 4))
        self._numbers, self._turns = self.numbers, self.turns  # what was told last

    def feel(self, t: float, numbers: np.ndarray, turns: np.ndarray) -> bool:
        """Take a sample of time t (s): numbers (N,) and rotations (M, 4). Whether it could be used."""
        x, q = np.array(numbers, float), np.array(turns, float).reshape(-1, 4)
        norms = np.sqrt(np.sum(q * q, axis=1, keepdims=True))
        usable = math.isfinite(t) and np.isfinite(x).all() and np.isfinite(norms).all() and np.all(norms > 1e-6)
        if not usable or (self.time is not None and (t <= self.time or x.shape != self.numbers.shape)):
            self.ignored += 1
            return False
        q = q / norms
        if self.time is None:
            self.numbers, self.turns = x, q
        else:
            past = t - self.time
            self.numbers, self.turns = self._relax(past - min(past, REACH))
        gone = 0.0 if self.time is None else min(t - self.time, REACH)
        self._numbers, self._turns, self.time = x, q, t
        self.numbers, self.turns = self._relax(gone)
        return True

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Numbers (N,) and rotations (M, 4) as they are felt at time t, if nothing comes after the last sample."""
        return self._relax(0.0 if self.time is None else max(t - self.time, 0.0))

    def _relax(self, past: float) -> tuple[np.ndarray, np.ndarray]:
        """What is felt, `past` seconds later, of what was told last."""
        if past == 0.0:
            return self.numbers, self.turns
        left = (1.0 - self.alpha) ** (past / REACH)
        # v <- x + (v - x) (1 - alpha)^(dt / REACH)   [viscosity, 2]; of rotations, along the shortest arc
        numbers = self._numbers + left * (self.numbers - self._numbers)
        if not len(self._turns):
            return numbers, self.turns
        way = rotation.log(rotation.multiply(rotation.conjugate(self._turns), self.turns))
        return numbers, np.asarray(rotation.multiply(self._turns, rotation.exp(left * way)))


def check_alpha(alpha: float) -> float:
    """A viscosity that can be used; InputError for another."""
    if not (isinstance(alpha, int | float | np.number) and 0.0 < float(alpha) <= 1.0):
        raise InputError(f"viscosity is above 0 (honey) and at most 1 (air, no filter); {alpha!r:.40} given.")
    return float(alpha)

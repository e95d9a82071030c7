"""The filter of the marionette's hands: they move as if through a viscous medium.

Source: [marionette, eq 1], with x_i the input at step i, v_i the output, and alpha from 0 (honey) to 1 (air):

    v_i = v_i-1 + (1 - alpha) (v_i-1 - v_i-2) + alpha (x_i - x_i-1)                               [marionette, eq 1]

Its changes d_i = v_i - v_i-1 obey d_i = (1 - alpha) d_i-1 + alpha (x_i - x_i-1). Summed from a start with v_0 = x_0
and d_0 = 0 that is

    v_i = v_i-1 + alpha (x_i - v_i-1)                                                             [viscosity, 1]

and from any other start the same with a constant offset that never decays. The second form is computed: it forgets.

Differences from the source. There, alpha is per step, so the filter depends on the sampling rate. Here alpha is the
fraction of a step that is covered within REACH, a sixtieth of a second; between samples at any times the rest decays by

    v <- x + (v - x) (1 - alpha)^(dt / REACH)                                                     [viscosity, 2]

At 60 Hz that is eq 1 to the last digit but one. A sample is taken to hold for the time since the previous sample, but
for at most REACH: before that the previous one still holds. So after a gap of any length the output follows as after a
step, by the fraction alpha at first. During a gap the last input holds: nothing drifts.

The response to a step is the same at every rate. A ramp of speed s lags by  s dt (1 - a) / a,
a = 1 - (1 - alpha)^(dt / REACH): sampling and holding, as in the paper, costs half of dt, which no scaling of alpha
corrects.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from poise.errors import InputError
from poise.spatial import rotation

REACH = 1.0 / 60.0  # s, within which the fraction alpha of a step is covered


class Viscosity:
    """A filter of numbers and rotations.

    alpha    above 0 (honey) to 1 (air: nothing is filtered)
    numbers  filtered numbers (N,)
    turns    filtered rotations (M, 4), wxyz
    time     s, of the last sample; None before the first, which is not filtered
    ignored  number of samples that were not used: not finite, or not later than the previous one
    """

    def __init__(self, alpha: float):
        self.alpha = check_alpha(alpha)
        self.time: float | None = None
        self.ignored = 0
        self.numbers, self.turns = np.zeros(0), np.zeros((0, 4))
        self._numbers, self._turns = self.numbers, self.turns  # the last input

    def feel(self, t: float, numbers: np.ndarray, turns: np.ndarray) -> bool:
        """Filter a sample of time t (s), numbers (N,) and rotations (M, 4); return whether it was used."""
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
        """Return filtered numbers (N,) and rotations (M, 4) at time t, if no sample follows the last one."""
        return self._relax(0.0 if self.time is None else max(t - self.time, 0.0))

    def _relax(self, past: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the filter's output `past` seconds after the last sample."""
        if past == 0.0:
            return self.numbers, self.turns
        left = (1.0 - self.alpha) ** (past / REACH)
        # v <- x + (v - x) (1 - alpha)^(dt / REACH)   [viscosity, 2]; of rotations, along the shortest arc
        numbers = self._numbers + left * (self.numbers - self._numbers)
        if not len(self._turns):
            return numbers, self.turns
        way = rotation.log(rotation.multiply(rotation.conjugate(self._turns), self.turns))
        return numbers, np.asarray(rotation.multiply(self._turns, rotation.exp(left * way)))

    def save(self) -> dict[str, Any]:
        """Return its state as plain data."""
        return {"time": self.time, "numbers": self.numbers.copy(), "turns": self.turns.copy(),
                "told": self._numbers.copy(), "turned": self._turns.copy(), "ignored": self.ignored}  # fmt: skip

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Restore what `save` returned."""
        self.time, self.ignored = saved["time"], saved["ignored"]
        self.numbers, self.turns = saved["numbers"].copy(), saved["turns"].reshape(-1, 4).copy()
        self._numbers, self._turns = saved["told"].copy(), saved["turned"].reshape(-1, 4).copy()


def check_alpha(alpha: float) -> float:
    """Return a viscosity; raise InputError if it is out of range."""
    if not (isinstance(alpha, int | float | np.number) and 0.0 < float(alpha) <= 1.0):
        raise InputError(f"the viscosity must be above 0 (honey) and at most 1 (air, no filter); got {alpha!r:.40}.")
    return float(alpha)

"""What the rest of a body does along with a gesture, on purpose: lively people take part in what their hands do.

A body track is authored, and no answer to forces. Legs that balance and the trunk over them take it as their target
(`drivers/counterpoise/taking_part.py`); who plays a gesture without physics leaves it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

# Where each number is in `moves`.
HEIGHT, PELVIS_YAW, CHEST_YAW, BOW = range(4)
MOVES = 4


@dataclass(frozen=True, eq=False)
class BodyTrack:
    """Hips and trunk over the phase of a gesture, away from how the body stands.

    phase   (N,) increasing
    moves   (N, 4) at amounts of 1:
            HEIGHT      m, of the hips over their standing height; at most 0, since legs that stand are straight
            PELVIS_YAW  rad about the vertical, from where the body faces; positive to the left
            CHEST_YAW   the same of the chest
            BOW         rad, of the chest; positive forward. The pelvis has a part of it
    period  phase after which it repeats; 0: it holds its ends
    amount  (4,) what each of `moves` is multiplied by
    """

    phase: np.ndarray
    moves: np.ndarray
    period: float
    amount: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)

    @cached_property
    def curve(self) -> np.ndarray:
        """(N - 1, 4, 4) coefficients (segment, power, move) of cubic splines, the third power first."""
        from scipy.interpolate import CubicSpline

        found = CubicSpline(self.phase, self.moves, bc_type="periodic" if self.period > 0.0 else "not-a-knot").c
        return np.ascontiguousarray(np.moveaxis(found, 0, 1))

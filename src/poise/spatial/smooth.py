"""From a noisy recording to value, velocity and acceleration: filter, then differentiate.   [mix, 3.2]"""

from __future__ import annotations

import numpy as np

from poise.spatial.derivative import Derivatives, position_derivatives, rotation_derivatives
from poise.spatial.filter import lowpass, lowpass_rotations, uniform_rate


def smooth_positions(
    x: np.ndarray, times: np.ndarray, cutoff: float | None = None, at: np.ndarray | None = None
) -> Derivatives:
    """Positions (F, ..., 3) m at `times` (F,) s, low-passed at `cutoff` Hz, with velocity and acceleration.

    cutoff  None for no filter (procedural motion). A filter needs a uniform rate.
    at      (G,) s, where to evaluate; None for the samples
    """
    if cutoff is not None:
        x = lowpass(x, uniform_rate(times), cutoff)
    return position_derivatives(x, times, at)


def smooth_rotations(
    q: np.ndarray, times: np.ndarray, cutoff: float | None = None, at: np.ndarray | None = None
) -> Derivatives:
    """The same for rotations (F, ..., 4): angular velocity and acceleration are in the child's axes."""
    if cutoff is not None:
        q = lowpass_rotations(q, uniform_rate(times), cutoff)
    return rotation_derivatives(q, times, at)

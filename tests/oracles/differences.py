"""Angular velocity and acceleration by the mix paper's three-point differences.   [mix, eq 14 to 17]

The symbols are those of `poise.spatial.derivative`.
"""

from __future__ import annotations

import numpy as np

from poise.errors import InputError
from poise.spatial import rotation
from poise.spatial.derivative import Derivatives
from poise.spatial.filter import check_signal


def three_point(q: np.ndarray, h: float) -> Derivatives:
    """Rotations (F, ..., 4), `h` seconds apart, with the source's three-point differences; ends from one side.

    Needs three samples; with four or more the ends are second order too.
    """
    q = rotation.make_continuous(q)
    check_signal(q, 1.0 / h if h > 0.0 else 0.0)
    if len(q) < 3:
        raise InputError(f"three-point differences need three samples; {len(q)} given.")
    first, second = np.empty_like(q), np.empty_like(q)
    first[1:-1] = (q[2:] - q[:-2]) / (2 * h)  # [mix, eq 16]
    second[1:-1] = (q[2:] - 2 * q[1:-1] + q[:-2]) / h**2  # [mix, eq 17]
    for end, sign in ((q, 1.0), (q[::-1], -1.0)):
        i = 0 if sign > 0 else -1
        first[i] = sign * (-3 * end[0] + 4 * end[1] - end[2]) / (2 * h)
        second[i] = (2 * end[0] - 5 * end[1] + 4 * end[2] - end[3]) / h**2 if len(q) > 3 else second[1]
    back = rotation.conjugate(q)
    velocity = 2.0 * rotation.multiply(back, first)[..., 1:]  # [mix, eq 14]
    acceleration = 2.0 * rotation.multiply(back, second)[..., 1:]  # [mix, eq 15]
    return Derivatives(q, velocity, acceleration)

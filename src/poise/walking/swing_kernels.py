"""Whether a foot touches anything on its way: compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.spatial.compile import kernel
from poise.walking.foot_kernels import DOWN, LAND, OFF, UP, place_sole, swing_foot
from poise.walking.foothold_kernels import find_surface


@kernel
def measure_swing(
    floor: Any, foot: np.ndarray, heel: np.ndarray, front: np.ndarray, rows: np.ndarray, samples: np.ndarray,
    clear: float, touch: float, below: float, room: float,
) -> tuple[float, float]:  # fmt: skip
    """m, how much too low the swing from rows[0] to rows[1] is at its worst, and by how much more it should rise.

    samples  (N,) of its time;  clear m, that it keeps over the ground on its way;  touch m, that is not seen
    below    m: what is higher is not under it;  room m, that is free over it
    """
    place, turn, points = np.empty(3), np.empty(4), np.empty((len(heel) + len(front), 3))
    span, deepest, more = rows[1, LAND] - rows[0, OFF], 0.0, 0.0
    for u in samples:
        bend = swing_foot(foot, rows[0], rows[1], rows[0, OFF] + u * span, place, turn)
        place_sole(foot, heel, front, place, turn, bend, points)
        # of what its top is raised by, that it is raised here
        s = min(u / rows[0, UP], (1.0 - u) / (1.0 - rows[0, DOWN]), 1.0)
        share = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        for i in range(len(points)):
            low = find_surface(floor, points[i, 0], points[i, 2], below, room) + clear * share - points[i, 1]
            if low > touch:
                deepest = max(deepest, low)
                more = max(more, low / max(share, 0.1))
    return deepest, more

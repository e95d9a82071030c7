"""The smoothest path that stays inside regions, and whose pressure does: compiled.

The path is a cubic spline with even knots, h s apart: its control points P (N + 3, d) are what is looked for. Place and
acceleration at knot i are

    c_i = (P_i + 4 P_i+1 + P_i+2) / 6        c''_i = (P_i - 2 P_i+1 + P_i+2) / h^2                       [walk, 1]

and the point of the ground through which it pushes, for a body that does not spin, is                     [walk, 2]

    p_i = c_i - r c''_i                      r = (height of c over the ground) / g

Wanted is the least of   sum |P_i+3 - 3 P_i+2 + 3 P_i+1 - P_i|^2 / h^6 + a |p_i - m_i|^2   with every c_i in its region
A_i and every p_i in its region B_i; the first three control points are given (where it begins, how fast, and how that
changes), and it ends at rest. By the alternating direction method of multipliers (Boyd et al. 2011): a linear solve
whose matrix is the same in every round and for both axes, then the nearest points of the regions.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.walking.footholds.region_kernels import clamp_to_region


@kernel
def solve_center(
    inverse: np.ndarray,
    rows: np.ndarray,
    fixed: np.ndarray,
    pull: np.ndarray,
    corners: np.ndarray,
    sizes: np.ndarray,
    rho: float,
    rounds: int,
    enough: float,
    z: np.ndarray,
    dual: np.ndarray,
    free: np.ndarray,
) -> float:
    """Free control points (n, 2) whose rows (m, n) free + fixed (m, 2) are in regions; returns how far out (m) any is.

    inverse  (n, n) of the matrix of the least squares;  pull (n, 2) its right side without the regions' part
    corners  (m, MOST, 2), sizes (m,) of the regions
    z, dual  (m, 2), kept from call to call
    """
    m, n = rows.shape
    side, seen, worst = np.empty((n, 2)), np.empty((m, 2)), np.inf
    for _ in range(rounds):
        side[:] = pull + rho * (rows.T @ (z - dual - fixed))
        free[:] = inverse @ side
        seen[:] = rows @ free + fixed
        worst, moved = 0.0, 0.0
        for i in range(m):
            # over-relaxed by 1.6
            ax, ay = 1.6 * seen[i, 0] - 0.6 * z[i, 0], 1.6 * seen[i, 1] - 0.6 * z[i, 1]
            x, y = clamp_to_region(corners[i], sizes[i], ax + dual[i, 0], ay + dual[i, 1])
            dual[i, 0] += ax - x
            dual[i, 1] += ay - y
            moved = max(moved, abs(x - z[i, 0]), abs(y - z[i, 1]))
            z[i, 0], z[i, 1] = x, y
            worst = max(worst, abs(seen[i, 0] - x), abs(seen[i, 1] - y))
        if worst < enough and moved < enough:
            break
    return worst


@kernel
def find_farthest(seen: np.ndarray, corners: np.ndarray, sizes: np.ndarray) -> int:
    """The number of the point (m, 2) that is farthest out of its region."""
    found, most = 0, -1.0
    for i in range(len(seen)):
        x, y = clamp_to_region(corners[i], sizes[i], seen[i, 0], seen[i, 1])
        far = (x - seen[i, 0]) ** 2 + (y - seen[i, 1]) ** 2
        if far > most:
            found, most = i, far
    return found

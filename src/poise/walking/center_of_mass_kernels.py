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

from typing import Annotated

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.layout import Floats, Ints, Layout
from poise.walking.footholds.region_kernels import MOST, clamp_to_region

_ROUNDS, _ENOUGH = 400, 2e-4  # at most; m


class CenterProblem(Layout):
    """Points of a spline that must be in regions: rows @ free + fixed."""

    points: int  # m
    controls: int  # n
    rho: float  # of the method of multipliers
    inverse: Annotated[Floats, "controls", "controls"]  # of the matrix of the least squares
    rows: Annotated[Floats, "points", "controls"]
    fixed: Annotated[Floats, "points", 2]  # m, the part of the given control points
    pull: Annotated[Floats, "controls", 2]  # right side of the least squares without the regions' part
    corners: Annotated[Floats, "points", MOST, 2]  # m, of the regions
    sizes: Annotated[Ints, "points"]
    z: Annotated[Floats, "points", 2]  # m, nearest points in the regions
    dual: Annotated[Floats, "points", 2]
    free: Annotated[Floats, "controls", 2]  # m, the solution


@kernel
def solve_center(problem: CenterProblem) -> float:
    """Write the free control points with which all points are in their regions; return the largest distance (m) out.

    z and dual are kept from call to call.
    """
    rows, fixed, z, dual, free, rho = (
        problem.rows, problem.fixed, problem.z, problem.dual, problem.free, problem.rho,
    )  # fmt: skip
    m, n = rows.shape
    side, seen, worst = np.empty((n, 2)), np.empty((m, 2)), np.inf
    for _ in range(_ROUNDS):
        side[:] = problem.pull + rho * (rows.T @ (z - dual - fixed))
        free[:] = problem.inverse @ side
        seen[:] = rows @ free + fixed
        worst, moved = 0.0, 0.0
        for i in range(m):
            # over-relaxed by 1.6
            ax, ay = 1.6 * seen[i, 0] - 0.6 * z[i, 0], 1.6 * seen[i, 1] - 0.6 * z[i, 1]
            x, y = clamp_to_region(problem.corners[i], problem.sizes[i], ax + dual[i, 0], ay + dual[i, 1])
            dual[i, 0] += ax - x
            dual[i, 1] += ay - y
            moved = max(moved, abs(x - z[i, 0]), abs(y - z[i, 1]))
            z[i, 0], z[i, 1] = x, y
            worst = max(worst, abs(seen[i, 0] - x), abs(seen[i, 1] - y))
        if worst < _ENOUGH and moved < _ENOUGH:
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

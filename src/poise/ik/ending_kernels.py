"""The last of the way to a goal that is out of reach, or hardly in it: compiled.

The steps of `solve_kernels` know slopes alone. Where an error h is left they get nearer by a part of the way a round,
the smaller the more the goals bend beside h, and they leave off some millimetres short, sometimes centimetres. Here
every round has the second slopes too, those of what is first beside those of what is second: sequential quadratic
programming with exact second slopes. With e what is left of the goals that are second, w their weights, and y the
multipliers of what is first, of the round before,

    least  1/2 d^T (H + P) d - sum w e J d      with  J_1 d = 0,  J_edge d <= room left,  every angle in its range
    H = sum w J^T J - sum w e d2x + sum y d2x_1,      P = S sigma + RHO (J_1^T J_1 and angles at their ends)    [end, 4]

The second part of P changes nothing that is allowed, and makes H positive definite where it is so along what is; sigma,
times the stiffness of each angle, grows until H + P is. Then what is first is mended, as after every step, and the step
is kept where what is second came nearer; sigma goes by how much of what was promised came true (Levenberg and
Marquardt). It ends where hardly anything is promised: 5 to 20 rounds.

Sources: Nocedal and Wright (2006), Numerical Optimization, sections 18.1 to 18.4, and 16.5 for P.
"""

from __future__ import annotations

import numpy as np

from poise.ik.curvature_kernels import add_curvature
from poise.ik.gauss_seidel_kernels import BLOCKS, BOTH
from poise.ik.kept_kernels import count_kept, forget_bounds, keep_pose, take_pose
from poise.ik.quadratic_kernels import MOST, NOT, ZERO, factor, solve_quadratic
from poise.ik.row_kernels import FigureArrays, GoalArrays, Room, write_rows
from poise.ik.step_kernels import TRUE, move_figure, take_step
from poise.spatial.compile import kernel

ROUNDS, FEW = 40, 6  # at most; and of those that only tell how near a start comes
RHO = 10.0  # beside a weight of 1; any of 1 to 100 does
SIGMA, LEAST, MOST_SIGMA = 1e-2, 1e-6, 1e6  # at first, at least, and at most
TIGHT, MENDS = 0.02, 6  # of what is enough, that is left of what is first after a step; mends of it
PROMISED = 3e-5  # of the sum that is left: less is not worth a round
OUTSIDE = 0.2  # of what is enough, that the centre of mass may be outside its support by


@kernel
def is_short(goals: GoalArrays, enough: float, room: Room, told: np.ndarray) -> bool:
    """Whether a pose has something to be ended: a goal that is not met, or a centre of mass that leans out.

    Goals that are met to what is enough may pull at one that is first, as long as that is: at the very end of a reach.
    """
    outside = 0.0
    for i in range(len(goals.edges)):
        outside = max(outside, -room.e[i])
    return outside > OUTSIDE * enough or max(told[2], told[3]) >= enough


@kernel
def end_pose(
    fig: FigureArrays, goals: GoalArrays, held: int, span: float, rounds: int, sweeps: int, most: float, enough: float,
    room: Room, told: np.ndarray,
) -> None:  # fmt: skip
    """Bring what is second nearer, from the pose of `room` on, which has what comes of it. See `solve_pose`.

    told  (4,) of that pose; written anew, rounds and solves added
    """
    n, m, scale, tight = len(fig.joint), len(room.e), 1.0 / goals.edge_weight, TIGHT * enough
    H, L, W = np.empty((n, n)), np.empty((n, n)), np.empty((n, n))
    g, d, low, high, t = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(m)
    kinds, pulls, stops = np.empty(m, np.int64), np.zeros(m), np.zeros(n)
    was, kept = np.empty(count_kept(room)), np.empty(count_kept(room))
    keep_pose(room, was)
    was_primary, _, was_cost = write_rows(fig, goals, held, span, room)
    primary, secondary, best = _mend(fig, goals, held, span, sweeps, most, tight, room, told)
    keep_pose(room, kept)
    sigma, growth, k = SIGMA, 3.0, 0
    is_kept, is_held = False, primary <= tight
    while is_held and secondary >= enough and k < rounds:
        k += 1
        _write_problem(fig, goals, held, span, most, scale, room, pulls, stops, H, g, kinds, t, low, high)
        sigma = _damp(fig, H, sigma, L, W)
        if sigma > MOST_SIGMA:
            break
        solve_quadratic(W, g, room.J, kinds, t, low, high, d, pulls, stops)
        promised = _find_fall(H, g, d)
        if promised < PROMISED * 0.5 * scale * best:
            break
        move_figure(fig, d, room.angles, room.local, room.place, room.turn)
        primary, secondary, cost = _mend(fig, goals, held, span, sweeps, most, tight, room, told)
        share = 0.5 * scale * (best - cost) / promised
        if primary <= tight and share > 0.0:
            best = cost
            keep_pose(room, kept)
            if share > 0.7:
                sigma = max((0.2 if is_kept or k == 1 else 0.7) * sigma, LEAST)
            elif share < 0.3:
                sigma *= 2.0
            is_kept, growth = True, 3.0
        else:
            take_pose(kept, room)
            primary, secondary, cost = write_rows(fig, goals, held, span, room)
            sigma, growth, is_kept = growth * sigma, 2.0 * growth, False
    is_better = best < was_cost or secondary < enough or was_primary > OUTSIDE * enough
    if not (is_better if is_held else primary < was_primary):
        take_pose(was, room)
        primary, secondary, _ = write_rows(fig, goals, held, span, room)
    told[0] += k
    told[1] += k
    told[2], told[3] = primary, secondary


@kernel
def _mend(
    fig: FigureArrays, goals: GoalArrays, held: int, span: float, sweeps: int, most: float, tight: float, room: Room,
    told: np.ndarray,
) -> tuple[float, float, float]:  # fmt: skip
    """Have what is first as it should be; returns what `write_rows` does."""
    mu, mends = 1.0, 0
    forget_bounds(room)
    primary, secondary, cost = write_rows(fig, goals, held, span, room)
    while primary > tight and mends < MENDS:
        mu = max(1.0, np.sqrt(mu * (1.0 + primary / TRUE)))
        told[1] += take_step(fig, room, mu, 1.0, most, sweeps, False, BLOCKS)
        primary, secondary, cost = write_rows(fig, goals, held, span, room)
        mends += 1
    told[0] += mends
    return primary, secondary, cost


@kernel
def _write_problem(
    fig: FigureArrays, goals: GoalArrays, held: int, span: float, most: float, scale: float, room: Room,
    pulls: np.ndarray, stops: np.ndarray, H: np.ndarray, g: np.ndarray, kinds: np.ndarray, t: np.ndarray,
    low: np.ndarray, high: np.ndarray,
) -> None:  # fmt: skip
    """Second slopes but for sigma (lower half), slopes, rows and ranges.   [end, 4]

    pulls, stops  (m,), (n,) multipliers of rows and ranges; those of what is second are written
    """
    n = len(g)
    H[:], g[:] = 0.0, 0.0
    for i in range(len(t)):
        J, w = room.J[i], scale * room.weights[i]
        kinds[i] = NOT
        if w == 0.0:
            pulls[i] = 0.0
        elif room.first[i]:
            is_both = room.sides[i] == BOTH
            kinds[i], t[i] = ZERO if is_both else MOST, max(room.e[i], 0.0)
            w = RHO if is_both or pulls[i] > 0.0 else 0.0
        else:
            pulls[i] = -w * room.e[i]
            for j in range(n):
                g[j] += pulls[i] * J[j]
        if w > 0.0:
            for j in range(n):
                if J[j] != 0.0:
                    by, own = w * J[j], H[j]
                    for c in range(j + 1):
                        own[c] += by * J[c]
    add_curvature(fig, goals, held, span, room, pulls, H)
    for j in range(n):
        i = fig.joint[j]
        low[j], high[j] = -most, most
        if i >= 0:
            angle = room.angles[i, fig.which[j]]
            low[j], high[j] = min(max(fig.low[j] - angle, -most), 0.0), max(min(fig.high[j] - angle, most), 0.0)
        if (stops[j] > 0.0 and low[j] == 0.0) or (stops[j] < 0.0 and high[j] == 0.0):
            H[j, j] += RHO


@kernel
def _damp(fig: FigureArrays, H: np.ndarray, sigma: float, L: np.ndarray, W: np.ndarray) -> float:
    """Factor H + S sigma; returns the sigma that it took."""
    while sigma <= MOST_SIGMA:
        for j in range(len(H)):
            L[j, : j + 1] = H[j, : j + 1]
            L[j, j] += sigma / fig.soft[j]
        if factor(L, W):
            return sigma
        sigma *= 4.0
    return sigma


@kernel
def _find_fall(H: np.ndarray, g: np.ndarray, d: np.ndarray) -> float:
    """-(g d + 1/2 d^T H d), H of a lower half."""
    total = 0.0
    for j in range(len(d)):
        bend = 0.5 * H[j, j] * d[j]
        for c in range(j):
            bend += H[j, c] * d[c]
        total -= d[j] * (g[j] + bend)
    return total

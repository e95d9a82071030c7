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

How the rows of goals bend: second slopes of what they measure.

Of two angles the *outer* one, nearer to what is held, takes the line of the inner one with it, and what that does turns
as a whole: with w = s r the turn of an angle and v what it does to a point or to the centre of mass (`row_kernels`),

    d2X / dq_i dq_j = w_i x v_j                                       i outer                                [end, 1]

A sum of such, each times a vector f that pulls at its point, needs two vectors of each angle's and joint's own:

    K_j = sum v_j x f,      T_k = sum (X - O_k) x f  (of what joint k moves),      d2(sum f X) = w_i . K_j

Turns of bodies count by half: a rotation vector's slopes are those of both orders, w_i x w_j and nothing. The twist is
inside its joint's swing where what is under the joint moves, and outside of it where the rest does. Of the angles of
one swing (x, z), which turn about axes that change with both of them, L e_a as in [steps, 1],

    d2 = (w_i . K_j + w_j . K_i) / 2 + u_ij . T_k                                                           [end, 2]

with u_ij the mean of the slopes of L e_i by j and of L e_j by i, in the world: as they are, or turned by the swing and
taken at the opposite angles where the rest moves. Left out is how looks bend, and turns of bodies that are far off.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.ik.solver.gauss_seidel_kernels import BLOCKS, BOTH
from poise.ik.solver.model_kernels import multiply_into
from poise.ik.solver.quadratic_kernels import MOST, NOT, ZERO, factor, solve_quadratic
from poise.ik.solver.row_kernels import (
    FigureArrays,
    GoalArrays,
    Room,
    count_kept,
    forget_bounds,
    keep_pose,
    take_pose,
    write_rows,
)
from poise.ik.solver.step_kernels import TRUE, move_figure, take_step

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


@kernel
def add_curvature(
    fig: FigureArrays, goals: GoalArrays, held: int, span: float, room: Room, pulls: np.ndarray, H: np.ndarray
) -> None:
    """Add the second slopes of what the rows measure, each times its pull (m,), to the lower half of H (n, n).

    The room has the pose, as `write_rows` leaves it.
    """
    n, count = len(fig.joint), len(fig.parents)
    K, T, signs = np.zeros((n, 3)), np.zeros((count, 3)), np.zeros(count)
    for j in range(n):
        if fig.joint[j] > 0:
            signs[fig.joint[j]] = room.signs[0, j]
    moved, arm = _find_moved(fig.under, held), np.empty(3)
    row = _pull_center(goals, signs, room, pulls, K, T)
    for i in range(len(goals.point_body)):
        body, f = goals.point_body[i], pulls[row : row + 3]
        if goals.point_above[i]:
            f = -f  # its row is that of -y
        X = room.p[body] + room.R[body] @ goals.point_offset[i]
        _add_crosses(room.J[row : row + 3], f, 1.0, K)
        for k in range(1, count):
            if signs[k] != 0.0 and moved[k, body]:
                for a in range(3):
                    arm[a] = X[a] - room.p[k, a]
                _add_cross(arm, f, T[k])
        row += 3
    for i in range(len(goals.turn_body)):
        f = pulls[row : row + 3]
        _add_crosses(room.J[row : row + 3], f, 0.5, K)
        for k in range(1, count):
            if signs[k] != 0.0 and moved[k, goals.turn_body[i]]:
                for a in range(3):
                    T[k, a] += span * f[a]
        row += 3
    _add_pairs(fig.joint, fig.which, moved, signs, room.signs[0], room.lines, K, H)
    _add_swings(fig, signs, room, T, H)


@kernel
def _find_moved(under: np.ndarray, held: int) -> np.ndarray:
    """(J, J) whether joint k moves body b."""
    count = len(under)
    moved = np.empty((count, count), np.bool_)
    for k in range(count):
        other = held >= 0 and under[k, held] != 0
        for b in range(count):
            moved[k, b] = (under[k, b] != 0) != other
    return moved


@kernel
def _add_cross(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """out += a x b"""
    out[0] += a[1] * b[2] - a[2] * b[1]
    out[1] += a[2] * b[0] - a[0] * b[2]
    out[2] += a[0] * b[1] - a[1] * b[0]


@kernel
def _add_crosses(v: np.ndarray, f: np.ndarray, share: float, K: np.ndarray) -> None:
    """K_j += share v_j x f, v (3, n)"""
    x, y, z = share * f[0], share * f[1], share * f[2]
    for j in range(len(K)):
        K[j, 0] += v[1, j] * z - v[2, j] * y
        K[j, 1] += v[2, j] * x - v[0, j] * z
        K[j, 2] += v[0, j] * y - v[1, j] * x


@kernel
def _pull_center(
    goals: GoalArrays, signs: np.ndarray, room: Room, pulls: np.ndarray, K: np.ndarray, T: np.ndarray
) -> int:
    """What pulls at the centre of mass, edges and all; returns how many rows that were."""
    f, row = np.zeros(3), len(goals.edges)
    for i in range(row):
        f[0] += pulls[i] * goals.edges[i, 0]
        f[2] += pulls[i] * goals.edges[i, 1]
    for a in range(3):
        if goals.center_weight[a] > 0.0:
            f[a] += pulls[row]
            row += 1
    _add_crosses(room.moves, f, 1.0, K)
    arm, all_ = np.empty(3), room.under[0]
    for k in range(1, len(T)):
        if signs[k] == 0.0:
            continue
        m = room.under[k, 0] if signs[k] > 0.0 else all_[0] - room.under[k, 0]
        for a in range(3):
            whole = room.under[k, 1 + a] if signs[k] > 0.0 else all_[1 + a] - room.under[k, 1 + a]
            arm[a] = (whole - m * room.p[k, a]) / all_[0]
        _add_cross(arm, f, T[k])
    return row


@kernel
def _add_pairs(
    joint: np.ndarray, which: np.ndarray, moved: np.ndarray, signs: np.ndarray, own: np.ndarray, lines: np.ndarray,
    K: np.ndarray, H: np.ndarray,
) -> None:  # fmt: skip
    """w_i . K_j of all pairs, i the outer one.   [end, 1]"""
    n = len(K)
    w = np.empty((n, 3))
    for j in range(n):
        for a in range(3):
            w[j, a] = own[j] * lines[j, a]
    for i in range(n):
        k = joint[i]
        for j in range(i + 1):
            q = joint[j]
            if k == -1 or q == -1:  # a root's place bends nothing
                continue
            if k != q:
                is_outer = k == -2 or (q != -2 and moved[k, q])
                is_inner = not is_outer and (q == -2 or moved[q, k])
            elif k > 0 and (which[i] == 1) != (which[j] == 1):
                is_inner = (which[i] == 1) == (signs[k] > 0.0)
                is_outer = not is_inner
            else:
                is_outer = is_inner = True
            total = 0.0
            if is_outer:
                total += w[i, 0] * K[j, 0] + w[i, 1] * K[j, 1] + w[i, 2] * K[j, 2]
            if is_inner:
                total += w[j, 0] * K[i, 0] + w[j, 1] * K[i, 1] + w[j, 2] * K[i, 2]
            H[i, j] += 0.5 * total if is_outer and is_inner else total


@kernel
def _add_swings(fig: FigureArrays, signs: np.ndarray, room: Room, T: np.ndarray, H: np.ndarray) -> None:
    """u_ij . T_k of the angles of one swing.   [end, 2]"""
    u, B, t = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    for i in range(len(H)):
        k = fig.joint[i]
        if k <= 0 or fig.which[i] == 1:
            continue
        multiply_into(room.R[fig.parents[k]], fig.before_matrix[k], B)
        for a in range(3):
            t[a] = B[0, a] * T[k, 0] + B[1, a] * T[k, 1] + B[2, a] * T[k, 2]
        x, z = room.angles[k, 0], room.angles[k, 2]
        if signs[k] < 0.0:
            x, z = -x, -z
            _turn_by(x, z, t)
        _find_slopes(x, z, u)
        for j in range(i + 1):
            if fig.joint[j] == k and fig.which[j] != 1:
                pair = (fig.which[i] + fig.which[j]) // 2
                H[i, j] += u[pair, 0] * t[0] + u[pair, 1] * t[1] + u[pair, 2] * t[2]


@kernel
def _turn_by(x: float, z: float, t: np.ndarray) -> None:
    """t <- exp(x, 0, z) t: Rodrigues."""
    size = np.sqrt(x * x + z * z)
    if size < 1e-12:
        return
    c, s, x, z = np.cos(size), np.sin(size), x / size, z / size
    along = (1.0 - c) * (x * t[0] + z * t[2])
    t[0], t[1], t[2] = (
        c * t[0] - s * z * t[1] + along * x,
        c * t[1] + s * (z * t[0] - x * t[2]),
        c * t[2] + s * x * t[1] + along * z,
    )


@kernel
def _find_slopes(x: float, z: float, u: np.ndarray) -> None:
    """u (3, 3): of L e_x by x; the mean of L e_x by z and L e_z by x; of L e_z by z.   [end, 2]

    L e_x = (1 - b z^2, a z, b x z), L e_z = (b x z, -a x, 1 - b x^2), with a and b as in `find_axes`.
    """
    square = x * x + z * z
    t = np.sqrt(square)
    if t < 0.02:  # the series' next terms are below 1e-11
        b = 1.0 / 6.0 - square / 120.0
        A, B = -1.0 / 12.0 + square / 180.0, -1.0 / 60.0 + square / 1260.0
    else:
        a, b, s = (1.0 - np.cos(t)) / square, (t - np.sin(t)) / (square * t), np.sin(t) / t
        A, B = (s - 2.0 * a) / square, (a - 3.0 * b) / square  # a' / t and b' / t
    u[0, 0], u[0, 1], u[0, 2] = -B * x * z * z, A * x * z, b * z + B * x * x * z
    u[1, 0], u[1, 1], u[1, 2] = (
        0.5 * (-b * z - B * z**3 + B * x * x * z),
        0.5 * A * (z * z - x * x),
        0.5 * (-b * x - B * x**3 + B * x * z * z),
    )
    u[2, 0], u[2, 1], u[2, 2] = b * x + B * x * z * z, -A * x * z, -B * z * x * x

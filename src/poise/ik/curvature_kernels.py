"""How the rows of goals bend: second slopes of what they measure, compiled.

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

from poise.ik.figure_kernels import multiply_into
from poise.ik.row_kernels import FigureArrays, GoalArrays, Room
from poise.spatial.compile import kernel


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

"""A figure posed by goals, the centre of mass first: compiled.

Round by round: place the figure, write a row for each number that a goal asks for, solve the rows
(`gauss_seidel_kernels`), turn the joints. What is first, the centre of mass over its support and the feet that stand,
is weighed by the paper's bias [balance, 9 as corrected]: both sides of its rows by the square root of mu, where mu goes
by the largest of these errors, E:

    mu <- sqrt(mu (1 + E / TRUE))                                                                [steps, 4]

Where nothing conflicts E vanishes and mu is 1. Where a hand wants to go where the body would fall, its error H is
balanced by mu E, so that E settles at sqrt(TRUE H): 3 mm for a hand that is kept back by a metre. The square root halves
mu's own way to there, since E goes as 1 / mu: it comes at once and does not swing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.ik.figure_kernels import (
    FREE,
    find_axes,
    find_centers,
    move_center,
    move_point,
    place_figure,
    set_matrix,
    set_turn,
)
from poise.ik.gauss_seidel_kernels import BELOW, BOTH, sweep_blocks
from poise.spatial.compile import kernel

TRUE = 1e-5  # m: an error of what is first, that doubles its weight


class FigureArrays(NamedTuple):
    """What a figure is: see `Figure`."""

    parents: np.ndarray  # (J,)
    offsets: np.ndarray  # (J, 3) m
    masses: np.ndarray  # (J,) kg
    centers: np.ndarray  # (J, 3) m
    under: np.ndarray  # (J, J) uint8: whether body b is under joint k
    before: np.ndarray  # (J, 4) P^-1
    after: np.ndarray  # (J, 4) C
    before_matrix: np.ndarray  # (J, 3, 3)
    turns: np.ndarray  # (J,) bool: whether any angle of the joint is free
    joint: np.ndarray  # (n,) the joint of each free angle; -1 of the root's place, -2 of its turn
    which: np.ndarray  # (n,) 0, 1, 2
    low: np.ndarray  # (n,) rad
    high: np.ndarray  # (n,) rad
    soft: np.ndarray  # (n,) 1 / stiffness
    rest: np.ndarray  # (n,) rad, where it is comfortable
    comfort: np.ndarray  # (n,) of the way there, a round


class GoalArrays(NamedTuple):
    """What is asked for."""

    edges: np.ndarray  # (K, 3): the centre of mass has x, z with edges[0] x + edges[1] z <= edges[2]
    edge_weight: float
    center: np.ndarray  # (3,) m, where the centre of mass should be
    center_weight: np.ndarray  # (3,), 0: anywhere
    center_first: bool
    point_body: np.ndarray  # (P,)
    point_offset: np.ndarray  # (P, 3) m
    point_goal: np.ndarray  # (P, 3) m
    point_weight: np.ndarray  # (P,)
    point_first: np.ndarray  # (P,) bool
    turn_body: np.ndarray  # (T,)
    turn_goal: np.ndarray  # (T, 3, 3)
    turn_weight: np.ndarray  # (T,)
    turn_first: np.ndarray  # (T,) bool
    look_body: np.ndarray  # (L,)
    look_offset: np.ndarray  # (L, 3) m, the eye
    look_along: np.ndarray  # (L, 3) unit, the way it looks
    look_goal: np.ndarray  # (L, 3) m
    look_weight: np.ndarray  # (L,)


@kernel
def count_rows(goals: GoalArrays) -> int:
    """Rows of all goals."""
    count = len(goals.edges) + 3 * (len(goals.point_body) + len(goals.turn_body) + len(goals.look_body))
    for a in range(3):
        if goals.center_weight[a] > 0.0:
            count += 1
    return count


@kernel
def write_center(fig: FigureArrays, held: int, p: np.ndarray, axes: np.ndarray, under: np.ndarray, out: np.ndarray) -> None:
    """How the centre of mass goes with each angle: out (n, 3)."""
    for j in range(len(fig.joint)):
        k = fig.joint[j]
        if k == -1:
            out[j] = 0.0
            out[j, fig.which[j]] = 1.0
        elif k == -2:
            axis = np.zeros(3)
            axis[fig.which[j]] = 1.0
            out[j, 0], out[j, 1], out[j, 2] = move_center(axis, p[0], under[0], under[0], 1.0)
        else:
            sign = -1.0 if held >= 0 and fig.under[k, held] else 1.0
            out[j, 0], out[j, 1], out[j, 2] = move_center(axes[k, fig.which[j]], p[k], under[k], under[0], sign)


@kernel
def write_point(
    fig: FigureArrays, held: int, p: np.ndarray, axes: np.ndarray, body: int, x: float, y: float, z: float,
    out: np.ndarray,
) -> None:  # fmt: skip
    """How a point of a body goes with each angle: out (3, n).   [balance, 10]"""
    for j in range(len(fig.joint)):
        k = fig.joint[j]
        if k == -1:
            out[0, j], out[1, j], out[2, j] = 0.0, 0.0, 0.0
            out[fig.which[j], j] = 1.0
        elif k == -2:
            axis = np.zeros(3)
            axis[fig.which[j]] = 1.0
            out[0, j], out[1, j], out[2, j] = move_point(axis, p[0], x, y, z, 1.0)
        else:
            sign = find_side(fig, k, held, body)
            if sign == 0.0:
                out[0, j], out[1, j], out[2, j] = 0.0, 0.0, 0.0
            else:
                out[0, j], out[1, j], out[2, j] = move_point(axes[k, fig.which[j]], p[k], x, y, z, sign)


@kernel
def find_side(fig: FigureArrays, k: int, held: int, body: int) -> float:
    """1 or -1 where joint k moves a body, the one way or the other; 0 where it does not."""
    below, other = fig.under[k, body] != 0, held >= 0 and fig.under[k, held] != 0
    if below == other:
        return 0.0
    return 1.0 if below else -1.0


@kernel
def write_turn(fig: FigureArrays, held: int, axes: np.ndarray, body: int, out: np.ndarray) -> None:
    """How a body turns with each angle, world axes: out (3, n)."""
    for j in range(len(fig.joint)):
        k = fig.joint[j]
        for a in range(3):
            out[a, j] = 0.0
        if k == -2:
            out[fig.which[j], j] = 1.0
        elif k >= 0:
            sign = find_side(fig, k, held, body)
            for a in range(3):
                out[a, j] = sign * axes[k, fig.which[j], a]


@kernel
def find_turn_error(R: np.ndarray, goal: np.ndarray, out: np.ndarray) -> None:
    """The rotation vector (3,), world axes, that turns R (3, 3) to the goal."""
    # D = goal R^T; v = its axis times 2 sin
    vx = vy = vz = trace = 0.0
    for a in range(3):
        vx += goal[2, a] * R[1, a] - goal[1, a] * R[2, a]
        vy += goal[0, a] * R[2, a] - goal[2, a] * R[0, a]
        vz += goal[1, a] * R[0, a] - goal[0, a] * R[1, a]
        trace += goal[0, a] * R[0, a] + goal[1, a] * R[1, a] + goal[2, a] * R[2, a]
    sine, cosine = 0.5 * np.sqrt(vx * vx + vy * vy + vz * vz), 0.5 * (trace - 1.0)
    angle = np.arctan2(sine, cosine)
    scale = 0.5 if sine < 1e-9 else 0.5 * angle / sine
    out[0], out[1], out[2] = scale * vx, scale * vy, scale * vz


@kernel
def solve_pose(
    fig: FigureArrays,
    goals: GoalArrays,
    held: int,
    place: np.ndarray,
    turn: np.ndarray,
    span: float,
    angles: np.ndarray,
    local: np.ndarray,
    rounds: int,
    sweeps: int,
    most: float,
    enough: float,
    mu: np.ndarray,
    pull: np.ndarray,
    stop: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    told: np.ndarray,
    warm: int,
) -> None:
    """Pose a figure.

    held, place, turn   the body that stays, where it is (3,) and how it is turned (3, 3); FREE: the root's, which change
    span                m: what a turn of a radian counts
    angles, local       (J, 3) rad and (J, 3, 3): where it begins; written
    rounds, sweeps      at most; most: rad that an angle changes by in a round
    enough              m: errors that are no more, and changes that are no more, end it
    mu, pull, stop      (1,), (m,), (n,): what is kept from call to call
    R, p                (J, 3, 3), (J, 3): written
    told                rounds, sweeps in all, largest error of what is first and of what is second (m); written
    """
    n, m = len(fig.joint), count_rows(goals)
    count = len(fig.parents)
    axes, under = np.zeros((count, 3, 3)), np.zeros((count, 4))
    J, e, d = np.zeros((m, n)), np.zeros(m), np.zeros(n)
    sides, weights, hefts = np.zeros(m, np.int64), np.zeros(m), np.zeros(m)
    low, high, moves = np.zeros(n), np.zeros(n), np.zeros((n, 3))
    first = np.zeros(m, np.bool_)
    b, pushes, locked = np.zeros(n), np.zeros(m, np.int64), np.zeros(n, np.int64)
    error, q = np.zeros(3), np.zeros(4)
    told[1] = 0.0
    for k in range(rounds + 1):
        place_figure(fig.parents, fig.offsets, local, held, place, turn, R, p)
        find_centers(fig.parents, fig.masses, fig.centers, R, p, under)
        find_axes(fig.parents, fig.before_matrix, angles, fig.turns, R, axes)
        cx, cy, cz = under[0, 1] / under[0, 0], under[0, 2] / under[0, 0], under[0, 3] / under[0, 0]
        write_center(fig, held, p, axes, under, moves)
        row = 0
        primary = secondary = 0.0
        for i in range(len(goals.edges)):
            nx, nz = goals.edges[i, 0], goals.edges[i, 1]
            e[row] = goals.edges[i, 2] - nx * cx - nz * cz
            for j in range(n):
                J[row, j] = nx * moves[j, 0] + nz * moves[j, 2]
            sides[row], weights[row], first[row] = BELOW, goals.edge_weight, True
            primary = max(primary, -e[row])
            row += 1
        center = (cx, cy, cz)
        for a in range(3):
            if goals.center_weight[a] > 0.0:
                e[row] = goals.center[a] - center[a]
                for j in range(n):
                    J[row, j] = moves[j, a]
                sides[row], weights[row], first[row] = BOTH, goals.center_weight[a], goals.center_first
                if goals.center_first:
                    primary = max(primary, abs(e[row]))
                row += 1
        for i in range(len(goals.point_body)):
            body, o = goals.point_body[i], goals.point_offset[i]
            x = p[body, 0] + R[body, 0, 0] * o[0] + R[body, 0, 1] * o[1] + R[body, 0, 2] * o[2]
            y = p[body, 1] + R[body, 1, 0] * o[0] + R[body, 1, 1] * o[1] + R[body, 1, 2] * o[2]
            z = p[body, 2] + R[body, 2, 0] * o[0] + R[body, 2, 1] * o[1] + R[body, 2, 2] * o[2]
            write_point(fig, held, p, axes, body, x, y, z, J[row : row + 3])
            e[row], e[row + 1], e[row + 2] = (
                goals.point_goal[i, 0] - x, goals.point_goal[i, 1] - y, goals.point_goal[i, 2] - z,
            )  # fmt: skip
            size = np.sqrt(e[row] ** 2 + e[row + 1] ** 2 + e[row + 2] ** 2)
            if goals.point_first[i]:
                primary = max(primary, size)
            else:
                secondary = max(secondary, size)
            for a in range(3):
                sides[row + a], weights[row + a], first[row + a] = BOTH, goals.point_weight[i], goals.point_first[i]
            row += 3
        for i in range(len(goals.turn_body)):
            body = goals.turn_body[i]
            write_turn(fig, held, axes, body, J[row : row + 3])
            find_turn_error(R[body], goals.turn_goal[i], error)
            size = span * np.sqrt(error @ error)
            if goals.turn_first[i]:
                primary = max(primary, size)
            else:
                secondary = max(secondary, size)
            for a in range(3):
                e[row + a] = span * error[a]
                for j in range(n):
                    J[row + a, j] *= span
                sides[row + a], weights[row + a], first[row + a] = BOTH, goals.turn_weight[i], goals.turn_first[i]
            row += 3
        for i in range(len(goals.look_body)):
            secondary = max(secondary, write_look(fig, goals, i, held, R, p, axes, span, J[row : row + 3], e[row : row + 3]))
            for a in range(3):
                sides[row + a], weights[row + a], first[row + a] = BOTH, goals.look_weight[i], False
            row += 3
        told[0], told[2], told[3] = k, primary, secondary
        mu[0] = np.sqrt(mu[0] * (1.0 + primary / TRUE))
        if k == rounds or (max(primary, secondary) < enough and k > 0):
            return
        for i in range(m):
            if first[i]:
                weights[i] *= mu[0]
        for j in range(n):
            i, a = fig.joint[j], fig.which[j]
            if i >= 0:
                low[j] = max(fig.low[j] - angles[i, a], -most)
                high[j] = max(min(fig.high[j] - angles[i, a], most), low[j])
                b[j] = min(max(fig.comfort[j] * (fig.rest[j] - angles[i, a]), low[j]), high[j])
            else:
                low[j], high[j], b[j] = -most, most, 0.0
        told[1] += sweep_blocks(J, e, sides, weights, fig.soft, low, high, sweeps, pushes, locked, pull, b, d)
        move_figure(fig, d, angles, local, place, turn)


@kernel
def write_look(
    fig: FigureArrays, goals: GoalArrays, i: int, held: int, R: np.ndarray, p: np.ndarray, axes: np.ndarray, span: float,
    J: np.ndarray, e: np.ndarray,
) -> float:  # fmt: skip
    """Rows (3, n) that turn a body's line of sight to what it looks at; returns how far off it is, in m of `span`.

    With u the way it looks and v the way to what it should see, it turns by u x v; a turn about u does not count.
    """
    body, o, along = goals.look_body[i], goals.look_offset[i], goals.look_along[i]
    u, v = R[body] @ along, goals.look_goal[i] - p[body] - R[body] @ o
    v /= max(np.sqrt(v @ v), 1e-9)
    c = np.array([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]])
    sine, cosine = np.sqrt(c @ c), u @ v
    angle = np.arctan2(sine, cosine)
    if sine < 1e-9:  # right behind it: any way round will do
        c = np.array([0.0, 1.0, 0.0]) if abs(u[1]) < 0.9 else np.array([1.0, 0.0, 0.0])
        c -= (c @ u) * u
        c /= np.sqrt(c @ c)
        sine = 1.0
    write_turn(fig, held, axes, body, J)
    for j in range(J.shape[1]):
        about = u[0] * J[0, j] + u[1] * J[1, j] + u[2] * J[2, j]
        for a in range(3):
            J[a, j] = span * (J[a, j] - about * u[a])
    for a in range(3):
        e[a] = span * angle * c[a] / sine
    return span * angle


@kernel
def move_figure(
    fig: FigureArrays, d: np.ndarray, angles: np.ndarray, local: np.ndarray, place: np.ndarray, turn: np.ndarray
) -> None:
    """Change the free angles by d (n,), and the root where it is free."""
    q, R = np.empty(4), np.empty((3, 3))
    turned = np.zeros(3)
    for j in range(len(d)):
        i = fig.joint[j]
        if i == -1:
            place[fig.which[j]] += d[j]
        elif i == -2:
            turned[fig.which[j]] = d[j]
        else:
            angles[i, fig.which[j]] += d[j]
    size = np.sqrt(turned @ turned)
    if size > 0.0:
        s = np.sin(0.5 * size) / size
        q[0], q[1], q[2], q[3] = np.cos(0.5 * size), s * turned[0], s * turned[1], s * turned[2]
        set_matrix(q, R)
        turn[:] = R @ turn
    for i in range(1, len(local)):
        if fig.turns[i]:
            set_turn(angles[i], fig.before[i], fig.after[i], q)
            set_matrix(q, local[i])

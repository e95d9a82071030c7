"""A figure posed by goals, the centre of mass first: compiled.

Round by round: place the figure, write a row for each number that a goal asks for, solve the rows
(`gauss_seidel_kernels`), turn the joints. What is first, the centre of mass over its support and the feet that stand,
is weighed by the paper's bias [balance, 9 as corrected]: both sides of its rows by the square root of mu, where mu goes
by the largest of these errors, E:

    mu <- sqrt(mu (1 + E / TRUE))                                                                [steps, 4]

Where nothing conflicts E vanishes and mu is 1. Where a hand wants to go where the body would fall, its error H is
balanced by mu E, so that E settles at sqrt(TRUE H): 3 mm for a hand that is kept back by a metre. The square root
halves mu's own way to there, since E goes as 1 / mu: it comes at once and does not swing.

Goals that cannot be met bend the way there: a step that is right for one rate of change takes feet off the ground. So
what is first is mended after each step, by steps of its own that ask for nothing else; then the step is kept if what is
second came nearer, and taken back and damped more if not (Levenberg and Marquardt's way, on feet that stand).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.ik.figure_kernels import (
    find_axes,
    find_centers,
    move_center,
    move_point,
    place_figure,
    set_matrix,
    set_turn,
)
from poise.ik.gauss_seidel_kernels import BELOW, BOTH, NULL_SPACE, ROWS, sweep_blocks, sweep_rows
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
    center_first: np.ndarray  # (3,) bool
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
def write_center(
    fig: FigureArrays, held: int, p: np.ndarray, axes: np.ndarray, under: np.ndarray, out: np.ndarray
) -> None:
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


class Room(NamedTuple):
    """What a solve writes on: of a figure with n free angles and goals of m rows."""

    angles: np.ndarray  # (J, 3) rad
    local: np.ndarray  # (J, 3, 3) the joints' matrices
    place: np.ndarray  # (3,) m, of the held body, or of the root
    turn: np.ndarray  # (3, 3)
    R: np.ndarray  # (J, 3, 3) in the world
    p: np.ndarray  # (J, 3) m
    axes: np.ndarray  # (J, 3, 3)
    under: np.ndarray  # (J, 4)
    moves: np.ndarray  # (n, 3)
    J: np.ndarray  # (m, n)
    e: np.ndarray  # (m,)
    sides: np.ndarray  # (m,)
    weights: np.ndarray  # (m,)
    first: np.ndarray  # (m,) bool
    low: np.ndarray  # (n,)
    high: np.ndarray  # (n,)
    soft: np.ndarray  # (n,)
    likes: np.ndarray  # (n,) b
    d: np.ndarray  # (n,)
    pushes: np.ndarray  # (m,)
    locked: np.ndarray  # (n,)
    pull: np.ndarray  # (m,)


@kernel
def write_rows(fig: FigureArrays, goals: GoalArrays, held: int, span: float, room: Room) -> tuple[float, float, float]:
    """Place the figure and write a row for each number that is asked for.

    Returns the largest error of what is first (m), the largest of what is second, and the sum of its weighed squares.
    """
    R, p, J, e, n = room.R, room.p, room.J, room.e, len(fig.joint)
    place_figure(fig.parents, fig.offsets, room.local, held, room.place, room.turn, R, p)
    find_centers(fig.parents, fig.masses, fig.centers, R, p, room.under)
    find_axes(fig.parents, fig.before_matrix, room.angles, fig.turns, R, room.axes)
    write_center(fig, held, p, room.axes, room.under, room.moves)
    mass = room.under[0, 0]
    center = (room.under[0, 1] / mass, room.under[0, 2] / mass, room.under[0, 3] / mass)
    row, primary, secondary, cost = 0, 0.0, 0.0, 0.0
    for i in range(len(goals.edges)):
        nx, nz = goals.edges[i, 0], goals.edges[i, 1]
        e[row] = goals.edges[i, 2] - nx * center[0] - nz * center[2]
        for j in range(n):
            J[row, j] = nx * room.moves[j, 0] + nz * room.moves[j, 2]
        room.sides[row], room.weights[row], room.first[row] = BELOW, goals.edge_weight, True
        primary = max(primary, -e[row])
        row += 1
    for a in range(3):
        if goals.center_weight[a] > 0.0:
            e[row] = goals.center[a] - center[a]
            for j in range(n):
                J[row, j] = room.moves[j, a]
            room.sides[row], room.weights[row], room.first[row] = BOTH, goals.center_weight[a], goals.center_first[a]
            if goals.center_first[a]:
                primary = max(primary, abs(e[row]))
            else:
                cost += goals.center_weight[a] * e[row] ** 2
            row += 1
    for i in range(len(goals.point_body)):
        body, o = goals.point_body[i], goals.point_offset[i]
        x = p[body, 0] + R[body, 0, 0] * o[0] + R[body, 0, 1] * o[1] + R[body, 0, 2] * o[2]
        y = p[body, 1] + R[body, 1, 0] * o[0] + R[body, 1, 1] * o[1] + R[body, 1, 2] * o[2]
        z = p[body, 2] + R[body, 2, 0] * o[0] + R[body, 2, 1] * o[1] + R[body, 2, 2] * o[2]
        write_point(fig, held, p, room.axes, body, x, y, z, J[row : row + 3])
        goal = goals.point_goal[i]
        e[row], e[row + 1], e[row + 2] = goal[0] - x, goal[1] - y, goal[2] - z
        square = set_rows(room, row, goals.point_weight[i], goals.point_first[i])
        if goals.point_weight[i] == 0.0:
            pass
        elif goals.point_first[i]:
            primary = max(primary, np.sqrt(square))
        else:
            secondary, cost = max(secondary, np.sqrt(square)), cost + goals.point_weight[i] * square
        row += 3
    for i in range(len(goals.turn_body)):
        body = goals.turn_body[i]
        write_turn(fig, held, room.axes, body, J[row : row + 3])
        find_turn_error(R[body], goals.turn_goal[i], e[row : row + 3])
        for a in range(3):
            e[row + a] *= span
            for j in range(n):
                J[row + a, j] *= span
        square = set_rows(room, row, goals.turn_weight[i], goals.turn_first[i])
        if goals.turn_weight[i] == 0.0:
            pass
        elif goals.turn_first[i]:
            primary = max(primary, np.sqrt(square))
        else:
            secondary, cost = max(secondary, np.sqrt(square)), cost + goals.turn_weight[i] * square
        row += 3
    for i in range(len(goals.look_body)):
        write_look(fig, goals, i, held, R, p, room.axes, span, J[row : row + 3], e[row : row + 3])
        square = set_rows(room, row, goals.look_weight[i], False)
        if goals.look_weight[i] > 0.0:
            secondary, cost = max(secondary, np.sqrt(square)), cost + goals.look_weight[i] * square
        row += 3
    room.weights[row:] = 0.0  # of a centre of mass that is asked for less now
    return primary, secondary, cost


@kernel
def set_rows(room: Room, row: int, weight: float, first: bool) -> float:
    """Weigh the three rows of a goal; returns the square of its error."""
    for a in range(row, row + 3):
        room.sides[a], room.weights[a], room.first[a] = BOTH, weight, first
    return room.e[row] ** 2 + room.e[row + 1] ** 2 + room.e[row + 2] ** 2


@kernel
def take_step(
    fig: FigureArrays, room: Room, mu: float, damping: float, most: float, sweeps: int, all_: bool, method: int
) -> int:
    """Solve the rows, all of them or those of what is first, and turn the joints; returns how often it solved."""
    n = len(fig.joint)
    for i in range(len(room.e)):
        if room.first[i]:
            room.weights[i] *= mu
        elif not all_:
            room.weights[i] = 0.0
    for j in range(n):
        i, a = fig.joint[j], fig.which[j]
        room.soft[j] = fig.soft[j] / damping
        room.likes[j] = 0.0
        if i >= 0:
            angle = room.angles[i, a]
            room.low[j] = max(fig.low[j] - angle, -most)
            room.high[j] = max(min(fig.high[j] - angle, most), room.low[j])
            if all_:
                room.likes[j] = min(max(fig.comfort[j] / damping * (fig.rest[j] - angle), room.low[j]), room.high[j])
        else:
            room.low[j], room.high[j] = -most, most
    if method == ROWS:
        room.d[:] = room.likes
        took = sweep_rows(
            room.J, room.e, room.sides, room.weights, room.soft, room.low, room.high, 8 * sweeps, 1e-5, room.pull,
            room.d,
        )  # fmt: skip
    else:
        took = sweep_blocks(
            room.J, room.e, room.sides, room.weights, room.first, room.soft, room.low, room.high, sweeps,
            method == NULL_SPACE, room.pushes, room.locked, room.pull, room.likes, room.d,
        )  # fmt: skip
    move_figure(fig, room.d, room.angles, room.local, room.place, room.turn)
    return took


@kernel
def solve_pose(
    fig: FigureArrays,
    goals: GoalArrays,
    held: int,
    span: float,
    rounds: int,
    sweeps: int,
    most: float,
    enough: float,
    method: int,
    mu: np.ndarray,
    room: Room,
    told: np.ndarray,
) -> None:
    """Pose a figure: `room` has where it begins, and where it ends.

    held            the body that stays; FREE: none, the root moves
    span            m: what a turn of a radian counts
    rounds, sweeps  at most; most: rad that an angle changes by in a round
    enough          m: errors that are no more end it
    mu              (1,), kept from call to call
    told            rounds, solves in all, largest error of what is first and of what is second (m); written
    """
    angles, local, place, turn = room.angles.copy(), room.local.copy(), room.place.copy(), room.turn.copy()
    room.locked[:] = 0
    room.pushes[:] = 0
    damping, slow, took, k = 1.0, 0, 0, 0
    primary, secondary, cost = write_rows(fig, goals, held, span, room)
    best_primary, best_cost, allowed = np.inf, np.inf, np.inf
    while True:
        # What is first comes first, up to what the next round mends by the way
        mends, allowed = 0, max(0.5 * enough, min(0.1 * secondary, allowed))
        while mends < 6 and primary > allowed and k < rounds:
            mu[0] = max(1.0, np.sqrt(mu[0] * (1.0 + primary / TRUE)))
            took += take_step(fig, room, mu[0], 1.0, most, sweeps, False, method)
            primary, secondary, cost = write_rows(fig, goals, held, span, room)
            mends, k = mends + 1, k + 1
        is_even = max(primary, allowed) == max(best_primary, allowed)
        if cost < best_cost if is_even else primary < best_primary:
            if best_cost < np.inf:
                slow = slow + 1 if best_cost - cost < 3e-3 * best_cost else 0
                damping = max(0.25 * damping, 1.0)
            best_primary, best_cost = primary, cost
            angles[:], local[:], place[:], turn[:] = room.angles, room.local, room.place, room.turn
        else:
            room.angles[:], room.local[:], room.place[:], room.turn[:] = angles, local, place, turn
            damping *= 6.0
            primary, secondary, cost = write_rows(fig, goals, held, span, room)
        if slow > 2 or damping > 1e6:
            if allowed > enough and k < rounds:  # now what is first in earnest
                allowed, slow, damping, best_cost, best_primary = 0.0, 0, 1.0, np.inf, np.inf
                continue
            break
        if k >= rounds or max(primary, secondary) < enough:
            break
        mu[0] = max(1.0, np.sqrt(mu[0] * (1.0 + primary / TRUE)))
        took += take_step(fig, room, mu[0], damping, most, sweeps, True, method)
        primary, secondary, cost = write_rows(fig, goals, held, span, room)
        k += 1
    told[0], told[1], told[2], told[3] = k, took, primary, secondary


@kernel
def write_look(
    fig: FigureArrays, goals: GoalArrays, i: int, held: int, R: np.ndarray, p: np.ndarray, axes: np.ndarray,
    span: float, J: np.ndarray, e: np.ndarray,
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

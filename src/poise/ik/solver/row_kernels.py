"""A row for each number that goals ask for: compiled.

Every free angle is a turn about a line in space (the root's place, a shift along one), so one pair of vectors says what
it does: r, the line's direction, and o = O x r, how a point at the origin goes. With s as in
`ik/solver/model_kernels.py`,

    dX / dangle = s (r x X + o),     dc / dangle = (s / M) (r x m V + m o),     a turn by s r               [steps, 6]

Which angles move which body depends on what is held alone: these signs are found when that changes.

A pose of a workspace is put aside and taken up again as numbers in one row.

Numba writes out every `a[:] = b` where it stands, with all that broadcasting asks for. Poses are kept in a dozen places
of kernels that are long as they are: a call each is half of their machine code, and of the time to compile it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.compiled.kernel import kernel
from poise.ik.solver.gauss_seidel_kernels import BELOW, BOTH
from poise.ik.solver.model_kernels import find_axes, find_centers, place_figure

NOBODY = -9  # no held body that signs were found for


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
    point_above: np.ndarray  # (P,) bool: only its height counts, and only where it is below the goal's
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
    lines: np.ndarray  # (n, 6) r and o of each free angle
    signs: np.ndarray  # (1 + G, n) of the centre of mass, and of each goal's body
    known: np.ndarray  # (1,) the held body that they are for
    moves: np.ndarray  # (3, n) of the centre of mass
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
def find_signs(under: np.ndarray, joint: np.ndarray, held: int, body: int, signs: np.ndarray) -> None:
    """1 or -1 where an angle moves a body, the one way or the other; 0 where it does not: signs (n,)."""
    for j in range(len(joint)):
        k = joint[j]
        if k < 0:
            signs[j] = 1.0
            continue
        below, other = under[k, body] != 0, held >= 0 and under[k, held] != 0
        signs[j] = 0.0 if below == other else (1.0 if below else -1.0)


@kernel
def find_center_signs(under: np.ndarray, joint: np.ndarray, held: int, signs: np.ndarray) -> None:
    """-1 where the side of an angle's joint moves that is not under it."""
    for j in range(len(joint)):
        signs[j] = -1.0 if joint[j] >= 0 and held >= 0 and under[joint[j], held] else 1.0


@kernel
def find_lines(joint: np.ndarray, which: np.ndarray, p: np.ndarray, axes: np.ndarray, lines: np.ndarray) -> None:
    """r and o of each free angle: lines (n, 6).   [steps, 6]"""
    for j in range(len(joint)):
        k, a = joint[j], which[j]
        if k < 0:
            for c in range(6):
                lines[j, c] = 0.0
            lines[j, a if k == -2 else 3 + a] = 1.0
            if k == -1:
                continue
            k = 0
        else:
            lines[j, 0], lines[j, 1], lines[j, 2] = axes[k, a, 0], axes[k, a, 1], axes[k, a, 2]
        x, y, z = lines[j, 0], lines[j, 1], lines[j, 2]
        u, v, w = p[k, 0], p[k, 1], p[k, 2]
        lines[j, 3], lines[j, 4], lines[j, 5] = v * z - w * y, w * x - u * z, u * y - v * x


@kernel
def write_center(lines: np.ndarray, joint: np.ndarray, under: np.ndarray, signs: np.ndarray, out: np.ndarray) -> None:
    """How the centre of mass goes with each angle: out (3, n).   [balance, 14 as corrected; steps, 6]"""
    mass = under[0, 0]
    for j in range(len(joint)):
        k, s = max(joint[j], 0), signs[j] / mass
        m, x, y, z = under[k, 0], under[k, 1], under[k, 2], under[k, 3]
        if s < 0.0:  # the other side moves
            m, x, y, z = mass - m, under[0, 1] - x, under[0, 2] - y, under[0, 3] - z
        u, v, w = lines[j, 0], lines[j, 1], lines[j, 2]
        out[0, j] = s * (v * z - w * y + m * lines[j, 3])
        out[1, j] = s * (w * x - u * z + m * lines[j, 4])
        out[2, j] = s * (u * y - v * x + m * lines[j, 5])


@kernel
def write_point(lines: np.ndarray, signs: np.ndarray, x: float, y: float, z: float, out: np.ndarray) -> None:
    """How a point of a body goes with each angle: out (3, n).   [balance, 10; steps, 6]"""
    for j in range(len(signs)):
        s, u, v, w = signs[j], lines[j, 0], lines[j, 1], lines[j, 2]
        out[0, j] = s * (v * z - w * y + lines[j, 3])
        out[1, j] = s * (w * x - u * z + lines[j, 4])
        out[2, j] = s * (u * y - v * x + lines[j, 5])


@kernel
def write_turn(lines: np.ndarray, signs: np.ndarray, span: float, out: np.ndarray) -> None:
    """How a body turns with each angle, world axes, times `span`: out (3, n)."""
    for j in range(len(signs)):
        s = span * signs[j]
        out[0, j], out[1, j], out[2, j] = s * lines[j, 0], s * lines[j, 1], s * lines[j, 2]


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
def set_signs(fig: FigureArrays, goals: GoalArrays, held: int, room: Room) -> None:
    """Find which angles move which goal's body, for what is held now."""
    room.known[0] = held
    find_center_signs(fig.under, fig.joint, held, room.signs[0])
    row = 1
    for i in range(len(goals.point_body)):
        find_signs(fig.under, fig.joint, held, goals.point_body[i], room.signs[row])
        row += 1
    for i in range(len(goals.turn_body)):
        find_signs(fig.under, fig.joint, held, goals.turn_body[i], room.signs[row])
        row += 1
    for i in range(len(goals.look_body)):
        find_signs(fig.under, fig.joint, held, goals.look_body[i], room.signs[row])
        row += 1


@kernel
def write_rows(fig: FigureArrays, goals: GoalArrays, held: int, span: float, room: Room) -> tuple[float, float, float]:
    """Place the figure and write a row for each number that is asked for.

    Returns the largest error of what is first (m), the largest of what is second, and the sum of its weighed squares.
    """
    R, p, J, e, n, lines, signs = room.R, room.p, room.J, room.e, len(fig.joint), room.lines, room.signs
    if room.known[0] != held:
        set_signs(fig, goals, held, room)
    place_figure(fig.parents, fig.offsets, room.local, held, room.place, room.turn, R, p)
    find_centers(fig.parents, fig.masses, fig.centers, R, p, room.under)
    find_axes(fig.parents, fig.before_matrix, room.angles, fig.turns, R, room.axes)
    find_lines(fig.joint, fig.which, p, room.axes, lines)
    write_center(lines, fig.joint, room.under, signs[0], room.moves)
    mass = room.under[0, 0]
    center = (room.under[0, 1] / mass, room.under[0, 2] / mass, room.under[0, 3] / mass)
    row, body_row, primary, secondary, cost = 0, 1, 0.0, 0.0, 0.0
    for i in range(len(goals.edges)):
        nx, nz = goals.edges[i, 0], goals.edges[i, 1]
        e[row] = goals.edges[i, 2] - nx * center[0] - nz * center[2]
        for j in range(n):
            J[row, j] = nx * room.moves[0, j] + nz * room.moves[2, j]
        room.sides[row], room.weights[row], room.first[row] = BELOW, goals.edge_weight, True
        primary = max(primary, -e[row])
        row += 1
    for a in range(3):
        if goals.center_weight[a] > 0.0:
            e[row] = goals.center[a] - center[a]
            for j in range(n):
                J[row, j] = room.moves[a, j]
            room.sides[row], room.weights[row], room.first[row] = BOTH, goals.center_weight[a], goals.center_first[a]
            if goals.center_first[a]:
                primary = max(primary, abs(e[row]))
            else:
                cost += goals.center_weight[a] * e[row] ** 2
                if goals.center_weight[a] >= goals.edge_weight:  # as heavy as a goal, not a liking
                    secondary = max(secondary, abs(e[row]))
            row += 1
    for i in range(len(goals.point_body)):
        body, o = goals.point_body[i], goals.point_offset[i]
        x = p[body, 0] + R[body, 0, 0] * o[0] + R[body, 0, 1] * o[1] + R[body, 0, 2] * o[2]
        y = p[body, 1] + R[body, 1, 0] * o[0] + R[body, 1, 1] * o[1] + R[body, 1, 2] * o[2]
        z = p[body, 2] + R[body, 2, 0] * o[0] + R[body, 2, 1] * o[1] + R[body, 2, 2] * o[2]
        write_point(lines, signs[body_row], x, y, z, J[row : row + 3])
        goal = goals.point_goal[i]
        e[row], e[row + 1], e[row + 2] = goal[0] - x, goal[1] - y, goal[2] - z
        square = set_rows(room.sides, room.weights, room.first, e, row, goals.point_weight[i], goals.point_first[i])
        if goals.point_above[i]:
            square = set_above(room, row)
        if goals.point_weight[i] == 0.0:
            pass
        elif goals.point_first[i]:
            primary = max(primary, np.sqrt(square))
        else:
            secondary, cost = max(secondary, np.sqrt(square)), cost + goals.point_weight[i] * square
        row, body_row = row + 3, body_row + 1
    for i in range(len(goals.turn_body)):
        body = goals.turn_body[i]
        write_turn(lines, signs[body_row], span, J[row : row + 3])
        find_turn_error(R[body], goals.turn_goal[i], e[row : row + 3])
        for a in range(3):
            e[row + a] *= span
        square = set_rows(room.sides, room.weights, room.first, e, row, goals.turn_weight[i], goals.turn_first[i])
        if goals.turn_weight[i] == 0.0:
            pass
        elif goals.turn_first[i]:
            primary = max(primary, np.sqrt(square))
        else:
            secondary, cost = max(secondary, np.sqrt(square)), cost + goals.turn_weight[i] * square
        row, body_row = row + 3, body_row + 1
    for i in range(len(goals.look_body)):
        body = goals.look_body[i]
        write_look(
            lines, signs[body_row], R[body], p[body], goals.look_offset[i], goals.look_along[i], goals.look_goal[i],
            span, J[row : row + 3], e[row : row + 3],
        )  # fmt: skip
        square = set_rows(room.sides, room.weights, room.first, e, row, goals.look_weight[i], False)
        if goals.look_weight[i] > 0.0:
            secondary, cost = max(secondary, np.sqrt(square)), cost + goals.look_weight[i] * square
        row, body_row = row + 3, body_row + 1
    room.weights[row:] = 0.0  # of a centre of mass that is asked for less now
    return primary, secondary, cost


@kernel
def set_rows(
    sides: np.ndarray, weights: np.ndarray, firsts: np.ndarray, e: np.ndarray, row: int, weight: float, first: bool
) -> float:
    """Weigh the three rows of a goal; returns the square of its error."""
    for a in range(row, row + 3):
        sides[a], weights[a], firsts[a] = BOTH, weight, first
    return e[row] ** 2 + e[row + 1] ** 2 + e[row + 2] ** 2


@kernel
def set_above(room: Room, row: int) -> float:
    """Make the rows of a point one that only pushes up: -dy <= y - goal; returns the square of its error."""
    J, e = room.J, room.e
    e[row], e[row + 1], e[row + 2] = 0.0, -e[row + 1], 0.0
    for j in range(J.shape[1]):
        J[row + 1, j] = -J[row + 1, j]
    room.sides[row + 1], room.weights[row], room.weights[row + 2] = BELOW, 0.0, 0.0
    return min(e[row + 1], 0.0) ** 2


@kernel
def write_look(
    lines: np.ndarray, signs: np.ndarray, R: np.ndarray, p: np.ndarray, offset: np.ndarray, along: np.ndarray,
    goal: np.ndarray, span: float, J: np.ndarray, e: np.ndarray,
) -> None:  # fmt: skip
    """Rows (3, n) that turn a body's line of sight to what it looks at, times `span`.

    With u the way it looks and v the way to what it should see, it turns by u x v. A turn about u does not count, and
    as the eye moves by dx, the way to the goal at a distance D turns by -v x dx / D.
    """
    u, x = R @ along, p + R @ offset
    v = goal - x
    far = max(np.sqrt(v @ v), 1e-3)
    v /= far
    c = np.array([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]])
    sine, cosine = np.sqrt(c @ c), u @ v
    angle = np.arctan2(sine, cosine)
    if sine < 1e-9 and cosine < 0.0:  # right behind it: any way round will do
        c = np.array([0.0, 1.0, 0.0]) if abs(u[1]) < 0.9 else np.array([1.0, 0.0, 0.0])
        c -= (c @ u) * u
        c /= np.sqrt(c @ c)
        sine = 1.0
    for j in range(len(signs)):
        s, rx, ry, rz = span * signs[j], lines[j, 0], lines[j, 1], lines[j, 2]
        about = u[0] * rx + u[1] * ry + u[2] * rz
        dx = (ry * x[2] - rz * x[1] + lines[j, 3]) / far
        dy = (rz * x[0] - rx * x[2] + lines[j, 4]) / far
        dz = (rx * x[1] - ry * x[0] + lines[j, 5]) / far
        J[0, j] = s * (rx - about * u[0] + v[1] * dz - v[2] * dy)
        J[1, j] = s * (ry - about * u[1] + v[2] * dx - v[0] * dz)
        J[2, j] = s * (rz - about * u[2] + v[0] * dy - v[1] * dx)
    for a in range(3):
        e[a] = span * angle * c[a] / max(sine, 1e-12)


@kernel
def keep_pose(room: Room, kept: np.ndarray) -> None:
    """Write a room's pose into a row of `count_kept`."""
    j, at = len(room.angles), 0
    for k in range(j):
        for a in range(3):
            kept[at] = room.angles[k, a]
            at += 1
            for b in range(3):
                kept[at] = room.local[k, a, b]
                at += 1
    for a in range(3):
        kept[at] = room.place[a]
        at += 1
        for b in range(3):
            kept[at] = room.turn[a, b]
            at += 1


@kernel
def take_pose(kept: np.ndarray, room: Room) -> None:
    """Have a room be in the pose that was kept."""
    j, at = len(room.angles), 0
    for k in range(j):
        for a in range(3):
            room.angles[k, a] = kept[at]
            at += 1
            for b in range(3):
                room.local[k, a, b] = kept[at]
                at += 1
    for a in range(3):
        room.place[a] = kept[at]
        at += 1
        for b in range(3):
            room.turn[a, b] = kept[at]
            at += 1


@kernel
def count_kept(room: Room) -> int:
    """Numbers of a pose."""
    return 12 * len(room.angles) + 12


@kernel
def forget_bounds(room: Room) -> None:
    """Nothing is known of which ranges and rows push."""
    for j in range(len(room.locked)):
        room.locked[j] = 0
    for i in range(len(room.pushes)):
        room.pushes[i] = 0

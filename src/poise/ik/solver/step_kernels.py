"""One step of a figure: rows solved, joints turned. Compiled."""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.ik.solver.gauss_seidel_kernels import NULL_SPACE, ROWS, sweep_blocks, sweep_null_space, sweep_rows
from poise.ik.solver.model_kernels import set_matrix, set_turn
from poise.ik.solver.row_kernels import FigureArrays, Room

TRUE = 1e-5  # m: an error of what is first, that doubles its weight


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
            room.J, room.e, room.sides, room.weights, room.soft, room.low, room.high, 3 * sweeps, 1e-5, room.pull,
            room.d,
        )  # fmt: skip
    elif method == NULL_SPACE:
        took = sweep_null_space(
            room.J, room.e, room.sides, room.weights, room.first, room.soft, room.low, room.high, sweeps, room.pushes,
            room.locked, room.pull, room.likes, room.d,
        )  # fmt: skip
    else:
        took = sweep_blocks(
            room.J, room.e, room.sides, room.weights, room.soft, room.low, room.high, sweeps, room.pushes, room.locked,
            room.pull, room.likes, room.d,
        )  # fmt: skip
    move_figure(fig, room.d, room.angles, room.local, room.place, room.turn)
    return took


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

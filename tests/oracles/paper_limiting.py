"""The strength paper's own way of limiting accelerations, for comparison.   [strength, sections 5.2 to 5.4]

What is out of range is added to a set, and nobody is ever dropped; what goals change is taken back where it would take
a torque too far, so that such a torque does not change at all. Pseudo-inverses are those of the errata: eq 10 has the
transpose of H', eq 12 the prioritised form J_e N_g, with the damping of `priority_kernels`, and eq 16 the
pseudo-inverse of S_2 H. Torques end in range, as everything may be in the set; x is not the nearest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.compiled.kernel import kernel
from poise.dynamics.qp.active_set_kernels import ASIDE, FIXED, IGNORED, MEMBERS, ROUNDS, Room, join, settle
from poise.dynamics.qp.limited import DAMPING, LimitedAccelerations
from poise.dynamics.qp.priority_kernels import Goals, aim_kept, end, last_level, reach_levels, restart
from poise.dynamics.qp.range_kernels import (
    CLIPPED,
    OUT,
    Ranges,
    begin,
    carve,
    count_floats,
    count_integers,
    polish,
    set_center,
    set_x,
)
from poise.dynamics.qp.row_kernels import add_to, dot


def limit_as_the_paper(
    H: np.ndarray,
    b: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    wanted: np.ndarray,
    goals: Sequence[tuple[np.ndarray, np.ndarray]],
    weights: np.ndarray,
) -> LimitedAccelerations:
    """The paper's answer to what `limit_accelerations` is asked."""
    n, sizes = len(b), [len(y) for _, y in goals]
    m = sum(sizes)
    A, y = np.concatenate([np.zeros((0, n)), *(A for A, _ in goals)]), np.concatenate([[], *(y for _, y in goals)])
    level = np.repeat(np.arange(len(sizes)), sizes)
    x, torque, at, residual = np.zeros(n), np.zeros(n), np.zeros(n, np.int8), np.zeros(m)
    floats, integers = np.zeros(count_floats(n, n, m)), np.zeros(count_integers(n, n, m), np.int64)
    rounds, status = limit_by_paper(
        H, b, low, high, wanted, weights, A, y, level, DAMPING, floats, integers, x, torque, at, residual
    )
    parts = tuple(np.split(residual, np.cumsum(sizes)[:-1])) if sizes else ()
    return LimitedAccelerations(x, torque, at, parts, rounds, status == CLIPPED, status != OUT)


@kernel
def limit_by_paper(
    H: np.ndarray,
    b: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    wanted: np.ndarray,
    weights: np.ndarray,
    A: np.ndarray,
    y: np.ndarray,
    level: np.ndarray,
    damping: float,
    floats: np.ndarray,
    integers: np.ndarray,
    x: np.ndarray,
    torque: np.ndarray,
    at: np.ndarray,
    residual: np.ndarray,
) -> tuple[int, int]:
    """As `limit` of `priority_kernels`, argument by argument."""
    given, goals = Ranges(H, b, low, high), Goals(A, y, level, damping)
    room = carve(floats, integers, len(b), len(wanted), len(y))
    begin(room, H, wanted, weights)
    set_center(room, given, wanted)
    # dx_1 = H'^+ dt', with what is out of range added until nothing is   [strength, eq 7 to 11]
    _add_only(room)
    set_x(room, x)
    polish(room, given, x)
    if len(y) > 0:
        # x = J_g^+ dg + (J_e N_g)^+ (de - J_e J_g^+ dg), from x_1, whatever torques it takes   [strength, eq 12 to 15]
        room.counts[MEMBERS] = 0
        room.state[:] = IGNORED
        reach_levels(room, given, goals, x)
        set_center(room, given, x)
        aim_kept(room)
        restart(room, last_level(level), len(y))
        settle(room)
        _take_back(room)
        set_x(room, x)  # [strength, eq 17]
    status = end(room, given, goals, floats, integers, x, torque, at, residual)
    return room.counts[ROUNDS], status


@kernel
def _add_only(room: Room) -> None:
    """Add whatever is out of its bounds and let nobody go: the paper's own way.   [strength, section 5.2]"""
    n = len(room.center)
    before = -1
    while before < room.counts[MEMBERS]:
        before = room.counts[MEMBERS]
        room.counts[FIXED] = before
        settle(room)
        for i in range(n):
            value = dot(room.rows[i], room.z, n)
            is_low, is_high = value < room.low[i] - room.slip[i], value > room.high[i] + room.slip[i]
            if room.state[i] == 0 and (is_low or is_high) and not join(room, i, int(is_low) - int(is_high)):
                room.state[i] = ASIDE
        room.counts[ROUNDS] += int(room.counts[MEMBERS] > before)


@kernel
def _take_back(room: Room) -> None:
    """Take from z what changes torques that it would take too far, until there are none.   [strength, eq 16]

    dx_2 = (1 - (S_2 H)^+ S_2 H) x
    """
    n = len(room.center)
    for i in range(n):
        room.moved[i] = room.z[i]
    room.state[:] = 0
    room.counts[MEMBERS] = 0
    before = -1
    while before < room.counts[MEMBERS]:
        before = room.counts[MEMBERS]
        for i in range(n):
            room.z[i] = room.moved[i]
        for j in range(before):
            add_to(room.z, -dot(room.Q[j], room.z, n), room.Q[j], n)
        for i in range(n):
            value = dot(room.rows[i], room.z, n)
            is_out = value < room.low[i] - room.slip[i] or value > room.high[i] + room.slip[i]
            if is_out and room.state[i] == 0 and not join(room, i, int(is_out)):
                room.state[i] = ASIDE
        room.counts[ROUNDS] += int(room.counts[MEMBERS] > before)

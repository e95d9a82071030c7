"""Accelerations within what torques allow, as near to those that are wanted as can be, with goals before them.

Source: Oshita and Makinouchi (2000), sections 5.2 to 5.4, eq 6 to 18.

    x (n,)     rad/s2, accelerations;  x0: those that are wanted   [strength, eq 4]
    t = H x + b     N m, torques (n,), H (n, n) regular, not always symmetric   [strength, eq 6]
    low, high  (n,) N m, what muscles can give   [strength, eq 5]
               There may be more or fewer rows than unknowns: pushes of the ground are unknowns, too, and have bounds.
    w          (n,) weights of the norm |x|^2 = sum of w_i x_i^2 / mean w
    A x = y    (m, n), (m,): goals, each with a level; those of a level come before those of all later ones

1. Without goals: the x with torques in range that is nearest to x0.   [strength, eq 7 to 11]
2. With goals, level by level: of all x with torques in range that leave earlier levels what they have, one with the
   least |A x - y|; at last, of all that do, the one nearest to x0.   [strength, eq 12 to 18]

A level is damped: where a small change of A x takes a large x, as for a straight arm, x would jump as the state passes
by. With the damping l (of the unit of A's rows: m for places, 1 for turns),

    least  |A x - y|^2 / l^2 + |x - x0|^2

is solved `PASSES` times, each from what the last has found. A direction with singular value s then misses
(1 + s^2 / l^2)^-PASSES of what it should do: half of it and more below l / 2, an eighth at l, and a billionth from 32 l
on. Later levels meet springs in the directions of a level that is done, exp(18 (s / l - 1)) (s / l)^2 times as stiff as
that of x0, and at most 1e10 times as stiff as any goal: directions below l / 2 are left to them, those above 3 l are
kept, and there is no edge between.

All of it is the one problem of `nearest_kernels`: see `ranges_kernels` and `levels_kernels`.

Differences from the source: eq 11 adds what is out of range and drops nobody, and matches the nearest x in a fifth of
random cases, so members with a multiplier of the wrong sign are dropped here; eq 10 has the transpose of H'; eq 12 has
the prioritised form, J_e N_g for J_e; in eq 16 torques that a goal takes to their bounds stay there while other
torques go on, where the paper lets them not change at all. The paper's own way is in
`limited_paper_kernels`.
"""

from __future__ import annotations

import numpy as np

from poise.dynamics.levels_kernels import Goals, aim_kept, last_level, most_rounds, pull, reach_levels, restart
from poise.dynamics.nearest_kernels import ROUNDS, Room, find_nearest
from poise.dynamics.ranges_kernels import (
    CLIPPED,
    OK,
    OUT,
    Ranges,
    begin,
    carve,
    count_floats,
    count_integers,
    finish,
    polish,
    set_center,
    set_x,
    tell_torques,
)
from poise.dynamics.rows_kernels import dot
from poise.spatial.compile import kernel

__all__ = ["CLIPPED", "OK", "OUT", "count_floats", "count_integers", "limit", "weigh"]


@kernel
def limit(
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
    """x (n,) rad/s2 as above, its torques (n,) N m, and where they are: `at` (n,), -1 low, 1 high, 0 between.

    level             (m,) integers that do not fall: rows of the same number are one level
    damping           l above, greater than 0
    floats, integers  room, float64 and int64: see `count_floats` and `count_integers`
    residual          (m,) A x - y

    Returns the rounds of the active set, and `OK`; `CLIPPED` where the search was given up and torques were cut to
    their ranges; `OUT` where they are out of them, as H is singular, or something given is not finite.
    """
    given, goals = Ranges(H, b, low, high), Goals(A, y, level, damping)
    room = carve(floats, integers, len(b), len(wanted), len(y))
    begin(room, H, wanted, weights)
    reach_levels(room, given, goals, wanted)
    set_center(room, given, wanted)
    aim_kept(room)
    restart(room, last_level(level), len(y))
    find_nearest(room, most_rounds(room))
    set_x(room, x)
    polish(room, given, x)
    status = end(room, given, goals, floats, integers, x, torque, at, residual)
    return room.counts[ROUNDS], status


@kernel
def weigh(
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
    """As `limit`, argument by argument, but all goals are springs beside the joints' own, whatever their level:

        least  |A x - y|^2 / l^2 + |x - x0|^2        with torques in range

    How much more a goal counts is the size of its rows over l. One problem in place of one a level.
    """
    given, goals = Ranges(H, b, low, high), Goals(A, y, level, damping)
    room = carve(floats, integers, len(b), len(wanted), len(y))
    begin(room, H, wanted, weights)
    pull(room, given, goals, wanted)
    find_nearest(room, most_rounds(room))
    set_x(room, x)
    polish(room, given, x)
    status = end(room, given, goals, floats, integers, x, torque, at, residual)
    return room.counts[ROUNDS], status


@kernel
def end(
    room: Room,
    given: Ranges,
    goals: Goals,
    floats: np.ndarray,
    integers: np.ndarray,
    x: np.ndarray,
    torque: np.ndarray,
    at: np.ndarray,
    residual: np.ndarray,
) -> int:
    """Have torques in range, and tell them, where they are and what goals miss; returns the status."""
    n, m, bounds = len(x), len(goals.y), len(given.b)
    square = floats[len(floats) - bounds * bounds :].reshape(bounds, bounds)
    status = finish(room, given, square, integers[len(integers) - bounds :], x)
    tell_torques(given, x, torque, at)
    for g in range(m):
        residual[g] = dot(goals.A[g], x, n) - goals.y[g]
    return status

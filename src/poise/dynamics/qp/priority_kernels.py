"""Goals in levels, each as near as can be without changing those before it, as rows for `nearest_kernels`.

What is solved is said in `limited_kernels`. A goal is a row [a, l] that always counts, with a slack of its own; when
its level is done, singular directions of the level take the place of its rows, and keep what they have.

Accelerations within what torques allow, as near to those that are wanted as can be, with goals before them.

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
`tests/oracles/paper_limiting.py`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from poise.compiled.kernel import kernel
from poise.dynamics.qp.active_set_kernels import FIXED, IGNORED, KEPT, MEMBERS, ROUNDS, Room, find_nearest, join
from poise.dynamics.qp.range_kernels import (
    CLIPPED,
    OK,
    OUT,
    Ranges,
    begin,
    carve,
    count_floats,
    count_integers,
    finish,
    move_center,
    polish,
    set_center,
    set_x,
    tell_torques,
)
from poise.dynamics.qp.row_kernels import add_to, dot

PASSES = 3
HOLD = 1e10  # how much stiffer a direction that is kept is than the goals that pull at it, (row / l)^2
STIFFEST = 1e18  # beyond, rounding would be all that is left


class Goals(NamedTuple):
    """A x should be y.

    A (m, n), y (m,);  level (m,) integers that do not fall;  damping l, in the unit of the rows
    """

    A: np.ndarray
    y: np.ndarray
    level: np.ndarray
    damping: float


@kernel
def reach_levels(room: Room, given: Ranges, goals: Goals, wanted: np.ndarray) -> None:
    """Level by level: bring its goals as near as can be, and have them kept."""
    n, m, same, first = len(wanted), len(goals.y), 0, 0
    pull = 1.0
    for g in range(m):
        square = 0.0
        for j in range(n):
            square += (goals.A[g, j] * room.roots[j] / goals.damping) ** 2
        pull = max(pull, square)
    hold = min(HOLD * pull, STIFFEST)
    while first < m:
        end = first + 1
        while end < m and goals.level[end] == goals.level[first]:
            end += 1
        _reach(room, given, goals, wanted, same, first, end)
        _keep(room, goals, hold, first, end)
        same, first = first, end
        room.counts[KEPT] = end


@kernel
def _reach(room: Room, given: Ranges, goals: Goals, wanted: np.ndarray, same: int, first: int, end: int) -> None:
    """Bring the goals `first` to `end` as near as earlier ones and torques allow.

    same  how many of the earlier ones are members as they are now
    """
    _set_rows(room, given, goals, wanted, first, end)
    aim_kept(room)
    restart(room, same, end)
    find_nearest(room, most_rounds(room))
    for _ in range(PASSES - 1):
        move_center(room, end)
        find_nearest(room, most_rounds(room))


@kernel
def pull(room: Room, given: Ranges, goals: Goals, wanted: np.ndarray) -> None:
    """Have all goals as members, as springs."""
    _set_rows(room, given, goals, wanted, 0, len(goals.y))
    restart(room, 0, len(goals.y))


@kernel
def _set_rows(room: Room, given: Ranges, goals: Goals, wanted: np.ndarray, first: int, end: int) -> None:
    """Rows of the goals `first` to `end`, each with a slack of its own, and what they want from the centre."""
    A, n, bounds = goals.A, len(wanted), len(room.value)
    for g in range(first, end):
        row = room.rows[bounds + g]
        row[:] = 0.0
        for j in range(n):
            row[j] = A[g, j] * room.roots[j]
        row[n + g] = goals.damping
        room.sizes[bounds + g] = math.sqrt(dot(row, row, len(row)))
        for j in range(len(row)):
            row[j] /= room.sizes[bounds + g]
    set_center(room, given, wanted)
    for g in range(first, end):
        off = (goals.y[g] - dot(A[g], room.center, n)) / room.sizes[bounds + g]
        room.low[bounds + g], room.high[bounds + g] = off, off


@kernel
def restart(room: Room, same: int, goals: int) -> None:
    """The first goals as the first members, of which some are still the same, then the bounds that were members."""
    bounds, count = len(room.value), 0
    for j in range(room.counts[MEMBERS]):
        if room.members[j] < bounds:
            room.r[count], room.y[count] = room.members[j], room.side[j]
            count += 1
    room.counts[MEMBERS] = same
    for g in range(bounds + same, bounds + goals):
        join(room, g, 0 * g)
    room.counts[FIXED] = room.counts[MEMBERS]
    for i in range(bounds):
        if room.state[i] != IGNORED:  # neither members nor set aside, which are of another problem
            room.state[i] = 0
    for j in range(count):
        join(room, int(room.r[j]), int(room.y[j]))


@kernel
def _keep(room: Room, goals: Goals, hold: float, first: int, end: int) -> None:
    """Turn goals that were reached into rows that keep what they have, each along one singular vector.

    v = A^T u / s with A A^T u = s^2 u, and a spring of stiffness f: the row [sqrt(f) v, 1] / sqrt(1 + f)
    """
    A, n, bounds, count = goals.A, len(room.center), len(room.value), end - first
    gram, turned = room.gram, room.turned
    for i in range(count):
        for j in range(n):
            room.v[j] = A[first + i, j] * room.roots[j] * room.roots[j]
        for j in range(count):
            gram[i, j] = dot(A[first + j], room.v, n)
            turned[i, j] = 1.0 if i == j else 0.0
    _find_axes(gram, turned, count)
    for i in range(count):
        s = math.sqrt(max(gram[i, i], 0.0))
        t = s / goals.damping
        f = min(t * t * math.exp(min(18.0 * (t - 1.0), 50.0)), hold)
        row = room.rows[bounds + first + i]
        row[:] = 0.0
        if s > 0.0:
            for g in range(count):
                add_to(row, turned[g, i] * math.sqrt(f) / s, A[first + g], n)
        for j in range(n):
            row[j] *= room.roots[j]
        row[n + first + i] = 1.0
        length = math.sqrt(dot(row, row, len(row)))
        value = 0.0
        for j in range(len(row)):
            row[j] /= length
        for j in range(n):
            value += row[j] * (room.center[j] / room.roots[j] + room.z[j])
        room.kept[first + i] = value


@kernel
def aim_kept(room: Room) -> None:
    """Have goals that were reached keep what they have, seen from the centre."""
    bounds = len(room.value)
    for g in range(room.counts[KEPT]):
        value = room.kept[g]
        for j in range(len(room.center)):
            value -= room.rows[bounds + g, j] * room.center[j] / room.roots[j]
        room.low[bounds + g], room.high[bounds + g] = value, value


@kernel
def last_level(level: np.ndarray) -> int:
    """The first row of the last level."""
    first = len(level)
    while first > 0 and level[first - 1] == level[-1]:
        first -= 1
    return first


@kernel
def most_rounds(room: Room) -> int:
    """Rounds that a search may take: some two are needed for each bound that is met."""
    return 20 * len(room.z) + 100


@kernel
def _find_axes(M: np.ndarray, U: np.ndarray, count: int) -> None:
    """Turn a symmetric M (count, count) into its eigenvalues, on the diagonal, and U, unit at first, into its vectors.

    Jacobi's rotations. Vectors are the columns of U.
    """
    for _ in range(30):
        off, on = 0.0, 0.0
        for i in range(count):
            on += M[i, i] * M[i, i]
            for j in range(i):
                off += M[i, j] * M[i, j]
        if not off > 1e-30 * on:
            return
        for i in range(count):
            for j in range(i + 1, count):
                if M[i, j] == 0.0:
                    continue
                a = (M[j, j] - M[i, i]) / (2.0 * M[i, j])
                t = (1.0 if a >= 0.0 else -1.0) / (abs(a) + math.sqrt(a * a + 1.0))
                c = 1.0 / math.sqrt(t * t + 1.0)
                s = t * c
                for g in range(count):
                    p, q = M[g, i], M[g, j]
                    M[g, i], M[g, j] = c * p - s * q, s * p + c * q
                for g in range(count):
                    p, q = M[i, g], M[j, g]
                    M[i, g], M[j, g] = c * p - s * q, s * p + c * q
                    p, q = U[g, i], U[g, j]
                    U[g, i], U[g, j] = c * p - s * q, s * p + c * q


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

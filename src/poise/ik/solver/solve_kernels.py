"""A figure posed by goals, the centre of mass first: compiled.

Round by round: place the figure, write a row for each number that a goal asks for, solve the rows
(`gauss_seidel_kernels`), turn the joints. What is first, the centre of mass over its support and the feet that stand,
is weighed by the paper's bias [balance, 9 as corrected]: both sides of its rows by the square root of mu, where mu goes
by the largest of these errors, E:

    mu <- sqrt(mu (1 + E / TRUE))                                                                [steps, 4]

Where nothing conflicts E vanishes and mu is 1. Where a hand wants to go where the body would fall, its error H is
balanced by mu E, so that E settles at sqrt(TRUE H): 3 mm for a hand that is kept back by a metre. The square root
halves mu's own way to there, since E goes as 1 / mu: it comes at once and does not swing.

Where all goals can be met at once, full steps for all of them get there in five or six rounds, and no weight matters:
that is tried first (`blocks`), damped by the square of the largest error. Where errors stay, it is given up and begun
anew with care:

Goals that cannot be met bend the way there: a step that is right for one rate of change takes feet off the ground. So
what is first is mended after each step, by steps of its own that ask for nothing else; then the step is kept if what is
second came nearer, and taken back and damped more if not (Levenberg and Marquardt's way, on feet that stand).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.compiled.kernel import kernel
from poise.ik.solver.gauss_seidel_kernels import BLOCKS
from poise.ik.solver.model_kernels import find_angles, place_figure, set_matrix, set_quaternion, set_turn
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
from poise.ik.solver.unreachable_kernels import FEW, ROUNDS, end_pose, is_short

# Straight on: of the error that is left by a round; rounds that leave more; times a careful step; m of error, that damp
NEARER, PATIENCE, WIDE, AWAY = 0.8, 3, 3.0, 0.06
MENDS = 20  # at the end, of what is first
AS_NEAR = 1.25  # times the best so far: what ends farther off is not brought nearer than that


class Asked(NamedTuple):
    """What is asked for of each of many poses; an array of one row stands for all."""

    root: np.ndarray  # (N, 3) m, where each begins
    turns: np.ndarray  # (N, J, 4)
    places: np.ndarray  # (N, P, 3) m
    goal_turns: np.ndarray  # (N, T, 4)
    looks: np.ndarray  # (N, L, 3) m
    center: np.ndarray  # (N, 3) m


class Answer(NamedTuple):
    """Poses that were found: written."""

    root: np.ndarray  # (N, 3) m
    turns: np.ndarray  # (N, J, 4)
    center: np.ndarray  # (N, 3) m
    misses: np.ndarray  # (N, P + T + L) m or rad
    told: np.ndarray  # (N, 4): see `solve_pose`


class Ways(NamedTuple):
    """How poses are looked for: see `solve_pose`."""

    span: float
    rounds: int
    sweeps: int
    most: float
    enough: float
    method: int


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
    told            (4,) rounds, solves in all, largest error of what is first and of what is second (m); written
    """
    kept = np.empty(count_kept(room))
    keep_pose(room, kept)
    forget_bounds(room)
    damping, slow, took, k = 1.0, 0, 0, 0
    primary, secondary, cost = write_rows(fig, goals, held, span, room)
    # Straight on: where all goals can be met at once, nothing needs to be weighed or judged
    if method == BLOCKS:
        nearest = np.inf
        while True:
            worst = max(primary, secondary)
            if worst < enough:
                told[0], told[1], told[2], told[3] = k, took, primary, secondary
                return
            slow = slow + 1 if worst > NEARER * nearest else 0
            nearest = min(nearest, worst)
            if slow > PATIENCE or k >= rounds:
                break
            careful = max(1.0, (worst / AWAY) ** 2)
            took += take_step(fig, room, 1.0, careful, WIDE * most, sweeps, True, method)
            primary, secondary, cost = write_rows(fig, goals, held, span, room)
            k += 1
        take_pose(kept, room)
        forget_bounds(room)
        primary, secondary, cost = write_rows(fig, goals, held, span, room)
        slow, rounds = 0, rounds + k
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
            keep_pose(room, kept)
        else:
            take_pose(kept, room)
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
    # Whatever was left undone, what is first is not
    mends = 0
    while primary > 0.5 * enough and mends < MENDS:
        mu[0] = max(1.0, np.sqrt(mu[0] * (1.0 + primary / TRUE)))
        took += take_step(fig, room, mu[0], 1.0, most, sweeps, False, method)
        primary, secondary, cost = write_rows(fig, goals, held, span, room)
        mends, k = mends + 1, k + 1
    told[0], told[1], told[2], told[3] = k, took, primary, secondary


@kernel
def take_row(rows: np.ndarray, i: int) -> int:
    """The row of one of many: its own, or the one that stands for all."""
    return i if len(rows) > 1 else 0


@kernel
def solve_poses(
    fig: FigureArrays, goals: GoalArrays, held: int, ways: Ways, starts: np.ndarray, asked: Asked, begin: int, end: int,
    low: np.ndarray, high: np.ndarray, room: Room, answer: Answer,
) -> None:  # fmt: skip
    """Pose a figure as each of the poses from `begin` to `end` asks, none of them by any other.

    starts     (S, J, 3) rad: poses to begin anew at, where goals are not met; the best that comes of them is taken, and
               ended (`ik/solver/unreachable_kernels.py`); none: what is not met is left as it is
    low, high  (n,) the ranges; those of `fig` are written: wider where a pose begins beyond them

    What is long is called in one place each: it is compiled again with whoever calls it.
    """
    told, best, count, mu = np.empty(4), np.empty(count_kept(room)), len(starts), np.ones(1)
    for i in range(begin, end):
        _begin(fig, goals, held, asked, i, low, high, room)
        found, is_missed = answer.told[i], False
        place, turn = room.place.copy(), room.turn.copy()
        for s in range(-1, count + 1):  # from where it begins, anew from each start; last, the best of them
            ends, rounds = False, FEW
            if s < count:
                if s >= 0:
                    if max(found[2], found[3]) < ways.enough:
                        continue
                    _start(fig, starts[s], place, turn, room)
                mu[0] = 1.0
                solve_pose(
                    fig, goals, held, ways.span, ways.rounds, ways.sweeps, ways.most, ways.enough, ways.method, mu,
                    room, told,
                )  # fmt: skip
                if s < 0:
                    is_missed = ends = count > 0 and max(told[2], told[3]) >= ways.enough
                else:
                    ends = told[3] < AS_NEAR * found[3]
            else:
                if is_missed:
                    take_pose(best, room)
                    write_rows(fig, goals, held, ways.span, room)
                told[:] = found
                ends, rounds = count > 0, ROUNDS
            if ends and ways.method == BLOCKS and is_short(goals, ways.enough, room, told):
                end_pose(fig, goals, held, ways.span, rounds, ways.sweeps, ways.most, ways.enough, room, told)
            if s < 0 or s == count:
                found[:] = told
            if s < 0 or (s < count and _is_better(told, found, ways.enough)):
                keep_pose(room, best)
                found[2], found[3] = told[2], told[3]
            if 0 <= s < count:
                found[0] += told[0]
                found[1] += told[1]
        _write_answer(fig, goals, ways.span, room, asked.turns[take_row(asked.turns, i)], i, answer)


@kernel
def _begin(
    fig: FigureArrays, goals: GoalArrays, held: int, asked: Asked, i: int, low: np.ndarray, high: np.ndarray, room: Room
) -> None:
    """The goals of one of many poses, and the room where it begins."""
    turns = asked.turns[take_row(asked.turns, i)]
    goals.point_goal[:] = asked.places[take_row(asked.places, i)]
    goals.look_goal[:] = asked.looks[take_row(asked.looks, i)]
    goals.center[:] = asked.center[take_row(asked.center, i)]
    for g in range(len(goals.turn_body)):
        set_matrix(asked.goal_turns[take_row(asked.goal_turns, i), g], goals.turn_goal[g])
    for k in range(len(turns)):
        set_matrix(turns[k], room.local[k])
        if fig.turns[k]:
            find_angles(turns[k], fig.before[k], fig.after[k], room.angles[k])
    for j in range(len(low)):
        own = room.angles[fig.joint[j], fig.which[j]] if fig.joint[j] >= 0 else 0.0
        fig.low[j], fig.high[j] = min(low[j], own), max(high[j], own)
    place_figure(
        fig.parents, fig.offsets, room.local, -1, asked.root[take_row(asked.root, i)], room.local[0], room.R, room.p
    )
    room.place[:], room.turn[:] = room.p[max(held, 0)], room.R[max(held, 0)]


@kernel
def _start(fig: FigureArrays, angles: np.ndarray, place: np.ndarray, turn: np.ndarray, room: Room) -> None:
    """A room at other angles (J, 3), where it began."""
    room.place[:], room.turn[:] = place, turn
    for k in range(1, len(angles)):
        if fig.turns[k]:
            room.angles[k] = angles[k]
    room.d[:] = 0.0
    move_figure(fig, room.d, room.angles, room.local, room.place, room.turn)


@kernel
def _is_better(told: np.ndarray, than: np.ndarray, enough: float) -> bool:
    """What is first as well, and what is second nearer; or what is first nearer, where it was not met."""
    if max(told[2], enough) == max(than[2], enough):
        return told[3] < than[3]
    return told[2] < than[2]


@kernel
def _write_answer(
    fig: FigureArrays, goals: GoalArrays, span: float, room: Room, turns: np.ndarray, i: int, answer: Answer
) -> None:
    """The pose of a room, and how far each goal is off: points, turns, looks."""
    answer.root[i], answer.turns[i] = room.p[0], turns
    for k in range(1, len(turns)):
        if fig.turns[k]:
            set_turn(room.angles[k], fig.before[k], fig.after[k], answer.turns[i, k])
    set_quaternion(room.R[0], turns[0], answer.turns[i, 0])
    for a in range(3):
        answer.center[i, a] = room.under[0, 1 + a] / room.under[0, 0]
    count = len(goals.point_body) + len(goals.turn_body) + len(goals.look_body)
    row = len(room.e) - 3 * count
    for g in range(count):
        miss = np.sqrt(room.e[row] ** 2 + room.e[row + 1] ** 2 + room.e[row + 2] ** 2)
        if g < len(goals.point_body) and goals.point_above[g]:
            miss = max(-room.e[row + 1], 0.0)
        answer.misses[i, g] = miss if g < len(goals.point_body) else miss / span
        row += 3

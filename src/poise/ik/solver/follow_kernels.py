"""A figure that follows goals frame after frame, smoothly: compiled.

Every frame asks for the pose that makes

    sum_i w_i e_i^2 + sum_j s_j (c (q_j - r_j)^2 + barrier_j)      least, with every angle in its range      [follow, 1]

e_i being the goals' errors, r the comfortable pose, c the comfort and s_j the stiffness of an angle. The pose is so a
function of what is asked for, and as smooth as that; it does not depend on the frame rate, nor on how it came there.
A frame takes a fixed number of Gauss and Newton's rounds from the pose of the last one, never one more or less: nothing
is judged, and what is first has a weight of its own that does not change. Each round is damped by

    SLOW c + E^2 / AWAY^2                                                                                [follow, 2]

with E the largest error (m): goals that jump, or are out of reach, are approached without swinging. The first part is
for what a rate of change does not see: how comfort's pull on the goals changes as these are met another way.

Near its end an angle is pushed back, gently at first, so that it does not run into it: within z of the end, at g,

    barrier' = 2 K (z - g)^2 / g,      z the least of ZONE and the comfortable pose's own distance          [follow, 3]

A pose that is comfortable and meets its goals is therefore left exactly as it is, at the ends of its ranges too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.compiled.kernel import kernel
from poise.ik.solver.gauss_seidel_kernels import sweep_blocks
from poise.ik.solver.model_kernels import find_angles, set_matrix, set_quaternion, set_turn
from poise.ik.solver.row_kernels import FigureArrays, GoalArrays, Room, write_rows
from poise.ik.solver.solve_kernels import take_row
from poise.ik.solver.step_kernels import move_figure

HEAVY = 1e4  # weight of a goal of weight 1, beside a comfort of 1
FIRST = 1e4  # by which the weight of what is first is more
SLOW, AWAY = 1.0, 0.03  # 1; m: an error that damps as much as a comfort of 1
ZONE, LEAST, STEEP = 0.15, 2e-3, 1.0  # rad, rad, and K
_SWEEPS, _MOST = 24, 0.5  # at most; rad that an angle changes by in a round


class AskedFrames(NamedTuple):
    """What is asked for, frame by frame; an array of one row stands for all frames."""

    places: np.ndarray  # (F, P, 3) m
    turns: np.ndarray  # (F, T, 4)
    looks: np.ndarray  # (F, L, 3) m
    weights: np.ndarray  # (F, P + T + L)
    center: np.ndarray  # (F, 3) m
    center_weight: np.ndarray  # (F, 3)
    edges: np.ndarray  # (F, K, 3)
    held: np.ndarray  # (F,)
    rest: np.ndarray  # (F, J, 3) rad
    comfort: np.ndarray  # (F,)
    given: np.ndarray  # (F, G, 4)
    base_place: np.ndarray  # (F, 3) m, of the held body; no rows: it stays
    base_turn: np.ndarray  # (F, 4)


class FollowedFrames(NamedTuple):
    """What comes of it: written."""

    root: np.ndarray  # (F, 3) m
    rotations: np.ndarray  # (F, J, 4)
    center: np.ndarray  # (F, 3) m
    first: np.ndarray  # (F,) m, the largest error of what is first
    second: np.ndarray  # (F,) m, and of what is second


@kernel
def set_goals(goals: GoalArrays, frames: AskedFrames, f: int) -> None:
    """Write what is asked for in a frame into the goals' arrays."""
    points, turns, looks = len(goals.point_body), len(goals.turn_body), len(goals.look_body)
    goals.point_goal[:] = frames.places[take_row(frames.places, f)]
    goals.look_goal[:] = frames.looks[take_row(frames.looks, f)]
    goals.edges[:] = frames.edges[take_row(frames.edges, f)]
    goals.center[:] = frames.center[take_row(frames.center, f)]
    weights, given = frames.weights[take_row(frames.weights, f)], frames.turns[take_row(frames.turns, f)]
    for i in range(points):
        goals.point_weight[i] = HEAVY * weights[i]
    for i in range(turns):
        goals.turn_weight[i] = HEAVY * weights[points + i]
        set_matrix(given[i], goals.turn_goal[i])
    for i in range(looks):
        goals.look_weight[i] = HEAVY * weights[points + turns + i]
    for a in range(3):
        goals.center_weight[a] = HEAVY * frames.center_weight[take_row(frames.center_weight, f), a]


@kernel
def _push_back(gap: float, zone: float) -> tuple[float, float]:
    """Force of an angle's end on it, and how fast that grows.   [follow, 3]"""
    gap = max(gap, LEAST)
    deep = max(zone - gap, 0.0)
    share = deep / gap
    return STEEP * deep * share, STEEP * share * (2.0 + share)


@kernel
def _weigh(fig: FigureArrays, room: Room, rest: np.ndarray, is_given: np.ndarray, comfort: float, away: float) -> None:
    """Stiffness, ranges and likings of a round.   [follow, 1 to 3]"""
    for i in range(len(room.e)):
        if room.first[i]:
            room.weights[i] *= FIRST
    for j in range(len(fig.joint)):
        k, a = fig.joint[j], fig.which[j]
        hard = SLOW * comfort + away * away / (AWAY * AWAY)
        if k < 0:
            room.soft[j], room.likes[j], room.low[j], room.high[j] = 1.0 / hard, 0.0, -_MOST, _MOST
            continue
        if is_given[k]:
            room.soft[j], room.likes[j], room.low[j], room.high[j] = 0.0, 0.0, 0.0, 0.0
            continue
        angle, low, high = room.angles[k, a], fig.low[j], fig.high[j]
        liked = min(max(rest[k, a], low), high)
        hard += comfort
        force = comfort * (liked - angle)
        zone = min(ZONE, liked - low)
        if angle - low < zone:
            near, steep = _push_back(angle - low, zone)
            hard, force = hard + steep, force + near
        zone = min(ZONE, high - liked)
        if high - angle < zone:
            near, steep = _push_back(high - angle, zone)
            hard, force = hard + steep, force - near
        room.soft[j] = fig.soft[j] / hard
        room.low[j] = max(low - angle, -_MOST)
        room.high[j] = max(min(high - angle, _MOST), room.low[j])
        room.likes[j] = min(max(force / hard, room.low[j]), room.high[j])


@kernel
def follow_frames(
    fig: FigureArrays, goals: GoalArrays, span: float, rounds: int, is_given: np.ndarray, given: np.ndarray,
    frames: AskedFrames, room: Room, held: np.ndarray, turns: np.ndarray, out: FollowedFrames,
) -> None:  # fmt: skip
    """Pose a figure frame after frame: `room` has where it begins, and where it ends.

    is_given, given  (J,) and (G,): joints that turn as the frames say
    held             (1,) the body that stays, FREE: none; kept from call to call
    turns            (J, 4) rotations, kept from call to call
    """
    for f in range(len(out.root)):
        set_goals(goals, frames, f)
        rest, comfort = frames.rest[take_row(frames.rest, f)], frames.comfort[take_row(frames.comfort, f)]
        now = frames.held[take_row(frames.held, f)]
        if now != held[0]:  # the body of the new one stays where it is now
            held[0] = now
            room.place[:], room.turn[:] = room.p[max(now, 0)], room.R[max(now, 0)]
        if len(frames.base_place):
            room.place[:] = frames.base_place[take_row(frames.base_place, f)]
            set_matrix(frames.base_turn[take_row(frames.base_turn, f)], room.turn)
        for g in range(len(given)):
            i = given[g]
            turns[i] = frames.given[take_row(frames.given, f), g]
            set_matrix(turns[i], room.local[i])
            find_angles(turns[i], fig.before[i], fig.after[i], room.angles[i])
        for _ in range(rounds):
            primary, secondary, _ = write_rows(fig, goals, held[0], span, room)
            _weigh(fig, room, rest, is_given, comfort, max(primary, secondary))
            sweep_blocks(
                room.J, room.e, room.sides, room.weights, room.soft, room.low, room.high, _SWEEPS, room.pushes,
                room.locked, room.pull, room.likes, room.d,
            )  # fmt: skip
            move_figure(fig, room.d, room.angles, room.local, room.place, room.turn)
        out.first[f], out.second[f], _ = write_rows(fig, goals, held[0], span, room)
        for i in range(1, len(turns)):
            if fig.turns[i] and not is_given[i]:
                set_turn(room.angles[i], fig.before[i], fig.after[i], turns[i])
        set_quaternion(room.R[0], turns[0].copy(), turns[0])
        out.root[f], out.rotations[f] = room.p[0], turns
        for a in range(3):
            out.center[f, a] = room.under[0, 1 + a] / room.under[0, 0]

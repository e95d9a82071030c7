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

from poise.ik.figure_kernels import set_matrix, set_turn
from poise.ik.gauss_seidel_kernels import sweep_blocks
from poise.ik.solve_kernels import FigureArrays, GoalArrays, Room, move_figure, write_rows
from poise.spatial.compile import kernel

HEAVY = 1e4  # weight of a goal of weight 1, beside a comfort of 1
FIRST = 1e4  # by which the weight of what is first is more
SLOW, AWAY = 1.0, 0.03  # 1; m: an error that damps as much as a comfort of 1
ZONE, LEAST, STEEP = 0.15, 2e-3, 1.0  # rad, rad, and K
_SWEEPS, _MOST = 24, 0.5  # at most; rad that an angle changes by in a round


class Frames(NamedTuple):
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


class Followed(NamedTuple):
    """What comes of it: written."""

    root: np.ndarray  # (F, 3) m
    rotations: np.ndarray  # (F, J, 4)
    center: np.ndarray  # (F, 3) m
    first: np.ndarray  # (F,) m, the largest error of what is first
    second: np.ndarray  # (F,) m, and of what is second


@kernel
def find_angles(q: np.ndarray, before: np.ndarray, after: np.ndarray, angles: np.ndarray) -> None:
    """The angles (3,) of a joint's rotation q (4,): the opposite of `set_turn`.   [limits]"""
    # E = P q C^-1, with P^-1 = before and C = after
    bw, bx, by, bz = before[0], -before[1], -before[2], -before[3]
    cw, cx, cy, cz = after[0], -after[1], -after[2], -after[3]
    ew, ex = bw * q[0] - bx * q[1] - by * q[2] - bz * q[3], bw * q[1] + bx * q[0] + by * q[3] - bz * q[2]
    ey, ez = bw * q[2] - bx * q[3] + by * q[0] + bz * q[1], bw * q[3] + bx * q[2] - by * q[1] + bz * q[0]
    w, x = ew * cw - ex * cx - ey * cy - ez * cz, ew * cx + ex * cw + ey * cz - ez * cy
    y, z = ew * cy - ex * cz + ey * cw + ez * cx, ew * cz + ex * cy - ey * cx + ez * cw
    size = np.sqrt(w * w + y * y)
    tw, ty = (1.0, 0.0) if size < 1e-12 else (w / size, y / size)
    if tw < 0.0:
        tw, ty = -tw, -ty
    angles[1] = 2.0 * np.arctan2(ty, tw)
    # The swing is E times the twist's opposite; its y is 0
    sw, sx, sz = w * tw + y * ty, x * tw + z * ty, z * tw - x * ty
    sine = np.sqrt(sx * sx + sz * sz)
    if sw < 0.0:
        sw, sx, sz = -sw, -sx, -sz
    scale = 2.0 if sine < 1e-12 else 2.0 * np.arctan2(sine, sw) / sine
    angles[0], angles[2] = scale * sx, scale * sz


@kernel
def set_quaternion(R: np.ndarray, near: np.ndarray, q: np.ndarray) -> None:
    """The unit quaternion (4,) of a matrix (3, 3), of the two the one on the side of `near`."""
    xx, yy, zz = R[0, 0], R[1, 1], R[2, 2]
    w, x, y, z = 1.0 + xx + yy + zz, 1.0 + xx - yy - zz, 1.0 - xx + yy - zz, 1.0 - xx - yy + zz
    if w >= max(x, y, z):
        q[0], q[1], q[2], q[3] = w, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    elif x >= max(y, z):
        q[0], q[1], q[2], q[3] = R[2, 1] - R[1, 2], x, R[1, 0] + R[0, 1], R[0, 2] + R[2, 0]
    elif y >= z:
        q[0], q[1], q[2], q[3] = R[0, 2] - R[2, 0], R[1, 0] + R[0, 1], y, R[2, 1] + R[1, 2]
    else:
        q[0], q[1], q[2], q[3] = R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[2, 1] + R[1, 2], z
    size = np.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if q[0] * near[0] + q[1] * near[1] + q[2] * near[2] + q[3] * near[3] < 0.0:
        size = -size
    for a in range(4):
        q[a] /= size


@kernel
def _take(rows: np.ndarray, f: int) -> int:
    """The row of a frame: its own, or the one that stands for all."""
    return f if len(rows) > 1 else 0


@kernel
def set_goals(goals: GoalArrays, frames: Frames, f: int) -> None:
    """Write what is asked for in a frame into the goals' arrays."""
    points, turns, looks = len(goals.point_body), len(goals.turn_body), len(goals.look_body)
    goals.point_goal[:] = frames.places[_take(frames.places, f)]
    goals.look_goal[:] = frames.looks[_take(frames.looks, f)]
    goals.edges[:] = frames.edges[_take(frames.edges, f)]
    goals.center[:] = frames.center[_take(frames.center, f)]
    weights, given = frames.weights[_take(frames.weights, f)], frames.turns[_take(frames.turns, f)]
    for i in range(points):
        goals.point_weight[i] = HEAVY * weights[i]
    for i in range(turns):
        goals.turn_weight[i] = HEAVY * weights[points + i]
        set_matrix(given[i], goals.turn_goal[i])
    for i in range(looks):
        goals.look_weight[i] = HEAVY * weights[points + turns + i]
    for a in range(3):
        goals.center_weight[a] = HEAVY * frames.center_weight[_take(frames.center_weight, f), a]


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
    frames: Frames, room: Room, held: np.ndarray, turns: np.ndarray, out: Followed,
) -> None:  # fmt: skip
    """Pose a figure frame after frame: `room` has where it begins, and where it ends.

    is_given, given  (J,) and (G,): joints that turn as the frames say
    held             (1,) the body that stays, FREE: none; kept from call to call
    turns            (J, 4) rotations, kept from call to call
    """
    for f in range(len(out.root)):
        set_goals(goals, frames, f)
        rest, comfort = frames.rest[_take(frames.rest, f)], frames.comfort[_take(frames.comfort, f)]
        now = frames.held[_take(frames.held, f)]
        if now != held[0]:  # the body of the new one stays where it is now
            held[0] = now
            room.place[:], room.turn[:] = room.p[max(now, 0)], room.R[max(now, 0)]
        if len(frames.base_place):
            room.place[:] = frames.base_place[_take(frames.base_place, f)]
            set_matrix(frames.base_turn[_take(frames.base_turn, f)], room.turn)
        for g in range(len(given)):
            i = given[g]
            turns[i] = frames.given[_take(frames.given, f), g]
            set_matrix(turns[i], room.local[i])
            find_angles(turns[i], fig.before[i], fig.after[i], room.angles[i])
        for _ in range(rounds):
            primary, secondary, _ = write_rows(fig, goals, held[0], span, room)
            _weigh(fig, room, rest, is_given, comfort, max(primary, secondary))
            sweep_blocks(
                room.J, room.e, room.sides, room.weights, room.first, room.soft, room.low, room.high, _SWEEPS, False,
                room.pushes, room.locked, room.pull, room.likes, room.d,
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

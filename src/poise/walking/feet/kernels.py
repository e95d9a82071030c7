"""How one foot goes, at any time: compiled. See `walking/feet/stance.py`.

A stance and the swing after it are one row of numbers, in the order of `STANCE`; a foot's shape is `FOOT`.

Whether a foot touches anything on its way: compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.motion.playback.part_kernels import log_between, multiply, set_exp
from poise.walking.footholds.kernels import find_surface

# Columns of a stance, and of the swing after it.
PLACE, TURN, LAND, FLAT, RISE, OFF, STRIKE, PUSH, PACE = 0, 3, 7, 8, 9, 10, 11, 12, 13
TOP, UP, DOWN, EARLY, LATE, TIP, COLUMNS = 14, 15, 16, 17, 18, 19, 20
# Numbers of a foot's shape.
DROP, BALL, HEEL, HINGE, TOES, NUMBERS = 0, 1, 4, 7, 10, 11
ROLL = 1.6  # of its mean speed, that a foot rolls with as it lands
_TIPPED = 64.0  # makes the largest u^3 (1 - u)^3 one


@kernel
def find_quintic(
    t: float, span: float, p0: float, v0: float, a0: float, p1: float, v1: float, a1: float
) -> tuple[float, float, float]:
    """Value, rate and change of it at t of the quintic between two such triples, `span` s apart."""
    if span <= 0.0:
        return p1, v1, a1
    s = min(max(t / span, 0.0), 1.0)
    v0, a0, v1, a1 = v0 * span, a0 * span**2, v1 * span, a1 * span**2
    d = p1 - p0
    c3 = 10 * d - 6 * v0 - 4 * v1 - 1.5 * a0 + 0.5 * a1
    c4 = -15 * d + 8 * v0 + 7 * v1 + 1.5 * a0 - a1
    c5 = 6 * d - 3 * v0 - 3 * v1 - 0.5 * a0 + 0.5 * a1
    return (
        p0 + s * (v0 + s * (0.5 * a0 + s * (c3 + s * (c4 + s * c5)))),
        (v0 + s * (a0 + s * (3 * c3 + s * (4 * c4 + s * 5 * c5)))) / span,
        (a0 + s * (6 * c3 + s * (12 * c4 + s * 20 * c5))) / span**2,
    )


@kernel
def find_pitch(row: np.ndarray, t: float) -> tuple[float, float, float]:
    """rad: by how much the heel is up in a stance (negative: the toes are), how fast, and how that changes."""
    if t < row[FLAT]:
        span = row[FLAT] - row[LAND]
        if span <= 0.0:
            return 0.0, 0.0, 0.0
        return find_quintic(t - row[LAND], span, -row[STRIKE], ROLL * row[STRIKE] / span, 0.0, 0.0, 0.0, 0.0)
    if t > row[RISE]:
        span = row[OFF] - row[RISE]
        if span <= 0.0:
            return 0.0, 0.0, 0.0
        return find_quintic(t - row[RISE], span, 0.0, 0.0, 0.0, row[PUSH], row[PACE] * row[PUSH] / span, 0.0)
    return 0.0, 0.0, 0.0


@kernel
def rotate(q: np.ndarray, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A vector turned by q (4,)."""
    tx, ty, tz = 2.0 * (q[2] * z - q[3] * y), 2.0 * (q[3] * x - q[1] * z), 2.0 * (q[1] * y - q[2] * x)
    return (
        x + q[0] * tx + (q[2] * tz - q[3] * ty), y + q[0] * ty + (q[3] * tx - q[1] * tz),
        z + q[0] * tz + (q[1] * ty - q[2] * tx),
    )  # fmt: skip


@kernel
def tip_foot(foot: np.ndarray, turn: np.ndarray, pitch: float, out: np.ndarray) -> None:
    """A turn (4,) with the heel up by an angle, or the toes."""
    s = np.sin(0.5 * pitch)
    tipped = np.empty(4)
    tipped[0], tipped[1], tipped[2], tipped[3] = (
        np.cos(0.5 * pitch),
        s * foot[HINGE],
        s * foot[HINGE + 1],
        s * foot[HINGE + 2],
    )
    multiply(turn, tipped, out)


@kernel
def stand_foot(foot: np.ndarray, row: np.ndarray, t: float, place: np.ndarray, turn: np.ndarray) -> float:
    """A foot in a stance: place (3,) m of its joint and turn (4,), written; returns how far (rad) its toes are bent."""
    q = row[TURN : TURN + 4]
    x, y, z = rotate(q, 0.0, foot[DROP], 0.0)
    place[0], place[1], place[2] = row[PLACE] + x, row[PLACE + 1] + y, row[PLACE + 2] + z
    pitch = find_pitch(row, t)[0]
    if pitch == 0.0:
        turn[:] = q
        return 0.0
    at = BALL if pitch > 0.0 else HEEL
    x, y, z = rotate(q, foot[at], foot[at + 1], foot[at + 2])
    place[0] += x
    place[1] += y
    place[2] += z
    tip_foot(foot, q, pitch, turn)
    x, y, z = rotate(turn, foot[at], foot[at + 1], foot[at + 2])
    place[0] -= x
    place[1] -= y
    place[2] -= z
    return pitch if pitch > 0.0 and foot[TOES] > 0.0 else 0.0


@kernel
def swing_foot(
    foot: np.ndarray, row: np.ndarray, after: np.ndarray, t: float, place: np.ndarray, turn: np.ndarray
) -> float:
    """A foot on its way from one stance to the next: see `stand_foot`."""
    span, since = after[LAND] - row[OFF], t - row[OFF]
    b0, b1, b2 = find_pitch(row, row[OFF])
    e0, e1, e2 = find_pitch(after, after[LAND])
    u = since / span
    pitch = find_quintic(since, span, b0, b1, b2, e0, e1, e2)[0] + row[TIP] * _TIPPED * u**3 * (1.0 - u) ** 3
    s = find_quintic(since, span, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0)[0]
    between, part, flat = np.empty(3), np.empty(4), np.empty(4)
    log_between(row[TURN : TURN + 4], after[TURN : TURN + 4], between)
    for a in range(3):
        between[a] *= s
    set_exp(between, part)
    multiply(row[TURN : TURN + 4], part, flat)
    tip_foot(foot, flat, pitch, turn)
    # The ball leaves at rest; it arrives as the toes come down about the heel:
    # x = heel + R l,  x' = w x R l,  x'' = a x R l + w x (w x R l)
    begin, last, speed, bend = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    x, y, z = rotate(row[TURN : TURN + 4], foot[BALL], foot[BALL + 1] + foot[DROP], foot[BALL + 2])
    begin[0], begin[1], begin[2] = row[PLACE] + x, row[PLACE + 1] + y, row[PLACE + 2] + z
    end = after[TURN : TURN + 4]
    hx, hy, hz = rotate(end, foot[HEEL], foot[HEEL + 1] + foot[DROP], foot[HEEL + 2])
    ax, ay, az = rotate(end, foot[HINGE], foot[HINGE + 1], foot[HINGE + 2])
    tip_foot(foot, end, e0, part)
    lx, ly, lz = rotate(part, foot[BALL] - foot[HEEL], foot[BALL + 1] - foot[HEEL + 1], foot[BALL + 2] - foot[HEEL + 2])
    last[0], last[1], last[2] = after[PLACE] + hx + lx, after[PLACE + 1] + hy + ly, after[PLACE + 2] + hz + lz
    cx, cy, cz = ay * lz - az * ly, az * lx - ax * lz, ax * ly - ay * lx
    speed[0], speed[1], speed[2] = e1 * cx, e1 * cy, e1 * cz
    bend[0] = e2 * cx + e1 * (ay * speed[2] - az * speed[1])
    bend[1] = e2 * cy + e1 * (az * speed[0] - ax * speed[2])
    bend[2] = e2 * cz + e1 * (ax * speed[1] - ay * speed[0])
    early, late = row[EARLY] * span, row[LATE] * span
    along = span - early - late
    now = min(max(since - early, 0.0), along)
    for a in (0, 2):
        place[a] = find_quintic(now, along, begin[a], 0.0, 0.0, last[a], speed[a], bend[a])[0]
    top = max(begin[1], last[1]) + row[TOP]
    if since <= row[UP] * span:
        place[1] = find_quintic(since, row[UP] * span, begin[1], 0.0, 0.0, top, 0.0, 0.0)[0]
    elif since >= row[DOWN] * span:
        place[1] = find_quintic(
            since - row[DOWN] * span, (1.0 - row[DOWN]) * span, top, 0.0, 0.0, last[1], speed[1], bend[1]
        )[0]
    else:
        place[1] = top
    x, y, z = rotate(turn, foot[BALL], foot[BALL + 1], foot[BALL + 2])
    place[0] -= x
    place[1] -= y
    place[2] -= z
    if foot[TOES] > 0.0 and b0 > 0.0:  # the toes go back to straight within the first part of the swing
        late = 0.6 * span
        return max(find_quintic(min(since, late), late, b0, b1, b2, 0.0, 0.0, 0.0)[0], 0.0)
    return 0.0


@kernel
def follow_foot(foot: np.ndarray, rows: np.ndarray, t: float, place: np.ndarray, turn: np.ndarray) -> float:
    """A foot at time t, by its stances (N, COLUMNS): see `stand_foot`."""
    i = len(rows) - 1
    while i > 0 and rows[i, LAND] > t:
        i -= 1
    if t <= rows[i, OFF] or i == len(rows) - 1:
        return stand_foot(foot, rows[i], t, place, turn)
    return swing_foot(foot, rows[i], rows[i + 1], t, place, turn)


@kernel
def follow_feet(
    foot: np.ndarray, rows: np.ndarray, times: np.ndarray, places: np.ndarray, turns: np.ndarray, bends: np.ndarray
) -> None:
    """A foot at times (F,): places (F, 3) m, turns (F, 4), bends (F,) rad, written."""
    for k in range(len(times)):
        bends[k] = follow_foot(foot, rows, times[k], places[k], turns[k])


@kernel
def follow_levels(rows: np.ndarray, times: np.ndarray, levels: np.ndarray) -> None:
    """How high (F,) m the ground under a foot is at times (F,), written: on its way from one stance's to the next's."""
    for k in range(len(times)):
        i = len(rows) - 1
        while i > 0 and rows[i, LAND] > times[k]:
            i -= 1
        levels[k] = rows[i, PLACE + 1]
        if times[k] > rows[i, OFF] and i < len(rows) - 1:
            after, since = rows[i + 1], times[k] - rows[i, OFF]
            levels[k] = find_quintic(
                since, after[LAND] - rows[i, OFF], rows[i, PLACE + 1], 0.0, 0.0, after[PLACE + 1], 0.0, 0.0
            )[0]


@kernel
def place_sole(
    foot: np.ndarray, heel: np.ndarray, front: np.ndarray, place: np.ndarray, turn: np.ndarray, bend: float,
    out: np.ndarray,
) -> None:  # fmt: skip
    """Corners of a foot's heel and of its front, toes bent, in the world: (N, 3) m."""
    n = len(heel)
    for i in range(n):
        x, y, z = rotate(turn, heel[i, 0], heel[i, 1], heel[i, 2])
        out[i, 0], out[i, 1], out[i, 2] = place[0] + x, place[1] + y, place[2] + z
    toes = np.empty(4)
    tip_foot(foot, turn, -bend, toes)
    bx, by, bz = rotate(turn, foot[BALL], foot[BALL + 1], foot[BALL + 2])
    for i in range(len(front)):
        x, y, z = rotate(toes, front[i, 0] - foot[BALL], front[i, 1] - foot[BALL + 1], front[i, 2] - foot[BALL + 2])
        out[n + i, 0], out[n + i, 1], out[n + i, 2] = place[0] + bx + x, place[1] + by + y, place[2] + bz + z


@kernel
def measure_swing(
    floor: Any, foot: np.ndarray, heel: np.ndarray, front: np.ndarray, rows: np.ndarray, samples: np.ndarray,
    clear: float, touch: float, below: float, room: float,
) -> tuple[float, float]:  # fmt: skip
    """m, how much too low the swing from rows[0] to rows[1] is at its worst, and by how much more it should rise.

    samples  (N,) of its time;  clear m, that it keeps over the ground on its way;  touch m, that is not seen
    below    m: what is higher is not under it;  room m, that is free over it
    """
    place, turn, points = np.empty(3), np.empty(4), np.empty((len(heel) + len(front), 3))
    span, deepest, more = rows[1, LAND] - rows[0, OFF], 0.0, 0.0
    for u in samples:
        bend = swing_foot(foot, rows[0], rows[1], rows[0, OFF] + u * span, place, turn)
        place_sole(foot, heel, front, place, turn, bend, points)
        # of what its top is raised by, that it is raised here
        s = min(u / rows[0, UP], (1.0 - u) / (1.0 - rows[0, DOWN]), 1.0)
        share = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        for i in range(len(points)):
            low = find_surface(floor, points[i, 0], points[i, 2], below, room) + clear * share - points[i, 1]
            if low > touch:
                deepest = max(deepest, low)
                more = max(more, low / max(share, 0.1))
    return deepest, more

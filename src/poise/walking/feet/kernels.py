"""One foot at any time, and the distance of its swing from the ground: compiled. See `stance.py` and `swing.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.motion.playback.part_kernels import log_between, multiply, set_exp
from poise.walking.feet.records import FootShape, Stances, SwingCheck
from poise.walking.footholds.kernels import find_surface

_ROLL = 1.6  # times its mean speed, with which a foot rolls as it lands
_TIPPED = 64.0  # makes the largest u^3 (1 - u)^3 one


@kernel
def find_quintic(
    t: float, span: float, p0: float, v0: float, a0: float, p1: float, v1: float, a1: float
) -> tuple[float, float, float]:
    """Return value, first and second derivative at t of the quintic between two such triples, `span` s apart."""
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
def find_pitch(stances: Stances, i: int, t: float) -> tuple[float, float, float]:
    """Return the pitch of stance i (rad, positive: the heel is up, negative: the toes), its rate and acceleration."""
    if t < stances.flat[i]:
        span, strike = stances.flat[i] - stances.land[i], stances.strike[i]
        if span <= 0.0:
            return 0.0, 0.0, 0.0
        return find_quintic(t - stances.land[i], span, -strike, _ROLL * strike / span, 0.0, 0.0, 0.0, 0.0)
    if t > stances.rise[i]:
        span, push = stances.off[i] - stances.rise[i], stances.push[i]
        if span <= 0.0:
            return 0.0, 0.0, 0.0
        return find_quintic(t - stances.rise[i], span, 0.0, 0.0, 0.0, push, stances.pace[i] * push / span, 0.0)
    return 0.0, 0.0, 0.0


@kernel
def rotate(q: np.ndarray, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a vector rotated by q (4,)."""
    tx, ty, tz = 2.0 * (q[2] * z - q[3] * y), 2.0 * (q[3] * x - q[1] * z), 2.0 * (q[1] * y - q[2] * x)
    return (
        x + q[0] * tx + (q[2] * tz - q[3] * ty), y + q[0] * ty + (q[3] * tx - q[1] * tz),
        z + q[0] * tz + (q[1] * ty - q[2] * tx),
    )  # fmt: skip


@kernel
def tip_foot(foot: FootShape, orientation: np.ndarray, pitch: float, out: np.ndarray) -> None:
    """Write an orientation (4,) with the heel up by an angle, or the toes if it is negative."""
    s, hinge, tipped = np.sin(0.5 * pitch), foot.hinge, np.empty(4)
    tipped[0], tipped[1], tipped[2], tipped[3] = np.cos(0.5 * pitch), s * hinge[0], s * hinge[1], s * hinge[2]
    multiply(orientation, tipped, out)


@kernel
def place_planted_foot(
    foot: FootShape, stances: Stances, i: int, t: float, position: np.ndarray, orientation: np.ndarray
) -> float:
    """Write position (3,) m and orientation (4,) of a foot in stance i; return the angle (rad) that its toes are bent.

    The heel rises about the ball, the toes about the heel.
    """
    q, at = stances.orientation[i], stances.position[i]
    x, y, z = rotate(q, 0.0, foot.drop, 0.0)
    position[0], position[1], position[2] = at[0] + x, at[1] + y, at[2] + z
    pitch = find_pitch(stances, i, t)[0]
    if pitch == 0.0:
        orientation[:] = q
        return 0.0
    pivot = foot.ball if pitch > 0.0 else foot.heel
    x, y, z = rotate(q, pivot[0], pivot[1], pivot[2])
    position[0] += x
    position[1] += y
    position[2] += z
    tip_foot(foot, q, pitch, orientation)
    x, y, z = rotate(orientation, pivot[0], pivot[1], pivot[2])
    position[0] -= x
    position[1] -= y
    position[2] -= z
    return pitch if pitch > 0.0 and foot.has_toes else 0.0


@kernel
def place_swinging_foot(
    foot: FootShape, stances: Stances, i: int, t: float, position: np.ndarray, orientation: np.ndarray
) -> float:
    """Like `place_planted_foot`, on the way from stance i to the next one."""
    ball, heel, hinge = foot.ball, foot.heel, foot.hinge
    first, final = stances.orientation[i], stances.orientation[i + 1]
    start, goal = stances.position[i], stances.position[i + 1]
    span, since = stances.land[i + 1] - stances.off[i], t - stances.off[i]
    b0, b1, b2 = find_pitch(stances, i, stances.off[i])
    e0, e1, e2 = find_pitch(stances, i + 1, stances.land[i + 1])
    u = since / span
    pitch = find_quintic(since, span, b0, b1, b2, e0, e1, e2)[0] + stances.tip[i] * _TIPPED * u**3 * (1.0 - u) ** 3
    s = find_quintic(since, span, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0)[0]
    between, part, flat = np.empty(3), np.empty(4), np.empty(4)
    log_between(first, final, between)
    for a in range(3):
        between[a] *= s
    set_exp(between, part)
    multiply(first, part, flat)
    tip_foot(foot, flat, pitch, orientation)
    # The ball leaves at rest; it arrives as the toes come down about the heel:
    # x = heel + R l,  x' = w x R l,  x'' = a x R l + w x (w x R l)
    begin, last, speed, bend = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    x, y, z = rotate(first, ball[0], ball[1] + foot.drop, ball[2])
    begin[0], begin[1], begin[2] = start[0] + x, start[1] + y, start[2] + z
    hx, hy, hz = rotate(final, heel[0], heel[1] + foot.drop, heel[2])
    ax, ay, az = rotate(final, hinge[0], hinge[1], hinge[2])
    tip_foot(foot, final, e0, part)
    lx, ly, lz = rotate(part, ball[0] - heel[0], ball[1] - heel[1], ball[2] - heel[2])
    last[0], last[1], last[2] = goal[0] + hx + lx, goal[1] + hy + ly, goal[2] + hz + lz
    cx, cy, cz = ay * lz - az * ly, az * lx - ax * lz, ax * ly - ay * lx
    speed[0], speed[1], speed[2] = e1 * cx, e1 * cy, e1 * cz
    bend[0] = e2 * cx + e1 * (ay * speed[2] - az * speed[1])
    bend[1] = e2 * cy + e1 * (az * speed[0] - ax * speed[2])
    bend[2] = e2 * cz + e1 * (ax * speed[1] - ay * speed[0])
    early, late = stances.early[i] * span, stances.late[i] * span
    along = span - early - late
    now = min(max(since - early, 0.0), along)
    for a in (0, 2):
        position[a] = find_quintic(now, along, begin[a], 0.0, 0.0, last[a], speed[a], bend[a])[0]
    top = max(begin[1], last[1]) + stances.top[i]
    if since <= stances.up[i] * span:
        position[1] = find_quintic(since, stances.up[i] * span, begin[1], 0.0, 0.0, top, 0.0, 0.0)[0]
    elif since >= stances.down[i] * span:
        position[1] = find_quintic(
            since - stances.down[i] * span, (1.0 - stances.down[i]) * span, top, 0.0, 0.0, last[1], speed[1], bend[1]
        )[0]
    else:
        position[1] = top
    x, y, z = rotate(orientation, ball[0], ball[1], ball[2])
    position[0] -= x
    position[1] -= y
    position[2] -= z
    if foot.has_toes and b0 > 0.0:  # the toes go back to straight within the first part of the swing
        late = 0.6 * span
        return max(find_quintic(min(since, late), late, b0, b1, b2, 0.0, 0.0, 0.0)[0], 0.0)
    return 0.0


@kernel
def place_foot(foot: FootShape, stances: Stances, t: float, position: np.ndarray, orientation: np.ndarray) -> float:
    """Like `place_planted_foot`, at time t, planted or swinging."""
    i = stances.count - 1
    while i > 0 and stances.land[i] > t:
        i -= 1
    if t <= stances.off[i] or i == stances.count - 1:
        return place_planted_foot(foot, stances, i, t, position, orientation)
    return place_swinging_foot(foot, stances, i, t, position, orientation)


@kernel
def follow_foot(
    foot: FootShape, stances: Stances, times: np.ndarray, positions: np.ndarray, orientations: np.ndarray,
    bends: np.ndarray,
) -> None:  # fmt: skip
    """Write positions (F, 3) m, orientations (F, 4) and bends (F,) rad of a foot at times (F,)."""
    for k in range(len(times)):
        bends[k] = place_foot(foot, stances, times[k], positions[k], orientations[k])


@kernel
def follow_levels(stances: Stances, times: np.ndarray, levels: np.ndarray) -> None:
    """Write the heights (F,) m of the ground under a foot at times (F,), from one stance's to the next's in a swing."""
    for k in range(len(times)):
        i = stances.count - 1
        while i > 0 and stances.land[i] > times[k]:
            i -= 1
        levels[k] = stances.position[i, 1]
        if times[k] > stances.off[i] and i < stances.count - 1:
            since, span = times[k] - stances.off[i], stances.land[i + 1] - stances.off[i]
            levels[k] = find_quintic(
                since, span, stances.position[i, 1], 0.0, 0.0, stances.position[i + 1, 1], 0.0, 0.0
            )[0]


@kernel
def _place_sole(
    foot: FootShape, check: SwingCheck, position: np.ndarray, orientation: np.ndarray, bend: float, out: np.ndarray
) -> None:
    """Write the corners of a foot's heel and of its front, toes bent, in the world: (N, 3) m."""
    n, ball, heel, front = check.heel_points, foot.ball, check.heel, check.front
    for i in range(n):
        x, y, z = rotate(orientation, heel[i, 0], heel[i, 1], heel[i, 2])
        out[i, 0], out[i, 1], out[i, 2] = position[0] + x, position[1] + y, position[2] + z
    toes = np.empty(4)
    tip_foot(foot, orientation, -bend, toes)
    bx, by, bz = rotate(orientation, ball[0], ball[1], ball[2])
    for i in range(check.front_points):
        x, y, z = rotate(toes, front[i, 0] - ball[0], front[i, 1] - ball[1], front[i, 2] - ball[2])
        out[n + i, 0] = position[0] + bx + x
        out[n + i, 1] = position[1] + by + y
        out[n + i, 2] = position[2] + bz + z


@kernel
def measure_swing(floor: Any, foot: FootShape, stances: Stances, check: SwingCheck) -> tuple[float, float]:
    """Return the largest depth (m) of the swing from the first stance to the second in what it must clear, and a rise.

    The rise (m) is the least one of the swing's top by which it would clear everything.
    """
    position, orientation, deepest, more = np.empty(3), np.empty(4), 0.0, 0.0
    points = np.empty((check.heel_points + check.front_points, 3))
    span = stances.land[1] - stances.off[0]
    for u in check.times:
        bend = place_swinging_foot(foot, stances, 0, stances.off[0] + u * span, position, orientation)
        _place_sole(foot, check, position, orientation, bend, points)
        # the fraction of the top's rise by which the foot is raised here
        s = min(u / stances.up[0], (1.0 - u) / (1.0 - stances.down[0]), 1.0)
        fraction = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        for i in range(len(points)):
            ground = find_surface(floor, points[i, 0], points[i, 2], check.below, check.headroom)
            low = ground + check.clearance * fraction - points[i, 1]
            if low > check.tolerance:
                deepest = max(deepest, low)
                more = max(more, low / max(fraction, 0.1))
    return deepest, more

"""What `Strength` wants of a step, compiled: accelerations, where the world may push, and goals before the joints' own.

The letters are those of `dynamics/contact/contact_dynamics_kernels.py`; see `strength.py` for what is meant.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.compiled.kernel import kernel
from poise.drivers.balance.support_kernels import clamp_to_hull, find_hull, hull_margin
from poise.dynamics.body_kernels import turn
from poise.dynamics.contact.contact_dynamics_kernels import find_pressure, find_torque_vectors, point_goal
from poise.motion.playback.part_kernels import log_between
from poise.world.ground.kernels import find_floor

_ABOVE = 0.05  # m: floors that reach higher over a sole are not under it
_HARD = 20.0  # times the weight: more than a corner is ever pushed by


@kernel
def want(
    q: np.ndarray, w: np.ndarray, aim: np.ndarray, speed: np.ndarray, ahead: np.ndarray, given: np.ndarray, h: float,
    rates: np.ndarray, alpha: float, most: float, joints: np.ndarray, joint: np.ndarray, axes: np.ndarray,
    R: np.ndarray, dw: np.ndarray, x: np.ndarray, e: np.ndarray,
) -> None:  # fmt: skip
    """x (n,) rad/s2 of the freedoms, and in dw (J, 3) all else that joints are to do.   [strength, eq 4]

    dw = (w*' - w*) / h + rate (w* - w) + alpha rate^2 (q* - q)

    q, w          of the body;  aim, speed: of the motion, q* and w*;  ahead: w*' at the end of the step of h seconds
    rates         (J,) 1/s, of each joint
    given         (J, 3) accelerations of the joints that somebody else moves
    joint, axes   (n,), (n, 3) of the freedoms, in body axes;  e (n, 3) written: in world axes
    """
    off = np.empty(3)
    dw[:] = given
    for i in joints:
        log_between(q[i], aim[i], off)
        size, rate = 0.0, rates[i]
        for a in range(3):
            dw[i, a] = (ahead[i, a] - speed[i, a]) / h + rate * (speed[i, a] - w[i, a]) + alpha * rate * rate * off[a]
            size += dw[i, a] ** 2
        if size > most * most:
            for a in range(3):
                dw[i, a] *= most / np.sqrt(size)
    for k in range(len(joint)):
        i = joint[k]
        x[k] = axes[k, 0] * dw[i, 0] + axes[k, 1] * dw[i, 1] + axes[k, 2] * dw[i, 2]
        e[k, 0], e[k, 1], e[k, 2] = turn(R[i], axes[k])
    for k in range(len(joint)):
        for a in range(3):
            dw[joint[k], a] -= x[k] * axes[k, a]


@kernel
def is_lifted(
    R: np.ndarray, p: np.ndarray, om: np.ndarray, v: np.ndarray, corners: np.ndarray, low: float, slow: float
) -> bool:
    """Whether a motion takes a foot, R (3, 3), p, om, v (3,) with corners (4, 3), off what it is above by `low` m."""
    least, lowest = np.inf, np.inf
    for c in range(4):
        x, y, z = turn(R, corners[c])
        least = min(least, v[1] + om[2] * x - om[0] * z)
        lowest = min(lowest, p[1] + y)
    return (lowest > low and least > -slow) or least > slow


@kernel
def see_soles(
    R: np.ndarray, p: np.ndarray, om: np.ndarray, v: np.ndarray, feet: np.ndarray, corners: np.ndarray, low: float,
    slow: float, rises: bool, soles: np.ndarray, lifted: np.ndarray,
) -> None:  # fmt: skip
    """Write soles (F, 4, 3) m of feet (F,) with corners (F, 4, 3), and whether each is lifted: see `is_lifted`.

    rises  whether the motion says where feet are; else none is lifted
    """
    for f in range(len(feet)):
        i = feet[f]
        for c in range(4):
            x, y, z = turn(R[i], corners[f, c])
            soles[f, c, 0], soles[f, c, 1], soles[f, c, 2] = p[i, 0] + x, p[i, 1] + y, p[i, 2] + z
        lifted[f] = rises and is_lifted(R[i], p[i], om[i], v[i], corners[f], low, slow)


@kernel
def find_soles(
    floor: Any, R: np.ndarray, p: np.ndarray, foot: int, corners: np.ndarray, inside: float, flat: float, near: float,
    lifted: bool, count: int, points: np.ndarray, frames: np.ndarray, segment: np.ndarray, most: np.ndarray,
) -> tuple[int, int]:  # fmt: skip
    """Add the corners of a sole that are on the floor to points, frames and segment, from `count` on.

    inside     share of a corner's distance from the sole's middle at which it is taken to be pushed
    flat, near m: a corner so high may be pushed as hard as any, and not at all; most (P,): by how much of the weight

    Returns the new count, and how many corners are down. A foot that is lifted counts only while all of it is down.
    """
    down, first = 0, count
    middle = np.zeros(3)
    for c in range(4):
        middle += corners[c] / 4.0
    for c in range(4):
        x, y, z = turn(R[foot], corners[c])
        x, y, z = x + p[foot, 0], y + p[foot, 1], z + p[foot, 2]
        height, nx, ny, nz = find_floor(floor, x, z, y + _ABOVE)
        if y - height >= near:
            continue
        most[count] = _HARD * min(1.0, (near - (y - height)) / (near - flat))
        x, y, z = turn(R[foot], middle + inside * (corners[c] - middle))
        points[count, 0], points[count, 1], points[count, 2] = x + p[foot, 0], y + p[foot, 1], z + p[foot, 2]
        set_frame(nx, ny, nz, frames[count])
        segment[count] = foot
        count += 1
        down += 1
    if lifted and down < 4:
        return first, down
    return count, down


@kernel
def spread_pushes(
    n: int, points: np.ndarray, frames: np.ndarray, friction: np.ndarray, most: np.ndarray, segment: np.ndarray,
    at: np.ndarray, ways: np.ndarray, of: np.ndarray, H: np.ndarray, b: np.ndarray, low: np.ndarray, high: np.ndarray,
) -> None:  # fmt: skip
    """Each point four times, along the edges of a pyramid inside its cone of friction: at, ways (4 P, 3), of (4 P,).

    Each push is between nothing and `most`: bounds into H, b, low and high from row n on
    """
    for i in range(len(friction)):
        for k in range(4):
            j, side = 4 * i + k, friction[i] if k % 2 else -friction[i]
            of[j] = segment[i]
            for a in range(3):
                at[j, a] = points[i, a]
                ways[j, a] = frames[i, 0, a] + side * frames[i, 1 + k // 2, a]
            H[n + j] = 0.0
            H[n + j, n + j] = 1.0
            b[n + j], low[n + j], high[n + j] = 0.0, 0.0, most[i]


@kernel
def lead_point(
    parents: np.ndarray, R: np.ndarray, p: np.ndarray, om: np.ndarray, v: np.ndarray, joint: np.ndarray, e: np.ndarray,
    A: np.ndarray, a0: np.ndarray, al: np.ndarray, acc: np.ndarray, body: int, at: np.ndarray, place: np.ndarray,
    aim: np.ndarray, speed: np.ndarray, going: np.ndarray, rate: float, alpha: float, rows: np.ndarray, y: np.ndarray,
) -> None:  # fmt: skip
    """Rows (6, U), y (6,): have a point `at` of a body go to a place (3,), and the body to an orientation aim (4,).

    speed, going (6,): of what is followed, velocity and acceleration
    """
    c, off, q = np.empty(6), np.empty(3), np.empty(4)
    point_goal(parents, p, om, joint, e, A, a0, al, acc, body, at, rows, c)
    rx, ry, rz = at[0] - p[body, 0], at[1] - p[body, 1], at[2] - p[body, 2]
    w = om[body]
    now = (v[body, 0] + w[1] * rz - w[2] * ry, v[body, 1] + w[2] * rx - w[0] * rz, v[body, 2] + w[0] * ry - w[1] * rx)
    turn_of(R[body], q)
    log_between(q, aim, off)  # in the body's axes
    askew = turn(R[body], off)
    for a in range(3):
        y[a] = going[a] + rate * (speed[a] - now[a]) + alpha * rate * rate * (place[a] - at[a]) - c[a]
        y[3 + a] = going[3 + a] + rate * (speed[3 + a] - w[a]) + alpha * rate * rate * askew[a] - c[3 + a]


@kernel
def turn_of(R: np.ndarray, q: np.ndarray) -> None:
    """The unit quaternion q (4,) wxyz of a rotation matrix, by its largest component."""
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    if trace > 0.0:
        s = 2.0 * np.sqrt(trace + 1.0)
        q[0], q[1], q[2], q[3] = 0.25 * s, (R[2, 1] - R[1, 2]) / s, (R[0, 2] - R[2, 0]) / s, (R[1, 0] - R[0, 1]) / s
        return
    i = 0
    if R[1, 1] > R[0, 0]:
        i = 1
    if R[2, 2] > R[i, i]:
        i = 2
    j, k = (i + 1) % 3, (i + 2) % 3
    s = 2.0 * np.sqrt(max(1.0 + R[i, i] - R[j, j] - R[k, k], 1e-300))
    q[0], q[1 + i] = (R[k, j] - R[j, k]) / s, 0.25 * s
    q[1 + j], q[1 + k] = (R[j, i] + R[i, j]) / s, (R[k, i] + R[i, k]) / s


@kernel
def plan_center(
    c: np.ndarray, dc: np.ndarray, corners: np.ndarray, lifted: np.ndarray, h: float, g: float, scale: float,
    start: np.ndarray, plan: np.ndarray,
) -> None:  # fmt: skip
    """Plan (N, 3, 3): place, velocity and acceleration of a centre of mass that goes as a motion's as far as soles can
    push it, at N times h seconds apart.

    c, dc    (N, 3) of the motion;  corners (N, F, 4, 3) of its soles, lifted (N, F) whether they carry nothing then
    scale    of what it stands on, from its middle: as far out as pressure is planned
    start    (3,) m, where the centre is at first

    Seen from above, with p the pressure that the motion asks for, drawn into the soles,

        c'' = (g + y'') / y (c - p)

    which runs away forwards in time; so it is solved as a whole, from where the body is to rest over the last p.
    """
    N, F = len(c), corners.shape[1]
    points, hull, p = np.empty((4 * F, 3)), np.empty((4 * F + 1, 2)), np.empty((N, 2))
    stiff, y = np.empty(N), np.empty((N, 2))
    for i in range(N):
        before, after = max(i - 1, 0), min(i + 1, N - 1)
        a = (dc[after] - dc[before]) / max((after - before) * h, 1e-9)
        count = 0
        for f in range(F):
            if not lifted[i, f]:
                for k in range(4):
                    points[count] = corners[i, f, k]
                    count += 1
        plan[i, 0], plan[i, 1], plan[i, 2] = c[i], dc[i], a
        p[i, 0], p[i, 1], stiff[i] = c[i, 0], c[i, 2], 0.0
        if count == 0:
            continue
        size, height = outline_of(points, count, scale, hull)
        up = max(c[i, 1] - height, 0.1)
        stiff[i] = max(g + a[1], 0.05 * g) / up
        p[i] = clamp_to_hull(hull, size, c[i, 0] - a[0] / stiff[i], c[i, 2] - a[2] / stiff[i])
    # c_(i-1) - (2 + h^2 s_i) c_i + c_(i+1) = -h^2 s_i p_i, with both ends given: a tridiagonal system   [Thomas]
    y[0, 0], y[0, 1], y[N - 1] = start[0], start[2], p[N - 1]
    upper, right = np.zeros(N), np.zeros((N, 2))
    right[0] = y[0]
    for i in range(1, N - 1):
        k = h * h * stiff[i]
        down = 2.0 + k - upper[i - 1]
        upper[i] = 1.0 / down
        right[i] = (k * p[i] + right[i - 1]) / down
    for i in range(N - 2, 0, -1):
        y[i] = right[i] + upper[i] * y[i + 1]
    for i in range(N):
        before, after = max(i - 1, 0), min(i + 1, N - 1)
        speed = (y[after] - y[before]) / max((after - before) * h, 1e-9)
        for k in range(2):
            plan[i, 0, 2 * k], plan[i, 1, 2 * k] = y[i, k], speed[k]
            plan[i, 2, 2 * k] = stiff[i] * (y[i, k] - p[i, k])


@kernel
def lead_center(
    c: np.ndarray, dc: np.ndarray, place: np.ndarray, speed: np.ndarray, going: np.ndarray, gain: float, rate: float,
    alpha: float, gravity: np.ndarray, hull: np.ndarray, size: int, height: float, weight: float, mass: float,
    axes: np.ndarray, ways: np.ndarray, n: int, rows: np.ndarray, y: np.ndarray,
) -> None:  # fmt: skip
    """Rows (m, U), y (m,): have the centre of mass c go to a place, along m axes, as far as soles can push it.

    Seen from above, e off its place and with s^2 = g over its height, the pressure is led ahead of the capture point,

        c'' = c*'' - gain s^2 e - (1 + gain) s e'        p = c - c'' / s^2

    and, where that is outside of the soles, kept to the point where its way from the capture point leaves them: the
    nearest point of the soles is often a corner, which pushes another way and asks most of an ankle.
    U: n freedoms, then pushes along ways (P, 3) in parts of a weight (N).
    """
    g = np.sqrt(gravity[0] ** 2 + gravity[1] ** 2 + gravity[2] ** 2)
    up = max(c[1] - height, 0.05)
    s = np.sqrt(g / up)
    go = np.empty(3)
    for a in range(3):
        off, late = c[a] - place[a], dc[a] - speed[a]
        if a == 1:
            go[a] = going[a] - rate * late - alpha * rate * rate * off
        else:
            go[a] = going[a] - gain * s * s * off - (1.0 + gain) * s * late
    if size >= 3 and g > 0.0:
        x, z = draw_to_hull(hull, size, c[0] + dc[0] / s, c[2] + dc[2] / s, c[0] - go[0] / s**2, c[2] - go[2] / s**2)
        go[0], go[2] = (c[0] - x) * s**2, (c[2] - z) * s**2
    for i in range(len(axes)):
        a = axes[i]
        rows[i] = 0.0
        for k in range(len(ways)):
            rows[i, n + k] = weight / mass * ways[k, a]
        y[i] = go[a] - gravity[a]  # m c'' = sum f + m g


@kernel
def draw_to_hull(hull: np.ndarray, size: int, x: float, z: float, px: float, pz: float) -> tuple[float, float]:
    """The last point of a convex polygon on the way from (x, z) in it to (px, pz); the nearest if (x, z) is outside."""
    if size < 3 or hull_margin(hull, size, x, z) <= 0.0:
        return clamp_to_hull(hull, size, px, pz)
    share = 1.0
    ax, az = hull[size - 1, 0], hull[size - 1, 1]
    for i in range(size):
        ex, ez = hull[i, 0] - ax, hull[i, 1] - az
        out = ez * (px - x) - ex * (pz - z)  # how fast the way goes out over this edge
        inside = ex * (z - az) - ez * (x - ax)
        if out > inside:
            share = min(share, inside / out)
        ax, az = hull[i, 0], hull[i, 1]
    return x + share * (px - x), z + share * (pz - z)


@kernel
def set_frame(x: float, y: float, z: float, frame: np.ndarray) -> None:
    """Axes (3, 3) whose first is a unit normal."""
    # across the axis that it is farthest from
    if abs(x) < 0.9:
        ax, ay, az = 0.0, z, -y
    else:
        ax, ay, az = -z, 0.0, x
    size = np.sqrt(ax * ax + ay * ay + az * az)
    ax, ay, az = ax / size, ay / size, az / size
    frame[0, 0], frame[0, 1], frame[0, 2] = x, y, z
    frame[1, 0], frame[1, 1], frame[1, 2] = ax, ay, az
    frame[2, 0], frame[2, 1], frame[2, 2] = y * az - z * ay, z * ax - x * az, x * ay - y * ax


@kernel
def outline_of(points: np.ndarray, count: int, scale: float, hull: np.ndarray) -> tuple[int, float]:
    """The outline of points (N, 3) seen from above into hull (N + 1, 2), drawn to its middle; its size and height."""
    level = np.empty((count, 2))
    height = 0.0
    for i in range(count):
        level[i, 0], level[i, 1] = points[i, 0], points[i, 2]
        height += points[i, 1] / count
    size = find_hull(level, count, hull)
    mx, mz = 0.0, 0.0
    for i in range(size):
        mx, mz = mx + hull[i, 0] / size, mz + hull[i, 1] / size
    for i in range(size):
        hull[i, 0], hull[i, 1] = mx + scale * (hull[i, 0] - mx), mz + scale * (hull[i, 1] - mz)
    return size, height


@kernel
def within(
    vectors: np.ndarray, joint: np.ndarray, e: np.ndarray, low: np.ndarray, high: np.ndarray, torque: np.ndarray,
    ratio: np.ndarray,
) -> None:  # fmt: skip
    """Torques (J, 3) with their parts about the freedoms' axes exactly in range; torque (n,), and the ratio's most."""
    for k in range(len(joint)):
        i = joint[k]
        found = e[k, 0] * vectors[i, 0] + e[k, 1] * vectors[i, 1] + e[k, 2] * vectors[i, 2]
        kept = min(max(found, low[k]), high[k])
        for a in range(3):
            vectors[i, a] += (kept - found) * e[k, a]
        torque[k] = kept
        bound = high[k] if kept > 0.0 else -low[k]
        ratio[k] = max(ratio[k], abs(kept) / max(bound, 1e-9))


@kernel
def take_goal(
    rows: np.ndarray, y: np.ndarray, first: int, last: int, kind: int, scale: float, turns: float, count: int,
    kinds: np.ndarray, scales: np.ndarray, all_rows: np.ndarray, all_y: np.ndarray,
) -> int:  # fmt: skip
    """Add rows first to last of a goal, times a scale, to those that there are; how many that makes.

    turns  by what rows after the third, which are of a body's turn, are multiplied besides
    """
    for i in range(first, last):
        s = scale * turns if i - first >= 3 else scale
        kinds[count], scales[count], all_y[count] = kind, s, s * y[i]
        for k in range(rows.shape[1]):
            all_rows[count, k] = s * rows[i, k]
        count += 1
    return count


@kernel
def settle(
    parents: np.ndarray, masses: np.ndarray, centers: np.ndarray, inertias: np.ndarray, R: np.ndarray, p: np.ndarray,
    om: np.ndarray, w: np.ndarray, gravity: np.ndarray, joint: np.ndarray, axes: np.ndarray, e: np.ndarray,
    at: np.ndarray, ways: np.ndarray, of: np.ndarray, weight: float, felt: np.ndarray, A: np.ndarray, a0: np.ndarray,
    u: np.ndarray, sides: np.ndarray, count: int, residual: np.ndarray, scales: np.ndarray, kinds: np.ndarray,
    low: np.ndarray, high: np.ndarray, dw: np.ndarray, vectors: np.ndarray, torque: np.ndarray, ratio: np.ndarray,
    zmp: np.ndarray, helped: np.ndarray, off: np.ndarray,
) -> None:  # fmt: skip
    """What a solved problem means: dw (J, 3) and torques of all joints, where the ground pushes, what was missed.

    u         (n + 4 P,) accelerations of freedoms, then pushes in parts of the weight (N)
    sides     (P,) which hand each of `count` points is of, -1: of none;  helped (2,): how hard each pushes
    residual  (m,) of goals, scaled;  off (2,): the most of kinds 0 and 1
    """
    n = len(joint)
    a, push = a0.copy(), np.empty(len(of))
    for i in range(6):
        for k in range(len(u)):
            a[i] += A[i, k] * u[k]
    helped[:], off[:] = 0.0, 0.0
    for i in range(len(of)):
        push[i] = weight * u[n + i]
    for i in range(count):
        if sides[i] >= 0:
            for k in range(4):
                helped[sides[i]] += u[n + 4 * i + k]
    for i in range(len(residual)):
        if kinds[i] < 2:
            off[kinds[i]] = max(off[kinds[i]], abs(residual[i]) / scales[i])
    for k in range(n):
        for c in range(3):
            dw[joint[k], c] += u[k] * axes[k, c]
    find_torque_vectors(
        parents, masses, centers, inertias, R, p, om, w, dw, gravity, a, at, ways, of, push, felt, vectors
    )
    within(vectors, joint, e, low, high, torque, ratio)
    find_pressure(at, ways, push, zmp)


@kernel
def find_shift(p: np.ndarray, ghost: np.ndarray, feet: np.ndarray, stands: np.ndarray, shift: np.ndarray) -> None:
    """How far, seen from above, feet that stand are from those of a ghost, p and ghost (J, 3); else as it was."""
    count, x, z = 0, 0.0, 0.0
    for side in range(len(feet)):
        if stands[side]:
            i = feet[side]
            count, x, z = count + 1, x + p[i, 0] - ghost[i, 0], z + p[i, 2] - ghost[i, 2]
    if count:
        shift[0], shift[2] = x / count, z / count


@kernel
def is_lost(
    c: np.ndarray, p: np.ndarray, ghost_c: np.ndarray, ghost_p: np.ndarray, feet: np.ndarray, points: np.ndarray,
    count: int, lost: float,
) -> bool:  # fmt: skip
    """Whether a body lies, or leans so far or is so low beside its ghost that nothing helps.

    lost  cosine of the lean, and share of the height over `count` points
    """
    up, asked = c.copy(), ghost_c.copy()
    for i in feet:
        up -= p[i] / len(feet)
        asked -= ghost_p[i] / len(feet)
    lean = up[1] / max(np.sqrt(up[0] ** 2 + up[1] ** 2 + up[2] ** 2), 1e-9)
    wanted = asked[1] / max(np.sqrt(asked[0] ** 2 + asked[1] ** 2 + asked[2] ** 2), 1e-9)
    lowest = np.inf
    for i in range(count):
        lowest = min(lowest, points[i, 1])
    return lean < lost * wanted or c[1] - lowest < lost * asked[1]

"""What `Strength` wants of a step, compiled: accelerations, where the world may push, and goals before the joints' own.

The letters are those of `dynamics/supported_kernels.py`; see `strength.py` for what is meant.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.drivers.support_kernels import clamp_to_hull, find_hull, hull_margin
from poise.dynamics.instant import turn
from poise.dynamics.supported_kernels import point_goal
from poise.motion.part_kernels import log_between
from poise.spatial.compile import kernel
from poise.world.floor_kernels import find_floor

_ABOVE = 0.05  # m: floors that reach higher over a sole are not under it


@kernel
def want(
    q: np.ndarray, w: np.ndarray, aim: np.ndarray, speed: np.ndarray, ahead: np.ndarray, given: np.ndarray, h: float,
    rate: float, alpha: float, most: float, joints: np.ndarray, joint: np.ndarray, axes: np.ndarray, R: np.ndarray,
    dw: np.ndarray, x: np.ndarray, e: np.ndarray,
) -> None:  # fmt: skip
    """x (n,) rad/s2 of the freedoms, and in dw (J, 3) all else that joints are to do.   [strength, eq 4]

    dw = (w*' - w*) / h + rate (w* - w) + alpha rate^2 (q* - q)

    q, w          of the body;  aim, speed: of the motion, q* and w*;  ahead: w*' at the end of the step of h seconds
    given         (J, 3) accelerations of the joints that somebody else moves
    joint, axes   (n,), (n, 3) of the freedoms, in body axes;  e (n, 3) written: in world axes
    """
    off = np.empty(3)
    dw[:] = given
    for i in joints:
        log_between(q[i], aim[i], off)
        size = 0.0
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
def find_soles(
    floor: Any, R: np.ndarray, p: np.ndarray, foot: int, corners: np.ndarray, near: float, lifted: bool, count: int,
    points: np.ndarray, frames: np.ndarray, segment: np.ndarray,
) -> tuple[int, int]:  # fmt: skip
    """Add the corners of a sole that are on the floor to points, frames and segment, from `count` on.

    Returns the new count, and how many corners are down. A foot that is lifted counts only while all of it is down.
    """
    down, first = 0, count
    for c in range(4):
        x, y, z = turn(R[foot], corners[c])
        x, y, z = x + p[foot, 0], y + p[foot, 1], z + p[foot, 2]
        height, nx, ny, nz = find_floor(floor, x, z, y + _ABOVE)
        if y - height >= near:
            continue
        points[count, 0], points[count, 1], points[count, 2] = x, y, z
        set_frame(nx, ny, nz, frames[count])
        segment[count] = foot
        count += 1
        down += 1
    if lifted and down < 4:
        return first, down
    return count, down


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
def lead_point(
    parents: np.ndarray, q: np.ndarray, p: np.ndarray, om: np.ndarray, v: np.ndarray, joint: np.ndarray, e: np.ndarray,
    P: np.ndarray, Y: np.ndarray, y0: np.ndarray, al: np.ndarray, acc: np.ndarray, body: int, at: np.ndarray,
    place: np.ndarray, aim: np.ndarray, speed: np.ndarray, going: np.ndarray, rate: float, alpha: float,
    A: np.ndarray, y: np.ndarray,
) -> None:  # fmt: skip
    """A (6, n), y (6,): have a point `at` of a body go to a place (3,), and the body to an orientation aim (4,).

    q (4,)  the body's orientation in the world;  speed, going (6,): of what is followed, velocity and acceleration
    """
    c, off = np.empty(6), np.empty(3)
    point_goal(parents, p, om, joint, e, P, Y, y0, al, acc, body, at, A, c)
    rx, ry, rz = at[0] - p[body, 0], at[1] - p[body, 1], at[2] - p[body, 2]
    w = om[body]
    now = (v[body, 0] + w[1] * rz - w[2] * ry, v[body, 1] + w[2] * rx - w[0] * rz, v[body, 2] + w[0] * ry - w[1] * rx)
    log_between(q, aim, off)  # in the body's axes
    R = np.empty((3, 3))
    _matrix(q, R)
    sx, sy, sz = turn(R, off)
    askew = (sx, sy, sz)
    for a in range(3):
        y[a] = going[a] + rate * (speed[a] - now[a]) + alpha * rate * rate * (place[a] - at[a]) - c[a]
        y[3 + a] = going[3 + a] + rate * (speed[3 + a] - w[a]) + alpha * rate * rate * askew[a] - c[3 + a]


@kernel
def _matrix(q: np.ndarray, R: np.ndarray) -> None:
    w, x, y, z = q[0], q[1], q[2], q[3]
    R[0, 0], R[0, 1], R[0, 2] = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)
    R[1, 0], R[1, 1], R[1, 2] = 2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)
    R[2, 0], R[2, 1], R[2, 2] = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)


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
def press_inside(
    w0: np.ndarray, W: np.ndarray, x: np.ndarray, p0: np.ndarray, hull: np.ndarray, size: int, height: float,
    mass: float, edge: np.ndarray, A: np.ndarray, y: np.ndarray,
) -> bool:  # fmt: skip
    """A (2, n), y (2,): where soles would be pressed outside of a hull, have them pressed at its edge.

    edge (3,)  the point, and whether there is one already: it then stays

    Moments about the point s of the ground, n + (p_0 - s) x f, are to have no part along the ground, with f, n what the
    world gives about the root's joint, w0 + W x.
    """
    n = len(x)
    if edge[2] == 0.0:
        load = w0.copy()
        for a in range(6):
            for k in range(n):
                load[a] += W[a, k] * x[k]
        if load[1] <= 0.0:
            return False
        mx = load[3] + p0[1] * load[2] - p0[2] * load[1]
        mz = load[5] + p0[0] * load[1] - p0[1] * load[0]
        sx, sz = (mz + height * load[0]) / load[1], (height * load[2] - mx) / load[1]
        if hull_margin(hull, size, sx, sz) >= 0.0:
            return False
        edge[0], edge[1] = clamp_to_hull(hull, size, sx, sz)
        edge[2] = 1.0
    rx, ry, rz = p0[0] - edge[0], p0[1] - height, p0[2] - edge[1]
    scale = 1.0 / (mass * max(abs(ry), 0.1))
    for k in range(n):
        A[0, k] = scale * (W[3, k] + ry * W[2, k] - rz * W[1, k])
        A[1, k] = scale * (W[5, k] + rx * W[1, k] - ry * W[0, k])
    y[0] = -scale * (w0[3] + ry * w0[2] - rz * w0[1])
    y[1] = -scale * (w0[5] + rx * w0[1] - ry * w0[0])
    return True


@kernel
def lead_center(
    c: np.ndarray, dc: np.ndarray, place: np.ndarray, speed: np.ndarray, going: np.ndarray, rate: float, alpha: float,
    gravity: np.ndarray, hull: np.ndarray, size: int, height: float, mass: float, axes: np.ndarray, w0: np.ndarray,
    W: np.ndarray, A: np.ndarray, y: np.ndarray,
) -> None:  # fmt: skip
    """A (m, n), y (m,): have the centre of mass c go to a place, along m axes, as far as soles can push it."""
    go = np.empty(3)
    for a in range(3):
        go[a] = going[a] + rate * (speed[a] - dc[a]) + alpha * rate * rate * (place[a] - c[a])
    g = np.sqrt(gravity[0] ** 2 + gravity[1] ** 2 + gravity[2] ** 2)
    up = max(c[1] - height, 0.05)
    if size >= 3 and g > 0.0:
        x, z = clamp_to_hull(hull, size, c[0] - up / g * go[0], c[2] - up / g * go[2])
        go[0], go[2] = (c[0] - x) * g / up, (c[2] - z) * g / up
    for i in range(len(axes)):
        a = axes[i]
        y[i] = go[a] - gravity[a] - w0[a] / mass
        for k in range(W.shape[1]):
            A[i, k] = W[a, k] / mass


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

"""How far arms shift a body's centre of mass, and how far the body leans against that, compiled.

    r = (sum of m_i x_i - the same of hanging arms) / m     over the segments of the arms with what they hold

x_i are their centres of mass in the axes of the chest, m is the mass of the whole body: r is the shift of the body's
centre of mass by the joint angles of the arms alone. Where a clip is followed, the r of its own arms is taken off: only
what the clip does not contain is answered.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from poise.dynamics.instant import matrix_of, turn
from poise.spatial.addresses import floats, integers, vectors
from poise.spatial.compile import kernel
from poise.spatial.law import fields

SIDEWAYS = 0.5  # people lean sideways half as far per metre as they lean back [visible coupling of nine recordings]

# arms    (K,) joints from the chest outwards, parents first;  above (K,) the place of each one's parent among them, -1
#         for the chest;  counts (K,) 1 for segments of the arms, 0 for what is between the chest and them
# hanging (3,) kg m, sum of m_i x_i of arms that hang, chest axes;  mass: kg, of the whole body
# frames  (K, 30) for work: each joint's orientation and position, angular velocity and velocity, their derivatives, and
#         velocity and acceleration of its segment's centre of mass; chest axes
# times, clip   (F,) s and (F, 9): r, r' and r'' of the clip that is followed, whose time 0 is `start`; F = 0: none is
SHIFT = fields(arrays="arms above counts hanging frames times clip", integers="count clip_count", floats="mass start")


@kernel
def find_shift(b: Any, x: Any, q: np.ndarray, t: float, out: np.ndarray) -> None:
    """Write r and its first and second derivatives (3, 3), in m and s along the axes of the chest.

    q  (J, 4) rotations of all joints; their velocities and accelerations are the body's
    """
    j, k = b.joints, x.count
    arms, above, counts = integers(x.arms, k), integers(x.above, k), integers(x.counts, k)
    offsets, centers, masses = vectors(b.offsets, j, 3), vectors(b.centers, j, 3), floats(b.masses, j)
    w, dw, frames = vectors(b.w, j, 3), vectors(b.dw, j, 3), vectors(x.frames, k, 30)
    out[:] = 0.0
    for n in range(k):
        i, own = arms[n], frames[n]
        R, p = own[:9].reshape(3, 3), own[9:12]
        om, v, al, a = own[12:15], own[15:18], own[18:21], own[21:24]
        R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2] = matrix_of(q[i])
        if above[n] < 0:
            for c in range(3):
                p[c] = offsets[i, c]
                om[c] = v[c] = al[c] = a[c] = 0.0
        else:
            before = frames[above[n]]
            base = before[:9].reshape(3, 3)
            dx, dy, dz = turn(base, offsets[i])
            _move_point(before[12:24], dx, dy, dz, v, a)
            p[0], p[1], p[2] = before[9] + dx, before[10] + dy, before[11] + dz
            _multiply(base, R)
            for c in range(3):
                om[c], al[c] = before[12 + c], before[18 + c]
        wx, wy, wz = turn(R, w[i])
        ax, ay, az = turn(R, dw[i])
        al[0] += ax + om[1] * wz - om[2] * wy
        al[1] += ay + om[2] * wx - om[0] * wz
        al[2] += az + om[0] * wy - om[1] * wx
        om[0] += wx
        om[1] += wy
        om[2] += wz
        if counts[n] == 0:
            continue
        dx, dy, dz = turn(R, centers[i])
        _move_point(own[12:24], dx, dy, dz, own[24:27], own[27:30])
        share = masses[i] / x.mass
        out[0, 0] += share * (p[0] + dx)
        out[0, 1] += share * (p[1] + dy)
        out[0, 2] += share * (p[2] + dz)
        for c in range(3):
            out[1, c] += share * own[24 + c]
            out[2, c] += share * own[27 + c]
    hanging = floats(x.hanging, 3)
    for c in range(3):
        out[0, c] -= hanging[c] / x.mass
    if x.clip_count > 0:
        _take_off_clip(floats(x.times, x.clip_count), vectors(x.clip, x.clip_count, 9), t - x.start, out)


@kernel
def _take_off_clip(times: np.ndarray, clip: np.ndarray, t: float, out: np.ndarray) -> None:
    """Take r of a clip's own arms and its derivatives (F, 9) off; before and after the clip they are at rest."""
    last = len(times) - 1
    if t <= times[0] or t >= times[last]:
        k = 0 if t <= times[0] else last
        for c in range(3):
            out[0, c] -= clip[k, c]
        return
    k = min(max(int((t - times[0]) / (times[last] - times[0]) * last), 0), last - 1)
    while k > 0 and t < times[k]:
        k -= 1
    while k < last - 1 and t >= times[k + 1]:
        k += 1
    u = (t - times[k]) / (times[k + 1] - times[k])
    for c in range(9):
        out[c // 3, c % 3] -= (1.0 - u) * clip[k, c] + u * clip[k + 1, c]


@kernel
def lean_by(rate: float, most: float, r: float, dr: float, ddr: float) -> tuple[float, float, float]:
    """An angle of `rate` rad per m of r that approaches `most` rad, with its first and second derivatives."""
    if most <= 0.0:
        return 0.0, 0.0, 0.0
    s = np.tanh(rate * r / most)
    slope = rate * (1.0 - s * s)
    return most * s, slope * dr, slope * ddr - 2.0 * s * slope * rate * dr * dr / most


@kernel
def _multiply(a: np.ndarray, b: np.ndarray) -> None:
    """b = a b, of matrices."""
    for c in range(3):
        x, y, z = b[0, c], b[1, c], b[2, c]
        for r in range(3):
            b[r, c] = a[r, 0] * x + a[r, 1] * y + a[r, 2] * z


@kernel
def _move_point(
    motion: np.ndarray, dx: float, dy: float, dz: float, velocity: np.ndarray, acceleration: np.ndarray
) -> None:
    """Velocity and acceleration of a point at d from another one of the same rigid body.

    motion  (12,) the body's angular velocity, that point's velocity, and their derivatives
    """
    om, v, al, a = motion[:3], motion[3:6], motion[6:9], motion[9:]
    sx, sy, sz = om[1] * dz - om[2] * dy, om[2] * dx - om[0] * dz, om[0] * dy - om[1] * dx
    velocity[0], velocity[1], velocity[2] = v[0] + sx, v[1] + sy, v[2] + sz
    acceleration[0] = a[0] + al[1] * dz - al[2] * dy + om[1] * sz - om[2] * sy
    acceleration[1] = a[1] + al[2] * dx - al[0] * dz + om[2] * sx - om[0] * sz
    acceleration[2] = a[2] + al[0] * dy - al[1] * dx + om[0] * sy - om[1] * sx

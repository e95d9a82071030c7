"""The engine `inverse`, compiled: contacts of a part of a step as rows, and what is remembered of them.

N velocities, P contacts, B bodies of MuJoCo's. A contact's axes are its frame (3, 3), the normal first, from its first
thing to its second; its velocity is that of the second beside the first.
"""

from __future__ import annotations

import math

import numpy as np

from poise.spatial.compile import kernel

SHORTEST = 1.0 / 1000.0  # s, of a part of a step in which something is fast
FAST = 0.05  # rad, by which a joint turns in a part of a step
STRUCK = 0.01  # rad, by which a joint turns otherwise than it was about to: the part is made again
NEAR = 2e-3  # m: what comes so near in a part is a contact of it
BACK, PUSHED = 0.2, 0.5  # a step, and m/s at most: how depth and creep are taken back
SLOP = 1e-4  # m, in which nothing is taken back
STUCK = 0.99  # of friction: more of it slides
ALIKE, SLID = math.cos(0.1), 0.02  # of the turn (0.1 rad), m: from when on where a contact began is forgotten
FREE_JOINT, BALL_JOINT, HINGE_JOINT = 0, 1, 3  # MuJoCo's kinds of joints


@kernel
def count_parts(qvel: np.ndarray, dt: float) -> int:
    """In how many parts a step is made."""
    speed = 0.0
    for k in range(len(qvel)):
        if not abs(qvel[k]) < np.inf:
            return 1
        speed = max(speed, abs(qvel[k]))
    return min(max(1, math.ceil(speed * dt / FAST)), max(1, math.ceil(dt / SHORTEST)))


@kernel
def integrate(
    kind: np.ndarray, qadr: np.ndarray, vadr: np.ndarray, dt: float, qvel: np.ndarray, qpos: np.ndarray
) -> None:
    """Move qpos by qvel for a time, joint by joint."""
    for k in range(len(kind)):
        a, b = qadr[k], vadr[k]
        if kind[k] == FREE_JOINT:
            for c in range(3):
                qpos[a + c] += dt * qvel[b + c]
            _turn(qpos[a + 3 : a + 7], qvel[b + 3 : b + 6], dt)
        elif kind[k] == BALL_JOINT:
            _turn(qpos[a : a + 4], qvel[b : b + 3], dt)
        else:
            qpos[a] += dt * qvel[b]


@kernel
def _turn(q: np.ndarray, w: np.ndarray, dt: float) -> None:
    """Q becomes q exp(dt w)."""
    speed = np.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    half = 0.5 * dt * speed
    c, s = np.cos(half), 0.5 * dt if speed < 1e-12 else np.sin(half) / speed
    x, y, z = s * w[0], s * w[1], s * w[2]
    a, b, d, e = q[0], q[1], q[2], q[3]
    q[0] = a * c - b * x - d * y - e * z
    q[1] = a * x + b * c + d * z - e * y
    q[2] = a * y - b * z + d * c + e * x
    q[3] = a * z + b * y - d * x + e * c
    size = np.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    for k in range(4):
        q[k] /= size


@kernel
def add_side(
    J: np.ndarray, sign: float, frame: np.ndarray, offset: np.ndarray, last: int, above: np.ndarray, cdof: np.ndarray
) -> None:
    """Add how a point of a body moves to a contact's rows J (3, N), in its frame (3, 3).

    offset  (3,) m, of the point from where MuJoCo's `cdof` (N, 6) is taken
    last    the body's last freedom, -1 for none;  above (N,): the one before each
    """
    i = last
    while i >= 0:
        a, b, c = cdof[i, 0], cdof[i, 1], cdof[i, 2]
        x = cdof[i, 3] + b * offset[2] - c * offset[1]
        y = cdof[i, 4] + c * offset[0] - a * offset[2]
        z = cdof[i, 5] + a * offset[1] - b * offset[0]
        for k in range(3):
            J[k, i] += sign * (frame[k, 0] * x + frame[k, 1] * y + frame[k, 2] * z)
        i = above[i]


@kernel
def place_of(xmat: np.ndarray, xpos: np.ndarray, to: np.ndarray) -> None:
    """Where a body is, to (4, 3): axes, then the place."""
    for a in range(3):
        for b in range(3):
            to[a, b] = xmat[3 * a + b]
        to[3, a] = xpos[a]


@kernel
def find_pair(pairs: np.ndarray, count: int, first: int, second: int) -> int:
    """Which row of pairs has these two things; -1: none."""
    for i in range(count):
        if pairs[i, 0] == first and pairs[i, 1] == second:
            return i
    return -1


@kernel
def find_slip(began: np.ndarray, now: np.ndarray, point: np.ndarray, slip: np.ndarray) -> None:
    """Slip (3,) m, how far the second thing has moved along the first since they touched, where they touch now.

    began, now  (2, 4, 3) see `place_of`
    """
    there = np.empty((2, 3))
    for s in range(2):
        for a in range(3):
            there[s, a] = began[s, 3, a]
        for b in range(3):
            local = 0.0
            for a in range(3):
                local += now[s, a, b] * (point[a] - now[s, 3, a])
            for a in range(3):
                there[s, a] += began[s, a, b] * local
    # both are at the contact now; they were apart by there[1] - there[0], seen from the first
    for a in range(3):
        slip[a] = 0.0
    for b in range(3):
        apart = 0.0
        for a in range(3):
            apart += began[0, a, b] * (there[1, a] - there[0, a])
        for a in range(3):
            slip[a] -= now[0, a, b] * apart


@kernel
def is_turned(began: np.ndarray, now: np.ndarray) -> bool:
    """Whether one of two things has turned so far that where it began counts no more."""
    for s in range(2):
        total = 0.0
        for a in range(3):
            for b in range(3):
                total += began[s, a, b] * now[s, a, b]
        if not 0.5 * (total - 1.0) > ALIKE:
            return True
    return False


@kernel
def find_room(gap: float, frame: np.ndarray, slip: np.ndarray, dt: float, t: np.ndarray) -> None:
    """T (3,) m/s, what a contact may still close, or is to be brought back by."""
    deep = min(BACK * max(-gap - SLOP, 0.0) / dt, PUSHED)
    t[0] = max(gap, 0.0) / dt - deep
    for k in range(1, 3):
        t[k] = BACK / dt * (frame[k, 0] * slip[0] + frame[k, 1] * slip[1] + frame[k, 2] * slip[2])
    size = np.sqrt(t[1] * t[1] + t[2] * t[2])
    if size > PUSHED:
        t[1] *= PUSHED / size
        t[2] *= PUSHED / size


@kernel
def list_ends(
    kind: np.ndarray, qadr: np.ndarray, vadr: np.ndarray, ranges: np.ndarray, qpos: np.ndarray, qvel: np.ndarray,
    dt: float, rows: np.ndarray,
) -> int:  # fmt: skip
    """Hinges with ranges (K, 2) of their own that are near an end: rows (2 K, 3) of freedom, sign and room (rad/s)."""
    count = 0
    for k in range(len(kind)):
        if kind[k] != HINGE_JOINT or not ranges[k, 0] < ranges[k, 1]:
            continue
        angle, speed = qpos[qadr[k]], abs(qvel[vadr[k]])
        for side in range(2):
            sign = 1.0 - 2.0 * side
            gap = sign * (angle - ranges[k, side])
            if gap < FAST + 2.0 * dt * speed:
                rows[count, 0], rows[count, 1] = vadr[k], sign
                rows[count, 2] = gap / dt if gap > 0.0 else max(BACK * gap / dt, -PUSHED)
                count += 1
    return count


@kernel
def add_felt(
    first: int, second: int, point: np.ndarray, push: float, force: np.ndarray, geoms: np.ndarray, points: np.ndarray,
    forces: np.ndarray, pushes: np.ndarray, count: int, apart: float,
) -> int:  # fmt: skip
    """Add an impulse to those of a step, at most so many; the same two things within `apart` (m) are one contact.

    force (3,) N s in the world, push its normal part;  geoms (F, 2), points (F, 3), forces (F, 3), pushes (F,)
    """
    row, nearest = count, apart * apart
    for i in range(count):
        if geoms[i, 0] == first and geoms[i, 1] == second:
            x, y, z = point[0] - points[i, 0], point[1] - points[i, 1], point[2] - points[i, 2]
            if x * x + y * y + z * z <= nearest or count == len(geoms):
                row, nearest = i, x * x + y * y + z * z
    if row == len(geoms):
        return count
    if row == count:
        geoms[row, 0], geoms[row, 1], pushes[row] = first, second, 0.0
        for a in range(3):
            points[row, a] = forces[row, a] = 0.0
        count += 1
    # where their common push acts
    share = push / (pushes[row] + push)
    for a in range(3):
        points[row, a] += share * (point[a] - points[row, a])
        forces[row, a] += force[a]
    pushes[row] += push
    return count

"""Where a figure is, and how each of its angles moves it: compiled.

A figure's joints turn by angles (x, y, z), each in its own range (`body/joints.py`):

    q = P^-1 exp(x, 0, z) exp(0, y, 0) C

One body of it, the *held* one, stays where it is: the foot that carries [balance, 4.1]. The tree is not built anew at
that foot. A joint k has two sides, what is under it in the tree and all the rest; the side that does not have the held
body turns against the other. So for a turn about the world axis r at joint k, whose place is O,

    dX / dangle = s r x (X - O)             of a point X on the side that moves, else 0          [balance, 10]
    dc / dangle = s (m / M) r x (V - O)     of the centre of mass                               [balance, 14, corrected]

with m and V mass and centre of the side that moves (the *virtual centre of mass*, [balance, 13]), and s = 1 where that
is the side under the joint, -1 where it is the other. Where nothing is held the root moves by six more numbers: its
place and a turn, in world axes.

The axes r of a joint's angles, with B the orientation of the carrying body times P^-1, S the swing exp(x, 0, z) and L
the left Jacobian of the exponential map at (x, 0, z):

    r_x = B L e_x,    r_y = B S e_y,    r_z = B L e_z                                            [steps, 1]
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel

FREE = -1  # nothing is held


@kernel
def set_turn(angles: np.ndarray, before: np.ndarray, after: np.ndarray, q: np.ndarray) -> None:
    """q = P^-1 exp(x, 0, z) exp(0, y, 0) C of one joint.   [limits]"""
    x, y, z = angles[0], angles[1], angles[2]
    swing = np.sqrt(x * x + z * z)
    s = 0.5 - swing * swing / 48.0 if swing < 1e-4 else np.sin(0.5 * swing) / swing
    aw, ax, az = np.cos(0.5 * swing), s * x, s * z
    tw, ty = np.cos(0.5 * y), np.sin(0.5 * y)
    # exp(x, 0, z) exp(0, y, 0)
    ew, ex, ey, ez = aw * tw, ax * tw - az * ty, aw * ty, az * tw + ax * ty
    bw, bx, by, bz = before[0], before[1], before[2], before[3]
    cw, cx = bw * ew - bx * ex - by * ey - bz * ez, bw * ex + bx * ew + by * ez - bz * ey
    cy, cz = bw * ey - bx * ez + by * ew + bz * ex, bw * ez + bx * ey - by * ex + bz * ew
    dw, dx, dy, dz = after[0], after[1], after[2], after[3]
    q[0], q[1] = cw * dw - cx * dx - cy * dy - cz * dz, cw * dx + cx * dw + cy * dz - cz * dy
    q[2], q[3] = cw * dy - cx * dz + cy * dw + cz * dx, cw * dz + cx * dy - cy * dx + cz * dw


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
def set_matrix(q: np.ndarray, R: np.ndarray) -> None:
    """The matrix (3, 3) of a unit quaternion (4,)."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    R[0, 0], R[0, 1], R[0, 2] = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)
    R[1, 0], R[1, 1], R[1, 2] = 2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)
    R[2, 0], R[2, 1], R[2, 2] = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)


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
def multiply_into(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """out = a b, matrices (3, 3)."""
    for i in range(3):
        x, y, z = a[i, 0], a[i, 1], a[i, 2]
        for j in range(3):
            out[i, j] = x * b[0, j] + y * b[1, j] + z * b[2, j]


@kernel
def place_figure(
    parents: np.ndarray,
    offsets: np.ndarray,
    local: np.ndarray,
    held: int,
    place: np.ndarray,
    turn: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
) -> None:
    """World orientations R (J, 3, 3) and places p (J, 3), from the joints' matrices local (J, 3, 3).

    held         the body that is at `place` (3,), turned by `turn` (3, 3); FREE: these are the root's
    """
    count = len(parents)
    R[0] = turn if held < 1 else np.eye(3)
    p[0] = place if held < 1 else np.zeros(3)
    for i in range(1, count):
        k = parents[i]
        multiply_into(R[k], local[i], R[i])
        for a in range(3):
            p[i, a] = p[k, a] + R[k, a, 0] * offsets[i, 0] + R[k, a, 1] * offsets[i, 1] + R[k, a, 2] * offsets[i, 2]
    if held < 1:
        return
    # All of it goes to where the held body belongs
    move, turned, at = turn @ R[held].T.copy(), np.empty((3, 3)), p[held].copy()
    for i in range(count):
        multiply_into(move, R[i], turned)
        R[i] = turned
        x, y, z = p[i, 0] - at[0], p[i, 1] - at[1], p[i, 2] - at[2]
        for a in range(3):
            p[i, a] = place[a] + move[a, 0] * x + move[a, 1] * y + move[a, 2] * z


@kernel
def find_centers(
    parents: np.ndarray, masses: np.ndarray, centers: np.ndarray, R: np.ndarray, p: np.ndarray, under: np.ndarray
) -> None:
    """Mass and mass times centre of what is under each joint, itself included: under (J, 4) is written.

    [balance, 13], from the ends inwards
    """
    count = len(parents)
    for i in range(count):
        m, c = masses[i], centers[i]
        under[i, 0] = m
        for a in range(3):
            under[i, 1 + a] = m * (p[i, a] + R[i, a, 0] * c[0] + R[i, a, 1] * c[1] + R[i, a, 2] * c[2])
    for i in range(count - 1, 0, -1):
        k = parents[i]
        for a in range(4):
            under[k, a] += under[i, a]


@kernel
def find_axes(
    parents: np.ndarray, before: np.ndarray, angles: np.ndarray, turns: np.ndarray, R: np.ndarray, axes: np.ndarray
) -> None:
    """World axes (J, 3, 3) of the joints' angles, a row each; of joints that do not turn (turns (J,)) they stay.

    before  (J, 3, 3) P^-1
    """
    B, L = np.empty((3, 3)), np.empty((3, 3))
    for i in range(1, len(parents)):
        if not turns[i]:
            continue
        multiply_into(R[parents[i]], before[i], B)
        _find_own_axes(angles[i], L)
        for j in range(3):
            for a in range(3):
                axes[i, j, a] = B[a, 0] * L[j, 0] + B[a, 1] * L[j, 1] + B[a, 2] * L[j, 2]


@kernel
def _find_own_axes(angles: np.ndarray, L: np.ndarray) -> None:
    """The axes of x, y and z (rows) in the joint's zero frame.   [steps, 1]"""
    x, z = angles[0], angles[2]
    square = x * x + z * z
    t = np.sqrt(square)
    if t < 1e-3:  # the series' next terms are below 1e-16
        a, b, s = 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0, 1.0 - square / 6.0
    else:
        a, b, s = (1.0 - np.cos(t)) / square, (t - np.sin(t)) / (square * t), np.sin(t) / t
    # L = I + a [v]x + b [v]x^2 with v = (x, 0, z); columns for x and z
    L[0, 0], L[0, 1], L[0, 2] = 1.0 - b * z * z, a * z, b * x * z
    L[2, 0], L[2, 1], L[2, 2] = b * x * z, -a * x, 1.0 - b * x * x
    # S e_y
    L[1, 0], L[1, 1], L[1, 2] = -s * z, 1.0 - a * square, s * x

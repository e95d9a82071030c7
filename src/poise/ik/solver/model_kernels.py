"""Where the bodies of a character are, and how each free angle moves them: compiled.

A joint is turned by angles (x, y, z), each in its own range (`body/joints.py`):

    q = P^-1 exp(x, 0, z) exp(0, y, 0) C

One body, the *base*, stays where it is: the stance foot [balance, 4.1]. The tree is not rebuilt from that foot. A joint
k has two sides, the bodies under it in the tree and all the others; the side without the base turns against the other.
So for a rotation about the world axis r at joint k, at the position O,

    dX / dangle = s r x (X - O)             of a point X on the side that moves, else 0          [balance, 10]
    dc / dangle = s (m / M) r x (V - O)     of the centre of mass                               [balance, 14, corrected]

with m and V mass and centre of the side that moves (the *virtual centre of mass*, [balance, 13]), and s = 1 if that is
the side under the joint, -1 if it is the other. Without a base the root moves by six more numbers: its position and a
rotation, in world axes.

The axes r of a joint's angles, with B the orientation of the parent body times P^-1, S the swing exp(x, 0, z) and L
the left Jacobian of the exponential map at (x, 0, z):

    r_x = B L e_x,    r_y = B S e_y,    r_z = B L e_z                                            [steps, 1]
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.ik.solver.records import IkModel, IkWorkspace


@kernel
def set_turn(angles: np.ndarray, before: np.ndarray, after: np.ndarray, q: np.ndarray) -> None:
    """Write q = P^-1 exp(x, 0, z) exp(0, y, 0) C of one joint.   [limits]"""
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
    """Write the angles (3,) of a joint's rotation q (4,): the inverse of `set_turn`.   [limits]"""
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
    """Write the matrix (3, 3) of a unit quaternion (4,)."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    R[0, 0], R[0, 1], R[0, 2] = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)
    R[1, 0], R[1, 1], R[1, 2] = 2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)
    R[2, 0], R[2, 1], R[2, 2] = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)


@kernel
def set_quaternion(R: np.ndarray, near: np.ndarray, q: np.ndarray) -> None:
    """Write the unit quaternion (4,) of a matrix (3, 3) that is nearer to `near` than its negative."""
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
    """Write out = a b, matrices (3, 3)."""
    for i in range(3):
        x, y, z = a[i, 0], a[i, 1], a[i, 2]
        for j in range(3):
            out[i, j] = x * b[0, j] + y * b[1, j] + z * b[2, j]


@kernel
def place_root(model: IkModel, root: np.ndarray, orientation: np.ndarray, work: IkWorkspace) -> None:
    """Write the world orientations R and positions p of a body whose root is at `root` (3,), turned by (3, 3)."""
    parents, offsets, R, p = model.parents, model.offsets, work.R, work.p
    R[0], p[0] = orientation, root
    for i in range(1, model.joints):
        k = parents[i]
        multiply_into(R[k], work.local[i], R[i])
        for a in range(3):
            p[i, a] = p[k, a] + R[k, a, 0] * offsets[i, 0] + R[k, a, 1] * offsets[i, 1] + R[k, a, 2] * offsets[i, 2]


@kernel
def place_bodies(model: IkModel, work: IkWorkspace) -> None:
    """Write the world orientations R and positions p of the workspace's pose, with the base where it is held."""
    position, orientation, R, p = work.base_position, work.base_orientation, work.R, work.p
    if work.base < 1:
        place_root(model, position, orientation, work)
        return
    place_root(model, np.zeros(3), np.eye(3), work)
    # All bodies move to where the base belongs
    move, turned, at = orientation @ R[work.base].T.copy(), np.empty((3, 3)), p[work.base].copy()
    for i in range(model.joints):
        multiply_into(move, R[i], turned)
        R[i] = turned
        x, y, z = p[i, 0] - at[0], p[i, 1] - at[1], p[i, 2] - at[2]
        for a in range(3):
            p[i, a] = position[a] + move[a, 0] * x + move[a, 1] * y + move[a, 2] * z


@kernel
def find_centers(
    parents: np.ndarray, masses: np.ndarray, centers: np.ndarray, R: np.ndarray, p: np.ndarray, under: np.ndarray
) -> None:
    """Write mass and mass times centre of the bodies under each joint, its own included: under (J, 4).

    [balance, 13], from the leaves to the root
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
    """Write the world axes (J, 3, 3) of the joints' angles, one row per angle, if the joint has any (turns (J,)).

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
    """Write the axes of x, y and z (rows) in the joint's zero frame.   [steps, 1]"""
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

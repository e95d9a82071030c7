"""Recursive Newton-Euler over many frames at once, compiled.

The same mathematics as `tests/oracles/spatial_vectors.py` in 3-vectors instead of spatial 6-vectors: of each body the
angular velocity w, its derivative dw, and the acceleration a of its joint, in the body's own axes. Frames lie side by
side in memory, in blocks that stay in the cache, so that the compiler computes several frames with one instruction.

    w_i  = E^T w_p + wj                                                   E = E_i turns body i's axes into the parent's
    dw_i = E^T dw_p + dwj + (E^T w_p) x wj                                wj, dwj: the joint's own rate and its change
    a_i  = E^T (a_p + dw_p x r + w_p x (w_p x r)),   a_0 = E^T (acc - g)  r: the joint in the parent's frame
    F    = m (a_i + dw_i x c + w_i x (w_i x c))                           c: centre of mass
    f_i  = F - f_ext + sum over children of E f_k
    n_i  = I dw_i + w_i x (I w_i) + c x F - n_ext + sum over children of (E n_k + r x E f_k)

Where a joint slides, r is its offset and its shift s together, and its motion relative to the parent counts too:

    a_i += E^T (2 w_p x s' + s'')

Rows of a body's workspace have numbers instead of names, unlike other data here: offsets that the compiler knows let it
see that rows do not overlap, which is what lets it compute four frames at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.compiled.kernel import kernel

# Frames in a block: 43 rows x 20 bodies x 32 frames are 220 kB, within the second-level cache; 16 to 64 are as fast.
BLOCK = 32
ROWS = 43
# Where each row of a body's workspace begins.
E0, E1, E2, E3, E4, E5, E6, E7, E8 = (BLOCK * k for k in range(9))  # E row by row
WX, WY, WZ, DX, DY, DZ, AX, AY, AZ = (BLOCK * k for k in range(9, 18))  # w, dw, a
FX, FY, FZ, NX, NY, NZ = (BLOCK * k for k in range(18, 24))  # f, n
QW, QX, QY, QZ, JX, JY, JZ, KX, KY, KZ = (BLOCK * k for k in range(24, 34))  # the joint's rotation, wj, dwj
R0 = BLOCK * 34  # rotation into the world's axes, nine rows; only with external wrenches


class TreeArrays(NamedTuple):
    """Arrays of a `Tree`."""

    parents: np.ndarray
    offsets: np.ndarray
    masses: np.ndarray
    centers: np.ndarray
    inertias: np.ndarray


class ClipMotion(NamedTuple):
    """Motion of F frames, see `TreeState`.

    rotations             (F, J, 4)
    angular_velocity      (F, J, 3) rad/s
    acceleration          (F, 3) m/s2, of the root
    angular_acceleration  (F, J, 3) rad/s2
    slides                (F, J, 9) m, m/s and m/s2: shift, its velocity and acceleration; (0, J, 9) if no joint slides
    """

    rotations: np.ndarray
    angular_velocity: np.ndarray
    acceleration: np.ndarray
    angular_acceleration: np.ndarray
    slides: np.ndarray


@kernel(fastmath={"contract", "nsz"})
def inverse_dynamics(
    tree: TreeArrays, gravity: np.ndarray, motion: ClipMotion, external: np.ndarray, force: np.ndarray,
    torque: np.ndarray,
) -> None:  # fmt: skip
    """Write force (F, 3) N at the root, world axes, and torque (F, J, 3) N m of every joint, in its body's axes.

    gravity   (3,) m/s2
    external  (F, J, 6) N m and N, wrenches in world axes; (0, J, 6) for none
    """
    parents, offsets, masses, centers, inertias = tree
    rotations, omega, acc, alpha, slides = motion
    frames, joints = rotations.shape[0], rotations.shape[1]
    work = np.empty((joints, ROWS * BLOCK))
    for start in range(0, frames, BLOCK):
        n = min(BLOCK, frames - start)
        for i in range(joints):
            _gather(work[i], rotations, omega, alpha, start, i, n)
            _set_rotation(work[i], n)
            if i == 0:
                _start(work[0], acc, gravity, start, n)
            else:
                _outward(work[parents[i]], work[i], offsets[i], n)
                if slides.shape[0] > 0:
                    _slide_outward(work[parents[i]], work[i], slides, start, i, n)
            _net_force(work[i], masses[i], centers[i], inertias[i], n)
        if external.shape[0] > 0:
            for i in range(joints):
                _set_world_rotation(work[max(parents[i], 0)], work[i], i == 0, n)
                _subtract_external(work[i], external, start, i, n)
        for i in range(joints - 1, 0, -1):
            _inward(work[parents[i]], work[i], offsets[i], n)
            if slides.shape[0] > 0:
                _slide_inward(work[parents[i]], work[i], slides, start, i, n)
        _scatter(work, force, torque, start, n)


@kernel
def _gather(body, rotations, omega, alpha, start, i, n):
    for b in range(n):
        f = start + b
        body[QW + b], body[QX + b] = rotations[f, i, 0], rotations[f, i, 1]
        body[QY + b], body[QZ + b] = rotations[f, i, 2], rotations[f, i, 3]
        body[JX + b], body[JY + b], body[JZ + b] = omega[f, i, 0], omega[f, i, 1], omega[f, i, 2]
        body[KX + b], body[KY + b], body[KZ + b] = alpha[f, i, 0], alpha[f, i, 1], alpha[f, i, 2]


@kernel(fastmath={"contract", "nsz"})
def _scatter(work, force, torque, start, n):
    for b in range(n):
        for i in range(work.shape[0]):
            torque[start + b, i, 0] = work[i, NX + b]
            torque[start + b, i, 1] = work[i, NY + b]
            torque[start + b, i, 2] = work[i, NZ + b]
        fx, fy, fz = work[0, FX + b], work[0, FY + b], work[0, FZ + b]
        force[start + b, 0] = work[0, E0 + b] * fx + work[0, E1 + b] * fy + work[0, E2 + b] * fz
        force[start + b, 1] = work[0, E3 + b] * fx + work[0, E4 + b] * fy + work[0, E5 + b] * fz
        force[start + b, 2] = work[0, E6 + b] * fx + work[0, E7 + b] * fy + work[0, E8 + b] * fz


@kernel(fastmath={"contract", "nsz"})
def _set_rotation(body, n):
    for b in range(n):
        w, x, y, z = body[QW + b], body[QX + b], body[QY + b], body[QZ + b]
        body[E0 + b] = 1 - 2 * (y * y + z * z)
        body[E1 + b] = 2 * (x * y - w * z)
        body[E2 + b] = 2 * (x * z + w * y)
        body[E3 + b] = 2 * (x * y + w * z)
        body[E4 + b] = 1 - 2 * (x * x + z * z)
        body[E5 + b] = 2 * (y * z - w * x)
        body[E6 + b] = 2 * (x * z - w * y)
        body[E7 + b] = 2 * (y * z + w * x)
        body[E8 + b] = 1 - 2 * (x * x + y * y)


@kernel(fastmath={"contract", "nsz"})
def _start(body, acc, gravity, start, n):
    gx, gy, gz = gravity[0], gravity[1], gravity[2]
    for b in range(n):
        body[WX + b], body[WY + b], body[WZ + b] = body[JX + b], body[JY + b], body[JZ + b]
        body[DX + b], body[DY + b], body[DZ + b] = body[KX + b], body[KY + b], body[KZ + b]
        # a_0 = E^T (acc - g)
        ax, ay, az = acc[start + b, 0] - gx, acc[start + b, 1] - gy, acc[start + b, 2] - gz
        body[AX + b] = body[E0 + b] * ax + body[E3 + b] * ay + body[E6 + b] * az
        body[AY + b] = body[E1 + b] * ax + body[E4 + b] * ay + body[E7 + b] * az
        body[AZ + b] = body[E2 + b] * ax + body[E5 + b] * ay + body[E8 + b] * az


@kernel(fastmath={"contract", "nsz"})
def _outward(parent, body, r, n):
    rx, ry, rz = r[0], r[1], r[2]
    for b in range(n):
        e0, e1, e2 = body[E0 + b], body[E1 + b], body[E2 + b]
        e3, e4, e5 = body[E3 + b], body[E4 + b], body[E5 + b]
        e6, e7, e8 = body[E6 + b], body[E7 + b], body[E8 + b]
        wx, wy, wz = parent[WX + b], parent[WY + b], parent[WZ + b]
        dx, dy, dz = parent[DX + b], parent[DY + b], parent[DZ + b]
        jx, jy, jz = body[JX + b], body[JY + b], body[JZ + b]
        # E^T w_p
        ux = e0 * wx + e3 * wy + e6 * wz
        uy = e1 * wx + e4 * wy + e7 * wz
        uz = e2 * wx + e5 * wy + e8 * wz
        # w_i = E^T w_p + wj
        body[WX + b] = ux + jx
        body[WY + b] = uy + jy
        body[WZ + b] = uz + jz
        # dw_i = E^T dw_p + dwj + (E^T w_p) x wj
        body[DX + b] = e0 * dx + e3 * dy + e6 * dz + body[KX + b] + (uy * jz - uz * jy)
        body[DY + b] = e1 * dx + e4 * dy + e7 * dz + body[KY + b] + (uz * jx - ux * jz)
        body[DZ + b] = e2 * dx + e5 * dy + e8 * dz + body[KZ + b] + (ux * jy - uy * jx)
        # a_i = E^T (a_p + dw_p x r + w_p x (w_p x r))
        cx, cy, cz = wy * rz - wz * ry, wz * rx - wx * rz, wx * ry - wy * rx
        ax = parent[AX + b] + (dy * rz - dz * ry) + (wy * cz - wz * cy)
        ay = parent[AY + b] + (dz * rx - dx * rz) + (wz * cx - wx * cz)
        az = parent[AZ + b] + (dx * ry - dy * rx) + (wx * cy - wy * cx)
        body[AX + b] = e0 * ax + e3 * ay + e6 * az
        body[AY + b] = e1 * ax + e4 * ay + e7 * az
        body[AZ + b] = e2 * ax + e5 * ay + e8 * az


@kernel(fastmath={"contract", "nsz"})
def _net_force(body, m, c, inertia, n):
    cx, cy, cz = c[0], c[1], c[2]
    ixx, iyy, izz = inertia[0, 0], inertia[1, 1], inertia[2, 2]
    ixy, ixz, iyz = inertia[0, 1], inertia[0, 2], inertia[1, 2]
    for b in range(n):
        wx, wy, wz = body[WX + b], body[WY + b], body[WZ + b]
        dx, dy, dz = body[DX + b], body[DY + b], body[DZ + b]
        # F = m (a + dw x c + w x (w x c))
        tx, ty, tz = wy * cz - wz * cy, wz * cx - wx * cz, wx * cy - wy * cx
        fx = m * (body[AX + b] + (dy * cz - dz * cy) + (wy * tz - wz * ty))
        fy = m * (body[AY + b] + (dz * cx - dx * cz) + (wz * tx - wx * tz))
        fz = m * (body[AZ + b] + (dx * cy - dy * cx) + (wx * ty - wy * tx))
        body[FX + b], body[FY + b], body[FZ + b] = fx, fy, fz
        # n = I dw + w x (I w) + c x F
        lx = ixx * wx + ixy * wy + ixz * wz
        ly = ixy * wx + iyy * wy + iyz * wz
        lz = ixz * wx + iyz * wy + izz * wz
        body[NX + b] = ixx * dx + ixy * dy + ixz * dz + (wy * lz - wz * ly) + (cy * fz - cz * fy)
        body[NY + b] = ixy * dx + iyy * dy + iyz * dz + (wz * lx - wx * lz) + (cz * fx - cx * fz)
        body[NZ + b] = ixz * dx + iyz * dy + izz * dz + (wx * ly - wy * lx) + (cx * fy - cy * fx)


@kernel(fastmath={"contract", "nsz"})
def _inward(parent, body, r, n):
    rx, ry, rz = r[0], r[1], r[2]
    for b in range(n):
        fx, fy, fz = body[FX + b], body[FY + b], body[FZ + b]
        nx, ny, nz = body[NX + b], body[NY + b], body[NZ + b]
        # E f and E n, into the parent's axes
        gx = body[E0 + b] * fx + body[E1 + b] * fy + body[E2 + b] * fz
        gy = body[E3 + b] * fx + body[E4 + b] * fy + body[E5 + b] * fz
        gz = body[E6 + b] * fx + body[E7 + b] * fy + body[E8 + b] * fz
        hx = body[E0 + b] * nx + body[E1 + b] * ny + body[E2 + b] * nz
        hy = body[E3 + b] * nx + body[E4 + b] * ny + body[E5 + b] * nz
        hz = body[E6 + b] * nx + body[E7 + b] * ny + body[E8 + b] * nz
        parent[FX + b] += gx
        parent[FY + b] += gy
        parent[FZ + b] += gz
        parent[NX + b] += hx + (ry * gz - rz * gy)
        parent[NY + b] += hy + (rz * gx - rx * gz)
        parent[NZ + b] += hz + (rx * gy - ry * gx)


@kernel
def _slide_outward(parent, body, slides, start, i, n):
    for b in range(n):
        f = start + b
        sx, sy, sz = slides[f, i, 0], slides[f, i, 1], slides[f, i, 2]
        vx, vy, vz = slides[f, i, 3], slides[f, i, 4], slides[f, i, 5]
        wx, wy, wz = parent[WX + b], parent[WY + b], parent[WZ + b]
        dx, dy, dz = parent[DX + b], parent[DY + b], parent[DZ + b]
        # a_i += E^T (dw_p x s + w_p x (w_p x s + 2 s') + s'')
        cx = wy * sz - wz * sy + 2.0 * vx
        cy = wz * sx - wx * sz + 2.0 * vy
        cz = wx * sy - wy * sx + 2.0 * vz
        ax = slides[f, i, 6] + (dy * sz - dz * sy) + (wy * cz - wz * cy)
        ay = slides[f, i, 7] + (dz * sx - dx * sz) + (wz * cx - wx * cz)
        az = slides[f, i, 8] + (dx * sy - dy * sx) + (wx * cy - wy * cx)
        body[AX + b] += body[E0 + b] * ax + body[E3 + b] * ay + body[E6 + b] * az
        body[AY + b] += body[E1 + b] * ax + body[E4 + b] * ay + body[E7 + b] * az
        body[AZ + b] += body[E2 + b] * ax + body[E5 + b] * ay + body[E8 + b] * az


@kernel
def _slide_inward(parent, body, slides, start, i, n):
    for b in range(n):
        sx, sy, sz = slides[start + b, i, 0], slides[start + b, i, 1], slides[start + b, i, 2]
        fx, fy, fz = body[FX + b], body[FY + b], body[FZ + b]
        gx = body[E0 + b] * fx + body[E1 + b] * fy + body[E2 + b] * fz
        gy = body[E3 + b] * fx + body[E4 + b] * fy + body[E5 + b] * fz
        gz = body[E6 + b] * fx + body[E7 + b] * fy + body[E8 + b] * fz
        # n_p += s x E f
        parent[NX + b] += sy * gz - sz * gy
        parent[NY + b] += sz * gx - sx * gz
        parent[NZ + b] += sx * gy - sy * gx


@kernel
def _set_world_rotation(parent, body, is_root, n):
    for b in range(n):
        for row in range(3):
            for column in range(3):
                at = R0 + (3 * row + column) * BLOCK + b
                if is_root:
                    body[at] = body[(3 * row + column) * BLOCK + b]
                else:
                    total = 0.0
                    for k in range(3):
                        total += parent[R0 + (3 * row + k) * BLOCK + b] * body[(3 * k + column) * BLOCK + b]
                    body[at] = total


@kernel
def _subtract_external(body, external, start, i, n):
    for b in range(n):
        for axis in range(3):
            for k in range(3):
                turn = body[R0 + (3 * axis + k) * BLOCK + b]
                body[NX + k * BLOCK + b] -= turn * external[start + b, i, axis]
                body[FX + k * BLOCK + b] -= turn * external[start + b, i, 3 + axis]

"""Equations of motion of a body on which the world exerts forces at contact points.   [strength, section 4]

n degrees of freedom turn joints about axes e_k; all other components of the joint accelerations are given. The unknowns
are u = (x, f): x (n,) rad/s2 of the degrees of freedom, and f (P,) the contact forces, each along a direction of its
own, in a unit of the caller's. A point that holds by friction has several, along the edges of its friction cone.
Nothing else holds the root, so its six accelerations a (m/s2 of its position, rad/s2, world axes) follow from them:

    M a + M_rj x + w0 = G^T f          a = A u + a0                                                       [1]

The rows of G (P, 6) are the forces' directions and moments about the root, and w0 is the wrench that the root would
need for x = 0, a = 0. The torque about each axis is that of Newton and Euler without what contact forces contribute
outboard of the joint:

    t = M_jj x + M_rj^T a + t0 - J^T f   t = H u + b       [strength, eq 6, which includes K F]          [2]

If the root's motion is prescribed, a = a0 whatever the forces are, and A = 0.

Support ratios, zero-moment point and minimum-moment point therefore need no search: of all forces within friction, the
solver takes those that serve the goals best (`dynamics/qp/priority_kernels.py`); what they cannot achieve is how the
body tips over.

`find_inertia` fills an `InertiaModel`, `build_contact_model` a `ContactModel` (`records.py`). `find_point_rows` gives
the acceleration of a point as a row of a goal, and `find_joint_torques` the torque vectors of a solution.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.dynamics.body_kernels import Body, accelerate_bodies, gather_inward, net_forces
from poise.dynamics.contact.cone_kernels import factor, solve_factored
from poise.dynamics.contact.records import ContactModel, InertiaModel


@kernel
def build_contact_model(body: Body, inertia: InertiaModel, model: ContactModel) -> bool:
    """Write A, a0, H and b of the model; return False if the root's inertia is singular.   [1, 2]"""
    find_inertia(body, inertia)
    force, torque = np.empty((model.joints, 3)), np.empty((model.joints, 3))
    accelerate_joints(body, model.dw, model.angular_acceleration, model.acceleration)
    find_torques(body, inertia, model.angular_acceleration, model.acceleration, model.wrench, force, torque)
    model.A[:] = 0.0
    if model.is_prescribed == 0:
        if not factor(inertia.root, 6):
            return False
        _write_root_rows(body, inertia, model, force, torque)
    _write_torque_rows(body, inertia, model, torque)
    return True


@kernel
def _write_root_rows(
    body: Body, inertia: InertiaModel, model: ContactModel, force: np.ndarray, torque: np.ndarray
) -> None:
    """Write A and a0, with the root's inertia factored: `force` and `torque` (J, 3) are those of x = 0, a = 0.   [1]"""
    M, root_joint, n, one = inertia.root, inertia.root_joint, inertia.freedoms, np.empty(6)
    A, a0, point, direction, p = model.A, model.a0, model.point, model.direction, body.p
    for a in range(3):
        a0[a], a0[3 + a] = -force[0, a], -torque[0, a]
    solve_factored(M, 6, a0)
    for k in range(n):
        for a in range(6):
            one[a] = -root_joint[a, k]
        solve_factored(M, 6, one)
        A[:, k] = one
    for i in range(model.forces):
        w = direction[i]
        x, y, z = point[i, 0] - p[0, 0], point[i, 1] - p[0, 1], point[i, 2] - p[0, 2]
        one[0], one[1], one[2] = w[0], w[1], w[2]
        one[3], one[4], one[5] = y * w[2] - z * w[1], z * w[0] - x * w[2], x * w[1] - y * w[0]
        one *= model.unit
        solve_factored(M, 6, one)
        A[:, n + i] = one


@kernel
def _write_torque_rows(body: Body, inertia: InertiaModel, model: ContactModel, torque: np.ndarray) -> None:
    """Write the first n rows of H and b, with `torque` (J, 3) of x = 0, a = 0.   [2]"""
    n, joint, e, root_joint, joint_joint = (
        inertia.freedoms, inertia.joint, inertia.axis, inertia.root_joint, inertia.joint_joint,
    )  # fmt: skip
    A, a0, H, b, point, way, p = model.A, model.a0, model.H, model.b, model.point, model.direction, body.p
    for h in range(n):
        i = joint[h]
        b[h] = e[h, 0] * torque[i, 0] + e[h, 1] * torque[i, 1] + e[h, 2] * torque[i, 2]
        for a in range(6):
            b[h] += root_joint[a, h] * a0[a]
        for k in range(model.unknowns):
            total = joint_joint[h, k] if k < n else 0.0
            for a in range(6):
                total += root_joint[a, h] * A[a, k]
            H[h, k] = total
        for g in range(model.forces):
            if not _carries(body.parents, i, model.segment[g]):
                continue
            # velocity of the point when the joint turns about e at 1 rad/s: e x (point - p)
            x, y, z = point[g, 0] - p[i, 0], point[g, 1] - p[i, 1], point[g, 2] - p[i, 2]
            vx, vy, vz = e[h, 1] * z - e[h, 2] * y, e[h, 2] * x - e[h, 0] * z, e[h, 0] * y - e[h, 1] * x
            H[h, n + g] -= model.unit * (way[g, 0] * vx + way[g, 1] * vy + way[g, 2] * vz)


@kernel
def find_inertia(body: Body, inertia: InertiaModel) -> None:
    """Write what each joint carries, and the inertia between root and degrees of freedom, in the body's pose."""
    _find_carried(body, inertia)
    _write_root_inertia(body, inertia)
    _write_joint_inertia(body, inertia)


@kernel
def _find_carried(body: Body, inertia: InertiaModel) -> None:
    """Write mass, centre and inertia of all that each joint carries."""
    parents, R, p, masses, centers, inertias = (
        body.parents, body.R, body.p, inertia.masses, inertia.centers, inertia.inertias,
    )  # fmt: skip
    mass, center, carried = inertia.carried_mass, inertia.carried_center, inertia.carried_inertia
    J = inertia.joints
    for i in range(J):
        mass[i] = masses[i]
        for a in range(3):
            center[i, a] = (
                p[i, a] + R[i, a, 0] * centers[i, 0] + R[i, a, 1] * centers[i, 1] + R[i, a, 2] * centers[i, 2]
            )
        for a in range(3):
            for b in range(3):
                total = 0.0
                for c in range(3):
                    for d in range(3):
                        total += R[i, a, c] * inertias[i, c, d] * R[i, b, d]
                carried[i, a, b] = total
    for i in range(J - 1, 0, -1):
        k, m = parents[i], mass[parents[i]] + mass[i]
        if m <= 0.0:
            continue
        # parallel axes, by the reduced mass of both bodies
        share = mass[k] * mass[i] / m
        dx, dy, dz = center[i, 0] - center[k, 0], center[i, 1] - center[k, 1], center[i, 2] - center[k, 2]
        square = dx * dx + dy * dy + dz * dz
        apart = (dx, dy, dz)
        for a in range(3):
            for b in range(3):
                carried[k, a, b] += carried[i, a, b] - share * apart[a] * apart[b]
            carried[k, a, a] += share * square
        for a in range(3):
            center[k, a] += mass[i] / m * apart[a]
        mass[k] = m


@kernel
def _write_root_inertia(body: Body, inertia: InertiaModel) -> None:
    """Write M (6, 6) of the whole body, locked in its pose."""
    M, p, mass, center, carried = (
        inertia.root, body.p, inertia.carried_mass, inertia.carried_center, inertia.carried_inertia,
    )  # fmt: skip
    rx, ry, rz = center[0, 0] - p[0, 0], center[0, 1] - p[0, 1], center[0, 2] - p[0, 2]
    arm, m = np.array([rx, ry, rz]), mass[0]
    square = rx * rx + ry * ry + rz * rz
    M[:] = 0.0
    for a in range(3):
        M[a, a] = m
        for b in range(3):
            M[3 + a, 3 + b] = carried[0, a, b] - m * arm[a] * arm[b]
        M[3 + a, 3 + a] += m * square
    M[0, 4], M[0, 5], M[1, 3], M[1, 5], M[2, 3], M[2, 4] = m * rz, -m * ry, -m * rz, m * rx, m * ry, -m * rx
    for a in range(3):
        for b in range(3):
            M[3 + b, a] = M[a, 3 + b]


@kernel
def _write_joint_inertia(body: Body, inertia: InertiaModel) -> None:
    """Write M_rj (6, n) and M_jj (n, n)."""
    parents, p, joint, e, n = body.parents, body.p, inertia.joint, inertia.axis, inertia.freedoms
    mass, center, carried = inertia.carried_mass, inertia.carried_center, inertia.carried_inertia
    Mrj, Mjj = inertia.root_joint, inertia.joint_joint
    for k in range(n):
        i = joint[k]
        x, y, z = center[i, 0] - p[i, 0], center[i, 1] - p[i, 1], center[i, 2] - p[i, 2]
        # momentum of all that joint i carries when it turns about e at 1 rad/s: f, and l about its centre
        fx = mass[i] * (e[k, 1] * z - e[k, 2] * y)
        fy = mass[i] * (e[k, 2] * x - e[k, 0] * z)
        fz = mass[i] * (e[k, 0] * y - e[k, 1] * x)
        lx = carried[i, 0, 0] * e[k, 0] + carried[i, 0, 1] * e[k, 1] + carried[i, 0, 2] * e[k, 2]
        ly = carried[i, 1, 0] * e[k, 0] + carried[i, 1, 1] * e[k, 1] + carried[i, 1, 2] * e[k, 2]
        lz = carried[i, 2, 0] * e[k, 0] + carried[i, 2, 1] * e[k, 1] + carried[i, 2, 2] * e[k, 2]
        x, y, z = center[i, 0] - p[0, 0], center[i, 1] - p[0, 1], center[i, 2] - p[0, 2]
        Mrj[0, k], Mrj[1, k], Mrj[2, k] = fx, fy, fz
        Mrj[3, k] = lx + y * fz - z * fy
        Mrj[4, k] = ly + z * fx - x * fz
        Mrj[5, k] = lz + x * fy - y * fx
        for h in range(k + 1):
            Mjj[k, h] = Mjj[h, k] = 0.0
        # its component along the axes of the joints between this one and the root
        h = k
        while h >= 0:
            g = joint[h]
            if g == i or _carries(parents, g, i):
                x, y, z = center[i, 0] - p[g, 0], center[i, 1] - p[g, 1], center[i, 2] - p[g, 2]
                Mjj[h, k] = Mjj[k, h] = (
                    e[h, 0] * (lx + y * fz - z * fy) + e[h, 1] * (ly + z * fx - x * fz)
                    + e[h, 2] * (lz + x * fy - y * fx)
                )  # fmt: skip
            h -= 1


@kernel
def _carries(parents: np.ndarray, g: int, i: int) -> bool:
    """Return whether joint g is joint i or between it and the root."""
    while i > g:
        i = parents[i]
    return i == g


@kernel
def add_rigid_acceleration(p: np.ndarray, a: np.ndarray, al: np.ndarray, acc: np.ndarray) -> None:
    """Add a rigid acceleration of the whole body, a (6,) of its root, to al and acc (J, 3)."""
    for i in range(len(p)):
        x, y, z = p[i, 0] - p[0, 0], p[i, 1] - p[0, 1], p[i, 2] - p[0, 2]
        acc[i, 0] += a[0] + a[4] * z - a[5] * y
        acc[i, 1] += a[1] + a[5] * x - a[3] * z
        acc[i, 2] += a[2] + a[3] * y - a[4] * x
        for k in range(3):
            al[i, k] += a[3 + k]


@kernel
def find_torques(
    body: Body, inertia: InertiaModel, al: np.ndarray, acc: np.ndarray, wrench: np.ndarray, force: np.ndarray,
    torque: np.ndarray,
) -> None:  # fmt: skip
    """Write force (J, 3) N and torque (J, 3) N m of every joint, world axes; row 0: what the world must exert.

    They carry the weight and the accelerations al, acc (J, 3), less external wrenches (J, 6) on the segments.
    """
    lifted = acc - body.gravity
    net_forces(inertia.masses, inertia.centers, inertia.inertias, body.R, body.om, al, lifted, force, torque)
    for i in range(len(wrench)):
        for a in range(3):
            torque[i, a] -= wrench[i, a]
            force[i, a] -= wrench[i, 3 + a]
    gather_inward(body.parents, body.p, force, torque)


@kernel
def accelerate_joints(body: Body, dw: np.ndarray, al: np.ndarray, acc: np.ndarray) -> None:
    """Write accelerations al, acc (J, 3) of all segments for joint accelerations dw (J, 3) and a root without any."""
    kept = dw[0].copy()
    dw[0] = 0.0
    accelerate_bodies(body.parents, body.R, body.p, body.w, dw, body.om, np.zeros(3), al, acc)
    dw[0] = kept


@kernel
def find_point_rows(
    body: Body, inertia: InertiaModel, model: ContactModel, segment: int, at: np.ndarray, rows: np.ndarray,
    c: np.ndarray,
) -> None:  # fmt: skip
    """Write rows (6, U) and c (6,): acceleration of the point `at` (3,) m of a segment, then its angular acceleration.

    Both are rows u + c, after `build_contact_model`.
    """
    p, A, a0, joint, e = body.p, model.A, model.a0, inertia.joint, inertia.axis
    rx, ry, rz = at[0] - p[segment, 0], at[1] - p[segment, 1], at[2] - p[segment, 2]
    w, b, acc = body.om[segment], model.angular_acceleration[segment], model.acceleration[segment]
    ux, uy, uz = w[1] * rz - w[2] * ry, w[2] * rx - w[0] * rz, w[0] * ry - w[1] * rx
    c[0] = acc[0] + b[1] * rz - b[2] * ry + w[1] * uz - w[2] * uy
    c[1] = acc[1] + b[2] * rx - b[0] * rz + w[2] * ux - w[0] * uz
    c[2] = acc[2] + b[0] * ry - b[1] * rx + w[0] * uy - w[1] * ux
    c[3], c[4], c[5] = b[0], b[1], b[2]
    x, y, z = at[0] - p[0, 0], at[1] - p[0, 1], at[2] - p[0, 2]
    c[0] += a0[0] + a0[4] * z - a0[5] * y
    c[1] += a0[1] + a0[5] * x - a0[3] * z
    c[2] += a0[2] + a0[3] * y - a0[4] * x
    for a in range(3):
        c[3 + a] += a0[3 + a]
    for k in range(A.shape[1]):
        rows[0, k] = A[0, k] + A[4, k] * z - A[5, k] * y
        rows[1, k] = A[1, k] + A[5, k] * x - A[3, k] * z
        rows[2, k] = A[2, k] + A[3, k] * y - A[4, k] * x
        for a in range(3):
            rows[3 + a, k] = A[3 + a, k]
    for k in range(len(joint)):
        i = joint[k]
        if _carries(body.parents, i, segment):
            rx, ry, rz = at[0] - p[i, 0], at[1] - p[i, 1], at[2] - p[i, 2]
            rows[0, k] += e[k, 1] * rz - e[k, 2] * ry
            rows[1, k] += e[k, 2] * rx - e[k, 0] * rz
            rows[2, k] += e[k, 0] * ry - e[k, 1] * rx
            for a in range(3):
                rows[3 + a, k] += e[k, a]


@kernel
def find_joint_torques(
    body: Body, inertia: InertiaModel, model: ContactModel, dw: np.ndarray, a: np.ndarray, f: np.ndarray,
    torque: np.ndarray,
) -> None:  # fmt: skip
    """Write the torque vectors (J, 3) N m of all joints, world axes.

    dw  (J, 3) rad/s2, all of the joint accelerations;  a  (6,) of the root;  f  (P,) N, contact forces
    """
    J, p, points, ways = model.joints, body.p, model.point, model.direction
    al, acc, force, wrench = np.empty((J, 3)), np.empty((J, 3)), np.empty((J, 3)), model.wrench.copy()
    accelerate_joints(body, dw, al, acc)
    add_rigid_acceleration(p, a, al, acc)
    for i in range(model.forces):
        s = model.segment[i]
        fx, fy, fz = f[i] * ways[i, 0], f[i] * ways[i, 1], f[i] * ways[i, 2]
        x, y, z = points[i, 0] - p[s, 0], points[i, 1] - p[s, 1], points[i, 2] - p[s, 2]
        wrench[s, 0] += y * fz - z * fy
        wrench[s, 1] += z * fx - x * fz
        wrench[s, 2] += x * fy - y * fx
        wrench[s, 3], wrench[s, 4], wrench[s, 5] = wrench[s, 3] + fx, wrench[s, 4] + fy, wrench[s, 5] + fz
    find_torques(body, inertia, al, acc, wrench, force, torque)


@kernel
def find_pressure_center(points: np.ndarray, ways: np.ndarray, f: np.ndarray, zmp: np.ndarray) -> None:
    """Write zmp (3,): where on the ground forces f (P,) N have no moment along it; NaN if none of them pushes up.

    n_0 = sum (r - s) x f has no component along the ground   [strength, eq 3]
    """
    zmp[:] = np.nan
    lift, mx, mz, fx, fz, height = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(points)):
        ax, ay, az = f[i] * ways[i, 0], f[i] * ways[i, 1], f[i] * ways[i, 2]
        x, y, z = points[i]
        lift, fx, fz = lift + ay, fx + ax, fz + az
        mx, mz = mx + y * az - z * ay, mz + x * ay - y * ax
        height += ay * y
    if lift > 0.0:
        height /= lift
        zmp[0], zmp[1], zmp[2] = (mz + height * fx) / lift, height, (height * fz - mx) / lift

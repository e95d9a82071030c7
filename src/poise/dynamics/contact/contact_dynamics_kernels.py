"""A body that the world pushes at points: what its accelerations and these pushes ask of its joints.

[strength, section 4]. n degrees of freedom turn joints about axes e_k; all else of the joints' accelerations is given.
The unknowns are u = (x, f): x (n,) rad/s2 of the freedoms, and f (P,) the pushes of the world at P points, each along a
way of its own, in shares of a weight; a point that holds by friction is there several times, along the edges of its
cone. The root's six accelerations (m/s2 of its place, rad/s2, world axes) follow from them, as nothing else holds it:

    M a + M_rj x + w0 = G^T f          a = A u + a0

G (P, 6) are the points' rows as the body moves as one, and w0 what the world would have to give for x = 0, a = 0. The
torque about each axis is that of Newton and Euler, less what pushes bring in below the joint:

    t = M_jj x + M_jr a + t0 - J^T f   t = H u + b       [strength, eq 6, with K F in it]

A root whose own motion is given has a = a0, whatever pushes, and A = 0.

So support ratios, zero-moment point and minimum-moment point need no search: of all pushes within friction those are
taken that serve what is wanted best (`dynamics/qp/priority_kernels.py`), and what they leave undone is how the body
tips.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.dynamics.body_kernels import accelerate_bodies, gather_inward, net_forces
from poise.dynamics.contact.cone_kernels import factor, solve_factored


@kernel
def compose(
    parents: np.ndarray, masses: np.ndarray, centers: np.ndarray, inertias: np.ndarray, R: np.ndarray, p: np.ndarray,
    mass: np.ndarray, center: np.ndarray, inertia: np.ndarray,
) -> None:  # fmt: skip
    """What each joint carries: mass (J,), its centre (J, 3) m, and inertia (J, 3, 3) about that, world axes."""
    J = len(parents)
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
                inertia[i, a, b] = total
    for i in range(J - 1, 0, -1):
        k, m = parents[i], mass[parents[i]] + mass[i]
        if m <= 0.0:
            continue
        # two bodies as one: the lighter way round of the parallel axes
        share = mass[k] * mass[i] / m
        dx, dy, dz = center[i, 0] - center[k, 0], center[i, 1] - center[k, 1], center[i, 2] - center[k, 2]
        square = dx * dx + dy * dy + dz * dz
        apart = (dx, dy, dz)
        for a in range(3):
            for b in range(3):
                inertia[k, a, b] += inertia[i, a, b] - share * apart[a] * apart[b]
            inertia[k, a, a] += share * square
        for a in range(3):
            center[k, a] += mass[i] / m * apart[a]
        mass[k] = m


@kernel
def fill_inertia(
    parents: np.ndarray, p: np.ndarray, mass: np.ndarray, center: np.ndarray, inertia: np.ndarray, joint: np.ndarray,
    e: np.ndarray, M: np.ndarray, Mrj: np.ndarray, Mjj: np.ndarray,
) -> None:  # fmt: skip
    """M (6, 6), Mrj (6, n), Mjj (n, n): inertia between the root's six [place, turn] and turns about axes e (n, 3)."""
    n = len(joint)
    rx, ry, rz = center[0, 0] - p[0, 0], center[0, 1] - p[0, 1], center[0, 2] - p[0, 2]
    arm, m = np.array([rx, ry, rz]), mass[0]
    square = rx * rx + ry * ry + rz * rz
    M[:] = 0.0
    for a in range(3):
        M[a, a] = m
        for b in range(3):
            M[3 + a, 3 + b] = inertia[0, a, b] - m * arm[a] * arm[b]
        M[3 + a, 3 + a] += m * square
    M[0, 4], M[0, 5], M[1, 3], M[1, 5], M[2, 3], M[2, 4] = m * rz, -m * ry, -m * rz, m * rx, m * ry, -m * rx
    for a in range(3):
        for b in range(3):
            M[3 + b, a] = M[a, 3 + b]
    for k in range(n):
        i = joint[k]
        x, y, z = center[i, 0] - p[i, 0], center[i, 1] - p[i, 1], center[i, 2] - p[i, 2]
        # momentum of all that joint i carries, turning about e at 1 rad/s: f, and l about its centre
        fx = mass[i] * (e[k, 1] * z - e[k, 2] * y)
        fy = mass[i] * (e[k, 2] * x - e[k, 0] * z)
        fz = mass[i] * (e[k, 0] * y - e[k, 1] * x)
        lx = inertia[i, 0, 0] * e[k, 0] + inertia[i, 0, 1] * e[k, 1] + inertia[i, 0, 2] * e[k, 2]
        ly = inertia[i, 1, 0] * e[k, 0] + inertia[i, 1, 1] * e[k, 1] + inertia[i, 1, 2] * e[k, 2]
        lz = inertia[i, 2, 0] * e[k, 0] + inertia[i, 2, 1] * e[k, 1] + inertia[i, 2, 2] * e[k, 2]
        x, y, z = center[i, 0] - p[0, 0], center[i, 1] - p[0, 1], center[i, 2] - p[0, 2]
        Mrj[0, k], Mrj[1, k], Mrj[2, k] = fx, fy, fz
        Mrj[3, k] = lx + y * fz - z * fy
        Mrj[4, k] = ly + z * fx - x * fz
        Mrj[5, k] = lz + x * fy - y * fx
        for h in range(k + 1):
            Mjj[k, h] = Mjj[h, k] = 0.0
        # the axes of the joints between here and the root feel it
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
    """Whether joint g is between joint i and the root, or is i."""
    while i > g:
        i = parents[i]
    return i == g


@kernel
def carry_along(p: np.ndarray, a: np.ndarray, al: np.ndarray, acc: np.ndarray) -> None:
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
    parents: np.ndarray, R: np.ndarray, p: np.ndarray, om: np.ndarray, masses: np.ndarray, centers: np.ndarray,
    inertias: np.ndarray, al: np.ndarray, acc: np.ndarray, gravity: np.ndarray, wrench: np.ndarray, f: np.ndarray,
    n: np.ndarray,
) -> None:  # fmt: skip
    """Force f (J, 3) N and torque n (J, 3) N m that each joint must give, with its weight, less a wrench (J, 6)

    [torque about its joint, force] from outside on each body; world axes. Row 0: what the world must give.
    """
    lifted = acc - gravity
    net_forces(masses, centers, inertias, R, om, al, lifted, f, n)
    for i in range(len(parents)):
        for a in range(3):
            n[i, a] -= wrench[i, a]
            f[i, a] -= wrench[i, 3 + a]
    gather_inward(parents, p, f, n)


@kernel
def accelerate(
    parents: np.ndarray, R: np.ndarray, p: np.ndarray, w: np.ndarray, dw: np.ndarray, om: np.ndarray, al: np.ndarray,
    acc: np.ndarray,
) -> None:  # fmt: skip
    """Accelerations al, acc (J, 3) of all bodies, the root's place and turn having none."""
    kept = dw[0].copy()
    dw[0] = 0.0
    accelerate_bodies(parents, R, p, w, dw, om, np.zeros(3), al, acc)
    dw[0] = kept


@kernel
def model_pushes(
    parents: np.ndarray, masses: np.ndarray, centers: np.ndarray, inertias: np.ndarray, R: np.ndarray, p: np.ndarray,
    om: np.ndarray, speed: np.ndarray, dw: np.ndarray, gravity: np.ndarray, joint: np.ndarray, e: np.ndarray,
    points: np.ndarray, ways: np.ndarray, segment: np.ndarray, scale: float, wrench: np.ndarray, is_given: bool,
    A: np.ndarray, a0: np.ndarray, H: np.ndarray, b: np.ndarray, al: np.ndarray, acc: np.ndarray,
) -> bool:  # fmt: skip
    """Write A (6, U), a0 (6,), H (n, U) and b (n,) as above, U = n + P; False where something cannot be solved.

    parents ... inertias  of the tree;  R, p, om  of the bodies;  speed, dw (J, 3)  of the joints, dw with nothing of
    the freedoms in it;  joint (n,), e (n, 3) unit, world axes: the freedoms
    points, ways, segment  (P, ...) where the world may push: (3,) m, (3,) which way, and which body
    scale    N, of the unit of pushes
    wrench   (J, 6) [torque about its joint, force] that is on each body besides, world axes
    is_given whether the root's own motion is: a0 is read then, and A is nothing
    al, acc  (J, 3) written: accelerations of the bodies with x = 0 and a = 0
    """
    J, n, count = len(parents), len(joint), len(segment)
    mass, center, inertia = np.empty(J), np.empty((J, 3)), np.empty((J, 3, 3))
    M, Mrj, Mjj = np.empty((6, 6)), np.empty((6, n)), np.empty((n, n))
    compose(parents, masses, centers, inertias, R, p, mass, center, inertia)
    fill_inertia(parents, p, mass, center, inertia, joint, e, M, Mrj, Mjj)
    accelerate(parents, R, p, speed, dw, om, al, acc)
    force, torque = np.empty((J, 3)), np.empty((J, 3))
    find_torques(parents, R, p, om, masses, centers, inertias, al, acc, gravity, wrench, force, torque)
    if not is_given and not factor(M, 6):
        return False
    one, floats = np.empty(6), 0 if is_given else 1
    A[:] = 0.0
    if not is_given:
        for a in range(3):
            a0[a], a0[3 + a] = -force[0, a], -torque[0, a]
        solve_factored(M, 6, a0)
    for k in range(floats * n):
        for a in range(6):
            one[a] = -Mrj[a, k]
        solve_factored(M, 6, one)
        A[:, k] = one
    for i in range(floats * count):
        w = ways[i]
        x, y, z = points[i, 0] - p[0, 0], points[i, 1] - p[0, 1], points[i, 2] - p[0, 2]
        one[0], one[1], one[2] = w[0], w[1], w[2]
        one[3], one[4], one[5] = y * w[2] - z * w[1], z * w[0] - x * w[2], x * w[1] - y * w[0]
        one *= scale
        solve_factored(M, 6, one)
        A[:, n + i] = one
    for h in range(n):
        i = joint[h]
        b[h] = e[h, 0] * torque[i, 0] + e[h, 1] * torque[i, 1] + e[h, 2] * torque[i, 2]
        for a in range(6):
            b[h] += Mrj[a, h] * a0[a]
        for k in range(n + count):
            total = Mjj[h, k] if k < n else 0.0
            for a in range(6):
                total += Mrj[a, h] * A[a, k]
            H[h, k] = total
        for g in range(count):
            if not _carries(parents, i, segment[g]):
                continue
            # how the point moves for a turn about e: e x (point - p)
            x, y, z = points[g, 0] - p[i, 0], points[g, 1] - p[i, 1], points[g, 2] - p[i, 2]
            vx, vy, vz = e[h, 1] * z - e[h, 2] * y, e[h, 2] * x - e[h, 0] * z, e[h, 0] * y - e[h, 1] * x
            H[h, n + g] -= scale * (ways[g, 0] * vx + ways[g, 1] * vy + ways[g, 2] * vz)
    return True


@kernel
def point_goal(
    parents: np.ndarray, p: np.ndarray, om: np.ndarray, joint: np.ndarray, e: np.ndarray, A: np.ndarray,
    a0: np.ndarray, al: np.ndarray, acc: np.ndarray, body: int, at: np.ndarray, rows: np.ndarray, c: np.ndarray,
) -> None:  # fmt: skip
    """Rows (6, U) and c (6,): how a point `at` (3,) m of a body accelerates, rows u + c, and how its turning does.

    A, a0, al, acc  as `model_pushes` leaves them
    """
    rx, ry, rz = at[0] - p[body, 0], at[1] - p[body, 1], at[2] - p[body, 2]
    w, b = om[body], al[body]
    ux, uy, uz = w[1] * rz - w[2] * ry, w[2] * rx - w[0] * rz, w[0] * ry - w[1] * rx
    c[0] = acc[body, 0] + b[1] * rz - b[2] * ry + w[1] * uz - w[2] * uy
    c[1] = acc[body, 1] + b[2] * rx - b[0] * rz + w[2] * ux - w[0] * uz
    c[2] = acc[body, 2] + b[0] * ry - b[1] * rx + w[0] * uy - w[1] * ux
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
        if _carries(parents, i, body):
            rx, ry, rz = at[0] - p[i, 0], at[1] - p[i, 1], at[2] - p[i, 2]
            rows[0, k] += e[k, 1] * rz - e[k, 2] * ry
            rows[1, k] += e[k, 2] * rx - e[k, 0] * rz
            rows[2, k] += e[k, 0] * ry - e[k, 1] * rx
            for a in range(3):
                rows[3 + a, k] += e[k, a]


@kernel
def find_torque_vectors(
    parents: np.ndarray, masses: np.ndarray, centers: np.ndarray, inertias: np.ndarray, R: np.ndarray, p: np.ndarray,
    om: np.ndarray, w: np.ndarray, dw: np.ndarray, gravity: np.ndarray, a: np.ndarray, points: np.ndarray,
    ways: np.ndarray, segment: np.ndarray, f: np.ndarray, besides: np.ndarray, torque: np.ndarray,
) -> None:  # fmt: skip
    """Torque (J, 3) N m at every joint, world axes, about all axes of it, for accelerations dw and a (6,) of the root.

    f        (P,) N, pushes of the points, each along its way
    besides  (J, 6) as the wrench of `model_pushes`
    """
    J = len(parents)
    al, acc, force, wrench = np.empty((J, 3)), np.empty((J, 3)), np.empty((J, 3)), besides.copy()
    accelerate(parents, R, p, w, dw, om, al, acc)
    carry_along(p, a, al, acc)
    for i in range(len(segment)):
        s = segment[i]
        fx, fy, fz = f[i] * ways[i, 0], f[i] * ways[i, 1], f[i] * ways[i, 2]
        x, y, z = points[i, 0] - p[s, 0], points[i, 1] - p[s, 1], points[i, 2] - p[s, 2]
        wrench[s, 0] += y * fz - z * fy
        wrench[s, 1] += z * fx - x * fz
        wrench[s, 2] += x * fy - y * fx
        wrench[s, 3], wrench[s, 4], wrench[s, 5] = wrench[s, 3] + fx, wrench[s, 4] + fy, wrench[s, 5] + fz
    find_torques(parents, R, p, om, masses, centers, inertias, al, acc, gravity, wrench, force, torque)


@kernel
def find_pressure(points: np.ndarray, ways: np.ndarray, f: np.ndarray, zmp: np.ndarray) -> None:
    """Write zmp (3,): where on the ground pushes f (P,) N have no moment along it; NaN where nothing pushes up.

    n_0 = sum (r - s) x f has no part along the ground   [strength, eq 3]
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

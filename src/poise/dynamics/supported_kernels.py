"""A body on supports: what its accelerations ask of its joints and of what it stands on.   [strength, section 4]

n degrees of freedom turn joints about axes e_k; all else of the joints' accelerations is given. The body hangs from its
*main support*, a body s that touches the world at a point o: with x the accelerations of the freedoms, the root's
six (m/s2 of its place, rad/s2, world axes) are

    a = a0 + P x + d       P_k = -(e_k x (p_0 - p_k), e_k)  where joint k is between the root and s, else 0

a0 keeps s where it is with x = 0, and d (6,) is how the whole body moves off as one: zero while it stands. What the
world must put on it, as force and moment about the root's joint, is w = w0 + W x + M d, with W = M_rj + M P; and the
torque about each axis is that of Newton and Euler, less what supports bring in below the joint:

    t = N x + n0 + M_jr d + sum_k P_k^T w_k        w_k: the share of support k,  N = M_jj + M_jr P

so with shares w_k = w_k* + l_k (w - w*), l_k of the load, torques are affine in x: t = H x + b.

What the world can do is pushes at points, within friction. d is what such pushes leave (`cone_kernels`): while some
add up to w (the zero-moment point is under the soles), nothing; else the body turns about an edge or a corner of what
it stands on, F the motions that are left to it, d = F y with F^T w = 0, and y follows from x, too.
"""

from __future__ import annotations

import numpy as np

from poise.dynamics.cone_kernels import factor, solve_contacts, solve_factored
from poise.dynamics.instant import accelerate_bodies, gather_inward, net_forces
from poise.spatial.compile import kernel

_LIGHT = 1e-4  # of the whole load: a point with less carries nothing
_SLIDES = 0.995  # of friction


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
def hang_from(
    parents: np.ndarray, p: np.ndarray, joint: np.ndarray, e: np.ndarray, support: int, P: np.ndarray
) -> None:
    """P (6, n): how the root moves for each turn, as body `support` stays where it is."""
    P[:] = 0.0
    if support < 0:
        return
    for k in range(len(joint)):
        i = joint[k]
        if _carries(parents, i, support):
            x, y, z = p[0, 0] - p[i, 0], p[0, 1] - p[i, 1], p[0, 2] - p[i, 2]
            P[0, k] = -(e[k, 1] * z - e[k, 2] * y)
            P[1, k] = -(e[k, 2] * x - e[k, 0] * z)
            P[2, k] = -(e[k, 0] * y - e[k, 1] * x)
            P[3, k], P[4, k], P[5, k] = -e[k, 0], -e[k, 1], -e[k, 2]


@kernel
def hold_support(
    R: np.ndarray, p: np.ndarray, om: np.ndarray, al: np.ndarray, acc: np.ndarray, support: int, o: np.ndarray,
    a0: np.ndarray,
) -> None:  # fmt: skip
    """a0 (6,), the root's accelerations to be added so that body `support` neither turns nor moves at o (3,).

    al, acc  accelerations of the bodies without it (`accelerate_bodies`)
    """
    rx, ry, rz = o[0] - p[support, 0], o[1] - p[support, 1], o[2] - p[support, 2]
    w, b = om[support], al[support]
    ux, uy, uz = w[1] * rz - w[2] * ry, w[2] * rx - w[0] * rz, w[0] * ry - w[1] * rx
    x = acc[support, 0] + b[1] * rz - b[2] * ry + w[1] * uz - w[2] * uy
    y = acc[support, 1] + b[2] * rx - b[0] * rz + w[2] * ux - w[0] * uz
    z = acc[support, 2] + b[0] * ry - b[1] * rx + w[0] * uy - w[1] * ux
    # a + al x (o - p_0) is to cancel it, with al = -b
    rx, ry, rz = o[0] - p[0, 0], o[1] - p[0, 1], o[2] - p[0, 2]
    a0[3], a0[4], a0[5] = -b[0], -b[1], -b[2]
    a0[0] = -x + (b[1] * rz - b[2] * ry)
    a0[1] = -y + (b[2] * rx - b[0] * rz)
    a0[2] = -z + (b[0] * ry - b[1] * rx)


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
def point_row(p0: np.ndarray, point: np.ndarray, frame: np.ndarray, row: np.ndarray) -> None:
    """Row (3, 6): how a point (3,) of a body that moves as one with its root moves, in the axes of a frame (3, 3)."""
    x, y, z = point[0] - p0[0], point[1] - p0[1], point[2] - p0[2]
    for a in range(3):
        n = frame[a]
        row[a, 0], row[a, 1], row[a, 2] = n[0], n[1], n[2]
        # n . (al x r) = al . (r x n)
        row[a, 3], row[a, 4], row[a, 5] = y * n[2] - z * n[1], z * n[0] - x * n[2], x * n[1] - y * n[0]


@kernel
def share_push(
    M: np.ndarray, w: np.ndarray, G: np.ndarray, mu: np.ndarray, f: np.ndarray, d: np.ndarray, u0: np.ndarray,
    L: np.ndarray,
) -> int:  # fmt: skip
    """How the world pushes a body that asks for w (6,) of it, and how it moves off: f (P, 3) N and d (6,).

    M (6, 6); G (3 P, 6) rows of the points (`point_row`); mu (P,); u0 (6,), L (6, 6): room
    """
    for a in range(6):
        u0[a] = -w[a]
        for b in range(6):
            L[a, b] = M[a, b]
    if not factor(L, 6):
        return -1
    solve_factored(L, 6, u0)
    return solve_contacts(M, u0, G, np.zeros((len(mu), 3)), mu, 30.0 * M[0, 0], f, d, 1e-9 * 9.81 * M[0, 0])


@kernel
def find_left(G: np.ndarray, mu: np.ndarray, f: np.ndarray, length: float, F: np.ndarray) -> int:
    """F (6, 6), whose first columns, as many as are returned, are the motions that points which push leave a body.

    length  m, by which turns are compared with shifts

    Rows of points that hold are made orthogonal one after the other (Gram and Schmidt); what is left of six is F.
    """
    total = 0.0
    for i in range(len(mu)):
        total += f[i, 0]
    basis, size = np.zeros((6, 6)), 0
    for i in range(len(mu)):
        if f[i, 0] <= _LIGHT * total:
            continue
        drag = np.sqrt(f[i, 1] ** 2 + f[i, 2] ** 2)
        held = 1 if drag > _SLIDES * mu[i] * f[i, 0] else 3
        for a in range(held):
            row = G[3 * i + a].copy()
            for k in range(3, 6):
                row[k] /= length
            size = _add_to_basis(basis, size, row, 1e-3)
    count = 0
    for a in range(6):
        unit = np.zeros(6)
        unit[a] = 1.0
        before = size
        size = _add_to_basis(basis, size, unit, 1e-2)
        if size > before:
            for k in range(3):
                F[k, count] = basis[before, k]
                F[3 + k, count] = basis[before, 3 + k] / length
            count += 1
    return count


@kernel
def _add_to_basis(basis: np.ndarray, size: int, row: np.ndarray, least: float) -> int:
    """Add what of a row is across a basis, if that is at least so much of it; the new size."""
    if size == 6:
        return size
    before = np.sqrt(np.sum(row * row))
    for _ in range(2):
        for k in range(size):
            row -= np.sum(basis[k] * row) * basis[k]
    left = np.sqrt(np.sum(row * row))
    if left <= least * before or left == 0.0:
        return size
    basis[size] = row / left
    return size + 1


@kernel
def lean(
    M: np.ndarray, W: np.ndarray, w0: np.ndarray, F: np.ndarray, count: int, Y: np.ndarray, y0: np.ndarray
) -> bool:
    """D = Y x + y0, Y (6, n): how a body moves off that may move by the first `count` columns of F (6, 6).

    F^T (w0 + W x + M d) = 0,  d = F y
    """
    n = W.shape[1]
    Y[:] = 0.0
    y0[:] = 0.0
    if count == 0:
        return True
    A, right = np.zeros((6, 6)), np.zeros(6)
    MF = M @ F[:, :count].copy()
    for a in range(count):
        for b in range(count):
            A[a, b] = np.sum(F[:, a] * MF[:, b])
    if not factor(A, count):
        return False
    for k in range(n + 1):
        for a in range(count):
            total = 0.0
            for b in range(6):
                total -= F[b, a] * (W[b, k] if k < n else w0[b])
            right[a] = total
        solve_factored(A, count, right)
        for b in range(6):
            total = 0.0
            for a in range(count):
                total += F[b, a] * right[a]
            if k < n:
                Y[b, k] = total
            else:
                y0[b] = total
    return True


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
def model_supports(
    parents: np.ndarray, masses: np.ndarray, centers: np.ndarray, inertias: np.ndarray, R: np.ndarray, p: np.ndarray,
    om: np.ndarray, w: np.ndarray, dw: np.ndarray, gravity: np.ndarray, wrench: np.ndarray, joint: np.ndarray,
    e: np.ndarray, main: int, points: np.ndarray, frames: np.ndarray, mu: np.ndarray, segment: np.ndarray,
    x: np.ndarray, length: float, stays: bool,
    M: np.ndarray, P: np.ndarray, W: np.ndarray, a0: np.ndarray, f: np.ndarray, d: np.ndarray, Y: np.ndarray,
    y0: np.ndarray, w0: np.ndarray, H: np.ndarray, b: np.ndarray, al: np.ndarray, acc: np.ndarray,
) -> int:  # fmt: skip
    """Torques as t = H x + b, for supports that push as they do with accelerations x (n,); returns how many motions are

    left to the body as a whole (0: it stands; 6: it flies), -1 where something cannot be solved.

    parents ... inertias  of the tree;  R, p, om  of the bodies;  w, dw (J, 3)  of the joints, dw with nothing of the
    freedoms in it;  wrench (J, 6): `find_torques`;  joint (n,), e (n, 3) unit, world axes: the freedoms
    main        the body that is the main support, -1: none
    points, frames, mu, segment  (P, ...) where the world may push: (3,) m, (3, 3) the normal first, friction, and which
                body it pushes
    length      m, of the body
    stays       whether the body is to stay where it is in any case, as if the world could pull
    M ... acc   written: see above. f is where to begin
    """
    J, n, count = len(parents), len(joint), len(mu)
    mass, center, inertia = np.empty(J), np.empty((J, 3)), np.empty((J, 3, 3))
    Mrj, Mjj = np.empty((6, n)), np.empty((n, n))
    compose(parents, masses, centers, inertias, R, p, mass, center, inertia)
    fill_inertia(parents, p, mass, center, inertia, joint, e, M, Mrj, Mjj)
    hang_from(parents, p, joint, e, main, P)
    accelerate(parents, R, p, w, dw, om, al, acc)
    a0[:] = 0.0
    if main >= 0:
        o, touching = np.zeros(3), 0
        for i in range(count):
            if segment[i] == main:
                o += points[i]
                touching += 1
        o = o / touching if touching else p[main].copy()
        hold_support(R, p, om, al, acc, main, o, a0)
        carry_along(p, a0, al, acc)
    force, torque = np.empty((J, 3)), np.empty((J, 3))
    find_torques(parents, R, p, om, masses, centers, inertias, al, acc, gravity, wrench, force, torque)
    w0[:3], w0[3:] = force[0], torque[0]
    for k in range(n):
        for a in range(6):
            total = Mrj[a, k]
            for c in range(6):
                total += M[a, c] * P[c, k]
            W[a, k] = total
    asked = w0.copy()
    for a in range(6):
        for k in range(n):
            asked[a] += W[a, k] * x[k]
    G, row, u0, L = np.zeros((3 * count, 6)), np.empty((3, 6)), np.empty(6), np.empty((6, 6))
    for i in range(count):
        point_row(p[0], points[i], frames[i], row)
        G[3 * i : 3 * i + 3] = row
    if share_push(M, asked, G, mu, f, d, u0, L) < 0:
        return -1
    F = np.zeros((6, 6))
    left = 0 if stays else find_left(G, mu, f, length, F)
    if not lean(M, W, w0, F, left, Y, y0):
        return -1
    # d as it is with these shares; where the body stands, none
    for a in range(6):
        d[a] = y0[a]
        for k in range(n):
            d[a] += Y[a, k] * x[k]
    # w and what goes with x, the body's moving off included
    for a in range(6):
        for c in range(6):
            w0[a] += M[a, c] * y0[c]
            for k in range(n):
                W[a, k] += M[a, c] * Y[c, k]
    # N and n0: as if the root were held by the world
    for h in range(n):
        b[h] = e[h, 0] * torque[joint[h], 0] + e[h, 1] * torque[joint[h], 1] + e[h, 2] * torque[joint[h], 2]
        for k in range(n):
            total = Mjj[h, k]
            for c in range(6):
                total += Mrj[c, h] * (P[c, k] + Y[c, k])
            H[h, k] = total
        for c in range(6):
            b[h] += Mrj[c, h] * y0[c]
    _add_supports(parents, p, joint, e, segment, G, f, x, w0, W, H, b)
    return left


@kernel
def _add_supports(
    parents: np.ndarray, p: np.ndarray, joint: np.ndarray, e: np.ndarray, segment: np.ndarray, G: np.ndarray,
    f: np.ndarray, x: np.ndarray, w0: np.ndarray, W: np.ndarray, H: np.ndarray, b: np.ndarray,
) -> None:  # fmt: skip
    """What supports bring in below the joints: t += sum P_k^T (w_k* + l_k (w - w*))."""
    n, count = len(joint), len(segment)
    total = 0.0
    for i in range(count):
        total += f[i, 0]
    if total <= 0.0:
        return
    now = w0.copy()
    for a in range(6):
        for k in range(n):
            now[a] += W[a, k] * x[k]
    P, own = np.empty((6, n)), np.empty(6)
    pushed = np.zeros(6)
    for i in range(count):
        for a in range(6):
            for c in range(3):
                pushed[a] += G[3 * i + c, a] * f[i, c]
    for i in range(count):
        is_first = True
        for k in range(i):
            is_first = is_first and segment[k] != segment[i]
        if not is_first:
            continue
        own[:] = 0.0
        load = 0.0
        for k in range(i, count):
            if segment[k] == segment[i]:
                load += f[k, 0] / total
                for a in range(6):
                    for c in range(3):
                        own[a] += G[3 * k + c, a] * f[k, c]
        hang_from(parents, p, joint, e, segment[i], P)
        for h in range(n):
            for a in range(6):
                q = P[a, h]
                if q == 0.0:
                    continue
                # w_k = own + load (w - pushed): all shares add up to w
                b[h] += q * (own[a] - load * pushed[a] + load * w0[a])
                for k in range(n):
                    H[h, k] += load * q * W[a, k]


@kernel
def point_goal(
    parents: np.ndarray, p: np.ndarray, om: np.ndarray, joint: np.ndarray, e: np.ndarray, P: np.ndarray, Y: np.ndarray,
    y0: np.ndarray, al: np.ndarray, acc: np.ndarray, body: int, at: np.ndarray, A: np.ndarray, c: np.ndarray,
) -> None:  # fmt: skip
    """A (6, n) and c (6,): how a point `at` (3,) m of a body accelerates, A x + c, and how its turning does.

    al, acc  as `model_supports` leaves them: with x = 0, and the body standing
    """
    rx, ry, rz = at[0] - p[body, 0], at[1] - p[body, 1], at[2] - p[body, 2]
    w, b = om[body], al[body]
    ux, uy, uz = w[1] * rz - w[2] * ry, w[2] * rx - w[0] * rz, w[0] * ry - w[1] * rx
    c[0] = acc[body, 0] + b[1] * rz - b[2] * ry + w[1] * uz - w[2] * uy
    c[1] = acc[body, 1] + b[2] * rx - b[0] * rz + w[2] * ux - w[0] * uz
    c[2] = acc[body, 2] + b[0] * ry - b[1] * rx + w[0] * uy - w[1] * ux
    c[3], c[4], c[5] = b[0], b[1], b[2]
    x, y, z = at[0] - p[0, 0], at[1] - p[0, 1], at[2] - p[0, 2]
    c[0] += y0[0] + y0[4] * z - y0[5] * y
    c[1] += y0[1] + y0[5] * x - y0[3] * z
    c[2] += y0[2] + y0[3] * y - y0[4] * x
    for a in range(3):
        c[3 + a] += y0[3 + a]
    for k in range(len(joint)):
        i = joint[k]
        r0, r1, r2 = P[0, k] + Y[0, k], P[1, k] + Y[1, k], P[2, k] + Y[2, k]
        r3, r4, r5 = P[3, k] + Y[3, k], P[4, k] + Y[4, k], P[5, k] + Y[5, k]
        A[0, k], A[1, k], A[2, k] = r0 + r4 * z - r5 * y, r1 + r5 * x - r3 * z, r2 + r3 * y - r4 * x
        A[3, k], A[4, k], A[5, k] = r3, r4, r5
        if _carries(parents, i, body):
            rx, ry, rz = at[0] - p[i, 0], at[1] - p[i, 1], at[2] - p[i, 2]
            A[0, k] += e[k, 1] * rz - e[k, 2] * ry
            A[1, k] += e[k, 2] * rx - e[k, 0] * rz
            A[2, k] += e[k, 0] * ry - e[k, 1] * rx
            for a in range(3):
                A[3 + a, k] += e[k, a]


@kernel
def find_torque_vectors(
    parents: np.ndarray, masses: np.ndarray, centers: np.ndarray, inertias: np.ndarray, R: np.ndarray, p: np.ndarray,
    om: np.ndarray, w: np.ndarray, dw: np.ndarray, gravity: np.ndarray, wrench: np.ndarray, a: np.ndarray,
    points: np.ndarray, frames: np.ndarray, segment: np.ndarray, f: np.ndarray, load: np.ndarray, torque: np.ndarray,
) -> None:  # fmt: skip
    """Torque (J, 3) N m at every joint, world axes, about all axes of it, for accelerations dw and a (6,) of the root.

    f     (P, 3) N, forces of the points, by which supports share what the world gives: `model_supports`
    load  (6,) written: what the world gives, force and moment about the root's joint
    """
    J = len(parents)
    al, acc, force = np.empty((J, 3)), np.empty((J, 3)), np.empty((J, 3))
    accelerate(parents, R, p, w, dw, om, al, acc)
    carry_along(p, a, al, acc)
    find_torques(parents, R, p, om, masses, centers, inertias, al, acc, gravity, wrench, force, torque)
    load[:3], load[3:] = force[0], torque[0]
    total, pushed = 0.0, np.zeros(6)
    row = np.empty((3, 6))
    for i in range(len(segment)):
        total += f[i, 0]
        point_row(p[0], points[i], frames[i], row)
        for c in range(6):
            for k in range(3):
                pushed[c] += row[k, c] * f[i, k]
    if total <= 0.0:
        return
    own = np.zeros((J, 6))
    for i in range(len(segment)):
        point_row(p[0], points[i], frames[i], row)
        share = f[i, 0] / total
        for c in range(6):
            own[segment[i], c] += share * (load[c] - pushed[c])
            for k in range(3):
                own[segment[i], c] += row[k, c] * f[i, k]
    for s in range(J):
        if not np.any(own[s]):
            continue
        i = s
        while i > 0:
            x, y, z = p[0, 0] - p[i, 0], p[0, 1] - p[i, 1], p[0, 2] - p[i, 2]
            torque[i, 0] -= own[s, 3] + y * own[s, 2] - z * own[s, 1]
            torque[i, 1] -= own[s, 4] + z * own[s, 0] - x * own[s, 2]
            torque[i, 2] -= own[s, 5] + x * own[s, 1] - y * own[s, 0]
            i = parents[i]

"""Inertia of what is given, locked on the body that carries it, for an engine that cannot move inertia; compiled.

Of a link Bullet takes another mass, which is not negative, and other moments about the link's own axes, of any sign. A
rigid piece of mass m, first moment h = m c and inertia I about the joint of its carrier is therefore four links that
are fixed to it, at the corners r_k of a tetrahedron that c is always in:

    sum m_k = m,  sum m_k r_k = h                     four masses, none negative                       [locked, eq 1]
    sum R_k D_k R_k^T = I - sum m_k (r_k^2 1 - r_k r_k^T) = E                                          [locked, eq 2]

The axes R_0 of the first link are the carrier's, those of the others turned by 45 degrees about x, y and z: with

    D_0 = diag(E),  D_1 = (0, E_yz, -E_yz),  D_2 = (-E_xz, 0, E_xz),  D_3 = (E_xy, -E_xy, 0)           [locked, eq 3]

the sum is E, whatever it is. Bullet adds links that cannot move to what carries them, so only the sum counts, which is
the inertia of something that there is.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.dynamics.body_kernels import matrix_of, spin, turn
from poise.engines.bullet.prescribed_segments import CORNERS
from poise.engines.scene import GIVEN

MASS, FIRST, INERTIA, SUMS = 0, 1, 4, 13  # where in a row: m, h (3), I (3 x 3)


@kernel
def add_up(
    kind: np.ndarray,
    parents: np.ndarray,
    offsets: np.ndarray,
    masses: np.ndarray,
    centers: np.ndarray,
    inertias: np.ndarray,
    q: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Write sums (J, 13): m, h and I about its joint of all that hangs from each body by GIVEN joints, in its axes."""
    sums[:] = 0.0
    R, I, turned, c = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    for i in range(len(kind) - 1, 0, -1):
        if kind[i] != GIVEN:
            continue
        k, r = parents[i], offsets[i]
        (
            R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2],
        ) = matrix_of(q[i])  # fmt: skip
        # what hangs from this body, and the body itself
        m = masses[i] + sums[i, MASS]
        for a in range(3):
            c[a] = sums[i, FIRST + a] + masses[i] * centers[i, a]
            for b in range(3):
                I[a, b] = sums[i, INERTIA + 3 * a + b] + (inertias[i, a, b] if masses[i] > 0.0 else 0.0)
        _add_point(masses[i], centers[i], I)
        # the same about the parent's joint: h = R h_i + m r, and I has what both add
        hx, hy, hz = turn(R, c)
        for b in range(3):
            turned[0, b], turned[1, b], turned[2, b] = spin(
                R, I, 1.0 if b == 0 else 0.0, 1.0 if b == 1 else 0.0, 1.0 if b == 2 else 0.0
            )
        _add_point(m, r, turned)
        c[0], c[1], c[2] = hx, hy, hz
        double = 2.0 * (hx * r[0] + hy * r[1] + hz * r[2])
        sums[k, MASS] += m
        for a in range(3):
            sums[k, FIRST + a] += c[a] + m * r[a]
            sums[k, INERTIA + 4 * a] += double
            for b in range(3):
                sums[k, INERTIA + 3 * a + b] += turned[a, b] - c[a] * r[b] - r[a] * c[b]


@kernel
def _add_point(m: float, r: np.ndarray, I: np.ndarray) -> None:
    """Add a mass at r: m (r^2 1 - r r^T)."""
    square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    for a in range(3):
        I[a, a] += m * square
        for b in range(3):
            I[a, b] -= m * r[a] * r[b]


@kernel
def spread(total: np.ndarray, reach: float, masses: np.ndarray, moments: np.ndarray) -> None:
    """Write masses (4,) and moments (4, 3) of the links for one row of sums.

    reach  m, of the corners from the joint
    """
    E = np.empty((3, 3))
    for a in range(3):
        for b in range(3):
            E[a, b] = total[INERTIA + 3 * a + b]
    for k in range(4):
        masses[k] = 0.25 * total[MASS]
        for a in range(3):
            masses[k] += 0.75 * CORNERS[k, a] * total[FIRST + a] / reach
        masses[k] = max(masses[k], 0.0)  # round-off: reach says that there is no such
        _add_point(-masses[k], reach * CORNERS[k], E)
    moments[:] = 0.0
    for a in range(3):
        moments[0, a] = E[a, a]
    moments[1, 1], moments[1, 2] = E[1, 2], -E[1, 2]
    moments[2, 0], moments[2, 2] = -E[0, 2], E[0, 2]
    moments[3, 0], moments[3, 1] = E[0, 1], -E[0, 1]

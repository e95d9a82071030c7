"""Mass ratio of kinematic parts to the bodies that carry them, compiled: `paper.py` explains its use."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.compiled.kernel import kernel
from poise.dynamics.body_kernels import Body, add_to_parent, spin, turn

# As published the factor s is 1, and a part that weighs u times its connector explodes where k u > 1: both arms of a
# conductor do. With this one k u may be up to 4.
DEFAULT_FACTOR = 0.4
# s (1 + k u) must be below 2. Up to 1.95 the default is kept, since contacts and dampers make u smaller than found;
# above it the factor that makes this product 1: what is heaviest is followed at once, and u may double before the next
# evaluation.
DEFAULT_UNTIL, SAFE = 1.95, 1.0
_ITERATIONS = 25  # of the power iteration: u is found to some percent, from below
_TRACE = 1e-9  # kg, kg m2: of what has no mass of its own


class Freedom(NamedTuple):
    """One physical degree of freedom.

    slides  whether it moves the root along an axis of the world; else the joint turns about it
    """

    joint: int
    axis: int
    slides: bool


@kernel
def choose_filter(ratio: float, gain: float) -> float:
    """Return the filter factor s for parts that weigh at most `ratio` times what carries them; 0 if there is none."""
    z = 1.0 + gain * ratio
    if z <= 0.0:
        return 0.0
    return DEFAULT_FACTOR if DEFAULT_FACTOR * z <= DEFAULT_UNTIL else SAFE / z


@kernel
def find_ratio(b: Body, given: np.ndarray, R: np.ndarray, p: np.ndarray, torque_only: bool) -> float:
    """Return the largest u of B x = u H x, over motions x of the physical freedoms, with the bodies at R and p."""
    # three freedoms per physical joint, about world axes, and the root's position before them
    count = 0
    for i in range(b.joints):
        count += 0 if given[i] else (6 if i == 0 else 3)
    H, B = np.zeros((count, count)), np.zeros((count, count))
    column = 0
    for i in range(b.joints):
        if given[i]:
            continue
        for k in range(6 if i == 0 else 3):
            freedom = Freedom(i, k % 3, i == 0 and k < 3)
            _find_column(b, given, R, p, freedom, (False, False), H[:, column])
            _find_column(b, given, R, p, freedom, (True, torque_only), B[:, column])
            column += 1
    for i in range(count):
        H[i, i] += _TRACE
    L = H.copy()
    _factorise(L)
    return _iterate(H, B, L)


@kernel
def _iterate(H: np.ndarray, B: np.ndarray, L: np.ndarray) -> float:
    """Return the largest u of B x = u H x by power iteration, H = L L^T; at least 0."""
    count = len(H)
    x, y = np.empty(count), np.empty(count)
    for i in range(count):
        x[i] = 1.0 + 0.1 * (i % 7)
    ratio = 0.0
    for _ in range(_ITERATIONS):
        above, below = 0.0, 0.0
        for i in range(count):
            y[i], h = 0.0, 0.0
            for k in range(count):
                y[i] += B[i, k] * x[k]
                h += H[i, k] * x[k]
            above += x[i] * y[i]
            below += x[i] * h
        ratio = above / below
        _solve(L, y)
        size = 0.0
        for i in range(count):
            size = max(size, abs(y[i]))
        if size == 0.0:
            return 0.0
        for i in range(count):
            x[i] = y[i] / size
    return max(ratio, 0.0)


@kernel
def _find_column(
    b: Body, given: np.ndarray, R: np.ndarray, p: np.ndarray, freedom: Freedom, part: tuple[bool, bool], out: np.ndarray
) -> None:
    """Write the generalised forces at all freedoms that a unit acceleration of one requires.

    part  whether the inertia of the given bodies counts, or that of the others; and whether it acts by torque alone
    """
    joints, parents = b.joints, b.parents
    of_given, torque_only = part
    f, n = np.zeros((joints, 3)), np.zeros((joints, 3))
    _accelerate(b, given, R, p, freedom, of_given, f, n)
    for i in range(joints - 1, 0, -1):
        k = parents[i]
        if torque_only and given[i] and not given[k]:
            for a in range(3):
                n[k, a] += n[i, a]
        else:
            add_to_parent(k, i, p, f, n)
    row = 0
    for i in range(joints):
        if given[i]:
            continue
        if i == 0:
            for a in range(3):
                out[row + a] = f[i, a]
            row += 3
        for a in range(3):
            out[row + a] = n[i, a]
        row += 3


@kernel
def _accelerate(
    b: Body, given: np.ndarray, R: np.ndarray, p: np.ndarray, freedom: Freedom, of_given: bool, f: np.ndarray,
    n: np.ndarray,
) -> None:  # fmt: skip
    """Write force f and torque n (J, 3) about its joint that each body requires if one freedom accelerates."""
    parents, masses, centers, inertias = b.parents, b.masses, b.centers, b.inertias
    joint, axis, slides = freedom
    moved, e = np.zeros(b.joints, np.bool_), np.zeros(3)
    e[axis] = 1.0
    for i in range(joint, b.joints):
        moved[i] = i == joint or (parents[i] >= 0 and moved[parents[i]])
        m = masses[i]
        if not moved[i] or given[i] != of_given or m == 0.0:
            continue
        x, y, z = turn(R[i], centers[i])
        if slides:
            f[i, axis] = m
        else:
            dx, dy, dz = p[i, 0] + x - p[joint, 0], p[i, 1] + y - p[joint, 1], p[i, 2] + z - p[joint, 2]
            f[i, 0], f[i, 1], f[i, 2] = (
                m * (e[1] * dz - e[2] * dy),
                m * (e[2] * dx - e[0] * dz),
                m * (e[0] * dy - e[1] * dx),
            )
            n[i, 0], n[i, 1], n[i, 2] = spin(R[i], inertias[i], e[0], e[1], e[2])
        n[i, 0] += y * f[i, 2] - z * f[i, 1]
        n[i, 1] += z * f[i, 0] - x * f[i, 2]
        n[i, 2] += x * f[i, 1] - y * f[i, 0]


@kernel
def _factorise(A: np.ndarray) -> None:
    """A = L L^T, in place: L in the lower half."""
    for k in range(len(A)):
        for i in range(k):
            A[k, k] -= A[k, i] * A[k, i]
        A[k, k] = np.sqrt(max(A[k, k], _TRACE * _TRACE))
        for i in range(k + 1, len(A)):
            for c in range(k):
                A[i, k] -= A[i, c] * A[k, c]
            A[i, k] /= A[k, k]


@kernel
def _solve(L: np.ndarray, x: np.ndarray) -> None:
    """(L L^T)^-1 x, in place."""
    for i in range(len(x)):
        for k in range(i):
            x[i] -= L[i, k] * x[k]
        x[i] /= L[i, i]
    for i in range(len(x) - 1, -1, -1):
        for k in range(i + 1, len(x)):
            x[i] -= L[k, i] * x[k]
        x[i] /= L[i, i]

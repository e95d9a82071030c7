"""The search of `ik/bfgs.py`, compiled: the value and its gradient, BFGS within bounds, and the rounds of multipliers.

BFGS keeps H, an estimate of the inverse of the second derivatives, and goes along -H g. An angle that is at the end of
its range and would leave it is held for that step; the others go on with their part of H. Steps are cut at the ends of
the ranges and halved until the value falls as the gradient promises (Armijo).
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.layout import Flags, Floats, Layout

_ROUNDS, _STEPS = 16, 150  # of multipliers, and of BFGS in each
_FIRST, _MOST = 30.0, 1e5  # weight of an error, compared with a rotation of a radian: at first, and at most
_STIFFER, _LESS = 4.0, 0.25  # after a round that leaves more than this fraction of an error, its weight is multiplied
_STUCK = 0.9  # a round at full weight that leaves more than this fraction of the errors: they cannot be met


class LimbProblem(Layout):
    """A limb of N joints and where it should be: see `bfgs.LimbChain`. The angles are x (3 N,)."""

    joints: int
    size: int  # 3 N
    keeps_orientation: int  # whether the end keeps its orientation
    position_tolerance: float  # m
    orientation_tolerance: float  # rad
    scale: float  # m that position errors are divided by
    orientation_weight: float  # of an orientation that need not be kept
    has_range: Annotated[Flags, "joints"]  # whether x has the angles of a range; if not, R = exp(x) first
    back: Annotated[Floats, "joints", 3, 3]  # P^-1 in R = P^-1 exp(x, 0, z) exp(0, y, 0) C
    child: Annotated[Floats, "joints", 3, 3]  # C
    first: Annotated[Floats, "joints", 3, 3]  # rotations as they were
    carrier: Annotated[Floats, 3, 3]
    origin: Annotated[Floats, 3]  # m
    links: Annotated[Floats, "joints", 3, 3]
    bones: Annotated[Floats, "joints", 3]  # m
    point: Annotated[Floats, 3]  # m
    target: Annotated[Floats, 3]  # m
    axes: Annotated[Floats, 3, 3]  # that the end should have
    low: Annotated[Floats, "size"]
    high: Annotated[Floats, "size"]
    multipliers: Annotated[Floats, 6]
    weights: Annotated[Floats, 6]
    errors: Annotated[Floats, 6]  # of the position, divided by `scale`, and of the orientation
    rotations: Annotated[Floats, "joints", 3, 3]  # of the joints
    rates: Annotated[Floats, "joints", 3, 3]  # of the rotations by their angles
    parents: Annotated[Floats, "joints", 3, 3]  # world orientations of the frames that carry the joints
    positions: Annotated[Floats, "joints", 3]  # m
    end_position: Annotated[Floats, 3]  # m
    end_axes: Annotated[Floats, 3, 3]
    H: Annotated[Floats, "size", "size"]  # inverse of the second derivatives
    gradient: Annotated[Floats, "size"]
    direction: Annotated[Floats, "size"]
    is_free: Annotated[Flags, "size"]
    new_x: Annotated[Floats, "size"]
    new_gradient: Annotated[Floats, "size"]
    s: Annotated[Floats, "size"]  # the last step
    y: Annotated[Floats, "size"]  # and the change of the gradient


@kernel
def rotate_by(d: np.ndarray, E: np.ndarray, J: np.ndarray) -> None:
    """Write the rotation E (3, 3) by a vector d, and its left Jacobian J (3, 3), by which E turns with d."""
    square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
    angle = math.sqrt(square)
    if angle < 1e-4:
        a, b, c = 1.0 - square / 6.0, 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0
    else:
        a, b = math.sin(angle) / angle, (1.0 - math.cos(angle)) / square
        c = (1.0 - a) / square
    # D the matrix of d x, D D = d d^T - |d|^2
    for i in range(3):
        for j in range(3):
            double = d[i] * d[j] - (square if i == j else 0.0)
            E[i, j], J[i, j] = b * double, c * double
        E[i, i] += 1.0
        J[i, i] += 1.0
    for i, j, k, sign in ((0, 1, 2, -1.0), (1, 2, 0, -1.0), (2, 0, 1, -1.0)):
        E[i, j] += sign * a * d[k]
        J[i, j] += sign * b * d[k]
        E[j, i] -= sign * a * d[k]
        J[j, i] -= sign * b * d[k]


@kernel
def find_vector(R: np.ndarray, out: np.ndarray) -> None:
    """Write the rotation vector (3,) of R (3, 3)."""
    x, y, z = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    sine = 0.5 * math.sqrt(x * x + y * y + z * z)
    angle = math.atan2(sine, 0.5 * (R[0, 0] + R[1, 1] + R[2, 2] - 1.0))
    if angle > 3.0:  # near half a turn the axis is in the diagonal: R + R^T = 2 cos + 2 (1 - cos) n n^T
        cosine = math.cos(angle)
        k = 0
        for i in range(1, 3):
            if R[i, i] > R[k, k]:
                k = i
        for i in range(3):
            both = 0.5 * (R[i, k] + R[k, i]) - (cosine if i == k else 0.0)
            out[i] = both
        size = math.sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2])
        side = -1.0 if out[0] * x + out[1] * y + out[2] * z < 0.0 else 1.0
        for i in range(3):
            out[i] *= side * angle / size
        return
    factor = 0.5 + angle * angle / 12.0 if angle < 1e-4 else 0.5 * angle / sine
    out[0], out[1], out[2] = factor * x, factor * y, factor * z


@kernel
def pull_limb(problem: LimbProblem, x: np.ndarray, gradient: np.ndarray) -> float:
    """Return the value at angles x (3 N,); write its gradient (3 N,) and the errors.

    A rotation of joint i by dphi moves the point by dphi x (p - o_i), and the end's error c by J(c)^-1 dphi.
    """
    _pose_limb(problem, x)
    errors, multipliers, weights = problem.errors, problem.multipliers, problem.weights
    d, work = np.empty(3), np.empty((3, 3))
    errors[:3] = (problem.end_position - problem.target) / problem.scale
    _divide(problem.end_axes, problem.axes, work)
    find_vector(work, errors[3:])

    value = 0.0
    force = np.empty(6)
    for k in range(6):
        value += (multipliers[k] + 0.5 * weights[k] * errors[k]) * errors[k]
        force[k] = multipliers[k] + weights[k] * errors[k]
    by_point = force[:3] / problem.scale
    # J(v)^-T f = f + 1/2 v x f + c v x (v x f)
    v, f = errors[3:], force[3:]
    square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
    angle = math.sqrt(square)
    c = 1.0 / 12.0 if angle < 1e-3 else 1.0 / square - (1.0 + math.cos(angle)) / (2.0 * angle * math.sin(angle))
    across = _cross(v, f)
    torque = f + 0.5 * across + c * _cross(v, across)
    value += 0.5 * problem.orientation_weight * square
    torque = torque + problem.orientation_weight * v  # J(v)^-T v = v
    for i in range(problem.joints):
        parent, rate = problem.parents[i], problem.rates[i]
        _divide(problem.rotations[i], problem.first[i], work)
        find_vector(work, d)
        value += 0.5 * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
        world = _cross(problem.end_position - problem.positions[i], by_point) + torque
        for k in range(3):
            d[k] += parent[0, k] * world[0] + parent[1, k] * world[1] + parent[2, k] * world[2]
        for k in range(3):
            gradient[3 * i + k] = rate[0, k] * d[0] + rate[1, k] * d[1] + rate[2, k] * d[2]
    return value


@kernel
def _pose_limb(problem: LimbProblem, x: np.ndarray) -> None:
    """Write rotations, rates, parents and positions of the joints, and the position and axes of the end."""
    R, rates, parents = problem.rotations, problem.rates, problem.parents
    G, o = problem.carrier.copy(), problem.origin.copy()
    d, E, J, twist, work = np.empty(3), np.empty((3, 3)), np.empty((3, 3)), np.zeros((3, 3)), np.empty((3, 3))
    for i in range(problem.joints):
        _add_rotated(G, problem.bones[i], o)
        if problem.has_range[i]:
            d[0], d[1], d[2] = x[3 * i], 0.0, x[3 * i + 2]
            rotate_by(d, E, J)
            c, s = math.cos(x[3 * i + 1]), math.sin(x[3 * i + 1])
            twist[0, 0], twist[0, 2], twist[1, 1], twist[2, 0], twist[2, 2] = c, s, 1.0, -s, c
            J[:, 1] = E[:, 1]
            _multiply(problem.back[i], J, rates[i])
            _multiply(problem.back[i], E, work)
            _multiply(work, twist, E)
            _multiply(E, problem.child[i], R[i])
        else:
            d[:] = x[3 * i : 3 * i + 3]
            rotate_by(d, E, J)
            rates[i] = J
            _multiply(E, problem.first[i], R[i])
        _multiply(G, problem.links[i], parents[i])
        problem.positions[i] = o
        _multiply(parents[i], R[i], G)
    _add_rotated(G, problem.point, o)
    problem.end_position[:], problem.end_axes[:] = o, G


@kernel
def _multiply(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """out = a b, (3, 3): a library call for so little would take longer."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]


@kernel
def _divide(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """out = a b^T, (3, 3)."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[j, 0] + a[i, 1] * b[j, 1] + a[i, 2] * b[j, 2]


@kernel
def _add_rotated(a: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
    """out += a v, (3,)."""
    for i in range(3):
        out[i] += a[i, 0] * v[0] + a[i, 1] * v[1] + a[i, 2] * v[2]


@kernel
def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


@kernel
def solve_limb(problem: LimbProblem, x: np.ndarray) -> None:
    """Change angles x (3 N,) to those that meet the target, within their ranges."""
    multipliers, weights, errors = problem.multipliers, problem.weights, problem.errors
    count = 6 if problem.keeps_orientation else 3
    multipliers[:], weights[:] = 0.0, 0.0
    weights[:count] = _FIRST
    last = np.full(2, np.inf)
    sizes = np.zeros(2)
    for _ in range(_ROUNDS):
        descend(problem, x, _STEPS)
        sizes[0] = math.sqrt(errors[0] ** 2 + errors[1] ** 2 + errors[2] ** 2)
        sizes[1] = math.sqrt(errors[3] ** 2 + errors[4] ** 2 + errors[5] ** 2) if problem.keeps_orientation else 0.0
        if sizes[0] * problem.scale <= problem.position_tolerance and sizes[1] <= problem.orientation_tolerance:
            return
        is_stuck = sizes[0] >= _STUCK * last[0] and sizes[1] >= _STUCK * last[1]
        if weights.max() >= _MOST and is_stuck:
            return
        for k in range(count):
            multipliers[k] += weights[k] * errors[k]
            if sizes[k // 3] > _LESS * last[k // 3]:
                weights[k] = min(weights[k] * _STIFFER, _MOST)
        last[:] = sizes


@kernel
def descend(problem: LimbProblem, x: np.ndarray, steps: int) -> float:
    """Change angles x (n,) by steps of BFGS, within their ranges; return the value and write the errors there."""
    H, g = problem.H, problem.gradient
    H[:] = np.eye(problem.size)
    value, is_first, small = pull_limb(problem, x, g), True, 0
    for _ in range(steps):
        if _find_slope(problem, x) < 1e-9:
            break
        if not _find_direction(problem):
            is_first = True
        new_value = _search_line(problem, x, value, is_first)
        if new_value == np.inf:
            if is_first:
                break
            H[:] = np.eye(problem.size)
            is_first = True
            continue
        sy, yy, ss = _take_step(problem, x)
        small = small + 1 if value - new_value <= 1e-15 * max(abs(value), 1e-3) else 0
        value = new_value
        if small >= 3:
            break
        if sy <= 1e-10 * math.sqrt(ss * yy):
            continue
        if is_first:
            H[:] = np.eye(problem.size) * (sy / yy)
            is_first = False
        _update_inverse(problem, sy)
    return pull_limb(problem, x, g)


@kernel
def _find_slope(problem: LimbProblem, x: np.ndarray) -> float:
    """Find the angles that are free to move, and return the largest slope along them."""
    most, g, is_free = 0.0, problem.gradient, problem.is_free
    for i in range(problem.size):
        is_free[i] = not ((x[i] <= problem.low[i] and g[i] > 0.0) or (x[i] >= problem.high[i] and g[i] < 0.0))
        if is_free[i]:
            most = max(most, abs(g[i]))
    return most


@kernel
def _find_direction(problem: LimbProblem) -> bool:
    """Write the direction -H g; if it does not descend, by rounding, write -g, forget H and return False."""
    slope, g, d, is_free = 0.0, problem.gradient, problem.direction, problem.is_free
    for i in range(problem.size):
        d[i] = 0.0
        if is_free[i]:
            for j in range(problem.size):
                if is_free[j]:
                    d[i] -= problem.H[i, j] * g[j]
            slope += d[i] * g[i]
    if slope < 0.0:
        return True
    problem.H[:] = np.eye(problem.size)
    for i in range(problem.size):
        d[i] = -g[i] if is_free[i] else 0.0
    return False


@kernel
def _search_line(problem: LimbProblem, x: np.ndarray, value: float, is_first: bool) -> float:
    """Write new_x along the direction and its gradient, and return the value there; inf if the value does not fall."""
    d, g, new_x = problem.direction, problem.gradient, problem.new_x
    longest = np.abs(d).max()
    t = min(1.0, 0.3 / longest) if is_first else min(1.0, 1.5 / longest)
    for _ in range(40):
        promised = 0.0
        for i in range(problem.size):
            new_x[i] = min(max(x[i] + t * d[i], problem.low[i]), problem.high[i])
            promised += g[i] * (new_x[i] - x[i])
        new_value = pull_limb(problem, new_x, problem.new_gradient)
        if new_value <= value + 1e-4 * promised:
            return new_value
        t *= 0.5
    return np.inf


@kernel
def _take_step(problem: LimbProblem, x: np.ndarray) -> tuple[float, float, float]:
    """Go to new_x; write the step s and the change y of the gradient, and return s'y, y'y and s's."""
    s, y, g, sy, yy, ss = problem.s, problem.y, problem.gradient, 0.0, 0.0, 0.0
    for i in range(problem.size):
        s[i], y[i] = problem.new_x[i] - x[i], problem.new_gradient[i] - g[i]
        sy, yy, ss = sy + s[i] * y[i], yy + y[i] * y[i], ss + s[i] * s[i]
    x[:], g[:] = problem.new_x, problem.new_gradient
    return sy, yy, ss


@kernel
def _update_inverse(problem: LimbProblem, sy: float) -> None:
    """H += (1 + y'Hy / s'y) s s' / s'y - (H y s' + s y'H) / s'y."""
    H, s, y, n, yHy = problem.H, problem.s, problem.y, problem.size, 0.0
    Hy = np.empty(n)
    for i in range(n):
        Hy[i] = 0.0
        for j in range(n):
            Hy[i] += H[i, j] * y[j]
        yHy += y[i] * Hy[i]
    for i in range(n):
        for j in range(n):
            H[i, j] += ((1.0 + yHy / sy) * s[i] * s[j] - Hy[i] * s[j] - s[i] * Hy[j]) / sy

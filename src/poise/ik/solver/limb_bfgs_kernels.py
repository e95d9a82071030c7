"""The search of `bfgs`, compiled: what is made least, its gradient, BFGS within bounds, and the rounds of multipliers.

BFGS keeps H, an estimate of the inverse of the second derivatives, and goes along -H g. An angle that is at the end of
its range and would leave it is held for that step; the others go on with their part of H. Steps are cut at the ends of
the ranges and halved until the value falls as the gradient promises (Armijo).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from poise.compiled.kernel import kernel


@kernel
def turn_by(d: np.ndarray, E: np.ndarray, J: np.ndarray) -> None:
    """Set E (3, 3) to the rotation by a vector d, and J (3, 3) to its left Jacobian: how E turns with d."""
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
    """Set out (3,) to the rotation vector of R (3, 3)."""
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
    share = 0.5 + angle * angle / 12.0 if angle < 1e-4 else 0.5 * angle / sine
    out[0], out[1], out[2] = share * x, share * y, share * z


class Pull(NamedTuple):
    """A limb and where it should be: see `bfgs.LimbChain`, of N joints.

    has_range   (N,) whether x has the angles of a range: R = P^-1 exp(x, 0, z) exp(0, y, 0) C; else R = exp(x) first
    back, child (N, 3, 3) P^-1 and C;  first (N, 3, 3) as it was
    place       (3,) m;  axes (3, 3) that the end should have
    scale       m, that an error of place is measured by
    soft        weight of a turn that need not be kept
    """

    has_range: np.ndarray
    back: np.ndarray
    child: np.ndarray
    first: np.ndarray
    carrier: np.ndarray
    origin: np.ndarray
    links: np.ndarray
    bones: np.ndarray
    point: np.ndarray
    place: np.ndarray
    axes: np.ndarray
    scale: float
    soft: float


class Rounds(NamedTuple):
    """How long is searched: rounds of multipliers, and of BFGS in each; m and rad that are enough; weights.

    first, most  that an error counts beside a turn of a radian, to begin with and in the end
    stiffer      times as much it counts after a round that leaves more than `less` of it
    stuck        a round that leaves more than this of the errors at full weight shows that they cannot be had
    """

    rounds: int
    steps: int
    near: float
    level: float
    first: float
    most: float
    stiffer: float
    less: float
    stuck: float


@kernel
def pull_limb(
    x: np.ndarray,
    pull: Pull,
    multipliers: np.ndarray,
    weights: np.ndarray,
    errors: np.ndarray,
    gradient: np.ndarray,
) -> float:
    """The value for angles x (3 N,); sets its gradient (3 N,) and the errors (6,) of place, by `scale`, and turn.

    A turn of joint i by dphi moves the point by dphi x (p - o_i), and the end's error c by J(c)^-1 dphi.

    multipliers, weights  (6,) of the errors
    """
    has_range, back, child, first = pull.has_range, pull.back, pull.child, pull.first
    carrier, origin, links, bones, point = pull.carrier, pull.origin, pull.links, pull.bones, pull.point
    place, axes, scale, soft = pull.place, pull.axes, pull.scale, pull.soft
    count = len(links)
    R, rates, carried = np.empty((count, 3, 3)), np.empty((count, 3, 3)), np.empty((count, 3, 3))
    places = np.empty((count, 3))
    G, o = carrier, origin.copy()
    d, E, J, twist = np.empty(3), np.empty((3, 3)), np.empty((3, 3)), np.zeros((3, 3))
    work, end = np.empty((3, 3)), np.empty((count, 3, 3))
    for i in range(count):
        _add_turned(G, bones[i], o)
        if has_range[i]:
            d[0], d[1], d[2] = x[3 * i], 0.0, x[3 * i + 2]
            turn_by(d, E, J)
            c, s = math.cos(x[3 * i + 1]), math.sin(x[3 * i + 1])
            twist[0, 0], twist[0, 2], twist[1, 1], twist[2, 0], twist[2, 2] = c, s, 1.0, -s, c
            J[:, 1] = E[:, 1]
            _multiply(back[i], J, rates[i])
            _multiply(back[i], E, work)
            _multiply(work, twist, E)
            _multiply(E, child[i], R[i])
        else:
            d[:] = x[3 * i : 3 * i + 3]
            turn_by(d, E, J)
            rates[i] = J
            _multiply(E, first[i], R[i])
        _multiply(G, links[i], carried[i])
        places[i] = o
        _multiply(carried[i], R[i], end[i])
        G = end[i]
    at = o.copy()
    _add_turned(G, point, at)
    errors[:3] = (at - place) / scale
    _divide(G, axes, work)
    find_vector(work, errors[3:])

    value = 0.0
    force = np.empty(6)
    for k in range(6):
        value += (multipliers[k] + 0.5 * weights[k] * errors[k]) * errors[k]
        force[k] = multipliers[k] + weights[k] * errors[k]
    by_point = force[:3] / scale
    # J(v)^-T f = f + 1/2 v x f + c v x (v x f)
    v, f = errors[3:], force[3:]
    square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
    angle = math.sqrt(square)
    c = 1.0 / 12.0 if angle < 1e-3 else 1.0 / square - (1.0 + math.cos(angle)) / (2.0 * angle * math.sin(angle))
    across = _cross(v, f)
    by_turn = f + 0.5 * across + c * _cross(v, across)
    value += 0.5 * soft * square
    by_turn = by_turn + soft * v  # J(v)^-T v = v
    for i in range(count):
        _divide(R[i], first[i], work)
        find_vector(work, d)
        value += 0.5 * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
        world = _cross(at - places[i], by_point) + by_turn
        for k in range(3):
            d[k] += carried[i, 0, k] * world[0] + carried[i, 1, k] * world[1] + carried[i, 2, k] * world[2]
        for k in range(3):
            gradient[3 * i + k] = rates[i, 0, k] * d[0] + rates[i, 1, k] * d[1] + rates[i, 2, k] * d[2]
    return value


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
def _add_turned(a: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
    """out += a v, (3,)."""
    for i in range(3):
        out[i] += a[i, 0] * v[0] + a[i, 1] * v[1] + a[i, 2] * v[2]


@kernel
def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


@kernel
def solve_limb(x: np.ndarray, low: np.ndarray, high: np.ndarray, pull: Pull, is_level: bool, rounds: Rounds) -> None:
    """Change angles x (3 N,) to those that are looked for, within low and high (3 N,). is_level: the turn is kept."""
    multipliers, weights, errors = np.zeros(6), np.zeros(6), np.zeros(6)
    held = 6 if is_level else 3
    weights[:held] = rounds.first
    last = np.full(2, np.inf)
    sizes = np.zeros(2)
    for _ in range(rounds.rounds):
        descend(x, low, high, pull, multipliers, weights, errors, rounds.steps)
        sizes[0] = math.sqrt(errors[0] ** 2 + errors[1] ** 2 + errors[2] ** 2)
        sizes[1] = math.sqrt(errors[3] ** 2 + errors[4] ** 2 + errors[5] ** 2) if is_level else 0.0
        if sizes[0] * pull.scale <= rounds.near and sizes[1] <= rounds.level:
            return
        is_stuck = sizes[0] >= rounds.stuck * last[0] and sizes[1] >= rounds.stuck * last[1]
        if weights.max() >= rounds.most and is_stuck:
            return
        for k in range(held):
            multipliers[k] += weights[k] * errors[k]
            if sizes[k // 3] > rounds.less * last[k // 3]:
                weights[k] = min(weights[k] * rounds.stiffer, rounds.most)
        last[:] = sizes


@kernel
def descend(
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    pull: Pull,
    multipliers: np.ndarray,
    weights: np.ndarray,
    errors: np.ndarray,
    steps: int,
) -> float:
    """BFGS from angles x (n,) on, which it changes, within low and high (n,); the value. Sets the errors (6,) there."""
    n = len(x)
    H, g, new_g, new_x = np.eye(n), np.empty(n), np.empty(n), np.empty(n)
    d, s, y, Hy, free = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.ones(n, np.bool_)
    value = pull_limb(x, pull, multipliers, weights, errors, g)
    is_first = True
    small = 0
    for _ in range(steps):
        most = 0.0
        for i in range(n):
            free[i] = not ((x[i] <= low[i] and g[i] > 0.0) or (x[i] >= high[i] and g[i] < 0.0))
            if free[i]:
                most = max(most, abs(g[i]))
        if most < 1e-9:
            break
        slope = 0.0
        for i in range(n):
            d[i] = 0.0
            if free[i]:
                for j in range(n):
                    if free[j]:
                        d[i] -= H[i, j] * g[j]
                slope += d[i] * g[i]
        if slope >= 0.0:  # rounding: begin anew
            H[:] = np.eye(n)
            for i in range(n):
                d[i] = -g[i] if free[i] else 0.0
            is_first = True
        longest = np.abs(d).max()
        t = min(1.0, 0.3 / longest) if is_first else min(1.0, 1.5 / longest)
        fell = False
        for _ in range(40):
            promised = 0.0
            for i in range(n):
                new_x[i] = min(max(x[i] + t * d[i], low[i]), high[i])
                promised += g[i] * (new_x[i] - x[i])
            new_value = pull_limb(new_x, pull, multipliers, weights, errors, new_g)
            if new_value <= value + 1e-4 * promised:
                fell = True
                break
            t *= 0.5
        if not fell:
            if is_first:
                break
            H[:] = np.eye(n)
            is_first = True
            continue
        sy = yy = ss = 0.0
        for i in range(n):
            s[i], y[i] = new_x[i] - x[i], new_g[i] - g[i]
            sy, yy, ss = sy + s[i] * y[i], yy + y[i] * y[i], ss + s[i] * s[i]
        small = small + 1 if value - new_value <= 1e-15 * max(abs(value), 1e-3) else 0
        x[:], g[:], value = new_x, new_g, new_value
        if small >= 3:
            break
        if sy <= 1e-10 * math.sqrt(ss * yy):
            continue
        if is_first:
            H[:] = np.eye(n) * (sy / yy)
            is_first = False
        # H += (1 + y'Hy / s'y) s s' / s'y - (H y s' + s y'H) / s'y
        yHy = 0.0
        for i in range(n):
            Hy[i] = 0.0
            for j in range(n):
                Hy[i] += H[i, j] * y[j]
            yHy += y[i] * Hy[i]
        for i in range(n):
            for j in range(n):
                H[i, j] += ((1.0 + yHy / sy) * s[i] * s[j] - Hy[i] * s[j] - s[i] * Hy[j]) / sy
    return pull_limb(x, pull, multipliers, weights, errors, g)

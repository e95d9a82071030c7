"""What `bfgs` makes least, and its gradient: compiled, since it is asked for hundreds of times a limb."""

from __future__ import annotations

import math

import numpy as np

from poise.spatial.compile import kernel


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


@kernel
def pull_limb(
    x: np.ndarray,
    has_range: np.ndarray,
    back: np.ndarray,
    child: np.ndarray,
    first: np.ndarray,
    carrier: np.ndarray,
    origin: np.ndarray,
    links: np.ndarray,
    bones: np.ndarray,
    point: np.ndarray,
    place: np.ndarray,
    axes: np.ndarray,
    scale: float,
    multipliers: np.ndarray,
    weights: np.ndarray,
    soft: float,
    errors: np.ndarray,
    gradient: np.ndarray,
) -> float:
    """The value for angles x (3 N,); sets its gradient (3 N,) and the errors (6,) of place, by `scale`, and turn.

    A turn of joint i by dphi moves the point by dphi x (p - o_i), and the end's error c by J(c)^-1 dphi.

    has_range   (N,) whether x has the angles of a range: R = P^-1 exp(x, 0, z) exp(0, y, 0) C; else R = exp(x) first
    back, child (N, 3, 3) P^-1 and C;  first (N, 3, 3) as it was
    multipliers (6,), weights (6,): of the errors;  soft: weight of a turn that need not be kept
    others      see `bfgs.LimbChain`
    """
    count = len(links)
    R, rates, carried = np.empty((count, 3, 3)), np.empty((count, 3, 3)), np.empty((count, 3, 3))
    places = np.empty((count, 3))
    G, o = carrier.copy(), origin.copy()
    d, E, J, twist = np.empty(3), np.empty((3, 3)), np.empty((3, 3)), np.zeros((3, 3))
    for i in range(count):
        o = o + G @ bones[i]
        if has_range[i]:
            d[0], d[1], d[2] = x[3 * i], 0.0, x[3 * i + 2]
            turn_by(d, E, J)
            c, s = math.cos(x[3 * i + 1]), math.sin(x[3 * i + 1])
            twist[0, 0], twist[0, 2], twist[1, 1], twist[2, 0], twist[2, 2] = c, s, 1.0, -s, c
            J[:, 1] = E[:, 1]
            rates[i] = back[i] @ J
            R[i] = back[i] @ E @ twist @ child[i]
        else:
            d[:] = x[3 * i : 3 * i + 3]
            turn_by(d, E, J)
            rates[i] = J
            R[i] = E @ first[i]
        carried[i] = G @ links[i]
        places[i] = o
        G = carried[i] @ R[i]
    at = o + G @ point
    errors[:3] = (at - place) / scale
    find_vector(G @ axes.T, errors[3:])

    value = 0.0
    pull = np.empty(6)
    for k in range(6):
        value += (multipliers[k] + 0.5 * weights[k] * errors[k]) * errors[k]
        pull[k] = multipliers[k] + weights[k] * errors[k]
    by_point = pull[:3] / scale
    # J(v)^-T f = f + 1/2 v x f + c v x (v x f)
    v, f = errors[3:], pull[3:]
    square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
    angle = math.sqrt(square)
    c = 1.0 / 12.0 if angle < 1e-3 else 1.0 / square - (1.0 + math.cos(angle)) / (2.0 * angle * math.sin(angle))
    across = _cross(v, f)
    by_turn = f + 0.5 * across + c * _cross(v, across)
    value += 0.5 * soft * square
    by_turn = by_turn + soft * v  # J(v)^-T v = v
    for i in range(count):
        find_vector(R[i] @ first[i].T, d)
        value += 0.5 * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
        world = _cross(at - places[i], by_point) + by_turn
        gradient[3 * i : 3 * i + 3] = rates[i].T @ (carried[i].T @ world + d)
    return value


@kernel
def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])

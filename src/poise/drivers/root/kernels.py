"""A root that follows from a point, or from a whole body, whose motion is given: compiled.

Where a body and a point of it are to the root, in the root's own axes, is a matter of the joints alone. One joint up,
from body i to its parent, with R, w, dw the joint's rotation, velocity and acceleration (body axes) and o its offset:

    d   <- o + R d                                                    place
    d'  <- R (d' + w x d)                                             velocity                          [anchored, 1]
    d'' <- R (d'' + 2 w x d' + w x (w x d) + dw x d)                  acceleration
    Q   <- R Q,  om <- R (w + om),  al <- R (dw + al + w x om)        orientation and its rates         [anchored, 2]

The last step up, from the root to the world, is the same with the root's place x, which is what is asked for where
the point's place X, velocity and acceleration are given:

    x = X - R d,   v = X' - R (d' + w x d),   a = X'' - R (d'' + ...)                                   [anchored, 3]

and where the body's orientation B and its rates W, dW (its own axes) are given too, the root's are

    R = B Q^-1,   w = Q W - om,   dw = Q dW - al - w x om                                               [anchored, 4]
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.motion.playback.part_kernels import multiply, set_exp

# Rows of `rel` (5, 3): the point's place, velocity and acceleration, the body's angular velocity and acceleration, all
# relative to the root and in its axes.
PLACE, SPEED, PUSH, SPIN, SPINNING = range(5)


@kernel
def relate(
    parents: np.ndarray,
    offsets: np.ndarray,
    q: np.ndarray,
    w: np.ndarray,
    dw: np.ndarray,
    joint: int,
    offset: np.ndarray,
    turn: np.ndarray,
    rel: np.ndarray,
) -> None:
    """Where a point of body `joint`, at `offset` (3,) m in its axes, is to the root; the root's q, w, dw are not read.

    turn  (4,) the body's orientation in the root's axes; written
    rel   (5, 3), see above; written
    """
    turn[0], turn[1], turn[2], turn[3] = 1.0, 0.0, 0.0, 0.0
    rel[:] = 0.0
    rel[PLACE] = offset
    out = np.empty(4)
    i = joint
    while i > 0:
        raise_by_joint(q[i], w[i], dw[i], rel)
        for a in range(3):
            rel[PLACE, a] += offsets[i, a]
        multiply(q[i], turn, out)
        turn[:] = out
        i = parents[i]


@kernel
def raise_by_joint(q: np.ndarray, w: np.ndarray, dw: np.ndarray, rel: np.ndarray) -> None:
    """One joint up, but for its offset.   [anchored, 1 and 2]"""
    d, s, p = rel[PLACE].copy(), rel[SPEED].copy(), rel[PUSH].copy()
    om, al = rel[SPIN].copy(), rel[SPINNING].copy()
    wd = cross(w, d)
    ws, wwd, dwd, wom = cross(w, s), cross(w, wd), cross(dw, d), cross(w, om)
    _rotate(q, d, rel[PLACE])
    _rotate(q, s + wd, rel[SPEED])
    _rotate(q, p + 2.0 * ws + wwd + dwd, rel[PUSH])
    _rotate(q, w + om, rel[SPIN])
    _rotate(q, dw + al + wom, rel[SPINNING])


@kernel
def carry_point(
    root: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    q: np.ndarray,
    w: np.ndarray,
    dw: np.ndarray,
    rel: np.ndarray,
    point: np.ndarray,
) -> None:
    """The point's place, velocity and acceleration (3, 3) in the world, under a root that moves."""
    up = rel.copy()
    raise_by_joint(q, w, dw, up)
    for k in range(3):
        point[0, k] = root[k] + up[PLACE, k]
        point[1, k] = v[k] + up[SPEED, k]
        point[2, k] = a[k] + up[PUSH, k]


@kernel
def hang_place(
    point: np.ndarray,
    q: np.ndarray,
    w: np.ndarray,
    dw: np.ndarray,
    rel: np.ndarray,
    root: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
) -> None:
    """The root's place, velocity and acceleration from the point's (3, 3) and the root's turn.   [anchored, 3]"""
    up = rel.copy()
    raise_by_joint(q, w, dw, up)
    for k in range(3):
        root[k] = point[0, k] - up[PLACE, k]
        v[k] = point[1, k] - up[SPEED, k]
        a[k] = point[2, k] - up[PUSH, k]


@kernel
def carry_turn(
    q: np.ndarray,
    w: np.ndarray,
    dw: np.ndarray,
    turn: np.ndarray,
    rel: np.ndarray,
    body: np.ndarray,
    spin: np.ndarray,
) -> None:
    """The body's orientation (4,) in the world, and its angular velocity and acceleration (2, 3) in its own axes."""
    multiply(q, turn, body)
    om, al = rel[SPIN].copy(), rel[SPINNING].copy()
    back = np.array([turn[0], -turn[1], -turn[2], -turn[3]])
    _rotate(back, w + om, spin[0])
    _rotate(back, dw + al + cross(w, om), spin[1])


@kernel
def hang_turn(
    body: np.ndarray,
    spin: np.ndarray,
    turn: np.ndarray,
    rel: np.ndarray,
    q: np.ndarray,
    w: np.ndarray,
    dw: np.ndarray,
) -> None:
    """The root's orientation and its rates from the body's.   [anchored, 4]"""
    back = np.array([turn[0], -turn[1], -turn[2], -turn[3]])
    multiply(body, back, q)
    _rotate(turn, spin[0], w)
    _rotate(turn, spin[1], dw)
    for k in range(3):
        w[k] -= rel[SPIN, k]
    wom = cross(w, rel[SPIN].copy())
    for k in range(3):
        dw[k] -= rel[SPINNING, k] + wom[k]


@kernel
def settle_place(since: float, spans: np.ndarray, place: np.ndarray, t: float, point: np.ndarray) -> None:
    """A point on its way to rest, at time t: its place, velocity and acceleration (3, 3).

    spans  (3,) s, along x, y and z
    place  (4, 3): where it began, with what velocity and acceleration, and how far from there it comes to rest
    """
    for k in range(3):
        x, y, z = come_to_rest(t - since, spans[k], place[1, k], place[2, k], place[3, k])
        point[0, k], point[1, k], point[2, k] = place[0, k] + x, y, z


@kernel
def settle_turn(
    since: float, span: float, begin: np.ndarray, turning: np.ndarray, t: float, body: np.ndarray, spin: np.ndarray
) -> None:
    """A body that turns on its way to rest: orientation B = begin exp(e), velocity and acceleration (2, 3), body axes.

    turning  (3, 3): angular velocity and acceleration at the beginning, body axes, and e where it comes to rest

    With c = (1 - cos |e|) / |e|^2 and s = (|e| - sin |e|) / |e|^3

        w = e' - c e x e' + s e x (e x e')                                                              [anchored, 5]
    """
    e, de, dde = np.empty(3), np.empty(3), np.empty(3)
    for k in range(3):
        e[k], de[k], dde[k] = come_to_rest(t - since, span, turning[0, k], turning[1, k], turning[2, k])
    out = np.empty(4)
    set_exp(e, out)
    multiply(begin, out, body)
    square, along = e @ e, e @ de
    angle = np.sqrt(square)
    if angle < 0.02:  # the series' next terms are below 1e-12 here
        c, s = 0.5 - square / 24.0 + square * square / 720.0, 1.0 / 6.0 - square / 120.0 + square * square / 5040.0
        dc, ds = along * (square / 180.0 - 1.0 / 12.0), along * (square / 1260.0 - 1.0 / 60.0)
    else:
        sin, cos = np.sin(angle), np.cos(angle)
        c, s = (1.0 - cos) / square, (angle - sin) / (square * angle)
        dc = along * (angle * sin - 2.0 * (1.0 - cos)) / (square * square)
        ds = along * (3.0 * sin - angle * (2.0 + cos)) / (square * square * angle)
    ed, edd = cross(e, de), cross(e, dde)
    eed = cross(e, ed)
    spin[0] = de - c * ed + s * eed
    spin[1] = dde - dc * ed - c * edd + ds * eed + s * (cross(de, ed) + cross(e, edd))


@kernel
def come_to_rest(x: float, span: float, speed: float, push: float, way: float) -> tuple[float, float, float]:
    """A quintic from 0, with a speed and an acceleration, to rest at `way` after `span`: place, velocity, acceleration.

    x  s since it began; before that it goes on as it does
    """
    if x >= span:
        return way, 0.0, 0.0
    u = x / span
    v, a = speed * span, push * span * span
    place = (
        way * u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
        + v * (u - u**3 * (6.0 - 8.0 * u + 3.0 * u * u))
        + 0.5 * a * u * u * (1.0 - u) ** 3
    )
    first = (
        30.0 * way * u * u * (1.0 - u) ** 2
        + v * (1.0 - u * u * (18.0 - 32.0 * u + 15.0 * u * u))
        + 0.5 * a * u * (1.0 - u) ** 2 * (2.0 - 5.0 * u)
    )
    second = (
        60.0 * way * u * (1.0 - u) * (1.0 - 2.0 * u)
        - v * u * (36.0 - 96.0 * u + 60.0 * u * u)
        + a * (1.0 - u) * (1.0 - 8.0 * u + 10.0 * u * u)
    )
    return place, first / span, second / (span * span)


@kernel
def find_points(
    parents: np.ndarray,
    offsets: np.ndarray,
    q: np.ndarray,
    w: np.ndarray,
    root: np.ndarray,
    v: np.ndarray,
    joints: np.ndarray,
    points: np.ndarray,
    out: np.ndarray,
) -> None:
    """Places and velocities (2, P, 3) in the world, of points (P, 3) m of the bodies `joints` (P,)."""
    still, turn, rel, point = np.zeros_like(w), np.empty(4), np.empty((5, 3)), np.empty((3, 3))
    for i in range(len(joints)):
        relate(parents, offsets, q, w, still, joints[i], points[i], turn, rel)
        carry_point(root, v, still[0], q[0], w[0], still[0], rel, point)
        out[0, i] = point[0]
        out[1, i] = point[1]


@kernel
def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


@kernel
def _rotate(q: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
    """out = q x q*; x may not be out."""
    # t = 2 v x r;  r' = r + w t + v x t
    tx, ty, tz = 2.0 * (q[2] * x[2] - q[3] * x[1]), 2.0 * (q[3] * x[0] - q[1] * x[2]), 2.0 * (q[1] * x[1] - q[2] * x[0])
    out[0] = x[0] + q[0] * tx + (q[2] * tz - q[3] * ty)
    out[1] = x[1] + q[0] * ty + (q[3] * tx - q[1] * tz)
    out[2] = x[2] + q[0] * tz + (q[1] * ty - q[2] * tx)

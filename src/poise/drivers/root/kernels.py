"""A root that follows from the motion of a point, or of a body with its orientation: compiled.

The motion of a point relative to the root, in the root's axes, follows from the joints alone. One joint up, from body i
to its parent, with R, w, dw the joint's rotation, angular velocity and acceleration (body axes) and o its offset:

    d   <- o + R d                                                    position
    d'  <- R (d' + w x d)                                             velocity                          [anchored, 1]
    d'' <- R (d'' + 2 w x d' + w x (w x d) + dw x d)                  acceleration
    Q   <- R Q,  om <- R (w + om),  al <- R (dw + al + w x om)        orientation and its rates         [anchored, 2]

The last step up, from the root to the world, is the same with the root's position x. Solved for x, with the point's
position X, velocity and acceleration given:

    x = X - R d,   v = X' - R (d' + w x d),   a = X'' - R (d'' + ...)                                   [anchored, 3]

If the body's orientation B and its rates W, dW (its own axes) are given too, those of the root are

    R = B Q^-1,   w = Q W - om,   dw = Q dW - al - w x om                                               [anchored, 4]

Motions of points are arrays (3, 3): position, velocity and acceleration. `spin` (2, 3) is angular velocity and
acceleration.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from poise.compiled.kernel import kernel
from poise.compiled.layout import Floats, Layout
from poise.dynamics.body_kernels import Body
from poise.motion.playback.part_kernels import multiply, set_exp

GIVEN, BODY, ROOT = range(3)  # what orients the root: see `anchor.py`
# Rows of `rel` (5, 3): motion of the point, and of the orientation of its body, relative to the root and in its axes.
POSITION, VELOCITY, ACCELERATION, ANGULAR_VELOCITY, ANGULAR_ACCELERATION = range(5)


class AnchorState(Layout):
    """An anchored point that comes to rest, and the orientation of its body, or of the root."""

    joint: int  # of the body that is anchored
    since: float  # s, when it was taken
    span: float  # s, until its orientation rests
    offset: Annotated[Floats, 3]  # m, of the point, in the body's axes
    spans: Annotated[Floats, 3]  # s, until the point rests along x, y and z
    start: Annotated[Floats, 3, 3]  # position, velocity and acceleration of the point when it was taken
    way: Annotated[Floats, 3]  # m, from there to where it rests
    orientation: Annotated[Floats, 4]  # when it was taken
    spin: Annotated[Floats, 2, 3]  # rad/s, rad/s2, body axes, when it was taken
    rotation: Annotated[Floats, 3]  # rad, rotation vector from there to where it rests, body axes


@kernel
def find_relative_motion(
    b: Body, dw: np.ndarray, joint: int, offset: np.ndarray, orientation: np.ndarray, rel: np.ndarray
) -> None:
    """Write the motion of a point of body `joint` relative to the root, whose own q, w, dw are not read.

    dw           (J, 3) rad/s2 of the joints
    offset       (3,) m, of the point, in the body's axes
    orientation  (4,) of the body in the root's axes; written
    rel          (5, 3), see above; written
    """
    parents, offsets, q, w = b.parents, b.offsets, b.q, b.w
    orientation[0], orientation[1], orientation[2], orientation[3] = 1.0, 0.0, 0.0, 0.0
    rel[:] = 0.0
    rel[POSITION] = offset
    out = np.empty(4)
    i = joint
    while i > 0:
        raise_by_joint(q[i], w[i], dw[i], rel)
        for a in range(3):
            rel[POSITION, a] += offsets[i, a]
        multiply(q[i], orientation, out)
        orientation[:] = out
        i = parents[i]


@kernel
def raise_by_joint(q: np.ndarray, w: np.ndarray, dw: np.ndarray, rel: np.ndarray) -> None:
    """Go one joint up, without its offset.   [anchored, 1 and 2]"""
    d, s, p = rel[POSITION].copy(), rel[VELOCITY].copy(), rel[ACCELERATION].copy()
    om, al = rel[ANGULAR_VELOCITY].copy(), rel[ANGULAR_ACCELERATION].copy()
    wd = cross(w, d)
    ws, wwd, dwd, wom = cross(w, s), cross(w, wd), cross(dw, d), cross(w, om)
    _rotate(q, d, rel[POSITION])
    _rotate(q, s + wd, rel[VELOCITY])
    _rotate(q, p + 2.0 * ws + wwd + dwd, rel[ACCELERATION])
    _rotate(q, w + om, rel[ANGULAR_VELOCITY])
    _rotate(q, dw + al + wom, rel[ANGULAR_ACCELERATION])


@kernel
def find_motion(
    b: Body, joint: int, offset: np.ndarray, point: np.ndarray, orientation: np.ndarray, spin: np.ndarray
) -> None:
    """Write the motion of a point of a body in the world (3, 3), the body's orientation (4,) and its spin (2, 3)."""
    turn, rel = np.empty(4), np.empty((5, 3))
    find_relative_motion(b, b.dw, joint, offset, turn, rel)
    up, q, w, dw = rel.copy(), b.q[0], b.w[0], b.dw[0]
    raise_by_joint(q, w, dw, up)
    for k in range(3):
        point[0, k] = b.root[k] + up[POSITION, k]
        point[1, k] = b.v[k] + up[VELOCITY, k]
        point[2, k] = b.a[k] + up[ACCELERATION, k]
    multiply(q, turn, orientation)
    om, al = rel[ANGULAR_VELOCITY].copy(), rel[ANGULAR_ACCELERATION].copy()
    back = np.array([turn[0], -turn[1], -turn[2], -turn[3]])
    _rotate(back, w + om, spin[0])
    _rotate(back, dw + al + cross(w, om), spin[1])


@kernel
def hang_root(
    b: Body, rule: int, joint: int, offset: np.ndarray, point: np.ndarray, orientation: np.ndarray, spin: np.ndarray
) -> None:
    """Write the root's motion from that of a point of a body: the reverse of `find_motion`.

    rule               GIVEN, BODY or ROOT
    orientation, spin  of the body if the rule is BODY, of the root if it is ROOT, else not read
    """
    turn, rel = np.empty(4), np.empty((5, 3))
    find_relative_motion(b, b.dw, joint, offset, turn, rel)
    q, w, dw = b.q[0], b.w[0], b.dw[0]
    if rule == BODY:
        _orient_root(orientation, spin, turn, rel, q, w, dw)
    elif rule == ROOT:
        q[:], w[:], dw[:] = orientation, spin[0], spin[1]
    raise_by_joint(q, w, dw, rel)
    for k in range(3):  # [anchored, 3]
        b.root[k] = point[0, k] - rel[POSITION, k]
        b.v[k] = point[1, k] - rel[VELOCITY, k]
        b.a[k] = point[2, k] - rel[ACCELERATION, k]


@kernel
def _orient_root(
    orientation: np.ndarray, spin: np.ndarray, turn: np.ndarray, rel: np.ndarray, q: np.ndarray, w: np.ndarray,
    dw: np.ndarray,
) -> None:  # fmt: skip
    """Write the root's orientation and its rates from the body's.   [anchored, 4]"""
    back = np.array([turn[0], -turn[1], -turn[2], -turn[3]])
    multiply(orientation, back, q)
    _rotate(turn, spin[0], w)
    _rotate(turn, spin[1], dw)
    for k in range(3):
        w[k] -= rel[ANGULAR_VELOCITY, k]
    wom = cross(w, rel[ANGULAR_VELOCITY].copy())
    for k in range(3):
        dw[k] -= rel[ANGULAR_ACCELERATION, k] + wom[k]


@kernel
def find_anchor_motion(anchor: AnchorState, t: float, point: np.ndarray) -> None:
    """Write the motion (3, 3) of an anchored point at time t, on its way to rest."""
    start, spans, way = anchor.start, anchor.spans, anchor.way
    for k in range(3):
        x, y, z = come_to_rest(t - anchor.since, spans[k], start[1, k], start[2, k], way[k])
        point[0, k], point[1, k], point[2, k] = start[0, k] + x, y, z


@kernel
def find_anchor_orientation(anchor: AnchorState, t: float, orientation: np.ndarray, spin: np.ndarray) -> None:
    """Write orientation B = B0 exp(e) and spin (2, 3), body axes, of an anchored body at time t, on its way to rest.

    With c = (1 - cos |e|) / |e|^2 and s = (|e| - sin |e|) / |e|^3

        w = e' - c e x e' + s e x (e x e')                                                              [anchored, 5]
    """
    e, de, dde = np.empty(3), np.empty(3), np.empty(3)
    start, end = anchor.spin, anchor.rotation
    for k in range(3):
        e[k], de[k], dde[k] = come_to_rest(t - anchor.since, anchor.span, start[0, k], start[1, k], end[k])
    out = np.empty(4)
    set_exp(e, out)
    multiply(anchor.orientation, out, orientation)
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
    """Return position, velocity and acceleration on a quintic from 0 to rest at `way`.

    x            s since it began; before that, time is extrapolated
    span         s until it rests
    speed, push  velocity and acceleration at 0
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
    b: Body, root: np.ndarray, v: np.ndarray, joints: np.ndarray, points: np.ndarray, out: np.ndarray
) -> None:
    """Write positions and velocities (2, P, 3) in the world of points (P, 3) m of the bodies `joints` (P,).

    root, v  (3,) m, m/s: position and velocity of the root, which may be others than the body's
    """
    q, w = b.q, b.w
    still, turn, rel = np.zeros_like(w), np.empty(4), np.empty((5, 3))
    for i in range(len(joints)):
        find_relative_motion(b, still, joints[i], points[i], turn, rel)
        raise_by_joint(q[0], w[0], still[0], rel)
        for k in range(3):
            out[0, i, k] = root[k] + rel[POSITION, k]
            out[1, i, k] = v[k] + rel[VELOCITY, k]


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

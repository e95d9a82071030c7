"""Frames, evenly spaced in time, as a motion that is smooth to the acceleration.

Between frame k and the next lies a quintic whose ends have the rates that the neighbours give:

    w_k = (log(q_k* q_k+1) - log(q_k* q_k-1)) / 2h        w'_k = (log(q_k* q_k+1) + log(q_k* q_k-1)) / h^2

in the tangent space of q_k. At its end that is w = J(e) e', w' = J(e) e'' + J'(e) e', with J the right Jacobian of the
rotations: pose and velocity fit exactly, accelerations to the third power of the turn between two frames. Where four
frames are the same nothing moves, not by a bit.
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.motion.playback.part_kernels import log_between, multiply, set_exp


@kernel
def blend(u: float, h: float, e1: float, v0: float, v1: float, a0: float, a1: float) -> tuple[float, float, float]:
    """Value, rate and its change at u (0 to 1) of the quintic from 0 to e1 in h seconds, with rates at both ends."""
    p, q, r, s = v0 * h, v1 * h, a0 * h * h, a1 * h * h
    c3 = 10.0 * e1 - 6.0 * p - 4.0 * q - 1.5 * r + 0.5 * s
    c4 = -15.0 * e1 + 8.0 * p + 7.0 * q + 1.5 * r - s
    c5 = 6.0 * e1 - 3.0 * p - 3.0 * q - 0.5 * r + 0.5 * s
    return (
        u * (p + u * (0.5 * r + u * (c3 + u * (c4 + u * c5)))),
        (p + u * (r + u * (3.0 * c3 + u * (4.0 * c4 + u * 5.0 * c5)))) / h,
        (r + u * (6.0 * c3 + u * (12.0 * c4 + u * 20.0 * c5))) / (h * h),
    )


@kernel
def _unbend(e: np.ndarray, w: np.ndarray, out: np.ndarray) -> None:
    """Out = J(e)^-1 w, for turns that are small beside 1."""
    x, y, z = e[1] * w[2] - e[2] * w[1], e[2] * w[0] - e[0] * w[2], e[0] * w[1] - e[1] * w[0]
    angle = e[0] * e[0] + e[1] * e[1] + e[2] * e[2]
    f = 1.0 / 12.0 + angle / 720.0
    out[0] = w[0] + 0.5 * x + f * (e[1] * z - e[2] * y)
    out[1] = w[1] + 0.5 * y + f * (e[2] * x - e[0] * z)
    out[2] = w[2] + 0.5 * z + f * (e[0] * y - e[1] * x)


@kernel
def _bend(e: np.ndarray, w: np.ndarray, out: np.ndarray) -> None:
    """Out = J(e) w."""
    x, y, z = e[1] * w[2] - e[2] * w[1], e[2] * w[0] - e[0] * w[2], e[0] * w[1] - e[1] * w[0]
    angle = e[0] * e[0] + e[1] * e[1] + e[2] * e[2]
    first = 0.5 - angle / 24.0 + angle * angle / 720.0
    second = 1.0 / 6.0 - angle / 120.0 + angle * angle / 5040.0
    out[0] = w[0] - first * x + second * (e[1] * z - e[2] * y)
    out[1] = w[1] - first * y + second * (e[2] * x - e[0] * z)
    out[2] = w[2] - first * z + second * (e[0] * y - e[1] * x)


@kernel
def _bending(e: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
    """Out = J'(e) e', with e' = v: v x (e x v) / 6, to the third power of e."""
    x, y, z = e[1] * v[2] - e[2] * v[1], e[2] * v[0] - e[0] * v[2], e[0] * v[1] - e[1] * v[0]
    out[0] = (v[1] * z - v[2] * y) / 6.0
    out[1] = (v[2] * x - v[0] * z) / 6.0
    out[2] = (v[0] * y - v[1] * x) / 6.0


@kernel
def turn_at(
    rows: np.ndarray, u: float, h: float, rate: float, slope: float, q: np.ndarray, w: np.ndarray, dw: np.ndarray
) -> None:
    """q (4,), w and dw (3,) body axes, at u between the second and the third of four rotations (4, 4), h s apart.

    rate, slope  of the frames' clock: how fast it goes, and how that changes (1/s)
    """
    before, after, later = np.empty(3), np.empty(3), np.empty(3)
    log_between(rows[1], rows[0], before)
    log_between(rows[1], rows[2], after)
    log_between(rows[2], rows[3], later)
    end, push, work = np.empty(3), np.empty(3), np.empty(3)
    w1, v1, a1 = np.empty(3), np.empty(3), np.empty(3)
    for a in range(3):
        w1[a] = (later[a] + after[a]) / (2.0 * h)
        push[a] = (later[a] - after[a]) / (h * h)
        end[a] = after[a]
    _unbend(end, w1, v1)
    _bending(end, v1, work)
    for a in range(3):
        push[a] -= work[a]
    _unbend(end, push, a1)
    e, v, b = np.empty(3), np.empty(3), np.empty(3)
    for a in range(3):
        e[a], v[a], b[a] = blend(
            u, h, end[a], (after[a] - before[a]) / (2.0 * h), v1[a], (after[a] + before[a]) / (h * h), a1[a]
        )
    turn = np.empty(4)
    set_exp(e, turn)
    multiply(rows[1], turn, q)
    _bend(e, v, w)
    _bend(e, b, dw)
    _bending(e, v, work)
    for a in range(3):
        dw[a] = (dw[a] + work[a]) * rate * rate + w[a] * slope
        w[a] *= rate


@kernel
def place_at(rows: np.ndarray, u: float, h: float, rate: float, slope: float, out: np.ndarray) -> None:
    """Out (3, 3): place, velocity and acceleration between the second and the third of four places (4, 3)."""
    for a in range(3):
        v0, v1 = (rows[2, a] - rows[0, a]) / (2.0 * h), (rows[3, a] - rows[1, a]) / (2.0 * h)
        a0 = (rows[2, a] - 2.0 * rows[1, a] + rows[0, a]) / (h * h)
        a1 = (rows[3, a] - 2.0 * rows[2, a] + rows[1, a]) / (h * h)
        e, v, b = blend(u, h, rows[2, a] - rows[1, a], v0, v1, a0, a1)
        out[0, a], out[1, a], out[2, a] = rows[1, a] + e, v * rate, b * rate * rate + v * slope


@kernel
def write_turns(
    frames: np.ndarray, k: int, u: float, h: float, rate: float, slope: float, joints: np.ndarray, q: np.ndarray,
    w: np.ndarray, dw: np.ndarray,
) -> None:  # fmt: skip
    """q, w and dw of some joints at u between frame k and the next of frames (N, J, 4), into a body's arrays."""
    for i in range(len(joints)):
        j = joints[i]
        turn_at(frames[k - 1 : k + 3, j], u, h, rate, slope, q[j], w[j], dw[j])

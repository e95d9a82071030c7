"""A kinematic part at one instant, compiled: a track on its clock, perhaps fading from another, perhaps taken over.

    q = slerp(q_old, q_track, s) exp(e)

s  eases from 0 to 1 over `CHANGE` seconds after the track was changed; q_old is the track before, on its own clock
e  what the joints were off the motion when it took them over: dies away over `span` seconds, beginning with the rate
   and the acceleration that they had

Rates of a plain track are its own. Those of a fade are central differences; those of the take-over are added exactly:

    w = O^T w_m + w_O,   dw = O^T dw_m + (O^T w_m) x w_O + dw_O      with O = exp(e(t)), w_O, dw_O by differences
"""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel
from poise.motion.playback.kernels import find_segment, phase_at, play_turns, rates_at, turns_at

CHANGE = 0.35  # s, over which tempo and size glide: shorter than a beat at 160 bpm
STEP = 5e-4  # s, of the central differences
# Where each number is in `part`: period of the track, when the fade began (NaN: none), period of the old track, when it
# was taken over (NaN: not), and how long that takes.
PERIOD, FADE, OLD_PERIOD, TAKEN, SPAN = range(5)


@kernel
def play_alone(
    part: np.ndarray,
    knots: np.ndarray,
    turns: np.ndarray,
    rates: np.ndarray,
    clock: np.ndarray,
    t: float,
    q: np.ndarray,
    w: np.ndarray,
    dw: np.ndarray,
) -> None:
    """The track on its clock and nothing else: what `play_part` is where nothing was changed or taken over."""
    phase, rate, slope = phase_at(clock, t)
    segment, x, inside = find_segment(knots, part[PERIOD], phase)
    turns_at(turns, segment, x, q)
    rates_at(rates, segment, x, rate if inside else 0.0, slope if inside else 0.0, w, dw)


@kernel
def play_part(
    part: np.ndarray,
    knots: np.ndarray,
    turns: np.ndarray,
    rates: np.ndarray,
    clock: np.ndarray,
    old_knots: np.ndarray,
    old_turns: np.ndarray,
    old_clock: np.ndarray,
    offset: np.ndarray,
    t: float,
    q: np.ndarray,
    w: np.ndarray,
    dw: np.ndarray,
) -> None:
    """Rotations q (K, 4), angular velocities w and accelerations dw (K, 3) in body axes at time t.

    offset  (3, K, 3): e, its rate and its acceleration when it was taken over
    """
    fading = t <= part[FADE] + CHANGE + STEP  # NaN is not
    taken = t <= part[TAKEN] + part[SPAN] + STEP
    if not fading:
        play_alone(part, knots, turns, rates, clock, t, q, w, dw)
    else:
        k = q.shape[0]
        before, after = np.empty((k, 4)), np.empty((k, 4))
        _fade(part, knots, turns, clock, old_knots, old_turns, old_clock, t - STEP, before)
        _fade(part, knots, turns, clock, old_knots, old_turns, old_clock, t + STEP, after)
        _fade(part, knots, turns, clock, old_knots, old_turns, old_clock, t, q)
        back, on = np.empty(3), np.empty(3)
        for j in range(k):
            log_between(q[j], before[j], back)
            log_between(q[j], after[j], on)
            for a in range(3):
                w[j, a] = (on[a] - back[a]) / (2.0 * STEP)
                dw[j, a] = (on[a] + back[a]) / (STEP * STEP)
    if taken:
        take_over(part, offset, t, q, w, dw)


@kernel
def _fade(
    part: np.ndarray,
    knots: np.ndarray,
    turns: np.ndarray,
    clock: np.ndarray,
    old_knots: np.ndarray,
    old_turns: np.ndarray,
    old_clock: np.ndarray,
    t: float,
    q: np.ndarray,
) -> None:
    play_turns(knots, turns, part[PERIOD], phase_at(clock, t)[0], q)
    u = min(max((t - part[FADE]) / CHANGE, 0.0), 1.0)
    s = u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
    if s >= 1.0:
        return
    old = np.empty_like(q)
    play_turns(old_knots, old_turns, part[OLD_PERIOD], phase_at(old_clock, t)[0], old)
    e, turn = np.empty(3), np.empty(4)
    for j in range(q.shape[0]):
        log_between(old[j], q[j], e)
        for a in range(3):
            e[a] *= s
        set_exp(e, turn)
        multiply(old[j], turn, q[j])


@kernel
def take_over(part: np.ndarray, offset: np.ndarray, t: float, q: np.ndarray, w: np.ndarray, dw: np.ndarray) -> None:
    """Turn joints at q, w and dw by what is left of their offset (3, K, 3) at time t."""
    e, x, y = np.empty(3), np.empty(3), np.empty(3)
    now, before, after, out = np.empty(4), np.empty(4), np.empty(4), np.empty(4)
    for j in range(q.shape[0]):
        _set_offset(part, offset, j, t, e)
        _set_offset(part, offset, j, t - STEP, x)
        _set_offset(part, offset, j, t + STEP, y)
        set_exp(e, now)
        set_exp(x, before)
        set_exp(y, after)
        log_between(now, before, x)
        log_between(now, after, y)
        # O^T w_m and O^T dw_m
        u0, u1, u2 = rotate_back(now, w[j, 0], w[j, 1], w[j, 2])
        d0, d1, d2 = rotate_back(now, dw[j, 0], dw[j, 1], dw[j, 2])
        v0, v1, v2 = (y[0] - x[0]) / (2.0 * STEP), (y[1] - x[1]) / (2.0 * STEP), (y[2] - x[2]) / (2.0 * STEP)
        w[j, 0], w[j, 1], w[j, 2] = u0 + v0, u1 + v1, u2 + v2
        dw[j, 0] = d0 + u1 * v2 - u2 * v1 + (y[0] + x[0]) / (STEP * STEP)
        dw[j, 1] = d1 + u2 * v0 - u0 * v2 + (y[1] + x[1]) / (STEP * STEP)
        dw[j, 2] = d2 + u0 * v1 - u1 * v0 + (y[2] + x[2]) / (STEP * STEP)
        multiply(q[j], now, out)
        for a in range(4):
            q[j, a] = out[a]


@kernel
def _set_offset(part: np.ndarray, offset: np.ndarray, j: int, t: float, e: np.ndarray) -> None:
    """e (3,) of joint j at time t."""
    span = part[SPAN]
    place, speed, push = die_away((t - part[TAKEN]) / span)
    for a in range(3):
        e[a] = place * offset[0, j, a] + span * (speed * offset[1, j, a] + span * push * offset[2, j, a])


@kernel
def die_away(u: float) -> tuple[float, float, float]:
    """Quintics over u in 0..1 that end in nothing: from place 1, from slope 1, from curvature 1, and else from nothing.

    Before 0 they go on as they are.
    """
    u = min(u, 1.0)
    return (
        1.0 - u**3 * (10.0 - 15.0 * u + 6.0 * u * u),
        u - u**3 * (6.0 - 8.0 * u + 3.0 * u * u),
        0.5 * u * u * (1.0 - u) ** 3,
    )


@kernel
def log_between(a: np.ndarray, b: np.ndarray, e: np.ndarray) -> None:
    """e (3,) = log(a* b): the turn from a to b in a's axes, the short way round."""
    w = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    e[0] = a[0] * b[1] - a[1] * b[0] - a[2] * b[3] + a[3] * b[2]
    e[1] = a[0] * b[2] - a[2] * b[0] - a[3] * b[1] + a[1] * b[3]
    e[2] = a[0] * b[3] - a[3] * b[0] - a[1] * b[2] + a[2] * b[1]
    s = np.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
    f = 2.0 if s < 1e-12 else 2.0 * np.arctan2(s, abs(w)) / s
    if w < 0.0:
        f = -f
    for k in range(3):
        e[k] *= f


@kernel
def set_exp(e: np.ndarray, q: np.ndarray) -> None:
    """q (4,) = the rotation by the vector e (3,)."""
    angle = np.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
    f = 0.5 - angle * angle / 48.0 if angle < 1e-4 else np.sin(0.5 * angle) / angle
    q[0], q[1], q[2], q[3] = np.cos(0.5 * angle), f * e[0], f * e[1], f * e[2]


@kernel
def multiply(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Out = a b; out must be neither."""
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
    out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]


@kernel
def rotate_back(q: np.ndarray, x: float, y: float, z: float) -> tuple[float, float, float]:
    """q* (x, y, z) q."""
    # t = 2 (-v) x r;  r' = r + w t + (-v) x t
    tx, ty, tz = 2.0 * (q[3] * y - q[2] * z), 2.0 * (q[1] * z - q[3] * x), 2.0 * (q[2] * x - q[1] * y)
    return (
        x + q[0] * tx + (q[3] * ty - q[2] * tz),
        y + q[0] * ty + (q[1] * tz - q[3] * tx),
        z + q[0] * tz + (q[2] * tx - q[1] * ty),
    )

"""Playing a track, compiled: its phase over time, and its rotations, velocities and accelerations there."""

from __future__ import annotations

import numpy as np

from poise.spatial.compile import kernel

# Where each number is in a clock: from SINCE on, over SPAN seconds, the rate goes from one value to another.
SINCE, PHASE, RATE, SLOPE, AIM, SPAN = range(6)


@kernel
def phase_at(clock: np.ndarray, t: float) -> tuple[float, float, float]:
    """Phase, its rate and the rate's slope at time t (s).

    The rate runs from (RATE, SLOPE) at SINCE to (AIM, 0) after SPAN on a cubic, and stays there: with u = t / SPAN

        r = r0 + s0 S (u - 2 u^2 + u^3) + (r1 - r0) (3 u^2 - 2 u^3)
    """
    x = t - clock[SINCE]
    r0, s0, r1, S = clock[RATE], clock[SLOPE], clock[AIM], clock[SPAN]
    if S <= 0.0:
        return clock[PHASE] + r1 * x, r1, 0.0
    u = min(x / S, 1.0)
    d = r1 - r0
    phase = clock[PHASE] + S * (
        r0 * u + s0 * S * (u**2 / 2.0 - 2.0 * u**3 / 3.0 + u**4 / 4.0) + d * (u**3 - 0.5 * u**4)
    )
    if x > S:
        return phase + r1 * (x - S), r1, 0.0
    rate = r0 + s0 * S * (u - 2.0 * u**2 + u**3) + d * (3.0 * u**2 - 2.0 * u**3)
    slope = s0 * (1.0 - 4.0 * u + 3.0 * u**2) + d * (6.0 * u - 6.0 * u**2) / S
    return phase, rate, slope


@kernel
def find_segment(knots: np.ndarray, period: float, phase: float) -> tuple[int, float, bool]:
    """The segment that a phase is in, how far into it, and whether the phase is within the track."""
    if period > 0.0:
        phase = knots[0] + (phase - knots[0]) % period
    inside = knots[0] <= phase <= knots[-1]
    phase = min(max(phase, knots[0]), knots[-1])
    last = len(knots) - 2
    # Samples are nearly always evenly spaced: look where it would be then, and walk from there.
    k = int((phase - knots[0]) / (knots[-1] - knots[0]) * (last + 1))
    k = min(max(k, 0), last)
    while k > 0 and phase < knots[k]:
        k -= 1
    while k < last and phase >= knots[k + 1]:
        k += 1
    return k, phase - knots[k], inside


@kernel
def play_turns(knots: np.ndarray, turns: np.ndarray, period: float, phase: float, q: np.ndarray) -> None:
    """Rotations q (K, 4) of a track at a phase."""
    k, x, _ = find_segment(knots, period, phase)
    for j in range(turns.shape[1]):
        norm = 0.0
        for a in range(4):
            s = ((turns[k, j, 0, a] * x + turns[k, j, 1, a]) * x + turns[k, j, 2, a]) * x + turns[k, j, 3, a]
            q[j, a] = s
            norm += s * s
        norm = 1.0 / np.sqrt(norm)
        for a in range(4):
            q[j, a] *= norm


@kernel
def play_rates(
    knots: np.ndarray,
    rates: np.ndarray,
    period: float,
    phase: float,
    speed: float,
    slope: float,
    w: np.ndarray,
    dw: np.ndarray,
) -> None:
    """Angular velocities and accelerations (K, 3), in body axes, of a track whose phase goes at a speed.

    With s the spline of the components and n its length, q = s / n:

        q' = (s' - q (q . s')) / n       w = 2 q* q'        (vector parts)
        dw = 2 q* q''                    since q'* q' has no vector part
        q* q'' = (q* s'' - 2 (q . s') q* q' ) / n           but for its scalar part
    """
    k, x, inside = find_segment(knots, period, phase)
    s, d, e = np.empty(4), np.empty(4), np.empty(4)
    for j in range(rates.shape[1]):
        if not inside:
            for a in range(3):
                w[j, a] = 0.0
                dw[j, a] = 0.0
            continue
        norm, along = 0.0, 0.0
        for a in range(4):
            c0, c1, c2, c3 = rates[k, j, 0, a], rates[k, j, 1, a], rates[k, j, 2, a], rates[k, j, 3, a]
            s[a] = ((c0 * x + c1) * x + c2) * x + c3
            d[a] = (3.0 * c0 * x + 2.0 * c1) * x + c2
            e[a] = 6.0 * c0 * x + 2.0 * c1
            norm += s[a] * s[a]
            along += s[a] * d[a]
        # s* d = (s0 dv - d0 sv - sv x dv): its vector part over n^2 is q* q', since q's own direction drops out
        ux, uy, uz = _back(s, d)
        vx, vy, vz = _back(s, e)
        f, g = 2.0 / norm, 2.0 * along / norm
        ux, uy, uz = f * ux, f * uy, f * uz
        w[j, 0], w[j, 1], w[j, 2] = ux * speed, uy * speed, uz * speed
        square = speed * speed
        dw[j, 0] = (f * vx - g * ux) * square + ux * slope
        dw[j, 1] = (f * vy - g * uy) * square + uy * slope
        dw[j, 2] = (f * vz - g * uz) * square + uz * slope


@kernel
def _back(s: np.ndarray, d: np.ndarray) -> tuple[float, float, float]:
    """The vector part of s* d."""
    return (
        s[0] * d[1] - d[0] * s[1] - (s[2] * d[3] - s[3] * d[2]),
        s[0] * d[2] - d[0] * s[2] - (s[3] * d[1] - s[1] * d[3]),
        s[0] * d[3] - d[0] * s[3] - (s[1] * d[2] - s[2] * d[1]),
    )


@kernel
def play_root(
    knots: np.ndarray,
    root: np.ndarray,
    root_rates: np.ndarray,
    period: float,
    phase: float,
    speed: float,
    slope: float,
    place: np.ndarray,
    velocity: np.ndarray,
    acceleration: np.ndarray,
) -> None:
    """The root's place (3,) m, velocity and acceleration in the world."""
    k, x, inside = find_segment(knots, period, phase)
    for a in range(3):
        c = root[k, :, a]
        place[a] = ((c[0] * x + c[1]) * x + c[2]) * x + c[3]
        c = root_rates[k, :, a]
        first = (3.0 * c[0] * x + 2.0 * c[1]) * x + c[2]
        second = 6.0 * c[0] * x + 2.0 * c[1]
        velocity[a] = first * speed if inside else 0.0
        acceleration[a] = second * speed * speed + first * slope if inside else 0.0

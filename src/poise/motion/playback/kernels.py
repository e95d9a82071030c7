"""Playing a track, compiled: its phase over time, and its rotations, velocities and accelerations there."""

from __future__ import annotations

import numpy as np

from poise.compiled.kernel import kernel

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
    turns_at(turns, k, x, q)


@kernel
def turns_at(turns: np.ndarray, k: int, x: float, q: np.ndarray) -> None:
    """Rotations q (K, 4) in segment k of a track, x into it."""
    for j in range(turns.shape[1]):
        c = turns[k, j]
        s0, s1, s2, s3 = _spline(c, x)
        norm = 1.0 / np.sqrt(s0 * s0 + s1 * s1 + s2 * s2 + s3 * s3)
        q[j, 0], q[j, 1], q[j, 2], q[j, 3] = s0 * norm, s1 * norm, s2 * norm, s3 * norm


@kernel
def rates_at(rates: np.ndarray, k: int, x: float, speed: float, slope: float, w: np.ndarray, dw: np.ndarray) -> None:
    """Those of segment k, x into it.

    With s the spline of the components and n its length, q = s / n:

        q' = (s' - q (q . s')) / n       w = 2 q* q'        (vector parts)
        dw = 2 q* q''                    since q'* q' has no vector part
        q* q'' = (q* s'' - 2 (q . s') q* q' ) / n           but for its scalar part
    """
    square = speed * speed
    for j in range(rates.shape[1]):
        c = rates[k, j]
        s0, s1, s2, s3 = _spline(c, x)
        d0, d1, d2, d3 = _slope(c, x)
        e0, e1, e2, e3 = _bend(c, x)
        norm = s0 * s0 + s1 * s1 + s2 * s2 + s3 * s3
        # s* d = (s0 dv - d0 sv - sv x dv): its vector part over n^2 is q* q', since q's own direction drops out
        f, g = 2.0 / norm, 2.0 * (s0 * d0 + s1 * d1 + s2 * d2 + s3 * d3) / norm
        ux = f * (s0 * d1 - d0 * s1 - (s2 * d3 - s3 * d2))
        uy = f * (s0 * d2 - d0 * s2 - (s3 * d1 - s1 * d3))
        uz = f * (s0 * d3 - d0 * s3 - (s1 * d2 - s2 * d1))
        vx = f * (s0 * e1 - e0 * s1 - (s2 * e3 - s3 * e2))
        vy = f * (s0 * e2 - e0 * s2 - (s3 * e1 - s1 * e3))
        vz = f * (s0 * e3 - e0 * s3 - (s1 * e2 - s2 * e1))
        w[j, 0], w[j, 1], w[j, 2] = ux * speed, uy * speed, uz * speed
        dw[j, 0] = (vx - g * ux) * square + ux * slope
        dw[j, 1] = (vy - g * uy) * square + uy * slope
        dw[j, 2] = (vz - g * uz) * square + uz * slope


@kernel
def _spline(c: np.ndarray, x: float) -> tuple[float, float, float, float]:
    """Four components at once; each with its own index would be a kernel of its own."""
    return (
        ((c[0, 0] * x + c[1, 0]) * x + c[2, 0]) * x + c[3, 0],
        ((c[0, 1] * x + c[1, 1]) * x + c[2, 1]) * x + c[3, 1],
        ((c[0, 2] * x + c[1, 2]) * x + c[2, 2]) * x + c[3, 2],
        ((c[0, 3] * x + c[1, 3]) * x + c[2, 3]) * x + c[3, 3],
    )


@kernel
def _slope(c: np.ndarray, x: float) -> tuple[float, float, float, float]:
    return (
        (3.0 * c[0, 0] * x + 2.0 * c[1, 0]) * x + c[2, 0],
        (3.0 * c[0, 1] * x + 2.0 * c[1, 1]) * x + c[2, 1],
        (3.0 * c[0, 2] * x + 2.0 * c[1, 2]) * x + c[2, 2],
        (3.0 * c[0, 3] * x + 2.0 * c[1, 3]) * x + c[2, 3],
    )


@kernel
def _bend(c: np.ndarray, x: float) -> tuple[float, float, float, float]:
    return (
        6.0 * c[0, 0] * x + 2.0 * c[1, 0],
        6.0 * c[0, 1] * x + 2.0 * c[1, 1],
        6.0 * c[0, 2] * x + 2.0 * c[1, 2],
        6.0 * c[0, 3] * x + 2.0 * c[1, 3],
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

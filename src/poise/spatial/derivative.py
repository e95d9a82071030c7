"""Velocity and acceleration out of sampled positions and rotations.   [mix, 3.2.3]

    p    rotation that turns the child's coordinates into the parent's, unit quaternion, (F, ..., 4)
    w    angular velocity in the *child's* axes, rad/s: a ball joint's velocity for a constant S   [mix, eq 13]
    a    its rate of change, rad/s2: the angular acceleration in the child's axes (w x w = 0, so both readings agree)
    h    time between samples, s

    w = 2 Im(p^-1 p')         [mix, eq 14]        p'(t)  = (p(t+h) - p(t-h)) / 2h               [mix, eq 16]
    a = 2 Im(p^-1 p'')        [mix, eq 15]        p''(t) = (p(t+h) - 2 p(t) + p(t-h)) / h^2      [mix, eq 17]

Differences from the source: eq 14, 15 are printed as p' p^-1, which is the angular velocity in the parent's axes.
The source's differences (`tests/oracles/differences.py`) are of second order in h; the splines here are of fourth order
and give any moment. Nothing here removes noise: filter first (`poise.spatial.derivative` does both).

From a noisy recording to value, velocity and acceleration: filter, then differentiate.   [mix, 3.2]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.errors import InputError
from poise.spatial import rotation
from poise.spatial.filter import check_signal, lowpass, lowpass_rotations, uniform_rate

DEGREE = 5  # the lowest degree whose second derivative is still smooth (C2)


@dataclass(frozen=True, eq=False)
class Derivatives:
    """A motion at some times, with its first two derivatives.

    value         (F, ..., 3) m, or unit quaternions (F, ..., 4)
    velocity      (F, ..., 3) m/s, or rad/s in the child's axes
    acceleration  (F, ..., 3) m/s2, or rad/s2 in the child's axes
    """

    value: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


def angular_rates(q: np.ndarray, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Angular velocity and acceleration in the child's axes from a quaternion curve and its derivatives, (..., 4) each.

    q need not have unit length: the rates are those of q/|q|, exactly. With u = q/|q|,
        u^-1 u' = q^-1 q' - |q|'/|q|,
    whose last term is real, so w = 2 Im(q^-1 q'); and since (q^-1)' = -q^-1 q' q^-1,
        a = w' = 2 Im(q^-1 q'' - (q^-1 q')^2).
    For a unit curve q^-1 q' is purely imaginary, its square real, and eq 15 remains.
    """
    inverse = rotation.conjugate(q) / np.sum(q * q, axis=-1, keepdims=True)
    rate = rotation.multiply(inverse, first)
    velocity = 2.0 * rate[..., 1:]
    # The imaginary part of a square (s, r)^2 is 2 s r.
    acceleration = 2.0 * rotation.multiply(inverse, second)[..., 1:] - 4.0 * rate[..., :1] * rate[..., 1:]
    return velocity, acceleration


def position_derivatives(x: np.ndarray, times: np.ndarray, at: np.ndarray | None = None) -> Derivatives:
    """The quintic spline through x (F, ...) at `times` (F,) s, with its derivatives, at the samples or at other times.

    times  increasing, not necessarily uniform
    at     (G,) s within the times; None for the samples themselves
    """
    value, velocity, acceleration = _spline(np.asarray(x, float), times, at)
    return Derivatives(value, velocity, acceleration)


def rotation_derivatives(q: np.ndarray, times: np.ndarray, at: np.ndarray | None = None) -> Derivatives:
    """The same for rotations (F, ..., 4), given with any signs: the components' quintic spline, normalised."""
    curve, first, second = _spline(_continuous(q), times, at)
    velocity, acceleration = angular_rates(curve, first, second)
    return Derivatives(rotation.normalize(curve), velocity, acceleration)


def _continuous(q: np.ndarray) -> np.ndarray:
    return rotation.make_continuous(rotation.normalize(q))


def _spline(x: np.ndarray, times: np.ndarray, at: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Value and two derivatives of the interpolating spline; a polynomial where there are too few samples for one."""
    from scipy.interpolate import make_interp_spline

    times = np.asarray(times, float)
    check_signal(x, 1.0)
    if times.shape != (len(x),) or not np.isfinite(times).all() or np.any(np.diff(times) <= 0):
        raise InputError(f"{len(x)} samples need as many increasing times; given shape {times.shape}.")
    where = times if at is None else np.asarray(at, float)
    slack = 1e-9 * max(1.0, float(np.abs(times).max()))
    if where.size and not (where.min() >= times[0] - slack and where.max() <= times[-1] + slack):
        raise InputError(
            f"times from {where.min():g} to {where.max():g} s were asked of a motion that lasts from {times[0]:g} to "
            f"{times[-1]:g} s. Ask within it."
        )
    if len(x) == 1:
        value = np.repeat(x, where.size, axis=0)
        return value, np.zeros_like(value), np.zeros_like(value)
    spline = make_interp_spline(times, x.reshape(len(x), -1), min(DEGREE, len(x) - 1))
    shape = (where.size, *x.shape[1:])
    value, first, second = (spline(where, nu=n).reshape(shape) for n in range(3))
    return (x.copy() if at is None else value), first, second


def smooth_positions(
    x: np.ndarray, times: np.ndarray, cutoff: float | None = None, at: np.ndarray | None = None
) -> Derivatives:
    """Positions (F, ..., 3) m at `times` (F,) s, low-passed at `cutoff` Hz, with velocity and acceleration.

    cutoff  None for no filter (procedural motion). A filter needs a uniform rate.
    at      (G,) s, where to evaluate; None for the samples
    """
    if cutoff is not None:
        x = lowpass(x, uniform_rate(times), cutoff)
    return position_derivatives(x, times, at)


def smooth_rotations(
    q: np.ndarray, times: np.ndarray, cutoff: float | None = None, at: np.ndarray | None = None
) -> Derivatives:
    """The same for rotations (F, ..., 4): angular velocity and acceleration are in the child's axes."""
    if cutoff is not None:
        q = lowpass_rotations(q, uniform_rate(times), cutoff)
    return rotation_derivatives(q, times, at)

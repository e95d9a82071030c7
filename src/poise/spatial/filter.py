"""The two-pass Butterworth low-pass filter of the mix paper, for positions and for rotations.

Source: [mix, eq 10-12], after Winter, Biomechanics and Motor Control of Human Movement. A second-order Butterworth
filter runs forward and then backward in time, so that nothing is delayed.

    f_s  rate, Hz          f_c  cut-off, Hz: both passes together halve the power there (gain 1/sqrt 2)
    n    number of passes, 2
    C    = (2^(1/n) - 1)^(1/4) = 0.802                     [mix, eq 12]
    w_c  = tan(pi f_c / f_s) / C                           [mix, eq 11], each pass's own corner, wider than f_c

Differences from the source: K1 of eq 11 is sqrt(2) w_c (Winter), printed as sqrt(2 w_c). SciPy designs the same filter
from its corner in hertz, which is f_s / pi * atan(w_c), not f_c / C. The source starts each pass on the raw samples,
which leaves a transient at both ends; here the signal is first continued past its ends by the parabola that fits the
last 0.75 / f_c seconds best, and each pass starts in the state it would have reached there. On noisy synthetic walks,
runs, jumps and gestures the acceleration near the ends is then up to 1.6 times nearer the truth than with odd
reflection, and 3 to 6 times nearer than with Gustafsson's method (docs/filtering.md). Windows of
0.6 to 0.9 / f_c do about as well; a line, a cubic, or adding the reflected residual do worse.

`widen` and `blur` soften corrections that come and go, over a bounded stretch of time.
"""

from __future__ import annotations

import math

import numpy as np

from poise.errors import InputError
from poise.spatial import rotation

PASSES = 2
CORRECTION = (2.0 ** (1.0 / PASSES) - 1.0) ** 0.25  # C   [mix, eq 12]
SLOWEST = 100.0  # longest period of a cut-off, in lengths of the signal: it bounds the continuation past the ends
FIT_PERIODS = 0.75  # length of the end that the parabola is fitted to, in 1 / f_c
LEFT_OVER = 1e-9  # the continuation is so long that a transient from its far end has decayed to this


def lowpass(x: np.ndarray, rate: float, cutoff: float, axis: int = 0) -> np.ndarray:
    """x without what is faster than `cutoff`, not delayed; polynomials up to the second degree pass unchanged.

    x       samples at a uniform rate along `axis`; any other axes are channels
    rate    Hz
    cutoff  Hz, where the gain is 1/sqrt 2. Small: smooth but flattened. At rate/2 or above (or infinite): x itself.

    The filter knows nothing of units or rotations: for quaternions use `lowpass_rotations`.
    """
    x = np.asarray(x, float)
    check_signal(x, rate, axis)
    if not cutoff > 0.0:
        raise InputError(f"a cut-off of {cutoff:g} Hz cannot be used. Give a positive frequency, or inf for no filter.")
    if cutoff >= 0.5 * rate or x.shape[axis] < 2:
        return x.copy()
    if rate / cutoff > SLOWEST * x.shape[axis]:
        raise InputError(
            f"a cut-off of {cutoff:g} Hz is slower than anything in {x.shape[axis]} samples at {rate:g} Hz. "
            f"Give at least {rate / (SLOWEST * x.shape[axis]):.3g} Hz."
        )
    moved = np.moveaxis(x, axis, 0)
    flat = moved.reshape(len(moved), -1)
    return np.moveaxis(_two_pass(flat, rate, cutoff).reshape(moved.shape), 0, axis)


def lowpass_rotations(q: np.ndarray, rate: float, cutoff: float) -> np.ndarray:
    """Rotations (F, ..., 4) without what is faster than `cutoff` Hz; unit length, signs continuous in time.

    The sign-continuous components are filtered and normalised again, as in [mix, 3.2.2]. A filtered component vector is
    a weighted mean of quaternions, so its direction does not depend on the choice of axes, and whole turns need no
    reference. Filtering rotation vectors about a running mean is better in fast tumbling with little noise, and no
    better elsewhere (docs/filtering.md); components keep rotations and positions under one and the same gain.
    """
    q = rotation.make_continuous(rotation.normalize(q))
    return rotation.normalize(lowpass(q, rate, cutoff))


def gain(frequency: np.ndarray, rate: float, cutoff: float) -> np.ndarray:
    """What is left of a sine of `frequency` Hz after both passes: 1 / (1 + (tan(pi f / f_s) / w_c)^4)."""
    if cutoff >= 0.5 * rate:
        return np.ones_like(np.asarray(frequency, float))
    corner = math.tan(math.pi * cutoff / rate) / CORRECTION
    # tan has a pole at rate/2, where the gain is zero: keep clear of overflow.
    ratio = np.minimum(np.tan(np.pi * np.minimum(frequency, 0.4999999 * rate) / rate) / corner, 1e60)
    return np.asarray(1.0 / (1.0 + ratio**4))


def uniform_rate(times: np.ndarray, tolerance: float = 0.02) -> float:
    """The rate in Hz of `times` (F,) in seconds; refuses steps that differ from their mean by more than `tolerance`.

    A file's rounded times (0.0083 for 1/120 s) pass; dropped frames do not.
    """
    times = np.asarray(times, float)
    if times.ndim != 1 or len(times) < 2:
        raise InputError(f"a rate needs at least two times in one row; given shape {times.shape}.")
    steps = np.diff(times)
    mean = (times[-1] - times[0]) / len(steps)
    worst = int(np.argmax(np.abs(steps - mean)))
    if not mean > 0.0 or not abs(steps[worst] - mean) <= tolerance * mean:
        raise InputError(
            f"a filter needs a uniform rate: the step after frame {worst} is {steps[worst]:g} s, the mean {mean:g} s. "
            "Resample the motion first."
        )
    return float(1.0 / mean)


def check_signal(x: np.ndarray, rate: float, axis: int = 0) -> None:
    """Raises unless the rate is positive and the samples are finite."""
    if not (rate > 0.0 and math.isfinite(rate)):
        raise InputError(f"a rate of {rate:g} Hz cannot be used. Give a positive number of samples a second.")
    if not -x.ndim <= axis < x.ndim or x.shape[axis] == 0:
        raise InputError(f"a signal needs at least one sample along axis {axis}; given shape {x.shape}.")
    if not np.isfinite(x).all():
        sample = int(np.argwhere(~np.isfinite(np.moveaxis(x, axis, 0)))[0][0])
        raise InputError(f"the signal is not finite at sample {sample}. Mend or trim it there.")


def _two_pass(x: np.ndarray, rate: float, cutoff: float) -> np.ndarray:
    """Forward and backward over x (F, C), continued past both ends."""
    from scipy import signal

    corner = rate / math.pi * math.atan(math.tan(math.pi * cutoff / rate) / CORRECTION)  # [mix, eq 11, in Hz]
    b, a = signal.butter(2, corner, fs=rate)
    slowest = np.abs(np.roots(a)).max()  # near 1 for small cut-offs, and again, alternating in sign, close to rate/2
    pad = min(math.ceil(math.log(LEFT_OVER) / math.log(slowest)), math.ceil(4 * rate / cutoff) + 200)
    fit = math.ceil(FIT_PERIODS * rate / cutoff)
    y = np.concatenate([_continue(x, fit, pad)[::-1], x, _continue(x[::-1], fit, pad)])
    for _ in range(PASSES):
        y = signal.lfilter(b, a, y, axis=0, zi=_settled(b, a, y[:3]))[0][::-1]
    return y[pad : pad + len(x)]


def _continue(x: np.ndarray, fit: int, count: int) -> np.ndarray:
    """`count` samples that would come before x[0], nearest first: the parabola that fits x[:fit] best."""
    fit = min(max(fit, 4), len(x))
    degree = min(2, fit - 1)
    inside = np.vander(np.arange(fit) / fit, degree + 1)
    outside = np.vander(-np.arange(1, count + 1) / fit, degree + 1)
    return np.asarray(outside @ (np.linalg.pinv(inside) @ x[:fit]))


def _settled(b: np.ndarray, a: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The filter's state (2, C), had it run for ever on the parabola through the three samples of `start` (3, C).

    With the recursion z(n+1) = M z(n) + v x(n) and x(n) = c0 + c1 n + c2 n^2, the state is such a parabola too:
    z2 = M z2 + v c2,   z1 + 2 z2 = M z1 + v c1,   z0 + z1 + z2 = M z0 + v c0.
    """
    v = (b[1:] - a[1:] * b[0])[:, None]
    undo = np.linalg.inv(np.eye(2) - np.array([[-a[1], 1.0], [-a[2], 0.0]]))
    c0, c2 = start[0], 0.5 * (start[0] - 2.0 * start[1] + start[2])
    c1 = start[1] - c0 - c2
    z2 = undo @ (v * c2)
    z1 = undo @ (v * c1 - 2.0 * z2)
    return np.asarray(undo @ (v * c0 - z1 - z2))


def widen(values: np.ndarray, half: int) -> np.ndarray:
    """Return (F,) the largest value within so many frames on either side, so that a blur after it cuts no peak."""
    from scipy.ndimage import maximum_filter1d

    return np.asarray(maximum_filter1d(values, 2 * half + 1, mode="nearest"))


def blur(values: np.ndarray, half: int) -> np.ndarray:
    """Return (F, ...) the mean over so many frames on either side, weighted by a Hann window; held at the ends."""
    weights = np.hanning(2 * half + 3)[1:-1]
    weights /= weights.sum()
    padded = np.concatenate([np.repeat(values[:1], half, axis=0), values, np.repeat(values[-1:], half, axis=0)])
    flat = padded.reshape(len(padded), -1)
    blurred = np.stack([np.convolve(column, weights, "valid") for column in flat.T], axis=1)
    blurred[np.abs(blurred) < 1e-12] = 0.0
    return blurred.reshape(values.shape)

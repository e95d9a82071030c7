"""The cut-off that brings the acceleration of a recording nearest to the truth, judged from the recording alone.

Forces are masses times accelerations, so what counts is the second derivative, where noise of frequency f weighs
f^4 in power. A low-pass filter of gain H loses some of the motion and keeps some of the noise; the expected error is

    E(f_c) = integral of  (1 - H)^2 S + H^2 N   df,      S, N  power spectra of the acceleration of motion and of noise

and the cut-off is where E is least. S and N are told apart by their shapes in the acceleration's spectrum P = S + N:

* a body has finite force, so the acceleration of its motion falls off: S = s / (1 + (f / f_b)^q), with a bend f_b and a
  slope q of 4 or more (a kink in the force gives 4). What a sampled motion folds back at rate/2 is added.
* noise does not fall off: N = n0 + n2 f^2 + n4 f^4. The last is white noise of position (markers), the middle one
  small jumps of position (changes of the solver's mind), the first a noise that is white as acceleration: skin and
  model errors. It is the one that white-noise rules miss; in two walks measured on force plates it was the largest
  between 6 and 16 Hz.

For every pair (f_b, q) on a grid the four levels are fitted by Whittle's likelihood; no pair is picked, the error is
averaged over all of them with their likelihoods as weights, because a plateau in P can often be read either way. The
figures that this method, Winter's residuals, Challis' autocorrelation and generalised cross-validation reach are in
docs/filtering.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from poise.errors import InputError
from poise.spatial.filter import check_signal, gain

LOWEST = 3.0  # Hz. Lower serves a body that stands still in noise, but can take the motion out of a clip full of pops
HARMLESS, HARMLESS_SHARE = 0.02, 0.01  # noise below 0.02 m/s2, or below 1 % of the acceleration, is left alone
FEWEST = 16  # samples; below that a spectrum says nothing
BANDWIDTH, TAPERS = 4.0, 3  # multitaper: half bandwidth in 1 / duration; more tapers leak, and leaks look like noise
POP = 1.5  # samples are clipped at so many times the size that 99 % stay below: one pop must not pass for a noise floor
BINS = 40  # the spectrum is averaged in so many bins, evenly spaced in log f
BENDS, SLOPES = 12, (4.0, 6.0, 10.0, 16.0)  # the grid of f_b (0.7 Hz to 0.7 rate/2) and q
USUAL_BEND, SPREAD = 4.0, 0.7  # weak prior on f_b, Hz: log-normal. Between 2.5 and none at all little changes
TRUST = 0.3  # independent samples per spectral bin: channels and neighbours are correlated. 0.3 to 1 do alike
HEADROOM = 3.0  # a noise level may exceed the lowest power seen in the upper band by so much, not more
UPPER = 0.3  # the upper band begins here, in rate/2
ITERATIONS = 150


@dataclass(frozen=True)
class Cutoff:
    """A cut-off and what it rests on.

    hz      the cut-off; rate/2 where no filter is needed
    noise   m/s2, RMS noise that was found in the acceleration of a channel, without a filter
    error   m/s2, RMS error to be expected with the filter
    reason  one sentence
    """

    hz: float
    noise: float
    error: float
    reason: str


def choose_cutoff(x: np.ndarray, rate: float, lowest: float = LOWEST) -> Cutoff:
    """One cut-off for all channels of x (F, ...), positions in metres at a uniform `rate` Hz.

    x       channels whose acceleration matters, weighed by their power: for forces the centre of mass; for a skeleton
            all joint positions
    lowest  Hz, the cut-off never goes below. Lower it only for bodies that move slower than people

    Not for rotations: give the positions that they lead to. Motion of which the spectrum does not fall before rate/2
    (a run at 24 Hz) cannot be told from noise: the choice is then a compromise.
    """
    x = np.asarray(x, float)
    check_signal(x, rate)
    if not lowest > 0.0:
        raise InputError(f"the lowest cut-off must be positive; {lowest:g} Hz given.")
    nyquist = 0.5 * rate
    if len(x) < FEWEST or lowest >= nyquist:
        return Cutoff(nyquist, 0.0, 0.0, f"{len(x)} samples at {rate:g} Hz are too few to tell noise from motion.")
    f, power, width = _acceleration_spectrum(x.reshape(len(x), -1), rate)
    if not power.max() > 0.0:
        return Cutoff(nyquist, 0.0, 0.0, "nothing moves.")
    weight, signal, noise = _separate(f, power, width, rate)

    candidates = np.geomspace(lowest, nyquist, 80)
    kept = np.array([gain(f, rate, c) for c in candidates])
    # E = integral of (1 - H)^2 S + H^2 N df, averaged over the readings
    errors = (1.0 - kept) ** 2 @ (width * (weight @ signal)) + kept**2 @ (width * (weight @ noise))
    best = int(np.argmin(errors))
    found = math.sqrt(float(width @ (weight @ noise)))
    if found < max(HARMLESS, HARMLESS_SHARE * math.sqrt(float(width @ power))):
        return Cutoff(nyquist, found, found, f"noise of {found:.2g} m/s2 in the acceleration needs no filter.")
    if candidates[best] > 0.8 * nyquist:
        return Cutoff(nyquist, found, found, "the motion fills the whole band: a filter would take more than it mends.")
    hz, error = float(candidates[best]), math.sqrt(float(errors[best]))
    reason = f"{hz:.1f} Hz leaves an expected {error:.2g} m/s2 of {found:.2g} m/s2 noise in the acceleration."
    return Cutoff(hz, found, error, reason)


def _acceleration_spectrum(x: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Frequencies (G,) Hz, power density (G,) of the acceleration in (m/s2)^2/Hz, mean of the channels, and bin widths.

    Second differences come first and the taper after, so that the slow large motion cannot leak into the noise.
    """
    from scipy.signal.windows import dpss

    a = np.diff(x, 2, axis=0) * rate**2
    a -= a.mean(axis=0)
    limit = POP * np.quantile(np.abs(a), 0.99, axis=0)
    a = np.clip(a, -limit, limit)
    tapers = dpss(len(a), BANDWIDTH, TAPERS)
    power = np.zeros(len(a) // 2 + 1)
    for taper in tapers:
        power += 2.0 / rate * np.mean(np.abs(np.fft.rfft(taper[:, None] * a, axis=0)) ** 2, axis=1) / TAPERS
    f = np.fft.rfftfreq(len(a), 1.0 / rate)
    inside = f >= min(0.5, rate / 16.0)
    f, power = f[inside], power[inside]
    # A second difference has gain (2 sin(pi f / rate) rate)^2, a second derivative (2 pi f)^2.
    power = power * (np.pi * f / rate / np.sin(np.pi * f / rate)) ** 4
    edges = np.geomspace(f[0], f[-1], BINS + 1)[1:-1]
    _, group, count = np.unique(np.digitize(f, edges), return_inverse=True, return_counts=True)
    return np.bincount(group, f) / count, np.bincount(group, power) / count, count * rate / len(a)


def _separate(
    f: np.ndarray, power: np.ndarray, width: np.ndarray, rate: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Readings of a spectrum as motion + noise: weights (M,) that sum to 1, densities (M, G) of both."""
    nyquist = 0.5 * rate
    bend, slope = (g.ravel()[:, None] for g in np.meshgrid(np.geomspace(0.7, 0.7 * nyquist, BENDS), SLOPES))
    folded = rate - f
    motion = 1.0 / (1.0 + (f / bend) ** slope) + (f / folded) ** 4 / (1.0 + (folded / bend) ** slope)
    flat, jumps, white = (np.broadcast_to((f / nyquist) ** n, motion.shape) for n in (0, 2, 4))
    shapes = np.stack([motion, flat, jumps, white], axis=1)  # (M, 4, G)
    shapes = shapes / shapes.max(axis=-1, keepdims=True)

    y = power / power.max()
    samples = TRUST * width / width.min()
    # Whittle: sum of log m + y / m over the samples, m = levels . shapes. Multiplicative steps keep the levels positive
    # and never raise it (majorisation, as in Itakura-Saito factorisation).
    levels = np.tile([0.5, max(y.min(), 1e-25), max(y.min(), 1e-25), max(y[-1], 1e-25)], (len(shapes), 1))
    for _ in range(ITERATIONS):
        m = np.einsum("mk,mkg->mg", levels, shapes)
        pull, push = samples * y / m**2, samples / m
        levels *= np.sqrt(np.einsum("mkg,mg->mk", shapes, pull) / np.einsum("mkg,mg->mk", shapes, push))
    upper = f >= UPPER * nyquist
    highest = HEADROOM * np.min(y[upper] / shapes[:, 1:, upper], axis=-1)
    levels[:, 1:] = np.minimum(levels[:, 1:], highest)

    signal = levels[:, :1] * shapes[:, 0]
    noise = np.einsum("mk,mkg->mg", levels[:, 1:], shapes[:, 1:])
    m = signal + noise
    unlikely = (samples * (np.log(m) + y / m)).sum(axis=1) + 0.5 * (np.log(bend[:, 0] / USUAL_BEND) / SPREAD) ** 2
    weight = np.exp(unlikely.min() - unlikely)
    # The motion's share of what was measured, rather than its smooth model: peaks stay peaks.
    return weight / weight.sum(), power * signal / m, power.max() * noise

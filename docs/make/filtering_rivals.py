"""Other people's ways to a cut-off, for the comparison in docs/filtering.md."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solveh_banded

from poise.spatial.derivative import position_derivatives
from poise.spatial.filter import gain, lowpass


def winter(x: np.ndarray, rate: float) -> float:
    """Residual analysis: where the RMS residual equals the intercept of the straight line through its tail.

    The tail is the longest stretch up to rate/2 that a line fits with R2 > 0.97. Winter, Biomechanics and Motor Control
    of Human Movement, "residual analysis".
    """
    cutoffs = np.linspace(1, 0.49 * rate, 60)
    residual = np.array([np.sqrt(np.mean((x - lowpass(x, rate, c)) ** 2)) for c in cutoffs])
    for i in range(len(cutoffs) - 8):
        line = np.polyfit(cutoffs[i:], residual[i:], 1)
        if np.var(residual[i:] - np.polyval(line, cutoffs[i:])) < 0.03 * np.var(residual[i:]):
            break
    below = np.flatnonzero(residual <= line[1])
    return float(cutoffs[below[0]]) if len(below) else rate / 2


def challis(x: np.ndarray, rate: float) -> float:
    """The cut-off whose residual is most like white noise: least sum of squared autocorrelations up to one second.

    Challis (1999), A procedure for the automatic determination of filter cutoff frequency, J. Appl. Biomech. 15.
    """
    cutoffs = np.geomspace(1, rate / 2, 40)[:-1]
    scores = []
    for cutoff in cutoffs:
        r = x - lowpass(x, rate, cutoff)
        r = r - r.mean(axis=0)
        correlation = np.fft.irfft(np.abs(np.fft.rfft(r, 2 * len(r), axis=0)) ** 2, axis=0)
        correlation = correlation / np.maximum(correlation[:1], 1e-300)
        scores.append(np.sum(correlation[1 : min(len(r), int(rate))] ** 2))
    return float(cutoffs[int(np.argmin(scores))])


def cross_validation(x: np.ndarray, rate: float) -> float:
    """Generalised cross-validation of the same filter: least RSS / (1 - trace/n)^2. It aims at the position."""
    cutoffs = np.geomspace(1, rate / 2, 60)[:-1]
    f = np.fft.rfftfreq(len(x), 1 / rate)
    scores = [np.sum((x - lowpass(x, rate, c)) ** 2) / (1 - gain(f, rate, c).mean()) ** 2 for c in cutoffs]
    return float(cutoffs[int(np.argmin(scores))])


def smoothing_spline_acceleration(x: np.ndarray, rate: float) -> np.ndarray:
    """Acceleration from a smoothing spline with a penalty on the third derivative, by generalised cross-validation.

    Woltring's GCVSPL with quintic splines, in its discrete form for uniform samples (Whittaker with third differences).
    """
    n = len(x)
    third = np.diff(np.eye(min(n, 8)), 3, axis=0)
    # The bands of D'D: rows in the middle repeat, six rows at each end differ.
    small = third.T @ third
    bands = np.zeros((4, n))
    for k in range(4):
        middle = small[3, 3 + k] if n >= 8 else 0.0
        diagonal = np.full(n - k, middle)
        edge = min(4, n - k)
        diagonal[:edge] = np.diag(small, k)[:edge]
        diagonal[-edge:] = np.diag(small, k)[:edge][::-1]
        bands[3 - k, k:] = diagonal
    values = (2 - 2 * np.cos(np.pi * np.arange(n) / n)) ** 3
    best, score = x, np.inf
    for stiffness in np.geomspace(1e-4, 1e9, 60):
        system = stiffness * bands
        system[3] += 1.0
        y = solveh_banded(system, x)
        s = np.sum((x - y) ** 2) / max(1 - np.mean(1 / (1 + stiffness * values)), 1e-12) ** 2
        if s < score:
            best, score = y, s
    return position_derivatives(best, np.arange(n) / rate).acceleration

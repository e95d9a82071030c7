"""Series that come and go softly: widened, so that a blur cuts no peak, and blurred over a bounded stretch of time."""

from __future__ import annotations

import numpy as np


def widen(values: np.ndarray, half: int) -> np.ndarray:
    """(F,) the largest within so many frames on either side."""
    from scipy.ndimage import maximum_filter1d

    return np.asarray(maximum_filter1d(values, 2 * half + 1, mode="nearest"))


def blur(values: np.ndarray, half: int) -> np.ndarray:
    """(F, ...) the mean over so many frames on either side, those near counting more; held at the ends."""
    weights = np.hanning(2 * half + 3)[1:-1]
    weights /= weights.sum()
    padded = np.concatenate([np.repeat(values[:1], half, axis=0), values, np.repeat(values[-1:], half, axis=0)])
    flat = padded.reshape(len(padded), -1)
    blurred = np.stack([np.convolve(column, weights, "valid") for column in flat.T], axis=1)
    blurred[np.abs(blurred) < 1e-12] = 0.0
    return blurred.reshape(values.shape)

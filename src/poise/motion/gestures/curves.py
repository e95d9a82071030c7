"""Curves of phase that gestures are drawn with, all continuous up to their second derivative (C2) at least."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np


def bounce(phase: np.ndarray, softness: float, lean: float) -> tuple[np.ndarray, np.ndarray]:
    """A ball's height over the beats, and its slope: 0 at whole phases, its lowest points, and 1 at the tops between.

        s(p) = (sqrt(sin^2(pi w) + e^2) - e) / (sqrt(1 + e^2) - e),   w = p - lean (1 - cos 2 pi p) / 2 pi

    softness  e: near 0 it turns sharply at the beat, with an acceleration of about pi^2 / e; large ones give a sine
    lean      0 is as quick up as down; towards 1 the top comes later and the fall, just before the beat, is quicker

    phase (N,); all derivatives exist everywhere.
    """
    turn = 2.0 * np.pi * phase
    w = np.pi * phase - 0.5 * lean * (1.0 - np.cos(turn))
    slope_w = np.pi * (1.0 - lean * np.sin(turn))
    root = np.sqrt(np.sin(w) ** 2 + softness**2)
    scale = 1.0 / (np.sqrt(1.0 + softness**2) - softness)
    return scale * (root - softness), scale * slope_w * np.sin(w) * np.cos(w) / root


def soften_above(x: np.ndarray, start: float, limit: float) -> np.ndarray:
    """x below `start`; from there it approaches `limit` and never passes it: start + (limit - start) tanh(...). C2."""
    room = limit - start
    return np.where(x <= start, x, start + room * np.tanh(np.maximum(x - start, 0.0) / room))


def soften_below(x: np.ndarray, start: float, limit: float) -> np.ndarray:
    """x above `start`; from there down it approaches `limit` and never passes it. C2."""
    return -soften_above(-x, -start, -limit)


def cycle(values: Sequence[float], phase: np.ndarray) -> np.ndarray:
    """The periodic cubic spline through values at phases 0, 1/2, 1, ..., taken at phases (N,). C2 over the wrap too."""
    period = 0.5 * len(values)
    return np.asarray(_fit_cycle(tuple(values))(np.mod(phase, period)))


@lru_cache(maxsize=64)
def _fit_cycle(values: tuple[float, ...]) -> Any:
    from scipy.interpolate import CubicSpline

    closed = [*values, values[0]]
    return CubicSpline(0.5 * np.arange(len(closed)), closed, bc_type="periodic")

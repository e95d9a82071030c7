"""Corrections over time: held where they are needed, gone elsewhere, smooth (C1) throughout."""

from __future__ import annotations

import numpy as np

from poise.motion.parts import find_runs

_MOST_FRAMES = 1000  # to either side: half a second at 2000 frames a second


def fade(times: np.ndarray, held: np.ndarray, values: np.ndarray, lasts: float) -> np.ndarray:
    """Values (F, n) where `held` (F,); elsewhere what continues them smoothly and is gone within `lasts` seconds.

    From each end of a held stretch a cubic leads from its value and slope to zero and no slope. In a gap shorter than
    `lasts` both ends' cubics span the gap and add up.
    """
    out = np.where(held[:, None], values, 0.0)
    stretches = find_runs(held)
    for first, last in stretches:
        for edge, step in ((first, -1), (last, 1)):
            beyond = edge + step
            if not 0 <= beyond < len(times):
                continue
            gap = _gap(held, beyond, step)
            end = gap[-1] + step
            spans = lasts if not 0 <= end < len(times) else min(lasts, abs(times[end] - times[edge]))
            slope = _slope(times, values, edge, -step, last - first)
            out[gap] += _decay(np.abs(times[gap] - times[edge]), values[edge], slope * step, spans)
    return out


def _gap(held: np.ndarray, start: int, step: int) -> np.ndarray:
    """Indices from `start` on, in the direction of `step`, until the next held frame or the end."""
    side = held[start:] if step > 0 else held[start::-1]
    length = int(np.argmax(side)) if side.any() else len(side)
    return start + step * np.arange(length)


def _slope(times: np.ndarray, values: np.ndarray, edge: int, inward: int, room: int) -> np.ndarray:
    """(n,) change a second at the edge of a held stretch, over up to three of its frames."""
    other = edge + inward * min(2, room)
    if other == edge:
        return np.zeros(values.shape[1])
    return np.asarray((values[edge] - values[other]) / (times[edge] - times[other]))


def _decay(after: np.ndarray, value: np.ndarray, slope: np.ndarray, lasts: float) -> np.ndarray:
    """(G, n) cubics from value and slope at 0 to zero at `lasts`, at the times `after` (G,) s; zero from then on."""
    # Hermite's basis: (1 - u)^2 (1 + 2u) carries the value, u (1 - u)^2 the slope, in half the time to overshoot less.
    u, v = (np.clip(after / t, 0.0, 1.0)[:, None] for t in (lasts, 0.5 * lasts))
    return np.asarray((1 - u) ** 2 * (1 + 2 * u) * value + (1 - v) ** 2 * v * 0.5 * lasts * slope)


def cover(times: np.ndarray, needed: np.ndarray, half: float) -> np.ndarray:
    """A smooth curve (F,) that is nowhere below `needed` (F,): its maximum within `half` seconds, then averaged."""
    count = _frames(times, half)
    padded = np.pad(needed, count, mode="edge")
    highest = np.lib.stride_tricks.sliding_window_view(padded, 2 * count + 1).max(axis=1)
    return average(times, highest, half)


def average(times: np.ndarray, values: np.ndarray, half: float) -> np.ndarray:
    """Values (F, ...) averaged over `half` seconds to either side with Hann's weights, the ends held."""
    count = _frames(times, half)
    weights = np.hanning(2 * count + 3)[1:-1]
    flat = values.reshape(len(values), -1)
    padded = np.pad(flat, ((count, count), (0, 0)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * count + 1, axis=0)
    return np.asarray(windows @ (weights / weights.sum())).reshape(values.shape)


def _frames(times: np.ndarray, seconds: float) -> int:
    """How many frames last about so long, within what can be afforded."""
    return 0 if len(times) < 2 else round(min(seconds / float(np.median(np.diff(times))), _MOST_FRAMES))


def soften(x: np.ndarray, width: float) -> np.ndarray:
    """max(x, 0) without the corner: 0 below 0, a parabola up to `width`, then x - width / 2."""
    inside = np.clip(x, 0.0, width)
    return np.asarray(inside**2 / (2 * width) + np.maximum(x - width, 0.0))

"""The keys of one glTF channel at given times [glTF 2.0, 3.11 and appendix C]."""

from __future__ import annotations

import numpy as np


def sample(times: np.ndarray, values: np.ndarray, how: str, is_turn: bool, at: np.ndarray) -> np.ndarray:
    """(F, W) values of keys (K,), (K or 3 K, W) at times (F,); before the first and after the last they are held."""
    at = np.clip(at, times[0], times[-1])
    last = len(times) - 1
    k = np.clip(np.searchsorted(times, at, side="right") - 1, 0, last)
    if how == "STEP" or last == 0:
        return values[1::3][k] if how == "CUBICSPLINE" else values[k]
    k = np.minimum(k, last - 1)
    length = times[k + 1] - times[k]
    u = np.where(length > 0, (at - times[k]) / np.where(length > 0, length, 1.0), 1.0)[:, None]
    if how == "CUBICSPLINE":
        d = length[:, None]
        into, keys, out = values[0::3], values[1::3], values[2::3]
        return (
            (2 * u**3 - 3 * u**2 + 1) * keys[k]
            + d * (u**3 - 2 * u**2 + u) * out[k]
            + (3 * u**2 - 2 * u**3) * keys[k + 1]
            + d * (u**3 - u**2) * into[k + 1]
        )
    here, there = values[k], values[k + 1]
    if not is_turn:
        return (1.0 - u) * here + u * there
    here = here / np.sqrt((here**2).sum(axis=1, keepdims=True))
    there = there / np.sqrt((there**2).sum(axis=1, keepdims=True))
    dot = (here * there).sum(axis=1, keepdims=True)
    there, dot = np.where(dot < 0, -there, there), np.abs(dot)
    # sin((1 - u) a) / sin a and sin(u a) / sin a, with a the angle between them; straight where it vanishes.
    angle = np.arccos(np.minimum(dot, 1.0))
    near = angle < 1e-6
    sine = np.where(near, 1.0, np.sin(angle))
    first = np.where(near, 1.0 - u, np.sin((1.0 - u) * angle) / sine)
    second = np.where(near, u, np.sin(u * angle) / sine)
    return np.asarray(first * here + second * there)

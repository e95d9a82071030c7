"""Smooth curves for motions made from nothing: position, velocity and acceleration are continuous (C2) everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def rise(t: np.ndarray, start: float, end: float) -> np.ndarray:
    """0 before `start`, 1 after `end`, between them 6 u^5 - 15 u^4 + 10 u^3."""
    u = np.clip((t - start) / (end - start), 0.0, 1.0)
    return u**3 * (10.0 + u * (6.0 * u - 15.0))


def rise_and_fall(t: np.ndarray, start: float, top: float, leave: float, end: float) -> np.ndarray:
    """0, up to 1 from `start` to `top`, held until `leave`, and down to 0 at `end`."""
    return rise(t, start, top) - rise(t, leave, end)


def through(knots: Sequence[tuple[Any, ...]]) -> Any:
    """The piecewise quintic through knots (time, value, velocity, acceleration); values may be numbers or vectors."""
    from scipy.interpolate import BPoly

    times = [knot[0] for knot in knots]
    return BPoly.from_derivatives(times, [np.array(knot[1:], float) for knot in knots])


def hump(u: np.ndarray) -> np.ndarray:
    """0 outside 0 < u < 1 and 1 in the middle, 64 u^3 (1 - u)^3."""
    u = np.clip(u, 0.0, 1.0)
    return 64.0 * u**3 * (1.0 - u) ** 3

"""A smooth path through noisy places that falls freely where it must: a penalised spline with known accelerations.

    x_i   (3,) m, the measured place at frame i
    c(t)  the path, a cubic spline: its acceleration a(t) is continuous, and linear between knots, h seconds apart
    b_j   its coefficients, two more than knots:  at knot k
          c_k = (b_{k-1} + 4 b_k + b_{k+1}) / 6,   a_k = (b_{k-1} - 2 b_k + b_{k+1}) / h^2

    minimise  sum |c(t_i) - x_i|^2 + (T / 2 pi)^8 sum |a''_k|^2     subject to  a_k = A_k  where it is known

The penalty is on the second difference of the acceleration, which is a low-pass filter of gain 1 / (1 + (f T)^8):
half at f = 1 / T. Known accelerations are held by multipliers (augmented Lagrangian: a weight, and a few rounds in
which what is still missing is asked for on top). Everything is banded, so the cost grows with the number of frames.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

ORDER = 2  # of the difference that is penalised. 1 and 3 were tried on a run with force plates: 2 needs T least exactly
MOST_KNOTS = 125.0  # a second: bodies do nothing in 8 ms, and the equations stay well conditioned
_HOLD = 100.0  # the weight of a known acceleration, over that of the penalty
_ROUNDS = 5  # each leaves about a hundredth of what was missing
_BANDS = 2 + ORDER  # off-diagonals of the normal equations


@dataclass(frozen=True, eq=False)
class Path:
    """A fitted path at the frames: place (F, 3) m, acceleration (F, 3) m/s2, and what it cost.

    misfit    m2, sum of the squared distances to the data, by axis (3,)
    penalty   m2, the roughness term, by axis (3,)
    """

    place: np.ndarray
    acceleration: np.ndarray
    misfit: np.ndarray
    penalty: np.ndarray


class FallingFit:
    """Fits of one smoothing to data of one length: matrices are made once.

    frames  how many there are, at least 4
    rate    Hz
    period  T, s, positive: slower motion passes, faster is smoothed away; one for all, or one a frame (F,)
    """

    def __init__(self, frames: int, rate: float, period: float | np.ndarray) -> None:
        from scipy import sparse

        self._every = math.ceil(rate / MOST_KNOTS)  # frames from knot to knot
        knots = -(-(frames - 1) // self._every) + 1
        self._h = self._every / rate
        self._place, self._between = _spline_rows(frames, knots, self._every)
        self._bend = _stencil(knots, 1.0, -2.0, 1.0)
        rough = self._bend
        for _ in range(ORDER):
            rough = rough[1:] - rough[:-1]
        at = np.minimum(np.arange(knots) * self._every, frames - 1)
        here = np.broadcast_to(np.asarray(period, float), (frames,))[at][ORDER // 2 : knots - ORDER // 2]
        # In units of a knot's interval: a h^2 is the second difference of b. Every knot stands for so many frames.
        weight = self._every * (here / (2.0 * np.pi * self._h)) ** (2 * (ORDER + 2))
        self._rough = sparse.diags_array(np.sqrt(weight)) @ rough
        self._most = float(weight.max(initial=1.0))
        self._base = (self._place.T @ self._place + self._rough.T @ self._rough).tocsr()

    def fit(self, x: np.ndarray, known: np.ndarray, acceleration: np.ndarray) -> Path:
        """The path through x (F, 3) m.

        known         (F, 3) bool, where the acceleration of an axis is given
        acceleration  (F, 3) m/s2, what it is there
        """
        straight = np.linspace(x[0], x[-1], len(x))  # fitted about a line: no digits are lost to a long way
        data = x - straight
        b = np.empty((self._base.shape[0], 3))
        for axes in _alike(known):
            held, wanted = self._at_knots(known[:, axes[0]], acceleration[:, axes])
            b[:, axes] = self._solve(self._place.T @ data[:, axes], held, wanted * self._h**2)
        place, bend = self._place @ b, self._bend @ b
        found = np.where(known, acceleration, self._between @ bend / self._h**2)
        penalty = np.sum((self._rough @ b) ** 2, axis=0)
        return Path(place + straight, found, np.sum((place - data) ** 2, axis=0), penalty)

    def _at_knots(self, known: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which knots (K,) have only known frames up to half way to their neighbours, and what is known there."""
        knots = self._bend.shape[0]
        at = np.minimum(np.arange(knots) * self._every, len(known) - 1)
        reach = self._every // 2
        unknown = np.concatenate([[0], np.cumsum(~known)])  # so many before each frame
        held = unknown[np.minimum(at + reach + 1, len(known))] == unknown[np.maximum(at - reach, 0)]
        return held, wanted[at][held]

    def _solve(self, right: np.ndarray, held: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """b (K + 2, n) for the data's right side (K + 2, n), with second differences `wanted` at the knots held."""
        from scipy.linalg import cho_solve_banded, cholesky_banded

        rows = self._bend[held]
        hold = _HOLD * self._most
        matrix = self._base + hold * (rows.T @ rows)
        bands = np.zeros((_BANDS + 1, matrix.shape[0]))
        for k in range(_BANDS + 1):
            bands[k, : matrix.shape[0] - k] = matrix.diagonal(-k)
        factor = (cholesky_banded(bands, lower=True), True)
        missing = np.zeros_like(wanted)
        b = np.zeros_like(right)
        for _ in range(_ROUNDS):
            target = right + hold * (rows.T @ (wanted + missing))
            b = cho_solve_banded(factor, target)
            b = b + cho_solve_banded(factor, target - matrix @ b)  # the digits that the first solution lost
            if not held.any():
                break
            missing = missing + wanted - rows @ b
        return np.asarray(b)


def _spline_rows(frames: int, knots: int, every: int) -> tuple[Any, Any]:
    """From coefficients to places at the frames (F, K + 2), and from values at the knots to linear ones (F, K)."""
    from scipy import sparse

    i = np.arange(frames)
    knot = np.minimum(i // every, max(knots - 2, 0))
    u = i / every - knot
    cubic = np.stack([(1 - u) ** 3, 3 * u**3 - 6 * u**2 + 4, -3 * u**3 + 3 * u**2 + 3 * u + 1, u**3], axis=1) / 6
    columns = np.minimum(knot[:, None] + np.arange(4), knots + 1)
    rows = np.repeat(i[:, None], 4, axis=1)
    place = sparse.csr_array((cubic.ravel(), (rows.ravel(), columns.ravel())), shape=(frames, knots + 2))
    ends = np.minimum(knot[:, None] + np.arange(2), knots - 1)
    linear = np.stack([1 - u, u], axis=1)
    between = sparse.csr_array((linear.ravel(), (rows[:, :2].ravel(), ends.ravel())), shape=(frames, knots))
    return place, between


def _stencil(rows: int, *weights: float) -> Any:
    """A banded matrix (rows, rows + 2) with the same three weights in every row."""
    from scipy import sparse

    diagonals = [np.full(rows, weight) for weight in weights]
    return sparse.diags_array(diagonals, offsets=[0, 1, 2], shape=(rows, rows + 2)).tocsr()


def _alike(known: np.ndarray) -> list[list[int]]:
    """Axes with the same known frames: they share a matrix."""
    groups: list[list[int]] = []
    for axis in range(3):
        same = next((group for group in groups if np.array_equal(known[:, group[0]], known[:, axis])), None)
        if same is None:
            groups.append([axis])
        else:
            same.append(axis)
    return groups

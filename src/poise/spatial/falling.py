"""A smooth path through noisy places that falls freely where it must: a penalised spline with known accelerations.

    x_i   (3,) m, the measured place at frame i, h seconds apart
    c(t)  the path, a cubic spline with a knot a frame: acceleration a(t) is linear between frames and continuous
    b_j   its coefficients, two more than frames:
          c_i = (b_{i-1} + 4 b_i + b_{i+1}) / 6,   a_i = (b_{i-1} - 2 b_i + b_{i+1}) / h^2

    minimise  sum |c_i - x_i|^2 + (T / 2 pi)^8 sum |a''_i|^2     subject to  a_i = A_i  where it is known

The penalty is on the second difference of the acceleration, which is a low-pass filter of gain 1 / (1 + (f T)^8):
half at f = 1 / T. Known accelerations are held by a weight, in frames for all three axes or for the horizontal ones
alone. Everything is banded, so the cost grows with the number of frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

ORDER = 2  # of the difference that is penalised. 1 and 3 were tried on a run with force plates: 2 needs T least exactly
_HOLD = 1e4  # the weight of a known acceleration, over that of the penalty
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
    h       s between them
    period  T, s: slower motion passes, faster is smoothed away; 0 smooths nothing
    """

    def __init__(self, frames: int, h: float, period: float) -> None:
        from scipy import sparse

        def stencil(*weights: float) -> Any:
            rows = [np.full(frames, weight) for weight in weights]
            return sparse.diags_array(rows, offsets=[0, 1, 2], shape=(frames, frames + 2)).tocsr()

        self.h = h
        self._place, self._bend = stencil(1 / 6, 4 / 6, 1 / 6), stencil(1.0, -2.0, 1.0)
        rough = self._bend
        for _ in range(ORDER):
            rough = rough[1:] - rough[:-1]
        # In units of a frame: a h^2 is the second difference of b.
        self._weight = (period / (2.0 * np.pi * h)) ** (2 * (ORDER + 2))
        self._rough = rough
        self._base = (self._place.T @ self._place + self._weight * (rough.T @ rough)).tocsr()

    def fit(self, x: np.ndarray, known: np.ndarray, acceleration: np.ndarray) -> Path:
        """The path through x (F, 3) m.

        known         (F, 3) bool, where the acceleration of an axis is given
        acceleration  (F, 3) m/s2, what it is there
        """
        straight = np.linspace(x[0], x[-1], len(x))  # fitted about a line: no digits are lost to a long way
        data = x - straight
        hold = _HOLD * max(1.0, self._weight)
        b = np.empty((len(x) + 2, 3))
        for axes in _alike(known):
            rows = self._bend[known[:, axes[0]]]
            left = self._base + hold * (rows.T @ rows)
            wanted = acceleration[known[:, axes[0]]][:, axes] * self.h**2
            b[:, axes] = _solve(left, self._place.T @ data[:, axes] + hold * (rows.T @ wanted))
        place, bend = self._place @ b, self._bend @ b
        found = np.where(known, acceleration, bend / self.h**2)
        penalty = self._weight * np.sum((self._rough @ b) ** 2, axis=0)
        return Path(place + straight, found, np.sum((place - data) ** 2, axis=0), penalty)


def _alike(known: np.ndarray) -> list[list[int]]:
    """Axes with the same known frames: they share a matrix."""
    groups: list[list[int]] = []
    for axis in range(3):
        same = next((group for group in groups if np.array_equal(known[:, group[0]], known[:, axis])), None)
        groups.append([axis]) if same is None else same.append(axis)
    return groups


def _solve(matrix: Any, right: np.ndarray) -> np.ndarray:
    """Solve with a symmetric banded matrix, given as a sparse one."""
    from scipy.linalg import solveh_banded

    n = len(right)
    bands = np.zeros((_BANDS + 1, n))
    for k in range(_BANDS + 1):
        bands[k, : n - k] = matrix.diagonal(-k)
    return np.asarray(solveh_banded(bands, right, lower=True, check_finite=False))

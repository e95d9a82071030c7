"""Cubic splines through samples, as coefficients: those of SciPy's `CubicSpline`, bit by bit, in a third of its time.

    s(x) = c_0 (x - x_i)^3 + c_1 (x - x_i)^2 + c_2 (x - x_i) + c_3     for x_i <= x <= x_{i+1}

The slopes m_i at the knots make the second derivative continuous: a tridiagonal system, which a period closes by one
row and one column more (solved by condensation, as SciPy does). A spline that is not periodic has no knot at its second
and last but one sample.
"""

from __future__ import annotations

import numpy as np


def fit_spline(knots: np.ndarray, samples: np.ndarray, periodic: bool) -> np.ndarray:
    """(4, N - 1, K) coefficients, the third power first, of the splines through samples (N, K) at knots (N,).

    periodic  the last sample is the first, and so are slope and curvature there
    """
    if len(knots) <= 4:
        from scipy.interpolate import CubicSpline

        return np.asarray(CubicSpline(knots, samples, bc_type="periodic" if periodic else "not-a-knot").c)
    steps = np.diff(knots)
    column = steps[:, None]
    chords = np.diff(samples, axis=0) / column
    slopes = (_close_slopes if periodic else _find_slopes)(knots, steps, chords)
    c = np.empty((4, len(steps), samples.shape[1]))
    turning = (slopes[:-1] + slopes[1:] - 2 * chords) / column
    np.divide(turning, column, out=c[0])
    np.subtract((chords - slopes[:-1]) / column, turning, out=c[1])
    c[2], c[3] = slopes[:-1], samples[:-1]
    return c


def _find_slopes(knots: np.ndarray, steps: np.ndarray, chords: np.ndarray) -> np.ndarray:
    """(N, K) slopes at the knots where no third derivative jumps at the second and last but one."""
    column = steps[:, None]
    right = np.empty((len(knots), chords.shape[1]))
    right[1:-1] = 3 * (column[1:] * chords[:-1] + column[:-1] * chords[1:])
    first, last = knots[2] - knots[0], knots[-1] - knots[-3]
    right[0] = ((column[0] + 2 * first) * column[1] * chords[0] + column[0] ** 2 * chords[1]) / first
    right[-1] = (column[-1] ** 2 * chords[-2] + (2 * last + column[-1]) * column[-2] * chords[-1]) / last
    middle = np.concatenate([steps[1:2], 2 * (steps[:-1] + steps[1:]), steps[-2:-1]])
    below, above = np.append(steps[1:], last), np.append(first, steps[:-1])
    return _solve(below, middle, above, right)


def _close_slopes(knots: np.ndarray, steps: np.ndarray, chords: np.ndarray) -> np.ndarray:
    """(N, K) slopes at the knots of a curve that repeats; the last are the first."""
    column = steps[:, None]
    right = np.empty((len(knots) - 1, chords.shape[1]))
    right[1:] = 3 * (column[1:] * chords[:-1] + column[:-1] * chords[1:])
    right[0] = 3 * (column[0] * chords[-1] + column[-1] * chords[0])
    right[-1] = 3 * (column[-1] * chords[-2] + column[-2] * chords[-1])
    # All but the last unknown, for what is known and for a last slope of one.
    middle = np.concatenate([2 * (steps[-1:] + steps[:1]), 2 * (steps[:-1] + steps[1:])])[:-1]
    below, above = steps[1:-1], np.append(steps[-1:], steps[:-3])
    unit = np.zeros((len(right) - 1, 1))
    unit[0], unit[-1] = -steps[0], -steps[-3]
    known, per_unit = _solve(below, middle, above, right[:-1]), _solve(below, middle, above, unit)
    last = (right[-1] - steps[-2] * known[0] - steps[-1] * known[-1]) / (
        2 * (steps[-1] + steps[-2]) + steps[-2] * per_unit[0] + steps[-1] * per_unit[-1]
    )
    slopes = np.empty((len(knots), chords.shape[1]))
    slopes[:-2], slopes[-2] = known + last * per_unit, last
    slopes[-1] = slopes[0]
    return slopes


def _solve(below: np.ndarray, middle: np.ndarray, above: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solutions (n, K) of a tridiagonal system."""
    from scipy.linalg.lapack import dgtsv

    return np.asarray(dgtsv(below, middle, above, right)[3])

"""The least of a quadratic function within ranges and rows: what is the least says so itself (Karush, Kuhn, Tucker)."""

from __future__ import annotations

import numpy as np
import pytest

from poise.ik.solver.quadratic_kernels import MOST, NOT, ZERO, factor, solve_quadratic
from poise.ik.solver.records import QuadraticProblem


@pytest.mark.parametrize("seed", range(40))
def test_the_least_is_the_least(seed: int) -> None:
    """Flat and steep functions, ranges that are nothing, rows that are others' doubles."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 40)), int(rng.integers(0, 12))
    root = rng.normal(size=(n, n)) * np.exp(rng.uniform(-4.0, 1.0, size=n))
    H, g = root @ root.T + 1e-4 * np.eye(n), rng.normal(size=n)
    A, kinds = rng.normal(size=(m, n)), rng.choice([NOT, ZERO, MOST], p=[0.2, 0.3, 0.5], size=m)
    t = rng.choice([0.0, 0.1], size=m)
    if m > 3:
        A[1], A[2] = 2.0 * A[0], 0.0
    low, high = -rng.choice([0.0, 0.05, 0.5], size=n), rng.choice([0.0, 0.05, 0.5], size=n)
    problem = QuadraticProblem(rows=m, dofs=n, lines=n + m, g=g, A=A, kind=kinds, bound=t, low=low, high=high)
    assert factor(H.copy(), problem.W)
    solve_quadratic(problem)
    d, pulls, stops = problem.step, problem.multiplier, problem.range_multiplier
    left = A @ d
    assert np.all((d >= low) & (d <= high))
    np.testing.assert_allclose(left[kinds == ZERO], 0.0, atol=1e-8)
    assert np.all(left[kinds == MOST] <= t[kinds == MOST] + 1e-8)
    # H d + g + A^T pulls = stops, each multiplier of the right sign and only where its row holds
    size = np.abs(g).max() + np.abs(pulls).max(initial=0.0)
    np.testing.assert_allclose(H @ d + g + A.T @ pulls, stops, atol=1e-7 * size)
    assert not pulls[kinds == NOT].any() and np.all(pulls[kinds == MOST] >= -1e-9 * size)
    np.testing.assert_allclose((pulls * (left - t))[kinds == MOST], 0.0, atol=1e-8 * size)
    at_low, at_high = d < low + 1e-9, d > high - 1e-9
    assert not stops[~at_low & ~at_high].any()
    assert np.all(stops[at_low & ~at_high] >= -1e-9 * size) and np.all(stops[at_high & ~at_low] <= 1e-9 * size)


def test_what_is_not_convex_is_told() -> None:
    assert not factor(np.diag([1.0, -1e-3]), np.empty((2, 2)))
    assert not factor(np.array([[1.0, 0.0], [2.0, 1.0]]), np.empty((2, 2)))

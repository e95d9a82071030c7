"""Accelerations within torque ranges: the conditions of the nearest one, goals by another solver, and bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers.qp_problems import KINDS, Problem, draw, draw_inertia
from oracles.limiting import find_breach, solve_damped, solve_levels
from oracles.paper_limiting import limit_as_the_paper
from poise import InputError
from poise.dynamics.qp.limited import DAMPING, LimitedAccelerations, limit_accelerations
from poise.dynamics.qp.priority_kernels import solve_prioritized
from poise.dynamics.qp.problem import CLIPPED, OUT, make_problem, make_solution, make_workspace
from poise.dynamics.qp.range_kernels import clip_torques


def solve(problem: Problem, **options: Any) -> LimitedAccelerations:
    return limit_accelerations(**problem._asdict(), **options)


def solve_as_the_paper(problem: Problem) -> LimitedAccelerations:
    return limit_as_the_paper(*problem)


Way = Callable[[Problem], LimitedAccelerations]
WAYS: tuple[Way, ...] = (solve, solve_as_the_paper)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_nearest(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(20):
        problem = draw(kind, rng)._replace(goals=())
        found = solve(problem)
        out, wrong = find_breach(*problem[:5], found.acceleration, problem.weights)
        assert out < 1e-9
        assert wrong < 1e-6
        assert found.is_within and not found.is_clipped
        np.testing.assert_allclose(found.torque, problem.H @ found.acceleration + problem.b, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", ["body", "weak body", "plain", "nonsymmetric", "many", "tiny", "one"])
def test_goals_are_reached_as_the_text_says(kind: str) -> None:
    """Damped levels, one after the other, by least distances and NNLS."""
    rng = np.random.default_rng(7)
    for _ in range(8):
        problem = draw(kind, rng)
        found = solve(problem)
        x = solve_damped(*problem, DAMPING)
        np.testing.assert_allclose(found.acceleration, x, atol=1e-6 * np.abs(x).max())
        for (A, y), residual in zip(problem.goals, found.residuals, strict=True):
            np.testing.assert_allclose(residual, A @ found.acceleration - y, atol=1e-9 * np.abs(x).max())
        assert found.is_within and not found.is_clipped


@pytest.mark.parametrize("kind", ["tiny", "equal", "plain"])
def test_rounding_of_the_input_changes_nothing_and_no_search_cycles(kind: str) -> None:
    """Rounding decided whether a search went in circles until its rounds were spent, with x off by 4e-4."""
    rng, circles, off = np.random.default_rng(7), 0, 0.0
    for _ in range(30):
        problem = draw(kind, rng)
        rounded = [
            problem._replace(H=problem.H * (1.0 + 1e-16 * rng.integers(-2, 3, problem.H.shape))) for _ in range(20)
        ]
        found = [solve(each) for each in rounded]
        most = 20 * (len(problem.b) + sum(len(y) for _, y in problem.goals)) + 100  # of one level
        circles += sum(each.rounds >= most for each in found)
        x = np.array([each.acceleration for each in found])
        off = max(off, float(np.abs(x - x[0]).max() / np.abs(x).max()))
    assert circles == 0
    assert off < 1e-6


@pytest.mark.parametrize("kind", ["plain", "nonsymmetric", "many"])
def test_goals_are_the_lexicographic_optimum(kind: str) -> None:
    """Where no goal is nearly singular, damping leaves nothing to be seen: rows twice, conflicting and zero."""
    rng = np.random.default_rng(8)
    for _ in range(10):
        problem = draw(kind, rng)
        found = solve(problem)
        for (A, y), level in zip(problem.goals, solve_levels(*problem), strict=True):
            size = np.abs([A @ problem.target, level, y]).max(initial=0.0)
            np.testing.assert_allclose(A @ found.acceleration, level, atol=1e-4 * size)


def test_a_later_level_changes_no_earlier_one() -> None:
    rng = np.random.default_rng(9)
    for kind in ("body", "weak body", "plain", "many"):
        for _ in range(5):
            problem = draw(kind, rng)
            before = solve(problem._replace(goals=problem.goals[:1])).residuals[0]
            after = solve(problem).residuals[0]
            A, y = problem.goals[0]
            np.testing.assert_allclose(after, before, atol=1e-5 * np.abs(A @ problem.target - y).max(initial=0.0))


def draw_arm(elbow: float) -> Problem:
    """A planar arm of two links of 0.3 m along x whose hand should go along x: it cannot where the arm is straight."""
    a, c = 0.3 * np.array([np.sin(0.0), np.sin(elbow)]), 0.3 * np.array([1.0, np.cos(elbow)])
    J = np.array([[-a[0] - a[1], -a[1]], [c[0] + c[1], c[1]]])
    H = np.array([[0.3 + 0.1 * np.cos(elbow), 0.1 + 0.05 * np.cos(elbow)], [0.1 + 0.05 * np.cos(elbow), 0.1]])
    goals = ((J, np.array([-5.0, 0.0])),)
    return Problem(H, np.zeros(2), np.full(2, -30.0), np.full(2, 30.0), np.zeros(2), goals, np.ones(2))


def test_nothing_jumps_as_an_arm_passes_straight() -> None:
    """Its elbow goes from -0.2 to 0.2 rad by a milliradian a step, and 5 m/s2 are asked for.

    x changes by less than `PASSES` |y| / l^2 times the change of the row, 0.3 m; without damping, it jumps between the
    ends of the torques.
    """
    angles = np.linspace(-0.2, 0.2, 401)

    def largest_jump(damping: float) -> float:
        x = np.array([solve(draw_arm(angle), damping=damping).acceleration for angle in angles])
        return float(np.abs(np.diff(x, axis=0)).max())

    for damping in (0.01, 0.03):
        assert largest_jump(damping) < 3.0 * 5.0 / damping**2 * 0.3e-3
    assert largest_jump(1e-7) > 500.0


@pytest.mark.parametrize("size", [1e-3, 0.1, 0.5, 1.0, 2.0, 4.0])
def test_a_row_that_fades_away_lets_go_gently(size: float) -> None:
    """A first level that wants nothing to change along one axis, however small its row, and a second that does.

    The row holds where its size is several times the damping, and lets go below half of it: springs of the text.
    """
    H, zero = np.eye(2), np.zeros(2)
    goals = ((np.array([[0.01 * size, 0.0]]), 0.0), (np.array([[1.0, 0.0]]), np.array([1.0])))
    x = limit_accelerations(H, zero, zero - 9.0, zero + 9.0, zero, goals, damping=0.01).acceleration[0]
    spring = min(size**2 * np.exp(18.0 * (size - 1.0)), 1e14)
    # three passes of   least spring x^2 + (x - 1)^2 / l^2 + (x - x_before)^2,   then   least pull x^2 + ...  kept at x
    reached = 0.0
    for _ in range(3):
        reached = (1e4 + reached) / (1e4 + 1.0 + spring)
    assert x == pytest.approx(reached, abs=1e-8)


@pytest.mark.parametrize("way", WAYS)
def test_a_freedom_without_inertia(way: Way) -> None:
    """Its torque is what it is: in range, all goes on; out of it, that is said, and others are kept in theirs."""
    rng = np.random.default_rng(4)
    problem = draw("plain", rng)
    H = problem.H.copy()
    H[1] = H[:, 1] = 0.0
    held = problem._replace(H=H, b=np.where(np.arange(len(H)) == 1, 0.5 * (problem.low + problem.high), problem.b))
    found = way(held)
    assert found.is_within
    off = held._replace(b=np.where(np.arange(len(H)) == 1, problem.high + 1.0, problem.b))
    found = way(off)
    assert not found.is_within
    others = np.arange(len(H)) != 1
    t = (off.H @ found.acceleration + off.b)[others]
    slip = 1e-8 * (off.high - off.low)[others]
    assert np.all(t >= off.low[others] - slip) and np.all(t <= off.high[others] + slip)


def test_two_hundred_freedoms() -> None:
    rng = np.random.default_rng(5)
    H = draw_inertia(200, 1e4, rng)
    low, high, target = -np.linalg.norm(H, axis=1), np.linalg.norm(H, axis=1), 3.0 * rng.normal(size=200)
    found = limit_accelerations(H, np.zeros(200), low, high, target)
    out, wrong = find_breach(H, np.zeros(200), low, high, target, found.acceleration)
    assert out < 1e-9 and wrong < 1e-6 and np.count_nonzero(found.at_bound) > 20


def test_torques_out_of_range_are_clipped_and_x_follows_from_them() -> None:
    rng = np.random.default_rng(6)
    problem = draw("nonsymmetric", rng)
    n = len(problem.b)
    x = 50.0 * problem.target
    t = problem.H @ x + problem.b
    nothing = np.zeros((0, n)), np.zeros(0), np.zeros(0, np.int64)
    posed = make_problem(problem[:4], problem.target, problem.weights, nothing, 0.01)
    assert clip_torques(make_workspace(n, n, 0), posed, x) == CLIPPED
    np.testing.assert_allclose(problem.H @ x + problem.b, np.clip(t, problem.low, problem.high), atol=1e-9)


def test_the_kernel_returns_from_numbers_that_are_not_finite() -> None:
    """Compiled code calls it without a check: it reports that torques are out of range."""
    for bad in (np.nan, np.inf):
        for where in range(5):
            problem = draw("plain", np.random.default_rng(1))
            arrays = [a.copy() for a in problem[:5]]
            arrays[where].flat[0] = bad
            n = len(problem.b)
            *bounds, target = arrays
            goals = np.ones((1, n)), np.ones(1), np.zeros(1, np.int64)
            solution = make_solution(n, n, 1)
            posed = make_problem(tuple(bounds), target, problem.weights, goals, 0.01)
            solve_prioritized(posed, make_workspace(n, n, 1), solution)
            assert solution.status == OUT or np.all(np.isfinite(solution.x))


@pytest.mark.parametrize("kind", ["plain", "many", "body"])
def test_the_paper_s_way_is_never_nearer(kind: str) -> None:
    rng = np.random.default_rng(12)
    for _ in range(10):
        problem = draw(kind, rng)._replace(goals=())
        far = [np.sum(problem.weights * (way(problem).acceleration - problem.target) ** 2) for way in WAYS]
        assert far[0] <= far[1] * (1.0 + 1e-9)


def test_wanted_accelerations_in_range_stay() -> None:
    problem = draw("plain", np.random.default_rng(0))._replace(goals=())
    t = problem.H @ problem.target + problem.b
    found = solve(problem._replace(low=t - 1.0, high=t + 1.0))
    np.testing.assert_array_equal(found.acceleration, problem.target)
    assert not found.at_bound.any() and found.rounds == 0


@pytest.mark.parametrize("way", WAYS)
def test_no_way_leaves_the_ranges(way: Way) -> None:
    rng = np.random.default_rng(11)
    for kind in ("body", "plain", "nonsymmetric", "many", "all"):
        for _ in range(5):
            problem = draw(kind, rng)
            found = way(problem)
            t = problem.H @ found.acceleration + problem.b
            slip = 1e-9 * (problem.high - problem.low) + 1e-12 * np.abs(problem.b)
            assert np.all(t >= problem.low - slip) and np.all(t <= problem.high + slip)


def test_at_bound_says_which() -> None:
    found = limit_accelerations(np.eye(3), np.zeros(3), -np.ones(3), np.ones(3), np.array([5.0, -5.0, 0.5]))
    np.testing.assert_array_equal(found.at_bound, [1, -1, 0])
    assert found.at_bound.dtype == np.int8
    np.testing.assert_allclose(found.acceleration, [1.0, -1.0, 0.5], atol=1e-15)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"low": np.ones(3), "high": np.zeros(3)}, "low must be at most high"),
        ({"H": np.eye(2)}, "shape"),
        ({"b": np.array([0.0, np.nan, 0.0])}, "finite"),
        ({"b": "abc"}, "array of numbers"),
        ({"weights": np.zeros(3)}, "positive"),
        ({"damping": 0.0}, "damping"),
        ({"goals": [(np.eye(2), 0.0)]}, "shape"),
        ({"goals": [(np.eye(3), np.zeros(2))]}, "shape"),
    ],
)
def test_bad_input_is_refused(change: dict[str, Any], word: str) -> None:
    given = {"H": np.eye(3), "b": np.zeros(3), "low": -np.ones(3), "high": np.ones(3), "target": np.zeros(3)}
    with pytest.raises(InputError, match=word):
        limit_accelerations(**{**given, **change})

"""The soles' hull and how their corners share a load, against SciPy and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.spatial import ConvexHull

from poise.drivers.balance.support_kernels import clamp_to_hull, find_hull, hull_margin, share_feet, share_load
from poise.drivers.strength.kernels import draw_to_hull


def hull_of(points: np.ndarray) -> np.ndarray:
    hull = np.full((len(points) + 1, 2), np.nan)
    size = find_hull(np.ascontiguousarray(points), len(points), hull)
    return hull[:size]


def soles(rng: np.random.Generator) -> np.ndarray:
    """(8, 2) corners of two feet, turned and placed as feet are; or anyhow."""
    if rng.random() < 0.3:
        return rng.standard_normal((8, 2))
    box = np.array([[-0.05, -0.08], [0.05, -0.08], [0.05, 0.19], [-0.05, 0.19]])
    points = []
    for side in (1.0, -1.0):
        a = side * rng.uniform(-0.1, 0.5)
        turn = np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])
        points.append(box @ turn.T + [side * rng.uniform(0.08, 0.3), rng.uniform(-0.3, 0.3)])
    return np.concatenate(points)


@pytest.mark.parametrize("seed", range(20))
def test_the_hull_is_scipys_counter_clockwise(seed: int) -> None:
    points = soles(np.random.default_rng(seed))
    got, wanted = hull_of(points), points[ConvexHull(points).vertices]
    start = int(np.argmin(np.linalg.norm(wanted - got[0], axis=1)))
    np.testing.assert_array_equal(got, np.roll(wanted, -start, axis=0))


def test_hulls_of_next_to_nothing() -> None:
    """One point, two, points on a line, points twice: no corner is invented and nothing divides by zero."""
    assert len(hull_of(np.array([[1.0, 2.0]]))) == 1
    assert len(hull_of(np.array([[1.0, 2.0], [3.0, 4.0]]))) == 2
    line = np.outer(np.array([0.3, 0.0, 1.0, 0.6]), [1.0, 2.0])
    assert {tuple(corner) for corner in hull_of(line)} == {(0.0, 0.0), (1.0, 2.0)}
    assert clamp_to_hull(hull_of(line), 2, 0.5, 1.0) == pytest.approx((0.5, 1.0))
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    assert len(hull_of(np.concatenate([square, square, [[0.5, 0.0]]]))) == 4
    same = np.ones((4, 2))
    assert clamp_to_hull(hull_of(same), len(hull_of(same)), 4.0, 5.0) == (1.0, 1.0)
    assert hull_margin(hull_of(same), len(hull_of(same)), 4.0, 5.0) == pytest.approx(-5.0)


@pytest.mark.parametrize("seed", range(10))
def test_clamping_finds_the_nearest_point(seed: int) -> None:
    rng = np.random.default_rng(seed)
    hull = hull_of(soles(rng))
    # all points of the edges, finely
    s = np.linspace(0.0, 1.0, 4001)[:, None]
    edges = np.concatenate([a + s * (b - a) for a, b in zip(hull, np.roll(hull, -1, axis=0), strict=True)])
    normals = np.roll(hull, -1, axis=0) - hull
    for x, y in rng.uniform(-0.8, 0.8, (20, 2)):
        sides = normals[:, 0] * (y - hull[:, 1]) - normals[:, 1] * (x - hull[:, 0])
        distance = float(np.linalg.norm(edges - [x, y], axis=1).min())
        got = np.array(clamp_to_hull(hull, len(hull), x, y))
        margin = hull_margin(hull, len(hull), x, y)
        if np.all(sides >= 0.0):
            assert tuple(got) == (x, y)
            assert margin == pytest.approx(distance, abs=1e-6)
        else:
            assert np.linalg.norm(got - [x, y]) == pytest.approx(distance, abs=1e-6)
            assert np.linalg.norm(edges - got, axis=1).min() < 1e-3
            assert margin == pytest.approx(-distance, abs=1e-6)


def evenest(points: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The least squares of shares that are not negative and have sum 1 and centre `at`: NNLS with heavy equations."""
    heavy = 1e5
    scale = np.abs(points - points.mean(axis=0)).max()
    centred = (points - at) / scale
    A = np.vstack([np.eye(len(points)), heavy * np.ones(len(points)), heavy * centred.T])
    return nnls(A, np.concatenate([np.zeros(len(points)), [heavy, 0.0, 0.0]]), maxiter=1000)[0]


@pytest.mark.parametrize("seed", range(60))
def test_the_load_is_shared_as_evenly_as_can_be(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = soles(rng)[: int(rng.integers(3, 9))]
    points = np.ascontiguousarray(points)
    weights = rng.dirichlet(np.full(len(points), rng.choice([0.15, 1.0, 5.0])))
    at = weights @ points
    # stay off the very edge, as balance does
    at = points.mean(axis=0) + 0.95 * (at - points.mean(axis=0))
    out = np.full(len(points), np.nan)
    share_load(points, len(points), 700.0, at[0], at[1], out)
    assert np.all(out >= 0.0)
    assert out.sum() == pytest.approx(700.0)
    np.testing.assert_allclose(out @ points / 700.0, at, atol=1e-8)
    np.testing.assert_allclose(out, 700.0 * evenest(points, at), atol=0.1)


def test_it_finds_the_pressure_centre_whatever_corners_are_left() -> None:
    """Five to seven corners near an edge: plain Newton goes round in circles in one case of a thousand."""
    for seed in range(4000):
        rng = np.random.default_rng(seed)
        points = np.ascontiguousarray(soles(rng)[: int(rng.integers(3, 9))])
        middle = points.mean(axis=0)
        at = middle + 0.92 * (rng.dirichlet(np.full(len(points), rng.choice([0.15, 1.0, 5.0]))) @ points - middle)
        out = np.empty(len(points))
        share_load(points, len(points), 1.0, at[0], at[1], out)
        assert np.linalg.norm(out @ points - at) < 1e-6


def test_a_load_in_the_middle_is_shared_alike_and_over_one_corner_is_its_own() -> None:
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    out = np.empty(4)
    share_load(square, 4, 8.0, 0.5, 0.5, out)
    np.testing.assert_allclose(out, 2.0)
    share_load(square, 4, 8.0, 1.0, 1.0, out)
    np.testing.assert_allclose(out, [0.0, 0.0, 8.0, 0.0], atol=1e-4)
    share_load(square, 4, 8.0, 0.5, 0.0, out)
    np.testing.assert_allclose(out, [4.0, 4.0, 0.0, 0.0], atol=1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_feet_share_a_load_and_are_pressed_within_their_soles(seed: int) -> None:
    """The lighter foot nearer to its middle than the heavier; force and pressure centre are the same as ever."""
    rng = np.random.default_rng(seed)
    spots, middles, axes = np.zeros((8, 3)), np.zeros((2, 2)), []
    for side in range(2):
        angle, half = rng.uniform(-0.4, 0.4), np.array([0.12, 0.045]) * rng.uniform(0.5, 1.5)
        along = np.array([np.sin(angle), np.cos(angle)])
        across = np.array([along[1], -along[0]])
        middles[side] = [0.1 - 0.2 * side, rng.uniform(-0.05, 0.05)]
        axes.append((along / half[0], across / half[1]))
        signs = [(-1, -1), (1, -1), (-1, 1), (1, 1)]
        spots[4 * side : 4 * side + 4, [0, 2]] = [middles[side] + a * half[0] * along + b * half[1] * across
                                                  for a, b in signs]  # fmt: skip
    t = rng.uniform(0.2, 0.8)
    line = (middles[1] - middles[0]) / np.linalg.norm(middles[1] - middles[0])
    at = (1.0 - t) * middles[0] + t * middles[1] + rng.uniform(-0.02, 0.02) * np.array([-line[1], line[0]])
    out = np.full(8, np.nan)
    assert share_feet(spots, 700.0, at[0], at[1], out) == 1.0
    assert np.all(out >= 0.0) and out.sum() == pytest.approx(700.0)
    np.testing.assert_allclose(out @ spots[:, [0, 2]] / 700.0, at, atol=1e-12)
    carried = out.reshape(2, 4).sum(axis=1)
    np.testing.assert_allclose(carried, [700.0 * (1.0 - t), 700.0 * t], rtol=1e-9)
    off = [np.linalg.norm(out[4 * k : 4 * k + 4] @ spots[4 * k : 4 * k + 4, [0, 2]] / carried[k] - middles[k])
           for k in range(2)]  # fmt: skip
    assert off[int(t < 0.5)] <= off[int(t >= 0.5)] + 1e-12
    # beyond the soles nothing of it is to be followed
    assert share_feet(spots, 700.0, at[0], at[1] + 1.0, out) == 0.0


@pytest.mark.parametrize("seed", range(40))
def test_no_corner_is_lost_where_points_are_nearly_on_a_line(seed: int) -> None:
    """A grid of a sole, corners that are nearly the same, points that are nearly on a line; noise of 1e-16 to 1e-6."""
    rng = np.random.default_rng(seed)
    for _ in range(50):
        grid = rng.integers(0, 4, (rng.integers(4, 13), 2)) * 0.1
        a = rng.uniform(0.0, 6.3) if rng.random() < 0.5 else 0.0
        turn = np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])
        points = grid @ turn.T + rng.normal(0.0, 10.0 ** rng.uniform(-16.0, -6.0), grid.shape)
        if np.linalg.matrix_rank(points - points.mean(axis=0), tol=1e-3) < 2:
            continue
        wanted, got = ConvexHull(points), ConvexHull(hull_of(points))
        assert abs(wanted.volume - got.volume) < 1e-9
        outside = got.equations[:, :2] @ points.T + got.equations[:, 2:]
        assert outside.max() < 1e-9
        corners = hull_of(points)
        area = np.cross(np.pad(corners, ((0, 0), (0, 1))), np.pad(np.roll(corners, -1, axis=0), ((0, 0), (0, 1))))
        assert 0.5 * area[:, 2].sum() == pytest.approx(wanted.volume, abs=1e-9)  # in order, none twice


def test_pressure_outside_the_soles_keeps_its_direction_from_the_capture_point() -> None:
    hull = np.array([[-0.15, -0.08], [0.15, -0.08], [0.15, 0.18], [-0.15, 0.18]])
    rng = np.random.default_rng(0)
    for _ in range(200):
        inside = rng.uniform([-0.14, -0.07], [0.14, 0.17])
        wanted = rng.normal(inside, 0.3)
        found = np.array(draw_to_hull(hull, 4, *inside, *wanted))
        way, went = wanted - inside, found - inside
        assert way[0] * went[1] == pytest.approx(way[1] * went[0], abs=1e-12)
        assert hull_margin(hull, 4, *wanted) >= 0.0 or abs(hull_margin(hull, 4, *found)) < 1e-12
        assert way @ went >= 0.0
    assert draw_to_hull(hull, 4, 0.3, 0.0, 0.5, 0.1) == clamp_to_hull(hull, 4, 0.5, 0.1)

"""The smoothest path over what carries: regions, splines, and the optimum against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import BSpline
from scipy.optimize import minimize

from helpers.kinematics import margin_in_hull
from poise.walking.center_of_mass import Regions, SplinePath, begin_at, build_regions, plan_center, plan_height
from poise.walking.footholds.region_kernels import MOST, clamp_to_region, find_region
from poise.walking.steps import KNOT


def test_regions_are_hulls_drawn_in() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        points, room = rng.normal(size=(8, 2)), np.zeros((MOST, 2))
        size = find_region(points, 8, 0.05, room)
        deep = [margin_in_hull(points, corner) for corner in room[:size]]
        np.testing.assert_allclose(deep, 0.05, atol=1e-9)
        # nothing that is 0.05 inside is left out
        for _ in range(20):
            place = rng.normal(size=2)
            x, y = clamp_to_region(room, size, *place)
            if margin_in_hull(points, place) > 0.05 + 1e-9:
                assert (x, y) == tuple(place)
            near = min(
                minimize(
                    lambda u, a=room[i], b=room[(i + 1) % size], p=place: float(np.sum((a + u[0] * (b - a) - p) ** 2)),
                    [0.5], bounds=[(0.0, 1.0)],
                ).fun
                for i in range(size)
            ) if margin_in_hull(points, place) < 0.05 else 0.0  # fmt: skip
            assert np.hypot(x - place[0], y - place[1]) == pytest.approx(np.sqrt(near), abs=1e-4)


def test_narrow_regions_keep_half_their_depth() -> None:
    room = np.zeros((MOST, 2))
    size = find_region(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.02], [0.0, 0.02]]), 4, 0.5, room)
    assert size >= 3 and room[:size, 1].min() > 0.004 and room[:size, 1].max() < 0.016


def test_a_spline_is_scipys_and_begins_as_told() -> None:
    rng = np.random.default_rng(1)
    state = rng.normal(size=(3, 2))
    path = SplinePath(2.0, np.concatenate([begin_at(state), rng.normal(size=(7, 2))]))
    np.testing.assert_allclose(path.at(2.0), state, atol=1e-9)
    count = len(path.controls)
    spline = BSpline(2.0 + KNOT * (np.arange(count + 4) - 3.0), path.controls, 3)
    for t in np.linspace(2.0, path.end - 1e-9, 13):
        np.testing.assert_allclose(path.at(float(t)), [spline(t), spline(t, 1), spline(t, 2)], rtol=1e-9, atol=1e-7)


def square(x: float, z: float, half: float = 0.05) -> np.ndarray:
    return np.array([[x - half, z - half], [x + half, z - half], [x + half, z + half], [x - half, z + half]])


def stepping(count: int = 61, first: int = 20, last: int = 35) -> tuple[Regions, list[np.ndarray]]:
    """From one square to both to the other."""
    corners, middles = [], []
    for i in range(count):
        one, two = square(0.0, 0.0), square(0.12, 0.3)
        corners.append(one if i < first else two if i > last else np.concatenate([one, two]))
        middles.append([0.0, 0.0] if i < first else [0.12, 0.3] if i > last else [0.06, 0.15])
    return build_regions(corners, middles, 0.01), corners


def test_the_path_is_inside_and_so_is_its_pressure() -> None:
    regions, corners = stepping()
    path, out, _ = plan_center(0.0, np.zeros((3, 2)), regions, regions, 0.1)
    assert out < 5e-4
    for i, points in enumerate(corners):
        place, _, bend = path.at(KNOT * i)
        assert margin_in_hull(points, place) > 0.009
        assert margin_in_hull(points, place - 0.1 * bend) > 0.009
    np.testing.assert_allclose(path.at(path.end)[1:], 0.0, atol=0.02)


def test_what_cannot_be_is_told() -> None:
    """From 0.5 m away at once: no path is inside, and it says by how much it is out."""
    regions, _ = stepping()
    start = np.zeros((3, 2))
    start[0] = 0.5, 0.0
    _, out, _ = plan_center(0.0, start, regions, regions, 0.1)
    assert out > 0.05


@pytest.mark.slow
def test_no_smoother_path_is_inside() -> None:
    """Against SciPy on the same knots: sums of squared jerk agree where only ends of the first axis matter."""
    regions, corners = stepping(32, 8, 23)
    path, _, _ = plan_center(0.0, np.zeros((3, 2)), regions, regions, 0.1)

    def cost(flat: np.ndarray) -> float:
        controls = np.concatenate([path.controls[:3], flat.reshape(-1, 2)])
        return _cost(controls, regions.middles, 0.1)

    def margins(flat: np.ndarray) -> np.ndarray:
        controls = np.concatenate([path.controls[:3], flat.reshape(-1, 2)])
        c = (controls[:-2] + 4 * controls[1:-1] + controls[2:]) / 6
        p = c - 0.1 * (controls[:-2] - 2 * controls[1:-1] + controls[2:]) / KNOT**2
        rows = []
        for i in range(1, len(corners)):
            room = regions.corners[i, : regions.sizes[i]]
            ends = np.roll(room, -1, axis=0) - room
            normals = np.stack([-ends[:, 1], ends[:, 0]], axis=1) / np.linalg.norm(ends, axis=1, keepdims=True)
            rows += [np.sum(normals * (place - room), axis=1) for place in (c[i], p[i])]
        return np.concatenate(rows)

    begin = path.controls[3:].ravel()
    assert margins(begin).min() > -5e-4
    found = minimize(
        cost, begin, method="SLSQP", constraints={"type": "ineq", "fun": lambda x: 1e3 * (margins(x) + 3e-4)},
        options={"maxiter": 60, "ftol": 1e-9},
    )  # fmt: skip
    assert cost(begin) < 1.05 * found.fun + 1e-6


def _cost(controls: np.ndarray, middles: np.ndarray, r: float) -> float:
    """What is least, as `walking/center_of_mass_kernels.py` says."""
    jerk = (controls[3:] - 3 * controls[2:-1] + 3 * controls[1:-2] - controls[:-3]) / KNOT**3
    bend = (controls[:-2] - 2 * controls[1:-1] + controls[2:]) / KNOT**2
    press = (controls[:-2] + 4 * controls[1:-1] + controls[2:]) / 6 - r * bend
    stop = np.sum(((controls[-1] - controls[-3]) / (2 * KNOT)) ** 2) + np.sum(bend[-1] ** 2)
    return float(1e-2 * KNOT * np.sum(jerk**2) + 4.0 * np.sum((press[1:] - middles[1:]) ** 2) + 1e3 * stop)


def test_heights_stay_below() -> None:
    most = 0.95 + 0.03 * np.sin(np.arange(60) / 6.0)
    path = plan_height(0.0, np.array([0.94, 0.0, 0.0]), most)
    heights = np.array([path.at(KNOT * i)[0, 0] for i in range(60)])
    assert (heights - most).max() < 1e-3 and (most - heights)[5:].max() < 0.05

"""The strength paper's supporting ratios, by hand, and what is shared by them."""

from __future__ import annotations

import numpy as np
import pytest

from poise.dynamics.ground_reaction import (
    GroundReaction,
    Soles,
    compute_supporting_ratios,
    split_by_pivot,
    split_by_supporting_ratios,
)

G = np.array([0.0, -9.81, 0.0])
REST = -G  # a_m - g of a body at rest
CENTER = np.array([0.0, 1.0, 0.0])


def ratios(push: object, points: object, **more: object) -> np.ndarray:
    points = np.asarray(points, float)
    contact = more.pop("contact", np.ones(len(points)))
    return compute_supporting_ratios(np.asarray(push, float), CENTER, points, contact, **more)  # type: ignore[arg-type]


def test_over_one_foot_the_formula_says_52_to_48_where_statics_say_100_to_0() -> None:
    """The erratum's words. By hand: cos2 of straight up is 1, of 0.29 m aside and 1 m up 1 / 1.0841."""
    feet = np.array([[0.0, 0.0, 0.0], [0.29, 0.0, 0.0]])
    found = ratios(REST, feet)
    np.testing.assert_allclose(found, np.array([1.0, 1 / 1.0841]) / (1 + 1 / 1.0841), rtol=1e-12)
    np.testing.assert_array_equal(np.round(100 * found), [52, 48])
    force = 700.0 * np.array([0.0, 1.0, 0.0])
    reaction = GroundReaction(force, np.zeros(3), np.zeros(3), np.array(0.0))
    ahead = np.array([0.0, 0.0, 0.1])
    statics = split_by_pivot(reaction, CENTER, Soles(feet, feet - ahead, feet + ahead), np.ones(2))
    np.testing.assert_allclose(statics.share, [1, 0], atol=1e-12)


def test_a_body_that_is_pushed_aside_rests_on_the_side_that_pushes() -> None:
    """By hand, with feet 0.4 m apart under 1 m: (a - g) . l (n . l) / l2, l = (0.2, 1) left of the centre, (-0.2, 1)
    right of it: (0.2 a + 9.81) against (9.81 - 0.2 a). The paper: moving right, the left side takes more."""
    found = ratios([3.0, 9.81, 0.0], [[-0.2, 0, 0], [0.2, 0, 0]])
    np.testing.assert_allclose(found, np.array([9.81 + 0.6, 9.81 - 0.6]) / (2 * 9.81), rtol=1e-12)


def test_a_foot_that_the_push_points_away_from_takes_nothing_and_none_means_flight() -> None:
    feet = [[-0.6, 0.0, 0.0], [0.6, 0.0, 0.0]]
    np.testing.assert_allclose(ratios([30.0, 9.81, 0.0], feet), [1, 0])  # 9.81 - 0.6 * 30 < 0
    np.testing.assert_array_equal(ratios([0.0, -2.0, 0.0], feet), [0, 0])  # falling faster than g
    np.testing.assert_array_equal(ratios(0.0 * REST, feet), [0, 0])
    np.testing.assert_array_equal(ratios(REST, feet, contact=np.zeros(2)), [0, 0])
    # as printed, without gravity, a figure at rest has nothing: the erratum
    np.testing.assert_array_equal(ratios(REST + G, feet), [0, 0])


def test_planes_lean_and_supports_are_many() -> None:
    """Two feet, a hand on a wall that faces +x, and a hand on a table: each by hand."""
    points = np.array([[0.1, 0.0, 0.0], [-0.1, 0.0, 0.0], [-0.5, 1.2, 0.0], [0.3, 0.8, 0.4]])
    normals = np.array([[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    push = np.array([2.0, 9.81, 0.5])
    wanted = []
    for point, normal in zip(points, normals, strict=True):
        away = CENTER - point
        wanted.append(max(0.0, float(push @ away) * float(normal @ away) / float(away @ away)))
    assert wanted[2] == 0.0  # the wall is touched above the centre of mass, and the push goes up
    found = ratios(push, points, normals=normals)
    np.testing.assert_allclose(found, np.array(wanted) / sum(wanted), rtol=1e-12)
    low = points.copy()
    low[2, 1] = 0.7
    assert ratios(push, low, normals=normals)[2] > 0.0


def test_of_a_knee_and_its_foot_the_larger_carries() -> None:
    points = np.array([[0.1, 0, -0.5], [-0.1, 0, -0.5], [0.1, 0, 0.0], [-0.1, 0, 0.3]])
    found = ratios(REST, points, paths=(0, 1, 0, 1))
    assert found[0] == found[1] == 0.0 and found[2] > found[3] > 0.0
    np.testing.assert_allclose(found.sum(), 1.0)
    up = ratios(REST, points, contact=np.array([1.0, 1.0, 0.0, 0.0]), paths=(0, 1, 0, 1))
    np.testing.assert_allclose(up, [0.5, 0.5, 0, 0])


@pytest.mark.parametrize("seed", range(5))
def test_shares_add_up_are_never_negative_and_scale_with_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    center = rng.normal(size=(7, 3))
    points, contact = rng.normal(size=(7, 5, 3)), rng.uniform(size=(7, 5))
    push, normals = rng.normal(size=(7, 3)) * 5, rng.normal(size=(7, 5, 3))
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    found = compute_supporting_ratios(push, center, points, contact, normals)
    assert found.min() >= 0.0
    total = found.sum(axis=-1)
    assert np.all((np.abs(total - 1) < 1e-12) | (total == 0))
    again = compute_supporting_ratios(40 * push, center, points, contact, normals)
    np.testing.assert_allclose(again, found, atol=1e-12)
    one = compute_supporting_ratios(push[2], center[2], points[2], contact[2], normals[2])
    np.testing.assert_allclose(one, found[2], atol=1e-15)


def test_force_is_shared_in_proportion_along_the_net_line() -> None:
    """Three supports at different heights: forces alpha_i F, on the net line where the line meets the support."""
    middle = np.array([[0.2, 0.0, 0.0], [-0.2, 0.0, 0.0], [0.0, 0.5, 0.0]])
    reach = np.array([0.0, 0.0, 0.2])
    soles = Soles(middle, middle - reach, middle + reach)
    force, pressure = np.array([40.0, 800.0, -16.0]), np.array([0.2, 0.0, 0.05])
    reaction = GroundReaction(force, np.cross(pressure, force), pressure, np.array(6.0))
    found = split_by_supporting_ratios(reaction, CENTER, soles, np.array([1.0, 1.0, 1.0]))
    wanted = compute_supporting_ratios(force, CENTER, middle, np.ones(3))
    np.testing.assert_allclose(found.share, wanted)
    np.testing.assert_allclose(found.force, wanted[:, None] * force)
    np.testing.assert_allclose(found.force.sum(axis=0), force)
    np.testing.assert_allclose(found.free_moment, wanted * 6.0)
    np.testing.assert_allclose(found.point[0], pressure)  # it is under the first
    assert found.point[1][0] == pytest.approx(-0.2 + 0.5 * 0.055 / 0.152 * 0.4)  # the inner edge of the second
    # half a metre up the line has gone 0.5 * F / F_y: 25 mm to the left and 10 mm back
    assert found.point[2][2] == pytest.approx(0.04) and found.point[2][1] == pytest.approx(0.5)
    # what hardly pushes is shared by nobody
    faint = GroundReaction(force, force, np.full(3, np.nan), np.array(0.0))
    none = split_by_supporting_ratios(faint, CENTER, soles, np.ones(3))
    assert none.share.max() == 0.0 and np.abs(none.force).max() == 0.0 and np.isfinite(none.point).all()

"""Soles in the world, and their outline seen from above."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from poise.drivers.balance.support_polygon import find_outline
from poise.world.foot_boxes import find_soles_of, place_corners


def test_soles_are_where_their_feet_are() -> None:
    """By matrices and by quaternions, against SciPy."""
    rng = np.random.default_rng(1)
    turns, places, corners = Rotation.random(5, rng=2), rng.standard_normal((5, 3)), rng.standard_normal((2, 4, 3))
    feet = np.array([4, 1])
    wanted = np.stack([places[j] + turns[j].apply(sole) for j, sole in zip(feet, corners, strict=True)])
    np.testing.assert_allclose(find_soles_of(turns.as_matrix(), places, feet, corners), wanted, atol=1e-14)
    quaternions = turns.as_quat(scalar_first=True)
    for side, j in enumerate(feet):
        np.testing.assert_allclose(place_corners(places[j], quaternions[j], corners[side]), wanted[side], atol=1e-14)
    moving = place_corners(places, quaternions, corners[0])
    np.testing.assert_allclose(moving[3], places[3] + turns[3].apply(corners[0]), atol=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_an_outline_is_the_hull_from_above(seed: int) -> None:
    points = np.random.default_rng(seed).standard_normal((2, 4, 3))
    level = points.reshape(-1, 3)[:, [0, 2]]
    hull = ConvexHull(level)
    outline = find_outline(points)
    assert {*map(tuple, outline.corners)} == {*map(tuple, level[hull.vertices])}
    middle = outline.corners.mean(axis=0)
    # SciPy's facets: n . x + d, negative inside.
    inside = -(hull.equations[:, :2] @ middle + hull.equations[:, 2]).max()
    assert outline.find_margin(*middle) == pytest.approx(inside)
    assert outline.clamp(*middle) == tuple(middle)
    assert outline.find_margin(*outline.clamp(9.0, -7.0)) == pytest.approx(0.0, abs=1e-12)
    half = outline.shrink(0.5)
    np.testing.assert_allclose(half.corners, 0.5 * (outline.corners + middle))
    assert half.find_margin(*middle) == pytest.approx(0.5 * inside)

"""Rigid inertia, against clouds of point masses, for which everything is a plain sum."""

import numpy as np
import pytest

from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia, skew

rng = np.random.default_rng(11)


def cloud(n=30):
    return rng.uniform(0.1, 2.0, n), rng.standard_normal((n, 3)) + [0.3, -2.0, 1.0]


def of_cloud(masses, points):
    mass = masses.sum()
    center = masses @ points / mass
    d = points - center
    inertia = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, d, strict=True))
    return RigidInertia(mass, center, inertia)


def test_skew_is_the_cross_product():
    v, w = rng.standard_normal((2, 5, 4, 3))
    np.testing.assert_allclose((skew(v) @ w[..., None])[..., 0], np.cross(v, w), atol=1e-15)


def test_total_of_parts_is_the_whole():
    clouds = [cloud(), cloud(7), cloud(1)]
    whole = of_cloud(np.concatenate([c[0] for c in clouds]), np.concatenate([c[1] for c in clouds]))
    total = RigidInertia.total([RigidInertia.zero(), *(of_cloud(*c) for c in clouds)])
    assert total.mass == pytest.approx(whole.mass)
    np.testing.assert_allclose(total.center, whole.center, atol=1e-13)
    np.testing.assert_allclose(total.inertia, whole.inertia, atol=1e-10)
    assert RigidInertia.total([]).mass == 0.0


def test_moved_is_the_inertia_of_the_moved_points():
    masses, points = cloud()
    turn, shift = rotation.to_matrix(rotation.random(rng)), rng.standard_normal(3)
    moved = of_cloud(masses, points).moved(turn, shift)
    expected = of_cloud(masses, points @ turn.T + shift)
    np.testing.assert_allclose(moved.center, expected.center, atol=1e-13)
    np.testing.assert_allclose(moved.inertia, expected.inertia, atol=1e-10)
    point = rng.standard_normal(3)
    direct = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points - point, strict=True))
    np.testing.assert_allclose(of_cloud(masses, points).about(point), direct, atol=1e-10)


def test_matrix_gives_momentum_and_kinetic_energy():
    # Mix, eq 21, with the cross in its lower left block.
    masses, points = cloud()
    w, v = rng.standard_normal((2, 3))
    velocities = v + np.cross(w, points)
    momentum = of_cloud(masses, points).matrix() @ np.concatenate([w, v])
    np.testing.assert_allclose(momentum[3:], masses @ velocities, atol=1e-10)
    np.testing.assert_allclose(momentum[:3], masses @ np.cross(points, velocities), atol=1e-10)
    energy = 0.5 * masses @ np.sum(velocities**2, axis=1)
    assert 0.5 * momentum @ np.concatenate([w, v]) == pytest.approx(energy)


def test_physical_or_not():
    assert of_cloud(*cloud()).is_physical()
    assert of_cloud(np.ones(2), np.array([[0.0, 0, 0], [0, 1, 0]])).is_physical()  # a thin rod: the limit
    assert not RigidInertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 2.1])).is_physical()
    assert not RigidInertia(-1.0, np.zeros(3), np.eye(3)).is_physical()
    assert RigidInertia.zero().is_physical()
    assert not RigidInertia(0.0, np.zeros(3), np.eye(3)).is_physical()

"""Rotations, against SciPy's and against their own identities. Hard cases: tiny angles, half turns, gimbal lock."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from poise.spatial import rotation
from poise.spatial.inertia import skew

rng = np.random.default_rng(5)
SOME = rotation.random(rng, (6, 7))
ANGLES = [0.0, 1e-12, 1e-5, 0.99e-4, 1.01e-4, 0.3, np.pi - 1e-9, np.pi]


def of(q):
    return Rotation.from_quat(np.asarray(q).reshape(-1, 4), scalar_first=True)


def same_rotation(a, b, tolerance=1e-12):
    assert np.abs(np.abs(np.sum(a * b, axis=-1)) - 1.0).max() < tolerance


def test_product_and_rotation_follow_matrices():
    a, b = SOME, rotation.random(rng, (6, 7))
    v = rng.standard_normal((6, 7, 3))
    product = rotation.to_matrix(a) @ rotation.to_matrix(b)
    np.testing.assert_allclose(rotation.to_matrix(rotation.multiply(a, b)), product, atol=1e-14)
    np.testing.assert_allclose(rotation.rotate(a, v), (rotation.to_matrix(a) @ v[..., None])[..., 0], atol=1e-14)
    np.testing.assert_allclose(rotation.to_matrix(a).reshape(-1, 3, 3), of(a).as_matrix(), atol=1e-14)
    same_rotation(rotation.multiply(a, rotation.conjugate(a)), rotation.identity((6, 7)))


def test_matrix_round_trip_with_half_turns():
    halves = rotation.from_axis_angle(np.vstack([np.eye(3), rng.standard_normal((20, 3))]), np.full(23, np.pi))
    q = np.concatenate([SOME.reshape(-1, 4), halves])
    back = rotation.from_matrix(rotation.to_matrix(q))
    same_rotation(back, q)
    assert (back[:, 0] >= 0).all()


@pytest.mark.parametrize("angle", ANGLES)
def test_exponential_is_that_of_the_skew_matrix(angle):
    axis = np.array([2.0, -1.0, 0.5]) / np.linalg.norm([2.0, -1.0, 0.5])
    q = rotation.exp(angle * axis)
    np.testing.assert_allclose(rotation.to_matrix(q), expm(skew(angle * axis)), atol=1e-13)
    np.testing.assert_allclose(np.abs(rotation.log(q) @ axis), angle, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(rotation.exp(rotation.log(-q)), q if q[0] >= 0 else -q, atol=1e-14)


def test_logarithm_takes_the_shorter_way():
    np.testing.assert_allclose(rotation.log(SOME).reshape(-1, 3), of(SOME).as_rotvec(), atol=1e-12)
    assert np.linalg.norm(rotation.log(-SOME), axis=-1).max() <= np.pi + 1e-12


def test_slerp_has_constant_speed_and_hits_its_ends():
    a, b = rotation.random(rng, (9,)), rotation.random(rng, (9,))
    total = rotation.angle(a, b)
    assert total.max() <= np.pi
    for u in (0.0, 0.25, 0.7, 1.0):
        middle = rotation.slerp(a, b, np.full(9, u))
        np.testing.assert_allclose(rotation.angle(a, middle), u * total, atol=1e-7)
    same_rotation(rotation.slerp(a, -b, np.ones(9)), b)


def test_between_turns_one_direction_into_the_other():
    u = np.vstack([rng.standard_normal((20, 3)), np.eye(3), np.eye(3)])
    v = np.vstack([rng.standard_normal((20, 3)), -np.eye(3), np.eye(3)])
    unit = lambda w: w / np.linalg.norm(w, axis=-1, keepdims=True)  # noqa: E731
    np.testing.assert_allclose(rotation.rotate(rotation.between(u, v), unit(u)), unit(v), atol=1e-12)


@pytest.mark.parametrize("order", ["".join(p) for p in itertools.permutations("XYZ")])
def test_euler_angles_agree_with_scipy(order):
    locked = np.array([[0.4, np.pi / 2, -0.9], [2.0, -np.pi / 2, 1.0], [0.1, np.pi / 2 - 1e-12, 0.2]])
    for angles in (rng.uniform(-np.pi, np.pi, (40, 3)), locked):
        np.testing.assert_allclose(
            rotation.to_matrix(rotation.from_euler(angles, order)),
            Rotation.from_euler(order, angles).as_matrix(),
            atol=1e-12,
        )


@given(st.integers(0, 2**32 - 1))
def test_continuity_undoes_any_flips(seed):
    r = np.random.default_rng(seed)
    steps = rotation.exp(0.3 * r.standard_normal((50, 3, 3)))
    q = np.empty((50, 3, 4))
    q[0] = rotation.random(r, (3,))
    for i in range(1, 50):
        q[i] = rotation.multiply(q[i - 1], steps[i])
    flipped = q * r.choice([-1.0, 1.0], (50, 3, 1))
    smooth = rotation.make_continuous(flipped)
    assert (np.sum(smooth[1:] * smooth[:-1], axis=-1) >= 0).all()
    np.testing.assert_array_equal(np.abs(smooth), np.abs(q))
    moved = rotation.make_continuous(np.moveaxis(flipped, 0, 1), axis=1)
    np.testing.assert_array_equal(np.moveaxis(moved, 1, 0), smooth)


def test_a_zero_quaternion_has_no_direction():
    assert np.isnan(rotation.normalize(np.zeros(4))).all()

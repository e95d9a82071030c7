"""Spatial vectors, against particles, finite differences and Newton-Euler in three-vectors.   [mix, eq 18-22]"""

import numpy as np
import pytest

from oracles.twists import Twist, Wrench, classical_acceleration, power, spatial_acceleration
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia, skew

rng = np.random.default_rng(3)
BATCH = (4, 5)


def draw(kind, shape=BATCH):
    return kind(*rng.standard_normal((2, *shape, 3)))


def stacked(pair):
    return np.concatenate(pair.parts(), axis=-1)


def close(a, b, atol=1e-12):
    np.testing.assert_allclose(stacked(a), stacked(b), atol=atol)


def test_a_shifted_twist_is_the_velocity_of_the_other_point():
    twist, offset = draw(Twist), rng.standard_normal((*BATCH, 3))
    np.testing.assert_allclose(twist.shifted(offset).linear, twist.linear + np.cross(twist.angular, offset))
    close(twist.shifted(offset).shifted(-offset), twist)


def test_a_shifted_wrench_has_the_moments_of_its_forces():
    points, forces = rng.standard_normal((2, 9, 3))
    about = lambda p: Wrench(np.cross(points - p, forces).sum(0), forces.sum(0))  # noqa: E731
    p = np.array([0.4, -1.0, 2.0])
    close(about(np.zeros(3)).shifted(p), about(p))


def test_power_depends_on_neither_point_nor_axes():
    twist, wrench, offset, q = draw(Twist), draw(Wrench), rng.standard_normal((*BATCH, 3)), rotation.random(rng, BATCH)
    watts = power(twist, wrench)
    assert watts.shape == BATCH
    np.testing.assert_allclose(power(twist.shifted(offset), wrench.shifted(offset)), watts, atol=1e-12)
    np.testing.assert_allclose(power(twist.turned(q), wrench.turned(q)), watts, atol=1e-12)


def test_cross_products_are_dual_antisymmetric_and_obey_jacobi():
    v, m, k, f = draw(Twist), draw(Twist), draw(Twist), draw(Wrench)
    np.testing.assert_allclose(power(v.cross(m), f), -power(m, v.cross_wrench(f)), atol=1e-12)
    close(v.cross(m), -m.cross(v))
    close(v.cross(m.cross(k)) + m.cross(k.cross(v)), -1.0 * k.cross(v.cross(m)))


def test_cross_products_move_with_the_point_and_the_axes():
    v, m, f = draw(Twist), draw(Twist), draw(Wrench)
    offset, q = rng.standard_normal((*BATCH, 3)), rotation.random(rng, BATCH)
    close(v.cross(m).shifted(offset), v.shifted(offset).cross(m.shifted(offset)))
    close(v.cross_wrench(f).shifted(offset), v.shifted(offset).cross_wrench(f.shifted(offset)))
    close(v.cross_wrench(f).turned(q), v.turned(q).cross_wrench(f.turned(q)))


def test_cross_products_are_the_rates_of_vectors_carried_along():
    # A motion or force vector fixed in a body that moves at v, seen at a resting point: d/dt = v x m, v x* f.
    v, m, f, h = draw(Twist, ()), draw(Twist, ()), draw(Wrench, ()), 1e-5

    def carried(vector, t):
        q = rotation.exp(v.angular * t)
        place = v.linear * t  # of the body-fixed point that was at the origin: exact to first order
        return vector.turned(q).shifted(-place)

    for vector, rate in ((m, v.cross(m)), (f, v.cross_wrench(f))):
        difference = (carried(vector, h) - carried(vector, -h)) * (0.5 / h)
        close(difference, rate, 1e-8)


def test_classical_and_spatial_acceleration_on_a_tumbling_body():
    # The origin of a body moves on a known path and the body turns about changing axes: eq 19 at another of its points.
    def place(t):
        return np.array([np.sin(2 * t), t**3 - t, 0.3 * np.cos(3 * t)])

    def turn(t):
        return rotation.multiply(
            rotation.exp(np.array([0.0, 2.0 * t, 0.0])), rotation.exp(np.array([np.sin(t), 0.0, 0.5 * t]))
        )

    r, t, h = np.array([0.2, -0.5, 0.9]), 0.37, 1e-4

    def d1(f, t):
        return (f(t - 2 * h) - 8 * f(t - h) + 8 * f(t + h) - f(t + 2 * h)) / (12 * h)

    def angular(t):  # in the world's axes
        return rotation.log(rotation.multiply(turn(t + h), rotation.conjugate(turn(t - h)))) / (2 * h)

    def point(t):
        return place(t) + rotation.rotate(turn(t), r)

    w, dw = angular(t), d1(angular, t)
    velocity = Twist(w, d1(place, t))
    acceleration = spatial_acceleration(velocity, dw, d1(lambda s: d1(place, s), t))
    offset = rotation.rotate(turn(t), r)
    angular_there, linear_there = classical_acceleration(velocity.shifted(offset), acceleration.shifted(offset))
    np.testing.assert_allclose(linear_there, d1(lambda s: d1(point, s), t), atol=1e-5)
    np.testing.assert_allclose(angular_there, dw)


def test_newton_euler_in_spatial_form_is_newton_and_euler():
    # f = I a + v x* I v about any point equals  f = m c'',  n_c = I_c w' + w x I_c w  about the centre of mass.
    a = rng.standard_normal((3, 3))
    body = RigidInertia(3.0, rng.standard_normal(3), a @ a.T + 3 * np.eye(3))
    velocity, acceleration = draw(Twist, ()), draw(Twist, ())

    def applied(motion):
        n, f = np.split(body.matrix() @ stacked(motion), 2)
        return Wrench(n, f)

    spatial = applied(acceleration) + velocity.cross_wrench(applied(velocity))
    w, dw = velocity.angular, acceleration.angular
    _, at_center = classical_acceleration(velocity.shifted(body.center), acceleration.shifted(body.center))
    classical = Wrench(body.inertia @ dw + np.cross(w, body.inertia @ w), body.mass * at_center)
    close(spatial.shifted(body.center), classical)
    assert body.matrix()[3:, :3] == pytest.approx(-body.mass * skew(body.center))


def test_adding_and_scaling():
    a, b = draw(Wrench), draw(Wrench)
    np.testing.assert_allclose(stacked(2.0 * a - b + (-a)), 2 * stacked(a) - stacked(b) - stacked(a))

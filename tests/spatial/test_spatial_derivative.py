"""Derivatives of rotations and positions, against motions whose rates are known in closed form."""

import numpy as np
import pytest

from oracles.differences import three_point
from poise.errors import InputError
from poise.spatial import rotation
from poise.spatial.derivative import (
    angular_rates,
    position_derivatives,
    rotation_derivatives,
    smooth_positions,
    smooth_rotations,
)

rng = np.random.default_rng(21)
RATES = (24, 30, 60, 120, 240)


def about(axis, angle):
    return rotation.from_axis_angle(np.eye(3)[axis], angle)


def along(axis, value):
    return np.asarray(value)[..., None] * np.eye(3)[axis]


def steady(t):
    """A constant rate about one oblique axis: 5 rad/s, through many turns."""
    w = np.array([3.0, -4.0, 0.0])
    return rotation.exp(t[:, None] * w), np.tile(w, (len(t), 1)), np.zeros((len(t), 3))


def coning(t):
    """Ry(a) Rx(b) Ry(-a), a = n t: an axis that cones without spin. In the child's axes w = n Ry(a) (Rx(-b) - 1) y."""
    n, b = 4.0, 0.7
    a = n * t
    q = rotation.multiply(about(1, a), rotation.multiply(about(0, np.full_like(a, b)), about(1, -a)))
    tilted = rotation.rotate(about(0, np.array(-b)), np.eye(3)[1]) - np.eye(3)[1]
    w = n * rotation.rotate(about(1, a), tilted)
    return q, w, n * np.cross(np.eye(3)[1], w)


def sines(t):
    """Rz(u) Rx(v) with u, v sums of sines. In the child's axes w = u' Rx(-v) z + v' x."""
    u, du, ddu = 1.5 * np.sin(3 * t), 4.5 * np.cos(3 * t), -13.5 * np.sin(3 * t)
    v, dv, ddv = 2 * t + np.cos(5 * t), 2 - 5 * np.sin(5 * t), -25 * np.cos(5 * t)
    q = rotation.multiply(about(2, u), about(0, v))
    z = np.stack([np.zeros_like(t), np.sin(v), np.cos(v)], axis=-1)  # Rx(-v) z
    dz = dv[:, None] * np.stack([np.zeros_like(t), np.cos(v), -np.sin(v)], axis=-1)
    w = du[:, None] * z + along(0, dv)
    return q, w, ddu[:, None] * z + du[:, None] * dz + along(0, ddv)


MOTIONS = {"steady": steady, "coning": coning, "sines": sines}


def errors(derive, motion, rate, seconds=2.0):
    """Largest error of velocity and acceleration over all samples, ends included."""
    t = np.arange(int(seconds * rate) + 1) / rate
    q, w, a = motion(t)
    result = derive(q, t)
    return np.abs(result.velocity - w).max(), np.abs(result.acceleration - a).max()


def paper(q, t):
    return three_point(q, t[1] - t[0])


@pytest.mark.parametrize("name", MOTIONS)
def test_closed_forms_are_right(name):
    # The oracle's own oracle: w from a tiny exact step, and its difference quotient.
    t, h = np.linspace(0.1, 2, 30), 1e-5
    q, w, a = MOTIONS[name](t)
    after, before = MOTIONS[name](t + h), MOTIONS[name](t - h)
    step = rotation.log(rotation.multiply(rotation.conjugate(before[0]), after[0])) / (2 * h)
    np.testing.assert_allclose(step, w, atol=1e-6)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * h), a, atol=1e-5)
    assert np.allclose(np.linalg.norm(q, axis=-1), 1.0)


@pytest.mark.parametrize("name", MOTIONS)
@pytest.mark.parametrize(("derive", "order"), [(paper, 2), (rotation_derivatives, 4)])
def test_order_of_convergence(name, derive, order):
    coarse, fine = errors(derive, MOTIONS[name], 120), errors(derive, MOTIONS[name], 240)
    for a, b in zip(coarse, fine, strict=True):
        assert a / b > 0.8 * 2**order or a < 1e-9


@pytest.mark.parametrize("name", MOTIONS)
@pytest.mark.parametrize("rate", RATES)
def test_splines_are_far_closer_than_three_points(name, rate):
    ours, theirs = errors(rotation_derivatives, MOTIONS[name], rate), errors(paper, MOTIONS[name], rate)
    assert ours[0] < 0.5 * theirs[0] and ours[1] < 0.5 * theirs[1]


@pytest.mark.parametrize("rate", RATES)
def test_three_points_are_the_papers_differences(rate):
    t = np.arange(20) / rate
    q = sines(t)[0]
    h = 1 / rate
    i = 7
    p = rotation.make_continuous(q)
    first, second = (p[i + 1] - p[i - 1]) / (2 * h), (p[i + 1] - 2 * p[i] + p[i - 1]) / h**2
    back = rotation.conjugate(p[i])
    result = three_point(q, h)
    np.testing.assert_allclose(result.velocity[i], 2 * rotation.multiply(back, first)[1:])
    np.testing.assert_allclose(result.acceleration[i], 2 * rotation.multiply(back, second)[1:])


def test_rates_are_in_the_childs_axes():
    # Spinning about the child's own x while the parent's frame is turned: w is along x, in the parent's axes it is not.
    t = np.arange(60) / 60
    fixed = about(2, np.array(np.pi / 2))
    q = rotation.multiply(fixed, about(0, 3.0 * t))
    w = rotation_derivatives(q, t).velocity
    np.testing.assert_allclose(w, np.tile([3.0, 0.0, 0.0], (60, 1)), atol=1e-6)
    np.testing.assert_allclose(rotation.rotate(q, w), np.tile([0.0, 3.0, 0.0], (60, 1)), atol=1e-6)
    # The parent's frame turned for good changes nothing; the child's turns the vector.
    other = rotation.random(rng)
    np.testing.assert_allclose(rotation_derivatives(rotation.multiply(other, q), t).velocity, w, atol=1e-9)
    turned = rotation_derivatives(rotation.multiply(q, other), t).velocity
    np.testing.assert_allclose(rotation.rotate(other, turned), w, atol=1e-9)


def test_signs_do_not_matter():
    t = np.arange(120) / 60
    q = np.stack([sines(t)[0], coning(t)[0]], axis=1)
    flipped = q * rng.choice([-1.0, 1.0], (120, 2, 1))
    for derive in (rotation_derivatives, paper):
        a, b = derive(q, t), derive(flipped, t)
        np.testing.assert_allclose(a.velocity, b.velocity, atol=1e-10)
        np.testing.assert_allclose(a.acceleration, b.acceleration, atol=1e-8)


def test_rates_are_exact_for_the_normalised_curve_whatever_its_length():
    t = np.linspace(0, 1, 11)
    q, w, a = sines(t)
    length, d, dd = 1 + 0.5 * np.sin(4 * t), 2 * np.cos(4 * t), -8 * np.sin(4 * t)
    zero = np.zeros((len(t), 1))
    first = 0.5 * rotation.multiply(q, np.hstack([zero, w]))
    second = 0.5 * (rotation.multiply(first, np.hstack([zero, w])) + rotation.multiply(q, np.hstack([zero, a])))
    length, d, dd = length[:, None], d[:, None], dd[:, None]
    found = angular_rates(length * q, d * q + length * first, dd * q + 2 * d * first + length * second)
    np.testing.assert_allclose(found[0], w, atol=1e-12)
    np.testing.assert_allclose(found[1], a, atol=1e-11)


def test_between_the_samples_and_at_uneven_times():
    times = np.sort(np.concatenate([[0.0, 2.0], rng.uniform(0, 2, 400)]))
    times = times[np.concatenate([[True], np.diff(times) > 1e-3])]
    at = np.linspace(times[0], times[-1], 77)
    q, w, a = sines(at)
    result = rotation_derivatives(sines(times)[0], times, at)
    assert rotation.angle(result.value, q).max() < 1e-5
    np.testing.assert_allclose(result.velocity, w, atol=2e-3)
    np.testing.assert_allclose(result.acceleration, a, atol=0.2)
    # The rates belong to the curve that is returned: differences of it agree.
    t = np.arange(121) / 60
    curve = sines(t)[0]
    h, middle = 1e-5, np.linspace(0.2, 1.8, 9)
    before, after = (rotation_derivatives(curve, t, middle + s * h).value for s in (-1, 1))
    step = rotation.log(rotation.multiply(rotation.conjugate(before), after)) / (2 * h)
    np.testing.assert_allclose(step, rotation_derivatives(curve, t, middle).velocity, atol=1e-6)


def test_positions_of_a_thrown_swinging_body():
    t = np.arange(121) / 60
    x = np.stack([np.sin(3 * t), 1 + 4 * t - 4.905 * t**2], axis=-1)
    result = position_derivatives(x, t)
    np.testing.assert_array_equal(result.value, x)
    np.testing.assert_allclose(result.velocity, np.stack([3 * np.cos(3 * t), 4 - 9.81 * t], -1), atol=1e-7)
    np.testing.assert_allclose(
        result.acceleration, np.stack([-9 * np.sin(3 * t), np.full_like(t, -9.81)], -1), atol=3e-5
    )
    middle = position_derivatives(x, t, np.array([0.123]))
    np.testing.assert_allclose(middle.acceleration[0], [-9 * np.sin(0.369), -9.81], atol=1e-5)


@pytest.mark.parametrize("frames", [1, 2, 3, 4, 5, 6])
def test_the_shortest_clips_are_polynomials(frames):
    t = np.arange(frames) / 30
    powers = t[:, None] ** np.arange(frames)
    result = position_derivatives(powers, t)
    expected = np.stack([n * t ** max(n - 1, 0) for n in range(frames)], axis=-1)
    np.testing.assert_allclose(result.velocity, expected, atol=1e-9)
    q = rotation.exp(t[:, None] * [0.0, 2.0, 0.0])
    turning = rotation_derivatives(q, t)
    np.testing.assert_allclose(turning.velocity, np.tile([0, 2.0 if frames > 1 else 0, 0], (frames, 1)), atol=0.02)


def test_smoothing_is_filter_then_spline():
    t = np.arange(300) / 120
    q, w, _ = sines(t)
    noisy = rotation.multiply(q, rotation.exp(0.005 * rng.standard_normal((300, 3))))
    rough, smooth = smooth_rotations(noisy, t), smooth_rotations(noisy, t, 10.0)
    rms = lambda e: float(np.sqrt(np.mean(e**2)))  # noqa: E731
    assert rms(smooth.velocity - w) < 0.2 * rms(rough.velocity - w)
    x = np.sin(3 * t)[:, None] + 1e-3 * rng.standard_normal((300, 1))
    assert rms(smooth_positions(x, t, 4.0).acceleration[:, 0] + 9 * np.sin(3 * t)) < 0.6
    np.testing.assert_array_equal(smooth_positions(x, t).value, x)


def test_what_cannot_be_differentiated_is_refused():
    q = sines(np.arange(10) / 30)[0]
    with pytest.raises(InputError, match="three samples; 2 given"):
        three_point(q[:2], 0.1)
    with pytest.raises(InputError, match="rate of"):
        three_point(q, 0.0)
    with pytest.raises(InputError, match="as many increasing times"):
        rotation_derivatives(q, np.zeros(10))
    with pytest.raises(InputError, match="Ask within it"):
        rotation_derivatives(q, np.arange(10) / 30, np.array([0.5]))
    with pytest.raises(InputError, match="not finite at sample 3"):
        broken = q.copy()
        broken[3] = 0.0
        rotation_derivatives(broken, np.arange(10) / 30)
    with pytest.raises(InputError, match="uniform rate"):
        smooth_positions(np.zeros((4, 3)), np.array([0.0, 0.1, 0.2, 0.4]), 3.0)

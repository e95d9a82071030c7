"""Two-bone inverse kinematics against forward kinematics."""

import numpy as np
import pytest

from poise.ik.two_bone import solve_two_bone
from poise.spatial import rotation

# Straight legs, bent and splayed rest poses, bones of very different length.
BONES = [
    ([0, -0.43, 0], [0, -0.42, 0]),
    ([0.13, -0.37, 0.02], [0.14, -0.39, -0.05]),
    ([0.3, 0.0, 0.0], [0.05, 0.02, 0.03]),
]


@pytest.mark.parametrize(("upper", "lower"), BONES)
def test_the_end_reaches_the_target_and_the_knee_goes_to_its_side(upper, lower):
    rng = np.random.default_rng(4)
    upper, lower, rest_hinge = np.array(upper, float), np.array(lower, float), np.array([1.0, 0.1, 0.2])
    a, b = np.linalg.norm(upper), np.linalg.norm(lower)
    root, hinge = rng.standard_normal((200, 3)), rng.standard_normal((200, 3))
    reach = rng.uniform(abs(a - b) * 1.01 + 1e-3, (a + b) * 0.999, 200)
    line = rng.standard_normal((200, 3))
    target = root + reach[:, None] * line / np.linalg.norm(line, axis=1, keepdims=True)
    limb = solve_two_bone(root, target, hinge, upper, lower, rest_hinge)
    knee = root + rotation.rotate(limb.upper, upper)
    end = knee + rotation.rotate(limb.lower, lower)
    np.testing.assert_allclose(end, target, atol=1e-12)
    assert np.max(limb.miss) == 0.0
    # Bending is a positive turn about the hinge: (first bone) x (second bone) points along it.
    turn = np.cross(knee - root, end - knee)
    normal = hinge - np.sum(hinge * (target - root), axis=1, keepdims=True) / reach[:, None] ** 2 * (target - root)
    assert np.all(np.sum(turn * normal, axis=1) > 0)


def test_out_of_reach_it_points_at_the_target_and_says_by_how_much_it_misses():
    upper, lower = np.array([0, -0.5, 0]), np.array([0, -0.4, 0])
    for target, miss in (([0, -1.0, 0], 0.1), ([0, 0, 0.05], 0.05), ([0.0, 0.0, 2.0], 1.1)):
        limb = solve_two_bone(
            np.zeros(3), np.array(target, float), np.array([1.0, 0, 0]), upper, lower, np.array([1.0, 0, 0])
        )
        end = rotation.rotate(limb.upper, upper) + rotation.rotate(limb.lower, lower)
        assert limb.miss == pytest.approx(miss, abs=1e-6)
        np.testing.assert_allclose(np.cross(end, target), 0, atol=1e-6)


def test_the_rest_pose_needs_no_rotation():
    upper, lower = np.array([0.02, -0.43, 0.03]), np.array([0.01, -0.42, -0.06])
    # The rest hinge is the axis about which this slightly bent leg is bent.
    hinge = np.cross(upper, lower)
    limb = solve_two_bone(np.zeros(3), upper + lower, hinge, upper, lower, hinge)
    np.testing.assert_allclose(rotation.angle(limb.upper, rotation.identity()), 0, atol=1e-7)
    np.testing.assert_allclose(rotation.angle(limb.lower, rotation.identity()), 0, atol=1e-7)

"""What is computed for one frame in Python's own numbers is, to the last bit, what a batch gives."""

from __future__ import annotations

import numpy as np

import poise
from poise.ik.two_bone import correct_two_bone
from poise.spatial import rotation
from poise.world.ground.floor import Floor
from poise.world.ground.profile import Stairs

LEG = np.array([0.02, -0.42, 0.01]), np.array([-0.01, -0.4, 0.03])


def test_a_limb_that_reaches() -> None:
    rng = np.random.default_rng(7)
    upper, hinge = rotation.random(rng, (200,)), rng.standard_normal((200, 3))
    lower = rotation.multiply(upper, rotation.exp(rng.uniform(-1.5, 1.5, (200, 3))))
    reach = rng.uniform(-0.8, 0.8, (200, 3))  # some beyond its length, some where it is folded
    reach[:3] = 0.0, 1e-12, 2.0
    batch = correct_two_bone(upper, lower, *LEG, reach, hinge)
    for k in range(200):
        alone = correct_two_bone(upper[k : k + 1], lower[k : k + 1], *LEG, reach[k : k + 1], hinge[k : k + 1])
        for one, many in zip(alone, batch, strict=True):
            assert one.shape == many[k : k + 1].shape and np.array_equal(one, many[k : k + 1])


def test_a_pose() -> None:
    rng, skeleton = np.random.default_rng(8), poise.Character.human(1.75, 75).skeleton
    turns, root = rotation.random(rng, (20, len(skeleton))), rng.standard_normal((20, 3))
    shifts = 0.01 * rng.standard_normal((20, len(skeleton), 3))
    for given in (None, shifts):
        places, orientations = skeleton.pose(root, turns, given)
        for k in range(20):
            alone = skeleton.pose(root[k], turns[k], None if given is None else given[k])
            assert np.array_equal(alone[0], places[k]) and np.array_equal(alone[1], orientations[k])


def test_heights_of_a_floor() -> None:
    rng = np.random.default_rng(9)
    x, z = rng.uniform(-1.0, 2.0, (2, 4, 5))
    for ground in (poise.Ground(0.3), Stairs(0.1, 0.3, 3)):
        floor = Floor(ground)
        found = floor.find_heights(x, z)
        wanted = [floor.find(a, b)[0] for a, b in zip(x.ravel(), z.ravel(), strict=True)]
        assert found.shape == x.shape and found.ravel().tolist() == wanted

"""Every kind of body stands on two feet and on one, and reaches: a solve like any other."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.reaching import place
from poise.body.bodies import PHYSIQUES, build_body
from poise.body.geometry.soles import find_soles
from poise.body.strength.static import find_stiffness
from poise.ik.goals import OrientationGoal, PositionGoal
from poise.ik.pose_solver import PoseSolver
from poise.spatial import rotation


def find_start(body):
    """Arms hanging, knees a little bent where they bend: root and rotations, the left sole on the ground."""
    turns = rotation.identity((len(body.skeleton),))
    for name, ends in body.limits.items():
        turns[body.skeleton.index(name)] = ends.rotation(np.clip(0.0, ends.lower, ends.upper))
    _, places, _ = place(np.zeros(3), turns, body)
    left = find_soles(body.skeleton)[0]
    return np.array([0.0, -(places[left.foot] + left.heel)[1], 0.0]), turns


@pytest.mark.parametrize("strong", [False, True])
@pytest.mark.parametrize("name", PHYSIQUES)
def test_every_body_stands_and_reaches(name: str, strong: bool) -> None:
    body = build_body(name)
    root, turns = find_start(body)
    poser = PoseSolver(body, "leftFoot", find_stiffness(body) if strong else None)
    all_turns, places, _ = place(root, turns, body)
    soles, height = find_soles(body.skeleton), body.height
    flat, corners = [], []
    for side, sole in zip(("left", "right"), soles, strict=True):
        ankle = places[sole.foot].copy()
        ankle[1] = -sole.heel[1]
        heading = all_turns[sole.foot].as_quat(scalar_first=True)
        flat += [PositionGoal(side + "Foot", ankle, first=True), OrientationGoal(side + "Foot", heading, first=True)]
        corners += [ankle[[0, 2]] + [x, z] for x in (-0.03 * height, 0.03 * height) for z in (-0.03, 0.09 * height)]
    target = np.array([-0.15 * height, 0.75 * height, 0.2 * height])
    goals = [PositionGoal("rightHand", target), *flat[2:]]
    found = poser.solve(goals, root, turns, np.array(corners), 0.01)
    _, where, center = place(found.root, found.rotations, body)
    index = body.skeleton.index
    assert np.linalg.norm(where[index("rightHand")] - target) < 1e-3
    assert abs(where[soles[1].foot][1] + soles[1].heel[1]) < 5e-4  # both soles on the ground
    x, z = np.array(corners).T
    assert x.min() < center[0] < x.max() and z.min() < center[2] < z.max()
    if name == "locked-knee":
        knee = found.rotations[index("leftLowerLeg")]
        np.testing.assert_allclose(np.abs(knee), np.abs(turns[index("leftLowerLeg")]), atol=1e-9)
    for joint, ends in body.limits.items():
        assert np.abs(ends.excess(found.rotations[index(joint)])).max() < 1e-7

    # on the left foot alone, the other lifted
    goals = [PositionGoal("rightHand", target), PositionGoal("rightFoot", places[soles[1].foot] + [0.0, 0.2, -0.1])]
    found = poser.solve(goals, found.root, found.rotations, np.array(corners[:4]), 0.01, rounds=200)
    _, _, center = place(found.root, found.rotations, body)
    x, z = np.array(corners[:4]).T
    assert x.min() < center[0] < x.max() and z.min() < center[2] < z.max()
    assert found.misses[1] < 2e-3

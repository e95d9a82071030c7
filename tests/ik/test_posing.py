"""Bodies posed by goals: Jacobians, priority, ranges, and what is out of reach."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.errors import rejects
from helpers.reaching import BODY, draw, keep, place, stand
from poise import Character, InputError
from poise.ik.goals import LookAtGoal, OrientationGoal, PositionGoal
from poise.ik.pose_solver import METHODS, PoseSolver
from poise.ik.support_polygon import find_edges, find_margin, find_outline
from poise.spatial import rotation


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("preset", ["mix", "full"])
@pytest.mark.many(2)
def test_what_can_be_reached_is_reached(method: str, preset: str) -> None:
    """Both hands and the free foot of random legal poses, from standing on; the held foot does not move at all."""
    body = Character.human(1.6, 60.0, preset=preset)
    rng, skeleton = np.random.default_rng(1), body.skeleton
    root, turns, _ = stand(body)
    poser = PoseSolver(body, "leftFoot")
    left, begun = skeleton.index("leftFoot"), place(root, turns, body)
    solved = 0
    for _ in range(20):
        _, q = draw(rng, 0.4, body)
        all_turns, places, center = place(root, q, body)
        back = begun[0][left] * all_turns[left].inv()
        places, center = (begun[1][left] + back.apply(x - places[left]) for x in (places, center))
        ends = [skeleton.index(role) for role in ("leftHand", "rightHand", "rightFoot")]
        goals = [PositionGoal(skeleton.names[i], places[i]) for i in ends]
        goals.append(OrientationGoal("rightFoot", (back * all_turns[ends[2]]).as_quat(scalar_first=True)))
        support = center[[0, 2]] + 0.08 * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
        found = poser.solve(goals, root, turns, support, method=method, enough=5e-4)
        seen, where, mass = place(found.root, found.rotations, body)
        np.testing.assert_allclose(where[left], begun[1][left], atol=1e-12)
        assert (seen[left].inv() * begun[0][left]).magnitude() < 1e-7
        np.testing.assert_allclose(mass, found.center, atol=1e-12)
        off = np.linalg.norm(where[ends] - places[ends], axis=1)
        np.testing.assert_allclose(off, found.misses[:3], atol=1e-12)
        for name, ends_ in body.limits.items():
            assert np.abs(ends_.excess(found.rotations[skeleton.index(name)])).max() < 1e-7
        solved += bool(off.max() < 1e-3 and find_margin(find_edges(support), mass[[0, 2]]) > -1e-3)
    assert solved >= {"blocks": 20, "rows": 17, "null-space": 17}[method]  # the others end at their last round


def test_the_centre_of_mass_comes_first() -> None:
    """A hand that wants to go where the body would fall: with the support it gives up, without it goes.   [figure 5]"""
    root, turns, corners = stand()
    all_turns, places, _ = place(root, turns)
    feet = keep("rightFoot", all_turns, places)
    far = places[BODY.skeleton.index("rightHand")] + [0.0, 0.3, 1.3]
    reach = [PositionGoal("rightHand", far), *feet]
    free, kept = PoseSolver(BODY).solve(reach, root, turns), PoseSolver(BODY).solve(reach, root, turns, corners, 0.01)
    edges = find_edges(corners)
    assert find_margin(edges, free.center[[0, 2]]) < -0.1
    assert find_margin(edges, kept.center[[0, 2]]) > 0.009
    assert kept.misses[0] > 0.05 + free.misses[0] and kept.misses[1:].max() < 1e-3


def test_without_a_bias_conflicts_are_met_halfway() -> None:
    """Centre of mass and hand as equals: both are off by much; with one first, the other.   [balance, figure 5]"""
    root, turns, _ = stand()
    _, places, mass = place(root, turns)
    far = places[BODY.skeleton.index("rightHand")] + [0.0, 0.2, 1.4]
    offs = {}
    for first in (True, False):
        poser = PoseSolver(BODY)
        found = poser.solve(
            [PositionGoal("rightHand", far)], root, turns, center=(mass[0], None, mass[2]), center_first=first
        )
        offs[first] = np.linalg.norm((found.center - mass)[[0, 2]]), found.misses[0]
    assert offs[True][0] < 0.005 and offs[True][1] > 0.3
    assert offs[False][0] > 0.05 and offs[False][1] < offs[True][1] - 0.05


def test_eyes_look_and_stiff_joints_stay() -> None:
    root, turns, corners = stand()
    all_turns, places, _ = place(root, turns)
    feet = keep("rightFoot", all_turns, places)
    at = np.array([1.0, 0.2, 0.6])
    found = PoseSolver(BODY).solve([LookAtGoal(at), *feet], root, turns, corners)
    seen, where, _ = place(found.root, found.rotations)
    head = BODY.skeleton.index("head")
    way = at - where[head]
    assert np.degrees(np.arccos(seen[head].apply([0.0, 0.0, 1.0]) @ way / np.linalg.norm(way))) < 0.1
    hand = places[BODY.skeleton.index("leftHand")] + [0.1, 0.4, 0.3]
    knee = [BODY.skeleton.index(role) for role in ("leftLowerLeg", "rightLowerLeg")]
    stiff = PoseSolver(BODY, stiffness={"leftLowerLeg": np.inf, "rightLowerLeg": np.inf})
    found = stiff.solve([PositionGoal("leftHand", hand), *feet], root, turns, corners)
    assert found.misses[0] < 1e-3
    np.testing.assert_allclose(rotation.angle(found.rotations[knee], turns[knee]), 0.0, atol=1e-7)


def test_an_outline_has_its_margin() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 2))
    outline, edges = find_outline(points), find_edges(points, 0.1)
    inside = find_margin(find_edges(points), points)
    assert inside.min() > -1e-12 and (inside < 1e-12).sum() == len(outline)
    assert find_margin(edges, points).min() == pytest.approx(-0.1)
    thin = find_edges(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.02], [0.0, 0.02]]), 0.5)
    assert find_margin(thin, np.array([0.5, 0.01])) > 0.0
    assert find_margin(find_edges(np.array([[1.0, 2.0]])), np.array([1.0, 2.0])) == 0.0


def test_bad_goals_are_refused() -> None:
    root, turns, corners = stand()
    poser = PoseSolver(BODY)
    rejects(lambda: PositionGoal("leftHand", (0.0, np.nan, 1.0)), "3", "'leftHand'")
    with pytest.raises(InputError, match="must not be zero"):
        OrientationGoal("leftHand", (0.0, 0.0, 0.0, 0.0))
    with pytest.raises(InputError, match="weight of a goal"):
        LookAtGoal((0.0, 1.0, 1.0), weight=0.0)
    rejects(lambda: poser.solve([PositionGoal("leftHnd", (0.0, 1.0, 1.0))], root, turns), "leftHnd")
    rejects(lambda: poser.solve([], root, turns, method="bloks"), "Did you mean 'blocks'")
    rejects(lambda: poser.solve([], root, turns[:-1]), "'full'")
    with pytest.raises(InputError, match="stiffness"):
        PoseSolver(BODY, stiffness={"leftHand": 0.0})
    with pytest.raises(InputError, match="points"):
        poser.solve([], root, turns, corners[:, :1])

"""Bodies posed by goals: Jacobians, priority, ranges, and what is out of reach."""

from __future__ import annotations

import numpy as np
import pytest

from poise import Character, InputError
from poise.ik import solve_kernels as kernels
from poise.ik.figure import Figure
from poise.ik.figure_kernels import find_axes, find_centers
from poise.ik.goals import Look, Reach, Turn
from poise.ik.posing import METHODS, Poser
from poise.ik.support import find_edges, find_margin, find_outline
from poise.spatial import rotation
from posed import BODY, draw, keep, place, stand

COUNT = len(BODY.skeleton)


def see(arrays, still, body, root, turns, point, j, step):
    """Centre of mass, a point and a body's turn with angle j changed, the held body put back where it was."""
    q, at = turns.copy(), root.copy()
    if arrays.joint[j] == -1:
        at[arrays.which[j]] += step
    elif arrays.joint[j] == -2:
        q[0] = rotation.multiply(rotation.exp(step * np.eye(3)[arrays.which[j]]), q[0])
    else:
        i = arrays.joint[j]
        ends = BODY.limits[BODY.skeleton.names[i]]
        q[i] = ends.rotation(ends.angles(q[i]) + step * np.eye(3)[arrays.which[j]])
    all_turns, places, center = place(at, q)
    where = places[body] + all_turns[body].apply(point)
    if still < 0:
        return center, where, all_turns[body]
    was_turns, was, _ = place(root, turns)
    back = was_turns[still] * all_turns[still].inv()
    center, where = (was[still] + back.apply(x - places[still]) for x in (center, where))
    return center, where, back * all_turns[body]


@pytest.mark.parametrize("held", [None, "leftFoot", "rightHand", "head"])
def test_jacobians_are_those_of_differences(held) -> None:
    """[balance, 4.6.3], in 3-D, with every joint's own angles, whatever stays."""
    rng = np.random.default_rng(5)
    figure = Figure(BODY, held is None, {}, 0.0)
    arrays, index = figure.arrays, BODY.skeleton.index
    still = -1 if held is None else index(held)
    body, worst = index("leftHand"), 0.0
    for _ in range(4):
        root, turns = draw(rng)
        angles, point = figure.angles(turns), rng.normal(size=3) * 0.2
        R, p = figure.place(root, turns)
        n = len(arrays.joint)
        under, axes, moves = np.zeros((COUNT, 4)), np.zeros((COUNT, 3, 3)), np.zeros((n, 3))
        reach, turned = np.zeros((3, n)), np.zeros((3, n))
        find_centers(arrays.parents, arrays.masses, arrays.centers, R, p, under)
        find_axes(arrays.parents, arrays.before_matrix, angles, arrays.turns, R, axes)
        kernels.write_center(arrays, still, p, axes, under, moves)
        kernels.write_point(arrays, still, p, axes, body, *(p[body] + R[body] @ point), reach)
        kernels.write_turn(arrays, still, axes, body, turned)

        for j in range(n):
            (c1, x1, r1), (c0, x0, r0) = (
                see(arrays, still, body, root, turns, point, j, step) for step in (1e-5, -1e-5)
            )
            worst = max(worst, np.abs((c1 - c0) / 2e-5 - moves[j]).max(), np.abs((x1 - x0) / 2e-5 - reach[:, j]).max())
            worst = max(worst, np.abs((r1 * r0.inv()).as_rotvec() / 2e-5 - turned[:, j]).max())
    assert worst < 1e-6


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("preset", ["mix", "full"])
def test_what_can_be_reached_is_reached(method: str, preset: str) -> None:
    """Both hands and the free foot of random legal poses, from standing on; the held foot does not move at all."""
    body = Character.human(1.6, 60.0, preset=preset)
    rng, skeleton = np.random.default_rng(1), body.skeleton
    root, turns, _ = stand(body)
    poser = Poser(body, "leftFoot")
    left, begun = skeleton.index("leftFoot"), place(root, turns, body)
    solved = 0
    for _ in range(20):
        _, q = draw(rng, 0.4, body)
        all_turns, places, center = place(root, q, body)
        back = begun[0][left] * all_turns[left].inv()
        places, center = (begun[1][left] + back.apply(x - places[left]) for x in (places, center))
        ends = [skeleton.index(role) for role in ("leftHand", "rightHand", "rightFoot")]
        goals = [Reach(skeleton.names[i], places[i]) for i in ends]
        goals.append(Turn("rightFoot", (back * all_turns[ends[2]]).as_quat(scalar_first=True)))
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
    reach = [Reach("rightHand", far), *feet]
    free, kept = Poser(BODY).solve(reach, root, turns), Poser(BODY).solve(reach, root, turns, corners, 0.01)
    edges = find_edges(corners)
    assert find_margin(edges, free.center[[0, 2]]) < -0.1
    assert find_margin(edges, kept.center[[0, 2]]) > 0.009
    assert kept.misses[0] > 0.05 + free.misses[0] and kept.misses[1:].max() < 1e-3


def test_without_a_bias_conflicts_are_met_halfway() -> None:
    """Centre of mass and hand as equals: both are off by much; with one first, the other.   [balance, figure 5]"""
    root, turns, _ = stand()
    _, places, mass = place(root, turns)
    far = places[BODY.skeleton.index("rightHand")] + [0.0, 0.2, 1.4]
    figure = Figure(BODY, False, {}, 0.02)
    offs = {}
    for first in (True, False):
        poser = Poser(BODY)
        goals = poser._compile([Reach("rightHand", far)], None, 0.0, (mass[0], None, mass[2]))
        goals = goals._replace(center_first=np.full(3, first))
        R, p = figure.place(root, turns)
        room = figure.make_room(
            kernels.count_rows(goals), figure.angles(turns), rotation.to_matrix(turns), p[poser.held], R[poser.held]
        )
        kernels.solve_pose(figure.arrays, goals, poser.held, 0.2, 60, 8, 0.5, 1e-4, 1, np.ones(1), room, np.zeros(4))
        center = room.under[0, 1:] / room.under[0, 0]
        hand = room.p[BODY.skeleton.index("rightHand")]
        offs[first] = np.linalg.norm((center - mass)[[0, 2]]), np.linalg.norm(hand - far)
    assert offs[True][0] < 0.005 and offs[True][1] > 0.3
    assert offs[False][0] > 0.05 and offs[False][1] < offs[True][1] - 0.05


def test_eyes_look_and_stiff_joints_stay() -> None:
    root, turns, corners = stand()
    all_turns, places, _ = place(root, turns)
    feet = keep("rightFoot", all_turns, places)
    at = np.array([1.0, 0.2, 0.6])
    found = Poser(BODY).solve([Look(at), *feet], root, turns, corners)
    seen, where, _ = place(found.root, found.rotations)
    head = BODY.skeleton.index("head")
    way = at - where[head]
    assert np.degrees(np.arccos(seen[head].apply([0.0, 0.0, 1.0]) @ way / np.linalg.norm(way))) < 0.1
    hand = places[BODY.skeleton.index("leftHand")] + [0.1, 0.4, 0.3]
    knee = [BODY.skeleton.index(role) for role in ("leftLowerLeg", "rightLowerLeg")]
    stiff = Poser(BODY, stiffness={"leftLowerLeg": np.inf, "rightLowerLeg": np.inf})
    found = stiff.solve([Reach("leftHand", hand), *feet], root, turns, corners)
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
    poser = Poser(BODY)
    with pytest.raises(InputError, match="3 finite numbers; that of 'leftHand'"):
        Reach("leftHand", (0.0, np.nan, 1.0))
    with pytest.raises(InputError, match="must not be zero"):
        Turn("leftHand", (0.0, 0.0, 0.0, 0.0))
    with pytest.raises(InputError, match="weight of a goal"):
        Look((0.0, 1.0, 1.0), weight=0.0)
    with pytest.raises(InputError, match="leftHnd"):
        poser.solve([Reach("leftHnd", (0.0, 1.0, 1.0))], root, turns)
    with pytest.raises(InputError, match="Did you mean 'blocks'"):
        poser.solve([], root, turns, method="bloks")
    with pytest.raises(InputError, match="a pose of 'full'"):
        poser.solve([], root, turns[:-1])
    with pytest.raises(InputError, match="stiffness"):
        Poser(BODY, stiffness={"leftHand": 0.0})
    with pytest.raises(InputError, match="corners"):
        poser.solve([], root, turns, corners[:, :1])

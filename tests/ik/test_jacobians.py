"""Every row, and how it bends, against differences, on hard bodies: many joints, uneven masses.   [balance, 4.6.3]"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from helpers.random_bodies import Plan, make_person
from helpers.reaching import BODY, draw, place
from poise import Character
from poise.bench.ik import lengthen_spine
from poise.ik.goals import LookAtGoal, OrientationGoal, PositionGoal
from poise.ik.model import CharacterModel, build_system
from poise.ik.pose_solver import compile_goals
from poise.ik.solver.row_kernels import write_rows
from poise.ik.solver.unreachable_kernels import add_curvature
from poise.spatial import rotation

SPAN, STEP = 0.3, 1e-5


def make_uneven(body: Character, seed: int) -> Character:
    """Segments of a hundredth to ten times their mass, their centres moved."""
    rng = np.random.default_rng(seed)
    segments = []
    for segment in body.segments:
        factor, inertia = np.exp(rng.uniform(np.log(0.01), np.log(10.0))), segment.inertia
        moved = np.array(inertia.center) + rng.normal(size=3) * 0.05
        heavy = replace(inertia, mass=inertia.mass * factor, center=moved, inertia=inertia.inertia * factor)
        segments.append(replace(segment, inertia=heavy))
    return replace(body, segments=tuple(segments))


def make_odd() -> Character:
    """Fingers, a tail, hair, wings and a backpack."""
    rng = np.random.default_rng(3)
    plan = Plan(spine=5, neck=2, fingers=5, oddities=("tail", "hair", "wings", "backpack"))
    return Character.from_skeleton(make_person(rng, plan).build(), 60.0)


BODIES = {
    "human": lambda: BODY,
    "balls": lambda: Character.human(1.6, 60.0, preset="tracking"),
    "uneven": lambda: make_uneven(BODY, 1),
    "long": lambda: make_uneven(lengthen_spine(BODY, 40), 2),
    "odd": lambda: make_uneven(make_odd(), 4),
}


def find_look(seen, at, goal, along):
    """The rotation vector that turns a line of sight the shortest way."""
    u, v = seen.apply(along), (goal - at) / np.linalg.norm(goal - at)
    cross = np.cross(u, v)
    sine = np.linalg.norm(cross)
    return cross if sine < 1e-12 else cross / sine * np.arctan2(sine, u @ v)


def find_errors(body, still, was, root, turns, goals, edges, center):
    """What is asked for less what is, row by row, with the held body put back where it was."""
    seen, places, mass = place(root, turns, body)
    if still >= 0:
        back = was[0][still] * seen[still].inv()
        mass = was[1][still] + back.apply(mass - places[still])
        places = was[1][still] + back.apply(places - places[still])
        seen = [back * one for one in seen]
    index = body.skeleton.index
    rows = [edges[:, 2] - edges[:, :2] @ mass[[0, 2]], center - mass]
    for goal in goals:
        i = index(goal.joint)
        if isinstance(goal, PositionGoal):
            rows.append(goal.place - places[i] - seen[i].apply(goal.point.copy()))
        elif isinstance(goal, OrientationGoal):
            rows.append(SPAN * (Rotation.from_quat(goal.turn.copy(), scalar_first=True) * seen[i].inv()).as_rotvec())
        else:
            rows.append(
                SPAN * find_look(seen[i], places[i] + seen[i].apply(goal.point.copy()), goal.place, goal.along.copy())
            )
    return np.concatenate(rows)


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("held", [None, "leftFoot", "rightHand", "head"])
@pytest.mark.many(2)
def test_rows_are_those_of_differences(kind: str, held: str | None) -> None:
    """Edges, the centre of mass, points, turns and looks; the last two where they are met, which is where rates add."""
    body = BODIES[kind]()
    rng, index = np.random.default_rng(7), body.skeleton.index
    model = CharacterModel(body, held is None, {}, 0.0)
    arrays, still = model.arrays, -1 if held is None else index(held)
    arrays.radian_length = SPAN
    root, turns = draw(rng, 0.6, body)
    was = place(root, turns, body)
    eye, along = rng.normal(size=3) * 0.1, rng.normal(size=3)
    head, foot = index("head"), index("rightFoot")
    sees = was[1][head] + was[0][head].apply(eye) + 0.7 * was[0][head].apply(along / np.linalg.norm(along))
    goals = [
        PositionGoal("leftHand", rng.normal(size=3), rng.normal(size=3) * 0.2),
        PositionGoal("leftLowerLeg", rng.normal(size=3)),
        OrientationGoal("rightFoot", was[0][foot].as_quat(scalar_first=True)), LookAtGoal(sees, "head", eye, along),
    ]  # fmt: skip
    edges, center = np.array([[0.6, 0.8, 0.1], [1.0, 0.0, -0.2]]), rng.normal(size=3)
    compiled = compile_goals(body, goals, edges, tuple(center))
    work, system = model.begin(root, turns, still, len(goals)), build_system(arrays, compiled)
    write_rows(arrays, compiled, work, system)
    ours = find_errors(body, still, was, root, turns, goals, edges, center)
    np.testing.assert_allclose(system.e, ours, atol=1e-7)

    worst = 0.0
    for j in range(len(arrays.joint)):
        rows = []
        for step in (STEP, -STEP):
            q, at = turns.copy(), root.copy()
            i, axis = arrays.joint[j], np.eye(3)[arrays.axis[j]]
            if i == -1:
                at = at + step * axis
            elif i == -2:
                q[0] = rotation.multiply(rotation.exp(step * axis), q[0])
            else:
                ends = body.limits[body.skeleton.names[i]]
                q[i] = ends.rotation(ends.angles(q[i]) + step * axis)
            rows.append(find_errors(body, still, was, at, q, goals, edges, center))
        worst = max(worst, np.abs((rows[1] - rows[0]) / (2.0 * STEP) - system.J[:, j]).max())
    assert worst < 1e-6
    assert len(arrays.joint) > 40 and (kind not in ("long", "odd") or len(body.skeleton) > 60)


def move(body, arrays, root, turns, d):
    """A pose whose free angles change by d (n,)."""
    at, q, spin = root.copy(), turns.copy(), np.zeros(3)
    angles = {i: body.limits[body.skeleton.names[i]].angles(q[i]) for i in set(arrays.joint[arrays.joint >= 0])}
    for i, axis, by in zip(arrays.joint, arrays.axis, d, strict=True):
        if i >= 0:
            angles[i][axis] += by
        elif i == -1:
            at[axis] += by
        else:
            spin[axis] = by
    for i, values in angles.items():
        q[i] = body.limits[body.skeleton.names[i]].rotation(values)
    q[0] = rotation.multiply(rotation.exp(spin), q[0])
    return at, q


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("held", [None, "leftFoot", "head"])
@pytest.mark.many(3)
def test_second_slopes_are_those_of_differences(kind: str, held: str | None) -> None:
    """Along lines at random, each of which turns all angles at once. Turns where they are met; nothing looks."""
    body = BODIES[kind]()
    rng, index = np.random.default_rng(8), body.skeleton.index
    model = CharacterModel(body, held is None, {}, 0.0)
    arrays, still = model.arrays, -1 if held is None else index(held)
    arrays.radian_length = SPAN
    root, turns = draw(rng, 0.6, body)
    was, foot = place(root, turns, body), index("rightFoot")
    goals = [
        PositionGoal("leftHand", rng.normal(size=3), rng.normal(size=3) * 0.2),
        PositionGoal("leftLowerLeg", rng.normal(size=3)),
        OrientationGoal("rightFoot", was[0][foot].as_quat(scalar_first=True)),
    ]  # fmt: skip
    edges, center = np.array([[0.6, 0.8, 0.1], [1.0, 0.0, -0.2]]), rng.normal(size=3)
    compiled = compile_goals(body, goals, edges, tuple(center))
    work, system = model.begin(root, turns, still, len(goals)), build_system(arrays, compiled)
    write_rows(arrays, compiled, work, system)
    n, pulls = arrays.dofs, rng.normal(size=system.rows)
    half = np.zeros((n, n))
    add_curvature(arrays, compiled, work, system, pulls, half)
    H = np.tril(half) + np.tril(half, -1).T

    def pull(d: np.ndarray) -> float:
        errors = find_errors(body, still, was, *move(body, arrays, root, turns, d), goals, edges, center)
        return -float(pulls @ errors)

    for d in rng.normal(size=(12, n)) / np.sqrt(n):
        h = 3e-4
        differences = (pull(h * d) - 2.0 * pull(0.0 * d) + pull(-h * d)) / h**2
        assert d @ H @ d == pytest.approx(differences, abs=2e-6 * max(1.0, np.abs(H).max()))

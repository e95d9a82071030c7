"""Limbs brought to places by BFGS, against SciPy: gradients by differences, the least change by another method."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import Bounds, approx_fprime, minimize
from scipy.spatial.transform import Rotation

from poise.body.character import Character
from poise.ik.bfgs import LimbChain, _Search, reach_by_bfgs
from poise.ik.solver.limb_bfgs_kernels import descend, pull_limb
from poise.spatial import rotation

BODY = Character.human()


def make_chain(rng: np.random.Generator, ranged: bool, stem: str = "Arm", room: float = 0.6) -> LimbChain:
    """A limb in a pose within its ranges, somewhere in the world."""
    end = {"Arm": "Hand", "Leg": "Foot"}[stem]
    side = rng.choice(["left", "right"])
    names = [BODY.skeleton.index(side + each) for each in ("Upper" + stem, "Lower" + stem, end)]
    limits = [BODY.limits[BODY.skeleton.names[i]] for i in names]
    middle = [0.5 * (each.lower + each.upper) for each in limits]
    angles = [
        m + room * rng.uniform(-0.5, 0.5, 3) * (each.upper - each.lower) for m, each in zip(middle, limits, strict=True)
    ]
    turns = np.array([each.rotation(a) for each, a in zip(limits, angles, strict=True)])
    return LimbChain(
        Rotation.random(random_state=rng.integers(1 << 30)).as_matrix(), rng.normal(size=3),
        np.tile(np.eye(3), (3, 1, 1)), BODY.skeleton.offsets[names].copy(), np.array(turns),
        limits if ranged else [None] * 3, rng.normal(scale=0.05, size=3),
    )  # fmt: skip


def pose(chain: LimbChain, turns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The point and the end's axes, by SciPy."""
    axes, place = chain.carrier, chain.origin
    for bone, turn in zip(chain.bones, turns, strict=True):
        place = place + axes @ bone
        axes = axes @ Rotation.from_quat(turn, scalar_first=True).as_matrix()
    return place + axes @ chain.point, axes


def change(chain: LimbChain, turns: np.ndarray) -> float:
    """Half the squared turns of the joints."""
    a, b = (Rotation.from_quat(q, scalar_first=True) for q in (chain.turns, turns))
    return 0.5 * float(np.sum((a.inv() * b).magnitude() ** 2))


@pytest.mark.parametrize("is_level", [True, False])
@pytest.mark.parametrize("ranged", [True, False])
def test_the_gradient_is_that_of_differences(ranged, is_level):
    rng = np.random.default_rng(3)
    for _ in range(10):
        chain = make_chain(rng, ranged)
        point, axes = pose(chain, chain.turns)
        turn = Rotation.from_matrix(axes).as_quat(scalar_first=True)
        search = _Search(chain, point + rng.normal(scale=0.1, size=3), turn, is_level)
        x = search.start + rng.normal(scale=0.3, size=9)
        search.problem.multipliers[:] = rng.normal(size=6)
        search.problem.weights[:] = np.repeat(rng.uniform(1, 40, 2), 3)
        gradient = np.empty(9)

        def value(x, problem=search.problem):
            return pull_limb(problem, x, np.empty(9))

        pull_limb(search.problem, x, gradient)
        np.testing.assert_allclose(gradient, approx_fprime(x, value, 1e-7), atol=2e-4)


@pytest.mark.parametrize("ranged", [True, False])
@pytest.mark.slow
def test_it_comes_as_low_as_scipys_bfgs(ranged):
    """From the same start, with the same weights and bounds."""
    rng = np.random.default_rng(13)
    for _ in range(12):
        chain = make_chain(rng, ranged)
        point, axes = pose(chain, chain.turns)
        turn = Rotation.from_matrix(axes).as_quat(scalar_first=True)
        search = _Search(chain, point + rng.normal(scale=0.1, size=3), turn, True)
        search.problem.multipliers[:] = rng.normal(scale=0.1, size=6)
        search.problem.weights[:] = np.repeat(rng.uniform(1, 40, 2), 3)

        def value(x, problem=search.problem):
            gradient = np.empty(9)
            return pull_limb(problem, x, gradient), gradient

        x = search.start.copy()
        mine = descend(search.problem, x, 300)
        other = minimize(
            value, search.start, jac=True, method="L-BFGS-B", bounds=Bounds(search.low, search.high),
            options={"ftol": 1e-14, "gtol": 1e-9, "maxiter": 500},
        )  # fmt: skip
        assert np.all((x >= search.low) & (x <= search.high))
        assert mine <= other.fun + 1e-7 * max(1.0, abs(other.fun))


@pytest.mark.parametrize("stem", ["Arm", "Leg"])
def test_places_that_can_be_reached_are_reached_with_the_end_turned_as_it_was(stem):
    rng = np.random.default_rng(4)
    for k in range(25):
        chain = make_chain(rng, ranged=True, stem=stem)
        goal = chain.turns.copy()  # somewhere that the limb can be, with its end turned as it is there
        limits = chain.limits
        for i, each in enumerate(limits):
            a = each.angles(goal[i])
            goal[i] = each.rotation(np.clip(a + rng.normal(scale=0.15, size=3), each.lower, each.upper))
        place, axes = pose(chain, goal)
        turn = Rotation.from_matrix(axes).as_quat(scalar_first=True)
        found = reach_by_bfgs(chain, place, turn)
        point, there = pose(chain, found.turns)
        assert np.linalg.norm(point - place) < 1e-5, (k, found)
        assert Rotation.from_matrix(there.T @ axes).magnitude() < 1e-4, (k, found)
        assert change(chain, found.turns) <= change(chain, goal) + 1e-6
        for each, q in zip(limits, found.turns, strict=True):
            assert np.abs(each.excess(q)).max() < 1e-9


def test_the_change_is_the_least_that_another_method_finds():
    rng, compared = np.random.default_rng(5), 0
    for _ in range(8):
        chain = make_chain(rng, ranged=False)
        point, axes = pose(chain, chain.turns)
        place = point + rng.normal(scale=0.03, size=3)
        found = reach_by_bfgs(chain, place, Rotation.from_matrix(axes).as_quat(scalar_first=True))
        if found.turned > 1e-4:  # the arm is too short for that
            continue

        def turns_of(x, chain=chain):
            first = Rotation.from_quat(chain.turns, scalar_first=True)
            return (first * Rotation.from_rotvec(x.reshape(3, 3))).as_quat(scalar_first=True)

        def off(x, chain=chain, place=place, axes=axes, turns_of=turns_of):
            p, a = pose(chain, turns_of(x))
            return np.concatenate([p - place, Rotation.from_matrix(a @ axes.T).as_rotvec()])

        other = minimize(
            lambda x: 0.5 * float(x @ x), np.full(9, 1e-3), method="SLSQP", constraints={"type": "eq", "fun": off},
            options={"maxiter": 300, "ftol": 1e-12},
        )  # fmt: skip
        if np.abs(off(other.x)).max() < 1e-7:
            compared += 1
            assert change(chain, found.turns) <= 0.5 * float(other.x @ other.x) * (1 + 1e-3) + 1e-9
    assert compared >= 5


def test_out_of_reach_is_told_by_how_much():
    rng = np.random.default_rng(6)
    for _ in range(10):
        chain = make_chain(rng, ranged=False)
        shoulder = chain.origin + chain.carrier @ chain.bones[0]
        reach = np.linalg.norm(chain.bones[1:], axis=1).sum() + np.linalg.norm(chain.point)
        way = rng.normal(size=3)
        place = shoulder + (reach + 0.2) * way / np.linalg.norm(way)
        found = reach_by_bfgs(chain, place, rotation.from_matrix(pose(chain, chain.turns)[1]))
        assert np.linalg.norm(pose(chain, found.turns)[0] - place) == pytest.approx(found.miss, abs=1e-9)
        assert 0.2 - 1e-9 <= found.miss < 0.21
    free = reach_by_bfgs(chain, place, None)
    assert free.miss == pytest.approx(0.2, abs=1e-4)
    assert free.turned == 0.0


@pytest.mark.parametrize("ranged", [True, False])
def test_a_straight_arm_bends_to_come_nearer(ranged):
    joints = [BODY.skeleton.index(j) for j in ("rightUpperArm", "rightLowerArm", "rightHand")]
    limits = [BODY.limits[BODY.skeleton.names[j]] for j in joints]
    straight = np.array([each.rotation(np.zeros(3)) for each in limits])
    chain = LimbChain(
        np.eye(3), np.zeros(3), np.tile(np.eye(3), (3, 1, 1)), BODY.skeleton.offsets[joints].copy(), straight,
        limits if ranged else [None] * 3, np.zeros(3),
    )  # fmt: skip
    shoulder, (hand, _) = chain.bones[0], pose(chain, straight)
    assert reach_by_bfgs(chain, shoulder + 0.7 * (hand - shoulder), None).miss < 1e-5

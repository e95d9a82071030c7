"""Hands that reach for places about a body, in reach or not: a small part of the sweep `ik`."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.reaching import BODY, ENOUGH, HAND, NEAR, RIGHT, Optimiser, draw_places, make_stand, place
from poise.ik.goals import PositionGoal
from poise.ik.pose_solver import PoseSolver
from poise.ik.support_polygon import find_margin

MARGIN = 5e-5


@pytest.mark.parametrize("feet", [2, 1])
@pytest.mark.slow
def test_what_is_out_of_reach_is_given_up_and_nothing_else(feet: int) -> None:
    stand = make_stand(feet)
    places = draw_places(np.random.default_rng(10 + feet), 40)
    ready = PoseSolver(BODY).prepare(
        [PositionGoal("rightHand", places[0]), *stand.feet], stand.corners, MARGIN, enough=ENOUGH / 5, tries=8
    )
    _, were, _ = place(stand.root, stand.turns)
    met, far = 0, []
    for target in places:
        ready.places[0] = target
        found = ready.solve(stand.root, stand.turns)
        _, at, mass = place(found.root, found.rotations)
        assert find_margin(stand.edges, mass[[0, 2]]) > 0.0
        assert not stand.feet or np.linalg.norm(at[RIGHT] - were[RIGHT]) < ENOUGH
        off = float(np.linalg.norm(at[HAND] - target))
        met += off < ENOUGH
        if off >= ENOUGH:
            far.append((off, target, found.rotations))
    assert 20 <= met < 40
    optimiser = Optimiser(stand)
    off, target, turns = far[0]
    assert off < optimiser.reach(target, [optimiser.read(stand.turns), optimiser.read(turns)]) + NEAR


@pytest.mark.parametrize(
    ("feet", "which", "is_met"),
    [(2, 2741, True), (2, 4201, True), (2, 9420, False), (1, 2975, True), (1, 2704, False), (1, 7445, False)],
)
@pytest.mark.many(1)
def test_the_last_of_the_way_is_gone(feet: int, which: int, is_met: bool) -> None:
    """Places of the sweep at which steps by slopes alone left off short: of 1.6 and 11 mm, and of 20 to 28 mm."""
    stand = make_stand(feet)
    target = draw_places(np.random.default_rng(feet), which + 1)[-1]
    found = PoseSolver(BODY).solve(
        [PositionGoal("rightHand", target), *stand.feet], stand.root, stand.turns, stand.corners, MARGIN,
        enough=ENOUGH / 5,
        tries=8,
    )  # fmt: skip
    _, at, mass = place(found.root, found.rotations)
    off = float(np.linalg.norm(at[HAND] - target))
    assert find_margin(stand.edges, mass[[0, 2]]) > 0.0
    assert (off < ENOUGH) == is_met
    if not is_met:
        optimiser = Optimiser(stand)
        assert off < optimiser.reach(target, [optimiser.read(stand.turns), optimiser.read(found.rotations)]) + NEAR / 10


@pytest.mark.parametrize("feet", [2, 1])
def test_the_oracles_slopes_are_its_differences(feet: int) -> None:
    optimiser, rng = Optimiser(make_stand(feet)), np.random.default_rng(feet)
    values, target = rng.uniform(optimiser.low, optimiser.high), rng.normal(size=3)
    steps = 1e-6 * np.eye(len(values))
    differences = [(optimiser.measure(values + h, target)[0] - optimiser.measure(values - h, target)[0]) / 2e-6
                   for h in steps]  # fmt: skip
    np.testing.assert_allclose(optimiser.measure(values, target)[1], np.transpose(differences), atol=1e-7)

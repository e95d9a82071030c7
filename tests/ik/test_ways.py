"""Ways to keep a body up, beside one another, and what it likes: [balance, figures 5, 8 and 10]."""

from __future__ import annotations

import numpy as np

from helpers.reaching import BODY, keep, place, stand
from poise.ik.follower import PoseFollower
from poise.ik.goals import LookAtGoal, PositionGoal
from poise.ik.pose_solver import PoseSolver
from poise.ik.support_polygon import find_edges, find_margin
from poise.spatial import rotation

INDEX = BODY.skeleton.index
ROOT, TURNS, CORNERS = stand()
SEEN, PLACES, MASS = place(ROOT, TURNS)
FEET = keep("rightFoot", SEEN, PLACES)
EDGES = find_edges(CORNERS)


def test_the_pelvis_over_the_feet_is_not_balance() -> None:
    """A heavy thing held out ahead: by its hand alone the body falls, with its pelvis kept over its feet it falls too,
    which knows nothing of masses; by its centre of mass it stands.   [figure 8]"""
    far = PLACES[INDEX("rightHand")] + [0.1, 0.25, 0.75]
    hand, hips = PositionGoal("rightHand", far), PositionGoal("hips", PLACES[INDEX("hips")], first=True)
    poser, load = PoseSolver(BODY), 20.0
    poser.load({"rightHand": (load, (0.0, 0.0, 0.0))})
    ways = {
        "hand": poser.solve([hand, *FEET], ROOT, TURNS),
        "pelvis": poser.solve([hand, hips, *FEET], ROOT, TURNS),
        "center": poser.solve([hand, *FEET], ROOT, TURNS, CORNERS),
    }
    margins = {}
    for way, found in ways.items():
        _, at, mass = place(found.root, found.rotations)
        both = (75.0 * mass + load * at[INDEX("rightHand")]) / (75.0 + load)
        margins[way] = float(find_margin(EDGES, both[[0, 2]]))
    assert margins["hand"] < -0.05 and margins["pelvis"] < -0.02 and margins["center"] > -5e-4
    assert np.linalg.norm(ways["center"].root - ROOT) > 0.02  # the hips go back, which a pelvis that is held may not


def test_all_methods_keep_what_is_first() -> None:
    """Out of reach: error-fed weights and the null space give the hand up, not the feet or the centre of mass."""
    far = PLACES[INDEX("rightHand")] + [0.0, 0.3, 1.3]
    for method in ("blocks", "null-space"):
        found = PoseSolver(BODY).solve([PositionGoal("rightHand", far), *FEET], ROOT, TURNS, CORNERS, method=method)
        seen, at, mass = place(found.root, found.rotations)
        assert find_margin(EDGES, mass[[0, 2]]) > -1e-3
        assert np.linalg.norm(at[INDEX("rightFoot")] - PLACES[INDEX("rightFoot")]) < 1e-3
        assert (seen[INDEX("rightFoot")].inv() * SEEN[INDEX("rightFoot")]).magnitude() < 1e-2
        assert found.misses[0] > 0.05


def test_crouching_is_a_liking_and_never_costs_a_goal() -> None:
    """The height of the centre of mass as a bias: it sinks or rises, and the hand stays where it is.   [figure 10]"""
    hand = PLACES[INDEX("rightHand")] + [0.05, 0.1, 0.3]
    heights, offs = {}, {}
    for way, height in (("upright", 0.1), ("as it likes", None), ("crouch", -0.35)):
        follower = PoseFollower(BODY, [PositionGoal("rightHand", hand), *FEET], ROOT, TURNS, comfort=0.1)
        for side in ("left", "right"):
            follower.rest[INDEX(side + "LowerLeg"), 0] = 0.5
            follower.rest[INDEX(side + "UpperLeg"), 0] = -0.25
        weight = 0.0 if height is None else 1e-3
        found = follower.settle(
            400, center=MASS + [0.0, height or 0.0, 0.0], center_weight=(0.0, weight, 0.0), edges=EDGES
        )
        heights[way] = found.center[0, 1] - MASS[1]
        offs[way] = np.linalg.norm(place(found.root[0], found.rotations[0])[1][INDEX("rightHand")] - hand)
    assert heights["crouch"] < heights["as it likes"] - 0.05 and heights["upright"] > heights["as it likes"] + 0.01
    assert max(offs.values()) < 1e-3 and np.ptp(list(offs.values())) < 5e-4


def test_it_goes_to_the_pose_it_likes_and_looks_where_it_goes() -> None:
    rest = TURNS.copy()
    arm = INDEX("leftUpperArm")
    ends = BODY.limits[BODY.skeleton.names[arm]]
    rest[arm] = ends.rotation(np.array([-0.6, 0.0, 0.4]))
    follower = PoseFollower(BODY, [LookAtGoal((0.0, 0.0, 0.0)), *FEET], ROOT, TURNS)
    follower.rest[:] = follower.model.angles(rest)
    way = np.array([np.sin(0.5), 0.0, np.cos(0.5)])  # it turns to the left, and its eyes go before
    follower.looks[0] = PLACES[INDEX("head")] + 4.0 * way
    found = follower.settle(center=MASS, center_weight=(1.0, 0.0, 1.0))
    assert rotation.angle(found.rotations[0, arm], rest[arm]) < 0.02
    seen, at, _ = place(found.root[0], found.rotations[0])
    to = follower.looks[0] - at[INDEX("head")]
    assert np.degrees(np.arccos(seen[INDEX("head")].apply([0.0, 0.0, 1.0]) @ to / np.linalg.norm(to))) < 0.5


def test_prepared_goals_are_solved_as_new_ones() -> None:
    rng = np.random.default_rng(0)
    hands = PLACES[INDEX("rightHand")] + rng.normal(size=(14, 3)) * 0.3
    solver = PoseSolver(BODY)
    ready = solver.prepare([PositionGoal("rightHand", hands[0]), *FEET], CORNERS, tries=2)
    for hand in hands:
        one = solver.solve([PositionGoal("rightHand", hand), *FEET], ROOT, TURNS, CORNERS, tries=2)
        ready.places[0] = hand
        again = ready.solve(ROOT, TURNS)
        np.testing.assert_array_equal(again.rotations, one.rotations)
        np.testing.assert_array_equal(again.misses, one.misses)


def test_a_restored_follower_continues_with_the_same_bits() -> None:
    hand = PLACES[INDEX("rightHand")] + np.linspace((0.0, 0.0, 0.0), (0.1, 0.3, 0.5), 20)
    feet = PLACES[INDEX("rightFoot")]
    places = np.stack([hand, np.tile(feet, (20, 1))], axis=1)
    inputs = {"center": MASS, "center_weight": (1.0, 0.0, 1.0)}
    follower, other = (PoseFollower(BODY, [PositionGoal("rightHand", hand[0]), *FEET], ROOT, TURNS) for _ in range(2))
    follower.follow(places=places[:10], **inputs)
    other.restore(follower.state())
    mine, theirs = follower.follow(places=places[10:]), other.follow(places=places[10:])
    np.testing.assert_array_equal(mine.rotations, theirs.rotations)
    np.testing.assert_array_equal(mine.root, theirs.root)

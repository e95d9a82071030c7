"""Bodies that follow goals frame after frame: smooth, on feet that stay, in one call or step by step."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares

from helpers.errors import rejects
from helpers.reaching import BODY, draw, keep, place, stand
from poise import InputError
from poise.ik.follower import PoseFollower
from poise.ik.goals import LookAtGoal, PositionGoal
from poise.ik.solver.model_kernels import find_angles
from poise.ik.support_polygon import find_edges
from poise.spatial import rotation

INDEX = BODY.skeleton.index
HAND, LEFT, RIGHT = INDEX("rightHand"), INDEX("leftFoot"), INDEX("rightFoot")


def ease(t):
    t = np.clip(t, 0.0, 1.0)
    return t**3 * (10.0 - 15.0 * t + 6.0 * t * t)


def step_course(rate, seconds=3.0):
    """A shift over the left foot, a step of the right one, a bent arm that waves: targets of frames."""
    root, turns, _ = stand()
    _, places, mass = place(root, turns)
    t = np.arange(0.0, seconds, 1.0 / rate)
    hand = places[HAND] + [0.0, 0.25, 0.3] + 0.08 * np.column_stack([np.sin(3 * t), np.sin(2 * t), np.cos(3 * t)])
    swing, over = ease((t - 1.3) / 1.2)[:, None], ease(t / 1.2)[:, None]
    foot = places[RIGHT] + np.array([0.0, 0.0, 0.25]) * swing + [0.0, 1.6, 0.0] * (swing * (1.0 - swing)) ** 2
    center = mass + over * (places[LEFT] - mass) * [1.0, 0.0, 1.0] - [0.0, 0.06, 0.0]
    return np.stack([hand, foot, np.tile(places[LEFT], (len(t), 1))], axis=1), center


def make_follower(**options):
    root, turns, _ = stand()
    _, places, _ = place(root, turns)
    feet = [goal for name in ("rightFoot", "leftFoot") for goal in keep(name, *place(root, turns)[:2])]
    follower = PoseFollower(BODY, [PositionGoal("rightHand", places[HAND]), *feet], root, turns, **options)
    for side in ("left", "right"):  # a leg or an arm that is quite straight may bend at any moment, at once
        for stem, angle in (("UpperLeg", -0.2), ("LowerLeg", 0.4), ("Foot", -0.2), ("LowerArm", -0.5)):
            follower.rest[INDEX(side + stem), 0] = angle
    return follower


def follow(rate, **options):
    places, center = step_course(rate)
    follower = make_follower(**options)
    asked = {"places": places, "center": center, "center_weight": (1.0, 0.1, 1.0)}
    follower.settle(**asked)
    return follower, follower.follow(**asked), places, center


def test_it_goes_where_it_is_told_and_stays_on_its_foot() -> None:
    _, found, places, center = follow(100)
    seen = [place(root, turns) for root, turns in zip(found.root, found.rotations, strict=True)]
    at, mass = np.array([one[1] for one in seen]), np.array([one[2] for one in seen])
    np.testing.assert_allclose(mass, found.center, atol=1e-12)
    assert np.ptp(at[:, LEFT], axis=0).max() < 1e-12
    assert np.linalg.norm(at[:, RIGHT] - places[:, 1], axis=1).max() < 2e-5
    assert np.abs(mass - center)[:, [0, 2]].max() < 2e-5
    assert np.linalg.norm(at[:, HAND] - places[:, 0], axis=1).max() < 2e-3
    assert found.first.max() < 5e-5
    for name, ends in BODY.limits.items():
        assert np.abs(ends.excess(found.rotations[:, INDEX(name)])).max() < 1e-7


def test_it_is_smooth() -> None:
    """Twice the frames: second differences of the angles fall by four, as of a smooth curve; a kink's fall by two."""
    accelerations = []
    for rate in (100, 200):
        follower, found, *_ = follow(rate)
        angles = follower.model.angles(found.rotations)
        accelerations.append(np.abs(np.diff(angles, 2, axis=0)).max() * rate**2)
    assert accelerations[1] < 1.25 * accelerations[0] < 60.0


def test_it_does_not_depend_on_the_frame_rate() -> None:
    angles = []
    for rate in (50, 400):
        follower, found, *_ = follow(rate)
        angles.append(follower.model.angles(found.rotations)[:: rate // 50])
    assert np.degrees(np.abs(angles[0] - angles[1])).max() < 3.0


@pytest.mark.slow
def test_it_is_the_least_of_what_is_said() -> None:
    """[follow, 1], against SciPy's least squares on places by SciPy's rotations, without barriers at the ends."""
    places, center = step_course(10)
    follower = make_follower()
    rest = follower.rest.copy()
    found = follower.settle(places=places[8], center=center[8], center_weight=(1.0, 0.1, 1.0))
    arrays = follower.model.arrays
    root, turns, _ = stand()
    was, where, _ = place(root, turns)

    def pose(values):
        angles = np.zeros((len(BODY.skeleton), 3))
        angles[arrays.joint, arrays.axis] = values
        q = rotation.identity((len(angles),))
        for i in np.flatnonzero(arrays.has_angles):
            q[i] = BODY.limits[BODY.skeleton.names[i]].rotation(angles[i])
        seen, at, mass = place(root, q)
        back = was[LEFT] * seen[LEFT].inv()
        return (
            [back * one for one in seen],
            where[LEFT] + back.apply(at - at[LEFT]),
            where[LEFT] + back.apply(mass - at[LEFT]),
        )

    def errors(values):
        seen, at, mass = pose(values)
        turn = follower.model.arrays.radian_length * (was[RIGHT] * seen[RIGHT].inv()).as_rotvec()
        rows = [
            1e2 * (at[HAND] - places[8, 0]), 1e4 * (at[RIGHT] - places[8, 1]), 1e4 * turn,
            1e2 * np.array([1e2, np.sqrt(0.1), 1e2]) * (mass - center[8]),
            values - rest[arrays.joint, arrays.axis],
        ]  # fmt: skip
        return np.concatenate(rows)

    ours = follower.model.angles(found.rotations[0])[arrays.joint, arrays.axis]
    room = np.minimum(ours - arrays.low, arrays.high - ours)
    inside = room > 0.12  # where no barrier is
    start = ours + np.where(inside, np.random.default_rng(0).normal(size=len(ours)) * 0.03, 0.0)

    def free(values):
        return errors(np.where(inside, np.place(full := ours.copy(), inside, values) or full, ours))

    best = least_squares(free, start[inside], x_scale="jac", xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=200)
    assert inside.sum() > 30
    assert np.sum(errors(ours) ** 2) < 2.0 * best.cost * (1.0 + 1e-5)


def test_another_foot_is_held_without_a_jump() -> None:
    places, center = step_course(100)
    follower = make_follower()
    held = np.where(np.arange(len(places)) < 280, LEFT, RIGHT)
    asked = {"places": places, "center": center, "center_weight": (1.0, 0.1, 1.0)}
    follower.settle(**asked)
    found = follower.follow(held=held, **asked)
    at = np.array(
        [place(root, turns)[1][RIGHT] for root, turns in zip(found.root[278:], found.rotations[278:], strict=True)]
    )
    assert np.linalg.norm(np.diff(at, axis=0), axis=1).max() < 1e-5
    assert np.ptp(at[2:], axis=0).max() < 1e-12
    angles = follower.model.angles(found.rotations)
    assert np.abs(np.diff(angles, 2, axis=0)[276:]).max() < 1e-3
    follower.hold("leftFoot")
    root, _ = follower.step()
    assert np.linalg.norm(root - found.root[-1]) < 1e-3


def test_steps_are_the_frames_of_a_sequence() -> None:
    _, found, places, center = follow(100)
    follower = make_follower()
    follower.center_weight[:] = 1.0, 0.1, 1.0
    follower.places[:], follower.center[:] = places[0], center[0]
    follower.step(200)
    for k in range(60):
        follower.places[:], follower.center[:] = places[k], center[k]
        root, turns = follower.step()
        np.testing.assert_array_equal(turns, found.rotations[k])
        np.testing.assert_array_equal(root, found.root[k])
    np.testing.assert_array_equal(follower.last.center[0], found.center[59])


def test_given_joints_turn_as_told_and_loads_count() -> None:
    places, center = step_course(50)
    arms = ["leftUpperArm", "leftLowerArm"]
    which = [INDEX(name) for name in arms]
    given = rotation.exp(0.4 * np.sin(np.linspace(0, 3, len(places)))[:, None, None] * np.ones((1, 2, 3)))
    follower = make_follower(given=arms)
    follower.load({"leftHand": (8.0, (0.05, -0.1, 0.0))})
    asked = {"places": places, "center": center, "center_weight": (1.0, 0.0, 1.0), "given_turns": given}
    follower.settle(**asked)
    found = follower.follow(**asked)
    np.testing.assert_allclose(found.rotations[:, which], given, atol=1e-15)
    own = sum(segment.inertia.mass for segment in BODY.segments)
    for k in (0, 70, 149):
        seen, at, mass = place(found.root[k], found.rotations[k])
        load = at[INDEX("leftHand")] + seen[INDEX("leftHand")].apply([0.05, -0.1, 0.0])
        both = (own * mass + 8.0 * load) / (own + 8.0)
        np.testing.assert_allclose(both, found.center[k], atol=1e-12)
        np.testing.assert_allclose(both[[0, 2]], center[k, [0, 2]], atol=1e-4)
    follower.give([])
    follower.rest[:] = follower.angles
    _, turns = follower.step()
    assert np.degrees(rotation.angle(turns, found.rotations[-1])).max() < 0.1  # it goes on from where the arm was


def test_the_held_body_may_be_moved_and_eyes_follow() -> None:
    root, turns, corners = stand()
    seen, at, _ = place(root, turns)
    look = at[INDEX("head")] + np.array([0.5, 0.0, 2.0])
    follower = PoseFollower(BODY, [LookAtGoal(look), *keep("rightFoot", seen, at)], root, turns)
    drift = np.linspace(0.0, 0.1, 30)[:, None] * [1.0, 0.5, 0.0]
    feet = [seen[i].as_quat(scalar_first=True) for i in (LEFT, RIGHT)]
    found = follower.follow(
        base_place=at[LEFT] + drift, base_turn=feet[0], places=(at[RIGHT] + drift)[:, None], edges=find_edges(corners)
    )
    _, where, _ = place(found.root[-1], found.rotations[-1])
    np.testing.assert_allclose(where[LEFT], at[LEFT] + drift[-1], atol=1e-12)
    assert found.first.max() < 1e-4 and found.second[-1] < 1e-2


def test_angles_come_back() -> None:
    rng = np.random.default_rng(3)
    arrays = make_follower().model.arrays
    _, turns = draw(rng, 1.0)
    for i, name in enumerate(BODY.skeleton.names):
        if name in BODY.limits and i:
            angles = np.zeros(3)
            find_angles(-turns[i], arrays.before[i], arrays.after[i], angles)
            np.testing.assert_allclose(angles, BODY.limits[name].angles(turns[i]), atol=1e-9)


def test_bad_input_is_refused() -> None:
    follower = make_follower()
    places, center = step_course(20)
    with pytest.raises(InputError, match="same number of frames"):
        follower.follow(places=places, center=center[:5])
    with pytest.raises(InputError, match="finite"):
        follower.follow(places=places * np.nan)
    with pytest.raises(InputError, match=r"places of a follower must be \(F, 3, 3\)"):
        follower.follow(places=places[:, :1])
    rejects(lambda: follower.follow(place=places), "Did you mean 'places'")
    with pytest.raises(InputError, match="negative"):
        follower.follow(weights=(-1.0, 1.0, 1.0, 1.0, 1.0))
    with pytest.raises(InputError, match="more than 0"):
        follower.follow(comfort=0.0)
    with pytest.raises(InputError, match="names, or numbers"):
        follower.follow(held=[99])
    with pytest.raises(InputError, match="load is kg"):
        follower.load({"leftHand": (-1.0, (0.0, 0.0, 0.0))})
    with pytest.raises(InputError, match="follows the goals"):
        follower.give(["hips"])
    with pytest.raises(InputError, match="given together"):
        follower.follow(base_place=places[:, 0])
    rejects(lambda: follower.follow(edges=np.zeros((13, 3))), "12")
    with pytest.raises(InputError, match="cannot hold"):
        make_follower(held=None).follow(held=[1])

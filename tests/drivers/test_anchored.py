"""An anchored root: where the contact puts it, moving as it says, handed on without a jump, on any ground."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from helpers.anchored_root import GROUNDS, Walked, Walker, place_point
from helpers.recordings import data_file
from helpers.stages import check_goes_on
from poise.body.character import Character
from poise.drivers.body import Body
from poise.drivers.kinematic.kinematic import Kinematic
from poise.drivers.root.anchor import BODY, GIVEN, ROOT, Anchor, plan_rest
from poise.drivers.root.anchored import Anchored
from poise.drivers.root.supports import find_supports
from poise.errors import InputError
from poise.motion.root import root_at_hips
from poise.motion.samples import jump, squat, walk
from poise.stage.stage import Stage

HUMAN = Character.human(1.75, 75.0, preset="mix")
WALK = walk(HUMAN.skeleton, 4.0, 60.0)
JOINTS = list(HUMAN.skeleton.names[1:])
FOOT = HUMAN.skeleton.index("leftFoot")
HEEL = np.array([0.01, -0.07, -0.05])


def swing(body: Body, t: float, turn_root: bool) -> Body:
    """Every joint swings about an axis of its own, so that its rates are known in closed form."""
    rng = np.random.default_rng(3)
    j = len(body.skeleton)
    axes = rng.standard_normal((j, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    size, rate, phase = rng.uniform(0.2, 0.9, (j, 1)), rng.uniform(2.0, 6.0, (j, 1)), rng.uniform(0.0, 6.0, (j, 1))
    s = body.state
    first = 0 if turn_root else 1
    angle = size * np.sin(rate * t + phase)
    q = Rotation.from_rotvec(axes * angle).as_quat(scalar_first=True)
    s.q[first:] = q[first:]
    s.w[first:] = (axes * size * rate * np.cos(rate * t + phase))[first:]
    body.dw[first:] = (-axes * angle * rate**2)[first:]
    return body


def find_root(body: Body) -> list[np.ndarray]:
    """Position, velocity and acceleration of the root, and of its orientation."""
    s = body.state
    return [s.root, s.v, body.a, s.q[0], s.w[0], body.dw[0]]


def settling(turned: str) -> tuple[Anchor, Body]:
    """An anchor at a heel that was taken in full flight and turn."""
    body = Body(HUMAN)
    anchor = Anchor(turned)
    swing(body, 0.3, True)
    body.state.root[:], body.state.v[:], body.a[:] = (0.1, 1.0, -0.3), (0.4, -0.6, 0.9), (2.0, 3.0, -1.0)
    anchor.take(body, 0.3, FOOT, HEEL)
    anchor.rest(np.array([0.02, -0.05, 0.04]), np.array([0.2, 0.3, 0.2]), np.array([0.4, 1.1, -0.6]), 0.35)
    return anchor, body


@pytest.mark.parametrize("turned", [GIVEN, BODY, ROOT])
@pytest.mark.parametrize("t", [0.42, 0.57, 1.5])
def test_velocity_and_acceleration_are_the_derivatives_of_the_place(turned: str, t: float) -> None:
    """While it comes to rest, and after: by central differences of places, and of orientations in their tangents."""
    anchor, body = settling(turned)

    def at(t: float) -> list[np.ndarray]:
        anchor.move_root(swing(body, t, turned == GIVEN), t)
        s = body.state
        return [x.copy() for x in (s.root, s.v, body.a, s.q[0], s.w[0], body.dw[0])]

    h = 1e-4
    (r0, v0, _, q0, w0, _), (_, v, a, q, w, dw), (r1, v1, _, q1, w1, _) = at(t - h), at(t), at(t + h)
    np.testing.assert_allclose(v, (r1 - r0) / (2 * h), atol=1e-5)
    np.testing.assert_allclose(a, (v1 - v0) / (2 * h), atol=1e-3)
    here = Rotation.from_quat(q, scalar_first=True).inv()
    back, on = ((here * Rotation.from_quat(x, scalar_first=True)).as_rotvec() for x in (q0, q1))
    np.testing.assert_allclose(w, (on - back) / (2 * h), atol=1e-5)
    np.testing.assert_allclose(dw, (w1 - w0) / (2 * h), atol=1e-3)
    assert np.linalg.norm(a) > 1.0


@pytest.mark.parametrize("turned", [GIVEN, BODY, ROOT])
def test_what_is_anchored_stays_where_it_came_to_rest(turned: str) -> None:
    """The point; and the body's orientation, or the root's, where those are anchored."""
    anchor, body = settling(turned)
    held = 0 if turned == ROOT else FOOT
    points, turns = [], []
    for t in np.linspace(0.66, 3.0, 40):
        anchor.move_root(swing(body, t, turned == GIVEN), t)
        points.append(place_point(body, FOOT, HEEL))
        chain = [body.skeleton.chain(held), Rotation.identity()]
        for i in chain[0]:
            chain[1] = chain[1] * Rotation.from_quat(body.state.q[i], scalar_first=True)
        turns.append(chain[1])
    assert np.ptp(points, axis=0).max() < 1e-9
    angles = np.array([(turns[0].inv() * turn).magnitude() for turn in turns])
    assert (angles.max() < 1e-9) == (turned != GIVEN)


@pytest.mark.parametrize("turned", [GIVEN, BODY, ROOT])
def test_a_hand_over_changes_nothing_at_its_instant(turned: str) -> None:
    """Place, velocity and acceleration of the root, and its orientation's, from one point to quite another."""
    anchor, body = settling(turned)
    other = HUMAN.skeleton.index("rightFoot")
    anchor.move_root(swing(body, 0.5, turned == GIVEN), 0.5)
    before = [x.copy() for x in find_root(body)]
    point, _, _ = anchor.take(body, 0.5, other, HEEL)
    assert np.linalg.norm(point[1]) > 0.5
    way, span = plan_rest(point[1], point[2], 0.1, 0.3, 12.0)
    anchor.rest(way, np.full(3, span), np.ones(3), 0.2)
    anchor.move_root(swing(body, 0.5, turned == GIVEN), 0.5)
    for x, y in zip(before, find_root(body), strict=True):
        np.testing.assert_allclose(x, y, rtol=0.0, atol=1e-9)


def test_the_way_to_rest_slides_least() -> None:
    """Of all quintics from a velocity and an acceleration to rest, in the mean square of their velocity."""
    from poise.drivers.root.kernels import come_to_rest

    v, a, span = 0.7, -4.0, 0.2
    way, got = plan_rest(np.array([v, 0, 0]), np.array([a, 0, 0]), span, span, 1e9)
    assert got == span

    def slide(way: float) -> float:
        return float(np.mean([come_to_rest(x, span, v, a, way)[1] ** 2 for x in np.linspace(0.0, span, 2001)]))

    assert slide(way[0]) < min(slide(way[0] + 1e-4), slide(way[0] - 1e-4))


def stance_limits(walker: Walker, walked: Walked) -> tuple[float, float]:
    """m: the longest slide in a stance, and the travel of supports that have come to rest."""
    own = [s for s in walked.stances() if walked.chosen[s[0]] < len(walker.player.selector.supports.names)]
    return max(walked.slide(*s) for s in own), max(walked.travel(*s, after=0.6) for s in own)


@pytest.mark.parametrize("name", ["flat", "up 10", "aside 10", "steps up", "steps down"])
@pytest.mark.many(2)
def test_a_walk_crosses_any_ground_without_a_jump(name: str) -> None:
    ground = GROUNDS[name]
    walker = Walker(HUMAN, WALK, Anchored(WALK, cutoff=np.inf, ground=ground))
    walked = walker.run(WALK.duration, ground)
    assert len(walked.handovers) >= 7
    assert max(h.jump for h in walked.handovers) < 1e-9
    assert max(h.kick for h in walked.handovers) < 1e-6
    assert max(h.blow for h in walked.handovers) < 0.1
    slide, travel = stance_limits(walker, walked)
    assert slide < 1e-3
    assert travel < 1e-9
    # It goes as far as the clip, as high as the ground, and ends with a sole on it.
    np.testing.assert_allclose(walked.root[-1, [0, 2]], WALK.root[-1, [0, 2]], atol=1e-3)
    assert abs(walked.over[-1]) < 1e-4
    under = ground(walked.point[-1, 0], walked.point[-1, 2])
    assert walked.root[-1, 1] - under == pytest.approx(WALK.root[-1, 1], abs=1e-3)
    assert np.abs(walked.a).max() < 15.0


@pytest.mark.parametrize(("stature", "speed"), [(1.2, 0.5), (1.95, 1.48)])
@pytest.mark.many(1)
def test_small_and_large_bodies_walk_slowly_and_fast(stature: float, speed: float) -> None:
    character = Character.human(stature, 75.0 * (stature / 1.75) ** 3, preset="mix")
    clip = walk(character.skeleton, 4.5, 60.0, speed=speed)
    walker = Walker(character, clip, Anchored(clip, cutoff=np.inf, ground=GROUNDS["steps up"]), dt=0.008)
    walked = walker.run(clip.duration, GROUNDS["steps up"])
    assert max(h.jump for h in walked.handovers) < 1e-9
    assert max(h.kick for h in walked.handovers) < 1e-6
    assert stance_limits(walker, walked)[0] < 1e-3
    assert walked.root[-1, 2] == pytest.approx(clip.root[-1, 2], abs=2e-3)


def test_a_jump_flies_by_its_clip() -> None:
    """Free of its supports it falls as the clip does, and lands where it took off."""
    clip = jump(HUMAN.skeleton)
    walker = Walker(HUMAN, clip, Anchored(clip, cutoff=np.inf))
    walked = walker.run(clip.duration, GROUNDS["flat"])
    flight = walked.chosen == 6
    assert 0.3 < flight.sum() * 0.005 < 0.6
    middle = np.flatnonzero(flight)[30:-30]
    np.testing.assert_allclose(walked.a[middle], np.tile([0.0, -9.81, 0.0], (len(middle), 1)), atol=0.2)
    assert max(h.kick for h in walked.handovers) < 1e-6
    assert np.abs(walked.root - clip.pose(walked.times).root).max() < 2e-3


def test_a_foot_that_lies_flat_turns_the_root_too() -> None:
    """A squat by its joints alone, the root not among them: the left foot's frame gives the root that the clip has."""
    clip = squat(HUMAN.skeleton)
    walker = Walker(HUMAN, clip, Anchored(when=[(0.0, "left"), (1.2, "right")]))
    turns = []
    for t in np.arange(0.5, clip.duration / 0.005) * 0.005:
        root = walker.look(t)[0]
        wanted = clip.pose(t)
        assert np.abs(root - wanted.root).max() < 2e-3
        turns.append(abs(float(walker.body.state.q[0] @ wanted.rotations[0])))
    assert 2.0 * np.arccos(min(min(turns), 1.0)) < 5e-3
    assert walker.player.support == "right foot"


def test_a_flat_foot_lies_down_on_a_slope() -> None:
    """Its sole along the ground, and the body leaning with it."""
    clip = squat(HUMAN.skeleton)
    walker = Walker(HUMAN, clip, Anchored(ground=GROUNDS["up 10"]))
    walker.look(0.01)
    turn = Rotation.identity()
    for i in HUMAN.skeleton.chain(FOOT):
        turn = turn * Rotation.from_quat(walker.body.state.q[i], scalar_first=True)
    up = turn.apply([0.0, 1.0, 0.0])
    assert np.degrees(np.arctan2(-up[2], up[1])) == pytest.approx(10.0, abs=1e-6)


def test_without_a_plan_the_foot_that_stands_is_found_as_it_comes() -> None:
    """The same walk with the same points, but as a motion whose contacts nobody knows; and by its joints alone."""
    supports = find_supports(HUMAN.skeleton, None, whole_feet=False)
    names, joints, points = supports.names, supports.joints, supports.points
    supports = {n: (HUMAN.skeleton.names[j], p) for n, j, p in zip(names, joints, points, strict=True)}
    walked = Walker(HUMAN, WALK, Anchored(WALK, cutoff=np.inf, supports=supports)).run(4.0, GROUNDS["flat"])
    assert np.abs(walked.root - WALK.pose(walked.times).root).max() < 0.01
    sides = [h.support.split()[0] for h in walked.handovers if h.support]
    swaps = [b for a, b in pairwise(["right", *sides]) if a != b]
    assert swaps[:4] == ["left", "right", "left", "right"]
    alone = Walker(HUMAN, WALK, Anchored(fixes="point")).run(4.0, GROUNDS["flat"])
    assert alone.root[-1, 2] - alone.root[0, 2] == pytest.approx(WALK.root[-1, 2], abs=0.15)
    assert max(h.kick for h in alone.handovers) < 1e-5


@pytest.mark.parametrize(
    ("file", "off", "slide"), [("bvh-cmu/07_01.bvh", 0.04, 0.02), ("force-bvh/hamner_run_raw.bvh", 0.04, 0.02)]
)
def test_recordings_are_handed_on_without_a_jump(file: str, off: float, slide: float) -> None:
    """A walk, and a run on a treadmill that leaves it: its root travels as far as the belt did."""
    clip = root_at_hips(poise.load_clip(data_file(file))).body
    walker = Walker(Character.from_skeleton(clip.skeleton), clip, Anchored(clip), cutoff=None)
    walked = walker.run(min(clip.duration, 2.6), GROUNDS["flat"])
    plan = walker.player.selector.plan
    assert len(walked.handovers) > 7
    assert max(h.gaps[0] for h in walked.handovers) < 1e-9
    assert max(h.gaps[1] for h in walked.handovers) < 1e-9
    lifts = np.append(plan.lifts, np.nan)[walked.chosen]
    assert np.nanmax(np.abs(walked.over - lifts)) < off
    assert stance_limits(walker, walked)[0] < slide
    way = clip.pose(walked.times).root - np.outer(walked.times, plan.belt)
    assert np.abs(walked.root - way)[:, [0, 2]].max() < 0.15
    assert ("run" in file) == (np.linalg.norm(plan.belt) > 3.0)


def staged(**options: Any) -> tuple[Stage, Any]:
    stage = Stage(dt=0.005)
    actor = stage.add(HUMAN, pose=WALK.pose(0.0))
    actor.drive("root", Anchored(WALK, cutoff=np.inf, **options))
    actor.drive(JOINTS, Kinematic(WALK, cutoff=np.inf))
    return stage, actor


def test_on_a_stage_it_is_asked_after_the_others_and_nobody_who_looks_changes_it() -> None:
    """Given before the joints are; recorded at any rate, and run by hand: the same bits."""
    roots = []
    for fps in (50.0, 30.0, None):
        stage, actor = staged(ground=GROUNDS["steps up"])
        if fps is None:
            stage.advance(400)
        else:
            take = stage.run(2.0, fps=fps)
            if fps == 50.0:
                times, first = take.times, take.actor().root
        actor.show(2.0)
        roots.append(actor.body.state.root.copy())
    assert np.array_equal(roots[0], roots[1])
    assert np.array_equal(roots[0], roots[2])
    walker = Walker(HUMAN, WALK, Anchored(WALK, cutoff=np.inf, ground=GROUNDS["steps up"]))
    walked = walker.run(2.0, GROUNDS["steps up"])
    beside = np.array([np.interp(times, walked.times, walked.root[:, k]) for k in range(3)]).T
    assert np.abs(first - beside)[1:-1].max() < 1e-3


def test_a_saved_moment_goes_on_to_the_same_bits() -> None:
    stage, actor = staged(ground=GROUNDS["up 10"])
    stage.advance(255)
    check_goes_on(stage, 0.7)
    plain = next(a.player.save() for a in actor.assignments if isinstance(a.driver, Anchored))
    assert all(np.asarray(value).dtype.kind in "if" for value in plain["anchor"]["state"].values())
    assert {type(plain["current"]), *map(type, plain["clock"].values())} == {int, float}


def test_it_can_be_sent_and_goes_at_the_speed_of_its_motion() -> None:
    """Half as fast, it is where it was after half the time: the root turns with the joints, and no foot slides."""
    again = pickle.loads(pickle.dumps(Anchored(WALK, when=[(0.0, "left")])))
    assert again.when == [(0.0, "left")]
    stage, actor = staged()
    stage.advance(200)
    actor.change(speed=0.5)
    stage.advance(700)
    actor.show(stage.time)
    assert np.abs(actor.body.state.root - WALK.pose(1.0 + 1.75 + 0.35 / 4).root).max() < 2e-3


def test_the_root_changes_hands_without_a_jump() -> None:
    """From a clip's path to an anchor in mid-stride, and back to nothing worse than the clip's take-over."""
    stage, actor = staged()
    actor.drive("root", Kinematic(WALK, cutoff=np.inf))
    stage.advance(391)
    actor.show(stage.time)
    state = actor.body.state
    before = [x.copy() for x in (state.root, state.v, state.q[0], state.w[0])]
    actor.drive("root", Anchored(WALK, cutoff=np.inf, ground=lambda x, z: 0.0 * x + 0.05))
    stage.build()
    actor.show(stage.time)
    after = [actor.body.state.root, actor.body.state.v, actor.body.state.q[0], actor.body.state.w[0]]
    # The clip's take-over of the root's turn has its rates by differences, which is what the last digits are.
    for x, y, slack in zip(before, after, (1e-9, 1e-5, 1e-9, 1e-5), strict=True):
        np.testing.assert_allclose(x, y, rtol=0.0, atol=slack)
    stage.advance(409)
    actor.show(stage.time)
    assert actor.body.state.root[1] == pytest.approx(WALK.root[-1, 1] + 0.05, abs=1e-3)


def test_loose_arms_hang_from_an_anchored_walk() -> None:
    """The engine moves them with the root's acceleration: they stay near where they hang."""
    stage, actor = staged()
    actor.drive(["leftLowerArm", "leftHand"], poise.Loose(0.3))
    take = stage.run(2.0)
    angle = 2 * np.arccos(np.clip(np.abs(take.actor().rotations[:, HUMAN.skeleton.index("leftLowerArm"), 0]), 0, 1))
    assert 0.02 < np.ptp(angle) < 1.5


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Anchored(fixes="foot"), "'foot'"),
        (lambda: Anchored(settle=0.0), "0.001 to 10 s"),
        (lambda: staged(when=[(0.0, "tail")])[0].build(), "tail"),
        (lambda: staged(when=[(1.0, "left"), (0.5, "right")])[0].build(), "increase"),
        (lambda: staged(supports={})[0], "none given"),
        (lambda: Stage().add(HUMAN).drive("arms", Anchored()), "only the root"),
        (lambda: staged()[1].drive("leftLeg", poise.Loose()), "physical"),
    ],
)
def test_what_cannot_be_is_refused_in_words(make: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_it_stands_on_the_ground_of_its_stage_and_wants_one() -> None:
    stage = Stage(ground=poise.Ground(height=0.4))
    actor = stage.add(HUMAN, pose=WALK.pose(0.0))
    actor.drive(JOINTS, Kinematic(WALK))
    actor.drive("root", poise.Anchored(WALK))
    stage.build()
    assert actor.body.state.root[1] == pytest.approx(WALK.root[0, 1] + 0.4, abs=1e-4)
    nowhere = Stage(ground=None).add(HUMAN)
    nowhere.drive("root", Anchored())
    with pytest.raises(InputError, match="this stage has none"):
        nowhere.stage.build()

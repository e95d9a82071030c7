"""Joints that follow what comes: smooth to the acceleration at any feed, as late as it says, the same bits again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import poise
from helpers.stages import HUMAN, Swaying, haunted, live
from poise.drivers.body import Body
from poise.drivers.kinematic.live import LivePlayer
from poise.errors import InputError
from poise.motion.live import Live
from poise.motion.motion import Pose
from poise.motion.parts import part_joints
from poise.spatial import rotation
from poise.stage.stage import Stage

J = len(HUMAN.skeleton)
ARMS = part_joints(HUMAN.skeleton, "arms")
DT = 0.005


class Source:
    """A live motion out of a function of time, which gives the arms' turns (3,) rad and the root's place (3,) m."""

    is_live, skeleton = True, HUMAN.skeleton

    def __init__(self, turn: Callable[[float], Any], delay: float = 0.1):
        self.turn, self.delay = turn, delay

    def pose(self, t: float) -> Pose:
        e = np.asarray(self.turn(t), float)
        turns = rotation.identity((J,))
        turns[:] = rotation.exp(e)
        return Pose(e + [0.0, 1.0, 0.0], turns)


def player_of(source: Any, joints: list[int] | None = None) -> tuple[LivePlayer, Body]:
    body = Body(HUMAN)
    player = poise.Kinematic(source).build(body, np.array(ARMS if joints is None else joints), 0.0)
    assert isinstance(player, LivePlayer)
    player.begin(body, 0.0, True)
    return player, body


def give(player: LivePlayer, body: Body, t: float) -> tuple[np.ndarray, ...]:
    player.write(body, t)
    k = player.joints
    return (
        body.state.q[k].copy(),
        body.state.w[k].copy(),
        body.dw[k].copy(),
        *(x.copy() for x in (body.state.root, body.state.v, body.a)),
    )


def follow(source: Any, seconds: float, joints: list[int] | None = None) -> tuple[np.ndarray, ...]:
    """Q, w, dw, root, v and a at every mid-step, with a look before every step."""
    player, body = player_of(source, joints)
    rows = []
    for k in range(round(seconds / DT)):
        player.before_step(body, k * DT)
        rows.append(give(player, body, (k + 0.5) * DT))
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def fed(rate: float, jitter: float = 0.0, gap: tuple[float, float] = (9.0, 9.0)) -> Source:
    """A lively motion of which only some frames come."""
    rng = np.random.default_rng(3)
    times = np.arange(0.0, 6.0, 1.0 / rate)
    times = np.sort(times + jitter / rate * rng.uniform(-0.5, 0.5, len(times)))
    times = times[(times < gap[0]) | (times > gap[1])]

    def turn(t: float) -> np.ndarray:
        at = times[max(np.searchsorted(times, t, "right") - 1, 0)]
        return np.array([0.5 * np.sin(5.0 * at), 0.3 * np.cos(7.0 * at), 0.2 * np.sin(3.0 * at + 1.0)])

    return Source(turn)


def test_rates_are_the_derivatives_of_the_poses_and_nothing_jumps_at_a_look() -> None:
    source = fed(20.0, 0.6)
    player, body = player_of(source, [0, *ARMS])
    h = 2e-5
    for k in range(1, 200):
        t = k * DT
        before = give(player, body, t)
        player.before_step(body, t)
        for a, b in zip(before, give(player, body, t), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-9 * max(1.0, np.abs(a).max()))
        if k % 7:
            continue
        at = t + 0.0031
        q0, _, _, p0, v0, _ = give(player, body, at - h)
        q1, _, _, p1, v1, _ = give(player, body, at + h)
        q, w, dw, root, v, a = give(player, body, at)
        back = rotation.log(rotation.multiply(rotation.conjugate(q), q0))
        ahead = rotation.log(rotation.multiply(rotation.conjugate(q), q1))
        np.testing.assert_allclose(w, (ahead - back) / (2 * h), atol=1e-6 * max(1.0, np.abs(w).max()))
        np.testing.assert_allclose(dw, (ahead + back) / h**2, atol=1e-3 * max(1.0, np.abs(dw).max()))
        np.testing.assert_allclose(v, (p1 - p0) / (2 * h), atol=1e-7)
        np.testing.assert_allclose(a, (v1 - v0) / (2 * h), atol=1e-5 * max(1.0, np.abs(a).max()))
        np.testing.assert_allclose(root, 0.5 * (p0 + p1), atol=1e-7)


@pytest.mark.parametrize("delay", [0.03, 0.1])
def test_a_steady_motion_is_shown_as_late_as_it_says(delay: float) -> None:
    q, w, *_, root, v, _ = follow(Source(lambda t: np.array([0.0, 0.0, 0.8 * t]), delay), 2.0, [0, *ARMS])
    t = 2.0 - 0.5 * DT
    asked = 0.5 * DT  # the motion is asked at the step's beginning
    angle = rotation.log(q[-1, 1])[2]
    assert (t - angle / 0.8) == pytest.approx(delay + asked, abs=0.02 * delay + 1e-4)
    assert (t - root[-1, 2] / 0.8) == pytest.approx(delay + asked, abs=1e-4)
    np.testing.assert_allclose(w[-1, 1], [0.0, 0.0, 0.8], atol=2e-3)
    np.testing.assert_allclose(v[-1], [0.0, 0.0, 0.8], atol=1e-3)


@pytest.mark.parametrize("angle", [0.1, 1.0, 2.5, np.pi])
def test_a_jump_is_gone_at_the_filters_own_pace(angle: float) -> None:
    """Speed at most 0.27 w, acceleration 0.23 w^2 of the way; more only as far as the half turn's chord is shorter."""
    q, w, dw, *_ = follow(Source(lambda t: np.array([0.0, angle if t > 0.5 else 0.0, 0.0])), 1.5)
    pole, chord = 30.0, 1.0 / np.cos(angle / 4.0) ** 3
    turned = 2.0 * np.arctan2(q[:, 0, 2], q[:, 0, 0])
    assert np.all(np.diff(turned) > -1e-12) and turned[-1] == pytest.approx(angle, abs=1e-9)
    assert 0.2 * pole * angle < np.abs(w).max() < 0.28 * pole * angle * chord
    assert np.abs(dw).max() < 0.24 * pole**2 * angle * chord
    assert not np.any(w[: round(0.5 / DT)])


@pytest.mark.parametrize(("rate", "jitter"), [(20.0, 0.0), (20.0, 0.9), (60.0, 0.5), (240.0, 0.9)])
@pytest.mark.many(2)
def test_any_feed_is_the_motion_itself_a_little_late(rate: float, jitter: float) -> None:
    late = 0.1 + 0.5 * DT + 0.5 / rate  # a frame is shown, on average, for half of its time too long
    q, w, dw, *_ = follow(fed(rate, jitter), 3.0)
    times = (np.arange(len(q)) + 0.5) * DT
    whole = follow(fed(20_000.0), 3.0 + late)[0]
    shift = np.array([whole[min(round((t - 0.5 / rate) / DT - 0.5), len(whole) - 1)][0] for t in times])
    apart = np.linalg.norm(rotation.log(rotation.multiply(rotation.conjugate(shift), q[:, 0])), axis=-1)[100:]
    assert apart.max() < (0.04 if rate < 30.0 else 0.02)
    # the motion's own rates are 3.4 rad/s and 19 rad/s2 at most; the largest jump of the feed may add its share
    heard = np.array([fed(rate, jitter).turn(t) for t in np.arange(0.0, 3.0, 1e-3)])
    jump = float(np.linalg.norm(np.diff(heard, axis=0), axis=1).max())
    assert np.linalg.norm(w, axis=-1).max() < 3.6
    assert np.linalg.norm(dw, axis=-1).max() < 19.0 + 0.24 * 30.0**2 * jump


def test_a_gap_in_the_feed_gives_no_spike() -> None:
    gap = (1.0, 1.45)
    _, w, dw, *_ = follow(fed(60.0, 0.5, gap), 3.0)
    a, b = (fed(60.0, 0.5, gap).turn(t) for t in (gap[1], gap[1] + 0.05))
    jump = float(np.linalg.norm(b - a))
    assert jump > 0.5
    assert np.linalg.norm(w, axis=-1).max() < 3.4 + 0.3 * 30.0 * jump
    assert np.linalg.norm(dw, axis=-1).max() < 25.0 + 0.26 * 30.0**2 * jump


def test_the_sign_of_a_quaternion_means_nothing() -> None:
    class Signed(Source):
        def pose(self, t: float) -> Pose:
            root, turns, _ = super().pose(t)
            return Pose(root, turns * np.random.default_rng(int(1e6 * t)).choice([-1.0, 1.0], (J, 1)))

    plain = fed(30.0)
    for a, b in zip(follow(plain, 1.0), follow(Signed(plain.turn), 1.0), strict=True):
        np.testing.assert_array_equal(np.abs(a), np.abs(b))


def test_it_takes_over_from_physics_without_a_jump_root_and_all() -> None:
    stage = Stage()
    actor = stage.add(HUMAN)
    actor.drive("root", poise.Free())
    actor.drive(HUMAN.skeleton.names[1:], poise.Loose(0.5))
    actor.push("spine", (50.0, 0.0, 30.0), 0.2)
    stage.advance(45)
    actor.show(stage.time)
    before = actor.body.state.copy()
    assert np.abs(before.w).max() > 1.0 and np.abs(before.v).max() > 0.5
    actor.drive(HUMAN.skeleton.names[1:], poise.Kinematic(Swaying()))
    actor.drive("root", poise.Kinematic(Swaying()))
    stage.build()
    actor.show(stage.time)
    after = actor.body.state.copy()
    np.testing.assert_allclose(after.root, before.root, atol=1e-12)
    np.testing.assert_allclose(after.v, before.v, atol=1e-12)
    np.testing.assert_allclose(after.w, before.w, atol=1e-9)
    assert np.abs(rotation.log(rotation.multiply(rotation.conjugate(before.q), after.q))).max() < 1e-9
    stage.advance(400)
    wanted = Swaying().pose(stage.time - 0.1)
    got = actor.pose().rotations
    assert np.abs(rotation.log(rotation.multiply(rotation.conjugate(wanted.rotations), got))).max() < 0.1


def test_steps_in_one_go_and_one_by_one_are_the_same_bits() -> None:
    ends = []
    for pieces in ([60], [1] * 60, [7, 30, 23]):
        stage = live()
        for steps in pieces:
            stage.advance(steps)
        ends.append(np.concatenate([actor.body.state.q.ravel() for actor in stage.actors.values()]))
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[0], ends[2])


def test_ghosts_see_the_same_wherever_they_stand() -> None:
    """Whom they follow moves in the same step, before the one and after the other, on another thread perhaps."""
    stage = haunted()
    late = stage.add(HUMAN, "late")
    late.drive("root", poise.Kinematic(stage.actors["one"]))
    late.drive(HUMAN.skeleton.names[1:], poise.Kinematic(stage.actors["one"]))
    stage.advance(150)
    poses = {name: actor.pose() for name, actor in stage.actors.items()}
    np.testing.assert_array_equal(poses["before"].rotations, poses["late"].rotations)
    np.testing.assert_array_equal(poses["before"].root, poses["late"].root)
    # and where he was 0.03 s ago and half a step, for which what is seen at its beginning is held
    again, apart = haunted(), {}
    again.advance(150 - 12)
    for steps in range(12, 0, -1):
        then = again.actors["one"].pose()
        turned = rotation.multiply(rotation.conjugate(then.rotations), poses["before"].rotations)
        apart[steps] = float(np.abs(rotation.log(turned)).max())
        again.step()
    assert sorted(apart, key=lambda steps: apart[steps])[:2] in ([6, 7], [7, 6])


def test_a_ghost_on_another_stage_and_a_look_that_changes_nothing() -> None:
    stages = [Stage(), Stage()]
    conductor, other = (stage.add(HUMAN, "one") for stage in stages)
    for actor in (conductor, other):
        actor.drive("legs", poise.Balance())
        actor.drive("arms", poise.Kinematic(poise.gestures.conduct(hands="both")))
    elsewhere = Stage()
    ghost = elsewhere.add(HUMAN)
    ghost.drive("legs", poise.Balance())
    ghost.drive("arms", poise.Track(conductor))
    for _ in range(80):
        stages[0].step()
        elsewhere.step()
    stages[1].advance(80)
    np.testing.assert_array_equal(conductor.body.state.q, other.body.state.q)
    np.testing.assert_array_equal(conductor.body.state.w, other.body.state.w)
    apart = rotation.log(rotation.multiply(rotation.conjugate(conductor.pose().rotations), ghost.pose().rotations))
    assert 1e-4 < np.abs(apart[ARMS]).max() < 0.5


class Wrong:
    is_live = True

    def __init__(self, pose: Any):
        self._pose = pose

    def pose(self, t: float) -> Any:
        return self._pose


@pytest.mark.parametrize(
    ("pose", "match"),
    [
        (Pose(np.zeros(3), np.zeros((3, 4))), "root .* and rotations"),
        (Pose(np.zeros(3), np.zeros((J, 4))), "rotations that are not zero"),
        (Pose(np.full(3, np.nan), rotation.identity((J,))), "must be finite"),
        (None, "a pose is"),
    ],
)
def test_what_is_no_pose_is_told_in_words(pose: Any, match: str) -> None:
    stage = Stage()
    actor = stage.add(HUMAN)
    actor.drive("legs", poise.Balance())
    actor.drive("arms", poise.Kinematic(Wrong(pose)))
    with pytest.raises(InputError, match=match):
        stage.step()


@pytest.mark.parametrize("thing", ["wave.bvh", 3, None, object()])
def test_what_is_no_motion_is_told_in_words(thing: Any) -> None:
    for driver in (poise.Kinematic, poise.Track):
        with pytest.raises(InputError, match="load_clip"):
            driver(thing)


def test_another_skeleton_and_an_odd_delay_are_refused() -> None:
    other = poise.Character.human(preset="full").skeleton
    with pytest.raises(InputError, match="Retarget it first"):
        Stage().add(HUMAN).drive("arms", poise.Kinematic(Live(other)))
    with pytest.raises(InputError, match="s late"):
        Live(other, delay=0.0)

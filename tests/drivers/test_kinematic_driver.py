"""Kinematic joints: exactly where the motion says, with no lag, through changes and hand-overs without a jump."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from poise.body.character import Character
from poise.drivers.balance.balance import Balance
from poise.drivers.body import Body
from poise.drivers.kinematic.kinematic import Kinematic, KinematicPlayer
from poise.drivers.transition.transition import solve_right_jacobian
from poise.errors import InputError
from poise.motion.clip import Clip
from poise.motion.parts import part_joints
from poise.motion.playback.kernels import phase_at
from poise.motion.playback.part_kernels import CHANGE, SPAN, die_away
from poise.spatial import rotation
from poise.stage.stage import Stage

HUMAN = Character.human(1.75, 75.0, preset="mix")
ARMS = part_joints(HUMAN.skeleton, "arms")


def waving(fps: float = 40.0, seconds: float = 3.0, character: Character = HUMAN) -> Clip:
    """Arms that wave about in front of a body that stands; noise in them as of a recording."""
    skeleton, rng = character.skeleton, np.random.default_rng(0)
    times = np.arange(int(seconds * fps) + 1) / fps
    turns = rotation.identity((len(times), len(skeleton)))
    for joint in part_joints(skeleton, "arms"):
        size, speed, phase = rng.uniform(0.1, 0.5, 3), rng.uniform(2.0, 7.0, 3), rng.uniform(0, 6, 3)
        turns[:, joint] = rotation.exp(size * np.sin(speed * times[:, None] + phase))
    turns = rotation.multiply(turns, rotation.exp(0.003 * rng.standard_normal((*turns.shape[:2], 3))))
    root = np.tile(skeleton.offsets[0], (len(times), 1))
    return Clip(skeleton, times, root, turns, "waving")


def angles(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.norm(rotation.log(rotation.multiply(rotation.conjugate(a), b)), axis=-1))


def player_of(motion: object, joints: list[int] = ARMS) -> tuple[KinematicPlayer, Body]:
    body = Body(HUMAN)
    player = Kinematic(motion).build(body, np.array(joints), 0.0)  # type: ignore[arg-type]
    return player, body


def check_rates(player: KinematicPlayer, times: np.ndarray, slack: float = 1.0) -> None:
    """W and dw that the player gives against differences of the turns that it gives."""
    h = 2e-4
    for t in times:
        before, after = (player.sample(t + s)[0].copy() for s in (-h, h))
        q, w = (a.copy() for a in player.sample(t))
        dw = player.dw.copy()
        back = rotation.log(rotation.multiply(rotation.conjugate(q), before))
        ahead = rotation.log(rotation.multiply(rotation.conjugate(q), after))
        np.testing.assert_allclose(w, (ahead - back) / (2 * h), atol=slack * 1e-3)
        np.testing.assert_allclose(dw, (ahead + back) / h**2, atol=slack * 0.02 * max(1.0, np.abs(dw).max()))


@pytest.mark.parametrize("dt", [0.005, 0.0037])
@pytest.mark.parametrize("couple", ["exact", "paper"])
@pytest.mark.many(2)
def test_joints_are_where_the_clip_says_at_every_frame(dt: float, couple: str) -> None:
    """Frames of the clip, which are no multiples of the step, on a body that balances and sways under them."""
    clip = waving()
    stage, part = Stage(dt=dt, couple=couple), "upperBody" if couple == "exact" else "arms"  # more it refuses
    actor = stage.add(HUMAN)
    actor.drive("legs", Balance())
    actor.drive(part, Kinematic(clip, active_after_fall=True))
    take = stage.run(0.0, times=clip.times[:81])
    upper = part_joints(HUMAN.skeleton, part)
    np.testing.assert_array_equal(take.times, clip.times[:81])
    got, wanted = take.actor().rotations[:, upper], clip.rotations[:81, upper]
    assert angles(got, wanted).max() < 1e-9
    # no lag: shifted by one step in either direction it fits worse by far
    assert angles(got[1:], wanted[:-1]).max() > 1e-2


def test_a_root_by_clip_is_where_the_clip_says_too() -> None:
    clip = waving()
    stage = Stage(dt=0.004)
    actor = stage.add(HUMAN)
    root = clip.root + np.stack([np.sin(2 * clip.times), 0.1 * np.cos(3 * clip.times), clip.times], axis=-1)
    clip = Clip(clip.skeleton, clip.times, root, clip.rotations, "moved")
    actor.drive("root", Kinematic(clip))
    actor.drive(["leftLowerArm", "leftHand"], poise.Loose(0.3))
    take = stage.run(0.0, times=clip.times[:60])
    np.testing.assert_allclose(take.actor().root, root[:60], atol=1e-12)
    assert angles(take.actor().rotations[:, 0], clip.rotations[:60, 0]).max() < 1e-9


def test_a_motion_begins_when_it_is_told_to() -> None:
    clip = waving()
    stage = Stage()
    actor = stage.add(HUMAN)
    actor.drive("legs", Balance())
    actor.drive("arms", Kinematic(clip, start=0.5))
    take = stage.run(0.0, times=np.arange(0.0, 1.0, 0.05))
    for t, turns in zip(take.times, take.actor().rotations, strict=True):
        assert angles(turns[ARMS], clip.rotations[max(0, round((t - 0.5) * 40.0))][ARMS]).max() < 1e-9


def test_rates_are_those_of_the_turns() -> None:
    for motion in (poise.gestures.conduct(bpm=120), poise.gestures.clap()):
        joints = list(motion.joints(HUMAN.skeleton))
        check_rates(player_of(motion, joints)[0], np.linspace(0.31, 2.9, 25))


@pytest.mark.parametrize("changes", [{"bpm": 140}, {"bpm": 60}, {"size": 1.6}, {"size": 0.5, "bpm": 150}])
@pytest.mark.parametrize("when", [0.43, 1.021])
def test_a_change_in_the_middle_of_a_beat_jumps_nowhere(changes: dict[str, float], when: float) -> None:
    gesture = poise.gestures.conduct(bpm=100)
    joints = list(gesture.joints(HUMAN.skeleton))
    player, _ = player_of(gesture, joints)
    before = [a.copy() for a in player.sample(when)]
    player.change(when, **changes)
    after = [a.copy() for a in player.sample(when)]
    assert angles(before[0], after[0]).max() < 1e-6
    np.testing.assert_allclose(before[1], after[1], atol=1e-2)
    check_rates(player, when + np.linspace(0.0007, CHANGE + 0.2, 12), slack=3.0)
    # afterwards it is the changed gesture at its own tempo
    end = when + CHANGE + 0.1
    wanted = gesture.changed(**changes)
    phase, rate, _ = phase_at(player.clock, end)
    assert rate == pytest.approx(wanted.rate)
    there = wanted.rotations(HUMAN.skeleton, np.array([phase]))[0]
    assert angles(player.sample(end)[0], there).max() < 1e-4


def test_changes_on_top_of_changes_jump_nowhere_either() -> None:
    """Tempo and size again and again, faster than they glide."""
    gesture = poise.gestures.conduct(bpm=100)
    player, _ = player_of(gesture, list(gesture.joints(HUMAN.skeleton)))
    rng, t = np.random.default_rng(1), 0.2
    for k in range(12):
        t += rng.uniform(0.05, 0.3)
        q, w = (a.copy() for a in player.sample(t))
        player.change(t, **({"bpm": rng.uniform(50, 170)} if k % 3 else {"size": rng.uniform(0.6, 1.5)}))
        now, rate = player.sample(t)
        assert angles(q, now).max() < 1e-6
        np.testing.assert_allclose(rate, w, atol=1e-2)


def test_laws_fade_from_the_first_change_on_and_after_a_restore() -> None:
    gesture = poise.gestures.conduct(bpm=100)
    joints = list(gesture.joints(HUMAN.skeleton))
    (player, rig), (again, other), (plain, third) = (player_of(gesture, joints) for _ in range(3))
    assert player.block["mingle"] == 0  # nothing is compiled that is not needed
    player.change(0.3, size=1.4)
    again.restore(player.save())
    for each, its in ((player, rig), (again, other), (plain, third)):
        each.write(its, 0.5)
        assert np.array_equal(each.sample(0.5)[0], its.state.q[joints])
    q, w = player.sample(0.5)
    assert np.array_equal(q, rig.state.q[joints]) and np.array_equal(w, rig.state.w[joints])
    for name in ("q", "w"):
        assert np.array_equal(getattr(rig.state, name), getattr(other.state, name))
        assert not np.array_equal(getattr(rig.state, name), getattr(third.state, name))
    assert np.array_equal(rig.dw, other.dw) and plain.block["mingle"] == 0


@pytest.mark.parametrize("seed", range(4))
def test_a_hand_over_meets_pose_and_velocity_and_ends_in_the_motion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    player, body = player_of(waving(), ARMS)
    t = 0.7
    body.state.q[ARMS] = rotation.multiply(player.sample(t)[0], rotation.exp(rng.normal(0, 0.6, (len(ARMS), 3))))
    body.state.w[ARMS] = rng.normal(0, 4.0, (len(ARMS), 3))
    body.turning[ARMS] = rng.normal(0, 20.0, (len(ARMS), 3))
    player.begin(body, t, starting=False)
    q, w = player.sample(t)
    assert angles(q, body.state.q[ARMS]).max() < 1e-9
    np.testing.assert_allclose(w, body.state.w[ARMS], atol=1e-2)
    # Far from the motion and fast, terms of second order in the offset's rate are left out of the acceleration.
    np.testing.assert_allclose(player.dw, body.turning[ARMS], atol=0.5 * np.abs(body.state.w[ARMS]).max() ** 2)
    assert np.abs(player.dw).max() < 2000.0
    fresh, _ = player_of(waving(), ARMS)
    span = player.part[SPAN]
    assert 0.4 <= span <= 0.8
    for late in (t + span - 1e-9, t + span + 1e-3, t + 1.0):
        assert angles(player.sample(late)[0], fresh.sample(late)[0]).max() < 1e-6


def test_the_curves_that_things_die_away_on() -> None:
    u = np.linspace(0.0, 1.0, 2001)
    h = u[1]
    for values, start in (
        (np.array([die_away(x)[0] for x in u]), (1.0, 0.0)),
        (np.array([die_away(x)[1] for x in u]), (0.0, 1.0)),
        (np.array([die_away(x)[2] for x in u]), (0.0, 0.0)),
    ):
        slope, bend = np.gradient(values, h, edge_order=2), np.diff(values, 2) / h**2
        assert (values[0], slope[0]) == pytest.approx(start, abs=1e-4)
        assert (values[-1], slope[-1]) == pytest.approx((0.0, 0.0), abs=1e-4)
        assert abs(bend[-1]) < 0.1
        assert abs(bend[0] - (start == (0.0, 0.0))) < 0.1


def test_the_right_jacobian_is_undone() -> None:
    """W of q exp(e(t)) with q still is J(e) e': by differences of e."""
    rng = np.random.default_rng(0)
    for size in (1e-9, 1e-3, 1.0, 3.0):
        e = rng.normal(0, 1, (20, 3))
        e *= size / np.linalg.norm(e, axis=-1, keepdims=True)
        rate = rng.normal(0, 1, (20, 3))
        h = 1e-6
        ends = [rotation.exp(e + s * h * rate) for s in (-1.0, 1.0)]
        w = rotation.log(rotation.multiply(rotation.conjugate(ends[0]), ends[1])) / (2 * h)
        np.testing.assert_allclose(solve_right_jacobian(e, w), rate, atol=1e-5)


def test_what_cannot_be_played_is_refused() -> None:
    other = Character.human(1.75, 75.0, preset="full")
    stage = Stage()
    actor = stage.add(other)
    with pytest.raises(InputError, match="Retarget it first"):
        actor.drive("arms", Kinematic(waving()))
    rejects(lambda: actor.drive("legs", Kinematic(poise.gestures.conduct())), "'legs'")
    with pytest.raises(InputError, match="takes over in 0 s or more"):
        Kinematic(waving(), take_over=-1.0)
    with pytest.raises(InputError, match="finite time"):
        Kinematic(waving(), start=np.nan)
    player, _ = player_of(waving())
    with pytest.raises(InputError, match="only the `speed`"):
        player.change(0.0, bpm=120)
    with pytest.raises(InputError, match="positive speed"):
        player.change(0.0, speed=-1.0)


@pytest.mark.parametrize("start", [0.0, 3.0])
def test_a_clip_of_one_frame_is_held(start: float) -> None:
    pose = waving().pick(np.array([70]))
    stage = Stage()
    actor = stage.add(HUMAN)
    actor.drive("legs", Balance(follow=pose))
    actor.drive("upperBody", Kinematic(pose, start=start))
    take = stage.run(1.0).actors[actor.name]
    upper = part_joints(HUMAN.skeleton, "upperBody")
    np.testing.assert_allclose(angles(take.rotations[:, upper], pose.rotations[0, upper]), 0.0, atol=1e-12)
    assert np.abs(take.angular_velocity[:, upper]).max() < 1e-12
    assert actor.fallen is None


def test_a_clip_of_two_frames_turns_at_a_constant_speed() -> None:
    """Slerp by the exponential map; the times of the clip do not begin at 0."""
    ends = waving().pick(np.array([20, 60])).replace(times=np.array([0.5, 1.5]))
    stage = Stage(ground=None, gravity=(0.0, 0.0, 0.0))
    actor = stage.add(HUMAN)
    for part in ("root", HUMAN.skeleton.names[1:]):
        actor.drive(part, Kinematic(ends))
    take = stage.run(2.0, fps=20.0).actors[actor.name]
    turn = rotation.log(rotation.multiply(rotation.conjugate(ends.rotations[0]), ends.rotations[1]))
    for k, t in enumerate(np.arange(41) / 20.0):
        share = np.clip(t - 0.5, 0.0, 1.0)
        wanted = rotation.multiply(ends.rotations[0], rotation.exp(share * turn))
        assert angles(take.rotations[k], wanted).max() < 1e-5
        np.testing.assert_allclose(take.root[k], (1.0 - share) * ends.root[0] + share * ends.root[1], atol=1e-9)


def test_what_pose_returns_is_played_as_it_is() -> None:
    found = poise.pose({"rightHand": (0.4, 1.2, 0.3)}, character=HUMAN)
    assert len(found.clip) == 1
    assert Kinematic(found).motion is found.clip

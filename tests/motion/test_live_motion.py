"""Live motions as such: what was shown, what was put where, and threads that do both."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import poise
from poise.errors import InputError
from poise.motion.live import Live
from poise.motion.motion import BodyMotion, Motion, Pose, as_motion
from poise.spatial import rotation

SKELETON = poise.Character.human(preset="mix").skeleton
J = len(SKELETON)


def pose(angle: float) -> Pose:
    turns = rotation.identity((J,))
    turns[3] = rotation.exp(np.array([angle, 0.0, 0.0]))
    return Pose(np.array([angle, 1.0, 0.0]), turns)


def angle_at(live: Live, t: float) -> float:
    found = live.pose(t)
    turned = float(rotation.log(found.rotations[3])[0])
    assert found.root[0] == pytest.approx(turned)
    return turned


def test_the_newest_pose_is_shown_at_any_time() -> None:
    live = Live(SKELETON)
    np.testing.assert_array_equal(live.pose(3.0).rotations, rotation.identity((J,)))
    for angle in (0.2, 0.4):
        live.show(pose(angle))
        assert angle_at(live, -1.0) == angle_at(live, 1e9) == pytest.approx(angle)


def test_what_is_put_somewhere_is_gone_to_evenly() -> None:
    live = Live(SKELETON, pose(0.1))
    live.put(1.0, pose(0.2))
    live.put(1.5, pose(0.4))
    wanted = {0.0: 0.1, 0.99: 0.1, 1.0: 0.2, 1.25: 0.3, 1.4: 0.36, 1.5: 0.4, 9.0: 0.4}
    for t, angle in wanted.items():
        assert angle_at(live, t) == pytest.approx(angle)
    batch = live.pose(np.array([list(wanted)]))
    assert batch.root.shape == (1, 7, 3) and batch.rotations.shape == (1, 7, J, 4)
    np.testing.assert_allclose(batch.root[0, :, 0], list(wanted.values()))
    live.show(pose(0.7))
    assert angle_at(live, 1.25) == pytest.approx(0.7)


def test_a_feed_without_end_is_not_kept_without_end() -> None:
    live = Live(SKELETON)
    for k in range(10_000):
        live.put(0.01 * k, pose(0.0))
    assert len(live._times) <= 4096 and live._times[-1] == pytest.approx(99.99)


@pytest.mark.parametrize("t", [1.0, 0.5, np.nan, np.inf])
def test_times_that_go_back_are_refused(t: float) -> None:
    live = Live(SKELETON)
    live.put(1.0, pose(0.1))
    with pytest.raises(InputError, match="increase"):
        live.put(t, pose(0.2))
    assert angle_at(live, 2.0) == pytest.approx(0.1)


def test_what_was_given_may_be_written_to_again() -> None:
    live, given = Live(SKELETON), pose(0.3)
    live.show(given)
    given.rotations[:] = np.nan
    assert angle_at(live, 0.0) == pytest.approx(0.3)
    with pytest.raises(ValueError, match="read-only"):
        live._poses[0].root[:] = 0.0


def test_threads_may_give_and_ask_at_once() -> None:
    """Whatever is found is one pose, whole: its root and its turn say the same."""
    live, stop = Live(SKELETON, pose(0.0)), threading.Event()

    def feed() -> None:
        k = 0
        while not stop.is_set():
            k += 1
            live.show(pose(0.001 * (k % 1000)))
            live.put(0.1 * k, pose(0.001 * (k % 1000)))

    thread = threading.Thread(target=feed)
    thread.start()
    try:
        for k in range(500):
            angle_at(live, 0.1 * k)
    finally:
        stop.set()
        thread.join()


def test_clips_gestures_actors_and_live_ones_are_motions() -> None:
    """All of them by one protocol: joints, duration, rate, and samples where they can be had."""
    gesture = poise.gestures.conduct(bpm=120)
    clip = poise.motion.samples.idle(SKELETON, 1.0)
    actor = poise.Stage().add(poise.Character.human(preset="mix"))
    assert isinstance(gesture, Motion) and isinstance(clip, BodyMotion) and isinstance(Live(SKELETON), BodyMotion)
    assert as_motion(gesture) is gesture and as_motion(clip) is clip
    assert as_motion(clip).joints(SKELETON) == as_motion(actor).joints(SKELETON) == list(range(J))
    assert set(gesture.joints(SKELETON)) < set(range(J)) and not gesture.moves_root and clip.moves_root
    assert [as_motion(x).is_live for x in (gesture, clip, actor, Live(SKELETON))] == [False, False, True, True]
    assert [as_motion(x).duration for x in (gesture, clip, actor)] == [np.inf, clip.duration, np.inf]
    assert (gesture.rate, clip.rate) == (2.0, 1.0)
    np.testing.assert_array_equal(actor.pose(5.0).rotations, actor.body.state.q)


def test_parameters_come_back_as_they_were() -> None:
    from poise.motion.gestures.speak import Speak, Stress

    for gesture in (poise.gestures.conduct(bpm=70, size=1.2, hands="both"),
                    Speak((Stress(0.8, "point", "left", (0.1, 0.2, 1.0)), Stress(2.0)), 0.7)):  # fmt: skip
        assert type(gesture)(**{**vars(gesture), "size": 1.0}).restored(gesture.parameters) == gesture

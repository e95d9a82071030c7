"""Stretches put together: how long it lasts, where it goes on, that nothing jumps; by SciPy's slerp and differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from helpers.bodies import make_human, tpose
from helpers.kinematics import pose_by_scipy
from poise.body.character import Character
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.motion import Clip, change_speed, clip_heading, mirror, samples, translate, turn
from poise.motion.edits.sequence import Segment, join_segments, measure_jumps
from poise.motion.gestures import GestureMotion, clap
from poise.spatial import rotation

BODY = Character.human().skeleton


def clapping(fps: float = 60.0, seconds: float = 4.0) -> Clip:
    return GestureMotion(clap(1.5), BODY).sample(seconds, fps).replace(name="clap")


def wild(seed: int, frames: int = 61, fps: float = 30.0) -> Clip:
    """Smooth, with large turns in all joints and its own place and heading."""
    rng, skeleton = np.random.default_rng(seed), tpose()
    t = np.arange(frames) / fps
    phase, size = rng.uniform(0, 6, (2, len(skeleton), 3)), rng.uniform(0.2, 1.2, (len(skeleton), 3))
    turns = rotation.multiply(
        rotation.exp(size * np.sin(2.5 * t[:, None, None] + phase[0])), rotation.exp(phase[1] / 6)
    )
    return Clip(skeleton, t, np.sin(t[:, None] * [1.0, 2.0, 3.0] + phase[0, 0]), turns, f"wild{seed}")


def test_it_lasts_as_long_as_its_stretches():
    clip = clapping()
    cuts = [
        Segment(clip, 0.5, 1.5),
        Segment(clip, 1.0, 3.0, speed=1.33),
        Segment(clip, 2.0, still=0.7),
        Segment(clip, 0.0, 1.0),
    ]
    done = join_segments(cuts, 0.3, 120.0)
    np.testing.assert_allclose(done.starts, [0.0, 1.0, 1.0 + 2.0 / 1.33, 1.7 + 2.0 / 1.33])
    assert done.clip.duration == pytest.approx(2.7 + 2.0 / 1.33, abs=1 / 120)
    assert [join.time for join in done.joins] == pytest.approx(done.starts[1:])
    assert done.clip.fps == pytest.approx(120.0)


def test_between_transitions_it_is_the_clip():
    clip, other = wild(1), wild(2)
    done = join_segments([Segment(clip, 0.1, 1.1), Segment(other, 0.5, 1.9, speed=2.0)], 0.2, 90.0, align=False)
    for i, t in enumerate(done.clip.times):
        if abs(t - 1.0) < 0.1:
            continue
        source, at = (clip, 0.1 + t) if t < 1.0 else (other, 0.5 + 2.0 * (t - 1.0))
        expected = source.spline.pose(at)
        assert rotation.angle(done.clip.rotations[i], expected.rotations).max() < 1e-7
        np.testing.assert_allclose(done.clip.root[i], expected.root, atol=1e-12)


def test_a_transition_is_scipys_slerp_by_the_sinusoidal_ease():
    """Eq 4 as meant: both motions lined up on one clock, w from 0 to 1 between t0 and t1."""
    a, b = wild(3), wild(4)
    done = join_segments([Segment(a, 0.0, 1.0), Segment(b, 0.8, 1.8)], 0.5, 60.0, align=False)
    for i in np.flatnonzero(np.abs(done.clip.times - 1.0) < 0.249):
        t = done.clip.times[i]
        w = 0.5 - 0.5 * np.cos(np.pi * (t - 0.75) / 0.5)
        here, there = a.spline.pose(t), b.spline.pose(0.8 + t - 1.0)
        for j in range(len(a.skeleton)):
            ends = Rotation.from_quat([here.rotations[j], there.rotations[j]], scalar_first=True)
            if (ends[0].inv() * ends[1]).magnitude() > 2.8:  # near half a turn either way may be the steady one
                continue
            expected = Slerp([0.0, 1.0], ends)(w)
            mine = Rotation.from_quat(done.clip.rotations[i, j], scalar_first=True)
            assert (expected.inv() * mine).magnitude() < 1e-7
        np.testing.assert_allclose(done.clip.root[i], (1 - w) * here.root + w * there.root, atol=1e-12)


CUTS = {
    "rates": lambda: [Segment(clapping(30.0), 0.5, 2.0), Segment(clapping(120.0), 1.0, 2.5)],
    "places and headings": lambda: [
        Segment(samples.walk(BODY, 4.0, 60.0), 1.0, 2.5),
        Segment(turn(translate(samples.walk(BODY, 4.0, 50.0), np.array([3.0, 0.0, -2.0])), 2.5), 1.5, 3.0),
    ],
    "speeds": lambda: [Segment(clapping(), 0.5, 1.5, speed=0.7), Segment(clapping(), 1.0, 2.5, speed=1.33)],
    "backwards": lambda: [
        Segment(clapping(), 0.5, 1.5),
        Segment(samples.walk(BODY, 4.0, 60.0), 1.5, 2.5, reverse=True),
    ],
    "mirrored": lambda: [
        Segment(samples.wave(BODY, 3.0, 60.0), 0.5, 1.5),
        Segment(samples.wave(BODY, 3.0, 60.0), 1.5, 2.5, mirrored=True),
    ],
    "at the clips' ends": lambda: [Segment(wild(5), 0.5, 2.0), Segment(wild(6), 0.0, 1.0)],
    "still": lambda: [
        Segment(clapping(), 0.5, 1.6),
        Segment(clapping(), 1.0, still=1.0),
        Segment(clapping(), 1.9, 3.0),
    ],
}


@pytest.mark.parametrize("name", CUTS)
@pytest.mark.many(2)
def test_neither_place_nor_speed_jumps(name):
    """By differences: what is C1 has jumps that shrink with the frames' distance, a jump has not."""
    place, speed = [], []
    for fps in (200.0, 400.0, 800.0):
        clip = join_segments(CUTS[name](), 0.4, fps).clip
        # Clips of 30 frames a second are C2 between their frames, so all of it is asked.
        jumps = measure_jumps(clip.times, clip.positions)
        place.append(jumps[0].max())
        speed.append(jumps[1].max())
    assert place[2] < 0.3 * place[0] + 1e-9
    assert speed[2] < 0.35 * speed[0] + 1e-9
    cut = join_segments(CUTS[name](), 0.0, 400.0).clip  # the measure sees a jump where there is one
    assert measure_jumps(cut.times, cut.positions)[0].max() > 20 * place[1]


def test_the_measure_of_jumps_is_right_on_closed_forms():
    t = np.arange(400) / 200.0
    x = np.zeros((400, 1, 3))
    x[:, 0, 0] = 1.5 * np.maximum(t - 1.0, 0.0)  # speed jumps by 1.5 at 1 s
    speed = measure_jumps(t, x)[1]
    assert speed.max() == pytest.approx(1.5, rel=0.35)
    x[:, 0, 0] = np.where(t < 1.0 - 1e-9, 0.0, 0.2)  # place jumps by 0.2
    assert measure_jumps(t, x)[0].max() == pytest.approx(0.2, rel=1e-9)
    x[:, 0, 0] = 0.3 * t**2 - t  # a parabola has none
    assert measure_jumps(t, x)[0].max() < 1e-12
    assert measure_jumps(t, x)[1].max() < 1e-9 + 0.6 / 200.0


def test_it_goes_on_from_where_it_stands():
    walk = samples.walk(BODY, 5.0, 60.0)
    away = turn(translate(walk, np.array([10.0, 0.0, 5.0])), -2.0)
    done = join_segments([Segment(walk, 1.0, 2.0), Segment(away, 2.0, 3.0), Segment(away, 2.0, 3.0)], 0.2, 60.0)
    hips = done.clip.positions[:, BODY.index("hips")]
    step = np.linalg.norm(np.diff(hips, axis=0), axis=1) * 60.0
    assert step.max() < 2.0  # m/s: nobody flies to the other's place
    heading = clip_heading(done.clip)
    assert np.abs(np.diff(heading)).max() * 60.0 < 2.0
    assert hips[-1, 2] - hips[0, 2] == pytest.approx(3 * (hips[60, 2] - hips[0, 2]), rel=0.2)
    stay = join_segments([Segment(walk, 1.0, 2.0), Segment(away, 2.0, 3.0)], 0.2, 60.0, align=False).clip
    assert np.linalg.norm(stay.root[-1] - stay.root[0]) > 5.0


def test_reordered_claps_from_a_home_pose_are_seamless():
    """Every clap begins and ends with the palms together: in any order the seams are those of the clip itself."""
    clip = clapping(120.0, 6.0)
    beats = np.arange(9) / 1.5
    order = np.random.default_rng(2).permutation(np.repeat(np.arange(1, 8), 2))
    done = join_segments([Segment(clip, beats[i], beats[i + 1]) for i in order], 0.1, 120.0)
    assert max(join.gap for join in done.joins) < 1e-3
    jumps, usual = (measure_jumps(each.times, each.positions)[1] for each in (done.clip, clip))
    assert jumps.max() < 1.05 * usual.max()
    palms = [done.clip.positions[:, BODY.index(f"{side}Hand"), 0] for side in ("left", "right")]
    for join in done.joins:  # and they clap at every seam
        at = np.argmin(np.abs(done.clip.times - join.time))
        assert abs(palms[0][at] - palms[1][at]) < 0.05


def test_near_half_a_turn_it_does_not_change_sides():
    """Where two motions are half a turn apart the shorter way changes sides as they move; the pose must not jump."""
    pair = Skeleton(("a", "b"), np.array([-1, 0]), np.array([[0, 1, 0], [0.3, 0, 0]], float), roles={"hips": "a"})
    t = np.arange(0.0, 2.0, 1 / 200.0)
    swing = np.pi + 0.3 * np.sin(8.0 * t)
    turns = rotation.identity((len(t), 2))
    turns[:, 1] = rotation.exp(swing[:, None] * np.array([0.0, 0.0, 1.0]))
    moving = Clip(pair, t, np.zeros((len(t), 3)), turns, "moving")
    still = moving.replace(rotations=rotation.identity((len(t), 2)), name="still")
    done = join_segments([Segment(still, 0.0, 1.0), Segment(moving, 1.0, 1.9)], 0.8, 200.0, align=False).clip
    assert rotation.angle(done.rotations[1:], done.rotations[:-1]).max() < 0.1


def test_clips_reversed_and_repeated():
    clip = wild(7)
    whole = join_segments([Segment(clip, reverse=True)]).clip
    assert rotation.angle(whole.rotations, clip.rotations[::-1]).max() < 1e-6


def test_a_mirrored_stretch_is_the_mirrored_clip():
    clip = samples.wave(BODY, 2.0, 60.0)
    done, seen = join_segments([Segment(clip, mirrored=True)]).clip, mirror(clip, "character")
    assert rotation.angle(done.rotations, seen.rotations).max() < 1e-6


def test_a_speed_of_133_percent():
    clip = samples.wave(BODY, 2.0, 60.0)
    fast = join_segments([Segment(clip, speed=1.33)]).clip
    assert fast.duration == pytest.approx(2.0 / 1.33, abs=1 / 60)
    assert rotation.angle(fast.rotations, change_speed(clip, 1.33).rotations).max() < 1e-6


def test_bones_of_another_length_are_those_of_the_first():
    one, two = samples.wave(make_human(1.75), 2.0, 60.0), samples.wave(make_human(1.5), 2.0, 60.0)
    done = join_segments([Segment(one, 0.0, 1.0), Segment(two, 1.0, 2.0)], 0.2).clip
    assert done.skeleton is one.skeleton
    places, _ = pose_by_scipy(done.skeleton, done.root[-1], done.rotations[-1])
    np.testing.assert_allclose(places, done.positions[-1], atol=1e-12)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda c: join_segments([]), "no stretches"),
        (lambda c: join_segments([Segment(c, 0.0, 9.0)]), "ends at 9 s; its clip runs from 0 s to 4 s"),
        (lambda c: join_segments([Segment(c, -1.0)]), "starts at -1 s"),
        (lambda c: join_segments([Segment(c, 2.0, 1.0)]), "must end after it starts"),
        (lambda c: join_segments([Segment(c, speed=0.0)]), "speed of stretch 'clap' is 0.01 to 100"),
        (lambda c: join_segments([Segment(c, 0.0, 0.2), Segment(c)], 0.5), "too short for halves of transitions"),
        (lambda c: join_segments([Segment(c), Segment(wild(1))]), "different skeletons"),
        (lambda c: join_segments([Segment(c)], -1.0), "not negative"),
        (lambda c: join_segments([Segment(c, transition=-1.0)]), "'transition' of stretch"),
        (lambda c: join_segments([Segment(c.pick(slice(0, 1)), still=1.0)]), "no frame rate"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(make, match):
    with pytest.raises(InputError, match=match):
        make(clapping())

"""Bodies that go through themselves: found, named, and as deep as points of the shapes say."""

from __future__ import annotations

import numpy as np
import pytest

from poise.body.character import Character
from poise.motion import Clip, Offset, apply_offsets, samples
from poise.motion.edits.sequence import Segment, join_segments
from poise.motion.gestures import GestureMotion, clap
from poise.spatial import rotation
from poise.world.overlap import describe_piercing, find_lines, find_piercings, measure_depths

BODY = Character.human()


def reach(place: tuple[float, float, float]) -> Clip:
    """Somebody stands with the right hand held somewhere."""
    base = samples.idle(BODY.skeleton, 2.0, 30.0)
    return apply_offsets(base, [Offset("rightHand", 1.0, place, hold=1.8, before=0.1, after=0.1, turn="free")]).clip


def test_ordinary_motions_do_not_pierce_themselves():
    for clip in (
        samples.walk(BODY.skeleton, 3.0, 30.0),
        samples.wave(BODY.skeleton, 3.0, 30.0),
        samples.squat(BODY.skeleton, 3.0, 30.0),
    ):
        assert find_piercings(BODY, clip) == []


def test_a_transition_through_the_body_is_found_with_time_and_pair():
    front, behind = reach((-0.05, 1.0, 0.32)), reach((-0.1, 1.0, -0.3))
    done = join_segments([Segment(front, 0.0, 1.0), Segment(behind, 1.0, 2.0)], 0.6, 60.0)
    join = done.joins[0]
    found = find_piercings(BODY, done.clip.pick(join.frames), join.alone)
    assert found
    worst = found[0]
    assert 0.7 <= worst.start <= worst.time <= worst.end <= 1.3
    assert any("right" in name for name in worst.joints)
    assert worst.depth > 0.03
    assert "goes through" in describe_piercing(worst)
    around = join_segments([Segment(front, 0.0, 1.0), Segment(reach((-0.5, 1.0, 0.1)), 1.0, 2.0)], 0.6, 60.0)
    assert find_piercings(BODY, around.clip.pick(around.joins[0].frames), around.joins[0].alone) == []


def test_hands_that_clap_are_not_told_where_the_clips_clap_too():
    clip = GestureMotion(clap(1.5), BODY.skeleton).sample(3.0, 60.0)
    assert any({"leftHand", "rightHand"} == set(each.joints) for each in find_piercings(BODY, clip))
    done = join_segments([Segment(clip, 0.0, 4 / 3), Segment(clip, 2 / 3, 2.0)], 0.3)
    assert find_piercings(BODY, done.clip.pick(done.joins[0].frames), done.joins[0].alone) == []


def test_depths_are_those_of_points_along_the_shapes():
    """By brute force: many points on the middle lines of both, the nearest two."""
    clip = reach((-0.02, 1.05, 0.12)).pick(slice(30, 31))
    joints, depths, limits = measure_depths(BODY, clip)
    lines, axes = find_lines(BODY), rotation.to_matrix(clip.world[1][0])
    places, share = clip.positions[0], np.linspace(0.0, 1.0, 201)[:, None]
    strings = []
    for start, end, joint in zip(lines.start, lines.end, lines.joint, strict=True):
        strings.append(places[joint] + (start + share * (end - start)) @ axes[joint].T)
    for (a, b), depth in zip(joints, depths[0], strict=True):
        brute = -np.inf
        for i in np.flatnonzero(lines.joint == a):
            for j in np.flatnonzero(lines.joint == b):
                apart = np.linalg.norm(strings[i][:, None] - strings[j][None], axis=-1).min()
                brute = max(brute, lines.radius[i] + lines.radius[j] - apart)
        assert depth == pytest.approx(brute, abs=2e-3)
    assert np.all(limits > 0.0)

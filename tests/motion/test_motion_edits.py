"""Cutting, resampling, warping, moving, mirroring, blending and layering clips: identities and closed forms."""

import numpy as np
import pytest

from helpers.bodies import tpose
from helpers.errors import rejects
from poise.errors import InputError
from poise.motion import (
    Clip,
    blend,
    change_speed,
    clip_heading,
    compute_heading,
    concatenate,
    ease,
    find_partners,
    layer,
    mirror,
    part_joints,
    place,
    resample,
    samples,
    translate,
    trim,
    turn,
    warp,
)
from poise.spatial import rotation
from test_motion_interpolation import wild

MIRROR = np.array([-1.0, 1.0, 1.0])


def same(a: Clip, b: Clip, atol: float = 1e-9) -> None:
    np.testing.assert_allclose(a.times, b.times, atol=atol)
    np.testing.assert_allclose(a.root, b.root, atol=atol)
    np.testing.assert_allclose(rotation.to_matrix(a.rotations), rotation.to_matrix(b.rotations), atol=atol)


def test_trim_keeps_the_frames_inside_and_starts_at_zero():
    clip = wild(61)
    cut = trim(clip, 0.5, 1.5)
    assert cut.times[0] == 0 and len(cut) == 31
    np.testing.assert_array_equal(cut.root, clip.root[15:46])
    same(trim(clip), clip)
    assert len(trim(clip, end=0.0)) == 1


def test_resampling_to_the_same_rate_changes_nothing_and_up_and_down_again_returns():
    clip = wild(61)
    same(resample(clip, 30.0), clip)
    same(resample(resample(clip, 120.0), 30.0), clip)
    assert len(resample(clip, 24.0)) == 49


def test_a_faster_clip_shows_the_same_poses_sooner():
    clip = wild(61)
    fast = change_speed(clip, 4 / 3)
    assert fast.fps == pytest.approx(30) and fast.duration == pytest.approx(1.5)
    here, there = fast.pose(0.9, "spline"), clip.pose(1.2, "spline")
    np.testing.assert_allclose(rotation.angle(here.rotations, there.rotations), 0, atol=1e-6)


def test_a_warp_puts_moments_where_they_should_be_and_never_plays_backwards():
    clip = wild(61)
    moments, to = np.array([0.0, 0.7, 1.3, 2.0]), np.array([0.0, 0.5, 1.5, 2.0])
    bent = warp(clip, moments, to, fps=240)
    np.testing.assert_allclose(bent.pose(to).root, clip.pose(moments, "spline").root, atol=1e-9)
    # A steadily growing root tells the time that is shown: it never goes back.
    clock = clip.replace(root=np.outer(clip.times, [1.0, 2.0, 3.0]))
    shown = warp(clock, moments, to, fps=240).root[:, 0]
    assert np.all(np.diff(shown) > 0) and shown[0] == 0 and shown[-1] == pytest.approx(2.0)
    same(warp(clip, [0, 2], [0, 2]), clip)


def test_turning_and_placing():
    clip = wild(20)
    turned = turn(clip, 0.7, about=np.zeros(3))
    np.testing.assert_allclose(
        turned.positions, clip.positions @ rotation.to_matrix(rotation.exp([0, 0.7, 0])).T, atol=1e-12
    )
    put = place(samples.idle(tpose(), 1.0, 30), np.array([3.0, 9.0, -2.0]), 2.5, frame_time=0.4)
    hips, orientations = put.skeleton.pose(*put.pose(0.4))
    np.testing.assert_allclose(hips[0, [0, 2]], [3.0, -2.0], atol=1e-12)
    assert compute_heading(orientations[0]) == pytest.approx(2.5)
    same(translate(translate(clip, [1, 2, 3]), [-1, -2, -3]), clip)


def test_heading_is_the_yaw_even_of_a_body_bent_double():
    yaw, pitch = np.meshgrid(np.linspace(-3, 3, 13), np.linspace(-2.5, 2.5, 11))
    q = rotation.multiply(rotation.exp(yaw[..., None] * [0, 1, 0]), rotation.exp(pitch[..., None] * [1, 0, 0]))
    np.testing.assert_allclose(compute_heading(q), yaw, atol=1e-12)


def test_mirroring_reflects_every_joint_and_twice_is_nothing():
    clip = wild(20)
    seen = mirror(clip)
    partner = find_partners(clip.skeleton)
    np.testing.assert_allclose(seen.positions, clip.positions[:, partner] * MIRROR, atol=1e-12)
    same(mirror(seen), clip)
    left, right = clip.skeleton.index("leftHand"), clip.skeleton.index("rightHand")
    assert partner[left] == right and partner[clip.skeleton.index("neck")] == clip.skeleton.index("neck")


def test_mirroring_about_the_character_keeps_place_and_heading():
    clip = turn(translate(samples.walk(tpose(), 4.0, 30), [2.0, 0, 5.0]), 1.1)
    seen = mirror(clip, "character")
    np.testing.assert_allclose(seen.root[0], clip.root[0], atol=1e-9)
    assert clip_heading(seen)[0] == pytest.approx(clip_heading(clip)[0])
    same(mirror(seen, "character"), clip)


def test_on_an_asymmetric_body_mirroring_twice_is_still_nothing():
    skeleton = tpose(left_leg=1.1)
    clip = Clip(skeleton, *(getattr(wild(10), name) for name in ("times", "root", "rotations")))
    same(mirror(mirror(clip)), clip)


def test_joints_without_roles_are_paired_by_name_and_a_sword_rests():
    body = tpose()
    names = [*body.names, "LThumb", "RThumb", "Blade.R"]
    parents = [*body.parents, body.index("leftHand"), body.index("rightHand"), body.index("rightHand")]
    offsets = np.vstack([body.offsets, [[0.03, 0, 0.03], [-0.03, 0, 0.03], [-0.1, 0, 0.5]]])
    skeleton = type(body)(tuple(names), np.array(parents), offsets, roles=body.roles)
    n = len(body)
    np.testing.assert_array_equal(find_partners(skeleton)[n:], [n + 1, n, -1])
    rotations = rotation.random(np.random.default_rng(0), (3, n + 3))
    seen = mirror(Clip(skeleton, np.arange(3.0), np.zeros((3, 3)), rotations))
    np.testing.assert_allclose(seen.rotations[:, -1], rotation.identity((3,)))
    np.testing.assert_allclose(
        rotation.to_matrix(seen.rotations[:, n]),
        np.diag(MIRROR) @ rotation.to_matrix(rotations[:, n + 1]) @ np.diag(MIRROR),
        atol=1e-12,
    )


def test_ease_is_the_papers_sinusoid():
    np.testing.assert_allclose(ease(np.array([-1, 0, 0.25, 0.5, 1, 2])), [0, 0, 0.5 - 0.5 / np.sqrt(2), 0.5, 1, 1])


def test_a_blend_goes_half_the_angle_at_half_the_weight():
    a, b = wild(20, seed=1), wild(20, seed=2)
    same(blend(a, b, 0.0), a)
    same(blend(a, b, np.ones(20)), b, 1e-7)
    half = blend(a, b, 0.5)
    whole = rotation.angle(a.rotations, b.rotations)
    np.testing.assert_allclose(rotation.angle(a.rotations, half.rotations), whole / 2, atol=1e-7)


def test_concatenating_aligns_place_and_heading_and_keeps_the_pose_smooth():
    skeleton = tpose()
    first = turn(samples.walk(skeleton, 4.0, 60), 0.4)
    second = turn(translate(samples.walk(skeleton, 4.0, 60), [50.0, 0.0, -20.0]), -2.0)
    joined = concatenate([first, second], blend=0.4)
    assert joined.duration == pytest.approx(7.6)
    np.testing.assert_allclose(clip_heading(joined)[[0, -1]], 0.4, atol=0.002)
    np.testing.assert_allclose(np.linalg.norm(np.diff(joined.root, axis=0), axis=1).max() * 60, 1.19, atol=0.15)
    apart = concatenate([first, second], blend=0.0, align=False)
    assert apart.duration == pytest.approx(8.0)
    np.testing.assert_allclose(apart.root[-1], second.root[-1], atol=1e-9)


def test_a_layer_takes_the_part_and_leaves_the_rest():
    base, over = wild(61, seed=1), wild(31, seed=2)
    arms = part_joints(base.skeleton, "arms")
    rest = [j for j in range(len(base.skeleton)) if j not in arms]
    out = layer(base, over, "arms", start=0.5, ease_in=0.2, ease_out=0.2)
    np.testing.assert_array_equal(out.root, base.root)
    np.testing.assert_allclose(out.rotations[:, rest], base.rotations[:, rest], atol=1e-15)
    middle = slice(25, 35)
    np.testing.assert_allclose(
        rotation.angle(out.rotations[middle][:, arms], over.rotations[10:20][:, arms]), 0, atol=1e-6
    )
    for untouched in (slice(0, 16), slice(46, 61)):
        same_arms = rotation.angle(out.rotations[untouched][:, arms], base.rotations[untouched][:, arms])
        np.testing.assert_allclose(same_arms, 0, atol=1e-7)
    half = layer(base, over, ["leftHand"], weight=0.5)
    hand = base.skeleton.index("leftHand")
    full = rotation.angle(base.rotations[:31, hand], over.rotations[:, hand])
    np.testing.assert_allclose(
        rotation.angle(base.rotations[:31, hand], half.rotations[:31, hand]), full / 2, atol=1e-6
    )


def test_parts_cover_fingers_and_whatever_else_hangs_from_them():
    body = tpose()
    skeleton = type(body)(
        (*body.names, "twist", "prop"),
        np.array([*body.parents, body.index("leftUpperArm"), len(body)]),
        np.vstack([body.offsets, np.ones((2, 3))]),
        roles=body.roles,
    )
    assert {len(body), len(body) + 1} <= set(part_joints(skeleton, "leftArm"))
    assert set(part_joints(skeleton, "arms")) == {*part_joints(skeleton, "leftArm"), *part_joints(skeleton, "rightArm")}
    assert body.index("spine") in part_joints(skeleton, "upperBody") and 0 not in part_joints(skeleton, "upperBody")


ONE = wild(1)
TWO_SECONDS = wild(61)
REFUSED = [
    (lambda: trim(TWO_SECONDS, 1.0, 0.5), "the end must be a finite time not before the start"),
    (lambda: trim(TWO_SECONDS, 7.0, 8.0), "no frame lies between 7 s and 8 s; the clip runs from 0 s to 2 s"),
    (lambda: trim(TWO_SECONDS, np.nan), "finite"),
    (lambda: resample(TWO_SECONDS, 0.0), "positive number of frames a second; given 0"),
    (lambda: change_speed(TWO_SECONDS, -1.0), "positive number .1 keeps the speed.; given -1"),
    (lambda: change_speed(ONE, 2.0), "single frame"),
    (lambda: warp(TWO_SECONDS, [0, 1, 0.5], [0, 1, 2]), "must be finite and increase"),
    (lambda: warp(TWO_SECONDS, [0, 1], [0, 0]), "new times of a time warp must be finite and increase"),
    (lambda: warp(TWO_SECONDS, [0, 9], [0, 1]), "must lie in the clip .0 s to 2 s."),
    (lambda: warp(TWO_SECONDS, [0], [0]), "two or more moments"),
    (lambda: blend(TWO_SECONDS, TWO_SECONDS, 1.5), "from 0 to 1"),
    (lambda: blend(TWO_SECONDS, TWO_SECONDS, [0.5, np.nan]), "61 of them, from 0 to 1"),
    (lambda: concatenate([]), "at least one clip"),
    (lambda: concatenate([TWO_SECONDS, ONE]), "single frame"),
    (lambda: concatenate([TWO_SECONDS] * 3, blend=1.2), "too short for 2 blend"),
    (lambda: layer(TWO_SECONDS, TWO_SECONDS, "amrs"), "Did you mean 'arms'"),
    (lambda: layer(TWO_SECONDS, TWO_SECONDS, ["leftHnd"]), "Did you mean 'leftHand'"),
    (lambda: layer(TWO_SECONDS, wild(10), "arms", ease_in=0.5), "Shorten them"),
    (lambda: translate(TWO_SECONDS, [1.0, 2.0]), "three finite metres"),
    (lambda: turn(TWO_SECONDS, np.inf), "finite angle"),
    (lambda: mirror(TWO_SECONDS, "charakter"), "Did you mean 'character'"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("act", "message"), REFUSED)
def test_what_cannot_be_done_is_refused_in_a_sentence(act, message):
    with pytest.raises(InputError, match=message):
        act()


def test_clips_of_different_skeletons_do_not_blend():
    other = Clip(tpose(toes=False), np.arange(2.0), np.zeros((2, 3)), rotation.identity((2, len(tpose(toes=False)))))
    rejects(lambda: blend(TWO_SECONDS, other, 0.5), "leftToes", "rightToes")

"""Joints that slide survive whatever is done to a clip: every operation, against a plain evaluation of poses."""

import numpy as np
import pytest

from helpers.bodies import tpose
from helpers.clips import slide, under_reference
from helpers.errors import rejects
from helpers.files.bvh_twins import plain_bvh, write_twin
from helpers.files.gltf import Reference
from helpers.kinematics import plain_positions
from poise.body.character import Character
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.skin import build_skin
from poise.drivers.balance.balance import Balance
from poise.drivers.kinematic.kinematic import Kinematic
from poise.files import load_clip, save_clip
from poise.files.formats.bvh.clip import read_bvh
from poise.files.formats.gltf.animate import save_on_character
from poise.files.formats.gltf.read import read_gltf_rest
from poise.files.formats.usd import read_usd_positions
from poise.files.reading.pipeline import interpret
from poise.files.reading.reframe import turn_clip
from poise.files.writing.round_trip import read_positions
from poise.files.writing.writing import Edits, keep_as, write_clean
from poise.motion import (
    Clip,
    blend,
    change_speed,
    clip_heading,
    concatenate,
    layer,
    mirror,
    place,
    resample,
    retarget,
    root_at_hips,
    samples,
    translate,
    trim,
    turn,
    warp,
)
from poise.motion.edits.in_place import remove_drift, remove_travel
from poise.motion.edits.loop import make_loop, measure_gap
from poise.motion.edits.mirror import find_partners
from poise.motion.motion import Pose
from poise.pictures.body import pose_surface
from poise.pictures.picture import DrawnBody, Picture, frame_picture
from poise.spatial import rotation
from poise.stage.stage import Stage

CLOSE = 1e-9
STRETCH = {"spine": 0.02, "leftHand": 0.05, "rightHand": 0.04, "leftLowerLeg": 0.01, "head": 0.03}


def walking(fps: float = 30.0) -> Clip:
    """A walk under a still reference, hips sliding away from it, other joints to and fro."""
    twin = under_reference(samples.walk(tpose(), 4.0, fps))
    moved = slide(twin, STRETCH).shifts
    return twin.replace(shifts=twin.shifts + moved, name="walk")


def waving() -> Clip:
    twin = under_reference(samples.wave(tpose(), 4.0, 30.0))
    return twin.replace(shifts=twin.shifts + slide(twin, {"rightHand": 0.06, "chest": 0.02}, 1.3).shifts, name="wave")


WALK, WAVE = walking(), waving()
HIPS = WALK.skeleton.index("hips")


def places(clip: Clip) -> np.ndarray:
    """(F, J, 3) m, joint for joint; and the clip says so itself."""
    found = plain_positions(clip.skeleton, clip.poses)
    np.testing.assert_allclose(clip.positions, found, atol=CLOSE)
    return found


def at(clip: Clip, times: np.ndarray, how: str = "spline") -> np.ndarray:
    return plain_positions(clip.skeleton, clip.pose(np.asarray(times, float), how))


def test_the_clips_are_hard():
    assert np.ptp(places(WALK)[:, HIPS, 2]) > 1.5
    assert np.abs(WALK.root).max() == 0.0
    assert (np.ptp(WALK.shifts, axis=0).max(axis=1) > 0.005).sum() == 6


def test_edits_in_time():
    cut = trim(WALK, 1.0, 3.0)
    np.testing.assert_allclose(places(cut), places(WALK)[30:91], atol=CLOSE)
    for how in ("slerp", "spline"):
        twice = resample(WALK, 60.0, how)
        np.testing.assert_allclose(places(twice)[::2], places(WALK), atol=CLOSE)
        np.testing.assert_allclose(places(twice), at(WALK, twice.times, how), atol=CLOSE)
    fast = change_speed(WALK, 2.0)
    np.testing.assert_allclose(places(fast), at(WALK, 2.0 * fast.times), atol=CLOSE)
    bent = warp(WALK, [0.5, 2.0, 3.5], [0.0, 1.0, 3.0])
    np.testing.assert_allclose(places(bent)[[0, 30, 90]], at(WALK, [0.5, 2.0, 3.5]), atol=CLOSE)


def test_joining_motions():
    for weight, one in ((0.0, WALK), (1.0, WAVE)):
        np.testing.assert_allclose(places(blend(WALK, WAVE, weight)), places(one), atol=CLOSE)
    half = blend(WALK, WAVE, 0.5)
    between = Pose(
        0.5 * (WALK.root + WAVE.root),
        rotation.slerp(WALK.rotations, WAVE.rotations, np.array(0.5)),
        0.5 * (WALK.shifts + WAVE.shifts),
    )
    np.testing.assert_allclose(places(half), plain_positions(WALK.skeleton, between), atol=CLOSE)
    plain = WAVE.replace(shifts=None)
    np.testing.assert_allclose(places(blend(plain, WALK, 1.0)), places(WALK), atol=CLOSE)
    chained = concatenate([WALK, WAVE], 0.4)
    np.testing.assert_allclose(places(chained)[:100], places(WALK)[:100], atol=CLOSE)
    last = places(chained)[-1]
    wanted = places(WAVE)[-1] - places(WAVE)[-1, HIPS]
    np.testing.assert_allclose(last - last[HIPS], wanted, atol=1e-2)  # turned by what the walk turned
    assert np.linalg.norm((last - places(WALK)[-1])[HIPS, [0, 2]]) < 0.05


def test_blending_with_a_body_whose_hips_rest_elsewhere_keeps_the_place():
    lower = WAVE.skeleton.offsets.copy()
    lower[HIPS] = 0.0
    shifts = WAVE.shifts.copy()
    shifts[:, HIPS] += WAVE.skeleton.offsets[HIPS]
    other = WAVE.replace(skeleton=WAVE.skeleton.replace(offsets=lower), shifts=shifts)
    np.testing.assert_allclose(places(other), places(WAVE), atol=CLOSE)
    np.testing.assert_allclose(places(blend(WALK, other, 1.0)), places(WAVE), atol=CLOSE)


def test_layers_take_the_shifts_of_their_part():
    layered = layer(WALK, WAVE, "rightArm")
    joints = WALK.skeleton.descendants(WALK.skeleton.index("rightShoulder"))
    poses = WALK.poses._replace(rotations=WALK.rotations.copy(), shifts=WALK.shifts.copy())
    poses.rotations[:, joints], poses.shifts[:, joints] = WAVE.rotations[:, joints], WAVE.shifts[:, joints]
    np.testing.assert_allclose(places(layered), plain_positions(WALK.skeleton, poses), atol=1e-7)
    assert not np.allclose(WALK.shifts[:, joints], WAVE.shifts[:, joints])


def test_mirrors_turns_and_moves():
    partner = find_partners(WALK.skeleton)
    np.testing.assert_allclose(places(mirror(WALK)), places(WALK)[:, partner] * [-1, 1, 1], atol=CLOSE)
    about = np.array([0.3, 0.0, -0.7])
    turned = rotation.rotate(rotation.exp(np.array([0.0, 0.9, 0.0])), places(WALK) - about) + about
    np.testing.assert_allclose(places(turn(WALK, 0.9, about)), turned, atol=CLOSE)
    np.testing.assert_allclose(places(translate(WALK, [1.0, 2.0, 3.0])), places(WALK) + [1.0, 2.0, 3.0], atol=CLOSE)
    put = place(WALK, np.array([5.0, 0.0, 6.0]), 1.2, 2.0)
    hips = places(put)[60, HIPS]
    np.testing.assert_allclose(hips, [5.0, places(WALK)[60, HIPS, 1], 6.0], atol=CLOSE)
    assert clip_heading(put)[60] == pytest.approx(1.2)
    q = rotation.exp(np.array([0.4, -1.0, 2.0]))
    np.testing.assert_allclose(places(turn_clip(WALK, q)), rotation.rotate(q, places(WALK)), atol=CLOSE)
    np.testing.assert_allclose(places(WALK.scaled(0.5)), 0.5 * places(WALK), atol=CLOSE)


@pytest.mark.parametrize("remove", [remove_travel, remove_drift])
def test_in_place_the_joint_that_travelled_stays_and_the_reference_still_stands(remove):
    still, way = remove(WALK)
    np.testing.assert_allclose(places(still)[:, 1:], places(WALK)[:, 1:] - way[:, None], atol=CLOSE)
    assert np.abs(places(still)[-1, HIPS, 2] - places(still)[0, HIPS, 2]) < 0.5 < 1.5 < np.ptp(way[:, 2])
    np.testing.assert_array_equal(still.root, WALK.root)
    plain, plain_way = remove(samples.walk(tpose(), 4.0, 30.0))
    np.testing.assert_allclose(way, plain_way, atol=1e-12)
    np.testing.assert_allclose(places(still)[:, HIPS], places(plain)[:, 0], atol=CLOSE)


def test_loops_close_and_go_on():
    loop = make_loop(WALK)
    assert measure_gap(loop.clip) < 1e-9 < 1e-3 < loop.gap
    np.testing.assert_array_equal(loop.clip.root, np.zeros((len(loop.clip), 3)))
    went = places(loop.clip)[[0, -1], HIPS]
    assert np.linalg.norm((went[1] - went[0])[[0, 2]]) > 0.8
    plain = make_loop(samples.walk(tpose(), 4.0, 30.0))
    twin = make_loop(under_reference(samples.walk(tpose(), 4.0, 30.0)))
    assert (twin.start, twin.end) == (plain.start, plain.end)
    np.testing.assert_allclose(places(twin.clip)[:, 1:], places(plain.clip), atol=1e-9)


def test_a_loop_of_a_body_that_turns_below_a_still_reference_keeps_turning():
    clip = samples.walk(tpose(), 4.0, 30.0)
    turns = clip.rotations.copy()
    spin = rotation.exp(0.4 * clip.times[:, None] * [0.0, 1.0, 0.0])
    turns[:, 0] = rotation.multiply(spin, turns[:, 0])
    turning = clip.replace(rotations=turns)
    plain, twin = make_loop(turning), make_loop(under_reference(turning))
    assert measure_gap(twin.clip) < 1e-9
    np.testing.assert_allclose(places(twin.clip)[:, 1:], places(plain.clip), atol=1e-9)
    np.testing.assert_allclose(twin.clip.rotations[:, 0], rotation.identity((len(twin.clip),)), atol=1e-12)


def test_retargeting_onto_its_own_and_a_larger_body_of_the_same_proportions():
    for scale in (1.0, 1.3):
        result = retarget(WALK, WALK.skeleton.scaled(scale))
        np.testing.assert_allclose(places(result), scale * places(WALK), atol=1e-6)


def test_retargeting_onto_another_body_goes_as_far_as_the_plain_walk():
    target = Character.human(1.6, 60.0).skeleton
    plain = retarget(samples.walk(tpose(), 4.0, 30.0), target)
    twin = retarget(under_reference(samples.walk(tpose(), 4.0, 30.0)), target)
    np.testing.assert_allclose(places(twin), places(plain), atol=1e-6)
    stretched = retarget(WALK, target)
    neck = target.index("head")
    assert np.ptp(stretched.shifts[:, neck], axis=0).max() > 0.04
    # Onto a body with a reference of its own, the travel stays where the clip has it.
    under = retarget(under_reference(samples.walk(tpose(), 4.0, 30.0)), under_reference(plain).skeleton)
    np.testing.assert_allclose(places(under)[:, 1:], places(plain), atol=1e-6)
    np.testing.assert_array_equal(under.root, np.zeros((len(under), 3)))


@pytest.mark.parametrize("suffix", [".npz", ".bvh", ".glb", ".usda", ".usdc"])
@pytest.mark.many(2)
def test_files(tmp_path, suffix):
    path = tmp_path / f"walk{suffix}"
    if suffix.startswith(".usd"):
        pytest.importorskip("pxr", reason="no USD: pip install poise[usd]")
    save_clip(WALK, path)
    found = read_positions(path, WALK.skeleton)
    np.testing.assert_allclose(found, places(WALK), atol=1e-4)
    if suffix == ".npz":
        again = load_clip(path)
        np.testing.assert_array_equal(again.shifts, WALK.shifts)
    if suffix == ".bvh":
        shown = plain_bvh(path.read_text())
        wanted = {name: places(WALK)[:, i] for i, name in enumerate(WALK.skeleton.names)}
        for name, track in wanted.items():
            np.testing.assert_allclose(shown[name], track, atol=1e-4)
        again = load_clip(path)
        order = [again.skeleton.names.index(name) for name in WALK.skeleton.names]
        np.testing.assert_allclose(again.positions[:, order], places(WALK), atol=1e-4)
        assert path.read_text().count("CHANNELS 6") == 1 + 6
    if suffix == ".glb":
        shown = Reference(path)
        for f in (0, 40, 120):
            t = float(np.float32(WALK.times[f]))
            np.testing.assert_allclose(shown.positions(WALK.skeleton.names, 0, t), places(WALK)[f], atol=1e-4)
    if suffix.startswith(".usd"):
        np.testing.assert_allclose(read_usd_positions(path), places(WALK), atol=1e-4)


def test_a_file_without_shifts_has_none_in_it(tmp_path):
    plain = samples.walk(tpose(), 3.0, 30.0)
    save_clip(plain, tmp_path / "a.npz")
    save_clip(plain, tmp_path / "a.bvh")
    assert "shifts" not in np.load(tmp_path / "a.npz")
    assert (tmp_path / "a.bvh").read_text().count("CHANNELS 6") == 1


def test_a_character_of_the_users_own_slides_too(tmp_path):
    plain = under_reference(samples.walk(tpose(), 3.0, 30.0))
    save_clip(plain.replace(shifts=None), tmp_path / "hero.glb")
    reading = interpret(read_gltf_rest(tmp_path / "hero.glb"))
    moved = trim(WALK, 0.0, 1.0).replace(skeleton=reading.clip.skeleton)
    save_on_character(moved, reading, tmp_path / "out.glb", "slide")
    shown = Reference(tmp_path / "out.glb")
    number = [each["name"] for each in shown.json["animations"]].index("slide")
    for f in (0, 17, 30):
        t = float(np.float32(moved.times[f]))
        np.testing.assert_allclose(shown.positions(moved.skeleton.names, number, t), places(moved)[f], atol=1e-4)


@pytest.mark.parametrize("adds", [False, True])
@pytest.mark.parametrize("edits", [Edits(), Edits(0.5, 2.0), Edits(fps=60.0), Edits(in_place=True), Edits(loop=True)])
@pytest.mark.many(1)
def test_conversions_of_a_file(tmp_path, adds, edits):
    clip = samples.walk(tpose(), 4.0, 30.0)
    path = tmp_path / "in.bvh"
    path.write_text(write_twin(clip, 1, 1, adds, 0.0254, "Z", ("ZYX", "XYZ"), 0.02))
    reading = interpret(read_bvh(path), 0.0254, "Z")
    wanted, _, _ = edits.apply(reading.clip)
    for suffix in ("bvh", "glb", "npz"):
        out = tmp_path / f"out.{suffix}"
        written = write_clean(reading, out, edits)
        assert written.error < 1e-4
        np.testing.assert_allclose(read_positions(out, wanted.skeleton), places(wanted), atol=1e-4)
    out = tmp_path / "kept.bvh"
    written = keep_as(reading, out, edits)
    assert written.error < 1e-4
    there = plain_bvh(out.read_text(), adds)
    in_file = reading.placement.to_file(wanted)
    np.testing.assert_allclose(rotation.rotate(rotation.conjugate(reading.frame.world), places(wanted)) / 0.0254,
                               places(in_file), atol=1e-6)  # fmt: skip
    for i, name in enumerate(wanted.skeleton.names):
        np.testing.assert_allclose(0.0254 * there[name], 0.0254 * in_file.positions[:, i], atol=1e-4)


def test_an_added_tpose_is_left_out_with_its_shifts(tmp_path):
    clip = samples.wave(tpose(), 2.0, 30.0)
    turns = np.concatenate([rotation.identity((1, len(clip.skeleton))), clip.rotations])
    added = Clip(clip.skeleton, np.arange(len(turns)) / 30, np.concatenate([clip.root[:1], clip.root]), turns)
    path = tmp_path / "t.bvh"
    path.write_text(write_twin(added, 1, 1))
    reading = interpret(read_bvh(path))
    assert reading.dropped == 1
    joints = [reading.clip.skeleton.names.index(name) for name in clip.skeleton.names]
    np.testing.assert_allclose(reading.clip.positions[:, joints], clip.positions, atol=1e-4)


def test_pictures_show_joints_where_they_are():
    skin = build_skin(WALK.skeleton, build_mannequin(WALK.skeleton, 70.0))
    figure = DrawnBody(WALK, skin)
    surface = Picture([figure]).surface(2.0).points
    np.testing.assert_allclose(surface, skin.pose(WALK.skeleton, *(a[60] for a in WALK.world))[0], atol=1e-9)
    frame = pose_surface(WALK.skeleton, skin, WALK.root[60], WALK.rotations[60], shifts=WALK.shifts[60]).points
    np.testing.assert_allclose(surface, frame, atol=1e-9)
    np.testing.assert_allclose(figure.places(WALK.times), places(WALK)[:, HIPS], atol=CLOSE)
    assert frame_picture(Picture([figure]), WALK.times).is_following


def test_a_stage_refuses_bones_that_slide_and_says_what_to_do():
    actor = Stage().add(Character.from_skeleton(WALK.skeleton, mass=70.0))
    actor.drive("leftLeg", Kinematic(slide(WALK.replace(shifts=None), {"leftFoot": 0.001})))  # as good as rigid
    rejects(lambda: actor.drive(["hips"], Kinematic(WALK)), "hips", "'walk'", "root_at_hips")
    apart = root_at_hips(WALK).body
    assert apart.shifts is None
    np.testing.assert_allclose(places(apart)[:, 0], places(WALK)[:, HIPS], atol=CLOSE)
    actor = Stage().add(Character.from_skeleton(apart.skeleton, mass=70.0))
    actor.drive("arms", Kinematic(apart))


def test_a_balance_refuses_to_follow_bones_that_slide():
    stretched = slide(samples.wave(tpose(), 2.0, 60.0), {"spine": 0.05})
    stage = Stage()
    stage.add(Character.from_skeleton(stretched.skeleton, mass=70.0)).drive("legs", Balance(follow=stretched))
    rejects(lambda: stage.run(0.1), "spine", "'wave'")

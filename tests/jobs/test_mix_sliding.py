"""Mixes of clips whose travel is not in the root: those of the plain clip, in the file's own arrangement."""

import dataclasses
import json
from functools import cache

import numpy as np
import pytest

from helpers.bodies import tpose
from helpers.clips import slide, under_reference
from helpers.files.bvh_twins import plain_bvh, write_twin
from helpers.kinematics import plain_positions
from poise.body.character import Character
from poise.cli import main
from poise.errors import InputError
from poise.jobs.mix.plan import MixPlan
from poise.jobs.shared.simulation import Mix
from poise.jobs.shared.simulation import simulate as mix
from poise.motion import samples
from poise.motion.clip import Clip
from poise.motion.edits.ground import translate
from poise.motion.root import root_at_hips
from poise.spatial import rotation
from poise.stage.take.files import load_take
from poise.stage.take.take import save_take


def wave() -> Clip:
    return translate(samples.wave(tpose(), 2.0, 60.0), np.array([2.0, 0.0, -3.0]))


def moving_reference(clip: Clip) -> Clip:
    """The twin under a reference that turns and wanders about, as nobody would want it to."""
    twin = under_reference(clip)
    t = clip.times[:, None]
    root = np.concatenate([np.sin(t), 0.3 * np.cos(2 * t), 0.5 * t], axis=1)
    turns = twin.rotations.copy()
    turns[:, 0] = rotation.exp(np.concatenate([0.2 * np.sin(t), 0.8 * t, 0.1 * np.cos(t)], axis=1))
    turns[:, 1] = rotation.multiply(rotation.conjugate(turns[:, 0]), clip.rotations[:, 0])
    shifts = twin.shifts.copy()
    shifts[:, 1] = rotation.rotate(rotation.conjugate(turns[:, 0]), clip.root - root) - twin.skeleton.offsets[1]
    return twin.replace(root=root, rotations=turns, shifts=shifts)


def rigid_root(clip: Clip) -> Clip:
    """The twin whose first joint travels and turns with the hips, which hang on it without shifts."""
    twin = under_reference(clip)
    turns = twin.rotations.copy()
    turns[:, 0], turns[:, 1] = clip.rotations[:, 0], rotation.identity((len(clip),))
    root = clip.root - rotation.rotate(clip.rotations[:, 0], twin.skeleton.offsets[1])
    return twin.replace(root=root, rotations=turns, shifts=None)


TWINS = {"still reference": under_reference, "moving reference": moving_reference, "rigid root": rigid_root}


def run(clip: Clip, plan: MixPlan | None = None) -> Mix:
    return mix(clip, Character.from_skeleton(clip.skeleton, mass=70.0), plan)


@cache
def of_plain() -> Mix:
    """Of the clip that the twins tell in other ways."""
    return run(wave())


@pytest.mark.parametrize("kind", TWINS)
def test_the_mix_of_a_twin_is_that_of_the_plain_clip(kind):
    twin = TWINS[kind](wave())
    np.testing.assert_allclose(twin.positions[:, 1:], wave().positions, atol=1e-12)
    found = run(twin)
    assert found.fell_at is None and of_plain().fell_at is None
    assert found.clip.skeleton is twin.skeleton
    np.testing.assert_array_equal(found.clip.times, twin.times)
    np.testing.assert_allclose(found.clip.positions[:, 1:], of_plain().clip.positions, atol=1e-5)
    np.testing.assert_allclose(plain_positions(twin.skeleton, found.clip.poses), found.clip.positions, atol=1e-9)
    np.testing.assert_allclose(found.take.actor().center, of_plain().take.actor().center, atol=1e-5)
    assert found.kinematic == [i + 1 for i in of_plain().kinematic]
    assert found.physical == [i + 1 for i in of_plain().physical]
    assert found.ground == pytest.approx(of_plain().ground, abs=1e-9)
    # What was above the hips is as the file has it: where it is, or at least how it turns.
    if kind == "rigid root":
        assert found.clip.shifts is None
    else:
        np.testing.assert_allclose(found.clip.root, twin.root, atol=1e-12)
    np.testing.assert_allclose(found.clip.rotations[:, 0], twin.rotations[:, 0], atol=1e-12)


def test_a_kinematic_root_travels_as_the_clip_does():
    clip = samples.walk(tpose(), 3.0, 60.0)
    plan = MixPlan(physical=("leftArm",))
    plain, found = run(clip, plan), run(moving_reference(clip), plan)
    np.testing.assert_allclose(found.clip.positions[:, 1:], plain.clip.positions, atol=1e-5)
    for joint in ("hips", "leftFoot", "head"):
        i = clip.skeleton.index(joint)
        np.testing.assert_allclose(found.clip.positions[:, i + 1], clip.positions[:, i], atol=1e-9)
    assert found.clip.skeleton.find_role("hips") not in found.physical


def test_the_take_tells_the_same_motion_and_is_saved_with_it(tmp_path):
    found = run(under_reference(wave()))
    np.testing.assert_allclose(found.take.clip().positions, found.clip.positions, atol=1e-12)
    save_take(found.take, tmp_path / "x.take.npz")
    again = load_take(tmp_path / "x.take.npz")
    np.testing.assert_array_equal(again.clip().positions, found.take.clip().positions)
    # Rates are those of the poses.
    record, dt = found.take.actor(), found.clip.times[1]
    steps = rotation.log(rotation.multiply(rotation.conjugate(record.rotations[:-2]), record.rotations[2:])) / (2 * dt)
    legs = [i for i in found.physical if i > 1]
    np.testing.assert_allclose(record.angular_velocity[20:-1, legs], steps[19:, legs], atol=0.05)
    assert np.isnan(record.torque[:, :2]).all() and np.isfinite(record.torque[1:, legs]).all()


def test_small_stretches_come_back_where_the_clip_moves_the_joint():
    clip = slide(wave(), {"leftHand": 0.03, "rightLowerLeg": 0.004, "spine": 0.002})
    found = run(clip)
    hand, knee = clip.skeleton.index("leftHand"), clip.skeleton.index("rightLowerLeg")
    np.testing.assert_array_equal(found.clip.shifts[:, hand], clip.shifts[:, hand])
    assert np.ptp(found.clip.shifts[:, knee], axis=0).max() == 0.0
    np.testing.assert_allclose(found.clip.shifts[0, knee], clip.shifts[:, knee].mean(axis=0), atol=1e-12)
    assert len(found.notes) == 1 and "leftHand" in found.notes[0] and "LowerLeg" not in found.notes[0]
    assert abs(found.clip.positions - of_plain().clip.positions)[:, clip.skeleton.index("leftFoot")].max() < 0.02


@pytest.mark.parametrize("kind", TWINS)
def test_rooting_and_back_changes_nothing(kind):
    twin = slide(TWINS[kind](wave()), {"leftHand": 0.03}) if kind == "rigid root" else TWINS[kind](wave())
    rooting = root_at_hips(twin)
    assert rooting.body.skeleton.names == twin.skeleton.names[1:]
    back = rooting.restore(rooting.body, range(len(rooting.joints)))
    np.testing.assert_allclose(back.positions, twin.positions, atol=1e-12)
    np.testing.assert_allclose(back.world[1], twin.world[1], atol=1e-12)


def test_a_plain_clip_is_its_own_body():
    clip = wave()
    assert root_at_hips(clip).body is clip
    result = clip.replace(root=clip.root + 1.0)
    assert root_at_hips(clip).restore(result) is result


def test_a_body_begins_at_the_lowest_joint_that_carries_all_of_it():
    """As in rigs whose pelvis and spine both hang from a joint above: that one is where the body is."""
    twin = under_reference(wave())
    parents = twin.skeleton.parents.copy()
    parents[twin.skeleton.index("spine")] = 0
    forked = dataclasses.replace(twin.skeleton, parents=parents)
    assert root_at_hips(twin.replace(skeleton=forked)).body.skeleton.names == forked.names
    assert root_at_hips(twin).body.skeleton.names == forked.names[1:]


def test_mass_above_the_hips_is_refused():
    twin = under_reference(wave())
    character = Character.from_skeleton(twin.skeleton, mass=70.0)
    segment = dataclasses.replace(character.segments[0], name="box", joint="Reference")
    with pytest.raises(InputError, match=r"Reference of character .* has mass"):
        mix(twin, dataclasses.replace(character, segments=(*character.segments, segment)))


@pytest.mark.parametrize(("suffix", "adds"), [(".bvh", False), (".bvh", True), (".npz", False), (".take.npz", False)])
@pytest.mark.many(2)
def test_the_command_writes_and_measures_the_same(tmp_path, capsys, suffix, adds):
    plain, twin = tmp_path / "plain.bvh", tmp_path / "twin.bvh"
    clip = samples.wave(tpose(), 1.8, 60.0)
    plain.write_text(write_twin(clip, 0, 0, adds))
    twin.write_text(write_twin(clip, 1, 1, adds))
    figures = []
    for path in (plain, twin):
        assert main(["mix", str(path), "-o", str(path.with_suffix(".out" + suffix)), "--json", "--mass", "70"]) == 0
        figures.append(json.loads(capsys.readouterr().out))
    for key in ("kinematic_error_rad", "foot_slip_mm", "com_margin_m", "sway_mm", "peak_torque_nm", "peak_effort"):
        assert figures[1][key] == pytest.approx(figures[0][key], abs=2e-4, rel=2e-3), key
    for key in ("fell", "stepping", "frames", "peak_torque_joint", "stature_m", "mass_kg"):
        assert figures[1][key] == figures[0][key], key
    if suffix == ".bvh":
        here, there = (plain_bvh(path.with_suffix(".out.bvh").read_text()) for path in (plain, twin))
        np.testing.assert_allclose(there["Reference"], 0.0, atol=1e-6)
        for name in clip.skeleton.names:
            np.testing.assert_allclose(there[name], here[name], atol=1e-4)

"""Contacts found from motion: against motions whose contacts are known, and against force plates."""

import csv

import numpy as np
import pytest

from helpers.bodies import tpose
from helpers.recordings import data_file
from poise.body.character import Character
from poise.body.geometry.soles import find_soles
from poise.files.registry import load_clip
from poise.motion import Clip, find_contacts, foot_points, resample, samples, translate, trim
from poise.motion.forces.forces import compute_forces
from poise.motion.samples.curves import rise
from poise.spatial import rotation


def touching(clip: Clip) -> np.ndarray:
    """(F, 2) which feet of a made motion on y = 0 touch the ground, the sole being 5 mm soft."""
    return np.abs(foot_points(clip)[..., 1]).min(axis=2) < 0.005


def agreement(clip: Clip, truth: np.ndarray) -> float:
    return float((find_contacts(clip).foot == truth).mean())


def walking(fps: float = 60.0) -> Clip:
    return samples.walk(tpose(), 6.0, fps)


def test_soles_lie_on_the_floor_heel_behind_and_toes_before_the_ankle():
    for skeleton in (tpose(), tpose(1.2), tpose(toes=False)):
        clip = Clip(skeleton, [0.0], skeleton.offsets[:1], rotation.identity((1, len(skeleton))))
        points = foot_points(clip)[0]
        ankle_z = 0.0
        np.testing.assert_allclose(points[..., 1], 0, atol=1e-12)
        assert np.all(points[:, 0, 2] < ankle_z) and np.all(points[:, 2, 2] > points[:, 1, 2])
        length = points[0, 2, 2] - points[0, 0, 2]
        assert length == pytest.approx(0.152 * skeleton.offsets[0, 1] / 0.53, rel=0.03)  # Winter: 0.152 of stature


def test_a_skeleton_that_ends_at_the_ankles_still_has_soles():
    full = tpose()
    keep = [i for i, name in enumerate(full.names) if "Toes" not in name]
    names = tuple(full.names[i] for i in keep)
    parents = [-1 if full.parents[i] < 0 else names.index(full.names[full.parents[i]]) for i in keep]
    bare = type(full)(names, np.array(parents), full.offsets[keep], roles={name: name for name in names})
    for sole in find_soles(bare):
        assert sole.toes is None and sole.heel[2] < 0 < sole.ball[2] < sole.tip[2] and sole.tip[1] < 0


@pytest.mark.parametrize("fps", [24, 30, 60, 120, 240])
def test_a_walks_contacts_at_any_frame_rate(fps):
    clip = walking(fps)
    assert agreement(clip, touching(clip)) > 0.95
    assert len(find_contacts(clip).intervals("left")) == len(find_contacts(walking()).intervals("left"))


def test_heel_then_toe_in_every_stance():
    contacts = find_contacts(walking(120))
    for start, end in contacts.intervals("left")[1:-1]:
        during = (contacts.times >= start) & (contacts.times <= end)
        heel, toe = contacts.heel[during, 0], contacts.toe[during, 0]
        assert heel[0] and not toe[0] and toe[-1] and not heel[-1]


@pytest.mark.parametrize("height", [-0.83, 0.4])
def test_a_floor_elsewhere_is_found(height):
    clip = translate(walking(), [0, height, 0])
    assert find_contacts(clip).ground_height == pytest.approx(height, abs=0.005)
    assert agreement(clip, touching(walking())) > 0.95


def test_a_treadmills_belt_is_found_and_its_stances_too():
    clip = walking()
    belt = np.array([0.3, 0.0, -1.1])
    moved = clip.replace(root=clip.root + clip.times[:, None] * belt)
    contacts = find_contacts(moved)
    np.testing.assert_allclose(contacts.ground_velocity, belt, atol=0.03)
    assert agreement(moved, touching(clip)) > 0.95
    assert not np.any(find_contacts(clip).ground_velocity)


def test_a_soft_floor_that_gives_way_by_two_centimetres():
    clip = walking()
    sink = 0.02 * np.sin(2 * np.pi * 0.9 * clip.times)
    soft = clip.replace(root=clip.root + sink[:, None] * [0, 1, 0])
    assert agreement(soft, touching(clip)) > 0.93


@pytest.mark.parametrize("fps", [30, 120, 240])
def test_noise_does_not_break_contacts_up(fps):
    clip, rng = walking(fps), np.random.default_rng(3)
    noisy = clip.replace(
        root=clip.root + 0.0015 * rng.standard_normal(clip.root.shape),
        rotations=rotation.multiply(
            clip.rotations, rotation.exp(0.003 * rng.standard_normal((*clip.rotations.shape[:2], 3)))
        ),
    )
    assert agreement(noisy, touching(clip)) > 0.94
    for side in ("left", "right"):
        assert len(find_contacts(noisy).intervals(side)) == len(find_contacts(clip).intervals(side))


@pytest.mark.parametrize("fps", [30, 120])
def test_a_jumps_flight_lasts_as_long_as_gravity_says(fps):
    height = 0.3
    contacts = find_contacts(samples.jump(tpose(), 2.6, fps, height=height))
    flight = np.flatnonzero(contacts.flight)
    assert np.all(np.diff(flight) == 1)
    # t = 2 sqrt(2 h / g)
    assert len(flight) / fps == pytest.approx(2 * np.sqrt(2 * height / 9.81), abs=0.05 + 1 / fps)


def test_standing_still_is_all_contact():
    for clip in (samples.idle(tpose(), 3.0, 60), resample(samples.idle(tpose(), 3.0, 60), 24)):
        contacts = find_contacts(clip)
        assert contacts.foot.all() and contacts.heel.all() and contacts.toe.all() and not contacts.flight.any()
        np.testing.assert_array_equal(contacts.intervals("left"), [[0.0, clip.duration]])


def test_on_one_leg_only_that_foot_is_down():
    clip = samples.idle(tpose(), 3.0, 60)
    rotations = clip.rotations.copy()
    for joint, angle in (("leftUpperLeg", -1.2), ("leftLowerLeg", 1.2)):
        j = clip.skeleton.index(joint)
        rotations[:, j] = rotation.multiply(rotations[:, j], rotation.exp([angle, 0.0, 0.0]))
    contacts = find_contacts(clip.replace(rotations=rotations))
    assert contacts.foot[:, 1].all() and not contacts.foot[:, 0].any()


def test_a_single_frame_says_which_feet_are_low():
    contacts = find_contacts(trim(samples.idle(tpose(), 1.0, 60), end=0.0))
    assert contacts.foot.all() and contacts.ground_height == pytest.approx(0, abs=1e-9)


def climb(height: float, fps: float = 60.0) -> tuple[Clip, np.ndarray]:
    """Standing, then standing `height` m higher: a walk of no way, moved up between two stands. And when it is up."""
    clip = samples.idle(tpose(), 4.0, fps)
    up = rise(clip.times, 1.8, 2.2)
    return clip.replace(root=clip.root + height * up[:, None] * [0, 1, 0]), up


@pytest.mark.parametrize("height", [0.15, 0.3, 0.6])
def test_standing_on_a_box_is_no_flight(height):
    clip, up = climb(height)
    contacts = find_contacts(clip)
    still = (up == 0) | (up == 1)
    assert contacts.foot[still].mean() > 0.97 and not contacts.flight.any()
    np.testing.assert_allclose(contacts.floor[up == 1].mean(), height, atol=0.01)
    np.testing.assert_allclose(contacts.floor[up == 0], 0.0, atol=0.01)


def test_what_is_carried_without_touching_does_not_fly():
    """Legs that swing without rest, on a seat that is not in the file."""
    clip = samples.idle(tpose(), 3.0, 60)
    rotations = clip.rotations.copy()
    for side, lag in (("left", 0.0), ("right", np.pi)):
        for joint, mean, size in (("UpperLeg", -1.4, 0.3), ("LowerLeg", 1.2, 0.6)):
            j = clip.skeleton.index(f"{side}{joint}")
            angle = mean + size * np.sin(2 * np.pi * 1.1 * clip.times + lag)
            rotations[:, j] = rotation.multiply(rotations[:, j], rotation.exp(angle[:, None] * [1.0, 0.0, 0.0]))
    contacts = find_contacts(clip.replace(rotations=rotations))
    assert not contacts.flight.any()


def test_hands_and_knees_on_the_ground_are_found():
    """A table of four legs: the trunk level, thighs and arms down, shanks back along the ground."""
    clip = samples.idle(tpose(), 3.0, 60)
    skeleton, rotations = clip.skeleton, rotation.identity((len(clip), len(clip.skeleton)))
    turn = rotation.exp([np.pi / 2, 0.0, 0.0])  # the trunk falls forward
    rotations[:, 0] = turn
    for side, sign in (("left", 1.0), ("right", -1.0)):
        rotations[:, skeleton.index(f"{side}UpperLeg")] = rotation.exp([-np.pi / 2, 0.0, 0.0])
        rotations[:, skeleton.index(f"{side}LowerLeg")] = rotation.exp([np.pi / 2, 0.0, 0.0])
        rotations[:, skeleton.index(f"{side}Foot")] = rotation.exp([np.pi / 2, 0.0, 0.0])  # on its back
        rotations[:, skeleton.index(f"{side}UpperArm")] = rotation.exp([0.0, -sign * np.pi / 2, 0.0])
    posed = clip.replace(rotations=rotations)
    knees = posed.positions[:, [skeleton.index(f"{side}LowerLeg") for side in ("left", "right")], 1].min()
    contacts = find_contacts(posed.replace(root=posed.root - [0.0, knees - 0.05, 0.0]))
    assert contacts.knee.all() and not contacts.flight.any()


def test_a_foot_that_is_held_still_in_the_air_carries_nothing():
    clip = samples.idle(tpose(), 4.0, 60)
    rotations = clip.rotations.copy()
    for joint, angle in (("leftUpperLeg", -1.0), ("leftLowerLeg", 1.4)):
        j = clip.skeleton.index(joint)
        rotations[:, j] = rotation.multiply(rotations[:, j], rotation.exp([angle, 0.0, 0.0]))
    contacts = find_contacts(clip.replace(rotations=rotations))
    assert not contacts.foot[:, 0].any() and contacts.foot[:, 1].all()
    assert np.ptp(contacts.floor) < 1e-9


PLATES = ["walk3d", "walk3d_raw", "walk3d_ik", "walk3d_ik_raw", "gait10dof_walk", "gait10dof_walk_overground"]


def load(name: str, drop: int = 0) -> Clip:
    """A recording without its first frames (CMU's begin with a T-pose)."""
    clip = load_clip(data_file(name))
    return trim(clip, clip.times[drop])


@pytest.mark.data
@pytest.mark.parametrize("trial", PLATES)
def test_force_plates_agree(trial):
    contacts = find_contacts(load(f"force-bvh/{trial}.bvh"))
    with data_file(f"force-bvh/{trial}_grf.csv").open() as file:
        rows = list(csv.DictReader(file))
    measured = np.array([[row["left_contact"] == "1", row["right_contact"] == "1"] for row in rows])
    whole = np.array([row["plates_whole_body"] == "1" for row in rows])
    assert (contacts.foot == measured)[whole].mean() > 0.97
    belt = -1.137 if trial == "gait10dof_walk" else 0.0  # the trial's json: belt_speed_m_s
    np.testing.assert_allclose(contacts.ground_velocity, [0, 0, belt], atol=0.01)


@pytest.mark.data
@pytest.mark.parametrize("trial", ["hamner_run_overground", "hamner_run_raw"])
def test_a_run_over_force_plates_is_on_the_ground_as_long_as_they_say(trial):
    """The contacts that forces are found with: those of the feet's motion, corrected by where the ground pushes."""
    clip = load(f"force-bvh/{trial}.bvh")
    contacts = compute_forces(clip, Character.from_skeleton(clip.skeleton, mass=65.9)).contacts
    with data_file(f"force-bvh/{trial}_grf.csv").open() as file:
        rows = list(csv.DictReader(file))
    measured = np.array([[row["left_contact"] == "1", row["right_contact"] == "1"] for row in rows])
    assert contacts.foot.any(axis=1).mean() == pytest.approx(measured.any(axis=1).mean(), abs=0.03)
    assert (contacts.foot == measured).mean() > 0.97
    np.testing.assert_array_equal(contacts.flight, ~contacts.foot.any(axis=1))
    for side in range(2):
        true, found = (np.flatnonzero(np.diff(m[:, side].astype(int)) == 1) for m in (measured, contacts.foot))
        assert len(true) == len(found)
        assert abs(np.mean(found - true)) < 0.5 and np.abs(found - true).max() <= 1  # frames of 17 ms


@pytest.mark.data
def test_stairs_are_floors():
    contacts = find_contacts(load("bvh-cmu/111_27.bvh", drop=1))
    steps = np.unique(np.round(contacts.floor, 2))
    assert len(steps) >= 3 and 0.25 < np.ptp(steps) < 0.45 and not contacts.flight.any()


@pytest.mark.data
def test_a_run_flies_between_its_steps_and_a_walk_never():
    run, walk = (find_contacts(load(f"bvh-cmu/{name}.bvh", drop=1)) for name in ("09_01", "07_01"))
    assert not walk.flight.any()
    assert 0.25 < run.flight.mean() < 0.6
    assert not (run.foot[:, 0] & run.foot[:, 1]).any()


@pytest.mark.data
def test_a_captured_jump_has_one_flight_of_both_feet():
    jump = find_contacts(load("bvh-cmu/13_11.bvh", drop=1))
    flight = np.flatnonzero(jump.flight)
    assert np.all(np.diff(flight) == 1) and 0.35 < len(flight) / 120 < 0.6

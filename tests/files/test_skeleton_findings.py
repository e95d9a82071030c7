"""Findings about a skeleton: its unit, bones that lost their length, rest poses."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.bodies import make_human
from helpers.recordings import data_file
from poise.body.segments.stature import estimate_stature
from poise.body.skeleton import Skeleton
from poise.files.reading.repairs import restore_lost_bones
from poise.files.reading.rest_pose import describe_arms, find_arm_drop
from poise.files.reading.unit import compute_stature, find_unit
from poise.files.registry import read_clip


@pytest.mark.parametrize("stature", [1.0, 1.4, 1.75, 2.1])
@pytest.mark.parametrize("metres", [1.0, 0.01, 0.001, 0.0254, 0.3048, 0.1])
def test_units_are_found_from_the_stature(stature, metres):
    decision, *warnings = find_unit(make_human(stature).scaled(1 / metres))
    assert (decision.value, decision.origin) == (metres, "guessed")
    assert "m tall" in decision.message
    assert len(warnings) == (metres not in (1.0, 0.01))


def test_a_stated_unit_is_believed_unless_no_person_fits_into_it():
    for stated in (find_unit(make_human(0.6), 1.0), find_unit(make_human(1.75).scaled(100), 0.01)):
        assert [each.origin for each in stated] == ["stated"]
    assert find_unit(make_human(0.6), 1.0)[0].value == 1.0  # a small one, but the file says so
    assert find_unit(make_human(1.75).scaled(100), 0.01)[0].value == 0.01
    decision, warning = find_unit(make_human(1.75).scaled(100), 1.0)
    assert (decision.value, decision.origin) == (0.01, "guessed")
    assert warning.sentence.startswith("unit: the file says 1 m a unit") and "--scale" in warning.sentence


def test_names_tell_the_unit_of_two_databases():
    human = make_human(1.0)  # as many of CMU's units as inches of a tall man
    cmu = human.replace(names=["LHipJoint", "RHipJoint", "LowerBack", *human.names[3:]])
    assert find_unit(cmu.scaled(0.45 / 0.0254))[0].value == pytest.approx(0.0254 / 0.45)
    human = make_human(1.6)
    mmd = human.replace(names=["センター", "上半身", *human.names[2:]])
    assert find_unit(mmd.scaled(1 / 0.08))[0].value == 0.08


def test_bodies_of_no_known_unit_are_scaled_to_a_person():
    skeleton = make_human(1.75).scaled(300)
    decision, warning = find_unit(skeleton)
    assert compute_stature(skeleton.scaled(decision.value)) == pytest.approx(1.7)
    assert "no known unit" in decision.message and "--height" in warning.message
    assert find_unit(Skeleton(("dot",), [-1], np.zeros((1, 3))))[0].value == 1.0


def test_stature_is_the_same_in_every_unit_and_found_without_names():
    human = make_human(1.75)
    stature = estimate_stature(human)
    for factor in (1e-3, 1.0, 39.37, 1e4):
        assert compute_stature(human.scaled(factor)) == pytest.approx(factor * stature)
    nameless = Skeleton([f"j{i}" for i in range(len(human))], human.parents, human.offsets, human.tips)
    assert compute_stature(nameless) == pytest.approx(stature)
    chain = Skeleton(("a", "b", "c"), [-1, 0, 1], np.tile([0.0, 1.0, 0.0], (3, 1)))
    assert compute_stature(chain) == pytest.approx(2.0 / 1.4)


def lose_thorax(human: Skeleton) -> Skeleton:
    """As a converter does that has no place for bones with several children: all above the chest sits on its joint."""
    offsets = human.offsets.copy()
    neck = human.index("neck")
    lost = offsets[neck].copy()
    for role in ("neck", "leftShoulder", "rightShoulder"):
        i = human.index(role)
        offsets[i] = 0.0
        child = human.children(i)[0]
        offsets[child] = offsets[child] + human.offsets[i] - lost
    return human.replace(offsets=offsets)


def test_a_lost_thorax_is_given_back():
    human = make_human(1.75)
    lost = lose_thorax(human)
    assert compute_stature(lost) < compute_stature(human)
    repaired, names = restore_lost_bones(lost)
    assert names == ("upperChest",)
    below = human.offsets[human.index("upperChest")]
    np.testing.assert_allclose(repaired.offsets[human.index("neck")], below)
    for role in ("leftUpperLeg", "leftFoot", "spine"):
        np.testing.assert_array_equal(repaired.offsets[human.index(role)], human.offsets[human.index(role)])
    again, names = restore_lost_bones(repaired)
    assert names == ()
    np.testing.assert_array_equal(again.offsets, repaired.offsets)


@pytest.mark.parametrize("unit", [1.0, 100.0])
def test_whole_bodies_are_not_repaired(unit):
    for human in (make_human(1.75), make_human(1.2, arms_down=True), make_human(1.75, without=("Shoulder", "neck"))):
        skeleton, names = restore_lost_bones(human.scaled(unit))
        assert names == ()
        np.testing.assert_array_equal(skeleton.offsets, human.scaled(unit).offsets)


def test_a_long_trunk_whose_top_joints_share_a_place_is_whole():
    """Neck and shoulders on one joint are no loss where the trunk is as long as it should be."""
    human = make_human(1.75)
    offsets = human.offsets.copy()
    offsets[human.index("upperChest")] += human.offsets[human.index("neck")]
    for role in ("neck", "leftShoulder", "rightShoulder"):
        offsets[human.index(role)] = 0.0
    _, names = restore_lost_bones(human.replace(offsets=offsets))
    assert names == ()


@pytest.mark.parametrize(("arms_down", "kind"), [(False, "T"), (True, "arms down")])
def test_rest_poses_are_told_by_their_arms(arms_down, kind):
    named, *warnings = describe_arms(find_arm_drop(make_human(1.75, arms_down)))
    assert named.value == kind
    assert len(warnings) == (kind != "T")


def test_a_rest_pose_without_arms_is_unknown():
    human = make_human(1.75, without=("Arm", "Hand"))
    assert [each.value for each in describe_arms(find_arm_drop(human))] == ["unknown"]


@pytest.mark.data
def test_the_lost_thorax_of_a_subject_whose_own_skeleton_is_known():
    """Subject 02 of the CMU database: 11.7 cm of thorax and 9.5 cm of wrist in its ASF file, none in the BVH."""
    whole = read_clip(data_file("asf-amc-cmu/02.asf")).clip.skeleton
    repaired = read_clip(data_file("bvh-cmu/02_05.bvh"), bones="restore").clip.skeleton
    rest = {}
    for name, skeleton in (("whole", whole), ("repaired", repaired)):
        places = skeleton.rest_positions()
        rest[name] = {role: places[skeleton.index(role)] - places[skeleton.index("hips")] for role in skeleton.roles}
    for role in ("neck", "head", "leftUpperArm", "rightHand", "leftFoot"):
        assert np.linalg.norm(rest["whole"][role] - rest["repaired"][role]) < 0.005, role
    assert compute_stature(repaired) == pytest.approx(compute_stature(whole), rel=0.005)

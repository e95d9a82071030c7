"""Roles found by name and structure."""

from __future__ import annotations

import numpy as np
import pytest

from poise.body.proportions import build_skeleton, compute_proportions
from poise.body.roles import (
    ARM_STEMS,
    BODY_ROLES,
    LEG_STEMS,
    PARTS,
    ROLES,
    check_human,
    find_part,
    find_roles,
    mirror_role,
    read_name,
    sided,
    with_roles,
)
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.files.bvh import load_bvh
from realdata import data_file

FULL = build_skeleton(1.75, compute_proportions(), BODY_ROLES)


def named(names: dict[str, str]) -> Skeleton:
    """The full human with other joint names, given by role, and no roles."""
    return FULL.replace(names=[names[role] for role in FULL.names], roles={})


def make_tree(*rows: tuple[str, str | None]) -> Skeleton:
    """A skeleton of (name, parent) rows; where the joints are does not matter."""
    names = [name for name, _ in rows]
    parents = [-1 if parent is None else names.index(parent) for _, parent in rows]
    return Skeleton(tuple(names), np.array(parents), np.ones((len(rows), 3)))


def by_stem(words: dict[str, str], left: str, right: str) -> dict[str, str]:
    return {
        side + stem: pattern.format(word)
        for side, pattern in (("left", left), ("right", right))
        for stem, word in words.items()
    }


HUMAN_IK = dict(
    zip(
        (*ARM_STEMS, *LEG_STEMS), ("Shoulder", "Arm", "ForeArm", "Hand", "UpLeg", "Leg", "Foot", "ToeBase"), strict=True
    )
)
HUMAN_IK_MIDDLE = {
    "hips": "Hips",
    "spine": "Spine",
    "chest": "Spine1",
    "upperChest": "Spine2",
    "neck": "Neck",
    "head": "Head",
}
UNREAL = dict(
    zip(
        (*ARM_STEMS, *LEG_STEMS),
        ("clavicle", "upperarm", "lowerarm", "hand", "thigh", "calf", "foot", "ball"),
        strict=True,
    )
)
UNREAL_MIDDLE = {
    "hips": "pelvis",
    "spine": "spine_01",
    "chest": "spine_02",
    "upperChest": "spine_03",
    "neck": "neck_01",
    "head": "head",
}
ANKLES = dict(
    zip((*ARM_STEMS, *LEG_STEMS), ("Collar", "Shoulder", "Elbow", "Wrist", "Hip", "Knee", "Ankle", "Toe"), strict=True)
)
BIPED = dict(
    zip(
        (*ARM_STEMS, *LEG_STEMS),
        ("Clavicle", "UpperArm", "Forearm", "Hand", "Thigh", "Calf", "Foot", "Toe0"),
        strict=True,
    )
)

NAMINGS = {
    "vrm": {role: role for role in BODY_ROLES},
    "humanik": HUMAN_IK_MIDDLE | by_stem(HUMAN_IK, "Left{}", "Right{}"),
    "mixamo": {r: f"mixamorig:{n}" for r, n in (HUMAN_IK_MIDDLE | by_stem(HUMAN_IK, "Left{}", "Right{}")).items()},
    "mixamo, no colon": {
        r: f"mixamorig{n}" for r, n in (HUMAN_IK_MIDDLE | by_stem(HUMAN_IK, "Left{}", "Right{}")).items()
    },
    "upper case": {r: n.upper() for r, n in (HUMAN_IK_MIDDLE | by_stem(HUMAN_IK, "Left{}", "Right{}")).items()},
    "lower case": {r: n.lower() for r, n in (HUMAN_IK_MIDDLE | by_stem(HUMAN_IK, "Left{}", "Right{}")).items()},
    "underscores": HUMAN_IK_MIDDLE | by_stem(HUMAN_IK, "left_{}", "right_{}"),
    "spaces": HUMAN_IK_MIDDLE | by_stem({k: v.lower() for k, v in HUMAN_IK.items()}, "Left {}", "Right {}"),
    "unreal": UNREAL_MIDDLE | by_stem(UNREAL, "{}_l", "{}_r"),
    "joints": {**HUMAN_IK_MIDDLE, "spine": "Chest", "chest": "Chest2", "upperChest": "Chest3"}
    | by_stem(ANKLES, "Left{}", "Right{}"),
    "biped": {
        r: f"Bip01 {n}" for r, n in (HUMAN_IK_MIDDLE | {"hips": "Pelvis"} | by_stem(BIPED, "L {}", "R {}")).items()
    },
    "hanim": {
        "hips": "humanoid_root",
        "spine": "vl5",
        "chest": "vt10",
        "upperChest": "vt1",
        "neck": "vc7",
        "head": "skullbase",
    }
    | by_stem(
        {"Shoulder": "sternoclavicular", "UpperArm": "shoulder", "LowerArm": "elbow", "Hand": "wrist"}
        | {"UpperLeg": "hip", "LowerLeg": "knee", "Foot": "ankle", "Toes": "metatarsophalangeal"},
        "l_{}",
        "r_{}",
    ),
}


@pytest.mark.parametrize("naming", NAMINGS)
def test_every_naming_gives_every_role(naming):
    names = NAMINGS[naming]
    assert find_roles(named(names)) == names


def test_shoulder_is_the_upper_arm_where_no_arm_follows():
    tree = make_tree(
        ("Hip", None), ("LeftHip", "Hip"), ("LeftKnee", "LeftHip"), ("LeftAnkle", "LeftKnee"),
        ("RightHip", "Hip"), ("RightKnee", "RightHip"), ("RightAnkle", "RightKnee"), ("Torso", "Hip"),
        ("LeftShoulder", "Torso"), ("LeftElbow", "LeftShoulder"), ("LeftWrist", "LeftElbow"), ("Head", "Torso"),
    )  # fmt: skip
    roles = find_roles(tree)
    assert roles["leftUpperArm"] == "LeftShoulder"
    assert "leftShoulder" not in roles
    assert roles["hips"] == "Hip"
    assert roles["spine"] == "Torso"


def test_legs_that_hang_from_the_spine_leave_the_pelvis_the_hips():
    tree = make_tree(
        ("Bip01", None), ("Bip01 Pelvis", "Bip01"), ("Bip01 Spine", "Bip01 Pelvis"),
        ("Bip01 L Thigh", "Bip01 Spine"), ("Bip01 R Thigh", "Bip01 Spine"), ("Bip01 Head", "Bip01 Spine"),
    )  # fmt: skip
    assert find_roles(tree)["hips"] == "Bip01 Pelvis"


def test_hips_without_a_name_are_where_the_thighs_meet():
    tree = make_tree(("World", None), ("Thing", "World"), ("LeftThigh", "Thing"), ("RightThigh", "Thing"))
    assert find_roles(tree)["hips"] == "Thing"


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, {}), (1, {"spine": 0}), (2, {"spine": 0, "chest": 1}), (3, {"spine": 0, "chest": 1, "upperChest": 2})]
    + [(6, {"spine": 0, "chest": 3, "upperChest": 5})],
)
def test_trunk_of_any_number_of_joints(count, expected):
    trunk = [(f"Back{i}", f"Back{i - 1}" if i else "Hips") for i in range(count)]
    top = trunk[-1][0] if trunk else "Hips"
    tree = make_tree(
        ("Hips", None),
        ("LeftUpLeg", "Hips"),
        ("RightUpLeg", "Hips"),
        *trunk,
        ("Neck", top),
        ("LeftArm", top),
        ("Head", "Neck"),
    )
    found = {role: joint for role, joint in find_roles(tree).items() if role in PARTS["trunk"]}
    assert found == {role: f"Back{k}" for role, k in expected.items()}


def test_a_long_chain_of_one_name_is_no_trap():
    names = [("Hips", None)] + [(f"LeftHand{i}", f"LeftHand{i - 1}" if i else "Hips") for i in range(400)]
    assert find_roles(make_tree(*names))["leftHand"] == "LeftHand0"


def test_fingers():
    names = ("LeftHandThumb1", "LeftHandIndex2", "LeftHandPinky3", "index_01_r", "rightThumbDistal")
    roles = find_roles(make_tree(("Hips", None), *((name, "Hips") for name in names)))
    expected = (
        "leftThumbMetacarpal",
        "leftIndexIntermediate",
        "leftLittleDistal",
        "rightIndexProximal",
        "rightThumbDistal",
    )
    assert {role: roles[role] for role in expected} == dict(zip(expected, names, strict=True))


@pytest.mark.parametrize("role", ROLES)
def test_mirroring_is_its_own_inverse(role):
    mirrored = mirror_role(role)
    assert mirrored in ROLES
    assert mirror_role(mirrored) == role
    assert (mirrored == role) == (not role.startswith(("left", "right")))


def test_parts_are_made_of_roles_and_cover_the_body():
    assert set().union(*PARTS.values()) == set(ROLES) - {"hips"}
    assert set(PARTS["arms"]) == set(PARTS["leftArm"]) | set(PARTS["rightArm"])
    assert set(PARTS["upperBody"]) == set(PARTS["arms"]) | set(PARTS["head"]) | set(PARTS["trunk"])
    with pytest.raises(InputError, match="Did you mean 'leftArm'"):
        find_part("leftarms")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mixamorig:LeftUpLeg", ("left", "upleg")), ("upperarm_twist_01_l", ("left", "upperarmtwist01")),
        ("LHipJoint", ("left", "hipjoint")), ("Hips", (None, "hips")), ("", (None, "")), ("r_knee", ("right", "knee")),
        ("left", ("left", "")), ("LOWERBACK", (None, "lowerback")), ("Armature|Head", (None, "head")),
    ],
)  # fmt: skip
def test_reading_names(name, expected):
    assert read_name(name) == expected


def test_given_roles_go_before_those_found():
    skeleton = with_roles(named(NAMINGS["humanik"]), {"spine": "Spine1"})
    assert skeleton.roles["spine"] == "Spine1"
    assert "chest" not in skeleton.roles
    with pytest.raises(InputError, match="role 'spin'"):
        with_roles(FULL, {"spin": "hips"})


def test_a_table_is_no_human():
    with pytest.raises(InputError, match=r"no joint for hips, leftUpperLeg.*roles="):
        check_human(with_roles(make_tree(("Top", None), ("Corner", "Top"))))


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "unmapped"),
    [
        (
            "bvh-cmu/07_01.bvh",
            {"LHipJoint", "RHipJoint", "Neck1", "LeftFingerBase", "RightFingerBase", "LThumb", "RThumb"},
        ),
        ("bvh-other/bvh_test1.bvh", {"Spine1", "Neck1"}),
        ("bvh-other/test_mocapbank.bvh", set()),
        ("force-bvh/gait10dof_walk.bvh", set()),
        ("force-bvh/walk3d.bvh", set()),
    ],
)
def test_real_files(file, unmapped):
    skeleton = load_bvh(data_file(file)).skeleton
    roles = find_roles(skeleton.replace(roles={}))
    assert set(skeleton.names) - set(roles.values()) == unmapped
    check_human(skeleton.replace(roles=roles))
    if "mocapbank" in file:
        assert (roles["leftShoulder"], roles["leftUpperArm"]) == ("LeftCollar", "LeftShoulder")
    for role in sided(LEG_STEMS[:3]):
        assert mirror_role(role) in roles

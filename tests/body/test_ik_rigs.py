"""Roles of rigs with IK feet, IK hands, poles and helpers beside the body, in the namings of many programs.

Feet that hang on the root in place of the shin (some game rigs have them so) are not of the leg: the roles that are
sure stay, and the others are asked for.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from helpers.rigs import Rig, at
from poise.body.role_finding.guess import describe_doubts, guess_roles
from poise.body.roles import ARM_STEMS, BODY_ROLES, LEG_STEMS, sided
from poise.body.segments.proportions import build_skeleton, compute_proportions
from poise.body.skeleton import Skeleton
from poise.files.formats.bvh.clip import save_bvh
from poise.motion.clip import Clip
from poise.spatial import rotation

FULL = build_skeleton(1.75, compute_proportions(), BODY_ROLES)
MAIN = ("hips", "spine", "head", *sided(LEG_STEMS[:3]), *sided(ARM_STEMS[1:]))
MIDDLE = ("hips", "spine", "chest", "upperChest", "neck", "head")
ENDS = {"Foot": "foot", "Hand": "hand"}

# naming: names of MIDDLE; of the arm and the leg from the trunk outwards; how a side is written
NAMINGS: dict[str, tuple[str, str, tuple[str, str]]] = {
    "unreal": ("pelvis spine_01 spine_02 spine_03 neck_01 head",
               "clavicle upperarm lowerarm hand thigh calf foot ball", ("{}_l", "{}_r")),
    "mixamo": ("mixamorig:Hips mixamorig:Spine mixamorig:Spine1 mixamorig:Spine2 mixamorig:Neck mixamorig:Head",
               "Shoulder Arm ForeArm Hand UpLeg Leg Foot ToeBase", ("mixamorig:Left{}", "mixamorig:Right{}")),
    "humanik": ("Hips Spine Spine1 Spine2 Neck Head",
                "Shoulder Arm ForeArm Hand UpLeg Leg Foot ToeBase", ("Left{}", "Right{}")),
    "humanik with a prefix": ("Hero_Hips Hero_Spine Hero_Spine1 Hero_Spine2 Hero_Neck Hero_Head",
                              "Shoulder Arm ForeArm Hand UpLeg Leg Foot ToeBase", ("Hero_Left{}", "Hero_Right{}")),
    "rigify": ("DEF-spine DEF-spine.001 DEF-spine.002 DEF-spine.003 DEF-neck DEF-head",
               "shoulder upper_arm forearm hand thigh shin foot toe", ("DEF-{}.L", "DEF-{}.R")),
    "biped": ("Bip01_Pelvis Bip01_Spine Bip01_Spine1 Bip01_Spine2 Bip01_Neck Bip01_Head",
              "Clavicle UpperArm Forearm Hand Thigh Calf Foot Toe0", ("Bip01_L_{}", "Bip01_R_{}")),
    "cmu": ("Hips LowerBack Spine Spine1 Neck Head",
            "Shoulder Arm ForeArm Hand UpLeg Leg Foot ToeBase", ("Left{}", "Right{}")),
    "daz": ("hip abdomenLower abdomenUpper chestLower neckLower head",
            "Collar ShldrBend ForearmBend Hand ThighBend Shin Foot Toe", ("l{}", "r{}")),
    "makehuman": ("pelvis spine_1 spine_2 spine_3 neck head",
                  "clavicle upperarm lowerarm hand thigh calf foot ball", ("{}.L", "{}.R")),
    "vroid": ("J_Bip_C_Hips J_Bip_C_Spine J_Bip_C_Chest J_Bip_C_UpperChest J_Bip_C_Neck J_Bip_C_Head",
              "Shoulder UpperArm LowerArm Hand UpperLeg LowerLeg Foot ToeBase", ("J_Bip_L_{}", "J_Bip_R_{}")),
    "game": ("Hips Abdomen Torso Chest Neck Head",
             "Shoulder UpperArm LowerArm Hand UpperLeg LowerLeg Foot Toes", ("{}.L", "{}.R")),
}  # fmt: skip
# How IK feet and hands are called: {0} the real joint's name, {1} foot or hand, {2} l or r, {3} Left or Right
STYLES = ("{0}_IK", "IK_{0}", "{0}IK", "ik_{1}_{2}", "{1}_ik.{2}", "{0}Target", "{0}_ctrl", "{3}{1}Goal", "{0}.001",
          "{0}_FK", "CTRL-IK-{1}.{2}", "MCH-{1}_ik.{2}", "{0}_offset")  # fmt: skip


def name_roles(naming: str) -> dict[str, str]:
    """Role -> joint of a naming."""
    middle, limbs, sides = NAMINGS[naming]
    names = dict(zip(MIDDLE, middle.split(), strict=True))
    for side, pattern in zip(("left", "right"), sides, strict=True):
        stems = (*ARM_STEMS, *LEG_STEMS)
        names |= {side + stem: pattern.format(word) for stem, word in zip(stems, limbs.split(), strict=True)}
    return names


def make_rig(
    naming: str, style: str = "", detached: tuple[str, ...] = (), has_ends: bool = False, seed: int | None = None
) -> tuple[Skeleton, dict[str, str]]:
    """A rig, and its names by role.

    style     how IK feet and hands under the root are called; without: there are none
    detached  stems of joints that hang on the root in place of their limb;  has_ends: the limb goes on to an end there
    seed      of helper joints at random places, twist bones among them
    """
    names, rig = name_roles(naming), Rig()
    rig.add("Root", None, np.zeros(3))
    for role in FULL.names:
        above = FULL.parents[FULL.index(role)]
        parent = "Root" if above < 0 else names[FULL.names[above]]
        if role.endswith(detached) and detached:
            if has_ends:
                rig.add(f"{parent}_end", parent, at(role))
            parent = "Root"
        rig.add(names[role], parent, at(role))
    for side in ("left", "right") if style else ():
        for stem, word in ENDS.items():
            own = names[side + stem]
            ik = style.format(own, word, side[0], side.title())
            rig.add(ik if ik not in rig.names else f"{ik}x", "Root", at(side + stem))
        for stem, word in (("LowerLeg", "knee"), ("LowerArm", "elbow")):
            rig.add(f"{word}_pole_{side[0]}", "Root", at(side + stem) + np.array([0.0, 0.0, 0.5]))
    if seed is not None:
        rng = np.random.default_rng(seed)
        for k in range(12):
            over = rig.names[rng.integers(len(rig.names))]
            word = rng.choice(["{}_twist_0", "helper_{}_", "{}_roll", "{}_attach_", "{}_jiggle"]).format(over)
            rig.add(f"{word}{k}", over, rig.places[rig.names.index(over)] + rng.normal(0.0, 0.1, 3))
    return rig.build(), names


def find_wrong(skeleton: Skeleton, names: dict[str, str], roles: tuple[str, ...] = MAIN) -> dict[str, str | None]:
    sure = guess_roles(skeleton).sure
    return {role: sure.get(role) for role in roles if sure.get(role) != names[role]}


@pytest.mark.parametrize("naming", NAMINGS)
@pytest.mark.many(4)
def test_ik_feet_and_hands_under_the_root_leave_all_roles_sure(naming: str) -> None:
    for style in ("", *STYLES):
        skeleton, names = make_rig(naming, style)
        assert find_wrong(skeleton, names, BODY_ROLES) == {}, style
        assert describe_doubts(guess_roles(skeleton)) == []


@pytest.mark.parametrize("naming", NAMINGS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.many(4)
def test_random_helpers_and_twist_bones_leave_main_roles_sure(naming: str, seed: int) -> None:
    skeleton, names = make_rig(naming, STYLES[seed], seed=seed)
    assert find_wrong(skeleton, names) == {}


@pytest.mark.parametrize("naming", NAMINGS)
@pytest.mark.parametrize("style", ["", STYLES[0], STYLES[3], STYLES[8]])
@pytest.mark.parametrize("stem", ["Foot", "Hand"])
@pytest.mark.many(8)
def test_ends_that_hang_on_the_root_are_asked_for_and_all_else_stays(naming: str, style: str, stem: str) -> None:
    skeleton, names = make_rig(naming, style, (stem,))
    guess = guess_roles(skeleton)
    asked = [f"left{stem}", f"right{stem}"]
    assert find_wrong(skeleton, names, tuple(role for role in MAIN if role not in asked)) == {}
    for role in asked:
        assert role not in guess.sure and names[role] in guess.unsure[role]
    (doubt,) = describe_doubts(guess)
    assert all(f"{role}={guess.unsure[role][0]}" in doubt.message for role in asked) and "--roles" in doubt.message


@pytest.mark.parametrize("naming", NAMINGS)
@pytest.mark.many(4)
def test_limb_that_ends_where_its_ik_foot_is_has_its_own_end_as_foot(naming: str) -> None:
    """The tree decides: the end of the shin moves with the leg, the joint called foot does not."""
    skeleton, names = make_rig(naming, detached=("Foot",), has_ends=True)
    guess = guess_roles(skeleton)
    for side in ("left", "right"):
        shin = names[f"{side}LowerLeg"]
        assert guess.sure[f"{side}UpperLeg"] == names[f"{side}UpperLeg"] and guess.sure[f"{side}LowerLeg"] == shin
        assert guess.sure[f"{side}Foot"] == f"{shin}_end"
        assert guess.overruled[f"{side}Foot"] == names[f"{side}Foot"]
    assert all("Override with --roles" in doubt.message for doubt in describe_doubts(guess))


@pytest.fixture
def ik_feet(tmp_path: Path) -> Path:
    skeleton, _ = make_rig("game", detached=("Foot",))
    still = rotation.identity((30, len(skeleton)))
    save_bvh(Clip(skeleton, np.arange(30) / 30.0, np.zeros((30, 3)), still), tmp_path / "game.bvh")
    return tmp_path / "game.bvh"


def test_command_that_needs_a_missing_role_names_it_and_the_option(ik_feet: Path) -> None:
    found = poise.info(ik_feet)
    assert {"leftUpperLeg", "leftLowerLeg", "rightLowerLeg", "hips", "head"} <= found["roles"].keys()
    (warning,) = (warning for warning in found["warnings"] if warning.startswith("roles:"))
    assert "leftFoot (Foot.L)" in warning and "--roles leftFoot=Foot.L,rightFoot=Foot.R" in warning
    rejects(lambda: poise.mix(ik_feet), "leftFoot", "rightFoot", "--roles")


def test_role_given_to_a_joint_off_its_limb_is_used_with_a_warning(ik_feet: Path) -> None:
    found = poise.info(ik_feet, roles={"leftFoot": "Foot.L", "rightFoot": "Foot.R"})
    assert found["roles"]["leftFoot"] == "Foot.L"
    said = [warning for warning in found["warnings"] if warning.startswith("roles:")]
    assert len(said) == 2 and all("does not hang on" in warning for warning in said)

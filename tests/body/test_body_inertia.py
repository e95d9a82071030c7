"""Masses on skeletons: the tables' shares, whatever the skeleton."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.errors import rejects
from helpers.recordings import data_file
from poise.body.character import Character
from poise.body.joints import PRESETS
from poise.body.roles import BODY_ROLES, SIDES, mirror_role
from poise.body.segments.proportions import build_skeleton, compute_proportions
from poise.body.segments.tables import AGES, SEXES, TRUNK, get_table
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.files.registry import load_clip
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia

humans = st.builds(
    Character.human,
    height=st.floats(1.2, 2.1),
    mass=st.floats(15.0, 150.0),
    sex=st.sampled_from(SEXES),
    age=st.floats(AGES[0], 80.0),
    preset=st.sampled_from(list(PRESETS)),
    table=st.sampled_from(["deleva", "winter"]),
)


def whole_body(character: Character) -> RigidInertia:
    """All segments welded in the rest pose, in the world."""
    rest = character.skeleton.rest_positions()
    return RigidInertia.total(
        inertia.moved(np.eye(3), at) for inertia, at in zip(character.inertias, rest, strict=True) if inertia.mass > 0.0
    )


@given(humans, st.floats(15.0, 150.0), st.sampled_from(["deleva", "winter"]))
@settings(max_examples=30)
def test_a_human_weighs_what_it_should_and_is_made_of_matter(character, mass, table):
    again = Character.from_skeleton(character.skeleton, mass, character.height, character.sex, character.age, table)
    assert again.mass == pytest.approx(mass, rel=1e-14)
    assert all(segment.inertia.is_physical() for segment in character.segments)
    # The centre of a T-pose is a little above the hips, in the middle.
    x, y, z = character.center_of_mass() / character.height
    assert abs(x) < 1e-12
    assert 0.5 < y < 0.67
    assert abs(z) < 0.02


def test_seventy_five_kilograms():
    assert Character.human().mass == pytest.approx(75.0, rel=1e-15)
    assert Character.human(mass=None, sex="male", age=40).mass == pytest.approx(24.2 * 1.75**2)


LIMBS = {"UpperArm": "upperArm", "LowerArm": "forearm", "Hand": "hand", "UpperLeg": "thigh", "LowerLeg": "shank"}


@given(humans)
@settings(max_examples=30)
def test_each_segments_share_is_the_tables(character):
    table = get_table(character.table, character.sex, character.age)

    def share(*joints):
        return sum(character.segment(j).mass for j in joints if j in character.skeleton.roles) / character.mass

    for side in SIDES:
        for stem, segment in LIMBS.items():
            assert share(side + stem) == pytest.approx(table[segment].mass, rel=1e-12)
        assert share(side + "Foot", side + "Toes") == pytest.approx(table["foot"].mass, rel=1e-12)
    assert share("head", "neck") == pytest.approx(table["head"].mass, rel=1e-12)
    # The trunk's joints stand at omphalion and xiphion, so each has exactly its slabs: `mix` joins the upper two,
    # `full` halves the uppermost.
    assert share("hips") == pytest.approx(table["lowerTrunk"].mass, rel=1e-12)
    if "chest" in character.skeleton.roles:
        assert share("spine") == pytest.approx(table["middleTrunk"].mass, rel=1e-12)
        assert share("chest", "upperChest") == pytest.approx(table["upperTrunk"].mass, rel=1e-12)
    else:
        assert share("spine") == pytest.approx(table["middleTrunk"].mass + table["upperTrunk"].mass, rel=1e-12)


@pytest.mark.parametrize("preset", ["strength", "tracking"])
@pytest.mark.parametrize("sex", ["male", "female"])
def test_trunk_segments_have_de_levas_centres_and_radii(preset, sex):
    character, table = Character.human(preset=preset, sex=sex), get_table("deleva", sex)
    p = compute_proportions(sex)
    levels = [0.0, *p.trunk_parts, 1.0]
    for joint, part, low, high in zip(("hips", "spine", "chest"), TRUNK[::-1], levels[:-1], levels[1:], strict=True):
        length = (high - low) * p.trunk * character.height
        inertia = character.segment(joint).inertia
        assert inertia.center[1] == pytest.approx((1.0 - table[part].center) * length, rel=1e-10)
        radii = np.sqrt(np.diag(inertia.inertia)[[2, 0, 1]] / inertia.mass) / length
        np.testing.assert_allclose(radii, table[part].radii, rtol=1e-10)


def test_limb_axes_are_the_anatomical_ones():
    """T-pose: an arm's long axis is x and its palm faces down; legs hang along y; feet lie along z."""
    character, table = Character.human(preset="mix", sex="male"), get_table("deleva", "male")
    # segment: which world axis is sagittal, transverse, longitudinal
    for joint, segment, axes in (
        ("leftUpperArm", "upperArm", (2, 1, 0)),
        ("rightLowerArm", "forearm", (2, 1, 0)),
        ("leftHand", "hand", (1, 2, 0)),
        ("rightUpperLeg", "thigh", (2, 0, 1)),
        ("leftLowerLeg", "shank", (2, 0, 1)),
        ("rightFoot", "foot", (1, 0, 2)),
        ("head", "head", (2, 0, 1)),
    ):
        inertia = character.segment(joint).inertia
        moments = np.diag(inertia.inertia)[list(axes)] / inertia.mass
        ratio = np.sqrt(moments / moments[2])
        expected = np.array(table[segment].radii) / table[segment].radii[2]
        np.testing.assert_allclose(ratio, expected, rtol=1e-10, err_msg=joint)


@given(humans)
@settings(max_examples=20)
def test_left_and_right_are_mirror_images(character):
    flip = np.diag([-1.0, 1.0, 1.0])
    for segment in character.segments:
        other = character.segment(mirror_role(segment.name)).inertia
        assert segment.mass == pytest.approx(other.mass, rel=1e-13)
        np.testing.assert_allclose(flip @ segment.inertia.center, other.center, atol=1e-13)
        np.testing.assert_allclose(flip @ segment.inertia.inertia @ flip, other.inertia, atol=1e-13)


@pytest.mark.parametrize("table", ["deleva", "winter"])
def test_all_presets_are_one_body(table):
    """The same matter, however it is cut: whole-body mass, centre and inertia in the rest pose."""
    bodies = [whole_body(Character.human(preset=preset, table=table)) for preset in PRESETS]
    for body in bodies[1:]:
        np.testing.assert_allclose(body.center, bodies[0].center, atol=1e-12)
        np.testing.assert_allclose(body.inertia, bodies[0].inertia, atol=1e-10)


FULL = build_skeleton(1.75, compute_proportions(), BODY_ROLES)


def remove(skeleton: Skeleton, *gone: str) -> Skeleton:
    """The skeleton without these joints; their children hang from their parents, everything where it was."""
    rest = skeleton.rest_positions()
    keep = [i for i, name in enumerate(skeleton.names) if name not in gone]
    parents = []
    for i in keep:
        parent = int(skeleton.parents[i])
        while parent >= 0 and parent not in keep:
            parent = int(skeleton.parents[parent])
        parents.append(parent)
    offsets = np.array([rest[i] - (rest[p] if p >= 0 else 0.0) for i, p in zip(keep, parents, strict=True)])
    names = tuple(skeleton.names[i] for i in keep)
    indices = [keep.index(p) if p >= 0 else -1 for p in parents]
    return Skeleton(names, np.array(indices), offsets, skeleton.tips[keep], {n: n for n in names})


def both(*stems: str) -> tuple[str, ...]:
    return tuple(side + stem for side in SIDES for stem in stems)


CUTS = {
    "no clavicles": both("Shoulder"),
    "no toes": both("Toes"),
    "no hands": both("Hand"),
    "no forearms": both("Hand", "LowerArm"),
    "no arms": both("Shoulder", "UpperArm", "LowerArm", "Hand"),
    "one arm": ("leftShoulder", "leftUpperArm", "leftLowerArm", "leftHand"),
    "no neck": ("neck",),
    "no head": ("head",),
    "no neck and head": ("neck", "head"),
    "no trunk": ("spine", "chest", "upperChest"),
    "legs only": ("spine", "chest", "upperChest", "neck", "head", *both("Shoulder", "UpperArm", "LowerArm", "Hand")),
}


@pytest.mark.parametrize("ends", [True, False], ids=["end sites", "no end sites"])
@pytest.mark.parametrize("cut", CUTS)
def test_missing_joints_leave_their_mass_to_others(cut, ends):
    skeleton = remove(FULL, *CUTS[cut])
    if not ends:
        skeleton = skeleton.replace(tips=np.full((len(skeleton), 3), np.nan))
    character = Character.from_skeleton(skeleton, mass=70.0, height=1.75)
    assert character.mass == pytest.approx(70.0, rel=1e-14)
    whole = whole_body(Character.from_skeleton(FULL, mass=70.0, height=1.75))
    # Arms that are not there hang instead of being held up; all else is where it was.
    hanging = "arm" in cut or cut == "legs only"
    np.testing.assert_allclose(whole_body(character).center, whole.center, atol=0.06 if hanging else 2e-3)
    if hanging:
        assert whole_body(character).center[1] < whole.center[1] + 1e-12


def test_no_arms_hang_at_the_shoulders_sides():
    character = Character.from_skeleton(remove(FULL, *CUTS["no arms"]), mass=70.0, height=1.75)
    table = get_table()
    arms = 2 * sum(table[segment].mass for segment in ("upperArm", "forearm", "hand"))
    held = table["upperTrunk"].mass + arms
    assert character.segment("chest").mass + character.segment("upperChest").mass == pytest.approx(70.0 * held)


def insert(skeleton: Skeleton, before: str, name: str, fraction: float) -> Skeleton:
    """A joint without a role on the bone that ends at `before`, at a fraction of its length."""
    k = skeleton.index(before)
    names = (*skeleton.names[:k], name, *skeleton.names[k:])
    shifted = np.where(skeleton.parents >= k, skeleton.parents + 1, skeleton.parents)
    parents = np.concatenate([shifted[:k], [shifted[k]], shifted[k:]])
    parents[k + 1] = k
    offsets = np.insert(skeleton.offsets, k, fraction * skeleton.offsets[k], axis=0)
    offsets[k + 1] *= 1.0 - fraction
    tips = np.insert(skeleton.tips, k, np.nan, axis=0)
    return Skeleton(names, parents, offsets, tips, skeleton.roles)


@pytest.mark.parametrize("fraction", [0.0, 0.4, 1.0])
@pytest.mark.parametrize(
    "bone", ["leftLowerArm", "rightHand", "leftLowerLeg", "rightUpperLeg", "rightFoot", "leftToes"]
)
def test_extra_joints_in_a_limb_change_nothing(bone, fraction):
    plain = Character.from_skeleton(FULL, mass=70.0, height=1.75)
    extra = Character.from_skeleton(insert(FULL, bone, "Twist", fraction), mass=70.0, height=1.75)
    for segment in plain.segments:
        assert extra.segment(segment.name).mass == pytest.approx(segment.mass, rel=1e-13)
    np.testing.assert_allclose(whole_body(extra).inertia, whole_body(plain).inertia, atol=1e-11)


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=4), st.sampled_from(["spine", "chest", "neck", "head"]))
@settings(max_examples=20)
def test_more_trunk_joints_only_cut_finer(fractions, bone):
    plain = whole_body(Character.from_skeleton(FULL, mass=70.0, height=1.75))
    skeleton = FULL
    for i, fraction in enumerate(fractions):
        skeleton = insert(skeleton, bone, f"Extra{i}", fraction)
    character = Character.from_skeleton(skeleton, mass=70.0, height=1.75)
    body = whole_body(character)
    assert body.mass == pytest.approx(70.0, rel=1e-14)
    np.testing.assert_allclose(body.center, plain.center, atol=1e-12)
    np.testing.assert_allclose(body.inertia, plain.inertia, atol=1e-10)
    # The pelvis keeps its third of the lower trunk even where a joint sits on the hips.
    assert character.segment("hips").mass >= 70.0 * get_table()["lowerTrunk"].mass / 3.0 - 1e-9


def test_any_rest_pose_gives_the_same_limbs():
    """Limbs posed otherwise at rest carry the same mass, centre distance and principal moments."""
    rng = np.random.default_rng(11)
    plain = Character.from_skeleton(FULL, mass=70.0, height=1.75)
    for _ in range(10):
        pose = rotation.identity((len(FULL),))
        for role in both("UpperArm", "LowerArm", "UpperLeg", "LowerLeg"):
            pose[FULL.index(role)] = rotation.exp(0.6 * rng.normal(size=3))
        positions, orientations = FULL.pose(FULL.offsets[0], pose)
        offsets = np.vstack([positions[:1], positions[1:] - positions[FULL.parents[1:]]])
        posed = FULL.replace(offsets=offsets, tips=rotation.rotate(orientations, FULL.tips))
        character = Character.from_skeleton(posed, mass=70.0, height=1.75)
        assert character.mass == pytest.approx(70.0, rel=1e-14)
        for role in both("UpperArm", "LowerArm", "Hand", "UpperLeg", "LowerLeg"):
            mine, other = character.segment(role).inertia, plain.segment(role).inertia
            assert np.linalg.norm(mine.center) == pytest.approx(np.linalg.norm(other.center), rel=1e-9)
            np.testing.assert_allclose(np.linalg.eigvalsh(mine.inertia), np.linalg.eigvalsh(other.inertia), rtol=1e-9)


axis_offsets = st.lists(st.integers(-1, 1), min_size=66, max_size=66).map(lambda v: np.reshape(v, (22, 3)))


@given(axis_offsets, axis_offsets, st.floats(0.1, 0.5))
@settings(max_examples=30)
def test_any_tree_with_the_roles_is_a_body_or_a_sentence(offsets, tips, scale):
    """Bones of any direction, many of no length, some along one another."""
    skeleton = Skeleton(FULL.names, FULL.parents, scale * offsets, scale * tips, FULL.roles)
    try:
        character = Character.from_skeleton(skeleton, mass=70.0, height=1.75)
    except InputError as error:
        assert "in one place" in str(error)
        return
    assert character.mass == pytest.approx(70.0, rel=1e-12)
    assert all(segment.inertia.is_physical() for segment in character.segments)
    for limits in character.limits.values():
        assert np.isfinite(limits.axes).all()


@pytest.mark.parametrize("ahead", [-1.0, 1.0])
def test_a_foot_under_a_shank_that_lies_forward_has_a_direction(ahead):
    offsets, tips = FULL.offsets.copy(), FULL.tips.copy()
    for side in ("left", "right"):
        foot = FULL.index(side + "Foot")
        offsets[foot] = [0.0, 0.0, ahead * 0.4]
        for i in FULL.descendants(foot)[1:]:
            offsets[i] = 0.0
        for i in FULL.descendants(foot):
            tips[i] = 0.0
    character = Character.from_skeleton(FULL.replace(offsets=offsets, tips=tips), mass=70.0, height=1.75)
    assert all(segment.inertia.is_physical() for segment in character.segments)


def test_a_bone_without_length_is_named():
    offsets = FULL.offsets.copy()
    offsets[FULL.index("leftLowerLeg")] = 0.0
    rejects(
        lambda: Character.from_skeleton(FULL.replace(offsets=offsets), mass=70.0, height=1.75),
        "leftUpperLeg",
        "leftLowerLeg",
    )


@pytest.mark.data
@pytest.mark.parametrize(
    "file",
    ["bvh-cmu/07_01.bvh", "bvh-cmu/140_01.bvh", "bvh-other/bvh_test1.bvh", "bvh-other/test_mocapbank.bvh"]
    + ["force-bvh/gait10dof_walk.bvh", "force-bvh/walk3d.bvh"],
)
@pytest.mark.parametrize("table", ["deleva", "winter"])
def test_real_skeletons(file, table):
    skeleton = load_clip(data_file(file)).skeleton
    character = Character.from_skeleton(skeleton, mass=72.6, table=table)
    assert character.mass == pytest.approx(72.6, rel=1e-14)
    assert character.segment("hips").mass > 2.0
    assert all(segment.inertia.is_physical() for segment in character.segments)
    # Standing at rest, the centre of mass is near the hips.
    hips = skeleton.rest_positions()[skeleton.index("hips")]
    assert np.linalg.norm(character.center_of_mass() - hips) < 0.22

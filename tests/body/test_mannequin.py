"""The mannequin on all kinds of skeletons: closed, as heavy as asked, whole at its joints, and its simple shapes."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.spatial import cKDTree

from helpers.bodies import make_human, make_pose
from helpers.meshes import fill_voxels, winding_number
from helpers.recordings import data_file
from poise.body.geometry.loft import add_domes, interpolate, loft, stack_volume, straight_sections
from poise.body.geometry.mannequin import BODY_DENSITY, build_mannequin
from poise.body.geometry.mesh import Mesh
from poise.body.geometry.polyhedron import check_closed, compute_volume
from poise.body.geometry.skin import build_skin
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.spatial import rotation


def turned(skeleton: Skeleton, turn: np.ndarray) -> Skeleton:
    return skeleton.replace(
        offsets=rotation.rotate(turn, skeleton.offsets), tips=rotation.rotate(turn, np.asarray(skeleton.tips))
    )


def with_doubles(skeleton: Skeleton) -> Skeleton:
    """CMU's habit: joints without length between others, here before every joint but the root, without a role."""
    names, parents, offsets = [skeleton.names[0]], [-1], [skeleton.offsets[0]]
    for i in range(1, len(skeleton)):
        parent = names.index(skeleton.names[skeleton.parents[i]])
        names += [skeleton.names[i] + "_zero", skeleton.names[i]]
        parents += [parent, len(names) - 2]
        offsets += [np.zeros(3), skeleton.offsets[i]]
    return Skeleton(tuple(names), np.array(parents), np.array(offsets), roles=skeleton.roles)


def with_no_length(skeleton: Skeleton, role: str) -> Skeleton:
    offsets = np.array(skeleton.offsets)
    offsets[skeleton.index(role)] = 0.0
    return skeleton.replace(offsets=offsets)


HUMAN = make_human()
SKELETONS = {
    "adult": HUMAN,
    "child": make_human(1.2),
    "giant": make_human(17.0),
    "arms down": make_human(arms_down=True),
    "no end sites": make_human(has_tips=False),
    "no toes": make_human(without=("Toes",)),
    "no clavicles": make_human(without=("Shoulder",)),
    "no neck": make_human(without=("neck",)),
    "no head": make_human(without=("neck", "head")),
    "no hands": make_human(without=("Hand",)),
    "no arms": make_human(without=("Shoulder", "UpperArm", "LowerArm", "Hand")),
    "no legs": make_human(without=("UpperLeg", "LowerLeg", "Foot", "Toes")),
    "one trunk joint": make_human(without=("spine", "chest", "upperChest")),
    "hips alone": make_human(without=tuple(name for name in HUMAN.names if name != "hips")),
    "doubled joints": with_doubles(HUMAN),
    "spine on the hips": with_no_length(HUMAN, "spine"),
    "no length at the shin": with_no_length(HUMAN, "leftLowerLeg"),
    "facing back": turned(HUMAN, rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.pi)),
    "lying": turned(HUMAN, rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), -np.pi / 2)),
    "no roles": HUMAN.replace(roles={}),
}


@cache
def adult_meshes() -> dict[str, Mesh]:
    return build_mannequin(HUMAN, 70.0)


@pytest.mark.parametrize("case", SKELETONS)
@pytest.mark.many(3)
def test_every_segment_is_closed(case):
    meshes = build_mannequin(SKELETONS[case], 70.0)
    assert meshes
    for mesh in meshes.values():
        check_closed(mesh)


def test_whole_body_in_few_triangles():
    meshes = adult_meshes()
    assert set(meshes) == set(HUMAN.names)
    assert 6000 < sum(len(mesh.faces) for mesh in meshes.values()) < 17000


@pytest.mark.parametrize(("stature", "mass"), [(1.75, 45.0), (1.75, 72.0), (1.75, 130.0), (1.2, 22.0)])
@pytest.mark.many(1)
def test_the_body_as_seen_holds_its_mass(stature, mass):
    """Volume of the union of all segments, overlaps once, counted in voxels."""
    skeleton = make_human(stature)
    places, step = skeleton.rest_positions(), 0.011 * stature / 1.75
    axes = [np.arange(low, high, step) for low, high in ((-0.55, 0.55), (-0.02, 1.03), (-0.25, 0.3))]
    x, y, z = (axis * stature + 0.00137 * i for i, axis in enumerate(axes, start=1))
    seen = np.zeros((len(x), len(y), len(z)), bool)
    for name, mesh in build_mannequin(skeleton, mass).items():
        seen |= fill_voxels(mesh.moved(np.eye(3), places[skeleton.index(name)]), x, y, z)
    cell = (x[1] - x[0]) * (y[1] - y[0]) * (z[1] - z[0])
    assert BODY_DENSITY * seen.sum() * cell == pytest.approx(mass, rel=0.05)


def test_left_and_right_are_mirror_images():
    meshes = adult_meshes()
    for name in (name for name in meshes if name.startswith("left")):
        left, right = meshes[name], meshes["right" + name[4:]]
        away, _ = cKDTree(right.vertices).query(left.vertices * [-1, 1, 1])
        assert away.max() < 1e-12
        assert len(left.vertices) == len(right.vertices)


def test_turning_the_skeleton_turns_the_body():
    turn = rotation.from_axis_angle(np.array([0.0, 1.0, 0.0]), 2.0)
    meshes, moved = adult_meshes(), build_mannequin(turned(HUMAN, turn), 70.0)
    for name, mesh in meshes.items():
        np.testing.assert_allclose(rotation.rotate(turn, mesh.vertices), moved[name].vertices, atol=1e-9)


def test_fat_goes_to_the_belly_more_than_to_the_wrist():
    thin, fat = (build_mannequin(HUMAN, mass) for mass in (45.0, 130.0))
    growth = {name: compute_volume(fat[name]) / compute_volume(thin[name]) for name in HUMAN.names}
    assert growth["spine"] > growth["leftUpperLeg"] > growth["leftLowerArm"] > growth["leftHand"] > 1.0
    assert growth["spine"] > 3.0


def test_a_child_has_a_larger_head_for_its_height():
    adult, child = (np.ptp(build_mannequin(make_human(h), 20 * h * h)["head"].vertices[:, 1]) / h for h in (1.75, 1.1))
    assert child > 1.2 * adult


@pytest.mark.parametrize("case", ["adult", "child", "arms down", "doubled joints", "facing back"])
def test_segments_meet_inside_their_joints(case):
    """A joint lies inside its own segment and inside its parent's, so that no bend opens a gap."""
    skeleton = SKELETONS[case]
    meshes = build_mannequin(skeleton, 65.0)
    for child, parent in (
        ("LowerArm", "UpperArm"),
        ("Hand", "LowerArm"),
        ("LowerLeg", "UpperLeg"),
        ("Foot", "LowerLeg"),
        ("UpperArm", "Shoulder"),
        ("UpperLeg", "hips"),
        ("Toes", "Foot"),
    ):
        for side in ("left", "right"):
            parent_role = parent if parent == "hips" else side + parent
            at = skeleton.rest_positions()[skeleton.index(side + child)]
            in_parent = at - skeleton.rest_positions()[skeleton.index(parent_role)]
            own, carrier = (meshes[skeleton.roles[role]] for role in (side + child, parent_role))
            assert winding_number(own, np.zeros((1, 3)))[0] > 0.5, child
            assert winding_number(carrier, in_parent[None])[0] > 0.5, child


def test_a_standing_body_has_its_soles_on_the_ground_and_its_crown_at_the_tip():
    skin = build_skin(HUMAN, adult_meshes())
    assert skin.vertices[:, 1].min() == pytest.approx(0.0, abs=2e-3)
    head = HUMAN.index("head")
    crown = HUMAN.rest_positions()[head] + HUMAN.tips[head]
    assert skin.vertices[:, 1].max() == pytest.approx(crown[1], abs=5e-3)


def test_every_trunk_joint_gets_its_piece_and_doubles_none():
    names = set(build_mannequin(with_doubles(HUMAN), 70.0))
    trunk = {"hips", "spine", "chest", "upperChest"}
    assert {name.removesuffix("_zero") for name in names} >= trunk
    for joint in trunk - {"hips"}:
        assert (joint in names) != (joint + "_zero" in names)


@pytest.mark.parametrize("mass", [0.0, -3.0, np.nan])
def test_mass_must_be_positive(mass):
    with pytest.raises(InputError, match="mass must be above 0 kg"):
        build_mannequin(HUMAN, mass)


def test_an_impossible_mass_gives_the_nearest_body():
    light, lighter = build_mannequin(HUMAN, 8.0), build_mannequin(HUMAN, 4.0)
    assert compute_volume(light["chest"]) == pytest.approx(compute_volume(lighter["chest"]), rel=1e-3)


def test_skin_is_moved_by_linear_blending():
    skin = build_skin(HUMAN, adult_meshes())
    np.testing.assert_allclose(skin.weights.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.linalg.norm(skin.normals, axis=1), 1.0)
    positions, orientations = HUMAN.pose(
        np.array([0.3, 1.2, -0.4]), rotation.random(np.random.default_rng(5), (len(HUMAN),))
    )
    # x = sum of w_k (R_k (v - rest_k) + p_k)
    blended = np.zeros_like(skin.vertices)
    for k in range(4):
        joint = skin.joints[:, k]
        moved = rotation.rotate(orientations[joint], skin.vertices - HUMAN.rest_positions()[joint]) + positions[joint]
        blended += skin.weights[:, k : k + 1] * moved
    points, normals = skin.pose(HUMAN, positions, orientations)
    np.testing.assert_allclose(points, blended, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0)


def test_skin_at_rest_is_the_segments_at_rest():
    skin = build_skin(HUMAN, adult_meshes())
    points, normals = skin.pose(HUMAN, *HUMAN.pose(HUMAN.offsets[0], make_pose(HUMAN)))
    places = HUMAN.rest_positions()
    np.testing.assert_allclose(
        points, np.concatenate([m.vertices + places[HUMAN.index(n)] for n, m in adult_meshes().items()])
    )
    np.testing.assert_allclose(normals, skin.normals, atol=1e-12)


def test_limbs_are_rigid_and_the_trunk_shares_between_neighbours():
    skin = build_skin(HUMAN, adult_meshes())
    start = 0
    trunk = [HUMAN.index(role) for role in ("hips", "spine", "chest", "upperChest")]
    for name, mesh in adult_meshes().items():
        rows = slice(start, start + len(mesh.vertices))
        start = rows.stop
        if HUMAN.index(name) in trunk:
            first, second = skin.joints[rows, 0], skin.joints[rows, 1]
            shared = skin.weights[rows, 1] > 0
            assert set(np.unique(first)) <= set(trunk)
            np.testing.assert_array_equal(HUMAN.parents[first[shared]], second[shared])
        else:
            assert (skin.joints[rows, 0] == HUMAN.index(name)).all()
            assert (skin.weights[rows, 0] == 1.0).all()


def test_trunk_weights_depend_on_the_place_alone():
    """Vertices of two segments at one place move together, so that a bent trunk has no seam."""
    skin = build_skin(HUMAN, adult_meshes())
    pairs = cKDTree(skin.vertices).query_pairs(1e-9, output_type="ndarray")
    trunk = [HUMAN.index(role) for role in ("hips", "spine", "chest", "upperChest")]
    pairs = pairs[np.isin(skin.joints[pairs, 0], trunk).all(axis=1)]
    assert len(pairs) >= 3 * 26  # three cuts, all around
    bent = make_pose(HUMAN, spine=(30, 20, 5), chest=(25, -30, 0), upperChest=(10, 0, 20))
    points, _ = skin.pose(HUMAN, *HUMAN.pose(np.zeros(3), bent))
    np.testing.assert_allclose(points[pairs[:, 0]], points[pairs[:, 1]], atol=1e-8)


def test_a_skeleton_without_roles_has_a_rigid_skin():
    skeleton = SKELETONS["no roles"]
    assert (build_skin(skeleton, build_mannequin(skeleton, 70.0)).weights[:, 0] == 1.0).all()
    with pytest.raises(InputError, match="at least one mesh"):
        build_skin(skeleton, {})


@pytest.mark.data
def test_real_recordings():
    from poise.body.role_finding.guess import with_roles
    from poise.files.registry import load_clip

    for file in ("bvh-cmu/07_01.bvh", "bvh-other/bvh_test1.bvh", "bvh-other/test_mocapbank.bvh"):
        skeleton = with_roles(load_clip(data_file(file)).skeleton)
        meshes = build_mannequin(skeleton, 65.0)
        for mesh in meshes.values():
            check_closed(mesh)
        assert {skeleton.roles[role] for role in ("head", "leftHand", "rightFoot", "leftUpperLeg")} <= set(meshes)


def make_loft(power: float, sides: int = 64) -> Mesh:
    half = np.tile([0.3, 0.2, 0.1, 0.4], (9, 1))
    axes = np.eye(3)
    return loft(add_domes(straight_sections(np.linspace(0, 1, 9), half, power, np.zeros(3), axes), 0.5, 0.25), sides)


def test_loft_of_ellipses_has_their_volume():
    # Quarter ellipses: (0.3 + 0.2) (0.1 + 0.4) pi / 4 across; length 1 and domes of 2/3 of 0.5 and 0.25.
    wanted = 0.5 * 0.5 * np.pi / 4 * (1.0 + 2 / 3 * 0.75)
    mesh = make_loft(2.0)
    check_closed(mesh)
    assert compute_volume(mesh) == pytest.approx(wanted, rel=0.03)  # domes have five sections
    flat = straight_sections(np.array([0.0, 1.0]), np.ones((2, 4)), 2.0, np.zeros(3), np.eye(3))
    assert stack_volume(flat, sides=200) == pytest.approx(np.pi, rel=1e-3)


def test_loft_follows_the_superellipse():
    n = 3.0
    mesh = make_loft(n)
    ring = mesh.vertices[np.isclose(mesh.vertices[:, 2], 0.5)]
    a, b = np.where(ring[:, 0] > 0, 0.3, 0.2), np.where(ring[:, 1] > 0, 0.1, 0.4)
    np.testing.assert_allclose(np.abs(ring[:, 0] / a) ** n + np.abs(ring[:, 1] / b) ** n, 1.0, atol=1e-12)


def test_interpolation_meets_its_knots_and_parabolas():
    knots = np.array([0.0, 0.3, 0.4, 1.0])
    values = np.stack([knots**2, 1 - knots], axis=1)
    np.testing.assert_allclose(interpolate(knots, values, knots), values, atol=1e-14)
    inner = np.linspace(0.3, 0.4, 7)
    np.testing.assert_allclose(interpolate(knots, values, inner), np.stack([inner**2, 1 - inner], axis=1), atol=1e-12)
    np.testing.assert_allclose(interpolate(knots, values, np.array([-5.0, 5.0])), values[[0, -1]])


def make_capsule(start: np.ndarray, end: np.ndarray, radius: float) -> Mesh:
    """A finely faceted capsule."""
    length = float(np.linalg.norm(end - start))
    angle = np.linspace(-np.pi / 2, np.pi / 2, 81)
    heights = radius * np.sin(angle) + np.where(angle > 0, length, 0.0)
    heights, around = np.append(heights, 0.5 * length), np.append(radius * np.cos(angle), radius)
    order = np.argsort(heights, kind="stable")
    extents = np.repeat(around[order][:, None], 4, axis=1)
    axes = rotation.rotate(rotation.between(np.array([0.0, 0.0, 1.0]), end - start), np.eye(3))
    return loft(straight_sections(heights[order], extents, 2.0, start, axes), sides=96)


def test_pose_helper_turns_one_joint():
    pose = make_pose(HUMAN, leftLowerArm=(0, 0, 90))
    assert np.count_nonzero(np.abs(pose[:, 0]) < 1.0 - 1e-9) == 1

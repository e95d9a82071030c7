"""A mesh cut by its skin weights into segments: closed, exact in volume, and mended or refused where it is no solid."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.bodies import make_human
from helpers.recordings import data_file
from poise.body.character import Character
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.mesh import Mesh
from poise.body.geometry.polyhedron import check_closed, compute_volume, mass_properties
from poise.body.geometry.skin import SkinnedMesh, build_skin
from poise.body.geometry.skin_segments import build_character, close, find_owners, segment_skin
from poise.body.segments.tables import DENSITIES
from poise.body.skeleton import Skeleton
from poise.errors import FileError, InputError
from poise.files.character import save_character
from poise.files.formats.gltf.character import load_character, read_character
from poise.files.formats.gltf.write import save_glb
from poise.motion.clip import Clip
from poise.spatial import rotation


def make_tube(rings: int = 40, sides: int = 24, length: float = 2.0, radius: float = 0.1) -> Mesh:
    """A closed prism along y from 0 to `length`."""
    around = 2 * np.pi * np.arange(sides) / sides
    ring = radius * np.stack([np.sin(around), 0 * around, np.cos(around)], axis=1)
    heights = np.linspace(0, length, rings)
    vertices = np.concatenate([*(ring + [0, y, 0] for y in heights), [[0, 0, 0], [0, length, 0]]])
    faces = []
    for k in range(rings - 1):
        for i in range(sides):
            a, b = k * sides + i, k * sides + (i + 1) % sides
            faces += [(a, b, b + sides), (a, b + sides, a + sides)]
    low, high = len(vertices) - 2, len(vertices) - 1
    for i in range(sides):
        j = (i + 1) % sides
        faces += [(low, j, i), (high, (rings - 1) * sides + i, (rings - 1) * sides + j)]
    return Mesh(vertices, np.array(faces))


CHAIN = Skeleton(
    ("a", "b", "c", "twist"), np.array([-1, 0, 1, 1]), np.array([[0, 0, 0], *[[0, 0.7, 0]] * 2, [0, 0.2, 0]])
)


def bind(mesh: Mesh, cuts: tuple[float, ...] = (0.7, 1.4), blend: float = 0.1) -> SkinnedMesh:
    """Joints 0, 1, 2 take over from each other at the cuts, smoothly."""
    y = mesh.vertices[:, 1]
    share = [np.clip((y - cut) / (2 * blend) + 0.5, 0, 1) for cut in cuts]
    weights = np.stack([1 - share[0], share[0] * (1 - share[1]), share[0] * share[1], 0 * y], axis=1)
    joints = np.tile([0, 1, 2, 0], (len(y), 1))
    return SkinnedMesh(mesh.vertices, mesh.normals, mesh.faces, joints, weights)


def test_pieces_are_closed_and_make_up_the_whole():
    tube = make_tube()
    pieces = segment_skin(bind(tube), CHAIN, [0, 1, 2, 1])
    assert list(pieces) == [0, 1, 2]
    for (piece,) in pieces.values():
        check_closed(piece)
    volumes = [compute_volume(piece) for (piece,) in pieces.values()]
    assert sum(volumes) == pytest.approx(compute_volume(tube), rel=1e-9)
    # the cuts lie where two joints share alike
    np.testing.assert_allclose(np.array(volumes) / sum(volumes), [0.35, 0.35, 0.3], atol=0.01)
    rest = CHAIN.rest_positions()
    whole = mass_properties(tube, 1000.0)
    parts = [mass_properties(piece, 1000.0).moved(np.eye(3), rest[j]) for j, (piece,) in pieces.items()]
    total = type(whole).total(parts)
    np.testing.assert_allclose(total.center, whole.center, atol=1e-9)
    np.testing.assert_allclose(total.inertia, whole.inertia, rtol=1e-6, atol=1e-9)


def test_a_coarse_mesh_is_cut_between_its_vertices():
    tube = make_tube(rings=2, sides=6)
    skin = bind(tube, blend=2.0)
    pieces = segment_skin(skin, CHAIN, [0, 1, 2, 1])
    assert sum(compute_volume(solid) for piece in pieces.values() for solid in piece) == pytest.approx(
        compute_volume(tube), rel=1e-9
    )
    # joint 0 outweighs joint 2 up to 0.634 of the length, and joint 1 is never the first
    share = compute_volume(pieces[0][0]) / compute_volume(tube)
    assert list(pieces) == [0, 2] and share == pytest.approx(0.634, abs=0.02)


@pytest.mark.parametrize("fault", ["open", "inside out", "doubled", "two-sided", "layer", "seams", "button"])
@pytest.mark.many(2)
def test_meshes_as_people_make_them(fault):
    tube = make_tube()
    expected = compute_volume(tube)
    if fault == "open":
        tube = Mesh(tube.vertices, tube.faces[: -2 * 24])  # without its ends, which fans make good
    elif fault == "inside out":
        tube = tube.flipped()
    elif fault == "doubled":
        tube = Mesh(tube.vertices, np.concatenate([tube.faces, np.roll(tube.faces, 1, axis=1)]))
    elif fault == "two-sided":  # a cloth round it, seen from both sides
        cloth = make_tube(radius=0.12)
        both = Mesh(cloth.vertices, np.concatenate([cloth.faces[:-48], cloth.faces[:-48, ::-1]]))
        tube = Mesh.joined([tube, both])
    elif fault == "layer":
        tube = Mesh.joined([tube, make_tube(radius=0.09)])
    elif fault == "seams":
        tube = Mesh(tube.vertices[tube.faces].reshape(-1, 3), np.arange(3 * len(tube.faces)).reshape(-1, 3))
    else:
        small = make_tube(radius=0.002, length=0.01)
        tube = Mesh.joined([tube, small.moved(np.eye(3), np.array([0.2, 0.3, 0.0]))])
    pieces = segment_skin(bind(tube), CHAIN, [0, 1, 2, 1])
    for piece in pieces.values():
        for solid in piece:
            check_closed(solid)
    assert sum(compute_volume(solid) for piece in pieces.values() for solid in piece) == pytest.approx(
        expected, rel=1e-6
    )


@given(seed=st.integers(0, 2**32 - 1), faces=st.integers(1, 60))
@settings(max_examples=100, deadline=None)
def test_any_triangles_can_be_closed(seed, faces):
    """Soup: every edge is walked as often one way as the other, whatever was there."""
    rng = np.random.default_rng(seed)
    soup = rng.integers(0, 12, (faces, 3))
    soup = soup[(soup[:, 0] != soup[:, 1]) & (soup[:, 1] != soup[:, 2]) & (soup[:, 2] != soup[:, 0])]
    if not len(soup):
        return
    closed = close(Mesh(rng.normal(size=(12, 3)), soup))
    edges = np.concatenate([closed.faces[:, [i, (i + 1) % 3]] for i in range(3)])
    count = np.zeros((len(closed.vertices),) * 2)
    np.add.at(count, tuple(edges.T), 1)
    np.testing.assert_array_equal(count, count.T)


def human_skin() -> tuple[Skeleton, SkinnedMesh]:
    skeleton = make_human(1.75)
    return skeleton, build_skin(skeleton, build_mannequin(skeleton, 70.0))


def test_a_body_of_its_own_mesh_has_the_masses_of_its_mesh():
    """The mannequin's limbs are closed and rigid: cut out of the skin they are what they were."""
    skeleton, skin = human_skin()
    made = build_character(skeleton, skin, mass=70.0)
    body, table = made.character, Character.from_skeleton(skeleton, 70.0)
    assert made.warnings == () and body.table == "meshes"
    assert body.mass == pytest.approx(70.0)
    assert body.limits.keys() == table.limits.keys() and body.freedoms.keys() == table.freedoms.keys()
    meshes = build_mannequin(skeleton, 70.0)
    masses = {joint: mass_properties(meshes[joint], density) for joint, density in LIMBS.items()}
    for joint, expected in masses.items():
        segment = body.segment(joint)
        scale = segment.mass / expected.mass
        assert scale == pytest.approx(body.segment("head").mass / masses["head"].mass, rel=1e-6)
        np.testing.assert_allclose(segment.inertia.center, expected.center, atol=1e-6)
        np.testing.assert_allclose(segment.inertia.inertia, scale * expected.inertia, rtol=1e-4, atol=1e-9)
    # The mannequin's neck reaches into head and trunk; its other segments weigh about what the table says.
    shares = {s.name: s.mass / table.segment(s.joint).mass for s in body.segments if s.name != "neck"}
    assert all(0.5 < share < 2.0 for share in shares.values()), shares


LIMBS = {
    "head": DENSITIES["head"],
    "leftLowerArm": DENSITIES["forearm"],
    "rightUpperArm": DENSITIES["upperArm"],
    "leftHand": DENSITIES["hand"],
    "rightLowerLeg": DENSITIES["shank"],
    "leftUpperLeg": DENSITIES["thigh"],
}


def test_what_no_body_has_is_the_tables_and_is_told():
    skeleton, skin = human_skin()
    table = Character.from_skeleton(skeleton, 70.0)
    hand, shank = skeleton.index("leftHand"), skeleton.index("rightLowerLeg")
    vertices = skin.vertices.copy()
    own = skin.joints[:, 0] == hand
    vertices[own] = vertices[own].mean(axis=0) + 20.0 * (vertices[own] - vertices[own].mean(axis=0))
    faces = skin.faces[~(skin.joints[skin.faces, 0] == shank).any(axis=1)]
    made = build_character(skeleton, dataclasses.replace(skin, vertices=vertices, faces=faces), mass=70.0)
    assert made.warnings == (
        "the mesh of leftHand, rightLowerLeg encloses no plausible volume; these segments are the table's.",
    )
    assert made.character.mass == pytest.approx(70.0)
    for joint in ("leftHand", "rightLowerLeg"):
        assert made.character.segment(joint).mass == pytest.approx(table.segment(joint).mass)
    flat = dataclasses.replace(skin, vertices=skin.vertices * [1.0, 1.0, 0.0])
    made = build_character(skeleton, flat, mass=70.0)
    assert "no part of the mesh" in made.warnings[0] and made.character.table == "deleva"


def test_joints_without_matter_of_their_own_give_it_to_the_next():
    human = make_human(1.75)
    names = ("ground", *human.names, "leftFinger")
    parents = np.array([-1, *(human.parents + 1), 1 + human.index("leftHand")])
    offsets = np.concatenate([np.zeros((1, 3)), human.offsets, [[0.1, 0.0, 0.0]]])
    skeleton = Skeleton(names, parents, offsets, roles=dict(human.roles))
    owners = find_owners(Character.from_skeleton(skeleton, 70.0))
    assert names[owners[0]] == "hips" and names[owners[-1]] == "leftHand"
    assert names[owners[names.index("leftShoulder")]] == "upperChest"
    assert names[owners[names.index("head")]] == "head"


def test_characters_from_files(tmp_path):
    skeleton, skin = human_skin()
    clip = Clip(skeleton, [0.0], skeleton.offsets[:1], rotation.identity((1, len(skeleton))))
    save_glb(clip, tmp_path / "hero.glb", skin)
    hero = load_character(tmp_path / "hero.glb", mass=70.0)
    direct = build_character(skeleton, skin, mass=70.0).character
    assert hero.name == "hero" and hero.height == pytest.approx(1.75, rel=0.03)
    for segment in direct.segments:
        assert hero.segment(segment.joint).mass == pytest.approx(segment.mass, rel=1e-3)
    save_character(hero, tmp_path / "hero.json")
    assert load_character(tmp_path / "hero.json").mass == pytest.approx(70.0)
    with pytest.raises(InputError, match="are for models"):
        load_character(tmp_path / "hero.json", mass=60.0)
    (tmp_path / "hero.obj").write_text("v 0 0 0\n")
    with pytest.raises(FileError, match=r"known are \.json, \.glb"):
        load_character(tmp_path / "hero.obj")


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "tables"),
    [
        ("gltf/RiggedFigure.glb", {"leftUpperArm", "rightUpperArm"}),  # its weights leave them a sheet of cloth
        ("gltf/manny_med_mod.gltf", {"head"}),  # a toy's, half of the whole
        ("vrm/cryptovoxels.vrm", set()),
    ],
)
def test_real_models(name, tables):
    made = read_character(data_file(name), mass=60.0)
    body = made.character
    assert body.mass == pytest.approx(60.0) and body.table == "meshes"
    told = [warning for warning in made.warnings if "plausible volume" in warning]
    assert all(role in told[0] for role in tables) and bool(told) == bool(tables)
    for side in ("UpperLeg", "LowerLeg", "Foot", "LowerArm", "Hand"):
        left, right = (body.segment(which + side).mass for which in ("left", "right"))
        assert max(left, right) < 1.8 * min(left, right)
    middle = body.center_of_mass()
    low, high = made.skin.vertices.min(axis=0), made.skin.vertices.max(axis=0)
    assert abs(middle[0]) < 0.02 and 0.35 < (middle[1] - low[1]) / (high[1] - low[1]) < 0.65
    if name.startswith("gltf/manny"):
        return
    assert body.height == pytest.approx(float(high[1] - low[1]), rel=1e-6)


@pytest.mark.data
def test_a_motion_is_no_character():
    with pytest.raises(FileError, match="has no mesh"):
        load_character(data_file("gltf/Med_General.glb"))

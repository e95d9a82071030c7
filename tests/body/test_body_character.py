"""Characters: presets, checks, meshes, and the file they are saved in."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poise
from helpers.errors import rejects
from poise.body.character import Character, Segment
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.mesh import Mesh
from poise.body.joints import PRESETS
from poise.body.roles import BODY_ROLES
from poise.body.segments.proportions import build_skeleton, compute_proportions
from poise.body.segments.tables import DENSITIES, SEXES
from poise.body.skeleton import Skeleton
from poise.cli import main
from poise.errors import FileError, InputError, RangeError
from poise.files import character as character_file
from poise.files.character import load_character, save_character
from poise.spatial.inertia import RigidInertia

FULL = build_skeleton(1.75, compute_proportions(), BODY_ROLES)


@pytest.mark.parametrize(
    ("preset", "segments", "joints", "freedoms"),
    [("mix", 15, 14, 34), ("strength", 18, 17, 39), ("tracking", 17, 16, 48), ("full", 20, 21, 51)],
)
def test_presets_have_the_papers_counts(preset, segments, joints, freedoms):
    character = Character.human(preset=preset)
    assert len(character.segments) == segments
    assert len(character.skeleton) - 1 == joints
    assert character.degrees_of_freedom == freedoms
    assert set(character.limits) == set(character.freedoms) == set(character.skeleton.names[1:])


def test_the_strength_papers_freedoms():
    character = Character.human(preset="strength")
    counts = {"spine": 3, "chest": 3, "head": 3, "UpperArm": 3, "LowerArm": 2, "Hand": 2}
    counts |= {"UpperLeg": 3, "LowerLeg": 2, "Foot": 2, "Toes": 1}
    for joint, axes in character.freedoms.items():
        assert len(axes) == counts[joint.removeprefix("left").removeprefix("right")]


def test_a_segment_by_joint_or_role():
    names = {name: f"mixamorig:{name}" for name in FULL.names}
    character = Character.from_skeleton(FULL.replace(names=list(names.values())), mass=70.0)
    assert character.segment("leftFoot") is character.segment("mixamorig:leftFoot")
    assert character.height == pytest.approx(1.75)
    rejects(lambda: character.segment("leftFeet"), "Did you mean 'leftFoot'")
    rejects(lambda: character.segment("leftShoulder"), "'leftShoulder'", "'human'")


BAD_HUMANS = [
    ({"sex": "Male"}, "Did you mean 'male'"),
    ({"age": 2}, "age is 2 years; the tables hold from 4"),
    ({"preset": "ful"}, "Did you mean 'full'"),
    ({"table": "zatsiorsky"}, "body table 'zatsiorsky' is not known"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_HUMANS, ids=[m for _, m in BAD_HUMANS])
def test_bad_humans(arguments, message):
    with pytest.raises(InputError, match=message) as caught:
        Character.human(**arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mass", [0.0, -3.0, float("nan"), float("inf"), "heavy", True])
def test_rejects_masses_out_of_range(mass):
    for make in (lambda: Character.human(mass=mass), lambda: Character.from_skeleton(FULL, mass=mass)):
        error = rejects(make, "mass", "1", "1000 kg", error=RangeError)
        assert error.value is mass


@pytest.mark.parametrize("height", [17.5, float("nan")])
def test_rejects_heights_out_of_range(height):
    error = rejects(lambda: Character.human(height=height), "height", "0.3", "3 m", f"{height:g}", error=RangeError)
    assert error.value is height


def test_no_legs_no_human():
    tree = Skeleton(("Hips", "Spine"), np.array([-1, 0]), np.array([[0, 1.0, 0], [0, 0.3, 0]]))
    rejects(lambda: Character.from_skeleton(tree), "leftUpperLeg")


def box(mass: float = 1.0) -> RigidInertia:
    return RigidInertia(mass, np.zeros(3), np.eye(3) * 0.01)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"segments": [Segment("a", "hips", box()), Segment("b", "hips", box())]},
            "more than one segment has the joint hips",
        ),
        (
            {"segments": [Segment("a", "hips", box()), Segment("a", "head", box())]},
            "more than one segment has the name a",
        ),
        ({"segments": [Segment("a", "tail", box())]}, "segment's joint 'tail' is not in character 'x'"),
        ({"segments": []}, "mass must be from 1 to 1000 kg; got 0"),
        ({"freedoms": {"hips": np.eye(3)}}, "the root joint 'hips' is free"),
        ({"freedoms": {"head": np.ones((1, 3))}}, "must be unit axes"),
        ({"freedoms": {"head": np.zeros((0, 3))}}, "one to three axes"),
        ({"freedoms": {"tail": np.eye(3)}}, "joint of the freedoms 'tail'"),
        ({"limits": {"tail": None}}, "joint of the limits 'tail'"),
        ({"height": -1.0}, "height must be from 0.3 to 3 m; got -1"),
    ],
)
def test_bad_characters(changes, message):
    parts = {"name": "x", "skeleton": FULL, "segments": [Segment("a", "hips", box())], "height": 1.75} | changes
    with pytest.raises(InputError, match=message):
        Character(**parts)


@pytest.mark.parametrize(
    ("inertia", "message"),
    [
        (RigidInertia(-1.0, np.zeros(3), np.eye(3)), "cannot be negative"),
        (RigidInertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 3.0])), "no body of 1 kg can have"),
        (RigidInertia(1.0, np.full(3, np.nan), np.eye(3)), "not a finite number"),
        (RigidInertia(1.0, np.zeros(2), np.eye(3)), r"needs a centre \(3,\)"),
        (RigidInertia(1.0, np.zeros(3), np.triu(np.ones((3, 3)))), "not symmetric"),
    ],
)
def test_bad_segments(inertia, message):
    with pytest.raises(InputError, match=message):
        Segment("a", "hips", inertia)


def test_a_character_cannot_be_changed():
    character = Character.human()
    for array in (character.segments[0].inertia.center, character.freedoms["head"], character.limits["head"].lower):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(TypeError):
        character.limits["head"] = None


def cube(side: float) -> Mesh:
    corners = side * (np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)], float) - 0.5)
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    return Mesh(corners, np.array([tri for a, b, c, d in quads for tri in ((a, b, c), (a, c, d))]))


def test_meshes_are_weighed_by_their_densities():
    """Cubes have closed forms: m = rho s^3, I = m s^2 / 6."""
    character = Character.from_meshes(FULL, {"hips": cube(0.3), "rightHand": cube(0.1)})
    assert character.segment("hips").mass == pytest.approx(DENSITIES["lowerTrunk"] * 0.027)
    hand = character.segment("rightHand").inertia
    assert hand.mass == pytest.approx(DENSITIES["hand"] * 0.001)
    np.testing.assert_allclose(hand.inertia, np.eye(3) * hand.mass * 0.01 / 6, atol=1e-15)
    assert character.table == "meshes"
    assert Character.from_meshes(FULL, {"hips": cube(0.3)}, 1000.0).mass == pytest.approx(27.0)
    assert Character.from_meshes(FULL, {"hips": cube(0.3)}, {"hips": 500.0}).mass == pytest.approx(13.5)


def test_a_mannequins_own_meshes_make_a_body():
    meshes = build_mannequin(FULL, 75.0)
    character = Character.from_meshes(FULL, meshes, mass=75.0)
    assert len(character.segments) == len(meshes)
    assert character.mass == pytest.approx(75.0, rel=1e-14)
    # Uniform segments of a mannequin are near the table's body: the centre within 6 cm.
    np.testing.assert_allclose(character.center_of_mass(), Character.human().center_of_mass(), atol=0.06)


@pytest.mark.parametrize(
    ("meshes", "densities", "message"),
    [
        ({}, None, "no meshes are given"),
        ({"tail": cube(0.1)}, None, "joint 'tail' is not in the skeleton"),
        ({"hips": cube(0.3)}, 0.0, "density of 'hips' is 0"),
        ({"hips": cube(0.3)}, {"hips": float("nan")}, "must be positive"),
    ],
)
def test_bad_meshes(meshes, densities, message):
    with pytest.raises(InputError, match=message):
        Character.from_meshes(FULL, meshes, densities)


def test_a_joint_that_is_not_known_is_told_which_are_each_once():
    with pytest.raises(InputError, match="Did you mean 'leftHand'") as told:
        FULL.index("leftHandd")
    known = str(told.value).split("Known: ")[1].rstrip(".").split(", ")
    assert sorted(known) == sorted({*FULL.roles, *FULL.names})


def test_a_joint_without_role_needs_a_density():
    names = ["Thing" if name == "neck" else name for name in FULL.names]
    roles = {role: joint for role, joint in FULL.roles.items() if role != "neck"}
    odd = Skeleton(tuple(names), FULL.parents, FULL.offsets, FULL.tips, roles)
    rejects(lambda: Character.from_meshes(odd, {"Thing": cube(0.1)}), "'Thing'")


@given(
    st.floats(1.2, 2.1),
    st.floats(20.0, 150.0),
    st.sampled_from(SEXES),
    st.floats(4.0, 80.0),
    st.sampled_from(list(PRESETS)),
)
@settings(max_examples=15)
def test_saving_and_loading_is_exact(tmp_path_factory, height, mass, sex, age, preset):
    path = tmp_path_factory.mktemp("characters") / "body.json"
    saved = Character.human(height, mass, sex, age, preset)
    save_character(saved, path)
    loaded = load_character(path)
    for name in ("name", "height", "mass", "sex", "age", "table"):
        assert getattr(loaded, name) == getattr(saved, name)
    assert loaded.skeleton.names == saved.skeleton.names
    assert loaded.skeleton.roles == saved.skeleton.roles
    for name in ("parents", "offsets", "tips"):
        np.testing.assert_array_equal(getattr(loaded.skeleton, name), getattr(saved.skeleton, name))
    for mine, other in zip(saved.segments, loaded.segments, strict=True):
        assert (mine.name, mine.joint, mine.mass) == (other.name, other.joint, other.mass)
        np.testing.assert_array_equal(mine.inertia.center, other.inertia.center)
        np.testing.assert_array_equal(mine.inertia.inertia, other.inertia.inertia)
    for joint, limits in saved.limits.items():
        for name in ("lower", "upper", "parent_zero", "child_zero"):
            np.testing.assert_array_equal(getattr(limits, name), getattr(loaded.limits[joint], name))
    for joint, axes in saved.freedoms.items():
        np.testing.assert_array_equal(axes, loaded.freedoms[joint])
    first = path.read_bytes()
    save_character(loaded, path)
    assert path.read_bytes() == first


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    path = tmp_path_factory.mktemp("plain") / "body.json"
    save_character(Character.human(preset="mix"), path)
    return path.read_text()


def change(path, value):
    """A change of the plain file: the entry at a path of keys set to a value, or removed."""

    def apply(content):
        *way, last = path
        place = content
        for key in way:
            place = place[key]
        if value is KeyError:
            del place[last]
        else:
            place[last] = value

    return apply


BAD_FILES = [
    (change(["format"], "gltf"), "is not a character: its format is 'gltf'"),
    (change(["version"], 2), "has version 2"),
    (change(["height"], KeyError), "the file lacks 'height'"),
    (change(["height"], "tall"), "'height' of the file must be a number"),
    (change(["height"], -1), "height must be from 0.3 to 3 m; got -1"),
    (change(["height"], 10**400), "must be a finite number"),
    (change(["hight"], 1.7), "Did you mean 'height'"),
    (change(["sex"], "robot"), "sex 'robot' is not known"),
    (change(["name"], "x" * 1_000_001), "text of at most 1000000"),
    (change(["joints"], []), "at least one joint"),
    (change(["joints"], {}), "must be a list"),
    (change(["joints", 3], 7), "joint 4 must be a JSON object"),
    (change(["joints", 2, "parent"], "tail"), "joint 3 'head' has the parent 'tail', which is not a joint before it"),
    (change(["joints", 2, "name"], "hips"), "more than one joint is called hips"),
    (change(["joints", 2, "offset"], [1, 2]), "'offset' of joint 3 must be a list of 3 numbers"),
    (change(["joints", 2, "role"], "tail"), "role of joint 3, 'tail' is not known"),
    (change(["joints", 2, "role"], "hips"), "joints 'hips' and 'head' both have the role hips"),
    (change(["segments", 0, "mass"], -1), "segment 1: segment 'hips' has a mass of -1 kg"),
    (change(["segments", 0, "inertia"], [1, 1, 9, 0, 0, 0]), "no body of .* kg can have"),
    (change(["segments", 0, "joint"], "tail"), "segment's joint 'tail'"),
    (change(["segments", 0, "colour"], "red"), "key of segment 1, 'colour'"),
    (change(["segments"], []), "mass must be from 1 to 1000 kg; got 0"),
    (change(["limits", 0, "parent_zero"], [2, 0, 0, 0]), "limit 1: .*unit quaternion"),
    (change(["limits", 0, "lower"], [9, 9, 9]), "limit 1: .*must not be above"),
    (change(["limits", 1, "joint"], "spine"), "limit 2 is a second one for joint 'spine'"),
    (change(["freedoms", 0, "axes"], []), "list of 1 to 3 rows"),
    (change(["freedoms", 0, "axes"], [[1, 0, 0]] * 4), "list of 1 to 3 rows"),
    (change(["freedoms", 0, "axes"], [[1, 1, 0]]), "must be unit axes"),
]


@pytest.mark.parametrize(("apply", "message"), BAD_FILES, ids=[m for _, m in BAD_FILES])
def test_bad_files(plain, tmp_path, apply, message):
    content = json.loads(plain)
    apply(content)
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(content))
    with pytest.raises(FileError, match=message) as caught:
        load_character(path)
    assert str(caught.value).startswith(f"{path}:")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b" ", "is not valid JSON"),
        (b"{\n\n]", r"bad.json:3: is not valid JSON"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"[]", "the file must be a JSON object"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"height": NaN}', "contains NaN"),
        (b'{"height": 1, "height": 2}', "has the key 'height' twice"),
    ],
)
def test_no_character_at_all(tmp_path, data, message):
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    with pytest.raises(FileError, match=message):
        load_character(path)


def test_sizes_are_bounded(tmp_path, plain, monkeypatch):
    path = tmp_path / "big.json"
    path.write_text(plain)
    monkeypatch.setattr(character_file, "MAX_BYTES", 1000)
    rejects(lambda: load_character(path), "1000", error=FileError)
    monkeypatch.undo()
    monkeypatch.setattr(character_file, "MAX_JOINTS", 10)
    with pytest.raises(FileError, match="a list of at most 10 entries"):
        load_character(path)


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(FileError, match="there is no such file"):
        load_character(tmp_path / "none.json")


def test_a_character_is_saved_and_loaded_by_public_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    poise.save_character(Character.human(1.6, 55.0, preset="mix"), tmp_path / "body.json")
    again = poise.load_character(tmp_path / "body.json")
    assert (again.height, again.mass) == (1.6, pytest.approx(55.0))
    rejects(lambda: poise.save_character(again, tmp_path / "body.txt"), "body.txt:", "'.txt'", error=FileError)
    assert main(["info", "--help"]) == 0
    told = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "a .json of poise.save_character, or a model (.glb, .gltf, .vrm)" in told

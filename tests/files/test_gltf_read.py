"""glTF in, against 4x4 matrices: armatures that turn, scale and mirror, every kind of key, every kind of number."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from helpers.bodies import make_human
from helpers.clips import random_clip
from helpers.errors import rejects
from helpers.files.gltf import Builder, Reference
from helpers.recordings import data_file
from poise.body.geometry.mannequin import build_mannequin
from poise.body.segments.stature import estimate_stature
from poise.errors import FileError
from poise.files import read_clip
from poise.files.formats.gltf.read import read_gltf, read_gltf_rest
from poise.files.formats.gltf.write import save_glb
from poise.files.registry import read_recording
from poise.motion.clip import Clip
from poise.spatial import rotation

TILT = Rotation.from_euler("X", 90, degrees=True).as_quat()
ABOVE = {
    "nothing": {},
    "blender": {"rotation": TILT, "scale": [0.01] * 3, "translation": [1.0, 2.0, 3.0]},
    "large": {"scale": [100.0] * 3, "rotation": [0.5, 0.5, -0.5, 0.5]},
    "z up": {"matrix": [1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1]},
    "mirror": {"scale": [-2.0, 2.0, 2.0], "rotation": Rotation.from_euler("Y", 30, degrees=True).as_quat()},
}


def quats(rng: np.random.Generator, n: int) -> np.ndarray:
    return Rotation.random(n, random_state=int(rng.integers(1 << 30))).as_quat()


def build_rig(
    rng: np.random.Generator, above: dict, joints: int = 7, skinned: bool = True
) -> tuple[Builder, list[int]]:
    """Joints with rest rotations and a scale of their own, branching, under an armature; a mesh bound at rest."""
    b = Builder()
    top = b.node(name="Scene", translation=[0.1, 0.0, 0.2])
    armature = b.node(top, name="Armature", **above)
    nodes = [b.node(armature, name="joint0", translation=rng.normal(size=3), rotation=quats(rng, 1)[0])]
    for i in range(1, joints):
        turn = quats(rng, 1)[0]
        nodes.append(
            b.node(
                nodes[(i - 1) // 2], name=f"joint{i}", translation=rng.normal(size=3), rotation=turn, scale=[1.1] * 3
            )
        )
    if skinned:
        add_mesh(b, rng, nodes)
    return b, nodes


def add_mesh(b: Builder, rng: np.random.Generator, nodes: list[int], count: int = 30) -> None:
    path_free = Reference.__new__(Reference)
    path_free.json, path_free.nodes = b.json, b.json["nodes"]
    path_free.parent = {child: i for i, node in enumerate(b.json["nodes"]) for child in node.get("children", ())}
    worlds = path_free.worlds()
    to_mesh = np.linalg.inv(worlds[nodes[0]]) * 0.5  # a mesh space of its own
    to_mesh[3, 3] = 1.0
    binds = np.array([np.linalg.inv(to_mesh @ worlds[node]) for node in nodes])
    weights = rng.uniform(size=(count, 4)) * [1, 1, 1, 0]
    weights /= weights.sum(axis=1, keepdims=True)
    b.json["meshes"] = [
        {
            "primitives": [
                {
                    "attributes": {
                        "POSITION": b.accessor(rng.normal(size=(count, 3))),
                        "JOINTS_0": b.accessor(rng.integers(0, len(nodes), (count, 4)), "u1"),
                        "WEIGHTS_0": b.accessor(weights),
                    },
                    "indices": b.accessor(np.arange(count), "u2"),
                }
            ]
        }
    ]
    b.json["skins"] = [{"joints": nodes, "inverseBindMatrices": b.accessor(binds.transpose(0, 2, 1).reshape(-1, 16))}]
    b.node(0, mesh=0, skin=0, translation=[9.0, 9.0, 9.0])  # which does not count


def animate(b: Builder, rng: np.random.Generator, nodes: list[int], how: str, name: str | None = None) -> None:
    animation = b.animation(name)
    times = np.arange(13) / 30
    rows = 3 if how == "CUBICSPLINE" else 1

    def keys(values: np.ndarray) -> np.ndarray:
        if rows == 1:
            return values
        out = rng.normal(size=(3 * len(values), values.shape[1])) * 0.5
        out[1::3] = values
        return out

    b.channel(animation, nodes[0], "translation", times, keys(rng.normal(size=(13, 3))), how)
    for i, node in enumerate(nodes):
        part = slice(0, 13 - i)  # channels end at different times
        b.channel(animation, node, "rotation", times[part], keys(quats(rng, 13)[part]), how)


REMARKS = ("armature", "rest axes", "names", "clips", "keys", "mesh", "buffers")


def list_losses(recording) -> list[str]:
    """Warnings that tell of a loss, without those that only tell what the file is like."""
    return [warning for warning in recording.warnings if warning.split(":")[0] not in REMARKS]


def single(t: float) -> float:
    """A time as files keep it: steps come exactly with their keys."""
    return float(np.float32(t))


def check_against_reference(path, recording, animation: int | None, atol: float) -> None:
    clip, reference = recording.clip, Reference(path)
    start = 0.0 if animation is None else reference.start(animation)
    for f in sorted({0, 1 % len(clip), len(clip) // 3, len(clip) - 1}):
        expected = reference.positions(clip.skeleton.names, animation, single(start + clip.times[f]))
        np.testing.assert_allclose(clip.positions[f], expected, atol=atol)


@pytest.mark.parametrize("how", ["LINEAR", "STEP", "CUBICSPLINE"])
@pytest.mark.parametrize("above", ABOVE)
@pytest.mark.parametrize("suffix", ["glb", "gltf"])
def test_joints_and_skin_are_where_the_specification_puts_them(above, how, suffix, tmp_path):
    rng = np.random.default_rng(1)
    b, nodes = build_rig(rng, ABOVE[above])
    animate(b, rng, nodes, how)
    path = b.save(tmp_path / f"x.{suffix}")
    recording = read_gltf(path)
    clip = recording.clip
    assert clip.skeleton.names == tuple(f"joint{i}" for i in range(7))
    assert len(clip) == 13 and recording.has_rate and clip.fps == pytest.approx(30)
    size = np.ptp(clip.skeleton.rest_positions(), axis=0).max()
    check_against_reference(path, recording, 0, 2e-6 * size)
    assert list_losses(recording) == []
    for f in (0, 7):
        positions, orientations = (values[f] for values in clip.world)
        points, _ = recording.skin.pose(clip.skeleton, positions, orientations)
        np.testing.assert_allclose(points, Reference(path).skinned(0, single(clip.times[f])), atol=5e-6 * size)


def test_a_file_without_animation_rests_in_one_frame(tmp_path):
    b, _ = build_rig(np.random.default_rng(2), ABOVE["blender"])
    path = b.save(tmp_path / "body.glb")
    recording = read_gltf(path)
    assert len(recording.clip) == 1 and recording.choices == ("body",)
    np.testing.assert_allclose(recording.clip.rotations[..., 1:], 0, atol=1e-12)
    check_against_reference(path, recording, None, 1e-9)
    np.testing.assert_allclose(recording.skin.vertices, Reference(path).skinned(), atol=1e-7)
    assert (recording.unit, recording.up, recording.format) == (1.0, "Y", "glTF")


def test_an_animation_without_skin_moves_the_tree_of_its_nodes(tmp_path):
    rng = np.random.default_rng(3)
    b, nodes = build_rig(rng, ABOVE["large"], skinned=False)
    b.node(nodes[3], name="end", translation=[0.0, 1.0, 0.0])
    b.node(nodes[2], name="camera", camera=0)
    animate(b, rng, nodes[:3], "LINEAR")
    path = b.save(tmp_path / "x.glb")
    recording = read_gltf(path)
    assert set(recording.clip.skeleton.names) == {*(f"joint{i}" for i in range(7)), "end"}
    assert recording.skin is None
    check_against_reference(path, recording, 0, 1e-3)


def test_hips_that_move_under_a_root_are_exact_and_the_root_is_kept(tmp_path):
    rng = np.random.default_rng(4)
    b = Builder()
    root = b.node(name="root", rotation=TILT)
    hips = b.node(root, name="hips", translation=[0.0, 0.0, -0.9])
    legs = [
        b.node(hips, name=f"{side}UpperLeg", translation=[x, 0.0, 0.1]) for side, x in (("left", 0.1), ("right", -0.1))
    ]
    b.json["skins"] = [{"joints": [root, hips, *legs]}]
    times, animation = np.arange(20) / 60, b.animation("walk")
    b.channel(animation, hips, "translation", times, rng.normal(size=(20, 3)))
    for node in (root, hips):
        b.channel(animation, node, "rotation", times, quats(rng, 20))
    path = b.save(tmp_path / "x.glb")
    clip = read_gltf(path).clip
    reference = Reference(path)
    for f in (0, 5, 19):
        np.testing.assert_allclose(
            clip.positions[f], reference.positions(clip.skeleton.names, 0, clip.times[f]), atol=1e-6
        )


def test_numbers_of_every_kind(tmp_path):
    """Normalised integers, interleaved views, sparse accessors with and without a base."""
    rng = np.random.default_rng(5)
    b, nodes = build_rig(rng, {})
    animation, times = b.animation(), np.arange(8) / 24
    turns = [quats(rng, 8) for _ in range(4)]
    for node, kind, values in zip(nodes, ("i1", "i2", "u1", "u2"), turns, strict=False):
        values = np.abs(values) if kind[0] == "u" else values
        keys = np.round(values * np.iinfo(kind).max)
        output = b.accessor(keys, kind, normalized=True)
        b.channel(animation, node, "rotation", times, output)
    woven = np.zeros((8, 7), "<f4")
    woven[:, 3:] = quats(rng, 8)
    view = b.view(woven.tobytes(), byteStride=28)
    output = b.accessor(woven[:, 3:], bufferView=view, byteOffset=12)
    b.channel(animation, nodes[4], "rotation", times, output)
    path = b.save(tmp_path / "x.glb")
    check_against_reference(path, read_gltf(path), 0, 2e-6)

    base, changed = quats(rng, 8), quats(rng, 2)
    full = base.copy()
    full[[1, 6]] = changed
    for root_only, values in ((full, None), (base, changed)):
        b, nodes = build_rig(np.random.default_rng(6), {})
        output = b.accessor(root_only)
        if values is not None:
            at, new = b.view(np.array([1, 6], "<u2").tobytes()), b.view(values.astype("<f4").tobytes())
            b.json["accessors"][output]["sparse"] = {
                "count": 2,
                "indices": {"bufferView": at, "componentType": 5123},
                "values": {"bufferView": new},
            }
        b.channel(b.animation(), nodes[0], "rotation", times, output)
        clip = read_gltf(b.save(tmp_path / "s.glb")).clip
        np.testing.assert_allclose(rotation.angle(clip.rotations[0, 0], clip.rotations[1, 0]), _angle(full[0], full[1]))


def _angle(a: np.ndarray, b: np.ndarray) -> float:
    return float((Rotation.from_quat(a).inv() * Rotation.from_quat(b)).magnitude())


def test_clips_are_chosen_by_name_short_name_or_number(tmp_path):
    rng = np.random.default_rng(7)
    b, nodes = build_rig(rng, {})
    for name in ("Rig|Walk", None, "Rig|Walk", "2"):
        animate(b, rng, nodes, "LINEAR", name)
    path = b.save(tmp_path / "x.glb")
    assert read_gltf(path).choices == ("Rig|Walk", "clip1", "Rig|Walk.2", "2")
    for wanted, found in ((None, "Rig|Walk"), ("Walk", "Rig|Walk"), ("1", "clip1"), ("2", "2"), ("Rig|Walk.2",) * 2):
        assert read_gltf(path, wanted).clip.name == found
    rejects(lambda: read_gltf(path, "walk"), "'walk'", "Did you mean 'Rig|Walk'")
    rejects(lambda: read_gltf(path, "4"), "'4'")


def test_names_that_are_missing_or_doubled(tmp_path):
    b = Builder()
    nodes = [b.node(name="hand")]
    nodes += [
        b.node(nodes[0], **extra)
        for extra in ({"name": "hand"}, {}, {"name": ""}, {"name": "hand.2"}, {"name": "hand"})
    ]
    b.json["skins"] = [{"joints": nodes}]
    names = read_gltf(b.save(tmp_path / "x.glb")).clip.skeleton.names
    assert names == ("hand", "hand.3", "node2", "node3", "hand.2", "hand.4")


@pytest.mark.parametrize(
    ("keys", "rate", "frames"),
    [
        (np.arange(31) / 30, 30, 31),
        (np.arange(50) / 120 + 0.5, 120, 50),
        ([0.0, 0.4, 1.2, 1.5], 30, 46),  # on a grid of 30 Hz
        ([0.0, 1 / 24, 1.0, 2.0], 24, 49),
        ([0.0, 0.5, 1.0, 3.0], 30, 91),
        (np.arange(9) / 9.7, None, 26),  # on none: 30 Hz or nearly so, both ends kept
        (np.cumsum([0.0, *np.linspace(0.011, 0.017, 40)]), None, 41),
        ([2.0], None, 1),
        ([0.0, 1e-9], None, 1),
    ],
)
def test_frames_lie_on_the_keys_where_they_can(keys, rate, frames, tmp_path):
    rng = np.random.default_rng(8)
    b, nodes = build_rig(rng, {})
    animation = b.animation()
    b.channel(animation, nodes[0], "rotation", keys, quats(rng, len(keys)), "STEP")
    path = b.save(tmp_path / "x.glb")
    recording = read_gltf(path)
    assert len(recording.clip) == pytest.approx(frames, abs=0 if rate else 1)
    assert recording.has_rate == (rate is not None)
    if rate:
        assert recording.clip.fps == pytest.approx(rate, rel=1e-6)
        check_steps(recording.clip, Reference(path), np.asarray(keys), rate)


def check_steps(clip: Clip, reference: Reference, keys: np.ndarray, rate: float) -> None:
    """A step comes with its own frame, not one later."""
    values = reference.array(reference.json["animations"][0]["samplers"][0]["output"])
    rest = Rotation.from_quat(reference.nodes[2]["rotation"])
    for k, frame in enumerate(np.round((keys - keys[0]) * rate).astype(int)):
        expected = (Rotation.from_quat(values[k]) * rest.inv()).as_quat()[[3, 0, 1, 2]]
        assert rotation.angle(clip.rotations[frame, 0], expected) < 1e-5


def test_bones_that_stretch_and_scales_that_move_are_kept_and_told(tmp_path):
    rng = np.random.default_rng(9)
    b, nodes = build_rig(rng, {})
    animation, times = b.animation(), np.arange(5) / 30
    b.channel(animation, nodes[3], "translation", times, np.outer(np.arange(5), [1.0, 0.0, 0.0]))
    b.channel(animation, nodes[2], "scale", times, np.outer(1 + np.arange(5), [1.0, 2.0, 1.0]))
    path = b.save(tmp_path / "x.glb")
    recording = read_gltf(path)
    check_against_reference(path, recording, 0, 1e-6)
    assert [re.sub(r"[\d.]+ units", "N units", w) for w in list_losses(recording)] == [
        "scales: those of joint2 are animated; joints are kept where that puts them.",
        "bones: those to joint3 change in length, by up to N units; that is kept.",
    ]
    b, nodes = build_rig(rng, {"scale": [1.0, 3.0, 1.0]})
    animate(b, rng, nodes, "LINEAR")
    path = b.save(tmp_path / "y.glb")
    recording = read_gltf(path)
    check_against_reference(path, recording, 0, 1e-5)
    assert list_losses(recording) == []


def test_a_steady_scale_and_length_of_the_animation_are_the_bodys(tmp_path):
    """Nodes at rest in metres, keys in centimetres under a scale of 0.01: the keys are what is shown."""
    rng = np.random.default_rng(10)
    b, nodes = build_rig(rng, {})
    animation, times = b.animation(), np.arange(4) / 30
    armature = b.json["nodes"][1]
    assert armature["name"] == "Armature"
    b.channel(animation, 1, "scale", times[:1], [[0.01] * 3])
    for node in nodes:
        b.channel(animation, node, "translation", times[:1], [100 * np.array(b.json["nodes"][node]["translation"]) + 1])
        b.channel(animation, node, "rotation", times, quats(rng, 4))
    path = b.save(tmp_path / "x.glb")
    recording = read_gltf(path)
    check_against_reference(path, recording, 0, 1e-6)
    assert not any("bones" in warning for warning in recording.warnings)


def test_a_pose_that_the_mesh_was_not_bound_in_is_told(tmp_path):
    rng = np.random.default_rng(11)
    b, nodes = build_rig(rng, {})
    b.json["nodes"][nodes[3]]["rotation"] = [0.0, 0.0, 0.0, 1.0]
    path = b.save(tmp_path / "x.glb")
    recording = read_gltf(path)
    assert "bound in another pose" in recording.warnings[0]
    np.testing.assert_allclose(recording.skin.vertices, Reference(path).skinned(), atol=1e-6)


def test_two_bodies_in_one_file(tmp_path):
    """The animated one is read, and the skins of clothes that share its joints are part of it."""
    rng = np.random.default_rng(12)
    b = Builder()
    scene = b.node(name="Scene")
    bodies = []
    for body in range(2):
        root = b.node(scene, name=f"root{body}")
        bodies.append([root, *(b.node(root, name=f"{body}.{i}", translation=[i, 1.0, 0.0]) for i in range(3 - body))])
    b.json["skins"] = [{"joints": bodies[0]}, {"joints": bodies[1][:2]}, {"joints": bodies[1][1:]}]
    b.channel(b.animation(), bodies[1][0], "rotation", [0.0, 0.5], quats(rng, 2))
    recording = read_gltf(b.save(tmp_path / "x.glb"))
    assert recording.clip.skeleton.names == ("root1", "1.0", "1.1")
    assert tuple(list_losses(recording)) == ("bodies: the file holds 2 skinned bodies; the one of skin 1 is read.",)


@pytest.mark.parametrize("mesh", ["lozenges", "mannequin"])
def test_own_files_come_back(mesh, tmp_path):
    rng = np.random.default_rng(13)
    human = make_human(1.75)
    turns = rotation.exp(np.cumsum(rng.normal(size=(90, len(human), 3)) * 0.1, axis=0))
    clip = Clip(human, np.arange(90) / 60, rng.normal(size=(90, 3)), turns, "dance")
    save_glb(clip, tmp_path / "x.glb", build_mannequin(human, 70.0) if mesh == "mannequin" else None)
    recording = read_recording(tmp_path / "x.glb")
    back = recording.clip
    assert back.skeleton.names == human.names and back.name == "dance"
    assert dict(back.skeleton.roles) == dict(human.roles) == dict(recording.roles)
    np.testing.assert_allclose(back.times, clip.times, atol=1e-9)
    np.testing.assert_allclose(back.positions, clip.positions, atol=1e-5)
    assert rotation.angle(back.rotations, clip.rotations).max() < 1e-5
    np.testing.assert_allclose(back.skeleton.tips, human.tips, atol=1e-6)
    assert recording.skin is not None and recording.warnings == ()
    random = random_clip(rng)
    save_glb(random, tmp_path / "r.glb")
    there = read_gltf(tmp_path / "r.glb").clip
    assert there.skeleton.names == random.skeleton.names
    np.testing.assert_allclose(there.positions, random.positions, atol=1e-4)


def test_strips_fans_rigid_parts_and_two_sets_of_weights(tmp_path):
    b = Builder()
    root = b.node(name="root")
    hand = b.node(root, name="hand", translation=[1.0, 0.0, 0.0])
    b.node(hand, name="part", mesh=0, translation=[0.0, 0.5, 0.0])
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 2, 0]], float)
    attributes = {"POSITION": b.accessor(corners)}
    b.json["meshes"] = [{"primitives": [{"attributes": attributes, "mode": mode} for mode in (0, 4, 5, 6)]}]
    b.channel(b.animation(), hand, "rotation", [0.0, 1.0], quats(np.random.default_rng(1), 2))
    recording = read_gltf(b.save(tmp_path / "x.glb"))
    skin = recording.skin
    assert skin.faces.tolist() == [
        [0, 1, 2],
        *([5, 6, 7], [7, 6, 8], [7, 8, 9]),
        *([10, 11, 12], [10, 12, 13], [10, 13, 14]),
    ]
    np.testing.assert_allclose(skin.vertices[:5], corners + [1.0, 0.5, 0.0])
    assert recording.clip.skeleton.names == ("hand",) and not skin.joints.any()

    b, _ = build_rig(np.random.default_rng(2), {})
    attributes = b.json["meshes"][0]["primitives"][0]["attributes"]
    rng = np.random.default_rng(3)
    first, second = rng.uniform(size=(2, 30, 4))
    second[:, :3] *= 0.01
    attributes["WEIGHTS_0"], attributes["WEIGHTS_1"] = b.accessor(first), b.accessor(second)
    attributes["JOINTS_1"] = b.accessor(np.full((30, 4), 6), "u1")
    skin = read_gltf(b.save(tmp_path / "y.glb")).skin
    np.testing.assert_allclose(skin.weights.sum(axis=1), 1)
    strongest = np.sort(np.concatenate([first, second], axis=1), axis=1)[:, -4:]
    np.testing.assert_allclose(
        np.sort(skin.weights, axis=1), strongest / strongest.sum(axis=1, keepdims=True), atol=1e-6
    )


def test_compressed_meshes_cost_the_mesh_and_not_the_motion(tmp_path):
    rng = np.random.default_rng(14)
    b, nodes = build_rig(rng, {})
    animate(b, rng, nodes, "LINEAR")
    b.json["meshes"][0]["primitives"][0]["extensions"] = {"KHR_draco_mesh_compression": {"bufferView": 0}}
    recording = read_gltf(b.save(tmp_path / "x.glb"))
    assert recording.skin is None and "Draco" in recording.warnings[0] and len(recording.clip) == 13
    view = b.json["accessors"][b.json["animations"][0]["samplers"][0]["output"]]["bufferView"]
    b.json["bufferViews"][view]["extensions"] = {"EXT_meshopt_compression": {}}
    with pytest.raises(FileError, match="compressed"):
        read_gltf(b.save(tmp_path / "y.glb"))


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "clip", "frames", "joints", "off"),
    [
        ("gltf/RiggedFigure.glb", None, 76, 19, 1e-5),
        ("gltf/manny_med_mod.gltf", None, 1, 21, 1e-6),
        ("gltf/Med_Simulation.glb", "Lie_Down", 91, 23, 1e-5),
        ("gltf/Med_General.glb", "T-Pose", 2, 23, 1e-6),
        ("gltf/Med_General.glb", "Rig_Medium|PickUp", 40, 23, 1e-5),
        ("vrm/cryptovoxels.vrm", None, 1, 71, 1e-9),
        ("vrm/test.vrma", None, 91, 51, 1e-6),
    ],
)
def test_real_files(name, clip, frames, joints, off):
    path = data_file(name)
    recording = read_gltf(path, clip)
    assert (len(recording.clip), len(recording.clip.skeleton)) == (frames, joints)
    number = recording.choices.index(recording.clip.name) if "animations" in Reference(path).json else None
    check_against_reference(path, recording, number, off)


@pytest.mark.data
def test_real_bodies_are_as_tall_as_they_are():
    for name, tall in (
        ("gltf/RiggedFigure.glb", 1.45),
        ("gltf/manny_med_mod.gltf", 2.2),
        ("vrm/cryptovoxels.vrm", 1.5),
    ):
        skin = read_gltf_rest(data_file(name)).skin
        assert np.ptp(skin.vertices[:, 1]) == pytest.approx(tall, rel=0.01)
    avatar = read_clip(data_file("vrm/cryptovoxels.vrm")).clip.skeleton
    assert estimate_stature(avatar) == pytest.approx(1.5, rel=0.05)
    assert len(read_gltf(data_file("gltf/Med_Simulation.glb")).choices) == 14
    assert len(read_gltf(data_file("gltf/Med_General.glb")).choices) == 15


def test_what_is_unusual_is_told(tmp_path):
    rng = np.random.default_rng(16)
    b, nodes = build_rig(rng, {**ABOVE["blender"], "scale": [0.01] * 3}, skinned=False)
    del b.json["nodes"][nodes[2]]["name"]
    animation = b.animation()
    b.channel(animation, nodes[0], "rotation", [0.0, 1.0], quats(rng, 2), "STEP")
    b.channel(animation, nodes[1], "scale", [0.0, 1.0], [[1.1] * 3] * 2)
    b.animation("other")
    recording = read_gltf(b.save(tmp_path / "x.glb"))
    told = "\n".join(recording.warnings)
    for sentence in (
        "armature: node 'Armature' above the joints turns them by 90 degrees and scales them by 0.01; that is kept.",
        "rest axes: joints are turned at rest, '",
        "names: joints without a name of their own are called node4.",
        "names: the animation has none; it is called clip0.",
        "clips: the file holds 2; choose one with --clip.",
        "keys: the motion has 2 keys; what is between them is sampled at 30 Hz.",
        "keys: 1 of 2 channels jump from key to key (STEP).",
        "keys: the scale of 1 nodes has keys.",
        "mesh: the file has none; it holds motion only.",
    ):
        assert sentence in told


def test_the_text_form_may_begin_with_a_mark_and_have_its_buffer_beside_it(tmp_path):
    rng = np.random.default_rng(15)
    b, nodes = build_rig(rng, {})
    animate(b, rng, nodes, "LINEAR")
    (tmp_path / "sub dir").mkdir()
    (tmp_path / "sub dir" / "x.bin").write_bytes(bytes(b.data))
    document = b.document()
    document["buffers"][0]["uri"] = "sub%20dir/x.bin"
    (tmp_path / "x.gltf").write_bytes(b"\xef\xbb\xbf" + json.dumps(document).encode())
    b.save(tmp_path / "x.glb")
    texts, binary = read_gltf(tmp_path / "x.gltf").clip, read_gltf(tmp_path / "x.glb").clip
    np.testing.assert_array_equal(texts.positions, binary.positions)

"""VRM 0.x, VRM 1.0 and VRM animations: the bones that the file names."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from helpers.bodies import make_human
from helpers.errors import rejects
from helpers.files.gltf import Builder, Reference
from helpers.recordings import data_file
from poise.body.roles import ROLES
from poise.errors import FileError
from poise.files.formats.gltf.read import read_gltf


def build_avatar() -> tuple[Builder, dict[str, int]]:
    """A human under two nodes, with names that say nothing, a skinned hair joint and a node that is no bone."""
    human = make_human(1.6)
    b = Builder()
    armature = b.node(b.node(name="Root"), name="Armature")
    nodes: dict[str, int] = {}
    for i, name in enumerate(human.names):
        parent = armature if i == 0 else nodes[human.names[human.parents[i]]]
        nodes[name] = b.node(parent, name=f"bone {i}", translation=human.offsets[i])
    for i, bone in enumerate(("Metacarpal", "Proximal", "Distal")):
        parent = nodes["leftHand"] if i == 0 else nodes[f"leftThumb{('Metacarpal', 'Proximal')[i - 1]}"]
        nodes[f"leftThumb{bone}"] = b.node(parent, name=f"thumb {i}", translation=[0.02, 0.0, 0.01])
    hair = b.node(nodes["head"], name="hair", translation=[0.0, 0.2, 0.0])
    b.node(armature, name="secondary")
    b.json["skins"] = [{"joints": [*nodes.values(), hair]}]
    return b, nodes


def add_extension(b: Builder, nodes: dict[str, int], kind: str) -> None:
    bones = {role: {"node": node} for role, node in nodes.items()}
    if kind == "VRM":
        old = {"leftThumbMetacarpal": "leftThumbProximal", "leftThumbProximal": "leftThumbIntermediate"}
        listed = [{"bone": old.get(role, role), "node": node} for role, node in nodes.items()]
        b.json["extensions"] = {"VRM": {"humanoid": {"humanBones": listed}}}
    else:
        b.json["extensions"] = {kind: {"specVersion": "1.0", "humanoid": {"humanBones": bones}}}


@pytest.mark.parametrize(
    ("kind", "format"), [("VRM", "VRM 0.x"), ("VRMC_vrm", "VRM 1.0"), ("VRMC_vrm_animation", "VRM animation")]
)
def test_roles_are_the_files_own(kind, format, tmp_path):
    b, nodes = build_avatar()
    add_extension(b, nodes, kind)
    turns = Rotation.random(5, random_state=1).as_quat()
    b.channel(b.animation(), nodes["hips"], "rotation", np.arange(5) / 30, turns)
    recording = read_gltf(b.save(tmp_path / "x.vrm"))
    assert recording.format == format and recording.unit == 1.0 and recording.up == "Y"
    names = {node: b.json["nodes"][node]["name"] for node in nodes.values()}
    assert dict(recording.roles) == {role: names[node] for role, node in nodes.items()}
    assert recording.clip.skeleton.roles == recording.roles
    assert recording.clip.skeleton.names[0] == "bone 0" and "hair" in recording.clip.skeleton.names
    assert not {"secondary", "Armature", "Root"} & set(recording.clip.skeleton.names)


def test_a_node_for_two_bones_and_bones_that_are_no_bones(tmp_path):
    b, nodes = build_avatar()
    add_extension(b, {**nodes, "leftEye": nodes["head"]}, "VRMC_vrm")
    with pytest.raises(FileError, match="gives one node to two bones"):
        read_gltf(b.save(tmp_path / "x.vrm"))
    add_extension(b, {**nodes, "tail": 0}, "VRM")
    assert set(read_gltf(b.save(tmp_path / "x.vrm")).roles) == set(nodes)
    b.json["extensions"]["VRM"]["humanoid"]["humanBones"][0]["node"] = 99
    rejects(lambda: read_gltf(b.save(tmp_path / "x.vrm")), "0", "'node'", "99", error=FileError)


@pytest.mark.data
def test_a_real_avatar_faces_minus_z_and_keeps_its_end_joints():
    recording = read_gltf(data_file("vrm/cryptovoxels.vrm"))
    skeleton = recording.clip.skeleton
    assert recording.format == "VRM 0.x" and len(recording.roles) == 43
    assert set(recording.roles) <= set(ROLES)
    rest = skeleton.rest_positions()
    toes, ankle = (rest[skeleton.index(f"left{part}")] for part in ("Toes", "Foot"))
    assert toes[2] - ankle[2] < -0.05
    assert rest[skeleton.index("leftHand"), 0] < -0.5  # facing -Z, its left is -X
    assert {"Left toe_end", "RingFinger3_R_End", "RingFinger3_R_End_end"} <= set(skeleton.names)


@pytest.mark.data
def test_a_real_animation_whose_bones_turn_at_rest():
    path = data_file("vrm/test.vrma")
    recording = read_gltf(path)
    assert recording.format == "VRM animation" and len(recording.roles) == 51
    rest = recording.clip.skeleton.rest_positions()
    index = recording.clip.skeleton.index
    assert rest[index("head"), 1] > rest[index("hips"), 1] + 0.5 and rest[index("leftHand"), 0] > 0.5
    reference = Reference(path)
    for time in (0.0, 0.5, 1.7, 3.0):
        f = round(time * 30)
        expected = reference.positions(recording.clip.skeleton.names, 0, time)
        np.testing.assert_allclose(recording.clip.positions[f], expected, atol=1e-6)

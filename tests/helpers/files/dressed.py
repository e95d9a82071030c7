"""Dressed characters for tests: textured, multi-mesh glTF and VRM files; and what differs between two such files."""

from __future__ import annotations

import base64
import copy
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from helpers.bodies import make_human
from helpers.files.gltf import Builder, pack
from poise import Clip, rotation
from poise.body.geometry.mannequin import build_mannequin
from poise.files.formats.gltf.write import format_glb

FPS, SECONDS = 30.0, 1.0
OLD = ["idle", "blink", "nod", None]  # names of the animations of a dressed character
_QUARTER = [0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)]  # xyzw: 90 degrees about z


def make_idle(stature: float = 1.75) -> Clip:
    """A person who stands and swings an arm a little."""
    human = make_human(stature, arms_down=True)
    times = np.arange(round(SECONDS * FPS) + 1) / FPS
    turns = rotation.identity((len(times), len(human)))
    swing = np.outer(0.3 * np.sin(2.0 * np.pi * times), [0.0, 0.0, 1.0])
    turns[:, human.index("rightLowerArm")] = rotation.exp(swing)
    root = np.tile(human.rest_positions()[0], (len(times), 1))
    return Clip(human, times, root, turns, "idle")


def make_png(size: int = 8) -> bytes:
    """A chequered picture of red and green squares."""
    rows = b"".join(
        b"\0" + b"".join(b"\xe0\x30\x20" if (x + y) % 2 else b"\x20\xa0\x40" for x in range(size)) for y in range(size)
    )

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def dress(vrm: int | None = None) -> Builder:
    """A person with two textured skinned meshes, glasses, a face, a camera, a lamp, extensions and four animations.

    vrm  0 or 1: with that version's extension
    """
    data = format_glb(make_idle(), build_mannequin(make_human(arms_down=True), 70.0), "idle")
    (length,) = struct.unpack_from("<I", data, 12)
    b = Builder()
    b.json = json.loads(data[20 : 20 + length])
    b.data = bytearray(data[28 + length :][: b.json.pop("buffers")[0]["byteLength"]])
    b.json["asset"] = {
        "version": "2.0", "generator": "dresser 1.0", "copyright": "(c) somebody", "extras": {"rights": [1, None]},
    }  # fmt: skip
    for node in b.json["nodes"]:
        node.pop("extras", None)
    _paint(b)
    _add_meshes(b)
    _add_animations(b)
    b.json["extras"] = {"shop": "π ✓", "numbers": [0.1, 1e-7, -0.0, 12345678901234567890]}
    b.json["extensionsUsed"] = ["ACME_hair", "KHR_lights_punctual", "KHR_materials_unlit", "KHR_texture_transform"]
    b.json["extensionsRequired"] = ["ACME_hair"]
    b.json["extensions"] = {
        "ACME_hair": {"strands": [{"root": find_node(b, "head"), "bufferView": b.view(b"hair" * 5)}]},
        "KHR_lights_punctual": {"lights": [{"type": "point", "intensity": 3.5, "color": [1, 0.5, 0]}]},
    }
    if vrm is not None:
        _add_vrm(b, vrm)
    return b


def find_node(b: Builder, name: str) -> int:
    return next(i for i, node in enumerate(b.json["nodes"]) if node.get("name") == name)


def _paint(b: Builder) -> None:
    """Pictures inside the buffer and as text; materials with extensions; texture coordinates and colours."""
    inside = b.view(make_png())
    text = "data:image/png;base64," + base64.b64encode(make_png(4)).decode()
    b.json["images"] = [{"bufferView": inside, "mimeType": "image/png", "name": "cloth"}, {"uri": text}]
    b.json["samplers"] = [{"magFilter": 9728, "wrapS": 33071}]
    b.json["textures"] = [{"source": 0, "sampler": 0}, {"source": 1}]
    moved = {"KHR_texture_transform": {"offset": [0.25, 0.5], "rotation": 0.5, "scale": [4, 4]}}
    b.json["materials"] = [
        {
            "name": "Cloth", "doubleSided": True, "extras": {"wash": 40},
            "pbrMetallicRoughness": {"baseColorTexture": {"index": 0, "extensions": moved}, "metallicFactor": 0.0},
        },
        {
            "name": "Hat", "alphaMode": "MASK", "alphaCutoff": 0.25, "extensions": {"KHR_materials_unlit": {}},
            "pbrMetallicRoughness": {"baseColorTexture": {"index": 1}, "baseColorFactor": [1, 1, 0.5, 1]},
        },
    ]  # fmt: skip
    primitive = b.json["meshes"][0]["primitives"][0]
    count = b.json["accessors"][primitive["attributes"]["POSITION"]]["count"]
    rng = np.random.default_rng(1)
    primitive["attributes"]["TEXCOORD_0"] = b.accessor(rng.uniform(size=(count, 2)))
    primitive["attributes"]["COLOR_0"] = b.accessor(np.full((count, 4), 255), "u1", normalized=True)
    which, rows = b.view(np.array([3, 7], "<u2").tobytes()), b.view(np.full((2, 3), 0.01, "<f4").tobytes())
    sparse = {"count": 2, "indices": {"bufferView": which, "componentType": 5123}, "values": {"bufferView": rows}}
    b.json["accessors"].append(
        {"componentType": 5126, "count": count, "type": "VEC3", "sparse": sparse, "min": [0] * 3, "max": [0.01] * 3}
    )
    primitive["targets"] = [{"POSITION": len(b.json["accessors"]) - 1}]
    b.json["meshes"][0] |= {"weights": [0.1], "extras": {"targetNames": ["blink"]}}


def _add_meshes(b: Builder) -> None:
    """A skinned hat on the same skeleton, glasses that hang on the head as they are, a camera and a lamp."""
    body = b.json["meshes"][0]["primitives"][0]
    hat = {"attributes": dict(body["attributes"]), "indices": body["indices"], "material": 1}
    corners = b.accessor(np.array([[0.0, 0, 0.1], [0.1, 0, 0.1], [0, 0.1, 0.1]]))
    b.json["meshes"] += [
        {"name": "Hat", "primitives": [hat]},
        {"name": "Glasses", "primitives": [{"attributes": {"POSITION": corners}, "extras": {"glass": True}}]},
    ]
    b.json["cameras"] = [{"type": "perspective", "perspective": {"yfov": 1.0, "znear": 0.1}, "name": "Face camera"}]
    b.node(0, name="hat", mesh=1, skin=0)
    b.node(find_node(b, "head"), name="glasses", mesh=2, translation=[0.0, 0.1, 0.0], rotation=_QUARTER)
    b.node(find_node(b, "head"), name="camera", camera=0, matrix=np.eye(4).ravel())
    b.node(0, name="lamp", extensions={"KHR_lights_punctual": {"light": 0}}, extras={"on": 1})
    b.json["scenes"].append({"name": "empty", "extras": {}})


def _add_animations(b: Builder) -> None:
    """After the idle one: weights that jump, a spline, and one without a name that moves the glasses."""
    face = next(i for i, node in enumerate(b.json["nodes"]) if node.get("mesh") == 0)
    b.channel(b.animation("blink"), face, "weights", [0.0, 0.5], [[0.0], [1.0]], "STEP")
    keys = np.tile([0.0, 0.0, 0.0, 0.0], (6, 1))
    keys[1::3] = [[0.0, 0, 0, 1.0], [0.1, 0, 0, np.sqrt(0.99)]]
    b.channel(b.animation("nod"), find_node(b, "head"), "rotation", [0.0, 1.0], keys, "CUBICSPLINE")
    b.channel(b.animation(), find_node(b, "glasses"), "translation", [0.0, 1.0], [[0.0, 0.1, 0], [0, 0.2, 0]])


def _add_vrm(b: Builder, version: int) -> None:
    bones = {role: find_node(b, role) for role in make_human().names}
    head = bones["head"]
    if version == 0:
        b.json["extensionsUsed"].append("VRM")
        b.json["extensions"]["VRM"] = {
            "exporterVersion": "test", "specVersion": "0.0", "meta": {"title": "Dressed", "texture": 0},
            "humanoid": {"humanBones": [{"bone": role, "node": node} for role, node in bones.items()]},
            "firstPerson": {"firstPersonBone": head, "meshAnnotations": [{"mesh": 0, "firstPersonFlag": "Auto"}]},
            "blendShapeMaster": {"blendShapeGroups": [{"name": "Blink", "binds": [{"mesh": 0, "index": 0}]}]},
            "secondaryAnimation": {"boneGroups": [{"bones": [head], "stiffiness": 1.0}], "colliderGroups": []},
            "materialProperties": [{"name": "Cloth", "shader": "VRM/MToon"}, {"name": "Hat", "shader": "VRM/MToon"}],
        }  # fmt: skip
    else:
        b.json["extensionsUsed"] += ["VRMC_vrm", "VRMC_springBone"]
        face = next(i for i, node in enumerate(b.json["nodes"]) if node.get("mesh") == 0)
        b.json["extensions"]["VRMC_vrm"] = {
            "specVersion": "1.0", "meta": {"name": "Dressed", "authors": ["a"], "licenseUrl": "https://vrm.dev"},
            "humanoid": {"humanBones": {role: {"node": node} for role, node in bones.items()}},
            "firstPerson": {"meshAnnotations": [{"node": face, "type": "auto"}]},
            "expressions": {"preset": {"blink": {"morphTargetBinds": [{"node": face, "index": 0, "weight": 1.0}]}}},
        }  # fmt: skip
        b.json["extensions"]["VRMC_springBone"] = {"specVersion": "1.0", "springs": [{"joints": [{"node": head}]}]}


def save_beside(b: Builder, path: Path) -> Path:
    """As .gltf whose buffers and first picture lie in files beside it, the picture's data in a second buffer too."""
    document = copy.deepcopy(b.document())
    folder = path.parent
    (folder / "body.bin").write_bytes(bytes(b.data))
    (folder / "the cloth.png").write_bytes(make_png())
    (folder / "more.bin").write_bytes(b"12345" + make_png(4))
    document["buffers"] = [
        {"byteLength": len(b.data), "uri": "body.bin"},
        {"byteLength": 5 + len(make_png(4)), "uri": "more.bin"},
    ]
    document["bufferViews"].append({"buffer": 1, "byteOffset": 5, "byteLength": len(make_png(4))})
    document["images"] = [
        {"uri": "the%20cloth.png", "name": "cloth"},
        {"bufferView": len(document["bufferViews"]) - 1, "mimeType": "image/png"},
    ]
    path.write_text(json.dumps(document))
    return path


def split(path: Path) -> tuple[dict[str, Any], bytes]:
    """The JSON and the binary part of a GLB."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    return json.loads(data[20 : 20 + length]), data[28 + length :]


def find_changes(before: Path, after: Path) -> list[str]:
    """What differs between two GLB files, other than a new first animation and what belongs to it."""
    (old, old_data), (new, new_data) = split(before), split(after)
    changed = []
    for key in sorted({*old, *new} - {"animations", "accessors", "bufferViews", "buffers"}):
        if json.dumps(old.get(key)) != json.dumps(new.get(key)):  # text, so that 1 is not 1.0
            changed.append(key)
    for key in ("accessors", "bufferViews"):
        if json.dumps(new[key][: len(old[key])]) != json.dumps(old[key]):
            changed.append(key)
    if json.dumps(new["animations"][1:]) != json.dumps(old.get("animations", [])):
        changed.append("animations")
    size = old["buffers"][0]["byteLength"]
    if new_data[:size] != old_data[:size] or len(new["buffers"]) != 1:
        changed.append("buffers")
    return changed


def save_dressed(path: Path, vrm: int | None = None) -> Path:
    b = dress(vrm)
    path.write_bytes(pack(b.document(), bytes(b.data)))
    return path

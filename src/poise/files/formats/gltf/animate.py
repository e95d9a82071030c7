"""A motion written onto the user's own character: its file as it was, with a new first animation.

Meshes, materials, textures, extensions, the order of nodes and every other part stay as they are; the file's own
animations follow the new one. The animation is in terms of the file's own nodes, their rest rotations and the scales
and turns of what stands above them:

    D, p   a joint's turn since rest and its place, in the axes of the world     (what a clip has)
    W0     the world matrix of its node at rest, s the node's own scale
    P, o   the world matrix of the node's parent as it is by then, and its origin
    r = P^-1 D W0 s^-1,  t = P^-1 (p - o)                                        (what the node is given)

Under scales that differ by axis r is the nearest rotation; every joint is in its place all the same.

A node is given a translation where its joint slides on its bone, or the clip's bone is not the file's.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poise.body.geometry.skin import SkinnedMesh
from poise.errors import FileError, InputError
from poise.files.formats.gltf.document import Document, read_uri
from poise.files.formats.gltf.entry import JsonObject
from poise.files.formats.gltf.pose import to_turns
from poise.files.formats.gltf.read import GltfSource, list_clips, read_gltf_rest
from poise.files.formats.gltf.write import CLAY, GltfBuffer, build_animation, build_material, build_primitive, pack_glb
from poise.files.input import stem_of
from poise.files.output import write_bytes
from poise.files.reading.pipeline import Reading, interpret
from poise.files.reading.reframe import Reframe
from poise.motion.clip import Clip
from poise.spatial import rotation

# Bones of clip and character may differ by this part of the body's size: more, and the clip is another body's.
_OTHER_BODY = 0.05
_SAME = 2e-5  # of the body's size: as in pose
SUFFIXES = (".glb", ".vrm")
_PICTURES = (
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"RIFF", "image/webp"),
    (b"\xabKTX 20\xbb", "image/ktx2"),
    (b"DDS ", "image/vnd-ms.dds"),
)


def save_on_character(
    clip: Clip,
    source: str | PathLike[str] | Reading,
    path: str | PathLike[str],
    name: str | None = None,
    in_meters: bool = False,
    body: SkinnedMesh | None = None,
) -> None:
    """Write a motion of a character onto the file that the character is from, as GLB.

    clip       of the character's skeleton, in metres as `load_character` gives it; joints are found by name, else by
               role. Joints that the clip does not have rest. A clip of another body must be retargeted first
    source     the .glb, .gltf or .vrm, or how it was read (where scale or up axis were given)
    path       .glb, or .vrm if the source is a VRM character
    name       of the animation; if None the clip's own, or the file's where the source has one of that name
    body       a mesh of the clip's skeleton at rest, m, that is added to the file
    in_meters  put a node above the scene, if needed, that scales and turns it to metres, Y up, facing +Z
    """
    reading = source if isinstance(source, Reading) else interpret(read_gltf_rest(source))
    found = reading.recording.source
    if not isinstance(found, GltfSource):
        raise InputError(f"'{reading.recording.path}' is not a glTF or VRM file, so nothing can be written onto it.")
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"a character must be written as {' or '.join(SUFFIXES)}; got '{suffix}'. Change the suffix.")
    if suffix == ".vrm" and not _is_vrm(found.document):
        raise InputError(
            f"a .vrm file must hold a VRM character; '{reading.recording.path}' is not one. Write a .glb instead."
        )
    try:
        channels = list(compute_channels(clip, reading, found))
    except np.linalg.LinAlgError:
        raise InputError(f"'{reading.recording.path}' has joints under a node that is scaled to nothing.") from None
    frame = reading.placement.frame if in_meters else None
    name = name or choose_name(clip.name or stem_of(path), stem_of(path), reading)
    added = None if body is None else _bind(body, clip, reading, found)
    write_bytes(path, format_on_document(clip, found, channels, name, frame, added))


def save_vrm(clip: Clip, path: str | PathLike[str]) -> None:
    """Refuse to write a motion without a character as VRM: the format needs one, and its author's licence."""
    raise InputError(
        f"'{path}': a .vrm file must hold a VRM character, and this motion has none. Write a .glb, or put it on a .vrm "
        "character."
    )


def choose_name(name: str, other: str, reading: Reading) -> str:
    """The name of a new animation: the first of two that no animation of the file has, else the other one numbered."""
    taken = list_own_animations(reading)
    numbered = (f"{other} {number}" for number in itertools.count(2))
    return next(each for each in itertools.chain((name, other), numbered) if each not in taken)


def list_own_animations(reading: Reading) -> tuple[str, ...]:
    """Names of the animations that a character's own file has, which stay behind a new one."""
    source = reading.recording.source
    return list_clips(source.document) if isinstance(source, GltfSource) else ()


def format_on_document(
    clip: Clip,
    source: GltfSource,
    channels: list[tuple[int, str, np.ndarray]],
    name: str,
    frame: Reframe | None = None,
    body: _BoundBody | None = None,
) -> bytes:
    """Return a GLB: the document with a new first animation of these channels (node, path, keys) at the clip's times.

    frame  from the document's units and axes to those that it should be shown in; None if they stay
    body   a mesh to add
    """
    document = copy.deepcopy(source.document.top.plain)
    file = _gather(source.document, document)
    for node in {node for node, _, _ in channels}:
        _separate(document["nodes"][node], source, node)
    if frame is not None:
        _place(document, source, frame)
    if body is not None:
        _add_body(document, file, body, name)
    animation = build_animation(file, name, clip.times, channels)
    document["animations"] = [animation, *(document.get("animations") or [])]
    document["accessors"], document["bufferViews"] = file.accessors, file.views
    document["buffers"][0]["byteLength"] = len(file.data)
    return pack_glb(document, bytes(file.data))


def compute_channels(clip: Clip, reading: Reading, source: GltfSource) -> Iterator[tuple[int, str, np.ndarray]]:
    """(node, path, keys) of all nodes that a clip moves, in their own local terms."""
    fit = _fit(clip, reading)
    nodes, rig = source.nodes, source.rig
    rest = nodes.world[list(rig.joints), :3, 3]
    size = float(np.ptp(rest, axis=0).max())
    positions, turns = fit.clip.world
    top = next(j for j, own in enumerate(fit.joints) if own is not None)
    # Each joint's world matrix and origin as they will be, so that what follows makes up for what a node cannot do.
    base = nodes.world[nodes.parents[rig.joints[0]]] if nodes.parents[rig.joints[0]] >= 0 else np.eye(4)
    worlds = {-1: (base[None, :3, :3], base[None, :3, 3])}
    for j, (node, own) in enumerate(zip(rig.joints, fit.joints, strict=True)):
        parent = int(rig.parents[j])
        above, origin = worlds[parent]
        back = np.linalg.inv(above)
        offset, linear = nodes.translations[node][None], nodes.linear[node][None]
        if j == 0 or (own is not None and fit.joints[parent] is not None):
            # Joints over the first that moves rest, so that they keep their distance to it.
            place = positions[:, fit.joints[top]] - (rest[top] - rest[0]) if j == 0 else positions[:, own]
            local = (back @ (place - origin)[:, :, None])[:, :, 0]
            off = np.linalg.norm((above @ (local - offset)[:, :, None])[:, :, 0], axis=1)
            if j == 0 or float(off.max()) > _SAME * size:
                offset = local
                yield node, "translation", local
        if own is not None:
            scales = np.where(nodes.scales[node] == 0.0, 1.0, nodes.scales[node])
            turned = back @ rotation.to_matrix(turns[:, own]) @ nodes.world[node, :3, :3] / scales
            keys = rotation.make_continuous(to_turns(turned))
            linear = rotation.to_matrix(keys) * nodes.scales[node]
            yield node, "rotation", keys
        worlds[j] = above @ linear, origin + (above @ offset[:, :, None])[:, :, 0]


@dataclass(frozen=True, eq=False)
class _Fit:
    """A clip in the file's coordinates, and for each joint of the file the clip's joint, None where it has none."""

    clip: Clip
    joints: tuple[int | None, ...]

    def bone(self, parent: int, joint: int) -> np.ndarray:
        """(3,) the clip's rest vector between two of the file's joints, in the file's units and axes."""
        places = self.clip.skeleton.rest_positions()
        return np.asarray(places[self.joints[joint]] - places[self.joints[parent]])


def _fit(clip: Clip, reading: Reading) -> _Fit:
    """Which joint is which, checked: the bones must be those of the character."""
    file, known = reading.recording.clip.skeleton, clip.skeleton
    role_of = {joint: role for role, joint in reading.clip.skeleton.roles.items()}
    place = {name: i for i, name in enumerate(known.names)}
    by_role = {role: place[name] for role, name in known.roles.items()}
    joints = tuple(place.get(name, by_role.get(role_of.get(name, ""))) for name in file.names)
    fit = _Fit(reading.placement.to_file(clip), joints)
    if all(own is None for own in joints):
        raise InputError(
            f"the clip has no joint of this character: its joints are {', '.join(known.names[:6])}, ...; the "
            f"character's are {', '.join(file.names[:6])}, .... Retarget the clip onto it first."
        )
    size = float(np.ptp(file.rest_positions(), axis=0).max())
    for j, parent in enumerate(file.parents):
        if parent < 0 or joints[j] is None or joints[parent] is None:
            continue
        off = float(np.linalg.norm(fit.bone(int(parent), j) - file.offsets[j]))
        if off > _OTHER_BODY * size:
            raise InputError(
                f"the bone to '{file.names[j]}' rests elsewhere in the clip than in the character, by {off / size:.0%} "
                "of its size. The clip is of another body: retarget it onto this one first."
            )
    return fit


@dataclass(frozen=True, eq=False)
class _BoundBody:
    """A mesh at rest, m; the nodes that its joints are, and (J, 4, 4) from its space to theirs."""

    skin: SkinnedMesh
    nodes: tuple[int, ...]
    inverse_binds: np.ndarray


def _bind(body: SkinnedMesh, clip: Clip, reading: Reading, source: GltfSource) -> _BoundBody | None:
    """Bind a mesh of a clip's skeleton to the nodes of the file; None if some of the clip's joints are not there.

    A point v of a joint whose orientation is W in the clip, and D in the file, is at p + D D0^-1 A^-1 v / scale there:
    D0 is D at W = 1, and A the turn of the file's axes into the clip's.
    """
    skeleton, place = clip.skeleton, reading.placement
    node_of = dict(zip(_fit(clip, reading).joints, source.rig.joints, strict=True))
    if any(joint not in node_of for joint in range(len(skeleton))):
        return None
    nodes = tuple(node_of[joint] for joint in range(len(skeleton)))
    rest = skeleton.rest_positions()
    still = place.to_file(Clip(skeleton, np.zeros(1), rest[:1], rotation.identity((1, len(skeleton)))))
    turn = rotation.multiply(place.frame.world, still.world[1][0])  # A D0, so that its inverse is D0^-1 A^-1
    binds = np.tile(np.eye(4), (len(skeleton), 1, 1))
    binds[:, :3, :3] = np.linalg.inv(rotation.to_matrix(turn) @ source.nodes.world[list(nodes), :3, :3]) / place.scale
    binds[:, :3, 3] = -np.einsum("jab,jb->ja", binds[:, :3, :3], rest)
    return _BoundBody(body, nodes, binds)


def _add_body(document: dict[str, Any], file: GltfBuffer, body: _BoundBody, name: str) -> None:
    """Add a mesh, its skin, its material and a node to a document."""
    lists = {key: document.setdefault(key, []) for key in ("meshes", "materials", "skins")}
    matrices = file.add(body.inverse_binds.transpose(0, 2, 1).reshape(-1, 16).astype(np.float32))
    primitive = build_primitive(file, body.skin, np.zeros(3), len(lists["materials"]))
    node = {"name": f"{name} body", "mesh": len(lists["meshes"]), "skin": len(lists["skins"])}
    lists["meshes"].append({"name": f"{name} body", "primitives": [primitive]})
    lists["materials"].append(build_material("Mannequin", CLAY))
    lists["skins"].append({"name": name, "inverseBindMatrices": matrices, "joints": list(body.nodes)})
    document["nodes"].append(node)
    scenes = document.setdefault("scenes", [{}])
    scenes[document.setdefault("scene", 0)].setdefault("nodes", []).append(len(document["nodes"]) - 1)


def _gather(source: Document, document: dict[str, Any]) -> GltfBuffer:
    """Join all buffers of a document, and pictures that lie beside it, into one; views of `document` follow.

    Buffers without data, which stand in for compressed ones, stay behind it.
    """
    views = document.get("bufferViews") or []
    data, moved = _join_buffers(source, document)
    for view, entry in zip(views, source.views, strict=True):
        for place in (view, *_list_extensions(view)):  # a compressed view names the buffer that it is in as well
            if isinstance(place.get("buffer"), int | float):
                number, start = moved[JsonObject(entry.path, entry.what, place).index("buffer", len(moved))]
                if number != place["buffer"]:
                    place["buffer"] = number
                if start:
                    place["byteOffset"] = JsonObject(entry.path, entry.what, place).integer("byteOffset", 0) + start
    file = GltfBuffer(data, views, document.get("accessors") or [])
    for picture, entry in zip(document.get("images") or [], source.top.entries("images", "image"), strict=True):
        _embed(file, picture, entry)
    return file


def _join_buffers(source: Document, document: dict[str, Any]) -> tuple[bytes, list[tuple[int, int]]]:
    """Join the buffers that have data into the first; return it, and each buffer's new number and its begin there."""
    own, data, kept = document.get("buffers") or [], bytearray(), list[dict[str, Any]]([{}])
    moved: list[tuple[int, int]] = []
    for i, buffer in enumerate(source.buffers):
        if buffer.plain.get("uri") is None and (i > 0 or source.binary is None):
            moved.append((len(kept), 0))
            kept.append(own[i])
            continue
        if not data:
            kept[0] = {key: value for key, value in own[i].items() if key != "uri"}
        data += b"\0" * (-len(data) % 8)
        moved.append((0, len(data)))
        data += source.read_buffer(i)[: buffer.integer("byteLength")]
    document["buffers"] = kept
    return bytes(data), moved


def _list_extensions(entry: dict[str, Any]) -> list[dict[str, Any]]:
    extensions = entry.get("extensions")
    return [each for each in extensions.values() if isinstance(each, dict)] if isinstance(extensions, dict) else []


def _embed(file: GltfBuffer, picture: dict[str, Any], entry: JsonObject) -> None:
    """Put a picture that lies beside the file into it. One that is not there, or inside already, stays as it is."""
    uri = picture.get("uri")
    if not isinstance(uri, str) or uri.startswith("data:"):
        return
    try:
        data = read_uri(entry, uri)
    except FileError:
        return
    kind = next((kind for magic, kind in _PICTURES if data.startswith(magic)), picture.get("mimeType"))
    if isinstance(kind, str):
        del picture["uri"]
        picture.update({"bufferView": file.add_view(data), "mimeType": kind})


def _place(document: dict[str, Any], source: GltfSource, frame: Reframe) -> None:
    """Put a node above each node without parent that scales and turns it, unless that would change nothing."""
    turn = rotation.make_continuous(np.stack([rotation.identity(), frame.world]))[1]
    if abs(frame.scale - 1.0) < _SAME and np.abs(turn - rotation.identity()).max() < _SAME:
        return
    carrier = {"name": "metres", "rotation": turn[[1, 2, 3, 0]].tolist(), "scale": [frame.scale] * 3}
    carriers = {}
    for root in np.flatnonzero(source.nodes.parents < 0):
        carriers[int(root)] = len(document["nodes"])
        document["nodes"].append({**carrier, "children": [int(root)]})
    for scene in document.get("scenes") or []:
        if scene.get("nodes"):
            scene["nodes"] = [carriers[int(root)] for root in scene["nodes"]]


def _is_vrm(document: Document) -> bool:
    return any(document.top.extension(name) is not None for name in ("VRM", "VRMC_vrm"))


def _separate(node: dict[str, Any], source: GltfSource, index: int) -> None:
    """Give a node with a matrix its translation, rotation and scale instead: only these can be animated."""
    if node.pop("matrix", None) is not None:
        nodes = source.nodes
        node["translation"] = nodes.translations[index].tolist()
        node["rotation"] = nodes.rotations[index][[1, 2, 3, 0]].tolist()
        node["scale"] = nodes.scales[index].tolist()

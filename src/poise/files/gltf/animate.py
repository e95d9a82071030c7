"""A motion written onto the user's own character: its file as it was, with an animation added.

Meshes, materials, textures, names and every other part stay as they are; so do other animations. The animation is in
terms of the file's own nodes, their rest rotations and the scales and turns of what stands above them:

    D, p   a joint's turn since rest and its place, in the axes of the world     (what a clip has)
    W0     the world matrix of its node at rest, s the node's own scale
    P, o   the world matrix of the node's parent as it is by then, and its origin
    r = P^-1 D W0 s^-1,  t = P^-1 (p - o)                                        (what the node is given)

Under scales that differ by axis r is the nearest rotation; every joint is in its place all the same.

A node is given a translation where its joint slides on its bone, or the clip's bone is not the file's.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poise.errors import FileError, InputError
from poise.files.atomic import write_bytes
from poise.files.gltf.buffer import GltfBuffer, build_animation, pack_glb
from poise.files.gltf.document import Document, read_uri
from poise.files.gltf.entry import JsonObject
from poise.files.gltf.pose import to_turns
from poise.files.gltf.reading import GltfSource, read_gltf_rest
from poise.files.naming import stem_of
from poise.files.normalise import Reading, normalise
from poise.files.placement import find_placement
from poise.motion.clip import Clip
from poise.spatial import rotation

# Bones of clip and character may differ by this part of the body's size: more, and the clip is another body's.
_OTHER_BODY = 0.05
_SAME = 2e-5  # of the body's size: as in pose
_PICTURES = ((b"\x89PNG", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"RIFF", "image/webp"))


def save_on_character(
    clip: Clip, source: str | PathLike[str] | Reading, path: str | PathLike[str], name: str | None = None
) -> None:
    """Write a motion of a character onto the file that the character is from, as GLB.

    clip    of the character's skeleton, in metres as `load_character` gives it; joints are found by name, else by role.
            Joints that the clip does not have rest. A clip of another body must be retargeted first
    source  the .glb, .gltf or .vrm, or how it was read (where scale or up axis were given)
    name    of the animation, which replaces one of the same name; the clip's own, or the file's, if None
    """
    if Path(path).suffix.lower() != ".glb":
        raise InputError(f"a character is written as .glb; '{Path(path).suffix}' was asked for. Change the suffix.")
    reading = source if isinstance(source, Reading) else normalise(read_gltf_rest(source))
    found = reading.recording.source
    if not isinstance(found, GltfSource):
        raise InputError(f"'{reading.recording.path}' is not a glTF or VRM file, so nothing can be written onto it.")
    try:
        channels = list(compute_channels(clip, reading, found))
    except np.linalg.LinAlgError:
        raise InputError(f"'{reading.recording.path}' has joints under a node that is scaled to nothing.") from None
    write_bytes(path, format_on_document(clip, found, channels, name or clip.name or stem_of(path)))


def format_on_document(clip: Clip, source: GltfSource, channels: list[tuple[int, str, np.ndarray]], name: str) -> bytes:
    """The bytes of a GLB: the document with an animation of these channels (node, path, keys) at the clip's times."""
    document = copy.deepcopy(source.document.top.plain)
    file = _gather(source.document, document)
    for node in {node for node, _, _ in channels}:
        _separate(document["nodes"][node], source, node)
    animations = [each for each in document.get("animations") or [] if each.get("name") != name]
    animations.append(build_animation(file, name, clip.times, channels))
    document["animations"] = animations
    document["accessors"], document["bufferViews"] = file.accessors, file.views
    document["buffers"] = [{"byteLength": len(file.data)}]
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
    fit = _Fit(find_placement(reading).to_file(clip), joints)
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


def _gather(source: Document, document: dict[str, Any]) -> GltfBuffer:
    """All buffers of a document, and pictures that lie beside it, in one; views of `document` follow."""
    views = document.get("bufferViews") or []
    data = bytearray()
    starts = []
    for i, buffer in enumerate(source.buffers):
        data += b"\0" * (-len(data) % 4)
        starts.append(len(data))
        data += source.read_buffer(i)[: buffer.integer("byteLength")]
    for view, entry in zip(views, source.views, strict=True):
        buffer_index = entry.index("buffer", len(starts))
        if starts[buffer_index]:
            if entry.plain.get("extensions"):
                raise entry.error("has extensions of its own and lies in a second buffer, which cannot be joined.")
            view["byteOffset"] = entry.integer("byteOffset", 0) + starts[buffer_index]
        view["buffer"] = 0
    file = GltfBuffer(bytes(data), views, document.get("accessors") or [])
    for picture, entry in zip(document.get("images") or [], source.top.entries("images", "image"), strict=True):
        _embed(file, picture, entry)
    return file


def _embed(file: GltfBuffer, picture: dict[str, Any], entry: JsonObject) -> None:
    """Put a picture that lies beside the file into it. One that is not there, or inside already, stays as it is."""
    uri = picture.get("uri")
    if not isinstance(uri, str) or uri.startswith("data:"):
        return
    try:
        data = read_uri(entry, uri)
    except FileError:
        return
    kind = next((kind for magic, kind in _PICTURES if data.startswith(magic)), None)
    if kind is not None:
        del picture["uri"]
        picture.update({"bufferView": file.add_view(data), "mimeType": kind})


def _separate(node: dict[str, Any], source: GltfSource, index: int) -> None:
    """Give a node with a matrix its translation, rotation and scale instead: only these can be animated."""
    if node.pop("matrix", None) is not None:
        nodes = source.nodes
        node["translation"] = nodes.translations[index].tolist()
        node["rotation"] = nodes.rotations[index][[1, 2, 3, 0]].tolist()
        node["scale"] = nodes.scales[index].tolist()

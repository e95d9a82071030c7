"""The mesh of a glTF body as one skin, in the world at rest.

A skinned vertex is at  sum over joints of w  M_joint B_joint v,  with the joint's world matrix M and the inverse bind
matrix B; the transform of the mesh's own node does not count [glTF 2.0, 3.7.3.3]. Here M is that of the rest pose, so
that the skin fits the skeleton even where the mesh was bound in another pose. Morph targets are left at rest. Where
nothing is skinned, meshes that hang on joints move with them as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from poise.body.geometry.mesh import Mesh
from poise.body.geometry.skin import SkinnedMesh
from poise.errors import FileError
from poise.files.formats.gltf.document import Document
from poise.files.formats.gltf.entry import JsonObject
from poise.files.formats.gltf.nodes import Nodes, read_nodes
from poise.files.formats.gltf.rig import Rig
from poise.findings import Finding

MAX_VERTICES = 4_000_000
_TRIANGLES, _STRIP, _FAN = 4, 5, 6
_PACKED = "KHR_draco_mesh_compression"


@dataclass(frozen=True, eq=False)
class _Piece:
    """Part of a skin: arrays as in `SkinnedMesh`; normals None where the file has none."""

    vertices: np.ndarray
    normals: np.ndarray | None
    faces: np.ndarray
    joints: np.ndarray
    weights: np.ndarray


def read_skin(document: Document, nodes: Nodes, rig: Rig) -> tuple[SkinnedMesh | None, list[Finding]]:
    """The body's mesh with at most four joints a vertex, None where there is none; and what was odd about it."""
    try:
        pieces = list(_read_skinned(document, nodes, rig)) or list(_read_rigid(document, nodes, rig))
    except _PackedError:
        message = "it is compressed (Draco), which is not read. Export it uncompressed to have it shown."
        return None, [Finding("lost mesh", message)]
    pieces = [piece for piece in pieces if len(piece.faces)]
    if not pieces:
        return None, []
    starts = np.cumsum([0, *(len(piece.vertices) for piece in pieces)])
    vertices = np.concatenate([piece.vertices for piece in pieces])
    faces = np.concatenate([piece.faces + start for piece, start in zip(pieces, starts, strict=False)])
    normals = np.concatenate([Mesh(p.vertices, p.faces).normals if p.normals is None else p.normals for p in pieces])
    joints, weights = (np.concatenate([getattr(piece, key) for piece in pieces]) for key in ("joints", "weights"))
    return SkinnedMesh(vertices, normals, faces, joints, weights), []


def measure_bind_turn(document: Document, nodes: Nodes, rig: Rig) -> float:
    """The largest angle (rad) by which a joint's rest pose differs from the pose that the mesh was bound in.

    Both are compared with the skin's first joint, so that axes and units of the mesh do not matter.
    """
    worst = 0.0
    for i in rig.skins:
        moved = _compute_skin_matrices(document, nodes, i)[:, :3, :3]
        size = np.cbrt(np.linalg.det(moved))
        usable = np.abs(size) > 1e-12
        if usable.sum() < 2:
            continue
        turns = moved[usable] / size[usable, None, None]
        traces = np.einsum("ij,nij->n", turns[0], turns)
        worst = max(worst, float(np.arccos(np.clip((traces - 1.0) / 2.0, -1.0, 1.0)).max()))
    return worst


def _read_skinned(document: Document, nodes: Nodes, rig: Rig) -> Iterator[_Piece]:
    for node in document.nodes:
        skin = node.find_index("skin", len(document.skins))
        mesh = node.find_index("mesh", len(document.meshes))
        if skin is None or mesh is None or skin not in rig.skins:
            continue
        matrices = _compute_skin_matrices(document, nodes, skin)
        joints = document.skins[skin].indices("joints", len(document.nodes))
        owners = np.array([_find_owner(nodes, rig, joint) for joint in joints])
        for primitive in _list_primitives(document.meshes[mesh]):
            links = _read_links(document, primitive, len(joints))
            if links is not None:
                yield _build_piece(document, primitive, matrices, owners, *links)


def _read_rigid(document: Document, nodes: Nodes, rig: Rig) -> Iterator[_Piece]:
    carried = nodes.closure(rig.joints)
    for i, node in enumerate(document.nodes):
        mesh = node.find_index("mesh", len(document.meshes))
        if mesh is None or not carried[i]:
            continue
        owner = np.array([_find_owner(nodes, rig, i)])
        for primitive in _list_primitives(document.meshes[mesh]):
            count = len(_read_positions(document, primitive))
            weights = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
            yield _build_piece(document, primitive, nodes.world[[i]], owner, np.zeros((count, 4), int), weights)


def _find_owner(nodes: Nodes, rig: Rig, node: int) -> int:
    """The joint that carries a node: itself, the nearest above it, or the root."""
    place = {joint: i for i, joint in enumerate(rig.joints)}
    while node >= 0 and node not in place:
        node = int(nodes.parents[node])
    return place.get(node, 0)


def _compute_skin_matrices(document: Document, nodes: Nodes, index: int) -> np.ndarray:
    """(K, 4, 4) from the mesh's space to the world at rest, for each joint that a skin lists."""
    skin = document.skins[index]
    joints = skin.indices("joints", len(document.nodes))
    accessor = skin.find_index("inverseBindMatrices", len(document.accessors))
    if accessor is None:
        return nodes.world[joints]
    binds = document.array(accessor, "MAT4")
    if len(binds) < len(joints):
        raise skin.error(f"has {len(joints)} joints, but {len(binds)} inverse bind matrices.")
    return np.asarray(nodes.world[joints] @ binds[: len(joints)].reshape(-1, 4, 4).transpose(0, 2, 1))


class _PackedError(Exception):
    """A primitive whose data are compressed."""


def _list_primitives(mesh: JsonObject) -> list[JsonObject]:
    """The triangles of a mesh; lines and points are left out."""
    primitives = mesh.entries("primitives", f"{mesh.what}, primitive")
    return [each for each in primitives if each.integer("mode", _TRIANGLES) in (_TRIANGLES, _STRIP, _FAN)]


def _read_attribute(document: Document, primitive: JsonObject, name: str, *types: str) -> np.ndarray | None:
    if primitive.extension(_PACKED) is not None:
        raise _PackedError
    attributes = primitive.entry("attributes")
    index = None if attributes is None else attributes.find_index(name, len(document.accessors))
    return None if index is None else document.array(index, *types)


def _read_positions(document: Document, primitive: JsonObject) -> np.ndarray:
    positions = _read_attribute(document, primitive, "POSITION", "VEC3")
    if positions is None:
        return np.zeros((0, 3))
    if len(positions) > MAX_VERTICES:
        raise primitive.error(f"has {len(positions)} vertices; at most {MAX_VERTICES} can be read.")
    return positions.astype(float)


def _read_links(document: Document, primitive: JsonObject, count: int) -> tuple[np.ndarray, np.ndarray] | None:
    """The strongest four joints (V, 4), indices into the skin, and weights (V, 4) that sum to 1; None without any."""
    vertices = len(_read_positions(document, primitive))
    joints, weights = [], []
    for i in range(8):
        own = _read_attribute(document, primitive, f"JOINTS_{i}", "VEC4")
        share = _read_attribute(document, primitive, f"WEIGHTS_{i}", "VEC4")
        if own is None or share is None:
            break
        if len(own) != vertices or len(share) != vertices:
            raise primitive.error(f"has {vertices} vertices, but {len(own)} joints and {len(share)} weights for them.")
        joints.append(own.astype(int))
        weights.append(np.maximum(share, 0.0))
    if not joints:
        return None
    owner, share = np.concatenate(joints, axis=1), np.concatenate(weights, axis=1)
    owner = np.where(share > 0.0, owner, 0)
    if owner.size and (owner.min() < 0 or owner.max() >= count):
        raise primitive.error(f"is moved by joint {owner.max()} of its skin, which has only {count}.")
    if share.shape[1] > 4:
        strongest = np.argsort(-share, axis=1, kind="stable")[:, :4]
        owner, share = (np.take_along_axis(array, strongest, axis=1) for array in (owner, share))
    total = share.sum(axis=1)
    share[total <= 0.0, 0] = 1.0  # bound to nothing: to the first joint it names
    return owner, share / share.sum(axis=1, keepdims=True)


def _build_piece(
    document: Document,
    primitive: JsonObject,
    matrices: np.ndarray,
    owners: np.ndarray,
    joints: np.ndarray,
    weights: np.ndarray,
) -> _Piece:
    """A primitive in the world: matrices (K, 4, 4) of a skin's joints, owners (K,) which joints of the rig they are."""
    vertices = _read_positions(document, primitive)
    blended = np.zeros((len(vertices), 3, 4))
    for k in range(4):
        blended += weights[:, k, None, None] * matrices[joints[:, k], :3]
    linear = blended[:, :, :3]
    points = np.einsum("vij,vj->vi", linear, vertices) + blended[:, :, 3]
    if not np.isfinite(points).all():
        raise primitive.error("has vertices that its joints move beyond all bounds.")
    faces = _read_faces(document, primitive, len(vertices))
    mirrored = len(vertices) > 0 and float(np.median(np.linalg.det(linear))) < 0.0
    normals = _read_attribute(document, primitive, "NORMAL", "VEC3")
    if normals is not None and len(normals) == len(vertices):
        # Normals turn with the cofactors, whose columns are the cross products of the matrix's.
        a, b, c = np.moveaxis(linear, 2, 0)
        cofactors = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=2)
        normals = np.einsum("vij,vj->vi", cofactors, normals) * (-1.0 if mirrored else 1.0)
        normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    else:
        normals = None
    return _Piece(points, normals, faces[:, ::-1] if mirrored else faces, owners[joints], weights)


def _read_faces(document: Document, primitive: JsonObject, count: int) -> np.ndarray:
    """(F, 3) vertex indices; strips and fans taken apart, faces without area left out."""
    index = primitive.find_index("indices", len(document.accessors))
    corners = np.arange(count) if index is None else document.array(index, "SCALAR")[:, 0].astype(int)
    if corners.size and (corners.min() < 0 or corners.max() >= count):
        raise primitive.error(f"has a face with vertex {corners.max()}, but only {count} vertices.")
    mode = primitive.integer("mode", _TRIANGLES)
    if mode == _TRIANGLES:
        faces = corners[: len(corners) // 3 * 3].reshape(-1, 3)
    elif mode == _STRIP:
        faces = (
            np.stack([corners[:-2], corners[1:-1], corners[2:]], axis=1) if len(corners) > 2 else np.empty((0, 3), int)
        )
        faces[1::2] = faces[1::2, [1, 0, 2]]
    else:
        ring = corners[1:]
        faces = np.stack(
            [np.full(max(len(ring) - 1, 0), corners[0] if corners.size else 0), ring[:-1], ring[1:]], axis=1
        )
    distinct = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return np.asarray(faces[distinct])


def check_mesh(document: Document, nodes: Nodes, rig: Rig) -> tuple[SkinnedMesh | None, list[Finding]]:
    """As `read_skin`; a damaged mesh is left out, with a warning, and the motion is read."""
    try:
        return read_skin(document, nodes, rig)
    except FileError as error:
        return None, [Finding("lost mesh", f"it could not be read: {str(error).removeprefix(f'{document.path}: ')}")]


def read_surface(document: Document) -> Mesh:
    """All triangles of a document that no skin moves, where its nodes put them: a landscape, say."""
    nodes, meshes = read_nodes(document), []
    for i, node in enumerate(document.nodes):
        mesh = node.find_index("mesh", len(document.meshes))
        if mesh is None or node.find_index("skin", len(document.skins)) is not None:
            continue
        for primitive in _list_primitives(document.meshes[mesh]):
            try:
                points = _read_positions(document, primitive)
            except _PackedError:
                raise primitive.error("is compressed, which cannot be read. Export the file without.") from None
            faces = _read_faces(document, primitive, len(points))
            meshes.append(Mesh(points @ nodes.world[i, :3, :3].T + nodes.world[i, :3, 3], faces))
    return Mesh.joined(meshes)

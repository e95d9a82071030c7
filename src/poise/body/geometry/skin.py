"""The skin of a body: its segments as one mesh that its joints move, drawn by pictures and written to files.

Bodies that are small in a picture get a skin of fewer vertices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from poise.body.geometry.mesh import Mesh
from poise.body.geometry.rest_frame import RestFrame
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.frozen import Portable
from poise.spatial import rotation

# Half the height over which the trunk blends from one joint to the next, as a share of its length, where there is room.
_TRUNK_BLEND = 0.12


@dataclass(frozen=True, eq=False)
class SkinnedMesh(Portable):
    """One mesh for the whole body in its rest pose, tied to the joints.

    vertices  (V, 3) m, in the world at rest
    normals   (V, 3) unit, outward
    faces     (F, 3)
    joints    (V, 4) indices of the joints that move each vertex
    weights   (V, 4) their shares, summing to 1
    """

    vertices: np.ndarray
    normals: np.ndarray
    faces: np.ndarray
    joints: np.ndarray
    weights: np.ndarray

    def pose(
        self, skeleton: Skeleton, positions: np.ndarray, orientations: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Vertices (V, 3) m and normals (V, 3) at a pose: joint positions (J, 3) and orientations (J, 4) in the world.

        Linear blend: x = sum over joints of w (R (v - rest) + p).
        """
        turns = rotation.to_matrix(orientations)
        shifts = positions - np.einsum("jab,jb->ja", turns, skeleton.rest_positions())
        matrices = np.concatenate([turns, shifts[:, :, None]], axis=2)
        blended = np.einsum("vk,vkab->vab", self.weights[:, :2], matrices[self.joints[:, :2]])
        if self.weights[:, 2:].any():
            blended = blended + np.einsum("vk,vkab->vab", self.weights[:, 2:], matrices[self.joints[:, 2:]])
        points = np.einsum("vab,vb->va", blended[:, :, :3], self.vertices) + blended[:, :, 3]
        normals = np.einsum("vab,vb->va", blended[:, :, :3], self.normals)
        length: np.ndarray = np.linalg.norm(normals, axis=1, keepdims=True)
        return points, np.asarray(normals / np.maximum(length, 1e-12))


def build_skin(skeleton: Skeleton, meshes: Mapping[str, Mesh]) -> SkinnedMesh:
    """Segments (by joint name, in their joints' frames) as one mesh in the rest pose.

    Limbs are rigid: their domes fill bent joints. The trunk bends smoothly: where a vertex is along it, and not the
    segment it belongs to, says which two joints share it, so that segments that meet at rest stay together. A skeleton
    without hips is rigid throughout.
    """
    if not meshes:
        raise InputError("a skin needs at least one mesh; none given.")
    places = skeleton.rest_positions()
    index = [skeleton.index(name) for name in meshes]
    whole = Mesh.joined(mesh.moved(np.eye(3), places[i]) for i, mesh in zip(index, meshes.values(), strict=True))
    owner = np.repeat(index, [len(mesh.vertices) for mesh in meshes.values()])
    joints = np.zeros((len(owner), 4), int)
    joints[:, 0] = owner
    weights = np.zeros((len(owner), 4))
    weights[:, 0] = 1.0
    if skeleton.find_role("hips") is not None:
        _blend_trunk(RestFrame(skeleton), whole.vertices, joints, weights)
    normals = np.concatenate([mesh.normals for mesh in meshes.values()])
    return SkinnedMesh(whole.vertices, normals, whole.faces, joints, weights)


def _blend_trunk(frame: RestFrame, vertices: np.ndarray, joints: np.ndarray, weights: np.ndarray) -> None:
    """Share the trunk's vertices between its joints, in place."""
    carriers, cuts = list(frame.trunk_cuts), list(frame.trunk_cuts.values())[1:]
    rows = np.flatnonzero(np.isin(joints[:, 0], carriers))
    at = frame.along(vertices[rows])
    edges = np.array([cuts[0] - 2 * _TRUNK_BLEND, *cuts, cuts[-1] + 2 * _TRUNK_BLEND]) if cuts else np.zeros(2)
    room = np.minimum(np.minimum(np.diff(edges)[:-1], np.diff(edges)[1:]) / 2.0, _TRUNK_BLEND)
    joints[rows, 0] = carriers[0]
    for below, joint, cut, reach in zip(carriers[:-1], carriers[1:], cuts, room, strict=True):
        share = np.clip((at - cut + reach) / (2.0 * reach), 0.0, 1.0)
        share = share * share * (3.0 - 2.0 * share)
        above = share > 0.0
        joints[rows[above], 0], joints[rows[above], 1] = joint, below
        weights[rows[above], 0], weights[rows[above], 1] = share[above], 1.0 - share[above]


def coarsen_skin(skin: SkinnedMesh, cell: float) -> SkinnedMesh:
    """The skin with all vertices of one joint that lie in one cube of edge `cell` (m) drawn together to their middle.

    At a fifth of a pixel nothing is seen of it; at a hand's breadth hands and feet are lumps. Faces that fall together
    are left out.
    """
    keys = np.column_stack([skin.joints[:, 0], np.floor(skin.vertices / cell).astype(np.int64)])
    _, first, index = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    index = index.ravel()
    share = np.bincount(index)[:, None]
    vertices, normals = np.zeros((2, len(first), 3))
    np.add.at(vertices, index, skin.vertices)
    np.add.at(normals, index, skin.normals)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    faces = index[skin.faces]
    kept = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    faces = np.unique(faces[kept], axis=0)
    return SkinnedMesh(vertices / share, normals, faces, skin.joints[first], skin.weights[first])

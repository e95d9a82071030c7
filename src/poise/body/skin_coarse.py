"""A skin of fewer vertices, for bodies that are small in a picture."""

from __future__ import annotations

import numpy as np

from poise.body.skin import SkinnedMesh


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

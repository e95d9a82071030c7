"""Normals for drawing: smooth where a surface bends gently, sharp at its edges."""

from __future__ import annotations

import numpy as np

from poise.body.mesh import Mesh

_CREASE = np.cos(np.radians(50.0))  # faces that meet at a smaller angle are shaded as one surface


def compute_shaded_vertices(mesh: Mesh) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices (N, 3), unit normals (N, 3) and faces (F, 3) of a mesh for drawing.

    A vertex at an edge is doubled, once for each surface that meets there. Faces without area are left out.
    """
    areas = mesh.face_areas()
    sizes = np.linalg.norm(areas, axis=1)
    kept = sizes > 1e-14
    faces, areas = mesh.faces[kept], areas[kept]
    normals = _compute_corner_normals(faces, areas, areas / sizes[kept, None])
    # Corners of one vertex with the same normal are one vertex to draw.
    keys = np.column_stack([faces.ravel(), np.round(normals * 1e4)]).astype(np.int64)
    _, first, index = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return mesh.vertices[faces.ravel()[first]], normals[first], index.reshape(faces.shape)


def _compute_corner_normals(faces: np.ndarray, areas: np.ndarray, face_normals: np.ndarray) -> np.ndarray:
    """(3F, 3) unit normal of every face corner: over the faces round its vertex that bend less than a crease."""
    vertices = faces.ravel()
    owner = np.repeat(np.arange(len(faces)), 3)
    order = np.argsort(vertices, kind="stable")
    starts = np.searchsorted(vertices[order], vertices, side="left")
    counts = np.bincount(vertices)[vertices]
    # Every pair (corner, corner of the same vertex).
    corner = np.repeat(np.arange(len(vertices)), counts)
    step = np.arange(len(corner)) - np.repeat(np.cumsum(counts) - counts, counts)
    neighbour = owner[order[np.repeat(starts, counts) + step]]
    alike = np.sum(face_normals[owner[corner]] * face_normals[neighbour], axis=1) > _CREASE
    normals = np.zeros((len(vertices), 3))
    np.add.at(normals, corner[alike], areas[neighbour[alike]])
    return np.asarray(normals / np.linalg.norm(normals, axis=1, keepdims=True))

"""Meshes for Bullet, in lists that are used again.

pybullet (3.2.7) never lets go of the lists of points and faces that it is given, nor of the points and numbers in them:
every world that was built on a map of 40 by 40 heights took 87 kB for good. So there is one of each list in a process,
as long as the largest mesh yet, and what is in it is written over.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

_ALONE = threading.Lock()
_vertices: list[list[float]] = []  # as they are given, and all that ever were
_all_vertices: list[list[float]] = []
_indices: list[int] = []
_all_indices: list[int] = []


def add_mesh(bullet: Any, client: int, points: np.ndarray, faces: np.ndarray) -> int:
    """Bullet's id of a shape that is the triangles `faces` (m, 3) of some points (n, 3) m."""
    with _ALONE:
        _all_vertices.extend([0.0, 0.0, 0.0] for _ in range(len(_all_vertices), len(points)))
        _all_indices.extend(range(len(_all_indices), len(points)))
        for vertex, point in zip(_all_vertices, points.tolist(), strict=False):
            vertex[:] = point
        _vertices[:] = _all_vertices[: len(points)]
        _indices[:] = [_all_indices[k] for k in faces.ravel().tolist()]
        flag = bullet.GEOM_FORCE_CONCAVE_TRIMESH
        return int(
            bullet.createCollisionShape(
                bullet.GEOM_MESH, vertices=_vertices, indices=_indices, flags=flag, physicsClientId=client
            )
        )

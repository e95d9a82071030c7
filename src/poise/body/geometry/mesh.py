"""Closed triangle meshes: the shape of a segment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poise.errors import InputError
from poise.frozen import Portable

FARTHEST = 1e9  # m, or a file's unit


@dataclass(frozen=True, eq=False)
class Mesh(Portable):
    """Triangles in metres; faces turn counter-clockwise seen from outside.

    vertices  (V, 3) m
    faces     (F, 3) vertex indices
    """

    vertices: np.ndarray
    faces: np.ndarray

    def __post_init__(self) -> None:
        vertices, faces = np.array(self.vertices, float), np.array(self.faces, int)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or faces.ndim != 2 or faces.shape[1] != 3:
            raise InputError(
                f"a mesh needs vertices (V, 3) and faces (F, 3); given {vertices.shape} and {faces.shape}."
            )
        if not np.isfinite(vertices).all():
            raise InputError("a mesh has a vertex that is not a finite number.")
        if np.abs(vertices).max(initial=0.0) > FARTHEST:
            far = float(np.abs(vertices).max())
            raise InputError(f"a mesh has a vertex at {far:g}; at most {FARTHEST:g} can be used. Check its unit.")
        if faces.size and (faces.min() < 0 or faces.max() >= len(vertices)):
            wrong = int(faces.min()) if faces.min() < 0 else int(faces.max())
            raise InputError(f"a mesh face names vertex {wrong}, but there are {len(vertices)}, counted from 0.")
        for name, array in (("vertices", vertices), ("faces", faces)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @staticmethod
    def joined(meshes: Iterable[Mesh]) -> Mesh:
        """Several meshes as one, vertices and faces in the order given; nothing is merged."""
        meshes = list(meshes)
        starts = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])
        return Mesh(
            np.concatenate([np.zeros((0, 3)), *(mesh.vertices for mesh in meshes)]),
            np.concatenate(
                [np.zeros((0, 3), int), *(m.faces + start for m, start in zip(meshes, starts, strict=False))]
            ),
        )

    def moved(self, turn: np.ndarray, shift: np.ndarray) -> Mesh:
        """The same shape seen from another frame: x' = turn x + shift, with `turn` a rotation matrix (3, 3)."""
        return Mesh(self.vertices @ np.asarray(turn, float).T + shift, self.faces)

    def flipped(self) -> Mesh:
        """The same triangles with inside and outside exchanged."""
        return Mesh(self.vertices, self.faces[:, ::-1])

    def welded(self) -> Mesh:
        """Vertices at exactly the same place made one, as along the seams of texture maps; unused ones dropped."""
        if not self.faces.size:
            return Mesh(np.zeros((0, 3)), self.faces)
        places, index = np.unique(self.vertices[self.faces.ravel()] + 0.0, axis=0, return_inverse=True)
        return Mesh(places, index.reshape(-1, 3))

    def face_areas(self) -> np.ndarray:
        """(F, 3) m2, each triangle's area along its outward normal."""
        a, b, c = np.moveaxis(self.vertices[self.faces], 1, 0)
        return np.asarray(np.cross(b - a, c - a) / 2.0)

    @cached_property
    def normals(self) -> np.ndarray:
        """(V, 3) outward unit normals at the vertices: the triangles', weighted by their angles there."""
        areas = self.face_areas()
        flat = areas / np.maximum(np.linalg.norm(areas, axis=1, keepdims=True), 1e-300)
        sums = np.zeros_like(self.vertices)
        for corner in range(3):
            here, ahead, behind = (self.vertices[self.faces[:, (corner + i) % 3]] for i in range(3))
            u, v = ahead - here, behind - here
            angle = np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), np.einsum("fi,fi->f", u, v))
            for axis in range(3):
                sums[:, axis] += np.bincount(self.faces[:, corner], angle * flat[:, axis], len(sums))
        return np.asarray(sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-300))

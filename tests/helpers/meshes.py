"""Closed meshes: a sphere, and which points are inside one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from poise.body.geometry.mesh import Mesh


def winding_number(mesh: Mesh, points: np.ndarray) -> np.ndarray:
    """(N,) how often a closed mesh goes around each point (N, 3): the sum of solid angles / 4 pi."""
    a, b, c = (mesh.vertices[mesh.faces[:, i]] - points[:, None] for i in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=-1) for x in (a, b, c))
    numerator = np.einsum("nfi,nfi->nf", a, np.cross(b, c))
    dots = [np.einsum("nfi,nfi->nf", x, y) * z for x, y, z in ((a, b, lc), (b, c, la), (c, a, lb))]
    return np.asarray(np.arctan2(numerator, la * lb * lc + sum(dots)).sum(axis=1) / (2.0 * np.pi))


def fill_voxels(mesh: Mesh, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """(X, Y, Z) which points of a grid lie inside a closed mesh: rays along z change sides at each face."""
    inside = np.zeros((len(x), len(y), len(z)), np.int8)
    for a, b, c in mesh.vertices[mesh.faces]:
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        low, high = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
        i = np.arange(*np.searchsorted(x, (low[0], high[0])))
        j = np.arange(*np.searchsorted(y, (low[1], high[1])))
        if area == 0.0 or not i.size or not j.size:
            continue
        px, py = np.meshgrid(x[i], y[j], indexing="ij")
        u = ((b[0] - px) * (c[1] - py) - (b[1] - py) * (c[0] - px)) / area
        v = ((c[0] - px) * (a[1] - py) - (c[1] - py) * (a[0] - px)) / area
        hits = np.argwhere((u >= 0) & (v >= 0) & (u + v <= 1))
        heights = u * a[2] + v * b[2] + (1 - u - v) * c[2]
        for p, q in hits:
            inside[i[p], j[q], np.searchsorted(z, heights[p, q]) :] += 1 if area < 0 else -1
    return inside > 0


def make_sphere(n: int) -> Mesh:
    """A unit sphere of 2n meridians and n bands."""
    from poise.body.geometry.mesh import Mesh

    theta = np.linspace(0, np.pi, n + 1)[1:-1, None]
    phi = np.arange(2 * n) * np.pi / n
    ring = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta) + 0 * phi], axis=-1)
    vertices = np.vstack([ring.reshape(-1, 3), [0, 0, 1], [0, 0, -1]])
    north, south, m = len(vertices) - 2, len(vertices) - 1, 2 * n
    faces = []
    for j in range(m):
        k = (j + 1) % m
        faces += [(north, j, k), (south, (n - 2) * m + k, (n - 2) * m + j)]
        for i in range(n - 2):
            a, b, c, d = i * m + j, i * m + k, (i + 1) * m + k, (i + 1) * m + j
            faces += [(a, d, c), (a, c, b)]
    return Mesh(vertices, np.array(faces))

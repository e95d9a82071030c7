"""A T-pose human written by hand, spheres, and shapes' insides: helpers of the tests of bodies and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise import Skeleton, rotation

if TYPE_CHECKING:
    from poise.body.geometry.mesh import Mesh

# Joint, parent, rest offset as a share of the stature; limbs are the left ones.
_TRUNK = (
    ("hips", "", (0, 0.535, 0)),
    ("spine", "hips", (0, 0.045, -0.005)),
    ("chest", "spine", (0, 0.075, -0.005)),
    ("upperChest", "chest", (0, 0.075, 0)),
    ("neck", "upperChest", (0, 0.118, 0.002)),
    ("head", "neck", (0, 0.055, 0.012)),
)
_LIMBS = (
    ("Shoulder", "upperChest", (0.015, 0.085, 0.0)),
    ("UpperArm", "Shoulder", (0.088, -0.007, 0)),
    ("LowerArm", "UpperArm", (0.172, 0, 0)),
    ("Hand", "LowerArm", (0.146, 0, 0)),
    ("UpperLeg", "hips", (0.052, -0.010, 0)),
    ("LowerLeg", "UpperLeg", (0, -0.242, 0.004)),
    ("Foot", "LowerLeg", (0, -0.244, -0.008)),
    ("Toes", "Foot", (0.004, -0.028, 0.072)),
)


def make_human(
    stature: float = 1.75, arms_down: bool = False, without: tuple[str, ...] = (), has_tips: bool = True
) -> Skeleton:
    """A human of some stature (m), standing on the ground.

    without  ends of joint names to leave out; what hung on them hangs on the joint before
    """
    trunk = {name for name, _, _ in _TRUNK}
    rows = [(name, parent, np.array(offset, float)) for name, parent, offset in _TRUNK]
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for name, parent, (x, y, z) in _LIMBS:
            if arms_down and name in ("LowerArm", "Hand"):
                x, y = 0.05 * x, -x
            rows.append((side + name, parent if parent in trunk else side + parent, np.array([sign * x, y, z])))
    kept: dict[str, tuple[str, np.ndarray]] = {}
    gone: dict[str, tuple[str, np.ndarray]] = {}
    for name, parent, offset in rows:
        if parent in gone:
            parent, offset = gone[parent][0], offset + gone[parent][1]
        (gone if name.endswith(without) and without else kept)[name] = (parent, offset)
    names = tuple(kept)
    tips = np.full((len(names), 3), np.nan)
    if has_tips and "head" in names:
        tips[names.index("head")] = (0, 0.09 * stature, 0)
    return Skeleton(
        names,
        np.array([names.index(parent) if parent else -1 for parent, _ in kept.values()]),
        stature * np.array([offset for _, offset in kept.values()]),
        tips,
        {name: name for name in names},
    )


def make_pose(skeleton: Skeleton, **turns: tuple[float, float, float]) -> np.ndarray:
    """Rotations (J, 4): those named by rotation vectors in degrees, all others none."""
    rotations = rotation.identity((len(skeleton),))
    for joint, degrees in turns.items():
        rotations[skeleton.index(joint)] = rotation.exp(np.radians(degrees))
    return rotations


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

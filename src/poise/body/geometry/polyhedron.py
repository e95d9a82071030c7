"""Mass, centre and inertia of a closed triangle mesh, by exact integration over the polyhedron.

The polyhedron is the signed sum of the tetrahedra that its faces span with one apex: what sticks out cancels.
Mirtich, "Fast and accurate computation of polyhedral mass properties" (1996), reduces the same volume integrals to the
faces' edges by the divergence theorem; for triangles the closed form below is equal, and shorter:

    a, b, c   corners of a face, counter-clockwise from outside, from the apex
    v         a . (b x c) / 6, its tetrahedron's signed volume
    s         a + b + c
    integral of x       v s / 4
    integral of x x^T   v (a a^T + b b^T + c c^T + s s^T) / 20      [Tonon, J. Math. Stat. 1(1), 8-11, as one matrix]

The inertia about the centre follows from the covariance C about it: I = density (trace(C) 1 - C).
"""

from __future__ import annotations

import numpy as np

from poise.body.geometry.mesh import Mesh
from poise.errors import InputError
from poise.spatial.inertia import RigidInertia

# A closed surface that encloses less than this share of its own bounding cube is flat up to round-off.
_FLAT = 1e-12


def compute_volume(mesh: Mesh) -> float:
    """m3 enclosed by a closed mesh; negative where it is inside out."""
    if not len(mesh.faces):
        return 0.0
    a, b, c = _corners(mesh)
    return float(np.einsum("fi,fi->", a, np.cross(b, c)) / 6.0)


def mass_properties(mesh: Mesh, density: float) -> RigidInertia:
    """Mass, centre and inertia of a closed mesh filled with `density` (kg/m3), in the mesh's own frame.

    Shells that overlap count twice where they do. The mesh must be closed: see `check_closed`.
    """
    if not (np.isfinite(density) and density > 0):
        raise InputError(f"a density must be above 0 kg/m3; given {density:g}. Water is 1000, a body about 1010.")
    check_closed(mesh)
    apex = _apex(mesh)
    a, b, c = _corners(mesh)
    s = a + b + c
    v = np.einsum("fi,fi->f", a, np.cross(b, c)) / 6.0
    volume = v.sum()
    center = np.einsum("f,fi->i", v, s) / (4.0 * volume)
    second = sum(np.einsum("f,fi,fj->ij", v, x, x) for x in (a, b, c, s)) / 20.0
    covariance = second - volume * np.outer(center, center)
    inertia = density * (np.trace(covariance) * np.eye(3) - covariance)
    return RigidInertia(float(density * volume), center + apex, (inertia + inertia.T) / 2.0)


def check_closed(mesh: Mesh) -> None:
    """Raise unless the mesh is the boundary of a solid: no holes, one winding, outside out, some volume.

    Vertices at the same place count as one. Several shells may make up one mesh.
    """
    if not len(mesh.faces):
        raise InputError("the mesh has no faces. Give a closed triangle mesh.")
    welded = mesh.welded()
    faces = welded.faces
    degenerate = (faces == np.roll(faces, 1, axis=1)).any(axis=1)
    if degenerate.any():
        raise InputError(
            f"{degenerate.sum()} of {len(faces)} faces are degenerate: two of their corners are one point, first at "
            f"{_place(welded.vertices[faces[degenerate][0, 0]])}. Merge or delete these faces."
        )
    _check_edges(welded)
    _check_doubles(welded)
    extent = np.ptp(welded.vertices, axis=0).max()
    volume = compute_volume(welded)
    if abs(volume) <= _FLAT * extent**3:
        raise InputError(f"the mesh is closed but encloses no volume ({volume:.3g} m3). Give a solid, not a sheet.")
    if volume < 0.0:
        raise InputError(
            f"the mesh is inside out: its faces enclose {volume:.6g} m3. Turn its faces counter-clockwise from outside."
        )


def _check_edges(mesh: Mesh) -> None:
    """Every edge must be walked as often in one direction as in the other."""
    edges = np.concatenate([mesh.faces[:, [i, (i + 1) % 3]] for i in range(3)])
    direction = np.where(edges[:, 0] < edges[:, 1], 1, -1)
    unique, index = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True)
    uses = np.bincount(index.ravel(), minlength=len(unique))
    balance = np.bincount(index.ravel(), weights=direction, minlength=len(unique))
    is_open, is_twisted = uses % 2 == 1, (uses % 2 == 0) & (balance != 0)
    for bad, fault, remedy in (
        (is_open, "holes: {} open edge{}", "Fill the holes"),
        (
            is_twisted,
            "inconsistent winding: neighbouring faces disagree at {} edge{}",
            "Recalculate its normals outside",
        ),
    ):
        if bad.any():
            count = int(bad.sum())
            ends = mesh.vertices[unique[bad].ravel()]
            text = fault.format(count, "" if count == 1 else "s")
            around = f"between {_place(ends.min(axis=0))} and {_place(ends.max(axis=0))}"
            raise InputError(f"the mesh has {text}, {around}. {remedy}.")


def _check_doubles(mesh: Mesh) -> None:
    """No face may be there twice: what it encloses would count twice."""
    first = mesh.faces.argmin(axis=1)[:, None]
    turned = np.take_along_axis(mesh.faces, (first + np.arange(3)) % 3, axis=1)
    doubles = len(turned) - len(np.unique(turned, axis=0))
    if doubles:
        raise InputError(f"{doubles} of the mesh's {len(turned)} faces are there twice. Delete doubled faces.")


def _apex(mesh: Mesh) -> np.ndarray:
    """The middle of the mesh: an apex nearby keeps round-off small for a mesh far from its origin."""
    used = mesh.vertices[mesh.faces.ravel()]
    middle: np.ndarray = (used.min(axis=0) + used.max(axis=0)) / 2.0
    return middle


def _corners(mesh: Mesh) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    a, b, c = np.moveaxis(mesh.vertices[mesh.faces] - _apex(mesh), 1, 0)
    return a, b, c


def _place(point: np.ndarray) -> str:
    return "(" + ", ".join(f"{x:.3g}" for x in point) + ") m"

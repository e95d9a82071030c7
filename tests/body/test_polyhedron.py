"""Polyhedral mass properties against closed forms, and the reasons a mesh is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.meshes import make_sphere
from poise.body.geometry.mesh import Mesh
from poise.body.geometry.polyhedron import check_closed, compute_volume, mass_properties
from poise.errors import InputError
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia

DENSITY = 1010.0


def make_box(size=(1.0, 1.0, 1.0)) -> Mesh:
    """A box about the origin."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / 2.0
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))]
    return Mesh(corners * size, np.array(faces))


def make_tetrahedron() -> Mesh:
    """The corner tetrahedron of the unit cube."""
    return Mesh(np.vstack([np.zeros(3), np.eye(3)]), np.array([[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]]))


def make_cylinder(n: int, radius=0.4, length=1.5) -> Mesh:
    """A prism of n sides about z, centred."""
    phi = np.arange(n) * 2 * np.pi / n
    ring = radius * np.stack([np.cos(phi), np.sin(phi)], axis=1)
    vertices = np.vstack(
        [
            np.c_[ring, np.full(n, -length / 2)],
            np.c_[ring, np.full(n, length / 2)],
            [0, 0, -length / 2],
            [0, 0, length / 2],
        ]
    )
    faces = []
    for j in range(n):
        k = (j + 1) % n
        faces += [(j, k, n + k), (j, n + k, n + j), (2 * n, k, j), (2 * n + 1, n + j, n + k)]
    return Mesh(vertices, np.array(faces))


def make_torus(n: int, ring=1.0, tube=0.3) -> Mesh:
    """A torus about z."""
    u, v = np.meshgrid(np.arange(n) * 2 * np.pi / n, np.arange(n) * 2 * np.pi / n, indexing="ij")
    r = ring + tube * np.cos(v)
    vertices = np.stack([r * np.cos(u), r * np.sin(u), tube * np.sin(v)], axis=-1).reshape(-1, 3)
    i, j = (x.ravel() for x in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    a, b = i * n + j, (i + 1) % n * n + j
    c, d = (i + 1) % n * n + (j + 1) % n, i * n + (j + 1) % n
    return Mesh(vertices, np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]))


def make_l_shape() -> tuple[Mesh, RigidInertia]:
    """A concave prism, an L in the xy plane, and its inertia as two boxes welded."""
    outline = np.array([[0, 0], [3, 0], [3, 1], [1, 1], [1, 2], [0, 2]], float)
    n = len(outline)
    vertices = np.vstack([np.c_[outline, np.zeros(n)], np.c_[outline, np.ones(n)]])
    triangles = np.array([(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)])
    walls = [f for j in range(n) for k in [(j + 1) % n] for f in ((j, k, n + k), (j, n + k, n + j))]
    mesh = Mesh(vertices, np.vstack([triangles[:, ::-1], triangles + n, walls]))
    parts = [box_inertia((3, 1, 1), (1.5, 0.5, 0.5)), box_inertia((1, 1, 1), (0.5, 1.5, 0.5))]
    return mesh, RigidInertia.total(parts)


def box_inertia(size, center=(0.0, 0.0, 0.0)) -> RigidInertia:
    x, y, z = size
    mass = DENSITY * x * y * z
    return RigidInertia(
        mass, np.array(center, float), mass / 12 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])
    )


def assert_same(got: RigidInertia, wanted: RigidInertia, rtol=1e-12) -> None:
    size = np.sqrt(np.trace(wanted.inertia) / wanted.mass)
    assert got.mass == pytest.approx(wanted.mass, rel=rtol)
    np.testing.assert_allclose(got.center, wanted.center, atol=rtol * (size + np.linalg.norm(wanted.center)))
    np.testing.assert_allclose(got.inertia, wanted.inertia, rtol=rtol, atol=rtol * np.trace(wanted.inertia))
    assert got.is_physical()


def test_box():
    assert_same(mass_properties(make_box((0.3, 2.0, 0.7)), DENSITY), box_inertia((0.3, 2.0, 0.7)))


def test_tetrahedron():
    # Volume 1/6, centre (1/4)^3; about the corner: integral of x^2 = 1/60, of x y = 1/120.
    second = (np.eye(3) / 60 + (1 - np.eye(3)) / 120) * DENSITY
    mass, center = DENSITY / 6, np.full(3, 0.25)
    covariance = second - mass * np.outer(center, center)
    wanted = RigidInertia(mass, center, np.trace(covariance) * np.eye(3) - covariance)
    assert_same(mass_properties(make_tetrahedron(), DENSITY), wanted)


def test_concave_shape_is_its_boxes_welded():
    mesh, wanted = make_l_shape()
    assert_same(mass_properties(mesh, DENSITY), wanted)


def test_far_from_the_origin_keeps_its_digits():
    box = make_box((0.1, 0.2, 0.3))
    far = Mesh(box.vertices + 1e4, box.faces)
    assert_same(mass_properties(far, DENSITY), box_inertia((0.1, 0.2, 0.3), (1e4, 1e4, 1e4)), rtol=1e-9)


SPHERE = RigidInertia(DENSITY * 4 / 3 * np.pi, np.zeros(3), DENSITY * 4 / 3 * np.pi * 0.4 * np.eye(3))
CYLINDER_MASS = DENSITY * np.pi * 0.4**2 * 1.5
CYLINDER_SIDE = CYLINDER_MASS * (3 * 0.4**2 + 1.5**2) / 12
CYLINDER = RigidInertia(CYLINDER_MASS, np.zeros(3), np.diag([CYLINDER_SIDE, CYLINDER_SIDE, CYLINDER_MASS * 0.4**2 / 2]))
TORUS_MASS = DENSITY * 2 * np.pi**2 * 0.3**2
TORUS_SIDE = TORUS_MASS * (4 + 5 * 0.3**2) / 8
TORUS = RigidInertia(TORUS_MASS, np.zeros(3), np.diag([TORUS_SIDE, TORUS_SIDE, TORUS_MASS * (1 + 0.75 * 0.3**2)]))


@pytest.mark.parametrize(
    ("make", "wanted"),
    [(make_sphere, SPHERE), (make_cylinder, CYLINDER), (make_torus, TORUS)],
    ids=["sphere", "cylinder", "torus"],
)
def test_smooth_shapes_converge_with_the_square_of_the_facets(make, wanted):
    errors = []
    for n in (24, 48, 96):
        got = mass_properties(make(n), DENSITY)
        errors.append(
            [abs(got.mass / wanted.mass - 1), np.abs(got.inertia - wanted.inertia).max() / wanted.inertia[0, 0]]
        )
    order = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    np.testing.assert_allclose(order, 2.0, atol=0.06)
    assert np.max(errors[-1]) < 5e-3


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), shape=st.sampled_from(["box", "tetrahedron", "torus", "l"]))
def test_affine_maps_transform_the_covariance(seed, shape):
    """x' = A x + t scales mass by det A and makes the covariance A C A^T, for shears and stretches too."""
    rng = np.random.default_rng(seed)
    mesh = {
        "box": make_box,
        "tetrahedron": make_tetrahedron,
        "torus": lambda: make_torus(9),
        "l": lambda: make_l_shape()[0],
    }[shape]()
    A, t = rng.normal(size=(3, 3)) + 1.5 * np.eye(3), rng.normal(size=3) * 3
    det = np.linalg.det(A)
    if abs(det) < 0.05:
        return
    mapped = Mesh(mesh.vertices @ A.T + t, mesh.faces if det > 0 else mesh.faces[:, ::-1])
    before, after = mass_properties(mesh, DENSITY), mass_properties(mapped, DENSITY)

    def covariance(body: RigidInertia) -> np.ndarray:
        return np.trace(body.inertia) / 2 * np.eye(3) - body.inertia

    assert after.mass == pytest.approx(abs(det) * before.mass, rel=1e-10)
    np.testing.assert_allclose(after.center, A @ before.center + t, atol=1e-9)
    wanted = abs(det) * A @ covariance(before) @ A.T
    np.testing.assert_allclose(covariance(after), wanted, atol=1e-9 * np.abs(wanted).max())


def test_turning_a_mesh_turns_its_inertia():
    turn, shift = rotation.to_matrix(rotation.random(np.random.default_rng(3))), np.array([0.3, -2.0, 5.0])
    mesh, _ = make_l_shape()
    assert_same(mass_properties(mesh.moved(turn, shift), DENSITY), mass_properties(mesh, DENSITY).moved(turn, shift))


def test_unwelded_vertices_are_closed_by_their_places():
    box = make_box()
    soup = Mesh(box.vertices[box.faces].reshape(-1, 3), np.arange(36).reshape(-1, 3))
    check_closed(soup)
    assert_same(mass_properties(soup, DENSITY), box_inertia((1, 1, 1)))
    assert len(soup.welded().vertices) == 8


def test_two_shells_in_one_mesh_add_up():
    pair = Mesh.joined([make_box(), make_box().moved(np.eye(3), np.array([5.0, 0, 0]))])
    wanted = RigidInertia.total([box_inertia((1, 1, 1)), box_inertia((1, 1, 1), (5, 0, 0))])
    assert_same(mass_properties(pair, DENSITY), wanted)


def test_normals_point_outward():
    sphere = make_sphere(20)
    np.testing.assert_allclose(sphere.normals, sphere.vertices, atol=0.03)
    assert np.linalg.norm(sphere.face_areas(), axis=1).sum() == pytest.approx(4 * np.pi, rel=0.02)


BOX = make_box()
REFUSED = {
    "no faces": (Mesh(BOX.vertices, np.zeros((0, 3), int)), "has no faces"),
    "one face missing": (Mesh(BOX.vertices, BOX.faces[1:]), r"holes: 3 open edges, between \(-0.5, -0.5, -0.5\) m"),
    "one face turned": (
        Mesh(BOX.vertices, np.vstack([BOX.faces[:1, ::-1], BOX.faces[1:]])),
        "inconsistent winding: neighbouring faces disagree at 3 edges",
    ),
    "inside out": (BOX.flipped(), "inside out: its faces enclose -1 m3"),
    "a sheet with two sides": (Mesh(np.eye(3), np.array([[0, 1, 2], [2, 1, 0]])), "encloses no volume"),
    "a face that is a line": (Mesh(BOX.vertices, np.vstack([BOX.faces, [[0, 0, 1]]])), "1 of 13 faces are degenerate"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_the_reason(case):
    mesh, reason = REFUSED[case]
    with pytest.raises(InputError, match=reason):
        check_closed(mesh)


@pytest.mark.parametrize("density", [0.0, -1.0, np.nan, np.inf])
def test_density_must_be_positive(density):
    with pytest.raises(InputError, match="density must be above 0"):
        mass_properties(BOX, density)


def test_volume_has_the_sign_of_the_winding():
    assert compute_volume(BOX) == pytest.approx(1.0)
    assert compute_volume(BOX.flipped()) == pytest.approx(-1.0)


def test_faces_that_are_there_twice_are_refused():
    tetrahedron = Mesh(np.vstack([np.zeros(3), np.eye(3)]), [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    doubled = Mesh(tetrahedron.vertices, np.concatenate([tetrahedron.faces, np.roll(tetrahedron.faces, 1, axis=1)]))
    mass_properties(tetrahedron, 1000.0)
    with pytest.raises(InputError, match="4 of the mesh's 8 faces are there twice"):
        mass_properties(doubled, 1000.0)

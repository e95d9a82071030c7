"""A character's own mesh, cut by its skin weights into the segments that its joints carry.

A triangle belongs to the joint that moves it most. What is cut open is closed by a fan from the middle of each hole to
its rim, which makes any piece of surface the boundary of a solid, so that volume, centre and inertia follow exactly.
Meshes for games are seldom one clean skin: they are open, worn in layers, doubled or inside out. So
  layers     of the closed shells that one joint moves, those that lie within a larger one are left out
  inside out a shell of negative volume is turned
  the rest   a segment whose volume no body has is replaced by that of the table, and told
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from poise.body.character import SEGMENT_OF_ROLE, Character, Segment
from poise.body.geometry.mesh import Mesh
from poise.body.geometry.polyhedron import compute_volume, mass_properties
from poise.body.geometry.skin import SkinnedMesh
from poise.body.roles import mirror_role
from poise.body.segments.tables import DENSITIES
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.spatial.inertia import RigidInertia

# Vertices nearer than this part of the body's size are one: seams of texture maps, in single precision.
_WELD = 1e-6
# Meshes with fewer faces are made finer before they are cut.
_FINE = 10_000
# A shell is a layer of a larger one where this part of its box lies in the other's.
_LAYER = 0.5
# A shell smaller than this part of the largest of its joint is a button.
_BUTTON = 1e-3
# Of mesh to table, a segment's mass may differ by this factor, up or down, from how they differ in the middle: the
# heads of comic figures come to 7.
_PLAUSIBLE = 10.0


@dataclass(frozen=True, eq=False)
class SkinnedCharacter:
    """A character made of its own mesh; warnings say which segments are the table's, a sentence each."""

    character: Character
    warnings: tuple[str, ...]


def build_character(
    skeleton: Skeleton,
    skin: SkinnedMesh,
    mass: float | None = None,
    height: float | None = None,
    sex: str = "neutral",
    age: float = 30.0,
    name: str = "human",
) -> SkinnedCharacter:
    """A body whose segments are its mesh's, uniformly dense by Winter's table and scaled alike to the whole mass.

    skin    in metres, in the skeleton's rest pose
    mass    kg; an average one for the height if None
    height  m; by its bones if None
    """
    table = Character.from_skeleton(skeleton, mass, height, sex, age, name=name)
    skeleton = table.skeleton
    owners = find_owners(table)
    pieces = segment_skin(skin, skeleton, owners)
    found = {
        joint: inertia
        for joint, solids in pieces.items()
        if (inertia := _compute_inertia(solids, _find_density(skeleton, joint))) is not None
    }
    ratios = {joint: inertia.mass / table.inertias[joint].mass for joint, inertia in found.items()}
    usual = float(np.median(list(ratios.values()))) if ratios else 1.0
    own = [joint for joint, ratio in ratios.items() if 1.0 / _PLAUSIBLE < ratio / usual < _PLAUSIBLE]
    failed = [skeleton.labels[joint] for joint in sorted(set(owners) - set(own))]
    inertias = [found[i] if i in own else inertia for i, inertia in enumerate(table.inertias)]
    if not own:
        return SkinnedCharacter(
            table, ("no part of the mesh encloses a plausible volume; the masses are the table's.",)
        )
    warnings = []
    if failed:
        warnings.append(
            f"the mesh of {', '.join(failed)} encloses no plausible volume; these segments are the table's."
        )
    # The table's segments keep the table's mass, the mesh's share the rest.
    rest = table.mass - sum(inertia.mass for i, inertia in enumerate(inertias) if i not in own)
    factor = rest / sum(inertias[i].mass for i in own)
    for i in own:
        inertias[i] = RigidInertia(factor * inertias[i].mass, inertias[i].center, factor * inertias[i].inertia)
    segments = tuple(
        Segment(label, joint, inertia)
        for label, joint, inertia in zip(skeleton.labels, skeleton.names, inertias, strict=True)
        if inertia.mass > 0.0
    )
    return SkinnedCharacter(replace(table, segments=segments, table="meshes"), tuple(warnings))


def find_owners(character: Character) -> list[int]:
    """For each joint, the joint whose segment has its matter: itself, or the nearest above it that carries mass.

    Joints above all matter, such as a root on the ground, give theirs to the first joint that has some.
    """
    massive = [inertia.mass > 0.0 for inertia in character.inertias]
    first = massive.index(True)
    owners: list[int] = []
    for joint, parent in enumerate(character.skeleton.parents):
        owners.append(joint if massive[joint] else owners[parent] if parent >= 0 else first)
    return owners


def segment_skin(skin: SkinnedMesh, skeleton: Skeleton, owners: Sequence[int]) -> dict[int, tuple[Mesh, ...]]:
    """The closed meshes that each owner moves, in its joint's frame, by the owner's index; the largest first.

    owners  (J,) which joint gets the matter that a joint moves
    """
    size = float(np.ptp(skin.vertices, axis=0).max()) if len(skin.vertices) else 0.0
    if size == 0.0:
        return {}
    names, columns = np.unique(owners, return_inverse=True)
    vertices, faces, shares = _weld(skin, columns, len(names), _WELD * size)
    while len(faces) < _FINE:
        vertices, faces, shares = _subdivide(vertices, faces, shares)
    chosen = shares[faces].sum(axis=1).argmax(axis=1)
    rest = skeleton.rest_positions()
    pieces = {}
    for column in np.unique(chosen):
        joint = int(names[column])
        shells = [close(Mesh(vertices, part)) for part in _split_shells(faces[chosen == column])]
        solids = tuple(Mesh(solid.vertices - rest[joint], solid.faces) for solid in _choose_solids(shells))
        if solids:
            pieces[joint] = solids
    return pieces


def close(mesh: Mesh) -> Mesh:
    """The mesh with every hole covered: a fan of triangles from the middle of a rim. Unused vertices are dropped.

    Rims that touch are covered together. Where faces meet with the wrong winding, the fan makes good for it, too: in
    the result every edge is walked as often one way as the other.
    """
    used, faces = np.unique(mesh.faces, return_inverse=True)
    vertices, faces = mesh.vertices[used], faces.reshape(-1, 3)
    edges = np.concatenate([faces[:, [i, (i + 1) % 3]] for i in range(3)])
    low, high = edges.min(axis=1), edges.max(axis=1)
    keys, index = np.unique(low * len(vertices) + high, return_inverse=True)
    net = np.bincount(index.ravel(), np.where(edges[:, 0] == low, 1, -1), len(keys)).astype(int)
    rim = np.repeat(np.flatnonzero(net), np.abs(net[net != 0]))
    if not len(rim):
        return Mesh(vertices, faces)
    start, end = keys[rim] // len(vertices), keys[rim] % len(vertices)
    forward = net[rim] > 0
    start, end = np.where(forward, start, end), np.where(forward, end, start)
    hole = _find_components(len(vertices), start, end)[start]
    _, hole = np.unique(hole, return_inverse=True)
    lengths = np.linalg.norm(vertices[end] - vertices[start], axis=1) + 1e-12
    middles = 0.5 * (vertices[start] + vertices[end]) * lengths[:, None]
    sums = np.stack([np.bincount(hole, middles[:, axis]) for axis in range(3)], axis=1)
    centers = sums / np.bincount(hole, lengths)[:, None]
    fans = np.stack([end, start, len(vertices) + hole], axis=1)
    return Mesh(np.concatenate([vertices, centers]), np.concatenate([faces, fans]))


def _weld(
    skin: SkinnedMesh, columns: np.ndarray, count: int, distance: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices (V, 3), distinct faces (F, 3) and shares (V, count) of a skin without seams.

    Vertices in one cell of a grid are made one, if one joint moves them most: parts that touch may move apart.

    columns  (J,) the column of the shares that a joint adds to
    """
    shares = np.zeros((len(skin.vertices), count))
    for k in range(skin.joints.shape[1]):
        np.add.at(shares, (np.arange(len(shares)), columns[skin.joints[:, k]]), skin.weights[:, k])
    keys = np.column_stack([np.round(skin.vertices / distance), shares.argmax(axis=1)])
    _, first, index = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    faces = index.ravel()[skin.faces]
    return skin.vertices[first], faces[_find_distinct(faces)], shares[first]


def _subdivide(
    vertices: np.ndarray, faces: np.ndarray, shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every face in four, so that a coarse mesh is cut between its vertices and not along its zigzag."""
    edges = np.sort(np.concatenate([faces[:, [i, (i + 1) % 3]] for i in range(3)]), axis=1)
    unique, index = np.unique(edges, axis=0, return_inverse=True)
    ab, bc, ca = len(vertices) + index.ravel().reshape(3, -1)
    a, b, c = faces.T
    corners = [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
    finer = np.concatenate([np.stack(face, axis=1) for face in corners])
    vertices, shares = (np.concatenate([x, 0.5 * (x[unique[:, 0]] + x[unique[:, 1]])]) for x in (vertices, shares))
    return vertices, finer, shares


def _find_distinct(faces: np.ndarray) -> np.ndarray:
    """Indices of faces with three corners, each once; two that are turned against each other, a sheet, cancel."""
    a, b, c = faces.T
    whole = np.flatnonzero((a != b) & (b != c) & (c != a))
    corners = np.sort(faces[whole], axis=1)
    first = np.argmin(faces[whole], axis=1)
    after = faces[whole, (first + 1) % 3]
    turn = np.where(after == corners[:, 1], 1, -1)
    _, index = np.unique(corners, axis=0, return_inverse=True)
    net = np.bincount(index.ravel(), turn)[index.ravel()]
    kept = whole[net * turn > 0]
    _, once = np.unique(np.sort(faces[kept], axis=1), axis=0, return_index=True)
    return np.asarray(kept[np.sort(once)])


def _split_shells(faces: np.ndarray) -> list[np.ndarray]:
    """Faces (F, 3) by surface: neighbours across an edge of exactly two faces that agree on outside and inside."""
    directed = np.concatenate([faces[:, [i, (i + 1) % 3]] for i in range(3)])
    edges, index = np.unique(np.sort(directed, axis=1), axis=0, return_inverse=True)
    index = index.ravel()
    balance = np.bincount(index, np.where(directed[:, 0] < directed[:, 1], 1, -1), len(edges))
    joins = (np.bincount(index) == 2) & (balance == 0)
    owner = np.tile(np.arange(len(faces)), 3)[joins[index]]
    pairs = owner[np.argsort(index[joins[index]], kind="stable")].reshape(-1, 2)
    label = _find_components(len(faces), pairs[:, 0], pairs[:, 1])
    order = np.argsort(label, kind="stable")
    return np.split(faces[order], np.flatnonzero(np.diff(label[order])) + 1)


def _find_components(count: int, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """(count,) a number for each of the points, the same for those that edges connect."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    graph = coo_matrix((np.ones(len(start), np.int8), (start, end)), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1])


def _choose_solids(shells: list[Mesh]) -> tuple[Mesh, ...]:
    """The shells that enclose something, outside out, without those that are layers of larger ones."""
    volumes = [compute_volume(shell) for shell in shells]
    order = sorted(range(len(shells)), key=lambda i: -abs(volumes[i]))
    kept: list[Mesh] = []
    boxes: list[tuple[np.ndarray, np.ndarray]] = []
    for i in order:
        if abs(volumes[i]) <= _BUTTON * abs(volumes[order[0]]):
            break
        low, high = shells[i].vertices.min(axis=0), shells[i].vertices.max(axis=0)
        shared = [np.prod(np.clip(np.minimum(high, h) - np.maximum(low, l), 0.0, None)) for l, h in boxes]
        if max(shared, default=0.0) > _LAYER * np.prod(high - low):
            continue
        boxes.append((low, high))
        kept.append(shells[i] if volumes[i] > 0.0 else shells[i].flipped())
    return tuple(kept)


def _compute_inertia(solids: tuple[Mesh, ...], density: float) -> RigidInertia | None:
    """The inertia of what one joint moves, or None where it encloses nothing that a body could be."""
    try:
        found = RigidInertia.total(mass_properties(solid, density) for solid in solids)
    except InputError:
        return None
    places = np.concatenate([solid.vertices for solid in solids])
    inside = np.all((places.min(axis=0) <= found.center) & (found.center <= places.max(axis=0)))
    return found if inside and found.is_physical() else None


def _find_density(skeleton: Skeleton, joint: int) -> float:
    """kg/m3 of the matter at a joint, by its role or that of the nearest joint above it that has one."""
    labels = skeleton.labels
    for above in reversed(skeleton.chain(joint)):
        role = mirror_role(labels[above]) if labels[above].startswith("right") else labels[above]
        if role in SEGMENT_OF_ROLE:
            return DENSITIES[SEGMENT_OF_ROLE[role]]
    return DENSITIES["middleTrunk"]

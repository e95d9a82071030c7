"""From the keys of glTF nodes to the pose of a skeleton whose joints are aligned with the world at rest.

    W(t)   a joint's world matrix (3, 3), rotation and scale, and W0 the same at rest
    D(t) = W(t) W0^-1         how the joint has turned since, in world axes. Uniform scales and mirrors above it cancel
    q_j  = D_parent^-1 D_j    what a clip keeps

    s_j  = D_parent^-1 (p_j - p_parent) - o_j      the clip's shifts: bones that change, in length or by a scale

Every joint is thereby exactly where the file has it. Bones and scales at rest are those that the animation uses: the
usual scale, and the mean of translations that never come by the rest. Rotations are those at these scales, since a
scale does not turn a bone; under scales that differ by axis they are the nearest rotations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from poise.files.formats.gltf.nodes import Nodes, nearest_rotation
from poise.files.formats.gltf.rig import Rig
from poise.files.formats.gltf.tracks import Channel
from poise.findings import Finding, list_names
from poise.spatial import rotation

Tracks = Mapping[tuple[int, str], Channel]
# Of the body's size: lengths that differ by less are the same length, in single precision several times over.
_SAME = 2e-5
# A joint nearer than this to the end of its bone is there: what single precision leaves of it.
_NO_SHIFT = 1e-6
# Scales within this of each other are the same; and a matrix this near to orthonormal is a rotation.
_SAME_SCALE, _SKEW = 1e-3, 1e-9
_BLOCK = 200_000  # joints times frames that are worked on at once


def settle_nodes(nodes: Nodes, rig: Rig, tracks: Tracks, at: np.ndarray, anchor: int) -> tuple[Nodes, list[Finding]]:
    """The nodes with the bone lengths and scales that an animation uses, and warnings about those that change.

    anchor  the joint down to which bones rest as the file has them, since they are a way and not a body
    """
    translations, scales = nodes.translations.copy(), nodes.scales.copy()
    exact = {*rig.above, *_way_down(rig, anchor)}
    size = _measure(nodes, rig)
    stretched: list[str] = []
    swollen: list[str] = []
    worst = 0.0
    for node in (*rig.above, *rig.joints):
        if (node, "scale") in tracks:
            values = tracks[node, "scale"].sample(at)
            usual = np.median(values, axis=0)
            near = np.abs(usual - nodes.scales[node]) <= _SAME_SCALE * np.abs(nodes.scales[node])
            if np.abs(usual).min() > 1e-6 and not near.all():
                scales[node] = usual
            if np.abs(values - scales[node]).max() > _SAME_SCALE * np.abs(scales[node]).max():
                swollen.append(nodes.names[node])
        if (node, "translation") in tracks and node not in exact:
            values = tracks[node, "translation"].sample(at)
            unit = _find_unit(nodes, int(nodes.parents[node]))
            if not _holds(values, nodes.translations[node], _SAME * size / max(unit, 1e-300)):
                translations[node] = values.mean(axis=0)
            stretch = float(np.linalg.norm(values - translations[node], axis=1).max()) * unit
            if stretch > 50 * _SAME * size:
                stretched.append(nodes.names[node])
                worst = max(worst, stretch)
    found = []
    if swollen:
        message = f"those of {list_names(swollen)} are animated; joints are kept where that puts them."
        found.append(Finding("scales", message, tuple(swollen)))
    if stretched:
        message = f"those to {list_names(stretched)} change in length, by up to {worst:.3g} units; that is kept."
        found.append(Finding("bones", message, tuple(stretched)))
    return nodes.settled(translations, scales), found


@dataclass(frozen=True, eq=False)
class Poses:
    """positions (F, J, 3) of the joints in the world as the file has them; turns (F, J, 4) since rest, world axes."""

    positions: np.ndarray
    turns: np.ndarray


def compute_poses(nodes: Nodes, rig: Rig, tracks: Tracks, at: np.ndarray) -> Poses:
    """Where the joints are at times (F,), with everything that moves there; nodes are settled."""
    frames, joints = len(at), len(rig.joints)
    positions, turns = np.empty((frames, joints, 3)), np.empty((frames, joints, 4))
    block = max(1, _BLOCK // (joints + len(rig.above)))
    for start in range(0, frames, block):
        rows = slice(start, start + block)
        _compute_block(nodes, rig, tracks, at[rows], positions[rows], turns[rows])
    return Poses(positions, turns)


def _compute_block(
    nodes: Nodes, rig: Rig, tracks: Tracks, at: np.ndarray, positions: np.ndarray, turns: np.ndarray
) -> None:
    # Of each node its matrix with the scales of the moment, the same with those at rest, and its origin.
    worlds = {-1: (np.eye(3)[None], np.eye(3)[None], np.zeros((1, 3)))}
    place = {node: j for j, node in enumerate(rig.joints)}
    for node in (*rig.above, *rig.joints):
        above, steady_above, origin = worlds[int(nodes.parents[node])]
        turn, shift, scale = (tracks.get((node, path)) for path in ("rotation", "translation", "scale"))
        matrix = None if turn is None else rotation.to_matrix(turn.sample(at))
        linear = steady = nodes.linear[node][None] if matrix is None else matrix * nodes.scales[node]
        if scale is not None:
            turned = rotation.to_matrix(nodes.rotations[node])[None] if matrix is None else matrix
            linear = turned * scale.sample(at)[:, None]
        offset = nodes.translations[node][None] if shift is None else shift.sample(at)
        place_now = origin + (above @ offset[:, :, None])[:, :, 0]
        is_same = above is steady_above and linear is steady
        world = above @ linear
        steady_world = world if is_same else steady_above @ steady
        worlds[node] = world, steady_world, place_now
        if node not in place:
            continue
        j = place[node]
        positions[:, j] = place_now
        rest = nodes.world[node, :3, :3]
        if abs(np.linalg.det(rest)) > 1e-12 * np.abs(rest).max() ** 3:
            turns[:, j] = to_turns(steady_world @ np.linalg.inv(rest))
        else:  # shrunk to nothing: no telling how it turns, so it goes with its parent
            turns[:, j] = turns[:, rig.parents[j]] if j else rotation.identity()


def compute_shifts(rig: Rig, offsets: np.ndarray, poses: Poses) -> np.ndarray | None:
    """(F, J, 3) how far each joint is from the end of its bone, in its parent's axes; None where none ever is."""
    shifts = np.zeros_like(poses.positions)
    parents = rig.parents[1:]
    apart = poses.positions[:, 1:] - poses.positions[:, parents]
    shifts[:, 1:] = rotation.rotate(rotation.conjugate(poses.turns[:, parents]), apart) - offsets[1:]
    size = float(np.abs(offsets[1:]).sum(axis=0).max(initial=0.0))
    shifts[:, np.abs(shifts).max(axis=(0, 2)) <= _NO_SHIFT * size] = 0.0
    return shifts if shifts.any() else None


def to_turns(matrices: np.ndarray) -> np.ndarray:
    """Quaternions (F, 4) of matrices (F, 3, 3) of determinant 1: rotations, or nearly so under scales by axis."""
    off = np.abs(np.einsum("fij,fkj->fik", matrices, matrices) - np.eye(3)).max(axis=(1, 2))
    skew = ~(off <= _SKEW)
    if skew.any():
        matrices = matrices.copy()
        matrices[skew] = nearest_rotation(matrices[skew])
    return rotation.from_matrix(matrices)


def to_local(rig: Rig, turns: np.ndarray) -> np.ndarray:
    """Rotations (F, J, 4) relative to the parents, from turns since rest in world axes (F, J, 4)."""
    local = turns.copy()
    local[:, 1:] = rotation.multiply(rotation.conjugate(turns[:, rig.parents[1:]]), turns[:, 1:])
    return local


def _holds(values: np.ndarray, point: np.ndarray, slack: float) -> bool:
    """Whether a point (3,) is in the box round values (F, 3): the bone has its rest length, and stretches about it."""
    return bool(np.all((values.min(axis=0) - slack <= point) & (point <= values.max(axis=0) + slack)))


def _way_down(rig: Rig, joint: int) -> list[int]:
    """Nodes from the root down to a joint, both included."""
    path = []
    while joint >= 0:
        path.append(rig.joints[joint])
        joint = int(rig.parents[joint])
    return path


def _measure(nodes: Nodes, rig: Rig) -> float:
    """The largest side of the box round the joints at rest."""
    places = nodes.world[list(rig.joints), :3, 3]
    return float(np.ptp(places, axis=0).max())


def _find_unit(nodes: Nodes, node: int) -> float:
    """World units a local unit below a node."""
    return 1.0 if node < 0 else float(np.cbrt(abs(np.linalg.det(nodes.world[node, :3, :3]))))

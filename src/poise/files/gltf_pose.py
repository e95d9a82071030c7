"""From the keys of glTF nodes to the pose of a skeleton whose joints are aligned with the world at rest.

    W(t)   a joint's world matrix (3, 3), rotation and scale, and W0 the same at rest
    D(t) = W(t) W0^-1         how the joint has turned since, in world axes. Uniform scales and mirrors above it cancel
    q_j  = D_parent^-1 D_j    what a clip keeps

A skeleton has bones of fixed length and a position at its root only. So scales are held at their usual value and inner
translations at rest, or at their mean where they never come by the rest. The root is placed so that the *hips* are
exactly where the file has them: files often have a root joint on the ground and move the hips over it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from poise.files.gltf_nodes import Nodes, nearest_rotation
from poise.files.gltf_rig import Rig
from poise.files.gltf_tracks import Track
from poise.spatial import rotation

Tracks = Mapping[tuple[int, str], Track]

# Of the body's size: lengths that differ by less are the same length, in single precision several times over.
_SAME = 2e-5
# Scales within this of each other are the same; and a matrix this near to orthonormal is a rotation.
_SAME_SCALE, _SKEW = 1e-3, 1e-5
_BLOCK = 200_000  # joints times frames that are worked on at once


def settle_nodes(nodes: Nodes, rig: Rig, tracks: Tracks, at: np.ndarray, anchor: int) -> tuple[Nodes, list[str]]:
    """The nodes with the bone lengths and scales that an animation uses, and what that loses.

    anchor  the joint down to which translations are kept exactly
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
    warnings = []
    if swollen:
        warnings.append(
            f"the scale of {_list(swollen)} is animated, which a skeleton cannot do; the usual one is used."
        )
    if stretched:
        warnings.append(
            f"the bones to {_list(stretched)} change in length, by up to {worst:.3g} units; one length is used."
        )
    return nodes.settled(translations, scales), warnings


@dataclass(frozen=True, eq=False)
class Poses:
    """positions (F, J, 3) of the joints in the world as the file has them; turns (F, J, 4) since rest, world axes."""

    positions: np.ndarray
    turns: np.ndarray


def compute_poses(nodes: Nodes, rig: Rig, tracks: Tracks, at: np.ndarray) -> Poses:
    """Where the joints are at times (F,). Scales do not move; translations do, at every joint."""
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
    worlds: dict[int, tuple[np.ndarray, np.ndarray]] = {-1: (np.eye(3)[None], np.zeros((1, 3)))}
    place = {node: j for j, node in enumerate(rig.joints)}
    for node in (*rig.above, *rig.joints):
        above, origin = worlds[int(nodes.parents[node])]
        turn, shift = tracks.get((node, "rotation")), tracks.get((node, "translation"))
        linear = nodes.linear[node][None]
        if turn is not None:
            linear = rotation.to_matrix(turn.sample(at)) * nodes.scales[node]
        offset = nodes.translations[node][None] if shift is None else shift.sample(at)
        world = above @ linear, origin + (above @ offset[:, :, None])[:, :, 0]
        worlds[node] = world
        if node not in place:
            continue
        j = place[node]
        positions[:, j] = world[1]
        rest = nodes.world[node, :3, :3]
        if abs(np.linalg.det(rest)) > 1e-12 * np.abs(rest).max() ** 3:
            turns[:, j] = to_turns(world[0] @ np.linalg.inv(rest))
        else:  # shrunk to nothing: no telling how it turns, so it goes with its parent
            turns[:, j] = turns[:, rig.parents[j]] if j else rotation.identity()


def to_turns(matrices: np.ndarray) -> np.ndarray:
    """Quaternions (F, 4) of matrices (F, 3, 3) of determinant 1: rotations, or nearly so under scales by axis."""
    off = np.abs(np.einsum("fij,fkj->fik", matrices, matrices) - np.eye(3)).max(axis=(1, 2))
    skew = ~(off <= _SKEW)
    if skew.any():
        matrices = matrices.copy()
        matrices[skew] = nearest_rotation(matrices[skew])
    return rotation.from_matrix(matrices)


def place_root(rig: Rig, offsets: np.ndarray, poses: Poses, anchor: int) -> np.ndarray:
    """(F, 3) where the root must be for joint `anchor` to be where the file has it; offsets (J, 3) are the bones."""
    root = poses.positions[:, anchor].copy()
    joint = anchor
    while joint > 0:
        parent = int(rig.parents[joint])
        root -= rotation.rotate(poses.turns[:, parent], offsets[joint])
        joint = parent
    return root


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


def _list(names: list[str]) -> str:
    shown = ", ".join(names[:6])
    return shown if len(names) <= 6 else f"{shown} and {len(names) - 6} more"

"""The nodes of a glTF file: their tree, their names and where they rest.

A node's local transform is T R S, or a matrix; its world transform is that of its parent times it [glTF 2.0, 3.5.3].
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from poise.files.formats.gltf.document import Document
from poise.files.formats.gltf.entry import JsonObject
from poise.spatial import rotation

MAX_DEPTH = 512


@dataclass(frozen=True, eq=False)
class Nodes:
    """All nodes, each with an index into these arrays.

    names         unlike each other; nodes without a name get one
    parents       (N,) index of the parent, -1 at the top
    order         (N,) indices, parents before children, the children of a node in the file's order
    translations  (N, 3), rotations (N, 4) wxyz, scales (N, 3): local, at rest
    linear        (N, 3, 3) local rotation and scale at rest as one matrix, with a matrix node's shear
    """

    names: tuple[str, ...]
    parents: np.ndarray
    order: np.ndarray
    translations: np.ndarray
    rotations: np.ndarray
    scales: np.ndarray
    linear: np.ndarray

    @cached_property
    def world(self) -> np.ndarray:
        """(N, 4, 4) world transforms at rest."""
        world = np.tile(np.eye(4), (len(self.names), 1, 1))
        world[:, :3, :3], world[:, :3, 3] = self.linear, self.translations
        with np.errstate(over="ignore", invalid="ignore"):
            for node in self.order:
                if self.parents[node] >= 0:
                    world[node] = world[self.parents[node]] @ world[node]
        return world

    def settled(self, translations: np.ndarray, scales: np.ndarray) -> Nodes:
        """The same nodes resting elsewhere and with other sizes. A matrix node whose scale is kept keeps its matrix."""
        changed = np.any(scales != self.scales, axis=1)
        linear = np.where(changed[:, None, None], rotation.to_matrix(self.rotations) * scales[:, None], self.linear)
        return replace(self, translations=translations, scales=scales, linear=linear)

    def chain(self, node: int) -> list[int]:
        """Indices from the top down to a node, both included."""
        path = [node]
        while self.parents[path[-1]] >= 0:
            path.append(int(self.parents[path[-1]]))
        return path[::-1]

    def closure(self, chosen: Iterable[int]) -> np.ndarray:
        """(N,) whether each node is one of those chosen or hangs on one."""
        inside = np.zeros(len(self.names), bool)
        inside[list(chosen)] = True
        for node in self.order:
            parent = self.parents[node]
            inside[node] |= parent >= 0 and inside[parent]
        return inside

    def common_ancestor(self, chosen: Iterable[int]) -> int | None:
        """The lowest node that carries all of these (one of them may be it), or None where they share none."""
        chains = [self.chain(node) for node in chosen]
        shared = -1
        for depth in range(min(len(chain) for chain in chains)):
            if len({chain[depth] for chain in chains}) > 1:
                break
            shared = depth
        return chains[0][shared] if shared >= 0 else None


def read_nodes(document: Document) -> Nodes:
    """The node tree of a document, checked: every node has one parent at most and none carries itself."""
    entries = document.nodes
    if not entries:
        raise document.top.error("has no nodes, so there is nothing in it that could move.")
    parents = _read_parents(entries)
    order = _sort(entries, parents)
    parts = [_read_local(entry) for entry in entries]
    translations, rotations, scales, linear = (np.array([part[k] for part in parts]) for k in range(4))
    names = make_unique([entry.text("name") or f"node{i}" for i, entry in enumerate(entries)])
    nodes = Nodes(names, parents, order, translations, rotations, scales, linear)
    if not np.isfinite(nodes.world).all():
        bad = int(np.argwhere(~np.isfinite(nodes.world))[0][0])
        raise entries[bad].error("is beyond all bounds: its transform, with its parents', overflows.")
    return nodes


def make_unique(names: list[str]) -> tuple[str, ...]:
    """The names with a number after those that were there before: `Hand`, `Hand.2`."""
    taken = set(names)
    seen: set[str] = set()
    repeats: dict[str, int] = {}
    unique = []
    for name in names:
        label = name
        if name in seen:
            number = repeats.get(name, 2)
            while (label := f"{name}.{number}") in taken:
                number += 1
            repeats[name] = number + 1
            taken.add(label)
        seen.add(label)
        unique.append(label)
    return tuple(unique)


def _read_parents(entries: list[JsonObject]) -> np.ndarray:
    parents = np.full(len(entries), -1)
    for i, entry in enumerate(entries):
        for child in entry.indices("children", len(entries)):
            if parents[child] >= 0 or child == i:
                other = "itself" if child == i else f"node {parents[child]}"
                raise entry.error(f"has node {child} as its child, which already hangs on {other}. Nodes form a tree.")
            parents[child] = i
    return parents


def _sort(entries: list[JsonObject], parents: np.ndarray) -> np.ndarray:
    """Depth first, children in the file's order; an error where some nodes are never reached: they go in a circle."""
    order: list[int] = []
    waiting = [(int(i), 1) for i in np.flatnonzero(parents < 0)[::-1]]
    while waiting:
        node, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise entries[node].error(f"lies deeper than {MAX_DEPTH} nodes, more than can be read.")
        order.append(node)
        waiting += [(child, depth + 1) for child in entries[node].indices("children", len(entries))[::-1]]
    if len(order) < len(entries):
        lost = int(np.setdiff1d(np.arange(len(entries)), order)[0])
        raise entries[lost].error("carries itself: its parents go in a circle. Nodes form a tree.")
    return np.array(order)


def _read_local(entry: JsonObject) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A node's translation, rotation, scale, and the matrix of the last two."""
    stored = entry.numbers("matrix", 16)
    if stored is not None:
        matrix = stored.reshape(4, 4).T  # stored column by column
        turn, scale = split_linear(matrix[:3, :3])
        return matrix[:3, 3].copy(), turn, scale, matrix[:3, :3].copy()
    translation = _or(entry.numbers("translation", 3), [0.0, 0.0, 0.0])
    turn, scale = _or(entry.numbers("rotation", 4), [0.0, 0.0, 0.0, 1.0]), _or(entry.numbers("scale", 3), [1.0] * 3)
    length = float(np.linalg.norm(turn))
    if not 1e-6 < length < 1e6:
        raise entry.error("has a rotation of no direction: a quaternion must have the length 1.")
    turn = turn[[3, 0, 1, 2]] / length
    return translation, turn, scale, rotation.to_matrix(turn) * scale


def _or(value: np.ndarray | None, default: list[float]) -> np.ndarray:
    return np.array(default) if value is None else value


def split_linear(linear: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotation (4,) and scale (3,) of a matrix (3, 3): what is left after them, shear, is dropped. A mirror is in x."""
    scale: np.ndarray = np.linalg.norm(linear, axis=0)
    if np.linalg.det(linear) < 0:
        scale[0] = -scale[0]
    turn = nearest_rotation(linear / np.where(scale == 0.0, 1.0, scale))
    return rotation.from_matrix(turn), scale


def nearest_rotation(linear: np.ndarray) -> np.ndarray:
    """The rotation matrices (..., 3, 3) nearest to matrices (..., 3, 3), mirrors taken out: U V^T of U S V^T."""
    u, _, vt = np.linalg.svd(linear)
    u = u.copy()
    u[..., :, 2] *= np.where(np.linalg.det(u @ vt) < 0.0, -1.0, 1.0)[..., None]
    return np.asarray(u @ vt)

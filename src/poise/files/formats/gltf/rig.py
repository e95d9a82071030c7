"""Which nodes of a glTF file are the body's joints.

  VRM           the bones that the file names, and the skins that hang on them
  a skin        its joints. Several skins are one body where they share joints or hang on one another; of several bodies
                the one that is animated, then the one with most joints, is taken
  neither       the tree of nodes that an animation moves
What lies between joints is a joint too, and so is what hangs on one and holds nothing to draw (end nodes, attachment
points, twist bones), is moved by an animation, or is named as a part of the body that none of the others is: a foot
may be a plain node outside the skin, or one that holds a mesh. A part that hangs elsewhere, and moves, is one too.
Joints under different nodes have these nodes' common parent as their root.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.role_finding.from_names import find_named_roles
from poise.body.roles import BODY_ROLES
from poise.body.skeleton import Skeleton
from poise.errors import FileError
from poise.files.formats.gltf.document import Document
from poise.files.formats.gltf.nodes import Nodes
from poise.files.formats.gltf.tracks import find_moving
from poise.files.formats.gltf.vrm import Humanoid
from poise.findings import Finding

MAX_JOINTS = 4096
_MOST_LISTED = 50_000  # joints in the lists of all skins together
_DRAWN = ("mesh", "camera", "skin")


@dataclass(frozen=True, eq=False)
class Rig:
    """The joints of one body.

    joints    node of each joint, parents before children; the first is the root
    parents   (J,) each joint's parent among the joints, -1 for the root
    above     nodes over the root, the topmost first
    skins     the skins that these joints move
    findings  what was left out
    """

    joints: tuple[int, ...]
    parents: np.ndarray
    above: tuple[int, ...]
    skins: tuple[int, ...]
    findings: tuple[Finding, ...] = ()


def find_rig(document: Document, nodes: Nodes, humanoid: Humanoid | None) -> Rig:
    """The body's joints, by what the file says; an error where there is nothing that could be one."""
    skins = [list(dict.fromkeys(skin.indices("joints", len(document.nodes)))) for skin in document.skins]
    if sum(map(len, skins)) > _MOST_LISTED:
        raise FileError(document.path, f"its skins list more than {_MOST_LISTED} joints in all.")
    moving = _find_all_moving(document)
    own, seeds, found = _find_seeds(document, nodes, humanoid, skins, moving)
    seeds, left = _keep_one_tree(nodes, seeds)
    if left:
        found.append(Finding("joints", f"{left} under no common node with the others are left out.", left))
    root, joints = _complete(document, nodes, seeds, moving)
    needed = _find_needed(document, nodes, root, joints, moving)
    if needed:
        root, joints = _complete(document, nodes, seeds | needed, moving)
    if len(joints) > MAX_JOINTS:
        raise FileError(document.path, f"its skeleton has {len(joints)} joints; at most {MAX_JOINTS} can be read.")
    ordered = _order(nodes, joints, [skins[i] for i in own])
    place = {node: i for i, node in enumerate(ordered)}
    parents = np.array([-1, *(place[int(nodes.parents[node])] for node in ordered[1:])])
    return Rig(tuple(ordered), parents, tuple(nodes.chain(root)[:-1]), tuple(own), tuple(found))


def _find_seeds(
    document: Document, nodes: Nodes, humanoid: Humanoid | None, skins: list[list[int]], moving: set[int]
) -> tuple[list[int], set[int], list[Finding]]:
    """Return the skins of the body and the nodes that surely are joints: a VRM's bones, a skin's, or moving ones."""
    if humanoid is not None:
        seeds = set(humanoid.nodes.values())
        carried = nodes.closure(seeds)
        own = [i for i, joints in enumerate(skins) if any(carried[joint] for joint in joints)]
        return own, seeds | {joint for i in own for joint in skins[i] if carried[joint]}, []
    bodies = _group_skins(nodes, skins)
    if not bodies:
        return [], _find_animated_tree(document, nodes, moving), []
    own = _choose_body(document, skins, bodies)
    seeds = {joint for i in own for joint in skins[i]}
    if len(bodies) == 1:
        return own, seeds, []
    message = f"the file holds {len(bodies)} skinned bodies; the one of skin {own[0]} is read."
    return own, seeds, [Finding("bodies", message, len(bodies))]


def _group_skins(nodes: Nodes, skins: list[list[int]]) -> list[list[int]]:
    """Skins that make up one body: those that share joints, or whose joints hang on each other's."""
    owner: dict[int, int] = {}  # joint -> body
    carriers: list[tuple[int, int, int]] = []  # depth of a skin's common node, that node, skin
    for i, joints in enumerate(skins):
        common = nodes.common_ancestor(joints) if joints else None
        if common is not None:
            carriers.append((len(nodes.chain(common)), common, i))
    bodies: list[list[int]] = []
    for _, common, i in sorted(carriers):
        chain = [*skins[i], *reversed(nodes.chain(common))]
        body = next((owner[node] for node in chain if node in owner), None)
        if body is None:
            body = len(bodies)
            bodies.append([])
        bodies[body].append(i)
        owner.update(dict.fromkeys(skins[i], body))
    return [sorted(body) for body in bodies]


def _choose_body(document: Document, skins: list[list[int]], bodies: list[list[int]]) -> list[int]:
    if len(bodies) == 1:
        return bodies[0]
    moving = _find_all_moving(document)

    def rank(body: list[int]) -> tuple[bool, int]:
        joints = {joint for i in body for joint in skins[i]}
        return bool(joints & moving), len(joints)

    return max(bodies, key=rank)


def _find_all_moving(document: Document) -> set[int]:
    return set().union(*(find_moving(document, animation) for animation in document.animations))


def _find_animated_tree(document: Document, nodes: Nodes, moving: set[int]) -> set[int]:
    """All nodes of the tree that the animations move; from where it branches, or where the first one moves.

    Where names tell a person, what hangs beside him is not of it: a ball, another's sword.
    """
    moving = {node for node in moving if _may_be_joint(document, node)}
    if not moving:
        raise FileError(
            document.path, "holds no skeleton: no skin, no bones of a VRM, and no animation that moves a node."
        )
    moving, _ = _keep_one_tree(nodes, moving)
    root = nodes.chain(next(iter(moving)))[0]
    plain = _find_plain(document)
    children = _list_children(nodes)
    hips = _find_hips(nodes, root)
    while root not in moving and root != hips:
        below = [child for child in children[root] if plain[child] or child in moving]
        if hips is not None:
            below = [next(node for node in nodes.chain(hips) if nodes.parents[node] == root)]
        if len(below) != 1:
            break
        root = below[0]
    return {int(i) for i in np.flatnonzero(nodes.closure([root])) if plain[i] or i in moving}


def _find_hips(nodes: Nodes, top: int) -> int | None:
    """The hips of a person whose limbs are named below a node, or None."""
    below = nodes.closure([top])
    tree = [int(node) for node in nodes.order if below[node]]
    parts = _find_parts(nodes, tree) if len(tree) <= MAX_JOINTS else {}
    return parts.get("hips") if {"leftUpperLeg", "rightUpperLeg"} <= set(parts) else None


def _keep_one_tree(nodes: Nodes, chosen: set[int]) -> tuple[set[int], int]:
    """Those of the tree, of several without a common node, that has most of them; and how many that leaves out."""
    tops: dict[int, set[int]] = {}
    for node in sorted(chosen):
        tops.setdefault(nodes.chain(node)[0], set()).add(node)
    kept = max(tops.values(), key=len)
    return kept, len(chosen) - len(kept)


def _complete(document: Document, nodes: Nodes, seeds: set[int], moving: set[int]) -> tuple[int, set[int]]:
    """The root of some joints, and all joints of their body: what moves below them, what is between, plain children."""
    root = nodes.common_ancestor(seeds)
    assert root is not None
    carried = nodes.closure(seeds)
    below = {node for node in moving if carried[node] and _may_be_joint(document, node)}
    found = _add_between(nodes, root, seeds | below)
    plain = _find_plain(document)
    for node in nodes.order:
        if plain[node] and int(nodes.parents[node]) in found:
            found.add(int(node))
    return root, found


def _find_needed(document: Document, nodes: Nodes, root: int, joints: set[int], moving: set[int]) -> set[int]:
    """Nodes that are named as parts of the body which no joint is: below the root, or elsewhere if they move."""
    tree = [int(node) for node in nodes.order if nodes.chain(int(node))[0] == nodes.chain(root)[0]]
    below = nodes.closure([root])
    others = {n for n in tree if n not in joints and (below[n] or n in moving) and _may_be_joint(document, n)}
    if not others or len(tree) > MAX_JOINTS:
        return set()
    have = _find_parts(nodes, [node for node in tree if node in joints])
    return {node for role, node in _find_parts(nodes, tree).items() if role not in have and node in others}


def _find_parts(nodes: Nodes, chosen: list[int]) -> dict[str, int]:
    """Role -> node, by the names of some nodes, parents before children, of one tree."""
    place = {node: i for i, node in enumerate(chosen)}
    parents = [-1, *(place[int(nodes.parents[node])] for node in chosen[1:])]
    names = tuple(nodes.names[node] for node in chosen)
    skeleton = Skeleton(names, np.array(parents), nodes.world[chosen, :3, 3])
    return {role: chosen[i] for role, i in find_named_roles(skeleton).items() if role in BODY_ROLES}


def _may_be_joint(document: Document, node: int) -> bool:
    """Whether a node's own transform counts for a body: not a camera's, and not that of a mesh that a skin bends."""
    return not any(key in document.nodes[node] for key in ("camera", "skin"))


def _add_between(nodes: Nodes, root: int, joints: set[int]) -> set[int]:
    found = {root}
    for joint in joints:
        while joint not in found:
            found.add(joint)
            joint = int(nodes.parents[joint])
    return found


def _order(nodes: Nodes, joints: set[int], skins: list[list[int]]) -> list[int]:
    """The one skin's own order where it lists all joints, parents first; else depth first."""
    if len(skins) == 1 and len(skins[0]) == len(joints) and set(skins[0]) == joints:
        before: set[int] = set()
        for joint in skins[0]:
            if int(nodes.parents[joint]) in joints and int(nodes.parents[joint]) not in before:
                break
            before.add(joint)
        else:
            return skins[0]
    return [int(node) for node in nodes.order if int(node) in joints]


def _find_plain(document: Document) -> list[bool]:
    """Of each node, whether it holds nothing to draw or to look through."""
    return [not any(key in node for key in _DRAWN) for node in document.nodes]


def _list_children(nodes: Nodes) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in nodes.names]
    for node in nodes.order:
        if nodes.parents[node] >= 0:
            children[nodes.parents[node]].append(int(node))
    return children

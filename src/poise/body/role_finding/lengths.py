"""A skeleton's lengths, which no pose changes: the bone to each joint, the farthest end below it, and the way there."""

from __future__ import annotations

import numpy as np

from poise.body.skeleton import Skeleton

# Bones shorter than this share of the longest way along the bones are no bones: a robot's axes, a rig's helpers.
_TINY = 0.008


class Shape:
    """A tree's lengths: the bone to each joint, the farthest end below each, and the way there."""

    def __init__(self, skeleton: Skeleton):
        self.skeleton = skeleton
        self.bones = np.linalg.norm(skeleton.offsets, axis=1)
        self.tips = np.where(skeleton.has_tip, np.linalg.norm(skeleton.tips, axis=1), 0.0)
        self.children: list[list[int]] = [[] for _ in skeleton.names]
        self.reach = self.tips.copy()  # the longest way down from each joint
        self.next = np.full(len(skeleton), -1)
        span = self.tips.copy()
        for joint in range(len(skeleton) - 1, 0, -1):
            parent = int(skeleton.parents[joint])
            self.children[parent].insert(0, joint)
            way = self.reach[joint] + self.bones[joint]
            span[parent] = max(span[parent], span[joint], self.reach[parent] + way)
            if way >= self.reach[parent]:
                self.reach[parent], self.next[parent] = way, joint
        self.span = float(span[0])

    def main_chain(self, joint: int) -> list[int]:
        """From a joint along the longest way to its end."""
        chain = [joint]
        while self.next[chain[-1]] >= 0:
            chain.append(int(self.next[chain[-1]]))
        return chain

    def profile(self, chain: list[int]) -> np.ndarray:
        """How far along the bones each joint of a chain is from its first, and the end behind the last."""
        steps = [0.0, *self.bones[chain[1:]], self.tips[chain[-1]]]
        return np.cumsum(steps)


def contract(skeleton: Skeleton) -> tuple[Skeleton, list[list[int]]]:
    """The skeleton with joints that follow one another at about one place made one, and which they were.

    Robots have a joint for each axis of a shoulder; rigs have helpers in the place of what they help.
    """
    bones = np.linalg.norm(skeleton.offsets, axis=1)
    counts = np.bincount(np.maximum(skeleton.parents, 0)[1:], minlength=len(skeleton))
    tiny = _TINY * float(Shape(skeleton).span)
    group_of = np.arange(len(skeleton))
    members: dict[int, list[int]] = {0: [0]}
    for i in range(1, len(skeleton)):
        parent = int(skeleton.parents[i])
        if counts[parent] == 1 and not skeleton.has_tip[parent] and bones[i] <= tiny:
            group_of[i] = group_of[parent]
            members[int(group_of[i])].append(i)
        else:
            members[i] = [i]
    kept = list(members)
    new = {old: k for k, old in enumerate(kept)}
    rest = skeleton.rest_positions()
    parents = [-1 if skeleton.parents[i] < 0 else new[int(group_of[skeleton.parents[i]])] for i in kept]
    offsets = [rest[i] - (rest[kept[p]] if p >= 0 else 0.0) for i, p in zip(kept, parents, strict=True)]
    tips = [skeleton.tips[members[i][-1]] for i in kept]
    plain = Skeleton(tuple(skeleton.names[i] for i in kept), np.array(parents), np.array(offsets), np.array(tips))
    return plain, list(members.values())


def find_way_out(shape: Shape, joint: int) -> float:
    """How far the tree reaches from a joint by way of its parent."""
    way, longest = 0.0, 0.0
    while (parent := int(shape.skeleton.parents[joint])) >= 0:
        way += float(shape.bones[joint])
        others = [shape.reach[c] + shape.bones[c] for c in shape.children[parent] if c != joint]
        longest = max(longest, way + max(others, default=0.0))
        joint = parent
    return longest


def compute_distance(shape: Shape, a: int, b: int) -> float:
    """Length of the way along the bones between two joints."""
    chains = shape.skeleton.chain(a), shape.skeleton.chain(b)
    shared = set(chains[0]) & set(chains[1])
    return float(sum(shape.bones[i] for chain in chains for i in chain if i not in shared))

"""A body as inverse kinematics sees it: a tree with masses whose joints turn by angles in their ranges.

Compiled from a character: plain arrays in joint order, derived once and thrown away.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from poise.body.character import Character
from poise.dynamics.tree import build_tree
from poise.ik.solve_kernels import FigureArrays
from poise.spatial import rotation

COMFORT = 0.1


class Figure:
    """A body that can be posed.

    character  whose it is
    arrays     what kernels read
    """

    def __init__(self, character: Character, free: bool = False, stiffness: Mapping[str, float] | None = None):
        self.character = character
        tree, limits = build_tree(character), character.limits
        count = len(tree)
        under = np.zeros((count, count), np.uint8)
        for i in range(count):
            k = i
            while k >= 0:
                under[k, i] = 1
                k = int(tree.parents[k])
        before, after = rotation.identity((count,)), rotation.identity((count,))
        joint: list[int] = [-1] * 3 + [-2] * 3 if free else []
        which: list[int] = [0, 1, 2, 0, 1, 2] if free else []
        low, high, rest = [-np.inf] * len(joint), [np.inf] * len(joint), [0.0] * len(joint)
        for i, name in enumerate(tree.names):
            if i == 0 or name not in limits or name not in character.freedoms:
                continue
            ends = limits[name]
            before[i], after[i] = rotation.conjugate(ends.parent_zero), ends.child_zero
            axes = ends.axes @ character.freedoms[name].T  # (3, freedoms)
            for a in range(3):
                if ends.upper[a] > ends.lower[a] and np.linalg.norm(axes[a]) > 0.5:
                    joint.append(i)
                    which.append(a)
                    low.append(ends.lower[a])
                    high.append(ends.upper[a])
                    rest.append(float(np.clip(0.0, ends.lower[a], ends.upper[a])))
        turns = np.zeros(count, np.bool_)
        turns[[i for i in joint if i >= 0]] = True
        n = len(joint)
        self.arrays = FigureArrays(
            tree.parents.copy(), tree.offsets.copy(), tree.masses.copy(), tree.centers.copy(), under, before, after,
            rotation.to_matrix(before), turns, np.array(joint), np.array(which), np.array(low), np.array(high),
            np.ones(n), np.array(rest), np.full(n, COMFORT),
        )  # fmt: skip

    def angles(self, rotations: np.ndarray) -> np.ndarray:
        """(J, 3) angles of joint rotations (J, 4); of joints that do not turn 0."""
        out = np.zeros((len(rotations), 3))
        for i, name in enumerate(self.character.skeleton.names):
            if self.arrays.turns[i]:
                out[i] = self.character.limits[name].angles(rotations[i])
        return out

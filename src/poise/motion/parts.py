"""The joints of a part: `legs`, `arms`, `leftArm`, `head`, `trunk`, `upperBody`, `body`, or joints of your own choice.

A joint without a role belongs to the part of the nearest joint with one on its way to the root, so that fingers, twist
bones and props follow the limb they hang from, whatever a file calls them.

`find_runs` finds stretches of time: where a mask holds.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from poise.body.roles import BODY, find_part
from poise.body.skeleton import Skeleton
from poise.errors import InputError


def part_joints(skeleton: Skeleton, part: str | Iterable[str]) -> list[int]:
    """Indices, in order, of the joints of a part.

    part   the name of a part, or joint names and roles, each of which stands for that joint alone
    """
    if not isinstance(part, str):
        return sorted({skeleton.index(joint) for joint in part})
    roles = find_part(part)
    if part == BODY:
        return list(range(len(skeleton)))
    joints = [i for i, role in enumerate(skeleton.structure.nearest_roles) if role in roles]
    if not joints:
        known = ", ".join(skeleton.roles) or "none"
        raise InputError(f"this skeleton has no joint in part '{part}'; its roles are {known}.")
    return joints


def find_runs(mask: np.ndarray) -> np.ndarray:
    """(N, 2) first and last index of each stretch of True in (F,)."""
    edges = np.diff(np.concatenate([[0], mask.astype(np.int8), [0]]))
    return np.stack([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1], axis=1)

"""A body split by who moves it: a physical part P, and kinematic parts K_1 ... K_n on their connectors (W1).   [mix, 2]

From the root outwards a body may go over from kinematic to physical once and from physical to kinematic once:

    kinematic base  ->  physical  ->  kinematic part, on a connector C of the physical part

Either end may be empty: all physical (tracking), all kinematic (puppets), arms and head on physical legs and trunk (the
mix paper), physical arms on a pelvis that a clip carries. What cannot be: a physical joint beyond a kinematic part that
itself hangs from a physical body. Its motion would act back through joints whose acceleration is given, on a connector
whose acceleration is not, and no engine could be told so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError


@dataclass(frozen=True)
class KinematicPart:
    """One tree of kinematic joints that hangs from a physical body.

    connector  index of the body it hangs from, in P
    joints     indices of its joints, the first the one at the connector; parents first
    """

    connector: int
    joints: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Partition:
    """Who moves which joints of a skeleton. Every joint is in exactly one of the three.

    base      indices of kinematic joints with nothing physical between them and the world
    physical  indices of the joints that the engine moves
    parts     kinematic trees that hang from a physical body
    """

    base: tuple[int, ...]
    physical: tuple[int, ...]
    parts: tuple[KinematicPart, ...]

    @property
    def has_free_root(self) -> bool:
        """Whether the engine moves the root."""
        return not self.base

    @property
    def kinematic(self) -> tuple[int, ...]:
        """Indices of all kinematic joints, in order."""
        return tuple(sorted((*self.base, *(joint for part in self.parts for joint in part.joints))))


def build_partition(skeleton: Skeleton, physical: Iterable[int]) -> Partition:
    """The split of a skeleton whose `physical` joints (indices) the engine moves, all others a motion.

    Joint i is what moves body i relative to its parent; the root's is its place in the world. Splits that cannot be are
    refused with the reason.
    """
    is_physical = np.zeros(len(skeleton), bool)
    for joint in physical:
        if not 0 <= joint < len(skeleton):
            raise InputError(f"joint {joint} is not one of the skeleton's {len(skeleton)}.")
        is_physical[joint] = True
    base: list[int] = []
    trees: dict[int, list[int]] = {}  # by the first joint of each kinematic part
    owner = np.full(len(skeleton), -1)  # first joint of the part that each joint is in
    for i, p in enumerate(skeleton.parents):
        if is_physical[i]:
            if p >= 0 and owner[p] >= 0:
                _refuse(skeleton, i, int(owner[p]))
            continue
        if p < 0 or (not is_physical[p] and owner[p] < 0):
            base.append(i)
            continue
        owner[i] = i if is_physical[p] else owner[p]
        trees.setdefault(int(owner[i]), []).append(i)
    parts = tuple(KinematicPart(int(skeleton.parents[first]), tuple(joints)) for first, joints in trees.items())
    return Partition(tuple(base), tuple(int(i) for i in np.flatnonzero(is_physical)), parts)


def _refuse(skeleton: Skeleton, joint: int, first: int) -> None:
    name, part, connector = (skeleton.labels[i] for i in (joint, first, int(skeleton.parents[first])))
    raise InputError(
        f"joint '{name}' is physical but hangs from the kinematic part that begins at '{part}', which itself hangs "
        f"from the physical body '{connector}'. Make '{name}' kinematic too, or all from '{part}' to it physical."
    )

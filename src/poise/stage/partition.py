"""A body split into a physical part P, and kinematic parts K_1 ... K_n on their connectors (W1).   [mix, 2]

From the root outwards physical and kinematic joints may alternate as they like:

    kinematic base  ->  physical  ->  kinematic part, on a connector C of the physical part  ->  physical  ->  ...

Any of them may be empty: all physical (tracking), all kinematic (puppets), arms and head on physical legs and trunk
(the mix paper), physical arms on a pelvis that a clip carries, a loose arm on an animated trunk over physical legs.

The `exact` coupling takes them all. An engine that has the kinematic joints locked has the same inertia M_pp between
the physical freedoms as the whole tree, so it solves their equation of motion once it is given, as generalised forces,

    Q_p = -(M_pk qdd_k + c_p(q, qd_p, qd_k) - c_p(q, qd_p, 0))

with M_pk the inertia between physical and given freedoms and c_p what velocities ask for: the difference of two passes
of Newton and Euler (`stage/coupling/kernels.py`). The `paper` coupling knows parts that carry nothing physical, and no
others: `check_published`.
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
    carried    indices of the physical joints that hang from it, those alone whose parents are in it
    """

    connector: int
    joints: tuple[int, ...]
    carried: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Partition:
    """The split of a skeleton. Every joint is in exactly one of the three.

    base      indices of kinematic joints with nothing physical between them and the world
    physical  indices of the joints that the engine moves
    parts     kinematic trees that hang from a physical body
    """

    base: tuple[int, ...]
    physical: tuple[int, ...]
    parts: tuple[KinematicPart, ...]

    @property
    def kinematic(self) -> tuple[int, ...]:
        """Indices of all kinematic joints, in order."""
        return tuple(sorted((*self.base, *(joint for part in self.parts for joint in part.joints))))


def build_partition(skeleton: Skeleton, physical: Iterable[int]) -> Partition:
    """The split of a skeleton whose `physical` joints (indices) the engine moves, all others a motion.

    Joint i is what moves body i relative to its parent; the root's is its place in the world.
    """
    is_physical = np.zeros(len(skeleton), bool)
    for joint in physical:
        if not 0 <= joint < len(skeleton):
            raise InputError(f"joint {joint} is not one of the skeleton's {len(skeleton)}.")
        is_physical[joint] = True
    base: list[int] = []
    trees: dict[int, list[int]] = {}  # by the first joint of each kinematic part
    carried: dict[int, list[int]] = {}
    owner = np.full(len(skeleton), -1)  # first joint of the part that each joint is in
    for i, p in enumerate(skeleton.parents):
        if is_physical[i]:
            if p >= 0 and owner[p] >= 0:
                carried.setdefault(int(owner[p]), []).append(i)
            continue
        if p < 0 or (not is_physical[p] and owner[p] < 0):
            base.append(i)
            continue
        owner[i] = i if is_physical[p] else owner[p]
        trees.setdefault(int(owner[i]), []).append(i)
    parts = tuple(
        KinematicPart(int(skeleton.parents[first]), tuple(joints), tuple(carried.get(first, ())))
        for first, joints in trees.items()
    )
    return Partition(tuple(base), tuple(int(i) for i in np.flatnonzero(is_physical)), parts)


def check_published(partition: Partition, skeleton: Skeleton) -> None:
    """Raise InputError where the `paper` coupling does not know a split: a part's wrench is found from it alone."""
    for part in partition.parts:
        if part.carried:
            name, first, connector = (skeleton.labels[i] for i in (part.carried[0], part.joints[0], part.connector))
            raise InputError(
                f"joint '{name}' is physical but hangs from the kinematic part that begins at '{first}', which itself "
                f"hangs from the physical body '{connector}': the 'paper' coupling knows no such split. Couple by "
                f"'exact', make '{name}' kinematic too, or all from '{first}' to it physical."
            )

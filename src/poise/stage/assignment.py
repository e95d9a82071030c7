"""A body split by who moves it: a physical part P, and kinematic parts K_1 ... K_n on their connectors (W1).   [mix, 2]

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

An actor's joints are assigned by what its drivers claim; the rest is left over.

A body that has lost its balance is let go: what its drivers play stops, and its joints go limp.

Drivers that are `active_after_fall` go on: legs that balanced see to themselves, a root that floats stays free, and
so does what a user chose. What stays given keeps its place in the tree, so a part that could only hang from it stays
given too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.skeleton import Skeleton
from poise.drivers.counterpoise.counterpoise import find_spine_and_head
from poise.drivers.driver import MOTION, Claim, Driver, Player
from poise.drivers.loose.loose import TONE
from poise.dynamics.tree import Tree
from poise.errors import InputError, check_most


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
    """Who moves which joints of a skeleton. Every joint is in exactly one of the three.

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


MOST_PHYSICAL = 1000  # joints: an engine takes memory by their square
TRUNK = "trunk and head"
# kg: what carries less than this moves nothing, and no engine can integrate it: it is held.
FEATHER = 1e-4


@dataclass(eq=False)
class Assignment:
    """One driver on the joints that it moves and holds.

    before  what it was before the body lost its balance and this was let go; None: it was not
    heir_of what played before another driver took some of the joints
    legs    the driver that this one was added for, by `add_trunk`; None: a user asked for it
    """

    part: str
    driver: Driver
    claim: Claim
    player: Player | None = None
    before: Assignment | None = None
    heir_of: Player | None = None
    legs: Driver | None = None

    @property
    def ghost(self) -> Any:
        """The actor that a physical body follows; None if it follows none."""
        return None if self.driver.level == MOTION else self.claim.follows

    @property
    def is_default(self) -> bool:
        """Whether no user asked for it."""
        return (self.before or self).legs is not None


def give_way(assignments: list[Assignment], claim: Claim, character: Character) -> list[Assignment]:
    """What is left of assignments where another driver claims joints: theirs without those, if that is enough."""
    taken = {*claim.moved, *claim.held}
    kept = []
    for old in assignments:
        if not taken & {*old.claim.moved, *old.claim.held}:
            kept.append(old)
            continue
        left = [i for i in (*old.claim.moved, *old.claim.held) if i not in taken]
        try:
            again = old.driver.claim(character, left, old.part) if left else None
        except InputError:
            again = None  # what is left is not enough for that driver
        if again is not None:
            kept.append(Assignment(old.part, old.driver, again, heir_of=old.player or old.heir_of))
    return kept


def add_trunk(
    assignments: list[Assignment], before: list[Assignment], character: Character, couple: str
) -> list[Assignment]:
    """Assignments with trunk and head driven as legs want it, if no other driver moves them (`Claim.trunk`).

    before  what there was: a default that stays as it was goes on
    """
    legs, trunk = next(((a.driver, a.claim.trunk) for a in assignments if a.claim.trunk is not None), (None, None))
    if legs is None or trunk is None or couple != "exact":
        return assignments
    taken = {i for a in assignments for i in (*a.claim.moved, *a.claim.held)}
    joints = [i for path in find_spine_and_head(character.skeleton) for i in path if i not in taken]
    if not joints:
        return assignments
    claim = trunk.claim(character, sorted(joints), TRUNK)
    old = next((a for a in before if a.is_default), None)
    if old is not None and (old.before or old).legs is legs and (old.before or old).claim.moved == claim.moved:
        return [old, *assignments]
    return [Assignment(TRUNK, trunk, claim, legs=legs), *assignments]


def divide(
    assignments: list[Assignment], skeleton: Skeleton, tree: Tree, name: str, couple: str = "exact"
) -> tuple[Partition, list[int]]:
    """Which joints an engine moves, and those of them that nobody drives; raises where the split cannot be.

    name    of the actor, for errors
    couple  how parts are coupled: see `Stage`
    """
    moved = {i: a for a in assignments for i in a.claim.moved}
    held = {i for a in assignments for i in a.claim.held}
    free = any(a.claim.frees_root for a in assignments) and 0 not in moved
    outboard = tree.masses.copy()
    for i in range(len(tree) - 1, 0, -1):
        outboard[tree.parents[i]] += outboard[i]
    physical: set[int] = set()
    carrying: set[int] = set()  # what hangs from these is physical where nobody drives it
    loose: list[int] = []
    for i in range(len(skeleton)):
        parent = int(skeleton.parents[i])
        if i in moved:
            if moved[i].driver.level != MOTION:
                physical.add(i)
            if moved[i].driver.level != MOTION or moved[i].claim.carries_physical:
                carrying.add(i)
        elif i == 0:
            if free:
                physical.add(i)
                carrying.add(i)
        elif i not in held and parent in carrying and parent not in held and outboard[i] > FEATHER:
            carrying.add(i)
            physical.add(i)
            loose.append(i)
    check_most(f"{len(physical)} joints of '{name}' would be physical", len(physical), MOST_PHYSICAL,
               "Drive fewer by physics, and the rest by a motion.")  # fmt: skip
    for a in assignments:
        first = next((i for i in a.claim.needs_motion if i in physical), None)
        if first is not None:
            raise InputError(
                f"{type(a.driver).__name__} needs a motion at '{skeleton.labels[first]}', which is physical. Drive it "
                "by a motion, or let the root be Free."
            )
    partition = build_partition(skeleton, sorted(physical))
    if couple == "paper":
        check_published(partition, skeleton)
    return partition, loose


def let_go(
    assignments: list[Assignment], skeleton: Skeleton, tree: Tree, name: str, is_late: bool = False
) -> list[Assignment]:
    """Assignments with all that does not keep on gone limp, as far as the split that comes of it can be.

    is_late  a coupling that is late: what is given then goes limp even if it is to keep on
    """
    outboard = find_outboard(tree)
    wanted = [
        k
        for k, a in enumerate(assignments)
        if (not a.driver.active_after_fall or (is_late and a.driver.level == MOTION))
        and 0 not in a.claim.moved and a.before is None
        and any(outboard[i] > FEATHER for i in (*a.claim.moved, *a.claim.held))
    ]  # fmt: skip
    limp: list[int] = []
    for group in (wanted, *([k] for k in wanted)):  # all at once, or one by one
        more = sorted({*limp, *group})
        if more == limp:
            continue
        try:
            divide(go_limp(assignments, more, tree), skeleton, tree, name)
        except InputError:
            continue
        limp = more
    return go_limp(assignments, limp, tree) if limp else assignments


def go_limp(assignments: list[Assignment], which: Iterable[int], tree: Tree) -> list[Assignment]:
    """Those numbered limp, and all others as they were before they were let go."""
    chosen, outboard = set(which), find_outboard(tree)
    changed = []
    for k, a in enumerate(assignments):
        if (a.before is not None) == (k in chosen):
            changed.append(a)
        elif a.before is not None:
            changed.append(replace(a.before, player=None))
        else:
            own = sorted({*a.claim.moved, *a.claim.held})
            heavy = tuple(i for i in own if outboard[i] > FEATHER)
            claim = Claim(heavy, tuple(i for i in own if i not in heavy), a.claim.pinned)
            before = replace(a, player=None, heir_of=None)
            changed.append(Assignment(a.part, TONE, claim, before=before))
    return changed


def find_outboard(tree: Tree) -> list[float]:
    """kg that each joint carries."""
    outboard = tree.masses.tolist()
    for i in range(len(tree) - 1, 0, -1):
        outboard[tree.parents[i]] += outboard[i]
    return outboard

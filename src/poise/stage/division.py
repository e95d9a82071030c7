"""Who moves each joint of an actor: drivers and what they claim, and what is left over."""

from __future__ import annotations

from dataclasses import dataclass

from poise.body.character import Character
from poise.body.skeleton import Skeleton
from poise.drivers.counterpoise import find_spine_and_head
from poise.drivers.driver import MOTION, Claim, Driver, Player
from poise.dynamics.tree import Tree
from poise.errors import InputError, check_most
from poise.stage.partition import Partition, build_partition, check_published

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
    """Assignments with trunk and head as legs want them driven, where nobody drives them (`Driver.trunk`).

    before  what there was: a default that stays as it was goes on
    """
    legs, trunk = next(((a.driver, a.driver.trunk) for a in assignments if a.driver.trunk is not None), (None, None))
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
            if moved[i].driver.level != MOTION or moved[i].driver.carries_physical:
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
        a.driver.check_given(skeleton, sorted(physical))
    partition = build_partition(skeleton, sorted(physical))
    if couple == "paper":
        check_published(partition, skeleton)
    return partition, loose

"""Who moves each joint of an actor: drivers and what they claim, and what is left over."""

from __future__ import annotations

from dataclasses import dataclass

from poise.body.character import Character
from poise.body.skeleton import Skeleton
from poise.drivers.driver import MOTION, Claim, Driver, Player
from poise.dynamics.tree import Tree
from poise.errors import InputError, check_most
from poise.stage.partition import Partition, build_partition, check_published

MOST_PHYSICAL = 1000  # joints: an engine takes memory by their square
# kg: what carries less than this moves nothing, and no engine can integrate it: it is held.
FEATHER = 1e-4


@dataclass(eq=False)
class Assignment:
    """One driver on the joints that it moves and holds.

    before  what it was before the body lost its balance and this was let go; None: it was not
    heir_of what played before another driver took some of the joints
    """

    part: str
    driver: Driver
    claim: Claim
    player: Player | None = None
    before: Assignment | None = None
    heir_of: Player | None = None


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
    loose: list[int] = []
    for i in range(len(skeleton)):
        parent = int(skeleton.parents[i])
        if i in moved:
            if moved[i].driver.level != MOTION:
                physical.add(i)
        elif i == 0:
            if free:
                physical.add(i)
        elif i not in held and parent in physical and parent not in held and outboard[i] > FEATHER:
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

"""Drivers of an actor: which joints each has, their players, and what goes limp when the body falls.

Joints are assigned by what drivers claim. Undriven joints that hang from a physical body are physical, and held by
springs.

A body that has lost its balance becomes a ragdoll: its drivers stop, and their joints go limp. Drivers that are
`active_after_fall` continue, and so do those that drive the root. A prescribed joint keeps its place in the tree, so a
part that could only hang from it stays prescribed too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

from poise.body.character import Character
from poise.body.skeleton import Skeleton
from poise.drivers.counterpoise.counterpoise import find_spine_and_head
from poise.drivers.driver import MOTION, BodyModel, Claim, Driver, MotionPlayer, Player
from poise.drivers.loose.loose import TONE, LoosePlayer
from poise.drivers.loose.rest import RestPlayer
from poise.dynamics.tree import Tree
from poise.errors import InputError, check_most
from poise.stage.coupling.paper import lags
from poise.stage.partition import Partition, build_partition, check_published

if TYPE_CHECKING:
    from poise.stage.actor import Actor
MOST_PHYSICAL = 1000  # joints: an engine takes memory by their square
TRUNK = "trunk and head"
# kg: what carries less than this moves nothing, and no engine can integrate it: it is held.
FEATHER = 1e-4


@dataclass(eq=False)
class Assignment:
    """One driver on the joints that it moves and holds.

    before   what it was before the body fell and this went limp; None: it is not limp
    heir_of  player that moved the joints until now: of this driver, before another one took some of them, or of another
             driver that moved the same ones
    legs     the driver that this one was added for, by `add_trunk`; None: a user asked for it
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


class Assignments(Sequence[Assignment]):
    """The drivers of one actor, in the order in which they were given, and their players.

    partition  the split of the body; None before it is built
    rest       springs that hold physical joints without a driver
    still      what brings prescribed joints without a driver to rest
    """

    def __init__(self, actor: Actor):
        self._actor = actor
        self.entries: list[Assignment] = []
        self.partition: Partition | None = None
        self.rest: LoosePlayer | None = None
        self.still: RestPlayer | None = None

    @overload
    def __getitem__(self, index: int) -> Assignment: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Assignment]: ...
    def __getitem__(self, index: int | slice) -> Assignment | Sequence[Assignment]:
        return self.entries[index]

    def __len__(self) -> int:
        return len(self.entries)

    def with_driver(self, part: str, driver: Driver, claim: Claim) -> tuple[list[Assignment], Partition]:
        """Return the entries with another driver, and their partition; raise InputError if the split cannot be."""
        actor, character = self._actor, self._actor.character
        own = [a for a in self.entries if not a.is_default]
        before = next((a.player for a in own if a.claim.moved == claim.moved), None)
        entries = [*release_joints(own, claim, character), Assignment(part, driver, claim, heir_of=before)]
        entries = add_trunk(entries, self.entries, character, actor.stage.couple)
        partition, _ = assign_joints(entries, character.skeleton, actor.body.tree, actor.name, actor.stage.couple)
        return entries, partition

    def divide(self) -> list[int]:
        """Set the partition; return the physical joints that no driver has."""
        actor = self._actor
        self.partition, undriven = assign_joints(
            self.entries, actor.character.skeleton, actor.body.tree, actor.name, actor.stage.couple
        )
        return undriven

    # Players.

    @property
    def players(self) -> list[Player]:
        """All players; those that hold joints without a driver come last."""
        found = [a.player for a in self.entries if a.player is not None]
        return [*found, *(player for player in (self.rest, self.still) if player is not None)]

    def in_order(self) -> list[Player]:
        """All players; those whose motion is computed from that of the others come last."""
        last = {id(a.player) for a in self.entries if a.claim.after_others}
        return sorted(self.players, key=lambda player: id(player) in last)

    def list_motions(self) -> list[MotionPlayer]:
        """Players that prescribe motion, in order, without one whose root rides on a prop: the prop moves that."""
        riding = {id(a.player) for a in self.entries if a.claim.rides_on is not None}
        players = [player for player in self.in_order() if id(player) not in riding]
        return [player for player in players if isinstance(player, MotionPlayer)]

    def find_models(self) -> list[tuple[Player, BodyModel]]:
        """The engine's model that each player needs at the body's present state."""
        falling = not self.balances
        return [(player, player.model(self._actor.body, falling)) for player in self.players]

    def find_standing(self) -> list[Player]:
        """Players that keep the body on its feet."""
        actor = self._actor
        return [player for player in self.players if player.status(actor.body, actor.stage.time).balances]

    @property
    def balances(self) -> bool:
        """Whether a player keeps the body on its feet."""
        return bool(self.find_standing())

    @property
    def has_lost_balance(self) -> bool:
        """Whether the body has lost its balance, as a player reports."""
        actor = self._actor
        return any(player.status(actor.body, actor.stage.time).lost_balance for player in self.players)

    @property
    def rides_on(self) -> str | None:
        """The prop that the root rides on."""
        return next((a.claim.rides_on for a in self.entries if a.claim.rides_on is not None), None)

    # Falling.

    @property
    def limp(self) -> list[int]:
        """Numbers of the entries that are limp."""
        return [k for k, a in enumerate(self.entries) if a.before is not None]

    def set_limp(self, which: list[int]) -> bool:
        """Make those entries limp and no others, as when a state was saved; return whether anything has changed."""
        if which == self.limp:
            return False
        self.entries = go_limp(self.entries, which, self._actor.body.tree)
        return True

    def find_released(self) -> tuple[list[Assignment], list[str]]:
        """Return the entries without the drivers that stop at a fall, whose joints are limp, and the parts of those."""
        actor = self._actor
        is_late = actor.is_guarded and lags(float(actor.coupling.filter_factor[0]))
        entries = make_limp(self.entries, actor.character.skeleton, actor.body.tree, actor.name, is_late)
        return entries, [a.part for a, old in zip(entries, self.entries, strict=True) if a is not old]


def release_joints(entries: Sequence[Assignment], claim: Claim, character: Character) -> list[Assignment]:
    """Return what is left of entries if another driver claims joints: those without them, if the rest is enough."""
    taken = {*claim.moved, *claim.held}
    kept = []
    for old in entries:
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
    entries: list[Assignment], before: Sequence[Assignment], character: Character, couple: str
) -> list[Assignment]:
    """Return entries with trunk and head driven as the legs' driver requests, if no other driver moves them.

    before  the entries so far: a default that stays as it was continues
    """
    legs, trunk = next(((a.driver, a.claim.trunk) for a in entries if a.claim.trunk is not None), (None, None))
    if legs is None or trunk is None or couple != "exact":
        return entries
    taken = {i for a in entries for i in (*a.claim.moved, *a.claim.held)}
    joints = [i for path in find_spine_and_head(character.skeleton) for i in path if i not in taken]
    if not joints:
        return entries
    claim = trunk.claim(character, sorted(joints), TRUNK)
    old = next((a for a in before if a.is_default), None)
    if old is not None and (old.before or old).legs is legs and (old.before or old).claim.moved == claim.moved:
        return [old, *entries]
    return [Assignment(TRUNK, trunk, claim, legs=legs), *entries]


def assign_joints(
    entries: Sequence[Assignment], skeleton: Skeleton, tree: Tree, name: str, couple: str = "exact"
) -> tuple[Partition, list[int]]:
    """Return the partition and the physical joints without a driver; raise InputError if the split cannot be.

    name    of the actor, for errors
    couple  how parts are coupled: see `Stage`
    """
    physical, undriven = _find_physical(entries, skeleton, tree)
    check_most(f"{len(physical)} joints of '{name}' would be physical", len(physical), MOST_PHYSICAL,
               "Drive fewer by physics, and the rest by a motion.")  # fmt: skip
    for a in entries:
        first = next((i for i in a.claim.needs_motion if i in physical), None)
        if first is not None:
            raise InputError(
                f"{type(a.driver).__name__} needs a motion at '{skeleton.labels[first]}', which is physical. Drive it "
                "by a motion, or let the root be Free."
            )
    partition = build_partition(skeleton, sorted(physical))
    if couple == "paper":
        check_published(partition, skeleton)
    return partition, undriven


def _find_physical(entries: Sequence[Assignment], skeleton: Skeleton, tree: Tree) -> tuple[set[int], list[int]]:
    """Return the joints that the engine integrates, and those of them that no driver has."""
    moved = {i: a for a in entries for i in a.claim.moved}
    held = {i for a in entries for i in a.claim.held}
    outboard = find_outboard(tree)
    physical: set[int] = set()
    carrying: set[int] = set()  # undriven joints that hang from these are physical
    undriven: list[int] = []
    if any(a.claim.frees_root for a in entries) and 0 not in moved:
        physical.add(0)
        carrying.add(0)
    for i, parent in enumerate(skeleton.parents.tolist()):
        if i in moved:
            is_torque = moved[i].driver.level != MOTION
            if is_torque:
                physical.add(i)
            if is_torque or moved[i].claim.carries_physical:
                carrying.add(i)
        elif i and i not in held and parent in carrying and parent not in held and outboard[i] > FEATHER:
            carrying.add(i)
            physical.add(i)
            undriven.append(i)
    return physical, undriven


def make_limp(
    entries: list[Assignment], skeleton: Skeleton, tree: Tree, name: str, is_late: bool = False
) -> list[Assignment]:
    """Return entries with all that are not active after a fall gone limp, as far as that split can be.

    is_late  a coupling that lags: prescribed joints then go limp even if their driver is active after a fall
    """
    outboard = find_outboard(tree)
    wanted = [
        k
        for k, a in enumerate(entries)
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
            assign_joints(go_limp(entries, more, tree), skeleton, tree, name)
        except InputError:
            continue
        limp = more
    return go_limp(entries, limp, tree) if limp else entries


def go_limp(entries: Sequence[Assignment], which: Iterable[int], tree: Tree) -> list[Assignment]:
    """Return entries of which those numbered are limp, and all others as before they went limp."""
    chosen, outboard = set(which), find_outboard(tree)
    changed = []
    for k, a in enumerate(entries):
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
    """Return the mass (kg) that each joint carries."""
    outboard = tree.masses.tolist()
    for i in range(len(tree) - 1, 0, -1):
        outboard[tree.parents[i]] += outboard[i]
    return outboard

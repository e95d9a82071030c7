"""Proximity groups: which actors may collide, and which are so near each other that one simulation has to move both.

Two actors that overlap when the later one is added never collide with each other, such as a ghost beside its original
or a crowd that all stands at the origin. An actor whose root follows another passes through all actors: one that it hit
would yield and be followed, faster and faster. The ghost of a shadow touches nothing at all. All others may collide.
Those that may touch before the next check are moved by one simulation; an actor alone is as fast as on a stage of its
own, and has the same bits.

Checks are at fixed steps, and depend on nothing but the state: the result is the same however a run is cut into pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from poise.world.overlap import Lines, find_deep, find_distances, find_lines

if TYPE_CHECKING:
    from poise.stage.actor import Actor
CHECK_INTERVAL = 0.05  # s between two checks
# m: how near two may come before they are moved together, besides what they do in that time at the present speed. Hands
# that strike out accelerate by some 40 m/s2: 0.05 m.
SLACK = 0.1
PART = 3.0  # times that: how far apart two have to be that have been together
_WITHIN = 0.1  # of its mass: an actor of which more is deep in another one stands in it
_CORE = 0.5  # of both radii: two whose heaviest parts are nearer stand in one another for sure
_ROWS = 256  # actors that are compared with all others at a time


class ProximityGroups:
    """Which actors may collide, and which are near each other.

    ignores  (N, N) bool, of all actors in the order of the stage: pairs that pass through each other
    """

    def __init__(self) -> None:
        self._names: list[str] = []
        self.ignores = np.zeros((0, 0), bool)
        self._actors: list[Actor] = []
        self._given: list[bool] = []
        self._may: np.ndarray | None = None
        self._lines: _Gathered | None = None

    def find_ignored(self, actors: Sequence[Actor]) -> np.ndarray:
        """Return (B, B) bool, which of some actors pass through each other."""
        places = {name: k for k, name in enumerate(self._names)}
        at = [places[actor.name] for actor in actors]
        return np.asarray(self.ignores[np.ix_(at, at)])

    def join(self, new: Sequence[Actor], everybody: Sequence[Actor]) -> None:
        """Find the overlaps of new actors, and the actors that follow others; forget actors that left."""
        self.set_ignored([actor.name for actor in everybody], self._keep([actor.name for actor in everybody], new))
        haunting = list_ghosts(everybody)
        ghosts = [k for k, actor in enumerate(everybody) if actor.name in haunting or goes_after(actor, everybody)]
        self.ignores[ghosts] = self.ignores[:, ghosts] = True
        np.fill_diagonal(self.ignores, False)
        if len(everybody) < 2 or not new:
            return
        seen = _Gathered(everybody)
        seen.look(0.0)
        fresh = {actor.name for actor in new}
        rows = np.array([k for k, actor in enumerate(everybody) if actor.name in fresh])
        for begin in range(0, len(rows), _ROWS):
            some = rows[begin : begin + _ROWS]
            sure, maybe = seen.find_within(some)
            self.ignores[some] |= sure
            self.ignores[:, some] |= sure.T
            for i, j in zip(some[maybe[0]].tolist(), maybe[1].tolist(), strict=True):
                if not self.ignores[i, j] and seen.is_within(i, j):
                    self.ignores[i, j] = self.ignores[j, i] = True

    def _keep(self, names: list[str], new: Sequence[Actor]) -> np.ndarray:
        """Return what is known of the actors that were there before."""
        strange, fresh = np.zeros((len(names), len(names)), bool), {actor.name for actor in new}
        before = {name: k for k, name in enumerate(self._names) if name not in fresh}
        here = [k for k, name in enumerate(names) if name in before]
        there = [before[names[k]] for k in here]
        strange[np.ix_(here, here)] = self.ignores[np.ix_(there, there)]
        return strange

    def set_ignored(self, names: list[str], strange: np.ndarray) -> None:
        """Set which actors pass through each other: names in order, (N, N) bool."""
        if strange.shape != (len(names), len(names)):
            raise ValueError("the pairs that pass through each other are those of other actors")
        self._names, self.ignores, self._may = names, np.array(strange, bool), None

    def settle(self, actors: Sequence[Actor]) -> None:
        """Find the actors that may collide with any other: the rest are never checked."""
        given = [bool(actor.given.all()) for actor in actors]
        if self._may is not None and list(actors) == self._actors and given == self._given:
            return
        still = np.array(given, bool)
        may = ~self.ignores & ~(still[:, None] & still[None, :])  # of two that are animated neither would notice
        np.fill_diagonal(may, False)
        some = np.flatnonzero(may.any(axis=1))
        self._actors, self._given, self._may = list(actors), given, may[np.ix_(some, some)]
        self._lines = _Gathered([actors[k] for k in some.tolist()]) if len(some) else None

    @property
    def is_open(self) -> bool:
        """Whether any two actors may collide."""
        return self._lines is not None

    def has_near(self, ahead: float) -> bool:
        """Return whether any two actors are so near that pairs must be checked; quick if none are."""
        if self._lines is None or self._may is None:
            return False
        self._lines.look(ahead)
        pairs = _find_overlapping(self._lines.boxes, SLACK)
        return bool(len(pairs) and self._may[pairs[:, 0], pairs[:, 1]].any())

    def find_together(self, groups: Sequence[Sequence[Actor]], ahead: float) -> list[list[Actor]]:
        """Return all actors by groups that one simulation must move, in the order of the stage.

        groups  the present ones;  ahead: s until the next check
        """
        if self._lines is None or self._may is None:
            return [[actor] for actor in self._actors]
        seen = self._lines
        seen.look(ahead)
        now = {actor.name: k for k, group in enumerate(groups) for actor in group}
        number = np.array([now.get(actor.name, -1 - k) for k, actor in enumerate(seen.actors)])
        heads = {actor.name: actor.name for actor in self._actors}

        def find(name: str) -> str:
            while heads[name] != name:
                heads[name] = heads[heads[name]]
                name = heads[name]
            return name

        pairs = _find_overlapping(seen.boxes, PART * SLACK)
        for i, j in pairs[self._may[pairs[:, 0], pairs[:, 1]]].tolist():
            least = PART * SLACK if number[i] == number[j] else SLACK
            a, b = find(seen.actors[i].name), find(seen.actors[j].name)
            if a != b and seen.find_gap(i, j, ahead) < least:
                heads[b] = a
        found: dict[str, list[Actor]] = {}
        for actor in self._actors:
            found.setdefault(find(actor.name), []).append(actor)
        return list(found.values())


def goes_after(actor: Actor, others: Iterable[Actor]) -> bool:
    """Return whether an actor's root is made to follow one of others."""
    leaders = {id(a.claim.follows) for a in actor.assignments if 0 in a.claim.moved}
    return any(other is not actor and id(other) in leaders for other in others)


def list_ghosts(actors: Iterable[Actor]) -> set[str]:
    """Return the names of the actors whose shadow another actor is: they touch nothing."""
    return {a.ghost.name for actor in actors for a in actor.assignments if a.ghost is not None}


class _Gathered:
    """The capsules of some actors; `set` is the layout that `find_places` reads and writes."""

    def __init__(self, actors: Sequence[Actor]):
        from poise.stage.groups.kernels import CapsuleSet

        lines = [find_lines(actor.character) for actor in actors]
        self.actors = list(actors)
        starts, ends = (np.concatenate([getattr(each, name) for each in lines]) for name in ("start", "end"))
        radius = np.concatenate([each.radius for each in lines])
        self._set = x = CapsuleSet(
            count=len(radius), joint=np.concatenate([each.joint for each in lines]).astype(np.int64),
            ends=np.ascontiguousarray(np.stack([starts, ends], axis=1)), radius=radius, body_count=len(actors),
            bodies=np.array([actor.body.block.address for actor in actors], np.int64), first_count=len(actors) + 1,
            first=np.cumsum([0, *(len(each.radius) for each in lines)]).astype(np.int64),
            max_joints=max((len(actor.body.tree) for actor in actors), default=0),
        )  # fmt: skip
        self._first, self._joint, self._radius = x.first, x.joint, x.radius
        self._places, self._speeds, self.boxes = x.places, x.speeds, x.boxes

    def look(self, ahead: float) -> None:
        """Find where all of them are now."""
        from poise.stage.groups.kernels import find_places

        find_places(self._set.address, ahead)

    def _lines_of(self, k: int) -> tuple[Lines, np.ndarray]:
        at = slice(int(self._first[k]), int(self._first[k + 1]))
        places = self._places[at]
        return Lines(places[:, 0], places[:, 1], self._radius[at], self._joint[at]), self._speeds[at]

    def find_gap(self, i: int, j: int, ahead: float) -> float:
        """m between two actors after a while (s), if they went towards each other."""
        (a, fast), (b, faster) = self._lines_of(i), self._lines_of(j)
        nearest = find_distances(a, b) - a.radius[:, None] - b.radius[None, :]
        return float(np.min(nearest - ahead * (fast[:, None] + faster[None, :]), initial=np.inf))

    def is_within(self, i: int, j: int) -> bool:
        """Whether two actors stand in one another."""
        deep = find_deep(self._lines_of(i)[0], self._lines_of(j)[0])
        for k, side in ((i, 0), (j, 1)):
            masses = self.actors[k].body.tree.masses
            if masses[sorted({pair[side] for pair in deep})].sum() > _WITHIN * masses.sum():
                return True
        return False

    def find_within(self, rows: np.ndarray) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """For some actors (K,): (K, N) bool, in whom they stand for sure; and pairs that may stand in one another."""
        middles, radii = self._find_cores()
        apart = np.linalg.norm(middles[rows, None] - middles[None], axis=-1)
        sure = apart < _CORE * (radii[rows, None] + radii[None])
        low, high = self.boxes[:, 0], self.boxes[:, 1]
        near = np.all((low[rows, None] <= high[None]) & (low[None] <= high[rows, None]), axis=-1)
        sure[np.arange(len(rows)), rows] = near[np.arange(len(rows)), rows] = False
        first, second = np.nonzero(near & ~sure)
        return sure, (first, second)

    def _find_cores(self) -> tuple[np.ndarray, np.ndarray]:
        """Middles (N, 3) m and radii (N,) m of everybody's heaviest line."""
        lines = []
        for k, actor in enumerate(self.actors):
            at, end = int(self._first[k]), int(self._first[k + 1])
            lines.append(at + int(np.argmax(actor.body.tree.masses[self._joint[at:end]])) if end > at else at)
        return self._places[lines].mean(axis=1), self._radius[lines]


def _find_overlapping(boxes: np.ndarray, slack: float) -> np.ndarray:
    """(P, 2) pairs i < j, in order, of boxes (B, 2, 3) m that are nearer than some slack (m)."""
    low, high = boxes[:, 0] - 0.5 * slack, boxes[:, 1] + 0.5 * slack
    order = np.argsort(low[:, 0], kind="stable")
    ends = np.searchsorted(low[order, 0], high[order, 0], side="right")
    counts = np.maximum(ends - np.arange(len(order)) - 1, 0)
    first = np.repeat(np.arange(len(order)), counts)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
    i, j = order[first], order[second]
    near = (low[i, 2] <= high[j, 2]) & (low[j, 2] <= high[i, 2])
    i, j = i[near], j[near]
    near = (low[i, 1] <= high[j, 1]) & (low[j, 1] <= high[i, 1])
    i, j = i[near], j[near]
    first, second = np.minimum(i, j), np.maximum(i, j)
    order = np.lexsort((second, first))
    return np.stack([first[order], second[order]], axis=1)

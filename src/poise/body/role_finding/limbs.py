"""Pairs of like limbs on one joint of a skeleton, each read as legs and as arms.

In each limb the two long bones are found by proportion, so that clavicles, twist bones in line and fingers do not
matter.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from poise.body.role_finding.lengths import Shape

# Two limbs are a pair if their lengths, whole and to each joint, agree within this share of the limb.
LIKENESS = 0.12
# A limb is at least this share of the longest way along the bones (an arm: 0.2 to 0.3).
_SHORTEST_LIMB = 0.12
# Bones shorter than this share of a limb are no bones: joints that share a place.
_NO_LENGTH = 0.01
# Expected ratios, and how many e-folds off costs a factor of e^-1/2: of the long bones, leg to arm.
_RATIO_WIDTH = 0.4
LEG_TO_ARM, LEG_TO_ARM_WIDTH = 0.49 / 0.33, 0.4
# What a joint inside a long bone costs: little in line with it and near its middle, much where the bone turns by more
# than 11 degrees or the joint is near its end.
_STRAIGHT, _INSIDE, _BENT = 0.99, 0.85, 0.4
# Joints of a limb that are looked at: clavicle, twist bones and all come within these.
_LONGEST_CHAIN = 9


@dataclass(frozen=True)
class Kind:
    """What a kind of limb looks like, in lengths relative to its two long bones.

    ratio   upper to lower bone
    before  from the hub to the upper joint: hip or shoulder half-widths, least and most
    after   beyond the end: foot or hand, most
    """

    ratio: float
    before: tuple[float, float]
    after: float


LEG = Kind(1.0, (0.0, 0.4), 0.65)
ARM = Kind(1.2, (0.15, 0.7), 0.5)
_OUTSIDE = 0.15  # how far outside these costs a factor of e^-1/2


@dataclass(frozen=True)
class Limb:
    """One limb of a pair: all joints from the hub's child to the end, and which three are its upper, lower and end."""

    joints: list[int]
    upper: int
    lower: int
    end: int
    length: float  # upper to end
    score: float

    def stems(self, names: tuple[str, str, str]) -> dict[str, int]:
        return dict(zip(names, (self.upper, self.lower, self.end), strict=True))


@dataclass(frozen=True)
class Pair:
    """Two like limbs on one joint, read as legs or as arms."""

    hub: int
    limbs: tuple[Limb, Limb]

    @property
    def joints(self) -> set[int]:
        return {joint for limb in self.limbs for joint in limb.joints}

    @property
    def length(self) -> float:
        return 0.5 * (self.limbs[0].length + self.limbs[1].length)

    @property
    def score(self) -> float:
        return math.sqrt(self.limbs[0].score * self.limbs[1].score)


def find_pairs(shape: Shape) -> list[tuple[Pair, Pair]]:
    """All pairs of like limbs of three joints or more, each read as legs and as arms, the longest first.

    Few, since hair and skirts make many.
    """
    pairs = []
    for hub, children in enumerate(shape.children):
        long = [c for c in children if shape.reach[c] + shape.bones[c] > _SHORTEST_LIMB * shape.span][:40]
        for a, b in itertools.combinations(long, 2):
            chains = _find_chains(shape, a, b)
            if _are_alike(shape, *chains):
                readings = [_find_long_bones(shape, chains, kind) for kind in (LEG, ARM)]
                if readings[0] is not None and readings[1] is not None:
                    pairs.append((Pair(hub, readings[0]), Pair(hub, readings[1])))
    pairs.sort(key=lambda pair: -pair[0].length * pair[0].score)
    return pairs[:12]


def _find_chains(shape: Shape, a: int, b: int) -> tuple[list[int], list[int]]:
    """The ways down two limbs. Where one is much longer, it holds something: its way is that of the other limb."""
    chains = shape.main_chain(a), shape.main_chain(b)
    ends = [shape.profile(chain)[-1] + shape.bones[chain[0]] for chain in chains]
    if abs(ends[0] - ends[1]) <= LIKENESS * max(ends):
        return chains
    short, long = sorted(chains, key=lambda chain: shape.profile(chain)[-1] + shape.bones[chain[0]])
    way = [long[0]]
    for joint in short[1:]:
        if not shape.children[way[-1]]:
            break
        way.append(min(shape.children[way[-1]], key=lambda c: abs(shape.bones[c] - shape.bones[joint])))
    return (way, short) if long is chains[0] else (short, way)


def _are_alike(shape: Shape, a: list[int], b: list[int]) -> bool:
    """Whether two chains are as long, whole and to each of their joints, with joints at one place counted once.

    What is behind the last joints counts; where they disagree about it, the joints alone may still agree.
    """
    profiles = [shape.profile(chain) + shape.bones[chain[0]] for chain in (a, b)]
    return _agree(*profiles) or _agree(profiles[0][:-1], profiles[1][:-1])


def _agree(*profiles: np.ndarray) -> bool:
    kept = []
    for profile in profiles:
        keep = np.diff(profile, prepend=0.0) > _NO_LENGTH * profile[-1]
        kept.append(profile[keep])
    few, many = sorted(kept, key=len)
    if not len(few):
        return False
    whole = max(few[-1], many[-1])
    if abs(few[-1] - many[-1]) > LIKENESS * whole:
        return False
    # One side may have a joint more (a prop in a hand, a thumb as the longest way): compare the shorter list.
    return len(many) - len(few) <= 2 and bool(np.all(np.abs(few[:3] - many[: len(few)][:3]) <= LIKENESS * whole))


def _find_long_bones(shape: Shape, chains: tuple[list[int], list[int]], kind: Kind) -> tuple[Limb, Limb] | None:
    """The two limbs of a pair: in each, the three joints whose two bones look most like thigh and shank, or upper arm
    and forearm; the same joints in both where both have as many.
    """
    ranked = [rank_bones(shape, chain, kind) for chain in chains]
    if not all(ranked):
        return None
    if len(chains[0]) == len(chains[1]) and (both := set(ranked[0]) & set(ranked[1])):
        ranks = {triple: (ranked[0][triple][0] * ranked[1][triple][0], 0.0) for triple in both}
        triples = [best_triple(ranks)] * 2
    else:
        triples = [best_triple(ranks) for ranks in ranked]
    limbs = []
    for chain, ranks, (i, j, k) in zip(chains, ranked, triples, strict=True):
        profile = shape.profile(chain)
        length = float(profile[k] - profile[i])
        limbs.append(Limb(chain, chain[i], chain[j], chain[k], length, ranks[i, j, k][1]))
    return limbs[0], limbs[1]


_Ranks = dict[tuple[int, int, int], tuple[float, float]]


def best_triple(ranks: _Ranks) -> tuple[int, int, int]:
    return max(sorted(ranks), key=lambda triple: ranks[triple][0])


def rank_bones(shape: Shape, chain: list[int], kind: Kind) -> _Ranks:
    """(upper, lower, end), by their places in a chain, to their rank among such threes and how well they fit, 0 to 1.

    A long bone may hold joints in line with it (twist bones), not joints where it turns (hip, ankle).
    """
    profile = shape.profile(chain)
    places = np.cumsum(shape.skeleton.offsets[chain], axis=0)
    total = float(profile[-1]) + float(shape.bones[chain[0]])
    ranks: _Ranks = {}
    for i, j, k in itertools.combinations(range(min(len(chain), _LONGEST_CHAIN)), 3):
        upper, lower = float(profile[j] - profile[i]), float(profile[k] - profile[j])
        if min(upper, lower) <= 0.05 * total:
            continue
        score = bell(upper / lower / kind.ratio, _RATIO_WIDTH)
        both = upper + lower
        before, after = float(shape.bones[chain[0]] + profile[i]) / both, float(profile[-1] - profile[k]) / both
        outside = max(kind.before[0] - before, before - kind.before[1], 0.0) + max(after - kind.after, 0.0)
        rank = score * math.sqrt(both / total) * math.exp(-0.5 * (outside / _OUTSIDE) ** 2)
        for first, last, length in ((i, j, upper), (j, k, lower)):
            where = (np.unique(profile[first + 1 : last]) - profile[first]) / length
            inner = where[(where > _NO_LENGTH) & (where < 1.0 - _NO_LENGTH)]
            straight = float(np.linalg.norm(places[last] - places[first])) > _STRAIGHT * length
            rank *= _INSIDE ** len(inner) * (1.0 if straight and np.all(np.abs(inner - 0.5) < 0.3) else _BENT)
        # Of joints at one place the last is the thigh's and the first the ankle's.
        ranks[i, j, k] = (rank + 1e-6 * (i - j - k), score)
    return ranks


def bell(ratio: float, width: float) -> float:
    return math.exp(-0.5 * (math.log(ratio) / width) ** 2)

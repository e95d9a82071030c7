"""Roles from a skeleton's shape alone, where names say nothing.

A body is told by its lengths, which no pose changes: two like limbs hang on one joint (the pelvis), two more on another
(the chest), a path of bones joins the two, and a short chain goes on from the chest to the head. Legs are told from
arms by their length and by the head, on the arms' end. In each limb the two long bones are found by proportion,
so that clavicles, twist bones in line and fingers do not matter. Last, left is told from right by where the feet point,
or, where there are none, by how the knees bend in the motion.

Shares of the stature are those of Drillis and Contini (1966), as in Winter (2009), fig. 4.1. The widths of the scores
and the penalties were set so that bodies of children and cartoons pass, whose legs may be shorter than their arms.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from poise.body.named_roles import common_ancestor, name_trunk
from poise.body.skeleton import Skeleton
from poise.body.vocabulary import FINGER_BONES, SIDES, mirror_role

# Larger trees are no single person's, and pairs of limbs would be too many.
_MOST_JOINTS = 3000
# Two limbs are a pair if their lengths, whole and to each joint, agree within this share of the limb.
_LIKENESS = 0.12
# A limb is at least this share of the longest way along the bones (an arm: 0.2 to 0.3).
_SHORTEST_LIMB = 0.12
# Bones shorter than this share of a limb are no bones: joints that share a place.
_NO_LENGTH = 0.01
# Expected ratios and how many e-folds off costs a factor of e^-1/2: of the long bones, leg to arm, trunk to leg.
_RATIO_WIDTH = 0.4
_LEG_TO_ARM, _LEG_TO_ARM_WIDTH = 0.49 / 0.33, 0.4
_TRUNK_TO_LEG, _TRUNK_TO_LEG_WIDTH = 0.29 / 0.49, 0.6
# What a joint inside a long bone costs: little in line with it and near its middle, much where the bone turns by more
# than 11 degrees or the joint is near its end.
_STRAIGHT, _INSIDE, _BENT = 0.99, 0.85, 0.4
# The factors of a body's score are many: their product is raised to this, so that a person comes near 1.
_SOFTEN = 0.35
_TOP_OF_HEAD = 1.2
# Below this two pairs are no person's legs and arms.
_LEAST_BODY = 0.25
# What goes up from the chest beside the middle by this share of its length is no head; chains this share of their
# length off it, on either side, are twins.
_ASIDE, _OFF_MIDDLE = 0.6, 0.15
_RISES = 0.1  # how far a head is above the chest, as a share of its chain's length (hair hangs on it)
_BEHIND = 0.25  # arms do not point behind the body by this share of their length: wings do
# Limbs of a pair mirror each other within this share of their length; nothing is lower than the feet by this share of
# legs and trunk.
_MIRRORED, _UNDER_FEET = 0.35, 0.1
# Bones shorter than this share of the longest way along the bones are no bones: a robot's axes, a rig's helpers.
_TINY = 0.008
# A reading of a body whose score is above this share of the best casts doubt on it.
_AHEAD = 0.85
_ARMLESS = 0.6  # one pair of limbs tells less than two
# Somebody who names so many joints that fit a reading knows what the body is.
_FEWEST_NAMED, _NAMED = 2, 0.75
# Arms are this share of their length from the middle, at least: a cape's folds and hair are less.
_SHOULDERS = 0.14
# Where all of a body stands as a person's does, its proportions count for less: children's, cartoons', robots'.
_STANDS = 0.5
# Joints of a limb that are looked at: clavicle, twist bones and all come within these.
_LONGEST_CHAIN = 9


@dataclass(frozen=True)
class _Kind:
    """What a kind of limb looks like, in lengths relative to its two long bones.

    ratio   upper to lower bone
    before  from the hub to the upper joint: hip or shoulder half-widths, least and most
    after   beyond the end: foot or hand, most
    """

    ratio: float
    before: tuple[float, float]
    after: float


_LEG = _Kind(1.0, (0.0, 0.4), 0.65)
_ARM = _Kind(1.2, (0.15, 0.7), 0.5)
_OUTSIDE = 0.15  # how far outside these costs a factor of e^-1/2


@dataclass(frozen=True)
class ShapeRoles:
    """Role -> joint index, and how well they fit a person, 0 to 1."""

    roles: dict[str, int]
    confidence: float


@dataclass(frozen=True)
class _Limb:
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
class _Pair:
    """Two like limbs on one joint, read as legs or as arms."""

    hub: int
    limbs: tuple[_Limb, _Limb]

    @property
    def joints(self) -> set[int]:
        return {joint for limb in self.limbs for joint in limb.joints}

    @property
    def length(self) -> float:
        return 0.5 * (self.limbs[0].length + self.limbs[1].length)

    @property
    def score(self) -> float:
        return math.sqrt(self.limbs[0].score * self.limbs[1].score)


class _Shape:
    """A tree's lengths: the bone to each joint, the farthest end below each, and the way there."""

    def __init__(self, skeleton: Skeleton):
        self.skeleton = skeleton
        self.bones = np.linalg.norm(skeleton.offsets, axis=1)
        self.tips = np.where(skeleton.has_tip, np.linalg.norm(skeleton.tips, axis=1), 0.0)
        self.children: list[list[int]] = [[] for _ in skeleton.names]
        self.reach = self.tips.copy()  # the longest way down from each joint
        self.next = np.full(len(skeleton), -1)
        span = self.tips.copy()
        for joint in range(len(skeleton) - 1, 0, -1):
            parent = int(skeleton.parents[joint])
            self.children[parent].insert(0, joint)
            way = self.reach[joint] + self.bones[joint]
            span[parent] = max(span[parent], span[joint], self.reach[parent] + way)
            if way >= self.reach[parent]:
                self.reach[parent], self.next[parent] = way, joint
        self.span = float(span[0])

    def main_chain(self, joint: int) -> list[int]:
        """From a joint along the longest way to its end."""
        chain = [joint]
        while self.next[chain[-1]] >= 0:
            chain.append(int(self.next[chain[-1]]))
        return chain

    def profile(self, chain: list[int]) -> np.ndarray:
        """How far along the bones each joint of a chain is from its first, and the end behind the last."""
        steps = [0.0, *self.bones[chain[1:]], self.tips[chain[-1]]]
        return np.cumsum(steps)


@dataclass(frozen=True, eq=False)
class _View:
    """Which way is up, and across from one limb of a pair to the other, at rest and in poses, for a pair of hubs.

    places      (K, J, 3), the rest pose first
    up, across  (K, 3) unit, None where the rest pose does not tell
    tips        (J, 3) end sites at rest
    """

    places: np.ndarray
    up: np.ndarray | None
    across: np.ndarray
    tips: np.ndarray


def _look(shape: _Shape, places: np.ndarray, legs: _Pair, arms: _Pair | None) -> _View:
    """The view of a body with these legs and arms: up from the legs' middle to the arms', or along the legs."""
    uppers = [places[:, limb.upper] for limb in legs.limbs]
    middle = 0.5 * (uppers[0] + uppers[1])
    if arms is None:
        ends = [places[:, limb.end] for limb in legs.limbs]
        up, size = middle - 0.5 * (ends[0] + ends[1]), legs.length
    else:
        up = 0.5 * (places[:, arms.limbs[0].upper] + places[:, arms.limbs[1].upper]) - middle
        size = arms.length
    across = _unit(uppers[0] - uppers[1])
    is_told = float(np.linalg.norm(up[0])) > 0.2 * size and float(np.linalg.norm(across[0])) > 0.5
    return _View(places, _unit(up) if is_told else None, across, np.nan_to_num(np.asarray(shape.skeleton.tips)))


def _unit(v: np.ndarray) -> np.ndarray:
    return np.asarray(v / (np.linalg.norm(v, axis=-1, keepdims=True) + 1e-12))


def find_shape_roles(
    skeleton: Skeleton, poses: np.ndarray | None = None, given: Mapping[str, int] | None = None
) -> ShapeRoles:
    """The roles of a body from its shape.

    poses  (K, J, 3) joint positions in some frames of a motion, in any axes: they tell left from right where the rest
           pose does not
    given  role -> joint that is known: the best reading that has them is taken, and is the surer for it; no reading if
           none has them
    """
    if not 5 <= len(skeleton) <= _MOST_JOINTS:
        return ShapeRoles({}, 0.0)
    plain, members = contract(skeleton)
    place = {joint: k for k, group in enumerate(members) for joint in group}
    known = {role: place[joint] for role, joint in (given or {}).items()}
    found = _find_roles(plain, None if poses is None else poses[:, [group[0] for group in members]], known)
    return ShapeRoles(
        {role: _pick_member(role, skeleton, members[i]) for role, i in found.roles.items()}, found.confidence
    )


def _pick_member(role: str, skeleton: Skeleton, group: list[int]) -> int:
    """Which of the joints at one place has a role: the one that carries the bone.

    Of joints at exactly one place the first has those that end a bone, as files have them that lost a bone's length.
    """
    ends_bone = role.endswith(("LowerLeg", "Foot", "LowerArm", "Hand", "head"))
    is_one_place = not np.any(skeleton.offsets[group[1:]])
    return group[0] if is_one_place and ends_bone else group[-1]


def _find_roles(skeleton: Skeleton, poses: np.ndarray | None, known: Mapping[str, int]) -> ShapeRoles:
    shape = _Shape(skeleton)
    pairs = _find_pairs(shape)
    bodies: list[tuple[float, _Pair, _Pair | None]] = [
        (_score_body(shape, a, b), a, b) for (a, _), (_, b) in itertools.permutations(pairs, 2)
    ]
    bodies = [body for body in bodies if body[0] > _LEAST_BODY]
    bodies = bodies or [(_score_armless(shape, a), a, None) for a, _ in pairs]
    bodies.sort(key=lambda body: -body[0])
    for score, legs, arms in bodies:
        found = _read_body(shape, poses, legs, arms)
        roles = _agree_with(found.roles, known)
        if roles is not None:
            named = len(known.keys() & found.roles.keys())
            lead = _compute_lead(bodies) if not known else 1.0
            return ShapeRoles(roles, max(score * lead * found.confidence, _NAMED if named >= _FEWEST_NAMED else 0.0))
    return ShapeRoles({}, 0.0)


def _agree_with(roles: dict[str, int], known: Mapping[str, int]) -> dict[str, int] | None:
    """Roles, or with left and right exchanged, that have what is known; None where neither has."""
    for reading in (roles, {mirror_role(role): joint for role, joint in roles.items()}):
        if all(reading.get(role, joint) == joint for role, joint in known.items()):
            return reading
    return None


def _read_body(shape: _Shape, poses: np.ndarray | None, legs: _Pair, arms: _Pair | None) -> ShapeRoles:
    """The roles of a body with these limbs, and how surely left is left."""
    skeleton = shape.skeleton
    rest = skeleton.rest_positions()[None]
    view = _look(shape, rest if poses is None else np.concatenate([rest, poses]), legs, arms)
    hips, trunk, head = _find_middle(shape, legs, arms, view)
    top = arms.hub if arms is not None else [legs.hub, *trunk, *sorted(head.values())][-1]
    sides, sureness = _tell_sides(skeleton, poses, legs, arms, top)
    roles = {"hips": hips, **name_trunk(trunk), **head}
    for side, leg in zip(SIDES, legs.limbs if sides["legs"] else legs.limbs[::-1], strict=True):
        roles |= leg.stems((f"{side}UpperLeg", f"{side}LowerLeg", f"{side}Foot"))
        toes = _find_toes(shape, leg)
        roles |= {} if toes is None else {f"{side}Toes": toes}
    if arms is not None:
        for side, arm in zip(SIDES, arms.limbs if sides["arms"] else arms.limbs[::-1], strict=True):
            roles |= arm.stems((f"{side}UpperArm", f"{side}LowerArm", f"{side}Hand"))
            at = arm.joints.index(arm.upper)
            roles |= {f"{side}Shoulder": arm.joints[at - 1]} if at > 0 else {}
    elif (lone := _find_lone_arm(shape, legs, [*trunk, *sorted(head.values())], view)) is not None:
        side = SIDES[0] if lone[1] == sides["legs"] else SIDES[1]
        roles |= lone[0].stems((f"{side}UpperArm", f"{side}LowerArm", f"{side}Hand"))
        if "neck" in head and lone[0].joints[0] in shape.children[head["neck"]]:
            del roles["neck"]
            roles |= name_trunk([*trunk, head["neck"]])
    return ShapeRoles(roles, sureness)


def _compute_lead(bodies: list[tuple[float, _Pair, _Pair | None]]) -> float:
    """How far the best reading is ahead of the next that has other limbs: 1, down to a half where they are alike."""
    best, legs, arms = bodies[0]
    ends = [{limb.end for limb in pair.limbs} if pair is not None else set() for pair in (legs, arms)]
    for score, *pairs in bodies[1:]:
        others = [{limb.end for limb in pair.limbs} if pair is not None else set() for pair in pairs]
        if any(one.isdisjoint(other) for one, other in zip(ends, others, strict=True) if one and other):
            return 1.0 - 0.5 * min(1.0, max(0.0, (score / best - _AHEAD) / (1.0 - _AHEAD)))
    return 1.0


def contract(skeleton: Skeleton) -> tuple[Skeleton, list[list[int]]]:
    """The skeleton with joints that follow one another at about one place made one, and which they were.

    Robots have a joint for each axis of a shoulder; rigs have helpers in the place of what they help.
    """
    bones = np.linalg.norm(skeleton.offsets, axis=1)
    counts = np.bincount(np.maximum(skeleton.parents, 0)[1:], minlength=len(skeleton))
    tiny = _TINY * float(_Shape(skeleton).span)
    group_of = np.arange(len(skeleton))
    members: dict[int, list[int]] = {0: [0]}
    for i in range(1, len(skeleton)):
        parent = int(skeleton.parents[i])
        if counts[parent] == 1 and not skeleton.has_tip[parent] and bones[i] <= tiny:
            group_of[i] = group_of[parent]
            members[int(group_of[i])].append(i)
        else:
            members[i] = [i]
    kept = list(members)
    new = {old: k for k, old in enumerate(kept)}
    rest = skeleton.rest_positions()
    parents = [-1 if skeleton.parents[i] < 0 else new[int(group_of[skeleton.parents[i]])] for i in kept]
    offsets = [rest[i] - (rest[kept[p]] if p >= 0 else 0.0) for i, p in zip(kept, parents, strict=True)]
    tips = [skeleton.tips[members[i][-1]] for i in kept]
    plain = Skeleton(tuple(skeleton.names[i] for i in kept), np.array(parents), np.array(offsets), np.array(tips))
    return plain, list(members.values())


def _find_pairs(shape: _Shape) -> list[tuple[_Pair, _Pair]]:
    """All pairs of like limbs of three joints or more, each read as legs and as arms, the longest first.

    Few, since hair and skirts make many.
    """
    pairs = []
    for hub, children in enumerate(shape.children):
        long = [c for c in children if shape.reach[c] + shape.bones[c] > _SHORTEST_LIMB * shape.span][:40]
        for a, b in itertools.combinations(long, 2):
            chains = _find_chains(shape, a, b)
            if _are_alike(shape, *chains):
                readings = [_find_long_bones(shape, chains, kind) for kind in (_LEG, _ARM)]
                if readings[0] is not None and readings[1] is not None:
                    pairs.append((_Pair(hub, readings[0]), _Pair(hub, readings[1])))
    pairs.sort(key=lambda pair: -pair[0].length * pair[0].score)
    return pairs[:12]


def _find_chains(shape: _Shape, a: int, b: int) -> tuple[list[int], list[int]]:
    """The ways down two limbs. Where one is much longer, it holds something: its way is that of the other limb."""
    chains = shape.main_chain(a), shape.main_chain(b)
    ends = [shape.profile(chain)[-1] + shape.bones[chain[0]] for chain in chains]
    if abs(ends[0] - ends[1]) <= _LIKENESS * max(ends):
        return chains
    short, long = sorted(chains, key=lambda chain: shape.profile(chain)[-1] + shape.bones[chain[0]])
    way = [long[0]]
    for joint in short[1:]:
        if not shape.children[way[-1]]:
            break
        way.append(min(shape.children[way[-1]], key=lambda c: abs(shape.bones[c] - shape.bones[joint])))
    return (way, short) if long is chains[0] else (short, way)


def _are_alike(shape: _Shape, a: list[int], b: list[int]) -> bool:
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
    if abs(few[-1] - many[-1]) > _LIKENESS * whole:
        return False
    # One side may have a joint more (a prop in a hand, a thumb as the longest way): compare the shorter list.
    return len(many) - len(few) <= 2 and bool(np.all(np.abs(few[:3] - many[: len(few)][:3]) <= _LIKENESS * whole))


def _find_long_bones(shape: _Shape, chains: tuple[list[int], list[int]], kind: _Kind) -> tuple[_Limb, _Limb] | None:
    """The two limbs of a pair: in each, the three joints whose two bones look most like thigh and shank, or upper arm
    and forearm; the same joints in both where both have as many.
    """
    ranked = [_rank_bones(shape, chain, kind) for chain in chains]
    if not all(ranked):
        return None
    if len(chains[0]) == len(chains[1]) and (both := set(ranked[0]) & set(ranked[1])):
        ranks = {triple: (ranked[0][triple][0] * ranked[1][triple][0], 0.0) for triple in both}
        triples = [_best_triple(ranks)] * 2
    else:
        triples = [_best_triple(ranks) for ranks in ranked]
    limbs = []
    for chain, ranks, (i, j, k) in zip(chains, ranked, triples, strict=True):
        profile = shape.profile(chain)
        length = float(profile[k] - profile[i])
        limbs.append(_Limb(chain, chain[i], chain[j], chain[k], length, ranks[i, j, k][1]))
    return limbs[0], limbs[1]


_Ranks = dict[tuple[int, int, int], tuple[float, float]]


def _best_triple(ranks: _Ranks) -> tuple[int, int, int]:
    return max(sorted(ranks), key=lambda triple: ranks[triple][0])


def _rank_bones(shape: _Shape, chain: list[int], kind: _Kind) -> _Ranks:
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
        score = _bell(upper / lower / kind.ratio, _RATIO_WIDTH)
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


def _score_body(shape: _Shape, legs: _Pair, arms: _Pair) -> float:
    """How much two pairs of limbs look like a person's, 0 to 1."""
    leg_joints, arm_joints = legs.joints, arms.joints
    if leg_joints & arm_joints or arms.hub in leg_joints or legs.hub in arm_joints:
        return 0.0
    rest = shape.skeleton.rest_positions()
    middles = [np.mean([rest[limb.upper] for limb in pair.limbs], axis=0) for pair in (legs, arms)]
    trunk = max(_distance(shape, legs.hub, arms.hub), float(np.linalg.norm(middles[1] - middles[0])))
    if trunk <= 0.0:
        return 0.0
    score = legs.score * arms.score
    score *= _bell(legs.length / arms.length / _LEG_TO_ARM, _LEG_TO_ARM_WIDTH)
    score *= _bell(trunk / legs.length / _TRUNK_TO_LEG, _TRUNK_TO_LEG_WIDTH)
    view = _look(shape, rest[None], legs, arms)
    fits = [
        1.0 if _find_head_chain(shape, arms.hub, legs.hub, arm_joints, view) else 0.25,
        # Something like a head, or a tail, on the pelvis.
        0.5 if _find_head_chain(shape, legs.hub, arms.hub, leg_joints, view) else 1.0,
        # In a rest pose that stands, legs go down from the trunk.
        1.0 if _points_away(rest, legs, middles[1] - middles[0]) else 0.3,
        # Trees are rooted at the pelvis as a rule.
        1.0 if legs.hub in shape.skeleton.chain(arms.hub) else 0.9,
        # Skirts, capes, hair and spiders' legs: one of many is no limb.
        0.3 ** sum(_is_one_of_many(shape, *pairs) for pairs in ((legs, arms), (arms, legs))),
        _score_symmetry(view, legs, arms),
        _score_ground(view, legs, arms, trunk),
    ]
    stands = view.up is not None and min(fits[0], *fits[2:3], *fits[4:]) == 1.0
    return float((score ** (_STANDS if stands else 1.0) * math.prod(fits)) ** _SOFTEN)


def _is_one_of_many(shape: _Shape, pair: _Pair, other: _Pair | None) -> bool:
    """Whether more chains than a pair's, and none that lead to the other pair, are as long and hang on its hub."""
    first = pair.limbs[0].joints[0]
    length = float(shape.reach[first] + shape.bones[first])
    leading = set() if other is None else set(shape.skeleton.chain(other.hub))
    others = [c for c in shape.children[pair.hub] if c not in pair.joints and c not in leading]
    if other is None:  # the trunk may be as long as a leg
        others.sort(key=lambda c: -float(shape.reach[c] + shape.bones[c]))
        others = others[1:]
    return any(abs(shape.reach[c] + shape.bones[c] - length) < _LIKENESS * length for c in others)


def _score_symmetry(view: _View, legs: _Pair, arms: _Pair) -> float:
    """How well both pairs lie on either side of one plane at rest: 1, or less for each thing that does not fit."""
    if view.up is None:
        return 1.0
    rest, up, across = view.places[0], view.up[0], view.across[0]
    line = _unit(rest[arms.limbs[0].upper] - rest[arms.limbs[1].upper])
    score = 1.0 if abs(float(line @ across)) > 0.85 else 0.2
    score *= 1.0 if abs(float(up @ across)) < 0.4 else 0.3
    middle = 0.5 * (rest[legs.limbs[0].upper] + rest[legs.limbs[1].upper])
    front = np.cross(up, across)
    ahead = sum(float((rest[limb.joints[-1]] - rest[limb.end]) @ front) for limb in legs.limbs)
    behind = [float(_unit(rest[limb.end] - rest[limb.upper]) @ front) * -np.sign(ahead) for limb in arms.limbs]
    score *= 0.5 if min(behind) > _BEHIND and abs(ahead) > 0.1 * legs.length else 1.0
    width = min(abs(float((rest[limb.upper] - middle) @ across)) for limb in arms.limbs)
    score *= 1.0 if width > _SHOULDERS * arms.length else 0.4
    for pair in (legs, arms):
        first, second = (
            np.array([rest[i] for i in (limb.upper, limb.lower, limb.end)]) - middle for limb in pair.limbs
        )
        mirrored = first - 2.0 * np.outer(first @ across, across)
        score *= 1.0 if np.linalg.norm(mirrored - second, axis=1).max() < _MIRRORED * pair.length else 0.5
    return score


def _score_ground(view: _View, legs: _Pair, arms: _Pair | None, trunk: float) -> float:
    """Less where something else than the legs' ends is lowest at rest."""
    if view.up is None:
        return 1.0
    heights = view.places[0] @ view.up[0]
    feet = min(float(heights[joint]) for joint in legs.joints)
    limbs = legs.joints if arms is None else legs.joints | arms.joints
    others = [i for i in range(len(heights)) if i not in limbs]
    return 1.0 if min(heights[others], default=feet) > feet - _UNDER_FEET * (legs.length + trunk) else 0.3


def _points_away(rest: np.ndarray, pair: _Pair, trunk: np.ndarray) -> bool:
    """Whether a pair of limbs points away from a direction (3,) at rest, as legs do from the trunk."""
    line = np.mean([rest[limb.end] - rest[limb.upper] for limb in pair.limbs], axis=0)
    return bool(line @ trunk < -0.6 * np.linalg.norm(line) * np.linalg.norm(trunk))


def _score_armless(shape: _Shape, legs: _Pair) -> float:
    """How much one pair of limbs looks like a person's legs: hardly where nothing stands on them in the middle."""
    view = _look(shape, shape.skeleton.rest_positions()[None], legs, None)
    way = _find_way_up(shape, legs, view) if view.up is not None else []
    if not way or view.up is None:
        others = [shape.reach[c] + shape.bones[c] for c in shape.children[legs.hub] if c not in legs.joints]
        trunk = max([*others, _way_up(shape, legs.hub)])
        return 0.5 * float(legs.score**_SOFTEN) * (1.0 if trunk > 0.15 * legs.length else 0.3)
    rise = (view.places[0, way[-1]] - view.places[0, legs.hub]) @ view.up[0]
    fits = [
        _bell(max(float(rise), 1e-3) / legs.length / _TRUNK_TO_LEG, _TRUNK_TO_LEG_WIDTH),
        0.3 if _is_one_of_many(shape, legs, None) else 1.0,
        _score_ground(view, legs, None, max(float(rise), 0.0)),
        1.0 if len(way) >= 2 else 0.5,
    ]
    return _ARMLESS * float((legs.score * math.prod(fits)) ** _SOFTEN)


def _bell(ratio: float, width: float) -> float:
    return math.exp(-0.5 * (math.log(ratio) / width) ** 2)


def _way_up(shape: _Shape, joint: int) -> float:
    """How far the tree reaches from a joint by way of its parent."""
    way, longest = 0.0, 0.0
    while (parent := int(shape.skeleton.parents[joint])) >= 0:
        way += float(shape.bones[joint])
        others = [shape.reach[c] + shape.bones[c] for c in shape.children[parent] if c != joint]
        longest = max(longest, way + max(others, default=0.0))
        joint = parent
    return longest


def _distance(shape: _Shape, a: int, b: int) -> float:
    """Length of the way along the bones between two joints."""
    chains = shape.skeleton.chain(a), shape.skeleton.chain(b)
    shared = set(chains[0]) & set(chains[1])
    return float(sum(shape.bones[i] for chain in chains for i in chain if i not in shared))


def _find_head_chain(shape: _Shape, hub: int, other: int, limbs: set[int], view: _View) -> list[int]:
    """The chain on a hub that goes up in the middle and is no limb and no way to the other hub; empty if there is none.

    Capes hang, wings and second arms come in pairs: of what is left, the head is on top.
    """
    leading = set(shape.skeleton.chain(other))
    free = [c for c in shape.children[hub] if c not in limbs and c not in leading]
    free = [c for c in free if shape.reach[c] + shape.bones[c] > 0.02 * shape.span]
    single = [c for c in free if not any(_are_twins(shape, c, d, hub, view) for d in free if d != c)]
    # Backpacks and tails stick out behind.
    reach = {c: float(shape.reach[c] + shape.bones[c]) for c in single}
    single = [c for c in single if _height(shape, c, hub, view) > _RISES * reach[c]]
    if not single:
        return []
    return _neck_to_head(shape, max(single, key=lambda c: _height(shape, c, hub, view)))


def _height(shape: _Shape, joint: int, hub: int, view: _View) -> float:
    """How far above a hub the highest point is of what hangs on a joint; its reach where the rest pose tells no up.

    What is off the middle counts for less: a weapon on the back, a single wing.
    """
    if view.up is None:
        return float(shape.reach[joint] + shape.bones[joint])
    carried = shape.skeleton.descendants(joint)
    lines = view.places[:, carried] - view.places[:, [hub]]
    tips = np.array([view.tips[i] if shape.tips[i] > 0.0 else np.zeros(3) for i in carried])
    heights = np.einsum("kja,ka->kj", lines, view.up)
    heights[0] = np.maximum(heights[0], (lines[0] + tips) @ view.up[0])
    top = heights.argmax(axis=1)
    highest = lines[np.arange(len(lines)), top]
    aside = np.abs(np.einsum("ka,ka->k", highest, view.across)) / (np.linalg.norm(highest, axis=1) + 1e-12)
    return float(np.mean(heights.max(axis=1))) * (1.0 if float(np.mean(aside)) < _ASIDE else 0.3)


def _are_twins(shape: _Shape, a: int, b: int, hub: int, view: _View) -> bool:
    """Whether two chains on a hub are as long and as far on either side of the middle."""
    lengths = [float(shape.reach[c] + shape.bones[c]) for c in (a, b)]
    if view.up is None or abs(lengths[0] - lengths[1]) > _LIKENESS * max(lengths):
        return False
    ends = [view.places[0, shape.main_chain(c)[-1]] - view.places[0, hub] for c in (a, b)]
    sides = [float(end @ view.across[0]) for end in ends]
    off = max(abs(side) for side in sides)
    return off > _OFF_MIDDLE * max(lengths) and abs(sides[0] + sides[1]) < 0.3 * off


def _neck_to_head(shape: _Shape, joint: int) -> list[int]:
    """From the neck's joint up to the head's: the first with an end site or a branch (eyes, hair), or the last."""
    chain = [joint]
    while shape.tips[chain[-1]] == 0.0 and len(shape.children[chain[-1]]) == 1:
        chain.append(shape.children[chain[-1]][0])
    is_bare = not shape.children[chain[-1]] and shape.tips[chain[-1]] == 0.0
    # The top of a head is farther from its joint than that is from the joint before; a head is not.
    is_end = is_bare and len(chain) > 2 and shape.bones[chain[-1]] > _TOP_OF_HEAD * shape.bones[chain[-2]]
    return chain[:-1] if is_end else chain


def _find_middle(shape: _Shape, legs: _Pair, arms: _Pair | None, view: _View) -> tuple[int, list[int], dict[str, int]]:
    """The hips, the trunk's joints above them, and head and neck by role."""
    skeleton = shape.skeleton
    if arms is None:
        chain = _find_way_up(shape, legs, view)
        if len(chain) < 2:
            return legs.hub, chain, {}
        top = {"head": chain[-1]} | ({"neck": chain[-2]} if len(chain) > 2 else {})
        return legs.hub, chain[: -len(top)], top
    hips = common_ancestor(skeleton, [legs.hub, arms.hub])
    hips = legs.hub if hips == arms.hub else hips
    path = skeleton.chain(arms.hub)
    trunk = path[path.index(hips) + 1 :] if hips in path else []
    neck = _find_head_chain(shape, arms.hub, legs.hub, arms.joints, view)
    head = {"head": neck[-1]} if neck else {}
    return hips, trunk, head | ({"neck": neck[0]} if len(neck) > 1 else {})


def _find_way_up(shape: _Shape, legs: _Pair, view: _View) -> list[int]:
    """The joints from the pelvis up the middle to the head of a body without a pair of arms."""
    chain: list[int] = []
    joint = legs.hub
    while free := [c for c in shape.children[joint] if c not in legs.joints]:
        single = [c for c in free if not any(_are_twins(shape, c, d, joint, view) for d in free if d != c)]
        long = [c for c in single if chain == [] or shape.reach[c] + shape.bones[c] > 0.02 * shape.span]
        if not long or (chain and len(free) > 1 and max(_height(shape, c, joint, view) for c in long) <= 0.0):
            break
        joint = max(long, key=lambda c: _height(shape, c, joint, view))
        chain.append(joint)
        if shape.tips[joint] > 0.0:
            break
    return chain


def _find_lone_arm(shape: _Shape, legs: _Pair, way: list[int], view: _View) -> tuple[_Limb, bool] | None:
    """The one arm of a body that lost the other, and whether it is on the first leg's side; None where it has none.

    way  the joints from the pelvis to the head
    """
    best: tuple[float, _Limb, bool] | None = None
    for hub in way[:-1]:
        for c in shape.children[hub]:
            ranks = _rank_bones(shape, shape.main_chain(c), _ARM) if c not in way and view.up is not None else {}
            if not ranks:
                continue
            chain = shape.main_chain(c)
            i, j, k = _best_triple(ranks)
            profile = shape.profile(chain)
            limb = _Limb(chain, chain[i], chain[j], chain[k], float(profile[k] - profile[i]), ranks[i, j, k][1])
            side = float((view.places[0, limb.upper] - view.places[0, hub]) @ view.across[0])
            worth = limb.score * _bell(legs.length / limb.length / _LEG_TO_ARM, _LEG_TO_ARM_WIDTH)
            if abs(side) > _SHOULDERS * limb.length and worth > 0.3 and (best is None or worth > best[0]):
                best = (worth, limb, side > 0.0)
    return None if best is None else best[1:]


def _find_toes(shape: _Shape, leg: _Limb) -> int | None:
    """The joint after the ankle, unless it is only the end of a bone that has no joint of its own."""
    at = leg.joints.index(leg.end) + 1
    return leg.joints[at] if at < len(leg.joints) and shape.bones[leg.joints[at]] > 0.0 else None


def _tell_sides(
    skeleton: Skeleton, poses: np.ndarray | None, legs: _Pair, arms: _Pair | None, top: int
) -> tuple[dict[str, bool], float]:
    """Whether the first limb of each pair is the left one, and how sure that is, 0.5 to 1. top: a joint above the hips.

    Front is left x up. For the hips' line d from the second leg to the first and the trunk's line up, (d x up) . toes
    is positive where the first is left; likewise with the knees' way off the line from hip to ankle. The arms' sides
    are the legs': their line is along the hips'.
    """
    rest = skeleton.rest_positions()
    places = rest[None] if poses is None else np.concatenate([rest[None], poses])
    weights = np.concatenate([[max(1.0, 0.5 * (len(places) - 1))], np.ones(len(places) - 1)])
    hips = [places[:, limb.upper] for limb in legs.limbs]
    across, up = hips[0] - hips[1], places[:, top] - 0.5 * (hips[0] + hips[1])
    normal = np.cross(across, up)
    size = np.linalg.norm(normal, axis=1) + 1e-12
    votes = np.zeros(2)  # by the feet, by the knees
    ends = [_foot_ends(skeleton, limb) for limb in legs.limbs]
    for limb, end in zip(legs.limbs, ends, strict=True):
        if end is not None:
            joint, tip = end
            toes = places[:, joint] - places[:, limb.end]
            toes[0] += tip  # in the rest pose the end site's place is known without orientations
            votes[0] += float(np.sum(weights * np.einsum("ka,ka->k", normal, toes) / size))
        hip, knee, ankle = (places[:, i] for i in (limb.upper, limb.lower, limb.end))
        leg = ankle - hip
        share = np.einsum("ka,ka->k", knee - hip, leg) / (np.einsum("ka,ka->k", leg, leg) + 1e-12)
        votes[1] += float(np.sum(weights * np.einsum("ka,ka->k", normal, knee - hip - share[:, None] * leg) / size))
    vote = votes[0] if abs(votes[0]) > 0.02 * legs.length * weights.sum() else votes[0] + votes[1]
    is_known = abs(vote) > 1e-3 * legs.length * weights.sum()
    legs_first = bool(vote > 0) if is_known else bool(np.sum(weights * across[:, 0]) > 0)
    sides = {"legs": legs_first, "arms": legs_first}
    if arms is not None:
        line = places[:, arms.limbs[0].joints[0]] - places[:, arms.limbs[1].joints[0]]
        line = line + places[:, arms.limbs[0].upper] - places[:, arms.limbs[1].upper]
        sides["arms"] = legs_first == bool(np.sum(weights * np.einsum("ka,ka->k", line, across)) > 0)
    return sides, 1.0 if is_known else 0.5


def _foot_ends(skeleton: Skeleton, leg: _Limb) -> tuple[int, np.ndarray] | None:
    """The last joint of a foot and its end site's offset; None where the ankle is the end."""
    last = leg.joints[-1]
    tip = np.asarray(skeleton.tips[last]) if skeleton.has_tip[last] else np.zeros(3)
    return None if last == leg.end and not tip.any() else (last, tip)


def find_fingers(skeleton: Skeleton, hand: int, side: str, taken: Sequence[int]) -> dict[str, int]:
    """Roles of five nameless chains on a hand: the thumb stands off the others, which follow it in order."""
    shape = _Shape(skeleton)
    starts = [c for c in shape.children[hand] if c not in taken and shape.reach[c] > 0.0]
    chains = [shape.main_chain(c)[:3] for c in starts]
    chains = [chain for chain in chains if len(chain) >= 2]
    if len(chains) != 5:
        return {}
    rest = skeleton.rest_positions()
    lines = np.array([rest[chain[-1]] - rest[hand] for chain in chains])
    units = lines / (np.linalg.norm(lines, axis=1, keepdims=True) + 1e-12)
    thumb = int(np.argmin(units @ units.sum(axis=0)))
    order = sorted(range(5), key=lambda k: -float(units[k] @ units[thumb]))
    roles: dict[str, int] = {}
    for finger, k in zip(FINGER_BONES, order, strict=True):
        roles |= {side + finger + bone: joint for bone, joint in zip(FINGER_BONES[finger], chains[k], strict=False)}
    return roles

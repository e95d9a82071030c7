"""Scores of candidate limbs: how a body with them stands, where its trunk and head are, how much it looks like a
person.

Direction: which way the body stands, at rest and in motion, and how its other parts lie to that.

Trunk: hips, trunk, neck and head of a body whose limbs are known; and the one arm of a body that lost the other.

Likeness: how much pairs of limbs look like a person's, by proportions and by how all of it stands.

Shares of the stature are those of Drillis and Contini (1966), as in Winter (2009), fig. 4.1. The widths of the scores
and the penalties were set so that bodies of children and cartoons pass, whose legs may be shorter than their arms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from poise.body.role_finding.from_names import common_ancestor
from poise.body.role_finding.lengths import Shape, compute_distance, find_way_out
from poise.body.role_finding.limbs import (
    ARM,
    LEG_TO_ARM,
    LEG_TO_ARM_WIDTH,
    LIKENESS,
    Limb,
    Pair,
    bell,
    best_triple,
    rank_bones,
)

# What goes up from the chest beside the middle by this share of its length is no head; chains this share of their
# length off it, on either side, are twins.
_ASIDE, _OFF_MIDDLE = 0.6, 0.15


@dataclass(frozen=True, eq=False)
class View:
    """Which way is up, and across from one limb of a pair to the other, at rest and in poses, for a pair of hubs.

    places      (K, J, 3), the rest pose first
    up, across  (K, 3) unit, None where the rest pose does not tell
    tips        (J, 3) end sites at rest
    """

    places: np.ndarray
    up: np.ndarray | None
    across: np.ndarray
    tips: np.ndarray


def look(shape: Shape, places: np.ndarray, legs: Pair, arms: Pair | None) -> View:
    """The view of a body with these legs and arms: up from the legs' middle to the arms', or along the legs."""
    uppers = [places[:, limb.upper] for limb in legs.limbs]
    middle = 0.5 * (uppers[0] + uppers[1])
    if arms is None:
        ends = [places[:, limb.end] for limb in legs.limbs]
        up, size = middle - 0.5 * (ends[0] + ends[1]), legs.length
    else:
        up = 0.5 * (places[:, arms.limbs[0].upper] + places[:, arms.limbs[1].upper]) - middle
        size = arms.length
    across = unit(uppers[0] - uppers[1])
    is_told = float(np.linalg.norm(up[0])) > 0.2 * size and float(np.linalg.norm(across[0])) > 0.5
    return View(places, unit(up) if is_told else None, across, np.nan_to_num(np.asarray(shape.skeleton.tips)))


def unit(v: np.ndarray) -> np.ndarray:
    """Directions (..., 3); zeros for what has no length."""
    return np.asarray(v / (np.linalg.norm(v, axis=-1, keepdims=True) + 1e-12))


def compute_height(shape: Shape, joint: int, hub: int, view: View) -> float:
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


def are_twins(shape: Shape, a: int, b: int, hub: int, view: View) -> bool:
    """Whether two chains on a hub are as long and as far on either side of the middle."""
    lengths = [float(shape.reach[c] + shape.bones[c]) for c in (a, b)]
    if view.up is None or abs(lengths[0] - lengths[1]) > LIKENESS * max(lengths):
        return False
    ends = [view.places[0, shape.main_chain(c)[-1]] - view.places[0, hub] for c in (a, b)]
    sides = [float(end @ view.across[0]) for end in ends]
    off = max(abs(side) for side in sides)
    return off > _OFF_MIDDLE * max(lengths) and abs(sides[0] + sides[1]) < 0.3 * off


_TOP_OF_HEAD = 1.2
_RISES = 0.1  # how far a head is above the chest, as a share of its chain's length (hair hangs on it)
# Arms are this share of their length from the middle, at least: a cape's folds and hair are less.
SHOULDERS = 0.14


def find_head_chain(shape: Shape, hub: int, other: int, limbs: set[int], view: View) -> list[int]:
    """The chain on a hub that goes up in the middle and is no limb and no way to the other hub; empty if there is none.

    Capes hang, wings and second arms come in pairs: of what is left, the head is on top.
    """
    leading = set(shape.skeleton.chain(other))
    free = [c for c in shape.children[hub] if c not in limbs and c not in leading]
    free = [c for c in free if shape.reach[c] + shape.bones[c] > 0.02 * shape.span]
    single = [c for c in free if not any(are_twins(shape, c, d, hub, view) for d in free if d != c)]
    # Backpacks and tails stick out behind.
    reach = {c: float(shape.reach[c] + shape.bones[c]) for c in single}
    single = [c for c in single if compute_height(shape, c, hub, view) > _RISES * reach[c]]
    if not single:
        return []
    return _neck_to_head(shape, max(single, key=lambda c: compute_height(shape, c, hub, view)))


def _neck_to_head(shape: Shape, joint: int) -> list[int]:
    """From the neck's joint up to the head's: the first with an end site or a branch (eyes, hair), or the last."""
    chain = [joint]
    while shape.tips[chain[-1]] == 0.0 and len(shape.children[chain[-1]]) == 1:
        chain.append(shape.children[chain[-1]][0])
    is_bare = not shape.children[chain[-1]] and shape.tips[chain[-1]] == 0.0
    # The top of a head is farther from its joint than that is from the joint before; a head is not.
    is_end = is_bare and len(chain) > 2 and shape.bones[chain[-1]] > _TOP_OF_HEAD * shape.bones[chain[-2]]
    return chain[:-1] if is_end else chain


def find_middle(shape: Shape, legs: Pair, arms: Pair | None, view: View) -> tuple[int, list[int], dict[str, int]]:
    """The hips, the trunk's joints above them, and head and neck by role."""
    skeleton = shape.skeleton
    if arms is None:
        chain = find_way_up(shape, legs, view)
        if len(chain) < 2:
            return legs.hub, chain, {}
        top = {"head": chain[-1]} | ({"neck": chain[-2]} if len(chain) > 2 else {})
        return legs.hub, chain[: -len(top)], top
    hips = common_ancestor(skeleton, [legs.hub, arms.hub])
    hips = legs.hub if hips == arms.hub else hips
    path = skeleton.chain(arms.hub)
    trunk = path[path.index(hips) + 1 :] if hips in path else []
    neck = find_head_chain(shape, arms.hub, legs.hub, arms.joints, view)
    head = {"head": neck[-1]} if neck else {}
    return hips, trunk, head | ({"neck": neck[0]} if len(neck) > 1 else {})


def find_way_up(shape: Shape, legs: Pair, view: View) -> list[int]:
    """The joints from the pelvis up the middle to the head of a body without a pair of arms."""
    chain: list[int] = []
    joint = legs.hub
    while free := [c for c in shape.children[joint] if c not in legs.joints]:
        single = [c for c in free if not any(are_twins(shape, c, d, joint, view) for d in free if d != c)]
        long = [c for c in single if chain == [] or shape.reach[c] + shape.bones[c] > 0.02 * shape.span]
        if not long or (chain and len(free) > 1 and max(compute_height(shape, c, joint, view) for c in long) <= 0.0):
            break
        joint = max(long, key=lambda c: compute_height(shape, c, joint, view))
        chain.append(joint)
        if shape.tips[joint] > 0.0:
            break
    return chain


def find_lone_arm(shape: Shape, legs: Pair, way: list[int], view: View) -> tuple[Limb, bool] | None:
    """The one arm of a body that lost the other, and whether it is on the first leg's side; None where it has none.

    way  the joints from the pelvis to the head
    """
    best: tuple[float, Limb, bool] | None = None
    for hub in way[:-1]:
        for c in shape.children[hub]:
            ranks = rank_bones(shape, shape.main_chain(c), ARM) if c not in way and view.up is not None else {}
            if not ranks:
                continue
            chain = shape.main_chain(c)
            i, j, k = best_triple(ranks)
            profile = shape.profile(chain)
            limb = Limb(chain, chain[i], chain[j], chain[k], float(profile[k] - profile[i]), ranks[i, j, k][1])
            side = float((view.places[0, limb.upper] - view.places[0, hub]) @ view.across[0])
            worth = limb.score * bell(legs.length / limb.length / LEG_TO_ARM, LEG_TO_ARM_WIDTH)
            if abs(side) > SHOULDERS * limb.length and worth > 0.3 and (best is None or worth > best[0]):
                best = (worth, limb, side > 0.0)
    return None if best is None else best[1:]


_TRUNK_TO_LEG, _TRUNK_TO_LEG_WIDTH = 0.29 / 0.49, 0.6  # as LEG_TO_ARM
# The factors of a body's score are many: their product is raised to this, so that a person comes near 1.
_SOFTEN = 0.35
_BEHIND = 0.25  # arms do not point behind the body by this share of their length: wings do
# Limbs of a pair mirror each other within this share of their length; nothing is lower than the feet by this share of
# legs and trunk.
_MIRRORED, _UNDER_FEET = 0.35, 0.1
_ARMLESS = 0.6  # one pair of limbs tells less than two
# Where all of a body stands as a person's does, its proportions count for less: children's, cartoons', robots'.
_STANDS = 0.5


def score_body(shape: Shape, legs: Pair, arms: Pair) -> float:
    """How much two pairs of limbs look like a person's, 0 to 1."""
    leg_joints, arm_joints = legs.joints, arms.joints
    if leg_joints & arm_joints or arms.hub in leg_joints or legs.hub in arm_joints:
        return 0.0
    rest = shape.skeleton.rest_positions()
    middles = [np.mean([rest[limb.upper] for limb in pair.limbs], axis=0) for pair in (legs, arms)]
    trunk = max(compute_distance(shape, legs.hub, arms.hub), float(np.linalg.norm(middles[1] - middles[0])))
    if trunk <= 0.0:
        return 0.0
    score = legs.score * arms.score
    score *= bell(legs.length / arms.length / LEG_TO_ARM, LEG_TO_ARM_WIDTH)
    score *= bell(trunk / legs.length / _TRUNK_TO_LEG, _TRUNK_TO_LEG_WIDTH)
    view = look(shape, rest[None], legs, arms)
    fits = [
        1.0 if find_head_chain(shape, arms.hub, legs.hub, arm_joints, view) else 0.25,
        # In a rest pose that stands, legs go down from the trunk.
        1.0 if _points_away(rest, legs, middles[1] - middles[0]) else 0.3,
        # Skirts, capes, hair and spiders' legs: one of many is no limb.
        0.3 ** sum(_is_one_of_many(shape, *pairs) for pairs in ((legs, arms), (arms, legs))),
        _score_symmetry(view, legs, arms),
        _score_ground(view, legs, arms, trunk),
    ]
    if view.up is not None and min(fits) == 1.0:
        score = score**_STANDS
    if find_head_chain(shape, legs.hub, arms.hub, leg_joints, view):
        fits.append(0.5)  # something like a head, or a tail, on the pelvis
    if legs.hub not in shape.skeleton.chain(arms.hub):
        fits.append(0.9)  # trees are rooted at the pelvis as a rule
    return float((score * math.prod(fits)) ** _SOFTEN)


def _is_one_of_many(shape: Shape, pair: Pair, other: Pair | None) -> bool:
    """Whether more chains than a pair's, and none that lead to the other pair, are as long and hang on its hub."""
    first = pair.limbs[0].joints[0]
    length = float(shape.reach[first] + shape.bones[first])
    leading = set() if other is None else set(shape.skeleton.chain(other.hub))
    others = [c for c in shape.children[pair.hub] if c not in pair.joints and c not in leading]
    if other is None:  # the trunk may be as long as a leg
        others.sort(key=lambda c: -float(shape.reach[c] + shape.bones[c]))
        others = others[1:]
    return any(abs(shape.reach[c] + shape.bones[c] - length) < LIKENESS * length for c in others)


def _score_symmetry(view: View, legs: Pair, arms: Pair) -> float:
    """How well both pairs lie on either side of one plane at rest: 1, or less for each thing that does not fit."""
    if view.up is None:
        return 1.0
    rest, up, across = view.places[0], view.up[0], view.across[0]
    line = unit(rest[arms.limbs[0].upper] - rest[arms.limbs[1].upper])
    score = 1.0 if abs(float(line @ across)) > 0.85 else 0.2
    score *= 1.0 if abs(float(up @ across)) < 0.4 else 0.3
    middle = 0.5 * (rest[legs.limbs[0].upper] + rest[legs.limbs[1].upper])
    front = np.cross(up, across)
    ahead = sum(float((rest[limb.joints[-1]] - rest[limb.end]) @ front) for limb in legs.limbs)
    behind = [float(unit(rest[limb.end] - rest[limb.upper]) @ front) * -np.sign(ahead) for limb in arms.limbs]
    score *= 0.5 if min(behind) > _BEHIND and abs(ahead) > 0.1 * legs.length else 1.0
    width = min(abs(float((rest[limb.upper] - middle) @ across)) for limb in arms.limbs)
    score *= 1.0 if width > SHOULDERS * arms.length else 0.4
    for pair in (legs, arms):
        first, second = (
            np.array([rest[i] for i in (limb.upper, limb.lower, limb.end)]) - middle for limb in pair.limbs
        )
        mirrored = first - 2.0 * np.outer(first @ across, across)
        score *= 1.0 if np.linalg.norm(mirrored - second, axis=1).max() < _MIRRORED * pair.length else 0.5
    return score


def _score_ground(view: View, legs: Pair, arms: Pair | None, trunk: float) -> float:
    """Less where something else than the legs' ends is lowest at rest."""
    if view.up is None:
        return 1.0
    heights = view.places[0] @ view.up[0]
    feet = min(float(heights[joint]) for joint in legs.joints)
    limbs = legs.joints if arms is None else legs.joints | arms.joints
    others = [i for i in range(len(heights)) if i not in limbs]
    return 1.0 if min(heights[others], default=feet) > feet - _UNDER_FEET * (legs.length + trunk) else 0.3


def _points_away(rest: np.ndarray, pair: Pair, trunk: np.ndarray) -> bool:
    """Whether a pair of limbs points away from a direction (3,) at rest, as legs do from the trunk."""
    line = np.mean([rest[limb.end] - rest[limb.upper] for limb in pair.limbs], axis=0)
    return bool(line @ trunk < -0.6 * np.linalg.norm(line) * np.linalg.norm(trunk))


def score_armless(shape: Shape, legs: Pair) -> float:
    """How much one pair of limbs looks like a person's legs: hardly where nothing stands on them in the middle."""
    view = look(shape, shape.skeleton.rest_positions()[None], legs, None)
    way = find_way_up(shape, legs, view) if view.up is not None else []
    if not way or view.up is None:
        others = [shape.reach[c] + shape.bones[c] for c in shape.children[legs.hub] if c not in legs.joints]
        trunk = max([*others, find_way_out(shape, legs.hub)])
        return 0.5 * float(legs.score**_SOFTEN) * (1.0 if trunk > 0.15 * legs.length else 0.3)
    rise = (view.places[0, way[-1]] - view.places[0, legs.hub]) @ view.up[0]
    fits = [
        bell(max(float(rise), 1e-3) / legs.length / _TRUNK_TO_LEG, _TRUNK_TO_LEG_WIDTH),
        0.3 if _is_one_of_many(shape, legs, None) else 1.0,
        _score_ground(view, legs, None, max(float(rise), 0.0)),
        1.0 if len(way) >= 2 else 0.5,
    ]
    return _ARMLESS * float((legs.score * math.prod(fits)) ** _SOFTEN)

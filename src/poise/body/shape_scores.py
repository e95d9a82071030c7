"""How much pairs of limbs look like a person's: proportions, and how all of it stands.

Shares of the stature are those of Drillis and Contini (1966), as in Winter (2009), fig. 4.1. The widths of the scores
and the penalties were set so that bodies of children and cartoons pass, whose legs may be shorter than their arms.
"""

from __future__ import annotations

import math

import numpy as np

from poise.body.limb_pairs import LEG_TO_ARM, LEG_TO_ARM_WIDTH, LIKENESS, Pair, bell
from poise.body.shape_middle import SHOULDERS, find_head_chain, find_way_up
from poise.body.shape_tree import Shape, compute_distance, find_way_out
from poise.body.shape_view import View, look, unit

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

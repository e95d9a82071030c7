"""Roles from a skeleton's shape alone, where names say nothing.

A body is told by its lengths, which no pose changes: two like limbs hang on one joint (the pelvis), two more on another
(the chest), a path of bones joins the two, and a short chain goes on from the chest to the head. Legs are told from
arms by their length and by the head, on the arms' end. Where the rest pose stands, more tells: both pairs lie on either
side of one plane, the feet are lowest, the head is on top in the middle, and what comes in threes and more is no limb.

    lengths.py    lengths; joints at one place made one
    limbs.py      pairs of like limbs, and their long bones
    scores.py     which way is up and across; hips, trunk, neck, head; how much it looks like a person

Left and right of a body whose limbs are known are told by where the feet point, or by how the knees bend in the motion.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from poise.body.role_finding.from_names import name_trunk
from poise.body.role_finding.lengths import Shape, contract
from poise.body.role_finding.limbs import Limb, Pair, find_pairs
from poise.body.role_finding.scores import find_lone_arm, find_middle, look, score_armless, score_body
from poise.body.roles import FINGER_BONES, SIDES, mirror_role
from poise.body.skeleton import Skeleton

# Larger trees are no single person's, and pairs of limbs would be too many.
_MOST_JOINTS = 3000
# Below this two pairs are no person's legs and arms.
_LEAST_BODY = 0.25
# A reading of a body whose score is above this share of the best casts doubt on it.
_AHEAD = 0.85
# Somebody who names so many joints that fit a reading knows what the body is.
_FEWEST_NAMED, _NAMED = 2, 0.75


@dataclass(frozen=True)
class ShapeRoles:
    """Role -> joint index, and how well they fit a person, 0 to 1."""

    roles: dict[str, int]
    confidence: float


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
    shape = Shape(skeleton)
    pairs = find_pairs(shape)
    bodies: list[tuple[float, Pair, Pair | None]] = [
        (score_body(shape, a, b), a, b) for (a, _), (_, b) in itertools.permutations(pairs, 2)
    ]
    bodies = [body for body in bodies if body[0] > _LEAST_BODY]
    bodies.sort(key=lambda body: -body[0])
    if known or not bodies:
        bodies += sorted(((score_armless(shape, a), a, None) for a, _ in pairs), key=lambda body: -body[0])
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


def _read_body(shape: Shape, poses: np.ndarray | None, legs: Pair, arms: Pair | None) -> ShapeRoles:
    """The roles of a body with these limbs, and how surely left is left."""
    skeleton = shape.skeleton
    rest = skeleton.rest_positions()[None]
    view = look(shape, rest if poses is None else np.concatenate([rest, poses]), legs, arms)
    hips, trunk, head = find_middle(shape, legs, arms, view)
    top = arms.hub if arms is not None else [legs.hub, *trunk, *sorted(head.values())][-1]
    sides, sureness = tell_sides(skeleton, poses, legs, arms, top)
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
    elif (lone := find_lone_arm(shape, legs, [*trunk, *sorted(head.values())], view)) is not None:
        side = SIDES[0] if lone[1] == sides["legs"] else SIDES[1]
        roles |= lone[0].stems((f"{side}UpperArm", f"{side}LowerArm", f"{side}Hand"))
        if "neck" in head and lone[0].joints[0] in shape.children[head["neck"]]:
            del roles["neck"]
            roles |= name_trunk([*trunk, head["neck"]])
    return ShapeRoles(roles, sureness)


def _compute_lead(bodies: list[tuple[float, Pair, Pair | None]]) -> float:
    """How far the best reading is ahead of the next that has other limbs: 1, down to a half where they are alike."""
    best, legs, arms = bodies[0]
    ends = [{limb.end for limb in pair.limbs} if pair is not None else set() for pair in (legs, arms)]
    for score, *pairs in bodies[1:]:
        others = [{limb.end for limb in pair.limbs} if pair is not None else set() for pair in pairs]
        if any(one.isdisjoint(other) for one, other in zip(ends, others, strict=True) if one and other):
            return 1.0 - 0.5 * min(1.0, max(0.0, (score / best - _AHEAD) / (1.0 - _AHEAD)))
    return 1.0


def _find_toes(shape: Shape, leg: Limb) -> int | None:
    """The joint after the ankle, unless it is only the end of a bone that has no joint of its own."""
    at = leg.joints.index(leg.end) + 1
    return leg.joints[at] if at < len(leg.joints) and shape.bones[leg.joints[at]] > 0.0 else None


def find_fingers(skeleton: Skeleton, hand: int, side: str, taken: Sequence[int]) -> dict[str, int]:
    """Roles of five nameless chains on a hand: the thumb stands off the others, which follow it in order."""
    shape = Shape(skeleton)
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


_NO_TRUNK = 0.05  # of the leg's length: a joint no further above the hips than this is no trunk


def tell_sides(
    skeleton: Skeleton, poses: np.ndarray | None, legs: Pair, arms: Pair | None, top: int
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
    if np.linalg.norm(up[0]) < _NO_TRUNK * legs.length:  # legs alone: away from the ankles
        up = 0.5 * sum(hip - places[:, limb.end] for hip, limb in zip(hips, legs.limbs, strict=True))
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


def _foot_ends(skeleton: Skeleton, leg: Limb) -> tuple[int, np.ndarray] | None:
    """The last joint of a foot and its end site's offset; None where the ankle is the end."""
    last = leg.joints[-1]
    tip = np.asarray(skeleton.tips[last]) if skeleton.has_tip[last] else np.zeros(3)
    return None if last == leg.end and not tip.any() else (last, tip)

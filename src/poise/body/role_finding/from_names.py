"""Roles from the joints' names, with the tree deciding between readings.

Along a limb, roles come in anatomical order, so that `LeftShoulder` is the upper arm where a `LeftCollar` carries it
and the clavicle where it carries a `LeftArm`. The trunk is whatever lies between the hips and the branch of neck and
arms, whatever its joints are called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from poise.body.role_finding.names import JointName, find_finger, find_stems, parse_names
from poise.body.roles import ARM_STEMS, FINGER_BONES, LEG_STEMS, SIDES, TRUNK_ROLES, sided
from poise.body.skeleton import Skeleton

# A joint's first reading counts 1, a later one this much.
_SECOND_READING = 0.9
_MOST_ENDS = 200  # of chains that may be one limb: far more than any rig has


def find_named_roles(skeleton: Skeleton) -> dict[str, int]:
    """Role -> joint index, as far as names tell."""
    read = parse_names(skeleton.names)
    roles: dict[str, int] = {}
    for side in SIDES:
        for stems in (ARM_STEMS, LEG_STEMS):
            roles |= _find_limb(skeleton, read, side, stems)
    return roles | _find_middle(skeleton, read, roles) | _find_small(read)


def list_namesakes(skeleton: Skeleton) -> dict[str, list[int]]:
    """Return the joints whose names alone may say each role, wherever they are in the tree; the likeliest first."""
    found: dict[str, list[tuple[int, int]]] = {}
    for i, name in enumerate(parse_names(skeleton.names)):
        for rank, stem in enumerate(_stems(name)[0]):
            found.setdefault((name.side or "") + stem, []).append((rank, i))
    return {role: [i for _, i in sorted(ranked)] for role, ranked in found.items()}


def _stems(read: JointName) -> tuple[tuple[str, ...], float]:
    return ((), 0.0) if read.is_helper else find_stems(read.key)


def _find_limb(skeleton: Skeleton, read: Sequence[JointName], side: str, stems: tuple[str, ...]) -> dict[str, int]:
    """The best reading of one side's arm or leg: joints on one path from the root, roles in anatomical order."""
    options = {i: _stems(name) for i, name in enumerate(read) if name.side == side}
    candidates = {i for i, (found, _) in options.items() if set(found) & set(stems)}
    inner = {int(skeleton.parents[i]) for i in candidates}
    best: dict[str, int] = {}
    best_score = 0.0
    for last in sorted(candidates - inner)[:_MOST_ENDS]:
        path = [i for i in skeleton.chain(last) if i in candidates]
        score, match = _match_in_order(path, [options[i] for i in path], stems)
        if score > best_score:
            best_score, best = score, {side + stem: joint for stem, joint in match.items()}
    return best


def _match_in_order(
    path: list[int], options: list[tuple[tuple[str, ...], float]], stems: tuple[str, ...]
) -> tuple[float, dict[str, int]]:
    """Give the joints of a path stems in increasing order, with the greatest total score.

    A plain first reading scores 1, and the upper arm and thigh count double, since a limb without them is of no use.
    Ties go to the joints nearer the trunk.
    """
    # best[k]: the best match of the joints from here to the end of the path with stems[k:].
    best: list[tuple[float, dict[str, int]]] = [(0.0, {})] * (len(stems) + 1)
    for joint, (names, plainness) in zip(reversed(path), reversed(options), strict=True):
        here = list(best)
        for rank, stem in enumerate(names):
            if stem not in stems:
                continue
            at = stems.index(stem)
            value = plainness * (1.0 if rank == 0 else _SECOND_READING) * (2.0 if stem.startswith("Upper") else 1.0)
            rest_score, rest = best[at + 1]
            for k in range(at + 1):
                if rest_score + value >= here[k][0]:
                    here[k] = (rest_score + value, {stem: joint, **rest})
        best = here
    return best[0]


def _find_middle(skeleton: Skeleton, read: Sequence[JointName], limbs: Mapping[str, int]) -> dict[str, int]:
    """Hips, trunk, neck and head. The trunk is the path from the hips up to the neck, or to where the arms branch."""
    thighs = [limbs[role] for role in sided(["UpperLeg"]) if role in limbs]
    arms = [limbs[role] for side in SIDES for role in sided(ARM_STEMS, [side]) if role in limbs]
    head = next(iter(_list_named(read, "head")), None)
    neck = next((i for i in _list_named(read, "neck") if head is None or i in skeleton.chain(head)), None)
    tops = [i for i in (neck, head) if i is not None][:1] + arms
    hips = _find_hips(skeleton, _list_named(read, "hips"), thighs, tops)
    if hips is None:
        return {}
    above = {role: i for role, i in (("neck", neck), ("head", head)) if i is not None and hips in skeleton.chain(i)}
    roles = {"hips": hips, **above}
    if tops:
        has_neck = neck is not None or not arms
        branch = int(skeleton.parents[tops[0]]) if has_neck else common_ancestor(skeleton, tops)
        trunk = _list_trunk(skeleton, hips, branch)
        roles |= name_trunk([i for i in trunk if i not in thighs and i not in roles.values()])
    return roles


def _list_named(read: Sequence[JointName], role: str) -> list[int]:
    """The joints of neither side whose name may be that of a role."""
    return [i for i, name in enumerate(read) if name.side is None and role in _stems(name)[0]]


def _list_trunk(skeleton: Skeleton, hips: int, branch: int) -> list[int]:
    """The joints over the hips up to where the neck or the arms branch."""
    chain = skeleton.chain(branch) if branch >= 0 else []
    return chain[chain.index(hips) + 1 :] if hips in chain else []


def _find_hips(skeleton: Skeleton, named: list[int], thighs: list[int], tops: list[int]) -> int | None:
    """The lowest joint called hips that carries thighs and trunk, else where they meet; without thighs the first."""
    carried = [*thighs, *tops[:1]]
    chains = [skeleton.chain(i) for i in carried]
    carriers = [i for i in named if all(i in chain for chain in chains)]
    if carriers:
        return carriers[-1] if thighs else carriers[0]
    # A pelvis may carry only the legs (MikuMikuDance, Daz): the hips are what carries the trunk, too.
    return common_ancestor(skeleton, carried) if len(thighs) > 1 else None


def name_trunk(chain: list[int]) -> dict[str, int]:
    """spine, chest, upperChest for a trunk of any number of joints: the first, one in the middle, the last."""
    if not chain:
        return {}
    picks = {1: [0], 2: [0, 1]}.get(len(chain), [0, len(chain) // 2, len(chain) - 1])
    return {role: chain[k] for role, k in zip(TRUNK_ROLES, picks, strict=False)}


def _find_small(read: Sequence[JointName]) -> dict[str, int]:
    """Fingers, eyes and jaw: nothing hangs on them, so the names are taken as they are, the first joint winning."""
    roles: dict[str, int] = {}
    fingers: dict[tuple[str, str], dict[int, int]] = {}
    for i, name in enumerate(read):
        if found := find_finger(name):
            side, finger, number = found
            fingers.setdefault((side, finger), {}).setdefault(number, i)
        elif name.side and "Eye" in _stems(name)[0]:
            roles.setdefault(name.side + "Eye", i)
        elif name.side is None and "jaw" in _stems(name)[0]:
            roles.setdefault("jaw", i)
    for (side, finger), joints in fingers.items():
        first = min(1, *joints) if len(joints) > 1 else min(joints)
        for number, bone in enumerate(FINGER_BONES[finger], min(first, 1)):
            if number in joints:
                roles[side + finger + bone] = joints[number]
    return roles


def common_ancestor(skeleton: Skeleton, joints: Sequence[int]) -> int:
    """The lowest joint that carries all of these (one of them may be it)."""
    chains = [skeleton.chain(i) for i in joints]
    return max(set(chains[0]).intersection(*chains[1:]), key=chains[0].index)

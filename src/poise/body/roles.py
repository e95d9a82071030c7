"""What a joint is to a human body: VRM 1.0's roles, the parts they make up, and finding them by name and structure.

Names are read in three steps, each of which can be extended on its own:
  1. `read_name` takes a name apart: namespace and rig prefix off, side found, the rest put together in lower case.
  2. `ALIASES` says which roles that rest may stand for, the likeliest first.
  3. The tree decides between them: along a limb, roles come in anatomical order (so that `LeftShoulder` is the upper
     arm where a `LeftCollar` carries it and the clavicle where it carries a `LeftArm`), and the trunk is whatever lies
     between the hips and the branch of neck and arms, whatever its joints are called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from poise.body.skeleton import Skeleton
from poise.errors import InputError, unknown_name

SIDES = ("left", "right")
TRUNK_ROLES = ("spine", "chest", "upperChest")
ARM_STEMS = ("Shoulder", "UpperArm", "LowerArm", "Hand")
LEG_STEMS = ("UpperLeg", "LowerLeg", "Foot", "Toes")
FINGER_STEMS = tuple(
    finger + bone
    for finger, bones in {
        "Thumb": ("Metacarpal", "Proximal", "Distal"),
        **dict.fromkeys(("Index", "Middle", "Ring", "Little"), ("Proximal", "Intermediate", "Distal")),
    }.items()
    for bone in bones
)


def sided(stems: Iterable[str], sides: Iterable[str] = SIDES) -> tuple[str, ...]:
    """The roles of these stems on these sides: `UpperLeg` to `leftUpperLeg`, `rightUpperLeg`."""
    return tuple(side + stem for side in sides for stem in stems)


# The humanoid bones of VRM 1.0 (VRMC_vrm-1.0, humanoid.md), the body before eyes, jaw and fingers.
BODY_ROLES = ("hips", *TRUNK_ROLES, "neck", "head", *sided(ARM_STEMS), *sided(LEG_STEMS))
ROLES = (*BODY_ROLES, "leftEye", "rightEye", "jaw", *sided(FINGER_STEMS))

PARTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "trunk": TRUNK_ROLES,
        "head": ("neck", "head", "leftEye", "rightEye", "jaw"),
        "arms": sided((*ARM_STEMS, *FINGER_STEMS)),
        "leftArm": sided((*ARM_STEMS, *FINGER_STEMS), ["left"]),
        "rightArm": sided((*ARM_STEMS, *FINGER_STEMS), ["right"]),
        "legs": sided(LEG_STEMS),
        "leftLeg": sided(LEG_STEMS, ["left"]),
        "rightLeg": sided(LEG_STEMS, ["right"]),
        "upperBody": tuple(role for role in ROLES if role != "hips" and role not in sided(LEG_STEMS)),
    }
)

# The rest of a name, without prefix, side and closing digits, to the roles it may stand for. `hip` with a side is a
# thigh's joint, without one the pelvis; `leg` and `arm` are HumanIK's words for shin and upper arm. H-Anim's names are
# those of the anatomical joints.
ALIASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(("shoulder", "shldr"), ("Shoulder", "UpperArm")),
        **dict.fromkeys(("collar", "collarbone", "clavicle", "sternoclavicular"), ("Shoulder",)),
        **dict.fromkeys(("arm", "upperarm", "uparm", "humerus"), ("UpperArm",)),
        **dict.fromkeys(("forearm", "lowerarm", "lowarm", "elbow", "radius", "farm"), ("LowerArm",)),
        **dict.fromkeys(("hand", "wrist", "palm", "radiocarpal"), ("Hand",)),
        **dict.fromkeys(("upleg", "upperleg", "thigh", "femur"), ("UpperLeg",)),
        "hip": ("UpperLeg", "hips"),
        **dict.fromkeys(("leg",), ("LowerLeg", "UpperLeg")),
        **dict.fromkeys(("lowerleg", "lowleg", "knee", "shin", "calf", "tibia", "shank"), ("LowerLeg",)),
        **dict.fromkeys(("foot", "ankle", "talocrural"), ("Foot",)),
        **dict.fromkeys(("toe", "toes", "toebase", "ball", "metatarsophalangeal", "midtarsal"), ("Toes",)),
        **dict.fromkeys(("hips", "pelvis", "humanoidroot", "sacroiliac"), ("hips",)),
        **dict.fromkeys(("neck", "vc"), ("neck",)),
        **dict.fromkeys(("head", "skullbase", "skull"), ("head",)),
        **dict.fromkeys(("jaw", "temporomandibular"), ("jaw",)),
        **dict.fromkeys(("eye", "eyeball"), ("Eye",)),
    }
)
_PREFIX = re.compile(r"^(mixamorig\d*|bip\d+|character\d+|valvebiped|humanoid|armature|def|org|jnt|bone)[ _.\-]*", re.I)
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_SIDE_WORDS = {"left": "left", "l": "left", "lft": "left", "right": "right", "r": "right", "rgt": "right"}
_FINGER = re.compile(r"^(?:hand|finger|f)?(thumb|index|middle|mid|ring|pinky|little)(?:finger)?0?([123])$")
_FINGER_NAMES = {"mid": "Middle", "pinky": "Little"}


def mirror_role(role: str) -> str:
    """The same role on the other side: `leftHand` to `rightHand`; a role of the middle is its own mirror."""
    for side, other in (SIDES, SIDES[::-1]):
        if role.startswith(side):
            return other + role.removeprefix(side)
    return role


def find_part(name: str) -> tuple[str, ...]:
    """The roles of a part, e.g. `leftArm`."""
    try:
        return PARTS[name]
    except KeyError:
        raise unknown_name("part", name, PARTS) from None


def check_human(skeleton: Skeleton) -> None:
    """Raise InputError where a skeleton lacks the roles without which a body cannot be given human masses."""
    missing = [role for role in ("hips", *sided(LEG_STEMS[:3])) if role not in skeleton.roles]
    if missing:
        known = ", ".join(skeleton.names[:12]) + (", ..." if len(skeleton) > 12 else "")
        raise InputError(
            f"the skeleton has no joint for {', '.join(missing)}, which a human body needs; its joints are {known}. "
            "Name the joints' roles yourself (roles={'hips': 'Root', ...})."
        )


def with_roles(skeleton: Skeleton, roles: Mapping[str, str] | None = None) -> Skeleton:
    """The skeleton with its roles: those it has, or those found; `roles` (role -> joint) go before either."""
    for role in roles or {}:
        if role not in ROLES:
            raise unknown_name("role", role, BODY_ROLES)
    found = dict(skeleton.roles) or find_roles(skeleton)
    given = dict(roles or {})
    kept = {role: joint for role, joint in found.items() if role not in given and joint not in given.values()}
    return skeleton.replace(roles={**kept, **given})


def read_name(name: str) -> tuple[str | None, str]:
    """A joint name's side (or None) and what is left of it: `mixamorig:LeftUpLeg` to ("left", "upleg")."""
    bare = _PREFIX.sub("", re.split(r"[:|]", name)[-1])
    words = [word.lower() for word in _WORDS.findall(bare)]
    side = next((_SIDE_WORDS[word] for word in words if word in _SIDE_WORDS), None)
    if side is not None:
        words.remove(next(word for word in words if word in _SIDE_WORDS))
    else:  # all in one case: leftupleg, RIGHTFOOT
        for candidate in SIDES:
            if words and words[0].startswith(candidate):
                side, words[0] = candidate, words[0].removeprefix(candidate)
    return side, "".join(words)


def find_roles(skeleton: Skeleton) -> dict[str, str]:
    """Role -> joint name, from the joints' names and the tree. Roles that no joint has are left out."""
    read = [read_name(name) for name in skeleton.names]
    roles: dict[str, int] = {}
    for side in SIDES:
        roles |= _find_limb(skeleton, read, side, ARM_STEMS)
        roles |= _find_limb(skeleton, read, side, LEG_STEMS)
    roles |= _find_middle(skeleton, read, roles)
    roles |= _find_small(skeleton, read)
    return {role: skeleton.names[roles[role]] for role in ROLES if role in roles}


def _stems(key: str) -> tuple[str, ...]:
    """The role stems that a name's rest may stand for; an exact VRM stem counts, closing digits do not."""
    for known in (*ARM_STEMS, *LEG_STEMS):
        if key == known.lower():
            return (known, *(stem for stem in ALIASES.get(key, ()) if stem != known))
    return ALIASES.get(key) or ALIASES.get(key.rstrip("0123456789"), ())


def _find_limb(
    skeleton: Skeleton, read: list[tuple[str | None, str]], side: str, stems: tuple[str, ...]
) -> dict[str, int]:
    """The best reading of one side's arm or leg: joints on one path from the root, roles in anatomical order."""
    candidates = {i for i, (s, key) in enumerate(read) if s == side and set(_stems(key)) & set(stems)}
    inner = {i for last in candidates for i in skeleton.chain(last)[:-1]}
    best: dict[str, int] = {}
    best_score = 0.0
    for last in sorted(candidates - inner):
        path = [i for i in skeleton.chain(last) if i in candidates]
        score, match = _match_in_order(path, [_stems(read[i][1]) for i in path], stems)
        if score > best_score:
            best_score, best = score, {side + stem: joint for stem, joint in match.items()}
    return best


def _match_in_order(
    path: list[int], options: list[tuple[str, ...]], stems: tuple[str, ...]
) -> tuple[float, dict[str, int]]:
    """Give the joints of a path stems in increasing order, with the greatest total score.

    A joint's first reading scores 1, a later one 0.9, and the upper arm and thigh count double, since a limb without
    them is of no use. Ties go to the joints nearer the trunk.
    """
    # best[k]: the best match of the joints from here to the end of the path with stems[k:].
    best: list[tuple[float, dict[str, int]]] = [(0.0, {})] * (len(stems) + 1)
    for joint, names in zip(reversed(path), reversed(options), strict=True):
        here = list(best)
        for rank, stem in enumerate(names):
            if stem not in stems:
                continue
            at = stems.index(stem)
            value = (1.0 if rank == 0 else 0.9) * (2.0 if stem.startswith("Upper") else 1.0)
            rest_score, rest = best[at + 1]
            for k in range(at + 1):
                if rest_score + value >= here[k][0]:
                    here[k] = (rest_score + value, {stem: joint, **rest})
        best = here
    return best[0]


def _find_middle(skeleton: Skeleton, read: list[tuple[str | None, str]], limbs: Mapping[str, int]) -> dict[str, int]:
    """Hips, trunk, neck and head. The trunk is the path from the hips up to the neck, or to where the arms branch."""

    def named(role: str) -> list[int]:
        return [i for i, (side, key) in enumerate(read) if side is None and role in _stems(key)]

    roles: dict[str, int] = {}
    thighs = [limbs[role] for role in sided(["UpperLeg"]) if role in limbs]
    hips = _find_hips(skeleton, named("hips"), thighs)
    if hips is None:
        return roles
    roles["hips"] = hips
    head = next((i for i in named("head") if hips in skeleton.chain(i)), None)
    neck = next((i for i in named("neck") if head is None or i in skeleton.chain(head)), None)
    if head is not None:
        roles["head"] = head
    if neck is not None:
        roles["neck"] = neck
    arms = [limbs[role] for side in SIDES for role in sided(ARM_STEMS, [side]) if role in limbs]
    tops = [i for i in (neck, head) if i is not None][:1] + arms
    if tops:
        branch = int(skeleton.parents[tops[0]]) if neck is not None or not arms else _common_ancestor(skeleton, tops)
        chain = skeleton.chain(branch) if branch >= 0 else []
        trunk = chain[chain.index(hips) + 1 :] if hips in chain else []
        roles |= _name_trunk([i for i in trunk if i not in thighs])
    return roles


def _find_hips(skeleton: Skeleton, named: list[int], thighs: list[int]) -> int | None:
    """The lowest joint called hips that carries the thighs, else where they meet; without thighs the first."""
    carriers = [i for i in named if all(i in skeleton.chain(thigh) for thigh in thighs)]
    if carriers:
        return carriers[-1] if thighs else carriers[0]
    return _common_ancestor(skeleton, thighs) if len(thighs) > 1 else None


def _name_trunk(chain: list[int]) -> dict[str, int]:
    """spine, chest, upperChest for a trunk of any number of joints: the first, one in the middle, the last."""
    if not chain:
        return {}
    picks = {1: [0], 2: [0, 1]}.get(len(chain), [0, len(chain) // 2, len(chain) - 1])
    return {role: chain[k] for role, k in zip(TRUNK_ROLES, picks, strict=False)}


def _find_small(skeleton: Skeleton, read: list[tuple[str | None, str]]) -> dict[str, int]:
    """Fingers, eyes and jaw: nothing hangs on them, so the names are taken as they are, the first joint winning."""
    roles: dict[str, int] = {}
    exact = {role.lower(): role for role in ROLES if role not in BODY_ROLES}
    for i, (side, key) in enumerate(read):
        role = exact.get((side or "") + key)
        if role is None and side and (match := _FINGER.match(key)):
            finger = _FINGER_NAMES.get(match[1], match[1].capitalize())
            bones = [stem for stem in FINGER_STEMS if stem.startswith(finger)]
            role = side + bones[int(match[2]) - 1]
        if role is None and "Eye" in _stems(key) and side:
            role = side + "Eye"
        if role is not None:
            roles.setdefault(role, i)
    return roles


def _common_ancestor(skeleton: Skeleton, joints: list[int]) -> int:
    """The lowest joint that carries all of these (one of them may be it)."""
    chains = [skeleton.chain(i) for i in joints]
    return max(set(chains[0]).intersection(*chains[1:]), key=chains[0].index)

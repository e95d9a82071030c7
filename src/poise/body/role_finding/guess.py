"""Roles of a skeleton's joints, found by what the file states, by names, and by shape.

Names go first (`body/role_finding/from_names.py`): they are what people meant. Where they leave a limb, the head or
everything open, the skeleton's shape fills it in (`body/role_finding/from_shape.py`), unless the two contradict each
other on what both know. Joints without a role stay where they are in the tree: nothing is dropped.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from poise.body.role_finding.from_names import find_named_roles, list_namesakes
from poise.body.role_finding.from_shape import ShapeRoles, find_fingers, find_shape_roles
from poise.body.role_finding.names import parse_names, read_name
from poise.body.roles import (
    ARM_STEMS,
    BODY_ROLES,
    FINGER_STEMS,
    LEG_STEMS,
    PARTS,
    ROLES,
    SIDES,
    TRUNK_ROLES,
    find_part,
    mirror_role,
    sided,
)
from poise.body.skeleton import Skeleton
from poise.errors import InputError, unknown_name
from poise.findings import Finding

__all__ = [
    "ARM_STEMS",
    "BODY_ROLES",
    "FINGER_STEMS",
    "LEG_STEMS",
    "PARTS",
    "ROLES",
    "SIDES",
    "TRUNK_ROLES",
    "TRUSTED",
    "RoleGuess",
    "ask_roles",
    "check_human",
    "describe_doubts",
    "find_part",
    "find_roles",
    "guess_roles",
    "mirror_role",
    "read_name",
    "sided",
    "with_roles",
]
# The roles by which a body is known, and what they count in the confidence: without legs it is none.
_WEIGHTS = {
    "hips": 2.0,
    **dict.fromkeys(sided(LEG_STEMS[:3]), 2.0),
    **dict.fromkeys(sided(ARM_STEMS[1:]), 1.0),
    "spine": 1.0,
    "head": 1.0,
}
_MOST_JOINTS = 5_000  # role finding is for bodies; larger trees are left alone
_MOST_SHOWN = 60  # joints in a message
_MOST_OFFERED = 3  # joints that a role may be, in a message
_SYMMETRY = 0.2  # bones of the two sides that differ by more than this share cast doubt
# Roles from the shape alone are believed from this confidence on. Of 400 people made at random, most of them odd, all
# without names, 99 % of those above it are right in every main role and two thirds of those below; of 200 animals and
# machines none is above it (docs/files.md has the table).
TRUSTED = 0.6


@dataclass(frozen=True)
class RoleGuess:
    """Roles found, and how.

    roles       role -> joint name
    confidence  0 to 1: the share of the body that was found, lowered by what does not fit a person
    reason      where they are from, a few words
    sure        those of the roles that can be used: all, or what file and names say where the shape is not trusted
    unsure      main role -> joints that it may be, the likeliest first, where it is not sure
    overruled   main role -> a joint that is called so, where the shape gives the role to one that the limb carries
    """

    roles: dict[str, str]
    confidence: float
    reason: str
    sure: dict[str, str]
    unsure: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    overruled: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_trusted(self) -> bool:
        """Whether roles were found, and every one can be gone by."""
        return bool(self.sure) and len(self.sure) == len(self.roles)


def guess_roles(
    skeleton: Skeleton, stated: Mapping[str, str] | None = None, poses: np.ndarray | None = None
) -> RoleGuess:
    """The roles of a skeleton's joints.

    stated  role -> joint as the file itself says; they are believed, and completed
    poses   (K, J, 3) joint positions in some frames, which help where neither names nor rest pose tell left from right
    """
    given = _list_known(skeleton, stated or {})
    if len(skeleton) > _MOST_JOINTS:
        return RoleGuess(given, 0.0, f"no person has {len(skeleton)} joints", given)
    said = _read_words(skeleton, given)
    known, filled, fit, shape = said, dict[str, int](), 1.0, None
    if any(role not in said for role in _WEIGHTS):
        shape = _read_shape(skeleton, given, poses)
        known, filled, fit = _fill(said, shape, set(given))
    roles = known | filled
    for side in [side for side in SIDES if f"{side}Hand" in filled]:
        roles |= find_fingers(skeleton, roles[f"{side}Hand"], side, list(roles.values()))
    sources = {"the file": given, "names": set(known) - set(given), "shape": filled}
    reason = " and ".join(source for source, found in sources.items() if found) or "nothing"
    found = _name_joints(skeleton, roles)
    confidence = round(_compute_confidence(skeleton, roles) * fit, 3)
    if shape is None:
        return RoleGuess(found, confidence, reason, found)
    # Where names have both legs, the shape has been found to agree with them.
    is_trusted = not filled or all(role in said for role in sided(LEG_STEMS[:3]))
    least = shape.confidence if len(given) >= 2 else confidence
    is_trusted = is_trusted or min(least, shape.confidence) >= TRUSTED
    sure = found if is_trusted else _name_joints(skeleton, said)
    unsure, overruled = _find_doubts(skeleton, found, sure, set(filled))
    return RoleGuess(found, confidence, reason, sure, unsure, overruled)


def _list_known(skeleton: Skeleton, stated: Mapping[str, str]) -> dict[str, str]:
    """Return the stated roles that are roles, of joints that there are."""
    return {role: joint for role, joint in stated.items() if role in ROLES and joint in skeleton.names}


def _name_joints(skeleton: Skeleton, roles: Mapping[str, int]) -> dict[str, str]:
    """Return role -> name, in the order of `ROLES`."""
    return {role: skeleton.names[roles[role]] for role in ROLES if role in roles}


def _read_words(skeleton: Skeleton, given: Mapping[str, str]) -> dict[str, int]:
    """Return the roles that the file states, completed by those of names: role -> joint."""
    index = {name: i for i, name in enumerate(skeleton.names)}
    known = {role: index[joint] for role, joint in given.items()}
    stated = set(known.values())
    return known | {role: i for role, i in find_named_roles(skeleton).items() if role not in known and i not in stated}


def _read_shape(skeleton: Skeleton, given: Mapping[str, str], poses: np.ndarray | None) -> ShapeRoles:
    """Return the roles that the shape gives; left and right as the file or names have them."""
    index = {name: i for i, name in enumerate(skeleton.names)}
    shape = find_shape_roles(skeleton, poses, {role: index[joint] for role, joint in given.items()})
    return shape if set(given) & set(sided((*ARM_STEMS, *LEG_STEMS))) else _agree_on_sides(shape, skeleton)


def _find_doubts(
    skeleton: Skeleton, found: Mapping[str, str], sure: Mapping[str, str], filled: set[str]
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Return `unsure` and `overruled` of a `RoleGuess`. filled: roles that are known from the shape."""
    named = {role: [skeleton.names[i] for i in joints] for role, joints in list_namesakes(skeleton).items()}
    taken = set(sure.values())
    unsure, overruled = {}, {}
    for role in _WEIGHTS:
        others = [joint for joint in named.get(role, ()) if joint not in taken]
        if role not in sure:
            guessed = [found[role]] if role in found and found[role] not in taken else []
            if joints := tuple(dict.fromkeys([*others, *guessed])):
                unsure[role] = joints
        elif role in filled and others:
            overruled[role] = others[0]
    return unsure, overruled


def find_roles(skeleton: Skeleton, poses: np.ndarray | None = None) -> dict[str, str]:
    """Role -> joint name, from names, tree and shape. Roles that no joint surely has are left out."""
    return guess_roles(skeleton, None, poses).sure


def with_roles(skeleton: Skeleton, roles: Mapping[str, str] | None = None) -> Skeleton:
    """The skeleton with its roles: those it has, or those found; `roles` (role -> joint) go before either."""
    for role in roles or {}:
        if role not in ROLES:
            raise unknown_name("role", role, BODY_ROLES)
    found = dict(skeleton.roles) or find_roles(skeleton)
    given = dict(roles or {})
    kept = {role: joint for role, joint in found.items() if role not in given and joint not in given.values()}
    return skeleton.replace(roles={**kept, **given})


def check_human(skeleton: Skeleton) -> None:
    """Raise InputError where a skeleton lacks the roles without which a body cannot be given human masses."""
    missing = [role for role in ("hips", *sided(LEG_STEMS[:3])) if role not in skeleton.roles]
    if missing:
        raise InputError(
            f"the skeleton has no joint for {', '.join(missing)}, or none that is sure, and a human body needs them. "
            + ask_roles(skeleton, missing=missing)
        )


def ask_roles(skeleton: Skeleton, option: str = "--roles", missing: Sequence[str] = ()) -> str:
    """Return what to do where roles are missing, with the joints that there are.

    option   where the command line takes them
    missing  roles to name; joints that are called so are offered
    """
    shown = ", ".join(skeleton.names[:_MOST_SHOWN])
    more = f" and {len(skeleton) - _MOST_SHOWN} more" if len(skeleton) > _MOST_SHOWN else ""
    named, taken = list_namesakes(skeleton), set(skeleton.roles.values())
    free = {role: [j for i in named.get(role, ()) if (j := skeleton.names[i]) not in taken] for role in missing}
    offered = {role: joints for role, joints in free.items() if joints}
    if offered:
        settle = ",".join(f"{role}={joints[0]}" for role, joints in offered.items())
        return f"Settle them with {option}, such as {option} {settle}. The joints are {shown}{more}."
    return (
        f"Name joints with {option} hips=...,head=...,leftFoot=... (in Python roles={{'hips': ..., ...}}); hips and "
        f"head are often enough to find the others by. The joints are {shown}{more}."
    )


def describe_doubts(guess: RoleGuess, option: str = "--roles") -> list[Finding]:
    """Return the doubts about the roles of a skeleton, and how to settle them."""
    found = []
    name = f"Name joints with {option} hips=...,head=..., or all that are needed."
    if not guess.roles:
        return [Finding("roles", f"no person was found in the joints. {name}")]
    if guess.unsure:
        doubts = ", ".join(f"{role} ({' or '.join(joints[:_MOST_OFFERED])})" for role, joints in guess.unsure.items())
        settle = ",".join(f"{role}={joints[0]}" for role, joints in guess.unsure.items())
        message = f"{len(guess.sure)} are sure and used; not sure are {doubts}. Settle them with {option} {settle}."
        found.append(Finding("roles", message, guess.confidence))
    elif not guess.is_trusted:
        message = (
            f"{len(guess.roles)} were guessed from the shape with a confidence of {guess.confidence:.2f}, too little "
            f"to use, so that {len(guess.sure)} are known. {name}"
        )
        found.append(Finding("roles", message, guess.confidence))
    for role, joint in guess.overruled.items():
        message = (
            f"{role} is {guess.sure[role]}, which the limb carries; {joint} is called so but hangs elsewhere. Override "
            f"with {option} {role}={joint}."
        )
        found.append(Finding("roles", message, joint))
    return found


def _agree_on_sides(shape: ShapeRoles, skeleton: Skeleton) -> ShapeRoles:
    """The shape's roles with left and right exchanged where most of the names that say a side say the other."""
    read = parse_names(skeleton.names)
    votes = [
        1 if role.startswith(side) else -1
        for role, joint in shape.roles.items()
        if (side := read[joint].side) is not None and role.startswith(SIDES)
    ]
    if not votes:
        return shape
    sure = min(1.0, shape.confidence * 1.5) if abs(sum(votes)) == len(votes) else shape.confidence
    roles = shape.roles if sum(votes) >= 0 else {mirror_role(role): joint for role, joint in shape.roles.items()}
    return ShapeRoles(roles, sure)


def _fill(known: dict[str, int], shape: ShapeRoles, given: set[str]) -> tuple[dict[str, int], dict[str, int], float]:
    """Return the roles known that stay, what the shape adds to them, limb by limb, and how well it fits.

    A limb that names leave incomplete is taken from the shape as a whole, unless the file gives a role of it, or names
    have two of its joints and the shape reads them otherwise: the end may hang on the root. Where the two disagree on
    the legs, and names have them all, the shape has not understood this body and adds nothing.
    """
    legs = sided(LEG_STEMS[:3])
    named_legs = [role for role in legs if role in known]
    if len(named_legs) == len(legs) and any(shape.roles.get(role) != known[role] for role in legs):
        return known, {}, 1.0
    known = dict(known)
    filled: dict[str, int] = {}
    whole = _find_whole(known)
    for side in SIDES:
        for stems, main in ((ARM_STEMS, ARM_STEMS[1:]), (LEG_STEMS, LEG_STEMS[:3])):
            limb = _find_limb(known, shape, given, sided(stems, [side]), sided(main, [side]))
            if limb and not set(limb.values()) & whole:
                known = _without(known, sided(stems, [side]), set(limb.values()))
                filled |= limb
    filled |= _find_middle(known, filled, shape)
    return known, filled, max(0.0, min(1.0, shape.confidence)) if set(filled) & set(legs) else 1.0


def _find_whole(known: Mapping[str, int]) -> set[int]:
    """Return the joints of limbs that names have whole. They stay what they are: arms without legs are arms."""
    limbs = [sided(stems, [side]) for side in SIDES for stems in (ARM_STEMS[1:], LEG_STEMS[:3])]
    return {known[role] for limb in limbs if all(role in known for role in limb) for role in limb}


def _without(known: Mapping[str, int], roles: Sequence[str], joints: set[int]) -> dict[str, int]:
    """Return the roles known but for some roles and some joints."""
    return {role: joint for role, joint in known.items() if role not in roles and joint not in joints}


def _find_middle(known: Mapping[str, int], filled: Mapping[str, int], shape: ShapeRoles) -> dict[str, int]:
    """Return hips, neck, head and trunk of the shape, if names do not have them and no other role has the joint."""
    taken = {*known.values(), *filled.values()}
    roles = [role for role in ("hips", "neck", "head") if role not in known]
    middle = {role: shape.roles[role] for role in roles if role in shape.roles and shape.roles[role] not in taken}
    if any(role in known for role in TRUNK_ROLES):
        return middle
    used = {*taken, *middle.values()}
    trunk = {role: shape.roles[role] for role in TRUNK_ROLES if role in shape.roles}
    return middle | {role: joint for role, joint in trunk.items() if joint not in used}


def _find_limb(
    known: Mapping[str, int], shape: ShapeRoles, given: set[str], roles: Sequence[str], main: Sequence[str]
) -> dict[str, int]:
    """Return a limb as the shape has it; empty if names have it whole, or the two contradict each other.

    roles  of the limb;  main: those of them without which it is incomplete
    """
    is_whole = all(role in known for role in main)
    disagrees = any(shape.roles.get(role, known[role]) != known[role] for role in given & set(roles))
    if is_whole or disagrees or not all(role in shape.roles for role in main):
        return {}
    limb = {role: shape.roles[role] for role in roles if role in shape.roles}
    return {} if _contradicts(limb, known, main) else limb


def _contradicts(limb: Mapping[str, int], known: Mapping[str, int], main: Sequence[str]) -> bool:
    """Return whether the shape reads a limb otherwise than its names, of which two or more are known in their order."""
    named = [role for role in main if role in known]
    return len(named) > 1 and any(limb.get(role) != known[role] for role in named)


def _compute_confidence(skeleton: Skeleton, roles: Mapping[str, int]) -> float:
    """The weighted share of the body's main roles that were found, less where left and right differ in length."""
    share = sum(weight for role, weight in _WEIGHTS.items() if role in roles) / sum(_WEIGHTS.values())
    rest = skeleton.rest_positions()
    for stems in (ARM_STEMS[1:], LEG_STEMS[:3]):
        for a, b in itertools.pairwise(stems):
            lengths = [
                float(np.linalg.norm(rest[roles[side + b]] - rest[roles[side + a]]))
                for side in SIDES
                if side + a in roles and side + b in roles
            ]
            if len(lengths) == 2 and abs(lengths[0] - lengths[1]) > _SYMMETRY * max(*lengths, 1e-12):
                share *= 0.8
    return share

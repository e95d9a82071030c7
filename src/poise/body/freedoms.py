"""In which ways the joints turn: none, or about one, two or three successive axes.

A joint's freedoms are its axes (n, 3) in the joint's frame at rest; three make a ball joint, whatever their order.
A rotation with two is R(axis 1, a1) R(axis 2, a2), identity at rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from poise.body.limits import find_zero_pose
from poise.body.roles import ARM_STEMS, LEG_STEMS, TRUNK_ROLES, sided
from poise.body.skeleton import Skeleton
from poise.errors import unknown_name
from poise.spatial import rotation

BALL = "xyz"
# The anatomical axes of each kind of joint, as in `limits`: an elbow bends (x) and turns the forearm (y), a wrist and
# an ankle bend two ways, toes one. 39 degrees of freedom with 18 segments [strength, fig 2].
_ANATOMICAL = {"LowerArm": "xy", "Hand": "xz", "LowerLeg": "xy", "Foot": "xz", "Toes": "x"}
ANATOMICAL: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys((*TRUNK_ROLES, "neck", "head"), BALL),
        **{role: _ANATOMICAL.get(stem, BALL) for stem in (*ARM_STEMS, *LEG_STEMS) for role in sided([stem])},
    }
)
BALLS: Mapping[str, str] = MappingProxyType(dict.fromkeys(ANATOMICAL, BALL))


def find_freedoms(skeleton: Skeleton, axes: Mapping[str, str] = ANATOMICAL) -> dict[str, np.ndarray]:
    """Joint name -> axes (n, 3) in the joint's frame, for every joint that turns.

    axes  role -> letters of the zero pose's axes. Joints of the trunk and neck without a role of their own are balls;
          other joints without a role (fingers, twist joints, doubled hips) do not turn.
    """
    for role, letters in axes.items():
        if set(letters) - set(BALL):
            raise unknown_name(f"axis of {role},", letters, BALL)
    zero = find_zero_pose(skeleton)
    role_of, nearest = skeleton.structure.role_of, skeleton.structure.nearest_roles
    inner = find_column(skeleton)
    freedoms, turned = {}, dict[tuple[bytes, str], np.ndarray]()
    for name, parent in zip(skeleton.names[1:], skeleton.structure.parents[1:], strict=True):
        usual = BALL if name in inner else ""
        letters = axes.get(role_of[name], "") if name in role_of else usual
        if not letters:
            continue
        carrier = nearest[parent]
        to_rest = rotation.conjugate(zero[carrier]) if carrier is not None else rotation.identity()
        key = (to_rest.tobytes(), letters)
        if key not in turned:
            turned[key] = rotation.rotate(to_rest, np.eye(3)[["xyz".index(letter) for letter in letters]])
        freedoms[name] = turned[key].copy()
    return freedoms


def find_column(skeleton: Skeleton) -> set[str]:
    """Names of the joints on the way from the hips to the head, the head's own included."""
    ends = [skeleton.find_role(role) for role in ("hips", "head")]
    tops = [skeleton.find_role(role) for role in ("neck", *reversed(TRUNK_ROLES))]
    hips, top = ends[0], next((i for i in (ends[1], *tops) if i is not None), None)
    if hips is None or top is None:
        return set()
    chain = skeleton.chain(top)
    return {skeleton.names[i] for i in chain[chain.index(hips) + 1 :]} if hips in chain else set()

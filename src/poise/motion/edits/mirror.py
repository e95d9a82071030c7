"""A clip seen in the mirror: left and right exchanged.

A reflection across x = 0 takes a point (x, y, z) to (-x, y, z). A rotation R becomes M R M with M = diag(-1, 1, 1):
its axis is a pseudo-vector, so the quaternion (w, x, y, z) becomes (w, x, -y, -z). A shift is a vector and is reflected
as a point is. Joints change places with their partners. On a symmetric skeleton every joint's position is then the
reflected position of its partner; on an asymmetric one the *rotations* are reflected and the bones keep their own
lengths, so that hands and feet come to lie a little elsewhere.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from poise.body.role_finding.names import read_name
from poise.body.roles import mirror_role
from poise.body.skeleton import Skeleton
from poise.errors import unknown_name
from poise.motion.clip import Clip
from poise.motion.edits.ground import clip_heading, ground_position, place
from poise.spatial import rotation

About = Literal["world", "character"]
_MIRROR = np.array([-1.0, 1.0, 1.0])
_MIRROR_QUATERNION = np.array([1.0, 1.0, -1.0, -1.0])


def find_partners(skeleton: Skeleton) -> np.ndarray:
    """(J,) the joint on the other side, by role, else by name; a middle joint is its own, -1 has none."""
    partner = np.array([_find_partner(skeleton, i) for i in range(len(skeleton))])
    # A joint must hang from its parent's partner, in the middle too: else it has no counterpart.
    for i in range(1, len(skeleton)):
        other = partner[i]
        if other >= 0 and partner[skeleton.parents[i]] != skeleton.parents[other]:
            partner[i] = -1
    return np.where(partner[partner] == np.arange(len(skeleton)), partner, -1)


def _find_partner(skeleton: Skeleton, joint: int) -> int:
    """The joint of the mirrored role, else that of the mirrored name; else the joint itself."""
    labels, names = skeleton.labels, skeleton.names
    other_role = mirror_role(labels[joint])
    if other_role != labels[joint] and other_role in labels:
        return labels.index(other_role)
    side, rest = read_name(names[joint])
    other = {"left": ("right", rest), "right": ("left", rest)}.get(side or "")
    return next((i for i, name in enumerate(names) if read_name(name) == other), joint)


def mirror(clip: Clip, about: About = "world") -> Clip:
    """The clip with left and right exchanged.

    about   "world" reflects across the plane x = 0; "character" across the upright plane through the hips and along
            their heading in the first frame, so that the character starts where it did and faces where it did
    Joints without a counterpart on the other side (a sword in one hand) hold their rest rotation.
    """
    if about not in get_args(About):
        raise unknown_name("mirror plane", about, get_args(About))
    partner = find_partners(clip.skeleton)
    rotations = clip.rotations[:, np.where(partner < 0, 0, partner)] * _MIRROR_QUATERNION
    rotations[:, partner < 0] = rotation.identity()
    shifts = clip.shifts
    if shifts is not None:
        shifts = shifts[:, np.where(partner < 0, 0, partner)] * _MIRROR
    reflected = clip.replace(root=clip.root * _MIRROR, rotations=rotations, shifts=shifts)
    if about == "world":
        return reflected
    return place(reflected, ground_position(clip)[0], float(clip_heading(clip)[0]))

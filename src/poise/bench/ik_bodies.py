"""Bodies with more joints than people have, for how the cost of a solve grows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from poise.body.character import Character
from poise.body.limits import JointLimits
from poise.body.skeleton import Skeleton
from poise.spatial import rotation


def lengthen_spine(character: Character, more: int) -> Character:
    """A character whose spine's first bone is some joints more, each without mass and with its part of the range."""
    if not more:
        return character
    skeleton = character.skeleton
    at = skeleton.index("spine")
    name = skeleton.names[at]
    own = character.limits[name]
    names = list(skeleton.names[: at + 1]) + [f"{name}_{k}" for k in range(more)] + list(skeleton.names[at + 1 :])
    # Children of the spine hang on the last of the new joints, and what comes after is numbered anew
    parents, offsets, tips = [], [], []
    children = np.flatnonzero(skeleton.parents == at)
    whole = skeleton.offsets[children].mean(axis=0)
    share = whole / (more + 1)
    for i in range(len(skeleton)):
        parent = int(skeleton.parents[i])
        parents.append(at + more if parent == at else parent + more * (parent > at))
        offsets.append(skeleton.offsets[i] - (share * more if parent == at else 0.0))
        tips.append(skeleton.tips[i])
        if i == at:
            parents += [at + k for k in range(more)]
            offsets += [share] * more
            tips += [np.full(3, np.nan)] * more
    made = Skeleton(tuple(names), np.array(parents), np.array(offsets), np.array(tips), dict(skeleton.roles))
    part = JointLimits(own.lower / (more + 1), own.upper / (more + 1), rotation.identity(), rotation.identity())
    first = JointLimits(part.lower, part.upper, own.parent_zero, own.child_zero)
    extra = {f"{name}_{k}": part for k in range(more)}
    freedoms = {**character.freedoms, **{joint: np.eye(3) for joint in extra}}
    return replace(
        character, name=f"{character.name}+{more}", skeleton=made, limits={**character.limits, name: first, **extra},
        freedoms=freedoms,
    )  # fmt: skip

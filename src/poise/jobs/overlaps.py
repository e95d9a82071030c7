"""Segments that a clip itself has inside one another: a hand in a thigh, since the shapes are simple and bones short.

Where both follow the clip, on either side of what is physical, nothing can take them out of there: their contact would
only push what is between them, with hundreds of newton metres.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from poise.body.character import Character
from poise.dynamics.tree import build_tree
from poise.dynamics.world import compute_world_pose
from poise.motion.clip import Clip
from poise.world.overlap import Lines, find_depths, find_lines, find_neighbours

_EVERY = 1.0 / 30.0  # s between the frames that are looked at


def find_overlaps(clip: Clip, character: Character, joints: Sequence[int]) -> tuple[tuple[str, str], ...]:
    """Names of pairs of these joints whose segments are in one another in some frame. character: on its skeleton."""
    all_lines, names = find_lines(character), clip.skeleton.names
    ours = np.isin(all_lines.joint, joints)
    lines = Lines(all_lines.start[ours], all_lines.end[ours], all_lines.radius[ours], all_lines.joint[ours])
    stride = max(1, round(_EVERY * clip.fps))
    pose = compute_world_pose(build_tree(character), clip.root[::stride], clip.rotations[::stride])
    inside = np.zeros((len(lines.joint),) * 2, bool)
    for turns, places in zip(pose.turns, pose.joints, strict=True):
        placed = lines.placed(turns, places)
        inside |= find_depths(placed, placed) > 0.0
    i, j = (lines.joint[each].tolist() for each in np.nonzero(inside))
    pairs = {(a, b) for a, b in zip(i, j, strict=True) if a < b} - find_neighbours(character)
    return tuple((names[a], names[b]) for a, b in sorted(pairs))

"""Which joint carries a body over the ground: the root in most files, a joint between it and the hips in others.

Files whose first joint stands still at the origin ("Reference", "Armature") have the travel in the shifts of a joint
below it, and the turns in its rotations. Edits of the travel belong to that joint, so that a joint that stood still
goes on standing still.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from poise.motion.clip import Clip
from poise.motion.heading import compute_heading
from poise.spatial import rotation

_UP = np.array([0.0, 1.0, 0.0])


def find_travel_carrier(clip: Clip) -> int:
    """The joint from the root down to the hips whose own movement takes the body farthest over the ground."""
    if clip.shifts is None:
        return 0
    chain = _chain(clip)
    reaches = [np.ptp(clip.root * (1.0 - _UP), axis=0).max()]
    for joint in chain[1:]:
        own = rotation.rotate(clip.world[1][:, clip.skeleton.parents[joint]], clip.shifts[:, joint])
        reaches.append(np.ptp(own * (1.0 - _UP), axis=0).max())
    return chain[int(np.argmax(reaches))]


def find_heading_carrier(clip: Clip) -> int:
    """The joint from the root down to the hips whose own turning changes the heading most; the root if none does."""
    chain = _chain(clip)
    headings = [np.zeros(len(clip)), *(np.unwrap(compute_heading(clip.world[1][:, joint])) for joint in chain)]
    reaches = [np.ptp(here - above) for above, here in pairwise(headings)]
    return chain[int(np.argmax(reaches))]


def carry(clip: Clip, way: np.ndarray) -> Clip:
    """The clip moved by `way` (F, 3) m in the world, frame for frame, by the joint that carries it."""
    joint = find_travel_carrier(clip)
    if joint == 0 or clip.shifts is None:
        return clip.replace(root=clip.root + way)
    shifts = clip.shifts.copy()
    above = clip.world[1][:, clip.skeleton.parents[joint]]
    shifts[:, joint] += rotation.rotate(rotation.conjugate(above), way)
    return clip.replace(shifts=shifts)


def _chain(clip: Clip) -> list[int]:
    return clip.skeleton.chain(clip.skeleton.find_role("hips") or 0)

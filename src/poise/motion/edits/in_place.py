"""Motions in place: the way over the ground taken out, and everything else left in.

The way is a smooth path w under the hips' path p on the ground, the minimum of  sum |p - w|^2 + l sum |w''|^2
(Whittaker 1923, "On a new method of graduation"). Even steps on a straight way pass unchanged through such a smoother,
at the ends too, so that a walk loses exactly its walking speed; a sway at f Hz stays in the motion up to a share
1 / (1 + (f / cutoff)^4). Heights are never touched.

The joint that carries a body over the ground is the root in most files, a joint between it and the hips in others.

Files whose first joint stands still at the origin ("Reference", "Armature") have the travel in the shifts of a joint
below it, and the turns in its rotations. Edits of the travel belong to that joint, so that a joint that stood still
goes on standing still.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from poise.errors import InputError
from poise.motion.clip import Clip
from poise.motion.edits.ground import compute_heading, ground_position
from poise.spatial import rotation

# Hz. Hips sway at the stride's rate, 0.8 to 1 Hz in walking: 94 % to 97 % of it stays. Turns of a path take seconds.
_CUTOFF = 0.4


def remove_travel(clip: Clip, cutoff: float = _CUTOFF) -> tuple[Clip, np.ndarray]:
    """The clip without its way over the ground, and that way (F, 3) m, which adds up to the clip again.

    cutoff  Hz: movement over the ground slower than this is travel. Towards 0 only a constant velocity is taken out,
            towards the frame rate every movement of the hips

    The clip stands where it stood in its first frame.
    """
    if not np.isfinite(cutoff) or cutoff <= 0:
        raise InputError(f"the cutoff of travel is a positive number of Hz; given {cutoff:g}.")
    way = np.zeros((len(clip), 3))
    if len(clip) > 2:
        ground = ground_position(clip)
        # On an even clock, which most clips have anyway.
        even = np.linspace(clip.times[0], clip.times[-1], len(clip))
        for axis in (0, 2):
            smooth = _smooth(np.interp(even, clip.times, ground[:, axis]), even[1] - even[0], cutoff)
            way[:, axis] = np.interp(clip.times, even, smooth)
    elif len(clip) == 2:
        way = ground_position(clip)
    way -= way[0]
    return carry(clip, -way), way


def remove_drift(clip: Clip) -> tuple[Clip, np.ndarray]:
    """The clip without the constant velocity that carries its hips from the first frame to the last, and that way.

    What `remove_travel` is for clips, this is for loops: the hips end exactly where they began.
    """
    ground = ground_position(clip)
    share = (clip.times - clip.times[0]) / max(clip.duration, 1e-300)
    way = share[:, None] * (ground[-1] - ground[0])
    return carry(clip, -way), way


def _smooth(values: np.ndarray, step: float, cutoff: float) -> np.ndarray:
    """Values (F,) every `step` s under Whittaker's smoother, whose gain is a half at `cutoff` Hz."""
    from scipy.linalg import solveh_banded

    n = len(values)
    # The second difference at f Hz has gain (2 sin(pi f step))^2, its square is the penalty's: a half at the cutoff.
    penalty = (2.0 * np.sin(np.pi * min(cutoff * step, 0.5))) ** -4
    # (1 + l D'D) w = p, with D'D of second differences: the rows 1 -4 6 -4 1, shortened at the ends.
    bands = np.zeros((3, n))  # lower: diagonal, first, second below
    for start in range(3):
        for other in range(start, 3):
            weights = (1.0, -2.0, 1.0)
            bands[other - start, start : n - 2 + start] += weights[start] * weights[other]
    system = penalty * bands
    system[0] += 1.0
    # Solved about the straight line through the ends: at a large penalty the rest is small, and so is its round-off.
    line = np.linspace(values[0], values[-1], n)
    return np.asarray(line + solveh_banded(system, values - line, lower=True))


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

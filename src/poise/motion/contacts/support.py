"""What a body rests on, at any height: the ground, boxes, stairs, bars.

The lowest level at which soles rest is the ground. Anything higher is known only by what the body does: where nothing
that is known carries it and it does not fall, something else must. If a sole rests then (else a knee, else a hand), it
rests on that, and whatever rests at the same level at another time stands on it, too. A foot that is held
still in the air is no support: the other one carries the body all the time. Where nothing rests and nothing falls (a
chair, a horse, a rope) the body is carried by something unseen.

Whether it falls is told by the height of its centre of mass over the whole stretch: in free fall it comes down at g,
carried at 0; the limit is half way.
"""

from __future__ import annotations

import numpy as np

from poise.body.character import Character
from poise.dynamics.kinematics import compute_center_of_mass
from poise.dynamics.tree import GRAVITY, build_tree
from poise.errors import PoiseError
from poise.motion.clip import Clip
from poise.motion.parts import find_runs

_FALLING = 0.5  # of g: a stretch that comes down faster than this falls
_WINDOW = 0.05  # s on each side, over which velocities at a stretch's ends are taken
_SHORTEST = 0.1  # s: a stretch without support that is shorter proves nothing
_LONG_REST = 0.1  # s, that a point must be still to be what carries the body


def find_height(clip: Clip) -> np.ndarray:
    """(F,) m, height of the centre of mass; of the hips' joint where the skeleton's body cannot be weighed."""
    try:
        tree = build_tree(Character.from_skeleton(clip.skeleton))
    except PoiseError:
        hips = clip.skeleton.find_role("hips")
        return np.asarray(clip.positions[:, 0 if hips is None else hips, 1])
    return np.asarray(compute_center_of_mass(tree, *clip.poses)[:, 1])


def find_fall(times: np.ndarray, height: np.ndarray, first: int, last: int) -> float:
    """m/s2, how fast the velocity of a height comes down over the frames `first` to `last`; 0 for a single one.

    The least-squares parabola over the stretch and half a window to either side, so that two frames are enough.
    """
    begin = int(np.searchsorted(times, times[first] - _WINDOW))
    end = int(np.searchsorted(times, times[last] + _WINDOW, side="right"))
    t = times[begin:end] - times[begin:end].mean()
    if len(t) < 4:
        return 0.0
    return float(-2.0 * np.polyfit(t, height[begin:end], 2)[0])


def falls(times: np.ndarray, height: np.ndarray, first: int, last: int) -> bool:
    """Whether a body falls freely over a stretch of frames."""
    return find_fall(times, height, first, last) > _FALLING * float(np.linalg.norm(GRAVITY))


def find_unexplained(times: np.ndarray, height: np.ndarray, supported: np.ndarray) -> list[tuple[int, int]]:
    """The stretches (first, last) in which nothing known carries the body, and it does not fall."""
    found = []
    for first, last in find_runs(~supported):
        long = times[last] - times[first] >= _SHORTEST
        if long and not falls(times, height, int(first), int(last)):
            found.append((int(first), int(last)))
    return found


def find_resting(times: np.ndarray, still: np.ndarray, first: int, last: int) -> np.ndarray:
    """(P,) which points are still for long enough within a stretch."""
    out = np.zeros(still.shape[1], bool)
    for p in range(still.shape[1]):
        for a, b in find_runs(still[first : last + 1, p]):
            out[p] |= times[first + b] - times[first + a] >= min(_LONG_REST, times[last] - times[first])
    return out

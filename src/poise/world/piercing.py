"""Where a body goes through itself, and how deep: the shapes that touch things, frame by frame.

Two segments pierce one another where they are deeper in than `overlap.DEEP` of the thinner one's radius. Neighbours
never do, nor what overlaps anyway in the rest pose (`overlap.find_neighbours`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poise.body.character import Character
from poise.motion.clip import Clip
from poise.motion.runs import find_runs
from poise.spatial import rotation
from poise.world.overlap import DEEP, find_depths, find_lines, find_neighbours

_DEEPER = 0.01  # m that a motion is deeper in itself than those that it was made of, before it is its own fault


@dataclass(frozen=True)
class Piercing:
    """Two segments in one another.

    start, end  s, from when to when;  time: s, where it is worst
    joints      names of the two
    depth       m, at worst
    """

    start: float
    end: float
    time: float
    joints: tuple[str, str]
    depth: float


def find_piercings(character: Character, clip: Clip, beside: Sequence[Clip] = ()) -> list[Piercing]:
    """Where a clip of a character's joints goes through itself, the deepest first.

    beside  motions of the same frames that it was made of: what is as deep in one of these is not told
    """
    joints, depths, limits = measure_depths(character, clip)
    bad = depths > limits
    for other in beside:
        bad &= depths > measure_depths(character, other)[1] + _DEEPER
    found = []
    for pair in np.flatnonzero(bad.any(axis=0)):
        for first, last in find_runs(bad[:, pair]):
            worst = int(first + np.argmax(depths[first : last + 1, pair]))
            a, b = (character.skeleton.labels[int(i)] for i in joints[pair])
            start, end, time = (float(clip.times[i]) for i in (first, last, worst))
            found.append(Piercing(start, end, time, (a, b), float(depths[worst, pair])))
    return sorted(found, key=lambda each: -each.depth)


def measure_depths(character: Character, clip: Clip) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of joints (P, 2), how deep their segments are in one another (F, P) m, and how deep is too deep (P,) m.

    Negative depths say how far they are apart.
    """
    lines, apart = find_lines(character), find_neighbours(character)
    owners = np.unique(lines.joint)
    joints = np.array([(i, j) for k, i in enumerate(owners) for j in owners[k + 1 :] if (i, j) not in apart], int)
    joints = joints.reshape(-1, 2)
    of = {(int(i), int(j)): k for k, (i, j) in enumerate(joints)}
    # Each pair of lines, and the pair of joints that it is of; a joint may have several lines.
    rows = [(a, b, k) for a in range(len(lines.joint)) for b in range(len(lines.joint))
            if (k := of.get((int(lines.joint[a]), int(lines.joint[b])))) is not None]  # fmt: skip
    first, second, owner = np.array(rows, int).reshape(-1, 3).T
    limits = np.full(len(joints), np.inf)
    np.minimum.at(limits, owner, DEEP * np.minimum(lines.radius[first], lines.radius[second]))
    positions, turns = clip.world
    axes = rotation.to_matrix(turns)
    depths = np.full((len(clip), len(joints)), -np.inf)
    for frame in range(len(clip)):
        placed = lines.placed(axes[frame], positions[frame])
        np.maximum.at(depths[frame], owner, find_depths(placed, placed)[first, second])
    return joints, depths, limits


def describe_piercing(piercing: Piercing) -> str:
    """It, in a sentence."""
    a, b = piercing.joints
    return (
        f"{a} goes through {b} from {piercing.start:.2f} s to {piercing.end:.2f} s, at worst by "
        f"{1e3 * piercing.depth:.0f} mm at {piercing.time:.2f} s"
    )

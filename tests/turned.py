"""Where bodies are, by SciPy's rotations alone: nothing here is shared with what it measures."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import poise


def find_world(clip: poise.Clip) -> tuple[np.ndarray, list[Rotation]]:
    """(F, J, 3) m of all joints, and their orientations, J stacks of F."""
    skeleton, turns = clip.skeleton, []
    places = np.zeros((len(clip), len(skeleton), 3))
    for i, parent in enumerate(skeleton.parents):
        own = Rotation.from_quat(clip.rotations[:, i][:, [1, 2, 3, 0]])
        if parent < 0:
            places[:, i] = clip.root
            turns.append(own)
            continue
        places[:, i] = places[:, parent] + turns[parent].apply(skeleton.offsets[i].copy())
        turns.append(turns[parent] * own)
    return places, turns


def find_point(clip: poise.Clip, joint: str, point: np.ndarray) -> np.ndarray:
    """(F, 3) m, a point (3,) of a joint's frame."""
    places, turns = find_world(clip)
    i = clip.skeleton.index(joint)
    return np.asarray(places[:, i] + turns[i].apply(np.asarray(point, float)))


def find_gap(a: np.ndarray, b: np.ndarray, radius: float, other: float, count: int = 60) -> float:
    """m between two capsules, by many points of their middle lines a, b (2, 3)."""
    share = np.linspace(0.0, 1.0, count)[:, None]
    one, two = (ends[0] + share * (ends[1] - ends[0]) for ends in (a, b))
    return float(np.linalg.norm(one[:, None] - two[None], axis=-1).min() - radius - other)

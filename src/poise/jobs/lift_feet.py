"""Soles of a recording laid flat: a body that is held up by pushes on its soles needs all of them on the ground.

Recorded feet are centimetres askew and creep. In a clip that stands each foot is held where it is on the whole, level
on the ground, and its leg brought there with as little change as that takes; the root comes down where a leg is short.
"""

from __future__ import annotations

import numpy as np

from poise.body.roles import SIDES
from poise.ik.limb import find_hinge, reach_with_limb
from poise.motion.clip import Clip
from poise.motion.own.figure import REACH
from poise.spatial import rotation
from poise.world.footing import build_footing, find_corners

_Y = np.array([0.0, 1.0, 0.0])


def plant_soles(clip: Clip, height: float) -> Clip:
    """A clip that stands, with both soles flat and still on level ground at a height (m)."""
    skeleton = clip.skeleton
    root, turns = clip.root.copy(), clip.rotations.copy()
    places, world = clip.world
    ankles, feet = np.zeros((2, 3)), np.zeros((2, 4))
    for k, (side, box) in enumerate(zip(SIDES, build_footing(skeleton), strict=True)):
        foot = skeleton.index(side + "Foot")
        ahead = rotation.rotate(world[:, foot], np.array([0.0, 0.0, 1.0])).mean(axis=0)
        feet[k] = rotation.exp(np.arctan2(ahead[0], ahead[2]) * _Y)
        ankles[k] = places[:, foot].mean(axis=0)
        ankles[k, 1] = height - find_corners(box)[:, 1].min()
    legs = [[skeleton.index(side + part) for part in ("UpperLeg", "LowerLeg", "Foot")] for side in SIDES]
    root[:, 1] -= _find_short(clip, legs, ankles)
    moved = clip.replace(root=root)
    places = moved.positions
    for k, (hip, knee, foot) in enumerate(legs):
        bones = skeleton.rest_positions()[[knee, foot]] - skeleton.rest_positions()[[hip, knee]]
        upper, lower = world[:, hip], world[:, knee]
        hinge = find_hinge(upper, lower, bones[0], bones[1])
        hinge = rotation.rotate(upper, hinge if np.linalg.norm(hinge) > 1e-3 else np.array([1.0, 0.0, 0.0]))
        found = reach_with_limb(upper, lower, bones[0], bones[1], ankles[k] - places[:, hip], hinge)
        above = world[:, int(skeleton.parents[hip])]
        turns[:, hip] = rotation.multiply(rotation.conjugate(above), found.upper)
        turns[:, knee] = rotation.multiply(rotation.conjugate(found.upper), found.lower)
        turns[:, foot] = rotation.multiply(rotation.conjugate(found.lower), np.broadcast_to(feet[k], (len(clip), 4)))
        for i in range(len(skeleton)):
            if i != foot and foot in skeleton.chain(i):
                turns[:, i] = rotation.identity()  # toes lie with the sole
    return moved.replace(rotations=rotation.make_continuous(turns))


def _find_short(clip: Clip, legs: list[list[int]], ankles: np.ndarray) -> float:
    """m, by how much the root must come down so that no leg is longer than it may be in any frame."""
    offsets, most = clip.skeleton.offsets, 0.0
    for ankle, (hip, knee, foot) in zip(ankles, legs, strict=True):
        reach = REACH * sum(float(np.linalg.norm(offsets[i])) for i in (knee, foot))
        apart = clip.positions[:, hip] - ankle
        flat = np.linalg.norm(apart[:, [0, 2]], axis=1)
        room = np.sqrt(np.maximum(reach**2 - flat**2, 0.0))
        most = max(most, float((apart[:, 1] - room).max()))
    return most

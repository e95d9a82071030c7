"""A walk judged from outside: kinematics by SciPy, heights by the ground itself, and nothing of what planned it.

Of the plan only the times of the stances are used: which points are meant to stay, and from when to when.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from helpers.kinematics import find_center, margin_in_hull, place_joints
from poise.body.geometry.soles import build_footing
from poise.world.foot_boxes import find_corners

_ALONG = 16  # points on either side of heel and front
DOWN = 0.002  # m: a point that is no higher than this over the ground carries


@dataclass
class Walked:
    """m and rad, the worst of a whole walk.

    depth      when and where a sole is deepest
    margin     of the centre of mass inside what carries; negative: it would fall
    slid       that a point of a sole moves while it is meant to stay
    sunk       that a point of a sole is under the ground
    gap        that a sole in stance is off the ground
    beyond     rad, that a joint is out of its range
    turning    rad/s2, the largest acceleration of a joint, and of whom
    out        frames with the centre of mass outside
    """

    margin: float
    slid: float
    sunk: float
    gap: float
    beyond: float
    turning: float
    whose: str
    out: int
    depth: str


def list_soles(body, turns, places):
    """Of each foot: (F, N, 3) m, points along both sides of its heel, from the back, and of its front, from the tip.

    The front goes with the toes, where there are.
    """
    skeleton, out = body.skeleton, []
    rest = skeleton.rest_positions()
    for side, box in zip(("left", "right"), build_footing(skeleton), strict=True):
        foot = skeleton.index(f"{side}Foot")
        toes = skeleton.find_role(f"{side}Toes")
        ahead = Rotation.from_quat(box.turn, scalar_first=True).apply([0.0, 0.0, 1.0])
        corners = find_corners(box)
        along = corners @ ahead
        heel, tip = corners[along < along.mean()], corners[along > along.mean()]
        carrier = foot if toes is None else toes
        joint = rest[carrier] - rest[foot]
        # the toes' part of the sole begins under their joint
        bend = 0.5 * (heel + tip) if toes is None else tip - np.outer((tip - joint) @ ahead, ahead)
        share = np.linspace(0.0, 1.0, _ALONG)[:, None, None]
        heel = (heel[None] + share * (bend - heel)[None]).reshape(-1, 3)
        own = (tip[None] + share * (bend - tip)[None]).reshape(-1, 3) - joint
        rear = np.stack([places[:, foot] + turns[foot].apply(point) for point in heel], axis=1)
        front = np.stack([places[:, carrier] + turns[carrier].apply(point) for point in own], axis=1)
        out.append((rear, front))
    return out


def measure_walk(body, height_at, course, times, root, rotations, loads=(), shift=None) -> Walked:
    """Judge frames at times (F,).

    height_at  heights (...) m of the ground at x and z (...), where it is at the beginning
    course     the stances' times are read
    shift      (F, 3) m, how far the ground has moved
    """
    moved = np.zeros((len(times), 3)) if shift is None else shift
    root = root - moved
    places, turns = place_joints(body.skeleton, root, rotations)
    center, soles = find_center(body, places, turns, loads), list_soles(body, turns, places)
    points = np.concatenate([part for sole in soles for part in sole], axis=1)
    heights = points[..., 1] - height_at(points[..., 0], points[..., 2])
    margins = np.array(
        [margin_in_hull(p[h < DOWN][:, [0, 2]], c[[0, 2]]) for p, h, c in zip(points, heights, center, strict=True)]
    )
    slid = gap = 0.0
    for side, (rear, front) in enumerate(soles):
        for stance in course.stances[side]:
            for part, begin, end in ((rear, stance.land, stance.rise), (front, stance.flat, stance.off)):
                stays = (times >= begin) & (times <= min(end, times[-1] + 1.0))
                if not stays.any():
                    continue
                kept = part[stays][:, :2]  # the heel's edge, and the tip's: the rest moves as a foot rolls
                slid = max(slid, float(np.linalg.norm(kept - kept[0], axis=-1).max()))
            flat = (times >= stance.flat) & (times <= stance.rise)
            if flat.any():
                sole = np.concatenate([rear, front], axis=1)[flat][0]
                off = np.abs(sole[:, 1] - height_at(sole[:, 0], sole[:, 2]))
                gap = max(gap, float(np.quantile(off, 0.5)))  # what hangs over an edge is off by the edge's height
    beyond = max(
        float(np.abs(ends.excess(rotations[:, body.skeleton.index(name)])).max()) for name, ends in body.limits.items()
    )
    rate = 1.0 / float(np.median(np.diff(times)))
    spins = np.stack([(a[:-1].inv() * a[1:]).as_rotvec() for a in _locals(rotations)], axis=1) * rate
    turning = np.linalg.norm(np.diff(spins, axis=0), axis=-1) * rate
    frame, joint = np.unravel_index(int(turning.argmax()), turning.shape)
    return Walked(
        float(margins.min()), slid, float(-heights.min()), gap, beyond, float(turning.max()),
        f"{body.skeleton.names[int(joint)]} at {times[int(frame)]:.2f} s", int((margins < 0.0).sum()),
        _tell_depth(times, points, heights),
    )  # fmt: skip


def _locals(rotations):
    return [Rotation.from_quat(rotations[:, i], scalar_first=True) for i in range(rotations.shape[1])]


def _tell_depth(times, points, heights):
    frame, point = np.unravel_index(int(heights.argmin()), heights.shape)
    return f"{times[frame]:.2f} s, point {point} at {np.round(points[frame, point], 3).tolist()}"

"""What a clip stands on at each frame, seen from above: soles that are down, or parts of them, knees and hands."""

from __future__ import annotations

import numpy as np

from poise.body.roles import SIDES
from poise.jobs.figures import find_sole_corners
from poise.motion.clip import Clip
from poise.motion.contacts import Contacts
from poise.motion.feet import foot_points
from poise.spatial import rotation
from poise.world.footing import build_footing

_HEEL = 0.4  # of the way from heel to ball, that a heel by itself carries on
_PAD = 0.03  # m, about a knee or a wrist


def find_support_points(clip: Clip, contacts: Contacts) -> list[np.ndarray]:
    """Points (N, 2) m, x and z, that carry at each frame; none where nothing is down."""
    whole, parts = find_sole_corners(clip), foot_points(clip)
    positions, turns = clip.world
    boxes = build_footing(clip.skeleton)
    found: list[list[np.ndarray]] = [[] for _ in range(len(clip))]
    for side, name in enumerate(SIDES):
        foot = clip.skeleton.index(name + "Foot")
        across = rotation.rotate(turns[:, foot], rotation.rotate(boxes[side].turn, np.array([1.0, 0.0, 0.0])))
        across = boxes[side].half[0] * across[:, [0, 2]]
        heel, ball, tip = (parts[:, side, k][:, [0, 2]] for k in range(3))
        for f in np.flatnonzero(contacts.foot[:, side]):
            if contacts.heel[f, side] and contacts.toe[f, side]:
                found[f].append(whole[f, side][:, [0, 2]])
                continue
            ends = (heel[f], heel[f] + _HEEL * (ball[f] - heel[f])) if contacts.heel[f, side] else (ball[f], tip[f])
            found[f].append(np.array([end + sign * across[f] for end in ends for sign in (-1.0, 1.0)]))
        for kind, role in (("knee", "LowerLeg"), ("hand", "Hand")):
            down, joint = getattr(contacts, kind), clip.skeleton.find_role(name + role)
            if joint is None or not len(down):
                continue
            for f in np.flatnonzero(down[:, side]):
                found[f].append(positions[f, joint][[0, 2]] + _PAD * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]))
    return [np.concatenate(points) if points else np.zeros((0, 2)) for points in found]

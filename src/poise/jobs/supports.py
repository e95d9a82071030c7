"""What a clip stands on at each frame, seen from above: soles that are down, or parts of them, knees and hands."""

from __future__ import annotations

import numpy as np

from poise.body.roles import SIDES
from poise.motion.clip import Clip
from poise.motion.contacts import Contacts
from poise.motion.feet import foot_points
from poise.world.footing import find_drawn_soles

_HEEL = 0.4  # of the way from heel to ball, that a heel by itself carries on
_PAD = 0.03  # m, about a knee or a wrist


def find_support_points(clip: Clip, contacts: Contacts) -> list[np.ndarray]:
    """Points (N, 2) m, x and z, that carry at each frame; none where nothing is down."""
    parts = foot_points(clip)
    positions, _ = clip.world
    found: list[list[np.ndarray]] = [[] for _ in range(len(clip))]
    for side, name in enumerate(SIDES):
        soles = find_drawn_soles(clip.skeleton)[side].pick_flat().place(*clip.world)[..., [0, 2]]
        heel, ball = (parts[:, side, k][:, [0, 2]] for k in range(2))
        ahead = (ball - heel) / np.maximum(np.linalg.norm(ball - heel, axis=1, keepdims=True), 1e-9)
        along = np.sum((soles - heel[:, None]) * ahead[:, None], axis=-1)
        reach = np.sum((ball - heel) * ahead, axis=-1)
        for f in np.flatnonzero(contacts.foot[:, side]):
            part = np.ones(soles.shape[1], bool)
            if not contacts.toe[f, side]:
                part = along[f] <= max(_HEEL * reach[f], along[f].min())
            elif not contacts.heel[f, side]:
                part = along[f] >= min(reach[f], along[f].max())
            found[f].append(soles[f, part])
        for kind, role in (("knee", "LowerLeg"), ("hand", "Hand")):
            down, joint = getattr(contacts, kind), clip.skeleton.find_role(name + role)
            if joint is None or not len(down):
                continue
            for f in np.flatnonzero(down[:, side]):
                found[f].append(positions[f, joint][[0, 2]] + _PAD * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]))
    return [np.concatenate(points) if points else np.zeros((0, 2)) for points in found]

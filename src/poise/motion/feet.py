"""Where the points of the feet that meet the ground are in a clip."""

from __future__ import annotations

import numpy as np

from poise.body.soles import find_soles
from poise.motion.clip import Clip
from poise.spatial import rotation


def foot_points(clip: Clip) -> np.ndarray:
    """(F, 2, 3, 3) m, world positions of heel, ball and toe tip of the left and the right foot."""
    positions, orientations = clip.world
    feet = []
    for sole in find_soles(clip.skeleton):
        toes = sole.foot if sole.toes is None else sole.toes
        carried = ((sole.foot, sole.heel), (toes, sole.ball), (toes, sole.tip))
        points = [positions[:, joint] + rotation.rotate(orientations[:, joint], point) for joint, point in carried]
        feet.append(np.stack(points, axis=1))
    return np.stack(feet, axis=1)

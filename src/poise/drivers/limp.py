"""A body that is let go: limbs that give at once, and rest where they come to lie.

As `loose.py`, but that nothing is left of the torques that moved the joints: nobody who is let go pushes off. Toes bend
where they touch the ground, no faster than the foot that they are on: they are so light that it would fling them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.drivers.body import Body
from poise.drivers.loose import Loose, LoosePlayer


@dataclass(frozen=True)
class Limp(Loose):
    """As `Loose`, for who falls: so slack that it crumples, and at rest once it lies."""

    stiffness: float = 0.02
    relax: float = 0.5

    def play(self, body: Body, joints: np.ndarray, t: float) -> LoosePlayer:
        """See `Driver.play`."""
        player = super().play(body, joints, t)
        player.bends_toes = True
        player.lead[:] = 0.0
        rows = {int(joint): k for k, joint in enumerate(player.joints)}
        for joint, k in rows.items():
            above = rows.get(int(body.skeleton.parents[joint]))
            if body.skeleton.labels[joint].endswith("Toes") and above is not None:
                player.damping[k] = max(player.damping[k], player.damping[above])
        return player

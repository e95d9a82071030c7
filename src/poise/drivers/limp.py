"""A body that is let go: limbs that give, and rest where they come to lie; toes bend where they touch the ground."""

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
        return player

"""Joints that nobody drives and nothing physical carries: they come to rest where they are, and stay there.

A part that was physical may be in motion when it becomes part of a kinematic one whose motion does not have all of it.
"""

from __future__ import annotations

import numpy as np

from poise.drivers.body import Body
from poise.drivers.driver import GIVE, SHOW, MotionPlayer
from poise.spatial.law import Block, Law


class StillPlayer(MotionPlayer):
    """Holds joints in the pose that they have when it begins.

    aim    (K, 4) the joints' rotations;  place (3,) m: the root's, where that is among them
    """

    def __init__(self, body: Body, joints: np.ndarray):
        from poise.drivers import still_law

        self._law, self.joints = still_law, np.asarray(joints, np.int64)
        self.aim, self.place = body.state.q[self.joints].copy(), body.state.root.copy()
        self.block = Block(
            still_law.STILL, joints=self.joints, aim=self.aim, place=self.place, count=len(joints),
            moves_root=self._has_root,
        )  # fmt: skip

    def laws(self) -> dict[str, tuple[Law, Block]]:
        """See `Player.laws`."""
        return {GIVE: (self._law.give, self.block), SHOW: (self._law.show, self.block)}

    def give(self, body: Body, t: float) -> None:
        """See `MotionPlayer.give`."""
        self._law.give(body.block, self.block)

    def show(self, body: Body, t: float) -> None:
        """See `MotionPlayer.show`."""
        self._law.show(body.block, self.block)

    def numbers(self) -> dict[str, np.ndarray]:
        """See `Player.numbers`."""
        return {"aim": self.aim, "place": self.place}

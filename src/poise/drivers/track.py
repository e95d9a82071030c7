"""Tracking: springs at all joints of a simulated part follow a motion.   [tracking, section 3]

    torque = k (q* - q) + d (w* - w)

with k from what the joint carries, as in `Loose`, and the motion's own velocity w* in the damper, so that it does not
lag behind by d / k. When it takes over, what is followed begins where the joints are, as fast as they are, and goes
over to the motion as under `Kinematic`; the torque that moved them so far dies away. What the tracking paper has
besides (a stiffness found by search, task control) is not here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.drivers.body import Body
from poise.drivers.driver import ACT, TORQUE, Claim, Driver, TorquePlayer
from poise.drivers.hand_over import GENTLE
from poise.drivers.kinematic import Kinematic, KinematicPlayer
from poise.drivers.live import LivePlayer
from poise.drivers.loose import Loose, LoosePlayer
from poise.drivers.playable import check_playable
from poise.kinds import checked
from poise.motion.motion import Motion, as_motion
from poise.spatial.law import Block, Law


@checked
@dataclass(frozen=True, eq=False)
class Track(Driver):
    """Follows a motion by springs.

    stiffness, damping  as of `Loose`; 30 follows closely
    keeps               whether it follows on when the body has lost its balance
    """

    motion: Motion
    stiffness: float = 30.0
    damping: float = 1.0
    start: float = 0.0
    keeps: bool = False
    level = TORQUE

    def __post_init__(self) -> None:
        check_playable(self.motion, "Track")
        object.__setattr__(self, "motion", as_motion(self.motion))

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """What the motion moves is tracked; a gesture's other joints are left to whoever holds them."""
        return Claim(Kinematic(self.motion).claim(character, joints, part).moved)

    def play(self, body: Body, joints: np.ndarray, t: float) -> TrackPlayer:
        """See `Driver.play`."""
        return TrackPlayer(self, body, joints, t)


class TrackPlayer(TorquePlayer):
    """Springs of one actor, and the motion that they follow."""

    def __init__(self, driver: Track, body: Body, joints: np.ndarray, t: float):
        self.joints, self._law, followed = np.asarray(joints, np.int64), *_find_law(driver.motion)
        self.springs: LoosePlayer = Loose(driver.stiffness, driver.damping).play(body, self.joints, t)
        self.springs.offset[:] = 0.0  # it is the guide that begins where the joints are
        self.guide: KinematicPlayer | LivePlayer = Kinematic(driver.motion, driver.start).play(body, self.joints, t)
        self.looks = self.guide.looks
        self.block = Block(followed, body.arena, springs=self.springs.block.address, guide=self.guide.block.address)

    def begin(self, body: Body, t: float, starting: bool) -> None:
        """At a start follow the motion, later what begins at the body's pose and velocity and goes over to it."""
        if starting:
            return
        kept = body.turning.copy()
        np.clip(body.turning, -GENTLE, GENTLE, out=body.turning)
        self.guide.begin(body, t, starting=False)
        body.turning[:] = kept

    def laws(self) -> dict[str, tuple[Law, Block]]:
        """See `Player.laws`."""
        return {ACT: (self._law, self.block)}

    def look(self, body: Body, t: float) -> None:
        """See `Player.look`."""
        self.guide.look(body, t)

    def act(self, body: Body, t: float) -> None:
        """See `TorquePlayer.act`. The spring pulls to where the motion is at the end of the step."""
        body.block["t"] = t
        self._law(body.block, self.block)

    def save(self) -> dict[str, Any]:
        """See `Player.save`."""
        return {"springs": self.springs.save(), "guide": self.guide.save()}

    def restore(self, saved: dict[str, Any]) -> None:
        """See `Player.restore`."""
        self.springs.restore(saved["springs"])
        self.guide.restore(saved["guide"])


def _find_law(motion: Motion) -> tuple[Law, np.dtype]:
    """The law that follows a motion, and the fields of its block."""
    from poise.drivers.track_law import FOLLOWED, follow

    if motion.is_live:
        from poise.drivers.track_live_law import follow
    return follow, FOLLOWED

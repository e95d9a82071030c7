"""Tracking: springs at all joints of a simulated part follow a motion.   [tracking, section 3]

    torque = k (q* - q) + d (w* - w)

with k from what the joint carries, as in `Loose`, and the motion's own velocity w* in the damper, so that it does not
lag behind by d / k. What the tracking paper has besides (a stiffness found by search, task control) is not here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.drivers.driver import TORQUE, Claim, Driver, TorquePlayer
from poise.drivers.kinematic import Kinematic, KinematicPlayer
from poise.drivers.loose import Loose, LoosePlayer
from poise.drivers.playable import check_playable
from poise.drivers.rig import Rig
from poise.motion.gestures.gesture import Gesture
from poise.motion.motion import Motion


@dataclass(frozen=True, eq=False)
class Track(Driver):
    """Follows a motion by springs.

    stiffness, damping  as of `Loose`; 30 follows closely
    """

    motion: Motion | Gesture
    stiffness: float = 30.0
    damping: float = 1.0
    start: float = 0.0
    level = TORQUE

    def __post_init__(self) -> None:
        check_playable(self.motion, "Track")

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """What the motion moves is tracked; a gesture's other joints are left to whoever holds them."""
        return Claim(Kinematic(self.motion).claim(character, joints, part).moved)

    def play(self, rig: Rig, joints: np.ndarray, t: float) -> TrackPlayer:
        """See `Driver.play`."""
        return TrackPlayer(self, rig, joints, t)


class TrackPlayer(TorquePlayer):
    """Springs of one actor, and the motion that they follow."""

    def __init__(self, driver: Track, rig: Rig, joints: np.ndarray, t: float):
        self.joints = np.asarray(joints, np.int64)
        self.springs: LoosePlayer = Loose(driver.stiffness, driver.damping).play(rig, self.joints, t)
        self.guide: KinematicPlayer = Kinematic(driver.motion, driver.start).play(rig, self.joints, t)

    def act(self, rig: Rig, t: float) -> None:
        """See `TorquePlayer.act`. The spring pulls to where the motion is at the end of the step."""
        q, w = self.guide.sample(t + rig.dt)
        self.springs.aim[:] = q
        self.springs.act(rig, t)
        # the implicit damper k dt of the spring acts on w itself: give the motion's share of it back
        pull = (self.springs.damping + self.springs.stiffness * rig.dt)[:, None] * w
        rig.torque[self.joints] += np.einsum("kab,kb->ka", rig.R[self.joints], pull)

    def save(self) -> Any:
        """See `Player.save`."""
        return self.guide.save()

    def restore(self, saved: Any) -> None:
        """See `Player.restore`."""
        self.guide.restore(saved)

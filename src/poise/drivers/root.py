"""Drivers of the root: free, or attached to a prop. A clip places it by `Kinematic`, and physical legs free it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.character import Character
from poise.drivers.driver import MOTION, TORQUE, Claim, Driver, MotionPlayer, TorquePlayer
from poise.drivers.rig import Rig


@dataclass(frozen=True)
class Free(Driver):
    """The root floats; contacts hold it up, or nothing does."""

    level = TORQUE

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """The root, which needs no torque."""
        return Claim(tuple(joints))

    def play(self, rig: Rig, joints: np.ndarray, t: float) -> FreePlayer:
        """See `Driver.play`."""
        return FreePlayer(joints)


class FreePlayer(TorquePlayer):
    """Nothing."""

    def __init__(self, joints: np.ndarray):
        self.joints = joints

    def act(self, rig: Rig, t: float) -> None:
        """Nothing holds a free root."""


@dataclass(frozen=True)
class Attached(Driver):
    """The root rides on a prop, where it is when it begins.

    prop  its name
    """

    prop: str
    level = MOTION

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """The root."""
        return Claim(tuple(joints))

    def play(self, rig: Rig, joints: np.ndarray, t: float) -> AttachedPlayer:
        """See `Driver.play`."""
        return AttachedPlayer(joints)


class AttachedPlayer(MotionPlayer):
    """The stage moves the root with the prop; here it stands still."""

    def __init__(self, joints: np.ndarray):
        self.joints = joints

    def give(self, rig: Rig, t: float) -> None:
        """Nothing of its own."""

    def pose(self, rig: Rig, t: float) -> None:
        """Nothing of its own."""

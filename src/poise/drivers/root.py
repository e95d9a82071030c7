"""A root that floats. A clip places it by `Kinematic`, a prop by `Attached`, and physical legs free it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.drivers.driver import TORQUE, Driver, TorquePlayer
from poise.drivers.rig import Rig


@dataclass(frozen=True)
class Free(Driver):
    """The root floats; contacts hold it up, or nothing does."""

    level = TORQUE
    root = "only"

    def play(self, rig: Rig, joints: np.ndarray, t: float) -> FreePlayer:
        """See `Driver.play`."""
        return FreePlayer(joints)


class FreePlayer(TorquePlayer):
    """Nothing."""

    has_torques = False

    def __init__(self, joints: np.ndarray):
        self.joints = joints

    def act(self, rig: Rig, t: float) -> None:
        """Nothing holds a free root."""

"""A root that floats. A clip places it by `Kinematic`, a prop by `Attached`, and physical legs free it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.drivers.body import Body
from poise.drivers.driver import TORQUE, Driver, TorquePlayer
from poise.errors import InputError


def check_part(driver: Driver, part: str, is_root: bool) -> None:
    """Raise InputError where a driver is put on the root and is not for it, or on another part and is for the root."""
    if driver.root == ("never" if is_root else "only"):
        raise InputError(
            f"'{part}' cannot be driven by {type(driver).__name__}: the root is Free, Attached or Kinematic, and only "
            "the root is Free or Attached."
        )


@dataclass(frozen=True)
class Free(Driver):
    """The root floats; contacts hold it up, or nothing does."""

    level = TORQUE
    root = "only"
    keeps = True

    def play(self, body: Body, joints: np.ndarray, t: float) -> FreePlayer:
        """See `Driver.play`."""
        return FreePlayer(joints)


class FreePlayer(TorquePlayer):
    """Nothing."""

    has_torques = False

    def __init__(self, joints: np.ndarray):
        self.joints = joints

    def act(self, body: Body, t: float) -> None:
        """Nothing holds a free root."""

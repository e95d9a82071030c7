"""Drivers of the root: `Free` floats, for physical legs; `Attached` rides on a prop, a swing or a cart.

`Kinematic` places a root by its clip.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.drivers.body import Body
from poise.drivers.driver import MOTION, TORQUE, Driver, MotionPlayer, TorquePlayer
from poise.errors import InputError
from poise.kinds import checked
from poise.spatial import rotation


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


@checked
@dataclass(frozen=True)
class Attached(Driver):
    """The root rides on a prop, where it is when it begins.

    prop  its name
    """

    prop: str
    level = MOTION
    root = "only"

    @property
    def carrier(self) -> str:
        """See `Driver`."""
        return self.prop

    def play(self, body: Body, joints: np.ndarray, t: float) -> AttachedPlayer:
        """See `Driver.play`."""
        return AttachedPlayer(self.prop, joints)


class AttachedPlayer(MotionPlayer):
    """A root on its seat.

    place (3,) m, turn (4,): the root in the prop's frame
    """

    def __init__(self, prop: str, joints: np.ndarray):
        self.carrier, self.joints = prop, joints
        self.place, self.turn = np.zeros(3), rotation.identity()

    @property
    def seat(self) -> tuple[np.ndarray, np.ndarray]:
        """See `Player.seat`."""
        return self.place, self.turn

    def begin(self, body: Body, t: float, starting: bool) -> None:
        """Sit down: remember where the root is in the frame of the prop, as that is now."""
        prop, state = body.read_prop(str(self.carrier)), body.state
        back = rotation.conjugate(prop.turn)
        self.place[:] = rotation.rotate(back, state.root - prop.position)
        self.turn[:] = rotation.multiply(back, state.q[0])

    def give(self, body: Body, t: float) -> None:
        """Put the root where the prop carries it, as fast as that."""
        prop, state = body.read_prop(str(self.carrier)), body.state
        arm = rotation.rotate(prop.turn, self.place)
        state.root[:], state.q[0] = prop.position + arm, rotation.multiply(prop.turn, self.turn)
        state.v[:] = prop.velocity + np.cross(prop.spin, arm)
        state.w[0] = rotation.rotate(rotation.conjugate(state.q[0]), prop.spin)

    def settle(self, body: Body, t: float) -> None:
        """See `MotionPlayer.settle`: the prop has moved on."""
        self.give(body, t)

    def show(self, body: Body, t: float) -> None:
        """See `MotionPlayer.show`: the root is where it settled."""

    def numbers(self) -> dict[str, np.ndarray]:
        """See `Player.numbers`."""
        return {"place": self.place, "turn": self.turn}

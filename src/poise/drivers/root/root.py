"""Drivers of the root: `Free` floats, for physical legs; `Attached` rides on a prop, a swing or a cart.

`Kinematic` places a root by its clip.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.character import Character
from poise.drivers.body import Body
from poise.drivers.driver import MOTION, TORQUE, BodyModel, Claim, Driver, MotionPlayer, Player
from poise.drivers.stateful import Stateful
from poise.errors import InputError
from poise.kinds import checked
from poise.spatial import rotation


def check_part(driver: Driver, part: str, is_root: bool) -> None:
    """Raise InputError if a driver is put on the root and is not for it, or on another part and is for the root."""
    if driver.root == ("never" if is_root else "only"):
        raise InputError(
            f"'{part}' cannot be driven by {type(driver).__name__}: the root is Free, Attached or Kinematic, and only "
            "the root is Free or Attached."
        )


@dataclass(frozen=True)
class Free(Driver):
    """The root floats, held up by contacts or by nothing."""

    level = TORQUE
    root = "only"
    active_after_fall = True

    def build(self, body: Body, joints: np.ndarray, t: float) -> Player:
        """See `Driver.build`: no torque acts on a root."""
        return Player()


@checked
@dataclass(frozen=True)
class Attached(Driver):
    """The root is attached to a prop where it is at the beginning.

    prop  its name
    """

    prop: str
    level = MOTION
    root = "only"

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """See `Driver.claim`: on the prop."""
        return Claim(tuple(joints), rides_on=self.prop)

    def build(self, body: Body, joints: np.ndarray, t: float) -> AttachedPlayer:
        """See `Driver.build`."""
        return AttachedPlayer(self.prop)


class AttachedPlayer(Stateful, MotionPlayer):
    """A root on its seat.

    place, turn  (3,) m, (4,): pose of the root in the prop's frame
    """

    STATE = ("place", "turn")

    def __init__(self, prop: str):
        self._prop = prop
        self.place, self.turn = np.zeros(3), rotation.identity()

    def model(self, body: Body, falling: bool) -> BodyModel:
        """See `Player.model`: the root is on its seat."""
        return BodyModel(seat=(self.place, self.turn))

    def begin(self, body: Body, t: float, starting: bool, previous: Player | None = None) -> None:
        """See `Player.begin`: store the root's pose in the present frame of the prop."""
        prop, state = body.read_prop(self._prop), body.state
        back = rotation.conjugate(prop.turn)
        self.place[:] = rotation.rotate(back, state.root - prop.position)
        self.turn[:] = rotation.multiply(back, state.q[0])

    def write(self, body: Body, t: float) -> None:
        """See `MotionPlayer.write`: put the root on its seat, with the prop's velocity."""
        prop, state = body.read_prop(self._prop), body.state
        arm = rotation.rotate(prop.turn, self.place)
        state.root[:], state.q[0] = prop.position + arm, rotation.multiply(prop.turn, self.turn)
        state.v[:] = prop.velocity + np.cross(prop.spin, arm)
        state.w[0] = rotation.rotate(rotation.conjugate(state.q[0]), prop.spin)

    def post_step(self, body: Body, t: float) -> None:
        """See `Player.post_step`: the prop has moved on."""
        self.write(body, t)

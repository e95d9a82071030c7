"""What a driver is.

A driver is a description that a user makes: `Balance()`, `Kinematic(clip)`. Given a rig and the joints that it is to
move it becomes a *player*, which holds the state that goes with one actor. A driver speaks at one level, and that says
who integrates its joints:

    motion   q, w and dw of its joints are given; nobody integrates them     `MotionPlayer`
    torque   torques at its joints; the engine integrates them               `TorquePlayer`

A driver is told what joints it should move and answers which of them it moves and which it holds still (a foot's
toes under `Balance`); joints that it cannot do with or without it refuses by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.skeleton import Skeleton
from poise.drivers.rig import Rig
from poise.engines.scene import Joint

MOTION, TORQUE = "motion", "torque"


@dataclass(frozen=True)
class Claim:
    """What a driver makes of the joints it is given: those it moves, those it holds, those it wants fixed to the world.

    frees_root  whether the root must float for this driver to make sense
    """

    moved: tuple[int, ...]
    held: tuple[int, ...] = ()
    pinned: tuple[int, ...] = ()
    frees_root: bool = False


class Player(ABC):
    """A driver at work on one actor. Its state is plain data."""

    joints: np.ndarray

    def save(self) -> Any:
        """All that changes while it plays."""
        return None

    def restore(self, saved: Any) -> None:  # noqa: B027  a player without state has nothing to do
        """Back to what was saved."""


class MotionPlayer(Player):
    """Gives the motion of its joints."""

    moves_root: bool = False

    def meet(self, rig: Rig, t: float) -> None:
        """Begin at the rig's pose and velocity."""

    @abstractmethod
    def give(self, rig: Rig, t: float) -> None:
        """Write q, w and dw of its joints at time t (and the root's v and a if it moves the root) into the rig."""

    @abstractmethod
    def pose(self, rig: Rig, t: float) -> None:
        """Write q of its joints alone."""


class TorquePlayer(Player):
    """Gives torques at its joints."""

    @abstractmethod
    def act(self, rig: Rig, t: float) -> None:
        """Write torque and damping of its joints into the rig, whose world poses and velocities are up to date."""

    def kinds(self, rig: Rig) -> dict[int, Joint]:
        """How the engine should build its joints at the rig's present state; balls where nothing is said."""
        return {}

    def events(self) -> list[str]:
        """What it has to tell since it was last asked."""
        return []


class Driver(ABC):
    """What a user puts on a part of a body.

    after_others  whether it looks at the other joints, and so is asked when they are where they belong
    """

    level: str
    after_others: bool = False

    def claim(self, character: Character, joints: list[int], part: str) -> Claim:
        """Which of the joints it moves and which it holds; raises where they are not what it needs."""
        return Claim(tuple(joints))

    def check_given(self, skeleton: Skeleton, physical: Sequence[int]) -> None:  # noqa: B027  most do not mind
        """Raise InputError where this driver cannot be because some joints (indices) are physical."""

    @abstractmethod
    def play(self, rig: Rig, joints: np.ndarray, t: float) -> Any:
        """The player of this driver for some joints of a rig, from time t on, starting at the rig's state."""

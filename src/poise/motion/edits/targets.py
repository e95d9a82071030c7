"""Where a hand should be at a time: a place in the world, on a prop, on another body, or half way between two."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from poise.errors import InputError
from poise.motion.edits.body_points import find_point
from poise.motion.motion import BodyMotion
from poise.spatial import rotation


class Target(ABC):
    """A place that may move."""

    @abstractmethod
    def find(self, t: float) -> np.ndarray:
        """(3,) m, where it is in the world at time t, s."""


@dataclass(frozen=True, eq=False)
class PointTarget(Target):
    """A place (3,) m of the world."""

    place: Sequence[float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", read_vector(self.place, "a place"))

    def find(self, t: float) -> np.ndarray:
        """See `Target.find`."""
        return np.asarray(self.place)


class Placed(Protocol):
    """What has a position (3,) m and a turn (4,) in the world: a prop."""

    @property
    def position(self) -> np.ndarray: ...

    @property
    def turn(self) -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class PropTarget(Target):
    """A place on something that has a position and a turn, such as a prop: `point` (3,) m in its frame."""

    prop: Placed
    point: Sequence[float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", read_vector(self.point, "a point of a prop"))

    def find(self, t: float) -> np.ndarray:
        """See `Target.find`."""
        return np.asarray(self.prop.position + rotation.rotate(self.prop.turn, np.asarray(self.point)))


@dataclass(frozen=True, eq=False)
class BodyTarget(Target):
    """A point of a body that moves: of another's hand, of one's own head.

    motion  the body's, on the same clock
    joint   name or role;  point: a name or (3,) m in the joint's frame, see `find_point`
    """

    motion: BodyMotion
    joint: str
    point: str | Sequence[float] = "joint"

    def __post_init__(self) -> None:
        find_point(self.motion.skeleton, self.joint, self.point)

    def find(self, t: float) -> np.ndarray:
        """See `Target.find`."""
        skeleton = self.motion.skeleton
        positions, turns = skeleton.pose(*self.motion.pose(float(t)))
        joint = skeleton.index(self.joint)
        return np.asarray(
            positions[joint] + rotation.rotate(turns[joint], find_point(skeleton, self.joint, self.point))
        )


@dataclass(frozen=True, eq=False)
class MidpointTarget(Target):
    """Between two others: `share` of the way from the first to the second; 0.5 is half way."""

    first: Target
    second: Target
    share: float = 0.5

    def find(self, t: float) -> np.ndarray:
        """See `Target.find`."""
        a, b = self.first.find(t), self.second.find(t)
        return np.asarray(a + self.share * (b - a))


def as_spot(place: Target | Sequence[float]) -> Target:
    """A spot out of itself, or out of three numbers."""
    return place if isinstance(place, Target) else PointTarget(place)


def read_vector(given: Sequence[float], what: str) -> np.ndarray:
    """(3,) finite numbers; InputError in words of what they are where they are none."""
    try:
        vector = np.array(given, float)
    except (TypeError, ValueError):
        vector = np.zeros(0)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InputError(f"{what} is three finite numbers in metres; given {given!r:.80}.")
    vector.flags.writeable = False
    return vector

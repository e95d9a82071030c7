"""What a motion is to the rest of Poise: anything that gives a pose at a time."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from poise.body.skeleton import Skeleton


class Pose(NamedTuple):
    """One pose, or a batch of them over leading axes.

    root       (..., 3) m, position of the root joint in the world
    rotations  (..., J, 4) wxyz, each joint relative to its parent, the root to the world
    shifts     (..., J, 3) m, how far each joint is from the end of its bone, in its parent's axes; None: nowhere
    """

    root: np.ndarray
    rotations: np.ndarray
    shifts: np.ndarray | None = None


@runtime_checkable
class Motion(Protocol):
    """A clip, a gesture, an actor: it has a skeleton, lasts `duration` seconds and can be asked for its pose."""

    @property
    def skeleton(self) -> Skeleton:
        """The joints that move."""
        ...

    @property
    def duration(self) -> float:
        """Seconds from its beginning to its end."""
        ...

    def pose(self, t: np.ndarray | float) -> Pose:
        """The pose at time t in seconds, or at each of an array of times; before and after it holds its ends."""
        ...

"""Goals of inverse kinematics: points that reach places, bodies that turn, eyes that look.

Where goals cannot all be met, what stands is first: the centre of mass over its support, and feet that are down
(`first`). The others come as near as that allows, by their weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from poise.errors import InputError
from poise.kinds import checked

_WEIGHTS = (1e-3, 1e3)
_ORIGIN, _AHEAD, _AS_AT_REST = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0)


@checked
@dataclass(frozen=True, eq=False)
class PositionGoal:
    """A point of a joint's body goes to a place.

    joint   name or role
    place   (3,) m, in the world
    point   (3,) m, in the joint's frame: (0, 0, 0) is the joint itself
    weight  beside that of other goals; first: it comes before those that are not
    above   the point may be anywhere at the height of the place or above it: a floor
    """

    joint: str
    place: Sequence[float]
    point: Sequence[float] = _ORIGIN
    weight: float = field(default=1.0, kw_only=True)
    first: bool = field(default=False, kw_only=True)
    above: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        _check_goal(self, self.joint, self.weight, place=3, point=3)


@checked
@dataclass(frozen=True, eq=False)
class OrientationGoal:
    """A joint's body is turned as given.

    joint   name or role
    turn    (4,) wxyz, in the world; (1, 0, 0, 0) is the rest pose's
    weight  beside that of other goals; first: it comes before those that are not
    """

    joint: str
    turn: Sequence[float] = _AS_AT_REST
    weight: float = field(default=1.0, kw_only=True)
    first: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        _check_goal(self, self.joint, self.weight, turn=4)


@checked
@dataclass(frozen=True, eq=False)
class LookAtGoal:
    """A joint's body looks at a place.

    place   (3,) m, in the world
    joint   whose eyes; point (3,) m, where they are in its frame; along (3,), the way that they look at rest
    weight  beside that of other goals
    """

    place: Sequence[float]
    joint: str = "head"
    point: Sequence[float] = _ORIGIN
    along: Sequence[float] = _AHEAD
    weight: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        _check_goal(self, self.joint, self.weight, place=3, point=3, along=3)


Goal = PositionGoal | OrientationGoal | LookAtGoal


def _check_goal(goal: Goal, joint: str, weight: float, **sizes: int) -> None:
    """Look at the numbers of a goal, and keep them as arrays."""
    if not _WEIGHTS[0] <= weight <= _WEIGHTS[1]:
        raise InputError(
            f"the weight of a goal is {_WEIGHTS[0]:g} to {_WEIGHTS[1]:g}; that of '{joint}' is {weight:g}."
        )
    for name, size in sizes.items():
        try:
            value = np.array(getattr(goal, name), float)
        except (TypeError, ValueError):
            value = np.zeros(0)
        if value.shape != (size,) or not np.isfinite(value).all():
            raise InputError(
                f"the {name} of a goal is {size} finite numbers; that of '{joint}' is {getattr(goal, name)!r:.80}."
            )
        if name in ("turn", "along"):
            norm = float(np.linalg.norm(value))
            if norm < 1e-9:
                raise InputError(f"the {name} of a goal must not be zero; that of '{joint}' is.")
            value /= norm
        value.flags.writeable = False
        object.__setattr__(goal, name, value)

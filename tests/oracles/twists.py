"""Spatial vectors: the velocity of a rigid body and the force on it, each as one object.   [mix, appendix]

A `Twist` and a `Wrench` belong to a *reference point* and a set of *axes*, which the variable's name should say
(`twist_at_hip_world`). Neither stores them. Angular part first, as in Featherstone and MuJoCo.

    v = (w, v)    w rad/s, v m/s of the body-fixed point that is at the reference point now          [mix, eq 18]
    a = (w', v' - w x v)   spatial acceleration, v' the acceleration of that body-fixed point        [mix, eq 19]
    f = (n, f)    n N m about the reference point, f N                                              [mix, eq 20]

All parts have shape (..., 3) and broadcast, so one object may hold a whole clip. Spatial acceleration is itself a
`Twist`: it shifts, turns and adds like a velocity, which the acceleration of a point does not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np

from poise.spatial import rotation


@dataclass(frozen=True, eq=False)
class _Pair(ABC):
    """What motions and forces share: they add, scale and turn part by part."""

    @abstractmethod
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """The angular and the linear half."""

    def _like(self, first: np.ndarray, second: np.ndarray) -> Self:
        return type(self)(first, second)  # type: ignore[call-arg]

    def __add__(self, other: Self) -> Self:
        (a, b), (c, d) = self.parts(), other.parts()
        return self._like(a + c, b + d)

    def __sub__(self, other: Self) -> Self:
        (a, b), (c, d) = self.parts(), other.parts()
        return self._like(a - c, b - d)

    def __neg__(self) -> Self:
        a, b = self.parts()
        return self._like(-a, -b)

    def __mul__(self, factor: float) -> Self:
        a, b = self.parts()
        return self._like(factor * a, factor * b)

    __rmul__ = __mul__

    def turned(self, q: np.ndarray) -> Self:
        """The same vector in other axes: q (..., 4) turns the old axes' coordinates into the new ones'."""
        a, b = self.parts()
        return self._like(rotation.rotate(q, a), rotation.rotate(q, b))


@dataclass(frozen=True, eq=False)
class Twist(_Pair):
    """Velocity of a rigid body (or its spatial acceleration) at a reference point.

    angular  (..., 3) rad/s (rad/s2)
    linear   (..., 3) m/s (m/s2)
    """

    angular: np.ndarray
    linear: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "angular", np.asarray(self.angular, float))
        object.__setattr__(self, "linear", np.asarray(self.linear, float))

    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """Angular, then linear."""
        return self.angular, self.linear

    def shifted(self, offset: np.ndarray) -> Twist:
        """The same motion at another reference point, which lies `offset` (..., 3) m from the present one."""
        return Twist(self.angular, self.linear + np.cross(self.angular, offset))

    def cross(self, other: Twist) -> Twist:
        """v x m: the rate at which a motion vector m fixed in a body moving at v changes. Both at one point."""
        return Twist(
            np.cross(self.angular, other.angular),
            np.cross(self.angular, other.linear) + np.cross(self.linear, other.angular),
        )

    def cross_wrench(self, wrench: Wrench) -> Wrench:
        """v x* f = (w x n + v x f, w x f): the same for a force vector.   [mix, eq 22]"""
        return Wrench(
            np.cross(self.angular, wrench.torque) + np.cross(self.linear, wrench.force),
            np.cross(self.angular, wrench.force),
        )


@dataclass(frozen=True, eq=False)
class Wrench(_Pair):
    """Force on a rigid body, with its moment about a reference point.

    torque  (..., 3) N m about the reference point
    force   (..., 3) N
    """

    torque: np.ndarray
    force: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "torque", np.asarray(self.torque, float))
        object.__setattr__(self, "force", np.asarray(self.force, float))

    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """Torque, then force."""
        return self.torque, self.force

    def shifted(self, offset: np.ndarray) -> Wrench:
        """The same force about another reference point, which lies `offset` (..., 3) m from the present one."""
        return Wrench(self.torque - np.cross(offset, self.force), self.force)


def power(twist: Twist, wrench: Wrench) -> np.ndarray:
    """Watts that a wrench puts into a body, shape (...): w . n + v . f. Both at one point, in one frame."""
    moment = np.sum(twist.angular * wrench.torque, axis=-1)
    return np.asarray(moment + np.sum(twist.linear * wrench.force, axis=-1))


def spatial_acceleration(velocity: Twist, angular: np.ndarray, linear: np.ndarray) -> Twist:
    """From the acceleration of the body-fixed point, `linear` (..., 3) m/s2, and `angular` (..., 3) rad/s2.

    In axes that stand still, or whose turning was taken out: in a body's own axes `linear` is the vector that an
    accelerometer without gravity would show, not the rate of change of the velocity's coordinates.
    """
    # a = (w', v' - w x v)   [mix, eq 19]
    return Twist(angular, np.asarray(linear, float) - np.cross(velocity.angular, velocity.linear))


def classical_acceleration(velocity: Twist, acceleration: Twist) -> tuple[np.ndarray, np.ndarray]:
    """Angular acceleration and the acceleration of the body-fixed point: the inverse of `spatial_acceleration`."""
    return acceleration.angular, acceleration.linear + np.cross(velocity.angular, velocity.linear)

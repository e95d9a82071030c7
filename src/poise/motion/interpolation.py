"""A clip between its frames: slerp, or a spline that is smooth in acceleration.   [tracking, section 3: Z1]

slerp   constant angular speed between frames: passes through nothing but what was captured; the speed jumps at frames.
spline  a cubic spline through the sign-continuous quaternion components, normalised: position, velocity and
        acceleration are continuous (C2); between frames far apart it can swing a little past them.

Rates are those of the curve itself, by `spatial.derivative.angular_rates`. Nothing is filtered here: for accelerations
of noisy recordings use `spatial/derivative.py`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, get_args

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError, unknown_name
from poise.motion.motion import Pose
from poise.spatial import rotation
from poise.spatial.derivative import angular_rates

How = Literal["slerp", "spline"]


class Framed(Protocol):
    """What a clip has that is asked for here; see `Clip`."""

    @property
    def skeleton(self) -> Skeleton: ...

    @property
    def times(self) -> np.ndarray: ...

    @property
    def root(self) -> np.ndarray: ...

    @property
    def rotations(self) -> np.ndarray: ...

    @property
    def shifts(self) -> np.ndarray | None: ...

    @property
    def poses(self) -> Pose: ...

    @property
    def spline(self) -> ClipSpline: ...

    def __len__(self) -> int: ...


class Rates(NamedTuple):
    """First or second derivatives of a pose.

    root      (..., 3) m/s or m/s^2, of the root joint's position, in the world
    rotation  (..., J, 3) rad/s or rad/s^2, of each joint relative to its parent, in the joint's own (the child's) frame
    shift     (..., J, 3) m/s or m/s^2, of each joint along its parent's axes; None where every bone keeps its length
    """

    root: np.ndarray
    rotation: np.ndarray
    shift: np.ndarray | None = None


def interpolate(clip: Framed, t: np.ndarray | float, how: How = "slerp") -> Pose:
    """The clip's pose at time t (seconds on the clip's clock), or at each of an array of times; clamped at the ends."""
    t = _clamp(clip, t)
    if how == "slerp":
        return _slerp(clip, t)
    if how == "spline":
        return clip.spline.pose(t)
    raise unknown_name("interpolation", how, get_args(How))


def _clamp(clip: Framed, t: np.ndarray | float) -> np.ndarray:
    t = np.asarray(t, float)
    if not np.isfinite(t).all():
        raise InputError("a time is not a finite number. Ask for a pose at seconds on the clip's clock.")
    return np.clip(t, clip.times[0], clip.times[-1])


def _slerp(clip: Framed, t: np.ndarray) -> Pose:
    after = np.clip(np.searchsorted(clip.times, t, side="right"), 1, max(len(clip) - 1, 1))
    before, after = after - 1, np.minimum(after, len(clip) - 1)
    span = np.where(after > before, clip.times[after] - clip.times[before], 1.0)
    u = (t - clip.times[before]) / span
    root = clip.root[before] + u[..., None] * (clip.root[after] - clip.root[before])
    shifts = clip.shifts
    if shifts is not None:
        shifts = shifts[before] + u[..., None, None] * (shifts[after] - shifts[before])
    return Pose(root, rotation.slerp(clip.rotations[before], clip.rotations[after], u[..., None]), shifts)


class ClipSpline:
    """The C2 spline of a clip, with its derivatives. Times are clamped to the clip: beyond its ends it holds still."""

    def __init__(self, clip: Framed):
        self._clip = clip

    @cached_property
    def _curves(self) -> tuple[Any, ...]:
        """The spline through all components (3 of the root, 4 J of quaternions, 3 J of shifts) and two derivatives."""
        from scipy.interpolate import CubicSpline

        clip = self._clip
        arrays = [array for array in clip.poses if array is not None]
        columns = np.concatenate([array.reshape(len(clip), -1) for array in arrays], axis=1)
        curve = CubicSpline(clip.times, columns)
        return curve, curve.derivative(), curve.derivative(2)

    def _evaluate(self, t: np.ndarray, order: int) -> Pose:
        """Root (..., 3), unnormalised quaternions (..., J, 4) and shifts (..., J, 3), or their derivatives."""
        clip = self._clip
        if len(clip) == 1:
            keep = float(order == 0)
            held = [None if a is None else np.broadcast_to(keep * a[0], (*t.shape, *a[0].shape)) for a in clip.poses]
            return Pose(*held)  # type: ignore[arg-type]
        columns = self._curves[order](t)
        last = 3 + 4 * len(clip.skeleton)
        shifts = None if clip.shifts is None else columns[..., last:].reshape(*t.shape, -1, 3)
        return Pose(columns[..., :3], columns[..., 3:last].reshape(*t.shape, -1, 4), shifts)

    def pose(self, t: np.ndarray | float) -> Pose:
        """Root position, unit rotations and shifts at time t."""
        pose = self._evaluate(_clamp(self._clip, t), 0)
        return pose._replace(rotations=rotation.normalize(pose.rotations))

    def velocity(self, t: np.ndarray | float) -> Rates:
        """Root velocity in the world and angular velocity of each joint in its own frame at time t."""
        return self._rates(t)[0]

    def acceleration(self, t: np.ndarray | float) -> Rates:
        """Root acceleration in the world and angular acceleration of each joint in its own frame at time t."""
        return self._rates(t)[1]

    def _rates(self, t: np.ndarray | float) -> tuple[Rates, Rates]:
        t = _clamp(self._clip, t)
        here, first, second = (self._evaluate(t, order) for order in range(3))
        angular_velocity, angular_acceleration = angular_rates(here.rotations, first.rotations, second.rotations)
        return (
            Rates(first.root, angular_velocity, first.shifts),
            Rates(second.root, angular_acceleration, second.shifts),
        )

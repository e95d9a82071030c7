"""A sampled motion: the pose of a skeleton at given times. Immutable; every edit gives a new clip.

`build_sampled_clip` makes one of orientations of a body's parts, as trackers give them. [tracking, section 3, eq 1: Z1]

Samples may come at any rate, also uneven. Between them, `clip.pose(t, how)` and `resample(clip, fps, how)` interpolate:

slerp   constant angular speed between frames: passes through nothing but what was captured; the speed jumps at frames.
spline  a cubic spline through the sign-continuous quaternion components, normalised: position, velocity and
        acceleration are continuous (C2); between frames far apart it can swing a little past them.

Rates are those of the curve itself, by `spatial.derivative.angular_rates`. Nothing is filtered here: for accelerations
of noisy recordings use `spatial/derivative.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError, unknown_name
from poise.frozen import Portable
from poise.kinds import checked
from poise.motion.contacts.glitches import Glitches, bridge_places, bridge_turns, find_glitches
from poise.motion.motion import BodyMotion, Pose, Samples
from poise.spatial import rotation
from poise.spatial.derivative import angular_rates

How = Literal["slerp", "spline"]
# Shifts of no more than this (of the clip's unit, a metre or a file's) are none: what arithmetic leaves of a zero.
_NO_SHIFT = 1e-9
_FEW = 13  # samples of a clip of one frame or two: a spline through them is off by microradians
RIGID = 0.01  # m: bones that change by less are as good as rigid


@dataclass(frozen=True, eq=False)
class Clip(BodyMotion, Portable):
    """Poses of one skeleton over time.

    skeleton   the joints that move
    times      (F,) s, increasing; the first frame of a file is at 0
    root       (F, 3) m, position of the root joint in the world
    rotations  (F, J, 4) wxyz, each joint relative to its parent (the root to the world), signs continuous in time
    name       what the file or gesture calls it
    shifts     (F, J, 3) m, how far each joint is from the end of its bone (its offset), in its parent's axes; the
               root's are zero, since its travel is `root`. None where every bone keeps its length
    """

    skeleton: Skeleton
    times: np.ndarray
    root: np.ndarray
    rotations: np.ndarray
    name: str = ""
    shifts: np.ndarray | None = None

    def __post_init__(self) -> None:
        times = np.array(self.times, float)
        root = np.array(self.root, float)
        rotations = np.array(self.rotations, float)
        f, j = len(times), len(self.skeleton)
        if times.ndim != 1 or f == 0:
            raise InputError(f"a clip needs at least one frame; {f} given.")
        if root.shape != (f, 3) or rotations.shape != (f, j, 4):
            raise InputError(
                f"a clip of {f} frames and {j} joints needs root ({f}, 3) and rotations ({f}, {j}, 4); given "
                f"{root.shape} and {rotations.shape}."
            )
        shifts = self._check_shifts(f, j)
        arrays = {"times": times, "root positions": root, "rotations": rotations, "shifts": shifts}
        for what, array in arrays.items():
            if array is not None and not np.isfinite(array).all():
                frame = int(np.argwhere(~np.isfinite(array))[0][0])
                raise InputError(f"the {what} are not finite at frame {frame}. Mend or trim the clip there.")
        if np.any(np.diff(times) <= 0):
            frame = int(np.flatnonzero(np.diff(times) <= 0)[0]) + 1
            raise InputError(
                f"times must increase: frame {frame} is at {times[frame]:g} s, after one at {times[frame - 1]:g} s. "
                "Sort the frames."
            )
        norms = np.linalg.norm(rotations, axis=-1)
        if np.any(norms < 1e-6):
            frame, joint = (int(i) for i in np.argwhere(norms < 1e-6)[0])
            raise InputError(f"the rotation of joint '{self.skeleton.names[joint]}' at frame {frame} is zero.")
        rotations = rotation.make_continuous(rotations / norms[..., None])
        if shifts is not None and np.abs(shifts).max(initial=0.0) <= _NO_SHIFT:
            shifts = None
        for name, array in (("times", times), ("root", root), ("rotations", rotations), ("shifts", shifts)):
            if array is not None:
                array.flags.writeable = False
            object.__setattr__(self, name, array)

    def _check_shifts(self, frames: int, joints: int) -> np.ndarray | None:
        """A copy of the shifts, of the right shape."""
        if self.shifts is None:
            return None
        shifts = np.array(self.shifts, float)
        if shifts.shape != (frames, joints, 3):
            raise InputError(
                f"a clip of {frames} frames and {joints} joints needs shifts ({frames}, {joints}, 3), or none; given "
                f"{shifts.shape}."
            )
        if np.any(np.abs(shifts[:, 0]) > _NO_SHIFT):
            raise InputError(
                f"the root '{self.skeleton.names[0]}' has shifts: its travel belongs to `root`. Add them there."
            )
        return shifts

    def __len__(self) -> int:
        return len(self.times)

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return float(self.times[-1] - self.times[0])

    @property
    def fps(self) -> float:
        """Frames a second, from the median step; 0 for a single frame."""
        return float(1.0 / np.median(np.diff(self.times))) if len(self) > 1 else 0.0

    @property
    def poses(self) -> Pose:
        """The poses of all frames."""
        return Pose(self.root, self.rotations, self.shifts)

    @cached_property
    def world(self) -> tuple[np.ndarray, np.ndarray]:
        """Joint positions (F, J, 3) m and orientations (F, J, 4) in the world."""
        return self.skeleton.pose(*self.poses)

    @property
    def positions(self) -> np.ndarray:
        """(F, J, 3) m, joint positions in the world."""
        return self.world[0]

    @cached_property
    def glitches(self) -> Glitches:
        """Where the root jumps or joints flip, as no body does. The clip is in metres."""
        return find_glitches(self)

    @cached_property
    def bridged(self) -> Pose:
        """The poses of all frames with the glitches bridged: for rates. After a glitch they may be somewhere else."""
        steps = self.glitches.about
        return Pose(bridge_places(self.root, steps[:, 0]), bridge_turns(self.rotations, steps[:, 1:]), self.shifts)

    @cached_property
    def spline(self) -> ClipSpline:
        """The clip as a C2 curve, with velocities and accelerations."""
        return ClipSpline(self)

    def pose(self, t: np.ndarray | float, how: How = "slerp") -> Pose:
        """The pose at time t (s on the clip's clock), or at each of an array of times; held at the ends."""
        return interpolate(self, t, how)

    def samples(self, skeleton: Skeleton, joints: Sequence[int]) -> Samples:
        """Its frames; see `Motion.samples`."""
        if len(self) < 3:  # a pose that is held, or a turn from one to the other at a constant speed
            times = self.times[0] + np.linspace(0.0, self.duration or 1.0, _FEW)
            root, turns, _ = self.pose(times)
            return Samples(joints, times, turns[:, list(joints)], root)
        chosen = list(joints)

        def bridged() -> tuple[np.ndarray, np.ndarray]:
            return self.bridged.rotations[:, chosen], self.bridged.root

        turns, root = self.rotations[:, chosen], self.root
        return Samples(
            joints,
            self.times,
            turns,
            root,
            traces=lambda: find_traces(self),
            bridged=bridged if self.glitches else None,
        )

    def check_bones(self, joints: Iterable[int]) -> None:
        """Refuse it for a body of rigid bones where any of these joints slides by more than a centimetre."""
        if self.shifts is None:
            return
        reach = np.ptp(self.shifts, axis=0).max(axis=1)
        sliding = [joint for joint in joints if reach[joint] > RIGID]
        if sliding:
            names = ", ".join(self.skeleton.names[joint] for joint in sliding[:6])
            raise InputError(
                f"{names} of clip '{self.name}' slide by up to {reach[sliding].max():.2g} m, but bodies on a stage "
                "have rigid bones. Play poise.motion.root_at_hips(clip).body instead, whose root has the travel."
            )

    def pick(self, frames: slice | np.ndarray) -> Clip:
        """The clip of some of its frames, in order: a slice, a mask (F,) or indices. They keep their times."""
        shifts = None if self.shifts is None else self.shifts[frames]
        return self.replace(
            times=self.times[frames], root=self.root[frames], rotations=self.rotations[frames], shifts=shifts
        )

    def scaled(self, factor: float) -> Clip:
        """The same motion of a body `factor` times as large."""
        shifts = None if self.shifts is None else factor * self.shifts
        return self.replace(skeleton=self.skeleton.scaled(factor), root=factor * self.root, shifts=shifts)

    def replace(self, **changes: object) -> Clip:
        """A copy with some fields changed; where arrays are among them, all are checked anew."""
        skeleton = changes.get("skeleton", self.skeleton)
        if changes.keys() <= {"skeleton", "name"} and isinstance(skeleton, Skeleton) and len(skeleton) == self._joints:
            return self._copy(**changes)  # the arrays were checked, and nobody can write to them
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    def turned(self, joints: Sequence[int], rotations: np.ndarray) -> Clip:
        """A copy with other rotations (F, K, 4) at some joints; all other joints keep theirs bit for bit."""
        changed = self.rotations.copy()
        changed[:, list(joints)] = rotations
        checked = self.replace(rotations=changed).rotations
        changed[:, list(joints)] = checked[:, list(joints)]
        changed.flags.writeable = False
        return self._copy(rotations=changed)

    def _copy(self, **changes: object) -> Clip:
        """A copy with some fields changed, which are not checked."""
        same = object.__new__(Clip)
        for name, value in {**self._fields(), **changes}.items():
            object.__setattr__(same, name, value)
        return same

    @property
    def _joints(self) -> int:
        return int(self.rotations.shape[1])

    def _fields(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}


def find_traces(clip: Clip) -> np.ndarray:
    """(F, 3 J) m, in which a recording's noise shows: all joints from the root."""
    return (clip.positions - clip.root[:, None]).reshape(len(clip), -1)


@checked
def build_sampled_clip(
    skeleton: Skeleton,
    times: np.ndarray,
    orientations: np.ndarray,
    root: np.ndarray | None = None,
    name: str = "samples",
) -> Clip:
    """A clip out of samples of the orientation of each part in the world.

    times         (F,) s, increasing, as uneven as they came
    orientations  (F, J, 4) wxyz of the bodies at the joints; NaN where nothing was measured: that part goes along with
                  what carries it, as it is at rest
    root          (F, 3) m, where the root is; None: where it rests
    """
    times, given = np.asarray(times, float), np.array(orientations, float)
    frames, joints = len(times), len(skeleton)
    if given.shape != (frames, joints, 4):
        raise InputError(
            f"{frames} samples of {joints} joints need orientations ({frames}, {joints}, 4); given {given.shape}."
        )
    missing = np.isnan(given).any(axis=-1)
    sizes = np.linalg.norm(np.where(missing[..., None], 1.0, given), axis=-1)
    if np.any(sizes < 1e-6):
        frame, joint = (int(i) for i in np.argwhere(sizes < 1e-6)[0])
        raise InputError(f"the orientation of '{skeleton.names[joint]}' at sample {frame} is zero.")
    rotations = rotation.identity((frames, joints))
    for i in range(joints):
        parent = int(skeleton.parents[i])
        above = rotation.identity((frames,)) if parent < 0 else given[:, parent]
        given[missing[:, i], i] = above[missing[:, i]]
        given[:, i] = rotation.normalize(given[:, i])
        # theta = inboard^-1 outboard   [tracking, eq 1]
        rotations[:, i] = rotation.multiply(rotation.conjugate(above), given[:, i])
    if root is None:
        root = np.tile(skeleton.offsets[0], (frames, 1))
    return Clip(skeleton, times, root, rotations, name)


class Rates(NamedTuple):
    """First or second derivatives of a pose.

    root      (..., 3) m/s or m/s^2, of the root joint's position, in the world
    rotation  (..., J, 3) rad/s or rad/s^2, of each joint relative to its parent, in the joint's own (the child's) frame
    shift     (..., J, 3) m/s or m/s^2, of each joint along its parent's axes; None where every bone keeps its length
    """

    root: np.ndarray
    rotation: np.ndarray
    shift: np.ndarray | None = None


def interpolate(clip: Clip, t: np.ndarray | float, how: How = "slerp") -> Pose:
    """Return the clip's pose at time t (s of its clock), or at each of an array of times; clamped at the ends."""
    t = _clamp(clip, t)
    if how == "slerp":
        return _slerp(clip, t)
    if how == "spline":
        return clip.spline.pose(t)
    raise unknown_name("interpolation", how, get_args(How))


def _clamp(clip: Clip, t: np.ndarray | float) -> np.ndarray:
    t = np.asarray(t, float)
    if not np.isfinite(t).all():
        raise InputError("a time is not a finite number. Ask for a pose at seconds on the clip's clock.")
    return np.clip(t, clip.times[0], clip.times[-1])


def _slerp(clip: Clip, t: np.ndarray) -> Pose:
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

    def __init__(self, clip: Clip):
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

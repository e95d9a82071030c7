"""A sampled motion: the pose of a skeleton at given times. Immutable; every edit gives a new clip."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.motion.interpolation import ClipSpline, How, interpolate
from poise.motion.motion import Pose
from poise.spatial import rotation


@dataclass(frozen=True, eq=False)
class Clip:
    """Poses of one skeleton over time.

    skeleton   the joints that move
    times      (F,) s, increasing; the first frame of a file is at 0
    root       (F, 3) m, position of the root joint in the world
    rotations  (F, J, 4) wxyz, each joint relative to its parent (the root to the world), signs continuous in time
    name       what the file or gesture calls it
    """

    skeleton: Skeleton
    times: np.ndarray
    root: np.ndarray
    rotations: np.ndarray
    name: str = ""

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
        for what, array in (("times", times), ("root positions", root), ("rotations", rotations)):
            if not np.isfinite(array).all():
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
        for name, array in (("times", times), ("root", root), ("rotations", rotations)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

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

    @cached_property
    def world(self) -> tuple[np.ndarray, np.ndarray]:
        """Joint positions (F, J, 3) m and orientations (F, J, 4) in the world."""
        return self.skeleton.pose(self.root, self.rotations)

    @property
    def positions(self) -> np.ndarray:
        """(F, J, 3) m, joint positions in the world."""
        return self.world[0]

    @cached_property
    def spline(self) -> ClipSpline:
        """The clip as a C2 curve, with velocities and accelerations."""
        return ClipSpline(self)

    def pose(self, t: np.ndarray | float, how: How = "slerp") -> Pose:
        """The pose at time t (s on the clip's clock), or at each of an array of times; held at the ends."""
        return interpolate(self, t, how)

    def replace(self, **changes: object) -> Clip:
        """A copy with some fields changed; where arrays are among them, all are checked anew."""
        skeleton = changes.get("skeleton", self.skeleton)
        if changes.keys() <= {"skeleton", "name"} and isinstance(skeleton, Skeleton) and len(skeleton) == self._joints:
            same = object.__new__(Clip)  # the arrays were checked, and nobody can write to them
            for name, value in {**self._fields(), **changes}.items():
                object.__setattr__(same, name, value)
            return same
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    @property
    def _joints(self) -> int:
        return int(self.rotations.shape[1])

    def _fields(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

"""A gesture on a body: a motion whose other joints stand at ease."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.motion.clip import Clip
from poise.motion.edits import frame_times
from poise.motion.gestures.gesture import Gesture
from poise.motion.motion import BodyMotion, Pose
from poise.motion.own.figure import Figure
from poise.motion.own.tracks import build_clip, stand
from poise.spatial.portable import Portable


@dataclass(frozen=True, eq=False)
class GestureMotion(BodyMotion, Portable):
    """A gesture played by one skeleton at its own rate, over the origin, facing +Z; everything else stands still."""

    gesture: Gesture
    skeleton: Skeleton

    @property
    def duration(self) -> float:
        """s; infinite for a gesture that repeats."""
        return self.gesture.length / self.gesture.rate

    def pose(self, t: np.ndarray | float) -> Pose:
        """The pose at time t (s), or at each of an array of times."""
        times = np.asarray(t, float)
        moved = self.gesture.rotations(self.skeleton, self.gesture.rate * times.reshape(-1))
        rotations = np.tile(self._stand.rotations, (times.size, 1, 1))
        rotations[:, self._joints] = moved
        root = np.broadcast_to(self._stand.root[0], (*times.shape, 3))
        return Pose(root.copy(), rotations.reshape(*times.shape, *rotations.shape[1:]))

    def sample(self, duration: float | None = None, fps: float = 60.0) -> Clip:
        """The motion as a clip of `duration` seconds; None for all of a gesture that ends."""
        seconds = self.duration if duration is None else duration
        if not np.isfinite(seconds):
            raise InputError("this gesture repeats without end: say for how many seconds it is to be sampled.")
        times = frame_times(seconds, fps, len(self.skeleton))
        pose = self.pose(times)
        return Clip(self.skeleton, times, pose.root, pose.rotations, type(self.gesture).__name__.lower())

    @cached_property
    def _joints(self) -> list[int]:
        return self.gesture.joints(self.skeleton)

    @cached_property
    def _stand(self) -> Clip:
        figure = Figure(self.skeleton)
        return build_clip(figure, stand(figure, np.zeros(1)), "stand")

"""A recording for springs to follow on a root that is the same recording's.

A kinematic root is posed as the clip has it, noise and all, and is felt by its low-passed rates. A physical joint on it
turns by rates alone, so the noise of the root's pose carries it along; springs that followed the clip's noise at that
joint, which in the recording takes back that of the root, would have to do so by force: a pelvis that a swapped marker
rolls by 12 degrees for 50 ms asks for 200 N m at the spine. So poses and rates that springs follow there have the
low-pass of the root's rates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from poise.body.skeleton import Skeleton
from poise.motion.clip import Clip
from poise.motion.motion import BodyMotion, Pose, Samples
from poise.spatial.filter import lowpass, lowpass_rotations, uniform_rate


@dataclass(frozen=True, eq=False)
class Smoothed(BodyMotion):
    """A clip whose poses and rates have no more than `cutoff` Hz."""

    source: Clip
    cutoff: float

    @property
    def skeleton(self) -> Skeleton:  # type: ignore[override]
        """The clip's."""
        return self.source.skeleton

    @property
    def duration(self) -> float:
        """The clip's."""
        return self.source.duration

    def pose(self, t: np.ndarray | float) -> Pose:
        """The clip's own pose at time t."""
        return self.source.pose(t)

    def check_bones(self, joints: Iterable[int]) -> None:
        """See `Motion.check_bones`."""
        self.source.check_bones(joints)

    def samples(self, skeleton: Skeleton, joints: Sequence[int]) -> Samples:
        """The clip's frames, low-passed; see `Motion.samples`."""
        found, rate = self.source.samples(skeleton, joints), uniform_rate(self.source.times)
        if found.traces is None or self.cutoff >= rate / 2.0:
            return found

        def smooth(turns: np.ndarray, root: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return lowpass_rotations(turns, rate, self.cutoff), lowpass(root, rate, self.cutoff)

        turns, root = smooth(found.turns, found.root)
        bridged = found.bridged
        return Samples(
            found.joints, found.phase, turns, root, bridged=None if bridged is None else lambda: smooth(*bridged())
        )

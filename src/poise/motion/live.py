"""Motions that come as they are made: by a performer, a tracker, another program.

    live = Live(character.skeleton)
    actor.drive("upperBody", Kinematic(live))
    ...
    live.show(pose)         # from any thread, at any rate

Nobody knows what comes next, so whoever plays one follows it smoothly and a little late: see
`drivers/kinematic/live.py`.
"""

from __future__ import annotations

import bisect
import math
import threading

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.kinds import checked
from poise.motion.motion import DELAY, BodyMotion, Pose
from poise.spatial import rotation

DELAYS = (0.005, 10.0)  # s
_MOST = 4096  # poses that are kept: 17 s at 240 Hz


@checked
class Live(BodyMotion):
    """Poses that somebody gives while they are played; threads may give and ask at once.

    pose   before the first is given; None: the skeleton's rest pose
    delay  s by which it is shown late: 0.1 smooths a feed of 20 Hz; one of 100 Hz and more can do with 0.03
    """

    is_live = True

    def __init__(self, skeleton: Skeleton, pose: Pose | None = None, delay: float = DELAY):
        self.skeleton = skeleton
        self.delay = check_delay(delay)
        self._lock = threading.Lock()
        rest = Pose(np.array(skeleton.offsets[0]), rotation.identity((len(skeleton),)))
        self._times, self._poses = [-math.inf], [self._check(rest if pose is None else pose)]

    @property
    def duration(self) -> float:
        """It has no end."""
        return math.inf

    def show(self, pose: Pose) -> None:
        """Be at a pose from now on."""
        checked = self._check(pose)
        with self._lock:
            self._times, self._poses = [-math.inf], [checked]

    def put(self, t: float, pose: Pose) -> None:
        """Be at a pose at time t (s, on its own clock), and go there evenly from the one before.

        It is asked for the stage's own time, less the driver's `start`. What comes too late to be gone to is jumped to,
        and smoothed like any other jump. Times must increase; the last 4096 are kept.
        """
        checked = self._check(pose)
        with self._lock:
            if not (math.isfinite(t) and t > self._times[-1]):
                raise InputError(
                    f"poses are put at finite times that increase; {t:g} s came after {self._times[-1]:g}."
                )
            self._times.append(float(t))
            self._poses.append(checked)
            if len(self._times) > _MOST:
                del self._times[: _MOST // 2], self._poses[: _MOST // 2]

    def pose(self, t: np.ndarray | float) -> Pose:
        """The pose at time t (s), or at each of an array of times: the newest that was shown or put there by then."""
        times = np.asarray(t, float)
        found = [self._find(float(each)) for each in times.reshape(-1)]
        root = np.array([pose.root for pose in found]).reshape(*times.shape, 3)
        return Pose(root, np.array([pose.rotations for pose in found]).reshape(*times.shape, len(self.skeleton), 4))

    def _find(self, t: float) -> Pose:
        with self._lock:
            k = bisect.bisect_right(self._times, t)
            if k in (0, len(self._times)) or not math.isfinite(self._times[k - 1]):
                return self._poses[max(k - 1, 0)]
            (t0, t1), (a, b) = self._times[k - 1 : k + 1], self._poses[k - 1 : k + 1]
        share = (t - t0) / (t1 - t0)
        return Pose(a.root + share * (b.root - a.root), rotation.slerp(a.rotations, b.rotations, share))

    def _check(self, pose: Pose) -> Pose:
        root, turns = check_pose(pose, len(self.skeleton))
        root.flags.writeable = turns.flags.writeable = False
        return Pose(root, turns)


def check_pose(pose: Pose, joints: int) -> tuple[np.ndarray, np.ndarray]:
    """Copies of a pose's root (3,) and rotations (J, 4), of length 1; InputError where they cannot be used."""
    try:
        root, turns = np.array(pose[0], float), np.array(pose[1], float)
    except (TypeError, ValueError, IndexError):
        raise InputError(f"a pose is (root, rotations); given {type(pose).__name__}.") from None
    if root.shape != (3,) or turns.shape != (joints, 4):
        raise InputError(
            f"a live pose has root (3,) and rotations ({joints}, 4); given {root.shape} and {turns.shape}."
        )
    norms = np.sqrt(np.sum(turns * turns, axis=-1, keepdims=True))
    if not (np.isfinite(root).all() and np.isfinite(norms).all() and np.all(norms > 1e-6)):
        raise InputError("a live pose must be finite, with rotations that are not zero. Leave it out, or mend it.")
    return root, turns / norms


def check_delay(delay: float) -> float:
    """The delay of a live motion, s."""
    if not (math.isfinite(delay) and DELAYS[0] <= delay <= DELAYS[1]):
        raise InputError(f"a live motion is shown {DELAYS[0]:g} to {DELAYS[1]:g} s late; {delay:g} given.")
    return float(delay)

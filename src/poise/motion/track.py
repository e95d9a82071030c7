"""A motion made ready to be played: cubic splines over its phase, in arrays that compiled code reads.

A clip's phase is its time in seconds, a gesture's is whatever it counts in (beats, swings). The rotations of the track
pass through the motion's own samples exactly. Rates come from a second spline: that of the same samples for smooth
motions, that of the low-passed samples for recordings, whose noise would otherwise become force. Poses are never
filtered.

Quaternion components are splined one by one and normalised, so position, velocity and acceleration are continuous.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poise.errors import InputError
from poise.motion.clip import Clip
from poise.motion.gestures.gesture import Gesture
from poise.motion.motion import Motion
from poise.motion.spline import fit_spline
from poise.spatial import rotation
from poise.spatial.cutoff import choose_cutoff
from poise.spatial.filter import lowpass, lowpass_rotations, uniform_rate

_GESTURE_RATE = 120.0  # samples a second at the gesture's own rate: a spline through them is off by microradians
_MOST_SAMPLES = 200_000


@dataclass(frozen=True, eq=False)
class Track:
    """K joints of a skeleton over N samples of phase; powers of the splines run from the third to the zeroth.

    joints    (K,) indices into the skeleton
    knots     (N,) phase of the samples
    turns     (N - 1, K, 4, 4) coefficients (segment, joint, power, component) of the rotations
    rates     the same, of what velocities and accelerations are taken from
    root      (N - 1, 4, 3) coefficients of the root's place, m; root_rates the same for its rates
    period    phase after which it repeats; 0: it holds its ends
    """

    joints: np.ndarray
    knots: np.ndarray
    turns: np.ndarray
    rates: np.ndarray
    root: np.ndarray
    root_rates: np.ndarray
    period: float = 0.0

    @property
    def begin(self) -> float:
        """The first phase that it has a sample of."""
        return float(self.knots[0])

    @property
    def end(self) -> float:
        """The last one."""
        return float(self.knots[-1])


def build_track(motion: Motion, joints: Sequence[int], cutoff: float | None = None) -> Track:
    """The track of some joints of a clip, or of any other motion, sampled.

    cutoff  Hz of the low-pass before rates are taken. None: chosen from a clip's own noise; other motions are smooth.
            inf: none.
    """
    if isinstance(motion, Clip):
        return _clip_track(motion, joints, cutoff)
    if not (0.0 < motion.duration * _GESTURE_RATE <= _MOST_SAMPLES):
        most = _MOST_SAMPLES / _GESTURE_RATE
        raise InputError(f"a motion to be played lasts up to {most:g} s; this one lasts {motion.duration:g} s.")
    times = np.linspace(0.0, motion.duration, max(int(np.ceil(motion.duration * _GESTURE_RATE)), 3) + 1)
    root, turns = motion.pose(times)[:2]
    return _spline_track(joints, times, turns[:, list(joints)], turns[:, list(joints)], root, root)


def build_gesture_track(gesture: Gesture, skeleton: object) -> Track:
    """The track of all joints that a gesture moves, over one period or from its beginning to its end."""
    span = gesture.period or gesture.length
    count = max(int(np.ceil(span / gesture.rate * _GESTURE_RATE)), 24)
    if count > _MOST_SAMPLES:
        raise InputError(f"a gesture of {span / gesture.rate:g} s is too long to be played; split it.")
    phase = np.linspace(0.0, span, count + 1)
    joints = gesture.joints(skeleton)  # type: ignore[arg-type]
    turns = rotation.make_continuous(gesture.rotations(skeleton, phase))  # type: ignore[arg-type]
    still = np.zeros((len(phase), 3))
    if not gesture.period:
        return _spline_track(joints, phase, turns, turns, still, still)
    if np.any(np.abs(np.sum(turns[0] * turns[-1], axis=-1)) < 1.0 - 1e-9):
        raise InputError("a gesture that repeats must end in the pose that it begins with; this one does not.")
    if np.any(np.sum(turns[0] * turns[-1], axis=-1) < 0.0):
        # A joint came back with the other sign: over two periods it comes back with its own.
        turns, phase, still = np.concatenate([turns, -turns[1:]]), np.linspace(0.0, 2.0 * span, 2 * count + 1), still
        still, span = np.zeros((len(phase), 3)), 2.0 * span
    turns[-1] = turns[0]
    return _spline_track(joints, phase, turns, turns, still, still, period=float(span))


def _clip_track(clip: Clip, joints: Sequence[int], cutoff: float | None) -> Track:
    turns = clip.rotations[:, list(joints)]
    if len(clip) < 3:
        raise InputError(f"a clip needs at least 3 frames to have speeds and accelerations; this one has {len(clip)}.")
    rate = uniform_rate(clip.times)
    if cutoff is None:
        cutoff = choose_cutoff((clip.positions - clip.root[:, None]).reshape(len(clip), -1), rate).hz
    smooth, root = turns, clip.root
    if cutoff < rate / 2.0:
        smooth = lowpass_rotations(turns, rate, cutoff)
        root = lowpass(clip.root, rate, cutoff)
    return _spline_track(joints, clip.times, turns, smooth, clip.root, root)


def _spline_track(
    joints: Sequence[int],
    knots: np.ndarray,
    turns: np.ndarray,
    smooth: np.ndarray,
    root: np.ndarray,
    smooth_root: np.ndarray,
    period: float = 0.0,
) -> Track:
    def fit(samples: np.ndarray) -> np.ndarray:
        if not samples.any():  # a gesture's root: the curve through nothing but zeros is zero
            return np.zeros((len(knots) - 1, 4, *samples.shape[1:]))
        columns = samples.reshape(len(knots), -1)
        found = fit_spline(knots, columns, bool(period))
        return np.ascontiguousarray(np.moveaxis(found.reshape(4, len(knots) - 1, *samples.shape[1:]), 0, -2))

    # What is the same curve is the same array: one that is played is read from memory once and not twice.
    first, place, knots = fit(turns), fit(root), np.ascontiguousarray(knots)
    second = first if smooth is turns else fit(smooth)
    place_rates = place if smooth_root is root else fit(smooth_root)
    return Track(np.asarray(joints, np.int64), knots, first, second, place, place_rates, period)

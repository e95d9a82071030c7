"""Clips cut, sampled anew and bent in time. Each edit gives a new clip whose first frame is at 0 s."""

from __future__ import annotations

import math

import numpy as np

from poise.errors import InputError, check_most
from poise.motion.clip import Clip, How, interpolate

# Joints times frames of a motion that is made, not read: three hours of 30 joints at 30 frames a second.
MOST_POSES = 10_000_000
# Frame times come from files with six or seven digits: two times this near are the same frame.
_SAME_TIME = 1e-6


def trim(clip: Clip, start: float | None = None, end: float | None = None) -> Clip:
    """The frames from `start` to `end` (s on the clip's clock, both included), unchanged; None is the clip's own."""
    start = clip.times[0] if start is None else start
    end = clip.times[-1] if end is None else end
    if not (np.isfinite(start) and np.isfinite(end)) or end < start:
        raise InputError(f"trim from {start:g} s to {end:g} s: the end must be a finite time not before the start.")
    keep = (clip.times >= start - _SAME_TIME) & (clip.times <= end + _SAME_TIME)
    if not keep.any():
        raise InputError(
            f"no frame lies between {start:g} s and {end:g} s; the clip runs from {clip.times[0]:g} s to "
            f"{clip.times[-1]:g} s at {clip.fps:g} frames a second."
        )
    kept = clip.pick(keep)
    return kept.replace(times=kept.times - kept.times[0])


def frame_times(duration: float, fps: float, joints: int = 1, usual: int = 0) -> np.ndarray:
    """Times 0, 1/fps, ... up to `duration` s; a rest shorter than a frame is left out.

    joints  of the body that is to be posed at each: so many frames that all of that cannot be had are refused
    usual   frames that there are already: as many are always allowed
    """
    if not np.isfinite(fps) or fps <= 0:
        raise InputError(f"a frame rate is a positive number of frames a second; given {fps:g}.")
    if not np.isfinite(duration) or duration < 0:
        raise InputError(f"a duration is a finite number of seconds, not negative; given {duration:g}.")
    frames = float(duration) * float(fps) + 1.0
    asked = f"{duration:g} s at {fps:g} frames a second are {frames:.4g} frames of {joints} joints"
    if frames > usual + 1.0:
        advice = "Ask for fewer frames a second, or for a shorter stretch."
        check_most(f"{asked}, {frames * joints:.4g} poses of joints", frames * joints, MOST_POSES, advice)
    return np.arange(math.floor(frames + 1e-6)) / fps


def resample(clip: Clip, fps: float, how: How = "spline") -> Clip:
    """The same motion at `fps` frames a second. It does not filter: going down from noisy data keeps the noise."""
    times = frame_times(clip.duration, fps, len(clip.skeleton), len(clip))
    return clip.replace(times=times, **interpolate(clip, clip.times[0] + times, how)._asdict())


def change_speed(clip: Clip, factor: float, how: How = "spline") -> Clip:
    """The clip `factor` times as fast (1.33: a third faster) at its own frame rate."""
    check_lasts(clip, "changing its speed")
    if not np.isfinite(factor) or factor <= 0:
        raise InputError(f"a speed factor is a positive number (1 keeps the speed); given {factor:g}.")
    ends = clip.times[[0, -1]]
    return warp(clip, ends, (ends - ends[0]) / factor, how=how)


def warp(clip: Clip, moments: np.ndarray, to: np.ndarray, *, fps: float | None = None, how: How = "spline") -> Clip:
    """The clip with its time bent: what happened at `moments[i]` happens at `to[i]`, and smoothly between.

    moments  (K,) s on the clip's clock, increasing, K >= 2; outside them the clip is cut off
    to       (K,) s, increasing; the new clip's clock starts at the first
    fps      frame rate of the result; None keeps the clip's
    Between keys the map is a monotone cubic (PCHIP): C1, so velocities stay continuous and nothing plays backwards.
    """
    from scipy.interpolate import PchipInterpolator

    check_lasts(clip, "a time warp")
    moments, to = np.asarray(moments, float), np.asarray(to, float)
    if moments.ndim != 1 or moments.shape != to.shape or len(moments) < 2:
        raise InputError(
            f"a time warp needs two or more moments and as many new times; given {len(moments)}, {len(to)}."
        )
    for what, keys in (("moments", moments), ("new times", to)):
        if not np.isfinite(keys).all() or np.any(np.diff(keys) <= 0):
            raise InputError(f"the {what} of a time warp must be finite and increase; given {keys.tolist()}.")
    if moments[0] < clip.times[0] - _SAME_TIME or moments[-1] > clip.times[-1] + _SAME_TIME:
        raise InputError(
            f"a time warp's moments must lie in the clip ({clip.times[0]:g} s to {clip.times[-1]:g} s); given "
            f"{moments[0]:g} s to {moments[-1]:g} s."
        )
    times = frame_times(to[-1] - to[0], clip.fps if fps is None else fps, len(clip.skeleton), len(clip))
    pose = interpolate(clip, PchipInterpolator(to, moments)(np.minimum(to[0] + times, to[-1])), how)
    return clip.replace(times=times, **pose._asdict())


def check_lasts(clip: Clip, what: str) -> None:
    """Refuse a clip of a single frame where a duration is needed."""
    if len(clip) < 2:
        raise InputError(f"clip '{clip.name}' has a single frame: {what} needs a clip that lasts.")

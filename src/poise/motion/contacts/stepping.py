"""Steps of a motion: feet that leave the ground, or that stand somewhere else afterwards.

One test for every command that must know whether planted feet can reproduce a clip. A foot stays as long as any point
of its sole stays: a heel that rises over resting toes, toes that rise over a resting heel and a pivot on the forefoot
or on the heel are not steps. A foot that is lifted and put back in the same place is a step, since planted feet cannot
leave the ground; so is one that slides away.

Each foot is compared with its own previous place, so that neither the height of the floor nor a foot on a box matters.
Lengths are shares of the leg, so that the unit does not matter. Spikes and noise of a few frames are filtered out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from poise.body.geometry.soles import leg_length
from poise.body.roles import SIDES
from poise.motion.clip import Clip
from poise.motion.contacts.points import foot_points
from poise.motion.parts import find_runs

# Shares of the leg's length (10 cm and 2.5 cm of an adult): how far every point of a sole must get from its place over
# the ground, or above or below it.
SHIFTED, LIFTED = 0.12, 0.03
_LEAST = 0.08  # s: a foot that is away for less was misread
_SPIKE = 0.04  # s, half the window of the median that removes spikes
# s, and share of the leg's length: a foot has come to rest if a point of its sole stays within this for so long.
_HOLD, _SETTLED = 0.15, 0.04
_BEGUN = 0.25  # of what makes a step: below it the foot has not begun to leave


class Step(NamedTuple):
    """One step of one foot.

    side      `left` or `right`
    start     s on the clip's clock, when the foot begins to leave its place; end: when it rests again
    distance  m over the ground from its old place to its new one
    lift      m, the largest height of the sole's lowest point above its old place
    """

    side: str
    start: float
    end: float
    distance: float
    lift: float


def find_steps(clip: Clip) -> tuple[Step, ...]:
    """Return the steps of both feet in order of time; none if the feet stay where they are.

    Raise InputError if the skeleton has no legs with feet.
    """
    if len(clip) < 2:
        return ()
    feet = foot_points(clip)
    steps = [step for k, side in enumerate(SIDES) for step in _find_foot_steps(clip, feet[:, k], side)]
    return tuple(sorted(steps, key=lambda step: (step.start, step.side)))


def describe_steps(steps: Sequence[Step]) -> str:
    """Return when each foot first steps, in words: "left foot at 1.15 s, right foot at 2.01 s"."""
    first: dict[str, float] = {}
    for step in steps:
        first.setdefault(step.side, step.start)
    return ", ".join(f"{side} foot at {start:.2f} s" for side, start in first.items())


def _find_foot_steps(clip: Clip, points: np.ndarray, side: str) -> list[Step]:
    """Return the steps of one foot. points: (F, 3, 3) m, heel, ball and toe tip."""
    leg, times = leg_length(clip.skeleton, side), clip.times
    rate = (len(times) - 1) / float(times[-1] - times[0])
    middle = 0.5 * (points[:, :1] + points[:, 1:2])  # a foot may turn about its middle
    points = _filter_spikes(np.concatenate([points, middle], axis=1), round(_SPIKE * rate))
    hold = max(1, min(round(_HOLD * rate), len(times) - 1))
    least = max(1, int(np.ceil(_LEAST * rate)))
    rests = np.flatnonzero(_measure_range(points, hold) < _SETTLED * leg)
    begins_at_rest = len(rests) > 0 and rests[0] == 0  # else the clip begins in the middle of a step
    steps: list[Step] = []
    at, home = 0, points[0]
    while (away := _find_away(points, at, home, leg, least)) is not None:
        begun = np.flatnonzero(~_is_away(points[at:away], home, _BEGUN * leg))
        start = at + int(begun[-1]) if len(begun) and (at > 0 or begins_at_rest) else at
        later = rests[np.searchsorted(rests, away) :]
        end = int(later[0]) if len(later) else len(times) - 1
        old, home = home, np.median(points[end : end + hold + 1], axis=0)
        step = Step(side, float(times[start]), float(times[end]), *_measure_step(points[start : end + 1], old, home))
        if steps and step.start - steps[-1].end < _HOLD:  # a slow foot that goes on
            last = steps.pop()
            step = Step(side, last.start, step.end, last.distance + step.distance, max(last.lift, step.lift))
        steps.append(step)
        at = end
        if end == len(times) - 1:
            break
    return steps


def _is_away(points: np.ndarray, home: np.ndarray, leg: float) -> np.ndarray:
    """(F,) whether every point (F, P, 3) of a sole is shifted from `home` (P, 3), or every one above or below it."""
    apart = points - home
    shift = np.hypot(apart[..., 0], apart[..., 2]).min(axis=1)
    lift = np.maximum(apart[..., 1].min(axis=1), -apart[..., 1].max(axis=1))
    return np.asarray((shift > SHIFTED * leg) | (lift > LIFTED * leg))


def _find_away(points: np.ndarray, at: int, home: np.ndarray, leg: float, least: int) -> int | None:
    """Return the first frame from `at` on from which the foot is away for at least so many frames; None if never."""
    span = 16 * least
    while True:
        runs = find_runs(_is_away(points[at : at + span], home, leg))
        long = runs[runs[:, 1] - runs[:, 0] + 1 >= least]
        if len(long):
            return at + int(long[0, 0])
        if at + span >= len(points):
            return None
        span *= 2


def _measure_step(points: np.ndarray, old: np.ndarray, new: np.ndarray) -> tuple[float, float]:
    """Return the distance (m) between two places of a sole, and its lift (m) on the way."""
    lift = float((points - old)[..., 1].min(axis=1).max())
    return float(np.hypot(*(new - old).mean(axis=0)[[0, 2]])), max(lift, 0.0)


def _filter_spikes(points: np.ndarray, half: int) -> np.ndarray:
    """Return the running median of points (F, ...) over 2 half + 1 frames; the ends are mirrored."""
    if half < 1:
        return points
    half = min(half, len(points) - 1)
    padded = np.pad(points, [(half, half), *[(0, 0)] * (points.ndim - 1)], mode="reflect")
    return np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1, axis=0), axis=-1)


def _measure_range(points: np.ndarray, hold: int) -> np.ndarray:
    """(F - hold,) m: how far the point (F, P, 3) of a sole moves in the next frames that moves least."""
    windows = np.lib.stride_tricks.sliding_window_view(points, hold + 1, axis=0)
    return np.asarray(np.linalg.norm(windows.max(axis=-1) - windows.min(axis=-1), axis=-1).min(axis=1))

"""Standing: breathing and shifting a little, and waving a hand."""

from __future__ import annotations

import numpy as np

from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.errors import InputError, unknown_name
from poise.motion.clip import Clip
from poise.motion.edits import frame_times
from poise.motion.own.curves import rise_and_fall
from poise.motion.own.figure import Figure
from poise.motion.own.tracks import Tracks, build_clip, stand

_BREATH, _SWAY, _DRIFT = (
    3.7,
    5.3,
    4.1,
)  # s, periods; none is a multiple of another, so that it does not look like a loop


def idle(skeleton: Skeleton, duration: float = 4.0, fps: float = 60.0) -> Clip:
    """Quiet standing that is alive: breath in the chest, weight going from foot to foot. Starts and ends at rest."""
    if duration < 0.5:
        raise InputError(f"idling takes at least 0.5 s; given {duration:g} s.")
    figure, times = Figure(skeleton), frame_times(duration, fps, len(skeleton))
    tracks = stand(figure, times)
    add_life(figure, tracks, duration)
    return build_clip(figure, tracks, "idle")


def add_life(figure: Figure, tracks: Tracks, duration: float) -> None:
    """Breath and sway on top of tracks that stand."""
    t = tracks.times
    alive = rise_and_fall(t, 0.0, 0.25 * duration, 0.75 * duration, duration)
    breath = alive * (0.5 - 0.5 * np.cos(2 * np.pi * t / _BREATH))
    sway, drift = (alive * np.sin(2 * np.pi * t / period) for period in (_SWAY, _DRIFT))
    tracks.hips[:, 0] += 0.010 * figure.leg * sway
    tracks.hips[:, 1] -= 0.004 * figure.leg * alive
    tracks.hips[:, 2] += 0.005 * figure.leg * drift
    tracks.pelvis[:, 2] += np.radians(0.6) * sway
    tracks.chest[:, 2] -= np.radians(0.8) * sway
    tracks.chest[:, 0] -= np.radians(1.5) * breath
    tracks.head[:, 1] += np.radians(3.0) * drift
    tracks.arms.aside += np.radians(0.8) * breath[:, None]


def wave(
    skeleton: Skeleton, duration: float = 3.2, fps: float = 60.0, *, arm: str = "right", rate: float = 1.7
) -> Clip:
    """A raised hand waves, palm to the front. Begins and ends in quiet standing.

    duration  s, at least 1.8: the arm rises for 0.8 s and comes down for as long
    arm       "left" or "right"
    rate      waves a second
    """
    if arm not in SIDES:
        raise unknown_name("arm", arm, SIDES)
    if duration < 1.8:
        raise InputError(f"a wave takes at least 1.8 s, 0.8 s up and 0.8 s down; given {duration:g} s.")
    figure, times = Figure(skeleton), frame_times(duration, fps, len(skeleton))
    tracks = stand(figure, times)
    add_life(figure, tracks, duration)
    _raise_hand(tracks, SIDES.index(arm), duration, rate)
    return build_clip(figure, tracks, "wave")


def _raise_hand(tracks: Tracks, side: int, duration: float, rate: float) -> None:
    t, arms, sign = tracks.times, tracks.arms, (1.0, -1.0)[side]
    up = rise_and_fall(t, 0.05, 0.8, duration - 0.8, duration - 0.05)
    # The elbow leads on the way up, the turn outward follows.
    turn = rise_and_fall(t, 0.15, 0.85, duration - 0.85, duration - 0.1)
    swinging = rise_and_fall(t, 0.6, 1.0, duration - 1.0, duration - 0.55)
    phase = 2.0 * np.pi * rate * (t - 0.6)
    for track, degrees, lift in (
        (arms.forward, 18.0, up), (arms.aside, 62.0, up), (arms.outward, 88.0, turn), (arms.elbow, 88.0, up),
    ):  # fmt: skip
        track[:, side] += np.radians(degrees) * lift
    arms.elbow[:, side] += np.radians(20.0) * swinging * np.sin(phase)
    arms.aside[:, side] += np.radians(3.0) * swinging * np.sin(phase + 0.4)
    arms.wrist[:, side] += np.radians(14.0) * swinging * np.sin(phase - 0.9)
    tracks.chest[:, 2] += np.radians(2.0) * sign * up
    tracks.head[:, 2] -= np.radians(4.0) * sign * up
    tracks.head[:, 1] += np.radians(6.0) * sign * up

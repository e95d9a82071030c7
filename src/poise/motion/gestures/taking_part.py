"""How far a body goes along with the hands of a gesture: its body track, found from their ways.

A gesture says how far for each metre of its hands, as recorded people do. What is quicker than a body is left out, no
shoulders turn further than recorded ones, and feet keep their load and their grip: hips that would fall too fast, or
shoulders that would turn too fast, go less far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from poise.body.geometry.soles import leg_length
from poise.body.roles import SIDES
from poise.body.skeleton import Skeleton
from poise.motion.body_track import CHEST_YAW, HEIGHT, BodyTrack
from poise.motion.gestures.arm import find_arms
from poise.motion.gestures.curves import soften_above
from poise.motion.gestures.gesture import ArmGesture

_KNEES = 0.02  # of the legs' length that the hips stay below where they stand: a leg that straightens lifts its foot
# m/s2, of hips on their way down: arms that go down take off more of the load, and a foot without any is thrown up by
# its ankle. Some feet come off the ground from 0.35 of 9.81 on at steps of 2 to 10 ms (80 runs); at 20 ms, with 0.27,
# those of who beats in 1 with one hand do, and none of 60 others.
_LIVELIEST = 0.27 * 9.81
# rad, by which shoulders turn to either side: where they begin to lag behind the hands, and the limit. Recorded ones
# come to 0.35 (CMU 15_08) and 0.49 (79_18), 95 % of the time to 0.26 and 0.37.
_TURNED = (0.25, 0.35)
# rad/s2, of shoulders that turn. Recorded ones are below it 99 % of the time (CMU 15_08: 21; 79_18: 10 or 33, as its
# rate is 60 or 120 Hz).
_QUICKEST = 20.0
_HEAVY = 0.2  # of a beat or a swing: half the width of the Gaussian window that takes what is quick off the body's way
_SAMPLES = 24  # a beat or a swing


class Along(NamedTuple):
    """How far a body goes with its hands.

    hips    m down, for each metre that the hands go down
    bow     rad, the same
    aside   rad that the chest turns, for each metre that the hands go aside, to where they go
    apart   rad that the chest turns, for each metre that one hand goes forward and the other back, with them; of a hand
            that moves alone for each two
    pelvis  its share of the chest's turn
    """

    hips: float = 0.0
    bow: float = 0.0
    aside: float = 0.0
    apart: float = 0.0
    pelvis: float = 0.0


def find_body_track(
    gesture: ArmGesture, sides: Sequence[str], along: Along, skeleton: Skeleton, share: float, size: float, rate: float
) -> BodyTrack | None:
    """Return the body track of hands that repeat their ways; None where a body takes no part.

    gesture  by which the hands of these `sides` move, at the size that `along` is meant for
    share    of `along`, 0 to 1;  size of the gesture beside that;  rate at which it is played, phase units a second
    """
    if share == 0.0 or not sides:
        return None
    track, fall, spin = _find_track(gesture, tuple(sides), along, skeleton)
    hips, turn = _slow_down(size, _LIVELIEST, fall * rate**2), _slow_down(size, _QUICKEST, spin * rate**2)
    return replace(track, amount=tuple(share * each for each in (hips, turn, turn, size)))


def _slow_down(size: float, most: float, quick: float) -> float:
    """Return the size, or less, at which what accelerates by `quick` at a size of 1 stays below `most`."""
    limit = most / max(quick, 1e-9)
    return float(soften_above(np.array(size), 0.8 * limit, limit))


@lru_cache(maxsize=64)
def _find_track(
    gesture: ArmGesture, sides: tuple[str, ...], along: Along, skeleton: Skeleton
) -> tuple[BodyTrack, float, float]:
    """The track, and how fast its hips accelerate downward (m) and its chest turns (rad), a squared phase unit."""
    period = gesture.period
    assert period is not None
    phase = np.linspace(0.0, period, round(period * _SAMPLES) + 1)
    arms = find_arms(skeleton, sides)
    wrists = [arm.vector(gesture.path(arm, phase).wrist) for arm in arms]
    aside, up, _ = (_soften(way, period) for way in np.mean(wrists, axis=0).T)
    # half of how far the right hand is before the left
    ahead = -0.5 * np.sum([arm.sign * wrist[:, 2] for arm, wrist in zip(arms, wrists, strict=True)], axis=0)
    down, yaw = up.max() - up, along.aside * aside + along.apart * _soften(ahead, period)
    furthest = max(float(np.abs(yaw).max()), 1e-9)
    yaw *= float(soften_above(np.array(furthest), *_TURNED)) / furthest
    legs = [side for side in SIDES if skeleton.find_role(side + "Foot") is not None]
    bent = _KNEES * max((leg_length(skeleton, side) for side in legs), default=0.0) if along.hips else 0.0
    moves = np.stack([-bent - along.hips * down, along.pelvis * yaw, yaw, along.bow * down], axis=-1)
    track = BodyTrack(phase, moves, period)
    quickest = 2.0 * track.curve[:, 1]
    return track, float(-quickest[:, HEIGHT].min()), float(np.abs(quickest[:, CHEST_YAW]).max())


def _soften(way: np.ndarray, period: float) -> np.ndarray:
    """(N,) a way of the hands over a period, about its mean, as wide and without what is quicker than a body."""
    waves = np.fft.rfft(way[:-1] - way[:-1].mean())
    waves *= np.exp(-0.5 * (2.0 * np.pi * _HEAVY / period * np.arange(len(waves))) ** 2)
    soft = np.fft.irfft(waves, len(way) - 1)
    soft *= np.ptp(way) / max(np.ptp(soft), 1e-9)
    return np.append(soft, soft[0])

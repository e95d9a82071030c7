"""Conducting an orchestra: the beat patterns in 1, 2, 3 and 4 that every conducting book draws.

Phase counts beats. Beat k falls on phase k: the hand is at its lowest there (the *ictus*), falls fastest just before
and rebounds after; the rebound from a bar's last beat goes highest and prepares the next downbeat. The patterns, as the
right hand draws them (E. Green, "The modern conductor"; J. Labuta, "Basic conducting techniques"):

    1  down, up          2  down and out in a J, up       3  down, out, up       4  down, in, out, up

The height is H(p) s(p), with s the bounce of `curves` (zero with zero slope on each beat, so the ictus is exact) and H
a spline through the rebounds' heights; sideways the hand follows a spline through points on the beats and between.

A conductor who takes part goes with his hands: hips and chest go down with them, the chest turns to where they go. How
far is authored, to the order of a recorded one (hips 51 mm RMS at hands of 142, trunk 6 degrees, yaw 13).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from poise.body.skeleton import Skeleton
from poise.errors import check_range
from poise.motion.body_track import BodyTrack
from poise.motion.gestures.arm import Arm, ArmPath
from poise.motion.gestures.cue import raised_hand
from poise.motion.gestures.curves import bounce, cycle, soften_above, soften_below
from poise.motion.gestures.gesture import HANDS, ArmGesture, check_choice
from poise.motion.gestures.taking_part import Along, find_body_track

# The tempo up to which gestures keep their size; faster ones shrink with this power of it, as conductors' do: 0 would
# keep the size, at 1 the hand would never be faster, at 2 never accelerated more.
FULL_SIZE_BPM, _SHRINK = 92.0, 0.75
_SOFTNESS, _LEAN = 0.50, 0.35  # of the bounce; softness 0.3 accelerates by half as much again, 0.8 loses the click
_REACH = 0.95  # no conductor's elbow locks


class Pattern(NamedTuple):
    """One bar at every half beat, from the downbeat: sideways (positive outward), and the rebound heights.

    Shares of the arm's length; heights above the ictus, on the beats the mean of their neighbours.
    """

    aside: tuple[float, ...]
    height: tuple[float, ...]


PATTERNS: Mapping[int, Pattern] = MappingProxyType(
    {
        1: Pattern((0.0, 0.0), (0.40, 0.40)),
        2: Pattern((-0.05, 0.20, 0.14, -0.02), (0.32, 0.16, 0.32, 0.48)),
        3: Pattern((-0.06, -0.04, 0.26, 0.25, 0.05, -0.03), (0.32, 0.15, 0.17, 0.20, 0.34, 0.48)),
        4: Pattern(
            (0.00, -0.02, -0.25, -0.14, 0.27, 0.28, 0.08, 0.01), (0.32, 0.15, 0.16, 0.18, 0.19, 0.20, 0.34, 0.48)
        ),
    }
)
_CENTER = np.array([0.30, -0.27, 0.62])  # (out, up, forward) of the pattern, in arm lengths from between the shoulders
_CENTER_BOTH = np.array([0.52, -0.27, 0.60])  # two hands beat side by side
_ICTUS = -0.15  # of the pattern, below its centre
_APART = (0.27, 0.21)  # how near the middle one of two hands may come: where it is slowed, and the limit
_LOOP = 0.02  # a beat in 1 goes up beside its way down
_BACK = 0.20  # a raised hand comes nearer by this share of its height, on an arc about the elbow
_PALM = np.array([-0.30, -1.0, 0.35])  # down, a bit inward; to the front where the forearm is upright
_LEVEL = np.radians(28.0)  # wrist bend over an upright forearm: the hand stays above the music
# Of a conductor who takes part, where both hands beat and where one does. What is asked for comes to hips at 0.25 and
# 0.4 of the hands' way and to 1.2 rad a metre: arms that go down lift the body, and a chest that turns takes the pelvis
# along by its own inertia.
_BOTH = Along(hips=0.27, bow=0.45, aside=1.06, pelvis=0.25)
_ONE = _BOTH._replace(hips=0.40)
# As far as bodies go along with the size of the pattern: where they begin to lag behind it, and the limit.
_FORTE = (0.8, 1.0)
_LAG = np.radians(22.0)  # wrist bend a slope of one arm length a beat: the hand follows the wrist


@dataclass(frozen=True)
class Conduct(ArmGesture):
    """Beating time. All but `hands` may be changed while it runs; that decides which joints move.

    bpm    beats a minute, 20 to 260. Above 92 the pattern shrinks, to 0.6 at 180
    beats  in a bar: 1, 2, 3 or 4
    hands  "right", "left" or "both", the left as the right one's mirror image
    size   of the pattern, 0.1 (a finger's breadth) to 2 (a full orchestra); 1 is half an arm's length high. Where the
           arm ends, curves flatten smoothly
    cue    "left" or "right": that hand, one of `hands`, stops beating and is held up, palm up; None for no cue
    takes_part  how much the rest of the body goes along, 0 to 1: hips and chest go down with the hands, by up to 0.1 m
           and 6 degrees, and the chest turns after a hand that beats alone, by 10. Where legs balance (`Balance`) with
           a trunk that nobody else drives; played by themselves or without physics, the arms alone move
    """

    bpm: float = 92.0
    beats: int = 4
    hands: str = "right"
    size: float = 1.0
    cue: str | None = None
    takes_part: float = 0.0

    def __post_init__(self) -> None:
        check_range("conduct: bpm", self.bpm, 20.0, 260.0, "beats a minute")
        check_choice("conduct", "beats", self.beats, list(PATTERNS))
        check_choice("conduct", "hands", self.hands, list(HANDS))
        check_range("conduct: size", self.size, 0.1, 2.0)
        check_choice("conduct", "cue", self.cue, [None, *self.sides])
        check_range("conduct: takes_part", self.takes_part, 0.0, 1.0)

    @property
    def period(self) -> float:
        """Beats in a bar."""
        return float(self.beats)

    @property
    def rate(self) -> float:
        """Beats a second."""
        return self.bpm / 60.0

    @property
    def sides(self) -> tuple[str, ...]:
        """The arms of `hands`."""
        return HANDS[self.hands]

    @property
    def extent(self) -> float:
        """The size that the tempo leaves: size (92 / bpm)^0.75 above 92 beats a minute."""
        return self.size * min(1.0, (FULL_SIZE_BPM / self.bpm) ** _SHRINK)

    def path(self, arm: Arm, phase: np.ndarray) -> ArmPath:
        """The beating arm's path, or that of the one held up for a cue."""
        side = "left" if arm.sign > 0 else "right"
        if side == self.cue:
            return raised_hand(arm, 0.02 * bounce(phase, _SOFTNESS, _LEAN)[0])
        pattern = PATTERNS[self.beats]
        rebound, slope = bounce(phase, _SOFTNESS, _LEAN)
        height = cycle(pattern.height, phase)
        up = height * rebound
        aside = cycle(pattern.aside, phase) + (_LOOP * np.sin(2.0 * np.pi * phase) if self.beats == 1 else 0.0)
        shape = np.stack([aside, _ICTUS + up, -_BACK * up], axis=-1)
        place = (_CENTER_BOTH if self.hands == "both" else _CENTER) + self.extent * shape
        if self.hands == "both":
            place[:, 0] = soften_below(place[:, 0], *_APART)
        flexion = _LAG * self.extent * height * slope
        return ArmPath(arm.length * place, _PALM, flexion, level=_LEVEL, reach=_REACH)

    def body_track(self, skeleton: Skeleton) -> BodyTrack | None:
        """See `Motion.body_track`: that of the hands that beat, at the size of the pattern."""
        beating = tuple(side for side in self.sides if side != self.cue)
        pattern = Conduct(FULL_SIZE_BPM, self.beats, self.hands)
        extent = float(soften_above(np.array(self.extent), *_FORTE))
        along = _BOTH if len(beating) == 2 else _ONE
        return find_body_track(pattern, beating, along, skeleton, self.takes_part, extent, self.rate)


def conduct(
    bpm: float = 92.0,
    beats: int = 4,
    hands: str = "right",
    size: float = 1.0,
    cue: str | None = None,
    takes_part: float = 0.0,
) -> Conduct:
    """Beating time in 1 to 4, with one hand or both; see `Conduct` for what each parameter does."""
    return Conduct(bpm, beats, hands, size, cue, takes_part)

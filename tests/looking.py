"""Hands that walk a puppet and look at it, as a person does who plays one.

Where `strolling.py` holds its hands for a walk that it only thinks of, these see, a fifth of a second late, where the
feet are: they aim a step from where the other foot stands, lead the foot on until it is over its place, and only then
let it down. Nothing is known of how the puppet is driven: what goes in is a picture of it, what comes out is two hands.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from poise.body.skeleton import Skeleton
from poise.demos.marionette.dance import HIP, KNEE, KNEE_AT, ease, find_leg
from poise.motion.motion import Pose

RATE = 120.0  # Hz
_LATE = 24  # pictures, until one is understood: a fifth of a second
_SHIFT, _GO, _DOWN = range(3)  # what is done in a step: hips over the other foot; the foot over its place; and down
_LASTS = (0.4, 0.35, 0.25)  # of a beat, each
_WAITS = (0.0, 1.5, 1.0)  # s, that it is waited for at most
_THERE, _LANDED = 0.035, 0.02  # m: a foot that is so near its place is over it;  one so little over the ground is down
_LEADS, _FARTHEST = 1.5, 0.12  # 1/s, at which a foot that is not there yet is led on; of the leg, how far at most
_TAU = np.array([0.1, 0.05, 0.1])  # s, in which hips are shifted
_DOWNHILL = 0.4  # of its lift, that a foot is lifted by which goes down
_PRESS = 0.02  # of the leg, that hips are lowered by beyond where the foot is down
_STOOD = 0.018  # of the leg, by which it is bent as it stands
_ENDS = 1.5  # s, that it stands before and after


class LookingHands:
    """Hands of somebody who leads a puppet from foothold to foothold.

    footholds  (side, x, z) m in the world, of ankles, one a step
    height     m, of the ground at x and z
    beat       s of a step that nobody waits for;  lift: of the leg, how high feet are lifted over the higher of both
               ends;  bends: of the leg, by which hips are lower on the way
    """

    def __init__(
        self, skeleton: Skeleton, footholds: Sequence[tuple[int, float, float]],
        height: Callable[[float, float], float] = lambda _x, _z: 0.0, beat: float = 1.2, lift: float = 0.08,
        bends: float = 0.05,
    ):  # fmt: skip
        rest = skeleton.rest_positions()
        self._ankles = [skeleton.index(f"{side}Foot") for side in ("left", "right")]
        hip, knee, ankle = (rest[skeleton.index(f"left{stem}")] for stem in ("UpperLeg", "LowerLeg", "Foot"))
        self.leg = float(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))
        self._high = float(ankle[1] - rest[:, 1].min())
        self.skeleton, self.footholds, self._height = skeleton, list(footholds), height
        self.beat, self.lift, self.bends = beat, lift, bends
        # Of the leg, where hands are held for feet and hips to be.
        self.feet = np.array([[HIP, 0.0, 0.0], [-HIP, 0.0, 0.0]])
        self._hip, self._speed = np.array([0.0, 1.0 - _STOOD, 0.0]), np.zeros(3)
        self._start, self._end, self._from = np.zeros(3), np.zeros(3), 0.0
        self._aim, self._led = np.zeros(2), np.zeros(2)
        self._seen: deque[np.ndarray] = deque(maxlen=_LATE)
        self.number, self._phase, self._since, self._ticks = -1, _DOWN, 0.0, 0
        self.landed: list[np.ndarray] = []  # m, where feet came down, less where they were meant to

    @property
    def is_done(self) -> bool:
        """Whether it has walked, and stood for a while."""
        return self.number >= len(self.footholds) and self._since > _ENDS

    def hold(self) -> tuple[np.ndarray, np.ndarray]:
        """Places (2, 3) m and turns (2, 4) of the hands."""
        places, turns = np.zeros((2, 3)), np.zeros((2, 4))
        for side, apart in enumerate((HIP, -HIP)):
            hip = self._hip + (apart, 0.0, 0.0)
            turn, knee = find_leg(hip[None], self.feet[side][None], np.zeros(1))
            turns[side], places[side, 1] = turn[0], (math.degrees(knee[0]) - KNEE_AT) / KNEE
        return places, turns

    def look(self, pose: Pose) -> tuple[np.ndarray, np.ndarray]:
        """Hold the hands for the next picture, after one of the puppet."""
        places, _ = self.skeleton.pose(pose.root, pose.rotations, None)
        self._seen.append((places[self._ankles] - (0.0, self._high, 0.0)) / self.leg)
        if not self._ticks:
            self.feet[:] = self._seen[-1]
            self._hip += (*self.feet[:, :2].mean(axis=0), self.feet[:, 2].mean())
        self._ticks += 1
        self._since += 1.0 / RATE
        if self._is_over():
            self._next()
        self._move()
        self._shift()
        return self.hold()

    @property
    def _side(self) -> int:
        return self.footholds[self.number][0]

    def _is_over(self) -> bool:
        """Whether what is done now has been, as it is seen."""
        if self.number < 0:
            return self._since > _ENDS
        if self.number >= len(self.footholds):
            return False
        late = self._since - _LASTS[self._phase] * self.beat
        if late < 0.0:
            return False
        off = self._miss()
        is_there = np.hypot(off[0], off[2]) < _THERE if self._phase == _GO else -off[1] < _LANDED
        return bool(is_there) or late > _WAITS[self._phase]

    def _miss(self) -> np.ndarray:
        """(3,) m, from where the foot is seen to where it is to come down."""
        _, x, z = self.footholds[self.number]
        return np.array([x, self._height(x, z), z]) - self._seen[0][self._side] * self.leg

    def _next(self) -> None:
        if self._phase == _DOWN:
            if self.number >= 0:
                self.landed.append(self._miss())
            self.number, self._phase = self.number + 1, _SHIFT
        else:
            self._phase += 1
        self._since = 0.0
        self._from = float(self._hip[1])
        if self._phase == _GO:
            side, x, z = self.footholds[self.number]
            # Where hands take the other foot to be, less where it is: what places in the world are off by.
            drift = self.feet[1 - side] - self._seen[0][1 - side]
            self._start = self.feet[side].copy()
            self._end = np.array([x, self._height(x, z), z]) / self.leg + drift
            self._aim, self._led = self._end[[0, 2]].copy(), np.zeros(2)

    @property
    def _goes_down(self) -> bool:
        return bool(self._end[1] < self.feet[1 - self._side, 1] - 0.02)

    @property
    def _top(self) -> float:
        """Of the leg, how high a foot is when it is over its place: one that goes down is as high as the other."""
        if self._goes_down:
            return float(self.feet[1 - self._side, 1]) + _DOWNHILL * self.lift
        return float(max(self._start[1], self._end[1])) + self.lift

    def _move(self) -> None:
        """Lead the foot: up before it goes ahead, ahead before it goes down."""
        if self._phase == _SHIFT or not 0 <= self.number < len(self.footholds):
            return
        foot, u = self.feet[self._side], self._since / (_LASTS[self._phase] * self.beat)
        top = self._top
        if self._phase == _GO:
            begin = 0.35 if self._end[1] > self._start[1] + 0.02 else 0.15
            gone, up, come = ease(np.array([(u - begin) / (1.0 - begin), u / 0.5, (u - 0.4) / 0.6]))
            foot[[0, 2]] = self._start[[0, 2]] + gone * (self._end - self._start)[[0, 2]]
            high = max(self._start[1] + _DOWNHILL * self.lift, top)
            foot[1] = self._start[1] + up * (high - self._start[1]) + come * (top - high)
            if self._since > _LASTS[_GO] * self.beat + _LATE / RATE:
                self._led += _LEADS / RATE * self._miss()[[0, 2]] / self.leg
                np.clip(self._led, -_FARTHEST, _FARTHEST, out=self._led)
                self._end[[0, 2]] = self._aim + self._led
        elif self._goes_down:  # the knee that stays lets it down, as it is
            foot[:] = self._end[0], max(top + self._hip[1] - self._from, self._end[1]), self._end[2]
        else:
            foot[:] = self._end[0], top + float(ease(np.array(u))) * (self._end[1] - top), self._end[2]

    def _shift(self) -> None:
        """Bring hips over the foot that stays, and lower them to the foot that goes down."""
        is_walking = 0 <= self.number < len(self.footholds)
        over = (0.1 if self._side == 0 else 0.9) if is_walking else 0.5  # of the left foot
        middle = over * self.feet[0] + (1.0 - over) * self.feet[1]
        high = float(self.feet[:, 1].min()) + 1.0 - _STOOD - self.bends * is_walking
        if is_walking and self._phase == _DOWN and self._goes_down:
            u = self._since / (_LASTS[_DOWN] * self.beat)
            high = self._from + float(ease(np.array(u))) * (self._end[1] - self._top - _PRESS)
        wanted = np.array([middle[0], high, middle[2]])
        # x'' = (wanted - x) / tau^2 - 2 x' / tau
        dt = 1.0 / RATE
        self._speed += dt * ((wanted - self._hip) / _TAU**2 - 2.0 * self._speed / _TAU)
        self._hip += dt * self._speed

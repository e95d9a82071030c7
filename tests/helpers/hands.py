"""Hands that walk a puppet: held before, or looking at it; and what came of it, measured on poses.

`stroll`        hands that were held before, any way, up and down what lies there. As in `demos/marionette/dance.py` the
                player knows the puppet: where its feet are to be, step by step, how to shift it over the foot that
                stays, and how to hold the hands so that thighs and knees are there. Lengths are of the leg's.
`LookingHands`  hands that see, a fifth of a second late, where the feet are: they aim a step from where the other foot
                stands, lead the foot on until it is over its place, and only then let it down. Nothing is known of how
                the puppet is driven: what goes in is a picture of it, what comes out is two hands.
`lead`, `walk`  a puppet that such hands play, and what it did
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import poise
from poise import Clip, Pose, Skeleton, rotation
from poise.demos.marionette.dance import HIP, KNEE, KNEE_AT, bump, ease, find_leg, smooth
from poise.drivers.puppet.player import PuppetPlayer
from poise.jobs.puppet.job import measure_puppet
from poise.jobs.walk.metrics import find_soles
from poise.puppetry.hands import HandsTake, LiveHands
from poise.world.ground.profile import Stairs

RATE = 120.0  # Hz
_SINK = 0.05  # that knees are bent by on the way


def stroll(
    way: float = 0.0, steps: int = 8, length: float = 0.34, beat: float = 0.85, lift: float = 0.11,
    height: Callable[[float, float], float] | None = None,
) -> HandsTake:  # fmt: skip
    """Walk, and stand still before and after.

    way     rad, from ahead to its left: pi / 2 is to its left, pi is back
    length  of a step, from one footfall of a foot to its next; beat: s of a step
    lift    how high feet are lifted, over the higher of both ends
    height  of the ground at x (its left) and z (ahead), all of the leg's length; None: level
    """
    along = np.array([math.sin(way), math.cos(way)])
    times = np.arange(round((steps + 4) * beat * RATE)) / RATE
    beats, count = times / beat - 1.5, len(times)
    ground = height or (lambda _x, _z: 0.0)
    feet = np.zeros((2, count, 3))
    for side, apart in enumerate((HIP, -HIP)):
        feet[side, :, 0], feet[side, :, 1] = apart, ground(apart, 0.0)
    over = np.full(count, 0.5)
    first = 1 if along[0] < -1e-9 else 0  # who goes to a side begins with that foot
    for k in range(steps + 1):
        side, foot = (first + k) % 2, feet[(first + k) % 2]
        far = 0.5 * length * min(k + 1, steps)  # the last step brings both together
        x, z = (HIP, -HIP)[side] + far * along[0], far * along[1]
        u = (beats - k) / 0.75
        rise, up = ground(x, z) - foot[-1, 1], np.sin(math.pi * np.clip(u, 0.0, 1.0)) ** 2
        # up before it goes ahead; ahead before it goes down
        begin, lasts = (0.1, 0.72) if abs(rise) < 0.02 else (0.35, 0.55) if rise > 0.0 else (0.04, 0.44)
        gone = ease((u - begin) / lasts)
        foot[:, 0] += gone * (x - foot[-1, 0])
        foot[:, 2] += gone * (z - foot[-1, 2])
        climb = ease((u - 0.02) / 0.45) if rise > 0.0 else ease((u - 0.45) / 0.5)
        foot[:, 1] += climb * rise + lift * up
        goal = 0.1 if side == 0 else 0.9
        over += bump(beats, k - 0.55, k + 1.25, 0.5) * (goal - over)
    weight = smooth(over, times, 0.08)[:, None]
    middle = weight * feet[0] + (1.0 - weight) * feet[1]
    low = np.minimum(feet[0, :, 1], feet[1, :, 1])
    walking = bump(beats, -1.2, steps + 2.0)
    hips = smooth(low, times, 0.12) + 1.0 - 0.018 - _SINK * walking
    middle = np.stack([smooth(middle[:, a], times, 0.12) for a in (0, 2)], axis=1)
    places, turns = np.zeros((count, 2, 3)), rotation.identity((count, 2))
    for side, apart in enumerate((HIP, -HIP)):
        hip = np.stack([middle[:, 0] + apart, hips, middle[:, 1]], axis=1)
        turns[:, side], knee = find_leg(hip, feet[side], np.zeros(count))
        places[:, side, 1] = (np.degrees(knee) - KNEE_AT) / KNEE
    return HandsTake(times, places, turns, neutral=np.zeros((2, 3)))


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


FPS = 120.0  # Hz
RISER = 0.004  # m


class Walked(NamedTuple):
    """What came of hands: m, mm, m/s2."""

    moved: np.ndarray
    slip: float
    deepest: float
    hovers: float
    foot: float
    root: float


def walk(hands: HandsTake, ground: Any = None) -> Walked:
    stage = poise.Stage() if ground is None else poise.Stage(ground=ground)
    actor = stage.add(poise.Character.human(1.75, 75))
    actor.drive("body", poise.Puppet([poise.PuppetLayer(poise.load_mapping("legs"), hands)]))
    clip = stage.run(hands.duration, fps=FPS).clip()
    return measure(clip, next(each for each in actor.players if isinstance(each, PuppetPlayer)), ground)


def lead(
    footholds: Callable[[float], list[tuple[int, float, float]]], ground: Any = None, size: float = 1.75,
    mass: float = 75.0, **more: float,
) -> tuple[Walked, LookingHands]:  # fmt: skip
    """What comes of hands that look: (side, x, z) m of ankles, one a step, for hips of half a width."""
    clip, player, hands = record(footholds, ground, poise.Character.human(size, mass), **more)
    return measure(clip, player, ground), hands


def record(
    footholds: Callable[[float], list[tuple[int, float, float]]], ground: Any, character: poise.Character,
    **more: float,
) -> tuple[Clip, PuppetPlayer, LookingHands]:  # fmt: skip
    """A body that hands lead which look, every picture of it."""
    stage = poise.Stage(dt=0.5 / FPS) if ground is None else poise.Stage(dt=0.5 / FPS, ground=ground)
    actor = stage.add(character)
    live = LiveHands(np.zeros((2, 3)))
    actor.drive("body", poise.Puppet([poise.PuppetLayer(poise.load_mapping("legs"), live)]))
    half = float(actor.skeleton.rest_positions()[actor.skeleton.index("leftUpperLeg")][0])
    level = (lambda _x, _z: 0.0) if ground is None else lambda x, z: float(ground.height_at(x, z))
    hands = LookingHands(actor.skeleton, footholds(half), level, **more)
    live.put(0.0, *hands.hold())
    stage.build()
    player, poses = next(each for each in actor.players if isinstance(each, PuppetPlayer)), []
    while not hands.is_done:
        live.put(player.horizon, *hands.look(actor.pose()))
        stage.advance(2)
        poses.append(actor.pose())
        assert len(poses) < 60.0 * FPS
    roots, turns = (np.array([getattr(pose, name) for pose in poses]) for name in ("root", "rotations"))
    return Clip(actor.skeleton, (1.0 + np.arange(len(poses))) / FPS, roots, turns), player, hands


def measure(clip: Clip, player: PuppetPlayer, ground: Any) -> Walked:
    begin = float(clip.times[0])
    stances = [(int(side), down - begin, min(up - begin, clip.duration)) for side, down, up in player.stances]
    soles = find_soles(clip).points
    over = soles[..., 1] - (0.0 if ground is None else ground.height_at(soles[..., 0], soles[..., 2]))
    if isinstance(ground, Stairs):  # what is in a riser is as deep in it as it is behind its edge
        behind = ground.height_at(soles[..., 0], soles[..., 2] - math.copysign(RISER, ground.rise))
        over = np.where(soles[..., 1] >= behind, np.maximum(over, -RISER), over)
    feet = clip.positions[:, [clip.skeleton.index(f"{side}Foot") for side in ("left", "right")]]
    return Walked(
        clip.root[-1] - clip.root[0],
        measure_puppet(clip, stances, ground)["foot_slip_mm"],
        -1e3 * float(over.min()),
        1e3 * float(over.min(axis=(1, 2)).max()),
        float(np.linalg.norm(np.diff(feet, 2, axis=0), axis=-1).max()) * FPS**2,
        float(np.linalg.norm(np.diff(clip.root, 2, axis=0), axis=-1).max()) * FPS**2,
    )


def on_treads(ground: Stairs, half: float, behind: float) -> list[tuple[int, float, float]]:
    """A foot on each step, `behind` (m) the edge before it, and the other one beside the last."""
    edges = ground.start + ground.run * np.arange(ground.count)
    return [
        (k % 2, half * (-1.0) ** k, float(edges[min(k, ground.count - 1)]) + behind) for k in range(ground.count + 1)
    ]

"""A dance of a minute as two hands would play it, in three passes: legs, trunk and head, arms.

Somebody who knows his puppet: he thinks of where its feet and its pelvis are to be, beat by beat, and holds his hands
as the thighs and knees of a body of that size have to be for it (two bones and the law of cosines). What comes of that
is up to the marionette. His hands tremble, his tracker is not quite on time, and once it loses a hand.

The player of the legs knows how to hold his hands for the puppet's feet to be somewhere.

Lengths are of the leg's, so that the same hands play every body. A hand that is raised bends the knee by KNEE degrees a
metre, from KNEE_AT on, as the mapping `legs` has it.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

import poise
from poise import rotation

BEAT = 60.0 / 72.0  # s
BEATS = 72
RATE = 60.0  # Hz, of the tracker
LEGS, TRUNK, ARMS = "legs", "trunk", "arms"
_TREMBLE, _SHAKE, _LATE = 0.0003, 0.002, 0.002  # m, rad, s
_LOST = (21.3, 21.55)  # s, in which the right hand of the legs is not seen
# What the mappings that come along make of hands: degrees for each metre, degrees at rest.
_POINT, _TURN, _TURN_REST, _ELBOW, _ELBOW_AT = 300.0, 500.0, 0.04, 500.0, 12.0


@dataclass(frozen=True)
class _Step:
    """A foot is lifted at a beat, for some beats, to a place (x, z of the leg's length) with a yaw (rad)."""

    beat: float
    lasts: float
    side: int
    x: float
    z: float
    yaw: float = 0.0
    lift: float = 0.1
    point: float = 0.0  # degrees that the toes are pointed in the air


def dance(seed: int = 0) -> dict[str, poise.HandsTake]:
    """Hands of the three layers, by their names."""
    rng = np.random.default_rng(seed)
    return {
        LEGS: _record(rng, *_play_legs(_times(rng)), lost=_LOST),
        TRUNK: _record(rng, *_play_trunk(_times(rng))),
        ARMS: _record(rng, *_play_arms(_times(rng))),
    }


def _times(rng: np.random.Generator) -> np.ndarray:
    even = np.arange(round(BEATS * BEAT * RATE) + 1) / RATE
    return even + rng.uniform(0.0, _LATE, len(even))


def _record(
    rng: np.random.Generator, times: np.ndarray, places: np.ndarray, turns: np.ndarray, grips: np.ndarray | None = None,
    lost: tuple[float, float] | None = None,
) -> poise.HandsTake:  # fmt: skip
    """Trembling hands."""
    places = places + rng.normal(scale=_TREMBLE, size=places.shape)
    turns = rotation.multiply(turns, rotation.exp(rng.normal(scale=_SHAKE, size=places.shape)))
    if lost is not None:
        gone = (times >= lost[0]) & (times < lost[1])
        places[gone, 1], turns[gone, 1] = np.nan, np.nan
    return poise.HandsTake(times, places, turns, grips, None, np.zeros((2, 3)))


# Legs.


def _list_steps() -> list[_Step]:
    """The dance on its feet. A step ends on its foot; the body is over the other one meanwhile."""
    steps: list[_Step] = []
    half = HIP
    # step and touch, to the right and to the left, twice
    for k, way in enumerate((-1.0, 1.0, -1.0, 1.0)):
        lead, beat = (1 if way < 0.0 else 0), 8.0 + 2.0 * k
        here = [0.0, -0.24][k % 2] if way > 0.0 else 0.0
        middle = here + 0.24 * way if k % 2 == 0 else 0.0
        sides = (half, -half)
        steps.append(_Step(beat, 0.8, lead, middle + sides[lead], 0.0))
        steps.append(_Step(beat + 1.0, 0.8, 1 - lead, middle + sides[1 - lead], 0.0))
    # four steps ahead and four back
    z = 0.0
    for k in range(8):
        z += 0.34 if k < 4 else -0.34
        side = (k + 1) % 2
        steps.append(_Step(16.0 + k, 0.75, side, (half, -half)[side], z, lift=0.11))
    steps.append(_Step(23.9, 0.5, 1, -half, 0.0))
    # knees up
    for k in range(4):
        side = 1 - k % 2
        steps.append(_Step(25.0 + 2.0 * k, 1.3, side, (half, -half)[side], 0.0, lift=0.34))
    # once round on the spot
    for k in range(8):
        side, yaw = k % 2, math.tau * (k + 1.5) / 8.0 if k < 7 else math.tau
        x, z = ((half, -half)[side] * math.cos(yaw), -(half, -half)[side] * math.sin(yaw))
        steps.append(_Step(33.0 + 0.9 * k, 0.6, side, x, z, yaw, 0.1))
    steps.append(_Step(40.3, 0.5, 0, half, 0.0, math.tau, 0.08))
    # out to the sides, sink, and together
    for k, side in enumerate((0, 1)):
        wide = (half + 0.24, -half - 0.24)[side]
        steps.append(_Step(42.0 + 3.5 * k, 0.8, side, wide, 0.0, math.tau))
        steps.append(_Step(44.4 + 3.5 * k, 0.8, side, (half, -half)[side], 0.0, math.tau))
    # kicks
    for k in range(4):
        side = 1 - k % 2
        steps.append(_Step(57.0 + 1.75 * k, 1.2, side, (half, -half)[side], 0.0, math.tau, 0.2, 30.0))
    # a step back, for the bow
    steps.append(_Step(65.0, 0.8, 1, -half, -0.2, math.tau))
    steps.append(_Step(69.5, 0.8, 1, -half, 0.0, math.tau))
    return sorted(steps, key=lambda step: step.beat)


def _play_legs(times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    beat = times / BEAT
    count = len(times)
    feet = np.zeros((2, count, 3))
    yaw, point = np.zeros((2, count)), np.zeros((2, count))
    feet[0, :, 0], feet[1, :, 0] = HIP, -HIP
    over = 0.5 + 0.12 * np.sin(math.pi * beat) * bump(beat, 0.5, 9.0, 2.0)  # how far it is over the left foot
    kick = np.zeros((2, count))
    for step in _list_steps():
        u = (beat - step.beat) / step.lasts
        gone = ease((u - 0.1) / 0.72)  # it is there before it is down
        foot, up = feet[step.side], np.sin(math.pi * np.clip(u, 0.0, 1.0)) ** 2
        foot[:, 0] += gone * (step.x - foot[-1, 0])
        foot[:, 2] += gone * (step.z - foot[-1, 2])
        foot[:, 1] += step.lift * up
        yaw[step.side] += gone * (step.yaw - yaw[step.side, -1])
        point[step.side] += step.point * up
        if step.point:
            kick[step.side] += np.sin(math.pi * np.clip((beat - step.beat - 0.3) / 0.9, 0.0, 1.0)) ** 2
        # over the other foot before it is lifted, and back to the middle after it is down
        goal = 0.1 if step.side == 0 else 0.9
        share = bump(beat, step.beat - 0.55, step.beat + step.lasts + 0.5, 0.5)
        over += share * (goal - over)
    heading = 0.5 * (smooth(yaw[0], times) + smooth(yaw[1], times))
    # on its toes twice; in between, and on every beat, a little down
    rise = bump(beat, 49.0, 52.0, 0.8) + bump(beat, 53.0, 56.0, 0.8)
    sink = 0.018 + 0.012 * (1.0 - np.cos(math.tau * beat)) * bump(beat, 1.0, 70.0, 2.0)
    sink = sink + 0.06 * (bump(beat, 42.9, 44.6, 0.8) + bump(beat, 46.4, 48.1, 0.8)) + 0.02 * bump(beat, 56.5, 64.0)
    sink = (sink - 0.01 * bump(beat, 65.5, 70.0)) * (1.0 - rise) + 0.012 * rise
    walk = bump(beat, 15.5, 24.0)
    sink = sink + 0.03 * walk
    middle = over[:, None] * feet[0] + (1.0 - over[:, None]) * feet[1]
    middle = np.stack([smooth(middle[:, a], times, 0.12) for a in (0, 2)], axis=1)
    places, turns = np.zeros((count, 2, 3)), rotation.identity((count, 2))
    for side in range(2):
        apart = (HIP, -HIP)[side]
        hip = np.stack([middle[:, 0] + apart * np.cos(heading), 1.0 - sink, middle[:, 1] - apart * np.sin(heading)], 1)
        ankle = feet[side].copy()
        thigh, knee = find_leg(hip, ankle, yaw[side])
        facing = rotation.exp(np.stack([np.zeros(count), -heading, np.zeros(count)], axis=1))
        turn = rotation.multiply(facing, thigh)
        lifted = rotation.exp(np.stack([-0.55 * kick[side], np.zeros(count), np.zeros(count)], axis=1))
        turns[:, side] = rotation.multiply(turn, lifted)
        bend = np.degrees(knee) * (1.0 - 0.35 * kick[side])
        places[:, side, 1] = (bend - KNEE_AT) / KNEE
        places[:, side, 2] = (point[side] + 38.0 * rise) / _POINT
    speed = np.degrees(np.gradient(heading, times))
    still = np.abs(speed) < 2.0
    places[:, 0, 0] = np.where(still, 0.0, speed / _TURN + np.sign(speed) * _TURN_REST)
    return times, places, turns


# Trunk and head, arms.


def _keys(beat: np.ndarray, keys: list[tuple[float, ...]]) -> np.ndarray:
    """(F, N) numbers that go from key to key, each a beat and N numbers, smoothly."""
    rows = np.array(keys, float)
    found = np.zeros((len(beat), rows.shape[1] - 1))
    found[:] = rows[0, 1:]
    for a, b in itertools.pairwise(rows):
        found += ease((beat - a[0]) / (b[0] - a[0]))[:, None] * (b[1:] - a[1:])
    return found


def _play_trunk(times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    beat = times / BEAT
    count = len(times)
    swing, slow = np.sin(math.pi * beat), np.sin(0.5 * math.pi * beat)
    lively = bump(beat, 0.5, 65.0, 2.0)
    calm = 1.0 - 0.7 * bump(beat, 24.5, 41.0) - 0.5 * bump(beat, 48.0, 57.0)
    bend, twist, side = np.zeros((3, count))
    side += 7.0 * swing * lively * calm
    twist += 9.0 * slow * lively * calm
    bend += 4.0 * lively + 2.0 * np.cos(math.tau * beat) * lively
    bend += 16.0 * (bump(beat, 42.9, 44.6, 0.8) + bump(beat, 46.4, 48.1, 0.8)) - 10.0 * bump(beat, 49.0, 56.0)
    side += 12.0 * (bump(beat, 42.5, 45.0) - bump(beat, 46.0, 48.5))
    bend += 48.0 * bump(beat, 65.8, 70.0, 1.6)
    nod = _keys(beat, [(0, 0, 0, 0), (8, -4, 18, 0), (12, -2, -18, 0), (16, 0, 0, 0), (24, 6, 0, 4), (32, 0, 25, 0),
                       (40, 0, 10, 0), (43, -8, 30, 0), (47, -8, -30, 0), (50, -22, 0, 0), (56, 0, 0, 0),
                       (60, 4, 14, 5), (64, 4, -14, -5), (67, 18, 0, 0), (70, 0, 0, 0), (72, 0, 0, 0)])  # fmt: skip
    nod[:, 0] += 3.0 * np.cos(math.tau * beat) * lively
    turns = rotation.identity((count, 2))
    turns[:, 0] = rotation.exp(np.radians(np.stack([bend, twist, side], axis=1)))
    turns[:, 1] = rotation.exp(np.radians(nod))
    places = np.zeros((count, 2, 3))
    places[:, 0, 0] = 0.025 * swing * lively * calm  # the pelvis tilts against the trunk
    places[:, 1, 0] = 0.03 * slow * lively * calm
    return times, places, turns


def _play_arms(times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Forward, outward and elbow, degrees, of the left arm and of the right."""
    beat = times / BEAT
    count = len(times)
    keys: list[tuple[float, ...]] = [
        (0, 0, 6, 12, 0, 6, 12), (4, 10, 12, 30, 10, 12, 30), (8, 10, 15, 40, 10, 15, 40),
        (9, 20, 75, 30, 25, 20, 70), (11, 25, 20, 70, 20, 75, 30), (13, 20, 75, 30, 25, 20, 70),
        (15, 25, 20, 70, 20, 75, 30), (16.5, 15, 12, 35, 15, 12, 35), (24, 10, 20, 40, 10, 20, 40),
        (25.6, 60, 25, 60, -15, 30, 30), (27.6, -15, 30, 30, 60, 25, 60), (29.6, 60, 25, 60, -15, 30, 30),
        (31.6, -15, 30, 30, 60, 25, 60), (33.5, 20, 80, 15, 20, 80, 15), (39.5, 20, 85, 25, 20, 85, 25),
        (41.5, 15, 20, 60, 15, 20, 60), (43.3, 30, 110, 20, 50, 30, 80), (45, 20, 30, 60, 20, 30, 60),
        (46.8, 50, 30, 80, 30, 110, 20), (48.5, 10, 20, 20, 10, 20, 20), (50.3, 150, 25, 20, 150, 25, 20),
        (52, 60, 70, 25, 60, 70, 25), (54.3, 155, 30, 25, 155, 30, 25), (56.5, 20, 40, 50, 20, 40, 50),
        (57.7, 70, 15, 20, -25, 20, 20), (59.4, -25, 20, 20, 70, 15, 20), (61.2, 70, 15, 20, -25, 20, 20),
        (62.9, -25, 20, 20, 70, 15, 20), (64.7, 10, 85, 15, 10, 85, 15), (66.8, 40, 30, 80, -10, 70, 10),
        (69.6, 40, 30, 80, -10, 70, 10), (71.3, 0, 8, 12, 0, 8, 12), (72, 0, 8, 12, 0, 8, 12),
    ]  # fmt: skip
    found = _keys(beat, keys)
    lively = bump(beat, 0.5, 65.0, 2.0)
    places, turns = np.zeros((count, 2, 3)), rotation.identity((count, 2))
    walking = bump(beat, 15.5, 24.5)
    for side in range(2):
        ahead, out, elbow = (found[:, 3 * side + k] for k in range(3))
        sign = 1.0 if side == 0 else -1.0
        ahead = ahead + 22.0 * sign * np.sin(math.pi * (beat - 0.35)) * walking
        wave = 6.0 * np.sin(math.pi * beat + 0.7 * sign) * lively
        swing = np.radians(np.stack([-(ahead + wave), np.zeros(count), sign * (out + 0.5 * wave)], axis=1))
        turns[:, side] = rotation.exp(swing)
        places[:, side, 1] = (elbow + 8.0 * np.sin(math.pi * beat + 1.0) * lively - _ELBOW_AT) / _ELBOW
        places[:, side, 2] = 0.06 * np.sin(math.pi * beat + 1.6 * sign) * lively
    grips = np.repeat(0.4 * (1.0 - bump(beat, 15.5, 32.0)), 2).reshape(count, 2)
    return times, places, turns, grips


# Of the leg's length: half the width of hips, thigh, shank. An adult's.
HIP, THIGH, SHANK = 0.105, 0.5, 0.5
KNEE, KNEE_AT = 500.0, 6.0


def ease(u: np.ndarray) -> np.ndarray:
    """From 0 to 1 while u does, smooth to the acceleration."""
    u = np.clip(u, 0.0, 1.0)
    return np.asarray(u**3 * (10.0 - 15.0 * u + 6.0 * u * u))


def bump(beat: np.ndarray, begin: float, end: float, ramp: float = 1.0) -> np.ndarray:
    """0, 1 from begin to end, and 0 again, with ramps."""
    return ease((beat - begin) / ramp) * (1.0 - ease((beat - end + ramp) / ramp))


def smooth(x: np.ndarray, times: np.ndarray, width: float = 0.25) -> np.ndarray:
    """x with a Gaussian of a width (s) over it."""
    dt = float(np.median(np.diff(times)))
    reach = math.ceil(4.0 * width / dt)
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) * dt / width) ** 2)
    padded = np.concatenate([np.full(reach, x[0]), x, np.full(reach, x[-1])])
    return np.convolve(padded, weights / weights.sum(), "valid")


def find_leg(hip: np.ndarray, ankle: np.ndarray, yaw: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Orientations (F, 4) of thighs against hanging and bends (F,) of knees that bring ankles (F, 3) under hips."""
    way = ankle - hip
    size = np.clip(np.linalg.norm(way, axis=1), 0.2, 0.9995 * (THIGH + SHANK))
    knee = math.pi - np.arccos(np.clip((THIGH**2 + SHANK**2 - size**2) / (2.0 * THIGH * SHANK), -1.0, 1.0))
    inner = np.arccos(np.clip((THIGH**2 + size**2 - SHANK**2) / (2.0 * THIGH * size), -1.0, 1.0))
    down = way / np.linalg.norm(way, axis=1, keepdims=True)
    ahead = np.stack([np.sin(yaw), np.zeros(len(yaw)), np.cos(yaw)], axis=1)
    axis = np.cross(ahead, down)  # to its left, across the leg
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    # forward of the line from hip to ankle by the inner angle: against the knee's own way of bending
    bone = rotation.rotate(rotation.exp(-inner[:, None] * axis), down)
    matrix = np.stack([axis, -bone, np.cross(axis, -bone)], axis=2)
    return rotation.from_matrix(matrix), knee

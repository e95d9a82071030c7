"""Hands that walk a puppet: any way, up and down what lies there.

As in `demos/marionette/dance.py` the player knows the puppet: where its feet are to be, step by step, how to shift it
over the foot that stays, and how to hold the hands so that thighs and knees are there. Lengths are of the leg's.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from poise.demos.marionette.dance import HIP, KNEE, KNEE_AT, bump, ease, find_leg, smooth
from poise.puppetry.hands import HandsTake
from poise.spatial import rotation

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

"""How trunk, head and arms go with the feet.

All of it follows from where the feet are, so that it is as smooth as they are and comes to rest with them. The pelvis
turns with the foot that is ahead, the chest against it; arms swing against the legs: by 5 degrees and 20 at a common
step (Inman, Ralston & Todd 1981, Human Walking).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.spatial import rotation
from poise.walking.foot_path import FootState
from poise.walking.manner import Manner

_PELVIS, _CHEST = np.radians(5.0), np.radians(3.0)  # at a step of half a leg
_ARM, _ELBOW = np.radians(20.0), np.radians(12.0)
_CLIMB = 0.8  # rad of leaning forward, for a rise of a leg's length between feet that are a step apart
_HARDLY = 0.08  # of a leg: less of a rise counts less, and smoothly

_X, _Y = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])


class Posture(NamedTuple):
    """Of F times: pelvis, chest, head (F, 4) world orientations; arms (F, 2) rad forward and elbows (F, 2) rad bent,
    more than at rest."""

    pelvis: np.ndarray
    chest: np.ndarray
    head: np.ndarray
    arms: np.ndarray
    elbows: np.ndarray


def find_posture(
    feet: tuple[FootState, FootState], climb: np.ndarray, heading: np.ndarray, leg: float, manner: Manner
) -> Posture:
    """Trunk, head and arms of somebody whose feet are so, facing a heading (F,) rad; leg m.

    climb  (F,) m, how much higher the ground under the left foot is than under the right one
    """
    ahead = np.stack([np.sin(heading), np.zeros_like(heading), np.cos(heading)], axis=-1)
    apart = feet[0].place - feet[1].place
    stride = np.tanh(np.sum(apart * ahead, axis=-1) / leg) / np.tanh(0.5)  # 1: the left is half a leg ahead
    up = np.maximum(climb / leg * stride, 0.0)  # the foot that is ahead is higher: it climbs
    lean = manner.lean + _CLIMB * up**3 / (up**2 + _HARDLY**2)
    forward = manner.arms * _ARM * np.stack([-stride, stride], axis=-1)
    elbows = manner.arms * _ELBOW * _soft(np.stack([-stride, stride], axis=-1))
    return Posture(
        _turned(heading - _PELVIS * stride, lean), _turned(heading + _CHEST * stride, 1.3 * lean),
        _turned(heading, 0.5 * lean), forward, elbows,
    )  # fmt: skip


def _soft(x: np.ndarray) -> np.ndarray:
    """x where it is positive, hardly anything where it is not, smoothly."""
    return np.asarray(0.5 * (x + np.sqrt(x * x + 0.04)) - 0.1)


def _turned(yaw: np.ndarray, pitch: np.ndarray) -> np.ndarray:
    return rotation.multiply(rotation.exp(yaw[:, None] * _Y), rotation.exp(pitch[:, None] * _X))

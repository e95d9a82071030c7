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


class Posture(NamedTuple):
    """pelvis, chest, head (4,) world orientations; arms (2,) rad forward, elbows (2,) rad bent, more than at rest."""

    pelvis: np.ndarray
    chest: np.ndarray
    head: np.ndarray
    arms: np.ndarray
    elbows: np.ndarray


def find_posture(feet: tuple[FootState, FootState], heading: float, leg: float, manner: Manner) -> Posture:
    """Trunk, head and arms of somebody whose feet are so, facing a heading (rad); leg m."""
    ahead = np.array([np.sin(heading), 0.0, np.cos(heading)])
    apart = feet[0].place - feet[1].place
    stride = float(np.tanh(float(apart @ ahead) / leg)) / np.tanh(0.5)  # 1: the left is half a leg ahead
    up = max(float(apart[1]) / leg * stride, 0.0)  # the foot that is ahead is higher: it climbs
    lean = manner.lean + _CLIMB * up * up / (up + 0.05)
    pelvis = _turned(heading - _PELVIS * stride, lean)
    chest = _turned(heading + _CHEST * stride, 1.3 * lean)
    head = _turned(heading, 0.5 * lean)
    forward = manner.arms * _ARM * np.array([-stride, stride])
    return Posture(pelvis, chest, head, forward, manner.arms * _ELBOW * np.maximum(forward / _ARM, -0.2))


def _turned(yaw: float, pitch: float) -> np.ndarray:
    return rotation.multiply(rotation.exp(np.array([0.0, yaw, 0.0])), rotation.exp(np.array([pitch, 0.0, 0.0])))

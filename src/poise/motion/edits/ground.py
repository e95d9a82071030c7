"""Where a character stands and faces on the ground, and clips moved and turned there."""

from __future__ import annotations

import numpy as np

from poise.errors import InputError
from poise.motion.clip import Clip
from poise.spatial import rotation

_UP = np.array([0.0, 1.0, 0.0])


def compute_heading(orientation: np.ndarray) -> np.ndarray:
    """The angle about +Y (radians, 0 faces +Z, positive turns to the left) of an orientation (..., 4).

    The twist about the vertical, 2 atan2(y, w): smooth in every tilt but upside down, where a heading means nothing.
    """
    q = np.asarray(orientation, float)
    return np.arctan2(np.sin(2 * (half := np.arctan2(q[..., 2], q[..., 0]))), np.cos(2 * half))


def clip_heading(clip: Clip) -> np.ndarray:
    """(F,) rad, where the hips face, without jumps of a whole turn."""
    return np.unwrap(compute_heading(clip.world[1][:, _hips(clip)]))


def ground_position(clip: Clip) -> np.ndarray:
    """(F, 3) m, the point of y = 0 below the hips."""
    return clip.positions[:, _hips(clip)] * (1 - _UP)


def _hips(clip: Clip) -> int:
    return clip.skeleton.find_role("hips") or 0


def translate(clip: Clip, offset: np.ndarray) -> Clip:
    """The clip moved by `offset` (3,) m."""
    offset = np.asarray(offset, float)
    if offset.shape != (3,) or not np.isfinite(offset).all():
        raise InputError(f"a clip is moved by three finite metres (x, y, z); given {offset.tolist()}.")
    return clip.replace(root=clip.root + offset)


def turn(clip: Clip, angle: float, about: np.ndarray | None = None) -> Clip:
    """The clip turned by `angle` (rad, positive to the left) about the vertical through `about` (3,) m.

    about   None: where the hips stand in the first frame
    """
    if not np.isfinite(angle):
        raise InputError(f"a clip is turned by a finite angle in radians; given {angle}.")
    pivot = ground_position(clip)[0] if about is None else np.asarray(about, float)
    q = rotation.exp(angle * _UP)
    rotations = clip.rotations.copy()
    rotations[:, 0] = rotation.multiply(q, rotations[:, 0])
    return clip.replace(root=pivot + rotation.rotate(q, clip.root - pivot), rotations=rotations)


def place(clip: Clip, position: np.ndarray, heading: float, frame_time: float | None = None) -> Clip:
    """The clip turned and moved on the ground so that at `frame_time` its hips are over `position` and face `heading`.

    position    (3,) m; its height is not used, the clip keeps its own
    frame_time  s on the clip's clock; None: the first frame
    """
    t = clip.times[0] if frame_time is None else frame_time
    pose = clip.pose(t)
    positions, orientations = clip.skeleton.pose(*pose)
    here = positions[_hips(clip)] * (1 - _UP)
    turned = turn(clip, heading - float(compute_heading(orientations[_hips(clip)])), about=here)
    return translate(turned, np.asarray(position, float) * (1 - _UP) - here)

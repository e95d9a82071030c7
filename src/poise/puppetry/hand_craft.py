"""What somebody knows who plays a puppet's legs: how to hold his hands for its feet to be somewhere.

Lengths are of the leg's, so that the same hands play every body. A hand that is raised bends the knee by KNEE degrees a
metre, from KNEE_AT on, as the mapping `legs` has it.
"""

from __future__ import annotations

import math

import numpy as np

from poise.spatial import rotation

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

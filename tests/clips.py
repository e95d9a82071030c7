"""Clips that are hard on file formats: branching skeletons, joints at one place, fast spins, gimbal lock."""

from __future__ import annotations

import numpy as np

from poise import Clip, Skeleton, rotation


def random_skeleton(rng: np.random.Generator, joints: int = 12) -> Skeleton:
    """A branching tree, its joints listed breadth first as often as not; some have no length, some no tip."""
    parents = np.array([-1, *(int(rng.integers(max(0, i - 4), i)) for i in range(1, joints))])
    offsets = rng.normal(size=(joints, 3)) * 0.3
    offsets[joints // 2] = 0.0
    leaves = ~np.isin(np.arange(joints), parents)
    tips = np.where(leaves[:, None], rng.normal(size=(joints, 3)) * 0.1, np.nan)
    tips[np.flatnonzero(leaves)[0]] = np.nan
    return Skeleton(tuple(f"joint{i}" for i in range(joints)), parents, offsets, tips)


def random_clip(rng: np.random.Generator, frames: int = 20, joints: int = 12) -> Clip:
    """Poses that have nothing to do with one another."""
    times = np.arange(frames) * 0.0083333
    return Clip(
        random_skeleton(rng, joints), times, rng.normal(size=(frames, 3)), rotation.random(rng, (frames, joints))
    )


def locked_clip(frames: int = 60) -> Clip:
    """Two bones: the upper swings through 90 degrees about its middle axis X and stays there for a while, turning.

    In gimbal lock of the order ZXY the turns about Z and Y are one and the same.
    """
    swing = np.radians(np.interp(np.arange(frames), [0, 20, 40, frames - 1], [60.0, 90.0, 90.0, 120.0]))
    spin = np.linspace(0.0, 5.0, frames)
    x, z = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
    upper = rotation.multiply(rotation.from_axis_angle(z, spin), rotation.from_axis_angle(x, swing))
    lower = rotation.from_axis_angle(x, np.full(frames, -0.5 * np.pi))
    skeleton = Skeleton(("upper", "lower"), np.array([-1, 0]), np.array([[0.0, 1, 0], [0.0, -0.5, 0.1]]))
    return Clip(skeleton, np.arange(frames) / 60.0, np.zeros((frames, 3)), np.stack([upper, lower], axis=1))

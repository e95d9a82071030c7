"""Clips that are hard on formats and jobs: branching skeletons, gimbal lock, bodies that lean, joints that slide."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.spatial.transform import Rotation

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


def lean(clip, degrees, axis=(1.0, 0.0, 0.0), stiff=False):
    """A clip with its body turned about the middle of its ankles; stiff: about the ground below them, feet too."""
    turn = Rotation.from_rotvec(np.radians(degrees) * np.asarray(axis, float) / np.linalg.norm(axis))
    places, world = clip.world
    feet = [clip.skeleton.index(side + "Foot") for side in ("left", "right")]
    pivot = places[:, feet].mean(axis=1) * ([1.0, 0.0, 1.0] if stiff else [1.0, 1.0, 1.0])
    rotations = clip.rotations.copy()
    rotations[:, 0] = (turn * Rotation.from_quat(rotations[:, 0], scalar_first=True)).as_quat(scalar_first=True)
    if not stiff:
        for foot in feet:
            shin = turn * Rotation.from_quat(world[:, clip.skeleton.parents[foot]], scalar_first=True)
            flat = Rotation.from_quat(world[:, foot], scalar_first=True)
            rotations[:, foot] = (shin.inv() * flat).as_quat(scalar_first=True)
    return clip.replace(root=pivot + turn.apply(clip.root - pivot), rotations=rotations)


def slide(clip: Clip, joints: dict[str, float], hz: float = 0.7) -> Clip:
    """The clip with some joints (name or role -> m) that slide to and fro along all three axes, each in its own way."""
    shifts = np.zeros((len(clip), len(clip.skeleton), 3))
    for k, (joint, size) in enumerate(joints.items()):
        phase = 2.0 * np.pi * hz * clip.times[:, None] + k + np.array([0.0, 1.0, 2.5])
        shifts[:, clip.skeleton.index(joint)] = size * np.sin(phase)
    return clip.replace(shifts=shifts)


def under_reference(clip: Clip) -> Clip:
    """The same motion on a skeleton whose first joint stands still at the origin, hips sliding away from it."""
    body = clip.skeleton
    skeleton = dataclasses.replace(
        body,
        names=("Reference", *body.names),
        parents=np.array([-1, *(body.parents + 1)]),
        offsets=np.concatenate([np.zeros((1, 3)), body.offsets]),
        tips=np.concatenate([np.full((1, 3), np.nan), body.tips]),
    )
    still = rotation.identity((len(clip), 1))
    shifts = np.zeros((len(clip), len(skeleton), 3))
    shifts[:, 1] = clip.root - body.offsets[0]
    turns = np.concatenate([still, clip.rotations], axis=1)
    return Clip(skeleton, clip.times, np.zeros((len(clip), 3)), turns, clip.name, shifts)

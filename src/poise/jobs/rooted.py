"""Bodies simulated apart from what carries them in their file (`motion.rooting`): the character, and what it did."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from poise.body.character import Character
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.motion.clip import Clip
from poise.motion.rooting import Rooting
from poise.stage.take import ActorTake


def cut_character(character: Character, body: Skeleton) -> Character:
    """A character on the skeleton of its body apart. What is above the body must weigh nothing."""
    if body.names == character.skeleton.names and np.array_equal(body.offsets, character.skeleton.offsets):
        return character
    names = set(body.names)
    beside = [segment.joint for segment in character.segments if segment.joint not in names and segment.mass > 0.0]
    if beside:
        raise InputError(
            f"{', '.join(beside)} of character '{character.name}' has mass, but the hips do not carry it. Give a body "
            "whose hips carry all that weighs something."
        )
    return dataclasses.replace(
        character,
        skeleton=body,
        segments=tuple(segment for segment in character.segments if segment.joint in names),
        limits={name: limits for name, limits in character.limits.items() if name in names},
        freedoms={name: axes for name, axes in character.freedoms.items() if name in names and name != body.names[0]},
    )


def restore_record(
    record: ActorTake, rooting: Rooting, character: Character, times: np.ndarray, kinematic: Sequence[int]
) -> ActorTake:
    """What a body apart did, as an actor of the clip's own skeleton.

    times      (F,) s on the clip's clock
    kinematic  the body's joints that followed the clip

    The joints above and beside the body have no torque; neither has its first, which only the ground moves.
    """
    moved = Clip(rooting.body.skeleton, times, record.root, record.rotations, record.name)
    clip = rooting.restore(moved, kinematic)
    rates = clip.spline.velocity(clip.times)
    spins, joints = rates.rotation.copy(), rooting.joints[1:]
    spins[:, joints] = record.angular_velocity[:, 1:]
    torque, effort = np.full((*spins.shape[:2], 3), np.nan), np.full(spins.shape[:2], np.nan)
    torque[:, joints], effort[:, joints] = record.torque[:, 1:], record.effort[:, 1:]
    return dataclasses.replace(
        record,
        character=character,
        root=clip.root,
        rotations=clip.rotations,
        velocity=rates.root,
        angular_velocity=spins,
        torque=torque,
        effort=effort,
        shifts=clip.shifts,
    )

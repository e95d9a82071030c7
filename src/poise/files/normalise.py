"""From a file's units and axes to Poise's: metres, Y up, with roles. Every guess says why it was made.

The unit is found from the stature, which for people lies within a factor of 2.5 while units differ by more. It is
measured along the bones, so that the pose does not matter. The vertical is found from the rest pose, not from the
motion, in which people lie down.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.roles import with_roles
from poise.body.skeleton import Skeleton
from poise.body.stature import estimate_stature
from poise.errors import InputError
from poise.files.recording import Recording
from poise.motion.clip import Clip
from poise.spatial import rotation

_SHORTEST, _TALLEST = 0.9, 2.2  # m: a child of three; taller than all but a handful of people
_TYPICAL = 1.7  # m: what a body of no known unit is scaled to
# Metres a unit, in the order in which they are tried. Within the statures above only inch and CMU's unit overlap.
_UNITS = {"centimetres": 0.01, "metres": 1.0, "inches": 0.0254, "millimetres": 0.001, "feet": 0.3048}
# The CMU database: "length 0.45" in its ASF files scales inches.
_CMU_UNIT = 0.0254 / 0.45
_CMU_JOINTS = {"LHipJoint", "RHipJoint", "LowerBack"}

# Longest way along the bones of a person, hand to toes, over stature: 1.31 to 1.51 on the skeletons of 24 recordings,
# 1.30 without arms.
_SPAN = 1.4

_UPPER_BODY = ("head", "neck", "upperChest", "chest", "spine")


@dataclass(frozen=True, eq=False)
class Reading:
    """A clip as read, and what was found about its file.

    clip          in metres, Y up
    scale         metres a unit of the file
    scale_reason  how that is known, a sentence without full stop
    up            the file's vertical axis, "Y" or "Z"
    up_reason     how that is known
    recording     what was read, as the file has it
    warnings      what was odd, a sentence each
    """

    clip: Clip
    scale: float
    scale_reason: str
    up: str
    up_reason: str
    recording: Recording
    warnings: tuple[str, ...] = ()


def normalise(recording: Recording, scale: float | None = None, up: str | None = None) -> Reading:
    """A recording brought to metres and Y up, with roles. Given values are used, others are the file's own or found."""
    clip = recording.clip
    if scale is not None and not (np.isfinite(scale) and scale > 0):
        raise InputError(f"scale {scale} is not a positive number of metres a unit. Leave it out to have it found.")
    if up is not None and up not in ("Y", "Z"):
        raise InputError(f"up axis '{up}' is not known; allowed: 'Y', 'Z'. Leave it out to have it found.")
    skeleton = with_roles(clip.skeleton)
    scale, scale_reason = guess_scale(skeleton) if scale is None else (scale, "given")
    up, up_reason = guess_up(skeleton) if up is None else (up, "given")
    clip = clip.replace(skeleton=skeleton.scaled(scale), root=clip.root * scale)
    if up == "Z":
        clip = turn_clip(clip, rotation.from_axis_angle(np.array([1.0, 0.0, 0.0]), -0.5 * np.pi))
    return Reading(clip, scale, scale_reason, up, up_reason, recording, recording.warnings)


def turn_clip(clip: Clip, q: np.ndarray) -> Clip:
    """The same motion seen in axes turned by q: rest pose, root and rotations. Positions p become q p."""
    skeleton = clip.skeleton.replace(
        offsets=rotation.rotate(q, clip.skeleton.offsets), tips=rotation.rotate(q, np.asarray(clip.skeleton.tips))
    )
    rotations = rotation.multiply(rotation.multiply(q, clip.rotations), rotation.conjugate(q))
    return clip.replace(skeleton=skeleton, root=rotation.rotate(q, clip.root), rotations=rotations)


def guess_scale(skeleton: Skeleton) -> tuple[float, str]:
    """Metres a unit of a skeleton in file units, and why."""
    stature = compute_stature(skeleton)
    if stature == 0.0:
        return 1.0, "the skeleton has no length to tell the unit by, so metres are assumed"
    units = dict(_UNITS)
    if set(skeleton.names) >= _CMU_JOINTS:
        units = {"units of the CMU database": _CMU_UNIT, **units}
    for unit, metres in units.items():
        if _SHORTEST <= stature * metres <= _TALLEST:
            return metres, f"in {unit} the body is {stature * metres:.2f} m tall"
    return (
        _TYPICAL / stature,
        f"in no known unit is a body of {stature:.4g} units as tall as a person, so it is scaled to {_TYPICAL} m",
    )


def guess_up(skeleton: Skeleton) -> tuple[str, str]:
    """The vertical axis of a skeleton in file axes, "Y" or "Z", and why."""
    feet = [skeleton.find_role(f"{side}Foot") for side in ("left", "right")]
    top = next((j for j in map(skeleton.find_role, _UPPER_BODY) if j is not None), None)
    bottom = [j for j in feet if j is not None]
    if top is None or not bottom:
        return "Y", "no feet or trunk were found to tell it by, so the usual axis is assumed"
    rest = skeleton.rest_positions()
    body = rest[top] - rest[bottom].mean(axis=0)
    if abs(body[2]) > abs(body[1]):
        return "Z", "at rest the head is above the feet along Z"
    return "Y", "at rest the head is above the feet along Y"


def compute_stature(skeleton: Skeleton) -> float:
    """How tall the body stands, in the skeleton's own unit; 0 if it has no length.

    As `poise.body.stature.estimate_stature`, which wants metres; for what is no human body, roughly, from the longest
    way along its bones.
    """
    roughly = _compute_span(skeleton) / _SPAN
    if roughly == 0.0:
        return 0.0
    unit = roughly / _TYPICAL
    try:
        return estimate_stature(skeleton.scaled(1.0 / unit)) * unit
    except InputError:
        return roughly


def _compute_span(skeleton: Skeleton) -> float:
    """The longest way along the bones between any two ends, in the skeleton's unit."""
    lengths = np.linalg.norm(skeleton.offsets, axis=1)
    tips = np.where(skeleton.has_tip, np.linalg.norm(skeleton.tips, axis=1), 0.0)
    reach, span = tips.copy(), tips.copy()  # below each joint: the longest way down, and the longest way of any kind
    for joint in range(len(skeleton) - 1, 0, -1):
        parent = skeleton.parents[joint]
        way = reach[joint] + lengths[joint]
        span[parent] = max(span[parent], span[joint], reach[parent] + way)
        reach[parent] = max(reach[parent], way)
    return float(span[0])

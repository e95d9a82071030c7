"""The length unit of a file: as it states, where a person fits into it, else found from the stature.

Statures of people lie within a factor of 2.5, units differ by more. The stature is measured along the bones, so that
the pose does not matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.body.segments.stature import find_stature
from poise.body.skeleton import Skeleton
from poise.findings import Finding, Origin

if TYPE_CHECKING:
    from poise.files.reading.recording import Interpretation

_SHORTEST, _TALLEST = 0.9, 2.2  # m: a child of three; taller than all but a handful of people
_STATED = (0.3, 3.0)  # m: what is believed where the file states its unit: toddlers, giants and cartoons
# Metres a unit, in the order in which they are tried. Within the statures above only inch and CMU's unit overlap.
UNITS = {
    "centimetres": 0.01,
    "metres": 1.0,
    "inches": 0.0254,
    "millimetres": 0.001,
    "feet": 0.3048,
    "decimetres": 0.1,
    "units of the CMU database": 0.0254 / 0.45,  # "length 0.45" in its ASF files scales inches
}
# Joints that tell whose unit it is before the stature does.
_CMU_JOINTS = {"LHipJoint", "RHipJoint", "LowerBack"}
_MMD_JOINTS = {"センター", "上半身"}
_MMD_UNIT = {"units of MikuMikuDance": 0.08}
_USUAL = ("centimetres", "metres")


def choose_unit(motion: Interpretation) -> list[Finding]:
    """Choose the unit: as given, as stated if a person fits into it, else from the stature of the restored skeleton."""
    if motion.given.scale is not None:
        found = [Finding("unit", "given", motion.given.scale, "given")]
    else:
        found = find_unit(motion.body, motion.recording.unit)
    motion.scale = found[0].value
    return found


def find_unit(skeleton: Skeleton, stated: float | None = None) -> list[Finding]:
    """Return the unit of a skeleton in file units; and a warning if it is unusual or contradicts the file.

    The first finding's value is metres a unit.
    """
    stature = compute_stature(skeleton)
    if stature == 0.0:
        origin: Origin = "stated" if stated else "guessed"
        reason = "the skeleton has no length to tell the unit by, so metres are assumed"
        return [Finding("unit", reason, stated or 1.0, origin, "scale")]
    if stated is not None and _STATED[0] <= stature * stated <= _STATED[1]:
        reason = f"the file's format says so; by its bones the body is {stature * stated:.2f} m tall"
        return [Finding("unit", reason, stated, "stated", "scale")]
    guess, *odd = _guess_unit(skeleton, stature)
    if stated is not None:
        message = (
            f"the file says {stated:g} m a unit, in which the body would be {stature * stated:.3g} m tall; "
            f"{guess.value:.4g} m a unit are used. Override with --scale."
        )
        odd = [Finding("unit", message, guess.value)]
    return [guess, *odd]


def _guess_unit(skeleton: Skeleton, stature: float) -> list[Finding]:
    units = dict(UNITS)
    names = set(skeleton.names)
    if names >= _CMU_JOINTS:
        units = {name: units[name] for name in reversed(UNITS)}
    elif names >= _MMD_JOINTS:
        units = {**_MMD_UNIT, **units}
    for unit, metres in units.items():
        if _SHORTEST <= stature * metres <= _TALLEST:
            reason = f"in {unit} the body is {stature * metres:.2f} m tall by its bones"
            guess = Finding("unit", reason, metres, "guessed", "scale")
            message = f"{reason}, so 1 unit is {100.0 * metres:.4g} cm."
            return [guess] if unit in _USUAL else [guess, Finding("unit", message, metres)]
    metres = TYPICAL_STATURE / stature
    reason = (
        f"in no known unit is a body of {stature:.4g} units as tall as a person, so it is scaled to {TYPICAL_STATURE} m"
    )
    odd = [Finding("unit", f"{reason}. Give --scale or --height.", metres)]
    return [Finding("unit", reason, metres, "guessed", "scale"), *odd]


TYPICAL_STATURE = 1.7  # m
# Longest way along the bones of a person, hand to toes, over stature: 1.31 to 1.51 on the skeletons of 24 recordings,
# 1.30 without arms.
_SPAN = 1.4
# A stature found from roles, over the rough one: less or more means that the roles are not a person's. One limb alone
# has a span of a third of the stature.
_LEAST, _MOST = 0.18, 4.5


def compute_stature(skeleton: Skeleton) -> float:
    """How tall the body stands, in the skeleton's own unit; 0 if it has no length.

    As `poise.body.segments.stature.find_stature`; for what has neither leg nor arm, roughly, from the longest way along
    its bones.
    """
    roughly = _compute_span(skeleton) / _SPAN
    if roughly == 0.0:
        return 0.0
    found = find_stature(skeleton)
    return found[0] if found is not None and _LEAST * roughly <= found[0] <= _MOST * roughly else roughly


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

"""Metrics of a lift: which joints reached their torque limits, when, and how the motion changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from poise.body.roles import SIDES, TRUNK_ROLES
from poise.body.strength.joint_strength import JointStrength
from poise.jobs.lift.follow import Efforts
from poise.motion.clip import Clip
from poise.motion.parts import find_runs

GAP = 0.1  # s: limits that are no farther apart are one
NOTED = 2.0  # degrees, from which on a change of bend is told
_NAMED = 4  # of those who were limited, the ones that a report tells of


class Limit(NamedTuple):
    """A degree of freedom at the bound of its strength.

    way        -1 or 1: the torque's sign
    intervals  (first, last) s each
    """

    joint: str
    axis: str
    way: int
    intervals: tuple[tuple[float, float], ...]

    @property
    def seconds(self) -> float:
        """s, all of them together."""
        return sum(last - first for first, last in self.intervals)


def list_limits(efforts: Efforts) -> list[Limit]:
    """Who was limited, the first one first."""
    found = []
    if not len(efforts.times):
        return []
    step = float(efforts.times[0])  # the first ends one step after the beginning
    for k, (joint, axis) in enumerate(zip(efforts.joints, efforts.axes, strict=True)):
        for way in (-1, 1):
            runs = find_runs(efforts.at[:, k] == way)
            spans = _join([(float(efforts.times[a]) - step, float(efforts.times[b])) for a, b in runs])
            if spans:
                found.append(Limit(joint, axis, way, tuple(spans)))
    return sorted(found, key=lambda limit: limit.intervals[0][0])


def list_joints(limits: list[Limit]) -> list[str]:
    """The joints that were limited, each once, in order."""
    return list(dict.fromkeys(limit.joint for limit in limits))


def describe_limits(limits: list[Limit]) -> list[dict[str, Any]]:
    """`limits`, in words of JSON."""
    return [
        {
            "joint": limit.joint, "axis": limit.axis, "way": limit.way, "seconds": limit.seconds,
            "intervals_s": [list(span) for span in limit.intervals],
        }
        for limit in limits
    ]  # fmt: skip


def find_changes(result: Clip, wanted: Clip, muscles: JointStrength) -> dict[str, float]:
    """Degrees by which the back, hips, knees and ankles bend more than in the clip, at most; less: negative.

    The back is all of the trunk's joints together, above the hips; of hips, knees and ankles it is the mean of both.
    """
    angles = []
    for clip in (wanted, result):
        still = np.zeros((*clip.rotations.shape[:2], 3))
        angles.append(muscles.find_state(clip.rotations, still)[0])
    more = np.degrees(angles[1] - angles[0])
    labels = [(label, axis) for label, axis in zip(muscles.labels, muscles.axes, strict=True)]
    # knees and the trunk bend about +x, hips and ankles (lifting the foot) about -x
    parts = {
        "back": ([(role, "x") for role in TRUNK_ROLES], 1.0),
        "hips": ([(side + "UpperLeg", "x") for side in SIDES], -0.5),
        "knees": ([(side + "LowerLeg", "x") for side in SIDES], 0.5),
        "ankles": ([(side + "Foot", "x") for side in SIDES], -0.5),
    }
    found = {}
    for part, (members, share) in parts.items():
        rows = [labels.index(member) for member in members if member in labels]
        if rows:
            change = share * more[:, rows].sum(axis=1)
            found[part] = float(change[np.argmax(np.abs(change))])
    return found


def say_limits(limits: list[Limit], changes: Mapping[str, float]) -> str:
    """In a sentence: who was limited when, and what bent more."""
    if not limits:
        return "no joint came to the limit of its strength."
    joints: dict[str, list[tuple[float, float]]] = {}
    for limit in limits:
        joints.setdefault(limit.joint, []).extend(limit.intervals)
    longest = sorted(joints, key=lambda joint: -sum(b - a for a, b in _join(joints[joint])))
    said = []
    for joint in longest[:_NAMED]:
        spans = _join(joints[joint])
        times = " and ".join(f"{a:.2g} to {b:.2g}" for a, b in spans) if len(spans) < 3 else (
            f"{spans[0][0]:.2g} to {spans[-1][1]:.2g} in {len(spans)} pieces"
        )  # fmt: skip
        said.append(f"{joint} at its limit from {times} s")
    if len(longest) > _NAMED:
        said.append(f"{len(longest) - _NAMED} more")
    said += [f"{part} {change:+.0f} degrees" for part, change in changes.items() if abs(change) >= NOTED]
    return "; ".join(said) + "."


def _join(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Spans in order, those that are near together as one."""
    found: list[tuple[float, float]] = []
    for first, last in sorted(spans):
        if found and first - found[-1][1] <= GAP + 1e-9:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return found

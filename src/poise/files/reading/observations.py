"""Observations of a motion in metres, Y up: what its user may not expect, and what is left as it is.

Each takes a `Reading` and returns findings; `pipeline.OBSERVATIONS` lists them in order.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poise.body.role_finding.guess import check_human
from poise.body.roles import ARM_STEMS, LEG_STEMS, SIDES, TRUNK_ROLES, sided
from poise.body.segments.stature import MEASURED, STATED
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.files.formats.bvh.text import BvhFile
from poise.files.reading.recording import KEEP, RESTORE
from poise.files.reading.repairs import restore_lost_bones
from poise.files.reading.rest_pose import degrees_from_z, find_body_axis, find_left
from poise.files.reading.unit import compute_stature
from poise.findings import Finding, list_names
from poise.motion.clip import Clip
from poise.motion.contacts.glitches import describe_glitches
from poise.spatial import rotation

if TYPE_CHECKING:
    from poise.files.reading.pipeline import Reading

_FLOOR = 0.05  # m: soles of captured skeletons are a few centimetres off the floor as it is
_LEVEL = 0.12  # m: feet that rest this much higher than the floor stand on something
_HEADING = 20.0  # degrees
_STILL_SPEED = 0.1  # m/s
_SHORTEST_REST = 0.2  # s, that feet must be down for a floor to be known
_MOST_NAMES = 8
_STILL = np.radians(0.01)
# Roles in the order in which each carries the next.
_CHAINS = (
    ("hips", *TRUNK_ROLES, "neck", "head"),
    *(("hips", *sided(LEG_STEMS, [side])) for side in SIDES),
    *(sided(ARM_STEMS, [side]) for side in SIDES),
)


@dataclass(frozen=True)
class FloorLevels:
    """Where the feet stand: the floor's height in m, and the highest level they rest on, above it."""

    height: float
    steps: float


def find_ground(clip: Clip) -> FloorLevels | None:
    """The floor under a motion, or None where no foot rests long enough to tell. Frames of lying do not count."""
    from poise.motion.contacts.contacts import find_contacts, point_velocity
    from poise.motion.contacts.points import foot_points

    if len(clip) < 3 or clip.duration < _SHORTEST_REST:
        return None
    try:
        check_human(clip.skeleton)
        contacts = find_contacts(clip)
    except InputError:
        return None
    dt = clip.duration / (len(clip) - 1)
    standing = _is_upright(clip)
    down = contacts.foot & standing[:, None]
    if down.any(axis=1).sum() * dt < _SHORTEST_REST:
        return None
    points = foot_points(clip)
    lowest = points[..., 1].min(axis=2)  # (F, 2)
    resting = lowest[down]
    height = float(np.median(resting[resting < np.percentile(resting, 5) + _LEVEL]))
    still = (np.linalg.norm(point_velocity(clip.times, points), axis=-1) < _STILL_SPEED).all(axis=2)
    # On a step both feet are off the floor; whoever stands on one leg has only one there.
    stepped = still.any(axis=1) & (lowest.min(axis=1) > height + _LEVEL) & standing
    steps = (
        float(np.percentile(lowest[stepped].min(axis=1), 90)) - height if stepped.sum() * dt > _SHORTEST_REST else 0.0
    )
    return FloorLevels(height, steps)


def _is_upright(clip: Clip) -> np.ndarray:
    """(F,) whether the trunk is nearer to upright than to lying."""
    hips = np.mean([clip.positions[:, clip.skeleton.index(f"{side}UpperLeg")] for side in SIDES], axis=0)
    top = next((j for j in map(clip.skeleton.find_role, ("neck", "head", "spine")) if j is not None), None)
    if top is None:
        return np.ones(len(clip), bool)
    trunk = clip.positions[:, top] - hips
    return np.asarray(trunk[:, 1] > 0.5 * np.linalg.norm(trunk, axis=1))


def describe_lost_bones(reading: Reading) -> list[Finding]:
    """Bones without length, and what was done about them."""
    lost = reading.lost_bones
    if not lost:
        return []
    said = f"the bones after {', '.join(lost)} have no length in the file"
    if reading.bones == KEEP:
        said += f" and are kept so. Use --bones {RESTORE} to give them a length from proportions."
    else:
        said += (
            f"; they were restored from proportions, which moves joints by up to {1e3 * reading.restored_error:.0f} mm "
            f"from where the file has them. Use --bones {KEEP} to keep the file's lengths."
        )
    return [Finding("lost bones", said, lost)]


def describe_stature(reading: Reading) -> list[Finding]:
    """A stature that is estimated from a part of the body, or unknown."""
    if reading.stature_source is None:
        message = "unknown, since the joints are of no whole leg or arm. Give --scale where units matter."
        return [Finding("stature", message)]
    if reading.stature_source in (MEASURED, STATED):
        return []
    message = f"{reading.stature:.2f} m, {reading.stature_source}. Give --height where it is known."
    return [Finding("stature", message, reading.stature)]


def describe_ground(reading: Reading) -> list[Finding]:
    """A floor that is not at height 0, and levels above it."""
    ground, found = reading.ground, []
    if ground is not None and abs(ground.height) > _FLOOR:
        message = f"the feet stand at a height of {ground.height:.2f} m, not at 0; it is left there."
        found.append(Finding("floor", message, ground.height))
    if ground is not None and ground.steps > 0.0:
        message = f"a foot rests up to {ground.steps:.2f} m above the floor, on something that is not in the file."
        found.append(Finding("levels", message, ground.steps))
    return found


def find_heading(clip: Clip) -> float | None:
    """Degrees about the vertical from +Z to where the body faces in the first frame; None where it is not upright."""
    positions = clip.positions[0]
    up, left = find_body_axis(clip.skeleton, positions), find_left(clip.skeleton, positions)
    if not (np.isfinite(up).all() and np.isfinite(left).all()) or up[1] < 0.7:
        return None
    front = np.cross(left, up)
    return degrees_from_z(front)


def describe_heading(reading: Reading) -> list[Finding]:
    """A motion that does not begin facing +Z."""
    heading = reading.heading
    if heading is None or abs(heading) <= _HEADING:
        return []
    side = "left" if heading > 0 else "right"
    message = f"the motion begins facing {abs(heading):.0f} degrees to the {side} of +Z; it is left so."
    return [Finding("heading", message, heading)]


def find_flat_joints(reading: Reading) -> list[Finding]:
    """Joints in their parents' place."""
    skeleton = reading.clip.skeleton
    lengths, least = np.linalg.norm(skeleton.offsets[1:], axis=1), 1e-6 * compute_stature(skeleton)
    flat = [name for name, length in zip(skeleton.names[1:], lengths, strict=True) if length <= least]
    if not flat:
        return []
    return [Finding("zero-length joints", f"{_list(flat)} share their parents' place; they are kept.", tuple(flat))]


def find_still_joints(reading: Reading) -> list[Finding]:
    """Joints that never turn, in a clip in which most do: they were not captured.

    Clavicles are left out, which few animate, and so are ends and joints without length, which have nothing to turn.
    """
    clip = reading.clip
    if len(clip) < 30:
        return []
    skeleton = clip.skeleton
    turned = rotation.angle(clip.rotations, clip.rotations[:1]).max(axis=0) > _STILL
    if clip.shifts is not None:  # what slides was captured
        turned |= np.ptp(clip.shifts, axis=0).max(axis=1) > 0.0
    lengths = np.linalg.norm(skeleton.offsets, axis=1)
    carries = np.isin(np.arange(len(skeleton)), skeleton.parents) | skeleton.has_tip
    clavicles = {skeleton.find_role(f"{side}Shoulder") for side in SIDES}
    still = [
        name
        for i, name in enumerate(skeleton.names)
        if i > 0 and i not in clavicles and carries[i] and lengths[i] > 0.0 and not turned[i]
    ]
    if not still or len(still) > 0.5 * len(clip.skeleton):
        return []
    message = f"{_list(still)} never turn in this clip; they may not have been captured."
    return [Finding("still joints", message, tuple(still))]


def find_mirrored_names(reading: Reading) -> list[Finding]:
    """Feet that point to the back of a body whose left is what the names say (rest pose, Y up)."""
    skeleton = reading.clip.skeleton
    rest = skeleton.rest_positions()
    up, left = find_body_axis(skeleton, rest), find_left(skeleton, rest)
    front = np.cross(left, up)
    ahead = []
    for side in SIDES:
        foot, toes = skeleton.find_role(f"{side}Foot"), skeleton.find_role(f"{side}Toes")
        if foot is None:
            continue
        end = rest[toes] if toes is not None else rest[foot] + skeleton.tips[foot]
        ahead.append(float((end - rest[foot]) @ front) / (float(np.linalg.norm(end - rest[foot])) + 1e-12))
    if len(ahead) == 2 and max(ahead) < -0.5:
        message = (
            "the feet point backwards if left and right are as the names say; the file may be mirrored. Override with "
            "--roles."
        )
        return [Finding("sides", message)]
    return []


def find_crossed_roles(reading: Reading) -> list[Finding]:
    """Roles that contradict the tree: reversed, on the other side, or not on their limb."""
    limbs = _Limbs(reading.clip.skeleton)
    found = [finding for chain in _CHAINS for finding in limbs.find_reversed(chain)]
    for side, other in (SIDES, SIDES[::-1]):
        for stems in (ARM_STEMS[1:], LEG_STEMS):
            found += limbs.find_crossed(side, other, stems)
    return found


class _Limbs:
    """The joints that have roles, and the joints that each hangs on."""

    def __init__(self, skeleton: Skeleton):
        self._names = skeleton.names
        self._joints = {role: joint for role in skeleton.roles if (joint := skeleton.find_role(role)) is not None}
        self._above = {role: set(skeleton.chain(joint)) - {joint} for role, joint in self._joints.items()}

    def _label(self, role: str) -> str:
        return f"{role} ({self._names[self._joints[role]]})"

    def find_reversed(self, chain: Sequence[str]) -> list[Finding]:
        """A role that hangs on one which it should carry."""
        there = [role for role in chain if role in self._joints]
        wrong = [pair for pair in itertools.combinations(there, 2) if self._joints[pair[1]] in self._above[pair[0]]]
        if not wrong:
            return []
        near, far = max(wrong, key=lambda pair: len(self._above[pair[1]]))
        message = f"{self._label(near)} hangs on {self._label(far)}, which it should carry. Mend with --roles."
        return [Finding("roles", message, near)]

    def find_crossed(self, side: str, other: str, stems: Sequence[str]) -> list[Finding]:
        """Roles of a limb that hang on the other side's, or not on their own limb."""
        joints, above, found = self._joints, self._above, []
        theirs = {joints[other + stem]: other + stem for stem in stems if other + stem in joints}
        crossed = [side + s for s in stems if side + s in joints and above[side + s] & theirs.keys()]
        if crossed:
            on = theirs[max(above[crossed[0]] & theirs.keys())]
            message = f"{self._label(crossed[0])} hangs on {self._label(on)}, on the other side. Mend with --roles."
            found.append(Finding("sides", message, crossed[0]))
        there = [side + stem for stem in stems if side + stem in joints and side + stem not in crossed]
        for near, far in itertools.pairwise(there):
            if joints[near] not in above[far] and joints[far] not in above[near] and joints[near] != joints[far]:
                message = (
                    f"{self._label(far)} does not hang on {self._label(near)}, which therefore does not move it. "
                    "Choose a joint of that limb with --roles."
                )
                found.append(Finding("roles", message, far))
        return found


def find_euler_orders(reading: Reading) -> list[Finding]:
    """Several Euler orders in one BVH file, which many programs read wrong."""
    source = reading.recording.source
    if not isinstance(source, BvhFile):
        return []
    orders = {
        "".join(channel[0] for channel in joint.channels if channel.endswith("rotation"))
        for joint in source.joints
        if sum(channel.endswith("rotation") for channel in joint.channels) > 1
    }
    if len(orders) < 2:
        return []
    message = f"the joints of this file have {len(orders)} ({', '.join(sorted(orders))}); each is kept to."
    return [Finding("Euler orders", message, tuple(sorted(orders)))]


def check_frame_rate(reading: Reading) -> list[Finding]:
    """A frame rate that gravity contradicts, or that the file does not state."""
    clip, origin = reading.clip, reading.find("frame rate").origin
    if origin == "given" or len(clip) < 2:
        return []
    if origin == "guessed":
        message = f"the file states none; {clip.fps:.4g} Hz is assumed. Give --fps."
        return [Finding("frame rate", message, clip.fps)]
    from poise.motion.contacts.frame_rate import check_rate, describe_rate

    # Where bones lost their length the body is judged with it: forces go by where its mass is.
    if reading.recording.skin is None:
        clip = clip.replace(skeleton=restore_lost_bones(clip.skeleton)[0])
    return describe_rate(check_rate(clip, None if reading.ground is None else reading.ground.height))


def list_glitches(reading: Reading) -> list[Finding]:
    """Frames in which the root jumps or a joint flips."""
    return describe_glitches(reading.clip, reading.clip.glitches)


def _list(names: list[str]) -> str:
    return list_names(names, _MOST_NAMES)

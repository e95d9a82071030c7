"""What a motion in metres, Y up, does that its user may not expect, and that is left as it is."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from poise.body.role_finding.guess import check_human
from poise.body.roles import ARM_STEMS, LEG_STEMS, SIDES, TRUNK_ROLES, sided
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.files.formats.bvh.text import BvhFile
from poise.files.reading.rest_pose import degrees_from_z, find_body_axis, find_left
from poise.motion.clip import Clip
from poise.spatial import rotation

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


def describe_ground(ground: FloorLevels | None) -> list[str]:
    """Warnings about the floor's height and levels."""
    warnings = []
    if ground is not None and abs(ground.height) > _FLOOR:
        warnings.append(f"floor: the feet stand at a height of {ground.height:.2f} m, not at 0; it is left there.")
    if ground is not None and ground.steps > 0.0:
        warnings.append(
            f"levels: a foot rests up to {ground.steps:.2f} m above the floor, on something that is not in the file."
        )
    return warnings


def find_heading(clip: Clip) -> float | None:
    """Degrees about the vertical from +Z to where the body faces in the first frame; None where it is not upright."""
    positions = clip.positions[0]
    up, left = find_body_axis(clip.skeleton, positions), find_left(clip.skeleton, positions)
    if not (np.isfinite(up).all() and np.isfinite(left).all()) or up[1] < 0.7:
        return None
    front = np.cross(left, up)
    return degrees_from_z(front)


def describe_heading(heading: float | None) -> list[str]:
    """A warning where the motion does not begin facing +Z."""
    if heading is None or abs(heading) <= _HEADING:
        return []
    side = "left" if heading > 0 else "right"
    return [f"heading: the motion begins facing {abs(heading):.0f} degrees to the {side} of +Z; it is left so."]


def find_flat_joints(skeleton: Skeleton, stature: float) -> list[str]:
    """Warnings about joints in their parents' place."""
    lengths = np.linalg.norm(skeleton.offsets[1:], axis=1)
    flat = [name for name, length in zip(skeleton.names[1:], lengths, strict=True) if length <= 1e-6 * stature]
    return [f"zero-length joints: {_list(flat)} share their parents' place; they are kept."] if flat else []


def find_still_joints(clip: Clip) -> list[str]:
    """A warning about joints that never turn, in a clip in which most do: they were not captured.

    Clavicles are left out, which few animate, and so are ends and joints without length, which have nothing to turn.
    """
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
    return [f"still joints: {_list(still)} never turn in this clip; they may not have been captured."]


def find_mirrored_names(skeleton: Skeleton) -> list[str]:
    """A warning where the feet point to the back of a body whose left is what the names say (rest pose, Y up)."""
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
        return [
            "sides: the feet point backwards if left and right are as the names say; the file may be mirrored. "
            "Override with --roles."
        ]
    return []


def find_crossed_roles(skeleton: Skeleton) -> list[str]:
    """Return warnings about roles that contradict the tree: reversed, on the other side, or not on their limb."""
    said = []
    places = {role: joint for role in skeleton.roles if (joint := skeleton.find_role(role)) is not None}
    above = {role: set(skeleton.chain(joint)) - {joint} for role, joint in places.items()}

    def tell(role: str) -> str:
        return f"{role} ({skeleton.names[places[role]]})"

    for chain in _CHAINS:
        there = [role for role in chain if role in places]
        wrong = [pair for pair in itertools.combinations(there, 2) if places[pair[1]] in above[pair[0]]]
        if wrong:
            near, far = max(wrong, key=lambda pair: len(above[pair[1]]))
            said.append(f"roles: {tell(near)} hangs on {tell(far)}, which it should carry. Mend with --roles.")
    for side, other in (SIDES, SIDES[::-1]):
        for stems in (ARM_STEMS[1:], LEG_STEMS):
            theirs = {places[other + stem]: other + stem for stem in stems if other + stem in places}
            crossed = [side + s for s in stems if side + s in places and above[side + s] & theirs.keys()]
            if crossed:
                on = theirs[max(above[crossed[0]] & theirs.keys())]
                said.append(f"sides: {tell(crossed[0])} hangs on {tell(on)}, on the other side. Mend with --roles.")
            there = [side + stem for stem in stems if side + stem in places and side + stem not in crossed]
            for near, far in itertools.pairwise(there):
                if places[near] not in above[far] and places[far] not in above[near] and places[near] != places[far]:
                    said.append(
                        f"roles: {tell(far)} does not hang on {tell(near)}, which therefore does not move it. "
                        "Choose a joint of that limb with --roles."
                    )
    return said


def find_euler_orders(source: object) -> list[str]:
    """A warning where a BVH file's joints have several Euler orders, which many programs read wrong."""
    if not isinstance(source, BvhFile):
        return []
    orders = {
        "".join(channel[0] for channel in joint.channels if channel.endswith("rotation"))
        for joint in source.joints
        if sum(channel.endswith("rotation") for channel in joint.channels) > 1
    }
    if len(orders) < 2:
        return []
    return [f"Euler orders: the joints of this file have {len(orders)} ({', '.join(sorted(orders))}); each is kept to."]


def _list(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")

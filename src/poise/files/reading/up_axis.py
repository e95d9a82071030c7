"""Which axis of a file is up: as it states, else as rest pose and motion say, who are two witnesses.

Some files stand along one axis at rest and turn the whole body by the root's channels, which have another one up.
People also lie, crawl and stand on their hands, and a clip of someone who lies all the time looks just like that. Three
things tell the two apart, all of them without a unit:

- the body is along another axis than the rest pose's in most frames (`_count_axes`);
- the ground carries the motion, were that axis up, and does not, were the rest pose's (`carried`). Who steps, squats
  or jumps is carried along one axis only;
- where nothing but arms move both are possible. Then the floor, at height zero, is under the soles along one axis, or
  right under the trunk of who lies along the other.

The motion is believed on strong evidence only; where it is weak the rest pose is, and the doubt is said.

How well the ground carries a motion, were a given direction up:

Who is not in the air stands, kneels or lies on something that does not move: of the body's lowest points some rest, and
the centre of mass is over them. True of the real vertical in nearly every frame of nearly every motion, standing, lying
or on hands; of any other direction only while nothing moves at all. Lengths are in statures, so that no unit matters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poise.body.roles import SIDES, sided
from poise.body.skeleton import Skeleton
from poise.files.reading.reframe import AXES, AXIS_VECTORS
from poise.files.reading.rest_pose import UPRIGHT, find_body_axis, find_line
from poise.files.reading.unit import compute_stature
from poise.findings import Finding, Origin
from poise.motion.clip import Clip

if TYPE_CHECKING:
    from poise.files.reading.recording import Interpretation

_MOST_FRAMES = 240
# The file's own word is contradicted if this share of frames stands along another axis, and less than that along its.
_STANDING, _NEVER = 0.6, 0.02
_ALONG = np.cos(np.radians(40.0))  # how near to an axis the line from feet to neck is of who is upright
# The share of frames that the ground carries: what a motion needs along its own axis, and how much less the rest pose's
# has then; below the second number by the third. (Set on made motions of 19 kinds, in the gaps between them.)
_CARRIED, _POSSIBLE, _BETTER = 0.3, 0.6, 0.35
# Of a motion that stands only now and then (a fall, getting up): least share of frames, carried, and how much more so.
_AT_TIMES, _WELL, _MORE = 0.15, 0.7, 0.1
# Heights in statures: of the lowest joints of who is on the floor; of those, and of the trunk, of who lies on it.
_ON_FLOOR, _LOW, _LYING, _ALWAYS = (-0.03, 0.075), (-0.03, 0.12), (0.025, 0.17), 0.9
_NEAR, _LEVEL = 0.12, 0.03  # of hands that carry: how far above the lowest joint, and how much that may rise and fall


def nearest_axis(direction: np.ndarray) -> str | None:
    """The signed axis that a direction (3,) is nearest to, or None where it is near none."""
    if not np.isfinite(direction).all():
        return None
    best = int(np.argmax(AXIS_VECTORS @ direction))
    return AXES[best] if AXIS_VECTORS[best] @ direction > UPRIGHT else None


def find_rest_up(skeleton: Skeleton) -> str | None:
    """The axis along which the body stands in its rest pose, or None where it does not stand."""
    return nearest_axis(find_body_axis(skeleton, skeleton.rest_positions()))


def choose_up_axis(motion: Interpretation) -> list[Finding]:
    """Choose the vertical axis: as given, as stated, or as rest pose and motion stand."""
    if motion.given.up is not None:
        found = [Finding("up axis", "given", motion.given.up, "given")]
    else:
        found = find_up(motion.clip, compute_stature(motion.body), motion.recording.up)
    motion.up = found[0].value
    return found


def find_up(clip: Clip, stature: float, stated: str | None = None) -> list[Finding]:
    """Return the vertical axis of a motion in file units; and a warning if it is unusual or contradicts the file.

    The first finding's value is the axis.
    """
    rest = find_rest_up(clip.skeleton)
    frames = np.linspace(0, len(clip) - 1, min(len(clip), _MOST_FRAMES)).astype(int)
    shares = _count_axes(find_body_axis(clip.skeleton, clip.positions[frames]), UPRIGHT)
    moving = max(shares, key=lambda axis: shares[axis])
    if stated is not None:
        if rest is not None and rest == moving != stated and shares[moving] > _STANDING and shares[stated] < _NEVER:
            return _decide(rest, f"the body stands along {rest} at rest and in motion", _contradiction(stated, rest))
        seen = _weigh(clip, stature, rest)[0].value if rest == stated else stated
        odd = None if stated == "Y" else f"the file is {stated}-up."
        return _decide(stated, "the file says so", odd if seen == stated else _question(stated, seen), "stated")
    if rest is None:
        if shares[moving] == 0.0:
            return _decide("Y", "the body does not stand at rest or in motion, so the usual axis is assumed", None)
        return _decide(moving, f"in motion the body stands along {moving}", _name_axis(moving))
    return _weigh(clip, stature, rest)


def _decide(axis: str, reason: str, odd: str | None, origin: Origin = "guessed") -> list[Finding]:
    """The decision for an axis, and what is odd about it."""
    decision = Finding("up axis", reason, axis, origin, "up")
    return [decision] if odd is None else [decision, Finding("up axis", odd, axis)]


def _weigh(clip: Clip, stature: float, rest: str) -> list[Finding]:
    """Rest pose against motion: the axis, and a warning."""
    at_rest = f"at rest the head is above the feet along {rest}"
    if len(clip) < 2 or stature <= 0.0:
        return _decide(rest, at_rest, _name_axis(rest))
    motion = sample_motion(clip.skeleton, clip.times, clip.positions, stature, _MOST_FRAMES)
    shares = _count_axes(find_line(clip.skeleton, motion.places), _ALONG)
    others = [axis for axis in AXES if axis != rest and shares[axis] >= _AT_TIMES]
    if not others:
        return _decide(rest, at_rest, _name_axis(rest))
    ours = _hear(motion, clip.skeleton, rest, shares)
    theirs = sorted((_hear(motion, clip.skeleton, axis, shares) for axis in others), key=lambda w: -w.carried)
    for witness in theirs:
        if _overrules(witness, ours):
            axis = witness.axis
            return _decide(
                axis,
                f"in {witness.share:.0%} of the frames the body stands along {axis}, and the ground carries it",
                f"the rest pose stands along {rest}, the motion along {axis}; the motion is believed. Override with "
                "--up.",
            )
    doubt = next((w for w in theirs if w.share >= _STANDING and ours.share < _NEVER and w.carried > _CARRIED), None)
    return _decide(rest, at_rest, _name_axis(rest) if doubt is None else _doubt(rest, doubt.axis))


@dataclass(frozen=True)
class _Witness:
    """What a motion says of an axis, were it up.

    share, carried  of the frames in which the body is along it, and in which the ground carries the body
    on_floor        whether the lowest of the body is at height zero
    on_hands        whether both hands are among the lowest, at one level all the time
    """

    axis: str
    share: float
    carried: float
    on_floor: bool
    on_hands: bool


def _hear(motion: BodySamples, skeleton: Skeleton, axis: str, shares: Mapping[str, float]) -> _Witness:
    up = AXIS_VECTORS[AXES.index(axis)]
    lowest = (motion.places @ up).min(axis=1)
    # Who jumps is in the air for a while, but never under the floor.
    on_floor = _is_within(np.percentile(lowest, [5.0, 50.0]), _ON_FLOOR) == 1.0
    if shares[axis] < _NEVER:
        on_floor = _is_down(motion, up, lowest)
    hands = [joint for joint in map(skeleton.find_role, ("leftHand", "rightHand")) if joint is not None]
    above = (motion.places[:, hands] @ up).max(axis=1, initial=-np.inf) - lowest
    on_hands = bool(hands) and np.std(lowest) < _LEVEL and _is_within(above, (-1.0, _NEAR)) >= _ALWAYS
    return _Witness(axis, shares[axis], compute_carried(motion, up), on_floor, bool(on_hands))


def _is_down(motion: BodySamples, up: np.ndarray, lowest: np.ndarray) -> bool:
    """Whether a body that is never upright is on a floor at height zero, lying or on what it reaches down to it."""
    height = float(np.median(motion.places[:, motion.trunk] @ up))
    if height >= _LYING[1]:
        return _is_within(lowest, _ON_FLOOR) >= _ALWAYS
    armless = (motion.places[:, motion.armless] @ up).min(axis=1)
    return height > _LYING[0] and _is_within(armless, _LOW) >= _ALWAYS


def _is_within(values: np.ndarray, limits: tuple[float, float]) -> float:
    """The share of values between two limits."""
    return float(np.mean((values > limits[0]) & (values < limits[1])))


def _overrules(motion: _Witness, rest: _Witness) -> bool:
    """Whether the motion's word for one axis is strong enough against the rest pose for another."""
    has_floor = motion.on_floor and not rest.on_floor
    if motion.share < _STANDING:
        return has_floor and motion.carried > max(_WELL, rest.carried + _MORE)
    is_carried_alone = motion.carried > _CARRIED and rest.carried < min(
        _POSSIBLE, motion.carried - min(_BETTER, 0.75 * motion.carried)
    )
    if is_carried_alone and rest.on_floor:
        return motion.on_floor and motion.carried > _WELL
    if is_carried_alone:
        return motion.on_floor or not rest.on_hands
    return has_floor and rest.share < _NEVER


def _doubt(rest: str, along: str) -> str:
    return (
        f"the body stands along {rest} at rest and never in the motion, where it is along {along}; it is "
        f"taken to lie. If it stands there, say --up={along}."
    )


def _question(stated: str, seen: str) -> str:
    return (
        f"the file says {stated}, and so does its rest pose, but the motion stands along {seen}; {stated} is "
        f"kept. If the motion is right, say --up={seen}."
    )


def _name_axis(up: str) -> str | None:
    return None if up == "Y" else f"the body stands along {up}; it is turned to Y."


def _contradiction(stated: str, found: str) -> str:
    return (
        f"the file says {stated}, but the body stands along {found} at rest and in motion; {found} is used. "
        "Override with --up."
    )


def _count_axes(lines: np.ndarray, near: float) -> dict[str, float]:
    """The share of lines (K, 3) along each axis; NaN is along none."""
    return dict(zip(AXES, (np.nan_to_num(lines) @ AXIS_VECTORS.T > near).mean(axis=0).tolist(), strict=True))


# What a role's joint carries of the body's mass, rounded from de Leva (1996); the trunk's lies between hips and neck.
_MASSES = {
    "hips": 0.22, "neck": 0.24, "head": 0.07,
    **{f"{side}{stem}": mass for side in SIDES for stem, mass in (
        ("UpperLeg", 0.07), ("LowerLeg", 0.10), ("Foot", 0.035), ("UpperArm", 0.014), ("LowerArm", 0.022),
        ("Hand", 0.014),
    )},
}  # fmt: skip
_NEAR_GROUND = 0.08  # joints this much above the lowest level may rest on the ground: ankles, hips of who lies
_GROUND_PERCENTILE = 5.0  # percentile of the lowest points that is the ground's level
_UNDER = 0.05  # how far a point may be under it
_REACH = 0.1  # the centre of mass may be this far outside of what rests: soles are longer than their joints are apart
_SLOWEST, _SHARE = 0.12, 0.15  # resting: statures a second, or this share of how fast the body's ends get
_BELT = 0.25  # a body that travels this little, as a share of its feet's speed, walks on a belt


@dataclass(frozen=True, eq=False)
class BodySamples:
    """Frames of a body in any axes, in statures.

    places      (K, J, 3)
    velocities  (K, J, 3) a second
    center      (K, 3) roughly the centre of mass
    armless     joints that are no part of an arm
    trunk       joints between the hips and the head
    top_speed   how fast joints get, a second
    """

    places: np.ndarray
    velocities: np.ndarray
    center: np.ndarray
    armless: list[int]
    trunk: list[int]
    top_speed: float


def sample_motion(
    skeleton: Skeleton, times: np.ndarray, positions: np.ndarray, stature: float, most: int
) -> BodySamples:
    """At most so many frames of positions (F, J, 3), with velocities from their neighbours."""
    picked = np.linspace(0, len(times) - 1, min(len(times), most)).astype(int)
    before, after = np.maximum(picked - 1, 0), np.minimum(picked + 1, len(times) - 1)
    steps = np.maximum(times[after] - times[before], 1e-9)[:, None, None]
    places = positions[picked] / stature
    velocities = (positions[after] - positions[before]) / stature / steps
    joints = {skeleton.find_role(role): mass for role, mass in _MASSES.items()}
    found = {joint: mass for joint, mass in joints.items() if joint is not None} or {0: 1.0}
    weights = np.array(list(found.values()))
    center = np.einsum("kja,j->ka", places[:, list(found)], weights / weights.sum())
    arms = {i for role in sided(("Shoulder", "UpperArm", "Hand")) for i in _below(skeleton, role)}
    legs = {i for role in sided(("UpperLeg",)) for i in _below(skeleton, role)}
    armless = [i for i in range(len(skeleton)) if i not in arms]
    trunk = [i for i in _below(skeleton, "hips") or armless if i not in arms | legs]
    top_speed = float(np.percentile(np.linalg.norm(velocities, axis=-1), 95))
    return BodySamples(places, velocities, center, armless or [0], trunk or [0], top_speed)


def _below(skeleton: Skeleton, role: str) -> list[int]:
    joint = skeleton.find_role(role)
    return [] if joint is None else skeleton.descendants(joint)


def compute_carried(motion: BodySamples, up: np.ndarray) -> float:
    """The share of frames, 0 to 1, in which what rests on the ground holds the body, were `up` (3,) up.

    Arms of made motions swing through the floor: the ground is where it carries most, under all joints or under those
    that are no part of an arm.
    """
    return max(_carry(motion, up, joints) for joints in (slice(None), motion.armless))


def _carry(motion: BodySamples, up: np.ndarray, joints: slice | list[int]) -> float:
    places, velocities = motion.places[:, joints], motion.velocities[:, joints]
    heights = places @ up
    level = float(np.percentile(heights.min(axis=1), _GROUND_PERCENTILE))
    low = (heights < level + _NEAR_GROUND) & (heights > level - _UNDER)
    across = _plane(up)
    speed = np.linalg.norm(velocities - _find_belt(motion, velocities[low], up), axis=-1)
    resting = low & (speed < max(_SLOWEST, _SHARE * motion.top_speed))
    flat, middle = places @ across, motion.center @ across
    return float(np.mean([_holds(flat[k, resting[k]], middle[k]) for k in range(len(flat))]))


def _plane(up: np.ndarray) -> np.ndarray:
    """(3, 2) two directions across `up`."""
    return np.linalg.svd(up[None])[2][1:].T


def _find_belt(motion: BodySamples, low: np.ndarray, up: np.ndarray) -> np.ndarray:
    """(3,) how the ground moves under a body that steps and stays where it is; zeros on solid ground.

    low  (N, 3) velocities of what is low
    """
    if not len(low):
        return np.zeros(3)
    belt = np.median(low, axis=0)
    belt = belt - (belt @ up) * up
    travel = np.mean(motion.velocities, axis=(0, 1))
    return belt if np.linalg.norm(travel) < _BELT * np.linalg.norm(belt) else np.zeros(3)


def _holds(points: np.ndarray, middle: np.ndarray) -> bool:
    """Whether a point (2,) is over points (N, 2), or not far outside: no direction leads away from all of them."""
    if not len(points):
        return False
    angles = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
    ways = np.stack([np.cos(angles), np.sin(angles)])
    return bool(np.all(((points - middle) @ ways).max(axis=0) > -_REACH))

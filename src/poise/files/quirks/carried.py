"""How well the ground carries a motion, were a given direction up.

Who is not in the air stands, kneels or lies on something that does not move: of the body's lowest points some rest, and
the centre of mass is over them. True of the real vertical in nearly every frame of nearly every motion, standing, lying
or on hands; of any other direction only while nothing moves at all. Lengths are in statures, so that no unit matters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.body.roles import SIDES, sided
from poise.body.skeleton import Skeleton

# What a role's joint carries of the body's mass, rounded from de Leva (1996); the trunk's lies between hips and neck.
_MASSES = {
    "hips": 0.22, "neck": 0.24, "head": 0.07,
    **{f"{side}{stem}": mass for side in SIDES for stem, mass in (
        ("UpperLeg", 0.07), ("LowerLeg", 0.10), ("Foot", 0.035), ("UpperArm", 0.014), ("LowerArm", 0.022),
        ("Hand", 0.014),
    )},
}  # fmt: skip
_NEAR = 0.08  # joints this much above the lowest level may rest on the ground: ankles, hips of who lies
_LEVEL = 5.0  # percentile of the lowest points that is the ground's level
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
    level = float(np.percentile(heights.min(axis=1), _LEVEL))
    low = (heights < level + _NEAR) & (heights > level - _UNDER)
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

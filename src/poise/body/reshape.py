"""A body changed: mass put on it, bones made longer, joints locked, limbs taken off.   [balance, 4.7.4]

Each function gives a new character and leaves the one that it was given alone. What a body weighs, how tall it is and
what of it can turn follow; names stay, so that motions, parts and files go on as they were.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from poise.body.character import Character, Segment
from poise.body.joints import JointLimits
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.kinds import checked
from poise.spatial.inertia import RigidInertia

_DENSITY = 1000.0  # kg/m3 of what is put on, where no radius is given
_STRETCH = (0.2, 5.0)
_FARTHEST = 10.0  # m


@checked
def add_mass(
    character: Character,
    joint: str,
    mass: float,
    offset: Sequence[float] = (0.0, 0.0, 0.0),
    radius: float | None = None,
) -> Character:
    """The body with a ball fixed to a joint: a stomach, a backpack, a plaster cast.

    joint   name or role
    mass    kg, on top of what the body weighs
    offset  (3,) m from the joint, in its frame: +Z is ahead, +Y up, +X to the left
    radius  m of the ball; None: as dense as water
    """
    at = np.asarray(offset, float)
    if not 0.0 < mass <= 1000.0:
        raise InputError(f"the mass put on '{joint}' is {mass:g} kg; it must be more than 0 and at most 1000 kg.")
    if at.shape != (3,) or not np.all(np.abs(at) <= _FARTHEST):
        raise InputError(f"the offset of the mass on '{joint}' is three numbers of at most {_FARTHEST:g} m.")
    if radius is None:
        radius = (3.0 * mass / (4.0 * np.pi * _DENSITY)) ** (1.0 / 3.0)
    if not 0.0 < radius <= _FARTHEST:
        raise InputError(f"the radius of the mass on '{joint}' is {radius:g} m; it must be above 0.")
    ball = RigidInertia(float(mass), at, 0.4 * mass * radius**2 * np.eye(3))
    index = character.skeleton.index(joint)
    name, label = character.skeleton.names[index], character.skeleton.labels[index]
    segments = [
        dataclasses.replace(s, inertia=RigidInertia.total([s.inertia, ball])) if s.joint == name else s
        for s in character.segments
    ]
    if all(segment.joint != name for segment in segments):
        segments.append(Segment(label, name, ball))
    return dataclasses.replace(character, segments=tuple(segments))


@checked
def lengthen(character: Character, factor: float, *joints: str) -> Character:
    """The body with the bones of some joints longer, or shorter, by a factor, and as thick as they were.

    joints  whose bones: names or roles, ("leftUpperLeg", "leftLowerLeg") for a leg

    Matter grows with the bone: its mass, and where it is along it. At rest the lower foot stays at its height, so that
    a body with a longer leg stands on that one, and is taller by as much.
    """
    if not _STRETCH[0] <= factor <= _STRETCH[1]:
        raise InputError(f"a bone is made {_STRETCH[0]:g} to {_STRETCH[1]:g} times as long; given {factor:g}.")
    skeleton = character.skeleton
    offsets, tips = skeleton.offsets.copy(), skeleton.tips.copy()
    of = {segment.joint: segment for segment in character.segments}
    for joint in joints:
        index = skeleton.index(joint)
        along = _find_bone(skeleton, index)
        stretch = np.eye(3) + (factor - 1.0) * np.outer(along, along)
        for child in skeleton.children(index):
            offsets[child] = stretch @ offsets[child]
        tips[index] = stretch @ tips[index]
        name = skeleton.names[index]
        if name in of:
            of[name] = dataclasses.replace(of[name], inertia=_stretch(of[name].inertia, stretch, factor))
    longer = dataclasses.replace(skeleton, offsets=offsets, tips=tips)
    lift = float(skeleton.rest_positions()[:, 1].min() - longer.rest_positions()[:, 1].min())
    offsets[0, 1] += lift
    grown = float(longer.rest_positions()[:, 1].max() - skeleton.rest_positions()[:, 1].max()) + lift
    return dataclasses.replace(
        character, skeleton=dataclasses.replace(longer, offsets=offsets), height=character.height + grown,
        segments=tuple(of[segment.joint] for segment in character.segments),
    )  # fmt: skip


@checked
def lock(character: Character, joint: str, degrees: Sequence[float] = (0.0, 0.0, 0.0)) -> Character:
    """The body with a joint that does not turn: a stiff knee, a fused ankle.

    joint    name or role
    degrees  (3,) the angles that it is locked at, as of its limits: 0 is standing, x bends a knee
    """
    name = character.skeleton.names[character.skeleton.index(joint)]
    angles = np.radians(np.asarray(degrees, float))
    if angles.shape != (3,) or not np.isfinite(angles).all():
        raise InputError(f"a joint is locked at three angles in degrees; '{joint}' was given {degrees!r:.80}.")
    if name == character.skeleton.names[0]:
        raise InputError(f"the root '{name}' is no joint that could be locked.")
    limits = dict(character.limits)
    if name in limits:
        ends = limits[name]
        if np.any(angles < ends.lower - 1e-9) or np.any(angles > ends.upper + 1e-9):
            low, high = np.degrees(ends.lower).round(), np.degrees(ends.upper).round()
            raise InputError(
                f"'{joint}' turns from {low.tolist()} to {high.tolist()} degrees; it cannot be locked at "
                f"{degrees!r:.80}."
            )
        limits[name] = JointLimits(angles, angles, ends.parent_zero, ends.child_zero)
    freedoms = {other: axes for other, axes in character.freedoms.items() if other != name}
    return dataclasses.replace(character, limits=limits, freedoms=freedoms)


@checked
def remove(character: Character, joint: str) -> Character:
    """The body without a joint and all that it carries: an arm, a hand, the toes.

    joint  name or role; not the root
    """
    skeleton = character.skeleton
    gone = set(skeleton.descendants(skeleton.index(joint)))
    if 0 in gone:
        raise InputError(f"'{joint}' is the root; without it there is no body.")
    kept = [i for i in range(len(skeleton)) if i not in gone]
    tips, above = skeleton.tips.copy(), int(skeleton.parents[min(gone)])
    if not skeleton.has_tip[above] and not any(child not in gone for child in skeleton.children(above)):
        tips[above] = skeleton.offsets[min(gone)]  # the stump ends there
    names = {skeleton.names[i] for i in kept}
    rest = Skeleton(
        tuple(skeleton.names[i] for i in kept),
        np.array([-1 if skeleton.parents[i] < 0 else kept.index(int(skeleton.parents[i])) for i in kept]),
        skeleton.offsets[kept], tips[kept],
        {role: name for role, name in skeleton.roles.items() if name in names},
    )  # fmt: skip
    return dataclasses.replace(
        character, skeleton=rest, segments=tuple(s for s in character.segments if s.joint in names),
        limits={name: ends for name, ends in character.limits.items() if name in names},
        freedoms={name: axes for name, axes in character.freedoms.items() if name in names},
    )  # fmt: skip


def _find_bone(skeleton: Skeleton, joint: int) -> np.ndarray:
    """(3,) the unit vector along a joint's bone: to its farthest child or its tip."""
    ends = [skeleton.offsets[child] for child in skeleton.children(joint)]
    if skeleton.has_tip[joint]:
        ends.append(skeleton.tips[joint])
    best = max(ends, key=lambda end: float(np.linalg.norm(end)), default=np.zeros(3))
    size = float(np.linalg.norm(best))
    if size < 1e-6:
        raise InputError(f"joint '{skeleton.names[joint]}' has no bone that could be longer: nothing follows it.")
    return np.asarray(best / size)


def _stretch(inertia: RigidInertia, by: np.ndarray, factor: float) -> RigidInertia:
    """Matter of the same density, every point of it taken to by (3, 3) times where it was."""
    # S = integral of x x^T = tr(I) / 2 - I; it goes to factor A S A^T, and the mass to factor m
    spread = factor * by @ (0.5 * np.trace(inertia.inertia) * np.eye(3) - inertia.inertia) @ by.T
    moments = np.trace(spread) * np.eye(3) - spread
    return RigidInertia(factor * inertia.mass, by @ inertia.center, 0.5 * (moments + moments.T))

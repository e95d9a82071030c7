"""Where the next foot goes: along the way, as far as is usual, where the ground lets it stand.

Several lengths are tried; each is offered to the terrain, which finds a place to stand near it. Of those that the legs
can do the one that costs least is taken: near the usual length, level, and where the ground is even.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from poise.errors import InputError
from poise.spatial import rotation
from poise.walking.course import Course
from poise.walking.feet import WalkingFoot
from poise.walking.manner import Manner
from poise.walking.way import Way, turn_between

# Lengths that are tried, of the usual one, in the order of who wins a tie.
_TRIES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 1.1, 1.2)
_OUTWARD, _INWARD = np.radians(35.0), np.radians(15.0)  # that a foot turns from the other at most
_RISE, _DROP = 0.3, 0.3  # of the leg: up and down from foot to foot
_UNEVEN = 1.5  # cost of a leg's length of height
_BACK, _ASIDE = 0.65, 0.7  # of the step's length, that steps backwards and sideways are long
_CLOSE = 0.02  # m, between soles


class GroundToStandOn(Protocol):
    """What a stride asks of the terrain."""

    def find_foothold(self, x: float, z: float, heading: float, sole: np.ndarray, t: float = 0.0) -> object:
        """A `Foothold`, or a `Refusal`."""


@dataclass(frozen=True, eq=False)
class Stride:
    """Where a foot goes: place (3,) m, turn (4,), and s m, how far along the way that is."""

    place: np.ndarray
    turn: np.ndarray
    s: float


def find_stride(
    course: Course, side: int, s: float, way: Way, manner: Manner, terrain: GroundToStandOn, t: float, closing: bool
) -> Stride:
    """The next place of one foot (0 left, 1 right), whose other foot stands s m along the way.

    closing  whether it comes beside the other, to stand
    """
    foot, other = course.feet[side], course.stances[1 - side][-1]
    leg = min(f.leg for f in course.feet)
    outward = 1.0 if side == 0 else -1.0
    aside = np.sin(way.facing)  # sideways to the right; the foot on that side leads, the other comes beside it
    length = manner.step * leg * (1.0 if np.cos(way.facing) > -0.1 else _BACK)
    if abs(aside) > 0.3:
        length *= _ASIDE * (1.0 - outward * np.sign(aside) * min(1.0, abs(aside) * 1.2))
    facing = _heading_of(other.turn) - -outward * manner.toe_out  # where the other foot's leg faces
    best: tuple[float, Stride] | None = None
    reasons: list[str] = []
    for share in (0.0,) if closing else _TRIES:
        ahead = min(s + length * share, way.length)
        middle, heading = way.at(ahead)
        turned = turn_between(facing, heading)
        most = _OUTWARD if turned * outward > 0.0 else _INWARD
        if abs(turned) > most:
            turned = np.sign(turned) * most
            # a corner: turn first, nearly on the spot
            ahead = min(s + 0.25 * length * share, ahead)
            middle, _ = way.at(ahead)
        heading = facing + turned
        half = 0.5 * manner.width * leg
        wanted = middle + half * outward * np.array([np.cos(heading), -np.sin(heading)])
        found = terrain.find_foothold(
            float(wanted[0]), float(wanted[1]), heading + outward * manner.toe_out, foot.sole, t
        )
        place = getattr(found, "place", None)
        if place is None:
            reasons.append(str(found))
            continue
        up = float(place[1] - other.place[1])
        if not -_DROP * leg <= up <= _RISE * leg:
            reasons.append(f"a step of {up:+.2f} m; this body's legs take {_RISE * leg:.2f} up and {_DROP * leg:.2f} down")
            continue
        stride = Stride(place, found.turn, ahead)  # type: ignore[attr-defined]
        reason = check_stride(course.feet, side, stride, other.place, other.turn, manner)
        if reason:
            reasons.append(reason)
            continue
        far = float(np.linalg.norm(place[[0, 2]] - wanted)) / leg
        cost = (share - 1.0) ** 2 + 4.0 * far**2 + _UNEVEN * abs(up) / leg + float(found.cost)  # type: ignore[attr-defined]
        if best is None or cost < best[0] - 1e-9:
            best = cost, stride
        if share == 1.0 and cost < 1e-6:
            break
    if best is None:
        at = way.at(s)[0]
        raise InputError(
            f"there is no place for the {'left' if side == 0 else 'right'} foot at x {at[0]:.2f}, z {at[1]:.2f} m: "
            f"{reasons[0]}. Walk around it with --path, or take another ground."
        )
    return best[1]


def check_stride(
    feet: tuple[WalkingFoot, WalkingFoot], side: int, stride: Stride, place: np.ndarray, turn: np.ndarray, manner: Manner
) -> str:
    """Why a foot cannot stand there beside the other one (place, turn); empty where it can."""
    leg = min(f.leg for f in feet)
    apart = rotation.rotate(rotation.conjugate(turn), stride.place - place)
    outward = 1.0 if side == 0 else -1.0
    across, along = outward * apart[0], apart[2]
    width = feet[side].corners[1, 0] - feet[side].corners[0, 0]
    if across < (width + _CLOSE) * 0.9 and abs(along) < 0.9 * feet[side].length:
        return "the feet would stand on each other"
    if across < -0.05 * leg:
        return "the legs would cross"
    if np.hypot(across, along) > 0.75 * leg:
        return f"{np.hypot(across, along):.2f} m from the other foot, which is more than its legs take"
    return ""


def _heading_of(turn: np.ndarray) -> float:
    """rad, which way a foot points."""
    ahead = rotation.rotate(turn, np.array([0.0, 0.0, 1.0]))
    return float(np.arctan2(ahead[0], ahead[2]))

"""Where the next foot goes: along the way, as far as is usual, where the ground lets it stand.

Several lengths are tried; each is offered to the terrain, which finds a place to stand near it. Of those that the legs
can do the one that costs least is taken: near the usual length, level, and where the ground is even.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poise.errors import InputError
from poise.spatial import rotation
from poise.walking.feet.foot import WalkingFoot
from poise.walking.feet.stance import FootStance
from poise.walking.footholds.sole_contact import stand_on
from poise.walking.footholds.terrain import NoFoothold, Terrain
from poise.walking.gait import Gait
from poise.walking.path.planner import WalkPath, turn_between
from poise.walking.steps import StepPlan

# Lengths that are tried, of the usual one, in the order of who wins a tie.
_TRIES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 1.1, 1.2)
# And those that are tried where half of the sole would hover over the ground by more than so much (m).
_FINER, _LIES = (0.25, 0.2, 0.35, 0.15, 0.45, 0.1, 1.25, 1.3, 1.4), 0.002
_OUTWARD, _INWARD = np.radians(35.0), np.radians(15.0)  # that a foot turns from the other at most
_RISE, _DROP = 0.36, 0.36  # of the leg: up and down from foot to foot
_STIFF = 0.08  # of the leg: both of somebody with a knee that does not bend
_UNEVEN, _FAR = 1.5, 2.0  # cost of a leg's length of height, and of being off
_FARTHEST, _SHORTER = 0.75, 1.7  # of the leg, between the feet; and how much less for what a foot goes down
_WIDER = (1.0, 1.3, 1.6, 2.0)  # of the usual width, tried where feet would be in each other's way
_CORNER = 0.25  # of a step's length, that it is long in a corner
_BACK, _ASIDE = 0.65, 0.35  # of the step's length, that steps backwards and sideways are long
_LEAST, _PARTLY = 0.1, 2.5  # of a sole that must lie on the ground; cost of one of which hardly anything does
_FLUSH, _HOVER = 0.001, 600.0  # m that half of a sole may be over the ground for nothing; cost of a metre more
_STRAIN = 8.0  # cost of a leg's length too far
ROOM = 0.012  # m that are even before and behind a sole: so that it can come straight down and go up
_CLOSE = 0.02  # m, between soles


@dataclass(frozen=True, eq=False)
class Stride:
    """Where a foot goes: the spot (its times are not known yet), and s m, how far along the way that is."""

    spot: FootStance
    s: float


def find_stride(
    course: StepPlan, side: int, s: float, way: WalkPath, manner: Gait, terrain: Terrain, closing: bool
) -> Stride:
    """Return the next place of one foot (0 left, 1 right), whose other foot stands s m along the path.

    closing  whether it comes beside the other, to stand

    Raise InputError if there is none.
    """
    search = _StrideSearch(course, side, s, way, manner, terrain)
    # Beside the path; then beside the other foot, which may stand inside of its line, or across the path.
    for near in (None, search.other.place[[0, 2]]):
        for wider in _WIDER:
            if search.best is None:
                search.try_lengths((0.0,) if closing else _TRIES, wider, near)
    if search.best is not None and search.best[1].spot.gap > _LIES:
        search.try_lengths((0.0,) if closing else _FINER, 1.0, None)
    if search.best is not None:
        return search.best[1]
    at = way.at(s)[0]
    raise InputError(
        f"there is no place for the {'left' if side == 0 else 'right'} foot at x {at[0]:.2f}, z {at[1]:.2f} m: "
        f"{search.reasons[0]} Walk around it, or take another ground."
    )


class _StrideSearch:
    """Tries lengths and widths of one step."""

    def __init__(self, course: StepPlan, side: int, s: float, way: WalkPath, manner: Gait, terrain: Terrain):
        self.feet, self.side, self.s, self.way, self.manner, self.terrain = course.feet, side, s, way, manner, terrain
        self.foot, self.other = course.feet[side], course.stances[1 - side][-1]
        self.best: tuple[float, Stride] | None = None  # and its cost
        self.reasons: list[str] = []  # why others are none
        self.leg = min(f.leg for f in course.feet)
        self.outward = 1.0 if side == 0 else -1.0
        aside = np.sin(way.facing)  # sideways to the right; the foot on that side leads, the other comes beside it
        self.length = manner.step * self.leg * (1.0 if np.cos(way.facing) > -0.1 else _BACK)
        if abs(aside) > 0.3:
            self.length *= _ASIDE * (1.0 - self.outward * np.sign(aside) * min(1.0, abs(aside) * 1.2))
        self.rise, self.drop = (_STIFF, _STIFF) if any(f.stiff for f in course.feet) else (_RISE, _DROP)
        # where the other foot's leg faces
        self.facing = _heading_of(self.other.turn) + self.outward * manner.toe_out

    def try_lengths(self, fractions: Sequence[float], wider: float, near: np.ndarray | None) -> None:
        """Try steps with fractions of the usual length, and keep the cheapest; see `try_length`."""
        for fraction in fractions:
            found = self.try_length(fraction, wider, near)
            if isinstance(found, str):
                self.reasons.append(found)
                continue
            if self.best is None or found[0] < self.best[0] - 1e-9:
                self.best = found
            if fraction == 1.0 and found[0] < 1e-6:
                break

    def try_length(self, fraction: float, wider: float, near: np.ndarray | None) -> tuple[float, Stride] | str:
        """Return the cost of a step with a fraction of the usual length, and the step; or why there is none.

        wider, near  times the usual width; the other foot (2,) m that it keeps twice as far from, see `_aim`
        """
        foot, other, leg, outward = self.foot, self.other, self.leg, self.outward
        half = 0.5 * wider * self.manner.width * leg
        ahead, wanted, heading = _aim(self.way, self.s, self.length * fraction, self.facing, outward, half, near)
        found = self.terrain.find_foothold(
            float(wanted[0]), float(wanted[1]), heading + outward * self.manner.toe_out + foot.yaw, foot.sole,
            level=float(other.place[1]), up=self.rise * leg, down=self.drop * leg, spare=ROOM,
        )  # fmt: skip
        if isinstance(found, NoFoothold):
            return found.text
        spot = stand_on(foot, found, self.terrain)
        reason = check_stride(self.feet, self.side, spot, other)
        if reason or spot.share < _LEAST:
            return reason or f"Only {100 * spot.share:.0f} % of the sole would lie on the ground."
        up = float(spot.place[1] - other.place[1])
        # The lower a foot has to go, the less far it gets with ease: the other knee bends for both.
        apart = float(np.linalg.norm((spot.place - other.place)[[0, 2]]))
        strain = max(apart + _SHORTER * max(-up, 0.0) - _FARTHEST * leg, 0.0) / leg
        cost = (
            _STRAIN * strain
            + find_hover(spot)
            + (fraction - 1.0) ** 2
            + _FAR * found.cost / leg
            + _UNEVEN * abs(up) / leg
        )
        return cost, Stride(spot, ahead)


def _aim(
    way: WalkPath, s: float, length: float, facing: float, outward: float, half: float, other: np.ndarray | None
) -> tuple[float, np.ndarray, float]:
    """How far along the way a foot is wanted, where (2,) m, and heading where; half m beside the way.

    facing  rad, where the other foot's leg faces: a foot turns from it by so much at most
    other   (2,) m, of the foot that it keeps twice as far from; None: wherever that is
    """
    ahead = min(s + length, way.length)
    middle, heading = way.at(ahead)
    turned = turn_between(facing, heading)
    most = _OUTWARD if turned * outward > 0.0 else _INWARD
    if abs(turned) > most:  # a corner: turn first, nearly on the spot
        turned = float(np.sign(turned)) * most
        ahead = min(s + _CORNER * length, ahead)
        middle, _ = way.at(ahead)
    heading = facing + turned
    aside = outward * np.array([np.cos(heading), -np.sin(heading)])
    if other is not None:
        half = max(half, float((other - middle) @ aside) + 2.0 * half)
    return ahead, middle + half * aside, heading


def check_stride(feet: tuple[WalkingFoot, WalkingFoot], side: int, spot: FootStance, other: FootStance) -> str:
    """Why a foot cannot stand there beside the other one; empty where it can."""
    leg = min(f.leg for f in feet)
    apart = rotation.rotate(rotation.conjugate(other.turn), spot.place - other.place)
    outward = 1.0 if side == 0 else -1.0
    across, along = outward * apart[0], apart[2]
    width = float(np.ptp(feet[side].corners @ feet[side].hinge))
    if across < width + _CLOSE and abs(along) < 0.9 * feet[side].length:
        return "The feet would stand on each other."
    if across < -0.05 * leg:
        return "The legs would cross."
    if np.hypot(across, along) > _FARTHEST * leg:
        return f"That is {np.hypot(across, along):.2f} m from the other foot, and {_FARTHEST * leg:.2f} m are the most."
    return ""


def find_hover(spot: FootStance) -> float:
    """Return the cost of the part of a sole that does not lie on the ground; 0 if all of it does."""
    return _PARTLY * (1.0 - spot.share) + _HOVER * max(spot.gap - _FLUSH, 0.0)


def _heading_of(turn: np.ndarray) -> float:
    """Return the heading of a foot, rad."""
    ahead = rotation.rotate(turn, np.array([0.0, 0.0, 1.0]))
    return float(np.arctan2(ahead[0], ahead[2]))

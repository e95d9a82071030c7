"""Gait settings: length, width and rate of steps, and liveliness of the arms. Lengths are fractions of the leg's.

A leisurely person: the centre of mass is over what carries it all the time, so a step takes about a second, half of it
with both feet down. Bodies of other sizes walk alike at the same time over the root of the leg's length.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from poise.errors import InputError, finite_number, unknown_name
from poise.kinds import checked

_LEG = 0.86  # m, of the leg that takes the times below
_STIFF_STEP, _STIFF_LIFT = 0.35, 0.02  # of the leg's length, at most, where a knee does not bend
# The smallest and the largest value of each.
RANGES = {
    "step": (0.1, 0.8), "width": (0.1, 0.5), "pace": (0.3, 2.0), "lift": (0.01, 0.3), "arms": (0.0, 3.0),
    "roll": (0.0, 1.5), "stretch": (0.8, 0.998), "margin": (0.0, 0.05), "toe_out": (-0.3, 0.7), "lean": (-0.3, 0.5),
}  # fmt: skip


@checked
@dataclass(frozen=True)
class Gait:
    """A way of walking.

    step     of the leg's length, from foot to foot
    width    of the leg's length, between the lines that the feet go on
    pace     how quick: 1 is leisurely, 2 takes half the time; steps that balance cannot keep up with take longer
    lift     of the leg's length, how high a foot swings
    arms     how much they swing: 1 as people's do
    roll     how much feet roll from heel to toes: 0 keeps them flat
    stretch  of the leg's length, how far a hip may be from its ankle: nearer 1, more upright; 0.9 crouches
    margin   m, that the centre of mass keeps from the edge of what carries it
    toe_out  rad, that feet point outwards
    lean     rad, that the trunk leans forward
    """

    step: float = 0.5
    width: float = 0.15
    pace: float = 1.0
    lift: float = 0.05
    arms: float = 1.0
    roll: float = 1.0
    stretch: float = 0.985
    margin: float = 0.012
    toe_out: float = math.radians(7.0)  # Murray et al. 1964, "Walking patterns of normal men"
    lean: float = math.radians(2.0)

    def __post_init__(self) -> None:
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise InputError(f"the {name} of a walk is {low:g} to {high:g}; given {value:g}.")

    def scale(self, leg: float) -> float:
        """By how much longer than an adult's the times of a body with such legs (m) are."""
        return math.sqrt(leg / _LEG) / self.pace


def suit(manner: Gait, is_stiff: bool) -> Gait:
    """Return the gait that the legs allow: with a knee that does not bend steps are short and low."""
    if not is_stiff:
        return manner
    return replace(manner, step=min(manner.step, _STIFF_STEP), lift=min(manner.lift, _STIFF_LIFT))


def read_manner(table: Mapping[str, float]) -> Gait:
    """Return a gait from a table of its numbers."""
    known = [field.name for field in fields(Gait)]
    for name in table:
        if name not in known:
            raise unknown_name("number of a manner to walk", str(name), known)
    return Gait(**{name: finite_number(value, f"the {name} of a walk") for name, value in table.items()})

"""A foot, its stances and the check of a swing as compiled code reads them: see `foot.py`, `stance.py`, `swing.py`."""

from __future__ import annotations

from typing import Annotated

from poise.compiled.layout import Floats, Layout


class FootShape(Layout):
    """A foot, in the frame of its joint at rest."""

    drop: float  # m, from the joint to the plane of its sole
    has_toes: int
    ball: Annotated[Floats, 3]  # m, about which the heel rises
    heel: Annotated[Floats, 3]  # m, about which the toes rise
    hinge: Annotated[Floats, 3]  # unit, the axis of both


class Stances(Layout):
    """The stances of one foot, each with the swing after it."""

    count: int
    position: Annotated[Floats, "count", 3]  # m
    orientation: Annotated[Floats, "count", 4]
    land: Annotated[Floats, "count"]  # s
    flat: Annotated[Floats, "count"]  # s
    rise: Annotated[Floats, "count"]  # s
    off: Annotated[Floats, "count"]  # s
    strike: Annotated[Floats, "count"]  # rad
    push: Annotated[Floats, "count"]  # rad
    pace: Annotated[Floats, "count"]
    top: Annotated[Floats, "count"]  # m
    up: Annotated[Floats, "count"]
    down: Annotated[Floats, "count"]
    early: Annotated[Floats, "count"]
    late: Annotated[Floats, "count"]
    tip: Annotated[Floats, "count"]  # rad


class SwingCheck(Layout):
    """What a swing must keep clear of."""

    samples: int
    heel_points: int
    front_points: int
    clearance: float  # m, between sole and ground in the middle of the swing
    tolerance: float  # m, that a sole may be in the ground
    below: float  # m: what is higher is not under the foot
    headroom: float  # m, that is free over it
    times: Annotated[Floats, "samples"]  # fractions of the swing
    heel: Annotated[Floats, "heel_points", 3]  # m, corners of the sole's heel
    front: Annotated[Floats, "front_points", 3]  # m, and of its front

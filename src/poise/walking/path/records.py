"""What the search for a path hands to compiled code: see `planner.py`."""

from __future__ import annotations

from typing import Annotated

from poise.compiled.layout import Flags, Floats, Ints, Layout


class PathLimits(Layout):
    """What a body steps on and over."""

    up: float  # m, highest step
    down: float  # m
    stride: float  # m, longest, between places to stand
    over: float  # m, highest object to step over
    steepness: float  # tangent of the steepest slope
    bumps: float  # m
    track: float  # m, half the width of the feet's track
    radius: float  # m, of the body
    tall: float  # m, how high objects beside it may be
    headroom: float  # m, over the floor


class PathLine(Layout):
    """A straight line, and what is found at places along it."""

    count: int
    begin_x: float  # m
    begin_z: float
    end_x: float
    end_z: float
    states: Annotated[Ints, "count"]  # FREE, or why one cannot stand there
    heights: Annotated[Floats, "count"]  # m
    tops: Annotated[Floats, "count", 2]  # m, the highest within the feet's track and within the radius
    found: Annotated[Floats, "count"]  # m or tangent, by how much it is not free
    is_reached: Annotated[Flags, "count"]


class PathGrid(Layout):
    """A grid, and the two places that a path is looked for between. Rows go along z, columns along x."""

    rows: int
    columns: int
    most: int  # places that are looked at
    corner_x: float  # m
    corner_z: float
    cell: float  # m
    begin: Annotated[Ints, 2]  # row and column
    end: Annotated[Ints, 2]

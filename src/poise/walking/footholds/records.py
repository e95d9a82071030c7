"""What the search for footholds hands to compiled code: see `terrain.py`."""

from __future__ import annotations

from typing import Annotated

from poise.compiled.layout import Floats, Ints, Layout


class SoleGrid(Layout):
    """A patch of heights along a heading, and where a sole may be put on it."""

    x: float  # m, the desired place
    z: float
    sine: float  # of the heading
    cosine: float
    corner_x: float  # m, of the patch, from the desired place, x to the left and z ahead
    corner_z: float
    dx: float  # m, its cells
    dz: float
    patch_rows: int
    patch_columns: int
    rows: int  # of the sole
    columns: int
    rings: int  # of cells, the margin round it
    hang: int  # rows that may hang over
    count: int
    patch: Annotated[Floats, "patch_rows", "patch_columns"]  # m, NaN where it is not known yet
    places: Annotated[Ints, "count", 2]  # row and column of the sole's heel end and right side, cheapest first
    costs: Annotated[Floats, "count"]  # m


class FootholdLimits(Layout):
    """What a foothold may be like."""

    below: float  # m: what is higher is not under the foot
    headroom: float  # m, that is free over it
    steepness: float  # tangent of the steepest slope
    bumps: float  # m
    lowest: float  # m
    highest: float  # m
    turn_cost: float  # m


class FootholdBest(Layout):
    """The cheapest place so far."""

    cost: float  # m, inf: none
    row: int
    column: int
    first: int  # first and last row that is on the ground
    last: int
    height: float  # m, of the plane in the middle of these rows
    rise_x: float  # m per m, along x and z of the grid
    rise_z: float


class SolePlacement(Layout):
    """A sole that is laid on the ground, and how it lies."""

    x: float  # m, the sole's origin
    z: float
    sine: float  # of the heading
    cosine: float
    dx: float  # m, cells of the search
    dz: float
    back: float  # m along z and x of the heading: the sole from, to, right, left
    front: float
    right: float
    left: float
    begin: float  # m along z: the part that is on the ground from, to
    end: float
    below: float  # m
    headroom: float  # m
    height: float  # m, of the plane in the block's middle
    rise_x: float  # m per m, along x and z of the grid
    rise_z: float
    y: float  # m, height of the sole's origin; written
    slope: float  # tangent; written
    gap: float  # m, the widest under the part that is on the ground; written
    orientation: Annotated[Floats, 4]  # written

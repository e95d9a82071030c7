"""The search for footholds: flat on the floor, away from edges, near the desired place.

Places are looked at on a grid of about a centimetre round the wanted one. What one costs is in metres that another may
be farther away for it: distance, slope, bumps, an edge beside the sole, turning. Where no whole sole fits, as on short
treads, the heel or the toes hang over.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from poise.errors import InputError, check_range
from poise.spatial import rotation
from poise.walking.footholds.records import FootholdBest, FootholdLimits, SoleGrid, SolePlacement
from poise.world.ground.floor import Floor
from poise.world.ground.ground import Ground

STEEPEST = math.radians(25.0)
BUMPS = 0.02  # m that may be between the sole and the ground, under the part that carries
MARGIN = 0.02  # m from an edge, where there is choice
ROOM = 0.3  # m over a sole that are free
HANG = 0.3  # of the sole's length that may be over an edge
_CELLS = 0.0151, 0.0131  # m, of the grid across and along the sole
_MOST_CELLS = 10, 24  # of a large one
_ASIDE = 1.5  # a step to the side is worth as much as one so many times as long ahead
_TURNS = tuple(math.radians(angle) for angle in (0.0, 7.5, -7.5, 15.0, -15.0))
_SLACK = 0.01  # m
_TURNING = 0.3  # m a radian
_ENOUGH = 0.25  # m: a whole sole that costs less is not turned to find what is cheaper still
_FARTHEST = 1e5  # m, rad
_MOST = 1.0  # m: how far off a place may be looked for


@dataclass(frozen=True, eq=False)
class Foothold:
    """A sole that lies on the ground.

    place    (3,) m, the point of the sole's plane straight under the foot's joint, as in its rest pose
    turn     (4,) wxyz of the foot's body: its heading, then tilted the short way to the slope
    cost     m, how much farther away another place might be that is level and even
    heading  rad
    slope    rad, from level
    gap      m, between sole and ground at the most, under the part that carries
    support  (4, 3) m, corners of the part of the sole that carries: all but what hangs over an edge
    """

    place: np.ndarray
    turn: np.ndarray
    cost: float
    heading: float
    slope: float
    gap: float
    support: np.ndarray


@dataclass(frozen=True)
class NoFoothold:
    """The reason why a foot cannot be placed.

    reason  "none", "steep", "edge", "bumpy", "obstacle", "high" or "low"
    text    the reason as a message
    """

    reason: str
    text: str
    x: float
    z: float

    def __bool__(self) -> bool:
        return False


class _Grid(NamedTuple):
    """Where a sole may be put on a patch of heights."""

    corner: tuple[float, float]  # m, of the patch, from the wanted place
    cells: tuple[float, float]  # m
    shape: tuple[int, int]  # of the patch
    sole: tuple[int, int, int]  # rows, columns, and rings of margin
    places: np.ndarray
    costs: np.ndarray


class _Search(NamedTuple):
    """The records of one search."""

    grid: SoleGrid
    limits: FootholdLimits
    best: FootholdBest


class Terrain:
    """A floor, searched for footholds.

    floor     ground and fixed props
    steepest  rad, of a slope that is stood on;  bumps m under a sole;  margin m from an edge, where there is choice
    room      m, that are free over a sole
    """

    def __init__(
        self, floor: Floor | Ground, steepest: float = STEEPEST, bumps: float = BUMPS, margin: float = MARGIN,
        room: float = ROOM,
    ):  # fmt: skip
        from poise.walking.footholds import kernels

        self.floor = floor if isinstance(floor, Floor) else Floor(floor)
        for what, value, most in (("steepest slope", steepest, math.radians(60.0)), ("bumps", bumps, 0.2),
                                  ("margin", margin, 0.2), ("room", room, 10.0)):  # fmt: skip
            check_range(f"the {what} of a foothold", value, 0.0, most)
        self.steepest, self.bumps, self.margin, self.room = steepest, bumps, margin, room
        self._kernels = kernels

    def height(self, x: float, z: float, t: float = 0.0, below: float = np.inf) -> float:
        """m, the highest floor at x and z that is not higher than `below`."""
        self.floor.move(t)
        return float(self._kernels.find_surface(self.floor.record[0], x, z, below, self.room))

    def record(self, t: float) -> Any:
        """Return the record of the floor that compiled code reads, at a time (s)."""
        self.floor.move(t)
        return self.floor.record[0]

    def heights(self, points: np.ndarray, below: float = np.inf, t: float = 0.0) -> np.ndarray:
        """(N,) m, the highest floor at points (N, 3) that is not higher than `below`."""
        out = np.empty(len(points))
        self._kernels.find_surfaces(self.record(t), np.ascontiguousarray(points), below, self.room, out)
        return out

    def find_foothold(
        self, x: float, z: float, heading: float, sole: np.ndarray, *, t: float = 0.0, reach: float = 0.15,
        level: float | None = None, up: float = np.inf, down: float = np.inf, may_turn: bool = True,
        spare: float = 0.0,
    ) -> Foothold | NoFoothold:  # fmt: skip
        """Return the best place for a foot near x and z (m), at a time (s).

        heading   rad, of the foot: 0 is +Z, pi / 2 is +X
        sole      (4, 2) m, x and z of its corners from the point under the joint, x to the left and z ahead
        reach     m, how far off it may be
        level     m, of the floor that the other foot is on; up and down: how much higher and lower it may be.
                  Whatever reaches higher than that is an obstacle, or above one's head
        may_turn  whether the foot may be turned by up to 15 degrees if there is no other place
        spare     m before the sole and behind it that are to be even too, though it does not lie on them
        """
        if not (abs(x) <= _FARTHEST and abs(z) <= _FARTHEST and abs(heading) <= _FARTHEST):  # nor NaN
            raise InputError(
                f"a foothold was asked for at x {x:g}, z {z:g}, heading {heading:g}: give finite numbers of at most "
                f"{_FARTHEST:g}."
            )
        grid = _build_grid(np.asarray(sole, float).tobytes(), float(reach), self.margin, spare)
        self.floor.move(t)
        lowest, highest = (-np.inf, np.inf) if level is None else (level - down, level + up)
        search = self._begin(x, z, grid, lowest, highest)
        turned, reason, by = 0.0, 0, 0.0
        for hang in (0, int(HANG * grid.sole[0])):
            for turn in _TURNS if may_turn else _TURNS[:1]:
                before = search.best.cost
                why = self._search(search, heading + turn, _TURNING * abs(turn), hang)
                if turn == 0.0 and hang == 0:
                    reason, by = why
                if search.best.cost < before:
                    turned = turn
                if search.best.cost <= (_ENOUGH if hang == 0 else _MOST):
                    break
            if np.isfinite(search.best.cost):
                found = self._settle(search, grid, heading + turned, spare)
                if found is not None:
                    return found
                reason = self._kernels.BUMPY  # thinner than the distance of the search's samples
                break
        why_not = self._describe(reason, by, level or 0.0, lowest, highest)
        text = f"no foothold within {reach:.2f} m of x {x:.2f}, z {z:.2f}: {why_not[1]}."
        return NoFoothold(why_not[0], text, x, z)

    def _begin(self, x: float, z: float, grid: _Grid, lowest: float, highest: float) -> _Search:
        """Return the records of a search near x and z (m)."""
        rows, columns, rings = grid.sole
        limits = FootholdLimits(
            below=highest, headroom=self.room, steepness=math.tan(self.steepest), bumps=self.bumps, lowest=lowest,
            highest=highest,
        )  # fmt: skip
        heights = SoleGrid(
            x=x, z=z, corner_x=grid.corner[0], corner_z=grid.corner[1], dx=grid.cells[0], dz=grid.cells[1],
            patch_rows=grid.shape[0], patch_columns=grid.shape[1], rows=rows, columns=columns, rings=rings,
            count=len(grid.places), places=grid.places, costs=grid.costs,
        )  # fmt: skip
        return _Search(heights, limits, FootholdBest(cost=np.inf))

    def _search(self, search: _Search, heading: float, cost: float, hang: int) -> tuple[int, float]:
        """Look among all places of one heading; return why the desired one is not a foothold."""
        grid, limits, best = search
        grid.set(sine=math.sin(heading), cosine=math.cos(heading), hang=hang)
        grid.patch[:] = np.nan
        limits.turn_cost = cost
        reason, by = self._kernels.search_foothold(self.floor.record[0], grid, limits, best)
        return int(reason), float(by)

    def _settle(self, search: _Search, grid: _Grid, heading: float, spare: float) -> Foothold | None:
        """Return the sole on what is under it; None if that is much higher than the search found."""
        heights, limits, best = search
        home_row, home_column = grid.places[0]
        (dx, dz), (rows, columns, _) = grid.cells, grid.sole
        aside, ahead = (best.column - home_column) * dx, (best.row - home_row) * dz
        s, c = math.sin(heading), math.cos(heading)
        x, z = heights.x + c * aside + s * ahead, heights.z - s * aside + c * ahead
        right, back = grid.corner[0] + home_column * dx, grid.corner[1] + home_row * dz
        left, front = right + (columns - 1) * dx, back + (rows - 1) * dz
        begin, end = back + (best.first - best.row) * dz, back + (best.last - best.row) * dz
        level = best.height - best.rise_x * 0.5 * (left + right) - best.rise_z * 0.5 * (begin + end)
        back, front = back + spare, front - spare
        begin, end = max(begin, back), min(end, front)
        sole = SolePlacement(
            x=x, z=z, sine=s, cosine=c, dx=dx, dz=dz, back=back, front=front, right=right, left=left, begin=begin,
            end=end, below=limits.below, headroom=limits.headroom, height=best.height, rise_x=best.rise_x,
            rise_z=best.rise_z,
        )  # fmt: skip
        if spare > 0.0:  # the ground before and behind the sole neither tilts nor lifts it
            height, rise_x, rise_z = self._kernels.fit_sole(self.floor.record[0], sole)
            if math.hypot(rise_x, rise_z) <= math.tan(self.steepest):
                sole.set(height=height, rise_x=rise_x, rise_z=rise_z)
        self._kernels.settle_sole(self.floor.record[0], sole)
        if not sole.y - level <= 2.0 * self.bumps + _SLACK:
            return None
        place, turn = np.array([x, sole.y, z]), sole.orientation.copy()
        corners = np.array([[right, 0.0, begin], [left, 0.0, begin], [left, 0.0, end], [right, 0.0, end]])
        support = place + corners @ rotation.to_matrix(turn).T
        return Foothold(place, turn, best.cost, heading, math.atan(sole.slope), sole.gap, support)

    def _describe(self, reason: int, by: float, level: float, lowest: float, highest: float) -> tuple[str, str]:
        """Return a reason as a word, and in words."""
        k = self._kernels
        return {
            k.NOTHING: ("none", "there is no ground"),
            k.STEEP: ("steep", f"the ground is tilted by {math.degrees(math.atan(by)):.0f} degrees, and "
                               f"{math.degrees(self.steepest):.0f} are the most"),
            k.EDGE: ("edge", f"heights under the sole differ by {by:.2f} m, an edge or a hole"),
            k.BUMPY: ("bumpy", f"bumps under the sole are more than {1000 * self.bumps:.0f} mm high"),
            k.OBSTACLE: ("obstacle", f"something stands there that is {by - level:.2f} m high"),
            k.HIGH: ("high", f"the ground is {by - level:.2f} m higher, and {highest - level:.2f} m are the most"),
            k.LOW: ("low", f"the ground is {level - by:.2f} m lower, and {level - lowest:.2f} m are the most"),
        }.get(reason, ("edge", "no place is wide enough for the sole"))  # fmt: skip


@lru_cache(maxsize=64)
def _build_grid(corners: bytes, reach: float, margin: float, spare: float) -> _Grid:
    sole = np.frombuffer(corners)
    if sole.size != 8 or not np.all(np.abs(sole) <= _MOST):
        raise InputError(f"a sole is four corners, x and z, of at most {_MOST:g} m; given {sole.size} numbers.")
    if not 0.0 <= reach <= _MOST:
        raise InputError(f"a foothold was asked for within {reach:g} m; it must be from 0 to {_MOST:g} m.")
    low, high = sole.reshape(4, 2).min(axis=0), sole.reshape(4, 2).max(axis=0)
    if not np.all(high - low >= 0.005):
        raise InputError("a sole has four corners that are apart; given ones without length or breadth.")
    if not 0.0 <= spare <= _MOST:
        raise InputError(f"{spare:g} m before and behind a sole are to be even; it must be from 0 to {_MOST:g} m.")
    low, high = low - [0.0, spare], high + [0.0, spare]
    counts = [
        min(max(math.ceil(size / cell), 3), most)
        for size, cell, most in zip(high - low, _CELLS, _MOST_CELLS, strict=True)
    ]
    dx, dz = (float(size) / count for size, count in zip(high - low, counts, strict=True))
    rings = math.ceil(margin / max(dx, dz) - 1e-9)
    across, along = int(reach / dx), int(reach / dz)
    # The wanted place first, then by what they cost; places of one cost by their numbers, so that nothing is by chance.
    rows, columns = (grid.ravel() for grid in np.meshgrid(np.arange(-along, along + 1), np.arange(-across, across + 1)))
    near = np.hypot(rows * dz, columns * dx) <= reach + 1e-12
    rows, columns = rows[near], columns[near]
    costs = np.hypot(rows * dz, _ASIDE * columns * dx)
    order = np.lexsort((columns, rows, costs))
    places = np.stack([rows, columns], axis=1)[order] + [along + rings, across + rings]
    shape = (counts[1] + 1 + 2 * (along + rings), counts[0] + 1 + 2 * (across + rings))
    corner = (float(low[0]) - (across + rings) * dx, float(low[1]) - (along + rings) * dz)
    return _Grid(
        corner, (dx, dz), shape, (counts[1] + 1, counts[0] + 1, rings), np.ascontiguousarray(places),
        costs[order],
    )  # fmt: skip

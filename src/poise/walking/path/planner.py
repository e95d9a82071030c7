"""The path of a walk: along the given line, facing as asked, and round what cannot be stepped on or over.

Where each leg of a path can be walked straight, the way is that path, to the last bit. Where it cannot, the shortest
way round is looked for on a grid, pulled straight, and its corners are rounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from poise.errors import InputError, check_most, check_range
from poise.frozen import Portable
from poise.walking.footholds.terrain import STEEPEST
from poise.walking.path.records import PathGrid, PathLimits, PathLine
from poise.world.ground.floor import Floor
from poise.world.ground.ground import Ground

FACINGS = {"ahead": 0.0, "back": np.pi, "left": -0.5 * np.pi, "right": 0.5 * np.pi}  # rad, of the heading to the way


@dataclass(frozen=True, eq=False)
class WalkPath(Portable):
    """A line on the ground, straight between points, and beyond the last one if it is endless.

    points   (N, 2) m, x and z
    facing   rad, heading of the body to the left of the path's: 0 walks ahead, pi backwards, pi/2 sideways to the right
    endless  whether it goes on straight ahead
    heading  rad, of the body in the end, and all along if there is only one point; None: that of the path
    """

    points: np.ndarray
    facing: float = 0.0
    endless: bool = False
    heading: float | None = None

    def __post_init__(self) -> None:
        points = np.array(self.points, float)
        if points.ndim != 2 or points.shape[1] != 2 or not len(points) or not np.isfinite(points).all():
            raise InputError(f"a way is points (N, 2), x and z in metres, finite; given shape {points.shape}.")
        apart = np.linalg.norm(np.diff(points, axis=0), axis=1)
        points = points[np.concatenate([[True], apart > 1e-6])]
        object.__setattr__(self, "points", points)
        object.__setattr__(
            self, "_along", np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
        )

    @classmethod
    def ahead(cls, x: float, z: float, heading: float, facing: float = 0.0) -> WalkPath:
        """Return an endless line from a position (m) of a body that faces a heading (rad)."""
        way = heading - facing
        return cls(np.array([[x, z], [x + np.sin(way), z + np.cos(way)]]), facing, True)

    @property
    def length(self) -> float:
        """m."""
        return np.inf if self.endless else float(self._along[-1])  # type: ignore[attr-defined]

    def at(self, s: float) -> tuple[np.ndarray, float]:
        """Return the position (2,) m and the body's heading (rad) s metres along the path."""
        along = self._along  # type: ignore[attr-defined]
        if len(along) == 1:
            return self.points[0], self.heading or 0.0
        i = int(np.clip(np.searchsorted(along, s, side="right") - 1, 0, len(along) - 2))
        step = self.points[i + 1] - self.points[i]
        u = (s - along[i]) / (along[i + 1] - along[i])
        if not self.endless:
            u = min(u, 1.0)
        heading = float(np.arctan2(step[0], step[1])) + self.facing
        if self.heading is not None and s >= self.length - 1e-9:
            heading = self.heading
        return self.points[i] + max(u, 0.0) * step, heading


def turn_between(a: float, b: float) -> float:
    """rad, the short way from heading a to heading b."""
    return float((b - a + np.pi) % (2.0 * np.pi) - np.pi)


def read_path(path: Any) -> tuple[tuple[float, float], ...]:
    """Points of a path, x and z in metres."""
    try:
        points = np.array([list(point) for point in path], float)
    except (TypeError, ValueError):
        points = np.zeros((0, 0))
    if points.ndim != 2 or points.shape[1] != 2 or not len(points) or not np.isfinite(points).all():
        raise InputError(f"a path is points, x and z in metres, as in [(0, 3), (2, 5)]; given {path!r:.60}.")
    return tuple((float(x), float(z)) for x, z in points)


FARTHEST = 1e4  # m from the origin
LONGEST = 2000.0  # m of a way
MOST_POINTS = 1000  # of a path
_EACH = 0.04  # m between the places of a line that are looked at, and of a way that is given back
_CELLS = 0.05, 0.1  # m of the grid, and where that has too many
_MOST = 1_500_000  # cells
_BEFORE = 1.5  # m before what is in the way that one begins to go round it
_AROUND = 3.0, 10.0  # m round both ends that a way is looked for in, first and then
_SPARE = 0.1  # m of clearance more, where there is as much
_ROUND = 0.5  # m before a corner that its curve begins
_TURN = 0.25  # m before and after a corner over which the heading turns
_MORE, _FARTHER = 3, 0.1  # how often, and by how much (m) farther, a place to stand is looked for
_BUMPS = 0.05  # m: footholds are found between bumps


@dataclass(frozen=True)
class StepLimits:
    """Limits of what a body steps on and over, m.

    up, down  highest step
    gap       widest gap
    over      highest thing to step over
    steepest  rad, of a slope
    track     half of what its feet take, from outside to outside
    radius    half of what its shoulders take
    tall      how high things beside it may be that are nearer than that
    room      from the floor to whatever is over its head
    """

    up: float = 0.31
    down: float = 0.31
    gap: float = 0.36
    over: float = 0.27
    steepest: float = STEEPEST
    track: float = 0.15
    radius: float = 0.3
    tall: float = 0.5
    room: float = 1.9

    @classmethod
    def of_leg(cls, length: float) -> StepLimits:
        """Those of a body with legs so long (m)."""
        check_range("the length of a leg", length, 0.01, 100.0, "m")
        return cls(
            0.35 * length, 0.35 * length, 0.4 * length, 0.3 * length, STEEPEST, 0.17 * length, 0.33 * length,
            0.55 * length, 2.15 * length,
        )  # fmt: skip

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            check_range(f"the limit '{name}' of a step", value, 0.0, 1000.0)

    def compile(self) -> PathLimits:
        """Return them as compiled code reads them."""
        return PathLimits(
            up=self.up, down=self.down, stride=self.gap + 2.0 * self.track, over=self.over,
            steepness=math.tan(self.steepest), bumps=_BUMPS, track=self.track, radius=self.radius, tall=self.tall,
            headroom=self.room,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Route:
    """A way over the ground.

    points    (N, 2) m, x and z
    headings  (N,) rad, where one faces: the way ahead, turned little by little at corners
    along     (N,) m, from the beginning
    is_given  whether it is the path that was asked for, with nothing gone round
    """

    points: np.ndarray
    headings: np.ndarray
    along: np.ndarray
    is_given: bool

    @property
    def length(self) -> float:
        """m."""
        return float(self.along[-1])

    def at(self, s: float) -> tuple[np.ndarray, float]:
        """x and z (2,) m and the heading (rad), s metres from the beginning."""
        x, z, heading = (
            float(np.interp(s, self.along, each)) for each in (self.points[:, 0], self.points[:, 1], self.headings)
        )
        return np.array([x, z]), heading


def plan_route(
    floor: Floor | Ground, start: Sequence[float], path: Iterable[Sequence[float]], limits: StepLimits | None = None,
    heading: float | None = None, t: float = 0.0,
) -> Route:  # fmt: skip
    """The way from a start (x, z; m) through all points of a path (x, z) to the last.

    heading  rad, where one faces at the start; None: ahead
    t        s, the time at which the ground is looked at

    Raises InputError that says where one cannot go on, why, and what to do.
    """
    limits = limits or StepLimits()
    corners = _check_points(start, path)
    if heading is not None and not math.isfinite(heading):
        raise InputError(f"the heading at the start is {heading:g}; it must be a finite number.")
    floor = floor if isinstance(floor, Floor) else Floor(floor)
    floor.move(t)
    walker = _Walker(floor, limits)
    walker.check_places(corners)
    way, is_given = [corners[:1]], True
    for a, b in pairwise(corners):
        leg = np.stack([a, b])
        if not walker.is_clear(a, b):
            leg, is_given = walker.go_round(a, b), False
        way.append(leg[1:])
    return _sample(np.concatenate(way), heading, is_given)


def check_ahead(floor: Floor, a: np.ndarray, b: np.ndarray, limits: StepLimits) -> None:
    """Raise InputError if an obstacle is on the line from a to b, (2,) m, that feet alone would not meet.

    If b is not a place to stand, one a little farther on will do. If the body stands nearer to an obstacle than it
    would walk, only the track of its feet is checked.
    """
    ahead = (b - a) / max(float(np.linalg.norm(b - a)), 1e-12)
    for radius in (limits.radius, limits.track):
        walker = _Walker(floor, replace(limits, radius=radius))
        if not walker.can_stand(a):
            continue
        goals = [b + k * _FARTHER * ahead for k in range(_MORE + 1)]
        if not any(walker.is_clear(a, goal) for goal in goals):
            why, todo = walker.explain(a, b)
            raise InputError(f"{why}. {todo}, or give a path or a number of steps to go round it.")
        return


def _check_points(start: Sequence[float], path: Iterable[Sequence[float]]) -> np.ndarray:
    """(N, 2) m: the start, then the path's points, without those that are where the one before is."""
    rows = [start, *path]
    check_most(f"a path of {len(rows) - 1} points", len(rows) - 1, MOST_POINTS, "Leave some out.")
    try:
        points = np.array([[float(x), float(z)] for x, z in rows])
    except (TypeError, ValueError):
        raise InputError("a path is a list of points, x and z in metres: '0,2 1.5,4'.") from None
    if len(points) < 2:
        raise InputError("a path has at least one point to go to, x and z in metres.")
    if not np.all(np.abs(points) <= FARTHEST):
        raise InputError(f"the points of a path are of at most {FARTHEST:g} m; given {points.tolist()!r:.80}.")
    points = points[np.concatenate([[True], np.any(np.diff(points, axis=0) != 0.0, axis=1)])]
    if len(points) < 2:
        raise InputError("the path ends where it begins. Give a point to go to that is elsewhere.")
    length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    check_most(f"a path of {length:.0f} m", length, LONGEST, "Walk it in parts.")
    return points


class _Walker:
    """Asks a floor whether a body of some limits can walk on it."""

    def __init__(self, floor: Floor, limits: StepLimits):
        from poise.walking.path import kernels

        self._kernels, self._floor, self._limits = kernels, floor, limits
        self._compiled = limits.compile()

    def is_clear(self, a: np.ndarray, b: np.ndarray) -> bool:
        """Return whether a body can walk straight from a to b, (2,) m each."""
        return bool(self._walk(a, b).is_reached[-1])

    def _walk(self, a: np.ndarray, b: np.ndarray) -> PathLine:
        count = max(2, math.ceil(float(np.linalg.norm(b - a)) / _EACH) + 1)
        line = PathLine(count=count, begin_x=a[0], begin_z=a[1], end_x=b[0], end_z=b[1])
        self._kernels.walk_line(self._floor.record[0], line, self._compiled)
        return line

    def can_stand(self, at: np.ndarray) -> bool:
        """Whether one can stand at a place (2,) m."""
        state = self._kernels.probe(self._floor.record[0], at[0], at[1], self._compiled)[0]
        return state in (self._kernels.FREE, self._kernels.UNEVEN)

    def explain(self, a: np.ndarray, b: np.ndarray) -> tuple[str, str]:
        """Return why a body cannot walk straight from a to b, (2,) m each, and what to do."""
        return self._explain(self._walk(a, b))

    def check_places(self, points: np.ndarray) -> None:
        """Raise InputError if the start, a point of the path or the goal is not a place to stand."""
        for k, (x, z) in enumerate(points):
            if not self.can_stand(np.array([x, z])):
                state, _, _, _, found = self._kernels.probe(self._floor.record[0], x, z, self._compiled)
                what = "start" if k == 0 else "goal" if k == len(points) - 1 else f"point {k} of the path"
                raise InputError(
                    f"nobody can stand at the {what}, x {x:.2f}, z {z:.2f}: {self._tell(state, found)}. "
                    "Move it to free, even ground."
                )

    def _tell(self, state: int, found: float) -> str:
        k, limits = self._kernels, self._limits
        return {
            k.NOTHING: "there is no ground",
            k.STEEP: f"the ground is tilted by {math.degrees(math.atan(found)):.0f} degrees, and "
                     f"{math.degrees(limits.steepest):.0f} are the most",
            k.DROP: f"the ground drops by {found:.2f} m beside it, and {limits.down:.2f} m are the most",
            k.RISE: f"something {found:.2f} m high is beside it, and {limits.up:.2f} m are the most",
            k.WALL: f"something {found:.2f} m high is within {limits.radius:.2f} m of it",
        }[int(state)]  # fmt: skip

    def go_round(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """(N, 2) m, a way from a to b that is not straight."""
        line = self._walk(a, b)
        reached, count = line.is_reached, line.count
        length = float(np.linalg.norm(b - a))
        each = length / (count - 1)
        last = int(np.flatnonzero(reached)[-1])
        # the far side: what can be walked back to from b
        back = self._walk(b, a).is_reached[::-1]
        far = int(np.flatnonzero(back)[0])
        free = np.flatnonzero(reached & (np.arange(count) * each <= max(last * each - _BEFORE, 0.0)))
        begin = int(free[-1]) if len(free) else 0
        free = np.flatnonzero(back & (np.arange(count) * each >= min(far * each + _BEFORE, length)))
        end = int(free[0]) if len(free) else count - 1
        if end <= begin:
            begin, end = 0, count - 1
        ends = a + (b - a) * np.array([[begin], [end]]) / (count - 1)
        wary = _Walker(self._floor, replace(self._limits, radius=self._limits.radius + _SPARE))
        for around in _AROUND:
            for walker in (wary, self):
                way = walker._search(ends[0], ends[1], around)
                if way is not None:
                    return self._round(_straighten(walker, np.concatenate([a[None], way, b[None]])))
        why, todo = self._explain(line)
        raise InputError(f"{why}, and no way round it was found. {todo}, or give a path that leads around.")

    def _search(self, a: np.ndarray, b: np.ndarray, around: float) -> np.ndarray | None:
        """(N, 2) m on a grid that goes `around` metres beyond both, or half of what is between them; or None."""
        around = max(around, 0.5 * float(np.linalg.norm(b - a)))
        low, high = np.minimum(a, b) - around, np.maximum(a, b) + around
        for cell in _CELLS:
            # the grid has a place exactly at a
            corner = a - cell * np.ceil((a - low) / cell)
            shape = np.ceil((high - corner) / cell).astype(int)[::-1] + 1
            if shape[0] * shape[1] <= _MOST:
                break
        else:
            check_most(
                f"a way round from x {a[0]:.1f}, z {a[1]:.1f} to x {b[0]:.1f}, z {b[1]:.1f} is on a grid of "
                f"{shape[0]} x {shape[1]} places", float(shape[0] * shape[1]), _MOST,
                "Give points of the path in between.",
            )  # fmt: skip
        begin, end = (np.round((each - corner) / cell).astype(int)[::-1] for each in (a, b))
        grid = PathGrid(
            rows=shape[0], columns=shape[1], most=_MOST, corner_x=corner[0], corner_z=corner[1], cell=cell,
            begin=np.ascontiguousarray(begin), end=np.ascontiguousarray(end),
        )  # fmt: skip
        found = self._kernels.search_way(self._floor.record[0], grid, self._compiled)
        if len(found) == 0:
            return None
        way = corner + cell * found[:, ::-1]
        way[0], way[-1] = a, b
        steps = np.diff(found, axis=0)
        turns = np.any(np.sign(steps[1:]) != np.sign(steps[:-1]), axis=1)
        return np.asarray(way[np.concatenate([[True], turns, [True]])])

    def _round(self, way: np.ndarray) -> np.ndarray:
        """Curves instead of corners, as wide as there is room for."""
        points = [way[0]]
        for before, corner, after in zip(way[:-2], way[1:-1], way[2:], strict=True):
            cut = min(
                _ROUND, 0.45 * float(np.linalg.norm(corner - before)), 0.45 * float(np.linalg.norm(after - corner))
            )
            curve = corner[None]
            while cut > 0.02:
                a = corner + cut * _unit(before - corner)
                c = corner + cut * _unit(after - corner)
                u = np.linspace(0.0, 1.0, 9)[:, None]
                tried = (1.0 - u) ** 2 * a + 2.0 * u * (1.0 - u) * corner + u**2 * c
                if all(self.is_clear(p, q) for p, q in pairwise(tried)):
                    curve = tried
                    break
                cut *= 0.5
            points += list(curve)
        return np.array([*points, way[-1]])

    def _explain(self, line: PathLine) -> tuple[str, str]:
        """Return why a body gets no farther on a line, and what to do."""
        k, limits, count = self._kernels, self._limits, line.count
        states, heights, found, reached = line.states, line.heights, line.found, line.is_reached
        a, b = np.array([line.begin_x, line.begin_z]), np.array([line.end_x, line.end_z])
        last = int(np.flatnonzero(reached)[-1])
        each = float(np.linalg.norm(b - a)) / (count - 1)
        after = next((m for m in range(last + 1, count) if states[m] == k.FREE and not reached[m]), count - 1)
        x, z = a + (b - a) * min(last + 1, count - 1) / (count - 1)
        between = slice(last + 1, after)
        rise = float(heights[after] - heights[last])
        inner = heights[between]
        low, high = min(heights[last], heights[after]), max(heights[last], heights[after])
        if rise > limits.up:
            why, todo = f"the ground rises by {rise:.2f} m at once ({limits.up:.2f} m are the most)", "Lower the step"
        elif rise < -limits.down:
            why, todo = (
                f"the ground drops by {-rise:.2f} m at once ({limits.down:.2f} m are the most)",
                "Lower the step",
            )
        elif len(inner) and inner.max() - high > limits.over:
            why = f"something {inner.max() - low:.2f} m high is in the way ({limits.over:.2f} m can be stepped over)"
            todo = "Move it away"
        elif np.any(inner < low - limits.down):
            wide = each * int(np.sum(inner < low - limits.down))
            why, todo = f"there is a gap {wide:.2f} m wide ({limits.gap:.2f} m are the most)", "Bridge it"
        elif np.any(states[between] == k.WALL):
            tall = float(np.max(found[between][states[between] == k.WALL]))
            why = f"something {tall:.2f} m high is nearer than {limits.radius:.2f} m"
            todo = "Move it away"
        elif np.any(states[between] == k.STEEP):
            steep = math.degrees(math.atan(float(np.max(found[between][states[between] == k.STEEP]))))
            most = math.degrees(limits.steepest)
            why, todo = f"the ground is tilted by {steep:.0f} degrees ({most:.0f} are the most)", "Make it less steep"
        else:
            wide = each * (after - last)
            why, todo = f"for {wide:.2f} m the ground is nowhere even enough to stand on", "Even it out"
        return f"the way is blocked at x {x:.2f}, z {z:.2f}: {why}", todo


def _unit(v: np.ndarray) -> np.ndarray:
    return np.asarray(v / max(float(np.linalg.norm(v)), 1e-12))


def _straighten(walker: _Walker, way: np.ndarray) -> np.ndarray:
    """Without the corners that can be walked past; the ends stay."""
    kept, at = [way[0]], 0
    while at < len(way) - 1:
        onward = next((k for k in range(len(way) - 1, at + 1, -1) if walker.is_clear(way[at], way[k])), at + 1)
        kept.append(way[onward])
        at = onward
    return np.array(kept)


def _sample(corners: np.ndarray, heading: float | None, is_given: bool) -> Route:
    """A way at least every few centimetres, its corners among them, with headings that turn little by little."""
    steps = np.diff(corners, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    corners = corners[np.concatenate([[True], lengths > 1e-9])]
    steps = np.diff(corners, axis=0)
    lengths = np.linalg.norm(steps, axis=1)
    pieces = [corners[:1]]
    for a, step, length in zip(corners[:-1], steps, lengths, strict=True):
        u = np.linspace(0.0, 1.0, max(1, math.ceil(length / _EACH)) + 1)[1:, None]
        pieces.append(np.concatenate([a + u[:-1] * step, (a + step)[None]]))
    points = np.concatenate(pieces)
    points[np.searchsorted(_lengths(points), np.concatenate([[0.0], np.cumsum(lengths)]) - 1e-9)] = corners
    along = _lengths(points)
    ahead = np.unwrap(np.arctan2(steps[:, 0], steps[:, 1]))
    # the mean of the way ahead within `_TURN` of each place: the integral of it is linear between corners
    knots = np.concatenate([[-1.0], np.cumsum(lengths)[:-1], [along[-1] + 1.0]]) if len(ahead) else np.zeros(2)
    area = np.concatenate([[0.0], np.cumsum(np.diff(knots) * ahead)])
    low, high = along - _TURN, along + _TURN
    headings = (np.interp(high, knots, area) - np.interp(low, knots, area)) / (high - low)
    if heading is not None:
        off = math.remainder(heading - float(headings[0]), 2.0 * math.pi)
        headings = headings + off * np.clip(1.0 - along / (4.0 * _TURN), 0.0, 1.0)
    return Route(points, headings, along, is_given)


def _lengths(points: np.ndarray) -> np.ndarray:
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])

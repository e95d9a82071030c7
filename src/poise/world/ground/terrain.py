"""Grounds by a word: flat, slope, stairs, rough, moving.

All begin level and at height 0 under the origin, where a character stands and faces +Z, and go on ahead of it. The same
word, seed and options give the same ground.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from poise.errors import InputError, check_most, check_range, unknown_name
from poise.world.ground.ground import Ground, Slope
from poise.world.ground.height_map import MOST, HeightMap
from poise.world.ground.moving import MovingGround
from poise.world.ground.profile import Profile

RISES, RUNS = (0.10, 0.20), (0.27, 0.40)  # m, of stairs at random
_SOFT = 1.0  # m over which rough ground comes down to what is round it


def build_terrain(word: str, seed: int = 0, **options: Any) -> Ground:
    """A ground by its word; options are those of the function of that name below.

    seed  of what is at random
    """
    build = WORDS.get(word)
    if build is None:
        raise unknown_name("terrain", word, WORDS)
    known = [name for name in inspect.signature(build).parameters if name != "seed"]
    for name in options:
        if name not in known:
            raise unknown_name(f"option of terrain '{word}',", name, known)
    idle, where = _find_idle(word, options)
    for name in idle:
        if name in options:
            raise InputError(
                f"'{name}' of terrain '{word}' has no effect {where}; got {options[name]!r:.40}. Leave out one."
            )
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**63:
        raise InputError(f"a seed is a whole number from 0 on; given {seed!r:.40}.")
    return build(seed=int(seed), **options)


def _find_idle(word: str, options: Mapping[str, Any]) -> tuple[tuple[str, ...], str]:
    """Options that have no effect beside others, and beside which."""
    if word == "slope" and options.get("cross"):
        return ("length", "landing", "start"), "with cross, which makes a slope without an end"
    if word == "slope" and options.get("length") == 0.0:
        return ("landing", "start"), "with length=0, which makes a slope without an end"
    if word == "stairs" and options.get("random"):
        rise = options.get("rise")  # only whether it is negative counts: down first
        is_down = isinstance(rise, int | float) and rise < 0.0
        return ("run",) if is_down else ("rise", "run"), "with random, which chooses each step"
    if word == "rough" and options.get("stones") != 0.0:
        return ("grain",), "on stones; stones=0 is smooth ground"
    if word == "moving" and isinstance(options.get("ground"), Ground):
        return ("friction",), "with a ground that has its own"
    return (), ""


def build_flat(seed: int = 0, height: float = 0.0, friction: float = 0.8) -> Ground:
    """A level floor."""
    return Ground(height, friction)


def build_slope(
    seed: int = 0, angle: float = math.radians(8.0), cross: float = 0.0, length: float = 6.0, landing: float = 2.0,
    start: float = 0.6, heading: float = 0.0, friction: float = 0.8,
) -> Ground:  # fmt: skip
    """A ramp up, a landing, and a ramp down; or a slope without an end.

    angle    rad, of the ramps; negative: down first
    cross    rad, how much it rises to the left; with it, or where the length is 0, the slope has no end
    length, landing   m, of each ramp from above, and of the level between them
    start    m, to the first ramp, along the heading (rad)
    """
    check_range("the length of a slope", length, 0.0, 4000.0, "m")
    check_range("the landing of a slope", landing, 0.0, 1000.0, "m")
    check_range("the start of a slope", start, -1000.0, 1000.0, "m")
    for what, value in (("angle", angle), ("cross angle", cross)):
        check_range(f"the {what} of a slope", value, -math.radians(45.0), math.radians(45.0), "rad")
    if cross != 0.0 or length == 0.0:
        ahead, aside = math.tan(angle), math.tan(cross)
        return Slope(math.atan(math.hypot(ahead, aside)), heading + math.atan2(aside, ahead), friction=friction)
    rise = length * math.tan(angle)
    points = [(0.0, 0.0), (length, rise), (length + landing, rise), (2.0 * length + landing, 0.0)]
    return Profile(tuple((start + s, h) for s, h in points), heading, friction=friction)


def build_stairs(
    seed: int = 0, *, rise: float = 0.17, run: float = 0.29, count: int = 8, landing: float = 1.5, flights: int = 1,
    start: float = 0.6, heading: float = 0.0, random: bool = False, friction: float = 0.8,
) -> Ground:  # fmt: skip
    """Stairs up, a landing, and stairs down again, once or more often.

    rise, run  m, of a step; a negative rise: down first
    count      steps of each flight up and of each down
    landing    m, of the level between two flights
    flights    how often it goes up and down
    start      m, to the first riser, along the heading (rad)
    random     each step has a rise of 10 to 20 cm and a run of 27 to 40 cm
    """
    check_range("the rise of a step", rise, -1.0, 1.0, "m")
    check_range("the run of a step", run, 0.05, 100.0, "m")
    check_range("the landing of stairs", landing, 0.0, 1000.0, "m")
    check_range("the start of stairs", start, -1000.0, 1000.0, "m")
    for what, value, most in (("count of steps", count, 500), ("number of flights", flights, 500)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= most:
            raise InputError(f"the {what} is {value!r:.40}; it must be a whole number from 1 to {most}.")
    check_most(f"{flights} flights of {count} steps up and down", 4.0 * flights * count, 3900, "Make fewer.")
    rng = np.random.default_rng(seed)
    points, s, h = [], float(start), 0.0
    for flight in range(2 * flights):
        up = (1.0 if flight % 2 == 0 else -1.0) * math.copysign(1.0, rise)
        rises, runs = np.full(count, abs(rise)), np.full(count, float(run))
        if random:
            rises, runs = rng.uniform(*RISES, count), rng.uniform(*RUNS, count)
        for k in range(count):
            points += [(s, h), (s, h + up * float(rises[k]))]
            h += up * float(rises[k])
            s += float(runs[k]) if k < count - 1 else max(float(landing), float(runs[k]))
    return Profile(tuple(points), heading, friction=friction)


def build_rough(
    seed: int = 0, amplitude: float = 0.05, grain: float = 0.3, length: float = 24.0, width: float = 8.0,
    spacing: float = 0.05, stones: float = 0.5, friction: float = 0.8,
) -> Ground:  # fmt: skip
    """Random heights round the origin, in blocks like stepping stones, or smooth; level where it ends.

    amplitude      m, up and down from the middle
    grain          m, how far apart heights are that have little to do with each other
    length, width  m, along z and along x; a tenth of the length, at most 2 m, is behind the origin
    spacing        m, between heights
    stones         m, the side of blocks that are level each; 0: smooth
    """
    check_range("the amplitude of rough ground", amplitude, 0.0, 2.0, "m")
    check_range("the grain of rough ground", grain, 0.02, 100.0, "m")
    check_range("the spacing of rough ground", spacing, 0.005, 1.0, "m")
    check_range("the side of stones", stones, 0.0, 100.0, "m")
    for what, value in (("length", length), ("width", width)):
        check_range(f"the {what} of rough ground", value, 1.0, 2000.0, "m")
        check_most(
            f"rough ground {value:g} m in {what} with heights every {spacing:g} m has {value / spacing:.0f} of them",
            value / spacing + 1.0, MOST, "Make it smaller or the spacing wider.",
        )  # fmt: skip
    rows, columns = (max(round(size / spacing) + 1, 8) for size in (length, width))
    behind = min(0.1 * length, 2.0)
    corner = (-0.5 * (columns - 1) * spacing, -behind)
    rng = np.random.default_rng(seed)
    x, z = corner[0] + spacing * np.arange(columns), corner[1] + spacing * np.arange(rows)
    if stones > 0.0:
        i, j = (np.floor((each + 0.5 * stones) / stones).astype(int) for each in (z, x))
        table = rng.uniform(-amplitude, amplitude, (np.ptp(i) + 1, np.ptp(j) + 1))
        heights = table[np.ix_(i - i.min(), j - j.min())]
    else:
        from scipy.ndimage import gaussian_filter

        heights = gaussian_filter(rng.normal(size=(rows, columns)), grain / spacing / math.sqrt(2.0 * math.pi))
        heights *= amplitude / max(float(np.abs(heights).max()), 1e-300)
        # down to the level round it
        inner = np.minimum.outer(
            np.minimum(np.arange(rows), np.arange(rows)[::-1]), np.minimum(np.arange(columns), np.arange(columns)[::-1])
        )
        heights = heights.min() + (heights - heights.min()) * np.clip(inner * spacing / _SOFT, 0.0, 1.0)
    home = HeightMap(heights, spacing, corner, friction=friction)
    return HeightMap(heights - float(home.height_at(0.0, 0.0)), spacing, corner, friction=friction)


def build_moving(
    seed: int = 0, ground: Ground | str = "flat", velocity: tuple[float, float, float] = (0.0, 0.0, 0.0),
    sway: tuple[float, float, float] = (0.25, 0.06, 0.15), period: float = 12.0, friction: float = 0.8,
) -> Ground:  # fmt: skip
    """A ground that is slowly carried to and fro and up and down, like a float.

    ground    what moves: another of these words, or any ground
    velocity  (3,) m/s, steady;  sway (3,) m, there and back in `period` s
    """
    if isinstance(ground, str):
        if ground == "moving":
            raise InputError("what moves is a terrain that does not move by itself: flat, slope, stairs or rough.")
        ground = build_terrain(ground, seed, friction=friction)
    return MovingGround(ground, velocity, sway, period)


WORDS: dict[str, Any] = {
    "flat": build_flat, "slope": build_slope, "stairs": build_stairs, "rough": build_rough, "moving": build_moving
}  # fmt: skip

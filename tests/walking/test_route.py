"""Ways over the ground: what was asked for where it can be walked, and round what cannot."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from helpers.errors import rejects
from poise.body.character import Character
from poise.errors import InputError, RangeError
from poise.walking.path.planner import Route, StepLimits, WalkPath, plan_route
from poise.walking.start import start_walk
from poise.walking.walker import Walker
from poise.world.ground.floor import Floor
from poise.world.ground.ground import Ground, Slope
from poise.world.ground.height_map import HeightMap
from poise.world.ground.profile import Stairs
from poise.world.prop import Prop

ROUGH = HeightMap(np.random.default_rng(0).uniform(-0.03, 0.03, (150, 150)), 0.1)

BANK = HeightMap(np.clip(np.arange(40) * 0.1 - 1.9, 0.0, 0.8)[:, None] * np.ones((1, 300)), 0.1, (-15.0, 0.0))


def wall(name: str, x: float, z: float, wide: float, long: float, high: float = 2.0) -> Prop:
    return Prop.box(name, [wide, high, long], position=[x, high / 2, z])


def distances(points: np.ndarray, prop: Prop) -> np.ndarray:
    """(N,) m of points from an upright box, seen from above."""
    half = np.asarray(prop.shapes[0].half)[[0, 2]]  # type: ignore[union-attr]
    off = np.abs(points - prop.position[[0, 2]]) - half
    return np.asarray(np.linalg.norm(np.maximum(off, 0.0), axis=1))


@pytest.mark.parametrize(
    "ground",
    [Ground(0.2), Slope(0.3, 1.0), Stairs(), Stairs(-0.17, 0.29, height=2.0), Stairs(0.2, 0.27, 4, 1.0), ROUGH],
    ids=["level", "slope", "up", "down", "steep stairs", "rough"],
)  # fmt: skip
def test_on_open_ground_it_is_the_path_that_was_given(ground: Ground) -> None:
    path = np.array([[0.1, 2.0], [1.3, 4.1], [-2.0, 4.5]])
    route = plan_route(ground, (0.0, 0.0), path)
    assert route.is_given
    corners = np.concatenate([[[0.0, 0.0]], path])
    for corner in corners:
        assert np.any(np.all(route.points == corner, axis=1))
    lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    assert route.length == pytest.approx(lengths.sum(), abs=1e-9)
    for s, (point, along) in enumerate(zip(route.points, route.along, strict=True)):
        k = min(int(np.searchsorted(np.cumsum(lengths), along - 1e-9)), 2)
        u = (along - np.concatenate([[0.0], np.cumsum(lengths)])[k]) / lengths[k]
        np.testing.assert_allclose(point, corners[k] + u * (corners[k + 1] - corners[k]), atol=1e-9, err_msg=str(s))
    assert np.diff(route.along).max() <= 0.04 + 1e-9


def test_headings_are_the_way_ahead_and_turn_little_by_little() -> None:
    route = plan_route(Ground(), (0.0, 0.0), [(0.0, 2.0), (2.0, 2.0), (2.0, 0.0)], heading=-0.5)
    at = {s: route.at(s)[1] for s in (0.0, 1.5, 2.0, 3.0, 4.0, 5.5)}
    assert at[0.0] == pytest.approx(-0.5)
    assert at[1.5] == pytest.approx(0.0, abs=1e-9)
    assert at[2.0] == pytest.approx(math.pi / 4)
    assert at[3.0] == pytest.approx(math.pi / 2)
    assert at[4.0] == pytest.approx(3 * math.pi / 4)
    assert at[5.5] == pytest.approx(math.pi)
    assert np.abs(np.diff(route.headings)).max() < 0.15
    np.testing.assert_allclose(route.at(3.0)[0], [1.0, 2.0], atol=1e-12)


def test_it_goes_round_a_wall_by_the_short_way() -> None:
    """The shortest way with clearance r touches circles of r round two corners: a closed form."""
    block = wall("wall", 0.5, 3.0, 2.0, 0.2)  # its near corners are at x = -0.5, z = 2.9 and 3.1
    limits = StepLimits()
    route = plan_route(Floor(Ground(), [block]), (0.0, 0.0), [(0.0, 6.0)])
    assert not route.is_given
    np.testing.assert_array_equal(route.points[[0, -1]], [[0.0, 0.0], [0.0, 6.0]])
    assert distances(route.points, block).min() >= limits.radius - 0.05 - 1e-9  # samples round a place are 5 cm apart
    r = limits.radius
    away = math.hypot(0.5, 2.9)
    straight = math.sqrt(away**2 - r**2)
    # from the start to the circle, along it until the way is +Z, up to the other corner, and the same back
    lean = math.atan2(0.5, 2.9) + math.asin(r / away)
    least = 2.0 * (straight + r * lean) + 0.2
    assert least - 0.05 <= route.length <= 1.03 * least
    assert np.abs(np.diff(route.headings)).max() < 0.1


def random_blocks(seed: int) -> list[Prop]:
    rng = np.random.default_rng(seed)
    blocks = []
    for k in range(14):
        x, z, wide, long = *rng.uniform([-2.5, 1.2], [2.5, 6.0]), *rng.uniform(0.2, 1.6, 2)
        blocks.append(wall(f"block {k}", x, z, wide, long))
    return blocks


def shortest(blocks: list[Prop], clearance: float, cell: float = 0.05) -> float:
    """m from (0, 0) to (0, 7) over a grid with eight neighbours, by SciPy; inf where there is no way."""
    x, z = np.meshgrid(np.arange(-4.0, 4.001, cell), np.arange(-3.0, 10.001, cell))
    points = np.stack([x.ravel(), z.ravel()], axis=1)
    free = np.all([distances(points, block) >= clearance for block in blocks], axis=0).reshape(x.shape)
    number = np.arange(x.size).reshape(x.shape)
    rows, columns, weights = [], [], []
    for di, dj in ((0, 1), (1, 0), (1, 1), (1, -1)):
        a = (slice(0, x.shape[0] - di), slice(max(0, -dj), x.shape[1] - max(0, dj)))
        b = (slice(di, None), slice(max(0, dj), x.shape[1] + min(0, dj)))
        both = free[a] & free[b]
        rows.append(number[a][both])
        columns.append(number[b][both])
        weights.append(np.full(int(both.sum()), cell * math.hypot(di, dj)))
    graph = coo_array((np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))), (x.size, x.size))
    begin, end = (int(np.argmin(np.linalg.norm(points - place, axis=1))) for place in ([0.0, 0.0], [0.0, 7.0]))
    return float(dijkstra(graph.tocsr(), directed=False, indices=begin)[end])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.many(1)
def test_among_blocks_it_is_about_the_shortest_way_there_is(seed: int) -> None:
    blocks, limits = random_blocks(seed), StepLimits()
    wide, narrow = shortest(blocks, limits.radius + 0.12), shortest(blocks, limits.radius - 0.05)
    try:
        route = plan_route(Floor(Ground(), blocks), (0.0, 0.0), [(0.0, 7.0)], limits)
    except InputError:
        assert not math.isfinite(wide)
        return
    assert min(distances(route.points, block).min() for block in blocks) >= limits.radius - 0.05 - 1e-9
    assert route.length >= 0.92 * narrow - 0.1  # eight directions are up to 8 % longer than any
    if math.isfinite(wide):
        assert route.length <= 1.05 * wide


def test_it_comes_out_of_a_dead_end() -> None:
    trap = [wall("left", -1.0, 2.0, 0.2, 3.0), wall("right", 1.0, 2.0, 0.2, 3.0), wall("end", 0.0, 3.4, 2.0, 0.2)]
    route = plan_route(Floor(Ground(), trap), (0.0, 2.0), [(0.0, 5.0)])
    assert min(distances(route.points, block).min() for block in trap) >= 0.25
    assert route.points[:, 1].min() < 0.5


def pit(wide: float) -> HeightMap:
    """A trench across all of a map, at z = 2: cells of 2 cm, whose walls are as steep as that."""
    z = np.arange(0, 320) * 0.02 - 1.0
    return HeightMap(np.where((z > 2.0) & (z < 2.0 + wide), -1.0, 0.0)[:, None] * np.ones((1, 600)), 0.02, (-6.0, -1.0))


@pytest.mark.parametrize(
    ("floor", "is_open"),
    [
        (Floor(Stairs(0.30, 5.0, 1, 2.0)), True),
        (Floor(Stairs(0.33, 5.0, 1, 2.0)), False),
        (Floor(Stairs(-0.30, 5.0, 1, 2.0)), True),
        (Floor(Stairs(-0.33, 5.0, 1, 2.0)), False),
        (Floor(pit(0.25)), True),
        (Floor(pit(0.50)), False),
        (Floor(Ground(), [wall("log", 0.0, 2.0, 60.0, 0.2, 0.2)]), True),
        (Floor(Ground(), [wall("hedge", 0.0, 2.0, 60.0, 0.2, 0.4)]), False),
        (Floor(Ground(), [Prop.box("beam", [60.0, 0.2, 0.2], position=[0.0, 2.2, 2.0])]), True),
        (Floor(Ground(), [Prop.box("beam", [60.0, 0.2, 0.2], position=[0.0, 1.5, 2.0])]), False),
        (Floor(BANK), False),
    ],
    ids=["kerb", "high kerb", "kerb down", "high kerb down", "ditch", "trench", "log", "hedge", "gate", "beam", "bank"],
)  # fmt: skip
@pytest.mark.many(3)
def test_what_can_be_stepped_on_and_over_is(floor: Floor, is_open: bool) -> None:
    if is_open:
        assert plan_route(floor, (0.0, 0.5), [(0.0, 3.5)]).is_given
    else:
        with pytest.raises(InputError, match=r"the way is blocked at x 0\.00, z 1"):
            plan_route(floor, (0.0, 0.5), [(0.0, 3.5)])


def test_a_hole_is_walked_round_and_a_bench_too() -> None:
    heights = np.zeros((120, 120))
    heights[50:65, 40:80] = -1.0
    hole = HeightMap(heights, 0.05, (-3.0, -1.0))  # x from -1 to 1, z from 1.5 to 2.25
    route = plan_route(hole, (0.0, 0.0), [(0.0, 4.0)])
    assert not route.is_given
    np.testing.assert_allclose(hole.height_at(*route.points.T), 0.0)
    bench = wall("bench", 0.0, 2.0, 1.0, 0.5, 0.45)
    route = plan_route(Floor(Ground(), [bench]), (0.0, 0.0), [(0.0, 4.0)])
    assert distances(route.points, bench).min() >= StepLimits().track - 0.05


def test_limits_are_those_of_a_leg() -> None:
    short, tall = StepLimits.of_leg(0.5), StepLimits.of_leg(1.0)
    kerb = Stairs(0.3, 5.0, 1, 2.0)
    assert plan_route(kerb, (0.0, 0.0), [(0.0, 4.0)], tall).is_given
    with pytest.raises(InputError, match=r"rises by 0\.30 m at once \(0\.17 m are the most\)"):
        plan_route(kerb, (0.0, 0.0), [(0.0, 4.0)], short)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: plan_route(Stairs(0.5, 5.0, 1, 2.0), (0, 0), [(0, 4)]),
         "the way is blocked at x 0.00, z 1.88: the ground rises by 0.50 m at once (0.31 m are the most), and no way "
         "round it was found. Lower the step, or give a path that leads around."),
        (lambda: plan_route(pit(0.5), (0, 0), [(0, 4)]), "there is a gap 0.48 m wide (0.36 m are the most)"),
        (lambda: plan_route(Floor(Ground(), [wall("hedge", 0.0, 2.0, 60.0, 0.2)]), (0, 0), [(0, 4)]),
         "something 2.00 m high is in the way (0.27 m can be stepped over)"),
        (lambda: plan_route(Floor(Ground(), [wall("hut", 0.0, 4.0, 1.0, 1.0)]), (0, 0), [(0, 4)]),
         "the ground rises by 2.00 m at once"),
        (lambda: plan_route(Floor(Ground(), [wall("post", 0.0, 4.0, 0.1, 0.1)]), (0, 0), [(0, 4.2)]),
         "nobody can stand at the goal, x 0.00, z 4.20"),
        (lambda: plan_route(Floor(Ground(), [wall("hut", 0.0, 0.3, 0.2, 0.2)]), (0, 0), [(0, 4)]),
         "nobody can stand at the start, x 0.00, z 0.00: something 2.00 m high is within 0.30 m of it"),
        (lambda: plan_route(Slope(0.6), (0, 0), [(0, 4)]), "the ground is tilted by 34 degrees, and 25 are the most"),
        (lambda: plan_route(Floor(None), (0, 0), [(0, 4)]), "there is no ground"),
        (lambda: plan_route(Ground(), (0, 0), []), "at least one point to go to"),
        (lambda: plan_route(Ground(), (0, 0), [(0, 0)]), "ends where it begins"),
        (lambda: plan_route(Ground(), (0, math.nan), [(0, 4)]), "points of a path are of at most"),
        (lambda: plan_route(Ground(), (0, 0), [(0, 4, 1)]), "x and z in metres"),  # type: ignore[list-item]
        (lambda: plan_route(Ground(), (0, 0), [(k % 2, k) for k in range(2000)]), "a path of 2000 points; at most"),
        (lambda: plan_route(Ground(), (0, 0), [(0, 9000)]), "a path of 9000 m; at most 2,000"),
        (lambda: plan_route(Floor(Ground(), [wall("far wall", 0.0, 500.0, 1e3, 1e3 - 50)]), (0, 0), [(0, 1500)]),
         "places; at most 1,500,000 can be had at once"),
    ],
)  # fmt: skip
@pytest.mark.many(3)
def test_refusals_say_where_why_and_what_to_do(ask: object, said: str) -> None:
    with pytest.raises(InputError) as error:
        ask()  # type: ignore[operator]
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("make", "name", "value"),
    [
        (lambda: StepLimits(up=math.nan), "'up'", math.nan),
        (lambda: StepLimits.of_leg(-1.0), "leg", -1.0),
    ],
)
def test_rejects_numbers_out_of_range(make: Callable[[], object], name: str, value: float) -> None:
    assert rejects(make, name, error=RangeError).value == pytest.approx(value, nan_ok=True)


def test_the_same_question_has_the_same_answer() -> None:
    floor = Floor(Ground(), random_blocks(0))
    first, second = (plan_route(floor, (0.0, 0.0), [(0.0, 7.0)]) for _ in range(2))
    assert isinstance(first, Route)
    np.testing.assert_array_equal(first.points, second.points)
    np.testing.assert_array_equal(first.headings, second.headings)


@pytest.mark.parametrize(("size", "height"), [((2.0, 2.0, 0.02), 1.0), ((2.0, 0.4, 0.02), 0.2)])
@pytest.mark.slow
def test_straight_on_for_ever_ends_before_a_thin_wall(size: tuple[float, float, float], height: float) -> None:
    """Feet alone would find places before and behind it."""
    body = Character.human(1.75, 75.0)
    floor = Floor(Ground(), [Prop.box("wall", size, None, (0.0, height, 1.6))])
    walker = start_walk(body, floor, 1).walker
    stances = tuple(row[0] for row in walker.course.stances)
    way = WalkPath.ahead(0.0, 0.0, 0.0)
    endless = Walker(body, walker.terrain, way, walker.hang, stances)
    with pytest.raises(InputError, match=r"blocked at x 0\.00, z 1\..*a number of steps"):
        endless.reach(1e6)
    places = [stance.place[2] for row in endless.course.stances for stance in row]
    assert 0.5 < max(places) < 1.4

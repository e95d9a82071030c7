"""Where feet can stand, against grounds' own heights sampled by the tests, and a search through every place."""

from __future__ import annotations

import math

import numpy as np
import pytest

from poise.drivers.root.anchor import lay_flat
from poise.errors import InputError
from poise.spatial import rotation
from poise.walking.footholds.terrain import Foothold, NoFoothold, Terrain
from poise.world.ground.floor import Floor
from poise.world.ground.ground import Ground, Slope
from poise.world.ground.height_map import HeightMap
from poise.world.ground.moving import MovingGround
from poise.world.ground.profile import Stairs
from poise.world.prop import Prop

SOLE = np.array([[-0.05, -0.07], [0.05, -0.07], [0.05, 0.19], [-0.05, 0.19]])
UP = np.array([0.0, 1.0, 0.0])
WAVES = HeightMap(
    0.08 * np.sin(np.arange(81)[:, None] * 0.35) * np.cos(np.arange(81) * 0.27), 0.1, height=0.3
)  # hills of 2 m, tilted by up to 16 degrees
STONES = HeightMap(np.kron(np.random.default_rng(4).uniform(-0.15, 0.15, (12, 12)), np.ones((9, 9))), 0.05)


def lay(foothold: Foothold, rows: int = 53, columns: int = 21, sole: np.ndarray = SOLE) -> np.ndarray:
    """(rows, columns, 3) m: points of the sole in the world."""
    x = np.linspace(sole[:, 0].min(), sole[:, 0].max(), columns)
    z = np.linspace(sole[:, 1].min(), sole[:, 1].max(), rows)
    points = np.stack(np.broadcast_arrays(x[None, :], 0.0, z[:, None]), axis=-1)
    return np.asarray(foothold.place + rotation.rotate(foothold.turn, points))


def find(ground: Ground, x: float, z: float, heading: float = 0.0, **more: float) -> Foothold:
    found = Terrain(ground).find_foothold(x, z, heading, SOLE, **more)
    assert isinstance(found, Foothold), found
    return found


@pytest.mark.parametrize(
    "ground", [Ground(0.3), Slope(0.2, 0.7, height=0.1), Slope(-0.4, 2.0)], ids=["level", "slope", "steep"]
)
def test_on_a_plane_it_is_where_it_is_wanted_and_flat(ground: Ground) -> None:
    for x, z, heading in np.random.default_rng(1).uniform(-3.0, 3.0, (50, 3)):
        found = find(ground, x, z, heading)
        np.testing.assert_allclose(found.place, [x, ground.height_at(x, z), z], atol=1e-12)
        normal = ground.normal_at(x, z)
        yaw = rotation.from_axis_angle(UP, heading)
        assert rotation.angle(found.turn, lay_flat(yaw, normal)) < 1e-7
        assert found.slope == pytest.approx(math.acos(normal[1]), abs=1e-9)
        assert found.gap < 1e-9
        points = lay(found)
        np.testing.assert_allclose(points[..., 1], ground.height_at(points[..., 0], points[..., 2]), atol=1e-9)
        np.testing.assert_allclose(found.support, points[[0, 0, -1, -1], [0, -1, -1, 0]], atol=1e-9)


@pytest.mark.parametrize("ground", [WAVES, STONES], ids=["waves", "stones"])
def test_on_rough_ground_it_touches_and_does_not_sink_in(ground: HeightMap) -> None:
    terrain, rng, found_ones = Terrain(ground), np.random.default_rng(2), 0
    for x, z, heading in rng.uniform(-1.9, 1.9, (150, 3)):
        found = terrain.find_foothold(x, z, heading, SOLE)
        if isinstance(found, NoFoothold):
            continue
        found_ones += 1
        assert np.hypot(found.place[0] - x, found.place[2] - z) <= 0.15 + 1e-9
        assert math.degrees(found.slope) <= 25.0 + 1e-6
        points = lay(found)
        over = points[..., 1] - ground.height_at(points[..., 0], points[..., 2])
        assert over.min() > -2e-3
        assert over.min() < 2e-3
        long = np.linalg.norm(found.support[3] - found.support[0])
        assert long >= 0.7 * 0.26 - 1e-9
        if long > 0.2599:
            assert over.max() < 0.02 + 3e-3  # bumps, between the samples of the search too
    assert found_ones > 120


@pytest.mark.parametrize("rise", [0.002, 0.006, 0.015])
@pytest.mark.parametrize("heading", [0.0, math.pi, 0.3])
def test_a_sole_lies_on_what_is_under_it_and_not_on_what_is_before_it(rise: float, heading: float) -> None:
    """A ramp begins in the room before the toes, or ends behind the heel: the sole lies as if it were not there."""
    z = np.arange(-100, 101) * 0.01
    for edge in np.arange(0.19, 0.21, 0.004):
        ahead = np.repeat(rise * np.clip((z - edge) / 0.02, 0.0, 1.0)[:, None], 201, axis=1)
        ground = HeightMap(ahead, 0.01, (-1.0, -1.0))
        found = Terrain(ground, margin=0.0).find_foothold(0.0, 0.0, heading, SOLE, reach=0.0, spare=0.012)
        assert isinstance(found, Foothold), found
        points = lay(found)
        over = points[..., 1] - ground.height_at(points[..., 0], points[..., 2])
        assert -2e-4 < over.min() < 1e-4  # it touches: no ledge that it does not reach holds it up
        if heading in (0.0, math.pi):
            np.testing.assert_allclose(over, 0.0, atol=1e-12)


def fits(ground: Ground, x: float, z: float, heading: float, flat: float) -> bool:
    """Whether heights under a whole sole differ from their plane of least squares by less than `flat`."""
    u, w = np.meshgrid(np.linspace(-0.05, 0.05, 9), np.linspace(-0.07, 0.19, 27))
    s, c = math.sin(heading), math.cos(heading)
    h = ground.height_at(x + c * u + s * w, z - s * u + c * w).ravel()
    basis = np.stack([np.ones(u.size), u.ravel(), w.ravel()], axis=1)
    plane, *_ = np.linalg.lstsq(basis, h, rcond=None)
    return bool(np.ptp(h - basis @ plane) <= flat and math.hypot(plane[1], plane[2]) <= math.tan(math.radians(25.0)))


@pytest.mark.parametrize("ground", [STONES, Stairs(0.17, 0.31, 10, -1.0, 0.3)], ids=["stones", "stairs"])
@pytest.mark.slow
def test_no_place_that_is_much_nearer_would_do(ground: Ground) -> None:
    """A search through every place of a finer grid, with least squares of NumPy's."""
    terrain, rng, moved = Terrain(ground, margin=0.0), np.random.default_rng(3), 0
    for x, z, heading in rng.uniform(-1.2, 1.2, (40, 3)):
        found = terrain.find_foothold(x, z, heading, SOLE, may_turn=False)
        near = [
            (math.hypot(along, 1.5 * across), across, along)
            for across in np.arange(-0.15, 0.151, 0.01)
            for along in np.arange(-0.15, 0.151, 0.01)
            if math.hypot(along, across) <= 0.15
        ]
        s, c = math.sin(heading), math.cos(heading)
        doing = [
            cost for cost, u, w in sorted(near) if fits(ground, x + c * u + s * w, z - s * u + c * w, heading, 0.019)
        ]
        if not doing:
            continue
        assert isinstance(found, Foothold)
        offset = found.place[[0, 2]] - [x, z]
        across, along = offset @ [c, -s], offset @ [s, c]
        moved += math.hypot(across, along) > 0.02
        # what it costs besides being away: a slope, bumps
        assert math.hypot(along, 1.5 * across) <= doing[0] + 0.1 * found.slope + 0.02 + 0.02
        assert fits(ground, *found.place[[0, 2]], heading, 0.0215)
    assert moved > 10


@pytest.mark.parametrize("rise", [0.17, -0.17])
def test_on_stairs_no_sole_is_over_an_edge_or_in_a_riser(rise: float) -> None:
    stairs = Stairs(rise, 0.29, 10, 0.5, height=3.0)
    for z in np.arange(0.45, 3.2, 0.017):
        found = find(stairs, 0.0, z)
        sole = lay(found)
        heights = stairs.height_at(sole[..., 0], sole[..., 2])
        assert np.ptp(heights) == 0.0
        assert found.place[1] == pytest.approx(heights[0, 0], abs=1e-12)
        assert found.support[2, 2] - found.support[0, 2] == pytest.approx(0.26)


def test_edges_are_kept_away_from_where_there_is_choice() -> None:
    kerb = Stairs(0.15, 5.0, 1, 0.0)
    for z in np.arange(-0.21, -0.15, 0.01):
        found = find(kerb, 0.0, z)
        assert found.place[2] + 0.19 <= -0.019 or abs(found.place[2] - z) > 0.1


@pytest.mark.parametrize("run", [0.25, 0.22, 0.20])
@pytest.mark.parametrize("rise", [0.17, -0.17])
def test_on_short_treads_a_part_hangs_over(run: float, rise: float) -> None:
    """Up, the heel: toes would be in the riser. Down, the toes."""
    stairs = Stairs(rise, run, 10, 0.5, height=3.0)
    for z in (1.0, 1.07, 1.16):
        found = find(stairs, 0.0, z)
        sole = lay(found)
        over = found.place[1] - stairs.height_at(sole[..., 0], sole[..., 2])
        assert over.min() == pytest.approx(0.0, abs=1e-9)
        on = float(np.mean(over[:, 0] < 1e-6))
        assert 0.69 <= on < 1.0
        begin, end = found.support[[0, 3], 2]
        assert np.ptp(stairs.height_at(0.0, np.linspace(begin, end, 50))) == 0.0
        hangs_behind = begin > sole[..., 2].min() + 1e-6
        assert hangs_behind == (rise > 0.0)


def test_treads_that_are_too_short_are_refused() -> None:
    found = Terrain(Stairs(0.17, 0.15, 30, 0.0)).find_foothold(0.0, 1.0, 0.0, SOLE, may_turn=False)
    assert not found
    assert isinstance(found, NoFoothold)
    assert found.reason == "edge"
    assert "no foothold within 0.15 m of x 0.00, z 1.00: heights under the sole differ by" in found.text


@pytest.mark.parametrize(
    ("ground", "more", "reason", "said"),
    [
        (Slope(0.6), {}, "steep", "tilted by 34 degrees, and 25 are the most"),
        (Ground(1.0), {"level": 0.0, "up": 0.3}, "high", "1.00 m higher, and 0.30 m are the most"),
        (Stairs(0.4, 1.0, 5, 0.0), {"level": 0.0, "up": 0.3}, "high", "0.40 m higher, and 0.30 m are the most"),
        (Ground(-1.0), {"level": 0.0, "down": 0.4}, "low", "1.00 m lower, and 0.40 m are the most"),
        (HeightMap(0.05 * (np.indices((60, 60)).sum(axis=0) % 2), 0.05), {}, "bumpy", "more than 20 mm high"),
    ],
)
def test_a_refusal_says_why(ground: Ground, more: dict[str, float], reason: str, said: str) -> None:
    found = Terrain(ground).find_foothold(0.0, 0.2, 0.0, SOLE, **more)
    assert isinstance(found, NoFoothold)
    assert found.reason == reason
    assert said in found.text


def test_without_ground_there_is_none() -> None:
    found = Terrain(Floor(None)).find_foothold(0.0, 0.0, 0.0, SOLE)
    assert isinstance(found, NoFoothold)
    assert found.reason == "none"


def test_props_are_stood_on_stepped_beside_and_walked_under() -> None:
    plank = Prop.box("plank", [0.5, 0.1, 1.0], position=[0.0, 0.05, 0.0])
    wall = Prop.box("wall", [0.2, 2.0, 0.5], position=[1.0, 1.0, 0.0])
    bridge = Prop.box("bridge", [2.0, 0.2, 2.0], position=[5.0, 2.5, 0.0])
    terrain = Terrain(Floor(Ground(), [plank, wall, bridge]))
    options = {"level": 0.0, "up": 0.3, "down": 0.3}
    on = terrain.find_foothold(0.0, 0.0, 0.0, SOLE, **options)
    assert isinstance(on, Foothold)
    assert on.place[1] == pytest.approx(0.1)
    beside = terrain.find_foothold(1.05, 0.0, 0.0, SOLE, **options)
    assert isinstance(beside, Foothold)
    assert beside.place[1] == 0.0
    assert beside.place[0] - 0.05 >= 1.1 + 0.019
    inside = terrain.find_foothold(1.0, 0.0, 0.0, SOLE, reach=0.05, **options)
    assert isinstance(inside, NoFoothold)
    assert (inside.reason, "2.00 m high" in inside.text) == ("obstacle", True)
    under = terrain.find_foothold(5.0, 0.0, 0.0, SOLE, **options)
    assert isinstance(under, Foothold)
    assert under.place[1] == 0.0


@pytest.mark.parametrize("thin", [0.002, 0.008, 0.03])
def test_no_sole_is_put_on_a_nail(thin: float) -> None:
    """Posts that may be between the samples of the search: none is under a sole, or there is none."""
    rng = np.random.default_rng(7)
    for x, z in rng.uniform(-0.1, 0.2, (60, 2)):
        post = Prop.box("post", [thin, 0.5, thin], position=[x, 0.25, z])
        found = Terrain(Floor(Ground(), [post])).find_foothold(0.0, 0.0, 0.0, SOLE, level=0.0, up=0.3)
        if isinstance(found, Foothold):
            assert found.place[1] < 0.02
            if thin >= 0.008:
                across, along = x - found.place[0], z - found.place[2]
                half = 0.5 * thin
                is_beside = abs(across) > 0.05 + half - 1e-9 or not -0.07 - half < along < 0.19 + half
                assert is_beside


def test_a_ground_that_moves_is_asked_at_a_time() -> None:
    moving = MovingGround(WAVES, (0.3, 0.05, -0.2), (0.1, 0.2, 0.0), 5.0)
    for t in (0.0, 1.3):
        shift = moving.shift(t)
        here = find(moving, 0.3 + shift[0], 0.2 + shift[2], 0.4, t=t)
        there = find(WAVES, 0.3, 0.2, 0.4)
        np.testing.assert_allclose(here.place, there.place + shift, atol=1e-9)
        np.testing.assert_allclose(here.turn, there.turn, atol=1e-9)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda terrain: terrain.find_foothold(math.nan, 0.0, 0.0, SOLE), "give finite numbers"),
        (lambda terrain: terrain.find_foothold(1e308, 0.0, 0.0, SOLE), "of at most 100000"),
        (lambda terrain: terrain.find_foothold(0.0, 0.0, 0.0, SOLE[:3]), "four corners"),
        (lambda terrain: terrain.find_foothold(0.0, 0.0, 0.0, np.zeros((4, 2))), "without length or breadth"),
        (lambda terrain: terrain.find_foothold(0.0, 0.0, 0.0, SOLE * np.nan), "of at most 1 m"),
        (lambda terrain: terrain.find_foothold(0.0, 0.0, 0.0, SOLE, reach=9.0), "within 9 m"),
        (lambda terrain: terrain.find_foothold(0.0, 0.0, 0.0, SOLE, spare=math.nan), "before and behind a sole"),
        (lambda _: Terrain(Ground(), bumps=-1.0), "the bumps of a foothold"),
    ],
)
def test_what_makes_no_sense_is_refused(ask: object, said: str) -> None:
    with pytest.raises(InputError) as error:
        ask(Terrain(Ground()))  # type: ignore[operator]
    assert said in str(error.value)

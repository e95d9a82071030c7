"""Grounds and floors: what they answer, compiled and not, against formulas and sampling of the tests' own."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from poise.body.geometry.primitives import Box, Capsule, Shape, Sphere
from poise.errors import InputError, RangeError
from poise.jobs.shared.metrics import measure_feet
from poise.motion.samples import wave
from poise.spatial import rotation
from poise.world.ground.floor import Floor
from poise.world.ground.ground import Ground, Slope
from poise.world.ground.height_map import HeightMap
from poise.world.ground.kernels import ground_height, ground_normal, ground_velocity
from poise.world.ground.moving import MovingGround
from poise.world.ground.profile import Profile, Stairs
from poise.world.prop import Prop
from poise.world.scenery import load_scenery

MAP = HeightMap(np.random.default_rng(11).normal(size=(7, 5)) * 0.2, 0.3, height=0.1)
GROUNDS = {
    "level": Ground(0.3, 0.5),
    "tilted": Slope(0.17, 0.7, height=0.2),
    "up": Stairs(0.1, 0.3, 4, 0.2, 0.5),
    "down": Stairs(-0.1, 0.3, 4, 0.2, 0.5, height=1.0),
    "profile": Profile(((-0.5, 0.0), (-0.5, 0.2), (0.0, 0.2), (0.6, 0.05), (0.9, 0.05), (0.9, -0.1)), 0.5, height=0.3),
    "map": MAP,
    "moving profile": MovingGround(Profile(((-0.5, 0.0), (0.5, 0.4)), 2.0), (0.1, 0.2, 0.3), (0.5, 0.6, 0.1), 3.0),
    "moving": MovingGround(MAP, (0.1, 0.2, 0.3), (0.5, 0.6, 0.1), 3.0),
}


@pytest.mark.parametrize("ground", GROUNDS.values(), ids=GROUNDS)
def test_a_compiled_ground_answers_as_the_ground_itself(ground: Ground) -> None:
    floor, t = Floor(ground), 0.7
    floor.move(t)
    x, z = np.random.default_rng(1).uniform(-1.2, 1.2, (2, 100))
    asked = {
        kernel: np.array([kernel(floor.record[0], *place) for place in zip(x, z, strict=True)])
        for kernel in (ground_height, ground_normal, ground_velocity)
    }
    for kernel, name in ((ground_height, "height_at"), (ground_normal, "normal_at"), (ground_velocity, "velocity_at")):
        np.testing.assert_allclose(asked[kernel], getattr(ground, name)(x, z, t), atol=1e-12)


@pytest.mark.parametrize("ground", GROUNDS.values(), ids=GROUNDS)
def test_normals_and_velocities_are_how_heights_change(ground: Ground) -> None:
    """Away from edges: there a height has no slope. A ground that is carried along by d keeps its height at x + d."""
    t, step = 0.9, 1e-6
    x, z = np.random.default_rng(2).uniform(-0.9, 0.9, (2, 200))

    def slope(dx: float, dz: float) -> np.ndarray:
        ahead, behind = ground.height_at(x + dx, z + dz, t), ground.height_at(x - dx, z - dz, t)
        return (ahead - behind) / (2.0 * step)

    normal = ground.normal_at(x, z, t)
    along = np.stack([slope(step, 0.0), slope(0.0, step)])
    smooth = np.abs(along).max(axis=0) < 100.0  # no edge of a step between the two
    error = np.abs(-normal[:, [0, 2]].T / normal[:, 1] - along).max(axis=0)[smooth]
    assert np.quantile(error, 0.97) < 1e-6  # a few points are on the border of two triangles
    v = ground.velocity_at(x, z, t)
    later = ground.height_at(x + v[:, 0] * step, z + v[:, 2] * step, t + step)
    assert np.quantile(np.abs(later - ground.height_at(x, z, t) - v[:, 1] * step), 0.97) < 1e-10


def test_level_ground_is_at_the_very_number() -> None:
    for height in (0.1, -7.3, 1.0 / 3.0, 99999.9):
        floor = Floor(Ground(height))
        assert ground_height(floor.record[0], 0.7, -3.0) == height
        assert floor.find(0.7, -3.0) == (height, pytest.approx([0.0, 1.0, 0.0], abs=0.0))


def test_heights_by_hand() -> None:
    steps = Stairs(0.2, 0.5, 3, start=1.0)
    np.testing.assert_allclose(steps.height_at(9.0, [0.9, 1.1, 1.6, 2.1, 50.0]), [0.0, 0.2, 0.4, 0.6, 0.6])
    np.testing.assert_allclose(Slope(math.pi / 4, math.pi / 2).height_at([0.0, 2.0], 5.0), [0.0, 2.0], atol=1e-12)
    profile = Profile(((1.0, 0.0), (1.0, 0.5), (2.0, 0.5), (4.0, -0.5)), math.pi / 2)
    np.testing.assert_allclose(
        profile.height_at([0.9, 1.0, 1.5, 2.5, 4.0, 9.0], 7.0), [0.0, 0.5, 0.5, 0.25, -0.5, -0.5], atol=1e-12
    )
    # a cell is cut from its first corner to its last: the middle is on the edge between those
    cell = HeightMap([[1.0, 0.0], [0.0, 1.0]], 1.0)
    np.testing.assert_allclose(cell.height_at([0.0, 0.5, -0.5, 0.7], [0.0, -0.5, -0.5, 0.0]), [1.0, 0.0, 1.0, 0.0])
    belt = MovingGround(steps, velocity=(0.0, 0.1, 1.0), sway=(0.0, 2.0, 0.0), period=2.0)
    np.testing.assert_allclose(belt.height_at(0.0, 1.1 + 1.0, 1.0), 0.2 + 0.1 + 2.0)
    assert belt.friction == steps.friction
    assert MovingGround(steps, height=0.7).height_at(0.0, 0.0) == 0.7


def inside(shape: Shape, points: np.ndarray) -> np.ndarray:
    """Whether points (n, 3) are in a shape, by its definition."""
    if isinstance(shape, Box):
        own = rotation.rotate(rotation.conjugate(shape.turn), points - shape.center)
        return np.all(np.abs(own) <= shape.half, axis=1)
    start, end = (shape.start, shape.end) if isinstance(shape, Capsule) else (shape.center, shape.center)
    along = (points - start) @ (end - start) / max(float((end - start) @ (end - start)), 1e-30)
    nearest = start + np.clip(along, 0.0, 1.0)[:, None] * (end - start)
    return np.linalg.norm(points - nearest, axis=1) <= shape.radius


@pytest.mark.parametrize("kind", ["box", "ball", "rod", "upright rod"])
def test_the_top_of_a_fixed_prop_is_floor(kind: str) -> None:
    rng = np.random.default_rng(3)
    turn = rotation.random(rng)
    shape: Shape = {
        "box": Box(np.array([0.1, 0.0, 0.05]), np.array([0.3, 0.2, 0.4]), rotation.random(rng)),
        "ball": Sphere(np.array([0.1, 0.2, 0.0]), 0.4),
        "rod": Capsule(np.array([-0.3, 0.1, 0.0]), np.array([0.3, 0.2, 0.2]), 0.2),
        "upright rod": Capsule(*(rotation.rotate(rotation.conjugate(turn), [0.0, y, 0.0]) for y in (0.0, 0.4)), 0.2),
    }[kind]
    at = np.array([0.2, 1.5, -0.1])
    prop = Prop("thing", (shape,), position=at, turn=turn)
    y = np.arange(0.3, 2.9, 1e-3)
    hits = 0
    for x, z in at[[0, 2]] + rng.uniform(-0.35, 0.35, (60, 2)):
        line = np.stack([np.full_like(y, x), y, np.full_like(y, z)], axis=1)
        own = rotation.rotate(rotation.conjugate(turn), line - at)
        solid = y[inside(shape, own)]
        height, normal = Floor(Ground(0.2), [prop]).find(x, z)
        if len(solid) < 30:  # beside it, or grazing it
            continue
        hits += 1
        assert 0.0 <= height - solid.max() <= 1.001e-3
        ahead, aside = (Floor(Ground(0.2), [prop]).find(x + dx, z + dz)[0] for dx, dz in ((1e-6, 0), (0, 1e-6)))
        wanted = np.array([height - ahead, 1e-6, height - aside])
        assert normal @ wanted / np.linalg.norm(wanted) > 0.999
        # from below it is a ceiling
        assert Floor(Ground(0.2), [prop]).find(x, z, below=float(solid.max()) - 0.01)[0] == 0.2
    assert hits > 8
    for other in (Prop("away", (shape,), position=at + [5.0, 0.0, 0.0]), Prop("air", (shape,), touches=False)):
        assert Floor(Ground(0.2), [other]).find(0.2, -0.1)[0] == 0.2


def slab(name: str, top: float, thick: float = 0.1, size: float = 2.0) -> Prop:
    half = np.array([size / 2, thick / 2, size / 2])
    return Prop(name, (Box(np.zeros(3), half, rotation.identity()),), position=np.array([0.0, top - thick / 2, 0.0]))


def test_there_is_room_under_a_bridge_and_none_under_a_table() -> None:
    bridge, table, shelf = slab("bridge", 2.5), slab("table", 0.7), slab("shelf", 1.5)
    assert Floor(Ground(), [bridge]).find_room(0.0, 0.0, 1.8) == 0.0
    assert Floor(Ground(), [table, bridge]).find_room(0.0, 0.0, 1.8) == pytest.approx(2.5)
    assert Floor(Ground(), [table, bridge]).find_room(0.0, 0.0, 1.6) == pytest.approx(0.7)
    assert Floor(Ground(), [shelf, table]).find_room(0.0, 0.0, 1.6) == pytest.approx(1.5)
    assert Floor(Ground(), [table]).find_room(1.5, 0.0, 1.6) == 0.0
    assert Floor(None, []).find_room(0.0, 0.0, 1.6) == -np.inf


def test_a_floor_goes_to_another_process() -> None:
    floor = pickle.loads(pickle.dumps(Floor(MAP, [slab("table", 0.7)])))
    assert floor.find(0.2, 0.1)[0] == Floor(MAP, [slab("table", 0.7)]).find(0.2, 0.1)[0]
    assert floor.find(0.2, 0.1, below=0.6)[0] == pytest.approx(float(MAP.height_at(0.2, 0.1)))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Slope(0.1, height=2e5), "height is 200000.0; it must be of at most"),
        (lambda: Stairs(count=0), "stairs have 1 to 1000 steps; 0 given"),
        (lambda: Stairs(count=2.5), "stairs have 1 to 1000 steps; 2.5 given"),  # type: ignore[arg-type]
        (lambda: Profile(()), "a profile has 1 to 4000 points"),
        (lambda: Profile(((0.0, 1.0, 2.0),)), "a profile has 1 to 4000 points"),  # type: ignore[arg-type]
        (lambda: Profile(((0.0, math.nan),)), "at most 10000 m along"),
        (lambda: Profile(((0.0, 0.0), (1.0, 0.0), (0.5, 0.0))), "point 2 of a profile, 0.5 m along, goes back from 1"),
        (lambda: Profile(((0.0, 0.0), (1.0, 2.0))), "steeper than 60 degrees after point 0. Make it a riser"),
        (lambda: HeightMap(np.zeros(4)), "given an array of shape (4,)"),
        (lambda: HeightMap([[0.0, 1.0], [2.0]]), "needs a table of numbers"),  # type: ignore[arg-type]
        (lambda: HeightMap([[0.0, math.nan], [2.0, 3.0]]), "heights of a height map are finite"),
        (lambda: HeightMap(np.zeros((2, 2)), corner=(0.0, 1e9)), "corner of a height map is x and z"),
        (lambda: MovingGround(MovingGround()), "a ground that does not move by itself"),
        (lambda: MovingGround(velocity=(1.0, 2.0)), "velocity of a moving ground is three numbers"),  # type: ignore[arg-type]
        (lambda: MovingGround(sway=(0.0, 99.0, 0.0)), "sway of a moving ground is of at most 20"),
        (lambda: poise.Stage(ground=0.3), "is a Ground, Slope, Stairs, Profile, HeightMap, MovingGround or None"),  # type: ignore[arg-type]
    ],
)
def test_what_no_ground_can_be_is_refused(make: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        make()
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("make", "name", "value"),
    [
        (lambda: Slope(1.2), "tilt", 1.2),
        (lambda: Slope(math.nan), "tilt", math.nan),
        (lambda: Slope(0.1, math.inf), "heading", math.inf),
        (lambda: Stairs(20.0), "rise", 20.0),
        (lambda: Stairs(run=0.0), "run", 0.0),
        (lambda: Stairs(friction=-1.0), "friction", -1.0),
        (lambda: Profile(heading=math.inf), "heading", math.inf),
        (lambda: HeightMap(np.zeros((2, 2)), -1.0), "spacing", -1.0),
        (lambda: MovingGround(period=0.0), "period", 0.0),
    ],
)
def test_rejects_numbers_out_of_range(make: Callable[[], object], name: str, value: float) -> None:
    assert rejects(make, name, error=RangeError).value == pytest.approx(value, nan_ok=True)


TOML = {
    "height = 0.1\nfriction = 0.5": Ground(0.1, 0.5),
    'kind = "level"': Ground(),
    'kind = "tilted"\nangle_degrees = 10\nheading_degrees = 90\nheight = 1': Slope(
        math.radians(10), math.pi / 2, height=1.0
    ),
    'kind = "steps"\nrise = -0.1\nrun = 0.3\ncount = 4\nstart = 1': Stairs(-0.1, 0.3, 4, 1.0),
    'kind = "steps"': Stairs(),
    'kind = "profile"\npoints = [[1, 0], [1, 0.2], [3, 0]]\nheading_degrees = 180': Profile(
        ((1.0, 0.0), (1.0, 0.2), (3.0, 0.0)), math.pi
    ),
    "velocity = [0, 0, 1]": MovingGround(Ground(), (0.0, 0.0, 1.0)),
    'kind = "tilted"\nangle_degrees = 0\nsway = [1, 0, 0]\nperiod = 2\nfriction = 0.3': MovingGround(
        Slope(friction=0.3), sway=(1.0, 0.0, 0.0), period=2.0
    ),
}


@pytest.mark.parametrize(("text", "wanted"), TOML.items())
def test_stage_files_name_each_kind(text: str, wanted: Ground, tmp_path: Any) -> None:
    path = tmp_path / "stage.toml"
    path.write_text(f"[ground]\n{text}\n")
    found = load_scenery(path)
    assert found.ground == wanted
    assert found.is_placed == ("height" in text)


def test_a_stage_file_has_a_map(tmp_path: Any) -> None:
    path = tmp_path / "stage.toml"
    path.write_text('[ground]\nkind = "map"\nheights = [[0, 0.1, 0], [0, 0, 1]]\nspacing = 0.5\ncorner = [1, 2]\n')
    found = load_scenery(path).ground
    assert found.height_at(2.0, 2.5) == 1.0
    assert found.height_at(1.5, 2.0) == 0.1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('kind = "hill"', "kind of ground 'hill'"),
        ('kind = "tilted"', "lacks 'angle_degrees'"),
        ('kind = "tilted"\nangle_degrees = 80', "tilt of the ground must be from -1.0472 to 1.0472 rad; got 1.39626"),
        ("angle_degrees = 5", "angle_degrees"),
        ('kind = "steps"\ncount = 1.5', "'count' of [ground] must be a whole number of steps; 1.5 given"),
        ('kind = "steps"\nrun = "a"', "'run' of [ground]"),
        ('kind = "profile"', "is a profile and lacks its 'points'"),
        ('kind = "profile"\npoints = [[1, 2, 3]]', "1 to 4000 points"),
        ('kind = "map"\nspacing = 1', "is a map and lacks its 'heights'"),
        ('kind = "map"\nheights = [[0, 1], [2]]\nspacing = 1', "must all have as many numbers"),
        ('kind = "map"\nheights = [0, 1]\nspacing = 1', "must be a list of rows"),
        ('kind = "map"\nheights = [[0, "a"], [1, 2]]\nspacing = 1', "'heights' of [ground]"),
        ('kind = "map"\nheights = [[0, 1], [1, 2]]', "lacks 'spacing'"),
        ("velocity = [0, 1]", "'velocity' of [ground] must be a list of 3 numbers"),
        ("period = 3", "has a 'period' and nothing that has one"),
    ],
)
def test_bad_grounds_in_a_stage_file_are_refused(text: str, said: str, tmp_path: Any) -> None:
    path = tmp_path / "stage.toml"
    path.write_text(f"[ground]\n{text}\n")
    with pytest.raises(poise.FileError) as error:
        load_scenery(path)
    assert said in str(error.value)


def test_feet_are_measured_over_what_is_under_them() -> None:
    """A wave on a belt, each frame moved with it: seen from the belt it is the wave on level ground."""
    body = poise.Character.human(preset="mix")
    from poise.dynamics.tree import build_tree

    clip, tree = wave(body.skeleton), build_tree(body)
    plain = measure_feet(clip, tree, 0.0)
    ground = MovingGround(Ground(0.4), velocity=(0.3, 0.1, 0.5))
    moved = clip.replace(root=clip.root + [0.0, 0.4, 0.0] + np.array([ground.shift(t) for t in clip.times]))
    assert measure_feet(moved, tree, Floor(ground)) == pytest.approx(plain, abs=1e-9)
    assert measure_feet(moved, tree, 0.0)["com_margin_m"] is None
    on_box = clip.replace(root=clip.root + [0.0, 0.7, 0.0])
    assert measure_feet(on_box, tree, Floor(Ground(), [slab("table", 0.7)])) == pytest.approx(plain, abs=1e-9)

"""Every engine on every kind of ground: things come to rest where the ground says it is, and go along with it."""

from __future__ import annotations

import importlib.util
from dataclasses import replace

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from poise.body.geometry.primitives import Box, Sphere
from poise.engines.engine import Capabilities, Engine, Simulation
from poise.engines.registry import ENGINES, get_engine
from poise.engines.scene import Scene
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia
from poise.world.ground.ground import Ground, Slope
from poise.world.ground.height_map import HeightMap
from poise.world.ground.moving import MovingGround
from poise.world.ground.profile import Profile, Stairs
from poise.world.prop import Prop

MODULES = {"mujoco": "mujoco", "bullet": "pybullet", "inverse": "mujoco"}
DT, SECONDS = 0.002, 0.4
HALF = np.array([0.15, 0.05, 0.1])
UP = np.array([0.0, 1.0, 0.0])
SLOPE = HeightMap(0.1 * np.arange(3)[:, None] + 0.05 * np.arange(4), 0.5, height=0.1)  # flat, and tilted
COURSE = Profile(
    ((1.0, 0.0), (2.2, 0.25), (3.2, 0.25), (3.2, 0.1), (3.7, 0.1), (3.7, 0.35), (4.0, 0.35), (4.8, 0.2)), height=0.1
)
RIDGE = HeightMap([[0.1, 0.0], [0.0, 0.1]], 0.2)
CASES = {
    "raised": (Ground(0.3), 0.0, 0.0),
    "tilted": (Slope(0.17, 0.7, height=0.2), 0.6, 0.4),
    "before stairs": (Stairs(0.1, 0.5, 4, 0.2, 0.5), 0.0, 0.0),
    "on stairs": (Stairs(0.1, 0.5, 4, 0.2, 0.5), 0.1, 0.45),
    "after stairs": (Stairs(0.1, 0.5, 4, 0.2, 0.5), 60.0, 190.0),
    "down stairs": (Stairs(-0.1, 0.5, 4, 0.2, 0.5), 0.1, 0.45),
    "before stairs down": (Stairs(-0.1, 0.5, 4, 0.2, 0.5), -0.1, -0.3),
    "ramp": (COURSE, 0.0, 1.6),
    "landing": (COURSE, 0.4, 2.8),
    "tread": (COURSE, 0.0, 3.45),
    "ramp down": (COURSE, 0.0, 4.4),
    "beyond": (COURSE, 0.0, 40.0),
    "turned ramp": (replace(COURSE, heading=2.0), 1.45, -0.67),
    "map": (SLOPE, 0.2, -0.1),
    "beside the map": (SLOPE, 5.0, 0.0),
    "belt": (MovingGround(Ground(0.2), (0.3, 0.0, 0.1)), 0.0, 0.0),
    "tilted deck": (MovingGround(Slope(0.1, 0.3), sway=(0.3, 0.1, 0.2), period=3.0), 0.2, 0.0),
    "moving stairs": (MovingGround(Stairs(0.1, 0.5, 4, 0.2, 0.5), (0.0, 0.2, 0.3)), 0.1, 0.45),
    "moving map": (MovingGround(SLOPE, (0.2, 0.0, 0.1)), 0.2, -0.1),
}


@pytest.fixture(params=list(ENGINES))
def engine(request: pytest.FixtureRequest) -> Engine:
    if importlib.util.find_spec(MODULES[request.param]) is None:
        pytest.skip(f"no {MODULES[request.param]} here")
    return get_engine(request.param)


def build_brick(ground: Ground, x: float, z: float) -> Prop:
    """A brick that lies on a ground, at rest: a belt first slides away under it."""
    normal = ground.normal_at(x, z)
    squares = HALF**2
    inertia = RigidInertia(2.0, np.zeros(3), 2.0 / 3.0 * np.diag(squares.sum() - squares))
    at = np.array([x, float(ground.height_at(x, z)), z]) + (HALF[1] + 1e-3) * normal
    shape = Box(np.zeros(3), HALF, rotation.identity())
    return Prop("brick", (shape,), inertia, at, rotation.between(UP, normal))


@pytest.mark.parametrize(("ground", "x", "z"), CASES.values(), ids=CASES)
@pytest.mark.many(17)
def test_a_brick_rests_where_the_ground_is_and_goes_along(engine: Engine, ground: Ground, x: float, z: float) -> None:
    if ground.moves and not engine.abilities.moving:
        pytest.skip(f"{engine.name} has no ground that moves")
    brick = build_brick(ground, x, z)
    simulation = engine.build(Scene((), (brick,), ground, DT))
    for _ in range(round(SECONDS / DT)):
        simulation.step()
    at, turn, velocity, _ = simulation.read_prop("brick")
    up = rotation.rotate(turn, UP)
    sole = at - HALF[1] * up
    assert abs(sole[1] - ground.height_at(sole[0], sole[2], SECONDS)) < 1.2e-3  # engines keep up to 1 mm away
    assert np.arccos(min(1.0, up @ ground.normal_at(sole[0], sole[2], SECONDS))) < 2e-3
    went = at - brick.position - (ground.shift(SECONDS) if isinstance(ground, MovingGround) else 0.0)
    # what it takes friction to bring it up to the ground's speed:  v^2 / (2 m g)
    behind = float(np.sum(ground.velocity_at(x, z) ** 2)) / (2.0 * ground.friction * 9.81)
    assert np.linalg.norm(went) < 2e-3 + 2.0 * behind  # longer down a slope
    if isinstance(ground, MovingGround) and type(ground.ground) is Ground:
        assert abs(np.linalg.norm(went[[0, 2]]) - behind) < 0.1 * behind
    np.testing.assert_allclose(velocity, ground.velocity_at(x, z, SECONDS), atol=0.02)


@pytest.mark.parametrize("map_", [RIDGE, replace(RIDGE, heights=0.1 - RIDGE.heights)], ids=["ridge", "valley"])
def test_cells_of_a_map_are_cut_the_same_way(engine: Engine, map_: HeightMap) -> None:
    """A ball on the middle of a twisted cell is on the ridge from its first corner to its last, or in that valley."""
    radius, height = 0.004, float(map_.height_at(0.0, 0.0))
    inertia = RigidInertia(0.1, np.zeros(3), 0.04 * radius**2 * np.eye(3))
    at = np.array([0.0, height + radius + 1e-3, 0.0])
    ball = Prop("ball", (Sphere(np.zeros(3), radius),), inertia, at)
    simulation = engine.build(Scene((), (ball,), map_, 0.002))
    for _ in range(20):
        simulation.step()
    assert abs(simulation.read_prop("ball")[0][1] - height - radius) < 4e-3


@pytest.mark.parametrize("x", [-0.45, -0.3, 0.15, 0.35])
def test_a_large_map_is_cut_into_pieces_that_fit(monkeypatch: pytest.MonkeyPatch, x: float) -> None:
    """Two flats, one higher than the other, and what joins them; the engine takes three cells at once."""
    if importlib.util.find_spec("pybullet") is None:
        pytest.skip("no pybullet here")
    monkeypatch.setattr("poise.engines.bullet.ground._CELLS", 3)
    heights = np.where(np.arange(13) < 6, 0.0, 0.2) * np.ones((8, 1))
    map_ = HeightMap(heights, 0.1)
    simulation = get_engine("bullet").build(Scene((), (build_brick(map_, x, 0.1),), map_, DT))
    assert len(simulation.world.ground) == 1 + 3 * 4
    for _ in range(40):
        simulation.step()
    at = simulation.read_prop("brick")[0]
    assert abs(at[1] - HALF[1] - map_.height_at(at[0], at[2])) < 2e-3


def test_a_moving_ground_goes_on_from_a_saved_state(engine: Engine) -> None:
    ground = MovingGround(Slope(0.1, 0.3), (0.1, 0.0, 0.0), (0.3, 0.1, 0.2), 3.0)
    simulation = engine.build(Scene((), (build_brick(ground, 0.2, 0.0),), ground, DT, time=0.0))
    for _ in range(20):
        simulation.step()
    saved = simulation.save()
    ends = []
    for _ in range(2):
        for _ in range(20):
            simulation.step()
        ends.append(np.concatenate(simulation.read_prop("brick")))
        simulation.restore(saved)
    np.testing.assert_array_equal(*ends)


class LevelOnly(Engine):
    name = "plain"
    abilities = Capabilities(couplings=("exact",), uneven=False, moving=False)

    def build(self, scene: Scene) -> Simulation:
        raise NotImplementedError


def test_a_stage_refuses_by_name_what_an_engine_cannot_build() -> None:
    engine = LevelOnly()
    rejects(lambda: poise.Stage(engine, ground=Slope(0.1)), "'plain'", "'Slope'")
    rejects(lambda: poise.Stage(engine, ground=MovingGround()), "'plain'")
    assert poise.Stage(engine, ground=Ground(1.0)).ground == Ground(1.0)

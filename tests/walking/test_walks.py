"""Walks on every ground, judged from outside: `walked` shares no kinematics with what walks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from helpers.errors import rejects
from helpers.walking import measure_walk
from poise.body.reshape import lock
from poise.errors import InputError
from poise.walking.feet.foot import build_feet
from poise.walking.footholds.sole_contact import stand_on
from poise.walking.footholds.stride import ROOM, find_stride
from poise.walking.footholds.terrain import Foothold, Terrain
from poise.walking.gait import Gait
from poise.walking.path.planner import WalkPath
from poise.walking.start import find_stances, start_walk
from poise.walking.steps import StepPlan
from poise.walking.walker import carry
from poise.world.ground.terrain import build_terrain

FPS = 50
GROUNDS = {
    "flat": lambda: poise.Ground(),
    "up": lambda: poise.Slope(math.radians(10.0), 0.0),
    "down": lambda: poise.Slope(math.radians(10.0), math.pi),
    "aside": lambda: poise.Slope(math.radians(10.0), 0.5 * math.pi),
    "stairs up": lambda: poise.Stairs(0.17, 0.29, 20, 0.6, 0.0),
    "stairs down": lambda: poise.Stairs(-0.17, 0.29, 20, 0.6, 0.0),
    "stones": lambda: build_terrain("rough", 3, stones=0.5),
}


def walk(body, ground, steps=7, **how):
    poser = start_walk(body, ground, steps, **how)
    poser.walker.reach(1e6)
    times = np.arange(0.0, poser.walker.end, 1.0 / FPS)
    return poser, times, poser.frames(times)


def judge(body, ground, steps=7, **how):
    poser, times, frames = walk(body, ground, steps, **how)
    judged = measure_walk(
        body, ground.height_at, poser.walker.course, times, frames.root, frames.rotations, how.get("loads", ())
    )
    return poser, judged


def find_over(foot, stance, ground):
    """(189,) m, how high points of a sole in a stance are over the ground."""
    u, v = (grid.ravel() for grid in np.meshgrid(np.linspace(0.0, 1.0, 9), np.linspace(0.0, 1.0, 21)))
    (a, b, c), edge = foot.corners[:3], foot.corners[0] * [1.0, 0.0, 1.0]
    local = edge + np.outer(u, b - a) + np.outer(v, c - a)
    points = stance.place + Rotation.from_quat(stance.turn, scalar_first=True).apply(local)
    return points[:, 1] - ground.height_at(points[:, 0], points[:, 2])


@pytest.mark.parametrize("name", GROUNDS)
@pytest.mark.many(2)
def test_walks_are_balanced_on_every_ground(name: str) -> None:
    body = poise.Character.human(1.75, 75.0)
    poser, judged = judge(body, GROUNDS[name]())
    assert len(poser.walker.course.steps) == 7
    assert judged.margin > 0.005 and judged.out == 0
    assert judged.slid < 5e-4 and judged.sunk < 5e-4 and judged.gap < 2e-3
    assert judged.beyond < 1e-9 and judged.turning < 600.0


@pytest.mark.parametrize(
    ("height", "mass", "preset", "name"),
    [(1.15, 20.0, "full", "stairs up"), (1.95, 120.0, "full", "stairs down"), (1.6, 55.0, "mix", "stones")],
)
@pytest.mark.many(1)
def test_other_bodies_walk_too(height: float, mass: float, preset: str, name: str) -> None:
    """A child, a giant, and one whose feet have no toes."""
    _, judged = judge(poise.Character.human(height, mass, preset=preset), GROUNDS[name]())
    assert judged.margin > 0.004 and judged.slid < 5e-4 and judged.sunk < 5e-4 and judged.gap < 2e-3


@pytest.mark.parametrize("facing", ["back", "left", "right"])
@pytest.mark.many(1)
def test_backwards_and_sideways(facing: str) -> None:
    body = poise.Character.human(1.75, 75.0)
    poser, judged = judge(body, poise.Ground(), 6, facing=facing)
    assert judged.margin > 0.005 and judged.slid < 5e-4 and judged.sunk < 5e-4
    first, last = (stance.place for stance in (poser.walker.course.stances[0][0], poser.walker.course.stances[0][-1]))
    moved = last - first
    assert {"back": -moved[2], "left": moved[0], "right": -moved[0]}[facing] > 0.4
    assert abs(moved[0 if facing == "back" else 2]) < 0.05


def test_a_path_is_walked_to_its_end() -> None:
    body = poise.Character.human(1.75, 75.0)
    poser, judged = judge(body, poise.Ground(), None, path=[(0.0, 1.2), (1.5, 1.2)])
    assert judged.margin > 0.005 and judged.slid < 5e-4
    left, right = (row[-1].place for row in poser.walker.course.stances)
    np.testing.assert_allclose(0.5 * (left + right)[[0, 2]], [1.5, 1.2], atol=0.1)


def test_a_load_is_carried_over_the_feet() -> None:
    body, loads = poise.Character.human(1.75, 75.0), [poise.Load("rightHand", 10.0)]
    _, judged = judge(body, poise.Ground(), 5, loads=loads)
    assert judged.margin > 0.005
    poser, times, frames = walk(body, poise.Ground(), 5)
    without = measure_walk(
        body, poise.Ground().height_at, poser.walker.course, times, frames.root, frames.rotations, loads
    )
    assert without.margin < 0.0  # who does not reckon with the load falls


def test_the_same_walk_is_the_same_to_the_last_bit() -> None:
    body = poise.Character.human(1.6, 60.0)
    one, two = (walk(body, build_terrain("rough", 5, stones=0.4), 4)[2] for _ in range(2))
    np.testing.assert_array_equal(one.rotations, two.rotations)
    np.testing.assert_array_equal(one.root, two.root)


@pytest.mark.slow
def test_what_nobody_can_climb_is_refused() -> None:
    with pytest.raises(InputError, match="m"):
        walk(poise.Character.human(1.75, 75.0), poise.Stairs(0.6, 0.29, 5, 0.6, 0.0))


def test_what_cannot_be_walked_is_refused() -> None:
    body = poise.Character.human(1.75, 75.0)
    with pytest.raises(InputError, match="steps, or a path"):
        start_walk(body, poise.Ground())
    with pytest.raises(InputError, match=r"the pace of a walk is 0\.3 to 2; given 9"):
        Gait(pace=9.0)
    rejects(lambda: start_walk(body, poise.Ground(), 3, facing="lefts"), "Did you mean 'left'")


def test_upright_walkers_are_taller_than_crouched_ones() -> None:
    """[balance, figure 10]: the bias on the height of the centre of mass."""
    body = poise.Character.human(1.75, 75.0)
    high, low = (
        walk(body, poise.Ground(), 5, manner=Gait(stretch=stretch))[2].center[:, 1] for stretch in (0.985, 0.9)
    )
    assert high.min() > low.max() - 0.02 and high.mean() > low.mean() + 0.05


def test_joints_stay_in_their_ranges_however_the_arms_swing() -> None:
    """A knee that is locked stays locked from the first frame on, and no elbow is bent backwards."""
    body = poise.bodies.build_body("locked-knee")
    _, judged = judge(body, poise.Ground(), 4, manner=Gait(step=0.25, lift=0.02, arms=3.0))
    assert judged.beyond < 1e-6 and judged.margin > 0.005


def test_a_plan_that_is_carried_elsewhere_turns_no_joint() -> None:
    """All of it goes as one: feet, what carries, the centre of mass."""
    body = poise.Character.human(1.75, 75.0)
    walkers = [start_walk(body, poise.Ground(), 3).walker for _ in range(2)]
    times = np.arange(0.0, 2.0, 0.1)
    yaw, shift = 0.4, np.array([0.3, -0.2])
    carry(walkers[1], yaw, shift)
    turn = Rotation.from_euler("y", yaw)
    for side in range(2):
        here, there = (walker.feet_at(times)[side] for walker in walkers)
        assert np.allclose(turn.apply(here.place) + [shift[0], 0.0, shift[1]], there.place, atol=1e-12)
        whole = turn * Rotation.from_quat(here.turn, scalar_first=True)
        assert np.allclose(
            (whole.inv() * Rotation.from_quat(there.turn, scalar_first=True)).magnitude(), 0.0, atol=1e-7
        )
    for t in times:
        here, there = (walker.state_at(float(t)) for walker in walkers)
        assert np.allclose(turn.apply(here) + [[shift[0], 0.0, shift[1]], [0, 0, 0], [0, 0, 0]], there, atol=1e-12)


@pytest.mark.slow
def test_soles_of_a_child_lie_on_stones() -> None:
    """Where a shorter step has it lie flat, a sole is not put across an edge: half of it would hang over the ground."""
    body, ground = poise.Character.human(1.2, 24.0), build_terrain("rough", 0, stones=0.5, length=99.0, width=6.0)
    course = start_walk(body, ground, 60, manner=Gait(step=0.517)).walker
    course.reach(1e9)
    gaps = [
        np.median(np.abs(find_over(foot, stance, ground)))
        for foot, row in zip(course.course.feet, course.course.stances, strict=True)
        for stance in row
    ]
    assert max(gaps) < 0.002


def test_soles_are_not_put_across_a_low_edge_where_a_short_step_would_do() -> None:
    """A child before an edge of 12 mm, wherever that is: half of a sole that lies across it would hover."""
    body = poise.Character.human(1.2, 24.0)
    feet, manner = build_feet(body), Gait(step=0.382)
    gaps = []
    for edge in np.arange(0.16, 0.24, 0.01):
        z = np.arange(-1.0, 2.0, 0.01)
        heights = np.repeat(0.012 * np.clip((z - edge) / 0.05, 0.0, 1.0)[:, None], 60, axis=1)
        terrain = Terrain(poise.HeightMap(heights, 0.01, (-0.3, -1.0)))
        stances = find_stances(feet, terrain, (0.0, 0.0), 0.0, manner, feet[0].leg)
        course = StepPlan(feet, ([stances[0]], [stances[1]]))
        way = WalkPath.ahead(0.0, 0.0, 0.0)
        gaps.append(find_stride(course, 0, 0.0, way, manner, terrain, closing=False).spot.gap)
    assert max(gaps) < 0.002


@pytest.mark.parametrize("edge", [0.18, 0.19, 0.2, 0.21, 0.22, 0.23])
def test_who_sets_out_before_an_edge_stands_on_the_ground(edge: float) -> None:
    """Feet that are put down before an edge of a few millimetres touch the ground; hardly anything hovers."""
    feet, manner = build_feet(poise.Character.human(1.9, 120.0)), Gait()
    for rise in (0.002, 0.005, 0.012):
        z = np.arange(-1.0, 2.0, 0.01)
        heights = np.repeat(rise * np.clip((z - edge) / 0.05, 0.0, 1.0)[:, None], 60, axis=1)
        ground = poise.HeightMap(heights, 0.01, (-0.3, -1.0))
        stances = find_stances(feet, Terrain(ground), (0.0, 0.0), 0.0, manner, feet[0].leg)
        for foot, stance in zip(feet, stances, strict=True):
            over = find_over(foot, stance, ground)
            assert -3e-4 < over.min() < 2e-4
            assert np.quantile(over, 0.9) < 0.002
            assert abs(stance.place[2]) < 0.2


def test_the_first_step_from_stones_is_balanced() -> None:
    """Both feet stand before an edge that is 2.5 mm high: the sole that is lifted last carries all of the body."""
    body, ground = poise.Character.human(1.9, 120.0), build_terrain("rough", 5, stones=0.5, length=99.0, width=6.0)
    _, judged = judge(body, ground, 2, manner=Gait(step=0.478, pace=1.098))
    assert judged.margin > 0.008 and judged.out == 0 and judged.gap < 0.001


@pytest.mark.parametrize("run", [0.3091, 0.31, 0.312])
def test_feet_come_together_on_treads_as_long_as_a_sole(run: float) -> None:
    """The left foot has got far inside, where the tread lets it lie: the right one stands beside it all the same."""
    feet, manner = build_feet(poise.Character.human(1.9, 120.0)), Gait()
    terrain, way, inside = Terrain(poise.Stairs(-0.11, run, 20, 0.3, 0.0)), WalkPath.ahead(0.0, 0.0, 0.0), 0
    for s in np.arange(0.3, 1.6, 0.03):
        found = terrain.find_foothold(0.07, float(s), manner.toe_out, feet[0].sole, spare=ROOM)
        assert isinstance(found, Foothold)
        left = stand_on(feet[0], found, terrain)
        course = StepPlan(feet, ([left], [left]))
        right = find_stride(course, 1, float(s), way, manner, terrain, closing=True).spot
        inside += left.place[0] < 0.03
        assert 0.12 < left.place[0] - right.place[0] < 0.37 and right.share > 0.7
    assert inside > 0


@pytest.mark.parametrize("knee", ["leftLowerLeg", "rightLowerLeg"])
def test_a_knee_that_does_not_bend_is_walked_with(knee: str) -> None:
    """Nothing is asked for: steps are short and low, and the hip is hiked."""
    body = lock(poise.Character.human(1.75, 75.0), knee)
    poser, judged = judge(body, poise.Ground(), 5)
    assert poser.walker.manner.step < Gait().step
    assert judged.margin > 0.005 and judged.out == 0
    assert judged.slid < 5e-4 and judged.sunk < 5e-4 and judged.gap < 2e-3
    assert judged.beyond < 1e-9 and judged.turning < 400.0


@pytest.mark.slow
def test_stairs_are_refused_to_a_knee_that_does_not_bend() -> None:
    body = lock(poise.Character.human(1.75, 75.0), "leftLowerLeg")
    with pytest.raises(InputError, match="no place for the"):
        start_walk(body, GROUNDS["stairs up"](), 8).walker.reach(1e9)

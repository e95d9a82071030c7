"""Standing on ground that is raised, tilted, stepped, moving, and on props. Feet are read off the takes' poses."""

from __future__ import annotations

import math

import numpy as np
import pytest

import poise
from helpers.stages import VerbsEngine
from poise.body.geometry.primitives import Box
from poise.drivers.balance.settings import FORCE
from poise.jobs.shared.metrics import find_sole_corners
from poise.spatial import rotation
from poise.stage.stage import Stage
from poise.stage.take.take import Take
from poise.world.ground.ground import Ground, Slope
from poise.world.ground.moving import MovingGround
from poise.world.ground.profile import Stairs
from poise.world.prop import Prop

TEN = math.radians(10.0)
BODY = poise.Character.human(preset="mix")


def box(top: float, x: float = 0.0, size: float = 1.0, thick: float | None = None) -> Prop:
    thick = top if thick is None else thick
    half = np.array([size / 2, thick / 2, size / 2])
    return Prop("box", (Box(np.zeros(3), half, rotation.identity()),), position=np.array([x, top - thick / 2, 0.0]))


def build(ground: Ground, props: tuple[Prop, ...] = (), compiled: bool = True) -> Stage:
    stage = poise.Stage("mujoco" if compiled else VerbsEngine(), ground=ground)
    for prop in props:
        stage.add_prop(prop)
    actor = stage.add(BODY)
    actor.drive("legs", poise.Balance())
    actor.drive("arms", poise.Kinematic(poise.gestures.conduct(bpm=120)))
    return stage


def assert_stands(take: Take, heights: list[float], hips: float, most: float = 0.01) -> np.ndarray:
    """On its feet, each sole at its height, without slipping; returns the corners (F, 2, 4, 3) of the soles."""
    assert take.fell_at() is None
    corners = find_sole_corners(take.clip())
    assert np.linalg.norm((corners - corners[0])[..., [0, 2]], axis=-1).max() < 1e-3
    np.testing.assert_allclose(corners[-1, ..., 1].mean(axis=1), heights, atol=1.5e-3)
    assert abs(take.actor().root[:, 1].mean() - hips) < most
    return corners


@pytest.fixture(scope="module")
def flat() -> Take:
    return build(Ground()).run(2.0)


@pytest.mark.parametrize("height", [0.3, 1.0, -2.0])
def test_raised_ground_changes_nothing_but_the_height(flat: Take, height: float) -> None:
    take = build(Ground(height)).run(2.0)
    np.testing.assert_allclose(take.actor().root - [0.0, height, 0.0], flat.actor().root, atol=1e-6)
    np.testing.assert_allclose(take.actor().rotations, flat.actor().rotations, atol=1e-5)
    assert_stands(take, [height, height], height + 0.923)


@pytest.mark.parametrize("way", range(0, 8, 2))
def test_it_stands_on_a_slope(way: int) -> None:
    ground = Slope(TEN, way * math.pi / 4 + 0.1, height=0.5)
    take = build(ground).run(2.0)
    corners = find_sole_corners(take.clip())
    heights = ground.height_at(*corners[-1].mean(axis=1)[:, [0, 2]].T)
    assert_stands(take, list(heights), float(heights.min()) + 0.923, 0.03)
    # soles lie on the slope: every corner is as near to it as engines go
    gap = corners[-1, ..., 1] - ground.height_at(corners[-1, ..., 0], corners[-1, ..., 2])
    assert np.abs(gap).max() < 1.5e-3


@pytest.mark.parametrize("side", [1, -1])
def test_it_stands_with_one_foot_on_a_step(side: int) -> None:
    take = build(Stairs(0.1, 5.0, 1, 0.0, side * math.pi / 2)).run(2.0)
    assert_stands(take, [0.1, 0.0] if side == 1 else [0.0, 0.1], 0.923)


def test_feet_look_for_a_place_where_the_floor_is_even() -> None:
    """An edge under the middle of both soles: they go to one side of it, and the body with them."""
    take = build(Stairs(0.1, 5.0, 1, 0.02)).run(1.0)
    corners = assert_stands(take, [0.1, 0.1], 1.023)
    assert corners[-1, ..., 2].min() > 0.01


@pytest.mark.parametrize(
    ("prop", "heights", "hips"),
    [
        (box(0.5), [0.5, 0.5], 1.423),
        (box(0.1, x=0.505), [0.1, 0.0], 0.923),
        (box(2.5, thick=0.3), [0.0, 0.0], 0.923),
        (box(0.2, size=0.05), [0.0, 0.0], 0.923),
    ],
    ids=["on it", "one foot on it", "under it", "astride it"],
)
def test_it_stands_on_what_a_fixed_prop_leaves(prop: Prop, heights: list[float], hips: float) -> None:
    assert_stands(build(Ground(), (prop,)).run(1.0), heights, hips)


def test_a_pose_of_ones_own_stands_on_the_prop_under_it() -> None:
    stage = poise.Stage()
    stage.add_prop(box(0.4, x=2.0))
    pose = poise.Stage().add(BODY).body.state
    root = pose.root + [2.0, 0.4, 0.0]
    actor = stage.add(BODY, pose=poise.motion.motion.Pose(root, pose.q))
    actor.drive("legs", poise.Balance())
    assert_stands(stage.run(1.0), [0.4, 0.4], 1.323)


@pytest.mark.parametrize("ground", [Slope(TEN, 0.6), Stairs(0.1, 5.0, 1, 0.0, math.pi / 2)], ids=["slope", "step"])
def test_laws_and_the_verbs_of_the_engine_give_the_same_bits(ground: Ground) -> None:
    takes = []
    for compiled in (True, False):
        stage = build(ground, compiled=compiled)
        stage.actors["mix"].push("spine", (40.0, 0.0, 20.0), 0.2, 0.1)
        takes.append(stage.run(0.6).actor())
    np.testing.assert_array_equal(takes[0].rotations, takes[1].rotations)
    np.testing.assert_array_equal(takes[0].margin, takes[1].margin)


def test_on_a_slope_the_force_stays_within_friction() -> None:
    """[on a slope of tangent s: (m - s) / (1 + m s)]: pushed hard uphill and down, the force is in the leaning cone."""
    ground = Slope(TEN, 0.0, friction=0.4)
    normal = ground.normal_at(0.0, 0.0)
    most = 0.0
    for sign in (1.0, -1.0):
        stage = build(ground, compiled=False)
        actor = stage.actors["mix"]
        actor.push("hips", (0.0, 0.0, sign * 250.0), 0.2, 0.02)
        for _ in range(40):
            stage.step()
            force = actor.player("legs").told[FORCE : FORCE + 3]  # type: ignore[attr-defined]
            across = np.linalg.norm(force - (force @ normal) * normal)
            most = max(most, across / (force @ normal))
    assert 0.3 < most <= 0.36 * (1.0 + 1e-9)  # 0.9 of the ground's


def test_a_fall_is_counted_from_the_floor_under_the_hips() -> None:
    stage = build(Ground(1.0))
    stage.actors["mix"].push("spine", (0.0, 0.0, 500.0), 0.3, 0.1)
    take = stage.run(2.0)
    fell = next(event for event in take.events if event.kind == "fell")
    assert float(fell.message.split()[-2]) < 0.7  # of some 0.9; it tips over before its hips sink
    assert 0.3 < fell.time < 1.5


def test_it_is_carried_along() -> None:
    ground = MovingGround(Slope(0.1, 0.5), velocity=(0.0, 0.0, 0.8), sway=(0.1, 0.2, 0.0), period=3.0)
    stage = build(ground)
    take = stage.run(2.0)
    assert take.fell_at() is None
    corners = find_sole_corners(take.clip()) - np.array([ground.shift(t) for t in take.times])[:, None, None]
    assert np.linalg.norm(corners - corners[0], axis=-1).max() < 2e-3
    saved = stage.save()
    ends = []
    for _ in range(2):
        stage.advance(40)
        ends.append(stage.actors["mix"].body.state.q.copy())
        stage.restore(saved)
    np.testing.assert_array_equal(*ends)

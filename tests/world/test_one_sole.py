"""There is one sole: what is drawn on the floor is what engines touch it with, and what balance and walks count on.

The drawn vertices near the floor are found here, placed by the matrices of the body that stands. Two convex regions are
as far apart as their extents differ in any direction.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from poise.body.character import Character
from poise.body.geometry.mannequin import build_mannequin
from poise.body.roles import SIDES
from poise.drivers.balance.balance import Balance
from poise.drivers.body import Body
from poise.jobs.walk.metrics import find_soles
from poise.stage.stage import Stage
from poise.walking.start import start_walk

NEAR = 0.002  # m above the lowest vertex: what is drawn on the floor
SAME = 0.002  # m
BODIES = {
    "child": poise.bodies.build_body("child"),
    "default": Character.human(1.75, 75.0),
    "tall": Character.human(1.95, 95.0),
}
AROUND = np.linspace(0.0, 2.0 * np.pi, 360, endpoint=False)
WAYS = np.stack([np.cos(AROUND), np.sin(AROUND)])


def find_extents(points: np.ndarray) -> np.ndarray:
    """(360,) m, how far points (N, 3) reach in every direction over the ground."""
    return (points[:, [0, 2]] @ WAYS).max(axis=0)


def list_below(character: Character, side: str) -> list[int]:
    """Joints of a foot and of its toes."""
    return list(character.skeleton.descendants(character.skeleton.index(side + "Foot")))


def find_drawn(character: Character, side: str, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """(N, 3) m, those vertices of a foot and its toes that are on the floor. R (J, 3, 3), p (J, 3) m."""
    meshes, names = build_mannequin(character.skeleton, character.mass), character.skeleton.names
    points = np.concatenate(
        [p[j] + meshes[names[j]].vertices @ R[j].T for j in list_below(character, side) if names[j] in meshes]
    )
    return points[points[:, 1] < points[:, 1].min() + NEAR]


def stand(character: Character, engine: str) -> tuple[Stage, Body]:
    """A body that has stood for a moment."""
    stage = Stage(engine=engine)
    actor = stage.add(character)
    actor.drive("legs", Balance())
    stage.build()
    stage.advance(30)
    actor.body.update()
    return stage, actor.body


@pytest.mark.parametrize("engine", ["mujoco", "bullet", "inverse"])
@pytest.mark.parametrize("name", BODIES)
def test_engines_touch_the_ground_with_the_drawn_sole(name: str, engine: str) -> None:
    character = BODIES[name]
    stage, body = stand(character, engine)
    touches = stage.groups[0].simulation.find_contacts(0)
    for side in SIDES:
        points = touches.points[np.isin(touches.joints, list_below(character, side))]
        drawn = find_drawn(character, side, body.R, body.p)
        assert np.abs(find_extents(points) - find_extents(drawn)).max() < SAME


@pytest.mark.parametrize("name", BODIES)
def test_balance_counts_on_the_drawn_sole(name: str) -> None:
    character = BODIES[name]
    stage, body = stand(character, "mujoco")
    support = next(iter(stage.actors.values())).player("legs").status(body, stage.time)
    assert support.soles is not None
    for side, sole in zip(SIDES, support.soles, strict=True):
        drawn = find_drawn(character, side, body.R, body.p)
        assert np.abs(find_extents(sole) - find_extents(drawn)).max() < SAME


@pytest.mark.parametrize("name", BODIES)
def test_walks_are_planned_and_measured_on_the_drawn_sole(name: str) -> None:
    character = BODIES[name]
    walker = start_walk(character, poise.Ground(), 2)
    frames, planned = walker.frames(np.zeros(1)), walker.walker.course.carriers_at(0.0)
    clip = poise.Clip(character.skeleton, np.zeros(1), frames.root, frames.rotations, "standing")
    measured, (places, turns) = find_soles(clip).points[0], clip.world
    R = Rotation.from_quat(turns[0], scalar_first=True).as_matrix()
    for side, *soles in zip(SIDES, planned, measured, strict=True):
        drawn = find_drawn(character, side, R, places[0])
        for sole in soles:
            assert np.abs(find_extents(sole) - find_extents(drawn)).max() < SAME

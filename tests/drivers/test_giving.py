"""Compliance of a standing body: `give` of `Track` and `Balance`."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise.body.geometry.primitives import Sphere
from poise.errors import InputError
from poise.spatial.inertia import RigidInertia
from poise.stage.actor import Actor
from poise.stage.standing import stand_at_ease

BODY = poise.Character.human(1.75, 75.0)


def make_standing(seconds: float = 1.5) -> poise.Clip:
    """A clip of somebody who stands at ease."""
    pose, n = stand_at_ease(BODY), round(50.0 * seconds)
    return poise.Clip(
        BODY.skeleton, np.arange(n) / 50.0, np.tile(pose.root, (n, 1)), np.tile(pose.rotations, (n, 1, 1)), "standing"
    )


def add_standing(stage: poise.Stage, give: float) -> Actor:
    """Put a tracked body on the stage, over legs that balance."""
    clip = make_standing()
    actor = stage.add(BODY, pose=clip.pose(0.0))
    actor.drive("legs", poise.Balance(follow=clip, give=give))
    actor.drive("upperBody", poise.Track(clip, give=give))
    return actor


def track_push(joint: str, give: float, engine: str = "mujoco", base: str = "balance", force: float = 100.0) -> float:
    """Return how far (m) a joint of a tracked body is moved by a push of 0.1 s at it."""
    push = poise.Push(joint, (0.0, 0.0, force), 0.1, 0.5)
    found = poise.track(
        make_standing(), character=BODY, give=give, base=base, engine=engine, pushes=[push] if force else []
    )
    assert not found.fell
    path = found.clip.positions[:, BODY.skeleton.index(joint)]
    return float(np.linalg.norm(path - path[24], axis=1)[25:].max())


@pytest.mark.parametrize("joint", ["hips", "spine", "chest", "head"])
def test_struck_part_of_a_standing_body_moves_farther_with_more_give(joint: str) -> None:
    far = [track_push(joint, give) for give in (0.0, 0.5, 0.9)]
    assert far[1] > 1.05 * far[0] and far[2] > 1.1 * far[1]


def test_struck_part_of_a_standing_body_gives_way_in_bullet() -> None:
    pytest.importorskip("pybullet")
    assert track_push("chest", 0.9, "bullet") > 1.15 * track_push("chest", 0.0, "bullet")


def test_struck_trunk_gives_way_on_kinematic_legs() -> None:
    stiff, soft = (track_push("chest", give, base="kinematic") for give in (0.0, 0.9))
    assert soft > 2.0 * stiff


def test_give_changes_nothing_while_nothing_hits() -> None:
    states = []
    for give in (0.0, 0.9):
        stage = poise.Stage()
        actor = add_standing(stage, give)
        stage.advance(100)
        states.append(actor.body.state.q.copy())
    assert np.abs(states[0] - states[1]).max() < 1e-9


def throw_ball(give: float, mass: float, dt: float) -> float:
    """Return how far (m) a ball at the back moves the hips of a tracked body from where they are without it."""
    paths = []
    for is_thrown in (False, True):
        stage = poise.Stage(dt=dt)
        if is_thrown:
            inertia = RigidInertia(mass, np.zeros(3), 0.01 * np.eye(3))
            position, velocity = np.array([0.0, 1.0, -0.6]), np.array([0.0, 1.0, 3.0])
            stage.add_prop(poise.Prop("ball", (Sphere(np.zeros(3), 0.1),), inertia, position, velocity=velocity))
        actor = add_standing(stage, give)
        take = stage.run(1.0)
        assert [event.other for event in take.events if event.kind == "hit"] == ["ball"] * is_thrown
        paths.append(take.actor(actor.name).root)
    return float(np.linalg.norm(paths[1] - paths[0], axis=1).max())


@pytest.mark.parametrize("mass", [1.0, 3.0])
def test_ball_moves_a_standing_body_farther_with_more_give(mass: float) -> None:
    assert throw_ball(0.9, mass, 0.005) > 1.1 * throw_ball(0.0, mass, 0.005)


def test_ball_moves_a_body_that_gives_way_alike_at_any_step() -> None:
    """The ball is stopped within a step or two: the force depends on the step, the impulse does not."""
    far = [throw_ball(0.9, 2.0, dt) for dt in (0.001, 0.002, 0.005)]
    assert max(far) < 1.04 * min(far)


def test_state_saved_in_a_blow_continues_identically() -> None:
    stages = [poise.Stage(), poise.Stage()]
    actors = [add_standing(stage, 0.9) for stage in stages]
    for actor in actors:
        actor.push("chest", (0.0, 0.0, 150.0), 0.1, 0.1)
    stages[0].advance(30)
    stages[1].restore(stages[0].save())
    for stage in stages:
        stage.advance(60)
    assert actors[0].body.state.q.tobytes() == actors[1].body.state.q.tobytes()


@pytest.mark.parametrize("give", [-0.1, 1.1, float("nan")])
def test_give_of_a_balance_outside_its_range_is_refused(give: float) -> None:
    with pytest.raises(InputError, match="give"):
        poise.Balance(give=give)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
@pytest.mark.parametrize("dt", [0.002, 0.01])
@pytest.mark.parametrize("force", [(0.0, 0.0, 200.0), (0.0, 0.0, -100.0), (200.0, 0.0, 0.0)])
def test_standing_body_that_gives_way_does_not_fall(engine: str, dt: float, force: tuple[float, float, float]) -> None:
    push = poise.Push("chest", force, 0.1, 0.5)
    assert not poise.track(
        make_standing(2.5), character=BODY, give=0.9, base="balance", engine=engine, dt=dt, pushes=[push]
    ).fell

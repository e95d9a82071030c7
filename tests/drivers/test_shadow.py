"""A body that follows a ghost: pushed, held back, blocked; the ghost waits for it, and nothing explodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from helpers.stages import check_goes_on
from poise.body.geometry.primitives import Sphere
from poise.errors import InputError
from poise.spatial.inertia import RigidInertia

BODY = poise.Character.human(1.75, 75)
FAR = 0.3


def haunted(dt: float, steps: int, *props: poise.Prop) -> tuple[poise.Stage, Any, Any]:
    stage = poise.Stage(dt=dt)
    for prop in props:
        stage.add_prop(prop)
    ghost, body = stage.add(BODY, "ghost"), stage.add(BODY, "body")
    ghost.drive("body", poise.Walk(steps, waits_for=body, far=FAR, blind=True))
    body.drive("body", poise.Shadow(ghost))
    return stage, ghost, body


def watch(stage: poise.Stage, ghost: Any, body: Any, seconds: float) -> np.ndarray:
    """(F, 4): s, m between the roots, m between the joints that are farthest, rad/s at the most."""
    rows = []
    for _ in range(round(seconds / 0.05)):
        stage.advance(round(0.05 / stage.dt))
        off = float(np.linalg.norm(ghost.body.state.root - body.body.state.root))
        rows.append((stage.time, off, ghost.player("body").clock.lag, float(np.abs(body.body.state.w).max())))
    return np.array(rows)


@pytest.mark.parametrize(("dt", "seed"), [(0.005, 1), (0.005, 2), (0.002, 3)])
@pytest.mark.slow
def test_pushed_it_comes_back(dt: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    stage, ghost, body = haunted(dt, 5)
    for k in range(4):
        angle = rng.uniform(0.0, 2.0 * np.pi)
        force = rng.uniform(100.0, 220.0) * np.array([np.sin(angle), 0.0, np.cos(angle)])
        body.push("chest" if k % 2 else "hips", tuple(force), 0.25, start=1.2 + 1.3 * k)
    rows = watch(stage, ghost, body, 12.0)
    assert np.isfinite(rows).all()
    assert rows[:, 1].max() < 0.25
    assert rows[:, 3].max() < 60.0
    assert ghost.player("body").is_done
    assert rows[-1, 1] < 0.05
    assert body.fallen is None
    assert body.body.state.root[2] > 1.5


@pytest.mark.slow
def test_held_back_the_ghost_waits_and_goes_on_when_it_comes_free() -> None:
    stage, ghost, body = haunted(0.005, 6)
    body.push("chest", (0.0, 0.0, -450.0), 2.5, start=2.2)
    rows = watch(stage, ghost, body, 4.6)
    walk = ghost.player("body")
    assert walk.clock.rate < 0.6  # it waits
    assert rows[:, 2].max() < FAR + 0.15
    later = watch(stage, ghost, body, 8.5)
    assert later[:, 2].max() < FAR + 0.15
    assert walk.is_done
    assert later[-1, 1] < 0.05


@pytest.mark.parametrize(
    "prop",
    [
        poise.Prop.box("wall", (2.0, 2.0, 0.1), None, (0.0, 1.0, 1.3)),
        poise.Prop.box("box", (0.8, 0.3, 0.3), None, (0.0, 0.15, 1.3)),
        poise.Prop.box("bar", (1.4, 0.06, 0.06), None, (0.0, 1.3, 1.1)),
    ],
    ids=lambda prop: prop.name,
)
@pytest.mark.many(1)
def test_blocked_it_stands_and_the_ghost_does_not_run_away(prop: poise.Prop) -> None:
    stage, ghost, body = haunted(0.005, 12, prop)
    rows = watch(stage, ghost, body, 9.0)
    assert np.isfinite(rows).all()
    assert rows[:, 2].max() < FAR + 0.15
    assert rows[:, 3].max() < 60.0
    still = rows[-20:]
    assert still[:, 3].max() < 2.0  # it has come to rest
    assert ghost.player("body").clock.rate < 0.05
    assert ghost.body.state.root[2] < prop.position[2] + FAR


def test_goes_on_from_a_saved_state() -> None:
    stage, _, body = haunted(0.005, 3)
    stage.advance(330)
    saved = stage.save()
    stage.advance(60)
    again, _, other = haunted(0.005, 3)
    again.restore(saved)
    again.advance(60)
    assert np.allclose(body.body.state.q, other.body.state.q, atol=1e-12)
    assert np.allclose(body.body.state.root, other.body.state.root, atol=1e-12)


def test_refuses_what_is_no_ghost() -> None:
    with pytest.raises(InputError, match="actor"):
        poise.Shadow("ghost")
    stage = poise.Stage()
    ghost, body = stage.add(BODY, "ghost"), stage.add(BODY, "body")
    with pytest.raises(InputError, match="legs"):
        body.drive("arms", poise.Shadow(ghost))
    with pytest.raises(InputError, match="follow itself"):
        body.drive("body", poise.Shadow(body))


def test_ghost_touches_no_prop() -> None:
    """The follower goes through the crate: whatever moves it would be the ghost."""
    stage = poise.Stage(dt=0.005, touch=poise.ContactSettings(apart=(("follower", "crate"),)))
    stage.add_prop(poise.Prop.box("crate", (0.5, 0.5, 0.5), 300.0, (0.0, 0.25, 0.5)))
    ghost, body = stage.add(BODY, "ghost"), stage.add(BODY, "follower")
    ghost.drive("body", poise.Walk(3, blind=True))
    body.drive("body", poise.Shadow(ghost))
    before = np.array(stage.read_prop("crate").position)
    stage.advance(600)
    assert ghost.body.state.root[2] > 0.5
    assert np.abs(np.array(stage.read_prop("crate").position) - before).max() < 1e-3


def test_shadow_of_another_size_is_refused() -> None:
    stage = poise.Stage()
    ghost, body = stage.add(poise.Character.human(1.75, 75), "ghost"), stage.add(poise.Character.human(1.3, 30), "body")
    with pytest.raises(InputError, match="size of its ghost"):
        body.drive("body", poise.Shadow(ghost))


@pytest.mark.parametrize(("height", "mass", "wall"), [(1.75, 75.0, 1.3), (1.3, 30.0, 1.0)])
@pytest.mark.many(1)
def test_shadow_stays_up_at_a_wall_while_its_ghost_walks_on(height: float, mass: float, wall: float) -> None:
    stage = poise.Stage(dt=0.005)
    stage.add_prop(poise.Prop.box("wall", (2.0, 2.0, 0.1), None, (0.0, 1.0, wall)))
    character = poise.Character.human(height, mass)
    ghost, body = stage.add(character, "ghost"), stage.add(character, "body")
    ghost.drive("body", poise.Walk(9, blind=True))
    body.drive("body", poise.Shadow(ghost))
    head, lowest = character.skeleton.index("head"), np.inf
    for _ in range(80):
        stage.advance(20)
        body.body.update()
        lowest = min(lowest, float(body.body.p[head, 1]))
    assert body.fallen is None
    assert lowest > 0.8 * height
    assert ghost.body.state.root[2] > wall + 0.5 > body.body.state.root[2] + 0.5


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
def test_foot_that_is_fixed_goes_where_it_is_held(engine: str) -> None:
    """In Bullet it stayed where it was first fixed."""
    if engine == "bullet":
        pytest.importorskip("pybullet")
    stage = poise.Stage(engine)
    actor = stage.add(BODY)
    actor.drive("legs", poise.Balance(pinned=True))
    stage.advance(10)
    body, feet = actor.body, [BODY.skeleton.index(f"{side}Foot") for side in ("left", "right")]
    body.update()
    starts = [(foot, body.p[foot].copy(), body.world_turn(foot)) for foot in feet]
    for k in range(200):
        for foot, place, turn in starts:
            body.move_pin(foot, place + [0.0, 0.0, 5e-4 * (k + 1)], turn)
        stage.advance(1)
    body.update()
    for foot, place, _ in starts:
        np.testing.assert_allclose(body.p[foot], place + [0.0, 0.0, 0.1], atol=0.005)


def follow_to_a_wall() -> tuple[poise.Stage, Any]:
    """A stage in Bullet, and a body whose ghost walks through a wall."""
    pytest.importorskip("pybullet")
    stage = poise.Stage("bullet")
    stage.add_prop(poise.Prop.box("wall", (3.0, 2.5, 0.1), None, (0.0, 1.25, 1.0)))
    ghost, body = stage.add(BODY, "ghost"), stage.add(BODY, "follower")
    ghost.drive("body", poise.Walk(5, blind=True))
    body.drive("body", poise.Shadow(ghost))
    return stage, body


@pytest.mark.slow
def test_in_bullet_it_stays_on_its_feet_at_a_wall() -> None:
    """It fell at 3.6 s, over a foot that stayed where it was fixed."""
    stage, body = follow_to_a_wall()
    head = BODY.skeleton.index("head")
    height, lowest = 0.0, np.inf
    for _ in range(45):
        stage.advance(20)
        body.body.update()
        height = max(height, float(body.body.p[head, 1]))
        lowest = min(lowest, float(body.body.p[head, 1]))
    assert body.fallen is None
    assert lowest > 0.7 * height


@pytest.mark.slow
def test_saved_state_of_a_shadow_in_bullet_goes_on_with_the_same_bits() -> None:
    """Its fixed foot is on its way."""
    stage, body = follow_to_a_wall()
    stage.advance(560)
    player = body.player("body")
    assert np.linalg.norm(player.hold[:3] - player.aims[player.pinned, :3]) > 0.005
    check_goes_on(stage)


def test_standing_actor_that_becomes_a_ghost_goes_through_a_wall() -> None:
    """Both stand at a wall; pushed at the chest, the one that another follows by then falls through it."""
    stage = poise.Stage()
    stage.add_prop(poise.Prop.box("wall", (2.0, 2.0, 0.1), None, (0.0, 1.0, 0.4)))
    ghost, body = stage.add(BODY, "ghost"), stage.add(BODY, "follower")
    for actor in (ghost, body):
        actor.drive("legs", poise.Balance())
    stage.advance(20)
    body.drive("body", poise.Shadow(ghost))
    ghost.push("chest", (0.0, 0.0, 400.0), 0.3)
    stage.advance(200)
    assert ghost.pose().root[2] > 0.45


@pytest.mark.parametrize("case", ["crate", "ball", "third actor", "two shadows", "other springs", "let go and back"])
def test_saved_state_of_a_ghost_in_company_goes_on_with_the_same_bits(case: str) -> None:
    stage = poise.Stage()
    if case == "crate":
        stage.add_prop(poise.Prop.box("crate", (0.4, 0.4, 0.4), 20.0, (0.0, 0.2, 0.5)))
    if case == "ball":
        inertia = RigidInertia(3.0, np.zeros(3), 0.02 * np.eye(3))
        place, velocity = np.array([0.0, 1.2, 6.0]), np.array([0.0, 7.0, -4.0])
        stage.add_prop(poise.Prop("ball", (Sphere(np.zeros(3), 0.12),), inertia, place, velocity=velocity))
    ghost, body = stage.add(BODY, "ghost"), stage.add(BODY, "follower")
    ghost.drive("body", poise.Walk(3, waits_for=body, blind=True))
    body.drive("body", poise.Shadow(ghost))
    if case == "third actor":
        pose = body.pose()
        third = stage.add(BODY, "third", poise.Pose(pose.root + [0.0, 0.0, 0.45], pose.rotations))
        third.drive("legs", poise.Balance())
    if case == "two shadows":
        stage.add(BODY, "third").drive("body", poise.Shadow(ghost, 6.0))
    stage.advance(300)
    if case == "other springs":
        body.drive("body", poise.Shadow(ghost, 6.0))
    if case == "let go and back":
        body.drive("body", poise.Loose())
        stage.advance(10)
        body.drive("body", poise.Shadow(ghost))
    stage.advance(5)
    check_goes_on(stage)
    assert np.linalg.norm(ghost.pose().root - body.pose().root) < FAR


def test_ghost_stays_on_the_stage_of_its_shadow() -> None:
    stage = poise.Stage()
    ghost, body = stage.add(BODY, "ghost"), stage.add(BODY, "follower")
    body.drive("body", poise.Shadow(ghost))
    rejects(lambda: stage.remove(ghost), "'follower'", "'ghost'")
    with pytest.raises(InputError, match="of its own stage"):
        poise.Stage().add(BODY, "alone").drive("body", poise.Shadow(ghost))
    stage.remove(body)
    stage.remove(ghost)

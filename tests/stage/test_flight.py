"""Momentum in flight, summed over the segments of takes by NumPy and SciPy alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from poise.dynamics.tree import Tree
from poise.stage.actor import Actor
from poise.stage.stage import Stage
from poise.stage.standing import stand_at_ease
from poise.stage.take.take import ActorTake
from poise.world.ground.ground import Ground
from poise.world.ground.moving import MovingGround

HUMAN = poise.Character.human(1.75, 75.0, preset="mix")
CONDUCT = poise.gestures.conduct(beats=3, bpm=92, hands="both")
SPLITS: dict[str, Callable[[Actor], Any]] = {
    "arms": lambda actor: actor.drive("arms", poise.Kinematic(CONDUCT)),
    "a loose arm on an animated trunk": lambda actor: (
        actor.drive("upperBody", poise.Kinematic(CONDUCT)),
        actor.drive("rightArm", poise.Loose(0.1, damping=0.2)),
    ),
    "upper arms alone": lambda actor: (
        actor.drive("upperBody", poise.Loose(2.0, damping=0.3)),
        actor.drive(["leftUpperArm", "rightUpperArm"], poise.Kinematic(poise.gestures.arm_swing(1.5))),
    ),
}


def sum_momentum(record: ActorTake, tree: Tree, only: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """(F, 3) N s, and (F, 3) N m s about the centre of mass; only: the joints that move, the rest standing still."""
    frames, joints = len(record.root), len(tree.parents)
    w = record.angular_velocity * (1.0 if only is None else only[:, None])
    p, om, v, turns = *(np.zeros((joints, frames, 3)) for _ in range(3)), []
    for i, k in enumerate(tree.parents):
        own = Rotation.from_quat(record.rotations[:, i], scalar_first=True)
        turns.append(own if k < 0 else turns[k] * own)
        if k < 0:
            p[i], v[i] = record.root, record.velocity if only is None else 0.0
        else:
            bone = turns[k].apply(np.array(tree.offsets[i]))
            p[i], v[i], om[i] = p[k] + bone, v[k] + np.cross(om[k], bone), om[k]
        om[i] += turns[i].apply(w[:, i])
    arms = np.array([turn.apply(np.array(tree.centers[i])) for i, turn in enumerate(turns)])
    at, speed, m = p + arms, v + np.cross(om, arms), tree.masses[:, None, None]
    linear, center = np.sum(m * speed, axis=0), np.sum(m * at, axis=0) / tree.masses.sum()
    angular = np.sum(m * np.cross(at - center, speed), axis=0)
    for i, turn in enumerate(turns):
        R = turn.as_matrix()
        angular += np.einsum("fab,bc,fdc,fd->fa", R, tree.inertias[i], R, om[i])
    return linear, angular


def fly(dt: float, gravity: float, split: Callable[[Actor], Any], **options: Any) -> tuple[Stage, Actor]:
    stage = Stage(dt=dt, gravity=(0.0, gravity, 0.0), **({"ground": None} | options))
    actor = stage.add(HUMAN, pose=stand_at_ease(HUMAN))
    actor.drive("root", poise.Free())
    split(actor)
    return stage, actor


@pytest.mark.parametrize(
    ("split", "gravity", "dt"),
    [*((split, g, 0.01) for split in SPLITS for g in (0.0, -9.81)), ("a loose arm on an animated trunk", -9.81, 0.001)],
)
def test_ten_seconds_of_flight_keep_momentum(split: str, gravity: float, dt: float) -> None:
    stage, actor = fly(dt, gravity, SPLITS[split])
    take = stage.run(10.0, fps=20)
    record, tree = take.actor(), actor.body.tree
    linear, angular = sum_momentum(record, tree)
    linear -= np.outer(take.times, [0.0, gravity * tree.masses.sum(), 0.0])
    for found, own in zip((linear, angular), sum_momentum(record, tree, actor.given), strict=True):
        assert np.linalg.norm(found - found[0], axis=1).max() < 1e-6 * np.linalg.norm(own, axis=1).max()
    assert np.abs(record.angular_velocity).max() < 60.0


@pytest.mark.parametrize("split", ["arms", "a loose arm on an animated trunk"])
@pytest.mark.parametrize(
    ("engine", "rate"), [("bullet", 100), *(("inverse", rate) for rate in (30, 60, 120, 200))], ids=str
)
@pytest.mark.many(1)
def test_flight_keeps_momentum_in_every_engine(split: str, engine: str, rate: int) -> None:
    """Bullet has given segments as bodies of their own; `inverse` cuts its long steps where joints whirl."""
    if engine == "bullet":
        pytest.importorskip("pybullet")
    stage, actor = fly(1.0 / rate, -9.81, SPLITS[split], engine=engine)
    actor.push("head", (20.0, 5.0, -60.0), 0.2)
    stage.advance(rate // 4)
    take = stage.run(1.0, fps=rate)
    record, tree = take.actor(), actor.body.tree
    linear, angular = sum_momentum(record, tree)
    linear -= np.outer(take.times, [0.0, -9.81 * tree.masses.sum(), 0.0])
    assert np.linalg.norm(angular[0]) > 5.0
    for found, own in zip((linear, angular), sum_momentum(record, tree, actor.given), strict=True):
        assert np.linalg.norm(found - found[0], axis=1).max() < 1e-6 * np.linalg.norm(own, axis=1).max()


@pytest.mark.parametrize("engine", ["mujoco", "bullet", "inverse"])
@pytest.mark.many(1)
def test_a_doll_keeps_its_momentum_whatever_the_gain(engine: str) -> None:
    """Nobody gives a motion that a gain could scale. Without it one of 4 kg that is knocked got faster and faster."""
    if engine == "bullet":
        pytest.importorskip("pybullet")
    doll = poise.Character.human(0.5, 4.0)
    stage = Stage(engine, 0.01, gain=0.9, ground=None)
    actor = stage.add(doll, pose=stand_at_ease(doll))
    actor.drive("root", poise.Free())
    actor.drive("body", poise.Loose(0.3, 0.3))
    actor.push("head", (-150.0, 190.0, -400.0), 0.012)
    stage.advance(4)
    record = stage.run(1.0, fps=20).actor()
    _, angular = sum_momentum(record, actor.body.tree)
    assert np.linalg.norm(angular[0]) > 0.3
    assert np.linalg.norm(angular - angular[0], axis=1).max() < 1e-6 * np.linalg.norm(angular[0])


def test_pushes_and_switches_in_flight_change_what_they_must_and_nothing_else() -> None:
    stage, actor = fly(0.005, 0.0, SPLITS["a loose arm on an animated trunk"])
    actor.push("rightLowerArm", (10.0, 5.0, -30.0), 0.1, start=0.3)
    before = stage.run(1.0)
    switched = {0.5: ("upperBody", poise.Kinematic(CONDUCT)), 1.0: ("leftArm", poise.Loose(0.2))}

    def each(t: float) -> None:
        for at, change in switched.items():
            if abs(t - 1.0 - at) < 1e-6:
                actor.drive(*change)

    after = stage.run(1.5, each=each)
    one, other = (sum_momentum(take.actor(), actor.body.tree) for take in (before, after))
    np.testing.assert_allclose(one[0][-1] - one[0][0], [1.0, 0.5, -3.0], atol=1e-9)
    for k in range(2):
        np.testing.assert_allclose(other[k], np.broadcast_to(one[k][-1], other[k].shape), atol=1e-9)


def test_flight_ends_where_something_touches() -> None:
    """It falls onto the ground and stays there: what the ground gives is not taken back."""
    stage, actor = fly(0.005, -9.81, SPLITS["arms"], ground=Ground())
    actor.body.state.root[1] += 0.2
    record = stage.run(4.0).actor()  # it stands on stiff legs for a second, and topples
    linear, _ = sum_momentum(record, actor.body.tree)
    assert linear[:, 1].min() < -100.0 and abs(linear[-1, 1]) < 30.0
    assert actor.body.block.airborne == 0


def test_momentum_in_flight_goes_on_from_a_saved_state_and_with_laws_in_python() -> None:
    """Ground that moves, far below, has the engine's verbs called from Python."""
    moving = MovingGround(Ground(height=-500.0), velocity=(1.0, 0.0, 0.0))
    stage, actor = fly(0.005, -9.81, SPLITS["arms"], ground=moving)
    stage.run(0.5)
    saved = stage.save()
    take = stage.run(1.0)
    _, angular = sum_momentum(take.actor(), actor.body.tree)
    assert np.linalg.norm(angular - angular[0], axis=1).max() < 1e-9
    twin, _ = fly(0.005, -9.81, SPLITS["arms"], ground=moving)
    twin.restore(saved)
    assert twin.run(1.0).actor().velocity.tobytes() == take.actor().velocity.tobytes()

"""Parts change hands at any moment: pose and velocity go on, and the connectors feel no spike."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise.body.character import Character
from poise.drivers.balance.balance import Balance
from poise.drivers.driver import Driver
from poise.drivers.kinematic.kinematic import Kinematic
from poise.drivers.loose.loose import Loose
from poise.drivers.root.root import Free
from poise.motion.parts import part_joints
from poise.spatial import rotation
from poise.stage.actor import Actor
from poise.stage.stage import Stage

HUMAN = Character.human(1.75, 75.0, preset="mix")
ARM = part_joints(HUMAN.skeleton, "rightArm")


def fast() -> Kinematic:
    return Kinematic(poise.gestures.conduct(beats=4, bpm=160, size=1.3))


def conductor(dt: float = 0.005, pinned: bool = False) -> Actor:
    actor = Stage(dt=dt).add(HUMAN)
    actor.drive("legs", Balance(pinned=pinned))
    actor.drive("rightArm", fast())
    return actor


def state_now(actor: Actor) -> tuple[np.ndarray, ...]:
    actor.show(actor.stage.time)
    state = actor.body.state
    return state.root.copy(), state.q.copy(), state.v.copy(), state.w.copy()


def jump(actor: Actor, part: str, driver: Driver) -> tuple[float, float, float]:
    """M, rad and rad/s by which the state jumps when a driver takes over right now."""
    before = state_now(actor)
    actor.drive(part, driver)
    actor.stage.build()
    after = state_now(actor)
    turned = np.linalg.norm(rotation.log(rotation.multiply(rotation.conjugate(before[1]), after[1])), axis=-1)
    return float(np.abs(before[0] - after[0]).max()), float(turned.max()), float(np.abs(before[3] - after[3]).max())


def test_there_and_back_at_ten_random_moments_of_a_fast_motion() -> None:
    rng = np.random.default_rng(0)
    actor = conductor()
    stage = actor.stage
    stage.run(1.0)
    worst = np.zeros(3)
    speeds = []
    for _ in range(10):
        stage.run(float(rng.uniform(0.5, 0.9)))
        speeds.append(np.abs(state_now(actor)[3][ARM]).max())
        worst = np.maximum(worst, jump(actor, "rightArm", Loose(0.3)))
        stage.run(float(rng.uniform(0.1, 0.6)))
        speeds.append(np.abs(state_now(actor)[3][ARM]).max())
        worst = np.maximum(worst, jump(actor, "rightArm", fast()))
    take = stage.run(1.0)
    assert max(speeds) > 3.0
    assert worst[0] < 1e-9 and worst[1] < 1e-6 and worst[2] < 1e-2
    assert take.fell_at() is None
    # by now it is where the motion is
    player = actor.assignments[-1].player
    fresh = fast().build(actor.body, np.array(ARM), 0.0)
    q, _ = fresh.sample(stage.time)
    own, _ = player.sample(stage.time)  # type: ignore[union-attr]
    assert np.linalg.norm(rotation.log(rotation.multiply(rotation.conjugate(own), q)), axis=-1).max() < 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_the_connector_feels_no_spike(seed: int) -> None:
    """Around a hand-over back to the motion: wrench of the arm, and what the trunk does, as in its neighbourhood.

    The feet are pinned: a heel that lifts and lands jolts the trunk harder, whenever it likes.
    """
    rng = np.random.default_rng(seed)
    actor = conductor(pinned=True)
    stage = actor.stage
    stage.run(float(rng.uniform(1.0, 1.8)))
    usual = stage.run(1.0, fps=200).actor()
    actor.drive("rightArm", Loose(0.3))
    loose = stage.run(float(rng.uniform(0.2, 0.5)), fps=200).actor()
    actor.drive("rightArm", fast())
    back = stage.run(0.6, fps=200).actor()
    hands = np.linalg.norm(back.wrench[1:, 0, 3:], axis=-1)
    ordinary = np.linalg.norm(usual.wrench[1:, 0, 3:], axis=-1).max()
    # the first steps are no worse than the hand-over as a whole, and that is of the order of the motion itself
    assert hands[:4].max() < 1.5 * hands[4:].max()
    assert hands.max() < 6.0 * ordinary
    # an arm's torque may change at once, the hips' velocity by no more than in a few steps of the motion itself
    quick = np.abs(np.diff(usual.angular_velocity[:, 0], axis=0)).max()
    for record in (loose, back):
        # up to where a heel leaves the ground: what its landing does to the trunk is no hand-over's
        lifted = record.soles[..., 1].max(axis=(1, 2)) > 1e-3
        planted = int(lifted.argmax()) if lifted.any() else len(lifted)
        assert planted > 30
        assert np.abs(np.diff(record.angular_velocity[:planted, 0], axis=0)).max() < 10.0 * quick


def test_legs_can_be_let_go_of_and_taken_back() -> None:
    """From a clip that places the root to legs that balance: the root is free from there on, and goes on."""
    stage = Stage()
    actor = stage.add(HUMAN)
    actor.drive("legs", Balance())
    actor.drive("upperBody", Kinematic(poise.gestures.conduct()))
    clip = stage.run(3.0, fps=100).clip()
    stage = Stage()
    actor = stage.add(HUMAN)
    for part in ("root", "legs", "upperBody"):
        actor.drive(part, Kinematic(clip))
    stage.run(1.0)
    before = state_now(actor)
    actor.drive("root", Free())
    actor.drive("legs", Balance())
    stage.build()
    after = state_now(actor)
    np.testing.assert_allclose(after[0], before[0], atol=1e-9)
    np.testing.assert_allclose(after[2], before[2], atol=1e-2)
    np.testing.assert_allclose(after[3], before[3], atol=1e-2)
    take = stage.run(3.0)
    assert take.fell_at() is None


def test_a_switch_is_told() -> None:
    actor = conductor()
    heard: list[str] = []
    actor.listen(lambda event: heard.append(event.kind))
    actor.stage.run(0.2)
    actor.drive("rightArm", Loose())
    take = actor.stage.run(0.2)
    assert heard == ["switched"]
    assert take.actor().connectors == ("hips",)  # of trunk and head alone

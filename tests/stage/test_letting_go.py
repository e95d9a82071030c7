"""A body that has lost its balance is let go: what was played stops without a jump, and rests where it comes to lie."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from poise import Balance, Character, Kinematic, Loose, Stage, Track
from poise.dynamics.tree import build_tree
from poise.motion.parts import part_joints
from poise.stage.actor import Actor
from poise.stage.assignment import Assignment, make_limp

HUMAN = Character.human(1.75, 75.0, preset="mix")


def conductor(upper: poise.extend.Driver, stage: Stage | None = None) -> Actor:
    actor = (stage or Stage()).add(HUMAN)
    actor.drive("legs", Balance())
    actor.drive("upperBody", upper)
    return actor


def conduct(keeps: bool = False) -> Kinematic:
    return Kinematic(poise.gestures.conduct(bpm=130), active_after_fall=keeps)


def fall(actor: Actor, steps: int = 120) -> list[poise.Pose]:
    """Poses from a push on until it lies, or on the way there."""
    actor.stage.advance(60)
    actor.push("spine", (0.0, 0.0, 500.0), 0.2)
    poses = []
    for _ in range(steps):
        actor.stage.step()
        poses.append(actor.pose())
    return poses


def kinds(actor: Actor) -> list[str]:
    return [event.kind for event in actor.stage.events if event.actor == actor.name]


def test_the_gesture_stops_without_a_jump() -> None:
    actor = conductor(conduct())
    q = np.stack([pose.rotations for pose in fall(actor)])
    assert kinds(actor)[:2] == ["lost-balance", "let-go"]
    lost = round(actor.stage.events[0].time / actor.stage.dt) - 61
    turns = Rotation.from_quat(np.roll(q, -1, axis=-1).reshape(-1, 4))
    w = (turns[: -len(HUMAN.skeleton)].inv() * turns[len(HUMAN.skeleton) :]).as_rotvec().reshape(len(q) - 1, -1, 3)
    jolts = np.linalg.norm(np.diff(w, axis=0), axis=-1).max(axis=1) / actor.stage.dt**2
    assert jolts[lost - 4 : lost + 4].max() < 1.5 * jolts[lost - 20 : lost - 4].max()
    assert not actor.given[1:].any()  # all of it is physical now


def test_it_comes_to_rest_where_it_lies() -> None:
    """Springs give way, so that none lifts a limb against the ground."""
    actor = conductor(conduct())
    fall(actor, 500)
    actor.stage.advance(600)
    assert actor.fallen is not None
    assert np.abs(actor.body.state.w).max() < 0.1
    players = [player.gone if hasattr(player, "gone") else player for player in actor.players]
    for player in players:
        bent = Rotation.from_quat(np.roll(actor.body.state.q[player.joints], -1, axis=-1)).inv() * Rotation.from_quat(
            np.roll(player.aim, -1, axis=-1)
        )
        assert bent.magnitude().max() < 0.5  # one that lifted a limb would be off by about a radian


def test_what_keeps_goes_on() -> None:
    actor = conductor(conduct(keeps=True))
    fall(actor)
    assert "lost-balance" in kinds(actor) and "let-go" not in kinds(actor)
    assert actor.given[HUMAN.skeleton.index("rightHand")]


def test_an_actor_can_be_told_not_to() -> None:
    actor = conductor(conduct())
    actor.ragdoll_on_fall = False
    fall(actor)
    assert "lost-balance" in kinds(actor) and "let-go" not in kinds(actor)


def test_a_root_by_a_clip_does_not_fall() -> None:
    clip = conductor(conduct()).stage.run(0.5).clip()
    actor = Stage().add(HUMAN)
    for part in ("root", "legs", "upperBody"):
        actor.drive(part, Kinematic(clip))
    fall(actor)
    assert kinds(actor) == []


@pytest.mark.parametrize("driver", [Track(poise.gestures.conduct()), Loose(5.0)])
def test_who_follows_is_let_go_and_who_is_loose_is_not(driver: poise.extend.Driver) -> None:
    actor = conductor(driver)
    fall(actor)
    assert ("let-go" in kinds(actor)) == isinstance(driver, Track)


def test_any_driver_can_lose_the_balance() -> None:
    """Somebody else's says so by the protocol."""

    class Stumbling(poise.extend.Player):
        has_lost_balance = False

        def write(self, body: poise.extend.Body, t: float) -> None:
            if t > 0.1:
                body.request()

        def handle_request(self, body: poise.extend.Body, t: float) -> bool:
            self.has_lost_balance = True
            return False

        def status(self, body: poise.extend.Body, t: float) -> poise.extend.Status:
            return poise.extend.Status(lost_balance=self.has_lost_balance)

    class Stumble(poise.extend.Driver):
        level, active_after_fall = "torque", True

        def build(self, body: poise.extend.Body, joints: np.ndarray, t: float) -> Stumbling:
            return Stumbling()

    actor = Stage().add(HUMAN)
    actor.drive("root", poise.Free())
    actor.drive("legs", Stumble())
    actor.drive("upperBody", conduct())
    actor.stage.advance(40)
    assert kinds(actor)[0] == "let-go"


def test_saved_before_or_after_it_is_restored_to_the_same_bits() -> None:
    actor = conductor(conduct())
    actor.stage.advance(20)
    before = actor.stage.save()
    fall(actor)
    after = actor.stage.save()
    actor.stage.advance(40)
    end = actor.pose().rotations
    other = conductor(conduct())
    for state, steps in ((after, 40), (before, 0), (after, 40)):
        other.stage.restore(state)
        assert ("let-go" in [e.kind for e in other.stage.events]) is False
        other.stage.advance(steps)
        if steps:
            np.testing.assert_array_equal(other.pose().rotations, end)
    assert other.player("upperBody") is not None
    other.stage.restore(before)
    assert other.given[HUMAN.skeleton.index("rightHand")]
    take = conductor(conduct()).stage.run(0.2)
    assert take.fell_at() is None


def test_one_of_a_crowd_is_let_go_alone_and_recorded() -> None:
    stage = Stage(threads=2)
    actors = [conductor(conduct(), stage) for _ in range(3)]
    actors[1].push("spine", (0.0, 0.0, 500.0), 0.2)
    take = stage.run(0.8)
    assert [("let-go" in kinds(actor)) for actor in actors] == [False, True, False]
    assert all(np.isfinite(record.rotations).all() for record in take.actors.values())
    fell = take.actors[actors[1].name]  # its hips carried its upper body, and then no more
    assert fell.connectors == ("hips",) and fell.wrench.shape[1:] == (1, 6)
    assert np.isfinite(fell.wrench[0]).all() and np.isnan(fell.wrench[-1]).all()
    np.testing.assert_array_equal(take.actors[actors[0].name].rotations, take.actors[actors[2].name].rotations)


def test_a_part_that_weighs_nothing_is_not_let_go() -> None:
    """No engine could move it."""
    tree = build_tree(HUMAN)
    hand = HUMAN.skeleton.index("rightHand")
    light = dataclasses.replace(tree, masses=np.where(np.arange(len(tree)) == hand, 0.0, tree.masses))
    parts = {"legs": Balance(), "rightUpperArm": conduct(), "rightHand": conduct()}
    joints = {part: part_joints(HUMAN.skeleton, part if part == "legs" else [part]) for part in parts}
    assignments = [Assignment(part, each, each.claim(HUMAN, joints[part], part)) for part, each in parts.items()]
    limp = make_limp(assignments, HUMAN.skeleton, light, "actor")
    assert [a.before is not None for a in limp] == [False, True, False]

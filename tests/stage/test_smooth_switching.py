"""Whoever takes over, the body goes on: speeds by differences of the poses that a user sees, step after step."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from poise import Anchored, Balance, Character, Clip, Free, Kinematic, Loose, Stage, Track
from poise.stage.actor import Actor

HUMAN = Character.human(1.75, 75.0, preset="mix")
SETTLED = 121  # steps before a switch
GESTURE, OTHER = poise.gestures.conduct(bpm=130), poise.gestures.conduct(bpm=90, hands="both")


@cache
def make_clip() -> Clip:
    stage = Stage()
    stand(stage.add(HUMAN))
    return stage.run(1.5, fps=100).clip()


def pose() -> np.ndarray:
    return make_clip().rotations[0]


def shift_clip() -> Clip:
    return dataclasses.replace(make_clip(), root=make_clip().root + [0.002, 0.0, 0.0])


def stand(actor: Actor) -> None:
    actor.drive("legs", Balance())
    actor.drive("upperBody", Kinematic(GESTURE))


def hang(actor: Actor) -> None:
    actor.drive("legs", Balance())
    actor.drive("upperBody", Loose(2.0))


def drop(actor: Actor) -> None:
    actor.drive("root", Free())
    actor.drive("legs", Loose(0.5, 1.0))
    actor.drive("upperBody", Loose(0.5, 1.0))


def anchor(actor: Actor) -> None:
    actor.drive("root", Anchored())
    actor.drive("upperBody", Kinematic(GESTURE))


def clip_all(actor: Actor) -> None:
    for part in ("root", "legs", "upperBody"):
        actor.drive(part, Kinematic(make_clip()))


def watch(actor: Actor, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Roots (F, 3) and rotations (F, J, 4) as a user sees them after each of some steps."""
    poses = []
    for _ in range(steps):
        actor.stage.step()
        poses.append(actor.pose())
    return np.stack([pose.root for pose in poses]), np.stack([pose.rotations for pose in poses])


def find_jolts(root: np.ndarray, q: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """m/s2 (F - 2,) of the root and rad/s2 (F - 2,), the worst of all joints, by differences."""
    turns = Rotation.from_quat(np.roll(q, -1, axis=-1).reshape(-1, 4))
    frames, joints = q.shape[:2]
    now, after = turns[: -joints or None], turns[joints:]
    w = (now.inv() * after).as_rotvec().reshape(frames - 1, joints, 3) / dt
    a = np.linalg.norm(np.diff(root, n=2, axis=0), axis=-1) / dt**2
    return a, np.linalg.norm(np.diff(w, axis=0), axis=-1).max(axis=1) / dt


# set up, switch, and how much (m/s2, rad/s2) it may accelerate within five steps of it. Before, each was a blow: beside
# each is what it was.
SWITCHES: dict[str, tuple[Callable[[Actor], None], Callable[[Actor], None], float, float]] = {
    "a gesture to another": (stand, lambda a: a.drive("upperBody", Kinematic(OTHER)), 1.0, 40.0),  # 177
    "a gesture to springs": (stand, lambda a: a.drive("rightArm", Loose(0.3)), 1.0, 40.0),  # 227
    "a gesture to a pose": (stand, lambda a: a.drive("upperBody", Loose(12, 1, pose())), 1.0, 40.0),  # 743
    "a gesture to one of less": (stand, lambda a: a.drive("upperBody", Kinematic(poise.gestures.breathe())), 1.0, 40.0),
    "a gesture to tracking": (stand, lambda a: a.drive("upperBody", Track(OTHER)), 1.0, 60.0),  # 3791
    "springs to tracking": (hang, lambda a: a.drive("upperBody", Track(GESTURE)), 1.0, 60.0),  # 4218
    "springs to a gesture of less": (
        hang, lambda a: a.drive("upperBody", Kinematic(poise.gestures.breathe())), 1.0, 40.0,
    ),
    "a balance to a clip": (stand, lambda a: a.drive("root", Kinematic(shift_clip())), 1.0, 40.0),  # 79 m/s2
    "an anchor to a clip": (anchor, lambda a: a.drive("root", Kinematic(make_clip())), 1.0, 60.0),  # 13.1 m/s2
    "a fall to a clip": (drop, clip_all, 20.0, 1000.0),  # 30631 m/s2
}  # fmt: skip


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_is_no_blow(name: str) -> None:
    before, switch, most_root, most_turn = SWITCHES[name]
    actor = Stage().add(HUMAN)
    before(actor)
    first = watch(actor, 60 if before is drop else SETTLED)  # in the air still
    switch(actor)
    second = watch(actor, 20)
    root, q = (np.concatenate([first[k][-8:], second[k]]) for k in range(2))
    pulled, turned = find_jolts(root, q, actor.stage.dt)
    assert pulled[3:12].max() < most_root
    assert turned[3:12].max() < most_turn


def test_what_nobody_drives_any_more_comes_to_rest() -> None:
    """A forearm that turned, and that the next gesture only holds, runs out, and is not counted as turning after."""
    actor = Stage().add(HUMAN)
    stand(actor)
    watch(actor, SETTLED)
    joint = HUMAN.skeleton.index("rightLowerArm")
    actor.drive("upperBody", Kinematic(poise.gestures.breathe()))
    saved = actor.stage.save()
    root, q = watch(actor, 80)
    turns = Rotation.from_quat(np.roll(q[:, joint], -1, axis=-1))
    speed = np.linalg.norm((turns[:-1].inv() * turns[1:]).as_rotvec(), axis=-1) / actor.stage.dt
    assert speed[0] > 1.0 and speed[60:].max() < 1e-9
    assert not actor.body.state.w[joint].any() and not actor.body.dw[joint].any()
    actor.stage.restore(saved)
    again = watch(actor, 80)
    assert np.array_equal(again[0], root) and np.array_equal(again[1], q)


@pytest.mark.parametrize("first", [Track(OTHER), Loose(0.3)])
def test_two_switches_within_a_blink_fling_nothing(first: poise.extend.Driver) -> None:
    """Springs that have just begun to pull hand no blow on."""
    actor = Stage().add(HUMAN)
    stand(actor)
    watch(actor, SETTLED)
    for k, driver in enumerate((first, Track(GESTURE), Loose(0.3), Track(OTHER), Loose(0.3, 0.1))):
        actor.drive("arms", driver)
        root, q = watch(actor, 1 + k % 3)
    root, q = watch(actor, 40)
    assert find_jolts(root, q, actor.stage.dt)[1].max() < 150.0  # it exploded

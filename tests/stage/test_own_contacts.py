"""Which segments of one body touch one another: those that physics moves; what is animated, where it is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from helpers.errors import rejects
from helpers.recordings import data_file
from helpers.stages import check_goes_on
from poise import ContactSettings, Kinematic, Loose, Stage
from poise.spatial import rotation
from poise.stage.standing import stand_at_ease
from poise.world.scenery import load_scenery

BODY = poise.Character.human(1.75, 75.0)
ENGINES = ("mujoco", "bullet", "inverse")
ARM = BODY.skeleton.index("leftUpperArm")


def build_sweep(end: float) -> poise.Clip:
    """A left arm that comes down sideways in 0.4 s to an angle (rad) from where it hangs; below 0: into the trunk."""
    pose, times = stand_at_ease(BODY), np.arange(201) / 100.0
    share = np.clip(times / 0.4, 0.0, 1.0)
    angle = 1.0 + (end - 1.0) * share**2 * (3.0 - 2.0 * share)
    rotations = np.tile(pose.rotations, (len(times), 1, 1))
    hanging = Rotation.from_quat(pose.rotations[ARM], scalar_first=True)
    rotations[:, ARM] = (Rotation.from_rotvec(np.outer(angle, [0, 0, 1])) * hanging).as_quat(scalar_first=True)
    return poise.Clip(BODY.skeleton, times, np.tile(pose.root, (len(times), 1)), rotations)


def fly(engine: str, touch: ContactSettings, end: float = -0.6) -> tuple[Stage, Any]:
    """A body that floats; all of it is loose but its left arm, which a clip moves."""
    clip = build_sweep(end)
    stage = Stage(engine, 0.005, ground=None, gravity=(0.0, 0.0, 0.0), touch=touch)
    actor = stage.add(BODY, "a", clip.pose(0.0))
    actor.drive("root", poise.Free())
    actor.drive("body", Loose(3.0, 1.0))
    actor.drive("leftArm", Kinematic(clip))
    return stage, actor


def run(stage: Stage, actor: Any, steps: int) -> np.ndarray:
    """(F, J, 4) rotations after every step."""
    turns = []
    for _ in range(steps):
        stage.advance(1)
        turns.append(actor.body.state.q.copy())
    return np.array(turns)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_animated_arm_goes_through_its_own_body_unless_asked(engine: str) -> None:
    """By default the motion is that of a body that never touches itself; with `itself=True` the arm pushes it."""
    settings = (ContactSettings(), ContactSettings(itself=True), ContactSettings(itself=False))
    by_default, all_touch, none = (run(*fly(engine, each), 120) for each in settings)
    assert np.abs(by_default - none).max() < 1e-9
    assert np.abs(all_touch - none).max() > 0.02


@pytest.mark.parametrize("engine", ENGINES)
def test_an_arm_that_becomes_loose_touches_again(engine: str) -> None:
    """Let go of beside the trunk and thrown at it: it is stopped, and goes through where nothing touches."""
    deepest = []
    for touch in (ContactSettings(), ContactSettings(itself=False)):
        stage, actor = fly(engine, touch, end=0.3)
        run(stage, actor, 40)  # 0.2 s: the arm is at its fastest
        actor.drive("leftArm", Loose(0.1, 0.1))
        turns = Rotation.from_quat(run(stage, actor, 100)[:, ARM], scalar_first=True)
        hanging = Rotation.from_quat(stand_at_ease(BODY).rotations[ARM], scalar_first=True)
        deepest.append(float((turns * hanging.inv()).as_rotvec()[:, 2].min()))
    assert deepest[1] < deepest[0] - 0.05


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("end", [-0.2, -0.35, -0.6])
def test_an_arm_that_becomes_loose_inside_the_body_is_not_flung_out(engine: str, end: float) -> None:
    """It goes on as one that touches nothing does: no jump of pose or speed."""
    speeds = []
    for touch in (ContactSettings(), ContactSettings(itself=False)):
        stage, actor = fly(engine, touch, end)
        run(stage, actor, 120)  # the arm has been still for 0.2 s
        actor.drive("leftArm", Loose(3.0, 1.0))
        before = actor.body.state.q.copy()
        stage.advance(1)
        assert np.abs(actor.body.state.q - before).max() < 2e-3
        stage.advance(20)
        speeds.append(float(np.abs(actor.body.state.w[ARM]).max()))
    assert speeds[0] < speeds[1] + 0.5


def test_restored_in_the_middle_it_goes_on_with_the_same_bits() -> None:
    """Saved after an arm became loose in the body: which pairs touch is part of the state."""
    stage, actor = fly("mujoco", ContactSettings(), -0.35)
    run(stage, actor, 120)
    actor.drive("leftArm", Loose(3.0, 1.0))
    stage.advance(5)
    check_goes_on(stage, 0.3)


def test_a_stage_file_says_who_touches_itself(tmp_path: Path) -> None:
    for text, value in (('"physical"', "physical"), ("true", True), ("false", False)):
        (tmp_path / "stage.toml").write_text(f"[touch]\nitself = {text}\n")
        assert load_scenery(tmp_path / "stage.toml").touch.itself == value
    assert ContactSettings().itself == "physical"
    (tmp_path / "stage.toml").write_text('[touch]\nitself = "animated"\n')
    with pytest.raises(poise.InputError, match='true, false or "physical"'):
        load_scenery(tmp_path / "stage.toml")
    rejects(lambda: ContactSettings(itself="animated"), "'physical'", "'animated'")


@pytest.mark.data
def test_thighs_that_begin_in_one_another_do_not_push_the_feet_apart() -> None:
    """A recorded stance whose thighs overlap by 19 mm, with a loose head: the soles stay where they are."""
    clip = poise.load_clip(data_file("bvh-cmu/18_08.bvh")).pick(slice(600, 1560))
    mean = rotation.normalize(rotation.make_continuous(clip.rotations).mean(axis=0))
    pose = poise.Pose(clip.root.mean(axis=0), mean)
    still = poise.Clip(clip.skeleton, np.arange(3.0) * 20, np.tile(pose.root, (3, 1)), np.tile(mean, (3, 1, 1)))
    stage = Stage()
    actor = stage.add(poise.Character.from_skeleton(clip.skeleton), "a", pose)
    actor.drive("legs", poise.Balance())
    actor.drive("trunk", Kinematic(still))
    actor.drive("arms", Kinematic(clip, -float(clip.times[0])))
    actor.drive("head", Loose(1.5))
    soles = stage.run(4.0, fps=60).actor().soles
    assert np.linalg.norm(soles - soles[0], axis=-1).max() < 0.005

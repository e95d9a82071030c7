"""The job and the command `lift`: figures on what was written, who was limited and when, words, refusals.

Errors are measured again by SciPy, on the file; torques of a body that stands are compared with statics.
"""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from helpers.kinematics import find_world
from poise.jobs.lift.follow import Efforts
from poise.jobs.lift.metrics import GAP, describe_limits, find_changes, list_joints, list_limits, say_limits
from poise.jobs.lift.plan import LiftPlan, choose_longest, parse_lead, parse_strengths
from poise.jobs.shared.simulation import find_base
from poise.motion.clip import Clip
from poise.motion.samples import lift, walk
from poise.spatial import rotation

MAN = poise.Character.human(1.75, 70.0, sex="male", age=25, preset="strength")
FPS = 30.0


@pytest.fixture(scope="module")
def clip() -> Clip:
    """A lift to above the knees, 2 s."""
    return lift(MAN.skeleton, 2.0, FPS, low=0.8)


@pytest.fixture(scope="module")
def files(clip: Clip, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a lift and its body."""
    folder = tmp_path_factory.mktemp("lift")
    poise.save_clip(clip, folder / "lift.npz")
    poise.save_character(MAN, folder / "man.json")
    return folder


def run(*words: Any) -> tuple[int, str, str]:
    """The command: its exit code and what it said."""
    from poise.cli import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["lift", *map(str, words)])
    return int(code or 0), out.getvalue(), err.getvalue()


def test_figures_are_those_of_the_file(files: Path) -> None:
    """Keys as promised, and the error as SciPy finds it in what was written."""
    arm = "rightUpperArm"
    code, out, _ = run(files / "lift.npz", "-o", files / "out.bvh", "--character", files / "man.json", "--json",
                       "--quiet", "--strength", f"{arm}=0.1")  # fmt: skip
    found = json.loads(out)
    assert code == 0
    assert {"fell", "fell_at_s", "tracking_error_rad", "peak_torque_ratio", "limited_joints", "limits"} <= set(found)
    assert (found["fell"], found["fell_at_s"], found["engine"]) == (False, None, "inverse")
    wanted, result = poise.load_clip(files / "lift.npz"), poise.load_clip(files / "out.bvh")
    assert np.allclose(result.times, wanted.times)
    joints = list(range(1, len(wanted.skeleton)))
    assert found["tracked_joints"] == len(joints)
    there, here = (Rotation.from_quat(x.rotations[:, joints].reshape(-1, 4)[:, [1, 2, 3, 0]]) for x in (wanted, result))
    error = float(np.sqrt(np.mean((there.inv() * here).magnitude() ** 2)))
    assert found["tracking_error_rad"] == pytest.approx(error, rel=1e-3)
    # the arm that has a tenth of its strength is the one that is told of, and only when it is up
    assert arm in found["limited_joints"]
    spans = next(each["intervals_s"] for each in found["limits"] if (each["joint"], each["axis"]) == (arm, "x"))
    assert all(0.5 < first < last <= 2.0 for first, last in spans)
    assert f"{arm} at its limit from" in found["told"]
    assert found["peak_torque_ratio"] == pytest.approx(1.0, abs=1e-9)


def test_the_strong_follow_and_are_not_limited(clip: Clip) -> None:
    found = poise.lift(clip, character=MAN)
    assert not found.fell
    assert found.figures["limited_joints"] == []
    assert found.figures["tracking_error_rad"] < np.radians(1.0)
    assert 0.2 < found.figures["peak_torque_ratio"] < 1.0
    assert found.figures["told"] == "no joint came to the limit of its strength."


def test_torques_of_one_who_holds_still_are_statics() -> None:
    """An arm straight out to the front: what its shoulder holds is the weight of the arm times where its middle is."""
    skeleton = MAN.skeleton
    pose = poise.Stage().add(MAN).pose(0.0)
    turns = pose.rotations.copy()
    arm = skeleton.index("rightUpperArm")
    up = Rotation.from_rotvec([-0.5 * np.pi, 0.0, 0.0]).as_quat()[[3, 0, 1, 2]]
    turns[arm] = rotation.multiply(up, turns[arm])
    t = np.arange(31) / FPS
    held = Clip(skeleton, t, np.repeat(pose.root[None], len(t), axis=0), np.repeat(turns[None], len(t), axis=0), "held")
    found = poise.lift(held, character=MAN, strength=3.0)
    efforts = found.efforts
    row = next(k for k in range(len(efforts.axes)) if (efforts.joints[k], efforts.axes[k]) == ("rightUpperArm", "x"))
    positions, world = held.positions[0], held.world[1][0]
    moment = np.zeros(3)
    for i in range(len(skeleton)):
        if arm in skeleton.chain(i):
            inertia = MAN.inertias[i]
            at = positions[i] + rotation.rotate(world[i], inertia.center) - positions[arm]
            moment += np.cross(at, [0.0, -9.81 * inertia.mass, 0.0])
    assert abs(moment[0]) > 8.0
    assert abs(efforts.torque[20:, row]).mean() == pytest.approx(abs(moment[0]), rel=0.05)


def test_who_falls_exits_1(files: Path) -> None:
    """A push that no one stands: the figures are printed nevertheless."""
    code, out, _ = run(files / "lift.npz", "-o", files / "fell.npz", "--character", files / "man.json", "--json",
                       "--quiet", "--push", "t=0.2 chest 900,0,0 0.3s")  # fmt: skip
    found = json.loads(out)
    assert code == 1
    assert found["fell"]
    assert 0.2 < found["fell_at_s"] < 2.0
    assert found["fell_why"]


def test_a_clip_that_walks_is_followed_on_its_own_legs(tmp_path: Path) -> None:
    """Muscles carry a load above legs that the clip moves; whoever is to balance is asked for that."""
    steps = walk(MAN.skeleton, 3.0, FPS)
    poise.save_clip(steps, tmp_path / "walk.npz")
    light = poise.lift(steps, character=MAN, loads="rightHand=5")
    heavy = poise.lift(steps, character=MAN, loads="rightHand=60")
    assert (light.figures["base"], light.fell, heavy.fell) == ("kinematic", False, False)
    assert light.figures["stepping"] and "pelvis and legs follow it" in light.notes[-1]
    np.testing.assert_allclose(find_world(light.clip)[0][:, 0], find_world(steps)[0][:, 0], atol=1e-9)
    assert light.figures["tracking_error_rad"] < 0.05
    assert heavy.figures["limited_joints"] and heavy.figures["peak_torque_ratio"] <= 1.0 + 1e-6
    assert heavy.figures["tracking_error_rad"] > 2.0 * light.figures["tracking_error_rad"]
    assert find_base(steps, MAN, LiftPlan(base="balance"))[0].name == "planted"
    code, _, err = run(tmp_path / "walk.npz", "-o", tmp_path / "out.bvh", "--base", "planted")
    assert code == 2 and "balance" in err
    center = poise.PointPath(np.arange(3.0), np.zeros((3, 3)))
    with pytest.raises(poise.InputError, match="the centre of mass is led by legs"):
        poise.lift(steps, character=MAN, paths={"center": center})


def make_efforts(at: np.ndarray, dt: float = 0.1) -> Efforts:
    """Efforts of a shoulder that is so at its limit, and of an elbow that is not."""
    s = len(at)
    both = np.stack([at, np.zeros(s)], axis=1)
    one = np.ones((s, 2))
    return Efforts(
        dt * (1 + np.arange(s)), ("rightUpperArm", "rightLowerArm"), ("x", "x"), both, both * 10.0, -10.0 * one,
        10.0 * one, np.zeros((s, 3)),
    )  # fmt: skip


def test_intervals_are_those_of_the_steps() -> None:
    """A step that is limited counts whole; a gap that is short enough is none."""
    at = np.array([0, 1, 1, 0, 1, 0, 0, 0, -1, 0])
    limits = list_limits(make_efforts(at))
    assert 0.1 <= GAP < 0.3
    assert [(each.joint, each.way) for each in limits] == [("rightUpperArm", 1), ("rightUpperArm", -1)]
    assert np.allclose(limits[0].intervals, [(0.1, 0.5)])
    assert np.allclose(limits[1].intervals, [(0.8, 0.9)])
    assert list_joints(limits) == ["rightUpperArm"]
    assert describe_limits(limits)[1]["intervals_s"] == [pytest.approx([0.8, 0.9])]
    said = say_limits(limits, {"back": 14.2, "knees": 9.0, "hips": 0.5})
    assert said == "rightUpperArm at its limit from 0.1 to 0.5 and 0.8 to 0.9 s; back +14 degrees; knees +9 degrees."


def test_before_a_fall() -> None:
    efforts = make_efforts(np.array([1, 0, 0, 1, 1]))
    assert len(efforts.before(0.3).times) == 3
    assert efforts.before(None) is efforts
    assert np.allclose(efforts.ratio[:, 0], [1, 0, 0, 1, 1])


def test_changes_are_bends() -> None:
    """Joints bent by hand: forward in the back, and both knees."""
    pose = poise.Stage().add(MAN).pose(0.0)
    skeleton = MAN.skeleton
    wanted = Clip(skeleton, np.arange(3) / FPS, np.repeat(pose.root[None], 3, axis=0),
                  np.repeat(pose.rotations[None], 3, axis=0))  # fmt: skip
    turns = wanted.rotations.copy()

    def bend(role: str, degrees: float) -> None:
        spin = Rotation.from_rotvec([np.radians(degrees), 0.0, 0.0]).as_quat()[[3, 0, 1, 2]]
        turns[1, skeleton.index(role)] = rotation.multiply(turns[1, skeleton.index(role)], spin)

    bend("spine", 8.0)
    bend("chest", 4.0)
    bend("leftLowerLeg", 20.0)
    bend("rightLowerLeg", 10.0)
    bend("leftUpperLeg", -12.0)
    found = find_changes(wanted.replace(rotations=turns), wanted, poise.JointStrength.from_character(MAN))
    assert found["back"] == pytest.approx(12.0, abs=0.3)
    assert found["knees"] == pytest.approx(15.0, abs=0.3)
    assert found["hips"] == pytest.approx(6.0, abs=0.3)
    assert found["ankles"] == pytest.approx(0.0, abs=0.1)


def test_strengths_out_of_words() -> None:
    assert parse_strengths([]) == (1.0, {})
    assert parse_strengths(["0.5", "rightHand=2", "mixamorig:Hips=0.25"]) == (
        0.5, {"rightHand": 2.0, "mixamorig:Hips": 0.25},
    )  # fmt: skip
    assert parse_lead("rightHand=both") == ("rightHand", "both")
    assert parse_lead("rightHand") == ("rightHand", "position")
    assert choose_longest(None) == choose_longest("inverse") == pytest.approx(1.0 / 30.0)
    assert choose_longest("mujoco") == 0.005


def test_strength_is_scaled_by_the_plan() -> None:
    usual = poise.JointStrength.from_character(MAN)
    plan = LiftPlan(strength=0.5, joints={"rightHand": 0.5})
    share = plan.build_muscles(MAN).peaks / usual.peaks
    hand = usual.rows("rightHand")
    assert np.allclose(share[hand], 0.25)
    assert np.allclose(np.delete(share, hand, axis=0), 0.5)
    assert np.allclose(LiftPlan(weak=True).build_muscles(MAN).peaks, poise.JointStrength.weak(MAN).peaks)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"engine": "none"}, "engine 'none'"),
        ({"center": "y"}, "centre of mass"),
        ({"lead": {"rightHand": "up"}}, "'up'"),
        ({"strength": -1.0}, "from 0 to 1000"),
    ],
)
def test_plans_that_cannot_be(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(poise.InputError, match=said):
        LiftPlan(**wrong)


def test_a_path_in_a_file_leads_the_hand_in_what_is_written(files: Path) -> None:
    """The wrist as it is in the file, by its own forward kinematics: 8 cm to the left of the clip's in the end."""
    wanted = poise.load_clip(files / "lift.npz")
    wrist = wanted.skeleton.index("rightHand")
    places = find_world(wanted)[0][:, wrist]
    share = np.clip(wanted.times / wanted.times[-1], 0.0, 1.0)[:, None]
    away = places + share * [0.08, 0.0, 0.0]
    rows = [",".join(f"{x:.9f}" for x in (t, *at)) for t, at in zip(wanted.times - wanted.times[0], away, strict=True)]
    (files / "hand.csv").write_text("time,x,y,z\n" + "\n".join(rows), encoding="utf-8")
    words = (files / "lift.npz", "-o", files / "led.npz", "--character", files / "man.json", "--json", "--quiet")
    code, out, _ = run(*words, "--path", f"rightHand={files / 'hand.csv'}")
    assert (code, json.loads(out)["paths"]) == (0, ["rightHand"])
    found = find_world(poise.load_clip(files / "led.npz"))[0][:, wrist]
    assert np.linalg.norm(found[-1] - away[-1]) < 0.025 < 0.07 < np.linalg.norm(found[-1] - places[-1])

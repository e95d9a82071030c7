"""Characters as MuJoCo models: MuJoCo itself is asked what it read."""

from __future__ import annotations

import numpy as np
import pytest

from poise.body.character import Character
from poise.body.presets import PRESETS
from poise.body.shape import Box, Capsule, Sphere
from poise.files.bvh import load_bvh
from poise.files.mjcf import GRAVITY, build_mjcf, save_mjcf
from poise.spatial import rotation
from realdata import data_file

mujoco = pytest.importorskip("mujoco", reason="needs the mujoco package")


def check_model(character: Character, model) -> None:
    """Masses, centres, inertias and places of all bodies are the character's."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    rest = character.skeleton.rest_positions()
    for name, inertia, at in zip(character.skeleton.names, character.inertias, rest, strict=True):
        body = model.body(name)
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, body.iquat)
        turn = turn.reshape(3, 3)
        assert abs(body.mass[0] - inertia.mass) < 1e-9
        np.testing.assert_allclose(turn @ np.diag(body.inertia) @ turn.T, inertia.inertia, atol=1e-9)
        np.testing.assert_allclose(data.body(name).xpos, at, atol=1e-12)
        if inertia.mass > 0.0:
            np.testing.assert_allclose(body.ipos, inertia.center, atol=1e-12)
    assert model.body_mass.sum() == pytest.approx(character.mass, rel=1e-12)
    np.testing.assert_allclose(data.subtree_com[1], character.center_of_mass(), atol=1e-9)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_read_exactly_and_runs(preset):
    character = Character.human(1.68, 61.0, "female", 30, preset)
    model = mujoco.MjModel.from_xml_string(build_mjcf(character))
    check_model(character, model)
    assert model.nv == 6 + character.degrees_of_freedom
    np.testing.assert_array_equal(model.opt.gravity, GRAVITY)
    data = mujoco.MjData(model)
    for _ in range(100):
        mujoco.mj_step(model, data)
    assert np.isfinite(data.qpos).all()
    assert all(warning.number == 0 for warning in data.warning)


def test_it_stands_on_the_floor_and_falls_without():
    """The soles are at y = 0, so the floor catches them at once; without one the body falls freely."""
    character = Character.human()
    for floor, low, high in ((True, -0.1, 0.0), (False, -0.0502, -0.0480)):
        model = mujoco.MjModel.from_xml_string(build_mjcf(character, floor=floor))
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        start = data.subtree_com[1, 1]
        while data.time < 0.1 - 1e-9:
            mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        assert low < data.subtree_com[1, 1] - start < high
        touching = {model.geom(contact.geom[1]).name for contact in data.contact}
        assert floor == bool(touching & {"leftFoot", "rightFoot", "leftToes", "rightToes"})


def test_shapes_are_placed_in_the_joints_frames():
    character = Character.human(preset="mix")
    turn = rotation.exp(np.array([0.3, -0.2, 0.5]))
    shapes = {
        "head": Sphere(np.array([0.0, 0.1, 0.0]), 0.09),
        "leftUpperLeg": Capsule(np.array([0.01, -0.02, 0.0]), np.array([0.0, -0.4, 0.03]), 0.07),
        "leftFoot": Box(np.array([0.0, -0.03, 0.05]), np.array([0.04, 0.03, 0.12]), turn),
    }
    model = mujoco.MjModel.from_xml_string(build_mjcf(character, shapes=shapes, floor=False))
    assert model.ngeom == 3
    np.testing.assert_allclose(model.geom("head").pos, shapes["head"].center)
    thigh = model.geom("leftUpperLeg")
    axis = np.zeros(9)
    mujoco.mju_quat2Mat(axis, thigh.quat)
    ends = [thigh.pos + sign * thigh.size[1] * axis.reshape(3, 3)[:, 2] for sign in (1, -1)]
    lines = (shapes["leftUpperLeg"].start, shapes["leftUpperLeg"].end)
    assert min(np.abs(np.subtract(ends, order)).max() for order in (lines, lines[::-1])) < 1e-12
    foot = model.geom("leftFoot")
    np.testing.assert_allclose(foot.size, shapes["leftFoot"].half)
    assert rotation.angle(foot.quat, turn) < 1e-9


def test_ranges_and_axes_are_the_limits():
    character = Character.human(preset="strength")
    model = mujoco.MjModel.from_xml_string(build_mjcf(character, shapes={}))
    knee = model.joint("leftLowerLeg.1")
    np.testing.assert_allclose(knee.axis, [1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(knee.range, np.radians([0.0, 160.0]))
    # A bent left elbow in a T-pose takes the forearm forward: minus y, by 142 degrees.
    elbow = model.joint("leftLowerArm.1")
    np.testing.assert_allclose(elbow.axis, [0.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(elbow.range, np.radians([-142.0, 0.0]))
    assert model.joint("leftToes").type[0] == mujoco.mjtJoint.mjJNT_HINGE
    hip = model.joint("rightUpperLeg")
    assert hip.type[0] == mujoco.mjtJoint.mjJNT_BALL
    assert np.radians(140.0) <= hip.range[1] < np.pi
    # An arm reaches further than half a turn from the T-pose's own side: no limit that MuJoCo can state.
    assert model.joint("leftUpperArm").type[0] == mujoco.mjtJoint.mjJNT_BALL


def test_a_massless_joint_that_turns_is_allowed():
    character = Character.human(preset="full")
    assert "leftShoulder" in character.freedoms
    assert character.inertias[character.skeleton.index("leftShoulder")].mass == 0.0
    check_model(character, mujoco.MjModel.from_xml_string(build_mjcf(character, shapes={})))


def test_names_are_escaped_or_refused(tmp_path):
    plain = Character.human(preset="mix")
    names = [f'{name}<&"é' for name in plain.skeleton.names]
    odd = Character.from_skeleton(plain.skeleton.replace(names=names), mass=70.0)
    path = tmp_path / "odd.xml"
    save_mjcf(odd, path, shapes={})
    check_model(odd, mujoco.MjModel.from_xml_path(str(path)))
    bad = Character.from_skeleton(plain.skeleton, mass=70.0, name="a\x00b")
    assert mujoco.MjModel.from_xml_string(build_mjcf(bad)).nbody == len(plain.skeleton) + 1


@pytest.mark.data
@pytest.mark.parametrize("file", ["bvh-cmu/07_01.bvh", "bvh-other/test_mocapbank.bvh", "force-bvh/gait10dof_walk.bvh"])
def test_recorded_skeletons(file):
    character = Character.from_skeleton(load_bvh(data_file(file)).skeleton)
    model = mujoco.MjModel.from_xml_string(build_mjcf(character))
    check_model(character, model)
    data = mujoco.MjData(model)
    for _ in range(20):
        mujoco.mj_step(model, data)
    assert np.isfinite(data.qpos).all()

"""The bench of inverse kinematics: the same body, the same targets, and figures that follow from one another."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from helpers.reaching import place
from poise import Character
from poise.bench import ik
from poise.bench.hinged import draw_pose, find_hinge_angles, list_links, write_mjcf
from poise.bench.ik import lengthen_spine
from poise.ik.model import CharacterModel
from poise.spatial import rotation
from tools.ik_placo.urdf import write_urdf

BODY = Character.human(1.7, 70.0)


@pytest.mark.parametrize("more", [0, 9])
def test_hinges_are_the_same_body(more: int) -> None:
    """Any legal pose that is drawn, in MuJoCo by hinges and by SciPy by rotations."""
    mujoco = pytest.importorskip("mujoco")
    body = lengthen_spine(BODY, more)
    rng, links = np.random.default_rng(2), list_links(body)
    model = mujoco.MjModel.from_xml_string(write_mjcf(links))
    data = mujoco.MjData(model)
    for _ in range(5):
        turns, root = draw_pose(body, rng, 1.0), rng.normal(size=3)
        turns[0] = rotation.exp(rng.normal(size=3))
        angles = CharacterModel(body, False, {}, 0.0).angles(turns)
        data.qpos[:7] = [*root, *turns[0]]
        for link, own in zip(links, angles, strict=True):
            hinges = find_hinge_angles(own)
            for hinge in link.hinges:
                angle = hinges["xyz".index(hinge.name[-1])]
                assert hinge.low - 1e-9 <= angle <= hinge.high + 1e-9
                data.qpos[model.joint(hinge.name).qposadr[0]] = angle
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        _, places, center = place(root, turns, body)
        np.testing.assert_allclose(data.xpos[1:], places, atol=1e-9)
        np.testing.assert_allclose(data.subtree_com[1], center, atol=1e-7)
        np.testing.assert_allclose(ik.find_places(body, root, turns)[2], center, atol=1e-12)


def test_the_urdf_is_that_tree() -> None:
    pin = pytest.importorskip("pinocchio")
    links = list_links(BODY)
    model = pin.buildModelFromXML(write_urdf(links), pin.JointModelFreeFlyer())
    data = model.createData()
    rng = np.random.default_rng(3)
    turns, root = draw_pose(BODY, rng, 1.0), rng.normal(size=3)
    q = pin.neutral(model)
    q[:3], q[3:7] = root, Rotation.from_quat(turns[0], scalar_first=True).as_quat()
    angles = CharacterModel(BODY, False, {}, 0.0).angles(turns)
    for link, own in zip(links, angles, strict=True):
        hinges = find_hinge_angles(own)
        for hinge in link.hinges:
            q[model.joints[model.getJointId(hinge.name)].idx_q] = hinges["xyz".index(hinge.name[-1])]
    pin.framesForwardKinematics(model, data, q)
    _, places, center = place(root, turns, BODY)
    for link, where in zip(links, places, strict=True):
        np.testing.assert_allclose(data.oMf[model.getFrameId(link.name)].translation, where, atol=1e-9)
    np.testing.assert_allclose(pin.centerOfMass(model, data, q), center, atol=1e-6)


def test_the_bench_says_who_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ik, "build_mink", lambda *_: None)
    monkeypatch.setattr(ik, "_SPINES", (0, 3))
    figures = ik.run(targets=6, rounds=1)
    assert figures["missing"] == ["mink"]
    assert figures["mink_ratio"] is figures["mink_us_per_solve"] is None
    assert figures["solved"] > 0.8 and figures["us_per_solve"] > 0.0
    assert [row["joints"] for row in figures["growth"]] == [22, 25]


def test_mink_gets_there_too() -> None:
    pytest.importorskip("mink")
    drawn = ik.draw_targets(BODY, 4)
    solve = ik.build_mink(BODY, list_links(BODY))
    assert solve is not None
    assert np.mean([ik.is_met(BODY, one, *solve(one)) for one in drawn]) > 0.7

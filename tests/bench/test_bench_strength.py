"""`poise bench strength`: its figures are there, with DAQP and without, and its bodies are what they say."""

from __future__ import annotations

import numpy as np
import pytest

from poise import Character
from poise.bench import strength
from poise.bench.strength import draw_step, find_jacobian
from poise.dynamics.kinematics import compute_joint_space_inertia, compute_world_pose, compute_world_velocity
from poise.dynamics.tree import TreeState, build_tree
from poise.spatial import rotation


def test_figures() -> None:
    pytest.importorskip("daqp")
    found = strength.run(count=3, rounds=1)
    assert found["freedoms"] == 39 and found["goal_rows"] == 12
    assert found["steps_per_s"] == pytest.approx(1e6 / found["us_per_step"])
    assert found["limits_difference"] < 1e-9
    assert found["driver_difference"] < 1e-6
    for name in (
        "daqp_us_per_step",
        "daqp_ratio",
        "daqp_weighted_ratio",
        "daqp_limits_ratio",
        "daqp_c_us_per_step",
        "daqp_driver_ratio",
        "inverse_step_us",
        "mujoco_step_us",
    ):
        assert found[name] > 0.0
    limited = [row["limits_limited_joints"] for row in found["growth"]]
    assert limited[0] < limited[-1]


def test_it_goes_without_daqp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strength, "build_peers", lambda *_: {})
    found = strength.run(count=1, rounds=1)
    assert found["us_per_step"] > 0.0
    assert found["daqp_us_per_step"] is found["daqp_ratio"] is found["limits_difference"] is None


def test_the_body_s_inertia_is_one() -> None:
    body = Character.human(1.75, 75.0, preset="strength")
    step = draw_step(body, np.random.default_rng(1))
    np.testing.assert_allclose(step.H, step.H.T, atol=1e-12)
    assert np.linalg.eigvalsh(step.H)[0] > 0.0
    assert [A.shape for A, _ in step.goals] == [(6, 39), (3, 39), (3, 39)]


def test_jacobians_are_velocities() -> None:
    tree = build_tree(Character.human(1.75, 75.0, preset="strength"))
    rng = np.random.default_rng(2)
    turns = rotation.exp(rng.normal(size=(len(tree), 3)))
    u = rng.normal(size=tree.size)
    state = TreeState(np.zeros(3), turns, u[:3], u[3:].reshape(-1, 3), np.zeros(3), np.zeros((len(tree), 3)))
    pose = compute_world_pose(tree, state.root, turns)
    moved = compute_world_velocity(tree, state, pose)
    for i in (0, 5, len(tree) - 1):
        found = find_jacobian(tree, pose, i) @ u
        np.testing.assert_allclose(found, np.concatenate([moved.angular[i], moved.joints[i]]), atol=1e-12)
    # the first rows of H are the momentum of the whole: what the centre of mass's rows are made of
    momentum = compute_joint_space_inertia(tree, state.root, turns)[:3] @ u
    np.testing.assert_allclose(momentum, tree.masses @ moved.centers, atol=1e-10)

"""Torques of a body on supports, against the whole equation of motion solved densely."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise import rotation
from poise.drivers.body import Body
from poise.dynamics.newton_euler import compute_inverse_dynamics
from poise.dynamics.supported_kernels import find_torque_vectors, model_supports, point_goal

UP = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
GRAVITY = np.array([0.0, -9.81, 0.0])


def make_body(seed: int, preset: str, speed: float = 1.0) -> Body:
    """A body in some pose, in motion, all of its joints balls."""
    rng = np.random.default_rng(seed)
    body = Body(poise.Character.human(1.75, 75.0, preset=preset))
    j = len(body.tree)
    body.state.root[:] = 0.0, 0.95, 0.0
    body.state.q[:] = rotation.exp(0.2 * rng.normal(size=(j, 3)))
    body.state.w[:], body.state.v[:] = speed * rng.normal(size=(j, 3)), speed * rng.normal(size=3)
    body.update()
    return body


def list_freedoms(body: Body) -> tuple[np.ndarray, np.ndarray]:
    j = len(body.tree)
    return np.repeat(np.arange(1, j), 3), np.concatenate([body.R[i].T for i in range(1, j)])


class Model:
    """`model_supports` with its arrays."""

    def __init__(
        self, body: Body, main: int, points: np.ndarray, segment: np.ndarray, x: np.ndarray, stays: bool = False
    ):
        tree, j, n, count = body.tree, len(body.tree), len(x), len(points)
        joint, e = list_freedoms(body)
        self.f, self.P, self.Y, self.y0 = np.zeros((count, 3)), np.zeros((6, n)), np.zeros((6, n)), np.zeros(6)
        self.H, self.b, self.w0, self.W = np.zeros((n, n)), np.zeros(n), np.zeros(6), np.zeros((6, n))
        self.a0, self.al, self.acc, self.d = np.zeros(6), np.zeros((j, 3)), np.zeros((j, 3)), np.zeros(6)
        self.frames, none, dw = np.tile(UP, (count, 1, 1)), np.zeros((j, 6)), np.zeros((j, 3))
        self.left = model_supports(
            tree.parents, tree.masses, tree.centers, tree.inertias, body.R, body.p, body.om, body.state.w, dw, GRAVITY,
            none, joint, e, main, points, self.frames, np.full(count, 50.0), segment, x, 1.75, stays, np.zeros((6, 6)),
            self.P, self.W, self.a0, self.f, self.d, self.Y, self.y0, self.w0, self.H, self.b, self.al, self.acc,
        )  # fmt: skip


def sole(body: Body, name: str, size: float = 0.1) -> np.ndarray:
    """Four points under a foot."""
    at = body.p[body.tree.names.index(name)]
    return np.array([at + [dx, -0.08, dz] for dx in (-0.5 * size, 0.5 * size) for dz in (-size, 1.5 * size)])


def solve_densely(body: Body, foot: int, at: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Joint torques (n,) and the root's accelerations (6,) of a body whose foot neither turns nor moves at a point."""
    tree, state = body.tree, body.state
    local = body.R[foot].T @ (at - body.p[foot])
    still = np.zeros(3), np.zeros_like(state.w)
    now = poise.Kinematics(state.root, state.q, state.v, state.w, *still)

    def jacobian(s: float) -> np.ndarray:
        q = rotation.multiply(state.q, rotation.exp(s * state.w))
        return np.asarray(poise.compute_point_jacobian(tree, state.root + s * state.v, q, foot, local))

    J, h = jacobian(0.0), 1e-5
    slope = (jacobian(h) - jacobian(-h)) @ now.generalised_velocity / (2.0 * h)
    a = np.linalg.solve(J[:, :6], -slope - J[:, 6:] @ x)
    M = poise.compute_joint_space_inertia(tree, state.root, state.q)
    force = M @ np.concatenate([a, x]) + poise.compute_bias(tree, now)
    wrench = np.linalg.solve(J[:, :6].T, force[:6])
    return force[6:] - J[:, 6:].T @ wrench, a


@pytest.mark.parametrize(("seed", "preset"), [(0, "strength"), (1, "full"), (2, "mix")])
def test_on_one_foot_torques_are_those_of_the_dense_solve(seed: int, preset: str) -> None:
    body = make_body(seed, preset)
    foot, points = body.tree.names.index("leftFoot"), sole(body, "leftFoot", 4.0)  # a huge sole: it stands
    x = np.random.default_rng(seed).normal(size=3 * (len(body.tree) - 1))
    model = Model(body, foot, points, np.full(4, foot), x, stays=True)  # even if it would have to be pulled
    torque, a = solve_densely(body, foot, points.mean(axis=0), x)
    np.testing.assert_allclose(model.H @ x + model.b, torque, atol=1e-6 * np.abs(torque).max())
    root = model.a0 + model.P @ x
    np.testing.assert_allclose(root[:3], a[:3], atol=1e-6 * np.abs(a).max())
    np.testing.assert_allclose(body.R[0].T @ root[3:], a[3:], atol=1e-6 * np.abs(a).max())
    np.testing.assert_allclose(model.H, model.H.T, atol=1e-9 * np.abs(model.H).max())
    assert np.linalg.eigvalsh(model.H)[0] > -1e-12  # some presets have joints that carry nothing


def test_the_points_push_as_the_whole_asks() -> None:
    body = make_body(3, "strength", 0.2)
    left, right = (body.tree.names.index(f"{side}Foot") for side in ("left", "right"))
    points = np.concatenate([sole(body, "leftFoot", 1.0), sole(body, "rightFoot", 1.0)])
    x = np.zeros(3 * (len(body.tree) - 1))
    model = Model(body, left, points, np.repeat([left, right], 4), x)
    force = np.einsum("pa,pab->pb", model.f, model.frames)
    np.testing.assert_allclose(force.sum(axis=0), model.w0[:3], atol=1e-3)
    moment = np.cross(points - body.p[0], force).sum(axis=0)
    np.testing.assert_allclose(moment, model.w0[3:], atol=1e-3)
    assert model.f[:4, 0].sum() > 50.0
    assert model.f[4:, 0].sum() > 50.0


def test_in_the_air_nothing_pushes_and_momentum_is_kept() -> None:
    body = make_body(4, "strength")
    x = np.random.default_rng(4).normal(size=3 * (len(body.tree) - 1))
    model = Model(body, -1, np.zeros((0, 3)), np.zeros(0, np.int64), x)
    assert model.left == 6
    root = model.a0 + model.P @ x + model.y0 + model.Y @ x
    linear, angular = root[:3], np.concatenate([(body.R[0].T @ root[3:])[None], x.reshape(-1, 3)])
    state = body.state
    now = poise.Kinematics(state.root, state.q, state.v, state.w, linear, angular)
    found = compute_inverse_dynamics(body.tree, now)
    np.testing.assert_allclose(found.generalised[:6], 0.0, atol=1e-8)
    np.testing.assert_allclose(found.torque[1:].ravel(), model.H @ x + model.b, atol=1e-8)


def test_a_body_whose_pressure_leaves_its_sole_turns_about_the_edge() -> None:
    body = make_body(5, "strength", 0.0)
    foot = body.tree.names.index("leftFoot")
    body.update()
    # a sole that ends a hand's breadth short of being under the centre of mass
    points = np.array([[body.c[0] + x, 0.0, body.c[2] + z] for x in (-0.1, 0.1) for z in (-0.3, -0.1)])
    x = np.zeros(3 * (len(body.tree) - 1))
    model = Model(body, foot, points, np.full(4, foot), x)
    assert model.left == 1
    d = model.y0
    # the edge at z = -0.1 stays, and the body turns forwards about it: x is its axis
    for point in points[[1, 3]]:
        np.testing.assert_allclose(d[:3] + np.cross(d[3:], point - body.p[0]), 0.0, atol=1e-8)
    assert d[3] > 0.1
    np.testing.assert_allclose(d[4:], 0.0, atol=1e-8)
    # m g r = I alpha about the edge, the body as one
    about = np.array([body.c[0], 0.0, body.c[2] - 0.1])
    inertia = body.inertia()[0, 0] + body.tree.mass * float((body.c[1] - about[1]) ** 2 + (body.c[2] - about[2]) ** 2)
    assert d[3] == pytest.approx(body.tree.mass * 9.81 * 0.1 / inertia, rel=1e-6)


def test_goals_and_torque_vectors_agree_with_the_model() -> None:
    body = make_body(6, "strength")
    names, tree = body.tree.names, body.tree
    foot, hand = names.index("leftFoot"), names.index("rightHand")
    points = sole(body, "leftFoot", 4.0)
    rng = np.random.default_rng(6)
    x = rng.normal(size=3 * (len(tree) - 1))
    model = Model(body, foot, points, np.full(4, foot), x, stays=True)
    joint, e = list_freedoms(body)
    A, c = np.zeros((6, len(x))), np.zeros(6)
    at = body.p[hand] + body.R[hand] @ [0.05, 0.02, -0.03]
    point_goal(tree.parents, body.p, body.om, joint, e, model.P, model.Y, model.y0, model.al, model.acc, hand, at, A, c)
    # by finite differences of the motion itself
    root = model.a0 + model.P @ x
    dw = np.concatenate([(body.R[0].T @ root[3:])[None], x.reshape(-1, 3)])
    state, h = body.state, 1e-4

    def place(s: float) -> np.ndarray:
        q = rotation.multiply(state.q, rotation.exp(s * state.w + 0.5 * s * s * dw))
        pose = poise.compute_world_pose(tree, state.root + s * state.v + 0.5 * s * s * root[:3], q)
        return np.asarray(pose.joints[hand] + pose.turns[hand] @ [0.05, 0.02, -0.03])

    measured = (place(h) - 2.0 * place(0.0) + place(-h)) / h**2
    np.testing.assert_allclose((A @ x + c)[:3], measured, atol=1e-4 * np.abs(measured).max())
    load, vectors, j = np.zeros(6), np.zeros((len(tree), 3)), len(tree)
    full = np.zeros((j, 3))
    full[1:] = x.reshape(-1, 3)
    find_torque_vectors(
        tree.parents, tree.masses, tree.centers, tree.inertias, body.R, body.p, body.om, state.w, full, GRAVITY,
        np.zeros((j, 6)), root, points, model.frames, np.full(4, foot), model.f, load, vectors,
    )  # fmt: skip
    np.testing.assert_allclose(np.sum(vectors[joint] * e, axis=1), model.H @ x + model.b, atol=1e-6)

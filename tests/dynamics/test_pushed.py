"""Torques of a body that is pushed, against the whole equation of motion solved densely."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise import rotation
from poise.drivers.body import Body
from poise.dynamics.contact.contact_dynamics_kernels import (
    build_contact_model,
    find_joint_torques,
    find_point_rows,
    find_pressure_center,
)
from poise.dynamics.contact.records import ContactModel, InertiaModel
from poise.dynamics.newton_euler import compute_inverse_dynamics

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
    return np.repeat(np.arange(1, j), 3), np.ascontiguousarray(np.concatenate([body.R[i].T for i in range(1, j)]))


class Model:
    """A contact model with its arrays; each point is pushed along three axes, in N."""

    def __init__(
        self, body: Body, points: np.ndarray, segment: np.ndarray, wrench: np.ndarray | None = None,
        root: np.ndarray | None = None,
    ):  # fmt: skip
        body.block.gravity[:] = GRAVITY
        tree, j, count = body.tree, len(body.tree), 3 * len(points)
        self.joint, self.e = list_freedoms(body)
        self.n = n = len(self.joint)
        self.inertia = InertiaModel(
            joints=j, freedoms=n, joint=self.joint, axis=self.e, masses=tree.masses, centers=tree.centers,
            inertias=tree.inertias,
        )  # fmt: skip
        self.ways, self.points = np.tile(UP, (len(points), 1)), np.repeat(points, 3, axis=0)
        self.model = model = ContactModel(
            joints=j, freedoms=n, forces=count, unknowns=n + count, bounds=n, unit=1.0,
            is_prescribed=int(root is not None), point=self.points, direction=self.ways, segment=np.repeat(segment, 3),
            A=np.ones((6, n + count)),
        )  # fmt: skip
        if wrench is not None:
            model.wrench[:] = wrench
        if root is not None:
            model.a0[:] = root
        self.segment, self.A, self.a0, self.H, self.b = model.segment, model.A, model.a0, model.H, model.b
        assert build_contact_model(body.block, self.inertia, model)


def sole(body: Body, name: str, size: float = 0.1) -> np.ndarray:
    """Four points under a foot."""
    at = body.p[body.tree.names.index(name)]
    return np.array([at + [dx, -0.08, dz] for dx in (-0.5 * size, 0.5 * size) for dz in (-size, 1.5 * size)])


def solve_densely(body: Body, model: Model, x: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Joint torques (n,) and the root's accelerations (6,), in its own axes, of a body that is pushed by f (P,) N."""
    tree, state = body.tree, body.state
    now = poise.extend.TreeState(state.root, state.q, state.v, state.w, np.zeros(3), np.zeros_like(state.w))
    M = poise.extend.compute_joint_space_inertia(tree, state.root, state.q)
    force = poise.extend.compute_bias(tree, now)
    for point, segment, push in zip(model.points, model.segment, f[:, None] * model.ways, strict=True):
        local = body.R[segment].T @ (point - body.p[segment])
        J = np.asarray(poise.extend.compute_point_jacobian(tree, state.root, state.q, int(segment), local))
        force = force - J[3:].T @ push
    a = np.linalg.solve(M[:6, :6], -force[:6] - M[:6, 6:] @ x)
    return M[6:, :6] @ a + M[6:, 6:] @ x + force[6:], a


@pytest.mark.parametrize(("seed", "preset"), [(0, "strength"), (1, "full"), (2, "mix")])
def test_torques_and_root_are_those_of_the_dense_solve(seed: int, preset: str) -> None:
    body, rng = make_body(seed, preset), np.random.default_rng(seed)
    left, right = (body.tree.names.index(f"{side}Foot") for side in ("left", "right"))
    hand = body.tree.names.index("rightHand")
    points = np.concatenate([sole(body, "leftFoot"), sole(body, "rightFoot"), body.p[[hand]] + 0.05])
    model = Model(body, points, np.array([left] * 4 + [right] * 4 + [hand]))
    x, f = rng.normal(size=model.n), 100.0 * rng.normal(size=27)
    u = np.concatenate([x, f])
    torque, a = solve_densely(body, model, x, f)
    np.testing.assert_allclose(model.H @ u + model.b, torque, atol=1e-9 * np.abs(torque).max())
    root = model.A @ u + model.a0
    np.testing.assert_allclose(root[:3], a[:3], atol=1e-9 * np.abs(a).max())
    np.testing.assert_allclose(body.R[0].T @ root[3:], a[3:], atol=1e-9 * np.abs(a).max())


@pytest.mark.parametrize(("seed", "preset"), [(0, "strength"), (1, "full")])
def test_a_root_that_is_given_goes_as_it_is_told(seed: int, preset: str) -> None:
    """Torques are those of inverse dynamics for that acceleration, less what a hand is pushed by."""
    body, rng = make_body(seed, preset), np.random.default_rng(seed)
    hand, given = body.tree.names.index("rightHand"), 3.0 * rng.normal(size=6)
    model = Model(body, body.p[[hand]] + 0.05, np.array([hand]), root=given)
    x, f, state = rng.normal(size=model.n), 100.0 * rng.normal(size=3), body.state
    angular = np.concatenate([(body.R[0].T @ given[3:])[None], x.reshape(-1, 3)])
    now = poise.extend.TreeState(state.root, state.q, state.v, state.w, given[:3], angular)
    torque = compute_inverse_dynamics(body.tree, now).torque[1:].ravel()
    for point, push in zip(model.points, f[:, None] * model.ways, strict=True):
        local = body.R[hand].T @ (point - body.p[hand])
        J = np.asarray(poise.extend.compute_point_jacobian(body.tree, state.root, state.q, hand, local))
        torque = torque - (J[3:].T @ push)[6:]
    found = model.H @ np.concatenate([x, f]) + model.b
    np.testing.assert_allclose(found, torque, atol=1e-9 * np.abs(torque).max())
    assert not model.A.any() and np.array_equal(model.a0, given)


def test_in_the_air_momentum_is_kept() -> None:
    body = make_body(4, "strength")
    model = Model(body, np.zeros((0, 3)), np.zeros(0, np.int64))
    x = np.random.default_rng(4).normal(size=model.n)
    root = model.a0 + model.A @ x
    linear, angular = root[:3], np.concatenate([(body.R[0].T @ root[3:])[None], x.reshape(-1, 3)])
    state = body.state
    now = poise.extend.TreeState(state.root, state.q, state.v, state.w, linear, angular)
    found = compute_inverse_dynamics(body.tree, now)
    np.testing.assert_allclose(found.generalised[:6], 0.0, atol=1e-8)
    np.testing.assert_allclose(found.torque[1:].ravel(), model.H @ x + model.b, atol=1e-8)


def test_goals_and_torque_vectors_agree_with_the_motion_itself() -> None:
    body = make_body(6, "strength")
    names, tree, rng = body.tree.names, body.tree, np.random.default_rng(6)
    foot, hand = names.index("leftFoot"), names.index("rightHand")
    model = Model(body, sole(body, "leftFoot"), np.full(4, foot))
    x, f = rng.normal(size=model.n), 100.0 * rng.normal(size=12)
    u = np.concatenate([x, f])
    rows, c = np.zeros((6, len(u))), np.zeros(6)
    at = body.p[hand] + body.R[hand] @ [0.05, 0.02, -0.03]
    find_point_rows(body.block, model.inertia, model.model, hand, at, rows, c)
    # by finite differences
    root = model.a0 + model.A @ u
    dw = np.concatenate([(body.R[0].T @ root[3:])[None], x.reshape(-1, 3)])
    state, h = body.state, 1e-4

    def place(s: float) -> np.ndarray:
        q = rotation.multiply(state.q, rotation.exp(s * state.w + 0.5 * s * s * dw))
        pose = poise.extend.compute_world_pose(tree, state.root + s * state.v + 0.5 * s * s * root[:3], q)
        return np.asarray(pose.joints[hand] + pose.turns[hand] @ [0.05, 0.02, -0.03])

    measured = (place(h) - 2.0 * place(0.0) + place(-h)) / h**2
    np.testing.assert_allclose((rows @ u + c)[:3], measured, atol=1e-4 * np.abs(measured).max())
    vectors, full = np.zeros((len(tree), 3)), np.zeros((len(tree), 3))
    full[1:] = x.reshape(-1, 3)
    find_joint_torques(body.block, model.inertia, model.model, full, root, f, vectors)
    np.testing.assert_allclose(np.sum(vectors[model.joint] * model.e, axis=1), model.H @ u + model.b, atol=1e-6)


def test_what_pushes_besides_is_as_good_as_a_push_at_a_point() -> None:
    """A force on a hand, as a wrench about its joint, and as one of the world's pushes."""
    rng, body = np.random.default_rng(5), make_body(5, "strength")
    hand = body.tree.names.index("leftHand")
    at, force = body.p[hand] + [0.05, -0.02, 0.1], np.array([12.0, -40.0, 7.0])
    wrench = np.zeros((len(body.tree), 6))
    wrench[hand] = [*np.cross(at - body.p[hand], force), *force]
    pushed, besides = (
        Model(body, at[None], np.array([hand])),
        Model(body, at[None], np.array([hand]), wrench),
    )
    x = rng.normal(size=pushed.n)
    one, other = np.concatenate([x, pushed.ways @ force]), np.concatenate([x, np.zeros(3)])
    np.testing.assert_allclose(besides.a0 + besides.A @ other, pushed.a0 + pushed.A @ one, atol=1e-9)
    np.testing.assert_allclose(besides.b + besides.H @ other, pushed.b + pushed.H @ one, atol=1e-9)


def test_the_pressure_has_no_moment_along_the_ground() -> None:
    rng = np.random.default_rng(7)
    points, ways, f = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), np.abs(rng.normal(size=5))
    points[:, 1], ways[:, 1] = 0.3, 1.0
    zmp = np.zeros(3)
    find_pressure_center(points, ways, f, zmp)
    moment = np.cross(points - zmp, f[:, None] * ways).sum(axis=0)
    np.testing.assert_allclose(moment[[0, 2]], 0.0, atol=1e-12)
    find_pressure_center(points, ways, -f, zmp)
    assert np.isnan(zmp).all()

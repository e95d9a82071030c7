"""Contacts that neither give way nor pull: closed forms of a box, and Coulomb's law on random bodies."""

from __future__ import annotations

import numpy as np
import pytest

from poise.dynamics.contact.cone_kernels import ConeContacts, factor_back, solve_factored_contacts

MASS, HALF = 10.0, np.array([0.5, 0.1, 0.5])
FRAME = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
CORNERS = np.array([[x, -0.1, z] for x in (-0.5, 0.5) for z in (-0.5, 0.5)])
STEP = 0.01


def cross(r: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


def build_box() -> tuple[np.ndarray, np.ndarray]:
    """Inertia (6, 6) and rows (12, 6) of a box on its lower corners."""
    square = HALF**2
    turns = MASS / 3.0 * (square.sum() - square)
    M = np.diag([MASS] * 3 + turns.tolist())
    return M, np.concatenate([FRAME @ np.hstack([np.eye(3), -cross(r)]) for r in CORNERS])


def solve(M: np.ndarray, free: np.ndarray, J: np.ndarray, mu: float) -> tuple[np.ndarray, np.ndarray]:
    count = len(J) // 3
    u, f = np.zeros(len(free)), np.zeros((count, 3))
    L = M.copy()
    assert factor_back(L, len(u))
    contacts = ConeContacts(J, np.zeros((count, 3)), np.full(count, mu), 1000.0)
    assert solve_factored_contacts(L, free, contacts, f, u, 1e-12) >= 0
    return u, f


@pytest.mark.parametrize(("speed", "mu"), [(0.0, 0.8), (0.05, 0.8), (1.0, 0.8), (1.0, 0.3), (-0.5, 0.5)])
def test_a_box_that_slides_is_slowed_by_friction_and_stays_down(speed: float, mu: float) -> None:
    M, J = build_box()
    u, f = solve(M, np.array([speed, -9.81 * STEP, 0.0, 0.0, 0.0, 0.0]), J, mu)
    left = max(abs(speed) - mu * 9.81 * STEP, 0.0) * np.sign(speed)
    np.testing.assert_allclose(u, [left, 0.0, 0.0, 0.0, 0.0, 0.0], atol=1e-7)
    assert f[:, 0].sum() == pytest.approx(MASS * 9.81 * STEP, rel=1e-6)


def test_a_box_that_is_pushed_over_turns_about_its_edge() -> None:
    M, J = build_box()
    # a moment about z that is twice what the weight over the edge at x = 0.5 holds
    moment = -2.0 * MASS * 9.81 * HALF[0] * STEP
    u, f = solve(M, np.array([0.0, -9.81 * STEP, 0.0, 0.0, 0.0, moment / M[5, 5]]), J, 5.0)
    edge, other = f[2:, 0], f[:2, 0]
    assert edge.min() > 0.0
    assert np.abs(other).max() < 1e-9
    # moment about the edge over the inertia about it
    inertia = M[5, 5] + MASS * (HALF[0] ** 2 + HALF[1] ** 2)
    assert u[5] == pytest.approx(0.5 * moment / inertia, rel=1e-6)
    np.testing.assert_allclose(J[6:] @ u, 0.0, atol=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_impulses_of_a_box_that_lands_keep_coulombs_law(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mu = float(rng.uniform(0.1, 1.0))
    M, J = build_box()
    free = np.concatenate([rng.normal(size=3) * [1.0, 0.3, 1.0] - [0.0, 1.0, 0.0], 0.5 * rng.normal(size=3)])
    u, f = solve(M, free, J, mu)
    np.testing.assert_allclose(M @ (u - free), J.T @ f.ravel(), atol=1e-6)
    c = (J @ u).reshape(4, 3)
    assert c[:, 0].min() > -1e-6
    for push, speed in zip(f, c, strict=True):
        drag, slide = np.linalg.norm(push[1:]), np.linalg.norm(speed[1:])
        assert drag <= mu * push[0] + 1e-6
        assert abs(push[0] * speed[0]) < 1e-5  # it pushes only where nothing parts
        if slide > 1e-3 and push[0] > 1e-3:  # and drags against what slides, with all it has
            assert push[1:] @ speed[1:] == pytest.approx(-mu * push[0] * slide, rel=1e-4)
    assert u @ M @ u <= free @ M @ free  # an impact takes energy only

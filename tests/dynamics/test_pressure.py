"""The zero-moment point beside MuJoCo's own contacts, and equation 3 of the strength paper to the letter."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.forces import BODIES, MOTIONS, Pressed, press
from poise.dynamics.ground_reaction import compute_ground_reaction
from poise.dynamics.tree import TreeState, build_tree
from poise.motion.forces.forces import compute_forces
from poise.spatial import rotation

MOST = 5e-3  # m


def distance(run: Pressed) -> np.ndarray:
    """(n,) m, from the zero-moment point of the motion in the middle of each step to where contacts press."""
    found = compute_ground_reaction(build_tree(run.body), run.between()).pressure
    return np.linalg.norm(found[:, [0, 2]] - run.pressure, axis=1)


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.many(1)
def test_the_zero_moment_point_is_where_the_engine_presses(body: str, motion: str) -> None:
    run = press(BODIES[body], MOTIONS[motion], 2.8, 0.0025)
    assert distance(run).max() < MOST
    if motion != "stand":  # it is no matter of standing still
        assert np.ptp(run.pressure, axis=0).max() > 0.02
    net = compute_ground_reaction(build_tree(run.body), run.between()).force
    assert np.abs(net - run.force).max() < 0.005 * 9.81 * run.body.mass


def test_what_is_apart_is_the_engines_step() -> None:
    """Of first order: half the step, half the distance. A wrong formula's would stay."""
    far = [distance(press(BODIES["adult"], MOTIONS["swing"], 1.0, dt)).max() for dt in (0.005, 0.0025, 0.00125)]
    assert far[1] == pytest.approx(0.5 * far[0], rel=0.1) and far[2] == pytest.approx(0.5 * far[1], rel=0.1)


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.many(2)
def test_poses_alone_say_where_it_presses(motion: str) -> None:
    """What `poise forces` finds, of nothing but the poses of every step."""
    run = press(BODIES["adult"], MOTIONS[motion], 1.6, 0.0025)
    found = compute_forces(run.clip(), run.body).reaction.pressure[:, [0, 2]]
    assert np.linalg.norm(found - run.pressure, axis=1)[40:-40].max() < MOST


@pytest.mark.parametrize("seed", range(4))
def test_equation_3_leaves_no_tangential_moment_at_the_pressure_centre(seed: int) -> None:
    """n_0 = n_1 + l_01 x f_1 + l_g x f_g, of all that hangs on the ankle of a foot that stays, and of the foot.

    Summed over segments, not by the recursion. Only the part along the ground vanishes, and l_g goes with the point.
    """
    rng = np.random.default_rng(seed)
    character = BODIES["adult"]
    tree, foot = build_tree(character), character.skeleton.index("leftFoot")
    n, gravity = len(tree), np.array([0.0, -9.81, 0.0])
    q = rotation.multiply(rotation.identity((n,)), rotation.exp(0.3 * rng.standard_normal((n, 3))))
    spin = rng.standard_normal((n, 3))

    def accelerate(first: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """World turns, joints' places, angular accelerations and accelerations, from rest, of all segments."""
        turns, places, al, acc = [], [], [], []
        for i, parent in enumerate(tree.parents):
            if parent < 0:
                turns.append(q[0])
                places.append(np.array([0.3, 1.0, -0.2]))
                al.append(rotation.rotate(q[0], first[3:]))
                acc.append(first[:3])
                continue
            arm = rotation.rotate(turns[parent], tree.offsets[i])
            turns.append(rotation.multiply(turns[parent], q[i]))
            places.append(places[parent] + arm)
            al.append(al[parent] + rotation.rotate(turns[i], spin[i]))
            acc.append(acc[parent] + np.cross(al[parent], arm))
        return np.array(turns), np.array(places), np.array(al), np.array(acc)

    def of_foot(first: np.ndarray) -> np.ndarray:
        _, _, al, acc = accelerate(first)
        return np.concatenate([acc[foot], al[foot]])

    still = of_foot(np.zeros(6))
    effect = np.stack([of_foot(unit) - still for unit in np.eye(6)], axis=1)
    first = np.linalg.solve(effect, -still)  # the root goes so that the foot stays
    turns, places, al, acc = accelerate(first)
    np.testing.assert_allclose(of_foot(first), 0.0, atol=1e-9)
    angular = spin.copy()
    angular[0] = first[3:]
    state = TreeState(places[0], q, np.zeros(3), np.zeros((n, 3)), first[:3], angular)
    ground = float(places[:, 1].min()) - 0.05
    point = compute_ground_reaction(tree, state, ground).pressure

    def find_moment(point: np.ndarray) -> np.ndarray:
        n_1, f_1, ankle = np.zeros(3), np.zeros(3), places[foot]
        legs = character.skeleton.descendants(foot)
        l_g_f_g = np.zeros(3)
        for i in range(n):
            center = places[i] + rotation.rotate(turns[i], tree.centers[i])
            pull = tree.masses[i] * (acc[i] + np.cross(al[i], center - places[i]) - gravity)
            matrix = rotation.to_matrix(turns[i])
            turning = matrix @ tree.inertias[i] @ matrix.T @ al[i]
            if i in legs:  # the foot, and the toes on it
                l_g_f_g += np.cross(center - point, pull) + turning
            else:
                n_1 += np.cross(center - ankle, pull) + turning
                f_1 += pull
        return n_1 + np.cross(ankle - point, f_1) + l_g_f_g  # [strength, eq 3]

    left = find_moment(point)
    assert np.abs(left[[0, 2]]).max() < 1e-8 and abs(left[1]) > 0.1
    aside = find_moment(point + [0.01, 0.0, 0.0])
    assert np.abs(aside[2]) > 1.0

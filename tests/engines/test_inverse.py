"""The engine `inverse`: falls that gain nothing, lie on the floor and stay in range; judged from poses by NumPy."""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.transform import Rotation

import poise
from poise.stage.actor import Actor

MASS = 75.0
HUMAN = poise.Character.human(1.75, MASS, preset="strength")


def pose(actor: Actor) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Turns, places and both velocities of all bodies in the world."""
    tree, state = actor.body.tree, actor.body.state
    local = Rotation.from_quat(state.q[:, [1, 2, 3, 0]]).as_matrix()
    R, p, om, v = local.copy(), np.tile(state.root, (len(tree), 1)), np.zeros((len(tree), 3)), np.zeros((len(tree), 3))
    om[0], v[0] = R[0] @ state.w[0], state.v
    for i in range(1, len(tree)):
        k = tree.parents[i]
        arm = R[k] @ tree.offsets[i]
        R[i], p[i], v[i] = R[k] @ local[i], p[k] + arm, v[k] + np.cross(om[k], arm)
        om[i] = om[k] + R[i] @ state.w[i]
    return R, p, om, v


def energy(actor: Actor) -> float:
    """J, of motion and height."""
    tree, (R, p, om, v) = actor.body.tree, pose(actor)
    arms = np.einsum("jab,jb->ja", R, tree.centers)
    speed, spin = v + np.cross(om, arms), np.einsum("jba,jb->ja", R, om)
    moving = 0.5 * tree.masses @ np.sum(speed**2, axis=1) + 0.5 * np.einsum("ja,jab,jb->", spin, tree.inertias, spin)
    return float(moving + 9.81 * tree.masses @ (p + arms)[:, 1])


def depth(stage: poise.Stage, actor: Actor) -> float:
    """m, how far the lowest shape is under the floor."""
    R, p, _, _ = pose(actor)
    lowest = np.inf
    for joint, shape in stage.groups[0].scene.bodies[0].shapes:
        up = R[joint][1]
        if isinstance(shape, poise.Sphere):
            low = up @ shape.center - shape.radius
        elif isinstance(shape, poise.Capsule):
            low = min(up @ shape.start, up @ shape.end) - shape.radius
        else:
            low = (shape.corners @ up).min()
        lowest = min(lowest, p[joint, 1] + low)
    return -lowest


def test_a_fall_at_thirty_steps_a_second_gains_nothing_and_lies_on_the_floor() -> None:
    stage = poise.Stage(engine="inverse", dt=1.0 / 30.0)
    actor = stage.add(HUMAN)
    actor.drive("body", poise.Strength(poise.gestures.arm_swing(0.5)))
    stage.step()
    way = np.array([math.sin(math.radians(225.0)), 0.0, math.cos(math.radians(225.0))])
    actor.push("chest", 1.2 * MASS / 0.3 * way, 0.3)
    begin, least, gained, deepest = actor.body.c.copy(), np.inf, 0.0, 0.0
    for _ in range(75):
        stage.step()
        deepest = max(deepest, depth(stage, actor))
        if actor.player("body").fallen[0]:  # type: ignore[attr-defined]
            now = energy(actor)
            gained, least = max(gained, now - least), min(least, now)
    assert gained < 0.005 * MASS * 9.81 * begin[1]
    assert deepest < 0.01
    assert (actor.body.c - begin) @ way > 0.5
    assert actor.body.c[1] < 0.2


def test_a_stage_in_inverse_calls_python_for_its_drivers_alone() -> None:
    stage = poise.Stage(engine="inverse", dt=0.01)
    actor = stage.add(HUMAN)
    actor.drive("root", poise.Free())
    actor.drive("legs", poise.Loose(3.0))
    stage.step()
    assert stage.groups[0].program.is_compiled

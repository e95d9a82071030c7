"""Where a walk presses on the ground: of all its parts, by finite differences, not of a point mass."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.kinematics import margin_in_hull, place_joints
from poise import Character
from poise.walking.start import start_walk

STEP, GRAVITY = 0.005, 9.81


def find_pressure(body: Character, root: np.ndarray, rotations: np.ndarray) -> np.ndarray:
    """(F, 2) m, x and z of the point of y = 0 about which the ground's force has no moment but an upright one."""
    places, turns = place_joints(body.skeleton, root, rotations)
    force, moment = np.zeros((len(root), 3)), np.zeros((len(root), 3))
    for segment in body.segments:
        i, own = body.skeleton.index(segment.joint), segment.inertia
        center = places[:, i] + turns[i].apply(np.array(own.center))
        pull = np.gradient(np.gradient(center, STEP, axis=0), STEP, axis=0) + [0.0, GRAVITY, 0.0]
        spin = np.zeros((len(root), 3))
        spin[:-1] = (turns[i][1:] * turns[i][:-1].inv()).as_rotvec() / STEP
        matrices = turns[i].as_matrix()
        turning = matrices @ np.asarray(own.inertia) @ np.swapaxes(matrices, -1, -2)
        momentum = np.einsum("fab,fb->fa", turning, spin)
        force += own.mass * pull
        moment += np.cross(center, own.mass * pull) + np.gradient(momentum, STEP, axis=0)
    return np.stack([moment[:, 2], -moment[:, 0]], axis=1) / force[:, 1:2]


@pytest.mark.parametrize(("height", "mass"), [(1.75, 75.0), (1.2, 25.0), (1.95, 110.0)])
@pytest.mark.many(1)
def test_the_whole_body_presses_inside_what_carries_it(height: float, mass: float) -> None:
    body = Character.human(height, mass)
    poser = start_walk(body, None, 4)
    poser.walker.reach(1e9)
    times = np.arange(0.0, poser.walker.end, STEP)
    frames = poser.frames(times)
    pressure = find_pressure(body, frames.root, frames.rotations)
    margins = []
    for k in range(4, len(times) - 4):
        corners = np.concatenate(poser.walker.course.carriers_at(float(times[k])))[:, [0, 2]]
        margins.append(margin_in_hull(corners, pressure[k]))
    assert min(margins) > 0.0

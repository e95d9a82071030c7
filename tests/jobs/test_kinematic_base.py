"""A physical trunk on legs that follow a clip: its torques are those that inverse dynamics finds of the same motion."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from helpers.bodies import make_human
from poise.jobs.mix.plan import MixPlan
from poise.jobs.shared.simulation import simulate
from poise.motion.clip import Clip
from poise.spatial import rotation

FPS, SECONDS = 120.0, 1.5


def stand(hands_in: float = 0.0, rolled: float = 0.0) -> Clip:
    """A person who stands; arms swing (rad) into the thighs; the pelvis rolls (rad) for 100 ms under a still trunk."""
    human = make_human(1.75, arms_down=True)
    times = np.arange(round(SECONDS * FPS)) / FPS
    turns = rotation.identity((len(times), len(human)))
    for side, way in (("left", -1.0), ("right", 1.0)):
        swing = way * hands_in * np.sin(np.pi * times / SECONDS) ** 2
        turns[:, human.index(f"{side}UpperArm")] = rotation.exp(np.outer(swing, [0.0, 0.0, 1.0]))
    bump = np.where(np.abs(times - 0.75) < 0.05, rolled * np.cos(np.pi * (times - 0.75) / 0.1) ** 2, 0.0)
    turns[:, 0] = rotation.exp(np.outer(bump, [0.0, 0.0, 1.0]))
    for joint in ("spine", "leftUpperLeg", "rightUpperLeg"):
        turns[:, human.index(joint)] = rotation.exp(np.outer(-bump, [0.0, 0.0, 1.0]))
    turns = rotation.normalize(turns + np.random.default_rng(1).normal(size=turns.shape) * 2e-4)
    return Clip(human, times, np.tile(human.rest_positions()[0], (len(times), 1)), turns, "stand")


def measure_spine(clip: Clip) -> tuple[float, float]:
    """N m at the spine, the largest: of a mix whose trunk is physical, and of inverse dynamics at its low-pass."""
    body, spine = poise.Character.from_skeleton(clip.skeleton, mass=70.0), clip.skeleton.index("spine")
    mixed = simulate(clip, body, MixPlan(physical=("trunk",), base="kinematic"))
    forces = poise.compute_forces(clip, body, cutoff=6.0)
    return tuple(float(np.linalg.norm(x[:, spine], axis=1).max()) for x in (mixed.take.actor().torque, forces.torque))


@pytest.mark.parametrize(("hands_in", "rolled"), [(0.0, 0.0), (0.1, 0.0), (0.0, 0.1)], ids=["still", "hands", "pelvis"])
def test_spine_is_asked_for_what_the_motion_asks_for(hands_in, rolled):
    mixed, forces = measure_spine(stand(hands_in, rolled))
    assert mixed < 1.5 * forces + 5.0

"""Recordings of lifting, by a man within his strength: light boxes are lifted as recorded, heavy ones are not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from helpers.recordings import data_file
from poise.jobs.lift.run import Lift

MAN = poise.Character.human(1.78, 75.0, sex="male", age=25)


def lift(kg: float) -> Lift:
    """A box of so many kg, in both hands. The file says 120 frames a second; people in it move as if it were 60."""
    loads = [f"{side}Hand={kg / 2:g}" for side in ("left", "right")] if kg else []
    return poise.lift(data_file("bvh-cmu/115_01.bvh"), character=MAN, loads=loads, fps=60.0)


def find_error(found: Lift) -> float:
    """Degrees, RMS of all joints but the root to what was wanted."""
    here, there = (
        Rotation.from_quat(clip.rotations[:, 1:].reshape(-1, 4)[:, [1, 2, 3, 0]]) for clip in (found.clip, found.wanted)
    )
    return float(np.degrees(np.sqrt(np.mean((there.inv() * here).magnitude() ** 2))))


@pytest.mark.data
def test_what_a_man_can_lift_is_lifted_as_recorded_and_what_he_cannot_fells_him() -> None:
    empty, box, safe = lift(0.0), lift(20.0), lift(80.0)
    assert not empty.fell and not box.fell and safe.fell
    assert find_error(empty) < 1.0 and find_error(box) < 2.0
    assert empty.figures["limited_joints"] == [] and box.figures["limited_joints"]
    for found in (empty, box, safe):
        efforts = found.efforts
        over = np.maximum(efforts.torque - efforts.high, efforts.low - efforts.torque)
        assert np.all(over <= 1e-6 * (efforts.high - efforts.low))


def test_a_walk_that_ends_in_the_middle_does_not_stop_dead() -> None:
    """Its last step ends at its last frame, but for rounding: muscles were asked to stop the body in 4 ms."""
    used = poise.lift(data_file("bvh-cmu/07_01.bvh"), engine="mujoco").efforts.ratio.max(axis=1)
    assert used[-1] < 1.5 * used[-9:-1].max()

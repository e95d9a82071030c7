"""`Balance(damping=1)`: a damper that is sized for a whole body must not swing up hips on a trunk that bends."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from helpers.bodies import make_human
from helpers.recordings import data_file
from poise.spatial import rotation


@pytest.mark.parametrize("stature", [1.4, 1.6])
def test_light_hips_under_a_trunk_of_springs_stand(stature: float) -> None:
    """Three joints of the spine without a driver, hips that weigh little, arms that conduct, steps of 5 ms."""
    stage = poise.Stage(dt=0.005)
    actor = stage.add(poise.Character.from_skeleton(make_human(stature)), "a")
    actor.drive("legs", poise.Balance(damping=1.0))
    actor.drive("arms", poise.Kinematic(poise.gestures.conduct(bpm=92, beats=4, hands="both")))
    take = stage.run(6.0)
    assert take.fell_at() is None
    assert np.abs(take.actor().angular_velocity[-200:, 0]).max() < 0.3  # rad/s: the hips are calm


@pytest.mark.data
@pytest.mark.parametrize("name", ["27_02", "28_01", "30_01", "15_08", "18_08"])
@pytest.mark.parametrize("dt", [0.005, 0.008])
def test_recorded_bodies_stand_in_their_mean_pose(name: str, dt: float) -> None:
    """Recorded arms on the recorded person's own body, which stands as that person mostly does."""
    clip = poise.load_clip(data_file(f"bvh-cmu/{name}.bvh"))
    clip = clip.pick(slice(600, 1560))  # 8 s, after any T-pose and steps
    mean = rotation.normalize(rotation.make_continuous(clip.rotations).mean(axis=0))
    stage = poise.Stage(dt=dt)
    actor = stage.add(poise.Character.from_skeleton(clip.skeleton), "a", poise.Pose(clip.root.mean(axis=0), mean))
    actor.drive("legs", poise.Balance(damping=1.0))
    actor.drive("arms", poise.Kinematic(clip, -float(clip.times[0])))
    take = stage.run(7.5)
    assert take.fell_at() is None

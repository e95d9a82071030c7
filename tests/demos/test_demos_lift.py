"""The lifting experiment: light is followed, heavier gives way; errors by SciPy's rotations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from poise.demos.strength import lift as demo
from poise.jobs.lift.follow import Lifted
from poise.motion.clip import Clip

BODY = demo.build_body()


@pytest.fixture(scope="module")
def clip() -> Clip:
    return demo.build_clip(BODY)


def off(found: Lifted, clip: Clip) -> np.ndarray:
    """(F, J) degrees of each joint to the clip."""
    there, here = (Rotation.from_quat(x.rotations.reshape(-1, 4)[:, [1, 2, 3, 0]]) for x in (clip, found.mix.clip))
    return np.degrees((there.inv() * here).magnitude()).reshape(len(clip), -1)


def test_a_light_load_is_followed_and_a_middle_one_makes_back_and_knees_give_way(clip: Clip) -> None:
    light, middle = (demo.lift_load(clip, BODY, kg) for kg in (1.0, 3.0))
    figures = {1: demo.measure(light, clip), 3: demo.measure(middle, clip)}
    assert not light.mix.fell and not middle.mix.fell
    assert demo.lift_load(clip, BODY, 5.0).mix.fell
    assert np.sqrt(np.mean(off(light, clip)[:, 1:] ** 2)) < 1.0
    arm = {"rightUpperArm", "rightLowerArm", "rightHand"}
    assert not arm & set(figures[1]["limited_joints"])
    assert "rightUpperArm" in figures[3]["limited_joints"]
    spine = BODY.skeleton.index("spine")
    assert off(middle, clip)[:, spine].max() > 3.0 > off(light, clip)[:, spine].max()
    for found in (light, middle):
        assert np.all(found.efforts.ratio <= 1.0 + 1e-9)

"""Bodies whose feet are not known are mixed and tracked; figures of feet are null."""

from __future__ import annotations

import pytest

import poise
from poise.body.geometry.mannequin import build_mannequin
from poise.motion import samples


@pytest.mark.parametrize("job", ["mix", "track"])
def test_a_body_whose_feet_are_not_known_has_no_figures_of_feet(job: str) -> None:
    """It was simulated and then refused, or the keys were missing."""
    skeleton = poise.Character.human(1.7, 70.0, preset="tracking").skeleton
    meshes, wave = build_mannequin(skeleton, 70.0), samples.wave(skeleton, 2.0)
    roles = {role: name for role, name in skeleton.roles.items() if not role.endswith(("Foot", "Toes"))}
    body = poise.Skeleton(skeleton.names, skeleton.parents, skeleton.offsets, skeleton.tips, roles)
    character = poise.Character.from_meshes(body, meshes, mass=70.0, height=1.7)
    clip = poise.Clip(body, wave.times, wave.root, wave.rotations, "wave")
    if job == "mix":
        figures = poise.mix(clip, character=character, physical=["rightArm"]).figures
    else:
        figures = poise.track(clip, character=character, parts=["rightArm"]).figures
    assert figures["fell"] is False and figures["frames"] == len(clip)
    for key in ("foot_slip_mm", "com_margin_m", "sway_mm", "center_gain", "hips_lag_ms", "hips_shift_mm"):
        assert figures[key] is None

"""Other people's files through a whole mix: it runs, with no option at all."""

from __future__ import annotations

import math

import pytest

import poise
from helpers.recordings import data_file

FILES = (
    "bvh-cmu/140_01.bvh", "bvh-cmu/141_16.bvh", "bvh-cmu/90_18.bvh", "bvh-other/bvh_test1.bvh", "force-bvh/walk3d.bvh",
    "gltf/Med_General.glb", "gltf/RiggedFigure.glb", "vrm/test.vrma", "c3d/Sample_Static.c3d",
    "forces-walk3d/markers_walk.trc", "deepmimic/humanoid3d_walk.txt",
)  # fmt: skip


@pytest.mark.data
@pytest.mark.parametrize("name", FILES)
def test_a_recording_is_mixed(name: str) -> None:
    figures = poise.mix(data_file(name)).figures
    assert figures["fell"] is False and figures["kinematic_error_rad"] < 1e-3
    assert all(math.isfinite(figures[key]) for key in ("foot_slip_mm", "com_margin_m", "realtime_factor"))

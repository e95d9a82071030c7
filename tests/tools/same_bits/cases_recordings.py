"""Recordings of people, where `POISE_DATA` has them: read, measured, mixed, followed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from .cases import Skip, add_case
from .cases_files import ask_info, describe
from .cases_jobs import read_result
from .names import poise

READ = ("bvh-cmu/02_05.bvh", "bvh-cmu/141_16.bvh", "bvh-other/bvh_test1.bvh", "bvh-other/test_mocapbank.bvh",
        "asf-amc-cmu/02_05.amc", "c3d/cmu_02_05.c3d", "c3d/PiG_Motion3_FF.c3d", "forces-gait10dof/subject01_walk.trc",
        "deepmimic/humanoid3d_walk.txt", "npz/120_04_conducting_amp15.npz", "gltf/RiggedFigure.glb",
        "gltf/Med_General.glb", "gltf/manny_med_mod.gltf", "vrm/cryptovoxels.vrm", "vrm/test.vrma")  # fmt: skip


def find_recording(name: str) -> Path:
    folder = os.environ.get("POISE_DATA")
    if not folder:
        raise Skip("POISE_DATA names no folder with recordings")
    if not (Path(folder) / name).exists():
        raise Skip(f"POISE_DATA has no {name}")
    return Path(folder) / name


def read_recording(name: str) -> Any:
    path = find_recording(name)
    return {"clip": describe(poise.load_clip(path)), "info": ask_info(path)}


def run_on(job: str, name: str, seconds: float, **options: Any) -> Any:
    """A job on the first seconds of a recording."""
    with tempfile.TemporaryDirectory() as text:
        path = Path(text) / "cut.bvh"
        poise.convert(find_recording(name), path, end=seconds)
        return read_result(getattr(poise, job)(path, **options), Path(text))


for _name in READ:
    add_case(f"recording {_name}", read_recording, _name)
add_case("recording mixed", run_on, "mix", "bvh-cmu/141_16.bvh", 2.0)
add_case("recording mixed, arms loose", run_on, "mix", "bvh-cmu/07_01.bvh", 1.5, physical="arms")
add_case("recording tracked", run_on, "track", "bvh-cmu/02_05.bvh", 2.0)
add_case("recording lifted", run_on, "lift", "bvh-cmu/141_16.bvh", 1.5)
add_case("recording balanced", run_on, "balance", "bvh-cmu/02_05.bvh", 2.0)

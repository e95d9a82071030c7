"""What other people's programs make of the files: Khronos' glTF validator and Blender's importers with their defaults.

POISE_GLTF_VALIDATOR  folder whose node_modules hold gltf-validator (or that node_modules folder itself)
POISE_BPY_PYTHON      a Python that has Blender's `bpy`
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from helpers.bodies import make_human
from helpers.clips import locked_clip, random_clip
from helpers.recordings import data_file
from poise.body.geometry.mannequin import build_mannequin
from poise.files import load_clip, save_clip
from poise.motion.clip import Clip
from poise.spatial import rotation

SCRIPTS = Path(__file__).parents[1] / "helpers" / "external"


@pytest.fixture(scope="module")
def validator() -> list[str]:
    folder, node = os.environ.get("POISE_GLTF_VALIDATOR"), shutil.which("node")
    if not folder or not node:
        pytest.skip("no glTF validator: set POISE_GLTF_VALIDATOR, and have node")
    return [node, str(SCRIPTS / "validate_gltf.mjs"), folder]


@pytest.fixture(scope="module")
def blender() -> list[str]:
    python = os.environ.get("POISE_BPY_PYTHON")
    if not python:
        pytest.skip("no Blender: set POISE_BPY_PYTHON to a Python with bpy")
    return [python, str(SCRIPTS / "blender_joints.py")]


def run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def human_clip() -> Clip:
    rng = np.random.default_rng(1)
    human = make_human(1.75)
    turns = rotation.exp(np.cumsum(rng.normal(size=(40, len(human), 3)) * 0.05, axis=0))
    root = np.cumsum(rng.normal(size=(40, 3)) * 0.02, axis=0) + [0, 0.93, 0]
    return Clip(human, np.arange(40) / 30, root, turns, "dance")


def recording(name: str):
    return lambda: load_clip(data_file(name))


CLIPS = {
    "human": human_clip,
    "random": lambda: random_clip(np.random.default_rng(2)),
    "gimbal lock": locked_clip,
    "still": lambda: random_clip(np.random.default_rng(3), frames=1),
    "walk": recording("force-bvh/walk3d.bvh"),
    "fall": recording("bvh-cmu/90_18.bvh"),
    "z up": recording("bvh-other/bvh_test1.bvh"),
}
EACH_CLIP = [pytest.param(name, marks=[pytest.mark.data] if name in ("walk", "fall", "z up") else []) for name in CLIPS]


@pytest.mark.parametrize("name", EACH_CLIP)
@pytest.mark.parametrize("body", ["lozenges", "mannequin"])
def test_validator_finds_nothing(name, body, validator, tmp_path):
    clip = CLIPS[name]()
    meshes = build_mannequin(clip.skeleton, 70.0) if body == "mannequin" else None
    path = tmp_path / "x.glb"
    save_clip(clip, path, meshes=meshes)
    report = json.loads(run([*validator, str(path)]))[str(path)]
    assert report["messages"] == []
    assert report["errors"] == report["warnings"] == 0


@pytest.mark.parametrize("name", EACH_CLIP)
@pytest.mark.parametrize("suffix", ["bvh", "glb"])
def test_blender_shows_every_joint_within_a_millimetre(name, suffix, blender, tmp_path):
    clip = CLIPS[name]()
    path = tmp_path / f"x.{suffix}"
    save_clip(clip, path)
    frames = sorted({0, 1 % len(clip), len(clip) // 2, len(clip) - 1})
    step = clip.duration / max(len(clip) - 1, 1)
    output = run([*blender, str(path), repr(step), *map(str, frames)])
    shown = json.loads(next(line for line in output.splitlines() if line.startswith("JOINTS "))[7:])
    assert sorted(shown["names"]) == sorted(clip.skeleton.names)
    index = [clip.skeleton.names.index(joint) for joint in shown["names"]]
    np.testing.assert_allclose(shown["frames"], clip.positions[frames][:, index], atol=1e-3, rtol=0)
    if suffix == "glb":  # the skin follows: its box holds every joint that a bone starts from or ends at
        boxes = np.array(shown["meshes"])
        joints = clip.positions[frames]
        assert (joints.min(axis=1) > boxes[:, 0] - 2e-3).all()
        assert (joints.max(axis=1) < boxes[:, 1] + 2e-3).all()

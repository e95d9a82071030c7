"""Blender, where there is one: the joints that it shows of a file."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from poise import Clip

SCRIPT = Path(__file__).with_name("blender_joints.py")


def find_bpy_python() -> str:
    """A Python that has `bpy`; skips the calling test where POISE_BPY_PYTHON names none."""
    python = os.environ.get("POISE_BPY_PYTHON")
    if not python:
        pytest.skip("no Blender: set POISE_BPY_PYTHON to a Python with bpy")
    return python


def check_shown(path: Path, clip: Clip, within: float = 1e-3) -> None:
    """Every joint within a millimetre of the clip's in Blender, at some frames; the skin round them."""
    frames = sorted({0, 1 % len(clip), len(clip) // 2, len(clip) - 1})
    step = clip.duration / max(len(clip) - 1, 1)
    command = [find_bpy_python(), str(SCRIPT), str(path), repr(step), *map(str, frames)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    shown = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("JOINTS "))[7:])
    assert sorted(shown["names"]) == sorted(clip.skeleton.names)
    index = [clip.skeleton.names.index(joint) for joint in shown["names"]]
    np.testing.assert_allclose(shown["frames"], clip.positions[frames][:, index], atol=within, rtol=0)
    boxes, joints = np.array(shown["meshes"]), clip.positions[frames]
    assert (joints.min(axis=1) > boxes[:, 0] - 2e-3).all()
    assert (joints.max(axis=1) < boxes[:, 1] + 2e-3).all()

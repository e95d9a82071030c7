"""One stature a file, found once, and every command's body is as tall and as heavy as that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from helpers.files.c3d import make_c3d
from helpers.markers import SETS, put_markers, walking_body
from poise.body.geometry.mannequin import build_mannequin
from poise.cli import main
from poise.motion.samples import wave

BODY = poise.Character.human(1.75, 75, preset="mix")
HAT = 0.3  # m


def save_marked(path: Path) -> float:
    """Markers of legs alone, whose file says how tall the person is; m."""
    labels = SETS["Plug-in Gait, lower body"]
    points = 1000.0 * put_markers(walking_body(3.0, 50.0), list(labels.values()))
    groups = {"POINT": {"UNITS": ["mm"]}, "PROCESSING": {"HEIGHT": 1900.0}}
    path.write_bytes(make_c3d(points, list(labels), 50.0, groups=groups))
    return 1.9


def save_hatted(path: Path) -> float:
    """A mesh whose head is taller than the bones are; m."""
    meshes = build_mannequin(BODY.skeleton, 75.0)
    head = BODY.skeleton.roles["head"]
    meshes[head] = meshes[head].moved(np.eye(3), np.array([0.0, HAT, 0.0]))
    poise.save_clip(wave(BODY.skeleton, 1.8, fps=25.0), path, meshes=meshes)
    places = dict(zip(BODY.skeleton.names, BODY.skeleton.rest_positions()[:, 1], strict=True))
    heights = np.concatenate([mesh.vertices[:, 1] + places[joint] for joint, mesh in meshes.items()])
    return float(heights.max() - heights.min())


@pytest.mark.parametrize(("name", "save"), [("marked.c3d", save_marked), ("hatted.glb", save_hatted)])
def test_every_command_has_the_same_body(
    name: str, save: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    tall = save(tmp_path / name)
    found = {}
    for words in (["info"], ["forces", "-o", "out.csv"], ["mix", "-o", "out.bvh", "--physical", "leftLowerLeg"]):
        assert main([words[0], name, *words[1:], "--json", "--quiet"]) == 0
        told = json.loads(capsys.readouterr().out)
        found[words[0]] = told["stature_m"], told["mass_kg"]
    assert found["info"] == found["forces"] == found["mix"]
    assert found["info"][0] == pytest.approx(tall, abs=1e-4)
    unit = poise.info(name)["scale_reason"]
    assert "by its bones" in unit and f"{tall:.2f} m" not in unit  # told apart from the body's


def test_a_mesh_that_is_no_persons_is_not_believed(tmp_path: Path) -> None:
    """Of a body of 2.6 m with 1.2 m on top, that would be refused as 3.8 m tall."""
    giant = poise.Character.human(2.6, 200, preset="mix").skeleton
    meshes = build_mannequin(giant, 200.0)
    head = giant.roles["head"]
    meshes[head] = meshes[head].moved(np.eye(3), np.array([0.0, 1.2, 0.0]))
    poise.save_clip(wave(giant, 1.8, fps=25.0), tmp_path / "giant.glb", meshes=meshes)
    assert poise.info(tmp_path / "giant.glb")["stature_m"] == pytest.approx(2.6, rel=0.01)

"""`poise demo`: what it writes is there, right, and the same every time."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from poise.cli import main
from poise.demos import DEMOS
from poise.files.registry import load_clip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "not" / "there yet"
    assert main(["demo", "motion", "-o", str(folder), "--quiet"]) == 0
    return folder


def test_all_files_are_there_and_named_after_the_demo(folder: Path) -> None:
    names = {"motion.bvh", "motion.glb", "motion.png", "motion-forces.png", "motion.json"}
    assert {path.name for path in folder.iterdir()} == names
    starts = {".png": b"\x89PNG", ".glb": b"glTF", ".bvh": b"HIERARCHY", ".json": b"{"}
    for path in folder.iterdir():
        assert path.read_bytes().startswith(starts[path.suffix])


def test_the_mean_ground_force_is_the_weight(folder: Path) -> None:
    """The motion begins and ends at rest, so the ground's impulse is weight times duration (momentum)."""
    figures = json.loads((folder / "motion.json").read_text())
    assert figures["mean_vertical_bw"] == pytest.approx(1.0, abs=1e-4)
    assert 1.05 < figures["peak_vertical_bw"] < 3.0


def test_figures_are_of_what_was_written(folder: Path) -> None:
    figures, clip = json.loads((folder / "motion.json").read_text()), load_clip(folder / "motion.bvh")
    assert figures["frames"] == len(clip)
    assert figures["duration_s"] == pytest.approx(clip.duration)
    assert figures["max_joint_error_m"] < 1e-5
    assert np.ptp(clip.root[:, 2]) > 1.0, "it walks away"


@pytest.mark.slow
def test_the_same_bytes_again(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "motion", "-o", str(tmp_path), "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((folder / "motion.json").read_text())
    for path in folder.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), f"{path.name} differs"


def test_an_unknown_demo_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "moton", "--quiet"]) == 2
    said = capsys.readouterr().err
    assert all(name in said for name in DEMOS)

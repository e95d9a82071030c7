"""The demos of somebody who walks, cut short: what they promise to write is there, and what they found is a walk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from poise import load_clip
from poise.demos.balance import walks

# Demo -> the constant with its number of steps.
STEPS = {
    "stairs": "STEPS_ON_STAIRS",
    "slope": "STEPS_ON_SLOPE",
    "rough": "STEPS_ON_ROUGH_GROUND",
    "moving": "STEPS_ON_MOVING_GROUND",
}


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Films of two frames a second."""
    monkeypatch.setattr(walks, "FILM_FPS", 2.0)


@pytest.mark.parametrize("name", ["stairs", "slope", "rough", "moving"])
@pytest.mark.many(1)
def test_a_walk_on_every_ground(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walks, STEPS[name], 3)
    figures = getattr(walks, name)(tmp_path)
    assert not figures["fell"] and figures["com_margin_m"] > 0.0
    assert figures["steps"] == 3
    assert load_clip(tmp_path / f"{name}.glb").duration == pytest.approx(figures["duration_s"], abs=0.05)
    for end in (".bvh", ".png", "-center.png", "-joints.png"):
        assert (tmp_path / f"{name}{end}").stat().st_size > 1000
    assert json.loads((tmp_path / f"{name}.json").read_text())["steps"] == 3


@pytest.mark.slow
def test_bodies_walk_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walks, "STEPS_OF_BODIES", 2)
    monkeypatch.setattr(walks, "PHYSIQUES", {name: walks.PHYSIQUES[name] for name in ("fat", "locked-knee")})
    figures = walks.bodies(tmp_path)
    assert not figures["fell"] and set(figures["bodies"]) == {"fat", "locked-knee"}
    assert (tmp_path / "bodies-locked-knee.glb").exists() and (tmp_path / "bodies.png").exists()

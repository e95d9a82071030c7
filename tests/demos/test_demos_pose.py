"""Demos of poses: what they write is there, and stands."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from helpers.kinematics import margin_in_hull, soles_of
from helpers.reaching import place
from poise import Character
from poise.demos.balance import onleg, physiques
from poise.files.registry import load_clip


@pytest.mark.slow
def test_one_leg_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer poses, and quicker, than the demo has."""
    monkeypatch.setattr(onleg, "EACH", 0.8)
    monkeypatch.setattr(onleg, "FILM_FPS", 2.0)
    monkeypatch.setattr(onleg, "POSES", {name: onleg.POSES[name] for name in ("lean forward", "leg aside")})
    figures = onleg.run(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {"onleg.glb", "onleg.bvh", "onleg.png", "onleg-center.png", "onleg.json"} and len(names) == 6
    assert figures["reached"] and figures["com_margin_m"] > 0.015 and figures["foot_slip_mm"] < 0.01
    assert "solve_us" not in json.loads((tmp_path / "onleg.json").read_text())
    clip, body = load_clip(tmp_path / "onleg.bvh"), Character.human(onleg.HEIGHT, onleg.MASS)
    assert len(clip) == figures["frames"]
    middle = np.linspace(0.35, 0.65, 7)  # of the time, when it is on its left leg
    for f in (middle * len(clip)).astype(int):
        turns, places, center = place(clip.root[f], clip.rotations[f], body)
        assert margin_in_hull(soles_of(body, turns, places, ("left",)), center[[0, 2]]) > 0.01
        assert places[body.skeleton.index("rightFoot"), 1] > 0.1


def test_bodies_reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(physiques, "SECONDS", 1.0)
    monkeypatch.setattr(physiques, "FILM_FPS", 2.0)
    some = {name: physiques.PHYSIQUES[name] for name in ("fat", "one-arm")}
    monkeypatch.setattr(physiques, "PHYSIQUES", some)
    figures = physiques.run(tmp_path)
    assert set(figures["bodies"]) == set(some) and figures["reached"] and figures["com_margin_m"] > 0.01
    assert {path.name for path in tmp_path.iterdir()} >= {"physiques-fat.glb", "physiques.png", "physiques-center.png"}

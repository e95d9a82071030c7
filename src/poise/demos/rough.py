"""Over random heights of five centimetres, each foot where the ground is even enough, with a turn on the way (K6)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from poise.demos.walks import show_walk
from poise.jobs.walk import WalkRecipe

PATH = (0.0, 2.5), (1.5, 5.0), (1.5, 7.0)  # m, x and z
STEPS = 22


def run(folder: Path, seed: int = 0) -> dict[str, Any]:
    """Write its files: see `walks`."""
    return show_walk(folder, "rough", WalkRecipe("rough", seed=seed, steps=STEPS, path=PATH), speed=2.0)

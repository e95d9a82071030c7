"""Up eight steps of 17 cm by 29 cm, over a landing, and down again (K5, K6)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from poise.demos.walks import show_walk
from poise.jobs.walk import WalkRecipe

STEPS = 26


def run(folder: Path) -> dict[str, Any]:
    """Write its files: see `walks`."""
    return show_walk(folder, "stairs", WalkRecipe("stairs", steps=STEPS), speed=2.0)

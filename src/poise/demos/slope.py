"""Up a ramp of eight degrees, over its landing and down, feet flat to the slope (K6)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from poise.demos.walks import show_walk
from poise.jobs.walk import WalkRecipe

LENGTH, LANDING, STEPS = 3.0, 1.2, 22  # m, m


def run(folder: Path) -> dict[str, Any]:
    """Write its files: see `walks`."""
    return show_walk(
        folder, "slope", WalkRecipe("slope", {"length": LENGTH, "landing": LANDING}, steps=STEPS), speed=2.0
    )

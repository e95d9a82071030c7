"""On a raft that is slowly carried to and fro, up and down (K6)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from poise.demos.walks import show_walk
from poise.jobs.walk import WalkRecipe

STEPS = 14


def run(folder: Path) -> dict[str, Any]:
    """Write its files: see `walks`."""
    return show_walk(folder, "moving", WalkRecipe("moving", steps=STEPS), speed=1.5)

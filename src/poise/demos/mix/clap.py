"""Clapping: what the two hands do to each other cancels, so the body hardly sways, unlike under a swing of the arms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import poise
from poise import gestures
from poise.demos.shared.show import run_beside_animated, save_show

HEIGHT, MASS, SECONDS, RATE = 1.78, 75.0, 5.0, 2.5


def run(folder: Path) -> dict[str, Any]:
    """Write the clapping's files; see `show`."""
    character = poise.Character.human(HEIGHT, MASS, preset="mix")
    _, _, shots, figures = run_beside_animated(character, gestures.clap(RATE), SECONDS)
    return save_show(folder, "clap", shots, figures, shots[-1])

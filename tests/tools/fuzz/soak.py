"""Clips written and read over and over: every figure stays in its bound, and memory does not grow."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from helpers.clips import random_clip
from poise.files.registry import FORMATS, save_clip
from poise.files.writing.round_trip import read_positions
from tools.fuzz.worker import peak_mb

_WARM = 30  # rounds before memory is first looked at


def soak(seconds: float, seed: int = 0) -> dict[str, Any]:
    """Round trips of random clips through all formats that are written here, for so many seconds."""
    rng = np.random.default_rng(seed)
    suffixes = [entry.suffix for entry in FORMATS if entry.save is not None and entry.suffix != ".fbx"]
    worst = dict.fromkeys(suffixes, 0.0)
    rounds, after_warming = 0, 0.0
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="poise-soak-") as folder:
        while time.monotonic() - start < seconds or rounds <= _WARM:
            clip = random_clip(rng, frames=int(rng.integers(1, 60)), joints=int(rng.integers(2, 40)))
            for suffix in suffixes:
                path = Path(folder) / f"x{suffix}"
                save_clip(clip, path)
                places = read_positions(path, clip.skeleton)
                assert places is not None
                worst[suffix] = max(worst[suffix], float(np.abs(places - clip.positions).max()))
            rounds += 1
            if rounds == _WARM:
                after_warming = peak_mb()
    errors = ", ".join(f"{suffix} {1e3 * error:.2g} mm" for suffix, error in worst.items())
    return {
        "round trips": rounds * len(suffixes),
        "largest error": errors,
        "growth of the peak memory after the first rounds": f"{peak_mb() - after_warming:.1f} MB",
    }

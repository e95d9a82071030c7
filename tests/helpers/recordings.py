"""Where tests find real recordings: POISE_DATA, then ../shared/data; without them a test is skipped, with a reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def data_folder() -> Path | None:
    """The folder of real recordings, or None."""
    candidates = [os.environ.get("POISE_DATA"), Path(__file__).parents[3] / "shared" / "data"]
    return next((Path(c) for c in candidates if c and Path(c).is_dir()), None)


def data_file(name: str) -> Path:
    """The path of one recording; skips the calling test where there is none."""
    folder = data_folder()
    if folder is None or not (folder / name).exists():
        pytest.skip(f"no real recording {name}: set POISE_DATA to a folder that has it")
    return folder / name

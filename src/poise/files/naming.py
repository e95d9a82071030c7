"""What a motion is called after the file that it is in."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from poise.errors import valid_text


def stem_of(path: str | PathLike[str]) -> str:
    """A file's name without its suffix, as text that every format can hold: bytes that are no UTF-8 are written out."""
    return valid_text(Path(path).stem)

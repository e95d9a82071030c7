"""Files in and out; one module or folder per format. A format is imported when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poise.lazy import find_names_later

if TYPE_CHECKING:
    from poise.files.registry import load_clip as load_clip
    from poise.files.registry import read_clip as read_clip
    from poise.files.registry import save_clip as save_clip

__getattr__, __dir__, __all__ = find_names_later(
    "poise.files",
    {
        "poise.files.registry": "load_clip read_clip save_clip",
    },
)

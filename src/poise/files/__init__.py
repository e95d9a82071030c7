"""Files in and out; one module or folder per format. A format is imported when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poise.files.registry import load_clip, read_clip, save_clip

__all__ = ["load_clip", "read_clip", "save_clip"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from poise.files import registry

    return getattr(registry, name)

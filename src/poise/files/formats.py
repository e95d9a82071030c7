"""Which file is what, by its suffix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.errors import FileError

if TYPE_CHECKING:
    from poise.files.normalise import Reading
    from poise.motion.clip import Clip


@dataclass(frozen=True)
class Format:
    """A kind of animation file. `read` and `save` are None where the direction is not supported."""

    name: str
    suffix: str
    read: Callable[..., Reading] | None = None
    save: Callable[..., None] | None = None


def _read_bvh(path: Path, **options: Any) -> Reading:
    from poise.files.bvh import load_bvh_with_notes

    return load_bvh_with_notes(path, **options)


def _save_bvh(clip: Clip, path: Path, **options: Any) -> None:
    from poise.files.bvh import save_bvh

    save_bvh(clip, path, **options)


def _save_glb(clip: Clip, path: Path, **options: Any) -> None:
    from poise.files.glb import save_glb

    save_glb(path, clip, **options)


FORMATS = (
    Format("BVH", ".bvh", _read_bvh, _save_bvh),
    Format("glTF binary", ".glb", None, _save_glb),
)


def read_clip(path: str | PathLike[str], scale: float | None = None, up: str | None = None) -> Reading:
    """The motion in a file with what was found about it: units, axes, warnings.

    scale  metres a unit of the file; found if None
    up     the file's vertical axis, "Y" or "Z"; found if None
    """
    read = _find_format(path, "read").read
    assert read is not None
    return read(Path(path), scale=scale, up=up)


def load_clip(path: str | PathLike[str], scale: float | None = None, up: str | None = None) -> Clip:
    """The motion in a file, in metres and Y up; the options as for read_clip."""
    return read_clip(path, scale, up).clip


def save_clip(clip: Clip, path: str | PathLike[str], **options: Any) -> None:
    """Write a motion in the format that the suffix names. Options go to that format's own function."""
    save = _find_format(path, "save").save
    assert save is not None
    save(clip, Path(path), **options)


def find_format(path: str | PathLike[str]) -> Format | None:
    """The format that a path's suffix names, or None."""
    suffix = Path(path).suffix.lower()
    return next((entry for entry in FORMATS if entry.suffix == suffix), None)


def _find_format(path: str | PathLike[str], direction: str) -> Format:
    entry = find_format(path)
    if entry is None or getattr(entry, direction) is None:
        known = ", ".join(f"{e.suffix} ({e.name})" for e in FORMATS if getattr(e, direction) is not None)
        suffix = Path(path).suffix
        what = f"'{suffix}'" if suffix else "a file without suffix"
        verb = {"read": "read", "save": "written"}[direction]
        raise FileError(path, f"{what} cannot be {verb} as animation; it can be: {known}.")
    return entry

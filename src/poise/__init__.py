"""Poise: character animation that obeys physics without giving up control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poise.body.character import Character
    from poise.body.skeleton import Skeleton
    from poise.errors import FileError, InputError, PoiseError, SolveError
    from poise.files.formats import load_clip, save_clip
    from poise.files.gltf_character import load_character
    from poise.motion.clip import Clip
    from poise.motion.forces import compute_forces
    from poise.motion.retargeting import retarget

__version__ = "0.1.0"

# Where each public name lives; its module is imported when the name is first used (PEP 562).
_HOMES = {
    "Character": "poise.body.character",
    "Clip": "poise.motion.clip",
    "FileError": "poise.errors",
    "InputError": "poise.errors",
    "PoiseError": "poise.errors",
    "Skeleton": "poise.body.skeleton",
    "SolveError": "poise.errors",
    "compute_forces": "poise.motion.forces",
    "load_character": "poise.files.gltf_character",
    "load_clip": "poise.files.formats",
    "retarget": "poise.motion.retargeting",
    "save_clip": "poise.files.formats",
}
__all__ = [
    "Character",
    "Clip",
    "FileError",
    "InputError",
    "PoiseError",
    "Skeleton",
    "SolveError",
    "__version__",
    "compute_forces",
    "load_character",
    "load_clip",
    "retarget",
    "save_clip",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'poise' has no attribute '{name}'. It has: {', '.join(_HOMES)}.")
    import importlib

    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})

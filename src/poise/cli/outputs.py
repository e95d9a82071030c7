"""Where a command may write: not over what it reads, not twice to one place, and only what a suffix promises."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from poise.errors import InputError


def check_outputs(inputs: Iterable[Path | None], outputs: Mapping[str, Path | None]) -> None:
    """Refuse outputs (by option) that are an input or each other, however the paths are spelt or linked."""
    taken = {os.path.realpath(path): f"the input {path}" for path in inputs if path is not None}
    for option, path in outputs.items():
        if path is None or _is_stream(path):
            continue
        place = os.path.realpath(path)
        if place in taken:
            raise InputError(f"{option} {path} would overwrite {taken[place]}. Give another path.")
        taken[place] = f"{option} {path}"


def check_suffix(option: str, path: Path | None, *suffixes: str) -> None:
    """Refuse an output whose suffix promises something else than what is written."""
    if path is not None and not _is_stream(path) and path.suffix.lower() not in suffixes:
        raise InputError(f"{option} writes {' or '.join(suffixes)}; '{path}' was given.")


def _is_stream(path: Path) -> bool:
    """Whether a path is a device or a pipe, such as /dev/stdout."""
    return path.exists() and not path.is_file() and not path.is_dir()

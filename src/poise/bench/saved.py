"""Figures of benches kept in a file, to be held beside later ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from poise.errors import FileError
from poise.files.atomic import write_bytes
from poise.files.loading import MOST_SETTINGS_BYTES, read_bytes

_KIND = "poise bench"


def save_figures(figures: Mapping[str, Mapping[str, Any]], path: str | PathLike[str]) -> None:
    """Write the figures (bench -> key -> value, plain JSON) of one run, whole or not at all."""
    content = {"kind": _KIND, "version": 1, "benches": figures}
    write_bytes(path, (json.dumps(content, indent=2, allow_nan=False) + "\n").encode())


def check_place_to_save(path: str | PathLike[str]) -> None:
    """Refuse to write figures over a file that holds something else."""
    if Path(path).is_file() and Path(path).stat().st_size:
        try:
            load_figures(path)
        except FileError:
            raise FileError(path, "is there already and holds no bench figures. Give another path.") from None


def load_figures(path: str | PathLike[str]) -> dict[str, dict[str, Any]]:
    """Read what `save_figures` wrote; FileError where it is something else."""
    try:
        content = json.loads(read_bytes(path, MOST_SETTINGS_BYTES, may_be_empty=True))
    except FileError:
        raise
    except (ValueError, RecursionError):
        content = None
    benches = content.get("benches") if isinstance(content, dict) and content.get("kind") == _KIND else None
    if not isinstance(benches, dict) or not all(isinstance(each, dict) for each in benches.values()):
        raise FileError(path, "is not a file of bench figures. Save some first, by another name, with --save.")
    return benches


def compare_figures(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """A line a number that both have: its name, the old value, the new one, and new over old."""
    then, now = dict(_numbers(old)), dict(_numbers(new))
    rows = [("", "old", "new", "new / old")]
    for key, value in now.items():
        if key in then:
            ratio = f"{value / then[key]:.3f}" if then[key] else "-"
            rows.append((key, f"{then[key]:.4g}", f"{value:.4g}", ratio))
    rows += [(key, "-", f"{now[key]:.4g}", "-") for key in now if key not in then]
    rows += [(key, f"{then[key]:.4g}", "-", "-") for key in then if key not in now]
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    return "\n".join(
        row[0].ljust(widths[0])
        + "".join("  " + cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    )


def _numbers(figures: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, float]]:
    """All numbers with their names, those of an object inside as `object.name`."""
    for key, value in figures.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{above}{key}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{above}{key}", float(value)

"""`poise info`: what is in a motion file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from poise.cli import report as speaking
from poise.cli import source as sources
from poise.cli.report import Report
from poise.cli.source import Source


def info(
    file: Annotated[Path, Parameter(help="A motion file.")],
    /,
    *,
    source: Source = sources.DEFAULT,
    report: Report = speaking.DEFAULT,
) -> None:
    """Say what is in a motion file: joints, frames, units, axes, and what each joint is to a body."""
    from poise.files.formats import find_format
    from poise.files.normalise import compute_stature

    reading = source.read(file, report)
    clip, skeleton = reading.clip, reading.clip.skeleton
    kind = find_format(file)
    mapped = set(skeleton.roles.values())
    report.result(
        {
            "format": kind.name if kind else "",
            "joints": len(skeleton),
            "frames": len(clip),
            "fps": round(clip.fps, 9),
            "duration_s": clip.duration,
            "scale_to_m": reading.scale,
            "up": reading.up,
            "stature_m": compute_stature(skeleton),
            "roles": dict(skeleton.roles),
            "unmapped": [name for name in skeleton.names if name not in mapped],
            "warnings": list(reading.warnings),
        }
    )

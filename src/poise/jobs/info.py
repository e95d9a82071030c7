"""What is in a motion file: joints, frames, units, axes, and what each joint is to a body."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from poise.body.character import Character
from poise.files.reading.options import Roles, Source
from poise.files.reading.pipeline import Reading
from poise.files.registry import read_source
from poise.files.reporting import SILENT, RecordingReporter, Reporter
from poise.kinds import checked


@checked
def info(
    file: str | PathLike[str],
    *,
    mass: float | None = None,
    character: Character | str | PathLike[str] | None = None,
    height: float | None = None,
    fps: float | None = None,
    roles: Roles = (),
    clip: str | int | None = None,
    scale: float | None = None,
    up: str | None = None,
    bones: str | None = None,
    tell: Callable[[str, str], None] | None = None,
) -> dict[str, Any]:
    """What is in a motion file, under the names of `poise info --json`.

    Whatever is found can be told instead, as for `load_clip`. tell: called with `note` or `warning` and a sentence.
    """
    body = Path(character) if isinstance(character, str | PathLike) else character
    which = None if clip is None else str(clip)
    return run_info(file, Source(mass, height, body, fps, roles, which, scale, up, bones), RecordingReporter(tell))


def run_info(file: str | PathLike[str], source: Source, audience: Reporter = SILENT) -> dict[str, Any]:
    """Read a file as a source says, and describe it."""
    reading = read_source(file, source, audience)
    mass = source.mass
    if source.character is not None:
        from poise.jobs.shared.body import find_body

        mass = find_body(reading.clip, reading, source, audience).character.mass
    return describe(reading, mass)


def describe(reading: Reading, mass: float | None = None) -> dict[str, Any]:
    """What was found in a file, under the names of `--json`. mass: kg, where it was told."""
    from poise.body.segments.stature import estimate_mass

    clip, skeleton, recording = reading.clip, reading.clip.skeleton, reading.recording
    mapped = set(skeleton.roles.values())
    stature = reading.stature if reading.stature_source is not None else None
    height = reading.find_height()
    guess = None if height is None else estimate_mass(height)
    return {
        "format": recording.format,
        "clip": clip.name,
        "clips": list(recording.choices),
        "joints": len(skeleton),
        "frames": len(recording.clip),
        "fps": round(clip.fps, 9),
        "duration_s": clip.duration + (reading.dropped / clip.fps if reading.dropped else 0.0),
        "scale_to_m": reading.scale,
        "scale_reason": reading.scale_reason,
        "up": reading.up,
        "up_reason": reading.up_reason,
        "stature_m": stature,
        "stature_source": reading.stature_source,
        "mass_guess_kg": guess,
        "mass_kg": guess if mass is None else mass,
        "rest_pose": reading.rest,
        "rest_facing_degrees": reading.facing,
        "heading_degrees": reading.heading,
        "floor_m": None if reading.ground is None else reading.ground.height,
        **reading.describe_bones(),
        "has_mesh": recording.skin is not None,
        "confidence": reading.confidence,
        "roles_from": reading.roles_reason,
        "roles": dict(skeleton.roles),
        "unmapped": [name for name in skeleton.names if name not in mapped],
        "warnings": list(reading.warnings),
    }

"""`poise convert`: any format to any, with the error measured on what was written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import Parameter

from poise.cli import report as speaking
from poise.cli import source as sources
from poise.cli.report import Report
from poise.cli.source import Source
from poise.errors import InputError

if TYPE_CHECKING:
    from poise.motion.clip import Clip


def convert(
    file: Annotated[Path, Parameter(help="A motion file.")],
    output: Annotated[Path, Parameter(help="What to write; its suffix names the format.")],
    /,
    *,
    source: Source = sources.DEFAULT,
    report: Report = speaking.DEFAULT,
) -> None:
    """Write a motion file in another format, and measure how far its joints are from where they were.

    What is written is in metres and Y up, with the joint names and frame times of the input.
    """
    from poise.files.formats import save_clip
    from poise.files.readback import read_positions

    clip = source.read(file, report).clip
    save_clip(clip, output, **_body(clip, output, source, report))
    written = read_positions(output, clip.skeleton)
    error = np.linalg.norm(written - clip.positions, axis=-1)
    report.result({"file": str(output), "frames": len(written), "max_joint_error_m": float(error.max())})


def _body(clip: Clip, output: Path, source: Source, report: Report) -> dict[str, Any]:
    """What a GLB shows: a mannequin where the skeleton is a person's, otherwise its bones."""
    if output.suffix.lower() != ".glb" or clip.skeleton.find_role("hips") is None:
        return {}
    from poise.body.mannequin import build_mannequin
    from poise.body.stature import estimate_mass
    from poise.files.normalise import compute_stature

    try:
        mass = source.mass if source.mass is not None else estimate_mass(compute_stature(clip.skeleton))
        return {"meshes": build_mannequin(clip.skeleton, mass)}
    except InputError as error:
        report.note(f"only bones are drawn: {error}")
        return {}

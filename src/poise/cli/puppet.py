"""`poise puppet`: a performance of two hands, played again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from poise.cli import report as speaking
from poise.cli.made_body import MadeBody
from poise.cli.report import Report
from poise.cli.words import read_number, read_paths

USUAL_BODY = MadeBody()


def puppet(
    *,
    input: Annotated[
        tuple[str, ...],
        Parameter(
            name=["-i", "--input"],
            negative="",
            show_default=False,
            help="What is played: the folder of a performance, its .toml, or MAPPING=FILE.hands as in "
            "legs=take.hands (legs, trunk, arms, or a mapping of yours: FILE.toml); repeatable.",
        ),
    ],
    output: Annotated[
        tuple[Path, ...],
        Parameter(
            name=["-o", "--output"],
            converter=read_paths,
            negative="",
            show_default=False,
            help="The motion, in any format that is written; a film (.mp4, .webm, .webp, .gif); or a .png of moments; "
            "repeatable.",
        ),
    ],
    seconds: Annotated[
        float | None, Parameter(converter=read_number, help="How long. [default: to the end of the recordings]")
    ] = None,
    terrain: Annotated[str, Parameter(help="What it stands on: flat, slope, stairs, rough, or a file.")] = "flat",
    fps: Annotated[float, Parameter(converter=read_number, help="Frames a second of the motion.")] = 60.0,
    body: MadeBody = USUAL_BODY,
    report: Report = speaking.DEFAULT,
) -> int:
    """Play a body by recordings of two hands.

    Hands pull its legs, trunk and arms; knees swing, feet fall flat and push off, and nobody falls over. The same
    recordings give the same file. Figures are measured on it.
    """
    from poise.jobs.puppet import PuppetRecipe, run_puppet
    from poise.jobs.walk import sort_outputs

    asked = PuppetRecipe(
        input, seconds, fps, terrain, body.body, body.height, body.mass, body.character
    )  # fmt: skip
    report.tell_nothing_random()
    found = run_puppet(asked, sort_outputs(output), report, report.json)
    report.result({**found.figures, "files": [str(path) for path in found.files]})
    return 0

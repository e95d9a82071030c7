"""`poise balance`: a clip changed as little as needed so that it balances."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from poise.cli import console as speaking
from poise.cli import source as sources
from poise.cli.arguments import read_input, read_number, read_path
from poise.cli.console import Report
from poise.cli.source import SourceOptions


def balance(
    clip: Annotated[Path, Parameter(converter=read_input, help="A motion file.")],
    /,
    *,
    output: Annotated[
        Path,
        Parameter(name=["-o", "--output"], converter=read_path, help="The motion, in any format that is written."),
    ],
    by: Annotated[
        Literal["auto", "com", "zmp"],
        Parameter(
            help="What must be over the feet: com, the centre of mass, at every frame; zmp, the zero-moment point, on "
            "the average; auto: com if the clip stands, zmp if it steps or flies."
        ),
    ] = "auto",
    keep: Annotated[
        Literal["pose", "hands"],
        Parameter(help="What stays as it was: pose, the joints' angles; hands, the places of hands and head."),
    ] = "pose",
    margin: Annotated[
        float,
        Parameter(
            converter=read_number, help="How far inside the centre of mass comes where it was outside, m; for com."
        ),
    ] = 0.01,
    film: Annotated[
        Path | None, Parameter(converter=read_path, help="A film of before and after: .mp4, .webm, .webp or .gif.")
    ] = None,
    plot: Annotated[
        Path | None, Parameter(converter=read_path, help="PNG of how far inside the centre of mass is.")
    ] = None,
    source: SourceOptions = sources.DEFAULT,
    report: Report = speaking.DEFAULT,
) -> None:
    """Change a pose or a clip as little as needed so that it balances.

    Feet that are down stay where they are; frames that balance already stay as they were.
    What is written has the clip's joints and frame times.
    """
    from poise.jobs.balance.job import Balancing

    report.tell_nothing_random()
    job = Balancing(clip, by, margin, keep, source)
    job.check(output, film, plot, report, report.json)
    found = job.run(output, film, plot, report)
    report.result({**found.figures, "file": str(output)})

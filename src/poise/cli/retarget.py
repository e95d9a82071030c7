"""`poise retarget`: the motion of one body on another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from poise.cli import console as speaking
from poise.cli import source as sources
from poise.cli.arguments import read_input, read_number, read_path
from poise.cli.console import Report
from poise.cli.source import SourceOptions
from poise.errors import InputError


def retarget(
    clip: Annotated[Path, Parameter(converter=read_input, help="A motion file.")],
    character: Annotated[
        Path,
        Parameter(
            converter=read_input,
            help="Whose body moves: a model (.glb, .gltf, .vrm), a body that Poise saved, or a motion file.",
        ),
    ],
    /,
    *,
    output: Annotated[
        Path,
        Parameter(
            name=["-o", "--output"],
            converter=read_path,
            help="What to write; .glb and .vrm are the model's own file with the motion in it.",
        ),
    ],
    feet: Annotated[bool, Parameter(help="Hold standing feet in place, and keep legs within reach.")] = True,
    hands: Annotated[bool, Parameter(help="Keep hands where they touch the body, the ground or each other.")] = True,
    ground: Annotated[
        float, Parameter(converter=read_number, help="Height of the ground under the character, m.")
    ] = 0.0,
    character_roles: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="role=joint of the character, as --roles is for the clip."),
    ] = (),
    source: SourceOptions = sources.DEFAULT,
    report: Report = speaking.DEFAULT,
) -> None:
    """Put the motion of one body on another: other rest pose, joints and proportions.

    What is written has the character's joints and the clip's frame times. Travel is scaled by the legs' length.
    """
    from poise.files.reading.options import parse_roles
    from poise.jobs.retarget import Retargeting

    report.tell_nothing_random()
    if source.character is not None:
        raise InputError("--character has no effect here: the body is the second argument. Leave it out.")
    job = Retargeting(clip, character, feet, hands, ground, parse_roles(character_roles, report), source)
    job.check(output, report, report.json)
    found = job.run(output, report)
    report.result({**found.figures, "file": str(output)})

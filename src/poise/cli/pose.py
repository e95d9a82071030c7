"""`poise pose`: a body posed by what it should do, balanced."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from poise.cli import console as speaking
from poise.cli.arguments import read_input, read_number, read_path
from poise.cli.console import Report
from poise.cli.source import BODY, MadeBody

POSED, FAILED = 0, 1


@Parameter(name="*", group=BODY)
@dataclasses.dataclass(frozen=True)
class PosedBody(MadeBody):
    """Whose body it is, and where it begins."""

    start: Annotated[
        Path | None,
        Parameter(
            converter=read_input, help="A motion file in whose pose, on whose feet, it begins; scaled to --height."
        ),
    ] = None
    at: Annotated[
        float | None, Parameter(converter=read_number, help="Which of its frames: s from its first. [default: 0]")
    ] = None
    bones: Annotated[
        Literal["keep", "restore"] | None,
        Parameter(help="Bones of --start that lost their length: keep the file's, or restore them. [default: keep]"),
    ] = None
    weak: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="joint=share of its usual strength, as in leftLowerLeg=0.2: the strong turn more readily; repeatable.",
        ),
    ] = ()


USUAL = PosedBody()


def pose(
    *,
    output: Annotated[
        Path,
        Parameter(
            name=["-o", "--output"], converter=read_path, help="The pose, in any format that is written, or a .png."
        ),
    ],
    reach: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="joint=x,y,z: where a joint goes, m, as in rightHand=0.4,1.2,0.3; repeatable.",
        ),
    ] = (),
    stand: Annotated[Literal["both", "left", "right"], Parameter(help="The feet that carry.")] = "both",
    look: Annotated[
        str | None, Parameter(show_default=False, help="x,y,z: what the head turns to, m.", allow_leading_hyphen=True)
    ] = None,
    crouch: Annotated[
        float | None,
        Parameter(converter=read_number, help="How far the hips come down, m, where that leaves the reach alone."),
    ] = None,
    upright: Annotated[
        bool, Parameter(negative="", show_default=False, help="Keep the hips up, where that leaves the reach alone.")
    ] = False,
    margin: Annotated[
        float,
        Parameter(
            converter=read_number, help="Distance of the centre of mass inside the soles that touch the ground, m."
        ),
    ] = 0.02,
    load: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="Something heavy: joint=kg, as in leftHand=3; repeatable."),
    ] = (),
    seconds: Annotated[
        float | None, Parameter(converter=read_number, help="Write the motion into the pose, of so many seconds.")
    ] = None,
    fps: Annotated[float, Parameter(converter=read_number, help="Frames a second of that motion.")] = 30.0,
    picture: Annotated[Path | None, Parameter(converter=read_path, help="PNG of it.")] = None,
    film: Annotated[
        Path | None, Parameter(converter=read_path, help="A film of the motion: .mp4, .webm, .webp or .gif.")
    ] = None,
    plot: Annotated[
        Path | None, Parameter(converter=read_path, help="PNG of the motion's centre of mass over the support.")
    ] = None,
    body: PosedBody = USUAL,
    report: Report = speaking.DEFAULT,
) -> int:
    """Pose a body by what it should reach, stand on and look at.

    Its centre of mass stays over the feet that carry, which do not move; hands come as near as that allows.
    Places are in the world: metres, +Y up; the body stands over the origin and faces +Z, its left is +X.
    Exit 1 if the centre of mass is outside the soles, or something is under the floor.
    """
    from poise.errors import InputError
    from poise.jobs.pose.job import PoseOutputs, PoseRecipe, parse_place, parse_reach, parse_shares, run_pose
    from poise.jobs.shared.options import parse_load

    report.tell_nothing_random()
    if upright and crouch is not None:
        raise InputError("--upright and --crouch say opposite things; leave out one.")
    asked = PoseRecipe(
        parse_reach(reach), stand, None if look is None else parse_place(look, "--look"),
        -0.05 if upright else crouch, margin, tuple(map(parse_load, load)), seconds, fps, body.body, body.height,
        body.mass, body.character, body.start, body.at, parse_shares(body.weak) if body.weak else None,
        body.bones,
    )  # fmt: skip
    found = run_pose(asked, PoseOutputs(output, picture, film, plot), report, report.json)
    report.result({**found.figures, "file": str(output)})
    return FAILED if found.figures["failed"] else POSED

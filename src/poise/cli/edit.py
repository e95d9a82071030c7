"""`poise edit`: clips cut, put in an order, joined and bent to places, as a recipe says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from poise.cli import console as speaking
from poise.cli.arguments import read_input, read_paths
from poise.cli.console import Report
from poise.errors import printable


def edit(
    recipe: Annotated[Path, Parameter(converter=read_input, help="A TOML file: clips, segments, sequence, offsets.")],
    /,
    *,
    output: Annotated[
        tuple[Path, ...],
        Parameter(
            name=["-o", "--output"],
            converter=read_paths,
            negative="",
            show_default=False,
            help="The motion, in any format that is written; of several actors each has a file of its own, called "
            "after it; repeatable.",
        ),
    ],
    bones: Annotated[
        Literal["keep", "restore"] | None,
        Parameter(help="Bones of clips that lost their length: keep the file's, or restore them. [default: keep]"),
    ] = None,
    report: Report = speaking.DEFAULT,
) -> None:
    """Cut clips, put them in an order, join them and bring hands to places, as a recipe says.

    Transitions have no jump in place or speed; where one makes the body go through itself, that is told. What is wrong
    with the recipe is told with its line. docs/editing.md has all its keys.
    """
    from poise.jobs.edit.job import run_edit
    from poise.jobs.edit.recipe import load_edit_recipe

    report.tell_nothing_random()
    found = run_edit(load_edit_recipe(recipe), output, report, report.json, bones)
    report.result(found.figures, None if report.json else describe(found.figures))


def describe(figures: Mapping[str, Any]) -> str:
    """The figures for people: a line a join and an offset."""
    several = len(figures["actors"]) > 1
    rows = [f"{figures['frames']} frames, {figures['duration_s']:.2f} s at {figures['fps']:g} frames a second"]
    for join in figures["joins"]:
        who = f"{join['actor']} " if several else ""
        rows.append(
            f"{who}{join['time_s']:.2f} s: {join['from']} -> {join['to']} within {join['transition_s']:.2f} s, "
            f"{1e3 * join['gap_m']:.0f} mm apart; speed jumps by at most {join['velocity_jump_m_s']:.3f} m/s"
        )
    for offset in figures["offsets"]:
        who = f"{offset['actor']} " if several else ""
        rows.append(
            f"{who}{offset['time_s']:.2f} s: {offset['joint']} within {offset['miss_mm']:.3g} mm, "
            f"{offset['miss_before_mm']:.0f} mm before"
        )
    rows += [f"written: {path}" for path in figures["files"]]
    return "\n".join(map(printable, rows))

"""`poise strength`: how strong a body is, and how strong it has to be for a motion."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from poise.cli import console as speaking
from poise.cli import source as sources
from poise.cli.arguments import read_input, read_number, read_path
from poise.cli.console import Report
from poise.cli.source import SourceOptions
from poise.errors import InputError, printable, unknown_name
from poise.jobs.shared.outputs import check_outputs, check_suffix

VERBS = ("show", "find")
_OF_CLIPS = ("fps", "roles", "clip", "scale", "up", "bones")
_MOST_LINES = 8


def strength(
    what: Annotated[str, Parameter(help="show: plot a body's strength. find: the least that a motion needs.")],
    clip: Annotated[Path | None, Parameter(converter=read_input, help="A motion file, to find.")] = None,
    /,
    *,
    output: Annotated[
        Path | None,
        Parameter(
            name=["-o", "--output"],
            converter=read_path,
            help="PNG: curves over angle and speed, or what share of it the motion needs over time.",
        ),
    ] = None,
    joints: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="Show: joints or roles, several with commas. [default: all]"),
    ] = (),
    load: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="Find: what is carried, rightHand=2 (kg); repeatable."),
    ] = (),
    sex: Annotated[str | None, Parameter(help="male, female or neutral. [default: neutral]")] = None,
    age: Annotated[float | None, Parameter(converter=read_number, help="Years. [default: 30]")] = None,
    table: Annotated[Path | None, Parameter(converter=read_input, help="A TOML file of strengths of your own.")] = None,
    cutoff: Annotated[
        float | None,
        Parameter(
            converter=read_number,
            help="Find: Hz of the low-pass before differentiating; found from the data if not given.",
        ),
    ] = None,
    source: SourceOptions = sources.DEFAULT,
    report: Report = speaking.DEFAULT,
) -> None:
    """Show how strong each joint is, over angle and speed, or find how strong a motion needs it to be.

    Ratios are torque over the strength at that angle and speed, held for 0.05 s; 1 is all that the body has.
    """
    if what not in VERBS:
        raise unknown_name("verb of poise strength,", what, VERBS)
    report.tell_nothing_random()
    files = [*([] if clip is None else [clip]), *source.list_files(), *([] if table is None else [table])]
    check_outputs(files, {"-o": output}, report.json)
    check_suffix("-o", output, ".png")
    if cutoff is not None and not cutoff > 0:
        raise InputError(f"--cutoff must be a positive number of hertz, or inf for no filter; {cutoff:g} given.")
    names = tuple(piece.strip() for word in joints for piece in word.split(",") if piece.strip())
    if what == "show":
        unused = [f"--{option}" for option in _OF_CLIPS if getattr(source, option)]
        unused += [f"--{option}" for option, value in (("load", load), ("cutoff", cutoff)) if value]
        if clip is not None or unused:
            raise InputError(f"show reads no motion, so that {clip or unused[0]} would do nothing. Leave it out.")
        _show(output, names, sex, age, table, source, report)
    else:
        if clip is None:
            raise InputError("find needs a motion file: poise strength find CLIP.")
        if names:
            raise InputError("--joints is for show; find tells all joints. Leave it out.")
        _find(clip, output, load, sex, age, table, cutoff, source, report)


def _show(
    output: Path | None,
    names: tuple[str, ...],
    sex: str | None,
    age: float | None,
    table: Path | None,
    source: SourceOptions,
    report: Report,
) -> None:
    from poise.jobs.strength import build_muscles, build_person, describe_muscles, find_rows

    character = build_person(source, sex, age, report)
    muscles = build_muscles(character, table)
    figures = describe_muscles(muscles, character, names)
    if output is not None:
        from poise.files.output import write_together
        from poise.pictures.strength_plots import plot_muscles

        title = f"{character.height:.2f} m, {character.mass:.1f} kg, {character.sex}, {character.age:g} years"
        write_together({output: plot_muscles(muscles, find_rows(muscles, names), title)})
        figures["output"] = str(output)
    rows = [
        (label, way, row["peak_nm"], row["most_in_range_nm"], row["angle_degrees"])
        for label, ways in figures["joints"].items()
        for way, row in ways.items()
    ]
    text = _tabulate(
        ("joint", "way", "peak N m", "in range", "at degrees"), [(a, b, *(f"{v:.1f}" for v in c)) for a, b, *c in rows]
    )
    report.result(figures, text)


def _find(
    clip: Path,
    output: Path | None,
    load: tuple[str, ...],
    sex: str | None,
    age: float | None,
    table: Path | None,
    cutoff: float | None,
    source: SourceOptions,
    report: Report,
) -> None:
    from poise.jobs.mix.plan import parse_load
    from poise.jobs.strength import describe_needed, list_hardest, run_find

    loads = tuple(map(parse_load, load))
    needed, character, reading = run_find(clip, source, loads, sex, age, table, cutoff, report)
    figures: dict[str, Any] = describe_needed(needed, character)
    figures |= {} if reading is None else reading.describe_bones()
    if output is not None:
        from poise.files.output import write_together
        from poise.pictures.strength_plots import plot_needed

        title = f"{clip.name}: {character.height:.2f} m, {character.mass:.1f} kg"
        shares = list_hardest(needed, _MOST_LINES)
        write_together({output: plot_needed(needed.times - needed.times[0], shares, needed.scale, title)})
        figures["output"] = str(output)
    rows = [
        (label, joint["way"], f"{joint['ratio']:.3f}", f"{joint['torque_nm']:.1f}", f"{joint['time_s']:.2f}")
        for label, joint in figures["joints"].items()
    ]
    parts = ", ".join(f"{name} {ratio:.2f}" for name, ratio in figures["regions"].items())
    head = f"scale  {needed.scale:.3f}: the least strength that can do it, beside the usual ({parts})\n"
    report.result(figures, head + _tabulate(("joint", "way", "ratio", "N m", "at s"), rows))


def _tabulate(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Rows under a head, in columns."""
    cells = [head, *([printable(cell) for cell in row] for row in rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) if k == 0 else cell.rjust(width)
                  for k, (cell, width) in enumerate(zip(row, widths, strict=True)))
        for row in cells
    )  # fmt: skip

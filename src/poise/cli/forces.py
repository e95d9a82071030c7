"""`poise forces`: the ground force and the joint torques of a motion, as CSV: a column a quantity, a row a frame."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from cyclopts import Parameter

from poise.cli import console as speaking
from poise.cli import source as sources
from poise.cli.arguments import read_input, read_number, read_path
from poise.cli.console import Report
from poise.cli.source import SourceOptions
from poise.errors import InputError, valid_text
from poise.jobs.shared.outputs import check_outputs, check_suffix


def format_series(columns: Mapping[str, np.ndarray], digits: int = 6) -> bytes:
    """Columns (F,) of equal length as CSV. No exponents; a cell is empty where there is no value."""
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) != 1:
        raise InputError(f"the columns of a series must be of one length; given {lengths}.")
    rows = zip(*(_cells(values, digits) for values in columns.values()), strict=True)
    lines = [",".join(map(_quote, columns)), *(",".join(row) for row in rows)]
    return valid_text("\n".join(lines) + "\n").encode()


def _cells(values: np.ndarray, digits: int) -> list[str]:
    rounded = np.round(np.asarray(values, float), digits) + 0.0  # minus zero becomes zero
    return [f"{value:.{digits}f}" if np.isfinite(value) else "" for value in rounded]


def _quote(name: str) -> str:
    """A joint may be called anything."""
    if any(letter in name for letter in ',"\n\r'):
        return '"' + name.replace('"', '""') + '"'
    return name


def forces(
    clip: Annotated[Path, Parameter(converter=read_input, help="A motion file.")],
    /,
    *,
    output: Annotated[
        Path,
        Parameter(
            name=["-o", "--output"],
            converter=read_path,
            help="CSV of ground force, pressure centre, mass centre and torques.",
        ),
    ],
    plot: Annotated[
        Path | None, Parameter(converter=read_path, help="PNG of the ground force and the largest torques.")
    ] = None,
    cutoff: Annotated[
        float | None,
        Parameter(
            converter=read_number, help="Hz of the low-pass before differentiating; found from the data if not given."
        ),
    ] = None,
    shares: Annotated[
        Literal["moments", "paper"],
        Parameter(
            help="How supports share the ground's force: feet, its moment right too, or feet, knees and hands by the "
            "strength paper's ratios."
        ),
    ] = "moments",
    source: SourceOptions = sources.DEFAULT,
    report: Report = speaking.DEFAULT,
) -> None:
    """Compute ground force, pressure centre and joint torques from motion alone.

    Forces are in newtons and torques in newton metres, in the clip's own heading; times count from its first frame.
    """
    from poise.files.output import write_together
    from poise.files.registry import read_source
    from poise.jobs.shared.body import find_body
    from poise.motion.forces.forces import compute_forces, describe_forces, say_idle_cutoff, tabulate_forces

    report.tell_nothing_random()
    check_outputs((clip, *source.list_files()), {"-o": output, "--plot": plot}, report.json)
    check_suffix("-o", output, ".csv")
    check_suffix("--plot", plot, ".png")
    if cutoff is not None and not cutoff > 0:
        raise InputError(f"--cutoff must be a positive number of hertz, or inf for no filter; {cutoff:g} given.")
    reading = read_source(clip, source, report)
    body = find_body(reading.clip, reading, source, report)
    motion, character = body.clip, body.character
    found = compute_forces(motion, character, cutoff, shares)
    if cutoff is None:
        report.note(f"derivatives are low-passed: {found.cutoff_reason} Override with --cutoff.")
        if found.path is None and found.contacts.flight.any():
            report.warn(
                f"{clip}: gravity: it flies, but does not fall at anything like 9.81 m/s2. Its forces are those of the "
                "motion as it is, in the air too; is its frame rate right (--fps)?"
            )
    idle = say_idle_cutoff(cutoff, motion.fps)
    if idle is not None:
        report.note(f"--cutoff {idle}")
    written = {output: format_series(tabulate_forces(found, motion.skeleton))}
    if plot is not None:
        from poise.pictures.plots import plot_forces

        written[plot] = plot_forces(found, motion.skeleton, title=clip.name)
    write_together(written)
    report.result({**describe_forces(found, character), **reading.describe_bones(), "output": str(output)})

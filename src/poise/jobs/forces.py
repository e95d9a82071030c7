"""The forces and torques of a motion, as CSV: a column per quantity, a row per frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from poise.errors import InputError, valid_text
from poise.files.reading.options import TakeOptions
from poise.jobs.job import Answer, Run, job
from poise.jobs.shared.outputs import check_outputs, check_suffix
from poise.options import File, JobOptions, Option


@dataclass(frozen=True, kw_only=True)
class ForceSeriesOptions(JobOptions, TakeOptions):
    """Options of `forces`."""

    clip: Annotated[File, Option("A motion file.")] = field(kw_only=False)
    output: Annotated[
        File,
        Option("CSV of ground force, pressure centre, mass centre and torques.", short="-o", writes=True),
    ]
    plot: Annotated[File | None, Option("PNG of the ground force and the largest torques.", writes=True)] = None
    cutoff: Annotated[
        float | None,
        Option("Hz of the low-pass before differentiating.", default="found from the data"),
    ] = None
    shares: Annotated[
        str,
        Option(
            "How supports share the ground's force: feet, its moment right too, or feet, knees and hands by the "
            "strength paper's ratios.",
            choices=("moments", "paper"),
        ),
    ] = "moments"


@job(ForceSeriesOptions)
def forces(options: ForceSeriesOptions, run: Run) -> dict[str, Any]:
    """Compute ground force, pressure centre and joint torques from motion alone.

    Forces are in newtons and torques in newton metres, in the clip's own heading; times count from its first frame.
    """
    from poise.files.output import write_together
    from poise.files.registry import read_source
    from poise.jobs.shared.body import find_body
    from poise.motion.forces.forces import compute_forces, describe_forces, say_idle_cutoff, tabulate_forces

    clip, output, source, cutoff = Path(options.clip), Path(options.output), options.source, options.cutoff
    plot = None if options.plot is None else Path(options.plot)
    named = {run.spell("output"): output, run.spell("plot"): plot}
    check_outputs((clip, *source.list_files()), named, run.json)
    check_suffix(run.spell("output"), output, ".csv")
    check_suffix(run.spell("plot"), plot, ".png")
    name = run.spell("cutoff")
    if cutoff is not None and not cutoff > 0:
        raise InputError(f"{name} must be a positive number of hertz, or inf for no filter; got {cutoff:g}.")
    reading = read_source(clip, source, run)
    body = find_body(reading.clip, reading, source, run)
    motion, character = body.clip, body.character
    found = compute_forces(motion, character, cutoff, options.shares)
    if cutoff is None:
        run.note(f"derivatives are low-passed: {found.cutoff_reason} Override with {name}.")
        if found.path is None and found.contacts.flight.any():
            run.warn(
                f"{clip}: gravity: it flies, but does not fall at anything like 9.81 m/s2. Its forces are those of the "
                f"motion as it is, in the air too; is its frame rate right ({run.spell('fps')})?"
            )
    idle = say_idle_cutoff(cutoff, motion.fps)
    if idle is not None:
        run.note(f"{name} {idle}")
    written = {output: format_series(tabulate_forces(found, motion.skeleton))}
    if plot is not None:
        from poise.pictures.plots import plot_forces

        written[plot] = plot_forces(found, motion.skeleton, title=clip.name)
    write_together(written)
    figures = {**describe_forces(found, character), **reading.describe_bones(), "output": str(output)}
    run.answer = Answer(figures)
    return figures


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
